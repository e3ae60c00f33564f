"""The same table with its ids escaped, or taken back from what `escaped` wrote."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from leadline.around import Around
from leadline.errors import InputError, printable
from leadline.formats.keys import ESCAPED, escaped, escaped_ids, unescaped
from leadline.formats.lists import Held
from leadline.tables import Block, Qrels, Queries, Rows, Run, RunSource

if TYPE_CHECKING:
    import polars as pl

Rule = Literal["escape", "unescape"]
WRITTEN = "%(20|09|0A|0D|0B|0C|22|25)"
"""What `escaped` writes for a letter."""


def one_renamed(text: str, rule: Rule, source: str) -> str:
    """An id by the rule.

    Raises
    ------
    InputError: unescaping an id that `escaped` cannot have written.
    """
    if rule == "escape":
        return escaped(text)
    found = unescaped(text)
    if escaped(found) != text:
        raise _not_escaped(text, source)
    return found


def frame_renamed(frame: "pl.DataFrame", rule: Rule, source: str) -> "pl.DataFrame":
    """A table whose ids follow the rule.

    Raises
    ------
    InputError: unescaping ids of which one is not escaped.

    >>> import polars as pl
    >>> frame_renamed(pl.DataFrame({"query_id": ["100%25"]}), "unescape", "a.run").item()
    '100%'
    """
    import polars as pl

    columns = [name for name in ("query_id", "doc_id") if name in frame.columns]
    if rule == "escape":
        return escaped_ids(frame, columns)
    made = {}
    for name in columns:
        column = pl.col(name)
        wrong = frame.filter(column.str.replace_all(WRITTEN, "").str.contains(ESCAPED.pattern))
        if wrong.height:
            raise _not_escaped(wrong[name][0], source)
        # The percent sign last: what it stands for begins none of the others.
        for letter in ' \t\n\r\x0b\x0c"%':
            column = column.str.replace_all(f"%{ord(letter):02X}", letter, literal=True)
        made[name] = column
    return frame.with_columns(**made)


def held_renamed(held: Held, rule: Rule, queries: bool) -> Held:
    """The same with its document ids by the rule, and with `queries` its query ids.

    Raises
    ------
    InputError: unescaping ids of which one is not escaped.
    """

    def made(texts: Iterable[str]) -> dict[str, str]:
        return {text: one_renamed(text, rule, held.source) for text in dict.fromkeys(texts)}

    docs = made(row.doc_id for part in (held.graded, held.hits) for row in part)
    keys = made(held.keys()) if queries else {key: key for key in held.keys()}  # noqa: SIM118 - a method
    return replace(
        held,
        graded=tuple(replace(r, query=keys[r.query], doc_id=docs[r.doc_id]) for r in held.graded),
        hits=tuple(replace(r, query=keys[r.query], doc_id=docs[r.doc_id]) for r in held.hits),
        asked=tuple(replace(one, query=keys[one.query]) for one in held.asked),
        empty=tuple(keys[query] for query in held.empty),
        failed={keys[query]: said for query, said in held.failed.items()},
    )


@dataclass(frozen=True)
class RenamedRun(Around):
    """A run whose ids follow the rule, renamed block by block."""

    run: RunSource
    rule: Rule
    shown: str

    @property
    def empty(self) -> Sequence[str]:
        """Queries that were answered with nothing."""
        return [one_renamed(query, self.rule, self.shown) for query in self.run.empty]

    @property
    def failed(self) -> Mapping[str, str]:
        """Queries that failed."""
        return {one_renamed(query, self.rule, self.shown): said for query, said in self.run.failed.items()}

    def blocks(self) -> Iterator[Block]:
        """The run's blocks."""
        for block in self.run.blocks():
            rows = self._rows(block.load)
            yield Block(rows, block.lines, block.size)

    def _rows(self, load: "Callable[[], pl.DataFrame]") -> Callable[[], Rows]:
        return lambda: Rows.of_frame(frame_renamed(load(), self.rule, self.shown), "score")


def table_renamed(
    table: "RunSource | Qrels | Queries", rule: Rule, shown: str
) -> "RunSource | Qrels | Queries":
    """A table of the house with its ids by the rule.

    Raises
    ------
    InputError: unescaping ids of which one is not escaped.
    """
    if isinstance(table, Qrels):
        return replace(
            table,
            table=frame_renamed(table.frame, rule, shown),
            alternatives=_pairs_renamed(table.alternatives, rule, shown, True),
            needs=_pairs_renamed(table.needs, rule, shown, False),
        )
    if isinstance(table, Queries):
        return replace(table, frame=frame_renamed(table.frame, rule, shown))
    if isinstance(table, Run):
        made: RunSource = RenamedRun(table, rule, shown)
        return replace(
            table, frame=frame_renamed(table.frame, rule, shown), empty=tuple(made.empty), failed=made.failed
        )
    return RenamedRun(table, rule, shown)


def _pairs_renamed(
    pairs: Mapping[str, Mapping[str, str]], rule: Rule, shown: str, documents: bool
) -> dict[str, dict[str, str]]:
    """Of each query what its documents lead to, with the ids by the rule; with `documents` they lead to ids."""

    def new(text: str) -> str:
        return one_renamed(text, rule, shown)

    return {
        new(query): {new(own): new(to) if documents else to for own, to in known.items()}
        for query, known in pairs.items()
    }


def _not_escaped(text: str, source: str) -> InputError:
    return InputError(
        f"{printable(source)}: the id {printable(text)!r} is none that --escape wrote, so nothing is unescaped"
    )

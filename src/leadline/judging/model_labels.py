"""Where a model's labels go: rows of the book that say who the judge is, or a file of labels with its card."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from leadline.certificate import Judge
from leadline.errors import UsageError, printable
from leadline.formats.card import Card, hash_of, read_card, write_card
from leadline.judging.autojudge import AutoJudged, Item, Result
from leadline.judging.judgment import Judgment, content_id
from leadline.judging.labels import Pair

if TYPE_CHECKING:
    from leadline.judging.book import Book


def rows_for_book(made: AutoJudged) -> list[Judgment]:
    """A row for each label: kind `model`, the judge as a whole, the text's hash, and which part of the text the model saw.

    A row has its id from all that it says but the time, so that a label that is added again, here or from another book,
    is in a book only once.
    """
    return [_row(made.judge, one) for one in made.labelled]


def _row(judge: Judge, one: Result) -> Judgment:
    item = one.item
    row = Judgment(
        item.query_id,
        item.doc_id,
        one.grade,
        who=judge.model,
        kind="model",
        model=judge.to_dict(),
        text_hash=item.text_hash,
        guideline=judge.prompt,
        note=note_of(one),
        probability=item.probability,
        stratum=item.stratum,
    )
    said = {name: value for name, value in row.to_dict().items() if name not in ("id", "when")}
    return replace(row, id=content_id(said))


def note_of(one: Result) -> str:
    """What a label does not say by itself: that the text was cut, and which passage of several it was.

    >>> note_of(Result(Item("q", "d", "how?", "a" * 9), 1.0, call="q #1", place=2, of=3, shown=4))
    'the first 4 of 9 characters; passage 2 of 3 in its call'
    """
    parts = []
    if one.cut:
        parts.append(f"the first {one.shown} of {len(one.item.text or '')} characters")
    if one.of > 1:
        parts.append(f"passage {one.place} of {one.of} in its call")
    return "; ".join(parts)


def labelled_in_book(book: "Book", judge: Judge, items: Iterable[Item]) -> dict[Pair, float]:
    """The labels that this judge has given in a book to these pairs with today's texts; one that was taken back stays so."""
    wanted = {(*item.pair, item.text_hash) for item in items}
    return {
        (row.query_id, row.doc_id): float(row.grade)
        for row in book.rows()
        if row.grade is not None
        and (row.query_id, row.doc_id, row.text_hash) in wanted
        and row.kind == "model"
        and Judge.of_row(row.model or {}, row.who).id == judge.id
    }


@dataclass(frozen=True)
class InFile:
    """The labels of a file, and what was asked for each.

    Attributes
    ----------
    grades: by pair; those of today's pairs only where the question was the same. stale: the labels of today's pairs that are
    of another text, or of one that the card does not tell: they stay until there is a new one. asked: the hash of what was
    asked (`Item.asked`) for both, where the card has one.
    """

    grades: Mapping[Pair, float]
    asked: Mapping[Pair, str]
    stale: Mapping[Pair, float] = field(default_factory=dict)


def labelled_in_file(path: str | Path, judge: Judge, items: Iterable[Item] = ()) -> InFile:
    """The labels of a file that this judge made, those apart that `items` ask anew; empty where there is no such file.

    Raises
    ------
    UsageError: a file that is not this judge's, which is not overwritten. InputError: it or its card cannot be read.
    """
    from leadline.formats.read import read_qrels

    if not Path(path).exists():
        return InFile({}, {})
    where = printable(str(path))
    card = read_card(path)
    if card is None or card.kind != "model" or card.judge is None:
        raise UsageError(f"{where}: it is there and no card says that a model made it; write to another file")
    if card.judge.id != judge.id:
        raise UsageError(
            f"{where}: labels of another judge, {printable(card.judge.model)} [{card.judge.id}], not {printable(judge.model)} "
            f"[{judge.id}]; each judge has a file of its own"
        )
    rows = read_qrels(path).frame.select("query_id", "doc_id", "grade").iter_rows()
    grades = {(query_id, doc_id): float(grade) for query_id, doc_id, grade in rows}
    asked = {(query_id, doc_id): one for query_id, docs in card.asked.items() for doc_id, one in docs.items()}
    stale = {one.pair for one in items if one.pair in grades and asked.get(one.pair) != one.asked}
    kept = {pair: grade for pair, grade in grades.items() if pair not in stale}
    told = {pair: one for pair, one in asked.items() if pair in grades}
    return InFile(kept, told, {pair: grades[pair] for pair in grades if pair in stale})


def write_file(
    path: str | Path,
    judge: Judge,
    labels: Mapping[Pair, float],
    version: str = "",
    asked: Mapping[Pair, str] | None = None,
) -> Sequence[Path]:
    """Write labels as a file of judgments with its card; the paths.

    Parameters
    ----------
    asked: the hash of what was asked of each pair (`Item.asked`), for the card.

    Raises
    ------
    UsageError: an ending without a format, or a place that cannot be written to. InputError: no label.
    """
    import polars as pl

    from leadline.formats.write import write_qrels
    from leadline.tables import Qrels

    if not labels:
        return ()
    pairs = sorted(labels)
    frame = pl.DataFrame(
        {
            "query_id": [pair[0] for pair in pairs],
            "doc_id": [pair[1] for pair in pairs],
            "grade": [float(labels[pair]) for pair in pairs],
        },
        schema={"query_id": pl.String, "doc_id": pl.String, "grade": pl.Float64},
    )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    new = Path(path).with_name(f".{secrets.token_hex(6)}.{Path(path).name}")
    try:
        write_qrels(Qrels.checked(frame, source=str(path)), new)
        made = f"{now} leadline {version}".strip()
        card = Card("model", judge, len(pairs), hash_of(new), made=made, asked=_by_query(asked or {}))
        # The card first: labels without one would pass for people's, and a card of another state is refused.
        place = write_card(path, card)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    return Path(path), place


def _by_query(asked: Mapping[Pair, str]) -> dict[str, dict[str, str]]:
    """As the card has it."""
    found: dict[str, dict[str, str]] = {}
    for (query_id, doc_id), one in sorted(asked.items()):
        found.setdefault(query_id, {})[doc_id] = one
    return found

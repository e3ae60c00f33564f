"""One shape for what a file of another tool holds: graded pairs, returned documents and queries, to the letter."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["run", "judgments", "queries"]
KINDS: tuple[Kind, ...] = ("run", "judgments", "queries")


@dataclass(frozen=True)
class Graded:
    """One judge's word on one pair.

    Attributes
    ----------
    query: the query's text or id, see `Held.keyed`. grade: None where the pair is known and not judged.
    who: the judge; None where the file does not say. note: the judge's words.
    mark: `unsure` or `skip` in place of a grade, as the book has them.
    line: the line of the file, counted from 1; in a JSON text the place among the graded pairs.
    path: in a JSON text where the grade stands, such as `requests[0].ratings[2]`.
    """

    query: str
    doc_id: str
    grade: float | None = None
    who: str | None = None
    note: str = ""
    mark: str | None = None
    line: int = 0
    path: str = ""


@dataclass(frozen=True)
class Hit:
    """One returned document. `score` orders: where the file has only ranks (`scored` is False) it is the rank with a minus."""

    query: str
    doc_id: str
    score: float
    line: int = 0
    path: str = ""
    scored: bool = True


@dataclass(frozen=True)
class Asked:
    """One query of a file: its key, its text where that is known, and further scalar fields by name."""

    query: str
    text: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    line: int = 0


@dataclass(frozen=True)
class Held:
    """What a file holds, in the order of the file.

    Attributes
    ----------
    keyed: whether a row's `query` is the query's `text` or its `id`.
    graded, hits, asked: judgments (one row for each judge and pair), the rows of a run, queries.
    empty: queries that were answered with nothing. failed: queries that failed, with the message.
    own: of a file keyed by text, the ids that it has for its texts besides.
    notes: what is to be said of it, in whole sentences without a full stop. of_judgments: what only concerns its judgments.
    left: counts of what the reader left out, by the names of `leadline.formats.losses`. aside: names of what else stands
    in the file and is no part of a run, of judgments or of queries; they are said where the file is converted.
    model: of judgments that the file says a model made, its name. clicks: True where the file says they come from clicks.
    source: the file's name, for messages. name: the system's, where the file says it.
    """

    keyed: Literal["text", "id"] = "id"
    graded: tuple[Graded, ...] = ()
    hits: tuple[Hit, ...] = ()
    asked: tuple[Asked, ...] = ()
    empty: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    of_judgments: tuple[str, ...] = ()
    source: str = "file"
    name: str = ""
    left: Mapping[str, int] = field(default_factory=dict)
    aside: Collection[str] = ()
    model: str = ""
    clicks: bool = False

    def keys(self) -> list[str]:
        """Every query that the file names, each once.

        >>> Held(graded=(Graded("a", "d"), Graded("b", "d")), asked=(Asked("a"),)).keys()
        ['a', 'b']
        """
        parts = (self.asked, self.graded, self.hits)
        found = dict.fromkeys(row.query for part in parts for row in part)
        return list(found | dict.fromkeys(self.empty) | dict.fromkeys(self.failed))

"""What a report of a comparison is made from, the same for every format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leadline.scores import Comparison, Scores, Verdict

if TYPE_CHECKING:
    import polars as pl

    from leadline.comparison import PairInterval
    from leadline.movement import Moved


@dataclass(frozen=True)
class Step:
    """One step on the way to a verdict: what was the case, what the verdict was then, and the page of that."""

    title: str
    verdict: Verdict
    page: str = ""


@dataclass(frozen=True)
class ComparisonReport:
    """A comparison ready to be shown.

    Attributes
    ----------
    scores: the scores of all systems. comparisons: every measure of every candidate, and of every slice (`group`).
    verdict: on the first measure of the first candidate; None where there is none. margin: its margin.
    moved: the queries that moved most on that measure. pairs: the p of all pairs of three or more systems on it;
    pair_intervals: their differences and intervals.
    judged: system → cutoff → the judged share of its top k. depth: what the next stage consumes (k).
    rankings: by system, the first documents of each query (query, rank, doc_id, grade); query is the position in
    `query_ids`. texts: the queries' texts by id. command: how to reproduce it. doubt: what judge-first found, as a
    dictionary, or None. story: how the verdict came about, where something was changed on the way; the last step is
    the verdict itself.
    """

    scores: Scores
    comparisons: Sequence[Comparison]
    verdict: Verdict | None
    margin: float
    moved: Sequence["Moved"] = ()
    pairs: tuple[list[str], Any] | None = None
    pair_intervals: Sequence["PairInterval"] = ()
    judged: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    depth: int = 10
    rankings: "Mapping[str, pl.DataFrame]" = field(default_factory=dict)
    query_ids: Sequence[str] = ()
    texts: Mapping[str, str | None] = field(default_factory=dict)
    command: str = ""
    doubt: Mapping[str, Any] | None = None
    remarks: tuple[str, ...] = ()
    story: Sequence[Step] = ()

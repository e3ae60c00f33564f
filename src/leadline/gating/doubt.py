"""Doubt: whether judging more could change what a rule comes to, and which pairs to judge first."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class PairToJudge:
    """One unjudged pair of a top k, and how much hangs on it.

    `ranks` are its ranks by system, for those that return it within the top k; `move` how far the mean difference
    (candidate − baseline) moves if it is relevant; `likely` the share of judged documents at such ranks that are;
    `why` says it in words.
    """

    query_id: str
    doc_id: str
    ranks: dict[str, int]
    move: float
    likely: float
    why: str

    def to_dict(self) -> dict[str, Any]:
        """The pair as it stands in `to-judge.jsonl`."""
        return {**asdict(self), "systems": list(self.ranks)}


@dataclass(frozen=True)
class Doubt:
    """Whether judging could change the verdict on one rule.

    Attributes
    ----------
    judge_first: True where it could. other: the share of draws with another verdict, in [0, 1]; None where the
        joint bounds decided. method: `draws` or `joint bounds`. outcomes: how often each outcome came, by name.
    unjudged: unjudged pairs in the two top k's. pairs: those worth judging, most decisive first.
    to_settle: how many of them are likely to settle it; None where no number of them does.
    judged_baseline, judged_candidate: the judged share of each top k; None where nothing was returned.
    condensed: the mean difference on condensed lists (unjudged documents removed first), None where there is none.
    bound_low, bound_high: how low and high judging could bring the mean difference (both attained).
    draws, seed: of the draws. reason: in words.
    """

    judge_first: bool
    method: str
    other: float | None
    outcomes: dict[str, int]
    unjudged: int
    judged_baseline: float | None
    judged_candidate: float | None
    draws: int
    seed: int
    reason: str
    pairs: Sequence[PairToJudge] = ()
    to_settle: int | None = None
    condensed: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None

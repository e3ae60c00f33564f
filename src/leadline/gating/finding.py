"""Finding: what one rule of a gate comes to, and the words for outcomes and effects."""

from dataclasses import dataclass

from leadline.gating.doubt import Doubt
from leadline.gating.policy import Rule
from leadline.scores import Comparison

PASS, FAIL, JUDGE_FIRST, TOO_FEW = "pass", "fail", "judge-first", "too-few-queries"
NOT_COMPARABLE, TOO_MANY_ERRORS = "not-comparable", "too-many-errors"
OUTCOMES = (PASS, FAIL, JUDGE_FIRST, TOO_FEW, NOT_COMPARABLE, TOO_MANY_ERRORS)
EFFECTS = ("better", "worse", "no-worse", "unclear")

LEAST_QUERIES = 20
"""Below this many pairs there are estimates and no verdict."""
LEAST_DIFFERING = 6
"""Below this many non-zero differences the two-sided sign-flip test cannot reach .05: 2/2^5 = .0625."""


@dataclass(frozen=True)
class Finding:
    """What one rule comes to, with the comparison it was read off.

    `p_fail` is the one-sided p of the hypothesis that the difference is at or above the rule's bar; `needed` the
    number of queries that decide the rule with power .8 where it is undecided, None where that is unknown;
    `held_back` is True where the rule would have failed but for Holm's correction.
    """

    rule: Rule
    comparison: Comparison
    outcome: str
    effect: str
    p_fail: float | None = None
    needed: int | None = None
    doubt: Doubt | None = None
    held_back: bool = False

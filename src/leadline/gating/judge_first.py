"""Judge first: could judging the unjudged documents of the two top k's change the verdict on a rule?

How likely an unjudged document is to be relevant is not known, so everything from "never" to "as often as the
judged documents at such ranks", apart for each system, is drawn and the verdict recomputed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from leadline.errors import amount
from leadline.gating.completions import Completer, TwoRankings, inside, scored
from leadline.gating.doubt import Doubt
from leadline.gating.joint import joint_bounds
from leadline.gating.policy import Rule
from leadline.gating.rules import released
from leadline.gating.to_judge import Chances, pairs_to_judge
from leadline.hits import Flags, Floats, Ints
from leadline.scores import Comparison
from leadline.stats.student import t_quantile

DRAWS = 200
TOLERATED = 0.10
"""The share of draws with another verdict above which judging comes first."""
LEAST_JUDGED = 100
"""With fewer judged documents in the two top k's there is nothing to draw grades from."""
TRUTHS, REST_DRAWS = 11, 20
"""How many draws are taken for the truth, and how often the rest is drawn, to tell how many pairs settle it."""
SHOWN_MULTISETS = 100
"""How many multisets of grades a query gets for the bounds that only stand beside the verdict."""
SAME = 1e-12
"""Differences smaller than this are the noise of floating point."""

Words = npt.NDArray[np.int8]


def doubt(
    two: TwoRankings,
    rule: Rule,
    *,
    comparison: Comparison | None = None,
    queries: Sequence[str] | None = None,
    seed: int = 0,
    draws: int = DRAWS,
    pairs: bool = True,
) -> Doubt:
    """Whether judging could change the verdict on a rule, and where it could, what to judge first.

    In each draw φ_A and φ_B are uniform on [0, 1]; each unjudged document of a top k is relevant with probability
    φ of its system (the larger if both return it), its grade then being that of a relevant judged document drawn
    from the same rank band of the two systems (1–3, 4–6, 7–k; by its better rank), else 0. A shared document has
    one grade, and ideal lists are made anew. Judge first where more than 10 % of the draws come to another
    verdict. With fewer than 100 judged documents in the two top k's, or none of grade 0, the joint bounds decide.
    Source: DEFINITIONS, "The gate"; the design page says how it was measured on TREC Deep Learning 2021.

    Parameters
    ----------
    comparison: the rule's; its one-sided ends give the verdict as judged, and those of a draw are Student's,
        stretched as this comparison's are beside Student's (so for clusters and yes/no measures). queries: the
        ids of the rule's slice. pairs: also list the pairs to judge.
    """
    table = _Table(two, rule, inside(two, queries) & two.counted, comparison)
    if not len(table.free):
        return _doubt(two, table, "draws", None, {}, draws, seed, "everything in the two top k's is judged")
    rng = np.random.default_rng(seed)
    if table.n_judged < LEAST_JUDGED or not table.knows_zero:
        return _by_bounds(two, rule, table, rng, draws, seed, pairs)
    chances = Chances.of(two, table.mask)
    words = table.words(lambda: chances.draw(table.free, rng), draws)
    other = float(np.mean(words != table.word))
    names = {1: "pass", 0: "too-few-queries", -1: "fail"}
    outcomes = {names[code]: int((words == code).sum()) for code in (1, 0, -1)}
    share = f"{100 * other:.0f} % of {draws} draws of what the {amount(len(table.free), 'unjudged pair')} could be"
    reason = f"another verdict in {share}"
    found = _doubt(two, table, "draws", other, outcomes, draws, seed, reason)
    return _with_pairs(found, two, table, chances, rng) if found.judge_first and pairs else found


@dataclass(frozen=True)
class _Ends:
    """Turns means and spreads into one-sided ends, stretched as the comparison's own are."""

    alpha: float
    below: float = 1.0
    above: float = 1.0

    @classmethod
    def of(cls, rule: Rule, differences: Floats, comparison: Comparison | None) -> "_Ends":
        """The ends that give the comparison's own on its own differences; Student's where it has none."""
        plain = cls(rule.alpha)
        c = comparison
        if c is None or c.difference is None or c.one_sided_low is None or c.one_sided_high is None:
            return plain
        low, high = plain(differences)
        mean = differences.mean() if len(differences) else 0.0
        if not high - mean > 0:
            return plain
        return cls(
            rule.alpha,
            (c.difference - c.one_sided_low) / (mean - low),
            (c.one_sided_high - c.difference) / (high - mean),
        )

    def __call__(self, differences: Floats) -> tuple[float, float]:
        """The one-sided ends; NaN where there is no interval, 0 where nothing differs."""
        n = len(differences)
        if n and not np.abs(differences).max() > SAME:
            return 0.0, 0.0
        if n < 2 or differences.max() - differences.min() <= SAME:
            return float("nan"), float("nan")
        mean = float(differences.mean())
        half = t_quantile(1 - self.alpha, n - 1) * float(differences.std(ddof=1)) / n**0.5
        return mean - self.below * half, mean + self.above * half


class _Table:
    """The differences as judged, and again with the unjudged documents of some queries graded."""

    def __init__(self, two: TwoRankings, rule: Rule, mask: Flags, comparison: Comparison | None) -> None:
        self.two, self.rule, self.mask = two, rule, mask
        self.as_judged = np.where(mask, two.differences(), np.nan)
        self.free: Ints = np.flatnonzero(mask[two.query])
        touched, rows = np.unique(two.query[self.free], return_inverse=True)
        self.touched = touched
        self.completer = Completer(two, touched, self.free, rows)
        usable = self.as_judged[~np.isnan(self.as_judged)]
        self.ends = _Ends.of(rule, usable, comparison)
        self.word = int(self.word_of(self.as_judged))
        own = two.judged.filter(mask[two.judged["query"].to_numpy()])
        self.n_judged = own.select("query", "doc_id").n_unique()
        self.knows_zero = bool((own["grade"] == 0).any())

    def word_of(self, differences: Floats) -> int:
        """What the rule comes to on differences, NaN left out: 1 pass, 0 undecided, −1 fail."""
        usable = differences[~np.isnan(differences)]
        return int(released(self.rule, *self.ends(usable), len(usable)))

    def differences(self, grades: Floats) -> Floats:
        """The differences with the free documents graded so (a negative grade stays unjudged)."""
        a, b = self.completer.values(grades)
        out = self.as_judged.copy()
        out[self.touched] = b - a
        return out

    def words(self, draw: Callable[[], Floats], draws: int) -> Words:
        """What each draw comes to."""
        return np.array([self.word_of(self.differences(draw())) for _ in range(draws)], np.int8)


def _by_bounds(
    two: TwoRankings,
    rule: Rule,
    table: _Table,
    rng: "np.random.Generator",
    draws: int,
    seed: int,
    pairs: bool,
) -> Doubt:
    """The joint bounds decide: another verdict at either end is doubt."""
    low, high = joint_bounds(two, table.touched)
    words = []
    for ends in (low, high):
        full = table.as_judged.copy()
        full[table.touched] = ends
        words.append(table.word_of(full))
    why = (
        f"only {amount(table.n_judged, 'document')} of the two top k's judged"
        if table.n_judged < LEAST_JUDGED
        else "no document of the two top k's judged not relevant"
    )
    apart = any(word != table.word for word in words)
    reason = f"{why}: the bounds decide, and they {'reach another verdict' if apart else 'agree'}"
    found = _doubt(two, table, "joint bounds", None, {}, draws, seed, reason, apart)
    return _with_pairs(found, two, table, Chances.of(two, table.mask), rng) if apart and pairs else found


def _with_pairs(
    found: Doubt, two: TwoRankings, table: _Table, chances: Chances, rng: "np.random.Generator"
) -> Doubt:
    """The doubt with the pairs to judge, most decisive first, and how many are likely to settle it."""
    order, listed = pairs_to_judge(two, table.free, table.as_judged, chances)
    return replace(found, pairs=listed, to_settle=_to_settle(table, order, chances, rng))


def _to_settle(table: _Table, order: Ints, chances: Chances, rng: "np.random.Generator") -> int:
    """How many of the first pairs are likely to settle it: after so many judging no longer comes first.

    Some draws are taken for the truth. Of each the first m pairs are judged so, the others drawn anew again and
    again, as in `doubt`; m is the least (within 5 %) after which more than half of the truths ask for no more judging.
    """
    truths = [chances.draw(table.free, rng) for _ in range(TRUTHS)]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))

    def settles(m: int) -> bool:
        left = TRUTHS // 2
        for grades in truths:
            left -= not _is_settled(table, np.where(place < m, grades, -1.0), chances, rng)
            if left < 0:
                return False
        return True

    low, high = 0, min(8, len(order))
    while high < len(order) and not settles(high):
        low, high = high, min(2 * high, len(order))
    while high - low > max(1, low // 20):
        middle = (low + high) // 2
        low, high = (low, middle) if settles(middle) else (middle, high)
    return high


def _is_settled(table: _Table, known: Floats, chances: Chances, rng: "np.random.Generator") -> bool:
    """Whether the unjudged rest (negative grades) rarely changes the verdict of what is known."""
    word = table.word_of(table.differences(known))
    others = 0
    for _ in range(REST_DRAWS):
        rest = chances.draw(table.free, rng)
        others += table.word_of(table.differences(np.where(known < 0, rest, known))) != word
        if others > TOLERATED * REST_DRAWS:
            return False
    return True


def _doubt(
    two: TwoRankings,
    table: _Table,
    method: str,
    other: float | None,
    outcomes: dict[str, int],
    draws: int,
    seed: int,
    reason: str,
    apart: bool = False,
) -> Doubt:
    first = apart if other is None else other > TOLERATED
    shares = two.shares
    found = Doubt(first, method, other, outcomes, len(table.free), shares[0], shares[1], draws, seed, reason)
    low, high = _mean_bounds(table)
    return replace(found, condensed=_condensed(two, table.mask), bound_low=low, bound_high=high)


def _condensed(two: TwoRankings, mask: Flags) -> float | None:
    """The mean difference on the lists without their unjudged documents; None where there is no such form."""
    if two.measure.definition is None or not two.measure.definition.ranked:
        return None
    a, b = (scored(two.measure, side.hits.condensed(), two.rules) for side in two.sides)
    d = (b - a)[mask]
    d = d[~np.isnan(d)]
    return float(d.mean()) if len(d) else None


def _mean_bounds(table: _Table) -> tuple[float | None, float | None]:
    """The mean difference where judging goes as ill, and as well, as it can for the candidate."""
    ends: list[float | None] = []
    for bound in joint_bounds(table.two, table.touched, SHOWN_MULTISETS):
        full = table.as_judged.copy()
        full[table.touched] = np.where(np.isnan(bound), full[table.touched], bound)
        usable = full[~np.isnan(full)]
        ends.append(float(usable.mean()) if len(usable) else None)
    return ends[0], ends[1]

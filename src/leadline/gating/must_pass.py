"""The queries that must pass: those on which no rule's measure may fall, and whether judging could lift them again."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leadline.errors import printable
from leadline.gating.completions import TwoRankings
from leadline.gating.doubt import PairToJudge
from leadline.gating.joint import joint_bounds
from leadline.gating.policy import Policy
from leadline.gating.sentences import points
from leadline.gating.to_judge import Chances, pairs_to_judge
from leadline.scores import Scores
from leadline.spelling import parse

SAME = 1e-12
"""A fall smaller than this is the noise of floating point."""


@dataclass(frozen=True)
class MustPass:
    """What became of the must-pass queries: sentences on those that fell, on those that judging could lift again,
    and the unjudged pairs of the latter.
    """

    failed: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    pairs: tuple[PairToJudge, ...] = ()


def must_pass(
    scores: Scores,
    policy: Policy,
    baseline: str,
    candidate: str,
    rankings: Callable[[str], TwoRankings] | None = None,
) -> MustPass:
    """Look at each must-pass query in each rule's measure.

    A query that fell is *open* where some judging of its unjudged documents would bring the difference back to 0
    or above (joint bounds); without `rankings` (the two rankings of a measure, by its text) none is.

    Raises
    ------
    UnknownNameError: a system or a rule's measure is not among the scores.
    """
    failed, still_open = [], []
    pairs: dict[tuple[str, str], PairToJudge] = {}
    for query in policy.must_pass:
        for measure in policy.measures:
            now = scores.per_query(measure, candidate)
            before, value = scores.per_query(measure, baseline).get(query), now.get(query)
            name = f"must-pass query {printable(query)}"
            if query not in now:
                failed.append(f"{name} is not among the judged queries")
                break
            if value is None:
                failed.append(f"{name} has no {measure} in {printable(candidate)}")
            elif before is not None and value < before - SAME:
                fell = f"{name} fell in {measure}: {points(before)} to {points(value)}"
                ask = None if not parse(measure).can_be_completed else rankings
                found = [] if ask is None else _could_lift(ask(measure), query)
                if found:
                    still_open.append(f"{fell}; judging could lift it again")
                    pairs.update({(one.query_id, one.doc_id): one for one in found})
                else:
                    failed.append(fell)
    return MustPass(tuple(failed), tuple(still_open), tuple(pairs.values()))


def _could_lift(two: TwoRankings, query: str) -> list[PairToJudge]:
    """The query's unjudged pairs, most decisive first, where they could bring its difference to 0; else none."""
    place = two.sides[0].hits.judged.query_ids.index(query)
    _, high = joint_bounds(two, np.array([place]))
    free = np.flatnonzero(two.query == place)
    if not len(free) or not high[0] >= -SAME:
        return []
    chances = Chances.of(two, np.ones(two.sides[0].hits.queries, bool))
    return pairs_to_judge(two, free, two.differences(), chances)[1]

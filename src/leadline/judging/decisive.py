"""Decisive order: what to judge first to settle whether one system may replace another."""

from dataclasses import dataclass, replace

from leadline.comparison import compare
from leadline.conventions import Conventions
from leadline.errors import UnknownNameError, UsageError
from leadline.evaluation import score
from leadline.gating.completions import TwoRankings
from leadline.gating.doubt import Doubt
from leadline.gating.judge_first import doubt
from leadline.gating.policy import rule_on
from leadline.gating.rules import decide_one
from leadline.hits import Judged
from leadline.inputs import Inputs
from leadline.judging.pool import Pool, PoolPair
from leadline.measure import Measure
from leadline.scores import Verdict


@dataclass(frozen=True)
class Decisive:
    """The pairs that can move a difference, most decisive first, and whether any still needs judging.

    Attributes
    ----------
    pairs: unjudged pairs of the two top k's; none once judging would not change the verdict.
    others: unjudged pairs of the pool that neither of the two has in its top k: they cannot move the difference by
        where they stand, and are not listed.
    queries_unjudged: queries of which nothing is judged: they are in no comparison yet, and not looked at.
    verdict: what the judgments say as they are. doubt: what else judging could make of it.
    """

    baseline: str
    candidate: str
    measure: str
    margin: float
    pairs: list[PoolPair]
    others: int
    queries_unjudged: int
    verdict: Verdict
    doubt: Doubt

    @property
    def settled(self) -> bool:
        """True where judging would not change the verdict, or rarely."""
        return not self.doubt.judge_first


def decisive(
    given: Inputs,
    pool: Pool,
    measure: Measure,
    rules: Conventions,
    baseline: str,
    candidate: str,
    margin: float = 0.02,
    seed: int = 0,
) -> Decisive:
    """Order the unjudged pairs by how far each could move candidate − baseline, times how likely that is.

    The order and the end are those of `leadline.gating.judge_first`: the list is empty once no more than 10 % of 200
    draws of what is unjudged come to another verdict (with few judgments: once the joint bounds agree). The list
    weighs each pair as if it alone were judged: judge some from the top, and make it again.

    Raises
    ------
    UsageError: a name that is no system, twice the same, or a measure or margin that decides nothing.
    """
    runs = {run.name: run for run in given.runs}
    for name in (baseline, candidate):
        if name not in runs:
            raise UnknownNameError("system", name, runs)
    if baseline == candidate:
        raise UsageError("--baseline and --candidate are one system; name two")
    if not measure.can_be_completed:
        kind = "an estimate from a sample" if measure.sampled else "a measure of subtopics"
        raise UsageError(f"-m {measure}: {kind} asks for no decisive order")
    rule = rule_on(measure, margin=margin)
    two = [runs[baseline], runs[candidate]]
    scores = score(replace(given, runs=tuple(two)), {str(measure): measure}, rules)
    row = compare(scores, baseline, [candidate])[0]
    rankings = TwoRankings.of(two[0], two[1], Judged.of(given.qrels), measure, rules)
    found = doubt(rankings, rule, comparison=row, seed=seed)
    ranks = dict(zip(pool.keys, pool.ranks, strict=True))
    listed = [
        PoolPair(one.query_id, one.doc_id, ranks.get((one.query_id, one.doc_id), one.ranks), one.move,
                 one.likely, one.why)
        for one in found.pairs
    ]  # fmt: skip
    known = set(given.qrels.frame["query_id"].to_list())
    unjudged = [at for at in pool.unjudged["at"].to_list() if pool.keys[at][0] in known]
    others = sum(not {baseline, candidate} & set(pool.ranks[at]) for at in unjudged)
    new = len({query_id for query_id, _ in pool.keys} - known)
    verdict = decide_one(row, margin, doubt=found)
    return Decisive(baseline, candidate, str(measure), margin, listed, others, new, verdict, found)

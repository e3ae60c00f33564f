"""A whole pool and what there is to say of it: what to judge, in which order, who brought what, what is missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leadline.conventions import Conventions
from leadline.errors import UsageError, amount
from leadline.hits import Judged
from leadline.inputs import Inputs
from leadline.judging.contribution import Contribution, LeftOut, contributions, families_of, leave_one_out
from leadline.judging.decisive import Decisive, decisive
from leadline.judging.missing import Missing, missing_of
from leadline.judging.orders import RELEVANT, by_depth, by_fusion, move_to_front
from leadline.judging.pool import Pool, PoolPair
from leadline.judging.sampling import Sample, Stratum
from leadline.measure import Measure
from leadline.tables import Qrels, RunSource

ORDERS = ("depth", "fusion", "move-to-front", "decisive")
ADAPTIVE = ("move-to-front", "decisive")
"""The orders that depend on what is judged so far."""


@dataclass(frozen=True)
class Wish:
    """What is asked of a pool.

    Attributes
    ----------
    depth: how many documents of each system. order: one of `ORDERS`, None for depth (for a sample: by chance).
    budget: at most so many pairs are listed. strata: of a stratified sample; None judges the whole pool.
    families: systems that are left out together when a pool's bias is told, such as variants of one.
    baseline, candidate, margin: of decisive order. seed: of the sample, and of the draws of decisive order.

    Raises
    ------
    UsageError: wishes that do not go together.

    >>> Wish(depth=10).order is None
    True
    """

    depth: int = 10
    order: str | None = None
    budget: int | None = None
    strata: tuple[Stratum, ...] | None = None
    baseline: str | None = None
    candidate: str | None = None
    margin: float = 0.02
    seed: int = 0
    families: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.order is not None and self.order not in ORDERS:
            raise UsageError(f"--order {self.order!r} is not one of {', '.join(ORDERS)}")
        if self.strata is not None and self.order in ADAPTIVE:
            raise UsageError(
                f"--order {self.order} and --sample do not go together: it decides what to judge by what was found so "
                "far, so nobody can say with what probability a pair came to be judged, and xinfAP and infNDCG need "
                "to know. Judge the drawn pairs in the order they are listed"
            )
        if self.strata is not None and self.budget is not None:
            raise UsageError(
                "--budget would cut the sample after it was drawn; ask for fewer pairs with --rates"
            )
        named = self.baseline is not None or self.candidate is not None
        if self.order == "decisive" and (self.baseline is None or self.candidate is None):
            raise UsageError(
                "--order decisive needs --baseline NAME and --candidate NAME: whose difference it settles"
            )
        if named and self.order != "decisive":
            raise UsageError("--baseline and --candidate go with --order decisive")


@dataclass(frozen=True)
class PoolReport:
    """A pool, the pairs to judge, and the report on it.

    Attributes
    ----------
    order: how the pairs are ordered: one of `ORDERS`, or `random` for a sample. pairs: what is listed.
    cut: how many pairs the budget left out, and `cut_from`, the best rank of the first of them.
    measure, left_out: each system's score with and without the documents that only it brought; empty where nothing
        is judged. missing: None where nothing is judged.
    """

    pool: Pool
    order: str
    pairs: Sequence[PoolPair]
    contributions: Sequence[Contribution]
    measure: str
    left_out: Sequence[LeftOut] = ()
    missing: Missing | None = None
    budget: int | None = None
    cut: int = 0
    cut_from: int | None = None
    sample: Sample | None = None
    decisive: Decisive | None = None
    seed: int = 0
    conventions: Mapping[str, Any] = field(default_factory=dict)

    @property
    def nothing_left(self) -> bool:
        """True where every pair that could be asked for is judged already."""
        return not self.pairs and (self.decisive is None or not self.decisive.doubt.unjudged)


def pooled(
    runs: Sequence[RunSource], qrels: Qrels | None, measure: Measure, rules: Conventions, wish: Wish
) -> PoolReport:
    """The pool of some runs, ordered or drawn as wished, with the report on it.

    Raises
    ------
    UsageError: wishes that do not go together, no runs, or a measure that cannot tell a pool's bias.
    RowsError: a wrong run.
    """
    if not runs:
        raise UsageError("pool needs a run: leadline pool A.run B.run")
    families_of([run.name for run in runs], wish.families)
    pool = Pool.of(runs, wish.depth, rules, qrels)
    rel = float(measure.value("rel")) if measure.has("rel") else RELEVANT
    report = PoolReport(
        pool, "random" if wish.strata else wish.order or "depth", [], contributions(pool, rel), str(measure),
        budget=wish.budget, seed=wish.seed, conventions=rules.to_dict() | {"order_rule": rules.order_rule()},
    )  # fmt: skip
    if qrels is not None:
        judged = Judged.of(qrels)
        report = replace(
            report,
            left_out=leave_one_out(runs, pool, judged, measure, rules, wish.families)
            if len(runs) > 1
            else (),
            missing=missing_of(pool, int(judged.count(rel).sum()), rel),
        )
    if wish.strata is not None:
        sample = Sample.draw(pool, wish.strata, wish.seed)
        if wish.order is None:
            return replace(report, sample=sample, pairs=sample.to_judge())
        return replace(
            report, sample=sample, pairs=_reordered(pool, wish.order, sample.to_judge()), order=wish.order
        )
    if wish.order == "decisive":
        return _decisive(report, runs, qrels, measure, rules, wish)
    return _within_budget(report, pool.listed(_order(pool, wish.order or "depth", rel)))


def _order(pool: Pool, name: str, rel: float) -> list[int]:
    if name == "move-to-front":
        return move_to_front(pool, rel)
    return {"depth": by_depth, "fusion": by_fusion}[name](pool)


def _reordered(pool: Pool, name: str, pairs: Sequence[PoolPair]) -> list[PoolPair]:
    place = {pool.keys[at]: turn for turn, at in enumerate(_order(pool, name, RELEVANT))}
    return sorted(pairs, key=lambda pair: place[pair.query_id, pair.doc_id])


def _decisive(
    report: PoolReport,
    runs: Sequence[RunSource],
    qrels: Qrels | None,
    measure: Measure,
    rules: Conventions,
    wish: Wish,
) -> PoolReport:
    """The report with the pairs that could move the difference of the two systems named."""
    if qrels is None:
        raise UsageError(
            "--order decisive asks what more judging could change: give what is judged with --qrels FILE"
        )
    assert wish.baseline is not None and wish.candidate is not None
    given = Inputs(tuple(runs), qrels)
    found = decisive(
        given, report.pool, measure, rules, wish.baseline, wish.candidate, wish.margin, wish.seed
    )  # fmt: skip
    return _within_budget(replace(report, decisive=found), found.pairs)


def _within_budget(report: PoolReport, pairs: Sequence[PoolPair]) -> PoolReport:
    """The report with as many pairs as the budget allows, and what was cut."""
    kept = pairs if report.budget is None else pairs[: report.budget]
    gone = pairs[len(kept) :]
    first = min(gone[0].ranks.values()) if gone else None
    return replace(report, pairs=list(kept), cut=len(gone), cut_from=first)


def said_of_cut(report: PoolReport) -> str:
    """What the budget left out, in words; empty where it left out nothing.

    >>> from leadline.formats.objects import run_of
    >>> from leadline.spelling import parse
    >>> runs = [run_of({"q": ["a", "b"]}, name="one")]
    >>> said_of_cut(pooled(runs, None, parse("nDCG@10"), Conventions(), Wish(depth=2, budget=1)))
    'the budget of 1 pair cut 1 pair; the first of those stands at rank 2 at best'
    """
    if not report.cut or report.budget is None:
        return ""
    budget, cut = amount(report.budget, "pair"), amount(report.cut, "pair")
    return f"the budget of {budget} cut {cut}; the first of those stands at rank {report.cut_from} at best"

"""Scores of two systems on the same queries: differences, their intervals, and tests of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from leadline.errors import UsageError, printable
from leadline.scores import ERROR, Cell, Comparison, Floats, Scores
from leadline.stats.clusters import ClusterInterval, cluster_mean
from leadline.stats.effects import standardised_difference
from leadline.stats.intervals import Interval, deviation, t_interval
from leadline.stats.multiple import bonferroni, holm, tukey_hsd
from leadline.stats.paired import (
    bca_interval,
    bonett_price_interval,
    bootstrap_differences,
    studentised_interval,
    tango_interval,
)
from leadline.stats.strata import stratified_mean
from leadline.stats.tests import TestResult, mcnemar_test, sign_flip_test

INTERVALS = ("auto", "t", "bootstrap", "bca", "studentised", "tango", "bonett-price")
CORRECTIONS = ("holm", "bonferroni", "tukey", "none")
SAME = 1e-12
"""Differences smaller than this are the noise of floating point, and count as ties."""
FEW_QUERIES, FEW_NONZERO, FEW_DEGREES = 20, 6, 10


@dataclass(frozen=True)
class Design:
    """How two systems are compared.

    Attributes
    ----------
    alpha: 1 − alpha is the level of the interval; a gate reads the ends at level 1 − 2·alpha.
    interval: `auto` (Student's t; Tango's for yes/no measures; CR2 with clusters) or one of `INTERVALS`.
    correction: for several candidates: `holm`, `bonferroni`, `tukey` (all pairs) or `none`.
    seed: of the bootstrap and of the randomisation test. clusters: the cluster of each query id.
    strata, weights: the stratum of each query id, and the weight of each stratum.
    """

    alpha: float = 0.05
    interval: str = "auto"
    correction: str = "holm"
    seed: int = 0
    clusters: Mapping[str, str] | None = None
    strata: Mapping[str, str] | None = None
    weights: Mapping[str, float] | None = None
    resamples: int = 10_000
    draws: int = 10_000

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 0.5:
            raise UsageError(f"alpha {self.alpha} is not between 0 and 0.5")
        if self.interval not in INTERVALS:
            raise UsageError(f"interval {self.interval!r} is not one of {', '.join(INTERVALS)}")
        if self.correction not in CORRECTIONS:
            raise UsageError(f"correction {self.correction!r} is not one of {', '.join(CORRECTIONS)}")


@dataclass(frozen=True)
class Pairs:
    """The values of two systems on the queries that have one in both, shape (n,), and what was left out."""

    query_ids: Sequence[str]
    baseline: Floats
    candidate: Floats
    left_out: int
    errors: int

    @classmethod
    def of(cls, first: Cell, second: Cell, only: set[str] | None = None) -> "Pairs":
        """The pairs of two cells, in the order of the first; `only` keeps some queries."""
        place = {query_id: row for row, query_id in enumerate(second.query_ids)}
        kept = [q for q in first.query_ids if only is None or q in only]
        rows = np.array([row for row, q in enumerate(first.query_ids) if only is None or q in only], np.int64)
        other = np.array([place.get(q, -1) for q in kept], np.int64)
        there = other >= 0
        a = first.values[rows]
        b = np.where(there, second.values[other] if len(other) else np.nan, np.nan)
        usable = ~np.isnan(a) & ~np.isnan(b)
        failed = (first.states[rows] == ERROR) | (
            there & (second.states[other] == ERROR) if len(other) else False
        )
        ids = [q for q, use in zip(kept, usable.tolist(), strict=True) if use]
        return cls(ids, a[usable], b[usable], int((~usable).sum()), int(np.sum(failed)))

    @property
    def differences(self) -> Floats:
        """Candidate − baseline; what is only the noise of floating point is 0."""
        d = self.candidate - self.baseline
        return np.where(np.abs(d) < SAME, 0.0, d)

    @property
    def yes_no(self) -> bool:
        """True where every value of both systems is 0 or 1."""
        both = np.concatenate((self.baseline, self.candidate))
        return len(both) > 0 and bool(((both == 0) | (both == 1)).all())


def compare(
    scores: Scores,
    baseline: str,
    candidates: Sequence[str] | None = None,
    design: Design | None = None,
    *,
    queries: set[str] | None = None,
    group: str | None = None,
) -> list[Comparison]:
    """Every measure of every candidate against the baseline; several candidates are corrected for.

    `queries` restricts the comparison to some queries, which `group` names.

    Raises
    ------
    UsageError: no such system, or fewer than two.

    >>> from leadline.evaluation import evaluate
    >>> runs = {"a": {"q1": ["x", "y"], "q2": ["x", "y"]}, "b": {"q1": ["y", "x"], "q2": ["x", "y"]}}
    >>> found = compare(evaluate(runs, {"q1": {"y": 1}, "q2": {"x": 1}}, "RR"), "a")
    >>> found[0].difference, found[0].wins, found[0].ties
    (0.25, 1, 1)
    """
    design = design or Design()
    others = [name for name in scores.systems if name != baseline] if candidates is None else list(candidates)
    if baseline not in scores.systems or not others:
        raise UsageError(
            f"compare {printable(baseline)!r} with what? The systems are {', '.join(scores.systems)}"
        )
    rows: list[Comparison] = []
    for measure in scores.measures:
        found = [
            _one(
                measure,
                baseline,
                name,
                Pairs.of(scores.cell(measure, baseline), scores.cell(measure, name), queries),
                design,
            )
            for name in others
        ]
        rows += _corrected(found, scores, measure, [baseline, *others], design, queries)
    rows = [replace(row, group=group) for row in rows]
    return _with_bootstrap(rows, scores, design, queries)


def all_pairs(scores: Scores, measure: str, design: Design | None = None) -> tuple[list[str], Floats]:
    """The p of every pair of systems by randomised Tukey HSD, over the queries that all have a value for.

    Returns
    -------
    (systems, p): p of shape (systems, systems).
    """
    design = design or Design()
    table = _together(scores, measure, scores.systems)
    return scores.systems, tukey_hsd(table, np.random.default_rng(design.seed), design.draws)


@dataclass(frozen=True)
class PairInterval:
    """The difference of two of several systems, second − first, with its interval among all pairs.

    `level` is that of the single interval, so chosen (Bonferroni) that all pairs hold together at 1 − alpha; low and
    high are None where there is no interval. p is the randomised Tukey HSD's. n counts the queries of both.
    """

    first: str
    second: str
    difference: float | None
    low: float | None
    high: float | None
    level: float
    interval: str | None
    p: float
    n: int

    def to_dict(self) -> dict[str, Any]:
        """The pair as it stands in the JSON output."""
        return asdict(self)


def pair_intervals(
    scores: Scores, measure: str, systems: Sequence[str], p: Floats, design: Design | None = None
) -> list[PairInterval]:
    """Every pair's difference and interval, in the order of the systems; `p` as `all_pairs` gives it.

    With m pairs each interval is made at level 1 − alpha/m by the design's method, so that all of them hold
    together at 1 − alpha, whatever the systems' correlations (Bonferroni).

    >>> from leadline.evaluation import evaluate
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "x"]}, "c": {"q": ["z", "y"]}}
    >>> scores = evaluate(runs, {"q": {"y": 1}}, "RR")
    >>> [(one.first, one.second, one.difference) for one in pair_intervals(scores, "RR", *all_pairs(scores, "RR"))]
    [('a', 'b', 0.5), ('a', 'c', 0.0), ('b', 'c', -0.5)]
    """
    design = design or Design()
    cells = {name: scores.cell(measure, name) for name in systems}
    places = [(i, j) for i in range(len(systems)) for j in range(i + 1, len(systems))]
    level = 1 - design.alpha / max(1, len(places))
    rows = []
    for i, j in places:
        pairs = Pairs.of(cells[systems[i]], cells[systems[j]])
        found, d = _interval(pairs, design, level), pairs.differences
        mean = found.estimate if found.estimate is not None or not pairs.query_ids else float(d.mean())
        how = None if found.low is None else found.method
        one = (systems[i], systems[j], mean, found.low, found.high, level, how, float(p[i][j]), len(d))
        rows.append(PairInterval(*one))
    return rows


def _one(measure: str, baseline: str, candidate: str, pairs: Pairs, design: Design) -> Comparison:
    """One measure of one candidate; the bootstrap and the corrections come later."""
    d = pairs.differences
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    found = _interval(pairs, design, 1 - design.alpha)
    one_sided = _interval(pairs, design, 1 - 2 * design.alpha)
    test = _test(pairs, design)
    clustered = _clustered(pairs, design, 1 - design.alpha)
    empty, spread = len(d) == 0, deviation(d)
    return Comparison(
        measure,
        baseline,
        candidate,
        mean_baseline=None if empty else float(pairs.baseline.mean()),
        mean_candidate=None if empty else float(pairs.candidate.mean()),
        difference=None if empty else float(found.estimate if found.estimate is not None else d.mean()),
        low=found.low,
        high=found.high,
        interval=found.method if found.low is not None else None,
        level=1 - design.alpha,
        one_sided_low=one_sided.low,
        one_sided_high=one_sided.high,
        bootstrap_low=None,
        bootstrap_high=None,
        p=None if test.p != test.p else test.p,
        test=test.method,
        n=len(d),
        n_nonzero=wins + losses,
        n_left_out=pairs.left_out,
        n_error=pairs.errors,
        wins=wins,
        ties=len(d) - wins - losses,
        losses=losses,
        sd=spread,
        effect_size=standardised_difference(d) if spread else None,
        clusters=clustered.clusters if clustered else None,
        n_effective=clustered.n_effective if clustered else None,
        remarks=_remarks(pairs, found, test, clustered),
    )


def _interval(pairs: Pairs, design: Design, level: float) -> Interval:
    """The interval that decides, at one level."""
    d = pairs.differences
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    if design.weights is not None and design.strata is not None:
        return stratified_mean(d, [design.strata.get(q, "") for q in pairs.query_ids], design.weights, level)
    clustered = _clustered(pairs, design, level)
    if clustered is not None:
        return clustered.interval
    how = design.interval
    if how == "auto":
        how = "tango" if pairs.yes_no else "t"
    if how in ("tango", "bonett-price"):
        if not pairs.yes_no:
            raise UsageError(f"the interval {how} is for yes/no measures")
        return (tango_interval if how == "tango" else bonett_price_interval)(wins, losses, len(d), level)
    if how == "t":
        return t_interval(d, level)
    rng = np.random.default_rng(design.seed)
    if how == "bootstrap":
        return bootstrap_differences(d, rng, design.resamples, level)[0]
    made: Callable[..., Interval] = bca_interval if how == "bca" else studentised_interval
    return made(d, rng, design.resamples, level)


def _clustered(pairs: Pairs, design: Design, level: float) -> ClusterInterval | None:
    if design.clusters is None or not pairs.query_ids:
        return None
    return cluster_mean(pairs.differences, _labels(pairs, design.clusters), "CR2", level)


def _labels(pairs: Pairs, clusters: Mapping[str, str]) -> list[str]:
    """The cluster of each query; one without is a cluster of its own, under a name that no column can hold."""
    return [label if (label := clusters.get(q)) is not None else f"\0{q}" for q in pairs.query_ids]


def _test(pairs: Pairs, design: Design) -> TestResult:
    d = pairs.differences
    if design.clusters is not None:
        labels = _labels(pairs, design.clusters)
        return sign_flip_test(d, np.random.default_rng(design.seed), design.draws, clusters=labels)
    if pairs.yes_no:
        return mcnemar_test(int((d > 0).sum()), int((d < 0).sum()))
    return sign_flip_test(d, np.random.default_rng(design.seed), design.draws)


def _remarks(
    pairs: Pairs, found: Interval, test: TestResult, clustered: ClusterInterval | None
) -> tuple[str, ...]:
    """What a reader should know of one row."""
    d = pairs.differences
    lines = []
    if found.low is None and found.reason:
        lines.append(f"no interval: {found.reason}")
    if len(d) < FEW_QUERIES:
        lines.append(f"{len(d)} queries: an estimate, no verdict")
    if 0 < test.n_nonzero < FEW_NONZERO:
        what = "clusters" if clustered is not None else "queries"
        reach = f"below {FEW_NONZERO} no two-sided sign-flip test can reach .05"
        lines.append(f"{test.n_nonzero} {what} differ: {reach}")
    if clustered is not None and clustered.df < FEW_DEGREES:
        lines.append(
            f"{clustered.df:.1f} effective degrees of freedom from {clustered.clusters} clusters: few"
        )
    return tuple(lines)


def _corrected(
    found: list[Comparison],
    scores: Scores,
    measure: str,
    systems: list[str],
    design: Design,
    queries: set[str] | None,
) -> list[Comparison]:
    """The rows with corrected p where there are several candidates."""
    if len(found) < 2 or design.correction == "none":
        return found
    if design.correction == "tukey":
        table = _together(scores, measure, systems, queries)
        p_values: Any = tukey_hsd(table, np.random.default_rng(design.seed), design.draws)[0, 1:]
    else:
        given = [np.nan if row.p is None else row.p for row in found]
        p_values = (holm if design.correction == "holm" else bonferroni)(np.array(given))
    return [
        replace(row, p_corrected=None if p != p else float(p), correction=design.correction)
        for row, p in zip(found, np.asarray(p_values).tolist(), strict=True)
    ]


def _together(
    scores: Scores, measure: str, systems: Sequence[str], queries: set[str] | None = None
) -> Floats:
    """The values of the queries that all systems have one for, shape (queries, systems)."""
    cells = [scores.cell(measure, name) for name in systems]
    values = [dict(zip(cell.query_ids, cell.values.tolist(), strict=True)) for cell in cells]
    ids = [q for q in cells[0].query_ids if queries is None or q in queries]
    rows = [[one.get(q, np.nan) for one in values] for q in ids]
    table: Floats = np.array(rows, np.float64).reshape(len(ids), len(systems))
    return table[~np.isnan(table).any(axis=1)]


def _with_bootstrap(
    rows: list[Comparison], scores: Scores, design: Design, queries: set[str] | None
) -> list[Comparison]:
    """The rows with the percentile bootstrap beside them; measures over the same queries share the resamples."""
    together: dict[tuple[str, ...], list[int]] = {}
    columns: list[Floats] = []
    for index, row in enumerate(rows):
        pairs = Pairs.of(
            scores.cell(row.measure, row.baseline), scores.cell(row.measure, row.candidate), queries
        )
        columns.append(pairs.differences)
        together.setdefault(tuple(pairs.query_ids), []).append(index)
    done = list(rows)
    for ids, members in together.items():
        if len(ids) < 2:
            continue
        table = np.stack([columns[index] for index in members], axis=1)
        found = bootstrap_differences(
            table, np.random.default_rng(design.seed), design.resamples, 1 - design.alpha
        )
        for index, interval in zip(members, found, strict=True):
            row = done[index]
            remarks = row.remarks
            if (
                _excludes_zero(row.low, row.high) != _excludes_zero(interval.low, interval.high)
                and row.low is not None
            ):
                remarks = (*remarks, f"the bootstrap would decide otherwise than {row.interval}")
            done[index] = replace(
                row, bootstrap_low=interval.low, bootstrap_high=interval.high, remarks=remarks
            )
    return done


def _excludes_zero(low: float | None, high: float | None) -> int:
    if low is None or high is None:
        return 0
    return 1 if low > 0 else -1 if high < 0 else 0

"""Judges and queries with known truth, and how often what is said of model judges holds on them.

The calibration tests and the tables of docs/explanation/model-judges-statistics.md run the same functions from the same seeds.
"""

import gzip
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

import leadline
from leadline.stats.agreement import (
    cohen_kappa,
    grade_distances,
    kappa_by_query,
    kappas,
    resampled_sums,
)
from leadline.stats.by_query import kappa_change, shares_by_query
from leadline.stats.homogeneity import bhapkar, homogeneity_by_query, stuart_maxwell
from leadline.stats.intervals import Interval, t_interval
from leadline.stats.prediction_powered import prediction_powered_mean
from leadline.stats.rank_correlation import kendall_tau, rank_agreement, tau_ap
from leadline.stats.student import normal_quantile
from shared.calibration import ALPHA, RUNS, seeded

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator

SIZES = (20, 50, 100)
RESAMPLES = 1000
GRADES = 4


def holds(interval: Interval, truth: float) -> bool:
    """Whether the interval has ends and the truth lies between them."""
    return interval.low is not None and interval.high is not None and interval.low <= truth <= interval.high


# Kappa: queries that are easy and queries that are hard

NEAR = np.array([[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], [0, 0, 1, 0]])


def query_cells(rng: Rng, shape: tuple[int, ...]) -> tuple[npt.NDArray[np.int64], Floats]:
    """Items (5 to 40) and cell probabilities of queries, each with its own grades and its own difficulty.

    The judge gives people's grade with a probability that differs from query to query (Beta(1.5, 1)); else, half and half,
    a grade next to it or one of the query's own favourites.
    """
    items = rng.integers(5, 41, shape)
    grades = rng.dirichlet([1.2, 0.6, 0.4, 0.3], shape)
    sure = rng.beta(1.5, 1.0, shape)[..., None, None]
    favourites = rng.dirichlet([0.5] * GRADES, shape)[..., None, :]
    return items, grades[..., None] * (sure * np.eye(GRADES) + (1 - sure) * (NEAR + favourites) / 2)


@cache
def true_kappa(weights: str) -> float:
    """Kappa of two million queries, weighed by their items."""
    rng, total = seeded("true kappa"), np.zeros((GRADES, GRADES))
    for _ in range(20):
        items, cells = query_cells(rng, (100_000,))
        total += np.tensordot(items.astype(np.float64), cells, 1)
    return float(kappas(total[None], grade_distances(None, weights, GRADES))[0])


def drawn_tables(rng: Rng, runs: int, n: int) -> Floats:
    """Confusion tables, shape (runs, n, 4, 4)."""
    items, cells = query_cells(rng, (runs, n))
    return rng.multinomial(items, cells.reshape(runs, n, -1)).reshape(runs, n, GRADES, GRADES).astype(float)


def plain_percentile(tables: Floats, weights: str, rng: Rng) -> Interval:
    """Kappa's percentile interval over queries without the correction for few of them."""
    distances = grade_distances(None, weights, GRADES)
    draws = resampled_sums(tables, rng, RESAMPLES, lambda sums: kappas(sums, distances))
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return Interval(None, float(low), float(high), 0.95, "percentile", len(tables))


KAPPA_INTERVALS: dict[str, Callable[[Floats, str, Rng], Interval]] = {
    "by query": lambda tables, weights, rng: kappa_by_query(tables, rng, weights, resamples=RESAMPLES),
    "by query, plain percentile": plain_percentile,
    "asymptotic, items as independent": lambda tables, weights, rng: (
        cohen_kappa(tables.sum(axis=0), weights).interval
    ),
}


@cache
def kappa_coverage(method: str, weights: str, n: int, runs: int = RUNS) -> float:
    """How often an interval of kappa holds the true one."""
    rng = seeded("kappa", method, weights, n)
    tables, truth = drawn_tables(seeded("kappa tables", n), runs, n), true_kappa(weights)
    return float(np.mean([holds(KAPPA_INTERVALS[method](one, weights, rng), truth) for one in tables]))


@cache
def agreement_coverage(n: int, runs: int = RUNS) -> float:
    """How often the interval of the share of equal grades holds the true one."""
    items, cells = query_cells(seeded("true agreement"), (1_000_000,))
    total = np.tensordot(items.astype(np.float64), cells, 1)
    truth, rng = float(np.trace(total) / total.sum()), seeded("agreement", n)
    tables = drawn_tables(seeded("kappa tables", n), runs, n)
    found = (shares_by_query(one, rng, resamples=RESAMPLES).agreement for one in tables)
    return float(np.mean([holds(one, truth) for one in found]))


# Prediction-powered means


@cache
def true_mean(judge: str) -> float:
    """Of what people say: .8·Beta(2, 1.6), or of its differences."""
    return 0.02 * 0.7 if judge == "differences" else 0.8 * 2 / 3.6


JUDGES = {
    "too kind": "nDCG-like values, a fifth of them 0; the judge adds .12 and noise of .15, and one query in ten at random",
    "knows nothing": "the same values; the judge's have nothing to do with them",
    "differences": "differences of two systems, 30 % of them 0; the judge adds .03 and noise",
}


def judged(judge: str, rng: Rng, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """The measure of each query by people and by a judge."""
    if judge == "differences":
        human = np.where(rng.random(shape) < 0.3, 0.0, rng.laplace(0.02, 0.12, shape))
        seen = np.where(rng.random(shape) < 0.2, 0.0, human + 0.03 + rng.normal(0, 0.08, shape))
        return human, seen
    human = np.where(rng.random(shape) < 0.2, 0.0, rng.beta(2, 1.6, shape))
    if judge == "knows nothing":
        return human, rng.beta(3, 2, shape)
    seen = np.clip(human + 0.12 + rng.normal(0, 0.15, shape), 0, 1)
    return human, np.where(rng.random(shape) < 0.1, rng.beta(3, 2, shape), seen)


MEANS = ("ppi++", "ppi", "people only", "judge only")


def intervals_of(human: Floats, seen: Floats, n: int) -> list[Interval]:
    """The four intervals of one sample, the first n queries of which people labelled; in the order of `MEANS`."""
    tuned = prediction_powered_mean(human[:n], seen[:n], seen[n:])
    plain = prediction_powered_mean(human[:n], seen[:n], seen[n:], tuned=False)
    return [tuned.interval, plain.interval, tuned.human_only, t_interval(seen[n:])]


@cache
def mean_coverage(judge: str, n: int, unlabelled: int, runs: int = RUNS) -> dict[str, tuple[float, float]]:
    """Coverage and mean width of each of `MEANS`."""
    rng = seeded("means", judge, n, unlabelled)
    human, seen = judged(judge, rng, (runs, n + unlabelled))
    return _covered(zip(human, seen, [true_mean(judge)] * runs, strict=True), n)


def _covered(samples: "zip[tuple[Floats, Floats, float]]", n: int) -> dict[str, tuple[float, float]]:
    hits, widths = [], []
    for human, seen, truth in samples:
        found = intervals_of(human, seen, n)
        hits.append([holds(one, truth) for one in found])
        widths.append(
            [(one.high or 0.0) - (one.low or 0.0) if one.low is not None else math.nan for one in found]
        )
    shares, sizes = np.mean(hits, axis=0), np.nanmean(widths, axis=0)
    return {name: (float(shares[i]), float(sizes[i])) for i, name in enumerate(MEANS)}


# Drift: grades of an old and a new judge

CUTS = np.array([0.3, 0.9, 1.5])
SHIFT = 0.15
DRAWS = 199


def two_versions(rng: Rng, runs: int, n: int, null: str, shift: float = 0.0) -> Floats:
    """Tables of old (rows) and new grades, shape (runs, n, 4, 4): ten items a query.

    Independent: items and noise only. Clustered: each version reads each query in its own way, so that the items of a
    query move together. Rare and far: exactly homogeneous, but 85 % of the queries move a little up and 15 % far down.
    """
    if null == "rare and far":
        far = rng.random((runs, n, 1)) < 0.15
        moved = rng.poisson(np.where(far, 0.3 * 0.85 / 0.15, 0.3), (runs, n, GRADES - 1))
        tables = np.zeros((runs, n, GRADES, GRADES))
        tables[..., np.arange(GRADES), np.arange(GRADES)] = 5
        for g in range(GRADES - 1):
            tables[..., g, g + 1] = np.where(far[..., 0], 0, moved[..., g])
            tables[..., g + 1, g] = np.where(far[..., 0], moved[..., g], 0)
        return tables
    spread = 0.6 if null == "clustered" else 0.0
    latent = rng.normal(0, 0.7, (runs, n, 1)) + rng.normal(0, 0.8, (runs, n, 10))
    grades = []
    for version in (0.0, shift):
        read = latent + version + rng.normal(0, spread, (runs, n, 1)) + rng.normal(0, 0.4, (runs, n, 10))
        grades.append(np.searchsorted(CUTS, read))
    code = grades[0] * GRADES + grades[1]
    return (
        (code[..., None] == np.arange(GRADES**2)).sum(axis=2).reshape(runs, n, GRADES, GRADES).astype(float)
    )


DRIFT_TESTS: dict[str, Callable[[Floats, Rng], float | None]] = {
    "Stuart–Maxwell": lambda tables, rng: stuart_maxwell(tables.sum(axis=0)).p,
    "Bhapkar": lambda tables, rng: bhapkar(tables.sum(axis=0)).p,
    "by query": lambda tables, rng: homogeneity_by_query(tables, rng, DRAWS).p,
}


@cache
def drift_rate(test: str, null: str, n: int, shift: float = 0.0, runs: int = RUNS) -> float:
    """How often a test of marginal homogeneity rejects at .05."""
    rng = seeded("drift", test, null, n, shift)
    tables = two_versions(seeded("versions", null, n, shift), runs, n, null, shift)
    found = [DRIFT_TESTS[test](one, rng) for one in tables]
    return float(np.mean([p is not None and p <= ALPHA for p in found]))


def two_judges(rng: Rng, runs: int, n: int, better: float = 0.0) -> tuple[Floats, Floats]:
    """Tables of two judges against the same people, shape (runs, n, 4, 4) each; the second right more often by `better`.

    What is hard for one is hard for the other, but each has favourites of its own.
    """
    items = rng.integers(5, 41, (runs, n))
    people = rng.multinomial(items, rng.dirichlet([1.2, 0.6, 0.4, 0.3], (runs, n)))
    shared = rng.beta(3, 2, (runs, n))
    both = []
    for more in (0.0, better):
        sure = np.clip(shared + rng.normal(0, 0.15, (runs, n)) + more, 0, 1)[..., None, None]
        favourites = rng.dirichlet([0.5] * GRADES, (runs, n))[..., None, :]
        cells = sure * np.eye(GRADES) + (1 - sure) * (NEAR + favourites) / 2
        both.append(rng.multinomial(people, cells).astype(float))
    return both[0], both[1]


def _z_apart(old: Floats, new: Floats, weights: str) -> bool:
    """Whether two kappas differ by the normal test that takes items and judges as independent."""
    a, b = (cohen_kappa(tables.sum(axis=0), weights) for tables in (old, new))
    assert a.estimate is not None and b.estimate is not None and a.se and b.se
    return abs(b.estimate - a.estimate) > normal_quantile(1 - ALPHA / 2) * math.hypot(a.se, b.se)


@cache
def change_rate(method: str, n: int, better: float = 0.0, runs: int = RUNS) -> float:
    """How often a change of quadratic kappa is found: the interval leaves out 0, or the naive test rejects."""
    rng = seeded("change", method, n, better)
    old, new = two_judges(seeded("judges", n, better), runs, n, better)
    found = []
    for a, b in zip(old, new, strict=True):
        if method == "by query":
            interval = kappa_change(a, b, rng, "quadratic", resamples=RESAMPLES).interval
            found.append(interval.low is not None and not holds(interval, 0.0))
        else:
            found.append(_z_apart(a, b, "quadratic"))
    return float(np.mean(found))


# Real labels: TREC Deep Learning 2019 to 2021, by people and by GPT-4o

YEARS = ("dl19", "dl20", "dl21")
MODEL = "qrels.umbrela-gpt4o.txt.gz"
PEOPLE = "qrels.human.txt.gz"


def read_labels(path: Path) -> dict[tuple[str, str], int]:
    """Grades by query and document; of a pair given twice the last."""
    lines = (line.split() for line in gzip.decompress(path.read_bytes()).decode().splitlines())
    return {(row[0], row[2]): int(row[3]) for row in lines if row}


@cache
def real_tables(folder: Path) -> Floats:
    """The confusion table of each query of the three years, people in the rows: shape (queries, 4, 4)."""
    tables: dict[tuple[str, str], Floats] = {}
    for year in YEARS:
        human, model = (read_labels(folder / year / name) for name in (PEOPLE, MODEL))
        for pair in human.keys() & model.keys():
            table = tables.setdefault((year, pair[0]), np.zeros((GRADES, GRADES)))
            table[human[pair], model[pair]] += 1
    return np.array([tables[key] for key in sorted(tables)])


@cache
def real_kappa_coverage(folder: Path, method: str, n: int, runs: int = RUNS) -> float:
    """How often an interval of n queries, drawn with replacement, holds the quadratic kappa of all."""
    tables, rng = real_tables(folder), seeded("real kappa", method, n)
    truth = cohen_kappa(tables.sum(axis=0), "quadratic").estimate
    assert truth is not None
    places = seeded("real queries", n).integers(0, len(tables), (runs, n))
    return float(
        np.mean([holds(KAPPA_INTERVALS[method](tables[at], "quadratic", rng), truth) for at in places])
    )


@cache
def real_values(folder: Path) -> tuple[Floats, Floats]:
    """nDCG@10 of DL21's 63 runs by people's and by the model's labels: shape (queries, runs) each."""
    year = folder / "dl21"
    runs = {path.name: str(path) for path in sorted((year / "runs").glob("*.run.gz"))}
    both = [
        leadline.evaluate(runs, str(year / name), "nDCG@10", conflicts="last") for name in (PEOPLE, MODEL)
    ]
    found = [{run: scores.per_query("nDCG@10", run) for run in runs} for scores in both]
    known = [{q for q, value in rows.items() if value is not None} for one in found for rows in one.values()]
    queries = sorted(set.intersection(*known))
    human, model = (np.array([[one[run][q] for run in runs] for q in queries], dtype=float) for one in found)
    return human, model


@cache
def real_mean_coverage(
    folder: Path, what: str, n: int, unlabelled: int, runs: int = RUNS
) -> dict[str, tuple[float, float]]:
    """Coverage and width of `MEANS` for nDCG@10 of a random run, or the difference of a random pair, on queries of DL21.

    The 53 queries are the population, drawn with replacement; pairs that never differ are left out.
    """
    human, model = real_values(folder)
    rng = seeded("real means", what, n, unlabelled)
    if what == "difference":
        first, second = np.triu_indices(human.shape[1], 1)
        human, model = human[:, second] - human[:, first], model[:, second] - model[:, first]
        kept = np.abs(human).max(axis=0) > 0
        human, model = human[:, kept], model[:, kept]
    which = rng.integers(0, human.shape[1], runs)
    places = rng.integers(0, len(human), (runs, n + unlabelled))
    columns = which[:, None]
    return _covered(
        zip(human[places, columns], model[places, columns], human.mean(axis=0)[which].tolist(), strict=True),
        n,
    )


SETS = 10
"""How many sets of systems are drawn; each has its own true tau."""


@cache
def real_rank_coverage(folder: Path, systems: int, n: int, runs: int = 1000) -> dict[str, dict[str, float]]:
    """How often the intervals of tau and tau_AP hold the mean tau of n queries, and that of all 53 (the population's).

    `systems` of DL21's runs, nDCG@10 by people and by the model, the 53 queries drawn with replacement. `lower` is how far
    below the population's the mean tau of n queries lies.
    """
    human, model = real_values(folder)
    rng = seeded("real ranks", systems, n)
    hits, lower = np.zeros((2, 2)), np.zeros(2)
    sets = 1 if systems == human.shape[1] else SETS
    for _ in range(sets):
        chosen = rng.choice(human.shape[1], systems, replace=False)
        people, judge = human[:, chosen], model[:, chosen]
        whole = np.array(_both_taus(people, judge))
        at = rng.integers(0, len(people), (2000, n))
        usual = np.mean([_both_taus(people[one], judge[one]) for one in at], axis=0)
        lower += (whole - usual) / sets
        for _ in range(runs // sets):
            one = rng.integers(0, len(people), n)
            found = rank_agreement(people[one], judge[one], rng, resamples=300)
            for i, interval in enumerate((found.tau, found.tau_ap)):
                hits[i] += holds(interval, usual[i]), holds(interval, whole[i])
    shares = hits / (runs // sets * sets)
    return {
        name: {"as many": float(shares[i, 0]), "endless": float(shares[i, 1]), "lower": float(lower[i])}
        for i, name in enumerate(("tau", "tau_AP"))
    }


def _both_taus(people: Floats, judge: Floats) -> tuple[float, float]:
    means = people.mean(axis=0), judge.mean(axis=0)
    return kendall_tau(*means) or 0.0, tau_ap(*means) or 0.0

"""Populations of differences with known truth, and how often what the statistics claim holds on them.

The calibration tests and the tables of docs/explanation/statistics.md run the same functions from the same seeds.
"""

import math
import sys
import types
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

import leadline
from leadline.stats.clusters import cluster_mean
from leadline.stats.intervals import Interval, t_interval
from leadline.stats.margins import equivalence, non_inferiority
from leadline.stats.multiple import holm, tukey_hsd
from leadline.stats.paired import (
    bca_interval,
    bonett_price_interval,
    bootstrap_differences,
    studentised_interval,
    tango_interval,
)
from leadline.stats.tests import mcnemar_test, paired_t_test, sign_flip_test

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator

SIZES = (20, 50, 100, 300)
RUNS = 5000
RESAMPLES = 2000


@dataclass(frozen=True)
class Population:
    """Differences of one kind: their true mean, and `draw(rng, shape)` of them."""

    name: str
    words: str
    truth: float
    draw: Callable[[Rng, tuple[int, int]], Floats]


def _graded(rng: Rng, shape: tuple[int, int]) -> Floats:
    return np.where(rng.random(shape) < 0.3, 0.0, rng.laplace(0.02, 0.12, shape))


RECIPROCALS = np.array([1, 1 / 2, 1 / 3, 1 / 5, 1 / 10, 0.0])
FIRST_B = np.array([0.4, 0.2, 0.12, 0.12, 0.08, 0.08])
FIRST_A = np.array([0.3, 0.2, 0.15, 0.13, 0.1, 0.12])


def _zeros(rng: Rng, shape: tuple[int, int]) -> Floats:
    moved = rng.choice(RECIPROCALS, shape, p=FIRST_B) - rng.choice(RECIPROCALS, shape, p=FIRST_A)
    return np.where(rng.random(shape) < 0.7, 0.0, moved)


def _tails(rng: Rng, shape: tuple[int, int]) -> Floats:
    return 0.02 + 0.06 * rng.standard_t(3, shape)


def _skew(rng: Rng, shape: tuple[int, int]) -> Floats:
    return rng.exponential(0.1, shape) - 0.08


def _rare(rng: Rng, shape: tuple[int, int]) -> Floats:
    return np.where(rng.random(shape) < 0.85, rng.uniform(-0.06, 0, shape), rng.uniform(0.1, 0.24, shape))


POPULATIONS = (
    Population("graded", "30 % zeros, else Laplace: like nDCG", 0.7 * 0.02, _graded),
    # .3·(E 1/rank of B − E 1/rank of A)
    Population(
        "many zeros",
        "70 % zeros, else two reciprocal ranks",
        0.3 * float(RECIPROCALS @ (FIRST_B - FIRST_A)),
        _zeros,
    ),
    Population("heavy tails", "Student's t with 3 degrees", 0.02, _tails),
    Population("skew", "exponential", 0.02, _skew),
    # .85·(−.03) + .15·.17
    Population("rare wins", "85 % small losses, 15 % large wins", 0.0, _rare),
)

WINS, LOSSES = 0.06, 0.02
"""The yes/no population: hit@k where 8 % of the queries change."""


def acceptance(rate: float, runs: int) -> tuple[float, float]:
    """The exact binomial region that a true rate leaves with probability 1e-4, two-sided."""
    low, high = stats.binom.ppf([0.5e-4, 1 - 0.5e-4], runs, rate) / runs
    return float(low), float(high)


def at_most(rate: float, runs: int) -> float:
    """The share that a true rate exceeds with probability 1e-4."""
    return float(stats.binom.ppf(1 - 1e-4, runs, rate) / runs)


def seeded(*parts: object) -> Rng:
    """A generator of its own for each cell of a table, so that no cell depends on another."""
    return np.random.default_rng(zlib.crc32(repr(parts).encode()))


@cache
def real_pairs(folder: Path, runs: int = 63) -> Floats:
    """Per-query differences in nDCG@10 of all pairs of the first runs of DL21: shape (pairs, queries).

    Pairs without any difference are left out: without spread there is no interval to test.
    """
    paths = sorted((folder / "runs").glob("*.run.gz"))[:runs]
    scores = leadline.evaluate(
        {path.name: str(path) for path in paths}, str(folder / "qrels.human.txt.gz"), "nDCG@10"
    )
    queries = sorted(set.intersection(*(set(scores.per_query("nDCG@10", path.name)) for path in paths)))
    values = np.array([[scores.per_query("nDCG@10", path.name)[q] for q in queries] for path in paths])
    first, second = np.triu_indices(len(paths), 1)
    differences = values[second] - values[first]
    return differences[np.abs(differences).max(axis=1) > 0]


def real_draw(pairs: Floats, rng: Rng, n: int, runs: int) -> tuple[Floats, Floats]:
    """For each run a random pair and n of its queries with replacement, and that pair's true mean."""
    which = rng.integers(0, len(pairs), runs)
    places = rng.integers(0, pairs.shape[1], (runs, n))
    return pairs[which[:, None], places], pairs.mean(axis=1)[which]


Maker = Callable[[Floats, Rng], Interval]

METHODS: dict[str, Maker] = {
    "t": lambda row, rng: t_interval(row),
    "bootstrap": lambda row, rng: bootstrap_differences(row, rng, RESAMPLES)[0],
    "BCa": lambda row, rng: bca_interval(row, rng, RESAMPLES),
    "studentised": lambda row, rng: studentised_interval(row, rng, RESAMPLES),
}


def covered(make: Maker, rows: Floats, truth: float | Floats, rng: Rng) -> float:
    """The share of rows whose interval holds the truth; one without ends holds nothing."""
    truths = np.broadcast_to(truth, len(rows))
    hits = 0
    for row, true in zip(rows, truths, strict=True):
        found = make(row, rng)
        hits += found.low is not None and found.high is not None and found.low <= true <= found.high
    return hits / len(rows)


@cache
def coverage(population: Population, n: int, method: str, runs: int = RUNS) -> float:
    """How often a method's interval of n differences holds the population's mean."""
    rows = population.draw(seeded(population.name, n), (runs, n))
    return covered(METHODS[method], rows, population.truth, seeded(population.name, n, method))


@cache
def real_coverage(folder: Path, n: int, method: str, runs: int = RUNS) -> float:
    """How often a method's interval holds a DL21 pair's mean difference."""
    pairs = real_pairs(folder)
    rows, truth = real_draw(pairs, seeded("real", n), n, runs)
    return covered(METHODS[method], rows, truth, seeded("real", n, method))


@cache
def yes_no_coverage(method: str, n: int, wins: float = WINS, losses: float = LOSSES) -> float:
    """The exact coverage for yes/no measures: the trinomial probabilities whose interval holds the truth.

    Combinations beyond 1e-9 in all are left out, counted as not covered.
    """
    total = 0.0
    for w in range(n + 1):
        p_w = stats.binom.pmf(w, n, wins)
        if p_w < 1e-11:
            continue
        for k in np.flatnonzero(
            stats.binom.pmf(np.arange(n - w + 1), n - w, losses / (1 - wins)) > 1e-11
        ).tolist():
            found = _yes_no(method, w, k, n)
            if found.low is not None and found.high is not None and found.low <= wins - losses <= found.high:
                total += p_w * stats.binom.pmf(k, n - w, losses / (1 - wins))
    return float(total)


def _yes_no(method: str, wins: int, losses: int, n: int) -> Interval:
    if method == "t":
        return t_interval(np.repeat([1.0, -1.0, 0.0], [wins, losses, n - wins - losses]))
    return {"Tango": tango_interval, "Bonett–Price": bonett_price_interval}[method](wins, losses, n)


# Type-I errors: how often a test rejects what is true

ALPHA = 0.05
DRAWS = 199
"""With 199 draws p ≤ .05 is b + 1 ≤ 10 of 200: exactly .05 where the null hypothesis is true."""

NULLS: dict[str, Callable[[Rng, tuple[int, int]], Floats]] = {
    "normal": lambda rng, shape: rng.normal(0, 0.1, shape),
    "graded": lambda rng, shape: np.where(rng.random(shape) < 0.3, 0.0, rng.laplace(0, 0.12, shape)),
    "heavy tails": lambda rng, shape: 0.06 * rng.standard_t(3, shape),
    "skew": lambda rng, shape: rng.exponential(0.1, shape) - 0.1,
    "rare wins": _rare,
    "rare losses": lambda rng, shape: -_rare(rng, shape),
}
"""Differences whose true mean is 0; the first three are symmetric about it. The last matters to one-sided gates."""

Test = Callable[[Floats, Rng], float | None]

TESTS: dict[str, Test] = {
    "t": lambda row, rng: paired_t_test(row).p,
    "sign-flip": lambda row, rng: sign_flip_test(row, rng, DRAWS).p,
    "Wilcoxon": lambda row, rng: float(stats.wilcoxon(row, method="asymptotic").pvalue),
    "sign": lambda row, rng: float(stats.binomtest(int((row > 0).sum()), int((row != 0).sum())).pvalue),
}


def rejections(test: Test, rows: Floats, rng: Rng, alpha: float = ALPHA) -> float:
    """The share of rows on which the test's p is at most alpha; without a p nothing is rejected."""
    found = [test(row, rng) for row in rows]
    return sum(p is not None and p <= alpha for p in found) / len(found)


@cache
def test_error(test: str, null: str, n: int, runs: int = RUNS) -> float:
    """How often a test rejects at .05 where the mean difference is 0."""
    return rejections(
        TESTS[test], NULLS[null](seeded("null", null, n), (runs, n)), seeded("null", null, n, test)
    )


test_error.__test__ = False  # type: ignore[attr-defined]  # pytest takes it for a test where it is imported


def mcnemar_error(n: int, discordant: float, p_of: Callable[[int, int], float | None] | None = None) -> float:
    """The exact chance that a yes/no test rejects at .05, where wins and losses are equally likely."""
    total = 0.0
    chosen = p_of or (lambda wins, losses: mcnemar_test(wins, losses).p)
    for changed in range(n + 1):
        weight = stats.binom.pmf(changed, n, discordant)
        if weight < 1e-12:
            continue
        shares = stats.binom.pmf(np.arange(changed + 1), changed, 0.5)
        for wins, share in enumerate(shares.tolist()):
            p = chosen(wins, changed - wins)
            total += weight * share * (p is not None and p <= ALPHA)
    return float(total)


def flip_of_counts(wins: int, losses: int) -> float:
    """The exact sign-flip p of wins and losses of size 1: the two-sided binomial test."""
    return float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0


def uncorrected(p_values: npt.ArrayLike) -> Floats:
    """No correction at all."""
    return np.asarray(p_values, dtype=np.float64)


MEASURES = 6


def holm_error(
    adjust: Callable[[npt.ArrayLike], Floats] = holm, shared: float = 0.0, runs: int = RUNS
) -> float:
    """How often any of six measures is found different where none is; `shared` is their correlation."""
    rng = seeded("holm", shared)
    found = 0
    for _ in range(runs):
        own, one = rng.normal(0, 1, (MEASURES, 25)), rng.normal(0, 1, 25)
        rows = math.sqrt(shared) * one + math.sqrt(1 - shared) * own
        found += bool(np.min(adjust([paired_t_test(row).p for row in rows])) <= ALPHA)
    return found / runs


def tukey_error(method: str = "Tukey", systems: int = 4, n: int = 25, runs: int = RUNS) -> float:
    """How often any pair of equal systems is found different; the queries differ in how hard they are."""
    rng = seeded("tukey", systems, n)
    found = 0
    for _ in range(runs):
        scores = np.clip(rng.normal(0.5, 0.25, (n, 1)) + rng.normal(0, 0.1, (n, systems)), 0, 1)
        if method == "Tukey":
            least = float(tukey_hsd(scores, rng, DRAWS).min())
        else:
            pairs = zip(*np.triu_indices(systems, 1), strict=True)
            least = min(paired_t_test(scores[:, b] - scores[:, a]).p or 1.0 for a, b in pairs)
        found += least <= ALPHA
    return found / runs


# The gate, at its margin

MARGIN = 0.05

GATES: dict[str, Callable[[Floats], bool]] = {
    "non-inferiority": lambda row: non_inferiority(row, MARGIN).passed,
    "equivalence": lambda row: equivalence(row, MARGIN).passed,
    "fails": lambda row: non_inferiority(row, MARGIN).failed,
    "not significant": lambda row: (paired_t_test(row).p or 0.0) > ALPHA,
    "mean above the margin": lambda row: bool(row.mean() > -MARGIN),
}


@cache
def gate_error(gate: str, null: str, n: int, runs: int = RUNS) -> float:
    """How often a gate passes a system that is worse by exactly the margin (or "fails" one that is no more)."""
    rows = NULLS[null](seeded("gate", null, n), (runs, n)) - MARGIN
    return float(np.mean([GATES[gate](row) for row in rows]))


# Clusters

SHAPES = {
    "20 of 5": [5] * 20,
    "60 of 5": [5] * 60,
    "one of 35, 13 of 5": [35] + [5] * 13,
    "one of 40, 30 of 2": [40] + [2] * 30,
}
"""Sizes of clusters: two balanced, two where one cluster holds 35 and 40 % of the queries."""


def clustered(rng: Rng, sizes: list[int], runs: int, icc: float = 0.3) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Differences of mean 0 and variance 1 in clusters of these sizes, and the cluster of each."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    shared = rng.normal(0, math.sqrt(icc), (runs, len(sizes)))
    return shared[:, codes] + rng.normal(0, math.sqrt(1 - icc), (runs, codes.size)), codes


@cache
def cluster_coverage(kind: str, shape: str, runs: int = RUNS) -> float:
    """How often the interval of `kind` (naive, CR1, CR2) holds the mean 0 of clustered differences."""
    rows, codes = clustered(seeded("clusters", shape), SHAPES[shape], runs)
    if kind == "naive":
        return covered(METHODS["t"], rows, 0.0, seeded())
    return covered(lambda row, rng: cluster_mean(row, codes, kind).interval, rows, 0.0, seeded())


def mutant(module: types.ModuleType, old: str, new: str) -> Any:
    """The module with one piece of its source replaced: a fault put into it on purpose."""
    path = Path(str(module.__file__))
    source = path.read_text(encoding="utf-8")
    assert source.count(old) == 1, f"{path.name} holds {old!r} {source.count(old)} times"
    changed = types.ModuleType(module.__name__ + "_mutant")
    # A dataclass looks its module up while it is made.
    sys.modules[changed.__name__] = changed
    exec(compile(source.replace(old, new), f"<mutant of {path.name}>", "exec"), changed.__dict__)
    return changed

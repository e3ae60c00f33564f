"""`python -m bench.resampling`: the bootstrap and the randomisation test beside SciPy's and ranx's, in one process."""

import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt
import scipy.stats

from leadline.stats.paired import bootstrap_differences
from leadline.stats.tests import sign_flip_test

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "resampling.md"
QUERIES, MEASURES, RESAMPLES, ROUNDS = 1000, 8, 10_000, 7
LEADLINE = "leadline"

Scores = npt.NDArray[np.float64]
Answers = npt.NDArray[np.float64]


def scores(rng: np.random.Generator) -> tuple[Scores, Scores]:
    """The scores of two systems that differ little, between 0 and 1, many of them equal."""
    old = rng.beta(0.8, 0.8, (QUERIES, MEASURES))
    moved = rng.normal(0.004, 0.12, old.shape) * (rng.random(old.shape) < 0.6)
    return old, np.clip(old + moved, 0, 1)


def bootstraps(old: Scores, new: Scores) -> dict[str, Callable[[], Answers]]:
    """The lower ends of the eight percentile intervals, by each program."""
    d = new - old

    def scipy_bootstrap(data: Scores, axis: int, batch: int) -> Answers:
        found = scipy.stats.bootstrap(
            (data,), np.mean, n_resamples=RESAMPLES, axis=axis, batch=batch, vectorized=True,
            method="percentile", rng=np.random.default_rng(1),
        )  # fmt: skip
        return np.atleast_1d(found.confidence_interval.low)

    return {
        LEADLINE: lambda: np.array(
            [one.low for one in bootstrap_differences(d, np.random.default_rng(1), RESAMPLES)]
        ),
        "SciPy bootstrap, one call a measure": lambda: np.concatenate(
            [scipy_bootstrap(np.ascontiguousarray(column), 0, RESAMPLES) for column in d.T]
        ),
        "SciPy bootstrap, one call with axis": lambda: scipy_bootstrap(d, 0, 500),
    }


def randomisations(old: Scores, new: Scores) -> dict[str, Callable[[], Answers]]:
    """The eight p-values, by each program."""

    def permutation(a: Scores, b: Scores) -> float:
        found = scipy.stats.permutation_test(
            (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", vectorized=True,
            n_resamples=RESAMPLES, batch=1000, rng=np.random.default_rng(1),
        )  # fmt: skip
        return float(found.pvalue)

    def fisher(a: Scores, b: Scores) -> float:
        return float(fisher_randomization_test(a, b, n_permutations=RESAMPLES)[0])

    pairs = [(np.ascontiguousarray(a), np.ascontiguousarray(b)) for a, b in zip(old.T, new.T, strict=True)]
    return {
        LEADLINE: lambda: np.array(
            [sign_flip_test(b - a, np.random.default_rng(1), RESAMPLES).p for a, b in pairs]
        ),
        "SciPy permutation_test": lambda: np.array([permutation(a, b) for a, b in pairs]),
        "ranx Fisher test, warmed up": lambda: np.array([fisher(a, b) for a, b in pairs]),
    }


def timed(programs: dict[str, Callable[[], Answers]], tolerance: float) -> dict[str, list[float]]:
    """The seconds of each round, the programs in turn; a round before warms up and shows that all agree."""
    wanted = programs[LEADLINE]()
    for name, program in programs.items():
        found = program()
        assert np.allclose(found, wanted, rtol=0, atol=tolerance), f"{name} disagrees: {found} {wanted}"
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, program in programs.items():
            begin = time.perf_counter()
            program()
            seconds[name].append(time.perf_counter() - begin)
    return seconds


def table(seconds: dict[str, list[float]]) -> list[str]:
    """A Markdown table: the median of the rounds, their range, and how many times Leadline's."""
    own = statistics.median(seconds[LEADLINE])
    lines = ["| program | s | range | times leadline's |", "|---|--:|--:|--:|"]
    for name, rounds in seconds.items():
        middle = statistics.median(rounds)
        lines.append(
            f"| {name} | {middle:.3f} | {min(rounds):.3f} to {max(rounds):.3f} | {middle / own:.1f} |"
        )
    return lines


def main() -> None:
    """Run both and write the page."""
    old, new = scores(np.random.default_rng(7))
    # Two draws of 10,000: an end differs by some 3e-4 here, a p-value near .5 by 4 · 0.5/100.
    print("bootstrap", file=sys.stderr)
    drawn = timed(bootstraps(old, new), 2e-3)
    print("randomisation", file=sys.stderr)
    flipped = timed(randomisations(old, new), 0.03)
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "ranx", "numba"))
    lines = [
        "# Benchmark of resampling",
        "",
        f"{QUERIES:,} queries × {MEASURES} measures × {RESAMPLES:,} resamples, all programs in one process, in turn; "
        f"a round to warm up, then medians of {ROUNDS}. The ends of the intervals agree to 0.002 and the p-values to 0.03, or "
        "the benchmark fails. `make bench` writes this page.",
        "",
        f"{os.cpu_count()} processors, Python {platform.python_version()}, {versions}.",
        "",
        "## The paired bootstrap's percentile interval",
        "",
        *table(drawn),
        "",
        "asked: at least 3 times (one call a measure) and 2 times (one call with axis)",
        "",
        "## The randomisation test",
        "",
        *table(flipped),
        "",
        "asked: at least 50 times (SciPy) and 20 times (ranx)",
        "",
    ]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()

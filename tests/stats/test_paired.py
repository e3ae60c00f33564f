"""The bootstraps and the score intervals of paired differences: known values, oracles, bits, degenerate input."""

import math
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy import optimize, special, stats

from leadline.errors import UsageError
from leadline.stats import paired
from leadline.stats.intervals import bootstrap_interval, t_interval
from leadline.stats.paired import (
    acceleration,
    bca_interval,
    bonett_price_interval,
    bootstrap_differences,
    resampled_means,
    studentised_interval,
    tango_interval,
)


def retrieval_like(n, seed=0, measures=None):
    """Differences as retrieval has them: 40 % exact zeros, else heavy tails."""
    rng = np.random.default_rng(seed)
    shape = n if measures is None else (n, measures)
    return np.where(rng.random(shape) < 0.4, 0.0, np.clip(rng.laplace(0.03, 0.15, shape), -1, 1))


def ends(interval):
    return interval.low, interval.high


# The percentile bootstrap


def test_percentile_is_the_quantiles_of_the_plainly_resampled_means():
    d = retrieval_like(37)
    # The plain form: gather the drawn differences and average them.
    rng = np.random.default_rng(5)
    means = [d[rng.integers(0, 37, 37)].mean() for _ in range(500)]
    (interval,) = bootstrap_differences(d, np.random.default_rng(5), 500, 0.9)
    assert ends(interval) == pytest.approx(tuple(np.quantile(means, [0.05, 0.95])), abs=1e-12)
    assert interval.estimate == d.mean()
    assert (interval.method, interval.n, interval.level, interval.reason) == ("bootstrap", 37, 0.9, None)


def test_measures_share_the_resamples_and_answer_as_they_would_alone():
    d = retrieval_like(60, measures=3)
    together = bootstrap_differences(d, np.random.default_rng(1), 400)
    for column, interval in enumerate(together):
        assert [interval] == bootstrap_differences(d[:, column], np.random.default_rng(1), 400)
        single = bootstrap_interval(d[:, column], np.random.default_rng(1), 400)
        assert ends(interval) == pytest.approx(ends(single), abs=1e-12)
    # A measure and its double share every resample: the ends are doubles to the last bit.
    one, two = bootstrap_differences(np.column_stack([d[:, 0], 2 * d[:, 0]]), np.random.default_rng(2), 400)
    assert (2 * one.low, 2 * one.high) == ends(two)


def test_percentile_agrees_with_scipy():
    d = retrieval_like(80, seed=3)
    (ours,) = bootstrap_differences(d, np.random.default_rng(1), 20_000)
    theirs = stats.bootstrap(
        (d,), np.mean, n_resamples=20_000, method="percentile", rng=2
    ).confidence_interval
    # The Monte Carlo sd of a 2.5 % quantile of B draws is se·√(.025·.975/B)/φ(1.96) = 2.67·se/√B: .019 se here,
    # of a difference of two .027 se; four of them.
    assert ends(ours) == pytest.approx((theirs.low, theirs.high), abs=4 * 0.027 * d.std() / math.sqrt(80))


def test_the_sums_are_exact_for_any_scale():
    # Multiplying by a power of two moves no bit of the mantissa, however small or large the values are.
    d = retrieval_like(50)
    plain = resampled_means(d[:, None], np.random.default_rng(1), 50)
    for power in (-900, -60, 60, 900):
        scaled = resampled_means(np.ldexp(d, power)[:, None], np.random.default_rng(1), 50)
        assert np.array_equal(np.ldexp(scaled, -power), plain)


BITS = """
import sys, numpy as np
from leadline.stats import paired
n, paired.COUNTS_AT_ONCE = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(7)
d = np.where(rng.random((n, 3)) < .4, 0, rng.laplace(.01, .1, (n, 3)))
for i in paired.bootstrap_differences(d, rng, 1500):
    print(i.estimate.hex(), i.low.hex(), i.high.hex())
"""


@pytest.mark.parametrize("n", [1000, 7000])
def test_the_same_bits_on_one_or_two_threads_and_in_any_chunk(n):
    outputs = set()
    for threads, chunk in (("1", 1 << 17), ("2", 1 << 17), ("2", 1 << 21), ("1", 1)):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", BITS, str(n), str(chunk)],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert outputs.pop().count("\n") == 3


def test_rounded_sums_would_have_other_bits():
    """The test above has teeth: plain products of the same counts differ by the size of the chunk or the order."""
    d = retrieval_like(1000, measures=3)
    rng = np.random.default_rng(1)
    counts = np.stack([np.bincount(rng.integers(0, 1000, 1000), minlength=1000) for _ in range(200)]).astype(
        float
    )
    backward = np.ascontiguousarray(counts[:, ::-1])
    assert not np.array_equal(counts @ d, backward @ d[::-1])
    whole, _ = paired._on_a_grid(d)
    assert np.array_equal(counts @ whole, backward @ whole[::-1])
    assert np.abs(whole).sum(axis=0).max() < 2**53 and np.abs(whole).max() * 1000 <= 2**52


def test_memory_is_bounded():
    # A tenth of 10,000 × 7,000 × 10: the counts alone would be 56 MB; held are blocks of 1 MB, three or four of
    # them, the 0.08 MB of means and the 1.1 MB of values.
    d = retrieval_like(7000, measures=10)
    tracemalloc.start()
    resampled_means(d, np.random.default_rng(1), 1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12_000_000


# BCa and the studentised bootstrap


def test_bca_agrees_with_scipy():
    d = stats.expon.rvs(size=30, random_state=4)
    ours = bca_interval(d, np.random.default_rng(1), 20_000)
    theirs = stats.bootstrap((d,), np.mean, n_resamples=20_000, method="BCa", rng=2).confidence_interval
    percentile = bootstrap_differences(d, np.random.default_rng(1), 20_000)[0]
    tolerance = 0.15 * d.std() / math.sqrt(30)
    assert ends(ours) == pytest.approx((theirs.low, theirs.high), abs=tolerance)
    # Skew to the right moves both ends to the right of the percentile interval's.
    assert ours.low > percentile.low and ours.high > percentile.high


def test_bca_mirrors():
    d = retrieval_like(25)
    one, other = bca_interval(d, np.random.default_rng(1)), bca_interval(-d, np.random.default_rng(1))
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12)


def test_bca_counts_ties_by_half():
    # −1 and 1: resampled means −1, 0, 1 with 1/4, 1/2, 1/4; the mean is 0 and a = 0. Ties by half: z0 ≈ Φ⁻¹(½) = 0,
    # hence at level .4 the plain quantiles at .3 and .7, both 0. With ties not counted z0 = Φ⁻¹(¼) = −.674, and the
    # ends would be the quantiles at Φ(−1.349 ∓ .524) = .03 and .20: −1 and −1.
    interval = bca_interval([-1.0, 1.0], np.random.default_rng(3), 10_000, 0.4)
    assert ends(interval) == (0.0, 0.0)


def test_studentised_by_hand():
    # The plain form, resample by resample.
    d = retrieval_like(40, seed=2)
    rng = np.random.default_rng(5)
    se, ratios = d.std(ddof=1) / math.sqrt(40), []
    for _ in range(999):
        sample = d[rng.integers(0, 40, 40)]
        ratios.append((sample.mean() - d.mean()) / (sample.std(ddof=1) / math.sqrt(40)))
    ratios.sort()
    # Outward ranks of 999: floor(.025·998) = 24, ceil(.975·998) = 974.
    expected = (d.mean() - ratios[974] * se, d.mean() - ratios[24] * se)
    assert ends(studentised_interval(d, np.random.default_rng(5), 999)) == pytest.approx(expected, abs=1e-9)


def test_studentised_without_spread_in_many_resamples_has_no_ends():
    # One value of four differs: (3/4)^4 = 32 % of the resamples have no spread and lie to one side.
    interval = studentised_interval([0.0, 0.0, 0.0, 1.0], np.random.default_rng(1), 1000)
    assert ends(interval) == (None, None)
    count, rest = interval.reason.split(" of ")
    assert rest == "1000 resamples have no spread"
    # 316.4 + 3.9 (all of them the 1) expected, sd √(1000·.32·.68) = 14.8.
    assert abs(int(count) - 320) < 60


ROWS = [bca_interval, studentised_interval, lambda d, rng: bootstrap_differences(d, rng)[0]]


@pytest.mark.parametrize("method", ROWS)
@pytest.mark.parametrize(
    ("values", "estimate", "reason"),
    [
        ([], None, "n<2"),
        ([0.25], 0.25, "n<2"),
        ([0.0] * 9, 0.0, "no spread: all values equal"),
        ([0.1] * 1000, 0.1, "no spread: all values equal"),
    ],
)
def test_no_interval_without_spread(method, values, estimate, reason):
    interval = method(values, np.random.default_rng(1))
    assert (interval.estimate, interval.low, interval.high) == (estimate, None, None)
    assert (interval.n, interval.reason) == (len(values), reason)


def test_a_measure_without_spread_does_not_disturb_the_others():
    d = retrieval_like(30, measures=2)
    three = bootstrap_differences(np.insert(d, 1, 0.0, axis=1), np.random.default_rng(1), 300)
    assert [three[0], three[2]] == bootstrap_differences(d, np.random.default_rng(1), 300)
    assert (three[1].estimate, three[1].low, three[1].reason) == (0.0, None, "no spread: all values equal")
    assert bootstrap_differences(np.empty((5, 0)), np.random.default_rng(1)) == []


@pytest.mark.parametrize("method", ROWS)
def test_what_cannot_be_resampled_is_refused(method):
    with pytest.raises(UsageError, match="not finite"):
        method([0.1, math.nan, 0.2], np.random.default_rng(1))
    with pytest.raises(UsageError, match="shape"):
        method(np.zeros((2, 2, 2)), np.random.default_rng(1))


@pytest.mark.parametrize("method", [bca_interval, studentised_interval, bootstrap_differences])
def test_wrong_settings_are_refused(method):
    with pytest.raises(UsageError, match="resamples 0"):
        method([0.1, 0.2], np.random.default_rng(1), 0)
    with pytest.raises(UsageError, match=r"level 1\.0"):
        method([0.1, 0.2], np.random.default_rng(1), 10, 1.0)


def test_the_callers_values_stay_as_they_are():
    d = retrieval_like(30, measures=2)
    before = d.copy()
    bootstrap_differences(d, np.random.default_rng(1), 50)
    assert np.array_equal(d, before)


def test_acceleration_of_values_without_deviation_is_refused():
    with pytest.raises(UsageError, match="all 0"):
        acceleration([0.0, 0.0])


# Tango and Bonett–Price


def tango_by_likelihood(wins, losses, n, z):
    """The score interval with the constrained maximum found by search instead of by formula."""

    def score(difference):
        def minus_likelihood(q):
            p = q + difference
            return -(
                special.xlogy(wins, p)
                + special.xlogy(losses, q)
                + special.xlogy(n - wins - losses, 1 - p - q)
            )

        least, most = max(0.0, -difference), (1 - difference) / 2
        q = optimize.minimize_scalar(
            minus_likelihood, bounds=(least, most), method="bounded", options={"xatol": 1e-12}
        ).x
        variance = (2 * q + difference - difference**2) / n
        return ((wins - losses) / n - difference) / math.sqrt(variance)

    centre = (wins - losses) / n
    low = optimize.brentq(lambda x: score(x) - z, -1 + 1e-9, centre - 1e-9)
    return low, optimize.brentq(lambda x: score(x) + z, centre + 1e-9, 1 - 1e-9)


@pytest.mark.parametrize(
    ("wins", "losses", "n"), [(9, 3, 50), (5, 2, 20), (30, 31, 300), (12, 2, 14), (1, 1, 10)]
)
def test_tango_solves_the_constrained_likelihood(wins, losses, n):
    interval = tango_interval(wins, losses, n)
    assert ends(interval) == pytest.approx(tango_by_likelihood(wins, losses, n, 1.959964), abs=3e-6)
    assert (interval.estimate, interval.method, interval.n) == ((wins - losses) / n, "tango", n)


def test_tango_without_discordance():
    # At D > 0 with w = l = 0: q = 0 and the score is −√n·√(D/(1 − D)): −z at D = z²/(n + z²) = 3.841459/53.841459.
    interval = tango_interval(0, 0, 50)
    assert ends(interval) == pytest.approx((-0.0713476, 0.0713476), abs=1e-7)
    assert interval.estimate == 0


def test_tango_at_the_ends():
    # Every query a win: the likelihood at D has p = (1 + D)/2, q = (1 − D)/2; score = (1 − D)n/√(n(1 − D²)),
    # so that z² = n(1 − D)/(1 + D): D = (n − z²)/(n + z²) = 6.158541/13.841459 at n = 10.
    interval = tango_interval(10, 0, 10)
    assert interval.low == pytest.approx(6.158541 / 13.841459, abs=1e-6)
    assert (interval.estimate, interval.high) == (1.0, 1.0)
    one = tango_interval(1, 0, 1)
    assert -1 < one.low < 0 and one.high == 1


@pytest.mark.parametrize("method", [tango_interval, bonett_price_interval])
def test_swapping_the_systems_negates_to_the_last_bit(method):
    for wins, losses, n in [(9, 3, 50), (0, 4, 20), (7, 0, 7), (123, 140, 1000)]:
        one, other = method(wins, losses, n), method(losses, wins, n)
        assert (one.low, one.high, one.estimate) == (-other.high, -other.low, -other.estimate)


def coverage(method, n, p, q):
    """The exact share of samples whose interval holds p − q: a sum over the trinomial, no simulation."""
    covered = 0.0
    for wins in range(n + 1):
        for losses in range(n + 1 - wins):
            interval = method(wins, losses, n)
            if interval.low <= p - q <= interval.high:
                covered += stats.multinomial.pmf([wins, losses, n - wins - losses], n, [p, q, 1 - p - q])
    return covered


# Exact, computed once by an independent program: n = 20, p = .06, q = .02 Bonett–Price .999, Tango .993.
def test_exact_coverage_at_twenty():
    assert round(coverage(tango_interval, 20, 0.06, 0.02), 3) == 0.993
    assert round(coverage(bonett_price_interval, 20, 0.06, 0.02), 3) == 0.999


def test_bonett_price_is_cut_at_one():
    # n = 1, a win: p = 2/3, q = 1/3, half = 1.96·√((1 − 1/9)/3) = 1.0669: 1/3 ± 1.0669.
    interval = bonett_price_interval(1, 0, 1)
    assert ends(interval) == pytest.approx((1 / 3 - 1.0669, 1.0), abs=1e-4)


@pytest.mark.parametrize("method", [tango_interval, bonett_price_interval])
def test_counts(method):
    empty = method(0, 0, 0)
    assert (empty.estimate, empty.low, empty.high, empty.reason) == (None, None, None, "n<1")
    for wrong in ((-1, 0, 5), (0, -1, 5), (3, 3, 5)):
        with pytest.raises(UsageError, match="counts"):
            method(*wrong)
    with pytest.raises(UsageError, match="level"):
        method(1, 1, 5, -0.5)


@pytest.mark.parametrize("seed", range(3))
def test_the_intervals_agree_at_a_thousand_queries(seed):
    d = retrieval_like(1000, seed)
    t = t_interval(d)
    half = (t.high - t.low) / 2
    for interval in (
        bootstrap_differences(d, np.random.default_rng(1))[0],
        bca_interval(d, np.random.default_rng(1)),
        studentised_interval(d, np.random.default_rng(1)),
    ):
        assert ends(interval) == pytest.approx(ends(t), abs=0.08 * half)

"""How many queries are enough: shares of simulated sets, by counting and against what is known."""

import math

import numpy as np
import pytest

from leadline.demo.enough import enough_queries, excluding_shares
from leadline.errors import UsageError
from leadline.stats.intervals import t_interval


def test_a_share_is_that_of_the_librarys_own_interval() -> None:
    differences = np.random.default_rng(1).normal(0.1, 0.5, 5000)
    found = excluding_shares(differences, [40], 300, np.random.default_rng(2))[0]
    rng, ends = np.random.default_rng(2), []
    for _ in range(300):
        ends.append(t_interval(differences[rng.integers(0, 5000, 40)]))
    right, wrong = sum(one.low > 0 for one in ends), sum(one.high < 0 for one in ends)
    assert 0 < right < 300
    assert (found.right, found.wrong, found.sets) == (right / 300, wrong / 300, 300)
    sure = [abs(one.estimate) for one in ends if one.low > 0 or one.high < 0]
    assert found.exaggeration == pytest.approx(np.mean(sure) / differences.mean())


def test_without_a_difference_one_in_twenty_is_a_false_alarm() -> None:
    row = np.random.default_rng(3).normal(0, 1, 20_000)
    found = excluding_shares(row - row.mean(), [50], 4000, np.random.default_rng(4))[0]
    # A standard error is √(.05 · .95/4000) = .0034.
    assert abs(found.right + found.wrong - 0.05) < 4 * 0.0034


def test_power_is_that_of_the_t_test() -> None:
    # n = 34 at half a standard deviation has power .8078 (Cohen 1988, table 2.3.5 for the paired case).
    row = np.random.default_rng(5).normal(0, 1, 50_000)
    row = (row - row.mean()) / row.std() + 0.5
    found = excluding_shares(row, [34], 4000, np.random.default_rng(6))[0]
    assert abs(found.right - 0.8078) < 4 * math.sqrt(0.81 * 0.19 / 4000)


def test_the_sign_of_the_difference_does_not_matter() -> None:
    row = np.random.default_rng(7).normal(0.3, 1, 1000)
    plus, minus = (excluding_shares(s * row, [30], 200, np.random.default_rng(8))[0] for s in (1, -1))
    assert plus == minus


def test_a_set_without_spread_excludes_nothing() -> None:
    assert excluding_shares([0.25, 0.25], [5], 20, np.random.default_rng(1))[0].right == 0.0


def test_few_queries_exaggerate() -> None:
    row = np.random.default_rng(9).normal(0.1, 1, 10_000)
    few, many = excluding_shares(row, [20, 4000], 400, np.random.default_rng(10))
    assert few.exaggeration > 3 and many.exaggeration == pytest.approx(1.0, abs=0.05)


def test_enough_by_the_formula() -> None:
    # sd of ±0.3 around 0.1 is 0.3 (ddof hardly matters); z = 1.959964 + 0.841621 = 2.801585;
    # n = (2.801585 · 0.3/0.1)² = 70.6, so 71.
    row = [0.4, -0.2] * 20_000
    found = enough_queries(row)
    assert found.n == 71
    # The mean's 95 % interval is 0.1 ± 1.96 · 0.3/√40000 = 0.1 ± 0.00294:
    # (2.801585 · 0.3/0.10294)² = 66.7 and (2.801585 · 0.3/0.09706)² = 74.98.
    assert (found.low, found.high) == (67, 75)
    assert enough_queries([-value for value in row]).n == 71


def test_where_no_number_is_enough() -> None:
    # A mean of exactly 0; sd = √(2 · .01) = .1414. Its interval reaches 1.96 · .1414/√2 = .196 to either side, so
    # at best ((2.801585 · .1414)/.196)² = 4.09 queries would do.
    nothing = enough_queries([0.1, -0.1])
    assert (nothing.n, nothing.low, nothing.high, nothing.difference) == (None, 5, None, 0.0)
    unsure = enough_queries([0.3, -0.1, 0.2, -0.3])
    # Mean 0.025 with an interval that reaches far below 0: there is no upper limit.
    assert unsure.n is not None and unsure.high is None


@pytest.mark.parametrize("row", [[], [0.1], [0.1, math.nan], [[0.1], [0.2]]])
def test_differences_that_say_nothing_are_refused(row: list[float]) -> None:
    with pytest.raises(UsageError, match="two finite numbers"):
        enough_queries(row)
    with pytest.raises(UsageError, match="two finite numbers"):
        excluding_shares(row, [5], 5, np.random.default_rng(1))


def test_sizes_sets_and_power_are_checked() -> None:
    rng = np.random.default_rng(1)
    for sizes, sets in (([1], 5), ([5], 0)):
        with pytest.raises(UsageError, match="at least one set"):
            excluding_shares([0.1, 0.2], sizes, sets, rng)
    with pytest.raises(UsageError, match="power"):
        enough_queries([0.1, 0.2], 1.0)

"""Tau and tau_AP by hand, by brute force, against SciPy, and under what must not change them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leadline.errors import UsageError
from leadline.stats.rank_correlation import kendall_tau, rank_agreement, tau_ap


def rng():
    return np.random.default_rng(7)


def test_known_values():
    # One of six pairs out of order: (5 − 1)/6.
    assert kendall_tau([4, 3, 2, 1], [4, 2, 3, 1]) == pytest.approx(4 / 6)
    # A tie in one: five pairs in order of six, four of them not tied twice over: 5/√(6·5).
    assert kendall_tau([4, 3, 2, 1], [4, 3, 3, 1]) == pytest.approx(5 / 30**0.5)
    # tau_AP: the order of `other`, the share above each rank that belongs there, twice the mean less 1.
    # Swapped at the top: rank 2: 0/1, rank 3: 2/2, rank 4: 3/3: 2/3·(0 + 1 + 1) − 1 = 1/3.
    assert tau_ap([4, 3, 2, 1], [3, 4, 2, 1]) == pytest.approx(1 / 3)
    # Swapped at the bottom: 1/1, 2/2, 2/3: 2/3·(8/3) − 1 = 7/9. Tau is 4/6 for both.
    assert tau_ap([4, 3, 2, 1], [4, 3, 1, 2]) == pytest.approx(7 / 9)
    # The best put last: other's order b, c, d, a: 1, 1, 0/3: 2/3·2 − 1 = 1/3; the other way round a, b, c, d: 0, 1/2, 2/3:
    # 2/3·7/6 − 1 = −2/9. It is not symmetric.
    assert tau_ap([4, 3, 2, 1], [1, 4, 3, 2]) == pytest.approx(1 / 3)
    assert tau_ap([1, 4, 3, 2], [4, 3, 2, 1]) == pytest.approx(-2 / 9)


def test_ties():
    # Two tied at the top of `other`: in order 1, out of order 1/3 (see above), the mean 2/3.
    assert tau_ap([4, 3, 2, 1], [3, 3, 2, 1]) == pytest.approx(2 / 3)
    # Tied in the truth: rank 2 counts half: 2/3·(1/2 + 1 + 1) − 1.
    assert tau_ap([3, 3, 2, 1], [4, 3, 2, 1]) == pytest.approx(2 / 3)
    # What differs by rounding only is tied: .1 + .2 is not .3.
    assert 0.1 + 0.2 != 0.3
    assert kendall_tau([0.1 + 0.2, 0.3, 0.1], [1, 1, 0]) == pytest.approx(1)
    for function in (kendall_tau, tau_ap):
        for rows in (([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [0, 0, 0]), ([1], [1]), ([], [])):
            assert function(*rows) is None


def test_wrong_use():
    with pytest.raises(UsageError, match="not those of the same systems"):
        kendall_tau([1, 2], [1])
    with pytest.raises(UsageError, match="finite"):
        tau_ap([1, float("nan")], [1, 2])
    with pytest.raises(UsageError, match="queries × systems"):
        rank_agreement([[1, 2]], [[1, 2, 3]], rng())
    with pytest.raises(UsageError, match="finite"):
        rank_agreement([[1, float("inf")]], [[1, 2]], rng())
    with pytest.raises(UsageError, match="resamples"):
        rank_agreement([[1, 2]], [[1, 2]], rng(), resamples=0)


def by_definition(truth, other):
    """The mean over all orders of `other` that its ties allow, a pair tied in the truth counting half."""
    n = len(truth)
    found = []
    for order in itertools.permutations(range(n)):
        if any(other[a] < other[b] for a, b in itertools.pairwise(order)):
            continue
        shares = [
            sum(1.0 if truth[j] > truth[i] else 0.5 * (truth[j] == truth[i]) for j in order[:place]) / place
            for place, i in enumerate(order)
            if place
        ]
        found.append(2 / (n - 1) * sum(shares) - 1)
    return np.mean(found)


rows = st.integers(2, 6).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n) for _ in range(2)])
)


@given(rows)
def test_by_brute_force_and_by_scipy(pair):
    truth, other = pair
    if len(set(truth)) == 1 or len(set(other)) == 1:
        assert kendall_tau(truth, other) is tau_ap(truth, other) is None
        return
    assert tau_ap(truth, other) == pytest.approx(by_definition(truth, other))
    assert kendall_tau(truth, other) == pytest.approx(stats.kendalltau(truth, other).statistic)


@given(st.permutations(range(8)), st.permutations(range(8)))
def test_what_must_not_change_an_order(truth, other):
    truth, other = np.array(truth), np.array(other)
    tau, ap = kendall_tau(truth, other), tau_ap(truth, other)
    assert kendall_tau(other, truth) == pytest.approx(tau)
    assert -1 <= ap <= 1 and -1 <= tau <= 1
    assert (ap == pytest.approx(1)) == (truth.tolist() == other.tolist())
    assert tau_ap(truth, truth) == pytest.approx(1) and tau_ap(truth, -truth) == pytest.approx(-1)
    assert tau_ap(truth, np.exp(other)) == pytest.approx(ap)
    assert tau_ap(-truth, other) == pytest.approx(-ap)


def sample(n, systems, noise=0.1):
    draw = np.random.default_rng(4)
    truth = draw.random((n, systems)) + np.linspace(0, 0.4, systems)
    return truth, truth + noise * draw.normal(size=(n, systems)) + 0.2


def test_the_resampling_keeps_queries_together():
    truth, other = sample(30, 6)
    found = rank_agreement(truth, other, rng())
    assert found.tau.estimate == kendall_tau(truth.mean(axis=0), other.mean(axis=0))
    assert found.tau_ap.estimate == pytest.approx(tau_ap(truth.mean(axis=0), other.mean(axis=0)))
    both = [tau_ap(truth.mean(axis=0), other.mean(axis=0)), tau_ap(other.mean(axis=0), truth.mean(axis=0))]
    assert found.tau_ap_symmetric == pytest.approx(np.mean(both))
    assert (found.systems, found.tau.n) == (6, 30)
    assert rank_agreement(truth, other, rng()) == found
    # By drawing queries one by one: t at .975 on 29 degrees is 2.0452, times the deviation × √(30/29).
    draw, plain = np.random.default_rng(8), []
    for _ in range(2000):
        queries = draw.integers(0, 30, 30)
        means = truth[queries].mean(axis=0), other[queries].mean(axis=0)
        plain.append((kendall_tau(*means), tau_ap(*means)))
    for interval, values in ((found.tau, np.array(plain)[:, 0]), (found.tau_ap, np.array(plain)[:, 1])):
        assert interval.method == "bootstrap-se"
        assert interval.estimate - interval.low == pytest.approx(
            2.0452 * values.std() * (30 / 29) ** 0.5, rel=0.1
        )
        assert interval.high == min(1.0, 2 * interval.estimate - interval.low)
    # The same labels twice are the same order in every resample.
    same = rank_agreement(truth, truth, rng(), resamples=200)
    assert same.tau.estimate == 1 and same.tau.low is None and same.tau.reason.startswith("no spread")


def test_what_has_no_interval():
    truth, other = sample(4, 6)
    assert rank_agreement(truth, other, rng()).tau.reason == "queries<5"
    assert rank_agreement(np.zeros((0, 3)), np.zeros((0, 3)), rng()).tau.reason == "n<1"
    flat = rank_agreement(np.ones((30, 3)), sample(30, 3)[0], rng())
    assert (flat.tau.estimate, flat.tau.reason) == (None, "all systems are tied")
    assert flat.tau_ap_symmetric is None

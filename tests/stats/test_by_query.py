"""Agreement by query and the change of kappa: known values, what must hold, and what has no answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UnknownNameError, UsageError
from leadline.stats.agreement import WEIGHTS, cohen_kappa, confusion_table, gwet_ac, majority_baseline
from leadline.stats.by_query import agreement_by_query, gwet_by_query, kappa_change

OLD = [[[3, 2], [1, 2]], [[2, 1], [1, 2]], [[1, 1], [1, 4]], [[4, 1], [0, 1]], [[1, 1], [0, 1]]]
NEW = [[[4, 1], [0, 3]], [[3, 0], [1, 2]], [[2, 0], [0, 5]], [[4, 1], [0, 1]], [[1, 1], [0, 1]]]


def rng():
    return np.random.default_rng(7)


def drawn(seed, queries=30, k=3):
    return np.random.default_rng(seed).integers(0, 4, (queries, k, k))


def test_kappa_constant_judge():
    # People 1 nine times and 0 once, the judge always 1: 9 of 10 equal, and so does whoever always says 1;
    # pe = .9·1 + .1·0 = .9, kappa 0.
    table = confusion_table([1] * 9 + [0], [1] * 10, [0, 1])
    kappa = cohen_kappa(table)
    assert (kappa.agreement, kappa.estimate, majority_baseline(table)) == (0.9, 0.0, 0.9)
    # The majority is that of people, the rows.
    assert majority_baseline(table.T) == 1.0
    assert majority_baseline([[0, 0], [0, 0]]) is None


def test_kappa_single_class():
    # pe = 1: 0/0, neither 1 nor 0.
    table = confusion_table([1, 1, 1], [1, 1, 1], [0, 1])
    kappa = cohen_kappa(table)
    assert (kappa.agreement, kappa.estimate) == (1.0, None)
    assert agreement_by_query([table] * 6, rng()).reason == "no spread: all values equal"


def test_agreement_by_query():
    # Equal: 5 + 4 + 5 + 5 + 2 = 21 of 8 + 6 + 7 + 6 + 3 = 30.
    interval = agreement_by_query(OLD, rng())
    assert interval.estimate == pytest.approx(21 / 30) and interval.n == 5
    assert interval.low < interval.estimate < interval.high <= 1
    assert agreement_by_query(OLD[:4], rng()).reason == "queries<5"
    assert agreement_by_query(np.zeros((3, 2, 2)), rng()).reason == "n<1"
    # A query without items is one that could have been drawn, and changes no estimate.
    assert agreement_by_query([*OLD, [[0, 0], [0, 0]]], rng()).estimate == interval.estimate


def test_kappa_change():
    # Totals [[11, 6], [3, 10]] and [[14, 3], [1, 12]] of 30. (.7 − .49556)/.50444 = .40529; po = 26/30, pe = (17·15 +
    # 13·15)/900 = .5: .73333.
    found = kappa_change(OLD, NEW, rng(), "none")
    assert (found.old, found.new) == (pytest.approx(0.405286), pytest.approx(0.733333))
    assert found.interval.estimate == pytest.approx(0.328047, abs=1e-6) and found.interval.n == 5
    turned = kappa_change(NEW, OLD, rng(), "none")
    assert turned.interval.low == pytest.approx(-found.interval.high)
    # The same judge twice: no resample differs.
    assert kappa_change(OLD, OLD, rng()).interval.reason == "no spread: all values equal"
    assert kappa_change(OLD, OLD, rng()).interval.estimate == 0


def test_the_change_is_that_of_the_same_queries():
    """Drawn together, what is hard for both cancels: far narrower than from two separate samples."""
    draw = np.random.default_rng(4)
    skill = draw.beta(1, 1, 60)
    truth = draw.integers(0, 2, (60, 10))
    seen = [np.where(draw.random((60, 10)) < skill[:, None], truth, 1 - truth) for _ in range(2)]
    seen[1] = np.where(draw.random((60, 10)) < 0.9, seen[0], seen[1])
    old, new = ([confusion_table(a, b, [0, 1]) for a, b in zip(truth, one, strict=True)] for one in seen)
    together = kappa_change(old, new, rng()).interval
    apart = kappa_change(old, draw.permutation(new), rng()).interval
    assert together.high - together.low < 0.5 * (apart.high - apart.low)


def test_what_has_no_change():
    one = [[[5, 0], [0, 0]]] * 6
    found = kappa_change(one, [[[4, 1], [0, 0]]] * 6, rng())
    assert (found.old, found.new) == (None, 0.0)
    assert found.interval.reason == "no variation: one grade only"
    assert kappa_change(np.zeros((6, 2, 2)), one, rng()).interval.reason == "n<1"
    with pytest.raises(UsageError, match="not those of the same queries"):
        kappa_change(OLD, NEW[:4], rng())
    with pytest.raises(UsageError, match="one square table a query"):
        kappa_change([[1, 2]], [[1, 2]], rng())
    with pytest.raises(UsageError, match="counts"):
        agreement_by_query([[[-1, 1], [0, 1]]], rng())
    with pytest.raises(UnknownNameError, match="unknown weights"):
        kappa_change(OLD, NEW, rng(), "cubic")
    with pytest.raises(UsageError, match="level"):
        agreement_by_query(OLD, rng(), level=1)


def counts_of(table):
    """The counts of grades of each item that a confusion table of two judges counts."""
    k = len(table)
    rows = [
        np.bincount([i, j], minlength=k) for i in range(k) for j in range(k) for _ in range(int(table[i][j]))
    ]
    return np.array(rows).reshape(-1, k)


@given(st.integers(0, 500), st.sampled_from(WEIGHTS))
def test_gwet_by_query_is_gwets(seed, weights):
    tables = drawn(seed, 6)
    found = gwet_by_query(tables, rng(), weights, [0, 1, 3], resamples=50)
    expected = gwet_ac(counts_of(tables.sum(axis=0)), [0, 1, 3], weights)
    assert found.estimate == pytest.approx(expected)


def test_gwet_by_query():
    interval = gwet_by_query(drawn(1), rng(), "quadratic")
    assert interval.low < interval.estimate < interval.high and interval.n == 30
    assert gwet_by_query(np.zeros((3, 2, 2)), rng()).reason == "n<1"
    assert gwet_by_query([[[3]]] * 6, rng()).estimate is None


@given(st.integers(0, 500), st.sampled_from(WEIGHTS))
def test_what_must_not_change_the_change(seed, weights):
    old, new = drawn(seed, 8), drawn(seed + 1000, 8)
    found = kappa_change(old, new, rng(), weights, resamples=200)
    assert found.old == pytest.approx(cohen_kappa(old.sum(axis=0), weights).estimate)
    assert found.new == pytest.approx(cohen_kappa(new.sum(axis=0), weights).estimate)
    # The scale in other units, and every item twice.
    for other in (
        kappa_change(old, new, rng(), weights, [0, 10, 20], resamples=200),
        kappa_change(2 * old, 2 * new, rng(), weights, resamples=200),
    ):
        assert other.interval.low == pytest.approx(found.interval.low, abs=1e-9)
        assert other.interval.estimate == pytest.approx(found.interval.estimate, abs=1e-9)

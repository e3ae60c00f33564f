"""Agreement by query and the change of kappa: known values, what must hold, and what has no answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UnknownNameError, UsageError
from leadline.stats.agreement import (
    WEIGHTS,
    cohen_kappa,
    confusion_table,
    grade_counts,
    gwet_ac,
    majority_baseline,
    table_counts,
)
from leadline.stats.by_query import kappa_change, shares_by_query

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
    assert shares_by_query([table] * 6, rng()).agreement.reason == "no spread: all values equal"


def test_shares_by_query():
    # Equal: 5 + 4 + 5 + 5 + 2 = 21 of 8 + 6 + 7 + 6 + 3 = 30. The sum is [[11, 6], [3, 10]]: people gave 0 to 17, and the
    # judge one grade more 6 times and one less 3 times.
    found = shares_by_query(OLD, rng())
    for made, value in ((found.agreement, 21 / 30), (found.above, 4 / 30), (found.step, 3 / 30)):
        assert made.estimate == pytest.approx(value) and made.n == 5
        assert made.low < made.estimate < made.high <= 1
    # In the grades' own values a step is 2.
    assert shares_by_query(OLD, rng(), [1, 3]).step.estimate == pytest.approx(6 / 30)
    assert shares_by_query(OLD[:4], rng()).agreement.reason == "queries<5"
    nothing = shares_by_query(np.zeros((3, 2, 2)), rng())
    assert [made.reason for made in vars(nothing).values()] == ["n<1"] * 3
    # A query without items is one that could have been drawn, and changes no estimate.
    assert shares_by_query([*OLD, [[0, 0], [0, 0]]], rng()).agreement.estimate == found.agreement.estimate
    # A resample of it alone has no share, and is left out.
    empty = [[[0, 0], [0, 0]]] * 5
    assert shares_by_query([*OLD[:1], *empty], rng()).agreement.reason.startswith("undefined in over 5 %")


def test_the_majority_is_that_of_each_resample():
    """Drawn one by one: the best constant grade is chosen again in each, as it was in the sample."""
    tables = drawn(5, 12)
    found = shares_by_query(tables, rng()).above
    draw, plain = np.random.default_rng(2), []
    for _ in range(4000):
        sums = tables[draw.integers(0, 12, 12)].sum(axis=0)
        plain.append((np.trace(sums) - sums.sum(axis=1).max()) / sums.sum())
    # Widened for few queries: t at .975 on 11 degrees 2.201 · √(12/11) = 2.299 in the place of 1.96, so the tail is .0108.
    assert [found.low, found.high] == pytest.approx(np.quantile(plain, [0.0108, 0.9892]), abs=0.02)


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
        shares_by_query([[[-1, 1], [0, 1]]], rng())
    with pytest.raises(UsageError, match="3 grades for a table of 2 by 2"):
        shares_by_query(OLD, rng(), [0, 1, 2])
    with pytest.raises(UnknownNameError, match="unknown weights"):
        kappa_change(OLD, NEW, rng(), "cubic")
    with pytest.raises(UsageError, match="level"):
        shares_by_query(OLD, rng(), level=1)


@given(st.integers(0, 500))
def test_the_items_of_a_table_are_those_it_counts(seed):
    """The same counts, and so the same AC, as from the two rows of grades that the table was made of."""
    draw = np.random.default_rng(seed)
    pairs, scale = draw.choice([0.0, 1.0, 3.0], (2, 40)), [0, 1, 3]
    table = confusion_table(*pairs, scale)
    expected = grade_counts(pairs.T.tolist(), scale)
    assert sorted(map(tuple, table_counts(table).tolist())) == sorted(map(tuple, expected.tolist()))
    for weights in WEIGHTS:
        assert gwet_ac(table_counts(table), scale, weights) == pytest.approx(
            gwet_ac(expected, scale, weights)
        )
    assert table_counts(np.zeros((2, 2))).shape == (0, 2)


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

"""Marginal homogeneity on reference cases, against another program, and under what must not change it."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.stats.homogeneity import bhapkar, homogeneity_by_query, stuart_maxwell

FOUR = [[40, 8, 2, 0], [10, 15, 5, 1], [1, 6, 12, 4], [0, 1, 5, 10]]


def rng():
    return np.random.default_rng(7)


def test_stuart_maxwell():
    # Columns less rows: (51 − 50, 30 − 31, 24 − 23, 15 − 16) = (1, −1, 1, −1).
    found = stuart_maxwell(FOUR)
    assert found.shift == pytest.approx([1 / 120, -1 / 120, 1 / 120, -1 / 120])
    assert found.statistic == pytest.approx(0.1454597210361514, abs=1e-8)
    assert found.p == pytest.approx(0.9858726678314937, abs=1e-8)
    assert (found.df, found.n, found.unused, found.reason) == (3, 120, (), None)
    # S/(1 − S/120).
    assert bhapkar(FOUR).statistic == pytest.approx(0.14563625611270894, abs=1e-8)


def test_two_grades_are_mcnemar():
    # (b − c)²/(b + c) = (9 − 3)²/12 = 3, p of chi-squared on one degree .08326.
    found = stuart_maxwell([[20, 9], [3, 30]])
    assert (found.statistic, found.df) == (pytest.approx(3), 1)
    assert found.p == pytest.approx(0.083264516663550, abs=1e-9)


def test_grades_that_nobody_gave_are_dropped():
    # Grade 1 was never given: what is left is McNemar's table above.
    found = stuart_maxwell([[20, 0, 9], [0, 0, 0], [3, 0, 30]])
    assert (found.statistic, found.df, found.unused) == (pytest.approx(3), 1, (1,))


def test_grades_that_change_only_within_groups():
    # 0 and 1 among themselves, 2 and 3 among themselves: two McNemar tests, 36/12 + 16/8 = 5 on 2 degrees.
    found = stuart_maxwell([[5, 9, 0, 0], [3, 5, 0, 0], [0, 0, 5, 6], [0, 0, 2, 5]])
    assert (found.statistic, found.df) == (pytest.approx(5), 2)
    # A grade that nobody changed takes no part either, though it was given.
    found = stuart_maxwell([[20, 9, 0], [3, 30, 0], [0, 0, 8]])
    assert (found.statistic, found.df, found.unused) == (pytest.approx(3), 1, ())


def test_what_cannot_be_tested():
    same = stuart_maxwell([[5, 0], [0, 3]])
    assert (same.statistic, same.p, same.reason) == (0.0, 1.0, "no grade changed")
    nothing = stuart_maxwell([[0, 0], [0, 0]])
    assert (nothing.statistic, nothing.p, nothing.reason) == (None, None, "n<1")
    # All five go one way: S = 25/5 = n, and Bhapkar's variance is 0.
    assert stuart_maxwell([[0, 5], [0, 0]]).statistic == pytest.approx(5)
    one_way = bhapkar([[0, 5], [0, 0]])
    assert (one_way.p, one_way.reason) == (None, "every change goes one way: no variance")
    for table in ([[1, 0]], [[1, -1], [0, 1]], [1, 2]):
        with pytest.raises(UsageError):
            stuart_maxwell(table)


def test_by_query_exact():
    # Shifts of grade 1: 2, 0, 3, 1, 1, 1; the query without a shift flips nothing. All five have one sign, which 2 of
    # 2⁵ assignments have: p = 2/32.
    tables = [[[5, n], [m, 3]] for n, m in ((2, 0), (1, 1), (3, 0), (1, 0), (2, 1), (1, 0))]
    found = homogeneity_by_query(tables, rng())
    assert (found.p, found.df, found.n) == (0.0625, 1, 6)
    assert found.method == "sign-flip by query (exact)"
    # (2 + 3 + 1 + 1 + 1)²/(4 + 9 + 1 + 1 + 1) = 64/16.
    assert found.statistic == pytest.approx(4)
    # 8 of 41 items: 5·6 + 3·6 on the diagonal, 10 and 2 off it, 60 in all: (10 − 2)/60.
    assert found.shift == pytest.approx([-8 / 60, 8 / 60])
    none = homogeneity_by_query([[[5, 1], [1, 3]]] * 4, rng())
    assert (none.p, none.reason) == (1.0, "no query's grades shift")
    assert homogeneity_by_query(np.zeros((3, 2, 2)), rng()).reason == "n<1"
    with pytest.raises(UsageError, match="below 1"):
        homogeneity_by_query(tables, rng(), 0)
    with pytest.raises(UsageError, match="one square table a query"):
        homogeneity_by_query(FOUR, rng())


def test_by_query_is_the_written_out_enumeration():
    tables = rng().integers(0, 4, (7, 3, 3))
    shifts = tables.sum(axis=1) - tables.sum(axis=2)
    inverse = np.linalg.pinv(shifts.T @ shifts, rcond=1e-9)
    forms = [(s := np.array(signs) @ shifts) @ inverse @ s for signs in itertools.product([-1, 1], repeat=7)]
    found = homogeneity_by_query(tables, rng())
    assert found.statistic == pytest.approx(shifts.sum(axis=0) @ inverse @ shifts.sum(axis=0))
    assert found.p == pytest.approx(np.mean(np.array(forms) >= found.statistic - 1e-9))
    # Drawn, for 64 assignments are more than 60: within four sd of the share, √(.25/60) = .065; and in sixty-firsts.
    drawn = homogeneity_by_query(tables, rng(), 60)
    assert drawn.method == "sign-flip by query" and drawn.p == pytest.approx(found.p, abs=0.26)
    assert drawn.p * 61 == pytest.approx(round(drawn.p * 61))


def test_pairs_of_one_query_are_one_unit():
    """One query whose twenty items all moved is one shift, not twenty: no test of it can say anything."""
    tables = [[[0, 20], [0, 5]], *[[[5, 0], [0, 5]]] * 9]
    assert stuart_maxwell(np.sum(tables, axis=0)).p < 1e-4
    assert homogeneity_by_query(tables, rng()).p == 1.0


squares = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 9), min_size=k, max_size=k), min_size=k, max_size=k)
)


@given(squares, st.randoms())
def test_what_must_not_change_the_test(rows, random):
    table = np.array(rows)
    found = stuart_maxwell(table)
    order = list(range(len(rows)))
    random.shuffle(order)
    for other in (table.T, table[np.ix_(order, order)], table + np.diag(np.full(len(rows), 3))):
        again = stuart_maxwell(other)
        if found.reason is None:
            assert (again.df, again.statistic) == (found.df, pytest.approx(found.statistic, abs=1e-9))
    if found.statistic is not None:
        assert stuart_maxwell(table.T).shift == pytest.approx([-x for x in found.shift])
        assert 0 <= found.p <= 1 and found.statistic <= found.n + 1e-9


@given(squares)
def test_both_are_those_of_statsmodels(needs, rows):
    program = needs("statsmodels.stats.contingency_tables")
    # Every pair of grades changes into each other, so that no grade has to be left out.
    table = np.array(rows) + 1.0
    for ours, name in ((stuart_maxwell(table), "stuart_maxwell"), (bhapkar(table), "bhapkar")):
        theirs = program.SquareTable(table, shift_zeros=False).homogeneity(name)
        assert ours.statistic == pytest.approx(theirs.statistic, abs=1e-8)
        assert ours.p == pytest.approx(theirs.pvalue, abs=1e-8)
        assert ours.df == theirs.df


@given(st.integers(0, 1000))
def test_by_query_does_not_ask_which_judge_is_old(seed):
    tables = np.random.default_rng(seed).integers(0, 3, (8, 3, 3))
    found, turned = homogeneity_by_query(tables, rng()), homogeneity_by_query(tables.swapaxes(1, 2), rng())
    assert (turned.p, turned.statistic) == (found.p, pytest.approx(found.statistic))

"""Kappa, alpha and AC on the reference cases, against other programs, and under what must not change them."""

import math

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
    kappa_by_query,
)
from leadline.stats.krippendorff import METRICS, alpha_by_query, krippendorff_alpha

FOUR = [[40, 8, 2, 0], [10, 15, 5, 1], [1, 6, 12, 4], [0, 1, 5, 10]]
CANONICAL = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def rng():
    return np.random.default_rng(7)


def items_of(table):
    """The two grades of each item that a confusion table counts."""
    return [[i, j] for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]


def test_cohen_kappa_2x2():
    # Po = 35/50 = .7; Pe = (25·30 + 25·20)/2500 = .5; (.7 − .5)/.5 = .4. Standard error: Fleiss, Cohen & Everitt 1969.
    kappa = cohen_kappa([[20, 5], [10, 15]])
    assert kappa.estimate == pytest.approx(0.4, abs=1e-12)
    assert kappa.se == pytest.approx(0.12699606293110033, abs=1e-9)
    assert kappa.agreement == 0.7
    # .4 ± 1.959964·.126996
    assert kappa.interval.low == pytest.approx(0.15109, abs=1e-5)
    assert kappa.interval.high == pytest.approx(0.64891, abs=1e-5)


@pytest.mark.parametrize(
    ("weights", "value"),
    [("none", 0.4905213270142179), ("linear", 0.6525515743756786), ("quadratic", 0.7865685372585096)],
)
def test_weighted_kappa_4(weights, value):
    # 1 − Σwo/Σwe, w = |i − j| or (i − j)².
    assert cohen_kappa(FOUR, weights).estimate == pytest.approx(value, abs=1e-12)


def test_weighted_kappa_missing_grade():
    # Grade 2 is on the scale and was not given: 1 and 3 stay two apart. Σwo = 2·4 = 8 of 4 items;
    # Σwe·4 = by margins (1, 1, 2)/4 on 0, 1, 3: 2·(1·1·1 + 1·2·9 + 1·2·4)/4 = 13.5; 1 − 8/13.5 = .40740…
    a, b = [0, 1, 3, 3], [0, 3, 1, 3]
    full = cohen_kappa(confusion_table(a, b, [0, 1, 2, 3]), "quadratic")
    assert full.estimate == pytest.approx(0.40740740740740744, abs=1e-12)
    # The distance is that of the grades' values, so a short list does not bring 1 and 3 together (.636…).
    short = cohen_kappa(confusion_table(a, b, [0, 1, 3]), "quadratic", [0, 1, 3])
    assert short.estimate == pytest.approx(full.estimate, abs=1e-12)
    assert cohen_kappa(confusion_table(a, b, [0, 1, 3]), "quadratic").estimate == pytest.approx(
        0.6363636363636364
    )


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("nominal", 0.743421052631579),
        ("ordinal", 0.8153875037548813),
        ("interval", 0.8491071428571428),
        ("ratio", 0.797402774711612),
    ],
)
def test_krippendorff_canonical(metric, value):
    # Krippendorff 2011: .743, .815, .849, .797; the last unit has one grade and is left out.
    units = [[g for g in column if g is not None] for column in zip(*CANONICAL, strict=True)]
    scale = [1, 2, 3, 4, 5]
    assert krippendorff_alpha(grade_counts(units, scale), scale, metric) == pytest.approx(value, abs=1e-9)


def test_j29_alpha_leaves_single_votes_out():
    # Observed 2 of 6 values differ: 2/6. Expected 2·3·3/(6·5) = .6. 1 − (1/3)/.6 = .44444.
    units = [[0, 0], [1, 1], [0, 1], [1]]
    assert krippendorff_alpha(grade_counts(units, [0, 1]), [0, 1], "nominal") == pytest.approx(4 / 9)
    assert krippendorff_alpha(grade_counts(units[:3], [0, 1]), [0, 1], "nominal") == pytest.approx(4 / 9)
    # No variation: undefined, neither 1 nor 0.
    assert krippendorff_alpha(grade_counts([[1, 1], [1, 1]], [0, 1]), [0, 1], "nominal") is None
    assert krippendorff_alpha(grade_counts([[1], [0]], [0, 1]), [0, 1], "nominal") is None


def test_gwet_ac1_ac2():
    # pa = 119/132; π = (125 + 124, 5 + 6, 2 + 2)/264; pe = ½·Σπ(1 − π) = .05422; (pa − pe)/(1 − pe) = .89587, as
    # irrCAC 0.4.4 has it, which rounds to five decimals.
    table = [[118, 5, 2], [4, 1, 0], [2, 0, 0]]
    counts = grade_counts(items_of(table), [0, 1, 2])
    expected = {"none": 0.8958690474384453, "linear": 0.9292087511107138, "quadratic": 0.9468924007853488}
    for weights, value in expected.items():
        assert gwet_ac(counts, [0, 1, 2], weights) == pytest.approx(value, abs=5.1e-6)
    # The paradox of prevalence: 90 % equal, and kappa near 0.
    assert cohen_kappa(table).estimate == pytest.approx(0.09206349206349196, abs=1e-12)


def test_gwet_depends_on_the_whole_scale():
    # Two grades, all equal but one: pa .9; π = (.95, .05, 0): pe = 3/(3·2)·(.0475 + .0475) = .0475; .8525/.9525.
    units = [[0, 0]] * 9 + [[0, 1]]
    assert gwet_ac(grade_counts(units, [0, 1, 2]), [0, 1, 2]) == pytest.approx(0.8525 / 0.9525)
    assert gwet_ac(grade_counts([[0], [1]], [0, 1]), [0, 1]) is None
    assert gwet_ac(grade_counts([[0, 0]], [0]), [0]) is None


def test_what_has_no_kappa():
    nothing = cohen_kappa([[0, 0], [0, 0]])
    assert (nothing.estimate, nothing.n, nothing.interval.reason) == (None, 0, "n<1")
    same = cohen_kappa([[5, 0], [0, 0]])
    assert same.estimate is None and same.agreement == 1
    assert same.interval.reason == "no variation: one grade only"
    # Kappa 1 is an estimate; from a sample without a difference there is no interval, and none of zero width.
    full = cohen_kappa([[5, 0], [0, 5]])
    assert full.estimate == 1 and full.se == 0 and full.interval.low is None
    interval = kappa_by_query([[[5, 0], [0, 5]]] * 5, rng())
    assert (
        interval.estimate == 1 and interval.low is None and interval.reason == "no spread: all values equal"
    )
    assert kappa_by_query([[[5, 1], [0, 5]]] * 4, rng()).reason == "queries<5"
    assert kappa_by_query(np.zeros((0, 2, 2)), rng()).reason == "n<1"
    # Four of five queries without variation: (4/5)^5 = 33 % of the resamples have none either.
    rare = kappa_by_query([[[5, 0], [0, 0]]] * 4 + [[[1, 1], [1, 1]]], rng())
    assert rare.reason == "undefined in over 5 % of the resamples" and rare.low is None


def test_wrong_use():
    with pytest.raises(UsageError, match="grade 7 is not on the scale 0, 1"):
        confusion_table([7], [0], [0, 1])
    with pytest.raises(UsageError, match="not those of the same items"):
        confusion_table([0, 1], [0], [0, 1])
    with pytest.raises(UsageError, match="ascending"):
        grade_counts([[1]], [1, 0])
    with pytest.raises(UnknownNameError, match="unknown weights"):
        cohen_kappa([[1, 0], [0, 1]], "cubic")
    with pytest.raises(UnknownNameError, match="unknown metric"):
        krippendorff_alpha([[2, 0]], [0, 1], "cubic")
    with pytest.raises(UsageError, match="square"):
        cohen_kappa([[1, 0]])
    with pytest.raises(UsageError, match="ratio"):
        krippendorff_alpha([[1, 1]], [-1, 1], "ratio")


grades = st.integers(0, 3)
judged = st.lists(st.tuples(grades, grades), min_size=1, max_size=40)


@given(judged, st.sampled_from(WEIGHTS))
def test_kappa_is_that_of_scikit_learn(needs, pairs, weights):
    metrics = needs("sklearn.metrics")
    a, b = zip(*pairs, strict=True)
    ours = cohen_kappa(confusion_table(a, b, range(4)), weights).estimate
    if ours is None:
        assert len({*a, *b}) == 1
        return
    named = None if weights == "none" else weights
    assert ours == pytest.approx(metrics.cohen_kappa_score(a, b, labels=range(4), weights=named), abs=1e-9)


@given(st.lists(st.lists(grades, min_size=1, max_size=4), min_size=1, max_size=20), st.sampled_from(METRICS))
def test_alpha_is_that_of_krippendorff(needs, units, metric):
    program = needs("krippendorff")
    counts = grade_counts(units, range(4))
    ours = krippendorff_alpha(counts, range(4), metric)
    paired = {g for unit in units if len(unit) > 1 for g in unit}
    if len(paired) < 2:
        assert ours is None
        return
    theirs = program.alpha(value_counts=counts, value_domain=[0, 1, 2, 3], level_of_measurement=metric)
    assert ours == pytest.approx(theirs, abs=1e-9)


def test_standard_error_is_that_of_statsmodels(needs):
    statsmodels = needs("statsmodels.stats.inter_rater")
    for weights, wt in (("none", None), ("linear", "linear"), ("quadratic", "quadratic")):
        theirs = statsmodels.cohens_kappa(np.array(FOUR), wt=wt)
        ours = cohen_kappa(FOUR, weights)
        assert ours.estimate == pytest.approx(theirs.kappa, abs=1e-12)
        assert ours.se == pytest.approx(theirs.std_kappa, abs=1e-9)


@given(judged, st.sampled_from(WEIGHTS))
def test_what_must_not_change_agreement(pairs, weights):
    a, b = zip(*pairs, strict=True)
    table = confusion_table(a, b, range(4))
    kappa = cohen_kappa(table, weights)
    assert cohen_kappa(table.T, weights).estimate == pytest.approx(kappa.estimate, nan_ok=True)
    # A scale in other units is the same scale.
    scaled = cohen_kappa(table, weights, [0, 10, 20, 30])
    assert scaled.estimate == pytest.approx(kappa.estimate)
    if kappa.estimate is not None:
        # All items twice: the same kappa, an error smaller by √2.
        twice = cohen_kappa(2 * table, weights)
        assert twice.estimate == pytest.approx(kappa.estimate)
        assert twice.se == pytest.approx(kappa.se / math.sqrt(2), abs=1e-7)
        assert kappa.estimate <= 1 + 1e-12


@given(judged)
def test_two_judges_by_counts_and_by_table(pairs):
    """AC of two judges follows from their table alone: by Gwet's formula, written out."""
    table = confusion_table(*zip(*pairs, strict=True), range(4))
    n = table.sum()
    pa = np.trace(table) / n
    pi = (table.sum(axis=0) + table.sum(axis=1)) / (2 * n)
    pe = 4 / (4 * 3) * (pi * (1 - pi)).sum()
    ours = gwet_ac(grade_counts([list(pair) for pair in pairs], range(4)), range(4))
    assert ours == pytest.approx((pa - pe) / (1 - pe))


def test_the_interval_by_query_knows_clusters():
    """Ten items of one query that are all alike are one item: the interval must be as wide as of one each."""
    draw = np.random.default_rng(3)
    one = [
        confusion_table([x], [x if draw.random() < 0.7 else 1 - x], [0, 1]) for x in draw.integers(0, 2, 60)
    ]
    wide = kappa_by_query(np.array(one) * 10, rng())
    same = kappa_by_query(one, rng())
    assert (wide.low, wide.high) == (same.low, same.high)
    asymptotic = cohen_kappa(np.array(one).sum(axis=0) * 10).interval
    assert wide.high - wide.low > 2.5 * (asymptotic.high - asymptotic.low)


def test_the_bootstrap_is_the_plain_one():
    """By multinomial weights as by drawing queries one by one."""
    tables = np.array(
        [[[3, 1], [0, 2]], [[2, 1], [1, 2]], [[1, 0], [1, 4]], [[4, 1], [0, 1]], [[2, 2], [1, 1]]]
    )
    interval = kappa_by_query(tables, rng(), resamples=20_000, level=0.5)
    draw = np.random.default_rng(8)
    plain = [cohen_kappa(tables[draw.integers(0, 5, 5)].sum(axis=0)).estimate for _ in range(4000)]
    # Expanded for five queries: t₄ at .75 is .7407; Φ(−.7407·√(5/4)) = Φ(−.8281) = .2038.
    assert interval.low == pytest.approx(np.quantile(plain, 0.2038), abs=0.02)
    assert interval.high == pytest.approx(np.quantile(plain, 0.7962), abs=0.02)
    again = kappa_by_query(tables, rng(), resamples=20_000, level=0.5)
    assert again == interval


def test_alpha_by_query():
    units = [[0, 0], [1, 1], [0, 1], [1, 1], [2, 2], [1, 2], [0, 0], [1, 0], [2]]
    queries = ["a", "a", "b", "b", "c", "c", "d", "e", "f"]
    interval = alpha_by_query(grade_counts(units, range(3)), queries, range(3), rng())
    assert interval.estimate == pytest.approx(krippendorff_alpha(grade_counts(units, range(3)), range(3)))
    # The query of a single vote is none of the five that were drawn from.
    assert interval.n == 5 and interval.low < interval.estimate <= interval.high <= 1
    assert alpha_by_query(grade_counts([[1]], [0, 1]), ["a"], [0, 1], rng()).reason == "n<1"
    with pytest.raises(UsageError, match="one for each"):
        alpha_by_query(grade_counts([[1]], [0, 1]), ["a", "b"], [0, 1], rng())

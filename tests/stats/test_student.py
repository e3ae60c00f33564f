"""The quantiles against tables, closed forms and SciPy."""

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from leadline.errors import UsageError
from leadline.stats.student import normal_quantile, t_quantile

TAILS = [
    1e-10,
    1e-9,
    1e-7,
    1e-5,
    1e-3,
    0.004,
    0.01,
    0.025,
    0.04,
    0.05,
    0.06,
    0.1,
    0.2,
    0.25,
    0.3,
    0.4,
    0.45,
    0.49,
]
DFS = [
    1,
    1.001,
    1.25,
    1.5,
    2,
    2.5,
    3,
    4,
    5.7,
    9,
    10,
    19,
    29.3,
    49,
    99,
    199,
    200,
    299,
    999,
    1e4,
    123456.7,
    1e6,
    1e7,
]


@pytest.mark.parametrize("df", DFS)
def test_quantiles_agree_with_scipy(df):
    p = np.array(TAILS + [1 - tail for tail in TAILS])
    ours = np.array([t_quantile(float(x), df) for x in p])
    np.testing.assert_allclose(ours, stats.t.ppf(p, df), rtol=1e-10, atol=0)


# Fisher & Yates, Statistical Tables, table III: the two-sided points of t, to three decimals.
@pytest.mark.parametrize(
    ("p", "df", "value"),
    [
        (0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 5, 2.571), (0.975, 10, 2.228), (0.975, 30, 2.042),
        (0.975, 120, 1.980), (0.995, 1, 63.657), (0.995, 10, 3.169), (0.95, 4, 2.132), (0.9995, 20, 3.850),
    ],
)  # fmt: skip
def test_quantiles_agree_with_the_printed_table(p, df, value):
    assert t_quantile(p, df) == pytest.approx(value, abs=5.1e-4)


@pytest.mark.parametrize("tail", [1e-10, 1e-6, 0.01, 0.05, 0.3, 0.4999, 0.5 - 1e-9])
def test_quantiles_agree_with_the_closed_forms(tail):
    # df = 1 is Cauchy's distribution: F(t) = 1/2 + atan(t)/π, so t = cot(π·tail) = tan(π(1/2 − tail)).
    cauchy = 1 / math.tan(math.pi * tail) if tail < 0.4 else math.tan(math.pi * (0.5 - tail))
    assert t_quantile(tail, 1) == pytest.approx(-cauchy, rel=1e-12)
    # df = 2: F(t) = 1/2 + t/(2√(2 + t²)), so with u = 1 − 2·tail: t = u·√(2/(1 − u²)),
    # where 1 − u² = 4·tail(1 − tail).
    assert t_quantile(tail, 2) == pytest.approx(
        -(1 - 2 * tail) * math.sqrt(1 / (2 * tail * (1 - tail))), rel=1e-12
    )


def test_near_the_median_the_slope_is_the_density():
    # df = 4: the density at 0 is 3/8, so the quantile at 1/2 + 1e-7 is 8/3·1e-7. (SciPy 1.17 is
    # .04 % off here.)
    assert t_quantile(0.5 + 1e-7, 4) == pytest.approx(8 / 3 * (0.5 + 1e-7 - 0.5), rel=1e-12)
    assert t_quantile(0.5, 4) == 0.0


def test_the_limit_is_the_normal_quantile():
    # Table of the normal distribution: Φ(1.959964) = .975.
    assert normal_quantile(0.975) == pytest.approx(1.959963984540054, rel=1e-14)
    assert t_quantile(0.975, math.inf) == normal_quantile(0.975)
    assert t_quantile(0.3, 1e12) == pytest.approx(normal_quantile(0.3), rel=1e-11)


def test_the_quantile_is_odd_about_the_median_and_falls_with_df():
    assert t_quantile(0.75, 7) == -t_quantile(0.25, 7)
    points = [t_quantile(0.975, df) for df in DFS]
    assert points == sorted(points, reverse=True)


@pytest.mark.parametrize(("p", "df"), [(0, 3), (1, 3), (-0.1, 3), (math.nan, 3), (0.9, 0.5), (0.9, math.nan)])
def test_wrong_arguments_are_refused(p, df):
    with pytest.raises(UsageError):
        t_quantile(p, df)


def test_intervals_do_not_import_scipy():
    code = "import sys, leadline.stats.intervals; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

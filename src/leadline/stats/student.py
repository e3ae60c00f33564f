"""Quantiles of Student's t and of the normal distribution, without SciPy."""

import math
from functools import lru_cache

from leadline.errors import UsageError

TAIL = 0.05
"""Below this tail probability the quantile is solved for in the tail, above it in the centre."""

CLOSE = 4e-16
STEPS = 100
TERMS = 100_000


def normal_quantile(p: float) -> float:
    """The quantile of the standard normal distribution (Wichura 1988, algorithm AS 241).

    Raises
    ------
    UsageError: p is not between 0 and 1.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    _check_probability(p)
    from statistics import NormalDist

    return NormalDist().inv_cdf(p)


def normal_tail(z: float) -> float:
    """The chance that a standard normal value is above z.

    >>> round(normal_tail(1.959964), 6)
    0.025
    """
    return math.erfc(z / math.sqrt(2)) / 2


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The quantile of Student's t distribution with `df` degrees of freedom, from 1 up, also fractional.

    The distribution function is the regularised incomplete beta function I_x(df/2, 1/2), x = df/(df + t²)
    (Abramowitz & Stegun 1964, 26.7.1), by the continued fraction of Didonato & Morris 1992 (ACM TOMS 18,
    algorithm 708). It is solved by Newton's method from a Cornish–Fisher start (Abramowitz & Stegun 26.7.5).
    Accurate to a relative 1e-10 for p from 1e-10 to 1 − 1e-10 and df to 1e7.

    Raises
    ------
    UsageError: p is not between 0 and 1, or df is below 1.

    >>> round(t_quantile(0.975, 4), 4)
    2.7764
    """
    _check_probability(p)
    if not df >= 1:
        raise UsageError(f"degrees of freedom {df} are below 1")
    if math.isinf(df):
        return normal_quantile(p)
    if p == 0.5:
        return 0.0
    # From 1/2 upward 1 − p is exact in floating point, so the upper half loses nothing.
    tail = min(p, 1 - p)
    size = _solve_tail(tail, df) if tail < TAIL else _solve_centre(0.5 - tail, df)
    return size if p > 0.5 else -size


def _check_probability(p: float) -> None:
    if not 0 < p < 1:
        raise UsageError(f"probability {p} is not between 0 and 1")


def _start(tail: float, df: float) -> float:
    """The first two terms of the Cornish–Fisher expansion about the normal quantile.

    The quantile is that of Abramowitz & Stegun 26.2.23, good to 4.5e-4: Newton's steps do the rest.
    """
    s = math.sqrt(-2 * math.log(tail))
    z = s - (2.515517 + s * (0.802853 + s * 0.010328)) / (1 + s * (1.432788 + s * (0.189269 + s * 0.001308)))
    # Near the median the approximation may come out below 0; the start must lie above it.
    z = max(z, 1e-3)
    return z + (z**3 + z) / (4 * df)


def _solve_tail(tail: float, df: float) -> float:
    """The t > 0 with P(T > t) = tail, in logarithms of both.

    log P(T > t) is concave in log t, so that Newton's steps come down on the root from one side, however
    heavy the tail is; in t itself there would be thousands of them at df = 1.
    """
    t = _start(tail, df)
    for _ in range(STEPS):
        above = _tail(t, df)
        step = math.log(above / tail) * above / (t * _density(t, df))
        t *= math.exp(step)
        if abs(step) <= CLOSE:
            break
    return t


def _solve_centre(share: float, df: float) -> float:
    """The t > 0 with P(0 < T < t) = share."""
    t = _start(0.5 - share, df)
    for _ in range(STEPS):
        step = (_centre(t, df) - share) / _density(t, df)
        t -= step
        if abs(step) <= CLOSE * t:
            break
    return t


def _tail(t: float, df: float) -> float:
    """P(T > t) for t > 0, from the fraction that converges there."""
    if t * t < 3:
        return 0.5 - _centre(t, df)
    whole = df + t * t
    return t * _density(t, df) / 2 * _fraction(df / 2, 0.5, df / whole, t * t / whole)


def _centre(t: float, df: float) -> float:
    """P(0 < T < t) for t > 0, from the fraction that converges there."""
    if t * t >= 3:
        return 0.5 - _tail(t, df)
    whole = df + t * t
    return t * _density(t, df) / 2 * _fraction(0.5, df / 2, t * t / whole, df / whole)


def _density(t: float, df: float) -> float:
    scale = _half_step(df / 2) / math.sqrt(math.pi * df)
    return scale * math.exp(-(df + 1) / 2 * math.log1p(t * t / df))


def _half_step(a: float) -> float:
    """Γ(a + 1/2) / Γ(a).

    The difference of two logarithms of Γ loses eight digits at a = 5e6, so: the asymptotic series (Tricomi &
    Erdélyi 1951), after the recurrence has brought a to where five terms suffice.
    """
    below = 1.0
    while a < 100:
        below *= a / (a + 0.5)
        a += 1
    x = 1 / a
    series = 1 + x * (-1 / 8 + x * (1 / 128 + x * (5 / 1024 + x * (-21 / 32768 - x * 399 / 262144))))
    return below * math.sqrt(a) * series


def _fraction(a: float, b: float, x: float, y: float) -> float:
    """The continued fraction of the incomplete beta function, y = 1 − x: I_x(a, b)·B(a, b)/(x^a y^b).

    The form with x and y both given (Didonato & Morris 1992, algorithm 708, BFRAC): at df = 1e7 one of them
    is so close to 1 that the other cannot be had from it to more than nine digits.
    """
    excess = a * y - b * x + 1
    value = a * excess / (a + 1)
    c, d = value, 0.0
    for n in range(1, TERMS):
        top = (a + n - 1) * (a + b + n - 1) * n * (b - n) * x * x / (a + 2 * n - 1) ** 2
        bottom = n + n * (b - n) * x / (a + 2 * n - 1) + (a + n) * (excess + n * (1 + y)) / (a + 2 * n + 1)
        d = 1 / (bottom + top * d)
        c = bottom + top / c
        value *= c * d
        if abs(c * d - 1) <= CLOSE:
            break
    return 1 / value

"""How large an effect is, beside whether there is one: in spreads, in wins, and how far a find exaggerates."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.errors import UsageError
from leadline.stats.intervals import t_interval
from leadline.stats.student import normal_quantile


@dataclass(frozen=True)
class SignAndMagnitude:
    """What a significant result is worth if the true difference is the named one.

    Attributes
    ----------
    power: the chance of a significant result, 0 to 1.
    type_s: the chance that a significant result has the wrong sign, 0 to .5.
    type_m: by what factor a significant result is too large on average, from 1 up.
    NaN is "could not be computed"; `reason` then says why.
    """

    power: float
    type_s: float
    type_m: float
    reason: str | None = None


def standardised_difference(d: npt.ArrayLike) -> float:
    """The mean of the differences over their own spread, d_z = mean/sd with n − 1 (Cohen 1988, section 2.3.5).

    A row of n differences in; a number without unit out, negative where the candidate is worse. NaN below two
    differences and where all are equal.

    Raises
    ------
    UsageError: the differences are not a row of finite numbers.

    >>> standardised_difference([0.0, 0.5, 1.0])
    1.0
    """
    row = np.asarray(d, dtype=np.float64)
    # t_interval checks the values and knows what has no spread.
    seen = t_interval(row)
    if seen.estimate is None or seen.low is None:
        return math.nan
    return seen.estimate / float(row.std(ddof=1))


def probability_of_superiority(wins: int, ties: int, n: int) -> float:
    """The chance that the candidate does better on a query, ties counting half: (wins + ties/2)/n, 0 to 1.

    The paired form of the common-language effect size (Grissom & Kim 2012, Effect Sizes for Research, section
    5.4). NaN where n is 0.

    Raises
    ------
    UsageError: a count is negative, or wins and ties are more than n.

    >>> probability_of_superiority(wins=6, ties=2, n=10)
    0.7
    """
    if wins < 0 or ties < 0 or wins + ties > n:
        raise UsageError(f"{wins} wins and {ties} ties are not counts out of n = {n}")
    return (wins + ties / 2) / n if n else math.nan


def type_s_m(difference: float, standard_error: float, alpha: float = 0.05) -> SignAndMagnitude:
    """Errors of sign and magnitude among significant results, for a named true difference.

    Gelman & Carlin 2014 (Perspectives on Psychological Science 9), in closed form for a normal estimate (Lu,
    Qiu & Deng 2019, British Journal of Mathematical and Statistical Psychology 72): with λ = |difference|/se
    and z the two-sided quantile, power = Φ(λ − z) + Φ(−λ − z), type S = Φ(−λ − z)/power and
    type M = [φ(λ + z) + φ(λ − z) + λ(Φ(λ + z) + Φ(λ − z) − 1)]/(λ·power). Both arguments are in the measure's
    units. At a difference of 0 there is no right sign and nothing to exaggerate: NaN, and power is alpha.

    Raises
    ------
    UsageError: an argument is not finite, the standard error is negative, or alpha is not between 0 and 1.

    >>> found = type_s_m(0.02, 0.15 / 50**0.5)
    >>> round(found.power, 2), round(found.type_s, 3), round(found.type_m, 1)
    (0.16, 0.012, 2.6)
    """
    if not (math.isfinite(difference) and math.isfinite(standard_error) and standard_error >= 0):
        raise UsageError(f"difference {difference} with standard error {standard_error}: both must be finite")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha {alpha} is not between 0 and 1")
    if standard_error == 0:
        return SignAndMagnitude(math.nan, math.nan, math.nan, "no spread: the standard error is 0")
    if difference == 0:
        return SignAndMagnitude(alpha, math.nan, math.nan, "a difference of 0 has no sign and no size")
    z, size = normal_quantile(1 - alpha / 2), abs(difference) / standard_error
    wrong = _normal(-size - z)
    power = _normal(size - z) + wrong
    tails = _density(size + z) + _density(size - z)
    # Φ(λ + z) + Φ(λ − z) − 1 is Φ(λ − z) − Φ(−λ − z), without the loss of digits near 1.
    magnitude = (tails + size * (_normal(size - z) - wrong)) / (size * power)
    return SignAndMagnitude(power, wrong / power, magnitude)


def _normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

"""The mean of a stratified sample, weighted to a mix such as the traffic, with its interval."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.errors import InputError, UsageError, printable
from leadline.stats.intervals import LEVEL, Interval
from leadline.stats.paired import check_level, finite_row
from leadline.stats.student import t_quantile

METHOD = "stratified t"


def stratified_mean(
    values: npt.ArrayLike,
    strata: Sequence[str] | npt.NDArray[Any],
    weights: Mapping[str, float],
    level: float = LEVEL,
) -> Interval:
    """The mean ΣW_h·mean_h with variance ΣW_h²s_h²/n_h (Cochran 1977, chapter 5) and Satterthwaite's degrees of freedom.

    W_h are the weights divided by their sum, s_h² has n_h − 1, df = (ΣV_h)²/Σ(V_h²/(n_h − 1)) with
    V_h = W_h²s_h²/n_h (Satterthwaite 1946; Cochran 1977, equation 5.16). The weights are taken as known: what their own
    estimation from a sample of the traffic adds is not in the interval.

    Parameters
    ----------
    values: shape (n,), finite, in the measure's units.
    strata: n names, one a value.
    weights: each stratum's weight, 0 or above; shares or counts. A stratum of weight 0 is left out, also of n.
    level: between 0 and 1.

    Where a stratum that counts has no value there is no estimate; where one has a single value, or none has any
    spread, no ends: `reason` names it. Merging it with another is the caller's choice, not made here.

    Raises
    ------
    InputError: a stratum of the values has no weight, or a weight is negative, not finite, or all are 0.
    UsageError: another shape, values that are not finite, not one name a value or one missing, or a level not between 0 and 1.

    >>> answer = stratified_mean([0.5, 0.6, 0.4, 0.7, 0.1, 0.2, 0.3], list("aaaabbb"), {"a": 0.7, "b": 0.3})
    >>> round(answer.estimate, 3), round(answer.low, 3), round(answer.high, 3)
    (0.445, 0.308, 0.582)
    """
    row = finite_row(values)
    check_level(level)
    missing = [place for place, name in enumerate(strata) if name is None or name != name]
    if missing:
        raise UsageError(f"the stratum at place {missing[0]} (from 0) is missing")
    labels = np.array([str(name) for name in strata], dtype=object)
    if len(labels) != row.size:
        raise UsageError(f"{len(labels)} strata for {row.size} values: one a value is needed")
    mix = _mix(weights, set(labels.tolist()))
    groups = {name: row[labels == name] for name in mix}
    n = sum(group.size for group in groups.values())
    empty = [name for name, group in groups.items() if group.size == 0]
    if empty:
        return Interval(None, None, None, level, METHOD, n, f"stratum {printable(empty[0])!r} has no value")
    mean = math.fsum(mix[name] * float(group.mean()) for name, group in groups.items())
    single = [name for name, group in groups.items() if group.size == 1]
    if single:
        reason = f"stratum {printable(single[0])!r} has one value: merge it with another"
        return Interval(mean, None, None, level, METHOD, n, reason)
    spread = {name: group for name, group in groups.items() if group.min() < group.max()}
    if not spread:
        return Interval(mean, None, None, level, METHOD, n, "no spread: all values of each stratum equal")
    # In units of the largest value, and with shares of the variance: squares of tiny numbers would vanish.
    unit = max(float(np.abs(group).max()) for group in spread.values())
    parts = [(mix[h] ** 2 * float((g / unit).var(ddof=1)) / g.size, g.size) for h, g in spread.items()]
    variance = math.fsum(part for part, _ in parts)
    df = 1 / math.fsum((part / variance) ** 2 / (size - 1) for part, size in parts)
    half = t_quantile(0.5 + level / 2, max(df, 1.0)) * math.sqrt(variance) * unit
    return Interval(mean, mean - half, mean + half, level, METHOD, n)


def _mix(weights: Mapping[str, float], names: set[str]) -> dict[str, float]:
    """The strata that count, with shares that sum to 1."""
    unknown = sorted(names - set(weights))
    if unknown:
        raise InputError(f"stratum {printable(unknown[0])!r} has no weight; weights: {', '.join(weights)}")
    for name, weight in weights.items():
        if not (math.isfinite(weight) and weight >= 0):
            raise InputError(f"weight {weight} of stratum {printable(name)!r} is not a number from 0 up")
    total = math.fsum(weights.values())
    if total == 0:
        raise InputError("the weights of all strata are 0")
    return {name: weight / total for name, weight in weights.items() if weight > 0}


def kish_effective_n(weights: npt.ArrayLike) -> float:
    """How many equally weighted values tell as much as these weighted ones: (Σw)²/Σw² (Kish 1965).

    Parameters
    ----------
    weights: shape (n,), one a value, 0 or above, not all 0.

    Raises
    ------
    UsageError: another shape, weights that are negative or not finite, or no weight above 0.

    >>> round(kish_effective_n([1, 1, 2, 4]), 4)
    2.9091
    """
    w = finite_row(weights)
    if w.size == 0 or w.min() < 0 or w.max() == 0:
        raise UsageError("weights must be 0 or above, and one of them above 0")
    w = w / w.max()
    return float(w.sum() ** 2 / (w**2).sum())

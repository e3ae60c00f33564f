"""All pairs of three or more systems: which are drawn, and what their intervals mean, the same in every report."""

from collections.abc import Sequence

from leadline.comparison import PairInterval
from leadline.errors import amount
from leadline.report.comparing import ComparisonReport
from leadline.report.comparison_plots import Lane

SHOWN_PAIRS = 15
"""How many pairs are drawn: all of six systems; of more systems, those with the largest differences."""


def said_of_pairs(report: ComparisonReport) -> str:
    """What the intervals of all pairs mean, and by which method they were made."""
    rows = report.pair_intervals
    kinds = ", ".join(dict.fromkeys(one.interval for one in rows if one.interval)) or "none"
    level = rows[0].level
    together = 1 - (1 - level) * len(rows)
    return f"each interval at {100 * level:.4g} % ({kinds}), so that all {len(rows)} hold together at {100 * together:.4g} %"


def drawn_pairs(rows: Sequence[PairInterval]) -> list[Lane]:
    """The rows of the plot: all pairs in the order of the systems, or of many those with the largest differences."""
    known = [one for one in rows if one.difference is not None]
    if len(known) > SHOWN_PAIRS:
        known = sorted(known, key=lambda one: -abs(one.difference or 0.0))[:SHOWN_PAIRS]
    return [Lane(f"{one.second} − {one.first}", one.difference or 0.0, one.low, one.high) for one in known]


def said_of_the_others(rows: Sequence[PairInterval]) -> str:
    """How many pairs are not drawn; empty where all are."""
    left = len(rows) - len(drawn_pairs(rows))
    return f"and {amount(left, 'pair')} with smaller differences or without any value" if left else ""

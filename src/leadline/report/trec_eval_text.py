"""Scores in the output format of trec_eval, so that what reads that reads this."""

import math
from collections.abc import Iterator

from leadline.errors import UsageError, printable
from leadline.measure import split_text
from leadline.report.wording import COUNTS, base_name
from leadline.scores import Cell, Scores

PLAIN = {
    "AP": "map",
    "RR": "recip_rank",
    "Rprec": "Rprec",
    "Bpref": "bpref",
    "infAP": "infAP",
    "GMAP": "gm_map",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetF": "set_F",
    "NumQ": "num_q",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret",
    "11pt": "11pt_avg",
    "nDCG(gain=linear)": "ndcg",
}
"""trec_eval's names of measures without a cutoff."""

CUT = {
    "P": "P_{}",
    "R": "recall_{}",
    "Success": "success_{}",
    "AP": "map_cut_{}",
    "nDCG(gain=linear)": "ndcg_cut_{}",
}
"""trec_eval's names of measures with a cutoff."""

ONLY_OVER_ALL = ("num_q", "gm_map", "runid")
"""What trec_eval does not print for a single query."""


def trec_eval_name(measure: str) -> str:
    """trec_eval's name of a measure where it has that very measure; else the canonical name.

    >>> [trec_eval_name(name) for name in ("nDCG(gain=linear)@10", "nDCG@10", "IPrec(levels=floor)@0.1")]
    ['ndcg_cut_10', 'nDCG@10', 'iprec_at_recall_0.10']
    """
    try:
        name, parameters, cutoff = split_text(measure)
    except UsageError:
        return measure
    if name in ("IPrec", "11pt"):
        # How the levels are found differs between trec_eval's own versions; the name does not.
        parameters.pop("levels", None)
    full = name + (f"({','.join(f'{k}={v}' for k, v in parameters.items())})" if parameters else "")
    if full == "IPrec" and cutoff is not None:
        return f"iprec_at_recall_{float(cutoff):.2f}"
    if cutoff is None:
        return PLAIN.get(full, measure)
    return CUT[full].format(cutoff) if full in CUT else measure


def trec_eval_text(scores: Scores, per_query: bool = False) -> str:
    """The lines `measure`, query id or `all`, and value, apart at tabs, one system after another.

    With `per_query` the rows of each query come first, in the order of the queries. Then come `runid` with
    the system's name and the means. What could not be computed is left out, for trec_eval has no such
    value, and so are slices.
    """
    lines: list[str] = []
    for system in scores.systems:
        if per_query:
            lines.extend(_query_lines([cell for cell in scores.cells if cell.system == system]))
        lines.append(_line("runid", "all", printable(system)))
        for row in scores.summaries:
            if (
                row.system == system
                and row.group is None
                and row.mean is not None
                and math.isfinite(row.mean)
            ):
                lines.append(_line(trec_eval_name(row.measure), "all", _value(row.measure, row.mean)))
    return "".join(lines)


def _query_lines(cells: list[Cell]) -> Iterator[str]:
    columns = [(trec_eval_name(cell.measure), cell.measure, _by_query(cell)) for cell in cells]
    columns = [column for column in columns if column[0] not in ONLY_OVER_ALL]
    for query_id in dict.fromkeys(query_id for cell in cells for query_id in cell.query_ids):
        for name, measure, values in columns:
            value = values.get(query_id, math.nan)
            if math.isfinite(value):
                yield _line(name, printable(query_id), _value(measure, value))


def _by_query(cell: Cell) -> dict[str, float]:
    return dict(zip(cell.query_ids, cell.values.tolist(), strict=True))


def _line(name: str, query_id: str, value: str) -> str:
    return f"{printable(name):<22}\t{query_id}\t{value}\n"


def _value(measure: str, value: float) -> str:
    return f"{value:.0f}" if base_name(measure) in COUNTS else f"{value:6.4f}"

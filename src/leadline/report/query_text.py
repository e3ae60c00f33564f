"""Every query's values as plain text: a row a query, a column a measure, a block a system."""

from collections.abc import Iterator

from leadline.errors import printable
from leadline.report import wording
from leadline.scores import STATES, Cell, Scores

WIDTH = 100
SHORT = {"scored": "", "unanswered": " u", "undefined": " –", "error": " e"}
"""What stands behind a value: u unanswered (counted as 0), – undefined, e error."""


def query_text(scores: Scores) -> str:
    """The values of every query, at most 100 columns wide; measures that do not fit follow in a second block."""
    lines: list[str] = []
    for system in scores.systems:
        cells = [cell for cell in scores.cells if cell.system == system]
        lines += list(_block(scores, printable(system), cells))
    lines.append("u: unanswered, counted as 0; –: undefined, not in the mean; e: error, not in the mean")
    return "\n".join(lines) + "\n"


def _block(scores: Scores, system: str, cells: list[Cell]) -> Iterator[str]:
    names = [printable(query_id) for query_id in cells[0].query_ids]
    left = min(40, max(len(name) for name in ["query", *names]))
    heads = [wording.heading(scores, cell.measure) for cell in cells]
    while cells:
        count, used = 0, left
        while count < len(cells) and (count == 0 or used + 2 + max(10, len(heads[count])) <= WIDTH):
            used += 2 + max(10, len(heads[count]))
            count += 1
        widths = [max(10, len(head)) for head in heads[:count]]
        yield system
        yield "query".ljust(left) + "".join(f"  {head:>{w}}" for head, w in zip(heads, widths, strict=False))
        for row, name in enumerate(names):
            shown = name if len(name) <= left else name[: left - 1] + "…"
            yield shown.ljust(left) + "".join(
                f"  {_value(cell, row):>{w}}" for cell, w in zip(cells, widths, strict=False)
            )
        yield ""
        cells, heads = cells[count:], heads[count:]


def _value(cell: Cell, row: int) -> str:
    state = STATES[cell.states[row]]
    if state in ("undefined", "error"):
        return SHORT[state].strip()
    return wording.number(float(cell.values[row]), cell.measure) + SHORT[state]

"""Few labels of people and many of a model, in words and tables: both intervals with their widths, the same in every format."""

from collections.abc import Iterator, Sequence

from leadline.errors import amount, printable
from leadline.prediction_powered import ASSUMPTIONS
from leadline.report import wording
from leadline.report.lines_and_tables import listed, markdown_table, wrapped
from leadline.scores import Ends, Powered, PoweredScores

HEAD = ("by", "estimate", "interval", "width", "queries")
NAMES = {"both": "people and model", "human": "people alone", "judge": "model alone"}
BIASED = "biased as the model is: not to be trusted alone"


def powered_text(found: PoweredScores) -> Iterator[str]:
    """The lines for a terminal, at most 100 columns: each measure by people and model, by people and by the model alone."""
    yield f"prediction-powered (PPI++): {summary(found)}"
    for row in found.rows:
        lines = [list(cells(row, name)) for name in NAMES]
        yield ""
        yield wrapped(title(row))
        head = [HEAD[0], HEAD[1], f"{row.level:.0%} {HEAD[2]}", *HEAD[3:]]
        widths = [max(len(line[place]) for line in [head, *lines]) for place in range(len(head))]
        for line in [head, *lines]:
            aligned = [line[0].ljust(widths[0])]
            aligned += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
            yield f"  {'  '.join(aligned)}".rstrip()
        for said in told(row):
            yield wrapped(said, "  ")
    yield ""
    for said in notes(found):
        yield wrapped(said)


def summary(found: PoweredScores) -> str:
    """How many queries stand behind it, in one line."""
    return (
        f"{amount(found.labelled, 'query', 'queries')} judged by people and the model, "
        f"{found.unlabelled} more by the model alone"
    )


def title(row: Powered) -> str:
    """What one row is about.

    >>> from leadline.scores import Ends
    >>> none = Ends(None, None, None, 0)
    >>> title(Powered("RR", "b", "a", none, none, none, 0.95, None, 0.0, 0, None, None, None))
    'RR, b − a'
    """
    whose = row.system if row.baseline is None else f"{row.system} − {row.baseline}"
    return f"{row.measure}, {printable(whose)}"


def cells(row: Powered, name: str) -> tuple[str, str, str, str, str]:
    """One of the three intervals of a row (`both`, `human`, `judge`) as the cells of a table."""
    found: Ends = getattr(row, name)
    sign = "" if row.baseline is None else "+"
    absent = wording.ABSENT
    ends = absent if found.width is None else f"[{found.low:{sign}.4f}, {found.high:{sign}.4f}]"
    count = f"{found.n} + {row.n_unlabelled}" if name == "both" else str(found.n)
    estimate = absent if found.estimate is None else f"{found.estimate:{sign}.4f}"
    return NAMES[name], estimate, ends, wording.number(found.width), count


def told(row: Powered) -> list[str]:
    """What stands under the three intervals of a row."""
    lines = [f"λ {row.lam:.2f}"]
    if row.ratio is not None:
        lines[0] += f"; the interval is {row.ratio:.2f} times as wide as that by people alone"
    if row.rectifier is not None:
        lines[0] += f"; people − model {row.rectifier:+.4f} on the queries of both"
    if row.effect is not None:
        lines[0] += f"; effect by people and model: {row.effect}"
    lines.append(f"the model alone is {BIASED}")
    if row.reason is not None:
        what = "no interval" if row.both.low is None else "the model's labels do not count"
        lines.append(f"{what}: {row.reason}")
    if row.left_out or row.left_out_unlabelled:
        lines.append(
            f"left out, without a value by one of the two: {row.left_out} of the queries of both, "
            f"{row.left_out_unlabelled} of the others"
        )
    return lines + list(row.remarks)


def notes(found: PoweredScores) -> list[str]:
    """On what all rows rest, and what was left out."""
    first, second = found.labels_a_query
    lines = [
        found.labels,
        "the intervals by people and model correct for the model's errors, certified or not",
        f"they hold where {'; '.join(ASSUMPTIONS)}",
        f"labels of the model a query: {first:.1f} where people judged too, {second:.1f} elsewhere",
    ]
    if found.without_model:
        lines.append(
            f"left out: {amount(found.without_model, 'query', 'queries')} that people judged and the model did not"
        )
    if found.left_out:
        lines.append(f"no mean over queries, and so not here: {', '.join(found.left_out)}")
    return lines


def powered_table(found: PoweredScores) -> tuple[Sequence[tuple[str, bool]], list[list[str]]]:
    """The rows as one table for a page: its columns, and whether they are numeric; then the cells."""
    level = f"{found.rows[0].level:.0%} {HEAD[2]}" if found.rows else HEAD[2]
    head = [("measure", False), (HEAD[0], False), (HEAD[1], True), (level, True), (HEAD[3], True)]
    head += [(HEAD[4], True), ("", False)]
    rows = []
    for row in found.rows:
        first, _, *others = told(row)
        for name in NAMES:
            said = {"both": "; ".join([first, *others]), "judge": BIASED}.get(name, "")
            rows.append([title(row), *cells(row, name), said])
    return head, rows


def powered_markdown(found: PoweredScores) -> list[str]:
    """The same as lines of Markdown."""
    head, rows = powered_table(found)
    return [
        f"**Prediction-powered (PPI++)**: {summary(found)}",
        "",
        *markdown_table([name for name, _ in head], rows, [numeric for _, numeric in head]),
        "",
        listed(notes(found)),
    ]

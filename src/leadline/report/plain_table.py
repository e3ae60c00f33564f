"""A small table of text for a terminal: aligned, and never wider than the page."""

from collections.abc import Sequence

from leadline.errors import printable

GAP = "  "
SHORTEST = 8


def table_lines(
    head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1, width: int = 100
) -> list[str]:
    """The lines of a table with a rule under its heading; the first `texts` columns to the left, the rest to the right.

    Where it is too wide, texts are cut with an ellipsis, the longest first.

    >>> table_lines(["who", "n"], [["ana", "12"], ["bob", "3"]])
    ['who   n', '───────', 'ana  12', 'bob   3']
    """
    from rich.cells import cell_len

    cells = [[*map(printable, head)], *([*map(printable, row)] for row in rows)]
    wide = [max(cell_len(row[column]) for row in cells) for column in range(len(head))]
    while sum(wide) + len(GAP) * (len(wide) - 1) > width and max(wide[:texts]) > SHORTEST:
        longest = max(range(texts), key=lambda column: wide[column])
        wide[longest] -= 1
    lines = []
    for row in cells:
        parts = []
        for column, text in enumerate(row):
            short = cut(text, wide[column])
            blank = " " * (wide[column] - cell_len(short))
            parts.append(short + blank if column < texts else blank + short)
        lines.append(GAP.join(parts).rstrip())
    return [lines[0], "─" * max(map(cell_len, lines)), *lines[1:]]


def cut(text: str, width: int) -> str:
    """The text in at most so many cells of a terminal, with an ellipsis where something is left out.

    >>> cut("abcdef", 4), cut("abcd", 4)
    ('abc…', 'abcd')
    """
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"

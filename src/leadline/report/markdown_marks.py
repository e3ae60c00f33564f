"""Text in Markdown that is shown as it is, whatever it holds."""

import re

from leadline.errors import printable

SPECIAL = re.compile(r"([\\`*_\[\]<|~&])")


def escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> escaped("a|b <i>")
    'a\\|b \\<i>'
    """
    return SPECIAL.sub(r"\\\1", text)


def code(text: str) -> str:
    """Text as a code span in a table's cell, whatever it holds.

    >>> code("P(rel=2)@5")
    '`P(rel=2)@5`'
    """
    text = printable(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if "`" in text else ""
    # GitHub takes a table apart at its pipes first, also inside code.
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")

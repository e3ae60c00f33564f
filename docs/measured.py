"""Tables of the documentation, and the places in its pages for what a script measures."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def placed(text: str, name: str, part: str, page: Path) -> str:
    """The text of a page with one measured part put in, between `<!-- measured: NAME -->` and `<!-- end -->`.

    Raises
    ------
    SystemExit: the page has no place for it.
    """
    pattern = rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)"
    text, count = re.subn(pattern, lambda m: f"{m[1]}{part}\n{m[2]}", text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{page}: {count} places for {name}")
    return text


def put(page: Path, name: str, part: str) -> None:
    """Write one measured part into a page.

    Raises
    ------
    SystemExit: the page has no place for it.
    """
    page.write_text(placed(page.read_text(encoding="utf-8"), name, part, page), encoding="utf-8")

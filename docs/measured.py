"""Tables that a script measures, and their places in a page of the documentation."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


def put(page: Path, name: str, part: str) -> None:
    """Write one measured part into a page.

    Raises
    ------
    SystemExit: the page has no place for it.
    """
    pattern = rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)"
    text = page.read_text(encoding="utf-8")
    text, count = re.subn(pattern, lambda m: f"{m[1]}{part}\n{m[2]}", text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{page}: {count} places for {name}")
    page.write_text(text, encoding="utf-8")

"""Progress bars of long work: on standard error, and only where that is a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def bars(quiet: bool, counted: Literal["items", "bytes", "share"]) -> Iterator["Progress | None"]:
    """What draws the bars, by what they count; None where nobody looks or wants to.

    >>> with bars(quiet=True, counted="items") as shown:
    ...     print(shown)
    None
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    amounts: dict[str, list[ProgressColumn]] = {
        "items": [MofNCompleteColumn()],
        "bytes": [DownloadColumn()],
        "share": [],
    }
    amount = amounts[counted]
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), *amount, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        yield shown

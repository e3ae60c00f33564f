"""A run that moves a progress bar while it is read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leadline.around import Around
from leadline.errors import printable

if TYPE_CHECKING:
    from rich.progress import Progress

    from leadline.tables import Block, RunSource


@dataclass(frozen=True)
class Watched(Around):
    """The same run; every block that is read moves the bar by its bytes."""

    run: "RunSource"
    bar: "Progress"

    def blocks(self) -> Iterator["Block"]:
        """The run's blocks."""
        known = self.source is not None and not self.source.packed
        total = self.source.file.stat().st_size if known else None
        task = self.bar.add_task(f"reading {printable(self.name)}", total=total)
        for block in self.run.blocks():
            self.bar.advance(task, block.size)
            yield block
        self.bar.remove_task(task)

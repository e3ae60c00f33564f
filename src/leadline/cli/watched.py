"""A run that moves a progress bar while it is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leadline.errors import printable

if TYPE_CHECKING:
    from rich.progress import Progress

    from leadline.tables import Block, RunSource


@dataclass(frozen=True)
class Watched:
    """The same run; every block that is read moves the bar by its bytes."""

    run: "RunSource"
    bar: "Progress"

    @property
    def name(self) -> str:
        """The system's name."""
        return self.run.name

    @property
    def empty(self) -> Sequence[str]:
        """Queries that were answered with an empty list."""
        return self.run.empty

    @property
    def failed(self) -> Mapping[str, str]:
        """Queries whose row is an error."""
        return self.run.failed

    @property
    def source(self) -> Any:
        """The file the run is read from, if it is one."""
        return getattr(self.run, "source", None)

    @property
    def paths(self) -> Sequence[str]:
        """Where the row of each line number stands in a JSON text, if the run is read from one."""
        found: Sequence[str] = getattr(self.run, "paths", ())
        return found

    def blocks(self) -> Iterator["Block"]:
        """The run's blocks."""
        known = self.source is not None and not self.source.packed
        total = self.source.file.stat().st_size if known else None
        task = self.bar.add_task(f"reading {printable(self.name)}", total=total)
        for block in self.run.blocks():
            self.bar.advance(task, block.size)
            yield block
        self.bar.remove_task(task)

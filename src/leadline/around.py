"""A run around another run: one that is merged, or that moves a bar, and says all else as the run within does."""

from collections.abc import Mapping, Sequence
from typing import Any

from leadline.tables import RunSource


class Around:
    """What a run that stands around another one says of it: all that it says itself, but its blocks."""

    run: RunSource

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
    def scoreless(self) -> bool:
        """Whether the scores are only places."""
        return bool(getattr(self.run, "scoreless", False))

    @property
    def paths(self) -> Sequence[str]:
        """Where the row of each line number stands in a JSON text, if the run is read from one."""
        found: Sequence[str] = getattr(self.run, "paths", ())
        return found

    @property
    def notes(self) -> Sequence[str]:
        """Sentences to say of it, such as what was left out when it was read."""
        found: Sequence[str] = getattr(self.run, "notes", ())
        return found

    @property
    def told(self) -> Mapping[str, int]:
        """What reading did so far, in numbers."""
        return dict(getattr(self.run, "told", {}))

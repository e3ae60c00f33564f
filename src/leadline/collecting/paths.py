"""Places in a JSON answer: `hits.hits[*]._id` read and followed; what is missing is not the same as empty."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leadline.errors import UsageError, printable

Step = str | int | None
"""A key, a place in a list, or None for every entry of a list."""

_STEP = re.compile(r'\.?(?P<key>[^.\[\]"]+)|\[(?P<all>\*)\]|\[(?P<at>\d+)\]|\["(?P<quoted>[^"]+)"\]')


class NotThere(Exception):
    """The answer has nothing at a path; the message says where it ends."""


@dataclass(frozen=True)
class Path:
    """A parsed path; `text` is as it was written. `header` is set where it names a header of the answer instead.

    >>> Path.parse("hits.hits[*]._id").follow({"hits": {"hits": [{"_id": "a"}, {"_id": "b"}]}})
    ['a', 'b']
    >>> Path.parse("hits.hits[*]._id").follow({"hits": {"hits": []}})
    []
    """

    text: str
    steps: tuple[Step, ...]
    header: str = ""

    @classmethod
    def parse(cls, text: str) -> "Path":
        """A path from `a.b`, `a[0]`, `a[*].b` or `a["key.with.dots"]`; `$` is the whole answer, `header:NAME` a header.

        Raises
        ------
        UsageError: the text is no path.
        """
        if text.lower().startswith("header:"):
            name = text.partition(":")[2].strip().lower()
            if not name:
                raise UsageError(f"{printable(text)!r} names no header, such as header:X-Request-Id")
            return cls(text, (), name)
        rest, at, steps = text.removeprefix("$"), 0, list[Step]()
        while at < len(rest):
            match = _STEP.match(rest, at)
            if match is None:
                raise UsageError(f"{printable(text)!r} is no path such as hits.hits[*]._id")
            steps.append(_step(match))
            at = match.end()
        if not text:
            raise UsageError("a path is not empty; $ stands for the whole answer")
        return cls(text, tuple(steps))

    @property
    def many(self) -> bool:
        """Whether the path goes through every entry of a list."""
        return None in self.steps

    def follow(self, value: Any) -> Any:
        """What stands at the path: a value, or the list of values where the path has `[*]`.

        Raises
        ------
        NotThere: a key or a place is missing, or what should be a list is none.
        """
        return self._follow(value, 0)

    def _follow(self, value: Any, at: int) -> Any:
        if at == len(self.steps):
            return value
        step = self.steps[at]
        if step is None:
            if not isinstance(value, list):
                raise NotThere(f"no list at {self._until(at)}")
            found = [self._follow(entry, at + 1) for entry in value]
            # A second [*] gives a list for each entry: they become one.
            return [one for part in found for one in part] if None in self.steps[at + 1 :] else found
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                raise NotThere(f"nothing at {self._until(at + 1)}")
            return self._follow(value[step], at + 1)
        if not isinstance(value, Mapping) or step not in value:
            raise NotThere(f"nothing at {self._until(at + 1)}")
        return self._follow(value[step], at + 1)

    def _until(self, end: int) -> str:
        """The path up to a step, as a message shows it."""
        said = ""
        for step in self.steps[:end]:
            said += "[*]" if step is None else f"[{step}]" if isinstance(step, int) else f".{step}"
        return printable(said.removeprefix(".")) or "the answer"


def _step(match: re.Match[str]) -> Step:
    if match["all"]:
        return None
    if match["at"] is not None:
        return int(match["at"])
    return match["key"] or match["quoted"]

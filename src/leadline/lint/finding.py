"""What a check finds: faults and warnings, each with its place, and the files that were looked at."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from leadline.errors import RowFault, printable
from leadline.lint.codes import CODES, Severity, fault_code

EXAMPLES = 10
"""How many faults of a kind, and examples of a warning, are shown; all are counted."""
KEPT = 100_000
"""How many faults of one file are kept with their places; further ones are only counted."""


@dataclass(frozen=True)
class Finding:
    """One fault, or one warning with the first of its examples.

    Attributes
    ----------
    code: see `leadline.lint.codes`. file: as it was given. count: how many of this kind the file has.
    line, column: count from 1; None where there is none. found: the text there.
    examples: further places of a warning, as `file:line` or in words.
    """

    code: str
    file: str
    message: str
    count: int
    line: int | None = None
    column: int | None = None
    found: str = ""
    path: str = ""
    examples: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """`fault` or `warning`."""
        return CODES[self.code].severity


@dataclass(frozen=True)
class Looked:
    """One file that was looked at: what it holds, its format, and how much; counts are None where it holds no such thing.

    `answers` has the numbers of answers, claims and labels of a file of labelled answers, by these words.
    """

    file: str
    kinds: tuple[str, ...]
    format: str
    rows: int | None = None
    judgments: int | None = None
    queries: int | None = None
    documents: int | None = None
    answers: Mapping[str, int] = field(default_factory=dict)


@dataclass
class Findings:
    """Faults and warnings as they are gathered."""

    warnings: list[Finding] = field(default_factory=list)
    looked: list[Looked] = field(default_factory=list)
    _kinds: dict[tuple[str, str, str], list[RowFault]] = field(default_factory=dict)
    _more: dict[str, int] = field(default_factory=dict)

    def fault(self, file: str, fault: RowFault, code: str = "") -> None:
        """Add one fault of a row; its kind is its code and what was expected, whatever the numbers in it."""
        kind = re.sub(r"-?\d+(?:\.\d+)?|'[^']*'|\([^)]*\)", "…", fault.expected)
        self._kinds.setdefault((file, code or fault_code(fault.expected), kind), []).append(fault)

    def uncounted(self, file: str, count: int) -> None:
        """Count faults whose places were not kept."""
        self._more[file] = self._more.get(file, 0) + count

    def warn(
        self,
        code: str,
        file: str,
        message: str,
        count: int,
        *,
        line: int | None = None,
        found: str = "",
        examples: Sequence[str] = (),
    ) -> None:
        """Add a warning."""
        shown = tuple(examples[:EXAMPLES])
        self.warnings.append(Finding(code, file, message, count, line, None, found, examples=shown))

    def faults_of(self, file: str) -> int:
        """How many faults a file has."""
        known = sum(len(rows) for (name, _, _), rows in self._kinds.items() if name == file)
        return known + self._more.get(file, 0)

    @property
    def n_faults(self) -> int:
        """How many faults there are in all files."""
        return sum(map(len, self._kinds.values())) + sum(self._more.values())

    def faults(self, every: bool = False) -> Iterator[Finding]:
        """The first ten faults of each kind of each file, or all, each with the number of its kind there."""
        place = {one.file: at for at, one in enumerate(self.looked)}
        for (file, code, _), rows in sorted(
            self._kinds.items(), key=lambda kind: place.get(kind[0][0], len(place))
        ):
            for row in rows if every else rows[:EXAMPLES]:
                line = row.line if row.line > 0 else None
                yield Finding(code, file, row.expected, len(rows), line, row.column, row.found, row.path)
        for file, count in self._more.items():
            yield Finding("wrong-row", file, f"further wrong rows, of which only {KEPT} are kept", count)

    def all(self, every: bool = False) -> list[Finding]:
        """Faults, then warnings, in the order of the files."""
        place = {one.file: at for at, one in enumerate(self.looked)}
        last = len(place)
        return [*self.faults(every), *sorted(self.warnings, key=lambda one: place.get(one.file, last))]


def place(file: str, line: int | None, path: str = "") -> str:
    """Where something stands, as `file:line`, or the path in a JSON text.

    >>> place("a.run", 3), place("r.json", 1, "requests[0]")
    ('a.run:3', 'r.json: requests[0]')
    """
    if path:
        return f"{printable(file)}: {printable(path)}"
    return printable(file) if line is None else f"{printable(file)}:{line}"

"""Every error that Leadline raises, as one tree; each class knows its exit code.

LeadlineError                     exit 1, never raised itself
├── UsageError                    exit 2, the call is wrong: an option, a name, an argument
│   ├── UnknownNameError          exit 2, a name that is not known, with the nearest one
│   └── MissingExtraError         exit 2, an optional part is not installed
├── InputError                    exit 2, a file or table cannot be read or is wrong
│   ├── EmptyInputError           exit 2, there is nothing in it; to a gate it is not comparable
│   └── RowsError                 exit 2, rows are wrong: all counted, the first ten shown
├── NotComparableError            exit 4, there is nothing that could be scored or compared
└── TooManyErrorsError            exit 5, more failed rows than allowed
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

SHOWN_ROWS = 10
"""How many wrong rows an error message shows; all of them are counted."""
_KEPT: ContextVar[int] = ContextVar("kept", default=SHOWN_ROWS)
ROW = "row"
"""The optional column with the line (or row, from 1) each row came from; error messages name it."""


class LeadlineError(Exception):
    """The root of the tree: catch it to catch every error of this package."""

    exit_code = 1


class UsageError(LeadlineError):
    """The call itself is wrong: an option, a name or an argument."""

    exit_code = 2


class UnknownNameError(UsageError):
    """A name that is not known; the message offers the nearest known ones.

    >>> str(UnknownNameError("measure", "nDGC", ["nDCG", "DCG", "RR"]))
    "unknown measure 'nDGC': did you mean nDCG or DCG?"
    >>> str(UnknownNameError("setting", "kk", ["profile"], where="leadline.toml"))
    "leadline.toml: unknown setting 'kk': known: profile"
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], advice: str = "", where: str = "") -> None:
        import difflib

        names = sorted(set(known))
        by_lower = {n.lower(): n for n in names}
        near = [by_lower[n] for n in difflib.get_close_matches(name.lower(), by_lower, n=2, cutoff=0.5)]
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names)}"
        place = f"{printable(where)}: " if where else ""
        super().__init__(f"{place}unknown {kind} {printable(name)!r}: {hint}{' ' + advice if advice else ''}")


class MissingExtraError(UsageError):
    """An optional part is not installed; the message is the exact install command."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f'{feature} needs an optional part: pip install "leadline[{extra}]"')


class InputError(LeadlineError):
    """A file or a table that cannot be read, or says something that cannot be meant."""

    exit_code = 2


class EmptyInputError(InputError):
    """A file or a table with nothing in it. A gate calls it not comparable: an index may have come up empty."""


@dataclass(frozen=True)
class RowFault:
    """One wrong row: where it stands (line and column count from 1), what was found, what was expected.

    `path` is its place in a JSON text, such as `requests[0].ratings[2]`, where that says more than a line.
    """

    line: int
    column: int | None
    found: str
    expected: str
    path: str = ""

    def __str__(self) -> str:
        """The fault in one line, with control characters made visible."""
        place = f"line {self.line}" + (f", column {self.column}" if self.column is not None else "")
        place = printable(self.path) or place
        # A line of many megabytes is cut before it is looked through.
        found = printable(self.found[:81])
        return f"{place}: found {(found if len(found) <= 80 else found[:77] + '...')!r}, {self.expected}"


class RowsError(InputError):
    """Rows of one file are wrong. All are counted; the first ten are shown.

    Parameters
    ----------
    source: the file's name as the user gave it.
    faults: the first faults, in the order of the file (at most `SHOWN_ROWS` are shown; see `keeping`).
    total: how many rows are wrong in all.
    advice: what to do about it, one sentence.
    """

    def __init__(self, source: str, faults: Sequence[RowFault], total: int, advice: str = "") -> None:
        self.source, self.faults, self.total, self.advice = source, tuple(faults), total, advice
        shown = self.faults[:SHOWN_ROWS]
        if total == 1:
            text = f"{printable(source)}: {shown[0]}"
        else:
            more = f"\n  and {total - len(shown)} more" if total > len(shown) else ""
            text = f"{printable(source)}: {total} wrong rows\n  " + "\n  ".join(map(str, shown)) + more
        super().__init__(text + (f"\n  {advice}" if advice else ""))


class NotComparableError(LeadlineError):
    """Nothing in common that could be scored or compared."""

    exit_code = 4


class TooManyErrorsError(LeadlineError):
    """More rows failed than the caller allows."""

    exit_code = 5


def kept_rows() -> int:
    """How many wrong rows of a file are kept with what is wrong in them: as many as are shown, unless more are asked for."""
    return _KEPT.get()


@contextmanager
def keeping(rows: int) -> Iterator[None]:
    """Within this block so many wrong rows are kept; messages still show the first ten.

    >>> with keeping(1000):
    ...     kept_rows()
    1000
    """
    token = _KEPT.set(rows)
    try:
        yield
    finally:
        _KEPT.reset(token)


def amount(count: int, one: str, many: str = "") -> str:
    """A number with its noun in the right form.

    >>> amount(1, "query", "queries"), amount(2, "row")
    ('1 query', '2 rows')
    """
    return f"{count} {one if count == 1 else many or one + 's'}"


def first_line(error: BaseException) -> str:
    r"""What an exception of a library says, on one line of at most 200 characters; its name where it says nothing.

    >>> first_line(ValueError("no such column\nat byte 7")), first_line(KeyError())
    ('no such column', 'KeyError')
    """
    said = str(error).strip()
    return printable(said.splitlines()[0][:200]) if said else type(error).__name__


def printable(text: str) -> str:
    r"""The text with control and escape characters made visible, safe to print to a terminal.

    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )

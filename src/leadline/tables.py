"""The columns of every table: queries, judgments and runs, validated once when they are made."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

import polars as pl

from leadline.errors import SHOWN_ROWS, InputError, RowFault, RowsError, UsageError, printable

Conflicts = Literal["error", "first", "last", "max", "min", "mean", "majority"]
"""What becomes of one pair judged twice with different grades: an error, unless a rule is named."""

ROW = "row"
"""The optional column with the line (or row, from 1) each row came from; error messages name it."""


@dataclass(frozen=True)
class Block:
    """Some rows of a run, loaded when asked for, so that blocks can be parsed side by side.

    `load()` gives a frame with columns query_id, doc_id (String) and score (Float64), in the order given;
    `lines()` the line number of each of its rows, for error messages; `size` is its length in bytes, for
    progress.
    """

    load: Callable[[], pl.DataFrame]
    lines: Callable[[], Sequence[int]]
    size: int = 0


class RunSource(Protocol):
    """What can be ranked: a run in memory, or a file that is read block by block, as often as needed."""

    @property
    def name(self) -> str:
        """The system's name."""
        ...

    @property
    def empty(self) -> Sequence[str]:
        """Queries that were answered with an empty list."""
        ...

    @property
    def failed(self) -> Mapping[str, str]:
        """Queries whose row is an error, with its message."""
        ...

    def blocks(self) -> Iterator[Block]:
        """The rows, some thousands at a time."""
        ...


@dataclass(frozen=True)
class Run:
    """One system's answers: rows of query_id, doc_id, score, in the order they were given.

    `empty` names the queries that were answered with no document, `failed` those whose row is an error.

    >>> run = Run.checked(pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}), "bm25")
    >>> run.frame.height, run.name
    (1, 'bm25')
    """

    frame: pl.DataFrame
    name: str = "run"
    empty: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def checked(
        cls,
        frame: pl.DataFrame,
        name: str = "run",
        *,
        empty: Sequence[str] = (),
        failed: Mapping[str, str] | None = None,
        source: str = "",
    ) -> "Run":
        """A run whose rows were checked: ids are text, scores are numbers.

        Raises
        ------
        RowsError: a missing or unusable id, or a score that is no number.
        InputError: no rows and no query answered with an empty list.
        """
        where = source or name
        columns = ["query_id", "doc_id", "score"] + ([ROW] if ROW in frame.columns else [])
        frame = _with_ids(frame.select(columns), ("query_id", "doc_id"), where)
        frame = _with_numbers(frame, "score", where)
        if frame.height == 0 and not empty and not failed:
            raise InputError(f"{printable(where)}: the run has no rows")
        return cls(frame, name, tuple(empty), dict(failed or {}))

    def blocks(self) -> Iterator[Block]:
        """The whole run as one block."""
        yield Block(lambda: self.frame, self._lines)

    def _lines(self) -> Sequence[int]:
        return self.frame[ROW].to_list() if ROW in self.frame.columns else range(1, self.frame.height + 1)


@dataclass(frozen=True)
class Qrels:
    """Graded judgments: rows of query_id, doc_id, grade, each pair once.

    `subtopic` is the second column of TREC qrels where it was kept. `merged` counts rows that repeated a pair
    with the same grade; `resolved` those settled by a named rule. `max_grade` is the declared top of the scale,
    or None for the largest grade of the file. Of labels made from a book of judgments, `rule` names how, and
    `models` counts those that are a model's.
    """

    frame: pl.DataFrame
    merged: int = 0
    resolved: int = 0
    max_grade: float | None = None
    source: str = "qrels"
    rule: str | None = None
    models: int = 0

    @classmethod
    def checked(
        cls,
        frame: pl.DataFrame,
        *,
        source: str = "qrels",
        conflicts: Conflicts = "error",
        max_grade: float | None = None,
        grade_map: Mapping[float, float] | None = None,
    ) -> "Qrels":
        """Judgments whose rows were checked; repeated pairs are merged, or settled by the rule `conflicts`.

        Raises
        ------
        RowsError: a missing or unusable id, a grade that is no finite number, or (with `conflicts="error"`)
            one pair with different grades.
        InputError: no rows at all. UsageError: no such rule.
        """
        if conflicts not in get_args(Conflicts):
            raise UsageError(f"conflicts {conflicts!r} is not one of {', '.join(get_args(Conflicts))}")
        extra = [c for c in ("subtopic", ROW) if c in frame.columns]
        frame = _with_ids(
            frame.select(["query_id", "doc_id", "grade", *extra]), ("query_id", "doc_id"), source
        )
        frame = _with_numbers(frame, "grade", source, finite=True)
        if frame.height == 0:
            raise InputError(f"{printable(source)}: no judgments in it")
        if grade_map:
            frame = frame.with_columns(
                pl.col("grade").replace({float(a): float(b) for a, b in grade_map.items()})
            )
        frame, merged, resolved = _one_grade_a_pair(frame, source, conflicts)
        return cls(frame, merged, resolved, max_grade, source)

    def top_grade(self) -> float:
        """The top of the scale: as declared, else the largest grade of the file."""
        largest = self.frame["grade"].max()
        return float(self.max_grade if self.max_grade is not None else largest)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Queries:
    """The queries: query_id, optionally text, and any further columns (type, language, user, weight)."""

    frame: pl.DataFrame
    source: str = "queries"

    @classmethod
    def checked(cls, frame: pl.DataFrame, *, source: str = "queries") -> "Queries":
        """Queries whose ids were checked and are unique.

        Raises
        ------
        RowsError: a missing id, or one id twice.
        """
        frame = _with_ids(frame, ("query_id",), source)
        twice = frame.filter(pl.col("query_id").is_duplicated())
        if twice.height:
            faults = _faults(twice, "query_id", "each query id may occur once")
            raise RowsError(source, faults, twice.height)
        return cls(frame, source)

    def column(self, name: str) -> dict[str, str | None]:
        """One column by query id, as text.

        Raises
        ------
        InputError: there is no such column.
        """
        if name not in self.frame.columns:
            known = ", ".join(c for c in self.frame.columns if c not in ("query_id", ROW))
            raise InputError(
                f"{printable(self.source)}: no column {name!r}; it has {known or 'none but query_id'}"
            )
        text = self.frame[name].cast(pl.String)
        return dict(zip(self.frame["query_id"].to_list(), text.to_list(), strict=True))


def _with_ids(frame: pl.DataFrame, columns: Sequence[str], source: str) -> pl.DataFrame:
    """The frame with its id columns as text; whole numbers become text here, once."""
    for name in columns:
        kind = frame.schema[name]
        if kind.is_integer() or kind in (pl.Categorical, pl.Enum) or kind == pl.Null:
            frame = frame.with_columns(pl.col(name).cast(pl.String))
        elif kind != pl.String:
            raise InputError(
                f"{printable(source)}: column {name} holds {kind} values; ids are text "
                "(a number with decimals may be an id that lost its form: read the column as text)"
            )
    unusable = [
        pl.col(name).is_null() | (pl.col(name) == "") | pl.col(name).str.contains("\0", literal=True)
        for name in columns
    ]
    if not frame.select(pl.any_horizontal(unusable).any()).item():
        return frame
    for name, bad in zip(columns, unusable, strict=True):
        wrong = frame.filter(bad)
        if wrong.height:
            expected = f"a {name} is text of at least one character, without NUL"
            raise RowsError(source, _faults(wrong, name, expected), wrong.height)
    return frame


def _with_numbers(frame: pl.DataFrame, name: str, source: str, finite: bool = False) -> pl.DataFrame:
    """The frame with a column of 64-bit numbers; no missing value, no NaN, and finite where asked."""
    kind = frame.schema[name]
    if not (kind.is_numeric() or kind == pl.Null):
        raise InputError(f"{printable(source)}: column {name} holds {kind} values, not numbers")
    frame = frame.with_columns(pl.col(name).cast(pl.Float64))
    bad = pl.col(name).is_null() | pl.col(name).is_nan()
    wrong = frame.filter(bad | pl.col(name).is_infinite() if finite else bad)
    if wrong.height:
        raise RowsError(
            source, _faults(wrong, name, f"a {name} is a{' finite' if finite else ''} number"), wrong.height
        )
    return frame


def _faults(wrong: pl.DataFrame, column: str, expected: str) -> list[RowFault]:
    lines = wrong[ROW].to_list() if ROW in wrong.columns else [None] * wrong.height
    shown = wrong.head(SHOWN_ROWS)
    texts = ["nothing" if value is None else str(value) for value in shown[column].to_list()]
    return [
        RowFault(line if line is not None else index + 1, None, text, expected)
        for index, (line, text) in enumerate(zip(lines, texts, strict=False))
    ]


def _one_grade_a_pair(
    frame: pl.DataFrame, source: str, conflicts: Conflicts
) -> tuple[pl.DataFrame, int, int]:
    """Repeated pairs merged where equal, settled by the rule where not; the order of first occurrence stays."""
    key = ["query_id", "doc_id"] + (["subtopic"] if "subtopic" in frame.columns else [])
    repeated = frame.select(pl.struct(key).is_duplicated()).to_series()
    if not repeated.any():
        return frame, 0, 0
    groups = frame.filter(repeated).group_by(key, maintain_order=True)
    counted = groups.agg(pl.len().alias("rows"), pl.col("grade").n_unique().alias("grades"))
    clashing = counted.filter(pl.col("grades") > 1)
    merged = int((counted.filter(pl.col("grades") == 1)["rows"] - 1).sum())
    resolved = int((clashing["rows"] - 1).sum())
    if clashing.height and conflicts == "error":
        raise RowsError(source, _clashes(frame, clashing, key), clashing.height, CONFLICT_ADVICE)
    rule = {
        "first": pl.col("grade").first(),
        "last": pl.col("grade").last(),
        "max": pl.col("grade").max(),
        "min": pl.col("grade").min(),
        "mean": pl.col("grade").mean(),
        # The smaller grade wins a draw, so that a tie never flatters.
        "majority": pl.col("grade").mode().min(),
        "error": pl.col("grade").first(),
    }[conflicts]
    rest = [pl.col(c).first() for c in frame.columns if c not in (*key, "grade")]
    return frame.group_by(key, maintain_order=True).agg(rule, *rest).select(frame.columns), merged, resolved


CONFLICT_ADVICE = "name a rule to settle them: --conflicts first, last, max, min, mean or majority"


def _clashes(frame: pl.DataFrame, clashing: pl.DataFrame, key: list[str]) -> list[RowFault]:
    """For each of the first clashing pairs, its second line with the line and grade of the first."""
    frame = frame if ROW in frame.columns else frame.with_row_index(ROW, offset=1)
    faults = []
    for pair in clashing.head(SHOWN_ROWS).iter_rows(named=True):
        rows = frame.filter(pl.all_horizontal(pl.col(name) == pair[name] for name in key))
        first, grade = rows[ROW][0], rows["grade"][0]
        other = rows.filter(pl.col("grade") != grade).row(0, named=True)
        found = f"{pair['query_id']} {pair['doc_id']} {other['grade']:g}"
        faults.append(
            RowFault(int(other[ROW]), None, found, f"but line {first} judges the same pair {grade:g}")
        )
    return faults

"""The columns of every table: queries, judgments and runs, validated once when they are made."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from leadline.certificate import Certificate, Judge
from leadline.errors import ROW, EmptyInputError, InputError, RowsError, UsageError, printable
from leadline.ids import Ids, Ints, hashed, heads, of_series, to_series

if TYPE_CHECKING:
    import polars as pl

Conflicts = Literal["error", "first", "last", "max", "min", "mean", "majority"]
"""What becomes of one pair judged twice with different grades: an error, unless a rule is named."""


class _Every(str):
    """Its own type, so that no text that a user gives is it."""


EVERY: Any = _Every("every")
"""In place of a rule: repeated pairs stay as they stand, for those who look for them. What has them cannot be measured."""

BLOCK_ROWS = 100_000
"""The rows of a run in memory that are worked on at a time, like the blocks of a file."""


@dataclass(frozen=True)
class Rows:
    """Rows as NumPy arrays, shape (rows,): their ids, and a number, which is a run's score or a judgment's grade.

    This is what ranking and measures work on; `line` says where each row came from, if that is known.
    """

    query_id: Ids
    doc_id: Ids
    number: npt.NDArray[np.float64]
    line: Ints | None = None

    @classmethod
    def of_frame(cls, frame: "pl.DataFrame", number: str) -> "Rows":
        """The rows of a checked frame with columns query_id, doc_id and `number`.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [0.5]})
        >>> Rows.of_frame(frame, "score").frame("score").equals(frame)
        True
        """
        # The rows of a query mostly stand together: its id is then converted once.
        runs = frame["query_id"].rle().struct
        query_id = np.repeat(of_series(runs.field("value")), runs.field("len").to_numpy())
        return cls(query_id, of_series(frame["doc_id"]), frame[number].to_numpy())

    def frame(self, number: str) -> "pl.DataFrame":
        """The rows as a frame; `number` names the column of numbers."""
        import polars as pl

        first = heads(self.query_id)
        row = np.repeat(np.arange(len(first)), np.diff(first, append=len(self.query_id)))
        columns = {"query_id": to_series(self.query_id[first]).gather(row), "doc_id": to_series(self.doc_id)}
        columns[number] = pl.Series(self.number, dtype=pl.Float64)
        if self.line is not None:
            columns[ROW] = pl.Series(self.line, dtype=pl.Int64)
        return pl.DataFrame(columns)

    def may_repeat(self) -> bool:
        """False where every pair of query and document is certain to stand once."""
        keys = hashed(self.query_id, 0) * np.uint64(3) + hashed(self.doc_id, 1)
        keys.sort()
        return bool((keys[1:] == keys[:-1]).any())


DESIGN = ("stratum", "probability")
"""The optional columns of judgments that say how a sampled pool was drawn."""
NEED = "need"
"""The optional column of judgments that says which documents of a query meet one need: any of them does."""


@dataclass(frozen=True)
class Block:
    """Some rows of a run, loaded when asked for, so that blocks can be parsed side by side.

    `rows()` gives its rows in the order given, and `load()` the same as a frame with columns query_id, doc_id
    (String) and score (Float64); `lines()` the line number of each row, for error messages; `size` is its length in
    bytes, for progress.
    """

    rows: Callable[[], Rows]
    lines: Callable[[], Sequence[int]]
    size: int = 0
    table: "pl.DataFrame | None" = None

    def load(self) -> "pl.DataFrame":
        """The rows as a frame."""
        return self.rows().frame("score") if self.table is None else self.table


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

    `empty` names the queries that were answered with no document, `failed` those whose row is an error. `notes` are
    sentences to say of it, such as what was left out when it was read, and `told` counts what reading did, such as texts
    matched. `scoreless` says that there were no scores: those here are minus the places. `paths` says where the row of
    each line number stands in a JSON text, which has no lines to speak of.

    >>> import polars as pl
    >>> run = Run.checked(pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]}), "bm25")
    >>> run.frame.height, run.name
    (1, 'bm25')
    """

    frame: "pl.DataFrame"
    name: str = "run"
    empty: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    told: Mapping[str, int] = field(default_factory=dict)
    scoreless: bool = False
    paths: tuple[str, ...] = ()

    @classmethod
    def checked(
        cls,
        frame: "pl.DataFrame",
        name: str = "run",
        *,
        empty: Sequence[str] = (),
        failed: Mapping[str, str] | None = None,
        source: str = "",
        scoreless: bool = False,
        told: Mapping[str, int] | None = None,
    ) -> "Run":
        """A run whose rows were checked: ids are text, scores are numbers.

        Raises
        ------
        RowsError: a missing or unusable id, or a score that is no number.
        EmptyInputError: no rows and no query answered with an empty list.
        """
        from leadline.checks import with_ids, with_numbers

        where = source or name
        columns = ["query_id", "doc_id", "score"] + ([ROW] if ROW in frame.columns else [])
        frame = with_ids(frame.select(columns), ("query_id", "doc_id"), where)
        frame = with_numbers(frame, "score", where)
        if frame.height == 0 and not empty and not failed:
            raise EmptyInputError(f"{printable(where)}: the run has no rows")
        return cls(frame, name, tuple(empty), dict(failed or {}), told=dict(told or {}), scoreless=scoreless)

    def blocks(self) -> Iterator[Block]:
        """The rows, cut between queries into blocks of at least `BLOCK_ROWS`."""
        names, height = self.frame["query_id"], self.frame.height
        # Some at a time, as a column in several pieces would be copied whole.
        marks = [
            low + 1 + np.flatnonzero((part[1:] != part[:-1]).to_numpy())
            for low in range(0, height, BLOCK_ROWS)
            for part in (names.slice(low, BLOCK_ROWS + 1),)
        ]
        ends = np.concatenate([*marks, [height]]) if height else np.zeros(0, np.int64)
        cuts = ends[np.flatnonzero(np.diff(ends // BLOCK_ROWS, prepend=0))].tolist()
        edges = [0, *(cut for cut in cuts if cut < self.frame.height), self.frame.height]
        for start, stop in pairwise(edges):
            yield self._block(start, stop)

    def _block(self, start: int, stop: int) -> Block:
        part = self.frame.slice(start, stop - start)
        own = ROW in part.columns
        return Block(
            lambda: Rows.of_frame(part, "score"),
            lambda: part[ROW].to_list() if own else range(start + 1, stop + 1),
            table=part,
        )


@dataclass(frozen=True)
class Qrels:
    """Graded judgments: rows of query_id, doc_id, grade, each pair once; as a frame or as arrays, whichever is asked for.

    `subtopic` is the second column of TREC qrels where it was kept. `merged` counts rows that repeated a pair with the
    same grade; `resolved` those settled by the rule `conflicts`. `max_grade` is the declared top of the scale, or None
    for the largest grade of the file; `grade_map` says how grades were rewritten (`map_text`). Judgments of a sampled
    pool carry the columns `stratum` (text) and `probability` (that the pair is drawn), null where they are not known.
    Of labels made from a book of judgments, `rule` names how. Where labels are a model's, `models` counts them,
    `judges` says who made them (empty where that is not known), and `certificate` is the one that was named for them.
    Of documents that meet one need (any of them does) only the first is a row; `alternatives` leads from the others to
    it, by query, and `needs` says what the need of a row is called. `notes` are sentences to say of them, such as what was left
    out when they were read, `told` counts what reading did, such as texts matched, and `left` what the reader left out, by
    the names of `leadline.formats.losses`.
    """

    table: "pl.DataFrame | Rows"
    merged: int = 0
    resolved: int = 0
    max_grade: float | None = None
    source: str = "qrels"
    rule: str | None = None
    models: int = 0
    judges: tuple[Judge, ...] = ()
    certificate: Certificate | None = None
    alternatives: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    told: Mapping[str, int] = field(default_factory=dict)
    conflicts: str = "error"
    grade_map: str | None = None
    needs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def checked(
        cls,
        table: "pl.DataFrame | Rows",
        *,
        source: str = "qrels",
        conflicts: Conflicts = "error",
        max_grade: float | None = None,
        grade_map: Mapping[float, float] | None = None,
    ) -> "Qrels":
        """Judgments whose rows were checked; repeated pairs are merged, or settled by the rule `conflicts`.

        Raises
        ------
        RowsError: a missing or unusable id, a grade that is no finite number, a probability outside (0, 1],
            (with `conflicts="error"`) one pair with different grades, a document of two needs of one query, or
            alternatives of one need with different grades.
        EmptyInputError: no rows at all. UsageError: no such rule.
        """
        if conflicts is not EVERY and conflicts not in get_args(Conflicts):
            raise UsageError(f"conflicts {conflicts!r} is not one of {', '.join(get_args(Conflicts))}")
        if isinstance(table, Rows):
            if len(table.number) and not grade_map and not table.may_repeat():
                return cls(table, 0, 0, max_grade, source)
            table = table.frame("grade")
        import polars as pl

        from leadline.checks import (
            one_grade_a_pair,
            one_need_a_pair,
            one_row_a_need,
            with_design,
            with_ids,
            with_numbers,
        )  # fmt: skip

        frame = table
        extra = [c for c in ("subtopic", *DESIGN, NEED, ROW) if c in frame.columns]
        frame = with_ids(
            frame.select(["query_id", "doc_id", "grade", *extra]),
            ("query_id", "doc_id", *(["subtopic"] if "subtopic" in extra else [])),
            source,
        )
        frame = with_numbers(frame, "grade", source, finite=True)
        frame = with_design(frame, source)
        if frame.height == 0:
            raise EmptyInputError(f"{printable(source)}: no judgments in it")
        if grade_map:
            frame = frame.with_columns(
                pl.col("grade").replace({float(a): float(b) for a, b in grade_map.items()})
            )
        if conflicts is EVERY:
            return cls(frame, 0, 0, max_grade, source)
        if NEED in frame.columns:
            frame = one_need_a_pair(frame, source)
        frame, merged, resolved = one_grade_a_pair(frame, source, conflicts)
        frame, others, names = one_row_a_need(frame, source) if NEED in frame.columns else (frame, {}, {})
        return cls(
            frame, merged, resolved, max_grade, source,
            alternatives=others, needs=names, conflicts=conflicts, grade_map=map_text(grade_map),
        )  # fmt: skip

    def one_by_one(self, use: str) -> "Qrels":
        """The same judgments, for a use in which each document counts for itself.

        Raises
        ------
        UsageError: there are alternatives, which would go unseen there.
        """
        if self.alternatives:
            raise UsageError(
                f"{printable(self.source)}: alternatives (column need) do not go with {use}; without that column each "
                "document counts for itself"
            )
        return self

    @cached_property
    def frame(self) -> "pl.DataFrame":
        """The judgments as a frame."""
        return self.table.frame("grade") if isinstance(self.table, Rows) else self.table

    @cached_property
    def rows(self) -> Rows:
        """The judgments as arrays; a pair that stands under several subtopics is several rows."""
        return self.table if isinstance(self.table, Rows) else Rows.of_frame(self.table, "grade")

    @property
    def subtopics(self) -> bool:
        """Whether the judgments name subtopics."""
        return not isinstance(self.table, Rows) and "subtopic" in self.table.columns

    @property
    def sampled(self) -> bool:
        """Whether the judgments name the strata of a sampled pool."""
        return not isinstance(self.table, Rows) and "stratum" in self.table.columns

    def top_grade(self) -> float:
        """The top of the scale: as declared, else the largest grade of the file."""
        return float(self.max_grade if self.max_grade is not None else self.rows.number.max())


def map_text(grade_map: Mapping[float, float] | None) -> str | None:
    """How grades are rewritten, as --grade-map takes it, without those that stay; None where all do.

    >>> map_text({3: 1, 2: 1.0, 0: 0}), map_text({1: 1}), map_text(None)
    ('2=1,3=1', None, None)
    """
    moved = sorted((old, new) for old, new in (grade_map or {}).items() if old != new)
    return ",".join(f"{old:g}={new:g}" for old, new in moved) or None


@dataclass(frozen=True)
class Queries:
    """The queries: query_id, optionally text, and any further columns (type, language, user, weight).

    `left` counts what the reader left out, by the names of `leadline.formats.losses`.
    """

    frame: "pl.DataFrame"
    source: str = "queries"
    left: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def checked(cls, frame: "pl.DataFrame", *, source: str = "queries") -> "Queries":
        """Queries whose ids were checked and are unique.

        Raises
        ------
        RowsError: a missing id, or one id twice.
        """
        import polars as pl

        from leadline.checks import row_faults, with_ids

        frame = with_ids(frame, ("query_id",), source)
        twice = frame.filter(pl.col("query_id").is_duplicated())
        if twice.height:
            faults = row_faults(twice, "query_id", "each query id may occur once")
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
        import polars as pl

        text = self.frame[name].cast(pl.String)
        return dict(zip(self.frame["query_id"].to_list(), text.to_list(), strict=True))

"""The labels of two sides on the same pairs (people and a model, or a judge's old and new version), read and put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.certificate import Judge
from leadline.checks import CONFLICT_ADVICE, row_faults
from leadline.errors import ROW, InputError, NotComparableError, RowsError, UsageError, amount, printable
from leadline.formats.bookfile import is_book, is_rows, shown_name
from leadline.formats.card import Card, hash_of, read_card
from leadline.formats.read import read_qrels
from leadline.formats.source import Source
from leadline.judging.agreement import scale_of
from leadline.judging.exchange import rows_of
from leadline.judging.judgment import Judgment, standing
from leadline.judging.labels import make_labels, of_kinds
from leadline.stats.agreement import checked_scale
from leadline.tables import Conflicts, Qrels

MOST_GRADES = 50
"""A longer scale is one of scores, not of grades: hardly two would ever be equal."""
SETTLING = ("error", "first", "last", "max", "min", "majority")
"""How a pair that one side labelled several times is settled; a mean would leave the scale."""


@dataclass(frozen=True)
class Side:
    """The labels of one side: rows of query_id, doc_id, grade, each pair once, none negative.

    Attributes
    ----------
    source: the file's name as given. rows: labels read, before anything was left out.
    settled: repeated labels that the rule `conflicts` settled. negative: labels below 0: "not judged".
    judge: who made them, where that is a model and known. rule: of labels made from a book of judgments.
    grade_map: how grades were rewritten (`tables.map_text`). max_grade: the declared top of the scale.
    """

    frame: pl.DataFrame
    source: str
    rows: int
    settled: int = 0
    negative: int = 0
    conflicts: str = "error"
    judge: Judge | None = None
    rule: str | None = None
    grade_map: str | None = None
    max_grade: float | None = None

    def to_dict(self, role: str) -> dict[str, Any]:
        """The side as a certificate names it among its inputs."""
        on_disk = Path(self.source)
        return {
            "role": role,
            "path": self.source,
            "sha256": hash_of(on_disk) if on_disk.is_file() else None,
            "labels": self.rows,
            "settled": self.settled,
            "conflicts": self.conflicts,
            "rule": self.rule,
            "grade_map": self.grade_map,
        }


@dataclass(frozen=True)
class Reading:
    """How files of labels are read, as `evaluate` reads judgments.

    Attributes
    ----------
    form: the format that was named. comments, grade_map, max_grade: as `formats.read.read_qrels` takes them.
    """

    form: str | None = None
    comments: bool = False
    grade_map: Mapping[float, float] | None = None
    max_grade: float | None = None

    @property
    def scale(self) -> dict[str, Any]:
        """What becomes of grades, a book's too."""
        return {"grade_map": self.grade_map, "max_grade": self.max_grade}


@dataclass(frozen=True)
class TwoJudges:
    """The pairs that both sides labelled, and how many only one did.

    Attributes
    ----------
    pairs: rows of query_id, doc_id, first, second, sorted. grades: the whole scale, ascending.
    tables: shape (queries, k, k), counts: rows by the first side's grade, columns by the second's; in the order of `queries`.
    only_first, only_second: pairs that one side labelled and the other did not.
    """

    first: Side
    second: Side
    pairs: pl.DataFrame
    grades: tuple[float, ...]
    queries: tuple[str, ...]
    tables: npt.NDArray[np.int64]
    only_first: int
    only_second: int

    @property
    def table(self) -> npt.NDArray[np.int64]:
        """The counts over all queries, shape (k, k)."""
        return np.asarray(self.tables.sum(axis=0), dtype=np.int64)


def read_people(
    path: str,
    conflicts: Conflicts = "error",
    how: Reading = Reading(),
    rule: str = "latest",
) -> Side:
    """The labels of people: judgments of any format, or a book, whose models' rows are left aside.

    Raises
    ------
    InputError: it cannot be read or is wrong, holds no judgment of a person, or its card says that a model made it.
    """
    if _book(path, how.form):
        rows = of_kinds(rows_of(path), ("person", "unstated"))
        if not any(row.grade is not None for row in rows):
            raise InputError(f"{printable(shown_name(path))}: no judgment of a person in it")
        side = _of_book(rows, path, rule, how)
    else:
        card = _card(path)
        if card is not None and card.kind == "model":
            made = card.judge.model if card.judge is not None else "a model"
            raise InputError(
                f"{printable(path)}: its card says that {printable(made)} made these labels; people's go here"
            )
        side = _of_file(path, conflicts, how, "--human-conflicts")
    return _without_negative(side)


def read_model(
    path: str,
    said: Judge | None = None,
    conflicts: Conflicts = "error",
    how: Reading = Reading(),
) -> Side:
    """The labels of a model: judgments of any format with the card beside them, or the models' rows of a book.

    Parameters
    ----------
    said: the judge by the options; of a book with several models' rows its name picks one.

    Raises
    ------
    InputError: it cannot be read or is wrong, or holds no label of the model. UsageError: several models and none is named,
        or the options name another judge than the card.
    """
    if _book(path, how.form):
        return _without_negative(_model_of_book(path, said, how))
    card = _card(path)
    if card is not None and card.kind == "person":
        raise InputError(f"{printable(path)}: its card says that people made these labels; a model's go here")
    judge = said if card is None else card.judge
    if card is not None and said is not None and said != judge:
        raise UsageError(
            f"{printable(path)} has a card that names its judge; --model and the options beside it say another one"
        )
    return _without_negative(replace(_of_file(path, conflicts, how), judge=judge))


def put_together(first: Side, second: Side, grades: Sequence[float] | None = None) -> TwoJudges:
    """The pairs that both sides labelled; a pair that one has not labelled is dropped from both, and counted.

    Parameters
    ----------
    grades: the whole scale; None: from 0 to the first side's greatest grade, or to the declared top of the scale.

    Raises
    ------
    RowsError, InputError: a label off the scale, with its file and line. NotComparableError: no pair in common.
    UsageError: a scale of more than `MOST_GRADES`.
    """
    scale = tuple(checked_scale(whole_scale(first) if grades is None else grades).tolist())
    if len(scale) > MOST_GRADES:
        raise UsageError(
            f"{printable(first.source)}: {len(scale)} different grades are scores, which are never quite equal; a certificate "
            f"needs a scale of at most {MOST_GRADES}"
        )
    for side in (first, second):
        _on_scale(side, scale, declared=grades is not None or side is first)
    key = ["query_id", "doc_id"]
    one = first.frame.select(*key, pl.col("grade").alias("first"))
    other = second.frame.select(*key, pl.col("grade").alias("second"))
    pairs = one.join(other, on=key, how="inner").sort(key)
    if not pairs.height:
        raise NotComparableError(
            f"no pair in common: {printable(first.source)} has {_example(one)}, "
            f"{printable(second.source)} has {_example(other)}"
        )
    queries = pairs["query_id"].unique(maintain_order=True).to_list()
    tables = tables_of(pairs, "first", "second", scale)
    alone = (one.height - pairs.height, other.height - pairs.height)
    return TwoJudges(first, second, pairs, scale, tuple(queries), tables, *alone)


def whole_scale(*sides: Side) -> tuple[float, ...]:
    """The scale of labels where none is named: to their greatest grade, or to the declared top."""
    found = [float(grade) for side in sides for grade in side.frame["grade"]]
    return scale_of([*found, *(side.max_grade for side in sides if side.max_grade is not None)])


def tables_of(pairs: pl.DataFrame, row: str, column: str, scale: Sequence[float]) -> npt.NDArray[np.int64]:
    """The confusion table of each query, shape (queries, k, k), from two columns of grades that are on the scale.

    Parameters
    ----------
    pairs: sorted by query_id. row, column: the columns whose grades are the rows and the columns of the tables.

    >>> pairs = pl.DataFrame({"query_id": ["q", "q"], "a": [0.0, 1.0], "b": [1.0, 1.0]})
    >>> tables_of(pairs, "a", "b", [0, 1]).tolist()
    [[[0, 1], [0, 1]]]
    """
    k, values = len(scale), np.asarray(scale, dtype=np.float64)
    at = pairs["query_id"].rle_id().to_numpy().astype(np.int64)
    places = (np.searchsorted(values, pairs[name].to_numpy()) for name in (row, column))
    first, second = places
    queries = int(at[-1]) + 1 if len(at) else 0
    flat = np.bincount((at * k + first) * k + second, minlength=queries * k * k)
    return flat.reshape(queries, k, k)


def _book(path: str, form: str | None) -> bool:
    if path == "-" or form is not None:
        return False
    return is_book(path) or (Path(path).is_file() and is_rows(Source.open(path)))


def _card(path: str) -> Card | None:
    return None if path == "-" else read_card(path)


def _of_file(path: str, conflicts: Conflicts, how: Reading, option: str = "--conflicts") -> Side:
    if conflicts not in SETTLING:
        raise UsageError(f"{option} {conflicts!r} is not one of {', '.join(SETTLING)}")
    try:
        qrels = read_qrels(
            path, input_format=how.form, conflicts=conflicts, comments=how.comments, **how.scale
        )
    except RowsError as error:
        if error.advice != CONFLICT_ADVICE:
            raise
        advice = f"name a rule to settle them: {option} {', '.join(SETTLING[1:])}"
        raise RowsError(error.source, error.faults, error.total, advice) from None
    qrels = qrels.one_by_one("a certificate")
    return _side(qrels, qrels.frame.height + qrels.merged + qrels.resolved)


def _of_book(rows: Sequence[Judgment], path: str, rule: str, how: Reading) -> Side:
    qrels = make_labels(rows, rule).qrels(shown_name(path), **how.scale)
    return _side(qrels, qrels.frame.height)


def _side(qrels: Qrels, rows: int) -> Side:
    columns = ["query_id", "doc_id", "grade", *([ROW] if ROW in qrels.frame.columns else [])]
    return Side(
        qrels.frame.select(columns),
        qrels.source,
        rows,
        qrels.resolved,
        conflicts=qrels.conflicts,
        rule=qrels.rule,
        grade_map=qrels.grade_map,
        max_grade=qrels.max_grade,
    )


def _model_of_book(path: str, said: Judge | None, how: Reading) -> Side:
    where = printable(shown_name(path))
    by_judge: dict[str, tuple[Judge, list[Judgment]]] = {}
    for row in standing(rows_of(path)):
        if row.kind == "model":
            judge = Judge.of_row(row.model, row.who)
            by_judge.setdefault(judge.id, (judge, []))[1].append(row)
    if not by_judge:
        raise InputError(f"{where}: no judgment of a model in it")
    fitting = [pair for pair in by_judge.values() if said is None or _meant(said, pair[0])]
    if len(fitting) != 1:
        listed = ", ".join(
            sorted(
                f"{judge.model} (prompt {judge.prompt_hash or 'not known'})" for judge, _ in by_judge.values()
            )
        )
        wanted = (
            "no such judge"
            if not fitting
            else f"{len(fitting)} model judges: --model, and --prompt-hash where needed"
        )
        raise UsageError(f"{where}: {wanted}; it has {printable(listed)}")
    judge, rows = fitting[0]
    return replace(_of_book(rows, path, "latest", how), judge=judge)


def _meant(said: Judge, judge: Judge) -> bool:
    """Whether every part of the judge that the options name is so."""
    return all(not value or getattr(judge, name) == value for name, value in said.to_dict().items())


def _without_negative(side: Side) -> Side:
    kept = side.frame.filter(pl.col("grade") >= 0)
    if not kept.height:
        raise InputError(f"{printable(side.source)}: every label is negative, which means not judged")
    return replace(side, frame=kept, negative=side.frame.height - kept.height)


def _on_scale(side: Side, scale: Sequence[float], declared: bool) -> None:
    """Refuse labels that are not on the scale: what they mean is not known."""
    wrong = side.frame.filter(~pl.col("grade").is_in(list(scale)))
    if not wrong.height:
        return
    listed = ", ".join(f"{grade:g}" for grade in scale)
    whose = "" if declared else ", the grades up to people's greatest (--grades names another scale)"
    shown = wrong.with_columns(
        said=pl.col("query_id")
        + " "
        + pl.col("doc_id")
        + " "
        + pl.col("grade").map_elements(_plain, pl.String)
    )
    if ROW in side.frame.columns:
        faults = row_faults(shown.sort(ROW), "said", f"which is not on the scale {listed}{whose}")
        judge = f"{amount(wrong.height, 'label')} off the scale" + (
            f", of the judge {printable(side.judge.model)}" if side.judge is not None else ""
        )
        raise RowsError(side.source, faults, wrong.height, judge)
    first = printable(shown["said"][0])
    raise InputError(
        f"{printable(side.source)}: {amount(wrong.height, 'label')} not on the scale {listed}{whose}; "
        f"the first is {first!r}"
    )


def _plain(grade: float) -> str:
    return f"{grade:g}"


def _example(frame: pl.DataFrame) -> str:
    query, doc = frame.select("query_id", "doc_id").row(0)
    return f"{printable(str(doc))[:40]!r} for {printable(str(query))[:40]!r}"

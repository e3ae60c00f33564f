"""Rules about judgments: pairs judged twice alike, grades below 0 or off the scale, queries without a relevant document."""

import re
from dataclasses import dataclass

import polars as pl

from leadline.errors import ROW, UsageError, amount, printable
from leadline.lint.finding import EXAMPLES, Findings
from leadline.lint.reading import Read


@dataclass(frozen=True)
class Scale:
    """The grades that there are: whole numbers from `low` to `high`."""

    low: int
    high: int

    @classmethod
    def of(cls, text: str) -> "Scale":
        """A scale as it is written, such as `0-3`.

        Raises
        ------
        UsageError: no scale.

        >>> Scale.of("-1-3")
        Scale(low=-1, high=3)
        """
        match = re.fullmatch(r"\s*(-?\d+)\s*(?:-|\.\.)\s*(-?\d+)\s*", text)
        if match is None or int(match[1]) >= int(match[2]):
            raise UsageError(
                f"--grades {printable(text)!r} is no scale; write the lowest and the highest grade, such as 0-3"
            )
        return cls(int(match[1]), int(match[2]))


def check_judgments(read: Read, scale: Scale | None, found: Findings) -> None:
    """Every warning about one file of judgments."""
    qrels = read.qrels
    if qrels is None or not qrels.height:
        return
    _twice(read, qrels, found)
    if "iteration" in qrels.columns:
        _swapped(read, qrels, found)
    _negative(read, qrels, found)
    if scale is not None:
        _off_scale(read, qrels, scale, found)
    _no_relevant(read, qrels, found)


def _twice(read: Read, qrels: pl.DataFrame, found: Findings) -> None:
    """Warn of pairs judged twice with the same grade; those with different grades are `leadline.lint.refused`'s."""
    pair = ["query_id", "doc_id", *(["subtopic"] if "subtopic" in qrels.columns else [])]
    repeated = qrels.filter(pl.struct(pair).is_duplicated())
    if not repeated.height:
        return
    more = [pl.col("iteration").n_unique().alias("needs")] if "iteration" in qrels.columns else []
    groups = repeated.group_by(pair, maintain_order=True).agg(
        pl.col("grade").n_unique().alias("grades"),
        pl.col(ROW).first(),
        pl.col(ROW).get(1).alias("second"),
        *more,
    )
    some = groups.filter(pl.col("grades") == 1)
    if not some.height:
        return
    first = some.row(0, named=True)
    needs = ""
    if "needs" in some.columns and some["needs"].max() != 1:
        needs = "; the second column differs: if it names subtopics, these are several needs of one query"
    found.warn(
        "pair-twice",
        read.file,
        f"{amount(some.height, 'pair is', 'pairs are')} judged more than once with the same grade{needs}",
        some.height,
        line=first["second"],
        found=f"{first['query_id']} {first['doc_id']}",
        examples=[
            f"{read.line('qrels', one['row'])} and {read.line('qrels', one['second']).rpartition(':')[2].strip()}"
            for one in some.head(EXAMPLES).iter_rows(named=True)
        ],
    )


def _swapped(read: Read, qrels: pl.DataFrame, found: Findings) -> None:
    """Warn where column 2 looks like documents and column 3 counts them, as in rows of query, document, rank and score."""
    head = qrels.head(1000)
    pairs = head.select("query_id", "iteration").is_unique().all()
    counted = (
        head["doc_id"].str.contains(r"^\d+$").all() and not head["iteration"].str.contains(r"^\d+$").any()
    )
    if pairs and counted and head.height > head["query_id"].n_unique():
        found.warn(
            "swapped-columns",
            read.file,
            "column 2 differs in all rows of a query, as documents do, and column 3 holds whole numbers: is it a run "
            "(query, document, rank, score)? Judgments are query_id, 0, doc_id, grade",
            qrels.height,
            line=head[ROW][0],
            found=f"{head['query_id'][0]} {head['iteration'][0]} {head['doc_id'][0]} {head['grade'][0]:g}",
        )


def _negative(read: Read, qrels: pl.DataFrame, found: Findings) -> None:
    wrong = qrels.filter(pl.col("grade") < 0)
    if wrong.height:
        grades = ", ".join(f"{grade:g}" for grade in wrong["grade"].unique().sort().to_list()[:5])
        queries = amount(wrong["query_id"].n_unique(), "query", "queries")
        _warn(
            "negative-grade",
            read,
            wrong,
            f"{amount(wrong.height, 'grade is', 'grades are')} below 0 ({grades}) in {queries}",
            found,
        )


def _off_scale(read: Read, qrels: pl.DataFrame, scale: Scale, found: Findings) -> None:
    grade = pl.col("grade")
    wrong = qrels.filter((grade < scale.low) | (grade > scale.high) | (grade != grade.floor()))
    if wrong.height:
        grades = ", ".join(f"{one:g}" for one in wrong["grade"].unique().sort().to_list()[:5])
        text = f"{amount(wrong.height, 'grade is', 'grades are')} no whole number from {scale.low} to {scale.high} ({grades})"
        _warn("off-scale", read, wrong, text, found)


def _no_relevant(read: Read, qrels: pl.DataFrame, found: Findings) -> None:
    best = qrels.group_by("query_id", maintain_order=True).agg(pl.col("grade").max(), pl.col(ROW).first())
    without = best.filter(pl.col("grade") < 1)
    if without.height:
        many = amount(without.height, "judged query has", "judged queries have")
        text = f"{many} no document of grade 1 or more (of {best.height})"
        found.warn(
            "no-relevant",
            read.file,
            text,
            without.height,
            line=without[ROW][0],
            found=without["query_id"][0],
            examples=[printable(name) for name in without["query_id"].head(EXAMPLES)],
        )


def _warn(code: str, read: Read, wrong: pl.DataFrame, text: str, found: Findings) -> None:
    first = wrong.row(0, named=True)
    found.warn(
        code,
        read.file,
        text,
        wrong.height,
        line=first[ROW],
        found=f"{first['query_id']} {first['doc_id']} {first['grade']:g}",
        examples=[read.line("qrels", row) for row in wrong[ROW].head(EXAMPLES).to_list()],
    )

"""The rule about joins that succeed although the numbers of two files count different things, as Cranfield's queries do."""

from dataclasses import dataclass

import polars as pl

from leadline.errors import printable
from leadline.lint.finding import Findings
from leadline.lint.joins import SAY, Side, sides
from leadline.lint.reading import Read

FEWEST = 5
"""From how many queries on numbers are compared; fewer join by chance or by design."""
GAPS = 0.1
"""Which share of 1 to n the other file must lack for its numbers to be of another kind."""
NUMBER = r"^0*[1-9]\d{0,8}$"


def check_numberings(reads: list[Read], found: Findings) -> None:
    """Warn where one file's queries are exactly 1 to n, and another's are numbers that jump and go beyond."""
    for left, right in sides(reads, "query_id"):
        for plain, other in ((left, right), (right, left)):
            told = _suspicious(plain, other)
            if told is not None:
                there = f"{SAY[other.part]} ({printable(other.file)})"
                text = (
                    f"queries of {SAY[plain.part]} are exactly 1 to {told.last}, those of {there} are {told.count} numbers up to "
                    f"{told.highest} with gaps, so {told.both} join: the one may count queries in order, the other "
                    f"have numbers of their own{_evidence(plain, other, reads)}"
                )
                found.warn(
                    "two-numberings",
                    plain.file,
                    text,
                    told.both,
                    found=f"1 to {told.last}",
                    examples=told.examples,
                )


@dataclass(frozen=True)
class _Told:
    last: int
    highest: int
    count: int
    both: int
    examples: tuple[str, ...]


def _suspicious(plain: Side, other: Side) -> _Told | None:
    mine, theirs = _numbers(plain), _numbers(other)
    if mine is None or theirs is None or len(mine) < FEWEST or len(theirs) < FEWEST:
        return None
    last, highest = max(mine), max(theirs)
    if mine != set(range(1, last + 1)) or highest <= last:
        return None
    # Ids that must be the same text to join.
    both = plain.frame.join(other.frame, on="id", how="semi").height
    lacking = sorted(mine - theirs)
    if not both or len(lacking) < GAPS * last:
        return None
    examples = tuple(f"{number} is not in {SAY[other.part]}" for number in lacking[:5])
    return _Told(last, highest, len(theirs), both, examples)


def _numbers(one: Side) -> set[int] | None:
    ids = one.frame["id"]
    if not ids.str.contains(NUMBER).all():
        return None
    return set(ids.cast(pl.Int64).to_list())


def _evidence(plain: Side, other: Side, reads: list[Read]) -> str:
    """How many relevant documents the run finds in its top 10 joined by number, and joined in order; empty without a run."""
    run = next((one.read.run for one in (plain, other) if one.part == "run"), None)
    qrels = next((one.read.qrels for one in (plain, other) if one.part == "qrels"), None)
    if run is None or qrels is None:
        return ""
    ids = other.frame["id"].to_list()
    in_order = dict(zip(sorted(ids, key=int), map(str, range(1, len(ids) + 1)), strict=True))
    renamed = pl.col("query_id").replace(in_order)
    side_of_run = other.part == "run"
    by_number = _found(run, qrels)
    by_order = (
        _found(run.with_columns(renamed), qrels) if side_of_run else _found(run, qrels.with_columns(renamed))
    )
    if by_order < 2 * by_number:
        return ""
    return f". Joined by number the top 10 hold {by_number} relevant documents, joined in order {by_order}"


def _found(run: pl.DataFrame, qrels: pl.DataFrame) -> int:
    top = run.filter(pl.col("score").rank("ordinal", descending=True).over("query_id") <= 10)
    relevant = qrels.filter(pl.col("grade") >= 1).select("query_id", "doc_id").unique()
    return (
        top.select("query_id", "doc_id").unique().join(relevant, on=["query_id", "doc_id"], how="semi").height
    )

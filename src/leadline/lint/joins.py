"""Rules about the ids of two files: how many they share, and which would join but for zeros, decimals, case or white space."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import polars as pl

from leadline.errors import ROW, amount, printable
from leadline.lint.finding import EXAMPLES, Findings
from leadline.lint.reading import Read

LITTLE = 0.5
"""Below which share of the smaller file's ids two files have little in common."""
PIECE = 1 << 16
"""How many rows are compared at a time with a small file."""
Part = Literal["run", "qrels", "queries", "documents"]
SAY: dict[str, str] = {
    "run": "the run",
    "qrels": "the judgments",
    "queries": "the queries",
    "documents": "the documents",
}
IDS: dict[str, tuple[str, str, str]] = {
    "query_id": ("query", "queries", "queries"),
    "doc_id": ("document", "documents", "documents"),
}
PAIRS: dict[str, tuple[tuple[Part, Part], ...]] = {
    "query_id": (("run", "qrels"), ("run", "queries"), ("qrels", "queries")),
    "doc_id": (("run", "qrels"), ("run", "documents"), ("qrels", "documents")),
}


@dataclass(frozen=True)
class Side:
    """The ids of one part of one file, each with its line; `frame` has each distinct id once, with its first.

    A run's documents are many, and what they are compared with is mostly few. So they are compared some ten thousand
    rows at a time, and their distinct ids are only gathered where they are asked for.
    """

    read: Read
    part: Part
    rows: pl.DataFrame

    @property
    def file(self) -> str:
        """The file."""
        return self.read.file

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The distinct ids, each with its first line."""
        return self.rows.unique("id", keep="first", maintain_order=True)

    def line(self, row: int) -> str:
        """A line of the file as text."""
        return self.read.line(self.part, row)

    def pieces(self, against: "Side") -> Iterator[pl.DataFrame]:
        """The rows, some at a time where the other side is small; where it is large, all at once."""
        size = PIECE if against.rows.height <= PIECE else max(1, self.rows.height)
        yield from self.rows.iter_slices(size)

    def lacks(self, other: "Side") -> pl.DataFrame:
        """The distinct ids that the other side has not."""
        found = [
            piece.join(other.frame, on="id", how="anti", maintain_order="left")
            for piece in self.pieces(other)
        ]
        return pl.concat(found).unique("id", keep="first", maintain_order=True)

    def unseen(self, other: "Side") -> pl.DataFrame:
        """The distinct ids of the other side that this one has not."""
        rest = other.frame
        for piece in self.pieces(other):
            if rest.height:
                rest = rest.join(piece, on="id", how="anti", maintain_order="left")
        return rest


def side(read: Read, part: Part, name: str) -> Side | None:
    """The ids of a part of a file; None where it has none."""
    frame: pl.DataFrame | None = getattr(read, part)
    if frame is None:
        return None
    ids = frame.select(pl.col(name).alias("id"), pl.col(ROW))
    if name == "query_id":
        # The rows of a query mostly stand together.
        heads = [
            piece.filter((pl.col("id") != pl.col("id").shift()).fill_null(True))
            for piece in ids.iter_slices(PIECE)
        ]
        ids = pl.concat([ids.clear(), *heads]).rechunk()
    if part == "run" and name == "query_id" and (read.empty or read.failed):
        more = [*read.empty, *read.failed]
        ids = pl.concat([ids, pl.DataFrame({"id": more, ROW: [1] * len(more)}, schema=ids.schema)])
    return Side(read, part, ids) if ids.height else None


def sides(reads: list[Read], name: str) -> list[tuple[Side, Side]]:
    """Each two parts of different files whose ids should meet."""
    made: dict[tuple[int, str], Side | None] = {}

    def one(at: int, part: Part) -> Side | None:
        if (at, part) not in made:
            made[at, part] = side(reads[at], part, name)
        return made[at, part]

    found = []
    for first, second in PAIRS[name]:
        for left in range(len(reads)):
            for right in range(len(reads)):
                if left == right:
                    continue
                a, b = one(left, first), one(right, second)
                if a is not None and b is not None and not (second == "queries" and _bare(b)):
                    found.append((a, b))
    return found


def _bare(one: Side) -> bool:
    """True where the queries are only those that judgments, a run or RAG rows of the same file name."""
    return one.read.rag or one.read.qrels is not None or one.read.run is not None


def check_joins(reads: list[Read], found: Findings) -> None:
    """Every warning about the ids of two files."""
    for name in PAIRS:
        for left, right in sides(reads, name):
            _shared(left, right, name, found)
            if name == "query_id":
                _swapped(left, right, found)
            _alike(left, right, name, found)
    for read in reads:
        _floats(read, found)


def _shared(left: Side, right: Side, name: str, found: Findings) -> None:
    one, many, _ = IDS[name]
    b = right.frame.height
    both = b - left.unseen(right).height
    what = f"{SAY[left.part]} and {SAY[right.part]} ({printable(right.file)})"
    if not both:
        a = left.frame.height
        text = f"{what} have no {one} id in common: {_few(left)} here, {_few(right)} there"
        found.warn("no-overlap", left.file, text, a, line=left.frame[ROW][0], found=left.frame["id"][0])
        return
    documents = name == "doc_id"
    if right.part == "qrels":
        # A run returns much that nobody judged, and has not to return all that is judged.
        if not documents and both < b:
            _missing(left, right, both, found)
        return
    mine = left.lacks(right)
    if not mine.height:
        return
    a = both + mine.height
    if both < LITTLE * a:
        text = f"{what} have {both} {one if both == 1 else many} in common, {_share(both, a)} of the {a} here"
        found.warn(
            "little-overlap",
            left.file,
            text,
            a - both,
            line=mine[ROW][0],
            found=mine["id"][0],
            examples=_places(left, mine),
        )
    else:
        code = "unknown-documents" if documents else "unknown-queries"
        are = "is" if a - both == 1 else "are"
        told = f"{amount(a - both, one, many)} of {a} {are} not among"
        text = f"{told} {SAY[right.part]} ({printable(right.file)})"
        found.warn(
            code,
            left.file,
            text,
            a - both,
            line=mine[ROW][0],
            found=mine["id"][0],
            examples=_places(left, mine),
        )


def _swapped(left: Side, right: Side, found: Findings) -> None:
    """Warn where no query id joins, and the judgments' query ids are documents of the run or the other way round."""
    if right.part != "qrels" or left.part != "run" or left.unseen(right).height < right.frame.height:
        return
    for wrong, other in ((right, left), (left, right)):
        documents = side(other.read, other.part, "doc_id")
        lacking = 0 if documents is None else documents.unseen(wrong).height
        count = wrong.frame.height - lacking
        if documents is not None and 2 * count > wrong.frame.height:
            text = (
                f"{amount(count, 'query id is', 'query ids are')} among the documents of {SAY[other.part]} "
                f"({printable(other.file)}): query and document seem to have changed places"
            )
            found.warn(
                "swapped-ids", wrong.file, text, count, line=wrong.frame[ROW][0], found=wrong.frame["id"][0]
            )


def _missing(run: Side, qrels: Side, both: int, found: Findings) -> None:
    """Judged queries that the run has not."""
    judged = qrels.frame.height
    missing = qrels.frame.join(run.frame, on="id", how="anti")
    little = both < LITTLE * min(run.frame.height, judged)
    code = "little-overlap" if little else "unanswered"
    are = "is" if judged - both == 1 else "are"
    text = (
        f"{judged - both} of {judged} judged queries ({printable(qrels.file)}) {are} not in the run "
        f"({_share(both, judged)} answered)"
    )
    found.warn(
        code, run.file, text, judged - both, found=missing["id"][0],
        examples=[f"{printable(own)} ({qrels.line(row)})" for own, row in missing.head(EXAMPLES).iter_rows()],
    )  # fmt: skip


def _share(count: int, of: int) -> str:
    share = count / of
    return f"{share:.0%}" if 0.01 <= share <= 0.99 else f"{share:.2%}"


def _few(one: Side) -> str:
    shown = ", ".join(map(printable, one.frame["id"].head(2).to_list()))
    return f"{shown}, …" if one.frame.height > 2 else shown


def _places(one: Side, rows: pl.DataFrame) -> list[str]:
    return [
        f"{printable(own)} ({one.line(row)})"
        for own, row in rows.select("id", ROW).head(EXAMPLES).iter_rows()
    ]


WHOLE = r"^[+-]?\d+$"
FLOAT = r"^[+-]?\d+(\.0+|(\.\d+)?[eE][+]?\d{1,2})$"
DECIMALS = r"^[+-]?\d+\.0+$"
SPACES = r"[\s\u00a0\u200b\u200c\u200d\u2060\ufeff]+"


def _without_zeros(column: pl.Expr) -> pl.Expr:
    # A number alone, or the number at the end of a word: d7 and d007.
    return column.str.replace(r"^(.*?\D)?0+(\d+)$", "${1}${2}")


def _as_number(column: pl.Expr) -> pl.Expr:
    value = column.cast(pl.Float64, strict=False)
    whole = pl.when(value.abs() < 2.0**53).then(value).cast(pl.Int64, strict=False).cast(pl.String)
    # What became a number has lost its zeros too.
    return _without_zeros(pl.when(column.str.contains(FLOAT)).then(whole).otherwise(column))


FORMS = {
    "lost-zeros": (_without_zeros, "leading zeros"),
    "float-ids": (_as_number, "a decimal point or an exponent"),
    "case-ids": (lambda column: column.str.to_lowercase(), "upper and lower case"),
    "space-ids": (lambda column: column.str.replace_all(SPACES, ""), "white space"),
}
"""For each kind of ids that look alike, the form in which they are one, and what the difference is."""


def _alike(left: Side, right: Side, name: str, found: Findings) -> None:
    theirs = left.unseen(right)
    if not theirs.height:
        return
    one = IDS[name][0]
    for code, same in _same_but(left, right, theirs).items():
        if not same.height:
            continue
        what = FORMS[code][1]
        first = same.row(0, named=True)
        count = same["id"].n_unique()
        text = (
            f"{amount(count, f'{one} id', f'{one} ids')} would be found in {printable(right.file)} but for {what}: "
            f"{printable(first['id'])!r} here, {printable(first['id_there'])!r} there"
        )
        found.warn(
            code, left.file, text, count, line=first[ROW], found=first["id"],
            examples=[
                f"{left.line(row)} and {right.line(there)}"
                for row, there in same.select(ROW, f"{ROW}_there").head(EXAMPLES).iter_rows()
            ],
        )  # fmt: skip


def _same_but(left: Side, right: Side, theirs: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """By code the ids of the left side that the right one has not, with those of `theirs` that have the same form."""
    forms = {code: theirs.with_columns(form=form(pl.col("id"))) for code, (form, _) in FORMS.items()}
    same: dict[str, list[pl.DataFrame]] = {code: [] for code in FORMS}
    for piece in left.pieces(right):
        mine = piece.join(right.frame, on="id", how="anti", maintain_order="left")
        mine = mine.unique("id", keep="first", maintain_order=True)
        for code, (form, _) in FORMS.items():
            met = mine.with_columns(form=form(pl.col("id"))).join(
                forms[code], on="form", suffix="_there", maintain_order="left"
            )
            if code == "float-ids":
                met = met.filter(pl.col("id").str.contains(FLOAT) | pl.col("id_there").str.contains(FLOAT))
            same[code].append(met)
    return {
        code: pl.concat(some).unique(["id", "id_there"], keep="first", maintain_order=True)
        for code, some in same.items()
    }


def _floats(read: Read, found: Findings) -> None:
    """Warn where all ids of a file look like numbers with decimals, whatever the other files have."""
    for part in SAY:
        for name in IDS:
            frame: pl.DataFrame | None = getattr(read, part)
            if frame is None or name not in frame.columns or not frame.height:
                continue
            ids = frame[name]
            # The first ids tell most files apart.
            if not all(some.str.contains(DECIMALS).all() for some in (ids.head(PIECE), ids)):
                continue
            count = ids.n_unique()
            if count > 1 and not any(w.code == "float-ids" and w.file == read.file for w in found.warnings):
                one = IDS[name][0]
                text = f"every {one} id of {SAY[part]} is a number with decimals: {ids[0]}"
                row = int(frame[ROW][0]) if ROW in frame.columns else None
                found.warn("float-ids", read.file, text, count, line=row, found=ids[0])

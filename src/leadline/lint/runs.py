"""Rules about one run: ranks against scores, ties, distances, documents twice, short answers.

A run is looked at some ten thousand rows at a time, cut between queries, so that what a rule makes of the rows is small.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from leadline.errors import ROW, amount, printable
from leadline.lint.finding import EXAMPLES, KEPT, Findings
from leadline.lint.reading import Read
from leadline.lint.refused import check_once

MOSTLY = 0.9
"""From which share of the steps down the ranks that rise on, scores are taken for distances."""
STEPS = 2
"""How many steps a query must have at least for that."""
PART_ROWS = 1 << 16
"""How many rows a rule looks at together at least, where a run has so many."""


@dataclass
class _Tally:
    """Rows that a rule found: all counted, the first kept."""

    keep: int = EXAMPLES
    count: int = 0
    queries: int = 0
    rows: list[pl.DataFrame] = field(default_factory=list)

    def add(self, rows: pl.DataFrame) -> None:
        """Add the rows of a part, whose queries no other part has."""
        if rows.height:
            self.count += rows.height
            self.queries += rows["query_id"].n_unique()
            self.rows.append(rows.sort(ROW).head(self.keep).rechunk())

    def first(self) -> pl.DataFrame:
        """The first rows, in the order of the file."""
        return pl.concat(self.rows).sort(ROW).head(self.keep)


@dataclass
class _Seen:
    """What was seen of a run, part by part.

    Attributes
    ----------
    queries: a row for each query: query_id, row (its first), rows, low and high score, rises (steps at which the score does),
        and for each cutoff whether it cuts through a tie. infinite, rising, twice: rows.
    """

    queries: list[pl.DataFrame] = field(default_factory=list)
    infinite: _Tally = field(default_factory=_Tally)
    rising: _Tally = field(default_factory=_Tally)
    twice: _Tally = field(default_factory=lambda: _Tally(KEPT))

    def of_query(self) -> pl.DataFrame:
        """A row for each query, in the order of the file."""
        return pl.concat(self.queries).sort(ROW)


def check_run(read: Read, cutoffs: list[int], duplicates: str, found: Findings) -> None:
    """Every warning about one run, and the faults of documents that stand twice for a query."""
    run = read.run
    if run is None:
        return
    seen = _Seen()
    for part in parts(run) if run.height else ():
        _look(part, cutoffs, read.scored, seen)
    queries = seen.of_query() if seen.queries else None
    if queries is not None:
        if read.scored:
            if "rank" in run.columns:
                _swapped(read, run, found)
            _infinite(read, seen, found)
            if not _rising(read, queries, "rank" in run.columns, found) and "rank" in run.columns:
                _contradicting(read, seen, found)
            _equal(read, queries, found)
            for cutoff in cutoffs:
                _ties(read, queries, cutoff, found)
        if seen.twice.count:
            check_once(read, duplicates, seen.twice.first(), seen.twice.count, seen.twice.queries, found)
    _few(read, queries, max(cutoffs), found)
    if read.failed:
        names = list(read.failed)
        found.warn(
            "failed-queries",
            read.file,
            f"{amount(len(names), 'query', 'queries')} failed, and {'is' if len(names) == 1 else 'are'} not in any mean",
            len(names),
            found=names[0],
            examples=[f"{printable(name)}: {printable(read.failed[name])}" for name in names[:EXAMPLES]],
        )


def parts(run: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The rows some ten thousand at a time, with all rows of a query together and in their order.

    Where a query's rows are scattered, the run is sorted by query first.
    """
    pieces = list(_pieces(run))
    runs = sum(len(ends) for _, _, ends in pieces)
    # Where a query goes over from one piece to the next it is counted twice.
    joined = sum(
        run["query_id"][start - 1] == run["query_id"][start]
        for start, _, _ in pieces
        if 0 < start < run.height
    )
    whole = not joined and runs == run["query_id"].n_unique()
    if not whole:
        run = run.sort("query_id", maintain_order=True).rechunk()
        pieces = list(_pieces(run))
    for start, height, ends in pieces:
        low = 0
        for end in ends:
            if end - low >= PART_ROWS or end == height:
                yield run.slice(start + low, end - low)
                low = end


def _pieces(run: pl.DataFrame) -> Iterator[tuple[int, int, list[int]]]:
    """Each stretch of rows that lies together in memory: its start, its height, and where its queries end."""
    start = 0
    for height in run["query_id"].chunk_lengths():
        names = run["query_id"].slice(start, height)
        if height:
            yield start, height, names.rle().struct.field("len").cast(pl.Int64).cum_sum().to_list()
        start += height


def _look(part: pl.DataFrame, cutoffs: list[int], scored: bool, seen: _Seen) -> None:
    """What is to be seen in some queries."""
    query = ["query_id"]
    of_query = part.group_by(query, maintain_order=True).agg(
        pl.col(ROW).first(),
        pl.len().alias("rows"),
        pl.col("score").min().alias("low"),
        pl.col("score").max().alias("high"),
        *(_cut(cutoff).alias(f"tie@{cutoff}") for cutoff in cutoffs if scored),
    )
    if scored:
        seen.infinite.add(
            part.filter(pl.col("score").is_infinite()).select("query_id", "doc_id", "score", ROW)
        )
        wrong = _steps(part)
        seen.rising.add(wrong)
        rises = wrong.group_by(query).agg(pl.len().alias("rises"))
        of_query = of_query.join(rises, on=query, how="left", maintain_order="left").with_columns(
            pl.col("rises").fill_null(0)
        )
    seen.queries.append(of_query)
    seen.twice.add(_again(part))


def _cut(cutoff: int) -> pl.Expr:
    """Whether the scores at a cutoff and after it are equal."""
    top = pl.col("score").top_k(cutoff + 1).sort(descending=True)
    return (top.get(cutoff, null_on_oob=True) == top.get(cutoff - 1, null_on_oob=True)).fill_null(False)


def _steps(part: pl.DataFrame) -> pl.DataFrame:
    """The rows whose score is above that of the row before, `before`, down the ranks where the file has them, else as it is."""
    frame = part.with_columns(block=part["query_id"].rle_id())
    same = pl.col("block") == pl.col("block").shift()
    if (
        "rank" in part.columns
        and frame.select((same & (pl.col("rank") < pl.col("rank").shift())).any()).item()
    ):
        frame = frame.sort("block", "rank", maintain_order=True)
    before = pl.col("score").shift()
    rows = frame.with_columns(before=before).filter(same & (pl.col("score") > before))
    return rows.select(
        "query_id", "doc_id", "score", "before", *(["rank"] if "rank" in part.columns else []), ROW
    )


def twice(part: pl.DataFrame) -> bool:
    """Whether a document may stand twice for a query."""
    # A hash is far smaller than the pair; where no hash repeats, no pair does.
    return not part.select(pl.struct("query_id", "doc_id").hash().is_unique().all()).item()


def _again(part: pl.DataFrame) -> pl.DataFrame:
    """Each further row of a pair, with the row of its first: query_id, doc_id, row, first."""
    pair = pl.struct("query_id", "doc_id")
    if not twice(part):
        return part.clear()
    repeated = part.select("query_id", "doc_id", ROW).filter(pair.is_duplicated())
    first = pl.col(ROW).first().over("query_id", "doc_id").alias("first")
    return repeated.with_columns(first).filter(~pair.is_first_distinct())


def _rising(read: Read, of_query: pl.DataFrame, ranked: bool, found: Findings) -> bool:
    """Warn where scores rise on nearly every step down the ranks; True where they do."""
    told = of_query.filter(pl.col("rows") > STEPS)
    rising = told.filter(pl.col("rises") >= MOSTLY * (pl.col("rows") - 1))
    if not rising.height or rising.height < MOSTLY * told.height:
        return False
    down = "down the rank column" if ranked else "down the file"
    found.warn(
        "rising-scores",
        read.file,
        f"scores rise {down} in {amount(rising.height, 'query', 'queries')} of {of_query.height}: the smallest comes first, "
        "as with distances, and the greatest counts as the best",
        rising.height,
        line=rising[ROW][0],
        found=rising["query_id"][0],
        examples=_examples(read, rising),
    )
    return True


def _swapped(read: Read, run: pl.DataFrame, found: Findings) -> None:
    """Warn where scores count 1, 2, … for each query and ranks hold fractions, as where the two columns changed places."""
    head = run.head(PART_ROWS)
    if not head["rank"].dtype.is_float() or (head["rank"] == head["rank"].floor()).all():
        return
    if (head["score"].min() or 0) not in (0, 1) or (head["score"] != head["score"].floor()).any():
        return
    first = head.row(0, named=True)
    found.warn(
        "swapped-columns",
        read.file,
        "the ranks hold fractions and the scores are whole numbers from 1: rank and score seem to have changed places",
        run.height,
        line=first[ROW],
        found=f"{first['rank']:g} {first['score']:g}",
    )


def _contradicting(read: Read, seen: _Seen, found: Findings) -> None:
    wrong = seen.rising
    if not wrong.count:
        return
    rows = wrong.first()
    first = rows.row(0, named=True)
    found.warn(
        "rank-score",
        read.file,
        f"the rank column contradicts the scores in {amount(wrong.count, 'row')} of "
        f"{amount(wrong.queries, 'query', 'queries')}: "
        f"rank {first['rank']:g} has score {first['score']:g}, above {first['before']:g} of the rank before",
        wrong.count,
        line=first[ROW],
        found=f"{first['query_id']} {first['doc_id']}",
        examples=_examples(read, rows),
    )


def _infinite(read: Read, seen: _Seen, found: Findings) -> None:
    if seen.infinite.count:
        wrong = seen.infinite.first()
        found.warn(
            "infinite-score",
            read.file,
            f"{amount(seen.infinite.count, 'score is', 'scores are')} infinite",
            seen.infinite.count,
            line=wrong[ROW][0],
            found=f"{wrong['query_id'][0]} {wrong['doc_id'][0]} {wrong['score'][0]}",
            examples=_examples(read, wrong),
        )


def _equal(read: Read, of_query: pl.DataFrame, found: Findings) -> None:
    equal = of_query.filter((pl.col("rows") > 1) & (pl.col("low") == pl.col("high")))
    if equal.height:
        found.warn(
            "equal-scores",
            read.file,
            f"all scores are equal in {amount(equal.height, 'query', 'queries')} of {of_query.height}: "
            "their order is that of the ids",
            equal.height,
            line=equal[ROW][0],
            found=equal["query_id"][0],
            examples=_examples(read, equal),
        )


def _ties(read: Read, of_query: pl.DataFrame, cutoff: int, found: Findings) -> None:
    ties = of_query.filter(f"tie@{cutoff}")
    if ties.height:
        found.warn(
            "ties-at-k",
            read.file,
            f"equal scores at ranks {cutoff} and {cutoff + 1} in {amount(ties.height, 'query', 'queries')} of "
            f"{of_query.height}: the order of ids decides what is in the top {cutoff}",
            ties.height,
            found=ties["query_id"][0],
            examples=[printable(name) for name in ties["query_id"].head(EXAMPLES)],
        )


def _few(read: Read, of_query: pl.DataFrame | None, cutoff: int, found: Findings) -> None:
    few = [] if of_query is None else of_query.filter(pl.col("rows") < cutoff)["query_id"].to_list()
    names = [*few, *read.empty]
    if names:
        empty = f", {len(read.empty)} of them none" if read.empty else ""
        queries = (0 if of_query is None else of_query.height) + len(read.empty)
        found.warn(
            "few-rows",
            read.file,
            f"{amount(len(names), 'query has', 'queries have')} fewer than {cutoff} documents{empty} (of {queries})",
            len(names),
            found=names[0],
            examples=[printable(name) for name in names[:EXAMPLES]],
        )


def _examples(read: Read, rows: pl.DataFrame) -> list[str]:
    return [read.line("run", row) for row in rows[ROW].head(EXAMPLES).to_list()]

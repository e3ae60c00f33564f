"""Rules about one run: ranks against scores, ties, distances, documents twice, short answers."""

import polars as pl

from leadline.errors import ROW, amount, printable
from leadline.lint.finding import EXAMPLES, Findings
from leadline.lint.reading import Read

MOSTLY = 0.9
"""From which share of the steps down the ranks that rise on, scores are taken for distances."""
STEPS = 2
"""How many steps a query must have at least for that."""


def check_run(read: Read, cutoffs: list[int], found: Findings) -> None:
    """Every warning about one run."""
    run = read.run
    if run is None:
        return
    if run.height:
        if read.scored:
            _infinite(read, run, found)
            if not _rising(read, run, found):
                _contradicting(read, run, found)
            _equal(read, run, found)
            for cutoff in cutoffs:
                _ties(read, run, cutoff, found)
        _twice(read, run, found)
    _few(read, run, max(cutoffs), found)
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


def _down(run: pl.DataFrame) -> pl.DataFrame:
    """The rows of each query together and down the ranks, by the rank column where there is one, else as they stand."""
    block = run["query_id"].rle_id()
    together = run["query_id"].n_unique() == int(block[-1]) + 1
    frame = (
        run.with_columns(block=block)
        if together
        else run.with_columns(block=pl.col("query_id").rank("dense"))
    )
    if "rank" in run.columns:
        same = pl.col("block") == pl.col("block").shift()
        if not together or frame.select((same & (pl.col("rank") < pl.col("rank").shift())).any()).item():
            frame = frame.sort("block", "rank", maintain_order=True)
    elif not together:
        frame = frame.sort("block", maintain_order=True)
    return frame


def _steps(run: pl.DataFrame) -> pl.DataFrame:
    """The rows of `_down` with `rises`: its score is above that of the row before it; null where a query begins."""
    same = pl.col("block") == pl.col("block").shift()
    return _down(run).with_columns(
        rises=pl.when(same).then(pl.col("score") > pl.col("score").shift()),
        before=pl.when(same).then(pl.col("score").shift()),
    )


def _rising(read: Read, run: pl.DataFrame, found: Findings) -> bool:
    """Warn where scores rise on nearly every step down the ranks; True where they do."""
    steps = _steps(run)
    of_query = steps.group_by("block", maintain_order=True).agg(
        pl.col("query_id").first(),
        pl.col(ROW).first(),
        pl.col("rises").mean().alias("share"),
        pl.len().alias("rows"),
    )
    rising = of_query.filter((pl.col("share") >= MOSTLY) & (pl.col("rows") > STEPS))
    told = of_query.filter(pl.col("rows") > STEPS)
    if not rising.height or rising.height < MOSTLY * told.height:
        return False
    down = "down the rank column" if "rank" in run.columns else "down the file"
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


def _contradicting(read: Read, run: pl.DataFrame, found: Findings) -> None:
    if "rank" not in run.columns:
        return
    wrong = _steps(run).filter(pl.col("rises"))
    if not wrong.height:
        return
    queries = wrong["query_id"].n_unique()
    first = wrong.row(0, named=True)
    found.warn(
        "rank-score",
        read.file,
        f"the rank column contradicts the scores in {amount(wrong.height, 'row')} of {amount(queries, 'query', 'queries')}: "
        f"rank {first['rank']:g} has score {first['score']:g}, above {first['before']:g} of the rank before",
        wrong.height,
        line=first[ROW],
        found=f"{first['query_id']} {first['doc_id']}",
        examples=_examples(read, wrong),
    )


def _infinite(read: Read, run: pl.DataFrame, found: Findings) -> None:
    wrong = run.filter(pl.col("score").is_infinite())
    if wrong.height:
        found.warn(
            "infinite-score",
            read.file,
            f"{amount(wrong.height, 'score is', 'scores are')} infinite",
            wrong.height,
            line=wrong[ROW][0],
            found=f"{wrong['query_id'][0]} {wrong['doc_id'][0]} {wrong['score'][0]}",
            examples=_examples(read, wrong),
        )


def _equal(read: Read, run: pl.DataFrame, found: Findings) -> None:
    of_query = run.group_by("query_id", maintain_order=True).agg(
        pl.len().alias("rows"),
        pl.col("score").min().alias("low"),
        pl.col("score").max().alias("high"),
        pl.col(ROW).first(),
    )
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


def _ties(read: Read, run: pl.DataFrame, cutoff: int, found: Findings) -> None:
    top = run.group_by("query_id", maintain_order=True).agg(
        pl.col("score").top_k(cutoff + 1).sort(descending=True).alias("top"), pl.col(ROW).first()
    )
    ties = top.filter(
        (pl.col("top").list.len() > cutoff)
        & (
            pl.col("top").list.get(cutoff, null_on_oob=True)
            == pl.col("top").list.get(cutoff - 1, null_on_oob=True)
        )
    )
    if ties.height:
        found.warn(
            "ties-at-k",
            read.file,
            f"equal scores at ranks {cutoff} and {cutoff + 1} in {amount(ties.height, 'query', 'queries')} of {top.height}: "
            f"the order of ids decides what is in the top {cutoff}",
            ties.height,
            found=ties["query_id"][0],
            examples=[printable(name) for name in ties["query_id"].head(EXAMPLES)],
        )


def _twice(read: Read, run: pl.DataFrame, found: Findings) -> None:
    pair = pl.struct("query_id", "doc_id")
    # A hash is far smaller than the pair; where no hash repeats, no pair does.
    if run.select(pair.hash().is_unique().all()).item():
        return
    again = run.filter(~pair.is_first_distinct())
    if not again.height:
        return
    queries = again["query_id"].n_unique()
    found.warn(
        "document-twice",
        read.file,
        f"{amount(again.height, 'row repeats', 'rows repeat')} a document of the same query "
        f"({amount(queries, 'query', 'queries')})",
        again.height,
        line=again[ROW][0],
        found=f"{again['query_id'][0]} {again['doc_id'][0]}",
        examples=_examples(read, again),
    )


def _few(read: Read, run: pl.DataFrame, cutoff: int, found: Findings) -> None:
    counts = run.group_by("query_id", maintain_order=True).len()
    few = counts.filter(pl.col("len") < cutoff)
    names = [*few["query_id"].to_list(), *read.empty]
    if names:
        empty = f", {len(read.empty)} of them none" if read.empty else ""
        queries = counts.height + len(read.empty)
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

"""The rule about how much of what a run returns at the top is judged."""

import polars as pl

from leadline.errors import LeadlineError, printable
from leadline.evaluation import evaluate
from leadline.lint.finding import Findings
from leadline.lint.reading import Read
from leadline.lint.runs import parts, twice
from leadline.tables import Qrels, Run


def check_shares(reads: list[Read], cutoffs: list[int], found: Findings) -> None:
    """Warn where not all of the top k of a run is judged, for each run and each file of judgments."""
    for read in reads:
        if read.run is None or not read.run.height:
            continue
        judgments = [one for one in reads if one.qrels is not None and one.qrels.height]
        run = Run(_top(read.run, max(cutoffs)) if judgments else read.run, "run", read.empty, read.failed)
        for judged in judgments:
            assert judged.qrels is not None
            asked = [f"Judged@{cutoff}" for cutoff in cutoffs]
            try:
                qrels = Qrels.checked(judged.qrels.drop("subtopic", strict=False), conflicts="first")
                scores = evaluate(run, qrels, asked, duplicates="first")
            except LeadlineError:
                # Nothing in common is said by the rule about ids, and wrong needs as faults.
                continue
            for cutoff, measure in zip(cutoffs, asked, strict=True):
                values = scores.per_query(measure)
                known = [value for value in values.values() if value is not None and value == value]
                if known and min(known) < 1:
                    _warn(read, judged, cutoff, known, found)


def _top(run: pl.DataFrame, cutoff: int) -> pl.DataFrame:
    """The rows that can be in the top `cutoff`: those of its score and above, however ties are broken."""
    low = pl.col("score").top_k(cutoff).min().over("query_id")
    # A document that stands twice takes one place only, so that more rows are needed.
    return pl.concat([part if twice(part) else part.filter(pl.col("score") >= low) for part in parts(run)])


def _warn(read: Read, judged: Read, cutoff: int, shares: list[float], found: Findings) -> None:
    mean = sum(shares) / len(shares)
    short = sum(share < 1 for share in shares)
    where = "" if judged is read else f" ({printable(judged.file)})"
    shown = (
        "nothing"
        if mean == 0
        else f"{mean:.0%}"
        if 0.01 <= mean <= 0.985
        else f"{mean:.1%}"
        if mean < 0.9995
        else f"{mean:.3%}"
    )
    text = (
        f"{shown} of the top {cutoff} is judged{where}, as a mean over {len(shares)} queries; in {short} of them nobody judged "
        "some document there"
    )
    found.warn("judged-share", read.file, text, short)

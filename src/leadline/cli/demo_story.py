"""The demonstration's story: what the verdict is while one system's finds are unjudged, and once they are judged."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from leadline.conventions import conventions
from leadline.formats.read import read_qrels, read_run
from leadline.hits import Judged
from leadline.inputs import Inputs
from leadline.ranking import head
from leadline.scores import Verdict
from leadline.spelling import parse_all
from leadline.tables import Qrels

BASELINE, CANDIDATE, MEASURE, DEPTH = "bm25", "dense", "nDCG@10", 10


def story(folder: Path) -> Iterator[str]:
    """The lines of the story: judgments that only the dense retriever brought are withheld, then restored."""
    from leadline.cli.comparing import built

    rules = conventions()
    full = read_qrels(folder / "qrels.txt")
    runs = tuple(read_run(folder / f"{name}.run", conventions=rules) for name in (BASELINE, CANDIDATE))
    chosen: dict[str, Any] = {
        "cluster": None,
        "weight": None,
        "by": None,
        "margin": 0.02,
        "alpha": 0.05,
        "seed": 0,
    }
    chosen |= {"interval_of": "auto", "correction": "holm", "nulls": False, "qrels": "qrels.txt"}

    def verdict(qrels: Qrels) -> Verdict:
        asked = parse_all(MEASURE, rules)
        given = Inputs(runs, qrels, paths=tuple((name, f"{name}.run") for name in (BASELINE, CANDIDATE)))
        report = built(given, asked, rules, chosen, hashed=False, line="")
        assert report.verdict is not None
        return report.verdict

    judged = Judged.of(full)
    tops = [head(run, judged, rules, DEPTH).select("query", "doc_id") for run in runs]
    only = tops[1].join(tops[0], on=["query", "doc_id"], how="anti")
    ids = pl.Series("query_id", judged.query_ids).to_frame().with_row_index("query").cast({"query": pl.Int64})
    brought = only.join(ids, on="query").select("query_id", "doc_id")
    kept = full.frame.join(brought, on=["query_id", "doc_id"], how="anti", maintain_order="left")
    withheld = full.frame.height - kept.height
    yield f"May {CANDIDATE} replace {BASELINE}? First without the {withheld} judgments that only {CANDIDATE} brought:"
    yield from _said(verdict(Qrels(kept, max_grade=full.top_grade(), source="qrels.txt")))
    yield "With them:"
    yield from _said(verdict(full))
    yield f"  see for yourself: leadline compare {BASELINE}.run {CANDIDATE}.run --qrels qrels.txt -m {MEASURE}"


def _said(verdict: Verdict) -> Iterator[str]:
    yield f"  {verdict.outcome} ({verdict.effect}): {verdict.sentence}"
    yield f"  {verdict.reasons[0]}" if verdict.reasons else "  no reason"

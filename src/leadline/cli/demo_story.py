"""The demonstration's story: what the verdict is while one system's finds are unjudged, and once they are judged."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from leadline.conventions import conventions
from leadline.formats.read import read_qrels, read_queries, read_run
from leadline.formats.write import write_qrels
from leadline.hits import Judged
from leadline.inputs import Inputs
from leadline.ranking import head
from leadline.report.comparing import ComparisonReport, Step
from leadline.scores import Verdict
from leadline.spelling import parse_all
from leadline.tables import Qrels, RunSource

BASELINE, CANDIDATE, DEPTH = "bm25", "dense", 10
MEASURES = "nDCG@10,R@10,P@5,RR"
"""What the pages show; the first carries the verdict."""
QRELS, WITHHELD = "qrels.txt", "qrels-withheld.txt"
BEFORE, AFTER = "comparison-withheld.html", "comparison.html"
"""The pages: of the judgments with some withheld, and of all of them."""


def story(folder: Path) -> Iterator[str]:
    """Withhold the judgments that only the dense retriever brought, then restore them; write both pages and say both.

    Writes the judgments that are left, and a page of each comparison, into the folder.
    """
    rules = conventions()
    full = read_qrels(folder / QRELS)
    runs = tuple(read_run(folder / f"{name}.run", conventions=rules) for name in (BASELINE, CANDIDATE))
    kept = _without(full, runs)
    count = full.frame.height - kept.frame.height
    before = _compared(folder, runs, kept, WITHHELD)
    after = _compared(folder, runs, full, QRELS)
    verdicts = [report.verdict for report in (before, after) if report.verdict is not None]
    titles = (
        f"Without the {count} judgments that only {CANDIDATE} brought",
        f"With all {full.frame.height} judgments",
    )
    steps = tuple(Step(t, v, p) for t, v, p in zip(titles, verdicts, (BEFORE, AFTER), strict=True))
    # The judgments that are left are a file, so that the first verdict can be had again too.
    write_qrels(kept, folder / WITHHELD)
    _paged(folder, BEFORE, before, steps)
    _paged(folder, AFTER, after, steps)
    yield f"May {CANDIDATE} replace {BASELINE}? First without the {count} judgments that only {CANDIDATE} brought:"
    yield from _said(verdicts[0])
    yield "With them:"
    yield from _said(verdicts[1])
    yield f"  {AFTER} shows it, and how the verdict came about; see for yourself:"
    yield f"  leadline compare {BASELINE}.run {CANDIDATE}.run --qrels {QRELS} -m {MEASURES.partition(',')[0]}"


def _without(full: Qrels, runs: tuple[RunSource, ...]) -> Qrels:
    """The judgments without those of documents that only the candidate has in its top k."""
    judged = Judged.of(full)
    tops = [head(run, judged, conventions(), DEPTH).select("query", "doc_id") for run in runs]
    only = tops[1].join(tops[0], on=["query", "doc_id"], how="anti")
    ids = pl.Series("query_id", judged.query_ids).to_frame().with_row_index("query").cast({"query": pl.Int64})
    brought = only.join(ids, on="query").select("query_id", "doc_id")
    kept = full.frame.join(brought, on=["query_id", "doc_id"], how="anti", maintain_order="left")
    return Qrels(kept, max_grade=full.top_grade(), source=WITHHELD)


def _compared(folder: Path, runs: tuple[RunSource, ...], qrels: Qrels, name: str) -> ComparisonReport:
    """The comparison by some judgments, as the command of its last line makes it."""
    from leadline.cli.comparing import built

    rules = conventions()
    chosen: dict[str, Any] = {
        "cluster": None,
        "weight": None,
        "by": None,
        "margin": 0.02,
        "alpha": 0.05,
        "seed": 0,
    }
    chosen |= {"interval_of": "auto", "correction": "holm", "nulls": False, "qrels": name}
    paths = tuple((system, f"{system}.run") for system in (BASELINE, CANDIDATE))
    given = Inputs(runs, qrels, read_queries(folder / "queries.jsonl"), paths=paths)
    line = f"leadline compare {BASELINE}.run {CANDIDATE}.run --qrels {name} --queries queries.jsonl -m {MEASURES}"
    return built(given, parse_all(MEASURES, rules), rules, chosen, hashed=False, line=line)


def _paged(folder: Path, name: str, report: ComparisonReport, steps: tuple[Step, ...]) -> None:
    from leadline.formats.write import atomic_write
    from leadline.report.comparison_page import comparison_page

    with atomic_write(folder / name) as place:
        place.write_text(comparison_page(replace(report, story=steps)), encoding="utf-8")


def _said(verdict: Verdict) -> Iterator[str]:
    yield f"  {verdict.outcome} ({verdict.effect}): {verdict.sentence}"
    yield f"  {verdict.reasons[0]}" if verdict.reasons else "  no reason"

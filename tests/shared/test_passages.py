"""The collected cases about spans, and real documents: 790 pieces of evidence, five chunkers, real edits."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import leadline
from leadline.passages.carry import carry
from leadline.passages.check import check_evidence
from leadline.passages.grades import covered_shares
from leadline.passages.spans import as_spans, union
from leadline.passages.tables import Chunks, Evidence, EvidenceRow
from shared.chunked import CHUNKERS, Collection, edited, read_collection
from shared.folder import CASES, everything_required


def cases() -> dict[str, dict[str, Any]]:
    path = CASES / "rag.jsonl"
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {
        row["id"]: row for row in map(json.loads, filter(str.strip, rows)) if row["id"].startswith("span-")
    }


SPANS = cases()
if not SPANS and not everything_required():
    pytest.skip(f"{CASES} is absent", allow_module_level=True)


def values(gold: list[list[int]], chunks: list[list[int]], k: int, measures: list[str]) -> list[float | None]:
    names = [f"c{place}" for place in range(len(chunks))]
    table = Chunks.of(names, ["d"] * len(names), as_spans(chunks))
    evidence = Evidence.of(EvidenceRow("q", "d", *one) for one in gold)
    asked = [f"{name}@{k}" for name in measures]
    scores = leadline.evaluate({"q": names}, None, asked, evidence=evidence, chunks=table)
    return [scores.per_query(name)["q"] for name in asked]


def test_every_case_of_spans_is_here() -> None:
    assert set(SPANS) == {"span-basic", "span-overlapping-gold", "span-rechunk"}


def test_basic() -> None:
    given, expected = SPANS["span-basic"]["input"], SPANS["span-basic"]["expected"]
    measures = ["EvidenceRecall", "EvidencePrecision", "EvidenceIoU"]
    found = values(given["gold"], given["chunks"], 1, measures)
    assert found == pytest.approx([expected["recall"], expected["precision"], expected["iou"]])


def test_overlapping_gold() -> None:
    given, expected = SPANS["span-overlapping-gold"]["input"], SPANS["span-overlapping-gold"]["expected"]
    assert values(given["gold"], given["chunks"], 1, ["EvidenceRecall"]) == [expected["recall"]]


def test_rechunk() -> None:
    given, expected = SPANS["span-rechunk"]["input"], SPANS["span-rechunk"]["expected"]
    a, b = given["chunkings"]["A"], given["chunkings"]["B"]
    assert values(given["gold"], a, 1, ["EvidenceRecall"]) == [expected["A_top1"]]
    assert values(given["gold"], a, 2, ["EvidenceRecall"]) == [expected["A_top2"]]
    assert values(given["gold"], b, 1, ["EvidenceRecall"]) == [expected["B_top1"]]


# ------------------------------------------------------------------------------------------------ real documents


@pytest.fixture(scope="module")
def collection(shared_data: Any) -> Collection:
    found: Path = shared_data("chunking_evaluation")
    return read_collection(found)


def test_all_of_the_evidence_stands_where_it_says(collection: Collection) -> None:
    checked = check_evidence(collection.evidence, collection.documents)
    assert (checked.rows, checked.queries, checked.documents, checked.faults) == (790, 472, 5, ())
    # Searching for quotes would find the wrong place for some of these.
    assert checked.repeated > 50


@pytest.mark.parametrize("chunker", CHUNKERS)
def test_chunkers_lose_nothing_but_white_space(collection: Collection, chunker: str) -> None:
    for text in collection.documents.values():
        ranges = as_spans(CHUNKERS[chunker](text))
        assert all(0 <= start < end <= len(text) for start, end in ranges.tolist())
        joined = union(ranges).tolist()
        edges = [0, *(edge for one in joined for edge in one), len(text)]
        left_out = "".join(text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
        assert not left_out.strip()


def test_overlap_keeps_evidence_whole(collection: Collection) -> None:
    def whole(chunker: str) -> float:
        names, spans = [], []
        for name, text in collection.documents.items():
            cut = CHUNKERS[chunker](text)
            names += [name] * len(cut)
            spans += cut
        chunks = Chunks.of([str(at) for at in range(len(names))], names, as_spans(spans))
        return float((covered_shares(chunks, collection.evidence) == 1).mean())

    assert whole("tokens, 160 with 40 shared") > whole("characters, 800")


@pytest.mark.parametrize("kind", ["insert", "reorder", "all four"])
def test_what_is_carried_over_real_edits_reads_as_it_did(collection: Collection, kind: str) -> None:
    rng = random.Random(kind)
    versions = {name: edited(text, kind, rng) for name, text in collection.documents.items()}
    new = {name: one.text for name, one in versions.items()}
    found = carry(collection.evidence, collection.documents, new)
    assert check_evidence(Evidence.of(found.evidence), new).faults == ()
    right = kept = 0
    for row in found.rows:
        fate, place = versions[row.old.document_id].truth(row.old.start, row.old.end)
        if fate == "kept":
            assert row.state != "lost"
            kept += row.new is not None
        if row.new is not None:
            right += (row.new.start, row.new.end) == place
    carried = len(found.evidence)
    # Measured .99 and more; every wrong one is a copy of the same text in another place of the same document.
    assert right >= 0.98 * carried and kept >= 0.8 * 790 - 100

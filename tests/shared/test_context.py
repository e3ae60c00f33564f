"""Contexts on the collected cases and on the whole collection of chunked questions."""

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.conventions import Conventions
from leadline.errors import RowsError
from leadline.passages.accounts import summed
from leadline.passages.context import Counter, QueryAccount, Rules
from leadline.passages.contexts import Item, SentRow, read_contexts
from leadline.passages.goals import EvidenceGoals
from leadline.passages.matching import Known
from leadline.passages.packing import Policy, packed
from leadline.passages.rankings import rankings
from leadline.passages.spans import as_spans
from leadline.passages.tables import Chunks, Evidence, EvidenceRow
from leadline.passages.tokens import tokenizer
from shared.chunked import paragraphs, read_collection
from shared.folder import CASES, DATA, everything_required


def case(name: str) -> dict[str, Any]:
    path = CASES / "rag.jsonl"
    if not path.exists() and not everything_required():
        pytest.skip(f"{path} is absent")
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return next(row for row in rows if row["id"] == name)


def account(gold: list[list[int]], chunks: list[list[int]], sent: list[int]) -> QueryAccount:
    """The account of a query whose ranking is all chunks, and whose context some of them."""
    table = Chunks.of([f"c{at}" for at in range(len(chunks))], ["d"] * len(chunks), as_spans(chunks))
    evidence = Evidence.of(EvidenceRow("q", "d", *one) for one in gold)
    counter = Counter(EvidenceGoals(evidence, table), Known(table), Rules())
    return counter.account("q", list(table.chunk_ids), SentRow(tuple(Item(f"c{at}", None) for at in sent)))


@pytest.mark.parametrize("name", ["span-basic", "span-overlapping-gold"])
def test_spans(name: str) -> None:
    one = case(name)
    chunks = one["input"]["chunks"]
    found = account(one["input"]["gold"], chunks, list(range(len(chunks))))
    assert found.sent == pytest.approx(one["expected"]["recall"])
    if "precision" in one["expected"]:
        assert found.noise == pytest.approx(1 - one["expected"]["precision"])


def test_the_same_evidence_on_two_chunkings() -> None:
    one = case("span-rechunk")
    gold, (first, second) = one["input"]["gold"], one["input"]["chunkings"].values()
    assert account(gold, first, [0]).sent == pytest.approx(one["expected"]["A_top1"])
    assert account(gold, first, [0, 1]).sent == pytest.approx(one["expected"]["A_top2"])
    assert account(gold, second, [0]).sent == pytest.approx(one["expected"]["B_top1"])


def test_an_empty_text_holds_no_evidence() -> None:
    one = case("ctxr-empty-string-context")
    table = Chunks.of(["a"], ["d"], as_spans([(0, 31)]))
    text = one["input"]["reference"]
    counter = Counter(
        EvidenceGoals(Evidence.of([EvidenceRow("q", "d", 0, 31)]), table), Known(table, {"d": text}), Rules()
    )
    sent = SentRow(tuple(Item(None, text) for text in one["input"]["retrieved_contexts"]))
    found = counter.account("q", ["a"], sent)
    assert found.sent == one["expected"]["value"] and found.how == {"unmatched": 1}


def test_a_list_that_became_text_is_refused(tmp_path: Path) -> None:
    one = case("contexts-as-string")
    path = tmp_path / "sent.jsonl"
    path.write_text(json.dumps({"query_id": "q", **one["input"]}) + "\n")
    with pytest.raises(RowsError, match=r"line 1: .*retrieved_contexts is a list"):
        read_contexts(path)


def test_472_questions_packed_and_accounted_for() -> None:
    """Every chunk of the right document in its order as the ranking: what packing does to it is then known exactly."""
    folder = DATA / "chunking_evaluation"
    if not folder.exists() and not everything_required():
        pytest.skip(f"{folder} is absent")
    collection = read_collection(folder)
    names, documents, spans = [], [], []
    for document, text in collection.documents.items():
        for at, one in enumerate(paragraphs(text)):
            names.append(f"{document}-{at}")
            documents.append(document)
            spans.append(one)
    table = Chunks.of(names, documents, as_spans(spans))
    known = Known(table, collection.documents)
    texts = dict(zip(names, map(str, known.texts), strict=True))
    words = tokenizer("words")
    goals = EvidenceGoals(collection.evidence, table)
    assert len(goals.query_ids) == 472
    by_document: dict[str, list[str]] = {}
    for name, document in zip(names, documents, strict=True):
        by_document.setdefault(document, []).append(name)
    where = {row.query_id: row.document_id for row in collection.evidence.rows}
    found = []
    for query in goals.query_ids[::4]:
        ranked = by_document[where[query]]
        row, size = packed(ranked, texts, Policy(len(ranked), words, 2000))
        one = Counter(goals, known, Rules(budget=2000, tokenizer=words)).account(query, ranked, row)
        assert size <= 2000 and one.size == size
        # All paragraphs of the document were retrieved: nothing is missing, and what is lost had no room.
        assert one.retrieved == pytest.approx(1) and set(one.lost) <= {"budget"}
        assert one.retrieved - sum(one.lost.values()) == pytest.approx(one.sent)
        found.append(one)
    report = summed(found, 2000)
    at_budget = next(row for row in report.by_budget if row.budget == 2000)
    assert at_budget.recall == pytest.approx(report.mean("sent"))


def test_rankings_follow_the_rule_of_order() -> None:
    import polars as pl

    from leadline.tables import Run

    frame = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "score": [1.0, 2.0, 1.0]})
    found = rankings(Run.checked(frame, empty=("p",), failed={"f": "x"}), ["q", "p", "f"], Conventions())
    assert found.ids == {"q": ["b", "c", "a"], "p": []} and found.failed == {"f"}

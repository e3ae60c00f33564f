"""Recognising formats by content."""

import pytest

from leadline.errors import UnknownNameError
from leadline.formats.sniff import checked_format, recognise


@pytest.mark.parametrize(
    ("head", "ending", "form"),
    [
        (b"q1 Q0 d1 1 0.5 bm25\n", ".csv.run", "trec"),
        (b"q1\t0\td1\t1\n", ".tsv", "trec"),
        (b"PAR1\x15\x04", "", "parquet"),
        (b'{"query_id": "q", "doc_id": "d", "score": 1}\n', ".txt", "jsonl"),
        (b'{"query_id": "q", "error": "time-out"}', "", "jsonl"),
        (b'{"query_id": "q", "doc_ids": []}\n', "", "jsonl"),
        (b'{"q1": {"d1": 1.0}, "q2": {}}', "", "json"),
        (b'{"q1": {"d1": 1.0}, "q2": {}}', ".jsonl", "json"),
        (b'{\n  "q1": {\n    "d1": 1.0\n  }\n}', "", "json"),
        (b'{"q1": {"d1": 1.0}, "q2": {"d', "", "json"),
        (b'{"q": broken}\n{"q": 1}\n', "", "jsonl"),
        (b'{"q1": {"d1": 1.0},\n "q2": {}}', "", "json"),
        (b'{"user_input": "a question, and texts longer than the head', "", "jsonl"),
        (b'{"retrieved_contexts": ["longer than the head', "", "jsonl"),
        (b"user_input\tretrieved_context_ids\n", "", "tsv"),
        (b'  [{"question": "?"}]', "", "json"),
        (b'\n{"question": "?", "contexts": []}\n', "", "jsonl"),
        (b'\xef\xbb\xbf{"_id": "q", "text": "?"}\n', "", "jsonl"),
        (b'{"results": [{"query_id": "1"}]}', ".json", "json"),
        (b"[1] Q0 d1 1 0.5 bm25\n", ".run", "trec"),
        (b"query-id\tcorpus-id\tscore\nq\td\t1\n", "", "tsv"),
        (b"queryId,docId,score\r\nq,d,1\r\n", "", "csv"),
        (b'"qid","docno","label"\n', "", "csv"),
        (b"q1,d1,0.5\n", ".csv", "csv"),
        (b"q1,with,commas Q0 d 1 2 t\n", "", "trec"),
    ],
)
def test_content_decides(head: bytes, ending: str, form: str) -> None:
    assert recognise(head, ending) == form


def test_unknown_format_offers_the_nearest() -> None:
    assert checked_format("jsonl") == "jsonl"
    with pytest.raises(UnknownNameError, match="did you mean parquet"):
        checked_format("parket")

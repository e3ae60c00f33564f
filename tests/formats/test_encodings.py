"""Every reader against every encoding: marks, line ends, other encodings, lines of a megabyte, NUL bytes."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import zstandard

from leadline.errors import LeadlineError, RowsError
from leadline.formats.documents import read_texts
from leadline.formats.mapping import read_mapping
from leadline.formats.read import read_qrels, read_queries, read_rag_rows, read_run
from leadline.judging.exchange import rows_of
from leadline.passages.read import read_chunks, read_evidence


def run_rows(path: Path) -> Any:
    run = read_run(path)
    return [row for block in run.blocks() for row in block.load().select("query_id", "doc_id").rows()]


def qrels_rows(path: Path) -> Any:
    return read_qrels(path).frame.select("query_id", "doc_id").rows()


def query_rows(path: Path) -> Any:
    return read_queries(path).frame.select("query_id", "text").rows()


def rag_rows(path: Path) -> Any:
    rows = read_rag_rows(path)
    assert rows.run is not None
    return rows.run.frame.select("query_id", "doc_id").rows()


READERS: dict[str, tuple[str, Callable[[Path], Any], str]] = {
    "run.trec": ("q Q0 dé 1 2.5 t\nq Q0 e 2 1.5 t\n", run_rows, "q e"),
    "run.jsonl": (
        '{"query_id": "q", "doc_id": "dé", "score": 2}\n{"query_id": "q", "doc_id": "e", "score": 1}\n',
        run_rows,
        "q e",
    ),
    "run.json": ('{"q": {"dé": 2,\n"e": 1}}\n', run_rows, "q e"),
    "run.csv": ("query_id,doc_id,score\nq,dé,2\nq,e,1\n", run_rows, "q e"),
    "run.tsv": ("query_id\tdoc_id\tscore\nq\tdé\t2\nq\te\t1\n", run_rows, "q e"),
    "rag.jsonl": ('{"id": "q", "retrieved_ids": ["dé", "e"]}\n', rag_rows, "q e"),
    "qrels.txt": ("q 0 dé 1\nq 0 e 0\n", qrels_rows, "q e"),
    "qrels.csv": ("query_id,doc_id,grade\nq,dé,2\nq,e,1\n", qrels_rows, "q e"),
    "qrels.jsonl": (
        '{"query_id": "q", "doc_id": "dé", "grade": 2}\n{"query_id": "q", "doc_id": "e", "grade": 1}\n',
        qrels_rows,
        "q e",
    ),
    "qrels.json": ('{"q": {"dé": 2,\n"e": 1}}\n', qrels_rows, "q e"),
    "queries.tsv": ("q\tdé\nr\te\n", query_rows, "r e"),
    "queries.csv": ("query_id,text\nq,dé\nr,e\n", query_rows, "r e"),
    "queries.jsonl": ('{"query_id": "q", "text": "dé"}\n{"query_id": "r", "text": "e"}\n', query_rows, "r e"),
    "documents.jsonl": (
        '{"id": "q", "text": "dé"}\n{"id": "r", "text": "e"}\n',
        lambda path: list(read_texts(path).items()),
        "r e",
    ),
    "documents.csv": ("id,text\nq,dé\nr,e\n", lambda path: list(read_texts(path).items()), "r e"),
    "evidence.jsonl": (
        '{"query_id": "q", "document_id": "dé", "start": 0, "end": 1}\n'
        '{"query_id": "q", "document_id": "e", "start": 0, "end": 1}\n',
        lambda path: [(row.query_id, row.document_id) for row in read_evidence(path).rows],
        "q e",
    ),
    "chunks.jsonl": (
        '{"chunk_id": "q", "document_id": "dé", "start": 0, "end": 1}\n'
        '{"chunk_id": "r", "document_id": "e", "start": 0, "end": 1}\n',
        lambda path: list(zip(read_chunks(path).chunk_ids, ["dé", "e"], strict=True)),
        "r e",
    ),
    "mapping.csv": (
        "chunk_id,document_id\nq,dé\nr,e\n",
        lambda path: list(read_mapping(path).items()),
        "r e",
    ),
    "book.jsonl": (
        '{"who": "ana", "query_id": "q", "doc_id": "dé", "grade": 1}\n'
        '{"query_id": "q", "doc_id": "e", "grade": 1, "who": "ana"}\n',
        lambda path: [(row.query_id, row.doc_id) for row in rows_of(str(path))],
        "q e",
    ),
}
"""A file of each kind with one letter beyond ASCII, its reader, and the last row of what that gives."""

GOOD: dict[str, Callable[[str], bytes]] = {
    "plain": lambda text: text.encode(),
    "with a mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "with a mark, CRLF": lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
    "without a last line end": lambda text: text.rstrip("\n").encode(),
}
BAD: dict[str, tuple[Callable[[str], bytes], str]] = {
    "UTF-16, little": (
        lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
        r"is UTF-16 text; save it as UTF-8",
    ),
    "UTF-16, big": (lambda text: b"\xfe\xff" + text.encode("utf-16-be"), r"is UTF-16 text; save it as UTF-8"),
    "UTF-32": (lambda text: b"\xff\xfe\0\0" + text.encode("utf-32-le"), r"is UTF-32 text; save it as UTF-8"),
    "UTF-16, no mark": (
        lambda text: text.replace("é", "e").encode("utf-16-le"),
        r"is UTF-16 text without a mark; save it as UTF-8",
    ),
    "Latin-1": (
        lambda text: text.encode("latin-1"),
        r"line \d+, column \d+: (text that is not UTF-8 \(byte E9\)|found .*expected UTF-8 text)",
    ),
    "a NUL byte": (lambda text: text.replace("é", "\0").encode(), r"NUL"),
}


@pytest.mark.parametrize("packed", [False, True], ids=["as it is", "gzip"])
@pytest.mark.parametrize("encoding", GOOD)
@pytest.mark.parametrize("name", READERS)
def test_what_is_read(name: str, encoding: str, packed: bool, tmp_path: Path) -> None:
    text, read, last = READERS[name]
    found = read(written(tmp_path, name, GOOD[encoding](text), packed))
    assert found[0][1] == "dé"
    assert " ".join(found[-1]) == last


@pytest.mark.parametrize("packed", [False, True], ids=["as it is", "gzip"])
@pytest.mark.parametrize("encoding", BAD)
@pytest.mark.parametrize("name", READERS)
def test_what_is_refused_by_name(name: str, encoding: str, packed: bool, tmp_path: Path) -> None:
    text, read, _ = READERS[name]
    made, match = BAD[encoding]
    with pytest.raises(LeadlineError, match=match) as caught:
        read(written(tmp_path, name, made(text), packed))
    assert name in str(caught.value)


def written(folder: Path, name: str, data: bytes, packed: bool) -> Path:
    path = folder / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def test_the_column_counts_characters(tmp_path: Path) -> None:
    path = written(tmp_path, "run.csv", "query_id,doc_id,score\nüq,".encode() + b"d\xe9,1\n", False)
    with pytest.raises(
        LeadlineError, match=r"run\.csv: line 2, column 5: text that is not UTF-8 \(byte E9\)"
    ):
        read_run(path)


@pytest.mark.parametrize("name", ["run.trec", "qrels.txt", "queries.tsv"])
def test_a_lone_carriage_return_is_no_line_end(name: str, tmp_path: Path) -> None:
    """All after the fifth field of a run's line is its tag: with old line ends the whole file would be one row."""
    text, read, _ = READERS[name]
    with pytest.raises(RowsError, match="a lone carriage return; lines end with LF or CRLF"):
        read(written(tmp_path, name, text.replace("\n", "\r").encode(), False))
    doubled = written(tmp_path, f"doubled-{name}", text.replace("\n", "\r\r\n").encode(), False)
    if name != "queries.tsv":
        assert len(read(doubled)) == 2


@pytest.mark.parametrize("name", ["run.jsonl", "qrels.jsonl"])
def test_a_lone_carriage_return_between_objects_is_no_json(name: str, tmp_path: Path) -> None:
    text, read, _ = READERS[name]
    with pytest.raises(LeadlineError, match="not JSON"):
        read(written(tmp_path, name, text.replace("\n", "\r").encode(), False))


def test_csv_may_end_its_rows_with_a_carriage_return(tmp_path: Path) -> None:
    """RFC 4180 names CRLF; a table's rows cannot be mistaken, so old line ends are read."""
    text, read, last = READERS["run.csv"]
    assert " ".join(read(written(tmp_path, "run.csv", text.replace("\n", "\r").encode(), False))[-1]) == last


LONG = "x" * (1 << 20)


@pytest.mark.parametrize("name", [name for name in READERS if name != "chunks.jsonl"])
def test_a_line_of_a_megabyte(name: str, tmp_path: Path) -> None:
    text, read, last = READERS[name]
    found = read(written(tmp_path, name, text.replace("dé", LONG).encode(), False))
    assert found[0][1] == LONG
    assert " ".join(found[-1]) == last


def test_a_folder_of_texts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf" + "dé\r\n".encode())
    assert read_texts(tmp_path) == {"a": "dé\r\n"}
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe" + "dé".encode("utf-16-le"))
    with pytest.raises(LeadlineError, match=r"b\.txt: is UTF-16 text"):
        read_texts(tmp_path)
    (tmp_path / "b.txt").write_bytes("one\ndé".encode("latin-1"))
    with pytest.raises(LeadlineError, match=r"b\.txt: line 2, column 2: text that is not UTF-8"):
        read_texts(tmp_path)


def test_a_text_that_is_called_parquet(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    path.write_bytes(b"\xff\xfe" + "query_id,doc_id".encode("utf-16-le"))
    with pytest.raises(LeadlineError, match=r"is UTF-16 text"):
        read_run(path)
    pl.DataFrame({"query_id": ["q"], "doc_id": ["dé"], "score": [1.0]}).write_parquet(path)
    assert run_rows(path) == [("q", "dé")]


def test_json_may_say_letters_by_number(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(json.dumps({"query_id": "q", "doc_id": "dé😀", "score": 1}) + "\n")
    assert run_rows(path) == [("q", "dé😀")]


@pytest.mark.parametrize("encoding", [*GOOD, *BAD])
def test_zstd(encoding: str, tmp_path: Path) -> None:
    """Polars unpacks it line by line; what is no UTF-8 is said, without its line."""
    text, read, last = READERS["run.trec"]
    path = tmp_path / "run.trec.zst"
    if encoding in GOOD:
        path.write_bytes(zstandard.compress(GOOD[encoding](text)))
        assert " ".join(read(path)[-1]) == last
        return
    path.write_bytes(zstandard.compress(BAD[encoding][0](text)))
    with pytest.raises(LeadlineError, match=r"UTF-8|UTF-16 text without a mark|NUL"):
        read(path)

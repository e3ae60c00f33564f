"""The demonstration's questions and judgments, and the files that make the collection a test collection."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from leadline.demo.collection import build_documents
from leadline.demo.document import Document
from leadline.demo.retrievers import RRF_K, Ranking, fuse, require_libraries, search_bm25, search_dense
from leadline.formats.write import atomic_write

COMMAND = "leadline demo"
"""The command that calls `write_collection`, as the README names it."""

DEPTH = 100
"""How many documents each retriever returns for a question."""


@dataclass(frozen=True)
class Question:
    """One question with its judgments.

    `type` is one of lookup, how-to, comparison, identifier, multi-part; `need` says in one sentence what the
    asker wants and what counts as answering it, for those who judge; `judgments` maps document ids to grades
    from 0 (not relevant) to 3 (answers the question by itself).
    """

    query_id: str
    text: str
    type: str
    need: str
    judgments: Mapping[str, int]


@dataclass(frozen=True)
class WrittenCollection:
    """What `write_collection` has written.

    `documents`, `questions` and `judgments` are counts (judgments: those in `qrels.txt`); `missing_ids` are
    judged documents that this Python lacks; `python_version` is the one whose docstrings were read; `paths`
    are the files, in the order in which they were written.
    """

    documents: int
    questions: int
    judgments: int
    missing_ids: tuple[str, ...]
    python_version: str
    paths: tuple[Path, ...]


def questions() -> list[Question]:
    """Return the sixty questions that ship with the package, with their judgments.

    >>> questions()[0].query_id, questions()[0].judgments["heapq.nlargest"]
    ('q01', 3)
    """
    grades: dict[str, dict[str, int]] = {item["query_id"]: {} for item in _package_data()["questions"]}
    for line in book():
        grades[line["query_id"]][line["doc_id"]] = line["grade"]
    return [Question(**item, judgments=grades[item["query_id"]]) for item in _package_data()["questions"]]


def book() -> list[dict[str, Any]]:
    """Return every judgment with its origin, sorted by query, document and time.

    Keys: `query_id`, `doc_id`, `grade`, `who` judged, the `kind` of judge, `text_hash` of the docstring that was read, by which
    `guideline` (the version that `about` tells), `when`, and sometimes a `note`. A pair may stand twice or three times: the
    last grade counts, which is that of the one who decided where two judges differed.

    >>> book()[0]["kind"]
    'unstated'
    """
    text = files("leadline.demo").joinpath("judgments.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def about() -> dict[str, Any]:
    """Return how the judgments were made.

    Keys: `judges`, `pool`, `reading` (how much of each docstring), `guideline` (the version of the rules that
    follow), `grades` (the meaning of each grade, keyed by the grade as text), `judged_python` (the version
    whose docstrings were read), `unjudged`.
    """
    return dict(_package_data()["about"])


def missing_ids(documents: Iterable[Document]) -> list[str]:
    """Return the judged ids, sorted, that are absent from `documents`.

    Judgments were made on one Python version; another may have renamed a few functions or dropped their
    docstrings. Such judgments are left out of the files and reported.
    """
    present = {document.id for document in documents}
    return sorted({judged for question in questions() for judged in question.judgments} - present)


def write_collection(folder: Path, progress: Callable[[str], None] | None = None) -> WrittenCollection:
    """Build the collection from this Python, run the three retrievers, and write everything into `folder`.

    The folder is made if need be; files of the same names are replaced, each in one step. `progress` is
    called with one sentence per step. Takes a few seconds and never uses the network.

    Raises `MissingExtraError` if the libraries of the retrievers are not installed, and `OSError` if a file
    cannot be written.
    """
    require_libraries()
    tell = progress or (lambda message: None)
    tell("reading the docstrings of the standard library")
    documents = build_documents()
    asked = questions()
    texts = {question.query_id: question.text for question in asked}
    tell(f"searching {len(documents)} documents with BM25")
    bm25 = search_bm25(documents, texts, DEPTH)
    tell("searching with dense embeddings")
    dense = search_dense(documents, texts, DEPTH)
    tell("fusing the two")
    fusion = fuse([bm25, dense], DEPTH)

    missing = missing_ids(documents)
    judgments = list(_judgment_lines(asked, frozenset(missing)))
    contents = {
        "documents.jsonl": (_json_line({"id": d.id, "text": d.text}) for d in documents),
        "queries.jsonl": (
            _json_line({"query_id": q.query_id, "text": q.text, "type": q.type, "need": q.need})
            for q in asked
        ),
        "qrels.txt": iter(judgments),
        "judgments.jsonl": (_json_line(row) for row in book() if row["doc_id"] not in missing),
        "guideline.md": iter([_guideline()]),
        "bm25.run": _run_lines(bm25, "bm25"),
        "dense.run": _run_lines(dense, "dense"),
        "fusion.run": _run_lines(fusion, "fusion"),
        "README.md": iter([_readme(len(documents), len(asked), len(judgments), missing)]),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in contents.items():
        tell(f"writing {name}")
        _write(folder / name, lines)
    return WrittenCollection(
        documents=len(documents),
        questions=len(asked),
        judgments=len(judgments),
        missing_ids=tuple(missing),
        python_version=platform.python_version(),
        paths=tuple(folder / name for name in contents),
    )


@cache
def _package_data() -> dict[str, Any]:
    """Read the package's `questions.json` once."""
    text = files("leadline.demo").joinpath("questions.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def _json_line(record: Mapping[str, Any]) -> str:
    """Return one line of a JSON Lines file."""
    return json.dumps(record, ensure_ascii=False) + "\n"


def _judgment_lines(asked: Iterable[Question], missing: frozenset[str]) -> Iterator[str]:
    """Yield TREC judgment lines: query id, 0, document id, grade."""
    for question in asked:
        for document_id, grade in question.judgments.items():
            if document_id not in missing:
                yield f"{question.query_id} 0 {document_id} {grade}\n"


def _run_lines(rankings: Mapping[str, Ranking], tag: str) -> Iterator[str]:
    """Yield TREC run lines: query id, Q0, document id, rank from 1, score in full precision, tag."""
    for query_id, ranking in rankings.items():
        for rank, (document_id, score) in enumerate(ranking, start=1):
            yield f"{query_id} Q0 {document_id} {rank} {score!r} {tag}\n"


def write_run(path: Path, rankings: Mapping[str, Ranking], tag: str) -> None:
    """Write rankings as a TREC run, whole or not at all."""
    _write(path, _run_lines(rankings, tag))


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write a text file whole or not at all."""
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(lines)


def _guideline() -> str:
    """Return what the judges went by, with a heading for each grade, lowest first."""
    meanings = sorted(about()["grades"].items())
    levels = "".join(
        f"\n## {grade} {meaning.split(',')[0]}\n\n{meaning[0].upper()}{meaning[1:]}.\n"
        for grade, meaning in meanings
    )
    return f"Read the question and what the asker wants by it, then the docstring; judge this text alone.\n{levels}"


def _readme(documents: int, asked: int, judgments: int, missing: Sequence[str]) -> str:
    """Return the text of the README that goes with the files."""
    notes = about()
    grades = "\n".join(f"- {grade}: {meaning}" for grade, meaning in notes["grades"].items())
    absent = (
        f"\nThis Python lacks {len(missing)} judged document{'s' if len(missing) > 1 else ''}, which "
        f"`qrels.txt` leaves out: {', '.join(f'`{name}`' for name in missing)}.\n"
        if missing
        else ""
    )
    return f"""# Search over Python's own docstrings

A small but real test collection: {asked} questions that Python programmers ask, asked of the {documents}
docstrings of the standard library of Python {platform.python_version()}, by three retrievers. All files in
this folder are made by `{COMMAND}`; run it again to replace them.

| File | What it is |
|---|---|
| `documents.jsonl` | One document per public module, class, function, method or property: `id`, `text` |
| `queries.jsonl` | The questions; keys `query_id`, `text`, `type`, `need` (what counts as an answer) |
| `qrels.txt` | {judgments} judgments in TREC form: query id, 0, document id, grade |
| `judgments.jsonl` | The same with who judged, when, and by which guideline: rows of a book of judgments |
| `guideline.md` | What the grades mean, as `leadline judge` shows it |
| `bm25.run` | Top {DEPTH} of BM25 (library bm25s), TREC form: query id, Q0, document id, rank, score, tag |
| `dense.run` | Top {DEPTH} of static dense embeddings (library wordllama), by cosine; same form |
| `fusion.run` | Reciprocal rank fusion of the two (k = {RRF_K}); same form |
| `report.html` | The measures of all three, to open in a browser |
| `comparison.html` | May dense replace bm25? The verdict, and how it came about |
| `comparison-withheld.html` | The same question without the judgments that only dense brought |
| `qrels-withheld.txt` | The judgments that are left then |
| `stages.html` | Index, retrieval, chunks and context from left to right, and where most is lost |
| `index-fidelity.html` | A real HNSW index (library usearch) against exact search; only where it is installed |
| `chunks.html` | Two chunkings against the same evidence |
| `context.html` | What of the evidence reached a context of 300 words |
| `stages` | A folder with what these stages read and wrote: vectors, evidence, chunks, runs of chunks, contexts |

## Try

    leadline evaluate bm25.run dense.run fusion.run --qrels qrels.txt --queries queries.jsonl --by type

The evidence of `stages.html` was not marked by hand: the judges graded whole docstrings, so each document judged 2 or
3 is evidence with its whole text. The page names the command that measures each stage again.

## Who judged, and how

Judged by {notes["judges"]}. What was judged:
{notes["pool"]}.
What was read: {notes["reading"]}.
The docstrings were those of Python {notes["judged_python"]}.
Note that {notes["unjudged"]}.

{grades}
{absent}
{asked} questions are few: expect wide intervals around the differences between these three retrievers.
"""

"""Three real retrievers for the demonstration: BM25, static dense embeddings, and the fusion of the two."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from leadline.demo.document import Document
from leadline.errors import MissingExtraError

Ranking = list[tuple[str, float]]
"""Document ids with their scores, best first; scores never rise from one entry to the next."""

RETRIEVERS = ("bm25", "dense", "fusion")

RRF_K = 60
"""The constant of reciprocal rank fusion; 60 is the value of the paper that introduced it."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

# Words that carry no meaning in a question. Python's own short words (`in`, `not`, `with`) are among them:
# as search terms they match nearly every docstring.
_STOP_WORD_TEXT = (
    "a an and are as at be but by can do does for from get has have how i if in into is it its me my"
    " no not of on one or should so such that the their then there these they this to use using was"
    " what when where which will with without you your"
)
_STOP_WORDS = frozenset(_STOP_WORD_TEXT.split())

# An embedding is a mean over the words of a text, so the long tail of a long docstring only blurs it.
_DENSE_CHARACTERS = 600
_DENSE_BATCH = 64


def search(
    name: str, documents: Sequence[Document], queries: Mapping[str, str], depth: int = 100
) -> dict[str, Ranking]:
    """Run one of `RETRIEVERS` over the documents and return the top `depth` documents of every query.

    `queries` maps query ids to texts. Scores are finite and best first; equal scores keep the order of the
    documents, so the same input always gives the same output. BM25 returns only documents that share a word
    with the query, which may be fewer than `depth`.

    Raises `MissingExtraError` if the library of the retriever is not installed, `ValueError` for another
    name.
    """
    if name == "bm25":
        return search_bm25(documents, queries, depth)
    if name == "dense":
        return search_dense(documents, queries, depth)
    if name == "fusion":
        both = [search_bm25(documents, queries, depth), search_dense(documents, queries, depth)]
        return fuse(both, depth)
    raise ValueError(f"unknown retriever {name!r}; known are {', '.join(RETRIEVERS)}")


def tokenize(text: str) -> list[str]:
    """Split text into lower-case search terms; identifiers give themselves and their pieces.

    Plural endings are taken off, so that `files` finds `file`; stop words are dropped.

    >>> tokenize("How do the DictReader rows of read_csv work?")
    ['dictreader', 'dict', 'reader', 'row', 'read_csv', 'read', 'csv', 'work']
    """
    terms: list[str] = []
    for word in _WORD.findall(text):
        lowered = word.lower()
        if lowered in _STOP_WORDS:
            continue
        terms.append(_singular(lowered))
        pieces = _PIECE.findall(word)
        if len(pieces) > 1:
            terms.extend(_singular(piece.lower()) for piece in pieces)
    return terms


def require_libraries() -> None:
    """Raise `MissingExtraError` where a library of the retrievers is not installed, before any work is done."""
    for library in ("bm25s", "wordllama"):
        if find_spec(library) is None:
            raise MissingExtraError(f"the demonstration (its library {library})", "demo")


def search_bm25(
    documents: Sequence[Document], queries: Mapping[str, str], depth: int = 100
) -> dict[str, Ranking]:
    """Rank by BM25 (Lucene's form, k1 = 1.5, b = 0.75) over the terms of `tokenize`; see `search`."""
    with _quiet_logging():
        try:
            import bm25s
        except ImportError as error:
            raise MissingExtraError("the BM25 retriever of the demonstration", "demo") from error
        index = bm25s.BM25(k1=1.5, b=0.75, method="lucene", backend="numpy")
        index.index([tokenize(document.text) for document in documents], show_progress=False)
    ids = [document.id for document in documents]
    rankings: dict[str, Ranking] = {}
    for query_id, text in queries.items():
        known = [term for term in tokenize(text) if term in index.vocab_dict]
        # All scores are read and sorted here: the library's own top-k picks among equal scores at random.
        scores = index.get_scores(known) if known else np.zeros(len(documents), dtype=np.float32)
        ranking = _ranked(ids, scores, depth)
        rankings[query_id] = [(document_id, score) for document_id, score in ranking if score > 0.0]
    return rankings


def search_dense(
    documents: Sequence[Document], queries: Mapping[str, str], depth: int = 100
) -> dict[str, Ranking]:
    """Rank by the cosine between static word embeddings averaged over each text; see `search`.

    The weights come with the library's wheel. Nothing is ever downloaded.
    """
    matrix, vectors = dense_vectors(documents, list(queries.values()))
    return _nearest([document.id for document in documents], matrix, vectors, queries, depth)


def search_chunks(
    chunks: Mapping[str, str], queries: Mapping[str, str], depth: int = 100
) -> dict[str, Ranking]:
    """Rank texts, by id, as `search_dense` ranks documents, except that all of a text is embedded and nothing else.

    A chunk has no name of its own, and what it is cut from is not put into it.
    """
    model = _load_embeddings()
    matrix, vectors = _embed(model, list(chunks.values())), _embed(model, list(queries.values()))
    return _nearest(list(chunks), matrix, vectors, queries, depth)


def _nearest(
    ids: Sequence[str],
    matrix: np.ndarray[Any, Any],
    vectors: np.ndarray[Any, Any],
    queries: Mapping[str, str],
    depth: int,
) -> dict[str, Ranking]:
    similarities = vectors @ matrix.T
    return {query_id: _ranked(ids, similarities[row], depth) for row, query_id in enumerate(queries)}


def dense_vectors(
    documents: Sequence[Document], queries: Sequence[str]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The embeddings that `search_dense` compares, each of length 1: of the documents and of the queries."""
    model = _load_embeddings()
    return _embed(model, [_dense_text(document) for document in documents]), _embed(model, list(queries))


def fuse(runs: Sequence[Mapping[str, Ranking]], depth: int = 100, k: int = RRF_K) -> dict[str, Ranking]:
    """Join rankings by reciprocal rank fusion: a document scores the sum of 1 / (k + rank) over the runs.

    Ranks start at 1; a run that lacks the document adds nothing. Equal scores are ordered by document id.

    >>> fuse([{"q": [("a", 9.0), ("b", 8.0)]}, {"q": [("b", 0.5)]}], k=60)["q"][0][0]
    'b'
    """
    fused: dict[str, Ranking] = {}
    for query_id in {query_id: None for run in runs for query_id in run}:
        totals: dict[str, float] = {}
        for run in runs:
            for rank, (document_id, _) in enumerate(run.get(query_id, []), start=1):
                totals[document_id] = totals.get(document_id, 0.0) + 1.0 / (k + rank)
        fused[query_id] = sorted(totals.items(), key=lambda item: (-item[1], item[0]))[:depth]
    return fused


def _singular(term: str) -> str:
    """Take a plural ending off an English word: `entries` gives `entry`, `files` gives `file`.

    Short words and those in -ss, -us or -is (`class`, `status`, `this`) stay whole.
    """
    if len(term) <= 3 or not term.endswith("s") or term.endswith(("ss", "us", "is")):
        return term
    if term.endswith("ies") and len(term) > 4:
        return term[:-3] + "y"
    return term[:-1]


def _ranked(ids: Sequence[str], scores: np.ndarray[Any, Any], depth: int) -> Ranking:
    """Return the ids and scores of the `depth` best texts; equal scores keep the texts' order."""
    order = np.argsort(-scores, kind="stable")[:depth]
    return [(ids[int(row)], float(scores[row])) for row in order]


def _load_embeddings() -> Any:
    """Load the embedding model from the files inside its own package.

    Raises `MissingExtraError` if the library is not installed.
    """
    with _quiet_logging():
        try:
            import wordllama
        except ImportError as error:
            raise MissingExtraError("the dense retriever of the demonstration", "demo") from error
        # The package looks for its tokenizer in a folder it does not have ("tokenizer", not "tokenizers") and
        # would go to the network; naming the package itself as the cache makes it find its own file.
        folder = Path(wordllama.__file__).parent
        return wordllama.WordLlama.load("l2_supercat", cache_dir=folder, dim=256, disable_download=True)


def _dense_text(document: Document) -> str:
    """Return the part of a document that is embedded: its name as words, then the start of its docstring."""
    name = " ".join(" ".join(_PIECE.findall(part)) for part in document.id.split("."))
    docstring = document.text.partition("\n\n")[2]
    return f"{name}: {docstring}"[:_DENSE_CHARACTERS]


def _embed(model: Any, texts: list[str]) -> np.ndarray[Any, Any]:
    """Return unit vectors, one row of 256 floats per text; a text without known words gives zeros."""
    vectors = np.zeros((len(texts), model.embedding.shape[1]), dtype=np.float64)
    # Texts of like length share a batch, because every batch is padded to its longest text.
    order = sorted(range(len(texts)), key=lambda row: (len(texts[row]), row))
    for start in range(0, len(order), _DENSE_BATCH):
        rows = order[start : start + _DENSE_BATCH]
        vectors[rows] = model.embed([texts[row] for row in rows])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: np.ndarray[Any, Any] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0.0)
    return unit


@contextmanager
def _quiet_logging() -> Iterator[None]:
    """Undo what an import does to the root logger: the embedding library sets it up for the whole process."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers

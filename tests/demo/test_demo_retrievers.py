"""The three retrievers; those that need an optional library are skipped where it is missing."""

import importlib.util
import logging
import math
import os
import sys

import pytest

from leadline.demo.collection import build_documents
from leadline.demo.document import Document
from leadline.demo.retrievers import fuse, search, search_bm25, search_dense, tokenize
from leadline.errors import MissingExtraError

REQUIRE_ALL = os.environ.get("LEADLINE_REQUIRE_ALL") == "1"
MISSING = [name for name in ("bm25s", "wordllama") if importlib.util.find_spec(name) is None]
needs_libraries = pytest.mark.skipif(
    bool(MISSING) and not REQUIRE_ALL, reason=f"not installed: {', '.join(MISSING)} (extra 'demo')"
)

QUERIES = {
    "largest": "n largest elements",
    "tree": "recursively copy a directory tree",
    "name": "DictWriter writeheader",
    "close": "are two floating point numbers close in value",
}
OBVIOUS = {"largest": "heapq.nlargest", "tree": "shutil.copytree", "close": "math.isclose"}


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return build_documents()


def test_tokenize_splits_identifiers_and_plurals() -> None:
    assert tokenize("DictReader") == ["dictreader", "dict", "reader"]
    assert tokenize("os.path.join_all(files)") == ["os", "path", "join_all", "join", "all", "file"]
    assert tokenize("HTTPServer entries class status") == [
        "httpserver", "http", "server", "entry", "class", "status",
    ]  # fmt: skip
    assert tokenize("how do I use the") == []
    assert tokenize("") == []


def test_fusion_by_hand() -> None:
    first = {"q": [("a", 9.0), ("b", 5.0), ("c", 1.0)]}
    second = {"q": [("c", 0.9), ("a", 0.8)]}
    # a: ranks 1 and 2: 1/61 + 1/62 = 0.0163934426... + 0.0161290322... = 0.0325224748...
    # c: ranks 3 and 1: 1/63 + 1/61 = 0.0158730158... + 0.0163934426... = 0.0322664585...
    # b: rank 2 only:   1/62                                          = 0.0161290322...
    fused = fuse([first, second], depth=100, k=60)["q"]
    assert [document_id for document_id, _ in fused] == ["a", "c", "b"]
    assert [score for _, score in fused] == pytest.approx(
        [0.03252247488, 0.03226645849, 0.01612903226], abs=1e-11
    )


def test_fusion_edges() -> None:
    assert fuse([], depth=5) == {}
    assert fuse([{"q": []}, {}], depth=5) == {"q": []}
    # equal scores: by document id; depth cuts after the order is made
    assert fuse([{"q": [("z", 1.0)]}, {"q": [("a", 1.0)]}], depth=1)["q"] == [("a", 1 / 61)]
    # a query that only one run knows is kept, in the order of the runs
    assert list(fuse([{"q2": [("a", 1.0)]}, {"q1": [("a", 1.0)], "q2": []}])) == ["q2", "q1"]


def test_unknown_retriever(documents: list[Document]) -> None:
    with pytest.raises(ValueError, match="unknown retriever 'tfidf'; known are bm25, dense, fusion"):
        search("tfidf", documents[:5], {"q": "x"})


@pytest.mark.parametrize(("module", "run"), [("bm25s", search_bm25), ("wordllama", search_dense)])
def test_missing_library_names_the_extra(monkeypatch, documents, module, run) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # makes `import` raise ImportError
    with pytest.raises(MissingExtraError, match=r'pip install "leadline\[demo\]"'):
        run(documents[:5], {"q": "x"})


@needs_libraries
@pytest.mark.parametrize("name", ["bm25", "dense", "fusion"])
def test_retriever_is_sound(documents: list[Document], name: str) -> None:
    found = search(name, documents, QUERIES, depth=100)
    assert list(found) == list(QUERIES)
    ids = {document.id for document in documents}
    for query_id, ranking in found.items():
        assert 0 < len(ranking) <= 100
        assert len({document_id for document_id, _ in ranking}) == len(ranking)
        assert {document_id for document_id, _ in ranking} <= ids
        scores = [score for _, score in ranking]
        assert all(type(score) is float and math.isfinite(score) for score in scores)
        assert scores == sorted(scores, reverse=True)
        if query_id in OBVIOUS:
            assert OBVIOUS[query_id] in [document_id for document_id, _ in ranking[:5]]
    assert search(name, documents, QUERIES, depth=100) == found


@needs_libraries
def test_queries_without_any_known_word(documents: list[Document]) -> None:
    odd = {"empty": "", "stop": "how do I", "unknown": "qqqqzzzz xxyyzz", "fine": "socket"}
    by_words = search("bm25", documents, odd, depth=10)
    assert [len(by_words[query_id]) for query_id in odd] == [0, 0, 0, 10]
    by_meaning = search("dense", documents, odd, depth=10)
    assert all(math.isfinite(score) for ranking in by_meaning.values() for _, score in ranking)
    assert search("bm25", documents, {}) == search("dense", documents, {}) == {}


@needs_libraries
def test_few_documents_and_equal_scores_keep_their_order() -> None:
    twins = [Document(f"m.f{number}", "m.f\n\nopen a socket", "function", "m") for number in range(3)]
    for name in ("bm25", "dense", "fusion"):
        ranking = search(name, twins, {"q": "socket"}, depth=100)["q"]
        assert [document_id for document_id, _ in ranking] == ["m.f0", "m.f1", "m.f2"]


@needs_libraries
def test_root_logger_is_left_as_it_was(documents: list[Document]) -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    search("fusion", documents[:50], {"q": "socket"})
    assert (root.level, list(root.handlers)) == before

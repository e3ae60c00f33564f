"""Recognising the formats of other tools by content, where it is sure; elsewhere the user names them."""

import re

from leadline.formats.lists import Kind
from leadline.formats.sniff import has_trec_columns
from leadline.formats.source import BOM

LTR_LINE = re.compile(r"[+-]?[\d.]+(?:e[+-]?\d+)? qid:\S+ (?:.* )?#", re.IGNORECASE)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]')
_MARKS = (
    b"requests", b"details", b"topics", b"query_groups", b"queries", b"query_doc_pairs", b"judgmentRatings",
    b"querySetQueries", b"queryText", b"documentIds", b"expectedOutput", b"docId", b"_response_kg", b"summary", b"model1",
)  # fmt: skip


def recognise_tool(head: bytes, kind: Kind) -> str | None:
    r"""The name of the tool's format that a file surely has, from its first bytes; else None.

    >>> recognise_tool(b"query,docid,rating\n", "judgments"), recognise_tool(b"1\t7\t1\n1\t9\t2\n", "run")
    ('quepid', 'msmarco')
    >>> recognise_tool(b".I 1\n.W\nof wings\n", "queries"), recognise_tool(b"1\n 12 7\n/\n", "judgments")
    ('smart', 'npl-judgments')
    >>> recognise_tool(b'{"requests": [{"id": "q", "ratings": []}]}', "judgments")
    'rank_eval'
    """
    start = head.removeprefix(BOM).lstrip()
    if start[:1] in (b"{", b"["):
        return _json(start) if any(mark in head for mark in _MARKS) else None
    first = start.partition(b"\n")[0].rstrip(b"\r").decode("utf-8", errors="replace")
    own = collection_kind(start)
    if own is not None:
        return own
    if "," in first:
        # An id of TREC may be any text without white space, a header's words too.
        whole = start.decode("utf-8", errors="replace")
        return None if has_trec_columns(whole) else _header(first, kind)
    if LTR_LINE.match(first):
        return "ltr"
    if kind == "run" and first.count("\t") == 2 and _ranks(head):
        return "msmarco"
    return None


def collection_kind(head: bytes) -> str | None:
    """`smart`, `npl` or `npl-judgments` where a file begins as the old collections do, whatever it is read as; else None."""
    if head[:1] != b"." and not head.lstrip()[:1].isdigit():
        return None
    from leadline.formats.npl import npl_kind
    from leadline.formats.smart import is_smart

    return "smart" if is_smart(head) else npl_kind(head)


def _header(first: str, kind: Kind) -> str | None:
    """The format of Quepid that a header belongs to."""
    lowered = first.lower()
    if lowered.startswith(("snapshot name", '"snapshot name"')):
        return "quepid-snapshot"
    if not lowered.startswith(("query", '"query"')):
        return None
    if lowered.replace('"', "") in ("query,information_need", "query,information need"):
        return "quepid-needs"
    from leadline.formats.quepid import quepid_kind

    found = quepid_kind(f"{first}\n".encode())
    # Any two further columns could be judges; only where judgments are wanted is it sure.
    return found if found == "quepid" or kind == "judgments" else None


def _json(start: bytes) -> str | None:
    keys = keys_by_depth(start.decode("utf-8", errors="replace"))
    top, below = keys.get(1, set()), keys.get(2, set())
    every = set().union(*keys.values()) if keys else set()
    tests = (
        ("rank_eval", "requests" in top and ("ratings" in below or "metric" in top)),
        ("rank_eval-response", "details" in top and bool({"metric_score", "quality_level"} & top)),
        ("quepid-book", "query_doc_pairs" in top),
        ("quepid-json", "queries" in top and {"query", "ratings"} <= below),
        ("rre", "topics" in top and "query_groups" in below),
        ("rre", "query_groups" in top or ("queries" in top and "relevant_documents" in below)),
        ("opensearch", "judgmentRatings" in every or ({"query", "ratings"} <= top and "docId" in below)),
        ("opensearch-results", {"documentIds", "searchText"} <= top or {"documentIds", "searchText"} <= every),
        ("opensearch-queries", "querySetQueries" in every or "queryText" in top),
        ("refchecker", "response" in top and any(key.endswith("_response_kg") for key in top)),
        ("faithbench", "samples" in top and {"source", "summary"} <= below),
        ("ragchecker-meta", {"query", "model1", "model2"} <= top),
        ("langfuse", "expectedOutput" in top and bool({"datasetId", "datasetName", "sourceTraceId"} & top)),
    )  # fmt: skip
    return next((name for name, sure in tests if sure), None)


def keys_by_depth(text: str) -> dict[int, set[str]]:
    """The keys of the objects in the beginning of a JSON text by how many objects stand around them.

    >>> keys_by_depth('[{"a": {"b": "c"}, "d')
    {1: {'a'}, 2: {'b'}}
    """
    found: dict[int, set[str]] = {}
    depth = 0
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word == "{":
            depth += 1
        elif word == "}":
            depth -= 1
        elif re.match(r"\s*:", text[token.end() : token.end() + 16]):
            found.setdefault(depth, set()).add(word[1:-1])
    return found


def _ranks(head: bytes) -> bool:
    """True where every line is an id, an id and a rank, and each query's ranks count from 1."""
    lines = head.decode("utf-8", errors="replace").split("\n")
    # The last line may be cut, or is what follows the last line end.
    whole = lines[:-1] if len(lines) > 1 else lines
    query, rank = None, 0
    for line in whole:
        fields = line.rstrip("\r").split("\t")
        if len(fields) != 3 or not re.fullmatch("[1-9][0-9]*", fields[2]):
            return False
        rank = rank + 1 if fields[0] == query else 1
        query = fields[0]
        if int(fields[2]) != rank:
            return False
    return True

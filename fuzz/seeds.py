"""What the fuzzer begins with: a small right file of every format, and the words that such files are made of."""

import gzip
import io
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fuzz.case import GZIP, ZSTD, Case
from fuzz.readers import BY_NAME, Target

RUN = (
    "q1 Q0 d1 1 2.5 a\nq1 Q0 d2 2 1e-3 a\nq2\tQ0  d1 1 inf a b\r\n",
    '{"query_id": "q1", "doc_id": "d1", "score": 1.5, "rank": 1}\n{"query_id": "q2", "error": "timeout"}\n',
    '{"qid": 7, "docno": "d\\u00e9", "score": -1e3}\n{"query_id": "q3", "doc_ids": []}\n',
    '{"q1": {"d1": 2.0, "d2": 1}, "q2": ["d1", "d2"]}',
    '[{"query_id": "q1", "doc_id": "d1", "score": 1}]',
    'query_id,doc_id,score,rank\nq1,d1,2.5,1\nq1,"d,2",1,2\n',
    "qid\tdocno\tscore\nq1\td1\t2.5\n",
)
QRELS = (
    "q1 0 d1 2\nq1 0 d2 0\n# a comment\nq2 0 d1 -1\n",
    "q1 0 d1 a 1\nq1 0 d2 b 0.5\n",
    '{"query_id": "q1", "doc_id": "d1", "grade": 1, "subtopic": "s", "stratum": "top", "probability": 0.5}\n',
    '{"query_id": "q1", "doc_id": "d1", "relevance": null}\n{"query_id": "q1", "doc_id": "d2", "relevance": 2}\n',
    '{"q1": {"d1": 2}, "q2": ["d1"]}',
    "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    "query_id,iteration,doc_id,grade\nq1,0,d1,1\n",
)
QUERIES = (
    "q1\twhat is it\nq2\twhere\n",
    '{"query_id": "q1", "text": "what is it", "type": "long", "n": 3}\n{"_id": "q2", "text": "where", "metadata": {}}\n',
    '{"q1": "what is it", "q2": "where"}',
    'query_id,text,type\nq1,"what, ""is"" it",a\nq2,where,b\n',
)
RAG = (
    '{"user_input": "what", "retrieved_context_ids": ["a", "b"], "reference_context_ids": ["a"], "reference": "r"}\n',
    '{"query_id": "q1", "question": "what", "retrieved_ids": ["a"], "scores": [0.5], "reference_ids": ["a", ["b", "c"]]}\n',
    '{"results": [{"query_id": "q1", "query": "what", "retrieved_context": [{"doc_id": "a", "text": "t"}]}]}',
    '{"input": "what", "retrieval_context": ["text of a"], "context": ["text of a"], "expected_output": "o"}\n',
    "query_id,question,retrieved_ids,reference_ids\nq1,what,\"['a', 'b']\",\"['a']\"\nq2,where,[],[]\n",
)
DOCUMENTS = (
    '{"id": "d1", "text": "one", "title": "t", "url": "https://example.org/a", "image": "https://images.example.org/a.png"}\n',
    '{"id": "d2", "text": "two", "document_id": "d1", "start": 3, "end": 6, "number": 1.5}\n',
    '{"_id": "d1", "text": "one"}\n{"_id": "d2", "text": "größer 😀"}\n',
    'id,text\nd1,"one\ntwo"\nd2,two\n',
    ".I d1\n.T\nt\n.W\none\n.I d2\n.W\n",
    "1\none\n/\n2\ntwo\n/\n",
)
EVIDENCE = (
    '{"query_id": "q1", "document_id": "d1", "start": 3, "end": 6, "quote": "two", "grade": 2, "note": "n"}\n',
    "query_id,document_id,start,end\nq1,d1,3,6\n",
)
CHUNKS = (
    '{"chunk_id": "c1", "document_id": "d1", "start": 4, "end": 7, "text": "two"}\n'
    '{"id": "c2", "document_id": "d2", "text": "😀"}\n',
    "chunk_id,document_id,start,end\nc1,d1,0,3\n",
)
CONTEXTS = (
    '{"query_id": "q1", "context_ids": ["a"], "contexts": ["text of a"], "dropped": {"b": "budget", "c": null}}\n',
    '{"question": "what", "contexts": [{"id": "a", "text": "t"}, "u"]}\n{"query_id": "q2", "error": "timeout"}\n',
)
BOOK = (
    '{"query_id": "q1", "doc_id": "d1", "grade": 1, "who": "ana", "kind": "person", "when": "2026-01-02T03:04:05Z", '
    '"guideline": "g", "note": "n", "evidence": [{"start": 1, "end": 2}]}\n',
    '{"query_id": "q1", "doc_id": "d1", "mark": "unsure", "who": "m", "kind": "model", "model": {"name": "m"}}\n',
    '{"id": "a", "query_id": "q1", "doc_id": "d1", "undoes": "b", "who": "ana"}\n',
    *QRELS[:1],
)
TOML = 'method = "POST"\nurl = "http://localhost/search"\n[body]\nq = "{query}"\nsize = "{k}"\n[map]\nids = "hits[*].id"\n'
TEMPLATE = {
    "url": "http://localhost/search", "method": "POST", "headers": {"Accept": "application/json"},
    "body": {"vector": "{vector}", "k": "{k}"}, "ids": "hits.*.id", "settings": {"ef": 3}, "timeout": 5,
}  # fmt: skip
PINNED = {
    "kind": "leadline-baseline", "form": 1, "version": "0.1.0", "date": "2026-01-31", "commit": None, "gated": 0, "system": "a",
    "measures": ["RR"], "switches": {"profile": "leadline-1"}, "max_grade": 1.0, "depth": 100, "run_path": None,
    "run_sha256": None, "corpus_sha256": None, "empty": [], "failed": {}, "query_hashes": {"q": "0123456789abcdef"},
    "rankings": {"q": [["b", "a"], [2.0, 1.0]]}, "judgments": {"q": {"1.0": ["a"], "0.0": ["b"]}},
}  # fmt: skip
SETTINGS = (
    'qrels = "qrels.txt"\nmeasures = ["nDCG@10", "P(rel=2)@5"]\nk = 5\nbounds = true\nmax_grade = 3\n'
    '[gate]\nbaseline = "b.json"\nmust_pass = ["q1"]\nby = "type"\nalpha = 0.05\nseed = 1\nerror_share = 0.1\n'
    '[[gate.rule]]\nmeasure = "ndcg@10"\nmargin = 0.02\nslice = "long"\n'
    '[[gate.rule]]\nmeasure = "RR"\nmust = "improve"\ngain = 0.01\n',
)
CARD = (
    '{"kind": "model", "judge": {"model": "m", "prompt": "p", "parameters": {"t": 0}}, "labels": 3, "made": "2026"}',
)
CERTIFICATE = (Path(__file__).with_name("certificate.json").read_text(encoding="utf-8"),)
"""As `leadline certify --write` made it of four pairs."""
PROMPT = (
    "---\nname: own\nversion: 2\ngrades:\n  0: no\n  1: yes\n---\n\n"
    "## system\n\nGrade. {grades}\n\n## user\n\n{query} {need}\n\n{passages}\n",
)
MAPPING = ('{"chunk_id": "d#1", "document_id": "d", "start": 0}\n', "chunk_id,document_id\nc1,d\nc2,d\n")
REPLAY = (
    '{"replies": 1, "model": "m", "endpoint": "http://127.0.0.1:8080/v1", "parameters": {"temperature": 0}}\n'
    '{"key": "' + "0" * 64 + '", "reply": {"text": "{}", "model": "m", "finish": "stop", "prompt_tokens": 3, '
    '"completion_tokens": null}}\n',
)
SMART = (
    ".I 1\n.T\nwings\n.A\na,b.\n.B\nj. 1\n.W\nof wings\n  in wind .\n.I 2\n.W\n.X\n1 2 3\n",
    ".I 001\n.W\nwhat is wind .\n.I 004\n.W\nwhy\r\n",
    "1 184 2 \n1 29 1\n2 7 -1\n",
)
NPL = ("1\nkites rise\nin wind\n   /\n2\n/\n", "1\n 12  7\n 9\n   /\n3\n/\n2\n 7\n")
LABELLED = (
    '[{"id": "7", "response": "Kites are red.", "m_response_kg": [{"triplet": ["kites", "are", "red"], '
    '"human_label": "Neutral"}]}, {"id": 8, "response": "", "m_response_kg": []}]',
    '{"samples": [{"sample_id": 0, "source": "it: blue", "summary": "a kite", "annotations": [{"annotator_id": "a", '
    '"label": ["Benign"], "note": "n", "summary_span": "kite", "summary_start": 2, "summary_end": 6, "source_span": "it", '
    '"source_start": 0, "source_end": 2}], "metadata": {"summarizer": "m", "raw_sample_id": 1, "hhem": 0.5}}]}',
    '[{"instance_id": 0, "dataset": "d", "query_id": "1", "query": "why", "gt_answer": "wind", '
    '"model1": {"model_name": "a", "response": "wind", "ragchecker": {"overall_label": 0.5}}, '
    '"model2": {"model_name": "b", "response": ""}, "overall_label": -2}]',
)
RULES = ("# Guideline\n\n## 0: off topic\n\nNothing.\n\n**Example:** x\n\n## 1 – related\n\nSome.\n",)
TEXTS: dict[str, tuple[str, ...]] = {
    "run": RUN, "qrels": QRELS, "queries": QUERIES, "rag": RAG, "documents": DOCUMENTS, "evidence": EVIDENCE,
    "chunks": CHUNKS, "contexts": CONTEXTS, "book": BOOK, "settings": SETTINGS, "card": CARD, "rules": RULES,
    "certificate": CERTIFICATE, "prompt": PROMPT, "mapping": MAPPING, "replay": REPLAY,
    "neighbours": ('{"query_id": "q1", "ids": ["a", 7]}\n{"query_id": "q2", "error": "timeout"}\n',),
    "to-judge": ('{"query_id": "q1", "doc_id": "d1", "ranks": {"a": 1}, "query": "what", "probability": 0.5}\n', *QUERIES),
    "collected": ('{"query_id": "q1", "query": "one", "retrieved_ids": ["a"], "scores": [1.0], "ms": 3}\n',
                  '{"query_id": "q2", "error": "timeout"}\n'),
    "journal": ('{"collecting": "a", "identity": "b"}\n{"query_id": "q1", "error": "timeout"}\n{"query_id": "q2", "retri',),
    "systems": (TOML, json.dumps({"url": "http://localhost/?q={query}", "map": {"ids": "hits[*].id"}}),
                json.dumps({"index": "a", "query": '{"query": {"match": {"t": "%SearchText%"}}}', "searchPipeline": "p"})),
    "index": (json.dumps(TEMPLATE),),
    "smart": SMART, "npl": NPL, "labelledfiles": LABELLED,
    "raw": ("text\n", "\ufefftext\n"),
    "vectors": ("a\nb\n",),
}  # fmt: skip
"""Right files by target; those of other tools are written by their writers, where they have any."""

SPECIAL = (
    "NaN", "-Infinity", "1e999", "null", "true", "false", r"\\u0000", r"\\ud800", r"\x00", r"\xef\xbb\xbf", r"\xff\xfe", "PAR1",
    r"\x1f\x8b", r"\x28\xb5\x2f\xfd", r"\xe2\x80\xa8", r"\x85", "[[[[[[[[", "{}", "[]",
    r"\"\"", r"\x0b", r"\x0d", "9223372036854775808",
    "1_0", "-0", "row", "*", "^row$",
)  # fmt: skip


def seeds(target: Target) -> list[bytes]:
    """The inputs that a target's campaign begins with."""
    made = []
    for number, content in enumerate(_contents(target.name)):
        endings = {_ending(target, content), 0}
        made += [
            Case(content, one, 0, switches).to_bytes() for one in endings for switches in (number * 7, 1)
        ]
        made.append(Case(content, 0, GZIP if number % 2 else ZSTD).to_bytes())
    return list(dict.fromkeys(made))


def words() -> list[str]:
    """Words of such files, as a dictionary of libFuzzer has them."""
    texts = [content for name in BY_NAME for content in _contents(name)]
    plain = {word.decode() for text in texts for word in re.findall(rb"[A-Za-z_][A-Za-z_0-9-]{2,23}", text)}
    return [*sorted(plain), *SPECIAL]


@cache
def _contents(name: str) -> tuple[bytes, ...]:
    own = [text.encode() for text in TEXTS.get(name, ())]
    return (*own, *_binary(name), *(_of_tools(name) if name not in TEXTS else ()))


def _ending(target: Target, content: bytes) -> int:
    """The number of the ending that fits the content, 0 where none says so."""
    if content.startswith(b"PAR1") and ".parquet" in target.endings:
        return target.endings.index(".parquet")
    wanted = (
        ".json"
        if content[:1] in b"[{" and content.count(b"\n") < 1
        else ".toml"
        if b" = " in content
        else ".txt"
    )
    return target.endings.index(wanted) if wanted in target.endings else 0


def _binary(name: str) -> Iterator[bytes]:
    """Parquet, arrays and packed files."""
    import numpy as np
    import polars as pl

    tables: dict[str, dict[str, Any]] = {
        "run": {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "score": [2.0, 1.0]},
        "qrels": {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "grade": [2, 0]},
        "queries": {"query_id": ["q1"], "text": ["what"]},
        "rag": {
            "query_id": ["q1"],
            "question": ["what"],
            "retrieved_ids": [["a", "b"]],
            "reference_ids": [["a"]],
        },
        "documents": {"id": ["d1", "d2"], "text": ["one", "two"]},
        "vectors": {"id": ["a", "b"], "vector": [[1.0, 0.0], [0.0, 1.0]]},
        "ranxfile": {"q_id": ["q1"], "doc_id": ["a"], "score": [1.0]},
    }
    if name in tables:
        out = io.BytesIO()
        pl.DataFrame(tables[name]).write_parquet(out, compression="uncompressed", statistics=False)
        yield out.getvalue()
    if name == "vectors":
        out = io.BytesIO()
        np.save(out, np.eye(2, dtype=np.float32))
        yield out.getvalue()
    if name == "baseline":
        yield json.dumps(PINNED).encode()
        yield gzip.compress(json.dumps(PINNED).encode(), mtime=0)
    if name == "raw":
        import zstandard

        yield gzip.compress(b"text\n", mtime=0)
        yield zstandard.ZstdCompressor().compress(b"text\nmore\n")


def _of_tools(module: str) -> Iterator[bytes]:
    """What the writers of a module's formats write."""
    from leadline.formats.lists import Asked, Graded, Held, Hit
    from leadline.formats.tools import TABLE, write_tool

    asked = (Asked("a query", "a query", {"information_need": "n", "notes": "o"}), Asked("q2", "=1"))
    graded = (
        Graded("a query", "d1", 2.0, "ana", "note"), Graded("a query", "d2", None, "ben", "", "unsure"),
        Graded("q2", "d1", 0.0, "ben"),
    )  # fmt: skip
    hits = (Hit("q1", "d1", 2.0), Hit("q1", "d2", 1.0), Hit("q2", "d1", 0.5))
    with TemporaryDirectory() as folder:
        for tool in TABLE:
            for kind in tool.writes if tool.module == module else ():
                held = Held(
                    tool.keyed,
                    graded if kind == "judgments" else (),
                    hits if kind == "run" else (),
                    asked if kind != "run" else (),
                )
                path = Path(folder, f"a{tool.ending}")
                write_tool(tool.name, held, path)
                yield path.read_bytes()

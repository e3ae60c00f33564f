"""What a format would lose of a table, said before it is written: the table's features against what the format keeps."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leadline.errors import UnknownNameError, amount
from leadline.formats.heldtables import ranked
from leadline.formats.lists import Held, Kind
from leadline.formats.tools import BY_NAME
from leadline.tables import DESIGN, Qrels, Queries

if TYPE_CHECKING:
    import polars as pl

    from leadline.tables import RunSource

SAMPLED = "subtopic stratum probability alternatives"
OWN: dict[Kind, dict[str, str]] = {
    "judgments": {
        "trec": "fraction subtopic stratum",
        "trec-sampled": "fraction stratum",
        "jsonl": f"fraction space {SAMPLED}",
        "csv": f"fraction space {SAMPLED}",
        "tsv": f"fraction space {SAMPLED}",
        "parquet": f"fraction space {SAMPLED}",
        "beir": "fraction space text need more remarks query",
        "book": "fraction space judges note mark broken stratum probability",
    },
    "run": {
        "trec": "score",
        "jsonl": "space score empty failed",
        "csv": "space score",
        "tsv": "space score",
        "parquet": "space score",
    },
    "queries": dict.fromkeys(("jsonl", "csv", "tsv", "parquet", "beir"), "space text need more remarks"),
}
"""What the formats of the house keep. A BEIR folder is written with its queries, a book with every judge's word."""

SPACE = re.compile(r"[ \t\n\r\x0b\x0c]")

WORDS: dict[str, tuple[str, str, str]] = {
    "fraction": ("grade with a fraction", "grades with a fraction", "it holds whole grades only, and refuses these"),
    "blank": ("pair that is not judged", "pairs that are not judged", "left out"),
    "judges": ("name of a judge", "names of judges", "it does not say who judged"),
    "note": ("note of a judge", "notes of judges", "left out"),
    "broken": ("mark `broken`", "marks `broken`", "it is written as a pair that cannot be rated"),
    "remarks": ("field of notes or options", "fields of notes or options", "left out"),
    "mark": ("mark (unsure, skip, broken)", "marks (unsure, skip, broken)", "left out"),
    "space": ("id with white space", "ids with white space", "fields are apart at white space there; refused unless escaped"),
    "text": ("text of a query", "texts of queries", "it names queries by id; write the queries beside it"),
    "need": ("information need", "information needs", "left out"),
    "more": ("further field of queries", "further fields of queries", "left out"),
    "score": ("score", "scores", "it keeps the order alone"),
    "empty": ("empty answer", "empty answers", "left out: such queries count as not answered"),
    "failed": ("failed query", "failed queries", "it cannot say that a query failed, and refuses these"),
    "query": ("query without a document", "queries without a document", "left out"),
    "subtopic": ("subtopic", "subtopics", "left out"),
    "stratum": ("stratum of a sampled pool", "strata of a sampled pool", "left out"),
    "probability": ("probability of a sampled pool", "probabilities of a sampled pool", "left out"),
    "alternatives": ("document's need", "documents' needs", "of those that meet one need only the first is written"),
    "ungraded": ("pair without a grade", "pairs without a grade", "not judged, left out"),
    "lists": ("field of queries with a list or object", "fields of queries with lists or objects", "left out"),
    "passages": ("field of passages", "fields of passages", "left out"),
    "fields": ("pair's document fields", "document fields of pairs", "left out"),
    "columns": ("column of document fields", "columns of document fields", "left out"),
    "features": ("line of features", "lines of features", "left out"),
    "placeholders": ("further placeholder of queries", "further placeholders of queries", "left out"),
    "contexts": ("context of an answer with several", "contexts of answers with several", "left out"),
    "claims": ("claim", "claims", "left out but for their number, as each row is an answer"),
    "labels": ("label", "labels", "left out"),
    "sections": ("item's author or bibliography", "items' authors or bibliographies", "left out"),
    "others": ("section .K, .N, .C or .X", "sections .K, .N, .C or .X", "left out"),
    "archived": ("archived item", "archived items", "left out"),
    "id": ("query id", "query ids", "it names queries by their text; the ids come back with --queries"),
}  # fmt: skip


def losses(kind: Kind, table: "Held | Qrels | Queries | RunSource", form: str) -> list[str]:
    """What a file in the format `form` would not keep, one sentence each; empty where nothing is lost.

    Raises
    ------
    UnknownNameError: no such format, or one that does not hold that kind.

    >>> from leadline.formats.lists import Graded
    >>> losses("judgments", Held("text", (Graded("star trek", "d1", 2, note="the series"),)), "quepid")
    ['quepid loses 1 note of a judge: left out']
    """
    return list(lost(kind, features(kind, table), form).values())


REFUSED = ("fraction", "space", "failed")
"""What is not left out by a format that cannot keep it: it is not written at all."""


def lost(kind: Kind, found: Mapping[str, int], form: str) -> dict[str, str]:
    """What a file in the format `form` would not keep of the features of a table, in a sentence each.

    Raises
    ------
    UnknownNameError: no such format, or one that does not hold that kind.

    >>> lost("run", {"score": 2, "space": 0}, "msmarco")
    {'score': 'msmarco loses 2 scores: it keeps the order alone'}
    """
    keeps = kept(kind, form)
    sentences = {}
    for feature, count in found.items():
        if count and feature not in keeps:
            one, many, what = WORDS[feature]
            sentences[feature] = f"{form} loses {amount(count, one, many)}: {what}"
    return sentences


def kept(kind: Kind, form: str) -> frozenset[str]:
    """What a format keeps of a table of that kind, see `WORDS`.

    Raises
    ------
    UnknownNameError: no such format, or one that does not hold that kind.
    """
    tool = BY_NAME.get(form)
    if tool is not None and kind in tool.writes:
        return tool.keeps | ({"id"} if tool.keyed == "id" else frozenset())
    if form in OWN[kind]:
        return frozenset((*OWN[kind][form].split(), "id"))
    known = [*OWN[kind], *(one.name for one in BY_NAME.values() if kind in one.writes)]
    raise UnknownNameError(f"format to write {'a run' if kind == 'run' else kind} in", form, known)


def features(kind: Kind, table: "Held | Qrels | Queries | RunSource") -> dict[str, int]:
    """How often each thing stands in a table that some format cannot keep."""
    if isinstance(table, Held):
        return _and({name: count(table) for name, count in HELD[kind].items()}, table.left)
    if isinstance(table, Queries):
        frame = table.frame
        more = [c for c in frame.columns if c not in ("query_id", "text", "row", *NEEDS, *REMARKS)]
        found = {
            "space": spaced(frame, ("query_id",)),
            "text": frame.height if "text" in frame.columns else 0,
            "need": sum(c in NEEDS for c in frame.columns),
            "remarks": sum(c in REMARKS for c in frame.columns),
            "more": len(more),
            "id": _count(frame, "query_id", "text"),
        }
        return _and(found, table.left)
    if isinstance(table, Qrels):
        return _of_qrels(table)
    return counted_run(table).found


NEEDS = ("need", "information_need")
"""The further fields of queries that are an information need."""
REMARKS = ("notes", "options")
"""Those that Quepid keeps beside."""


def _of_qrels(qrels: Qrels) -> dict[str, int]:
    import polars as pl

    frame = qrels.frame
    told = {name: int(frame[name].n_unique()) for name in ("subtopic", *DESIGN) if name in frame.columns}
    grade = pl.col("grade")
    fraction = int(frame.select((grade != grade.floor()).sum()).item())
    ids = int(frame["query_id"].n_unique())
    first = {of for known in qrels.alternatives.values() for of in known.values()}
    others = sum(map(len, qrels.alternatives.values()))
    needs = max(others + len(first), others + sum(map(len, qrels.needs.values())))
    space = spaced(frame, ("query_id", "doc_id")) + _with_space(
        own for known in qrels.alternatives.values() for own in known
    )
    found = {"fraction": fraction, "space": space, "id": ids, "alternatives": needs, **told}
    return _and(found, qrels.left)


def _and(found: Mapping[str, int], left: Mapping[str, int]) -> dict[str, int]:
    """The features of a table with what its reader left out, which no format keeps."""
    return {**found, **{name: found.get(name, 0) + count for name, count in left.items()}}


@dataclass(frozen=True)
class RunCounts:
    """What one pass over a run counts: its features, its rows, and the queries that have rows."""

    found: dict[str, int]
    rows: int
    queries: Set[str]


def counted_run(run: "RunSource") -> RunCounts:
    """Count a run block by block; of its documents only ids with white space are held."""
    rows = 0
    queries: set[str] = set()
    white: tuple[set[str], set[str]] = (set(), set())
    for block in run.blocks():
        frame = block.load()
        rows += frame.height
        queries.update(frame["query_id"].unique())
        white[1].update(frame["doc_id"].filter(frame["doc_id"].str.contains(SPACE.pattern)).unique())
    white[0].update(query for query in (*queries, *run.empty, *run.failed) if SPACE.search(query))
    found = {"space": sum(map(len, white)), "score": rows, "empty": len(run.empty), "failed": len(run.failed)}
    return RunCounts(found, rows, queries)


def spaced(frame: "pl.DataFrame", columns: tuple[str, ...]) -> int:
    """How many ids of a table have white space, each counted once a column.

    >>> import polars as pl
    >>> spaced(pl.DataFrame({"query_id": ["a b", "a b", "c"]}), ("query_id",))
    1
    """
    import polars as pl

    held = [pl.col(name).filter(pl.col(name).str.contains(SPACE.pattern)).n_unique() for name in columns]
    return int(sum(frame.select(one).item() for one in held))


def _count(frame: "pl.DataFrame", one: str, other: str) -> int:
    """The rows in which the two columns differ; all where the second is not there."""
    if other not in frame.columns:
        return 0
    return int((frame[one] != frame[other]).sum())


def _with_space(texts: Iterable[str]) -> int:
    return sum(SPACE.search(text) is not None for text in dict.fromkeys(texts))


def _ids(held: Held, part: Iterable[Any]) -> Iterator[str]:
    for row in part:
        # A text that names a query is no id, and becomes one before it is written as one.
        if held.keyed == "id":
            yield row.query
        yield row.doc_id


def _texts(held: Held) -> int:
    """The queries whose text is known and is not their key."""
    return (
        len(held.keys()) if held.keyed == "text" else sum(one.text not in (None, one.query) for one in held.asked)
    )  # fmt: skip


def _own_ids(held: Held) -> int:
    if held.keyed == "text":
        return sum(query_id != text for text, query_id in held.own.items())
    return len(held.keys())


def _bare(held: Held) -> int:
    told = {row.query for row in held.graded} | {row.query for row in held.hits}
    return sum(one.query not in told for one in held.asked)


def _fields(held: Held, which: tuple[str, ...] = ()) -> int:
    """How many further fields of the queries have one of the names, or without names any other name."""
    names = {name for one in held.asked for name, value in one.more.items() if value not in (None, "")}
    return len(names & set(which) if which else names - {*NEEDS, *REMARKS})


Count = Callable[[Held], int]
_OF_QUERIES: dict[str, Count] = {
    "need": lambda held: _fields(held, NEEDS),
    "remarks": lambda held: _fields(held, REMARKS),
    "more": _fields,
    "id": _own_ids,
}
HELD: dict[Kind, dict[str, Count]] = {
    "judgments": {
        "fraction": lambda held: sum(r.grade is not None and not float(r.grade).is_integer() for r in held.graded),
        "blank": lambda held: sum(r.grade is None and r.mark is None for r in held.graded),
        "judges": lambda held: len({r.who for r in held.graded if r.who is not None}),
        "note": lambda held: sum(bool(r.note) for r in held.graded),
        "mark": lambda held: sum(r.mark is not None for r in held.graded),
        "broken": lambda held: sum(r.mark == "broken" for r in held.graded),
        "space": lambda held: _with_space(_ids(held, held.graded)),
        "text": _texts,
        "query": _bare,
        **_OF_QUERIES,
    },
    "run": {
        "score": lambda held: sum(
            hit.score != -place for hits in ranked(held.hits).values() for place, hit in enumerate(hits, start=1)
        ),
        "space": lambda held: _with_space(_ids(held, held.hits)),
        "empty": lambda held: len(held.empty),
        "failed": lambda held: len(held.failed),
        "text": _texts,
        "id": _own_ids,
    },
    "queries": {"space": lambda held: _with_space(held.keys() if held.keyed == "id" else ()), "text": _texts, **_OF_QUERIES},
}  # fmt: skip
"""How each feature is counted in what a file holds."""

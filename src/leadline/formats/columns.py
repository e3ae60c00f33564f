"""Which column means what: the accepted spellings of query id, document id, score, grade and their kin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["run", "qrels", "queries"]


@dataclass(frozen=True)
class Spellings:
    """The names of one column; `weak` ones count only where no other name gives the meaning."""

    names: tuple[str, ...]
    weak: tuple[str, ...] = ()


QUERY_ID = Spellings(("query_id", "qid", "q_id", "topic", "topic_id"), ("query",))
DOC_ID = Spellings(
    ("doc_id", "docno", "document_id", "corpus_id", "pid", "passage_id", "chunk_id"),
    ("id",),
)

MEANINGS: dict[Kind, dict[str, Spellings]] = {
    "run": {
        "query_id": QUERY_ID,
        "doc_id": DOC_ID,
        "score": Spellings(("score", "sim", "similarity")),
        "rank": Spellings(("rank",)),
        "error": Spellings(("error",)),
        "doc_ids": Spellings(("doc_ids",)),
    },
    "qrels": {
        "query_id": QUERY_ID,
        "doc_id": DOC_ID,
        "grade": Spellings(("grade", "relevance", "rel", "label"), ("score",)),
        "subtopic": Spellings(("subtopic",), ("iteration", "iter", "q0")),
        "stratum": Spellings(("stratum",)),
        "probability": Spellings(("probability",)),
        "need": Spellings(("need", "need_id")),
    },
    "queries": {
        # The text comes first: a column "query" is the text unless another column is.
        "text": Spellings(("text", "query_text", "question", "user_input", "input"), ("query",)),
        "query_id": Spellings(
            ("query_id", "qid", "q_id", "topic", "topic_id", "question_id", "example_id"), ("id", "query")
        ),
    },
}
"""The columns of each kind of table by meaning; only letters and digits count: `queryId` is `query-id`."""

IGNORED = ("q0", "iteration", "iter", "tag", "run", "run_id", "system", "name")
"""Columns of runs and judgments that say nothing about a row's query, document or number."""

TO_JUDGE = ("ranks", "systems", "move", "likely", "why")
"""What else a line of a to-judge file says of its pair: with a column of grades such a file is one of judgments."""

SYSTEM = ("run", "run_id", "system", "name")
"""Columns that name the system; two systems in one file are an error."""


@dataclass(frozen=True)
class Columns:
    """The columns of one table, told apart.

    Attributes
    ----------
    found: the column of each meaning that is there. system: the columns that name the system.
    rest: columns with no meaning here. wrong: column and what was expected, for each that cannot stand.
    """

    found: Mapping[str, str]
    system: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    wrong: tuple[tuple[str, str], ...] = ()


def plain(name: str) -> str:
    """A column's name reduced to what counts: its letters and digits, in lower case.

    >>> {plain(n) for n in ("query_id", "queryId", "Query-ID", " query id")}
    {'queryid'}
    """
    return "".join(c for c in name.lower() if c.isalnum())


def resolve(names: Sequence[str], kind: Kind) -> Columns:
    """The meaning of each column of a table of that kind.

    Where PyTerrier's `docno` and `docid` stand side by side, `docno` is the document's id and `docid` an
    internal number; and where a query id is there, `query` is the query's text, which a run does not need.

    >>> resolve(["qid", "docno", "label"], "qrels").found
    {'query_id': 'qid', 'doc_id': 'docno', 'grade': 'label'}
    """
    plains = {name: plain(name) for name in names}
    left = dict(plains)
    if "docno" in plains.values():
        left = {name: word for name, word in left.items() if word != "docid"}
    found: dict[str, str] = {}
    wrong: list[tuple[str, str]] = []
    for meaning, spellings in MEANINGS[kind].items():
        mine = _named(left, spellings.names) or _named(left, spellings.weak)[:1]
        for name in mine:
            del left[name]
        if mine:
            found[meaning] = mine[0]
        wrong += [(name, f"a second column for the {say(meaning)}, beside {mine[0]!r}") for name in mine[1:]]
    system = tuple(_named(plains, SYSTEM)) if kind != "queries" else ()
    rest = [name for name in left if kind == "queries" or not _says_nothing(left[name], found, kind)]
    if kind != "queries":
        known = ", ".join(say(meaning) for meaning in MEANINGS[kind] if meaning not in ("doc_ids", "error"))
        wrong += [
            (name, _why(left[name], kind, found) or f"an unknown column; known are {known}") for name in rest
        ]
    return Columns(found, system, tuple(rest), tuple(wrong))


def knows(names: Sequence[str]) -> bool:
    """True where a line of words is a header: at least two are names of known columns."""
    known = {plain(n) for table in MEANINGS.values() for s in table.values() for n in s.names + s.weak}
    known |= {plain(name) for name in IGNORED} | {"docid"}
    return sum(plain(name) in known for name in names) >= 2


def say(meaning: str) -> str:
    """A meaning in words.

    >>> say("doc_id")
    'document id'
    """
    words = {
        "query_id": "query id",
        "doc_id": "document id",
        "doc_ids": "list of document ids",
        "text": "query's text",
    }
    return words.get(meaning, meaning)


def names_of(meaning: str, kind: Kind) -> str:
    """The accepted names of one meaning, for a message.

    >>> names_of("score", "run")
    'score, sim, similarity'
    """
    spellings = MEANINGS[kind][meaning]
    return ", ".join(spellings.names + spellings.weak)


def _named(left: Mapping[str, str], spellings: Sequence[str]) -> list[str]:
    wanted = {plain(spelling) for spelling in spellings} | ({"docid"} if "doc_id" in spellings else set())
    return [name for name, word in left.items() if word in wanted]


def _says_nothing(word: str, found: Mapping[str, str], kind: Kind) -> bool:
    if kind == "qrels" and word in TO_JUDGE:
        return True
    return word in {plain(name) for name in IGNORED} or (word == "query" and "query_id" in found)


def _why(word: str, kind: Kind, found: Mapping[str, str]) -> str:
    """Why a column with a weak name cannot stand: another has its meaning already."""
    for meaning, spellings in MEANINGS[kind].items():
        if meaning in found and word in {plain(weak) for weak in spellings.weak}:
            return f"a second column for the {say(meaning)}, beside {found[meaning]!r}"
    return ""

"""The field names of the rows that RAG tools exchange, and which rows are such rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from leadline.formats.columns import plain


@dataclass(frozen=True)
class Field:
    """One field of a RAG row: its accepted names, and whether two of them in one row are an error.

    Where two names are allowed the first of the list counts, and the other is kept as a further column.
    """

    names: tuple[str, ...]
    once: bool = False


FIELDS: dict[str, Field] = {
    "query_id": Field(("query_id", "question_id", "qid", "example_id", "id")),
    "text": Field(("user_input", "question", "query", "input", "questions")),
    "retrieved": Field(
        (
            "retrieved_context_ids",  # ragas
            "retrieved_ids",  # LlamaIndex, AutoRAG
            "retrieved_doc_ids",
            "doc_ids",
        ),
        once=True,
    ),
    "documents": Field(
        (
            "documents",  # Haystack: [{"id", "content", "score"}]
            "retrieved_context",  # RAGChecker: [{"doc_id", "text"}]
            "retrieved_documents",
            "retrieved_contexts",  # ragas: texts
            "contexts",  # older ragas, Haystack: texts
            "retrieval_context",  # deepeval: texts
            "retrieved_contents",  # AutoRAG: texts
            "retrieved_texts",  # LlamaIndex: texts
        )
    ),
    "scores": Field(("scores", "retrieved_scores", "retrieve_scores", "retrieval_scores"), once=True),
    "references": Field(
        (
            "reference_context_ids",  # ragas
            "reference_ids",
            "relevant_ids",
            "expected_ids",  # LlamaIndex
            "retrieval_gt",  # AutoRAG
            "ground_truth_documents",  # Haystack
        ),
        once=True,
    ),
    "reference_texts": Field(
        (
            "reference_contexts",  # ragas
            "expected_texts",  # LlamaIndex
            "ground_truth_context",  # continuous-eval
            "context",  # deepeval: a list; one text is the column it always was
        )
    ),
    "answer": Field(("response", "answer", "actual_output", "predicted_answers", "generated_texts")),
    "gold_answer": Field(
        ("reference", "ground_truth", "expected_output", "gt_answer", "generation_gt", "ground_truth_answers")
    ),
    "error": Field(("error",)),
}
"""The fields by meaning; only letters and digits count: `retrievedContextIds` is `retrieved_context_ids`."""

TEXT_LISTS = frozenset(
    plain(name)
    for name in (
        "ground_truths",
        "context_ids",
    )
)
"""Known lists of texts that nothing here reads; they are not counted as unknown."""

_MEANING = {
    plain(name): (meaning, place) for meaning, f in FIELDS.items() for place, name in enumerate(f.names)
}
_LISTS = frozenset(
    # `context` alone is no sign: many tables have a column of that name.
    plain(n)
    for meaning in ("retrieved", "documents", "references", "reference_texts")
    for n in FIELDS[meaning].names
    if n != "context"
)


@dataclass(frozen=True)
class Fields:
    """The fields of one row by meaning; `documents` may be several, `twice` is a pair that cannot stand."""

    found: Mapping[str, str]
    documents: tuple[str, ...]
    rest: tuple[str, ...]
    twice: tuple[str, str] | None = None


def is_rag(keys: Iterable[str]) -> bool:
    """True where a row with these keys is a RAG row: it has a list of retrieved or of relevant documents.

    >>> is_rag(["question", "retrieved_context_ids"]), is_rag(["query_id", "doc_id", "score"])
    (True, False)
    """
    return any(plain(key) in _LISTS for key in keys)


def tell_fields(keys: Iterable[str]) -> Fields:
    """The meaning of each key of a RAG row."""
    named: dict[str, list[tuple[int, str]]] = {}
    rest: list[str] = []
    for key in keys:
        meaning, place = _MEANING.get(plain(key), ("", 0))
        if meaning:
            named.setdefault(meaning, []).append((place, key))
        else:
            rest.append(key)
    documents = tuple(key for _, key in sorted(named.pop("documents", [])))
    found: dict[str, str] = {}
    twice = None
    for meaning, places in named.items():
        ordered = [key for _, key in sorted(places)]
        found[meaning] = ordered[0]
        if len(ordered) > 1 and (FIELDS[meaning].once or plain(ordered[0]) == plain(ordered[1])):
            twice = twice or (ordered[0], ordered[1])
        else:
            rest += ordered[1:]
    return Fields(found, documents, tuple(rest), twice)

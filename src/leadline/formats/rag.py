"""The rows that RAG tools exchange, one a question: retrieved ids, reference ids, and what stands beside."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import polars as pl

from leadline.errors import InputError, printable
from leadline.formats.columns import plain
from leadline.formats.faults import Faults, WrongValue, found_text, id_text, text_problem
from leadline.formats.frames import no_rows
from leadline.formats.ragfields import FIELDS, TEXT_LISTS, Fields, tell_fields
from leadline.formats.ragvalues import (
    LIST_ADVICE,
    element,
    given_id,
    given_text,
    list_of,
    object_id,
    references_of,
    scores_of,
)
from leadline.formats.records import Record, queries_frame, rows_frame
from leadline.formats.texts import Texts
from leadline.tables import NEED, Conflicts, Qrels, Queries, Run


@dataclass(frozen=True)
class RagRows:
    """What a file of RAG rows holds.

    Attributes
    ----------
    run: the retrieved ids; None where no row has any. qrels: the reference ids (grade 1, or as given); None
    where no row has any. queries: query_id, text, `answer` and `gold_answer` where they are one text, and the
    further scalar fields. without_references: how many rows have no reference ids (none is in the qrels).
    ignored: the unknown fields that hold lists or objects, with the number of rows that have them.
    texts_only: rows have retrieved texts, and nothing says which documents they are. reference_texts: the same of
    reference texts.
    """

    run: Run | None
    qrels: Qrels | None
    queries: Queries
    without_references: int
    ignored: Mapping[str, int]
    texts_only: bool = False
    reference_texts: bool = False


@dataclass
class _Gathered:
    """The rows while they are read."""

    run: list[tuple[str, str, float, int]] = field(default_factory=list)
    qrels: list[tuple[str, str, float, int]] = field(default_factory=list)
    needs: list[str | None] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    columns: dict[str, dict[int, Any]] = field(default_factory=dict)
    ignored: dict[str, int] = field(default_factory=dict)
    without: int = 0
    texts: bool = False
    as_text: list[tuple[int, str, str]] = field(default_factory=list)
    reference_texts: bool = False
    scoreless: bool = False
    retrieved_as: Texts | None = None
    references_as: Texts | None = None


def rag_of_records(
    records: Iterable[Record],
    *,
    source: str = "rag",
    name: str | None = None,
    order: Literal["score", "rank", "file"] = "score",
    conflicts: Conflicts = "error",
    grade_map: Mapping[float, float] | None = None,
    max_grade: float | None = None,
    faults: Faults | None = None,
    need_ids: bool = True,
    texts: Texts | None = None,
) -> RagRows:
    """RAG rows, given as mappings with their line numbers.

    With `texts`, rows that hold texts and no ids get the ids of the documents those are; see `Texts`.

    A row without a question id is known by its question's text, which must then be its only row. Retrieved
    ids are ranked by their scores where a row has scores (and `order` is `score`), else as they stand.

    Raises
    ------
    RowsError: wrong rows, all counted. InputError: neither retrieved nor reference ids in any row (unless
    `need_ids` is false, for those who only want the questions).

    >>> rows = rag_of_records([(1, {"id": "q", "retrieved_ids": ["a", "b"], "expected_ids": ["b"]})])
    >>> rows.run.frame["doc_id"].to_list(), rows.qrels.frame["doc_id"].to_list()
    (['a', 'b'], ['b'])
    """
    faults = faults or Faults(source)
    taken = list(records)
    told = {keys: tell_fields(keys) for keys in dict.fromkeys(tuple(record) for _, record in taken)}
    has_ids = any(_has_ids(record, told[tuple(record)]) for _, record in taken) or _all_empty(taken, told)
    gathered = _Gathered(retrieved_as=texts and texts.anew(), references_as=texts and texts.anew())
    seen: dict[str, int] = {}
    for line, record in taken:
        fields = told[tuple(record)]
        try:
            _row(line, record, fields, has_ids, order, gathered, seen)
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
    faults.check()
    rows = _made(gathered, has_ids, source, name, conflicts, grade_map, max_grade)
    if need_ids and rows.run is None and rows.qrels is None:
        for line, found, key in gathered.as_text:
            faults.add(line, None, found, f"{key} is a list, not a text: {LIST_ADVICE}")
        faults.check()
        raise InputError(ids_needed(source) if rows.texts_only else f"{printable(source)}: {_NO_IDS}")
    return rows


def _made(
    gathered: _Gathered,
    has_ids: bool,
    source: str,
    name: str | None,
    conflicts: Conflicts,
    grade_map: Mapping[float, float] | None,
    max_grade: float | None,
) -> RagRows:
    run = qrels = None
    texts = gathered.retrieved_as
    known = has_ids or (texts is not None and gathered.texts)
    if known or gathered.failed:
        frame = rows_frame(gathered.run, "score") if gathered.run else no_rows("score")
        run = Run.checked(
            frame, name or source, empty=gathered.empty, failed=gathered.failed, source=source,
            scoreless=gathered.scoreless, told=texts.told() if texts else {},
        )  # fmt: skip
    if gathered.qrels:
        frame = rows_frame(gathered.qrels, "grade")
        if any(need is not None for need in gathered.needs):
            frame = frame.with_columns(pl.Series(NEED, gathered.needs, dtype=pl.String))
        qrels = Qrels.checked(
            frame, source=source, conflicts=conflicts, grade_map=grade_map, max_grade=max_grade
        )
        if gathered.references_as:
            qrels = replace(qrels, told=gathered.references_as.told())
    queries = Queries.checked(queries_frame(gathered.ids, gathered.lines, gathered.columns), source=source)
    if gathered.ignored:
        queries = replace(queries, left={"lists": len(gathered.ignored)})
    texts_only = gathered.texts and not known
    reference_texts = gathered.reference_texts and texts is None
    return RagRows(run, qrels, queries, gathered.without, gathered.ignored, texts_only, reference_texts)


_NO_IDS = (
    f"no RAG rows: none has retrieved ids ({', '.join(FIELDS['retrieved'].names)}) "
    f"or reference ids ({', '.join(FIELDS['references'].names)})"
)


def ids_needed(source: str) -> str:
    """The message for rows that have the retrieved texts and not their ids."""
    return (
        f"{printable(source)}: the rows hold retrieved texts and no document ids. Which documents are they? "
        f"--documents FILE has every document's id and text; or give ids, as {FIELDS['retrieved'].names[0]}: [...] "
        "in each row"
    )


def _row(
    line: int,
    record: Mapping[str, Any],
    fields: Fields,
    has_ids: bool,
    order: str,
    out: _Gathered,
    seen: dict[str, int],
) -> None:
    """One row into the gathered rows; nothing of it is kept where any field is wrong."""
    if fields.twice:
        raise WrongValue(fields.twice[1], f"the row has the same field as {fields.twice[0]!r} already")
    query = _query_id(record, fields)
    if query in seen:
        by = (
            "query id"
            if "query_id" in fields.found
            else "question (and there is no query_id to tell them apart)"
        )
        raise WrongValue(query, f"line {seen[query]} has the same {by}")
    references = references_of(record, fields, out.references_as)
    scalars, ignored = _further(record, fields)
    message = record[fields.found["error"]] if "error" in fields.found else None
    out.as_text += [(line, record[key], key) for key in fields.documents if isinstance(record[key], str)]
    out.texts = out.texts or any(record[key] for key in fields.documents)
    if message is not None and message != "":
        out.failed[query] = found_text(message)
    elif has_ids or (out.retrieved_as and any(record[key] is not None for key in fields.documents)):
        ranked, scored = _retrieved(record, fields, order, out.retrieved_as)
        out.scoreless = out.scoreless or not scored
        out.run += [(query, doc, score, line) for doc, score in ranked]
        out.empty += [] if ranked else [query]
    seen[query] = line
    out.qrels += [(query, doc, grade, line) for doc, grade, _ in references]
    out.needs += [need for _, _, need in references]
    out.reference_texts = out.reference_texts or (
        not references and isinstance(record.get(fields.found.get("reference_texts", "")), list)
    )
    out.without += not references
    for name, value in scalars.items():
        out.columns.setdefault(name, {})[len(out.ids)] = value
    for name in ignored:
        out.ignored[name] = out.ignored.get(name, 0) + 1
    out.ids.append(query)
    out.lines.append(line)


def _query_id(record: Mapping[str, Any], fields: Fields) -> str:
    if "query_id" in fields.found:
        return id_text(record[fields.found["query_id"]], "query_id")
    if "text" in fields.found:
        return id_text(record[fields.found["text"]], "question (it stands for the query id here)")
    raise WrongValue(found_text(dict(record)), "the row has no query_id and no question")


def _has_ids(record: Mapping[str, Any], fields: Fields) -> bool:
    """True where a row has a list of retrieved ids, even an empty one; a list of texts has none."""
    if "retrieved" in fields.found and record[fields.found["retrieved"]] is not None:
        return True
    values = (record[key] for key in fields.documents)
    return any(isinstance(v, list) and any(given_id(document) is not None for document in v) for v in values)


def _all_empty(taken: list[Record], told: Mapping[tuple[str, ...], Fields]) -> bool:
    """True where rows have lists of documents and every one is empty: then nothing lacks an id."""
    lists = [record[key] for _, record in taken for key in told[tuple(record)].documents]
    return bool(lists) and all(value == [] for value in lists)


def _retrieved(
    record: Mapping[str, Any], fields: Fields, order: str, texts: Texts | None
) -> tuple[list[tuple[str, float]], bool]:
    """The retrieved ids with the score each is ranked by, in the order given; and whether there were scores."""
    if "retrieved" in fields.found and (texts is None or record[fields.found["retrieved"]] is not None):
        name = fields.found["retrieved"]
        given = list_of(record[name], name)
        ids = [element(value, name) for value in given]
    else:
        name = _documents_field(record, fields, texts is not None)
        given = list_of(record[name], name)
        ids = [
            texts.id_of(given_text(document, name))
            if texts is not None and given_id(document) is None
            else element(object_id(document, name), name)
            for document in given
        ]
    scores = scores_of(record, fields, given, name) if order == "score" else None
    places = [float(-place) for place in range(1, len(ids) + 1)]
    return list(zip(ids, scores or places, strict=True)), scores is not None or not ids


def _documents_field(record: Mapping[str, Any], fields: Fields, texts: bool) -> str:
    """The field whose documents carry ids (or that is an empty list); else, with `texts`, the first that has any."""
    for key in fields.documents:
        value = record[key]
        if isinstance(value, str) or (
            isinstance(value, list) and (not value or given_id(value[0]) is not None)
        ):
            return key
    if texts:
        return next(key for key in fields.documents if record[key] is not None)
    raise WrongValue(
        found_text(dict(record)),
        "the row has no retrieved ids; [] says answered with nothing, error: '...' says failed",
    )


def _further(record: Mapping[str, Any], fields: Fields) -> tuple[dict[str, Any], list[str]]:
    """The fields that become columns of the queries, and the names of those that are ignored."""
    scalars: dict[str, Any] = {}
    for meaning in ("text", "answer", "gold_answer", "reference_texts"):
        if meaning in fields.found and not isinstance(record[fields.found[meaning]], (list, dict)):
            own = fields.found[meaning]
            scalars[own if meaning == "reference_texts" else meaning] = record[own]
    ignored = []
    for key in fields.rest:
        if isinstance(record[key], (list, dict)):
            ignored += [] if plain(key) in TEXT_LISTS else [key]
        elif key not in scalars and key != "query_id":
            scalars[key] = record[key]
    for name, value in scalars.items():
        for text in (name, value):
            if isinstance(text, str) and text_problem(text):
                raise WrongValue(text, f"expected text{text_problem(text)}")
    return scalars, ignored

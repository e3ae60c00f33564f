"""The rows that RAG tools exchange, one a question: retrieved ids, reference ids, and what stands beside."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from leadline.errors import InputError, printable
from leadline.formats.columns import plain
from leadline.formats.faults import Faults, WrongValue, found_text, id_text, number, text_problem
from leadline.formats.frames import no_rows
from leadline.formats.ragfields import FIELDS, TEXT_LISTS, Fields, tell_fields
from leadline.formats.records import Record, queries_frame, rows_frame
from leadline.tables import Conflicts, Qrels, Queries, Run

ID_KEYS = ("docid", "id", "documentid", "chunkid", "docno", "passageid", "nodeid")
"""Keys, in plain form, under which a document given as an object has its id; the first there counts."""

LIST_ADVICE = (
    "CSV and str() turn lists into texts, so write the rows as JSONL or Parquet, where a list stays one"
)


@dataclass(frozen=True)
class RagRows:
    """What a file of RAG rows holds.

    Attributes
    ----------
    run: the retrieved ids; None where no row has any. qrels: the reference ids (grade 1, or as given); None
    where no row has any. queries: query_id, text, `answer` and `gold_answer` where they are one text, and the
    further scalar fields. without_references: how many rows have no reference ids (none is in the qrels).
    ignored: the unknown fields that hold lists or objects, with the number of rows that have them.
    texts_only: rows have retrieved texts, and no row has an id for them.
    """

    run: Run | None
    qrels: Qrels | None
    queries: Queries
    without_references: int
    ignored: Mapping[str, int]
    texts_only: bool = False


@dataclass
class _Gathered:
    """The rows while they are read."""

    run: list[tuple[str, str, float, int]] = field(default_factory=list)
    qrels: list[tuple[str, str, float, int]] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    columns: dict[str, dict[int, Any]] = field(default_factory=dict)
    ignored: dict[str, int] = field(default_factory=dict)
    without: int = 0
    texts: bool = False


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
) -> RagRows:
    """RAG rows, given as mappings with their line numbers.

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
    gathered = _Gathered()
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
    if has_ids or gathered.failed:
        frame = rows_frame(gathered.run, "score") if gathered.run else no_rows("score")
        run = Run.checked(frame, name or source, empty=gathered.empty, failed=gathered.failed, source=source)
    if gathered.qrels:
        frame = rows_frame(gathered.qrels, "grade")
        qrels = Qrels.checked(
            frame, source=source, conflicts=conflicts, grade_map=grade_map, max_grade=max_grade
        )
    queries = Queries.checked(queries_frame(gathered.ids, gathered.lines, gathered.columns), source=source)
    texts_only = gathered.texts and not has_ids
    return RagRows(run, qrels, queries, gathered.without, gathered.ignored, texts_only)


_NO_IDS = (
    f"no RAG rows: none has retrieved ids ({', '.join(FIELDS['retrieved'].names)}) "
    f"or reference ids ({', '.join(FIELDS['references'].names)})"
)


def ids_needed(source: str) -> str:
    """The message for rows that have the retrieved texts and not their ids."""
    return (
        f"{printable(source)}: the rows hold retrieved texts and no document ids; ids are needed, "
        f"as {FIELDS['retrieved'].names[0]}: [...] in each row, beside or instead of the texts"
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
    references = _references(record, fields)
    scalars, ignored = _further(record, fields)
    message = record[fields.found["error"]] if "error" in fields.found else None
    out.texts = out.texts or any(record[key] for key in fields.documents)
    if message is not None and message != "":
        out.failed[query] = found_text(message)
    elif has_ids:
        ranked = _retrieved(record, fields, order)
        out.run += [(query, doc, score, line) for doc, score in ranked]
        out.empty += [] if ranked else [query]
    seen[query] = line
    out.qrels += [(query, doc, grade, line) for doc, grade in references]
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
    return any(isinstance(v, list) and any(_id_of(document) is not None for document in v) for v in values)


def _all_empty(taken: list[Record], told: Mapping[tuple[str, ...], Fields]) -> bool:
    """True where rows have lists of documents and every one is empty: then nothing lacks an id."""
    lists = [record[key] for _, record in taken for key in told[tuple(record)].documents]
    return bool(lists) and all(value == [] for value in lists)


def _id_of(document: Any) -> Any:
    """The id of a document given as an object; None for a text or an object without one."""
    if not isinstance(document, Mapping):
        return None
    by_plain = {plain(str(key)): value for key, value in document.items()}
    return next((by_plain[key] for key in ID_KEYS if by_plain.get(key) is not None), None)


def _retrieved(record: Mapping[str, Any], fields: Fields, order: str) -> list[tuple[str, float]]:
    """The retrieved ids with the score each is ranked by, in the order given."""
    if "retrieved" in fields.found:
        name = fields.found["retrieved"]
        given = _list(record[name], name)
        ids = [_element(value, name) for value in given]
    else:
        name = _documents_field(record, fields)
        given = _list(record[name], name)
        ids = [_element(_object_id(document, name), name) for document in given]
    scores = _scores(record, fields, given, name) if order == "score" else None
    return list(zip(ids, scores or [float(-place) for place in range(1, len(ids) + 1)], strict=True))


def _documents_field(record: Mapping[str, Any], fields: Fields) -> str:
    """The field whose documents carry ids (or that is an empty list)."""
    for key in fields.documents:
        value = record[key]
        if isinstance(value, str) or (
            isinstance(value, list) and (not value or _id_of(value[0]) is not None)
        ):
            return key
    raise WrongValue(
        found_text(dict(record)),
        "the row has no retrieved ids; [] says answered with nothing, error: '...' says failed",
    )


def _scores(record: Mapping[str, Any], fields: Fields, given: list[Any], name: str) -> list[float] | None:
    """The scores beside the ids, or inside the documents; None where there are none."""
    if "scores" in fields.found and record[fields.found["scores"]] is not None:
        scores_name = fields.found["scores"]
        values = _list(record[scores_name], scores_name)
        if len(values) != len(given):
            raise WrongValue(
                f"{len(values)} scores",
                f"{scores_name} has one score for each of the {len(given)} entries of {name}",
            )
        return [number(value, f"score in {scores_name}") for value in values]
    inside = [document.get("score") if isinstance(document, Mapping) else None for document in given]
    if all(value is None for value in inside):
        return None
    return [number(value, f"score in {name}") for value in inside]


def _references(record: Mapping[str, Any], fields: Fields) -> list[tuple[str, float]]:
    """The reference ids with their grades; plain ids have grade 1."""
    if "references" not in fields.found:
        return []
    name = fields.found["references"]
    value = record[name]
    if value is None:
        return []
    if isinstance(value, Mapping):
        # A null grade is "unjudged"; Parquet fills the keys of other rows in with it.
        graded = [(doc, grade) for doc, grade in value.items() if grade is not None]
        return [
            (_element(doc, name), number(grade, f"grade in {name}", finite=True)) for doc, grade in graded
        ]
    pairs = []
    for entry in _list(value, name):
        if isinstance(entry, list):
            if len(entry) > 1:
                raise WrongValue(
                    found_text(entry),
                    f"{name}: alternatives (any one of these) are not supported yet; list one id each",
                )
            pairs += [(_element(inner, name), 1.0) for inner in entry]
        elif isinstance(entry, Mapping):
            grade = entry.get("grade", entry.get("relevance", 1.0))
            pairs.append(
                (_element(_object_id(entry, name), name), number(grade, f"grade in {name}", finite=True))
            )
        else:
            pairs.append((_element(entry, name), 1.0))
    return pairs


def _list(value: Any, name: str) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, str):
        raise WrongValue(value, f"{name} is a list, not a text: {LIST_ADVICE}")
    raise WrongValue(found_text(value), f"{name} is a list; [] where there is nothing")


def _object_id(document: Any, name: str) -> Any:
    found = _id_of(document)
    if found is None:
        raise WrongValue(found_text(document), f"each entry of {name} has an id (doc_id or id)")
    return found


def _element(value: Any, name: str) -> str:
    return id_text(value, f"document id in {name}")


def _further(record: Mapping[str, Any], fields: Fields) -> tuple[dict[str, Any], list[str]]:
    """The fields that become columns of the queries, and the names of those that are ignored."""
    scalars: dict[str, Any] = {}
    for meaning in ("text", "answer", "gold_answer"):
        if meaning in fields.found and not isinstance(record[fields.found[meaning]], (list, dict)):
            scalars[meaning] = record[fields.found[meaning]]
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

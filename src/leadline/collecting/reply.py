"""What a system answered to one query: ranking, sent context, answer and what it tells of itself, read by a map."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from leadline.collecting.paths import NotThere, Path
from leadline.errors import UnknownNameError, UsageError, printable
from leadline.formats.faults import WrongValue, found_text, id_text, number, text_problem

FIELDS = {
    "ids": "the ids that were retrieved, in the order of the ranking",
    "scores": "one score for each of the ids",
    "texts": "the texts of the ids, one for each",
    "contexts": "the texts that were sent to the model",
    "context_ids": "the ids that were sent to the model",
    "answer": "the answer",
    "trace_id": "the id under which the system logs the request",
    "system_latency_ms": "the time that the system says it took, in milliseconds",
    "input_tokens": "tokens sent to the model",
    "output_tokens": "tokens of the answer",
}
"""What can be read from an answer; the names that `--map` takes."""
LISTS = ("ids", "scores", "texts", "contexts", "context_ids")
NUMBERS = ("system_latency_ms", "input_tokens", "output_tokens")
ID_KEYS = ("id", "doc_id", "_id", "chunk_id")


class UnusableReply(Exception):
    """An answer came that cannot be read; it counts as a failure, never as an empty ranking."""


@dataclass(frozen=True)
class Reply:
    """One answer. `ids` is always a list; what the system did not give is None and is not written."""

    ids: tuple[str, ...]
    scores: tuple[float, ...] | None = None
    texts: tuple[str, ...] | None = None
    contexts: tuple[str, ...] | None = None
    context_ids: tuple[str, ...] | None = None
    told: Mapping[str, Any] = field(default_factory=dict)


def read_map(entries: Mapping[str, str]) -> dict[str, Path]:
    """The paths by what they give.

    Raises
    ------
    UnknownNameError: a name that is not one of `FIELDS`. UsageError: no path.

    >>> read_map({"ids": "hits[*].id"})["ids"].text
    'hits[*].id'
    """
    for name in entries:
        if name not in FIELDS:
            raise UnknownNameError("name of --map", name, FIELDS)
    wrong = [name for name in LISTS if entries.get(name, "").lower().startswith("header:")]
    if wrong:
        raise UsageError(f"{wrong[0]} is a list, which a header does not hold")
    if entries and "ids" not in entries and "context_ids" not in entries:
        raise UsageError("--map names the retrieved ids: ids=PATH, such as ids=hits.hits[*]._id")
    return {name: Path.parse(text) for name, text in entries.items()}


def read_reply(answer: Any, paths: Mapping[str, Path], headers: Mapping[str, str] | None = None) -> Reply:
    """The reply in an answer, by the paths; without any, the answer is a list, or an object with our names.

    A list holds ids, pairs of id and score, or objects with an id. Of a map, `ids` must be there; the rest may be
    missing or null in some answers, as where a system gave no answer. `headers` are the answer's, by lower-case name.

    Raises
    ------
    UnusableReply: there are no ids at the path, or a value is of the wrong kind.

    >>> read_reply([["a", 2.0], ["b", 1.0]], {}).ids
    ('a', 'b')
    >>> read_reply({"ids": [], "answer": "I do not know."}, {}).told
    {'answer': 'I do not know.'}
    """
    if paths:
        given = _mapped(answer, paths, headers or {})
    elif isinstance(answer, list):
        given = _of_list(answer)
    elif isinstance(answer, Mapping):
        given = {name: answer[name] for name in FIELDS if answer.get(name) is not None}
        if isinstance(given.get("ids"), list):
            given = _of_list(given["ids"]) | {n: v for n, v in given.items() if n != "ids"}
    else:
        raise UnusableReply(f"the answer is neither a list nor an object: {_short(answer)}")
    if "ids" not in given and "context_ids" not in given:
        raise UnusableReply("the answer has no ids; name their place: --map ids=PATH")
    try:
        return _checked({"ids": given.get("context_ids")} | given)
    except WrongValue as wrong:
        raise UnusableReply(f"found {_short(wrong.found)}, {wrong.expected}") from None


def _mapped(answer: Any, paths: Mapping[str, Path], headers: Mapping[str, str]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, path in paths.items():
        if path.header:
            given |= _of_header(name, headers.get(path.header))
            continue
        try:
            value = path.follow(answer)
        except NotThere as missing:
            if name == "ids" or (name == "context_ids" and "ids" not in paths):
                raise UnusableReply(f"{name}: {missing} in the answer") from None
            continue
        if value is not None:
            given[name] = value
        elif name == "ids":
            raise UnusableReply(f"ids: null at {path.text} in the answer")
    return given


def _of_header(name: str, text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    if name not in NUMBERS:
        return {name: text}
    try:
        return {name: float(text)}
    except ValueError:
        raise UnusableReply(f"{name}: the header holds {_short(text)}, which is no number") from None


def _of_list(entries: list[Any]) -> dict[str, Any]:
    """Ids, and scores where every entry has one."""
    ids, scores, texts = [], [], []
    for entry in entries:
        if isinstance(entry, list | tuple) and len(entry) == 2:
            ids.append(entry[0])
            scores.append(entry[1])
        elif isinstance(entry, Mapping):
            own = next((entry[key] for key in ID_KEYS if entry.get(key) is not None), None)
            if own is None:
                raise UnusableReply(f"an entry without an id ({', '.join(ID_KEYS)}): {_short(entry)}")
            ids.append(own)
            scores += [] if entry.get("score") is None else [entry["score"]]
            texts += [entry["text"]] if isinstance(entry.get("text"), str) else []
        else:
            ids.append(entry)
    given: dict[str, Any] = {"ids": ids}
    if scores and len(scores) == len(ids):
        given["scores"] = scores
    if texts and len(texts) == len(ids):
        given["texts"] = texts
    return given


def _checked(given: Mapping[str, Any]) -> Reply:
    for name in LISTS:
        if given.get(name) is not None and not isinstance(given[name], list | tuple):
            raise WrongValue(found_text(given[name]), f"{name} is a list")
    ids = tuple(id_text(value, "retrieved id") for value in given["ids"])
    scores = texts = None
    # Engines give null scores where a list is sorted by a field: the order is then all there is.
    if given.get("scores") is not None and any(value is not None for value in given["scores"]):
        scores = tuple(number(value, "score") for value in given["scores"])
        _as_many("scores", len(scores), len(ids))
    if given.get("texts") is not None:
        texts = _texts(given["texts"], "texts")
        _as_many("texts", len(texts), len(ids))
    told: dict[str, Any] = {}
    for name in ("answer", "trace_id"):
        if given.get(name) is not None:
            told[name] = _text(given[name], name)
    for name in NUMBERS:
        if given.get(name) is not None:
            value = number(given[name], name, finite=True)
            told[name] = int(value) if value.is_integer() else value
    contexts = None if given.get("contexts") is None else _texts(given["contexts"], "contexts")
    sent = given.get("context_ids")
    context_ids = None if sent is None else tuple(id_text(value, "context id") for value in sent)
    return Reply(ids, scores, texts, contexts, context_ids, told)


def _as_many(name: str, found: int, wanted: int) -> None:
    if found != wanted:
        raise WrongValue(f"{found} {name}", f"there is one for each of the {wanted} ids")


def _texts(values: Any, name: str) -> tuple[str, ...]:
    return tuple(_text(value, name) for value in values)


def _text(value: Any, name: str) -> str:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        # Solr gives a field that may have several values as a list.
        value = value[0]
    if not isinstance(value, str) or text_problem(value):
        raise WrongValue(found_text(value), f"{name} is text")
    return value


def _short(value: Any) -> str:
    text = printable(found_text(value))
    return text if len(text) <= 120 else text[:117] + "..."

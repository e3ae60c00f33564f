"""Scores as JSON: one documented shape, in full precision, strict."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from leadline.errors import printable
from leadline.report.wording import tool_version
from leadline.scores import STATES, Scores


def json_text(scores: Scores, command: str, per_query: bool = False) -> str:
    """The scores as one JSON object with keys in a fixed order; one result, input or value a line.

    The keys are `leadline` (the version), `command`, `seed`, `profile`, `conventions`, `inputs`, `account`,
    `warnings`, `results` and, where asked for, `ppi` and `per_query`. A number that could not be computed is null; NaN
    and Infinity, which JSON does not know, are never written.

    >>> from leadline.scores import Scores
    >>> import json
    >>> list(json.loads(json_text(Scores((), (), {}, {"profile": "leadline-1"}), "evaluate")))[:4]
    ['leadline', 'command', 'seed', 'profile']
    """
    document = {
        "leadline": tool_version(),
        "command": command,
        "seed": scores.seed,
        "profile": scores.conventions.get("profile"),
        "conventions": scores.conventions,
        "inputs": [dict(source) for source in scores.inputs],
        "account": scores.account,
        "warnings": list(scores.warnings),
        "results": [row.to_dict() for row in scores.summaries],
    }
    if scores.powered is not None:
        document["ppi"] = scores.powered.to_dict()
    if per_query:
        document["per_query"] = list(value_rows(scores))
    return document_text(document)


def document_text(document: Mapping[str, Any]) -> str:
    """One JSON object, a key after the other, what cannot be said in JSON as null."""
    parts = [f'  "{key}": {_indented(strict(value))}' for key, value in document.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def value_rows(scores: Scores) -> Iterator[dict[str, Any]]:
    """One row a value: system, measure, query_id, value (None where there is none), state."""
    for cell in scores.cells:
        pairs = zip(cell.query_ids, cell.values.tolist(), cell.states.tolist(), strict=True)
        for query_id, value, state in pairs:
            yield {
                "system": cell.system,
                "measure": cell.measure,
                "query_id": query_id,
                "value": value if math.isfinite(value) else None,
                "state": STATES[state],
            }


def one_line(value: object) -> str:
    """A value as strict JSON in one line, in UTF-8 text.

    >>> one_line({"a": float("nan"), "b": "ü"})
    '{"a": null, "b": "ü"}'
    """
    return json.dumps(strict(value), ensure_ascii=False, allow_nan=False)


def strict(value: Any) -> Any:
    """The value with only what JSON knows: no NaN, no NumPy numbers, text that UTF-8 can hold."""
    if isinstance(value, str):
        # A path with bytes outside UTF-8 holds lone surrogates, which cannot be written.
        return value if value.isascii() or _encodes(value) else printable(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {strict(str(key)): strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [strict(item) for item in value]
    if hasattr(value, "tolist"):
        return strict(value.tolist())
    return strict(str(value))


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _indented(value: Any) -> str:
    """Lists with one item a line, so that two files can be compared line by line; all else as usual."""
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"    {one_line(item)}" for item in value) + "\n  ]"
    if isinstance(value, dict) and value:
        return "{\n" + ",\n".join(f"    {one_line(k)}: {one_line(v)}" for k, v in value.items()) + "\n  }"
    return one_line(value)

"""Whether a value is as a JSON Schema says: the few words of it that answers of models are asked with, and no others."""

from collections.abc import Mapping
from typing import Any

from leadline.errors import UsageError, printable

CHECKED = (
    "type", "enum", "minimum", "maximum", "properties", "required", "additionalProperties", "items", "minItems", "maxItems",
)  # fmt: skip
TOLD = ("title", "description", "$schema", "$id", "default", "examples")
WORDS = (*CHECKED, *TOLD)
"""The words that may stand in a schema: those that are checked, and those that only tell."""

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "number": (int, float), "integer": (int, float),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip


def checked_schema(schema: Mapping[str, Any], where: str = "schema") -> None:
    """Pass a schema of which every word is known.

    Raises
    ------
    UsageError: a word that is not checked here, or one that cannot be meant so.
    """
    if not isinstance(schema, Mapping):
        raise UsageError(f"{where}: a schema is an object")
    for word in schema:
        if word not in WORDS:
            raise UsageError(f"{where}: {printable(str(word))} is not checked; known: {', '.join(CHECKED)}")
    for name in _types(schema):
        if name not in TYPES:
            raise UsageError(f"{where}: there is no type {printable(str(name))}; known: {', '.join(TYPES)}")
    properties = schema.get("properties", {})
    if not isinstance(properties, Mapping):
        raise UsageError(f"{where}: properties is an object")
    for name, inner in properties.items():
        checked_schema(inner, f"{where}.{printable(name)}")
    for word in ("items", "additionalProperties"):
        if word in schema and not (word == "additionalProperties" and isinstance(schema[word], bool)):
            checked_schema(schema[word], f"{where}.{word}")


def broken_rule(value: Any, schema: Mapping[str, Any]) -> str:
    """The first rule that a value breaks, in words; empty where it breaks none. A truth value is no number.

    Raises
    ------
    UsageError: a schema with words that are not checked.

    >>> grade = {"type": "integer", "minimum": 0, "maximum": 3}
    >>> asked = {"type": "object", "properties": {"grade": grade}, "required": ["grade"]}
    >>> [broken_rule(value, asked) for value in ({"grade": 4}, {"grade": True}, {}, {"grade": 3})]
    ['grade is 4, above 3', 'grade is true, not of type integer', 'grade is missing', '']
    """
    checked_schema(schema)
    return _broken(value, schema, "")


def _broken(value: Any, schema: Mapping[str, Any], where: str) -> str:
    types = _types(schema)
    if types and not any(_is(value, name) for name in types):
        return f"{where or 'the answer'} is {_shown(value)}, not of type {' or '.join(types)}"
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        known = ", ".join(_shown(one) for one in schema["enum"])
        return f"{where or 'the answer'} is {_shown(value)}, not one of {known}"
    if _is(value, "number"):
        return _number(value, schema, where)
    if isinstance(value, dict):
        return _object(value, schema, where)
    return _list(value, schema, where) if isinstance(value, list) else ""


def _number(value: float, schema: Mapping[str, Any], where: str) -> str:
    if "minimum" in schema and value < schema["minimum"]:
        return f"{where or 'the answer'} is {_shown(value)}, below {schema['minimum']}"
    if "maximum" in schema and value > schema["maximum"]:
        return f"{where or 'the answer'} is {_shown(value)}, above {schema['maximum']}"
    return ""


def _object(value: dict[str, Any], schema: Mapping[str, Any], where: str) -> str:
    for name in schema.get("required", ()):
        if name not in value:
            return f"{_within(where, name)} is missing"
    known, rest = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, inner in value.items():
        rule = known.get(name, rest)
        if rule is False:
            return f"{_within(where, name)} was not asked for"
        if isinstance(rule, Mapping) and (said := _broken(inner, rule, _within(where, name))):
            return said
    return ""


def _list(value: list[Any], schema: Mapping[str, Any], where: str) -> str:
    least, most = schema.get("minItems", 0), schema.get("maxItems")
    if len(value) < least or (most is not None and len(value) > most):
        wanted = f"at least {least}" if len(value) < least else f"at most {most}"
        return f"{where or 'the answer'} has {len(value)} items, {wanted} were asked for"
    if "items" in schema:
        for number, inner in enumerate(value):
            if said := _broken(inner, schema["items"], f"{where}[{number}]"):
                return said
    return ""


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    found = schema.get("type", ())
    return (found,) if isinstance(found, str) else tuple(found)


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[name])


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1, and 1.0 is."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _within(where: str, name: str) -> str:
    shown = printable(name)[:60]
    return f"{where}.{shown}" if where else shown


def _shown(value: Any) -> str:
    import json

    text = printable(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= 60 else f"{text[:57]}..."

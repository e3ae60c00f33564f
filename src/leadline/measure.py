"""What a measure is: its name, parameters and cutoff as data, its definition, and its text and back."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from leadline.errors import UsageError

Value = int | float | bool | str | tuple[tuple[float, float], ...]
"""A parameter's value; a map of grades to gains is a sorted tuple of pairs, so that it can be hashed."""

GAINS: dict[object, tuple[str, ...]] = {"gain": ("exp2", "linear"), "unit gain": ("binary", "exp2", "linear")}
"""The words that a gain may be."""
MEASURE_TEXT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9_]\w*)\s*(?:\((?P<params>.*)\))?\s*(?:@\s*(?P<cutoff>[^@\s]+))?\s*", re.S
)
PARAM_TEXT = re.compile(
    r"\s*(?P<key>[A-Za-z_]\w*)\s*(?:=\s*(?P<value>\{[^{}]*\}|'[^']*'|\"[^\"]*\"|[^,{}'\"]+?)\s*)?(?:,|$)"
)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a measure: its name, default, meaning in a sentence, and what it accepts.

    `accepts` is `number`, `whole`, `flag`, `gain` (exp2, linear or a map of gains), `unit gain` (those or
    binary) or a tuple of allowed words.
    """

    name: str
    default: Value | None
    meaning: str
    accepts: str | tuple[str, ...] = "number"
    low: float = float("-inf")
    high: float = float("inf")


@dataclass(frozen=True)
class Definition:
    """A row of the catalogue: everything that is known of one measure.

    Attributes
    ----------
    name: the canonical name, as in ir_measures.
    title: the name in words. summary: one line. source: where the definition comes from.
    function: `function(hits, cutoff, **parameters) -> array of shape (queries,)`, NaN where undefined.
    cutoff: `no`, `optional` or `required` (a rank), or `level` (a recall level in [0, 1]).
    parameters: besides the cutoff. example: a measure text that works.
    differs: how the same word is used elsewhere.
    aggregate: how queries become one number: `mean`, `sum` or `geometric`.
    needs_relevant: undefined for a query without a relevant document.
    ranked: depends on the ranking, so that a condensed form (`judged_only`) exists.
    bounds: how unjudged documents bound it (see `measures/bounds.py`): `ends`, `count`, `top`, `grades`,
        `outer` or `none`.
    sampled: an estimate from a sampled pool, for which the judgments must name each pair's stratum.
    expected: the function for the expected value over random order of ties, where there is a closed form.
    high: the largest possible value where it is known. better: `higher`, `lower` or `neither`.
    own: registered by a user.
    needs: what it is measured against: judged documents, documents judged by subtopic, or ranges of text that are
        evidence.
    """

    name: str
    title: str
    summary: str
    source: str
    function: Callable[..., Any]
    example: str
    cutoff: Literal["no", "optional", "required", "level"] = "optional"
    parameters: tuple[Parameter, ...] = ()
    differs: str = ""
    aggregate: Literal["mean", "sum", "geometric"] = "mean"
    needs_relevant: bool = True
    ranked: bool = True
    bounds: Literal["ends", "count", "top", "grades", "outer", "none"] = "outer"
    expected: Callable[..., Any] | None = None
    high: float | None = 1.0
    better: Literal["higher", "lower", "neither"] = "higher"
    own: bool = False
    sampled: bool = False
    needs: Literal["judgments", "subtopics", "evidence"] = "judgments"


@dataclass(frozen=True)
class Measure:
    """One measure as asked for: hashable, and equal to what `parse(str(measure))` gives.

    `parameters` holds only those that differ from the defaults, in the order of the definition.

    >>> str(Measure("nDCG", 10, (("gain", "linear"),)))
    'nDCG(gain=linear)@10'
    """

    name: str
    cutoff: int | float | None = None
    parameters: tuple[tuple[str, Value], ...] = ()
    definition: Definition | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """The canonical text: the column name, the key in JSON, and what `parse` reads back."""
        inner = ",".join(
            key if value is True else f"{key}={value_text(value)}" for key, value in self.parameters
        )
        text = f"{self.name}({inner})" if inner else self.name
        return text if self.cutoff is None else f"{text}@{value_text(self.cutoff)}"

    def value(self, name: str) -> Any:
        """The value of a parameter: the one asked for, or the default of the definition."""
        for key, value in self.parameters:
            if key == name:
                return value
        assert self.definition is not None
        return next(p.default for p in self.definition.parameters if p.name == name)

    def arguments(self) -> dict[str, Any]:
        """All parameters with their values, as keyword arguments of the definition's function."""
        assert self.definition is not None
        return {p.name: self.value(p.name) for p in self.definition.parameters if p.name != "judged_only"}

    @property
    def sampled(self) -> bool:
        """True for an estimate from a sampled pool, which counts on what is not judged: no judging comes first."""
        assert self.definition is not None
        return self.definition.sampled

    @property
    def reads_top(self) -> bool:
        """Whether the value depends on the top of the grades' scale, and the name declares none."""
        return self.has("max_grade") and self.value("max_grade") is None

    @property
    def of_subtopics(self) -> bool:
        """True for a measure of documents judged by subtopic."""
        assert self.definition is not None
        return self.definition.needs == "subtopics"

    @property
    def can_be_completed(self) -> bool:
        """True where it can be asked what grading an unjudged document would change.

        An estimate from a sampled pool counts on what is not judged; and a grade alone does not say which subtopics
        a document is about.
        """
        return not self.sampled and not self.of_subtopics

    def has(self, name: str) -> bool:
        """True where the measure has a parameter of that name."""
        assert self.definition is not None
        return any(p.name == name for p in self.definition.parameters)


def value_text(value: Value) -> str:
    """A parameter's value as it stands in a measure's text.

    >>> value_text(((1.0, 3.0), (2.0, 9.0))), value_text(0.8), value_text(True)
    ('{1:3,2:9}', '0.8', 'true')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "{" + ",".join(f"{value_text(g)}:{value_text(v)}" for g, v in value) + "}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def split_text(text: str) -> tuple[str, dict[str, str], str | None]:
    """A measure's text taken apart: name, parameters as text, cutoff as text.

    Raises
    ------
    UsageError: the text has not the form `Name(key=value,…)@cutoff`.

    >>> split_text("nDCG(gain='linear')@10")
    ('nDCG', {'gain': 'linear'}, '10')
    """
    match = MEASURE_TEXT.fullmatch(text)
    if match is None:
        raise UsageError(
            f"measure {text!r} has not the form Name(key=value,…)@cutoff, for example nDCG@10 or P(rel=2)@5"
        )
    return match["name"], _split_parameters(match["params"] or "", text), match["cutoff"]


def _split_parameters(inner: str, text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    position = 0
    while inner[position:].strip():
        match = PARAM_TEXT.match(inner, position)
        if match is None:
            raise UsageError(f"measure {text!r}: cannot read {inner[position:].strip()!r} as key=value")
        if match["key"] in found:
            raise UsageError(f"measure {text!r}: {match['key']!r} is given twice")
        # A flag needs no value: nDCG(judged_only)@10.
        found[match["key"]] = (match["value"] or "true").strip().strip("'\"")
        position = match.end()
    return found


def split_list(text: str) -> list[str]:
    """A list of measures apart at commas and white space that stand outside brackets.

    >>> split_list("nDCG@10, P(rel=2,judged_only=true)@5 RR")
    ['nDCG@10', 'P(rel=2,judged_only=true)@5', 'RR']
    """
    parts, depth, current = [], 0, ""
    for char in re.sub(r"\s*@\s*", "@", text):
        depth += (char in "({") - (char in ")}")
        if depth == 0 and (char == "," or char.isspace()):
            parts.append(current)
            current = ""
        else:
            current += char
    return [part for part in [*parts, current] if part]


def read_value(parameter: Parameter, given: object, measure: str) -> Value:
    """A parameter's value from text or a Python value, checked against what the parameter accepts.

    Raises
    ------
    UsageError: the value is not of the kind or range that the parameter accepts.
    """
    problem = f"measure {measure}: {parameter.name}={given}"
    if isinstance(given, Mapping) or (isinstance(given, str) and given.startswith("{")):
        if parameter.accepts not in GAINS:
            raise UsageError(f"{problem}: takes no map")
        return _read_gains(given, problem)
    accepts = GAINS.get(parameter.accepts, parameter.accepts)
    if isinstance(accepts, tuple):
        if str(given) in accepts:
            return str(given)
        raise UsageError(f"{problem} is not one of {', '.join(accepts)}")
    if accepts == "flag":
        words = {"true": True, "false": False, "1": True, "0": False}
        if str(given).lower() in words:
            return words[str(given).lower()]
        raise UsageError(f"{problem} is neither true nor false")
    number = _read_number(given, problem)
    if accepts == "whole" and not float(number).is_integer():
        raise UsageError(f"{problem} is not a whole number")
    if not parameter.low <= number <= parameter.high:
        raise UsageError(f"{problem} is outside [{value_text(parameter.low)}, {value_text(parameter.high)}]")
    return number


def _read_number(given: object, problem: str) -> int | float:
    try:
        number = float(str(given))
    except ValueError:
        raise UsageError(f"{problem} is not a number") from None
    if number != number or number in (float("inf"), float("-inf")):
        raise UsageError(f"{problem} is not a finite number")
    return int(number) if number.is_integer() else number


def _read_gains(given: object, problem: str) -> tuple[tuple[float, float], ...]:
    if isinstance(given, Mapping):
        pairs = [(str(grade), str(gain)) for grade, gain in given.items()]
    else:
        parts = [part for part in str(given).strip("{} ").split(",") if part.strip()]
        pairs = [(grade, gain) for grade, _, gain in (part.partition(":") for part in parts)]
    if not pairs:
        raise UsageError(f"{problem}: an empty map of gains")
    return tuple(
        sorted(
            (_read_number(grade.strip(), problem), _read_number(gain.strip(), problem))
            for grade, gain in pairs
        )
    )

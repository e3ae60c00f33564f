"""From a measure's text to a measure: canonical names, the spellings of other tools, and near misses."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from leadline.catalogue import DEFINITIONS
from leadline.conventions import Conventions
from leadline.errors import UnknownNameError, UsageError, printable
from leadline.measure import Definition, Measure, Value, read_value, split_list, split_text

TREC_EVAL: dict[str, str] = {
    "ndcg": "nDCG(gain=linear)",
    "ndcg_cut_#": "nDCG(gain=linear)@#",
    "dcg": "DCG(gain=linear)",
    "map": "AP",
    "map_cut_#": "AP@#",
    "P_#": "P@#",
    "recall_#": "R@#",
    "success_#": "Success@#",
    "unj_#": "Unjudged(over=k)@#",
    "recip_rank": "RR",
    "iprec_at_recall_#": "IPrec@#",
    "11pt_avg": "11pt",
    "bpref": "Bpref",
    "gm_map": "GMAP",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "num_q": "NumQ",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
}
"""trec_eval's spellings, to the letter (# is a number, after _ or .). Its nDCG is linear, and so are these."""
LONGEST = 1000
"""Characters of a measure at most; the longest with every parameter has some hundred."""
NUMBER_AT_END = re.compile(r"[._](\d*\.\d+|\d+)$")

OTHERS: dict[str, str] = {
    "recall": "R",
    "precision": "P",
    "hit_rate": "Success",
    "hitrate": "Success",
    "hit": "Success",
    "mrr": "RR",
    "reciprocal_rank": "RR",
    "map": "AP",
    "average_precision": "AP",
    "context_precision": "AP(denominator=retrieved)",
    "ndcg_burges": "nDCG(gain=exp2)",
    "r-precision": "Rprec",
    "r_precision": "Rprec",
    "f1": "F",
    "alpha-ndcg": "alpha_nDCG",
    "strec": "StRecall",
    "err-ia": "ERR_IA",
}
"""Names of RAG tools, of ranx and of ndeval for ours, whatever their case; a cutoff follows as @k."""

IR_MEASURES_GAIN = {"log2": "linear", "exp-log2": "exp2"}


def parse(text: Any, conventions: Conventions | None = None) -> Measure:
    """The measure that a text names; `parse(str(measure)) == measure`.

    A bare nDCG, DCG or NCG takes the gain of `conventions` (2^g − 1 by default), a bare IPrec or 11pt its rule
    for recall levels. Objects of ir_measures are read by their text.

    Raises
    ------
    UnknownNameError: not understood; the nearest name is offered. UsageError: a parameter or cutoff is wrong.

    >>> str(parse("ndcg_cut_10")), str(parse("mrr@10")), str(parse("P(rel=2)@5"))
    ('nDCG(gain=linear)@10', 'RR@10', 'P(rel=2)@5')
    """
    if isinstance(text, Measure):
        return text
    asked = str(text).strip()
    if len(asked) > LONGEST:
        raise UsageError(f"measure {printable(asked[:60])!r}…: longer than {LONGEST:,} characters")
    rules = conventions or Conventions()
    if type(text).__module__.split(".")[0] == "ir_measures":
        # Its objects leave out what is their default: the grade as gain.
        rules = replace(rules, gain="linear")
    measure = _read(asked, rules)
    if measure is None:
        raise _unknown(asked)
    return measure


def _read(asked: str, conventions: Conventions) -> Measure | None:
    """The measure of a text; None where the name is not known."""
    name, given, cutoff = split_text(_canonical_spelling(asked))
    name = {known.lower(): known for known in DEFINITIONS}.get(name.lower(), name)
    if name == "NumRet" and "rel" in given:
        name = "NumRelRet"
    if name not in DEFINITIONS:
        return None
    definition = DEFINITIONS[name]
    values = _parameters(definition, given, asked)
    for key, value in _bare(definition, conventions).items():
        values.setdefault(key, value)
    own = [p for p in definition.parameters if values.get(p.name, p.default) != p.default]
    kept = tuple((p.name, values[p.name]) for p in own)
    return Measure(name, _cutoff(definition, cutoff, asked), kept, definition)


def parse_all(texts: str | Iterable[Any] | Any, conventions: Conventions | None = None) -> dict[str, Measure]:
    """The measures of a list (commas and repetition both work), by the text as asked; equal ones come once."""
    items = [texts] if isinstance(texts, (str, Measure)) or not isinstance(texts, Iterable) else list(texts)
    asked: dict[str, Measure] = {}
    for item in items:
        for text in split_list(item) if isinstance(item, str) else [item]:
            asked[str(text)] = parse(text, conventions)
    if not asked:
        raise UsageError("no measure was named; nDCG@10, R@5 and RR are good ones to begin with")
    return asked


def _canonical_spelling(text: str) -> str:
    if text in TREC_EVAL:
        return TREC_EVAL[text]
    number = NUMBER_AT_END.search(text)
    pattern = f"{text[: number.start()]}_#" if number else ""
    if number and pattern in TREC_EVAL:
        return TREC_EVAL[pattern].replace("#", number[1])
    head = re.match(r"[A-Za-z_][\w-]*", text)
    if head and head[0].lower() in OTHERS and head[0] not in DEFINITIONS:
        return OTHERS[head[0].lower()] + text[head.end() :]
    return text


def _parameters(definition: Definition, given: dict[str, str], asked: str) -> dict[str, Value]:
    known = {p.name: p for p in definition.parameters}
    values: dict[str, Value] = {}
    for key, text in given.items():
        if key == "dcg" and "gain" in known:
            if text not in IR_MEASURES_GAIN:
                raise UsageError(f"measure {asked}: dcg={text} is not one of {', '.join(IR_MEASURES_GAIN)}")
            key, text = "gain", IR_MEASURES_GAIN[text]
        if key == "gains" and "gain" in known:
            key = "gain"
        if key not in known:
            raise UnknownNameError("parameter", key, known or ["none"], where=definition.name)
        if text == "None":
            continue
        values[key] = read_value(known[key], text, asked)
    return values


def _bare(definition: Definition, conventions: Conventions) -> dict[str, Value]:
    """What a profile reads into a bare name."""
    names = {p.name for p in definition.parameters}
    bare: dict[str, Value] = {}
    if "gain" in names and definition.name in ("nDCG", "DCG", "NCG"):
        bare["gain"] = conventions.gain
    if "levels" in names:
        bare["levels"] = conventions.recall_levels
    return bare


def _cutoff(definition: Definition, text: str | None, asked: str) -> int | float | None:
    kind = definition.cutoff
    if text is None:
        if kind in ("required", "level"):
            raise UsageError(f"measure {asked} needs a cutoff, for example {definition.example}")
        return None
    if kind == "no":
        raise UsageError(f"measure {asked}: {definition.name} takes no cutoff")
    try:
        number = float(text)
    except ValueError:
        raise UsageError(f"measure {asked}: the cutoff {text!r} is not a number") from None
    if kind == "level":
        if not 0 <= number <= 1:
            raise UsageError(f"measure {asked}: the recall level {text} is outside [0, 1]")
        return int(number) if number.is_integer() else number
    if not (number.is_integer() and 1 <= number <= 1e9):
        raise UsageError(f"measure {asked}: the cutoff {text} is not a whole number of at least 1")
    return int(number)


def _unknown(asked: str) -> UsageError:
    """The error for a name that is not understood, with the spelling that was probably meant."""
    import difflib

    name, _, cutoff = split_text(asked)
    tail = re.fullmatch(r"(.+?)[._]?(\d+)", name) if cutoff is None else None
    if tail:
        meant = _first_read(
            [f"{tail[1].rstrip('._')}@{tail[2]}", f"{_canonical_spelling(tail[1])}@{tail[2]}"]
        )
        if meant:
            return UsageError(f"unknown measure {printable(asked)!r}: did you mean {meant}?")
    known = [*(name.removesuffix("_#") for name in TREC_EVAL), *OTHERS, *DEFINITIONS]
    near = difflib.get_close_matches(name.lower(), {one.lower(): one for one in known}, n=1)
    if near:
        spelled = {one.lower(): one for one in known}[near[0]]
        meant = _first_read([f"{spelled}@{cutoff or 10}", spelled] if cutoff else [spelled, f"{spelled}@10"])
        if meant:
            hint = f"did you mean {meant}? (`leadline measures` lists all)"
            return UsageError(f"unknown measure {printable(asked)!r}: {hint}")
    return UnknownNameError("measure", asked, DEFINITIONS, "(`leadline measures` explains them)")


def _first_read(texts: Iterable[str]) -> str | None:
    """The first of the texts that is a measure, by its canonical name."""
    for text in texts:
        try:
            measure = _read(text, Conventions())
        except UsageError:
            continue
        if measure is not None:
            return str(measure)
    return None

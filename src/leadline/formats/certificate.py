"""Reading a certificate back: strictly, since a gate goes by it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leadline.certificate import VERSION, Certificate, Judge, MeasureCheck, reasons_against
from leadline.errors import InputError, printable

Kinds = Mapping[str, tuple[type, ...]]
NUMBER: tuple[type, ...] = (int, float)
NOTHING = type(None)
FIELDS: Kinds = {
    "leadline": (str,), "command": (str,), "version": (int,), "date": (str,), "seed": (int,), "judge": (dict, NOTHING),
    "valid": (bool,), "reasons": (list,), "valid_for_gating": (bool,), "gating_reasons": (list,), "remarks": (list,),
    "n": (int,), "queries": (int,), "grades": (list,), "sample": (dict,), "inputs": (list,),
    "exact_agreement": (*NUMBER, NOTHING), "agreement": (dict,), "majority_baseline": (*NUMBER, NOTHING),
    "majority": (dict,), "kappa": (dict,), "kappa_unweighted": (dict,), "ac2": (*NUMBER, NOTHING), "bias": (dict,),
    "by_grade": (list,), "confusion": (list,), "confusion_meaning": (str,), "systems": (dict, NOTHING),
    "gating": (list,), "conventions": (dict,),
}  # fmt: skip
"""Every field of a certificate, in the order written, and what it may hold."""
CHECK: Kinds = {
    "measure": (str,), "system": (str,), "margin": NUMBER, "difference": (*NUMBER, NOTHING), "low": (*NUMBER, NOTHING),
    "high": (*NUMBER, NOTHING), "n": (int,), "reason": (str, NOTHING), "within": (bool,),
}  # fmt: skip
"""The fields of a row of `gating`."""


def read_certificate(path: str | Path) -> Certificate:
    """The certificate of a file that `leadline certify --write FILE.json` wrote.

    Raises
    ------
    InputError: no such file, no JSON, no certificate, another version, a missing or unknown field, a value of the wrong
        kind, or a document that contradicts itself: valid against its own numbers.
    """
    where = printable(str(path))
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InputError(f"{where}: the certificate cannot be read: {said}") from None
    try:
        body = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: no JSON: {printable(str(error))}") from None
    return certificate_of(body, where)


def certificate_of(body: Any, where: str = "certificate") -> Certificate:
    """The certificate of a document, as `read_certificate` reads it from a file.

    Raises
    ------
    InputError: as there.
    """
    if not isinstance(body, dict) or body.get("command") != "certify":
        raise InputError(f"{where}: no certificate: leadline certify writes one with --write FILE.json")
    if body.get("version") != VERSION:
        found = json.dumps(body.get("version"))[:20]
        raise InputError(f"{where}: a certificate of version {found}; this Leadline reads version {VERSION}")
    _check(body, FIELDS, where)
    for name in ("reasons", "gating_reasons", "remarks"):
        if not all(isinstance(one, str) for one in body[name]):
            raise InputError(f"{where}: {name}: expected a list of sentences")
    checks = []
    for number, row in enumerate(body["gating"], 1):
        place = f"{where}: gating, row {number}"
        if not isinstance(row, dict):
            raise InputError(f"{place}: expected an object")
        _check(row, CHECK, place)
        check = MeasureCheck(**{name: row[name] for name in CHECK if name != "within"})
        if check.within != row["within"]:
            raise InputError(f"{place}: within is {row['within']}, which its own interval contradicts")
        checks.append(check)
    judge = Judge("") if body["judge"] is None else Judge.from_dict(body["judge"], f"{where}: judge")
    _consistent(body, where)
    return Certificate(judge, body["valid"], tuple(body["reasons"]), tuple(checks), body)


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _check(row: Mapping[str, Any], known: Kinds, where: str) -> None:
    """Refuse missing and unknown fields and values of the wrong kind."""
    unknown, missing = (
        [name for name in row if name not in known],
        [name for name in known if name not in row],
    )
    if unknown:
        raise InputError(f"{where}: unknown field {printable(unknown[0])!r}")
    if missing:
        raise InputError(f"{where}: the field {missing[0]!r} is missing")
    for name, kinds in known.items():
        value = row[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            wanted = " or ".join(_SPOKEN[kind] for kind in kinds if kind is not int or float not in kinds)
            raise InputError(f"{where}: {name}: found {json.dumps(value)[:80]}, expected {wanted}")


_SPOKEN = {
    str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "an object",
    NOTHING: "null",
}  # fmt: skip


def _consistent(body: Mapping[str, Any], where: str) -> None:
    """Refuse a certificate that calls itself valid against its own numbers."""
    if body["valid"] == bool(body["reasons"]):
        raise InputError(f"{where}: valid is {str(body['valid']).lower()}, which its reasons contradict")
    kappa: Mapping[str, Any] = body["kappa"]
    low, design = kappa.get("low"), body["sample"].get("design")
    if not (low is None or isinstance(low, int | float)) or not (design is None or isinstance(design, str)):
        raise InputError(f"{where}: kappa.low or sample.design holds a value of another kind")
    against = reasons_against(
        design=design,
        queries=body["queries"],
        pairs=body["n"],
        kappa_low=low,
        agreement=body["exact_agreement"],
        majority=body["majority_baseline"],
    )
    if body["valid"] and against:
        raise InputError(f"{where}: it says that it is valid, but {against[0]}")

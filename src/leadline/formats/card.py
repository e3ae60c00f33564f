"""The card beside a file of labels: who made them. `qrels.txt` has its card in `qrels.txt.leadline.json`."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.certificate import Judge
from leadline.errors import InputError, printable
from leadline.formats.write import atomic_write

ENDING = ".leadline.json"
KINDS = ("person", "model")


@dataclass(frozen=True)
class Card:
    """Who made the labels of one file.

    Attributes
    ----------
    kind: `person` or `model`. judge: of a model's labels. labels: how many rows the file had. sha256: of the file's bytes;
    a file that was changed afterwards is not what the card tells of. certificate: path of a certificate, or None.
    """

    kind: str
    judge: Judge | None = None
    labels: int | None = None
    sha256: str | None = None
    certificate: str | None = None
    made: str = ""


def card_path(labels: str | Path) -> Path:
    """Where the card of a file of labels stands.

    >>> card_path("a/qrels.txt").name
    'qrels.txt.leadline.json'
    """
    path = Path(labels)
    return path.with_name(path.name + ENDING)


def write_card(labels: str | Path, card: Card) -> Path:
    """Write the card beside the file, whole or not at all, and return its path."""
    row: dict[str, Any] = {"kind": card.kind}
    if card.judge is not None:
        row["judge"] = card.judge.to_dict()
    for name in ("labels", "sha256", "certificate", "made"):
        if getattr(card, name):
            row[name] = getattr(card, name)
    path = card_path(labels)
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(row, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def read_card(labels: str | Path) -> Card | None:
    """The card beside a file of labels; None where there is none.

    Raises
    ------
    InputError: no JSON, an unknown field or kind, a model's card without judge, or a card of another state of the file.
    """
    path = card_path(labels)
    if not path.is_file():
        return None
    where = printable(str(path))
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: no JSON: {printable(str(error))}") from None
    card = _card(row, where)
    if card.sha256 is not None and card.sha256 != hash_of(labels):
        raise InputError(
            f"{where}: made for another state of {printable(Path(labels).name)} (its SHA-256 differs); "
            "make the labels again, or remove the card and say kind and certificate in the policy"
        )
    return card


def hash_of(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _card(row: Any, where: str) -> Card:
    known: Mapping[str, type | tuple[type, ...]] = {
        "kind": str, "judge": dict, "labels": int, "sha256": str, "certificate": str, "made": str,
    }  # fmt: skip
    if not isinstance(row, dict):
        raise InputError(f"{where}: expected an object with kind")
    for name, value in row.items():
        if name not in known:
            raise InputError(f"{where}: unknown field {printable(name)!r}; known: {', '.join(known)}")
        if not isinstance(value, known[name]) or isinstance(value, bool):
            raise InputError(f"{where}: {name}: found {json.dumps(value)[:80]}")
    if row.get("kind") not in KINDS:
        raise InputError(f"{where}: kind is not one of {', '.join(KINDS)}")
    if row["kind"] == "model" and "judge" not in row:
        raise InputError(f"{where}: kind model needs judge, at least its model's name")
    judge = Judge.from_dict(row["judge"], where) if "judge" in row else None
    return Card(**(row | {"judge": judge}))

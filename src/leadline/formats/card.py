"""The card beside a file of labels: who made them. `qrels.txt` has its card in `qrels.txt.leadline.json`."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from leadline.certificate import Certificate, Judge
from leadline.errors import InputError, UsageError, printable
from leadline.formats.certificate import read_certificate
from leadline.tables import Qrels

ENDING = ".leadline.json"
KINDS = ("person", "model", "mixed")
"""`mixed`: labels of a book, some a person's and some a model's."""
FOLDER = "labels"
"""Within a folder (BEIR) the card is `labels.leadline.json`."""


@dataclass(frozen=True)
class Card:
    """Who made the labels of one file.

    Attributes
    ----------
    kind: `person`, `model` or `mixed`. judge: of a model's labels. labels: how many rows the file had. sha256: of the
    file's bytes; a file that was changed afterwards is not what the card tells of. certificate: path of a certificate, from
    the card's folder, or None. judges: where they are several. models: how many of mixed labels are a model's.
    asked: by query and document the hash of what a model was asked (`judging.autojudge.Item.asked`): a label of another text
    is not the label of this one. book: what a card beside labels of a book says besides, as plain values.
    """

    kind: str
    judge: Judge | None = None
    labels: int | None = None
    sha256: str | None = None
    certificate: str | None = None
    made: str = ""
    judges: tuple[Judge, ...] = ()
    models: int | None = None
    asked: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    book: Mapping[str, Any] = field(default_factory=dict)


def card_path(labels: str | Path, folder: bool | None = None) -> Path:
    """Where the card of labels stands; `folder` says whether they are one, where they may not be there yet.

    >>> card_path("a/qrels.txt").name, card_path("a", folder=True).as_posix()
    ('qrels.txt.leadline.json', 'a/labels.leadline.json')
    """
    # Beside the file that a link leads to: whoever reads that by its own name finds it.
    path = Path(labels).resolve() if Path(labels).is_symlink() else Path(labels)
    inside = path.is_dir() if folder is None else folder
    return path / f"{FOLDER}{ENDING}" if inside else path.with_name(path.name + ENDING)


def card_beside(labels: str | Path) -> Path | None:
    """The card of labels that are there: their own, or that of the BEIR folder in whose `qrels` they stand; None without one."""
    own = card_path(labels)
    folder = own.parent.parent
    of_folder = card_path(folder, folder=True) if own.parent.name == "qrels" and folder.is_dir() else own
    return next((one for one in (own, of_folder) if one.is_file()), None)


def refuse_other_splits(folder: str | Path, models: bool) -> None:
    """Before judgments are written into a BEIR folder, as its split `test`: refuse where its one card tells of others too.

    Parameters
    ----------
    models: whether a card will go along; else one that is there would go away.

    Raises
    ------
    UsageError: the folder has judgments of other splits, of which another thing would be said then.
    """
    found = {one.name.partition(".tsv")[0] for one in Path(folder, "qrels").glob("*.tsv*")} - {"test"}
    if found and (models or card_path(folder, folder=True).is_file()):
        raise UsageError(
            f"{printable(str(folder))} holds judgments of {', '.join(map(printable, sorted(found)))} too, and one card tells "
            "of them all: name another folder"
        )


def write_card(labels: str | Path, card: Card) -> Path:
    """Write the card beside the file, whole or not at all, and return its path."""
    row: dict[str, Any] = {"kind": card.kind}
    if card.judge is not None:
        row["judge"] = card.judge.to_dict()
    if card.judges:
        row["judges"] = [judge.to_dict() for judge in card.judges]
    for name in ("labels", "sha256", "certificate", "made", "asked"):
        if getattr(card, name):
            row[name] = getattr(card, name)
    row |= card.book
    return write_card_row(card_path(labels), row)


def write_card_row(place: Path, row: Mapping[str, Any]) -> Path:
    """Write what a card says, whole or not at all, and return its path.

    Raises
    ------
    UsageError: a place that cannot be written to.
    """
    # Polars comes with it, which reading a card does not need.
    from leadline.formats.write import atomic_write

    with atomic_write(place) as temporary:
        temporary.write_text(json.dumps(row, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return place


def read_card(labels: str | Path) -> Card | None:
    """The card beside a file of labels; None where there is none.

    Raises
    ------
    InputError: no JSON, an unknown field or kind, a model's card without judge, or a card of another state of the file.
    """
    path = card_beside(labels)
    if path is None:
        return None
    where = printable(str(path))
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: no JSON: {printable(str(error))}") from None
    card = _card(row, where)
    if (
        card.sha256 is not None
        and path == card_path(labels)
        and Path(labels).is_file()
        and card.sha256 != hash_of(labels)
    ):
        raise InputError(
            f"{where}: made for another state of {printable(Path(labels).name)} (its SHA-256 differs); "
            "make the labels again, or remove the card and say kind and certificate in the policy"
        )
    return card


def with_card(qrels: Qrels, path: str | Path) -> Qrels:
    """The judgments of a file with what its card says of them: whose they are, and what certifies the judge.

    Raises
    ------
    InputError: the card or the certificate that it names cannot be read, or is wrong.
    """
    card = None if str(path) == "-" else read_card(path)
    if card is None or card.kind == "person":
        return qrels
    total = len(qrels.rows.number)
    models = total if card.models is None else min(card.models, total)
    judges = card.judges or (() if card.judge is None else (card.judge,))
    certificate = None
    if card.certificate is not None:
        beside = card_beside(path) or card_path(path)
        certificate = read_certificate(beside.parent / card.certificate)
    return replace(qrels, models=models, judges=judges, certificate=certificate)


def with_certificate(qrels: Qrels, certificate: str | Path | Certificate) -> Qrels:
    """The judgments with a certificate that was named for them; where no card said whose they are, they are its judge's.

    Raises
    ------
    UsageError: labels of a book that are all people's. InputError: it cannot be read.
    """
    found = certificate if isinstance(certificate, Certificate) else read_certificate(certificate)
    if qrels.models:
        return replace(qrels, certificate=found)
    if qrels.rule is not None:
        raise UsageError(
            f"{printable(qrels.source)}: no label of a model is in it, so there is nothing to certify"
        )
    judges = (found.judge,) if found.judge.model else ()
    return replace(qrels, models=len(qrels.rows.number), judges=judges, certificate=found)


def hash_of(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, hex."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _card(row: Any, where: str) -> Card:
    known: Mapping[str, type | tuple[type, ...]] = {
        "kind": str, "judge": dict, "labels": int, "sha256": str, "certificate": str, "made": str, "judges": list,
        "leadline": str, "file": str, "account": dict, "models": list, "pairs_of_models": list,
        "asked": dict,
    }  # fmt: skip
    if not isinstance(row, dict):
        raise InputError(f"{where}: expected an object with kind")
    for name, value in row.items():
        if name not in known:
            raise InputError(f"{where}: unknown field {printable(name)!r}; known: {', '.join(known)}")
        if not isinstance(value, known[name]) or isinstance(value, bool):
            raise InputError(f"{where}: {name}: found {json.dumps(value)[:80]}")
    # Cards of a book's labels had no kind before; they stand only where a model's labels are among them.
    row = {"kind": "mixed", **row} if "pairs_of_models" in row else row
    if row.get("kind") not in KINDS:
        raise InputError(f"{where}: kind is not one of {', '.join(KINDS)}")
    if row["kind"] == "model" and "judge" not in row and not row.get("judges"):
        raise InputError(f"{where}: kind model needs judge, at least its model's name")
    judge = Judge.from_dict(row["judge"], where) if "judge" in row else None
    for docs in row.get("asked", {}).values():
        if not isinstance(docs, dict) or not all(isinstance(one, str) for one in docs.values()):
            raise InputError(f"{where}: asked: expected an object of documents and hashes for each query")
    names = ("kind", "labels", "sha256", "certificate", "made", "asked")
    taken = {name: row[name] for name in names if name in row}
    return Card(**taken, judge=judge, judges=_judges(row, where), models=_models(row))


def _judges(row: Mapping[str, Any], where: str) -> tuple[Judge, ...]:
    """The judges of a book's labels; of an older card no more than their names."""
    if "judges" in row:
        if not all(isinstance(one, dict) for one in row["judges"]):
            raise InputError(f"{where}: judges: expected a list of objects")
        return tuple(Judge.from_dict(one, where) for one in row["judges"])
    names = [one.get("who") for one in row.get("models", ()) if isinstance(one, dict)]
    return tuple(Judge(name) for name in names if isinstance(name, str) and name)


def _models(row: Mapping[str, Any]) -> int | None:
    """How many labels are a model's; None: all."""
    return len(row["pairs_of_models"]) if "pairs_of_models" in row else None

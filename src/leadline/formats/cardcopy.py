"""The card of labels that are converted: it goes with them, as of the new file."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leadline.certificate import Judge
from leadline.formats.card import card_beside, hash_of, read_card
from leadline.formats.renamed import Rule, one_renamed

PAIRS, ASKED = "pairs_of_models", "asked"


@dataclass(frozen=True)
class Carried:
    """A card that was read, with all that it says, to be written beside another file of the same labels.

    Attributes
    ----------
    row: what it says. source: the path of the card.
    """

    row: Mapping[str, Any]
    source: Path

    @property
    def sentence(self) -> str:
        """Who made the labels, in words."""
        return {
            "person": "that people made them",
            "model": "that a model made them",
            "mixed": "that a model made some of them",
        }[str(self.row.get("kind", "mixed"))]

    def renamed(self, named: Mapping[str, str], rule: Rule | None, queries: bool) -> "Carried":
        """With the pairs that it names under the new names, and their ids by the rule (those of queries where asked).

        A name that is not known stays: fewer labels of a model than there are would be said otherwise.

        >>> card = Carried({"pairs_of_models": [["star trek", "a b"]]}, Path("a.leadline.json"))
        >>> card.renamed({"star trek": "q1"}, "escape", True).row
        {'pairs_of_models': [['q1', 'a%20b']]}
        """

        def one(pair: Any) -> Any:
            if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(id_, str) for id_ in pair)):
                return pair
            query, doc = named.get(pair[0], pair[0]), pair[1]
            if rule is None:
                return [query, doc]
            shown = str(self.source)
            return [one_renamed(query, rule, shown) if queries else query, one_renamed(doc, rule, shown)]

        row = dict(self.row)
        if PAIRS in row:
            row[PAIRS] = [one(pair) for pair in row[PAIRS]]
        if ASKED in row:
            found: dict[str, dict[str, str]] = {}
            for query, docs in row[ASKED].items():
                for doc, hashed in docs.items():
                    named_query, named_doc = one([query, doc])
                    found.setdefault(named_query, {})[named_doc] = hashed
            row[ASKED] = found
        return replace(self, row=row)

    def of(self, labels: str | Path, place: Path, rows: int, finished: Path | None) -> dict[str, Any]:
        """What it says of the file `labels`, whose card will stand at `place`; `finished` are the file's bytes.

        A folder has no bytes of its own.
        """
        row = dict(self.row)
        row.pop("sha256", None)
        if finished is not None:
            row["sha256"] = hash_of(finished)
        if "labels" in row:
            row["labels"] = rows
        if "file" in row:
            row["file"] = Path(labels).name
        if "certificate" in row:
            there = (self.source.parent / row["certificate"]).resolve()
            row["certificate"] = os.path.relpath(there, place.parent.resolve())
        return row


def carried_card(labels: str) -> Carried | None:
    """The card beside a file or folder of labels that is read; None where there is none.

    Raises
    ------
    InputError: the card is wrong, or of another state of the file.
    """
    place = None if labels == "-" else card_beside(labels)
    if place is None or read_card(labels) is None:
        return None
    return Carried(json.loads(place.read_text(encoding="utf-8")), place)


def card_of_model(model: str) -> Carried | None:
    """The card of labels that a file itself says a model made, of this name; None without one.

    >>> card_of_model("m").sentence
    'that a model made them'
    """
    if not model:
        return None
    return Carried({"kind": "model", "judge": Judge(model).to_dict(), "labels": 0, "file": ""}, Path())

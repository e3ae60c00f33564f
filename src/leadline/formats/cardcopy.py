"""The card of labels that are converted: it goes with them, as of the new file."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leadline.formats.card import card_path, hash_of, read_card
from leadline.formats.renamed import Rule, one_renamed

PAIRS = "pairs_of_models"


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
        """With the pairs that it lists under the new names, and their ids by the rule (those of queries where asked).

        A name that is not known stays: fewer labels of a model than there are would be said otherwise.

        >>> card = Carried({"pairs_of_models": [["star trek", "a b"]]}, Path("a.leadline.json"))
        >>> card.renamed({"star trek": "q1"}, "escape", True).row
        {'pairs_of_models': [['q1', 'a%20b']]}
        """
        if PAIRS not in self.row:
            return self

        def one(pair: Any) -> Any:
            if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(id_, str) for id_ in pair)):
                return pair
            query, doc = named.get(pair[0], pair[0]), pair[1]
            if rule is None:
                return [query, doc]
            shown = str(self.source)
            return [one_renamed(query, rule, shown) if queries else query, one_renamed(doc, rule, shown)]

        return replace(self, row={**self.row, PAIRS: [one(pair) for pair in self.row[PAIRS]]})

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
    if labels == "-" or read_card(labels) is None:
        return None
    place = card_path(labels)
    return Carried(json.loads(place.read_text(encoding="utf-8")), place)

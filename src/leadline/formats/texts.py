"""Texts matched to the documents they are: by the letter, then by normalised text; never by likeness."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

MADE = "text:"
"""How the id of a text begins that is no document's: then come 16 hexadecimal digits of its SHA-256."""
WHITE = re.compile(r"\s+")


def normalised(text: str) -> str:
    r"""A text by what counts: Unicode form NFKC, one blank for any run of white space, none at its ends.

    Case and punctuation count: two texts that differ in them are two texts.

    >>> normalised("  ﬁve\u00a0\n seconds ")
    'five seconds'
    """
    return WHITE.sub(" ", unicodedata.normalize("NFKC", text)).strip()


@dataclass
class Texts:
    """Documents to find texts among, and the count of what was found so far.

    Documents of one normalised text are copies: no text can tell them apart, so all count as the first of them.
    An empty text is no document's.

    Attributes
    ----------
    documents: texts by id. exact, normal, unmatched: how many texts were found by the letter, only after
        normalising, and not at all.

    >>> texts = Texts({"a": "Hold the button.", "b": "Hold  the button.", "c": "Wait."})
    >>> texts.id_of("Wait."), texts.id_of("Hold the\tbutton."), texts.copies
    ('c', 'a', {'b': 'a'})
    >>> texts.id_of("Press it.")[:5], (texts.exact, texts.normal, texts.unmatched)
    ('text:', (1, 1, 1))
    """

    documents: Mapping[str, str]
    exact: int = 0
    normal: int = 0
    unmatched: int = 0
    copies: dict[str, str] = field(default_factory=dict)

    @cached_property
    def _first(self) -> dict[str, str]:
        """The first document of each normalised text; fills `copies`."""
        first: dict[str, str] = {}
        for own, text in self.documents.items():
            key = normalised(text)
            if key and first.setdefault(key, own) != own:
                self.copies[own] = first[key]
        return first

    @cached_property
    def _letters(self) -> set[str]:
        return set(self.documents.values())

    def id_of(self, text: str) -> str:
        """The id of the document that a text is; an id made from the text where it is none's.

        Equal normalised texts get one id, whether they are a document's or not.
        """
        key = normalised(text)
        found = self._first.get(key) if key else None
        if found is None:
            self.unmatched += 1
            return MADE + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        if text in self._letters:
            self.exact += 1
        else:
            self.normal += 1
        return found

    def anew(self) -> "Texts":
        """The same documents with nothing counted yet."""
        other = Texts(self.documents, copies=self.copies)
        other.__dict__.update(_first=self._first, _letters=self._letters)
        return other

    def told(self) -> dict[str, int]:
        """The counts, by the names they have in an account."""
        return {"texts_exact": self.exact, "texts_normalised": self.normal, "texts_unmatched": self.unmatched}

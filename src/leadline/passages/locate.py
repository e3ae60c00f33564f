"""Where the texts of chunks stand in their document, found exactly or not at all."""

from collections.abc import Sequence

FEW = 3
"""How many places of an ambiguous text a message names."""


def locate_in_order(document: str, texts: Sequence[str]) -> list[int | str]:
    """Where each text begins in the document; a sentence in its place where that cannot be told.

    A text that stands in one place is there. Of texts that repeat, the order of the list may leave one place: chunks
    are written from the front of a document to its end, each beginning after the one before. Where the list is not in
    that order, or its order leaves several places, nothing is guessed.

    >>> locate_in_order("one. two. one. three.", ["one.", "two.", "one.", "three."])
    [0, 5, 10, 15]
    >>> locate_in_order("a b a", ["a"])
    ['stands in several places of the document (0, 4): give start and end']
    """
    earliest = _earliest(document, texts)
    latest = None if earliest is None else _latest(document, texts)
    if earliest is None or latest is None:
        return [_alone(document, text) for text in texts]
    return [
        first if first == last else _alone(document, text)
        for text, first, last in zip(texts, earliest, latest, strict=True)
    ]


def _earliest(document: str, texts: Sequence[str]) -> list[int] | None:
    """The first place that each text can have, when each begins after the one before; None where some has none."""
    places, after = [], 0
    for text in texts:
        place = document.find(text, after)
        if place < 0:
            return None
        places.append(place)
        after = place + 1
    return places


def _latest(document: str, texts: Sequence[str]) -> list[int] | None:
    """The last place that each text can have, when each begins before the next one."""
    places, before = [], len(document)
    for text in reversed(texts):
        place = document.rfind(text, 0, before - 1 + len(text)) if before else -1
        if place < 0:
            return None
        places.append(place)
        before = place
    return places[::-1]


def _alone(document: str, text: str) -> int | str:
    """The one place of a text, or what is wrong with it."""
    first = document.find(text)
    if first < 0:
        return "does not stand in its document"
    places, place = [first], document.find(text, first + 1)
    while place >= 0 and len(places) < FEW:
        places.append(place)
        place = document.find(text, place + 1)
    if len(places) == 1:
        return first
    more = ", …" if place >= 0 else ""
    named = ", ".join(map(str, places)) + more
    return f"stands in several places of the document ({named}): give start and end"

"""Packing policies simulated: which retrieved chunks go into the context, in which order, and why the others do not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from leadline.errors import InputError, UsageError, printable
from leadline.passages.contexts import Item, SentRow
from leadline.passages.matching import Known, normal
from leadline.passages.tokens import Tokenizer

Order = Literal["best-first", "edges-first", "best-last"]
Overflow = Literal["stop", "skip", "cut"]
SHINGLE = 3


@dataclass(frozen=True)
class Policy:
    """How to pack.

    Attributes
    ----------
    k: at most so many chunks are looked at. budget: units of the tokenizer that fit (None: no limit).
    overflow: at the first chunk that does not fit: stop there; skip it and try the next ones; or cut it to what is left.
    dedup: a chunk at least this similar to one already taken is dropped (see `similarity`); None: none is.
    order: best-first; best-last; or edges-first: the best at the two ends, as models read the middle worst.
    joiner: length of what stands between two chunks, in units of the tokenizer.
    """

    k: int
    tokenizer: Tokenizer
    budget: int | None = None
    overflow: Overflow = "stop"
    dedup: float | None = None
    order: Order = "best-first"
    joiner: int = 0

    def __post_init__(self) -> None:
        for value, kind, option in ((self.order, Order, "--order"), (self.overflow, Overflow, "--overflow")):
            if value not in get_args(kind):
                raise UsageError(f"{option} {value!r} is not one of {', '.join(get_args(kind))}")
        if self.dedup is not None and not 0 < self.dedup <= 1:
            raise UsageError(f"--dedup {self.dedup:g} is not above 0 and at most 1")


@dataclass
class _Bag:
    """A context while it is packed."""

    items: list[Item] = field(default_factory=list)
    shingles: list[frozenset[str]] = field(default_factory=list)
    dropped: dict[str, str] = field(default_factory=dict)
    size: int = 0
    full: bool = False


def sent_line(query: str, row: SentRow, size: int) -> dict[str, Any]:
    """A packed context as a line of a file of contexts."""
    return {
        "query_id": query,
        "context_ids": [item.chunk_id for item in row.items],
        "contexts": [item.text for item in row.items],
        "size": size,
        "dropped": dict(row.dropped),
    }


def packed(ranked: Sequence[str], texts: Mapping[str, str], policy: Policy) -> tuple[SentRow, int]:
    """The context of one query, and its length, from the ids retrieved, best first, and their texts.

    >>> from leadline.passages.tokens import tokenizer
    >>> texts = {"a": "one two", "b": "one two", "c": "three four five", "d": "six"}
    >>> policy = Policy(3, tokenizer("words"), budget=4, overflow="cut", dedup=1.0)
    >>> row, size = packed(["a", "b", "c", "d"], texts, policy)
    >>> [item.text for item in row.items], size, row.dropped
    (['one two', 'three four'], 4, {'b': 'deduplication', 'd': 'cutoff'})
    """
    bag = _Bag()
    for place, name in enumerate(dict.fromkeys(ranked)):
        if place >= policy.k:
            bag.dropped[name] = "cutoff"
        elif bag.full and policy.overflow != "skip":
            bag.dropped[name] = "budget"
        else:
            _take(bag, name, texts[name], policy)
    return SentRow(tuple(_ordered(bag.items, policy.order)), bag.dropped), bag.size


def _take(bag: _Bag, name: str, text: str, policy: Policy) -> None:
    own = frozenset[str]()
    if policy.dedup is not None:
        own = shingles(text)
        if any(similarity(own, other) >= policy.dedup for other in bag.shingles):
            bag.dropped[name] = "deduplication"
            return
    size = policy.tokenizer.count(text) + (policy.joiner if bag.items else 0)
    if policy.budget is not None and bag.size + size > policy.budget:
        bag.full = True
        left = policy.budget - bag.size - (policy.joiner if bag.items else 0)
        text = _cut(text, left, policy.tokenizer) if policy.overflow == "cut" else ""
        if not text:
            bag.dropped[name] = "budget"
            return
        size = policy.tokenizer.count(text) + (policy.joiner if bag.items else 0)
    bag.items.append(Item(name, text))
    bag.shingles.append(own)
    bag.size += size


def _cut(text: str, left: int, tokenizer: Tokenizer) -> str:
    """The longest beginning that fits; a cut text may have more tokens than it had within the whole one."""
    for room in range(left, 0, -1):
        found = tokenizer.cut(text, room)
        if tokenizer.count(found) <= left:
            return found
    return ""


def shingles(text: str) -> frozenset[str]:
    """The runs of three words of a text, in lower case; of a shorter text the whole of it.

    >>> sorted(shingles("One two  three four"))
    ['one two three', 'two three four']
    """
    words = normal(text).casefold().split()
    return frozenset(" ".join(words[at : at + SHINGLE]) for at in range(max(1, len(words) - SHINGLE + 1)))


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard similarity of two texts' runs of three words: those that both have ÷ those that either has (Broder 1997).

    >>> similarity(shingles("a b c d"), shingles("a b c e"))
    0.3333333333333333
    """
    return len(one & other) / len(one | other) if one | other else 1.0


def _ordered(items: Sequence[Item], order: Order) -> list[Item]:
    """The items, best first, in the order in which they stand in the prompt.

    edges-first: the first, third, fifth, … best from the front, the second, fourth, … from the back.
    """
    if order == "best-last":
        return list(items[::-1])
    if order == "edges-first":
        return [*items[::2], *items[1::2][::-1]]
    return list(items)


def texts_of(ranked: Sequence[str], known: Known, source: str) -> dict[str, str]:
    """The texts of the chunks of a ranking.

    Raises
    ------
    InputError: a chunk that is not there, or has no text.
    """
    found = {}
    for name in ranked:
        row = known.chunks.place.get(name, -1)
        text = known.texts[row] if row >= 0 else None
        if text is None:
            what = "has no text: give chunks with texts, or --documents" if row >= 0 else "is no chunk"
            raise InputError(
                f"{printable(source)}: {printable(name)!r} {what} ({printable(known.chunks.source)})"
            )
        found[name] = text
    return found

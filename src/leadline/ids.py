"""A column of ids: one NumPy array of their UTF-8 bytes, so that ids are compared, ordered and hashed in bulk.

NumPy compares such arrays byte by byte, which is the order of ranking. They need no other library, so that a TREC
run is evaluated without one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

Ids = npt.NDArray[Any]
"""Shape (rows,). Ids of like lengths have dtype S, padded with NUL (which no id holds) to a multiple of eight bytes;
where one is far longer than the rest, the column holds `bytes` objects, so that it does not widen every row.
"""
Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

WORD = 8
WIDEST = 4
"""How many times the text a padded column may take before it becomes one of objects."""
MOST_WORDS = 512
"""From how many words on an id makes its column one of objects: work goes word by word, and grows with their square."""
MASKS = np.array([(1 << 8 * size) - 1 for size in range(WORD + 1)], np.uint64)
"""For a word of eight bytes, what keeps its first 0 to 8 bytes."""


def cut(text: bytes, start: Ints, length: Ints) -> Ids:
    """The ids that stand in a text at `start`, `length` bytes each (at least one).

    >>> cut(b"q1 Q0 doc-1000", np.array([0, 6]), np.array([2, 8])).tolist()
    [b'q1', b'doc-1000']
    """
    widest = int(length.max(initial=1))
    words = -(-widest // WORD)
    if words > MOST_WORDS or words * WORD * len(start) > WIDEST * len(text) + (1 << 16):
        ids = np.empty(len(start), object)
        ids[:] = [text[a:b] for a, b in zip(start.tolist(), (start + length).tolist(), strict=True)]
        return ids
    if int(start.max(initial=0)) + words * WORD > len(text):
        text += bytes(words * WORD)
    # Every eight bytes of the text as a word, at every byte: ids are gathered by the word.
    every = np.ndarray(len(text) - WORD + 1, "<u8", text, strides=(1,))
    out = np.empty((len(start), words), "<u8")
    for word in range(words):
        mask = MASKS[np.clip(np.arange(widest + 1) - word * WORD, 0, WORD)]
        np.bitwise_and(every[start + word * WORD], mask[length], out=out[:, word])
    return out.view(f"S{words * WORD}")[:, 0]


def of_bytes(ids: Sequence[bytes]) -> Ids:
    """A column of the given ids."""
    length = np.fromiter(map(len, ids), np.int64, len(ids))
    return cut(b"".join(ids), np.cumsum(length) - length, length)


def of_texts(ids: Sequence[str]) -> Ids:
    """A column of the given ids.

    >>> of_texts(["é", "b"]) < of_texts(["z", "c"])
    array([False,  True])
    """
    return of_bytes([text.encode() for text in ids])


def of_series(series: "pl.Series") -> Ids:
    """A column of the ids of a Polars column without missing values."""
    length = series.str.len_bytes().to_numpy().astype(np.int64)
    return cut((series.str.join("").item() or "").encode(), np.cumsum(length) - length, length)


def texts(ids: Ids) -> list[str]:
    """The ids as text."""
    return [one.decode() for one in ids.tolist()]


def to_series(ids: Ids) -> "pl.Series":
    """The ids as a Polars column of text."""
    import polars as pl

    if not len(ids):
        return pl.Series([], dtype=pl.String)
    return pl.Series([b"\0".join(ids.tolist()).decode()]).str.split("\0").explode()


def heads(ids: Ids) -> Ints:
    """Where an id differs from the one before it; the first row is such a place.

    >>> heads(of_texts(["a", "a", "b", "a"])).tolist()
    [0, 2, 3]
    """
    new = np.ones(len(ids), bool)
    if ids.dtype == object:
        new[1:] = ids[1:] != ids[:-1]
    else:
        words = _words(ids)
        new[1:] = (words[1:] != words[:-1]).any(1) if words.shape[1] > 1 else words[1:, 0] != words[:-1, 0]
    return np.flatnonzero(new)


def numbered(ids: Ids) -> tuple[list[str], Ints]:
    """The distinct ids in the order of their first rows, and each row's position among them.

    >>> numbered(of_texts(["b", "b", "a", "b"]))
    (['b', 'a'], array([0, 0, 1, 0]))
    """
    first = heads(ids)
    code_of: dict[str, int] = {}
    codes = [code_of.setdefault(name, len(code_of)) for name in texts(ids[first])]
    return list(code_of), np.repeat(np.array(codes, np.int64), np.diff(first, append=len(ids)))


def distinct(ids: Ids) -> tuple[list[str], Ints]:
    """The distinct ids in some order, and each row's position among them, where rows of one id are scattered.

    >>> names, place = distinct(of_texts(["b", "a", "b"]))
    >>> [names[index] for index in place]
    ['b', 'a', 'b']
    """
    # Sorting numbers is far faster than sorting ids; where two ids share a hash, the ids are sorted after all.
    keys, place = np.unique(hashed(ids, 0), return_inverse=True)
    row = np.zeros(len(keys), np.int64)
    row[place] = np.arange(len(ids))
    if (ids[row][place] == ids).all():
        return texts(ids[row]), place
    found, place = np.unique(ids, return_inverse=True)
    return texts(found), place


def hashed(ids: Ids, seed: int) -> Keys:
    """A 64-bit hash of each id: its words, each times an odd number of the seed, summed and stirred.

    The padding adds nothing, so that an id has one hash in every column. Ids of unequal hash differ; ids of equal
    hash must still be compared.
    """
    if ids.dtype == object:
        words = np.array([-(-len(one) // WORD) for one in ids], np.int64)
        padded = b"".join(
            one.ljust(size * WORD, b"\0") for one, size in zip(ids, words.tolist(), strict=True)
        )
        first = np.cumsum(words) - words
        place = np.arange(words.sum()) - np.repeat(first, words)
        parts = np.frombuffer(padded, "<u8") * _factors(int(words.max(initial=0)), seed)[place]
        total = np.add.reduceat(parts, first) if len(ids) else np.zeros(0, np.uint64)
    else:
        columns = _words(ids)
        factors = _factors(columns.shape[1], seed)
        total = columns[:, 0] * factors[0]
        for word in range(1, columns.shape[1]):
            total += columns[:, word] * factors[word]
    return _stirred(total)


def _words(ids: Ids) -> Keys:
    """The words of padded ids, shape (rows, words)."""
    return np.ascontiguousarray(ids).view("<u8").reshape(len(ids), ids.itemsize // WORD)


def _factors(words: int, seed: int) -> Keys:
    """Odd numbers that look random, one for each word of an id."""
    place = np.arange(1, words + 1, dtype=np.uint64) + np.uint64(seed << 32)
    return _stirred(_stirred(place * np.uint64(0x9E3779B97F4A7C15))) | np.uint64(1)


def _stirred(numbers: Keys) -> Keys:
    """Numbers in which every bit depends on the bits below and above it."""
    numbers = numbers ^ (numbers >> np.uint64(32))
    numbers *= np.uint64(0xD6E8FEB86659FD93)
    numbers ^= numbers >> np.uint64(29)
    return numbers

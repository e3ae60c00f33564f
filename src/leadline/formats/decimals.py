"""Plain decimal numbers in a text, read in bulk and exactly rounded; NumPy alone."""

import numpy as np
import numpy.typing as npt

from leadline.ids import Ints, Keys

ROWS = 1 << 16
"""Rows read at a time: few enough that each step finds the last one's numbers in cache, and enough that
threads seldom wait for Python's lock between steps."""
WORD = 8
WINDOW = 2 * WORD
"""How many characters a number may have, its sign left out."""
EXACT = 1 << 53
"""Whole numbers up to here, and powers of ten up to 10^22, are exact as floats: one division rounds once."""
POINT = ord(".")
EACH = 0x0101010101010101
KEEP = np.array([(1 << 64) - (1 << 8 * (WORD - n)) for n in range(WORD + 1)], np.uint64)
"""For a word of eight characters, what keeps its last 0 to 8 characters."""


def decimals(text: bytes, start: Ints, end: Ints) -> npt.NDArray[np.float64] | None:
    """The numbers that stand in `text[start:end]`, each the nearest float to what is written.

    None where one is no plain decimal (a sign, digits, a point), or has too many digits to be read exactly here.

    >>> decimals(b"12.5 -3 .25", np.array([0, 5, 8]), np.array([4, 7, 11])).tolist()
    [12.5, -3.0, 0.25]
    """
    if len(end) and int(end.min()) < WINDOW + WORD:
        # Digits are read by the eight characters before their end: there must be as many.
        text, start, end = bytes(WINDOW + WORD) + text, start + WINDOW + WORD, end + WINDOW + WORD
    out = np.empty(len(start))
    for first in range(0, len(start), ROWS):
        part = slice(first, first + ROWS)
        found = _some(text, start[part], end[part])
        if found is None:
            return None
        out[part] = found
    return out


def _some(text: bytes, start: Ints, end: Ints) -> npt.NDArray[np.float64] | None:
    """The numbers of some rows: first all whose point stands where that of the first row does, then the others."""
    view = np.frombuffer(text, np.uint8)
    sign = view[start]
    minus = sign == ord("-")
    start = start + (minus | (sign == ord("+")))
    length = end - start
    if int(length.max()) > WINDOW or int(length.min()) < 1:
        return None
    value, rows = np.empty(len(start)), np.arange(len(start))
    while len(rows):
        first = text[start[0] : end[0]]
        after = len(first) - first.find(b".") if b"." in first else 0
        number, wrong = _digits(text, end - after, np.maximum(length - after, 0))
        if after:
            # A point alone is no number.
            wrong |= (view[end - after] != POINT) | (length < max(after, 2))
        if after > 1:
            behind, faulty = _digits(text, end, np.int64(after - 1))
            number = number * np.uint64(10 ** (after - 1)) + behind
            wrong |= faulty
        wrong |= number > EXACT
        if wrong[0]:
            return None
        found = number / 10.0 ** max(after - 1, 0)
        if not wrong.any():
            value[rows] = found
            break
        value[rows[~wrong]] = found[~wrong]
        rows, start, end, length = rows[wrong], start[wrong], end[wrong], length[wrong]
    return np.where(minus, -value, value)


def _digits(text: bytes, end: Ints, length: Ints | np.int64) -> tuple[Keys, npt.NDArray[np.bool_]]:
    """The whole numbers that end at `end`, `length` digits each (at most sixteen; 0 where none), and which are wrong."""
    number, wrong = _word(text, end - WORD, KEEP[np.minimum(length, WORD)])
    if length.max() > WORD:
        high, faulty = _word(text, end - WINDOW, KEEP[np.maximum(length - WORD, 0)])
        number += high * np.uint64(10**WORD)
        wrong |= faulty
    return number, wrong


def _word(text: bytes, at: Ints, keep: Keys) -> tuple[Keys, npt.NDArray[np.bool_]]:
    """The eight characters at each place, of which some are kept, as a whole number; and where one is no digit."""
    x = np.ndarray(len(text) - WORD + 1, "<u8", text, strides=(1,))[at]
    x ^= np.uint64(EACH * ord("0"))
    x &= keep
    # Digits are now bytes of 0 to 9; adding 118 to any other sets its highest bit, if it is not set already.
    wrong = ((x + np.uint64(EACH * 118)) | x) & np.uint64(EACH * 128)
    # Neighbours are joined: digits to pairs, pairs to fours, fours to one number of eight digits.
    x = (x * np.uint64(10) + (x >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    x = (x * np.uint64(100) + (x >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    x = (x * np.uint64(10000) + (x >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
    return x, wrong != 0

"""Plain decimal numbers in a text, read in bulk and exactly rounded; NumPy alone."""

import numpy as np
import numpy.typing as npt

from leadline.ids import Ints, Keys

ROWS = 1 << 14
"""Rows read at a time: few enough that each step finds the last one's numbers in cache."""
WINDOW = 16
"""How many characters a number may have, its sign left out."""
EXACT = 1 << 53
"""Whole numbers up to here, and powers of ten up to 10^22, are exact as floats: one division rounds once."""
EACH = 0x0101010101010101
DOT = ord(".") ^ ord("0")
# For a number of n characters that ends with the window: what keeps its characters in the last and the first word.
KEEP = np.array(
    [[((1 << 64) - 1) << 8 * (8 - min(n, 8)) & (1 << 64) - 1 for n in range(17)],
     [((1 << 64) - 1) << 8 * (16 - max(n, 8)) & (1 << 64) - 1 for n in range(17)]],
    np.uint64,
)  # fmt: skip
POWERS = np.array([10**n for n in range(17)], np.int64)
DECIMALS = np.array([1, *(10**n for n in range(16))], np.int64)
"""By the characters from the point on (0 where there is no point): ten to the number of decimals."""


def decimals(text: bytes, start: Ints, end: Ints) -> npt.NDArray[np.float64] | None:
    """The numbers that stand in `text[start:end]`, each the nearest float to what is written.

    None where one is no plain decimal (a sign, digits, a point), or has too many digits to be read exactly here.

    >>> decimals(b"12.5 -3 .25", np.array([0, 5, 8]), np.array([4, 7, 11])).tolist()
    [12.5, -3.0, 0.25]
    """
    if len(end) and int(end.min()) < WINDOW:
        # Numbers are read by the eight characters before their end; there must be as many.
        text, start, end = bytes(WINDOW) + text, start + WINDOW, end + WINDOW
    out = np.empty(len(start))
    for first in range(0, len(start), ROWS):
        part = slice(first, first + ROWS)
        found = _some(text, start[part], end[part])
        if found is None:
            return None
        out[part] = found
    return out


def _some(text: bytes, start: Ints, end: Ints) -> npt.NDArray[np.float64] | None:
    """The numbers of some rows."""
    sign = np.frombuffer(text, np.uint8)[start]
    minus = sign == ord("-")
    length = end - start - (minus | (sign == ord("+")))
    longest = int(length.max())
    if longest > WINDOW or int(length.min()) < 1:
        return None
    number, point, wrong = _word(text, end - 8, length, 0)
    if longest > 8:
        head, before, fault = _word(text, end - WINDOW, length, 1)
        number += head * np.uint64(10**8)
        wrong |= fault | ((before > 0) & (point > 0))
        point += np.where(before, before + np.uint64(8), np.uint64(0))
    if wrong.any():
        return None
    # The point was read as a digit 0: what stands before it is one place too high. Its quotient is exact in floats,
    # as what stands behind the point and the 0 is less than a tenth.
    at = point.view(np.int64)
    power, scale = DECIMALS[at], POWERS[at]
    number = number.view(np.int64)
    whole = (number / scale).astype(np.int64)
    number -= whole * (scale - power)
    if int(number.max()) > EXACT or (length <= (point > 0)).any():
        return None
    value = number / power
    return np.where(minus, -value, value)


def _word(text: bytes, at: Ints, length: Ints, word: int) -> tuple[Keys, Keys, npt.NDArray[np.bool_]]:
    """Eight characters of each number as a whole number, with its point read as 0.

    Returns
    -------
    (the number, the characters from the point to the word's end or 0, whether a character is neither digit nor point)
    """
    every = np.ndarray(len(text) - 7, "<u8", text, strides=(1,))
    x = every[at]
    x ^= np.uint64(EACH * ord("0"))
    x &= KEEP[word][length]
    # Digits are now 0 to 9. The point alone of all that is allowed has the fifth bit.
    point = (x & np.uint64(EACH << 4)) >> np.uint64(4)
    x ^= point * np.uint64(DOT)
    bad = x & (point * np.uint64(0xFF))
    bad |= (x + np.uint64(EACH * (0x80 - 10)) | x) & np.uint64(EACH * 0x80)
    bad |= point & (point - np.uint64(1))
    # One point at byte i: the product's highest byte is then 8 − i.
    places = (point * np.uint64(0x0807060504030201)) >> np.uint64(56)
    # Neighbours are joined: digits to pairs, pairs to fours, fours to one number of eight digits.
    x = (x * np.uint64(10) + (x >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    x = (x * np.uint64(100) + (x >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    x = (x * np.uint64(10000) + (x >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
    return x, places, bad != 0

"""How much a packed file may unpack to, so that a small file cannot fill the memory."""

import os
import re
from pathlib import Path
from typing import IO

from leadline.errors import InputError, UsageError, printable

SETTING = "LEADLINE_MAX_UNPACKED"
"""The environment variable that sets the limit, in bytes or as `500M`, `20G`."""
FREE, RATIO = 256 << 20, 100
"""Without it: so many bytes may any file unpack to, and a larger one to so many times its size on disk."""
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
FRAME, SKIPPED = 0xFD2FB528, 0x184D2A50
"""How a frame of zstd begins, and one that is passed over (whose last four bits may be any); RFC 8878, 3.1."""
BLOCK = 128 << 10
"""What one compressed block of zstd gives at most (RFC 8878, 3.1.1.2.4)."""


def most_unpacked(size: int) -> int:
    """How many bytes a packed file of `size` bytes may unpack to.

    Raises
    ------
    UsageError: the environment's limit is no number of bytes.

    >>> most_unpacked(1000) == FREE, most_unpacked(10 << 30) == 1000 << 30
    (True, True)
    """
    text = os.environ.get(SETTING, "").strip()
    if not text:
        return max(FREE, RATIO * size)
    found = re.fullmatch(r"([0-9]{1,15})([KMGT]?)B?", text, re.IGNORECASE)
    if found is None:
        raise UsageError(f"{SETTING}={printable(text)!r} is no number of bytes such as 500M or 20G")
    return int(found[1]) * UNITS[found[2].upper()]


def too_much(name: str, size: int) -> InputError:
    """The error for a packed file of `size` bytes that unpacks to more than it may."""
    limit = most_unpacked(size)
    why = (
        "" if os.environ.get(SETTING, "").strip() else f" ({RATIO} times its size, or 256 MB if that is more)"
    )
    return InputError(
        f"{printable(name)}: {size:,} bytes that unpack to more than {limit:,}{why}; if that is right, allow more "
        f"with the environment variable {SETTING}, such as {SETTING}=20G, or unpack the file first"
    )


def zstd_at_most(path: Path) -> int:
    """How many bytes a zstd file gives at most, by the heads of its blocks; nothing is unpacked.

    Every block but a frame's last is usually full, so this is close. Of a damaged file it counts the sound part.
    """
    total = 0
    with path.open("rb") as file:
        while len(magic := file.read(4)) == 4:
            number = int.from_bytes(magic, "little")
            if number & ~15 == SKIPPED:
                file.seek(int.from_bytes(file.read(4), "little"), os.SEEK_CUR)
            elif number == FRAME:
                total += _frame(file)
            else:
                break
    return total


def _frame(file: IO[bytes]) -> int:
    """What one frame gives at most; the file stands behind it then."""
    head = file.read(1)
    if not head:
        return 0
    single, field = bool(head[0] & 0x20), head[0] >> 6
    size = (1 if single else 0, 2, 4, 8)[field]
    file.seek((0 if single else 1) + (0, 1, 2, 4)[head[0] & 3] + size, os.SEEK_CUR)
    total = 0
    while len(block := file.read(3)) == 3:
        number = int.from_bytes(block, "little")
        kind, length = number >> 1 & 3, number >> 3
        # Raw, one byte repeated, compressed.
        total += BLOCK if kind == 2 else length
        file.seek(1 if kind == 1 else length, os.SEEK_CUR)
        if number & 1:
            break
    file.seek(4 if head[0] & 4 else 0, os.SEEK_CUR)
    return total

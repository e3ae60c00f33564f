"""Opening a file as bytes: plain, gzip, zstd, a pipe or standard input, recognised by content, read block by block."""

import gzip
import hashlib
import io
import os
import shutil
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from leadline.errors import EmptyInputError, InputError, UsageError, first_line, printable
from leadline.formats.unpacking import most_unpacked, too_much, zstd_at_most

GZIP, ZSTD, LZ4 = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18"
BOM = b"\xef\xbb\xbf"
MARK = BOM.decode()
"""The byte-order mark of UTF-8, as bytes and as text: dropped at the beginning of a file that is read."""
PACKED = (".gz", ".zst")
"""The endings of packed files, which follow that of the format."""
MARKS = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
"""The byte-order marks of what is refused by name."""
BLOCK = 4 << 20
"""Bytes read at a time at most: large enough for the parser to be busy, small enough to stay in cache."""
SMALL_BLOCK = 1 << 20


@dataclass(frozen=True)
class Source:
    """A readable file. Standard input (`-`) or a pipe is put into a temporary file first, so that it can be read again.

    Attributes
    ----------
    path: as the user gave it. file: where the bytes are. packed: `""`, `gzip` or `zstd`.
    """

    path: str
    file: Path
    packed: str
    _spool: "_Spool | None" = None

    @classmethod
    def open(cls, path: str | Path) -> "Source":
        """The file at `path`, or standard input for `-`. A pipe is read to its end here: what is read of it is gone.

        Raises
        ------
        InputError: no such file, a directory, a device, or no permission. EmptyInputError: an empty file.
        """
        text = str(path)
        try:
            spool = _Spool(text) if is_stream(text) else None
            file = Path(spool.name) if spool else Path(text)
            if file.is_dir():
                raise InputError(f"{printable(text)}: is a folder, not a file")
            if file.is_char_device() or file.is_block_device():
                raise InputError(f"{printable(text)}: is a device, not a file")
            with file.open("rb") as handle:
                magic = handle.read(4)
        except OSError as error:
            raise _cannot_read(text, error) from None
        name = _name(text)
        if not magic:
            raise EmptyInputError(f"{printable(name)}: empty, nothing to read")
        if magic == LZ4:
            raise InputError(
                f"{printable(name)}: is packed with LZ4, which is not read here; of a "
                'run of ranx make JSON with it: Run.from_file("x.lz4").save("x.json"); else unpack it first'
            )
        packed = "gzip" if magic.startswith(GZIP) else "zstd" if magic == ZSTD else ""
        return cls(text, file, packed, spool)

    @property
    def name(self) -> str:
        """The name for messages."""
        return _name(self.path)

    @property
    def ending(self) -> str:
        """The ending that names a format, as `ending_of` has it."""
        return ending_of(self.path)

    @property
    def block(self) -> int:
        """Bytes to read at a time: a short file is read in quarters, so that they are parsed side by side too."""
        return min(BLOCK, max(SMALL_BLOCK, self.size // 4))

    @property
    def size(self) -> int:
        """The length of the file as it is on disk, in bytes."""
        return self.file.stat().st_size

    @property
    def begin(self) -> int:
        """Where the text of a file that is not packed begins: behind the byte-order mark, if there is one."""
        return len(BOM) if self.part(0, len(BOM)) == BOM else 0

    def part(self, start: int, stop: int) -> bytes:
        """The bytes of the file from `start` to before `stop`, as they are on disk.

        Raises
        ------
        InputError: a read error.
        """
        try:
            with self.file.open("rb") as file:
                file.seek(start)
                return file.read(stop - start)
        except OSError as error:
            raise _cannot_read(self.name, error) from None

    def sha256(self) -> str:
        """The SHA-256 of the file as it is on disk (packed, where it is packed), in hex."""
        with self.file.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()

    def chunks(self, size: int = BLOCK, binary: bool = False) -> Iterator[bytes]:
        """The unpacked bytes, at most about `size` at a time; the byte-order mark of UTF-8 is dropped.

        Raises
        ------
        InputError: a packed file that is cut short or damaged, or that unpacks to more than it may; text in UTF-16 or UTF-32;
            unless it may be `binary` a NUL byte; or a read error.
        """
        first, size_here, total, lines = True, 0, 0, 1
        if self.packed:
            size_here = self.size
            limit = most_unpacked(size_here)
            if self.packed == "zstd" and zstd_at_most(self.file) > limit:
                raise too_much(self.name, size_here)
        try:
            for chunk in self._unpacked(size):
                total += len(chunk)
                if self.packed and total > limit:
                    raise too_much(self.name, size_here)
                if first:
                    self._refuse_other(chunk)
                    chunk = chunk.removeprefix(BOM)
                    first = False
                if not binary:
                    # Looked for as it is read: a packed file of nothing else is not unpacked to its end.
                    refuse_binary(chunk, self.name, lines)
                    lines += chunk.count(b"\n")
                if chunk:
                    yield chunk
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(
                f"{printable(self.name)}: the gzip file is cut short or damaged ({error})"
            ) from None
        except OSError as error:
            raise _cannot_read(self.name, error) from None
        if first:
            raise EmptyInputError(f"{printable(self.name)}: empty, nothing to read")

    def _refuse_other(self, chunk: bytes) -> None:
        """Raise InputError where a text begins as no UTF-8 does, or as a packed file inside this one."""
        encoding = next((name for mark, name in MARKS if chunk.startswith(mark)), None)
        if encoding is not None:
            raise InputError(f"{printable(self.name)}: is {encoding} text; save it as UTF-8")
        if self.packed and chunk.startswith((GZIP, ZSTD)):
            raise InputError(f"{printable(self.name)}: is packed twice; unpack it once")

    def _unpacked(self, size: int) -> Iterator[bytes]:
        if self.packed == "zstd":
            yield from self._zstd(size)
            return
        with self.file.open("rb") as raw:
            stream: IO[bytes] = gzip.GzipFile(fileobj=raw) if self.packed else raw  # type: ignore[assignment]
            while chunk := stream.read(size):
                yield chunk

    def _zstd(self, size: int) -> Iterator[bytes]:
        """The lines of a zstd file. Polars unpacks it, so that no further package is needed."""
        import polars as pl

        try:
            for frame in pl.scan_lines(self.file).collect_batches(
                chunk_size=max(1, size // 40), maintain_order=True
            ):
                out = io.BytesIO()
                frame.write_csv(out, include_header=False, quote_style="never")
                yield out.getvalue()
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = first_line(error)
            what = f"is cut short or damaged ({reason})"
            if "utf8" in reason.lower():
                what = "holds text that is not UTF-8; save it as UTF-8 (unpacked, its line is named)"
            raise InputError(f"{printable(self.name)}: the zstd file {what}") from None

    def head(self, size: int = 1 << 16) -> bytes:
        """The first unpacked bytes, to recognise the format by."""
        for chunk in self.chunks(size, binary=True):
            return chunk[:size]
        return b""

    def read_all(self) -> bytes:
        """The whole file, unpacked.

        Raises
        ------
        InputError: as `chunks`, and for a binary file (one with NUL bytes).
        """
        return b"".join(self.chunks())


def ending_of(path: str | Path) -> str:
    """The ending that names a format, in small letters; one of a packed file is passed over.

    >>> ending_of("runs/BM25.Run.gz"), ending_of("queries")
    ('.run', '')
    """
    endings = [one.lower() for one in Path(path).suffixes if one.lower() not in PACKED]
    return endings[-1] if endings else ""


def is_stream(path: str | Path) -> bool:
    """True for what can be read once only: standard input, a pipe (the shell's `<(...)` is one), a socket.

    >>> is_stream("-"), is_stream("no-such-file")
    (True, False)
    """
    if str(path) == "-":
        return True
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def refuse_stream(path: str | Path, what: str) -> None:
    """Refuse what can be read once only, where `what` reads it more than once.

    Raises
    ------
    UsageError: it is a stream.
    """
    if is_stream(path):
        named = "standard input" if str(path) == "-" else f"{printable(str(path))}, a pipe"
        raise UsageError(f"{what} read more than once: give a file, not {named}")


def _name(path: str) -> str:
    return "standard input" if path == "-" else path


class _Spool:
    """All that comes out of a stream, in a temporary file that lives as long as this does."""

    def __init__(self, path: str) -> None:
        handle, self.name = tempfile.mkstemp(prefix="leadline-stdin-")
        weakref.finalize(self, Path(self.name).unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as file:
            if path == "-":
                shutil.copyfileobj(sys.stdin.buffer, file, BLOCK)
            else:
                with Path(path).open("rb") as stream:
                    shutil.copyfileobj(stream, file, BLOCK)


def refuse_binary(data: bytes, name: str, first_line: int | Callable[[], int] = 1) -> None:
    """Raise InputError where `data`, which begins with that line, holds a NUL byte: text has none."""
    position = data.find(b"\0")
    if position >= 0:
        if _is_wide(data[:256]):
            raise InputError(f"{printable(name)}: is UTF-16 text without a mark; save it as UTF-8")
        first = first_line if isinstance(first_line, int) else first_line()
        line = data.count(b"\n", 0, position) + first
        raise InputError(f"{printable(name)}: line {line}: found a NUL byte; this is a binary file, not text")


def _is_wide(head: bytes) -> bool:
    """True where every other byte is NUL, as in plain text of two bytes a character."""
    return len(head) >= 8 and any(not any(head[start::2]) and all(head[1 - start :: 2]) for start in (0, 1))


def _cannot_read(name: str, error: OSError) -> InputError:
    return InputError(f"{printable(name)}: cannot be read ({error.strerror or error})")

"""One input: the file it stands for, the reading of that file, and the verdict on how it ended."""

import gzip
import resource
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from fuzz.readers import Target
from leadline.errors import LeadlineError

SECONDS = 2.0
"""Processor seconds that one reading may take; inputs have at most 64 KB."""
MEMORY = 256 << 20
"""Bytes by which one reading may raise the peak of this process."""
PLAIN, GZIP, ZSTD = 0, 2, 3


@dataclass(frozen=True)
class Case:
    """An input: two bytes that choose packing, ending and options, and the content of the file."""

    content: bytes
    ending: int = 0
    packing: int = PLAIN
    switches: int = 0

    @classmethod
    def of(cls, data: bytes) -> "Case":
        """The case that an input stands for."""
        head = data[:2].ljust(2, b"\0")
        return cls(data[2:], head[0] >> 2, head[0] & 3, head[1])

    def to_bytes(self) -> bytes:
        """The input that stands for this case."""
        return bytes([self.ending << 2 | self.packing, self.switches]) + self.content

    def write(self, target: Target, folder: Path) -> Path:
        """Write the file, packed as the case says, under a name of its own."""
        content = self.content
        if target.packs and self.packing == GZIP:
            content = gzip.compress(content, 1, mtime=0)
        elif target.packs and self.packing == ZSTD:
            import zstandard

            content = zstandard.ZstdCompressor(level=1).compress(content)
        path = folder / f"a{target.endings[self.ending % len(target.endings)]}"
        # A file that is still mapped into memory must not change under it.
        path.unlink(missing_ok=True)
        path.write_bytes(content)
        return path


@dataclass(frozen=True)
class Finding:
    """An input on which a reader did not do as it should; `key` is the same for the same fault."""

    key: str
    story: str


def attempt(target: Target, data: bytes, folder: Path, seconds: float = SECONDS) -> Finding | None:
    """Read one input; None where it gave a result or a LeadlineError in time and without much memory.

    A slow reading counts where it is slow once more: the first in a process loads modules too.
    """
    found = _attempt(target, data, folder, seconds)
    return _attempt(target, data, folder, seconds) if found and found.key.endswith(": slow") else found


def _attempt(target: Target, data: bytes, folder: Path, seconds: float) -> Finding | None:
    case = Case.of(data)
    path = case.write(target, folder)
    before, peak = time.process_time(), _peak()
    try:
        target.read(path, case.switches)
    except LeadlineError as error:
        # The message is made for a terminal: it has to be text that can be printed.
        str(error).encode()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Finding(_place(error), "".join(traceback.format_exception(error)[-12:]))
    took, grown = time.process_time() - before, _peak() - peak
    if took > seconds:
        return Finding(f"{target.name}: slow", f"{took:.1f} processor seconds")
    if grown > MEMORY:
        return Finding(f"{target.name}: memory", f"the peak rose by {grown >> 20} MB")
    return None


def _peak() -> int:
    """The largest memory of this process so far, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _place(error: BaseException) -> str:
    """The kind of an error and the innermost line of the package that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "leadline" in Path(frame.filename).parts] or list(frames)
    return f"{type(error).__name__} in {Path(own[-1].filename).name}, {own[-1].name}, line {own[-1].lineno}"

"""Putting finished files in their place: each is made beside it, and appears whole or not at all."""

import gzip
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from leadline.errors import LeadlineError, UsageError, printable
from leadline.formats.write import Packing, atomic_write


@contextmanager
def renamed_errors(names: dict[str, str]) -> Iterator[None]:
    """Errors name a file as the user knows it, not where it stands while it is made."""
    try:
        yield
    except LeadlineError as error:
        text = str(error)
        for own, shown in names.items():
            text = text.replace(own, shown)
        error.args = (text,)
        raise


@contextmanager
def placed(
    target: str, ending: str, packing: Packing = "uncompressed", last: Callable[[Path], object] | None = None
) -> Iterator[Path]:
    """A path to write to, whose name has the ending; at the end what stands there is at `target`, packed.

    `last` is given the finished file (packed) before it takes its place, where it does.
    `-` is standard output. A folder that was written becomes the folder `target`, each file in its place.

    Raises
    ------
    UsageError: the place cannot be written to.
    """
    real = Path(os.path.realpath(target))
    own = target != "-" and (not real.exists() or real.is_file() or real.is_dir())
    import tempfile

    try:
        beside = real.parent if own else Path(tempfile.gettempdir())
        folder = beside / f".{real.name[:100] if own else 'leadline'}.{secrets.token_hex(6)}.tmp"
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise UsageError(f"cannot write to {printable(target)}: {error.strerror or error}") from None
    made = folder / f"part{ending}"
    try:
        with renamed_errors({str(made): "standard output" if target == "-" else printable(target)}):
            yield made
        if target == "-":
            _copy(made, packing)
        elif made.is_dir():
            _merge(made, Path(target))
        else:
            with atomic_write(target) as temporary:
                _pack(made, temporary, packing)
                if last is not None:
                    last(temporary)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(made: Path, packing: Packing) -> None:
    packed = made.with_name("packed")
    _pack(made, packed, packing)
    with packed.open("rb") as file:
        sys.stdout.flush()
        shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
        sys.stdout.buffer.flush()


def _merge(made: Path, target: Path) -> None:
    try:
        for file in sorted(made.rglob("*")):
            if file.is_file():
                place = target / file.relative_to(made)
                place.parent.mkdir(parents=True, exist_ok=True)
                file.replace(place)
    except OSError as error:
        raise UsageError(f"cannot write to {printable(str(target))}: {error.strerror or error}") from None


def _pack(made: Path, target: Path, packing: Packing) -> None:
    if packing == "gzip":
        # Without a name and a time in it, equal content gives equal files.
        with (
            made.open("rb") as file,
            target.open("wb") as raw,
            gzip.GzipFile("", "wb", 6, raw, mtime=0) as out,
        ):
            shutil.copyfileobj(file, out, 1 << 20)
    elif packing == "zstd":
        import polars as pl

        from leadline.formats.write import write_lines

        with made.open(encoding="utf-8", newline="") as handle:
            text = handle.read()
        write_lines(pl.DataFrame({"line": text.removesuffix("\n").split("\n")}), target, packing)
    elif target.exists() and not target.is_file():
        with made.open("rb") as file, target.open("wb") as out:
            shutil.copyfileobj(file, out, 1 << 20)
    else:
        if target.exists():
            shutil.copymode(target, made)
        made.replace(target)

"""The exact neighbours as a file: stamped with what they were made from, and gone on with where a search was stopped."""

import io
import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np

from leadline.ann.distance import Space
from leadline.ann.exact import QUERIES_AT_ONCE, Neighbours, Watch, joined, search_blocks
from leadline.ann.vectors import Vectors
from leadline.errors import InputError, printable
from leadline.formats.unpacking import most_unpacked, too_much
from leadline.formats.write import atomic_write

FORMAT = "leadline-neighbours-1"
FRAME = struct.Struct("<QI")
"""Before each block of an unfinished search: how many bytes it has, and their checksum."""
CORES = ("documents", "queries", "metric", "k", "format")


def stamp_of(documents: Vectors, queries: Vectors, metric: str, k: int) -> dict[str, Any]:
    """What neighbours are made from: the hashes of both files, the metric, k."""
    return {
        "format": FORMAT,
        "documents": documents.sha256,
        "queries": queries.sha256,
        "metric": metric,
        "k": k,
    }


def neighbours_in(
    path: str | Path, space: Space, queries: Vectors, k: int, watch: Watch | None = None
) -> Neighbours:
    """The exact neighbours of `path`; where there is no such file, they are searched and written.

    What is found goes to `path.part` block by block, on disk before the next begins; a search that was stopped
    goes on from there.

    Raises
    ------
    InputError: the file was made from other vectors, another metric or a smaller k.
    """
    place, stamp = Path(path), stamp_of(space.documents, queries, space.metric, k)
    if place.exists():
        return _first(_read(place, stamp), k, space, queries)
    part = place.with_name(place.name + ".part")
    done = _done(part, stamp)
    first = sum(len(one.rows) for one in done)
    if watch is not None and first:
        watch(first, queries.rows)
    with _opened(part, stamp, done) as out:
        for one in search_blocks(space, queries.data, k, first, watch):
            _append(out, one)
            done.append(one)
    found = joined(done)
    _write(place, stamp, found)
    with suppress(FileNotFoundError):
        part.unlink()
    return found


def _arrays(found: Neighbours) -> dict[str, Any]:
    return {"rows": found.rows, "distances": found.distances, "tied": found.tied}


def _neighbours(arrays: Mapping[str, Any]) -> Neighbours:
    return Neighbours(arrays["rows"], arrays["distances"], arrays["tied"])


def _write(path: Path, stamp: Mapping[str, Any], found: Neighbours) -> None:
    with atomic_write(path) as temporary, temporary.open("wb") as out:
        np.savez(out, stamp=np.array(json.dumps(stamp)), **_arrays(found))


def _read(path: Path, wanted: Mapping[str, Any]) -> Neighbours:
    name = printable(str(path))
    try:
        with ZipFile(path) as packed:
            if sum(one.file_size for one in packed.infolist()) > most_unpacked(path.stat().st_size):
                raise too_much(str(path), path.stat().st_size)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            stamp: dict[str, Any] = dict(json.loads(str(held["stamp"])))
            found = _neighbours(held)
    except InputError:
        raise
    except Exception as error:  # A damaged archive, or the head of an array in it: each fails in many ways.
        raise InputError(f"{name}: is no file of exact neighbours ({type(error).__name__})") from None
    k, other = int(wanted["k"]), [key for key in CORES if key != "k" and stamp.get(key) != wanted[key]]
    if stamp.get("k", 0) < k:
        other.append("k")
    if other:
        told = {"documents": "other documents", "queries": "other queries", "format": "another format"}
        told |= {"metric": f"the metric {stamp.get('metric')}", "k": f"k = {stamp.get('k')}"}
        raise InputError(
            f"{name}: was made from {', '.join(told[key] for key in other)}; name another file, or remove it"
        )
    return found


def _first(found: Neighbours, k: int, space: Space, queries: Vectors) -> Neighbours:
    """The first k of the neighbours kept; what is as near as the k-th is then among the others, as far as they go."""
    if found.rows.shape[1] == k:
        return found
    last = found.distances[:, k - 1]
    limit = last + space.tolerance(queries.data, np.nan_to_num(last))
    # Where fewer than k were found the limit is not a number, and nothing is within it.
    tied = (found.distances[:, k:] <= limit[:, None]).sum(axis=1)
    return Neighbours(found.rows[:, :k], found.distances[:, :k], tied.astype(np.int64))


def _append(out: IO[bytes], found: Neighbours) -> None:
    held = io.BytesIO()
    np.savez(held, **_arrays(found))
    content = held.getvalue()
    out.write(FRAME.pack(len(content), zlib.crc32(content)) + content)
    out.flush()
    os.fsync(out.fileno())


def _opened(part: Path, stamp: Mapping[str, Any], done: list[Neighbours]) -> IO[bytes]:
    """The unfinished file, open for more; begun anew with what is known, so that a torn end is gone."""
    with atomic_write(part) as temporary, temporary.open("wb") as out:
        out.write(json.dumps(stamp).encode() + b"\n")
        for one in done:
            _append(out, one)
    return part.open("ab")


def _done(part: Path, stamp: Mapping[str, Any]) -> list[Neighbours]:
    """The whole blocks of an unfinished file that was made from the same; nothing where it was not."""
    if not part.exists():
        return []
    with part.open("rb") as held:
        try:
            if json.loads(held.readline()) != stamp:
                return []
        except (ValueError, RecursionError):
            return []
        return [one for one in _frames(held) if len(one.rows) == QUERIES_AT_ONCE]


def _frames(held: IO[bytes]) -> Iterator[Neighbours]:
    left = os.fstat(held.fileno()).st_size - held.tell()
    while len(head := held.read(FRAME.size)) == FRAME.size:
        size, checksum = FRAME.unpack(head)
        # A torn end may say any size; a power cut can leave zeros, whose checksum is right.
        left -= FRAME.size + size
        if size == 0 or left < 0 or zlib.crc32(content := held.read(size)) != checksum:
            return
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            yield _neighbours(arrays)

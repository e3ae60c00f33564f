"""Vectors and their ids as files: `.npy` with ids in a `.txt` beside it, or Parquet; and the stamp of who made them."""

import hashlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.errors import EmptyInputError, InputError, UsageError, amount, first_line, printable
from leadline.formats.faults import text_problem
from leadline.formats.jsontext import decode, whole
from leadline.formats.source import Source, refuse_stream

Matrix = npt.NDArray[Any]
"""Shape (rows, dimensions), of floats or whole numbers."""
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MAGIC = b"\x93NUMPY"
ID_COLUMNS = ("id", "doc_id", "document_id", "chunk_id", "query_id")
VECTOR_COLUMNS = ("vector", "embedding", "embeddings", "values")
STAMPED = ("model", "version", "normalised")
BLOCK_BYTES = 4 << 20
"""How much of a file is looked at at a time where every vector is read."""


@dataclass(frozen=True)
class Vectors:
    """The vectors of documents or of queries.

    Attributes
    ----------
    name: the file as the user gave it. data: shape (rows, dimensions); of a `.npy` file a memory map.
    ids: one a row, or None: row numbers from 0, as text. stamp: `model`, `version`, `normalised`, where they are known.
    files: what the vectors and ids were read from.
    """

    name: str
    data: Matrix
    ids: Sequence[str] | None = None
    stamp: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    @property
    def rows(self) -> int:
        """How many vectors there are."""
        return int(self.data.shape[0])

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return int(self.data.shape[1])

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The row of every id; for row numbers a mapping that takes no memory."""
        if self.ids is None:
            return _RowNumbers(self.rows)
        return {one: row for row, one in enumerate(self.ids)}

    def id_of(self, row: int) -> str:
        """The id of a row."""
        return str(row) if self.ids is None else self.ids[row]

    def blocks(self) -> Iterator[tuple[int, Matrix]]:
        """The vectors in blocks of some megabytes, each with its first row."""
        step = max(1, BLOCK_BYTES // max(1, self.dimensions * self.data.dtype.itemsize))
        for start in range(0, self.rows, step):
            yield start, self.data[start : start + step]

    @cached_property
    def sha256(self) -> str:
        """A hash of the vectors (shape, type and numbers) and of the ids; of one file's content wherever it stands."""
        found = hashlib.sha256(f"{self.data.shape} {self.data.dtype.str}\n".encode())
        for _, block in self.blocks():
            found.update(np.ascontiguousarray(block).data)
        for one in self.ids or ():
            found.update(one.encode() + b"\n")
        return found.hexdigest()


class _RowNumbers(Mapping[str, int]):
    """`"7"` → 7 for every row; no other spelling of a number is an id."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __getitem__(self, key: str) -> int:
        if key.isascii() and key.isdigit() and int(key) < self.rows and str(int(key)) == key:
            return int(key)
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return map(str, range(self.rows))

    def __len__(self) -> int:
        return self.rows


def read_vectors(path: str | Path) -> Vectors:
    """The vectors of a file, by its ending: `.npy` or `.parquet`.

    Beside `docs.npy`, `docs.txt` may hold the ids, one a line; Parquet has them in a column (`id`, `doc_id`, …), the
    vectors in another (`vector` or `embedding`). Beside either, `docs.stamp.json` may say who made the vectors:
    `{"model": …, "version": …, "normalised": true}`.

    Raises
    ------
    UsageError: another ending. InputError: no such file, or one that does not hold what it should.
    """
    text, place = str(path), Path(path)
    ending = place.suffix.lower()
    if ending not in (".npy", ".parquet"):
        raise UsageError(
            f"{printable(text)}: vectors are read from .npy (rows × dimensions, ids in a .txt beside it) or .parquet"
        )
    refuse_stream(text, "vectors are")
    source = Source.open(text)
    files: tuple[Path, ...] = (source.file,)
    if ending == ".npy":
        data, ids = _npy(text, place), None
        beside = place.with_suffix(".txt")
        if beside.is_file():
            ids, files = read_ids(beside, len(data)), (source.file, beside)
    else:
        data, ids = _parquet(text, place)
    return checked_vectors(text, data, ids, _stamp(place), files)


def checked_vectors(
    name: str,
    data: Any,
    ids: Sequence[str] | None = None,
    stamp: Mapping[str, Any] | None = None,
    files: tuple[Path, ...] = (),
) -> Vectors:
    """Vectors from an array, once its shape, its type and its ids can stand.

    Raises
    ------
    InputError: no matrix of numbers, no rows, or ids that do not fit.

    >>> checked_vectors("docs", [[1.0, 0.0], [0.0, 1.0]], ["a", "b"]).row_of["b"]
    1
    """
    matrix, called = np.asanyarray(data), printable(name)
    if matrix.dtype.kind not in "fiu":
        raise InputError(
            f"{called}: holds {matrix.dtype}, where vectors are numbers (float32, float16, int8, …)"
        )
    if matrix.ndim != 2:
        raise InputError(f"{called}: has the shape {matrix.shape}, where vectors are rows × dimensions")
    if not matrix.shape[0] or not matrix.shape[1]:
        raise EmptyInputError(f"{called}: holds no vectors (its shape is {matrix.shape})")
    if ids is not None:
        _check_ids(called, ids, matrix.shape[0])
    return Vectors(name, matrix, ids, dict(stamp or {}), files)


def read_ids(path: Path, rows: int) -> list[str]:
    """The ids of a text file, one a line.

    Raises
    ------
    InputError: as many lines as vectors there are not, an empty line, or an id twice.
    """
    text = decode(Source.open(path).read_all(), str(path))
    ids = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    _check_ids(printable(str(path)), ids, rows)
    return ids


def _check_ids(name: str, ids: Sequence[str], rows: int) -> None:
    if len(ids) != rows:
        raise InputError(f"{name}: {amount(len(ids), 'id')} for {amount(rows, 'vector')}")
    seen: dict[str, int] = {}
    for row, one in enumerate(ids, start=1):
        if not one or text_problem(one):
            raise InputError(
                f"{name}: line {row}: an id is text of at least one character{text_problem(one)}"
            )
        if one in seen:
            raise InputError(
                f"{name}: the id {printable(one)!r} stands twice, in lines {seen[one]} and {row}"
            )
        seen[one] = row


def _npy(name: str, path: Path) -> Matrix:
    with path.open("rb") as handle:
        if handle.read(len(MAGIC)) != MAGIC:
            raise InputError(f"{printable(name)}: is no .npy file (numpy.save writes one)")
    try:
        with warnings.catch_warnings():
            # Of an array written by Python 2: it is read all the same.
            warnings.simplefilter("ignore", UserWarning)
            return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except Exception as error:  # The head is Python text: NumPy fails on a damaged one in many ways.
        raise InputError(f"{printable(name)}: cannot be read as .npy ({first_line(error)})") from None


def _parquet(name: str, path: Path) -> tuple[Matrix, list[str] | None]:
    import polars as pl

    from leadline.formats.parquet import parquet_columns, parquet_frame

    columns = parquet_columns(path, name)
    known = [column for column in (*ID_COLUMNS, *VECTOR_COLUMNS) if column in columns]
    vector = next((column for column in known if column in VECTOR_COLUMNS), None)
    if vector is None:
        raise InputError(
            f"{printable(name)}: has no column {' or '.join(VECTOR_COLUMNS[:2])}; "
            f"its columns are {', '.join(map(printable, columns))}"
        )
    ids = next((column for column in known if column in ID_COLUMNS), None)
    frame = parquet_frame(path, name, [vector, *([ids] if ids else [])])
    series = frame[vector]
    if isinstance(series.dtype, pl.List):
        lengths = series.list.len()
        if series.null_count() or lengths.n_unique() > 1:
            raise InputError(f"{printable(name)}: the vectors have different lengths ({_range(lengths)})")
        series = series.list.to_array(int(lengths[0] or 0)) if len(series) else series
    if not isinstance(series.dtype, pl.Array) or series.explode().null_count():
        raise InputError(f"{printable(name)}: {vector} is no column of vectors, or one has a gap")
    matrix = series.to_numpy()
    return matrix, None if ids is None else [
        "" if one is None else one for one in frame[ids].cast(pl.String).to_list()
    ]


def _range(lengths: Any) -> str:
    low, high = lengths.min(), lengths.max()
    return f"from {low} to {high}" if low != high else "one is missing"


def _stamp(path: Path) -> dict[str, Any]:
    """What stands in the stamp beside the vectors; empty where there is none."""
    beside = path.with_suffix(".stamp.json")
    if not beside.is_file():
        return {}
    found = whole(decode(Source.open(beside).read_all(), str(beside)), str(beside))
    if not isinstance(found, dict) or not set(found) & set(STAMPED):
        raise InputError(f"{printable(str(beside))}: a stamp is an object with {', '.join(STAMPED)}")
    return {key: found[key] for key in STAMPED if found.get(key) is not None}

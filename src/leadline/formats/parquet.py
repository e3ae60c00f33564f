"""Reading Parquet: a damaged file, or one that is far larger than it looks, is one clear error."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leadline.errors import InputError, printable
from leadline.formats.delimited import MOST_COLUMNS
from leadline.formats.parquetpages import checked_size
from leadline.formats.unpacking import most_unpacked, too_much

if TYPE_CHECKING:
    import polars as pl


def parquet_columns(path: Path, name: str) -> "dict[str, pl.DataType]":
    """The columns of a Parquet file with their types.

    Raises
    ------
    InputError: not a Parquet file, a damaged one, or one with too many columns.
    """
    import polars as pl

    try:
        columns = dict(pl.read_parquet_schema(path))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise _damaged(name, error) from None
    if len(columns) > MOST_COLUMNS:
        raise InputError(f"{printable(name)}: {len(columns):,} columns; at most {MOST_COLUMNS:,} are read")
    return columns


def parquet_frame(path: Path, name: str, columns: Sequence[str] | None = None) -> "pl.DataFrame":
    """The table of a Parquet file, or the named columns of it.

    Raises
    ------
    InputError: not a Parquet file, a damaged one, or one that would take far more memory than it takes on disk.
    """
    import polars as pl

    parquet_columns(path, name)
    size = path.stat().st_size
    try:
        if checked_size(path) > most_unpacked(size):
            raise too_much(name, size)
        return pl.read_parquet(path, columns=list(columns) if columns is not None else None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise _damaged(name, error) from None


def _damaged(name: str, error: BaseException) -> InputError:
    """The error for what Polars cannot read; of a file that contradicts itself it may give up in a panic."""
    lines = str(error).splitlines() if isinstance(error, Exception) else []
    reason = printable(lines[0][:200]) if lines else "it contradicts itself"
    return InputError(f"{printable(name)}: cannot be read as Parquet ({reason})")

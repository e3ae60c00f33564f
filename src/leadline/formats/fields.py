"""The fields of regular lines: found by the blanks and line ends between them, taken out as ids or numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.formats.decimals import decimals
from leadline.ids import Ids, Ints, cut

SPACE, NEWLINE = ord(" "), ord("\n")


@dataclass(frozen=True)
class Fields:
    """Where the fields of each line stand: `first`, shape (lines,), is where its line begins; `ends`, shape (lines,
    width), where each of its fields ends.
    """

    text: bytes
    first: Ints
    ends: Ints

    @classmethod
    def of(cls, text: bytes, width: int, more: bool, plain: bool) -> "Fields | None":
        """The first `width` fields of each line, one blank between fields, none elsewhere.

        None where a line has fewer, or (unless `more`) more, or an empty one. With `plain`, also where there is
        any control character; without, all but line ends belong to the fields.
        """
        view = np.frombuffer(text, np.uint8)
        gap = view <= SPACE if plain else (view == SPACE) | (view == NEWLINE)
        if not len(view) or gap[0] or view[-1] != NEWLINE or (gap[1:] & gap[:-1]).any():
            return None
        at = np.flatnonzero(gap)
        marks = view[at]
        line = marks == NEWLINE
        if plain and np.count_nonzero(line) + np.count_nonzero(marks == SPACE) < len(at):
            return None
        lines = np.count_nonzero(line)
        if len(at) == lines * width and line[width - 1 :: width].all():
            ends = at.reshape(lines, width)
            return cls(text, np.concatenate(([0], ends[:-1, -1] + 1)), ends)
        last = np.flatnonzero(line)
        begin = np.concatenate(([0], last[:-1] + 1))
        count = last - begin + 1
        if count.min() < width or (not more and count.max() > width):
            return None
        ends = at[begin[:, None] + np.arange(width)]
        return cls(text, np.concatenate(([0], at[last[:-1]] + 1)), ends)

    def span(self, index: int) -> tuple[Ints, Ints]:
        """Where the field of each line begins and ends."""
        return (self.ends[:, index - 1] + 1 if index else self.first), self.ends[:, index]

    def ids(self, index: int) -> Ids:
        """A field as ids."""
        start, end = self.span(index)
        return cut(self.text, start, end - start)

    def numbers(self, index: int) -> npt.NDArray[Any] | None:
        """A field as 64-bit floats; None where one is not spelled as a number.

        Plain decimals of up to fifteen digits are read here, others (exponents, more digits) by Polars.
        """
        found = decimals(self.text, *self.span(index))
        if found is not None:
            return found
        import polars as pl

        schema = {
            f"{place}": pl.Float64 if place == index else pl.String for place in range(self.ends.shape[1])
        }
        try:
            column = pl.read_csv(
                self.text,
                has_header=False,
                separator=" ",
                quote_char=None,
                schema=schema,
                columns=[index],
                truncate_ragged_lines=True,
            ).to_series()
        except pl.exceptions.PolarsError:
            return None
        return None if column.null_count() else column.to_numpy()

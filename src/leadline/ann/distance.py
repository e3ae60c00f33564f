"""Distances between vectors: scores in 32-bit with a bound of their error, and true distances in 64-bit."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.ann.vectors import Floats, Ints, Matrix, Vectors
from leadline.errors import UnknownNameError

Scores = npt.NDArray[np.float32]

METRICS = ("cosine", "ip", "l2")
SPELLED = {
    "cosine": "cosine", "cos": "cosine", "angular": "cosine", "ip": "ip", "dot": "ip", "inner_product": "ip",
    "inner-product": "ip", "l2": "l2", "euclidean": "l2", "l2sq": "l2",
}  # fmt: skip
TOLERANCE = 1e-6
"""Two distances that differ by less than this share of the scale are equal."""
UNIT = 2.0**-24
"""The relative rounding error of one operation in 32-bit."""
PAIRS_AT_ONCE = 4096


def metric_named(text: str) -> str:
    """The metric behind a name: cosine, ip or l2.

    >>> metric_named("dot"), metric_named("euclidean")
    ('ip', 'l2')
    """
    try:
        return SPELLED[text.lower()]
    except KeyError:
        raise UnknownNameError("metric", text, METRICS) from None


def lengths(vectors: Vectors) -> Floats:
    """The Euclidean length of every vector in 64-bit, shape (rows,)."""
    found = np.empty(vectors.rows)
    for start, block in vectors.blocks():
        found[start : start + len(block)] = _lengths(block)
    return found


def _lengths(block: Matrix) -> Floats:
    wide = block.astype(np.float64)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", wide, wide)), np.float64)


@dataclass(frozen=True)
class Space:
    """The documents under one metric: what is needed to score them in 32-bit and to know how far off that may be.

    A score is larger where a document is nearer: the cosine; the inner product; and for squared L2, with both
    vectors taken from `centre`, q·x − ‖x‖²/2, which is one matrix product with a column more. The distance is
    1 − cosine, −q·x, and the squared Euclidean distance.

    Attributes
    ----------
    lengths: of every document. centre: subtracted under L2, so that data far from the origin keep their digits.
    longest: the largest length of a document; reach: the same from the centre.
    """

    documents: Vectors
    metric: str
    lengths: Floats
    centre: Floats
    longest: float
    reach: float

    @classmethod
    def of(cls, documents: Vectors, metric: str, known: Floats | None = None) -> "Space":
        """The space of these documents; `known` are their lengths, where they are known."""
        size = lengths(documents) if known is None else known
        longest = float(size.max())
        centre, reach = np.zeros(documents.dimensions), longest
        if metric == "l2":
            _, head = next(documents.blocks())
            centre = head.mean(axis=0, dtype=np.float64).astype(np.float32).astype(np.float64)
            reach = max(float(_lengths(block - centre).max()) for _, block in documents.blocks())
        return cls(documents, metric, size, centre, longest, reach)

    @property
    def width(self) -> int:
        """Columns of the matrices that are multiplied."""
        return self.documents.dimensions + (self.metric == "l2")

    @property
    def as_it_is(self) -> bool:
        """True where the file's own rows can be multiplied, without a copy."""
        data = self.documents.data
        return self.metric == "ip" and data.dtype == np.float32 and data.flags.c_contiguous

    def block(self, start: int, stop: int, room: Scores) -> Scores:
        """The rows from `start` to `stop`, ready to be multiplied; `room` is filled where a copy is needed."""
        data = self.documents.data[start:stop]
        if self.as_it_is:
            return data
        out = room[: stop - start]
        inner = out[:, : self.documents.dimensions]
        if self.metric == "cosine":
            size = self.lengths[start:stop]
            # A vector of length 0 has no direction: NaN is never above a threshold.
            with np.errstate(divide="ignore", invalid="ignore"):
                np.multiply(data, (1 / size).astype(np.float32)[:, None], out=inner, casting="unsafe")
        elif self.metric == "l2":
            np.subtract(data, self.centre.astype(np.float32), out=inner, casting="unsafe")
            np.einsum("ij,ij->i", inner, inner, out=out[:, -1])
            out[:, -1] *= -0.5
        else:
            inner[...] = data
        return out

    def asked(self, queries: Matrix) -> Scores:
        """The queries, ready to be multiplied."""
        wide = queries.astype(np.float64)
        if self.metric == "cosine":
            wide = wide / np.maximum(_lengths(queries), np.finfo(float).tiny)[:, None]
        elif self.metric == "l2":
            wide = np.column_stack((wide - self.centre, np.ones(len(wide))))
        return np.ascontiguousarray(wide, np.float32)

    def slack(self, queries: Matrix) -> Floats:
        """How far below the k-th best 32-bit score a true neighbour, or one tied with the last, can stand.

        The error of a sum of n products in any order is at most n·u/(1 − n·u) times the product of the lengths
        (Higham, Accuracy and Stability of Numerical Algorithms, 2002, ch. 3); it counts twice, for the one and for
        the other. Eight more operations are allowed for: conversion, centring, division.
        """
        n = (self.width + 8) * UNIT
        factor = 2 * n / (1 - n)
        size = _lengths(queries)
        if self.metric == "cosine":
            return np.full(len(queries), factor + 2 * TOLERANCE)
        if self.metric == "ip":
            return size * self.longest * (factor + TOLERANCE)
        away = _lengths(queries - self.centre)
        tied = TOLERANCE * np.maximum((size + self.longest) ** 2, size**2)
        return factor * (away * self.reach + self.reach**2 / 2) + tied

    def distances(self, queries: Matrix, which: Ints, rows: Ints) -> Floats:
        """The true distances in 64-bit of pairs: query `which[i]` of `queries`, document `rows[i]`."""
        found = np.empty(len(rows))
        wide = queries.astype(np.float64)
        size = _lengths(queries)
        for start in range(0, len(rows), PAIRS_AT_ONCE):
            part = slice(start, start + PAIRS_AT_ONCE)
            x = self.documents.data[rows[part]].astype(np.float64)
            q = wide[which[part]]
            if self.metric == "l2":
                x -= q
                found[part] = np.einsum("ij,ij->i", x, x)
                continue
            product = np.einsum("ij,ij->i", q, x)
            if self.metric == "cosine":
                with np.errstate(divide="ignore", invalid="ignore"):
                    product = 1 - product / (size[which[part]] * self.lengths[rows[part]])
                found[part] = product
            else:
                found[part] = -product
        return found

    def tolerance(self, queries: Matrix, last: Floats) -> Floats:
        """By how much a distance may exceed the k-th, `last`, and still be as near, shape (queries,)."""
        size = _lengths(queries)
        least: Any = {"cosine": 1.0, "ip": size * self.longest, "l2": size**2}[self.metric]
        return np.asarray(TOLERANCE * np.maximum(np.abs(last), least), np.float64)

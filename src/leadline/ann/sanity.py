"""What to know of vectors before anything is measured: gaps, zeros, lengths, duplicates, stamps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.ann.distance import lengths
from leadline.ann.vectors import Floats, Ints, Vectors
from leadline.errors import InputError, amount, printable

UNIT_LENGTH = 1e-3
"""A vector whose length is within this of 1 is normalised; 16-bit numbers come no closer."""
SHOWN = 3


@dataclass(frozen=True)
class Health:
    """What was seen in the vectors of both sides.

    Attributes
    ----------
    documents, queries: rows. dimensions, metric: of the comparison. lengths: of every document.
    zero_documents, zero_queries: vectors of length 0, which have no direction. duplicates: documents whose vector
    another document before them has. unnormalised_documents, unnormalised_queries: vectors whose length is not 1.
    warnings: sentences for the reader.
    """

    documents: int
    queries: int
    dimensions: int
    metric: str
    lengths: Floats
    zero_documents: int
    zero_queries: Ints
    duplicates: int
    unnormalised_documents: int
    unnormalised_queries: int
    stamps: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The counts."""
        return {
            "documents": self.documents,
            "queries": self.queries,
            "dimensions": self.dimensions,
            "duplicate_vectors": self.duplicates,
            "zero_documents": self.zero_documents,
            "zero_queries": len(self.zero_queries),
            "unnormalised_documents": self.unnormalised_documents,
            "unnormalised_queries": self.unnormalised_queries,
            "stamps": {side: dict(stamp) for side, stamp in self.stamps.items()},
        }


def examine(documents: Vectors, queries: Vectors, metric: str, stamps: bool = True) -> Health:
    """Look at both sides; what makes the comparison senseless is an error, the rest a warning.

    `stamps` False lets stamps that disagree pass with a warning.

    Raises
    ------
    InputError: different dimensions, NaN or infinite numbers, stamps that disagree.
    """
    check_dimensions(documents, queries)
    size, asked = _finite_lengths(documents), _finite_lengths(queries)
    remarks = _stamp_remarks(documents, queries, stamps)
    zero = np.flatnonzero(asked == 0)
    long, odd = _unnormalised(size), _unnormalised(asked)
    same = duplicates(documents)
    for side, vectors, count in (("documents", documents, long), ("queries", queries, odd)):
        if vectors.stamp.get("normalised") is True and count:
            what = amount(count, "vector")
            remarks.append(
                f"{side}: the stamp says normalised, and {what} {'has' if count == 1 else 'have'} another length than 1"
            )
    if metric == "cosine" and long:
        # A query's own length changes no order.
        remarks.append(
            f"not of length 1: {long} of {amount(len(size), 'document')}, {odd} of {amount(len(asked), 'query', 'queries')}; "
            "the cosine divides by the length, an index by inner product would order them otherwise"
        )
    zeros = int((size == 0).sum())
    if zeros and metric == "cosine":
        remarks.append(f"{amount(zeros, 'document')} of length 0: without direction, nobody's neighbour")
    if len(zero) and metric == "cosine":
        remarks.append(
            f"{amount(len(zero), 'query', 'queries')} of length 0: without direction, left out and counted"
        )
    if same:
        remarks.append(
            f"{amount(same, 'document')} with the vector of another: equally near, read the tie-aware recall"
        )
    told = {side: one.stamp for side, one in (("documents", documents), ("queries", queries)) if one.stamp}
    left = zero if metric == "cosine" else zero[:0]
    return Health(
        documents.rows, queries.rows, documents.dimensions, metric, size, zeros, left, same, long, odd, told,
        tuple(remarks),
    )  # fmt: skip


def check_dimensions(documents: Vectors, queries: Vectors) -> None:
    """Raise InputError where the two sides have different dimensions."""
    if documents.dimensions != queries.dimensions:
        raise InputError(
            f"{printable(documents.name)} has {documents.dimensions} dimensions, {printable(queries.name)} "
            f"{queries.dimensions}: made by two models?"
        )


def _finite_lengths(vectors: Vectors) -> Floats:
    """The length of every vector.

    Raises
    ------
    InputError: NaN, infinite numbers, or numbers whose squares do not fit 32-bit.
    """
    found = lengths(vectors)
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        ids = ", ".join(repr(printable(vectors.id_of(int(row)))) for row in bad[:SHOWN])
        more = ", …" if len(bad) > SHOWN else ""
        raise InputError(
            f"{printable(vectors.name)}: {amount(len(bad), 'vector')} with NaN or infinite numbers ({ids}{more})"
        )
    if float(found.max()) > 1e18:
        raise InputError(
            f"{printable(vectors.name)}: a vector of length {found.max():.3g}; its square does not fit 32-bit"
        )
    return found


def _unnormalised(size: Floats) -> int:
    return int((np.abs(size - 1) > UNIT_LENGTH).sum())


def _stamp_remarks(documents: Vectors, queries: Vectors, strict: bool) -> list[str]:
    first, second = documents.stamp, queries.stamp
    if bool(first) != bool(second):
        side = "documents" if first else "queries"
        return [f"only the {side} have a stamp: whether one model made both sides is not known"]
    told = [
        f"{key} {first[key]!r} and {second[key]!r}"
        for key in first
        if key in second and first[key] != second[key]
    ]
    if not told:
        return []
    text = f"the stamps of documents and queries disagree: {printable('; '.join(told))}"
    if strict:
        raise InputError(f"{text}; encode both with one model, or let it pass with --ignore-stamps")
    return [text]


def duplicates(vectors: Vectors) -> int:
    """How many vectors equal one before them, number by number.

    Rows are compared by a 64-bit hash first, so that memory holds one number a row; rows of one hash are compared in full.
    """
    rng = np.random.default_rng(0)
    odd = rng.integers(1 << 62, size=vectors.dimensions, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    keys = np.empty(vectors.rows, np.uint64)
    for start, block in vectors.blocks():
        # + 0.0 makes −0 and 0 one number, as they are one place in space.
        bits = np.ascontiguousarray(block, np.float64) + 0.0
        words = bits.view(np.uint64)
        words ^= words >> np.uint64(29)
        keys[start : start + len(block)] = (words * odd).sum(axis=1, dtype=np.uint64)
    order = np.lexsort((keys,))
    alike = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    return sum(
        bool(np.array_equal(vectors.data[order[at]], vectors.data[order[at + 1]])) for at in alike.tolist()
    )

"""What an index is to this package: something that is asked for neighbours; and how one is named and opened."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from leadline.ann.recall import Answers
from leadline.ann.vectors import Floats, Vectors
from leadline.errors import InputError, UnknownNameError, UsageError, printable

Setting = int | float | str
Allowed = Sequence[str] | None
"""The ids that a query's filter lets through; None where it has no filter."""


@dataclass(frozen=True)
class Facts:
    """What an index says of itself; None where it does not."""

    rows: int | None = None
    dimensions: int | None = None
    metric: str | None = None


class Target(Protocol):
    """An index that answers with ids, nearest first."""

    def facts(self) -> Facts:
        """Rows, dimensions and metric, as far as the index tells."""

    def change(self, name: str, value: Setting) -> None:
        """Set one of the index's own settings of search, such as `ef`. Raises UsageError where it has none such."""

    def search(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """The ids of at most k neighbours of a vector of shape (dimensions,)."""

    def exact(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """The same by the index's own exact search. Raises UsageError where it has none."""

    def close(self) -> None:
        """Let go of files and connections."""


@dataclass(frozen=True)
class Wanted:
    """What a target is opened with.

    Attributes
    ----------
    place: file, folder or address, empty where the index is to be built from `documents`. settings: as given.
    documents: the vectors, where they are known. dimensions, metric: of the queries and of the comparison.
    """

    place: str
    settings: Mapping[str, Setting]
    documents: Vectors | None
    dimensions: int
    metric: str


KINDS: Mapping[str, tuple[str, str]] = {
    "hnswlib": ("leadline.ann.libraries", "Hnswlib"),
    "usearch": ("leadline.ann.libraries", "Usearch"),
    "faiss": ("leadline.ann.libraries", "Faiss"),
    "lancedb": ("leadline.ann.stores", "LanceTable"),
    "qdrant": ("leadline.ann.stores", "QdrantShard"),
    "pgvector": ("leadline.ann.stores", "VectorTable"),
    "http": ("leadline.ann.remote", "Endpoint"),
    "python": ("leadline.ann.remote", "Callable"),
}
"""The kinds of targets, and the class behind each: imported once it is asked for."""


def kind_and_place(text: str) -> tuple[str, str]:
    """The kind and the place of `hnswlib:index.bin`, `postgresql://…`, `https://…` or `module:function`.

    >>> kind_and_place("hnswlib:index.bin"), kind_and_place("my.search:find")
    (('hnswlib', 'index.bin'), ('python', 'my.search:find'))

    Raises
    ------
    UnknownNameError: no such kind.
    """
    kind, colon, place = text.partition(":")
    if kind in KINDS and not (kind == "http" and place.startswith("//")):
        return kind, place
    if kind in ("postgresql", "postgres"):
        return "pgvector", text
    if kind in ("http", "https"):
        return "http", text
    if colon and place.isidentifier() and all(part.isidentifier() for part in kind.split(".")):
        return "python", text
    raise UnknownNameError("kind of target", kind, KINDS, "(a function is python:module:function)")


def shown_name(text: str) -> str:
    """A target's name for a report: the password of an address is left out, and what its query calls a key or the like.

    >>> shown_name("postgresql://ann:secret@localhost/docs")
    'postgresql://ann:…@localhost/docs'
    >>> shown_name("http://localhost/s?q=1&api_key=secret")
    'http://localhost/s?q=1&api_key=…'
    """
    hidden = re.sub(
        r"([?&][^=&]*(?:key|pass|token|secret|auth)[^=&]*)=[^&]*", r"\1=…", text, flags=re.IGNORECASE
    )
    return re.sub(r"^(\w+://[^/@:]*):[^/]*@", r"\1:…@", hidden)


def open_target(
    text: str, settings: Mapping[str, Setting], documents: Vectors | None, dimensions: int, metric: str
) -> Target:
    """The target behind a name, opened; without a place it is built from the documents.

    Raises
    ------
    UsageError: no such kind, a setting it lacks, a part that is not installed. InputError: it cannot be opened.
    """
    kind, place = kind_and_place(text)
    module, name = KINDS[kind]
    made: Callable[[Wanted], Target] = getattr(import_module(module), name)
    return made(Wanted(place, settings, documents, dimensions, metric))


def setting_value(text: str) -> Setting:
    """A setting's value: a whole number, a number, or text.

    >>> setting_value("64"), setting_value("0.5"), setting_value("items")
    (64, 0.5, 'items')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def built_from(wanted: Wanted, kind: str) -> Vectors:
    """The documents to build an index from.

    Raises
    ------
    UsageError: neither a place nor vectors.
    """
    if wanted.documents is None:
        raise UsageError(
            f"--target {kind} has no place ({kind}:FILE) and no --vectors to build an index from"
        )
    return wanted.documents


def no_such_setting(kind: str, name: str, known: Sequence[str]) -> UsageError:
    """The error for a setting that a kind of target lacks."""
    return UnknownNameError(f"setting of {kind}", name, known)


def no_exact(kind: str) -> UsageError:
    """The error where a target has no exact search of its own."""
    return UsageError(f"{kind} has no exact search of its own; give --vectors for the truth")


def no_filter(kind: str) -> UsageError:
    """The error where a target takes no filter."""
    return UsageError(f"{kind} takes no filter of ids here; give what it returned with --returned")


@dataclass(frozen=True)
class Timed:
    """What a target answered, and how long each query took, in seconds, shape (queries,); NaN where it failed."""

    answers: Answers
    seconds: Floats

    @property
    def latency(self) -> dict[str, float | None]:
        """Milliseconds at p50, p95, p99 and on average, and the throughput of one client in queries a second."""
        good = self.seconds[~np.isnan(self.seconds)]
        if not len(good):
            return dict.fromkeys(("p50", "p95", "p99", "mean", "per_second"))
        p50, p95, p99 = (float(v) * 1000 for v in np.quantile(good, (0.5, 0.95, 0.99)))
        total = float(good.sum())
        mean = total * 1000 / len(good)
        return {"p50": p50, "p95": p95, "p99": p99, "mean": mean, "per_second": len(good) / max(total, 1e-9)}


def ask_all(
    target: Target,
    queries: Vectors,
    k: int,
    allowed: Mapping[int, Sequence[str]] | None = None,
    *,
    exact: bool = False,
    warm: int = 10,
    watch: Callable[[int, int], None] | None = None,
) -> Timed:
    """Ask for the neighbours of every query, one after the other; the first `warm` are asked once before, untimed.

    Raises
    ------
    InputError: every query failed. UsageError: the target has no such search.
    """
    asked = target.exact if exact else target.search
    ids: list[Sequence[str] | None] = []
    errors: dict[int, str] = {}
    seconds = np.full(queries.rows, np.nan)
    for row in range(min(warm, queries.rows)):
        _one(asked, queries, row, k, allowed)
    for row in range(queries.rows):
        found, taken, error = _one(asked, queries, row, k, allowed)
        ids.append(found)
        if error is None:
            seconds[row] = taken
        else:
            errors[row] = error
        if watch is not None:
            watch(row + 1, queries.rows)
    if len(errors) == queries.rows:
        raise InputError(f"the target failed on every query: {printable(errors[0])}")
    return Timed(Answers(ids, errors), seconds)


def _one(
    asked: Callable[..., Sequence[str]],
    queries: Vectors,
    row: int,
    k: int,
    allowed: Mapping[int, Sequence[str]] | None,
) -> tuple[Sequence[str] | None, float, str | None]:
    vector = np.ascontiguousarray(queries.data[row], np.float32)
    let_through = None if allowed is None else allowed.get(row)
    start = time.perf_counter()
    try:
        found = list(asked(vector, k, let_through))
    except UsageError:
        raise
    except Exception as error:  # whatever a foreign library raises is this query's error
        return None, 0.0, f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return [str(one) for one in found], time.perf_counter() - start, None

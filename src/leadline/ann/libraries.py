"""Indexes that live in this process: hnswlib, usearch, faiss; opened from a file or built from the vectors."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from leadline.ann.target import (
    Allowed,
    Facts,
    Setting,
    Wanted,
    built_from,
    no_exact,
    no_filter,
    no_such_setting,
)
from leadline.ann.vectors import Vectors
from leadline.errors import InputError, MissingExtraError, UsageError, first_line, printable


class _Labels:
    """Whole-number labels as ids: rows of the documents, or with `labels=ids` the ids themselves."""

    def __init__(self, wanted: Wanted) -> None:
        mode = wanted.settings.get("labels", "rows")
        if mode not in ("rows", "ids"):
            raise UsageError(f"labels={mode} is not one of rows, ids")
        self.documents = wanted.documents if mode == "rows" else None

    def ids(self, labels: Any) -> list[str]:
        """The ids of labels; −1, which says that there is none, is left out."""
        found = [int(one) for one in labels if int(one) >= 0]
        if self.documents is None or self.documents.ids is None:
            return list(map(str, found))
        named = self.documents
        return [named.id_of(row) if row < named.rows else f"row {row}" for row in found]

    def labels(self, ids: Sequence[str]) -> Any:
        """The labels of ids."""
        if self.documents is None:
            return np.array([int(one) for one in ids], np.int64)
        return np.array([self.documents.row_of[one] for one in ids], np.int64)


def _file(place: str, kind: str) -> str:
    if not os.path.isfile(place):  # noqa: PTH113 - a folder or nothing, both told alike
        raise InputError(f"{printable(place)}: there is no such {kind} index")
    return place


def _unreadable(place: str, kind: str, error: Exception) -> InputError:
    reason = first_line(error)
    return InputError(f"{printable(place)}: cannot be opened as {kind} index ({reason})")


def _cannot_build(kind: str, build: Mapping[str, int], error: Exception) -> UsageError:
    given = ", ".join(f"{name}={value}" for name, value in build.items())
    reason = first_line(error)
    return UsageError(f"{kind}: cannot be built with {given} ({reason})")


def built_already(kind: str, name: str) -> UsageError:
    """The error where a setting of building is given for an index that is opened from its file."""
    return UsageError(f"{kind}: {name} is set when an index is built, and this one is read from its file")


def _whole(kind: str, name: str, value: Setting) -> int:
    if not isinstance(value, int) or value < 1:
        raise UsageError(f"{kind}: {name}={value} is no whole number of at least 1")
    return value


def _given(kind: str, wanted: Wanted, build: Mapping[str, int], search: Sequence[str]) -> dict[str, int]:
    """The settings of building with their defaults; a name that is none of both is refused, and one that comes too late."""
    settings = wanted.settings
    for name in settings:
        if wanted.place and name in build:
            raise built_already(kind, name)
        if name not in build and name not in (*search, "labels"):
            raise no_such_setting(kind, name, [*build, *search, "labels"])
    return {name: _whole(kind, name, settings.get(name, usual)) for name, usual in build.items()}


class Hnswlib:
    """hnswlib: `hnswlib:FILE`, or built with `M`, `ef_construction`; `ef` in search. Labels are row numbers.

    Its files do not say their metric: it is the one asked for.
    """

    index: Any
    BUILD: Mapping[str, int] = {"M": 16, "ef_construction": 200, "random_seed": 100}

    def __init__(self, wanted: Wanted) -> None:
        try:
            import hnswlib
        except ImportError:
            raise MissingExtraError("an hnswlib index", "hnswlib") from None
        build = _given("hnswlib", wanted, self.BUILD, ("ef",))
        self.labels = _Labels(wanted)
        if wanted.place:
            self.index = hnswlib.Index(wanted.metric, wanted.dimensions)
            try:
                self.index.load_index(_file(wanted.place, "hnswlib"))
            except RuntimeError as error:
                raise _unreadable(wanted.place, "hnswlib", error) from None
        else:
            documents = built_from(wanted, "hnswlib")
            self.index = hnswlib.Index(wanted.metric, documents.dimensions)
            try:
                self.index.init_index(max_elements=documents.rows, **build)
                for start, block in documents.blocks():
                    rows = np.arange(start, start + len(block))
                    # One thread: with more, the same vectors give another graph every time.
                    self.index.add_items(np.asarray(block, np.float32), rows, num_threads=1)
            except RuntimeError as error:
                raise _cannot_build("hnswlib", build, error) from None
        self.ef = 10
        self.change("ef", wanted.settings.get("ef", 50))

    def facts(self) -> Facts:
        """Rows and dimensions; the metric is not known."""
        return Facts(self.index.get_current_count(), self.index.dim, None)

    def change(self, name: str, value: Setting) -> None:
        """Set `ef`."""
        if name != "ef":
            raise no_such_setting("hnswlib", name, ["ef"])
        self.ef = _whole("hnswlib", name, value)

    def search(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """Approximate neighbours. hnswlib gives k or fails, so k is held to what there is."""
        wanted = min(k, self.index.get_current_count())
        self.index.set_ef(self.ef)
        if allowed is None:
            labels, _ = self.index.knn_query(query, wanted, num_threads=1)
            return self.labels.ids(labels[0])
        inside = set(self.labels.labels(allowed).tolist())
        if not inside:
            return []
        labels, _ = self.index.knn_query(
            query, min(wanted, len(inside)), num_threads=1, filter=inside.__contains__
        )
        return self.labels.ids(labels[0])

    def exact(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """It has none."""
        raise no_exact("hnswlib")

    def close(self) -> None:
        """Nothing to let go of."""


class Usearch:
    """usearch: `usearch:FILE`, or built with `connectivity`, `expansion_add`; `expansion_search` in search."""

    index: Any
    BUILD: Mapping[str, int] = {"connectivity": 16, "expansion_add": 128}
    METRICS: Mapping[str, str] = {"cosine": "cos", "ip": "ip", "l2": "l2sq"}

    def __init__(self, wanted: Wanted) -> None:
        with suppress(ImportError):
            # Opened after usearch, faiss 1.15 ends the process (a clash of their C++ libraries); before it, both work.
            import faiss  # noqa: F401
        try:
            from usearch import index as usearch
        except ImportError:
            raise MissingExtraError("a usearch index", "usearch") from None
        kind: Any = usearch.Index
        build = _given("usearch", wanted, self.BUILD, ("expansion_search",))
        self.labels = _Labels(wanted)
        if wanted.place:
            try:
                found = kind.restore(_file(wanted.place, "usearch"), view=True)
            except Exception as error:
                raise _unreadable(wanted.place, "usearch", error) from None
            if found is None:
                raise _unreadable(wanted.place, "usearch", ValueError("not its format"))
            self.index = found
        else:
            documents = built_from(wanted, "usearch")
            metric = self.METRICS[wanted.metric]
            try:
                self.index = kind(ndim=documents.dimensions, metric=metric, dtype="f32", **build)
                for start, block in documents.blocks():
                    rows = np.arange(start, start + len(block))
                    self.index.add(rows, np.asarray(block, np.float32), threads=1)
            except Exception as error:  # usearch raises classes of many kinds
                raise _cannot_build("usearch", build, error) from None
        self.change("expansion_search", wanted.settings.get("expansion_search", 64))

    def facts(self) -> Facts:
        """Rows, dimensions and metric."""
        kind = str(self.index.metric_kind).rpartition(".")[2].lower()
        known = {"cos": "cosine", "ip": "ip", "l2sq": "l2"}
        return Facts(len(self.index), int(self.index.ndim), known.get(kind))

    def change(self, name: str, value: Setting) -> None:
        """Set `expansion_search`."""
        if name != "expansion_search":
            raise no_such_setting("usearch", name, ["expansion_search"])
        self.index.expansion_search = _whole("usearch", name, value)

    def search(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """Approximate neighbours."""
        return self._asked(query, k, allowed, exact=False)

    def exact(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """Its own search over every vector."""
        return self._asked(query, k, allowed, exact=True)

    def _asked(self, query: Any, k: int, allowed: Allowed, exact: bool) -> Sequence[str]:
        if allowed is not None:
            raise no_filter("usearch")
        return self.labels.ids(self.index.search(query, k, threads=1, exact=exact).keys)

    def close(self) -> None:
        """Let go of the file."""
        self.index.reset()


class Faiss:
    """faiss: `faiss:FILE`, or built by `index=HNSW32` or `index=IVF64,Flat`; `efSearch`, `nprobe` and its others in search.

    Under cosine the vectors are brought to length 1 and compared by inner product, as faiss has no cosine.
    """

    index: Any
    faiss: Any

    def __init__(self, wanted: Wanted) -> None:
        try:
            import faiss
        except ImportError:
            raise MissingExtraError("a faiss index", "faiss") from None
        self.faiss, self.cosine, self.built = faiss, wanted.metric == "cosine", not wanted.place
        self.labels = _Labels(wanted)
        if wanted.place:
            if "index" in wanted.settings:
                raise built_already("faiss", "index")
            try:
                self.index = faiss.read_index(_file(wanted.place, "faiss"))
            except RuntimeError as error:
                raise _unreadable(wanted.place, "faiss", error) from None
            if self.index.d != wanted.dimensions:
                raise InputError(
                    f"{printable(wanted.place)}: has {self.index.d} dimensions, the queries {wanted.dimensions}"
                )
        else:
            self._build(wanted, built_from(wanted, "faiss"))
        for name, value in wanted.settings.items():
            if name not in ("labels", "index"):
                self.change(name, value)

    def _build(self, wanted: Wanted, documents: Vectors) -> None:
        metric = self.faiss.METRIC_L2 if wanted.metric == "l2" else self.faiss.METRIC_INNER_PRODUCT
        recipe = str(wanted.settings.get("index", "HNSW32"))
        try:
            self.index = self.faiss.index_factory(documents.dimensions, recipe, metric)
        except RuntimeError:
            raise UsageError(
                f"faiss: index={recipe} is no recipe of its index_factory, such as HNSW32 or IVF64,Flat"
            ) from None
        data = self._ready(np.array(documents.data, np.float32))
        try:
            self.index.train(data)
        except RuntimeError as error:
            reason = str(error).partition("Error: ")[2] or str(error)
            raise UsageError(
                f"faiss: index={recipe} cannot be trained: {printable(reason.splitlines()[0])}"
            ) from None
        self.index.add(data)

    def _ready(self, data: Any) -> Any:
        if self.cosine and self.index.metric_type == self.faiss.METRIC_INNER_PRODUCT:
            self.faiss.normalize_L2(data)
        return data

    def facts(self) -> Facts:
        """Rows, dimensions and metric."""
        ip = self.index.metric_type == self.faiss.METRIC_INNER_PRODUCT
        # What was built here by inner product holds vectors of length 1; a file may hold any.
        by = "cosine" if self.cosine and self.built else "ip"
        return Facts(self.index.ntotal, self.index.d, by if ip else "l2")

    def change(self, name: str, value: Setting) -> None:
        """Set a parameter by faiss's own name, such as `efSearch` or `nprobe`."""
        try:
            self.faiss.ParameterSpace().set_index_parameter(self.index, name, value)
        except (RuntimeError, TypeError):
            raise no_such_setting(
                "this faiss index", name, ["efSearch", "nprobe", "index", "labels"]
            ) from None

    def search(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """Approximate neighbours; with one thread, as one client has."""
        if allowed is not None:
            raise no_filter("faiss")
        _, labels = self.index.search(self._ready(np.array(query, np.float32)[None]), k)
        return self.labels.ids(labels[0])

    def exact(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """It has none, unless it is a flat index."""
        raise no_exact("faiss")

    def close(self) -> None:
        """Nothing to let go of."""

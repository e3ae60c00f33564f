"""The one rule for order, ties and cutoffs: from the rows of a run to its Hits and its Head.

This is the only module that orders documents: score descending, equal scores by document id descending,
compared as UTF-8 bytes (trec_eval's rule). Rows that stand in order are not sorted again; a run whose queries
are scattered over the file is gathered, in as many passes as the memory at hand asks for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.blocks import buckets, in_parallel
from leadline.conventions import Conventions
from leadline.errors import SHOWN_ROWS, EmptyInputError, RowFault, RowsError, printable
from leadline.hits import Flags, Floats, Hits, Ints, Judged, pair_keys
from leadline.ids import Ids, Keys, heads, of_texts, texts, to_series
from leadline.tables import Rows, RunSource

if TYPE_CHECKING:
    import polars as pl


def rank(run: RunSource, judged: Judged, conventions: Conventions, cutoffs: Sequence[int] = ()) -> Hits:
    """The hits of a run: order checked (sorted only where needed), duplicates refused, judgments joined.

    Raises
    ------
    RowsError: wrong rows, or a document twice for one query (unless `duplicates="first"`), all counted.

    >>> import polars as pl
    >>> from leadline.tables import Qrels, Run
    >>> qrels = Qrels.checked(pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "grade": [1, 0]}))
    >>> run = Run.checked(pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [4.0, 4.0]}))
    >>> rank(run, Judged.of(qrels), Conventions()).rank.tolist()   # equal scores: "b" stands before "a"
    [1, 2]
    """
    ranker = Ranker(judged, conventions, tuple(cutoffs))
    parts = list(_grouped_parts(run, ranker))
    if any(part is None for part in parts):
        parts = [ranker.ranked(*rows) for rows in buckets(run)]
    whole = [part for part in parts if part is not None]
    if not any(part.counts["rows"] for part in whole) and not run.empty and not run.failed:
        raise EmptyInputError(f"{printable(file_or_name(run))}: the run has no rows")
    duplicates = [pair for part in whole for pair in part.duplicates]
    if duplicates and conventions.duplicates == "error":
        raise duplicates_error(run, duplicates)
    return _joined(run, judged, whole)


def head(run: RunSource, judged: Judged, conventions: Conventions, depth: int) -> "pl.DataFrame":
    """The Head of a run: the first documents of each judged query, judged or not.

    Returns
    -------
    A frame query (index in `judged.query_ids`), rank, doc_id, grade (null where unjudged), sorted by query and
    rank; at most `depth` rows a query.

    Raises
    ------
    RowsError: as `rank`.

    >>> import polars as pl
    >>> from leadline.tables import Qrels, Run
    >>> qrels = Qrels.checked(pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "grade": [2]}))
    >>> run = Run.checked(pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.0, 2.0]}))
    >>> head(run, Judged.of(qrels), Conventions(), 2).rows()
    [(0, 1, 'b', None), (0, 2, 'a', 2.0)]
    """
    import polars as pl

    ranker = Ranker(judged, replace(conventions, depth=depth), (), with_head=True)
    parts = list(_grouped_parts(run, ranker))
    if any(part is None for part in parts):
        parts = [ranker.ranked(*rows) for rows in buckets(run)]
    whole = [part for part in parts if part is not None]
    duplicates = [pair for part in whole for pair in part.duplicates]
    if duplicates and conventions.duplicates == "error":
        raise duplicates_error(run, duplicates)
    frames = [part.head for part in whole if part.head is not None]
    return pl.concat(frames).sort("query", "rank")


@dataclass(frozen=True)
class Part:
    """The hits of some whole queries, before they are put together."""

    query: Ints
    rank: Ints
    grade: Floats
    tie_first: Ints
    tie_size: Ints
    pair: Ints
    codes: Ints
    returned: Ints
    query_ids: list[str]
    duplicates: list[tuple[str, str]]
    counts: dict[str, int]
    across: dict[int, int]
    head: "pl.DataFrame | None" = None


@dataclass(frozen=True)
class Ranker:
    """Orders blocks of whole queries and joins them with the judgments."""

    judged: Judged
    conventions: Conventions
    cutoffs: tuple[int, ...]
    with_head: bool = False

    @cached_property
    def code_of(self) -> dict[str, int]:
        """The index of each judged query id."""
        return {query_id: index for index, query_id in enumerate(self.judged.query_ids)}

    def part(self, rows: Rows) -> Part | None:
        """The hits of a block whose queries are whole; None where a query's rows do not stand together."""
        first = heads(rows.query_id)
        names = texts(rows.query_id[first])
        if len(set(names)) < len(names):
            return None
        length = np.diff(first, append=len(rows.query_id))
        group = np.repeat(np.arange(len(names), dtype=np.int32), length)
        return self.ranked(group, rows.number, rows.doc_id, names)

    def ranked(self, group: Any, score: Any, documents: Ids, names: list[str]) -> Part:
        """The hits of rows whose queries are numbered by `group` (positions in `names`), in any order."""
        counts = {"rows": len(group), "duplicates_dropped": 0, "self_matches": 0}
        if self.conventions.ignore_self:
            other = documents != of_texts(names)[group]
            counts["self_matches"] = int((~other).sum())
            group, score, documents = group[other], score[other], documents[other]
        if self.conventions.score_width == 32:
            score = score.astype(np.float32)
        codes = np.array([self.code_of.get(name, -1) for name in names], np.int64)
        # Queries without judgments get numbers of their own beyond the judged ones, so that keys stay apart.
        query = np.where(codes >= 0, codes, self.judged.queries + np.arange(len(names)))
        keys = pair_keys(query, group, documents, self.judged.pairs.seed)
        places = Places.of(group, score, documents, len(names))
        duplicates: list[tuple[str, str]] = []
        repeats = repeated(keys, group, documents, places)
        if len(repeats):
            counts["duplicates_dropped"] = len(repeats)
            duplicates = [(names[group[i]], documents[i].decode()) for i in repeats[:SHOWN_ROWS]]
            duplicates += [("", "")] * (len(repeats) - len(duplicates))
            keep = np.ones(len(group), bool)
            keep[repeats] = False
            group, keys, score, documents = group[keep], keys[keep], score[keep], documents[keep]
            places = Places.of(group, score, documents, len(names))
        rows, grade, pair = self.judged.pairs.find(keys, query, group, documents)
        found = group[rows], places.of_rows(rows), grade, pair
        part = self._part(*found, places, codes, names, duplicates, counts)
        return replace(part, head=self._head(part, group, documents, places)) if self.with_head else part

    def _head(self, part: Part, group: Any, documents: Ids, places: "Places") -> "pl.DataFrame":
        """The documents of the judged queries down to the depth, with the grades of the part's hits."""
        import polars as pl

        queries = np.flatnonzero(part.codes >= 0)
        count = part.returned[queries]
        rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        rows = places.rows_at(np.repeat(places.start[queries], count) + rank)
        shown = pl.DataFrame(
            {"query": part.codes[group[rows]], "rank": rank + 1, "doc_id": to_series(documents[rows])}
        )
        hits = pl.DataFrame({"query": part.query, "rank": part.rank, "grade": part.grade})
        return shown.join(hits, on=["query", "rank"], how="left", maintain_order="left")

    def _part(
        self,
        group: Ints,
        place: Ints,
        grade: Floats,
        pair: Ints,
        places: "Places",
        codes: Ints,
        names: list[str],
        duplicates: list[tuple[str, str]],
        counts: dict[str, int],
    ) -> Part:
        """Ranks and tie groups of the judged rows, and the length of each list."""
        depth = self.conventions.depth or np.iinfo(np.int64).max
        rank = place - places.start[group] + 1
        keep = rank <= depth
        group, place, rank, grade, pair = group[keep], place[keep], rank[keep], grade[keep], pair[keep]
        first, size = places.tie_groups(place)
        judged = np.flatnonzero(codes >= 0)
        across = {k: places.ties_across(k, judged) for k in self.cutoffs if k < depth}
        returned = np.minimum(places.length, depth)
        first = first - places.start[group] + 1
        # The run is cut before anything is averaged over ties: a group ends at the depth.
        size = np.minimum(size, depth - first + 1)
        return Part(
            codes[group], rank, grade, first, size, pair, codes, returned, names, duplicates, counts, across
        )


@dataclass(frozen=True)
class Places:
    """Where each row stands in the order: rows of a group (a query) stand together, best first.

    `order` gives the row at each place, or is None where the rows stand in order; `tied` says of each place but
    the last whether the next one has an equal score; `start` and `length` are those of each group.
    """

    order: Ints | None
    tied: Flags
    start: Ints
    length: Ints

    @classmethod
    def of(cls, group: Ints, score: Any, documents: Ids, groups: int) -> "Places":
        """The places of rows. Rows in order are found so by looking at neighbours, and not sorted again.

        Document ids are compared only between rows of equal score.
        """
        length = np.bincount(group, minlength=groups)
        start = np.cumsum(length) - length
        same = group[1:] == group[:-1]
        tied = same & (score[1:] == score[:-1])
        if (same & (score[1:] > score[:-1])).any() or (group[1:] < group[:-1]).any():
            order = np.argsort(-score)
            order = order[_stable_by_group(group[order])]
            group, score = group[order], score[order]
            tied = (score[1:] == score[:-1]) & (group[1:] == group[:-1])
        else:
            at = np.flatnonzero(tied)
            if not (documents[at] < documents[at + 1]).any():
                return cls(None, tied, start, length)
            order = np.arange(len(group))
        places = np.flatnonzero(np.concatenate(([False], tied)) | np.concatenate((tied, [False])))
        if len(places):
            label = np.cumsum(~np.concatenate(([False], tied)))[places]
            names = np.argsort(documents[order[places]], kind="stable")[::-1]
            order[places] = order[places][names[np.argsort(label[names], kind="stable")]]
        return cls(order, tied, start, length)

    def of_rows(self, rows: Ints) -> Ints:
        """The place of each of some rows."""
        if self.order is None:
            return rows
        place: Ints = np.empty(len(self.order), np.int64)
        place[self.order] = np.arange(len(self.order))
        found: Ints = place[rows]
        return found

    def rows_at(self, places: Ints) -> Ints:
        """The row at each of some places."""
        if self.order is None:
            return places
        rows: Ints = self.order[places]
        return rows

    def tie_groups(self, places: Ints) -> tuple[Ints, Ints]:
        """The first place and the size of the group of equal scores that each place belongs to."""
        edges = np.flatnonzero(np.concatenate(([True], ~self.tied, [True])))
        if not len(places):
            return places, places
        at = np.searchsorted(edges, places, side="right") - 1
        return edges[at], edges[at + 1] - edges[at]

    def ties_across(self, cutoff: int, groups: Ints) -> int:
        """In how many of the groups the documents at rank `cutoff` and the next one tie."""
        long = groups[self.length[groups] > cutoff]
        return int(self.tied[self.start[long] + cutoff - 1].sum())


def _stable_by_group(group: Ints) -> Ints:
    """The stable order by group; NumPy sorts 16-bit numbers by radix, so wide numbers go in two steps."""
    order = np.argsort((group & 0xFFFF).astype(np.uint16), kind="stable")
    if len(group) and group.max() > 0xFFFF:
        order = order[np.argsort((group[order] >> 16).astype(np.uint16), kind="stable")]
    return order


def repeated(keys: Keys, group: Ints, documents: Ids, places: Places) -> Ints:
    """The rows that repeat a document of their query, the better-ranked one excepted."""
    ordered = np.sort(keys)
    twice = ordered[1:] == ordered[:-1]
    if not twice.any():
        return np.zeros(0, np.int64)
    rows = np.flatnonzero(np.isin(keys, ordered[1:][twice]))
    rows = rows[np.argsort(places.of_rows(rows))]
    seen: set[tuple[int, bytes]] = set()
    again = []
    for pair in zip(group[rows].tolist(), documents[rows].tolist(), strict=True):
        again.append(pair in seen)
        seen.add(pair)
    repeated: Ints = rows[np.array(again, bool)]
    return repeated


def _grouped_parts(run: RunSource, ranker: Ranker) -> Iterator[Part | None]:
    """The parts of a run whose blocks hold whole queries; ends with None at the first query seen again."""
    seen: set[str] = set()
    for part in in_parallel(run.blocks(), lambda block: ranker.part(block.rows())):
        if part is None or not seen.isdisjoint(part.query_ids):
            yield None
            return
        seen.update(part.query_ids)
        yield part


def file_or_name(run: RunSource) -> str:
    """The run for messages: its file where it has one, else its name."""
    source = getattr(run, "source", None)
    return str(source.name) if source is not None else run.name


def duplicates_error(run: RunSource, pairs: list[tuple[str, str]]) -> RowsError:
    """The error for documents that stand twice for a query, with the lines of each."""
    named = [pair for pair in dict.fromkeys(pairs) if pair != ("", "")][:SHOWN_ROWS]
    lines: dict[tuple[str, str], list[int]] = {pair: [] for pair in named}
    queries, documents = (of_texts(column) for column in zip(*named, strict=True))
    for block in run.blocks():
        rows = block.rows()
        found = np.flatnonzero(np.isin(rows.query_id, queries) & np.isin(rows.doc_id, documents))
        numbers = block.lines() if len(found) else []
        for at, pair in zip(
            found.tolist(),
            zip(texts(rows.query_id[found]), texts(rows.doc_id[found]), strict=True),
            strict=True,
        ):
            if pair in lines:
                lines[pair].append(numbers[at])
    paths = getattr(run, "paths", ())

    def path(line: int) -> str:
        return paths[line - 1] if 0 < line <= len(paths) else ""

    faults = [
        RowFault(
            at[1],
            None,
            f"{query_id} {doc_id}",
            f"but {path(at[0]) or f'line {at[0]}'} has the same document for this query",
            path(at[1]),
        )
        for (query_id, doc_id), at in lines.items()
    ]
    return RowsError(
        file_or_name(run),
        sorted(faults, key=lambda fault: fault.line),
        len(pairs),
        "a document may stand once for a query; --duplicates first keeps the better-ranked one",
    )


def _joined(run: RunSource, judged: Judged, parts: list[Part]) -> Hits:
    """The parts of all queries as one, in the order of the judged queries."""
    names = ("query", "rank", "grade", "tie_first", "tie_size", "pair")
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts] or [np.zeros(0)]) for name in names
    }
    order = np.lexsort((columns["rank"], columns["query"]))
    returned = np.zeros(judged.queries, np.int64)
    answered = np.zeros(judged.queries, bool)
    counts = {"rows": 0, "queries": 0, "unjudged_queries": 0, "duplicates_dropped": 0, "self_matches": 0}
    across: dict[int, int] = {}
    for part in parts:
        known = part.codes >= 0
        returned[part.codes[known]] = part.returned[known]
        answered[part.codes[known]] = True
        counts["queries"] += len(part.codes)
        counts["unjudged_queries"] += int((~known).sum())
        for key, value in part.counts.items():
            counts[key] += value
        for cutoff, value in part.across.items():
            across[cutoff] = across.get(cutoff, 0) + value
    code_of = {query_id: index for index, query_id in enumerate(judged.query_ids)}
    empty = [code_of[q] for q in run.empty if q in code_of]
    failed = np.zeros(judged.queries, bool)
    failed[[code_of[q] for q in run.failed if q in code_of]] = True
    answered[empty] = True
    counts["queries"] += len(run.empty)
    counts["unjudged_queries"] += len(run.empty) - len(empty)
    counts["empty"], counts["failed"] = len(run.empty), len(run.failed)
    integer = {name: columns[name][order].astype(np.int64) for name in names if name != "grade"}
    grade = columns["grade"][order].astype(np.float64)
    return Hits(
        judged,
        grade=grade,
        returned=returned,
        answered=answered,
        failed=failed,
        counts=counts,
        across=across,
        **integer,
    )

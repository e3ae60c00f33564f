"""The one rule for order, ties and cutoffs: from the rows of a run to its Hits and its Head.

This is the only module that orders documents: score descending, equal scores by document id descending,
compared as UTF-8 bytes (trec_eval's rule). Rows that stand in order are not sorted again; a run whose queries
are scattered over the file is gathered, in as many passes as the memory at hand asks for.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from leadline.conventions import Conventions
from leadline.errors import SHOWN_ROWS, RowFault, RowsError
from leadline.hits import Flags, Floats, Hits, Ints, Judged, Keys, pair_keys
from leadline.machine import memory_limit
from leadline.tables import Block, RunSource

BYTES_A_ROW = 160
"""What a row of a scattered run takes at the peak of sorting, measured with ids of about ten characters."""


def rank(run: RunSource, judged: Judged, conventions: Conventions, cutoffs: Sequence[int] = ()) -> Hits:
    """The hits of a run: order checked (sorted only where needed), duplicates refused, judgments joined.

    Raises
    ------
    RowsError: wrong rows, or a document twice for one query (unless `duplicates="first"`), all counted.

    >>> from leadline.tables import Qrels, Run
    >>> qrels = Qrels.checked(pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "grade": [1, 0]}))
    >>> run = Run.checked(pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [4.0, 4.0]}))
    >>> rank(run, Judged.of(qrels), Conventions()).rank.tolist()   # equal scores: "b" stands before "a"
    [1, 2]
    """
    ranker = Ranker(judged, conventions, tuple(cutoffs))
    parts = list(_grouped_parts(run, ranker))
    if any(part is None for part in parts):
        parts = list(_scattered_parts(run, ranker))
    whole = [part for part in parts if part is not None]
    duplicates = [pair for part in whole for pair in part.duplicates]
    if duplicates and conventions.duplicates == "error":
        raise _duplicates_error(run, duplicates)
    return _joined(run, judged, whole)


@dataclass(frozen=True)
class Part:
    """The hits of some whole queries, before they are put together."""

    query: Ints
    rank: Ints
    grade: Floats
    tie_first: Ints
    tie_size: Ints
    codes: Ints
    returned: Ints
    query_ids: list[str]
    duplicates: list[tuple[str, str]]
    counts: dict[str, int]
    across: dict[int, int]


@dataclass(frozen=True)
class Ranker:
    """Orders blocks of whole queries and joins them with the judgments."""

    judged: Judged
    conventions: Conventions
    cutoffs: tuple[int, ...]

    @cached_property
    def code_of(self) -> dict[str, int]:
        """The index of each judged query id."""
        return {query_id: index for index, query_id in enumerate(self.judged.query_ids)}

    def part(self, frame: pl.DataFrame) -> Part | None:
        """The hits of a block whose queries are whole; None where a query's rows do not stand together."""
        query_ids = frame["query_id"]
        change = (query_ids != query_ids.shift(1)).fill_null(True).to_numpy()
        names = query_ids.gather(np.flatnonzero(change)).to_list()
        if len(set(names)) < len(names):
            return None
        return self.ranked(np.cumsum(change) - 1, frame["score"].to_numpy(), frame["doc_id"], names)

    def ranked(self, group: Ints, score: Floats, documents: pl.Series, names: list[str]) -> Part:
        """The hits of rows whose queries are numbered by `group` (positions in `names`), in any order."""
        counts = {"rows": len(group), "duplicates_dropped": 0, "self_matches": 0}
        if self.conventions.ignore_self:
            own = (documents != pl.Series(names, dtype=pl.String).gather(group)).to_numpy()
            counts["self_matches"] = int(len(own) - own.sum())
            group, score, documents = group[own], score[own], documents.filter(pl.Series(own))
        if self.conventions.score_width == 32:
            score = score.astype(np.float32)
        group, score, documents, tied = _ordered(group, score, documents)
        codes = np.array([self.code_of.get(name, -1) for name in names], np.int64)
        # Queries without judgments get numbers of their own beyond the judged ones, so that keys stay apart.
        numbers = np.where(codes >= 0, codes, self.judged.queries + np.arange(len(names)))
        query = numbers[group]
        keys = pair_keys(query, documents, self.judged.pairs.seed)
        repeats = _repeated(keys, group, documents)
        duplicates = [(names[group[i]], documents[int(i)]) for i in repeats[:SHOWN_ROWS]]
        if len(repeats):
            duplicates += [("", "")] * (len(repeats) - len(duplicates))
            counts["duplicates_dropped"] = len(repeats)
            kept = np.ones(len(group), bool)
            kept[repeats] = False
            group, query, keys, score = group[kept], query[kept], keys[kept], score[kept]
            documents = documents.filter(pl.Series(kept))
            tied = (score[1:] == score[:-1]) & (group[1:] == group[:-1])
        rows, grade = self.judged.pairs.find(keys, query, documents)
        return self._part(group, tied, rows, grade, codes, names, duplicates, counts)

    def _part(
        self,
        group: Ints,
        tied: Flags,
        rows: Ints,
        grade: Floats,
        codes: Ints,
        names: list[str],
        duplicates: list[tuple[str, str]],
        counts: dict[str, int],
    ) -> Part:
        """Ranks and tie groups of the judged rows, and the length of each list."""
        length = np.bincount(group, minlength=len(names))
        start = np.cumsum(length) - length
        ties = (
            np.flatnonzero(np.concatenate(([True], ~tied, [True]))) if len(group) else np.zeros(1, np.int64)
        )
        at = np.searchsorted(ties, rows, side="right") - 1
        place = start[group[rows]]
        position = rows - place + 1
        depth = self.conventions.depth or np.iinfo(np.int64).max
        kept = position <= depth
        across = {k: self._tied_across(k, start, length, tied, codes) for k in self.cutoffs if k < depth}
        return Part(
            codes[group[rows]][kept],
            position[kept],
            grade[kept],
            (ties[at] - place + 1)[kept],
            (ties[at + 1] - ties[at])[kept] if len(rows) else at[kept],
            codes,
            np.minimum(length, depth),
            names,
            duplicates,
            counts,
            across,
        )

    @staticmethod
    def _tied_across(k: int, start: Ints, length: Ints, tied: Flags, codes: Ints) -> int:
        long = (length > k) & (codes >= 0)
        return int(tied[start[long] + k - 1].sum())


def _ordered(group: Ints, score: Any, documents: pl.Series) -> tuple[Ints, Any, pl.Series, Flags]:
    """The rows in order, and for each but the last whether the next one ties with it.

    Rows that stand in order already are found so by looking at neighbours; document ids are compared only
    between neighbours of equal score.
    """
    same = group[1:] == group[:-1]
    tied = same & (score[1:] == score[:-1])
    order = None
    if (same & (score[1:] > score[:-1])).any() or (group[1:] < group[:-1]).any():
        order = np.argsort(-score)
        order = order[_stable_by_group(group[order])]
        group, score = group[order], score[order]
        tied = (score[1:] == score[:-1]) & (group[1:] == group[:-1])
    else:
        at = np.flatnonzero(tied)
        if not (documents.gather(at) < documents.gather(at + 1)).any():
            return group, score, documents, tied
        order = np.arange(len(group))
    in_tie = np.concatenate(([False], tied)) | np.concatenate((tied, [False]))
    places = np.flatnonzero(in_tie)
    if len(places):
        label = np.cumsum(~np.concatenate(([False], tied)))[places]
        rows = pl.DataFrame({"tie": label, "doc": documents.gather(order[places]), "row": order[places]})
        order[places] = rows.sort(["tie", "doc"], descending=[False, True])["row"].to_numpy()
    return group, score, documents.gather(order), tied


def _stable_by_group(group: Ints) -> Ints:
    """The stable order by group; NumPy sorts 16-bit numbers by radix, so wide numbers go in two steps."""
    order = np.argsort((group & 0xFFFF).astype(np.uint16), kind="stable")
    if len(group) and group.max() > 0xFFFF:
        order = order[np.argsort((group[order] >> 16).astype(np.uint16), kind="stable")]
    return order


def _repeated(keys: Keys, group: Ints, documents: pl.Series) -> Ints:
    """The rows that repeat a document of their query, the better-ranked one excepted."""
    ordered = np.sort(keys)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.zeros(0, np.int64)
    frame = pl.DataFrame({"group": group, "doc": documents})
    first = frame.select(pl.struct("group", "doc").is_first_distinct()).to_series().to_numpy()
    return np.flatnonzero(~first)


def _grouped_parts(run: RunSource, ranker: Ranker) -> Iterator[Part | None]:
    """The parts of a run whose blocks hold whole queries; ends with None at the first query seen again."""
    seen: set[str] = set()
    for part in _in_parallel(run.blocks(), lambda block: ranker.part(block.load())):
        if part is None or not seen.isdisjoint(part.query_ids):
            yield None
            return
        seen.update(part.query_ids)
        yield part


def _in_parallel(blocks: Iterator[Block], work: Callable[[Block], Any]) -> Iterator[Any]:
    """The results of `work` in the order of the blocks; wrong rows are counted over all blocks, then raised."""
    wrong: list[RowsError] = []
    workers = min(4, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Any]] = deque()

        def results(most: int) -> Iterator[Any]:
            while len(waiting) > most:
                try:
                    result = waiting.popleft().result()
                except RowsError as error:
                    wrong.append(error)
                else:
                    if not wrong:
                        yield result

        try:
            for block in blocks:
                waiting.append(pool.submit(work, block))
                yield from results(workers)
            yield from results(0)
        finally:
            for future in waiting:
                future.cancel()
    if wrong:
        raise RowsError(
            wrong[0].source,
            [fault for error in wrong for fault in error.faults][:SHOWN_ROWS],
            sum(error.total for error in wrong),
            wrong[0].advice,
        )


def _scattered_parts(run: RunSource, ranker: Ranker) -> Iterator[Part]:
    """The parts of a run whose rows stand in any order: gathered whole, or some queries at a time."""
    most = max(100_000, memory_limit() // 2 // BYTES_A_ROW)
    gathered: list[_Rows] | None = []
    code_of: dict[str, int] = {}
    sizes = np.zeros(0, np.int64)
    rows = 0
    for piece in _in_parallel(run.blocks(), _coded):
        piece.number(code_of)
        sizes = np.pad(sizes, (0, len(code_of) - len(sizes)))
        sizes += np.bincount(piece.code, minlength=len(sizes))
        rows += len(piece.code)
        if gathered is not None:
            gathered.append(piece)
        if rows > most:
            gathered = None
    names = list(code_of)
    if gathered is not None:
        yield _gathered(gathered, names, ranker)
        return
    share = np.cumsum(sizes) * -(-rows // most) // (rows + 1)
    for number in range(int(share.max()) + 1):
        mine = share == number
        offset = int(np.argmax(mine))
        pieces = []
        for piece in _in_parallel(run.blocks(), _coded):
            piece.number(code_of)
            pieces.append(piece.where(mine[piece.code], offset))
        yield _gathered(pieces, [name for name, chosen in zip(names, mine, strict=True) if chosen], ranker)


@dataclass
class _Rows:
    """Rows with their queries as positions in `names`, later as numbers that hold for the whole run."""

    code: Any
    score: Floats
    documents: pl.Series
    names: list[str]

    def number(self, code_of: dict[str, int]) -> None:
        """Turn positions in `names` into the run's numbers; a new query gets the next one."""
        numbers = np.array([code_of.setdefault(name, len(code_of)) for name in self.names], np.int32)
        self.code = numbers[self.code]

    def where(self, keep: Flags, offset: int) -> "_Rows":
        """Only some rows, their queries numbered from `offset`."""
        return _Rows(
            self.code[keep] - np.int32(offset), self.score[keep], self.documents.filter(pl.Series(keep)), []
        )


def _coded(block: Block) -> _Rows:
    frame = block.load()
    names = frame["query_id"].unique()
    code = frame["query_id"].cast(pl.Enum(names)).to_physical().to_numpy()
    return _Rows(code, frame["score"].to_numpy(), frame["doc_id"], names.to_list())


def _gathered(pieces: list[_Rows], names: list[str], ranker: Ranker) -> Part:
    """One part of the gathered rows; the pieces are emptied on the way, to hold each row once."""
    group = np.concatenate([piece.code for piece in pieces])
    score = np.concatenate([piece.score for piece in pieces])
    documents = pl.concat([piece.documents for piece in pieces])
    pieces.clear()
    return ranker.ranked(group, score, documents, names)


def _duplicates_error(run: RunSource, pairs: list[tuple[str, str]]) -> RowsError:
    """The error for documents that stand twice for a query, with the lines of each."""
    named = [pair for pair in dict.fromkeys(pairs) if pair != ("", "")][:SHOWN_ROWS]
    wanted = pl.DataFrame(named, schema=["query_id", "doc_id"], orient="row")
    lines: dict[tuple[str, str], list[int]] = {pair: [] for pair in named}
    for block in run.blocks():
        frame = block.load().select("query_id", "doc_id").with_row_index("at")
        found = frame.join(wanted, on=["query_id", "doc_id"], how="semi", maintain_order="left")
        if found.height:
            numbers = block.lines()
            for at, query_id, doc_id in found.iter_rows():
                lines[query_id, doc_id].append(numbers[at])
    faults = [
        RowFault(
            at[1], None, f"{query_id} {doc_id}", f"but line {at[0]} has the same document for this query"
        )
        for (query_id, doc_id), at in lines.items()
    ]
    source = getattr(run, "source", None)
    return RowsError(
        source.name if source is not None else run.name,
        sorted(faults, key=lambda fault: fault.line),
        len(pairs),
        "a document may stand once for a query; --duplicates first keeps the better-ranked one",
    )


def _joined(run: RunSource, judged: Judged, parts: list[Part]) -> Hits:
    """The parts of all queries as one, in the order of the judged queries."""
    names = ("query", "rank", "grade", "tie_first", "tie_size")
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

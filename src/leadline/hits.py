"""A ranking seen through its judgments: the judged documents of every query, as flat arrays.

Recall, precision, RR, AP, nDCG and the rest follow from these arrays as operations over segments, so that
unjudged documents never become Python objects and no Python loop runs over queries.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leadline.ids import Ids, Keys, hashed, numbered
from leadline.tables import DESIGN, Qrels

if TYPE_CHECKING:
    import polars as pl

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Judged:
    """The judgments of all queries, ready to be met by any number of runs.

    Attributes
    ----------
    query_ids: the judged queries, in the order of the qrels; their positions are the query indices below.
    ideal: all grades, by query, highest first; `ideal_start` has shape (queries + 1,): query i's grades are
        `ideal[ideal_start[i]:ideal_start[i + 1]]`. Negative grades (pooled, not judged) are left out of it.
    max_grade: the top of the scale: as declared, or the largest grade of the whole file.
    strata: how the pool was sampled, where the judgments say so. subtopics: the same of the subtopics.
    """

    query_ids: list[str]
    ideal: Floats
    ideal_start: Ints
    max_grade: float
    pairs: "Pairs" = field(repr=False)
    strata: "Strata | None" = field(default=None, repr=False)
    subtopics: "Subtopics | None" = field(default=None, repr=False)

    @classmethod
    def of(cls, qrels: Qrels) -> "Judged":
        """The judgments of a table; a pair that stands under several subtopics takes its largest grade."""
        table = qrels
        qrels = _largest_of_subtopics(qrels) if qrels.subtopics else qrels
        rows = qrels.rows
        names, query = numbered(rows.query_id)
        grade = rows.number
        kept = grade >= 0
        order = np.lexsort((-grade[kept], query[kept]))
        start = np.zeros(len(names) + 1, np.int64)
        np.cumsum(np.bincount(query[kept], minlength=len(names)), out=start[1:])
        pairs = Pairs.of(query, rows.doc_id, grade)
        strata = Strata.of(qrels.frame, query, grade, len(names)) if qrels.sampled else None
        subtopics = Subtopics.of(table.frame, query) if table.subtopics else None
        return cls(names, grade[kept][order], start, qrels.top_grade(), pairs, strata, subtopics)

    @property
    def queries(self) -> int:
        """How many queries are judged."""
        return len(self.query_ids)

    @cached_property
    def needs(self) -> "Subtopics":
        """The judgments by subtopic; where the judgments name none, each query has one."""
        return self.subtopics or Subtopics.one_a_query(self.pairs, self.queries)

    @cached_property
    def ideal_query(self) -> Ints:
        """The query index of each grade of `ideal`."""
        return np.repeat(np.arange(self.queries), np.diff(self.ideal_start))

    @cached_property
    def ideal_rank(self) -> Ints:
        """The rank (from 1) of each grade of `ideal` within its query."""
        return np.arange(len(self.ideal)) - self.ideal_start[self.ideal_query] + 1

    def count(self, low: float, high: float = np.inf) -> Ints:
        """For each query, how many judged documents have low ≤ grade < high; shape (queries,)."""
        chosen = (self.ideal >= low) & (self.ideal < high)
        return np.bincount(self.ideal_query[chosen], minlength=self.queries)


def _largest_of_subtopics(qrels: Qrels) -> Qrels:
    """Each pair once, with its largest grade."""
    import polars as pl

    design = [pl.col(name).first() for name in DESIGN if name in qrels.frame.columns]
    pairs = qrels.frame.group_by("query_id", "doc_id", maintain_order=True)
    return replace(qrels, table=pairs.agg(pl.col("grade").max(), *design))


@dataclass(frozen=True)
class Subtopics:
    """The judgments of each pair by subtopic: those of pair p are `start[p]` to `start[p + 1]` (without the end).

    Attributes
    ----------
    start: shape (pairs + 1,), the pairs in the order of the judgments.
    need: of each judgment, the subtopic of a query that it is about, numbered over all queries.
    grade: of each judgment. query: of each need, the query it belongs to, shape (needs,).
    ideals: what was found of ideal rankings, by what was asked, so that several systems share it.
    """

    start: Ints
    need: Ints
    grade: Floats
    query: Ints
    ideals: dict[tuple[float, ...], Floats] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, frame: "pl.DataFrame", query: Ints) -> "Subtopics":
        """The subtopics of judgments with such a column; `query` is that of each pair, in the order of first rows."""
        import polars as pl

        of_pair, of_need = ["query_id", "doc_id"], ["query_id", "subtopic"]
        rows = frame.select("query_id", "doc_id", "subtopic", "grade")
        for key, name in ((of_pair, "pair"), (of_need, "need")):
            numbers = rows.select(key).unique(maintain_order=True).with_row_index(name)
            rows = rows.join(numbers, on=key, how="left", maintain_order="left")
        rows = rows.sort("pair", maintain_order=True).with_columns(pl.col("pair", "need").cast(pl.Int64))
        pair, need = rows["pair"].to_numpy(), rows["need"].to_numpy()
        start = np.zeros(len(query) + 1, np.int64)
        np.cumsum(np.bincount(pair, minlength=len(query)), out=start[1:])
        owner = np.zeros(int(need.max(initial=-1)) + 1, np.int64)
        owner[need] = query[pair]
        return cls(start, need, rows["grade"].to_numpy(), owner)

    @classmethod
    def one_a_query(cls, pairs: "Pairs", queries: int) -> "Subtopics":
        """One subtopic for each query."""
        need, grade = np.empty(len(pairs.row), np.int64), np.empty(len(pairs.row))
        need[pairs.row], grade[pairs.row] = pairs.query, pairs.grade
        return cls(np.arange(len(need) + 1), need, grade, np.arange(queries))

    @property
    def several(self) -> bool:
        """Whether some query has more than one subtopic."""
        return len(self.query) > 0 and bool((np.bincount(self.query) > 1).any())

    def of_pairs(self, pairs: Ints) -> tuple[Ints, Ints]:
        """The judgments of some pairs: of each, which of those pairs it belongs to, and its position."""
        size = np.diff(self.start)[pairs]
        row = np.repeat(np.arange(len(pairs)), size)
        before = np.cumsum(size) - size
        return row, np.arange(len(row)) + (self.start[pairs] - before)[row]


@dataclass(frozen=True)
class Strata:
    """The strata of a sampled pool: which of them each pair is in, the pairs in the order of the judgments.

    Attributes
    ----------
    names: the strata. code: of each pair, its position in `names`; −1 where the judgments do not say.
    query, grade: of each pair; a negative grade is "pooled, not judged". queries: how many there are.
    short: strata of which a pair is said to be drawn with a probability below 1, and none is "pooled, not judged".
    """

    names: tuple[str, ...]
    code: Ints
    query: Ints
    grade: Floats
    queries: int
    short: tuple[str, ...]

    @classmethod
    def of(cls, frame: "pl.DataFrame", query: Ints, grade: Floats, queries: int) -> "Strata":
        """The strata of judgments with a column `stratum`; `query` and `grade` are those of its rows."""
        import polars as pl

        names = frame["stratum"].drop_nulls().unique(maintain_order=True)
        place = {name: index for index, name in enumerate(names.to_list())}
        code = np.array([place.get(name, -1) for name in frame["stratum"].to_list()], np.int64)
        short: list[str] = []
        if "probability" in frame.columns:
            drawn = set(frame.filter(pl.col("probability") < 1)["stratum"].drop_nulls().to_list())
            short = sorted(drawn - set(frame.filter(pl.col("grade") < 0)["stratum"].drop_nulls().to_list()))
        return cls(tuple(place), code, query, grade, queries, tuple(short))

    def count(self, low: float = -np.inf, high: float = np.inf) -> Ints:
        """For each query and stratum, how many pairs have low ≤ grade < high; shape (queries, strata)."""
        chosen = (self.grade >= low) & (self.grade < high) & (self.code >= 0)
        size = len(self.names)
        cells = self.query[chosen] * size + self.code[chosen]
        return np.bincount(cells, minlength=self.queries * size).reshape(self.queries, size)


@dataclass(frozen=True)
class Pairs:
    """The judged (query, document) pairs by a 64-bit key, with two bitmaps that most other pairs fail."""

    seed: int
    keys: Keys
    query: Ints
    row: Ints
    documents: Ids
    grade: Floats
    first_bits: Flags
    last_bits: Flags
    shift: np.uint64

    @classmethod
    def of(cls, query: Ints, documents: Ids, grade: Floats) -> "Pairs":
        """The pairs, under the first seed that gives each a key of its own."""
        # Another seed is tried until no two judged pairs share a key, so that a key names one pair.
        for seed in range(64):
            keys = pair_keys(query, None, documents, seed)
            order = np.argsort(keys)
            if not (keys[order][1:] == keys[order][:-1]).any():
                break
        bits = max(16, min(24, int(np.ceil(np.log2(len(keys) * 12)))))
        shift = np.uint64(64 - bits)
        first_bits, last_bits = np.zeros(1 << bits, bool), np.zeros(1 << bits, bool)
        first_bits[keys >> shift] = True
        last_bits[keys & np.uint64((1 << bits) - 1)] = True
        return cls(
            seed, keys[order], query[order], order, documents, grade[order], first_bits, last_bits, shift
        )

    def find(self, keys: Keys, query: Ints, group: Ints, documents: Ids) -> tuple[Ints, Floats, Ints]:
        """Which rows are judged, their grades, and which pair each is; `query[group]` is each row's query.

        The first bits of a key rule most rows out, the last bits most of the rest; what remains is searched for,
        and documents are compared by the letter, not by hash.
        """
        near = np.flatnonzero(self.first_bits[keys >> self.shift])
        near = near[self.last_bits[keys[near] & np.uint64(len(self.last_bits) - 1)]]
        place = np.minimum(np.searchsorted(self.keys, keys[near]), len(self.keys) - 1)
        same = (self.keys[place] == keys[near]) & (self.query[place] == query[group[near]])
        near, place = near[same], place[same]
        row = self.row[place]
        equal = documents[near] == self.documents[row]
        return near[equal], self.grade[place[equal]], row[equal]


def pair_keys(query: Ints, group: Ints | None, documents: Ids, seed: int) -> Keys:
    """A 64-bit key of each (query index, document id) pair; a row's query is `query[group]`, or `query` itself."""
    mixed = query.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    return hashed(documents, seed) ^ (mixed if group is None else mixed[group])


@dataclass(frozen=True)
class Hits:
    """The judged documents that a run returned, as flat arrays sorted by (query, rank), shape (hits,).

    Attributes
    ----------
    judged: the judgments. query: query index of each hit. rank: from 1. grade: negative is "pooled, not judged".
    tie_first, tie_size: the first rank and the size of the hit's group of equal scores.
    returned: how many documents each query got, shape (queries,); 0 where none. answered: False where the run
        has no row for the query. failed: True where its row is an error.
    counts: what was seen on the way: rows, queries, unjudged_queries, duplicates_dropped, self_matches.
    across: for each cutoff asked, how many judged queries have a tie across it.
    pair: which pair of the judgments each hit is, in their order; empty where the hits were made up.
    passages: the ranges of text that were returned (`passages.against.Retrieved`), where evidence is given.
    """

    judged: Judged
    query: Ints
    rank: Ints
    grade: Floats
    tie_first: Ints
    tie_size: Ints
    returned: Ints
    answered: Flags
    failed: Flags
    counts: dict[str, int] = field(default_factory=dict)
    across: dict[int, int] = field(default_factory=dict)
    pair: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    passages: Any = None

    @property
    def queries(self) -> int:
        """How many queries are judged."""
        return self.judged.queries

    @cached_property
    def start(self) -> Ints:
        """Where each query's hits begin, shape (queries + 1,)."""
        return np.searchsorted(self.query, np.arange(self.queries + 1)).astype(np.int64)

    def per_query(self, chosen: Flags, weights: Floats | None = None) -> Floats:
        """The sum of the weights (or the number) of the chosen hits of each query, shape (queries,)."""
        picked = None if weights is None else weights[chosen]
        return np.bincount(self.query[chosen], picked, minlength=self.queries).astype(np.float64)

    def running(self, chosen: Flags) -> Ints:
        """For each hit, how many chosen hits of its query stand at its rank or above."""
        total = np.cumsum(chosen)
        before = np.concatenate(([0], total))[self.start[:-1]]
        return total - before[self.query]

    def pick(self, keep: Flags) -> "Hits":
        """The same ranking seen through some of its hits only."""
        columns = ["query", "rank", "grade", "tie_first", "tie_size"]
        columns += ["pair"] if len(self.pair) else []
        return replace(self, **{name: getattr(self, name)[keep] for name in columns})

    def condensed(self) -> "Hits":
        """The condensed list: what is not judged is removed first, and the ranks close up (Sakai 2007)."""
        kept = self.pick(self.grade >= 0)
        rank = np.arange(len(kept.query)) - kept.start[kept.query] + 1
        group = np.concatenate(([True], (np.diff(kept.query) != 0) | (np.diff(kept.tie_first) != 0)))[
            : len(rank)
        ]
        label = np.cumsum(group) - 1
        first = rank[group][label] if len(rank) else rank
        size = np.bincount(label, minlength=1)[label] if len(rank) else rank
        returned = np.bincount(kept.query, minlength=self.queries)
        return replace(kept, rank=rank, tie_first=first, tie_size=size, returned=returned)

    def relevant(self, rel: float) -> Ints:
        """R: how many judged documents of each query have a grade of at least `rel`, shape (queries,)."""
        return self.judged.count(rel)

"""A simulated test collection whose truth is known: queries, systems of named skill, pools, and what no judge saw."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.errors import UsageError, printable
from leadline.tables import Qrels, Queries, Run

Judgments = Literal["pooled", "deep", "complete", "relevant"]
"""What was judged: a cheap pool, a deep pool, every document, or only (all) the relevant ones."""

OTHERS = 200
"""How many documents of each query are not relevant."""

MOST_QUERIES = 10_000
"""The largest world: two million judgments, 200 MB of files."""

ROWS_AT_ONCE = 4096
"""How many queries are ranked at a time; what is drawn does not depend on it."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Grades = npt.NDArray[np.int8]


@dataclass(frozen=True)
class System:
    """A retriever: a document of grade g gets a score around skill · g/3 with standard deviation 1.

    `finds_hidden` says that it sees the hidden documents by their grade too; to every other system they look
    like documents that are not relevant.
    """

    name: str
    skill: float
    finds_hidden: bool = False


@dataclass(frozen=True)
class Plan:
    """What a world is made of; `checked` says what cannot be meant.

    Attributes
    ----------
    systems: at least two, with different names. queries: how many.
    relevant: the most relevant documents of a query that judges know; each query has 1 to this many.
    grades: drawn from, with repeats as weights. hidden: the most relevant documents of a query that judges know
    nothing of; each query has 0 to this many, of grade `hidden_grade`.
    clusters: how many questions are behind the queries, None for as many as queries. The queries of a cluster
    ask for the same documents. similarity: the share, from 0 to 1, of a score's variance that they have in
    common. largest: the share of all queries that the first cluster holds, None for clusters of equal size.
    alike: the share of a score's variance, from 0 to 1, that all systems have in common.
    pool_depth: the cheap pool holds the first so many documents of `pooled_from` (default: the first system).
    deep_depth: the deep pool holds the first so many of every system. depth: how many documents a run holds.
    seed: the same plan and seed give the same world.
    """

    systems: tuple[System, ...]
    queries: int = 300
    relevant: int = 5
    grades: tuple[int, ...] = (1, 2, 2, 3)
    hidden: int = 0
    hidden_grade: int = 2
    clusters: int | None = None
    similarity: float = 0.8
    largest: float | None = None
    alike: float = 0.0
    pool_depth: int = 10
    deep_depth: int = 50
    pooled_from: tuple[str, ...] = ()
    depth: int = 100
    seed: int = 0

    def checked(self) -> "Plan":
        """The plan itself, with `pooled_from` filled in.

        Raises
        ------
        UsageError: fewer than two systems, a name that is no file's name or stands twice, a system that is
            not there, or a number outside its range.

        >>> Plan((System("A", 4.0), System("B", 4.3))).checked().pooled_from
        ('A',)
        """
        names = [system.name for system in self.systems]
        if len(names) < 2:
            raise UsageError("a world needs at least two systems: --skill A=4.0 --skill B=4.3")
        for name in names:
            if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", name):
                raise UsageError(f"system {printable(name)!r}: a name is of letters, digits, . _ and -")
            if names.count(name) > 1:
                raise UsageError(f"two systems are named {name!r}")
        absent = [name for name in self.pooled_from if name not in names]
        if absent:
            raise UsageError(f"the pool's system {printable(absent[0])!r} is none of {', '.join(names)}")
        _check_numbers(self)
        return self if self.pooled_from else Plan(**(vars(self) | {"pooled_from": (names[0],)}))


def _check_numbers(plan: Plan) -> None:
    """Refuse numbers outside their range, one clear sentence each."""
    whole = {
        "queries": (plan.queries, 1, MOST_QUERIES),
        "relevant": (plan.relevant, 1, 100),
        "hidden": (plan.hidden, 0, 100),
        "hidden grade": (plan.hidden_grade, 1, 10),
        "clusters": (1 if plan.clusters is None else plan.clusters, 1, plan.queries),
        "pool depth": (plan.pool_depth, 1, 10_000),
        "deep pool depth": (plan.deep_depth, 1, 10_000),
        "depth": (plan.depth, 1, 10_000),
        "seed": (plan.seed, 0, 2**63),
        **{f"grade {grade}": (grade, 1, 10) for grade in plan.grades},
    }
    for name, (value, low, high) in whole.items():
        if not low <= value <= high:
            raise UsageError(f"{name}: {value} is not between {low} and {high}")
    if not plan.grades:
        raise UsageError("grades: none are given")
    shares = {"similarity": plan.similarity, "alike": plan.alike, "largest cluster": plan.largest or 0.0}
    for name, share in shares.items():
        if not 0 <= share <= 1:
            raise UsageError(f"{name}: {share} is not between 0 and 1")
    for system in plan.systems:
        if not abs(system.skill) <= 1000:
            raise UsageError(f"skill of {system.name}: {system.skill} is not a number from -1000 to 1000")


@dataclass(frozen=True)
class World:
    """A drawn world: what is true, and what each system returned.

    Attributes
    ----------
    plan: what it was drawn from. cluster: the cluster of each query, shape (queries,), counted from 0.
    truth: the grade of each candidate of each cluster, shape (clusters, candidates), 0 for not relevant and −1
    where a cluster has no such candidate; the first `plan.relevant` columns are known to the judges, the next
    `plan.hidden` are hidden. order: by system, the candidates it returned, best first, shape (queries, depth).
    score: their scores, −∞ where there are fewer candidates than that.
    """

    plan: Plan
    cluster: Ints
    truth: Grades
    order: dict[str, Ints]
    score: dict[str, Floats]

    @cached_property
    def query_ids(self) -> pl.Series:
        """The ids of the queries, q001 and on."""
        return _numbered("q", self.plan.queries)

    @cached_property
    def cluster_ids(self) -> pl.Series:
        """The ids of the clusters, c001 and on."""
        return _numbered("c", len(self.truth))

    def queries(self) -> Queries:
        """The queries with their cluster, in the columns query_id, text, cluster."""
        cluster = self.cluster_ids.gather(self.cluster)
        frame = pl.DataFrame({"query_id": self.query_ids, "cluster": cluster})
        text = pl.format(
            "wording {} of question {}", pl.int_range(1, pl.len() + 1).over("cluster"), "cluster"
        )
        return Queries.checked(frame.select("query_id", text.alias("text"), "cluster"), source="world")

    def run(self, name: str) -> Run:
        """What one system returned, with its scores.

        Raises
        ------
        UsageError: no such system.
        """
        if name not in self.order:
            raise UsageError(f"no system {printable(name)!r}; there are {', '.join(self.order)}")
        query, place = np.nonzero(np.isfinite(self.score[name]))
        frame = self._documents(query, self.order[name][query, place])
        return Run.checked(frame.with_columns(score=pl.Series(self.score[name][query, place])), name)

    def runs(self) -> list[Run]:
        """What every system returned, in the order of the plan."""
        return [self.run(system.name) for system in self.plan.systems]

    def judgments(self, kind: Judgments) -> Qrels:
        """The judgments of one kind; whatever is judged has its true grade.

        `pooled`: the relevant documents that are not hidden (the questions were written from them) and the
        cheap pool. `deep`: these and the deep pool of every system. `complete`: every candidate. `relevant`: every
        relevant document, hidden ones too, and no other.

        Raises
        ------
        UsageError: no such kind.
        """
        if kind not in get_args(Judgments):
            raise UsageError(f"judgments {kind!r} is not one of {', '.join(get_args(Judgments))}")
        truth = self.truth[self.cluster]
        if kind == "complete":
            judged = truth >= 0
        elif kind == "relevant":
            judged = truth > 0
        else:
            judged = truth > 0
            judged[:, self.plan.relevant :] = False
            names, depth = tuple(self.order), self.plan.deep_depth
            if kind == "pooled":
                names, depth = self.plan.pooled_from, self.plan.pool_depth
            for name in names:
                np.put_along_axis(judged, self.order[name][:, :depth], True, axis=1)
            judged &= truth >= 0
        query, candidate = np.nonzero(judged)
        grade = pl.Series(truth[query, candidate])
        return Qrels.checked(self._documents(query, candidate).with_columns(grade=grade), source=kind)

    def held(self) -> dict[str, int]:
        """What the world holds: queries, clusters, the queries of the largest, and pairs of query and document."""
        truth = self.truth[self.cluster]
        seen = self.plan.relevant
        return {
            "queries": self.plan.queries,
            "clusters": len(self.truth),
            "largest_cluster": int(np.bincount(self.cluster).max()),
            "pairs": int((truth >= 0).sum()),
            "relevant": int((truth > 0).sum()),
            "hidden": int((truth[:, seen : seen + self.plan.hidden] > 0).sum()),
        }

    def _documents(self, query: Any, candidate: Any) -> pl.DataFrame:
        """The columns query_id and doc_id. An id tells the truth: r is relevant, h hidden, n not relevant."""
        plan = self.plan
        parts = (("r", plan.relevant), ("h", plan.hidden), ("n", OTHERS))
        labels = pl.Series([f"{letter}{number}" for letter, count in parts for number in range(count)])
        # Queries of one cluster ask for the same documents; two clusters share none.
        frame = pl.DataFrame(
            {
                "query_id": self.query_ids.gather(query),
                "of": self.cluster_ids.gather(self.cluster[query]),
                "label": labels.gather(candidate),
            }
        )
        return frame.select("query_id", doc_id=pl.concat_str("of", "label", separator="-"))


def _numbered(letter: str, count: int) -> pl.Series:
    wide = max(3, len(str(count)))
    return pl.Series([f"{letter}{number:0{wide}}" for number in range(1, count + 1)])


def draw_world(plan: Plan) -> World:
    """A world drawn from its plan.

    Each system draws from a stream of its own, so that adding one changes nothing of the others.

    Raises
    ------
    UsageError: the plan cannot be meant.

    >>> world = draw_world(Plan((System("A", 4.0), System("B", 4.3)), queries=20))
    >>> [run.name for run in world.runs()], world.judgments("pooled").frame.height >= 200
    (['A', 'B'], True)
    """
    plan = plan.checked()
    streams = np.random.SeedSequence(plan.seed).spawn(2 + len(plan.systems))
    cluster = _clusters(plan)
    truth = _truth(plan, int(cluster.max()) + 1, np.random.default_rng(streams[0]))
    order: dict[str, Ints] = {}
    score: dict[str, Floats] = {}
    for system, stream in zip(plan.systems, streams[2:], strict=True):
        noise = _noise(plan, cluster, truth.shape, (streams[1], stream))
        order[system.name], score[system.name] = _ranked(plan, system, cluster, truth, noise)
    return World(plan, cluster, truth, order, score)


def _clusters(plan: Plan) -> Ints:
    """The cluster of each query; sizes differ by at most one, the largest aside if its share is named."""
    groups = plan.clusters or plan.queries
    first = round(plan.queries * plan.largest) if plan.largest is not None else 0
    if not first or groups == 1:
        return np.arange(plan.queries) * groups // plan.queries
    rest = plan.queries - first
    if rest < groups - 1:
        raise UsageError(
            f"largest cluster: {first} of {plan.queries} queries leave too few for {groups - 1} more"
        )
    return np.concatenate([np.zeros(first, np.int64), 1 + np.arange(rest) * (groups - 1) // rest])


def _truth(plan: Plan, groups: int, rng: np.random.Generator) -> Grades:
    """The grade of each candidate, shape (clusters, candidates); −1 where there is none."""
    truth = np.zeros((groups, plan.relevant + plan.hidden + OTHERS), np.int8)
    known, hidden = slice(0, plan.relevant), slice(plan.relevant, plan.relevant + plan.hidden)
    many = rng.integers(1, plan.relevant + 1, (groups, 1))
    grades = rng.choice(np.array(plan.grades), (groups, plan.relevant))
    truth[:, known] = np.where(np.arange(plan.relevant) < many, grades, -1)
    unseen = rng.integers(0, plan.hidden + 1, (groups, 1))
    truth[:, hidden] = np.where(np.arange(plan.hidden) < unseen, plan.hidden_grade, -1)
    return truth


def _noise(plan: Plan, cluster: Ints, shape: tuple[int, ...], streams: Sequence[Any]) -> Iterator[Floats]:
    """Standard normal noise for some thousand queries at a time, shape (those queries, candidates).

    Its variance is shared twice: `alike` of it by all systems, and of each part `similarity` by a cluster.
    """
    # Similar queries exist only where clusters were asked for.
    similarity = plan.similarity if plan.clusters is not None else 0.0
    weights = [plan.alike, 1 - plan.alike]
    parts = [(np.random.default_rng(s), w) for s, w in zip(streams, weights, strict=True) if w > 0]
    shared = [rng.standard_normal(shape) if similarity > 0 else None for rng, _ in parts]
    for start in range(0, plan.queries, ROWS_AT_ONCE):
        own = cluster[start : start + ROWS_AT_ONCE]
        total = np.zeros((len(own), shape[1]))
        for (rng, weight), common in zip(parts, shared, strict=True):
            total += np.sqrt(weight * (1 - similarity)) * rng.standard_normal(total.shape)
            if common is not None:
                total += np.sqrt(weight * similarity) * common[own]
        yield total


def _ranked(
    plan: Plan, system: System, cluster: Ints, truth: Grades, noise: Iterator[Floats]
) -> tuple[Ints, Floats]:
    """The candidates that a system returns for each query, best first, and their scores."""
    centre = system.skill * truth / 3
    if not system.finds_hidden:
        centre[:, plan.relevant : plan.relevant + plan.hidden] = 0.0
    centre[truth < 0] = -np.inf
    depth, candidates = min(plan.depth, truth.shape[1]), truth.shape[1]
    orders, scores, start = [], [], 0
    for drawn in noise:
        drawn += centre[cluster[start : start + len(drawn)]]
        start += len(drawn)
        best = np.broadcast_to(np.arange(candidates), drawn.shape)
        if depth < candidates:
            best = np.argpartition(-drawn, depth, axis=1)[:, :depth]
        found = np.take_along_axis(drawn, best, axis=1)
        place = np.argsort(-found, axis=1, kind="stable")
        orders.append(np.take_along_axis(best, place, axis=1))
        scores.append(np.take_along_axis(found, place, axis=1))
    return np.concatenate(orders), np.concatenate(scores)

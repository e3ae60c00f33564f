"""The lesson: one query by hand, thirty queries and three hundred, a winner nobody judged, answers and recall.

Every draw is Python's own `random`, whose sequence is the same in every version, so that a reader who follows the
procedure in words gets the same digits. The worlds of `leadline.demo.world` are drawn otherwise and faster.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from leadline.errors import UsageError
from leadline.tables import Qrels, Run

SEED = 21
QUERIES = 300
OTHERS = 200
POOL_DEPTH = 10
HIDDEN_GRADE = 2
SKILLS = {"A": (4.0, 0), "B": (4.3, 0), "C": (4.0, HIDDEN_GRADE)}
"""Of each system: its skill, and the grade by which it sees a hidden document."""

SIZES = (30, 100, 300)
RESAMPLES = 2000
BOOTSTRAP_SEED = 1
LOWER, UPPER = 51, 1951
"""Which of the sorted means are the ends of the 95 % interval, counted from 1."""

RECALLS = (0.60, 0.75, 0.90, 0.97)
TRIALS = 10_000
ANSWERS_SEED = 4
RIGHT_IF_FOUND, RIGHT_IF_NOT = 0.92, 0.20

HAND_JUDGED: Mapping[str, int] = {"d3": 3, "d7": 2, "d9": 1, "d12": 2}
HAND_RANKED = ("d1", "d7", "d4", "d3", "d8", "d5", "d2", "d6", "d10", "d11")


@dataclass(frozen=True)
class LessonTables:
    """The lesson's collection as tables.

    `runs` are A, B and C: every candidate of a query, with its place counted from the end as its score. `pooled`
    are the relevant documents that are not hidden and A's top 10; a hidden document that stands there was judged
    not relevant. `judged` are these, C's top 10 and the hidden documents, each with its true grade.
    """

    runs: tuple[Run, ...]
    pooled: Qrels
    judged: Qrels


@dataclass(frozen=True)
class Answered:
    """At one recall: the share of answers that were right over the trials, and the share to be expected."""

    recall: float
    right: float
    expected: float


def lesson_tables() -> LessonTables:
    """The lesson's collection, drawn by its procedure: one generator, seed 21, one query after another.

    For each of 300 queries: how many relevant documents, 1 to 5; a grade for each from (1, 2, 2, 3); how many
    hidden ones, 0 to 3. The candidates are the relevant, the hidden, and 200 others. Then A, B and C in turn give
    each candidate, in that order, a normal score of standard deviation 1 around skill × grade / 3.

    >>> tables = lesson_tables()
    >>> [run.frame.height for run in tables.runs], tables.pooled.frame.height, tables.judged.frame.height
    ([61352, 61352, 61352], 3227, 5588)
    """
    rng = random.Random(SEED)
    rows: dict[str, list[tuple[str, str, float]]] = {name: [] for name in SKILLS}
    pooled: list[tuple[str, str, int]] = []
    judged: list[tuple[str, str, int]] = []
    for number in range(1, QUERIES + 1):
        query_id = f"q{number:03}"
        grades = [rng.choice((1, 2, 2, 3)) for _ in range(rng.randint(1, 5))]
        hidden = rng.randint(0, 3)
        ranked = {name: _ranking(rng, grades, hidden, *SKILLS[name]) for name in SKILLS}
        for name, documents in ranked.items():
            rows[name] += [
                (query_id, doc_id, float(len(documents) - place)) for place, doc_id in enumerate(documents)
            ]
        known = {f"r{place}": grade for place, grade in enumerate(grades)}
        unseen = {f"h{place}": HIDDEN_GRADE for place in range(hidden)}
        pool = dict.fromkeys(ranked["A"][:POOL_DEPTH], 0)
        after = pool | dict.fromkeys(ranked["C"][:POOL_DEPTH], 0)
        pooled += [(query_id, doc_id, grade) for doc_id, grade in sorted((pool | known).items())]
        judged += [(query_id, doc_id, grade) for doc_id, grade in sorted((after | known | unseen).items())]
    runs = tuple(Run.checked(_frame(found, "score"), name) for name, found in rows.items())
    return LessonTables(
        runs,
        Qrels.checked(_frame(pooled, "grade"), source="pooled-from-A"),
        Qrels.checked(_frame(judged, "grade"), source="after-judging-C"),
    )


def _ranking(rng: random.Random, grades: Sequence[int], hidden: int, skill: float, seen: int) -> list[str]:
    """The candidates of one query by score, best first; `seen` is the grade of a hidden one to this system."""
    names = [f"r{place}" for place in range(len(grades))]
    names += [f"h{place}" for place in range(hidden)] + [f"n{place}" for place in range(OTHERS)]
    all_grades = [*grades, *[seen] * hidden, *[0] * OTHERS]
    scores = [rng.gauss(skill * grade / 3, 1) for grade in all_grades]
    return [name for _, name in sorted(zip(scores, names, strict=True), reverse=True)]


def _frame(rows: Sequence[tuple[str, str, float]], value: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["query_id", "doc_id", value], orient="row")


def hand_tables() -> tuple[tuple[Run, ...], Qrels]:
    """The query by hand: as ranked, with d3 moved to the top, and with d3 put first and d7 kept second.

    >>> [run.frame["doc_id"].head(4).to_list() for run in hand_tables()[0]]
    [['d1', 'd7', 'd4', 'd3'], ['d3', 'd1', 'd7', 'd4'], ['d3', 'd7', 'd1', 'd4']]
    """
    rest = [doc_id for doc_id in HAND_RANKED if doc_id not in ("d3", "d7")]
    orders = {
        "as ranked": list(HAND_RANKED),
        "d3 moved to the top": ["d3", *(doc_id for doc_id in HAND_RANKED if doc_id != "d3")],
        "d3 first, d7 kept second": ["d3", "d7", *rest],
    }
    runs = tuple(
        Run.checked(_frame([("q", d, float(len(order) - i)) for i, d in enumerate(order)], "score"), name)
        for name, order in orders.items()
    )
    judged = [("q", doc_id, grade) for doc_id, grade in HAND_JUDGED.items()]
    return runs, Qrels.checked(_frame(judged, "grade"), source="by hand")


def resampled_ends(differences: Sequence[float]) -> tuple[float, float]:
    """The ends of the lesson's interval of a mean difference, in its units: a percentile bootstrap.

    A fresh generator with seed 1; 2,000 resamples of as many query numbers as there are differences; the ends are
    the 51st and the 1,951st of the sorted means (Efron & Tibshirani 1993, chapter 13).

    Raises
    ------
    UsageError: no differences.

    >>> resampled_ends([0.25, 0.25])
    (0.25, 0.25)
    """
    n = len(differences)
    if n == 0:
        raise UsageError("no differences: there is nothing to resample")
    rng = random.Random(BOOTSTRAP_SEED)
    means = sorted(sum(differences[rng.randrange(n)] for _ in range(n)) / n for _ in range(RESAMPLES))
    return means[LOWER - 1], means[UPPER - 1]


def answer_accuracy() -> list[Answered]:
    """How many answers are right at four levels of recall: the generator retrieves, then answers.

    A generator with seed 4; 10,000 trials a level. The passage is found with the probability `recall`; the answer
    is right with probability .92 if it was found, else .20. Expected: recall · .92 + (1 − recall) · .20.

    >>> [f"{one.right:.1%} {one.expected:.1%}" for one in answer_accuracy()]
    ['63.4% 63.2%', '74.1% 74.0%', '84.2% 84.8%', '90.1% 89.8%']
    """
    rng = random.Random(ANSWERS_SEED)
    rows = []
    for recall in RECALLS:
        right = 0
        for _ in range(TRIALS):
            found = rng.random() < recall
            right += rng.random() < (RIGHT_IF_FOUND if found else RIGHT_IF_NOT)
        rows.append(Answered(recall, right / TRIALS, recall * RIGHT_IF_FOUND + (1 - recall) * RIGHT_IF_NOT))
    return rows

"""The lesson: the same runs and judgments as the shared files, and its numbers to the digit."""

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from leadline.demo.lesson import (
    LessonTables,
    answer_accuracy,
    hand_tables,
    lesson_tables,
    resampled_ends,
)
from leadline.demo.world_files import write_lesson
from leadline.errors import UsageError
from leadline.evaluation import evaluate

Shared = Callable[[str], Path]


@pytest.fixture(scope="module")
def lesson() -> LessonTables:
    return lesson_tables()


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_the_runs_are_those_of_the_shared_files(lesson: LessonTables, shared_data: Shared, name: str) -> None:
    with gzip.open(shared_data(f"lesson/{name}.run.gz"), "rt") as stream:
        fields = [line.split() for line in stream]
    run = next(run for run in lesson.runs if run.name == name)
    assert run.frame.rows() == [(query, doc, float(score)) for query, _, doc, _, score, _ in fields]


@pytest.mark.parametrize("kind", ["pooled-from-A", "after-judging-C"])
def test_the_judgments_are_those_of_the_shared_files(
    lesson: LessonTables, shared_data: Shared, kind: str
) -> None:
    lines = shared_data(f"lesson/{kind}.qrels").read_text().splitlines()
    fields = [line.split() for line in lines]
    qrels = lesson.pooled if kind == "pooled-from-A" else lesson.judged
    assert qrels.frame.rows() == [(query, doc, float(grade)) for query, _, doc, grade in fields]


def test_what_it_holds(lesson: LessonTables) -> None:
    # These counts stand in the shared folder too; here they hold without it.
    assert [run.frame.height for run in lesson.runs] == [61_352] * 3
    assert (lesson.pooled.frame.height, lesson.judged.frame.height) == (3227, 5588)
    hidden = pl.col("doc_id").str.starts_with("h")
    # Pooled from A, a hidden document is judged only where A's top 10 held it, and then as not relevant.
    assert set(lesson.pooled.frame.filter(hidden)["grade"]) == {0.0}
    assert set(lesson.judged.frame.filter(hidden)["grade"]) == {2.0}


def test_one_query_by_hand() -> None:
    runs, qrels = hand_tables()
    names = ["R@1", "R@3", "R@5", "R@10", "P@1", "P@3", "P@5", "P@10", "RR", "nDCG@10"]
    scores = evaluate(list(runs), qrels, names)
    # Ranked d1 d7 d4 d3 …: d7 (grade 2) at rank 2, d3 (grade 3) at rank 4, of 4 relevant.
    # DCG = 3/log2 3 + 7/log2 5 = 1.893 + 3.015 = 4.908; ideal 7 + 3/log2 3 + 3/2 + 1/log2 5 = 10.823.
    want = [0, 0.25, 0.5, 0.5, 0, 0.333, 0.4, 0.2, 0.5, 0.453]
    assert [round(scores.mean(name, "as ranked"), 3) for name in names] == want
    # d3, d7 at ranks 1 and 2: 7 + 1.893 = 8.893, /10.823 = .822; at 1 and 3: 7 + 1.5 = 8.5, .785.
    assert round(scores.mean("nDCG@10", "d3 first, d7 kept second"), 3) == 0.822
    assert round(scores.mean("nDCG@10", "d3 moved to the top"), 3) == 0.785


@pytest.mark.parametrize(
    ("n", "low", "high"), [(30, "+0.053", "+0.269"), (100, "+0.004", "+0.120"), (300, "+0.012", "+0.081")]
)
def test_the_lessons_interval(lesson: LessonTables, n: int, low: str, high: str) -> None:
    scores = evaluate(list(lesson.runs), lesson.pooled, "nDCG@10")
    a, b = (scores.cell("nDCG@10", system).values for system in "AB")
    ends = resampled_ends((b - a)[:n].tolist())
    assert [f"{end:+.3f}" for end in ends] == [low, high]


def test_the_ends_are_the_51st_and_the_1951st_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    from leadline.demo import lesson

    class Counting:
        """Gives 0, 1, 2, … so that the resampled means of one difference each are known."""

        def __init__(self, seed: int) -> None:
            assert seed == 1
            self.next = -1

        def randrange(self, n: int) -> int:
            self.next += 1
            return self.next % n

    monkeypatch.setattr(lesson.random, "Random", Counting)
    # n = 2: every resample draws numbers 0 and 1 in turn, so every mean is that of both.
    assert resampled_ends([0.0, 1.0]) == (0.5, 0.5)
    many = [float(value) for value in range(2000)]
    monkeypatch.setattr(Counting, "randrange", lambda self, n: _first_of_each(self, n))
    low, high = resampled_ends(many)
    # Each of the 2,000 means is one of 0 … 1999, so the 51st is 50 and the 1,951st is 1950.
    assert (low, high) == (50.0, 1950.0)


def _first_of_each(self: object, n: int) -> int:
    """One resample after another draws only its own number: 0 two thousand times, then 1, and so on."""
    self.next += 1  # type: ignore[attr-defined]
    return self.next // n  # type: ignore[attr-defined]


def test_no_differences_have_no_interval() -> None:
    with pytest.raises(UsageError, match="nothing to resample"):
        resampled_ends([])


def test_answers() -> None:
    rows = answer_accuracy()
    assert [f"{one.right:.1%}" for one in rows] == ["63.4%", "74.1%", "84.2%", "90.1%"]
    # .60 · .92 + .40 · .20 = .632, and so on.
    assert [f"{one.expected:.1%}" for one in rows] == ["63.2%", "74.0%", "84.8%", "89.8%"]


def test_the_files_say_what_the_tables_say(lesson: LessonTables, tmp_path: Path) -> None:
    paths = write_lesson(lesson, tmp_path / "lesson")
    names = ["A.run", "B.run", "C.run", "pooled-from-A.qrels", "after-judging-C.qrels", "README.md"]
    assert [path.name for path in paths] == names
    runs, measures = [str(path) for path in paths[:3]], "nDCG@10 AP Judged@10"
    read = evaluate(runs, str(paths[4]), measures)
    assert read.to_dict() == evaluate(list(lesson.runs), lesson.judged, measures).to_dict()
    # The table of the shared folder: after judging C, in nDCG@10, AP and Judged@10.
    assert [f"{read.mean(name, 'C'):.4f}" for name in measures.split()] == ["0.7760", "0.6671", "1.0000"]

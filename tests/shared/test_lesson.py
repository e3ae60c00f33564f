"""The lesson's collection: every figure that it prints about one system, and its worked query."""

import random

import pytest

import leadline

MEASURES = ["nDCG@10", "recall@5", "RR", "AP", "judged@10"]
TABLE = {
    "pooled-from-A": {
        "A": (0.7509, 0.6401, 0.8383, 0.6339, 1.0000),
        "B": (0.7976, 0.6885, 0.8846, 0.6780, 0.2590),
        "C": (0.6880, 0.6179, 0.7373, 0.5474, 0.2447),
    },
    "after-judging-C": {
        "A": (0.6085, 0.4421, 0.8417, 0.4608, 1.0000),
        "B": (0.6407, 0.4710, 0.8849, 0.4880, 0.2880),
        "C": (0.7760, 0.6239, 0.9098, 0.6671, 1.0000),
    },
}


@pytest.fixture(scope="module")
def lesson(shared_data):
    runs = [shared_data(f"lesson/{name}.run.gz") for name in "ABC"]
    return {q: leadline.evaluate(runs, shared_data(f"lesson/{q}.qrels"), MEASURES) for q in TABLE}


@pytest.mark.parametrize("judgments", TABLE)
@pytest.mark.parametrize("system", "ABC")
def test_the_table(lesson, judgments, system):
    means = [lesson[judgments].mean(measure, system) for measure in MEASURES]
    assert [f"{mean:.4f}" for mean in means] == [f"{mean:.4f}" for mean in TABLE[judgments][system]]


def test_every_query_is_scored(lesson):
    for scores in lesson.values():
        assert {(row.n_queries, row.n_scored) for row in scores.summaries} == {(300, 300)}


@pytest.mark.parametrize(
    ("n", "a", "b", "difference"),
    [(30, 0.710, 0.863, 0.153), (100, 0.744, 0.805, 0.061), (300, 0.751, 0.798, 0.047)],
)
def test_the_first_queries(lesson, n, a, b, difference):
    scores = lesson["pooled-from-A"]
    first, second = (list(scores.per_query("nDCG@10", system).values())[:n] for system in "AB")
    assert f"{sum(first) / n:.3f} {sum(second) / n:.3f}" == f"{a:.3f} {b:.3f}"
    assert f"{(sum(second) - sum(first)) / n:.3f}" == f"{difference:.3f}"


def test_the_judged_share_and_the_score_of_c_before_and_after(lesson):
    before, after = lesson["pooled-from-A"], lesson["after-judging-C"]
    assert f"{before.mean('judged@10', 'C'):.2f}" == "0.24"
    assert (f"{before.mean('nDCG@10', 'C'):.3f}", f"{after.mean('nDCG@10', 'C'):.3f}") == ("0.688", "0.776")


def test_the_collection_can_be_made_again(shared_data):
    # The procedure in the folder's README, from one generator; the scores come out as those of the files.
    rng = random.Random(21)
    values = {name: [] for name in "ABC"}
    for _ in range(300):
        grades = [rng.choice((1, 2, 2, 3)) for _ in range(rng.randint(1, 5))]
        hidden = rng.randint(0, 3)
        candidates = [
            *((g, g) for g in grades),
            *((0, 2) for _ in range(hidden)),
            *((0, 0) for _ in range(200)),
        ]
        names = [f"d{i:03}" for i in range(len(candidates))]
        qrels = {name: grade for name, (grade, _) in zip(names, candidates, strict=True) if grade}
        for system, skill, sees in (("A", 4.0, 0), ("B", 4.3, 0), ("C", 4.0, 1)):
            scores = [rng.gauss(skill * grade[sees] / 3, 1) for grade in candidates]
            values[system].append(({"q": dict(zip(names, scores, strict=True))}, {"q": qrels}))
    runs = {s: {f"q{i}": run["q"] for i, (run, _) in enumerate(values[s])} for s in "ABC"}
    qrels = {f"q{i}": judged["q"] for i, (_, judged) in enumerate(values["A"])}
    made = leadline.evaluate(runs, qrels, ["nDCG@10"])
    assert [f"{made.mean('nDCG@10', s):.4f}" for s in "ABC"] == ["0.7509", "0.7976", "0.6880"]

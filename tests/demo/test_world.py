"""Simulated worlds: their truth, their systems, their pools, their clusters, and the files they become."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from leadline.demo import world as module
from leadline.demo.world import OTHERS, Plan, System, World, draw_world
from leadline.demo.world_files import write_world
from leadline.errors import InputError, UsageError
from leadline.evaluation import evaluate
from leadline.formats.read import read_queries

SYSTEMS = (System("A", 4.0), System("B", 4.3), System("C", 4.0, finds_hidden=True))
EVERY = 1000  # more than there are candidates: a run then holds all of them


@pytest.fixture(scope="module")
def world() -> World:
    return draw_world(Plan(SYSTEMS, queries=200, hidden=3, seed=3))


def rows(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    return frame.sort("query_id", "doc_id").rows()


def top(world: World, name: str, depth: int) -> set[tuple[str, str]]:
    """The first documents of a run, by its scores alone."""
    frame = world.run(name).frame.sort("query_id", "score", descending=[False, True])
    return set(frame.group_by("query_id").head(depth).select("query_id", "doc_id").rows())


def letter(doc_id: str) -> str:
    return doc_id.split("-")[1][0]


def test_the_same_plan_and_seed_give_the_same_world(world: World) -> None:
    again = draw_world(world.plan)
    assert rows(world.run("C").frame) == rows(again.run("C").frame)
    assert rows(world.judgments("pooled").frame) == rows(again.judgments("pooled").frame)
    other = draw_world(Plan(SYSTEMS, queries=200, hidden=3, seed=4))
    assert rows(world.run("C").frame) != rows(other.run("C").frame)


def test_another_system_changes_nothing_of_the_others(world: World) -> None:
    two = draw_world(Plan(SYSTEMS[:2], queries=200, hidden=3, seed=3))
    assert all(rows(two.run(name).frame) == rows(world.run(name).frame) for name in "AB")


def test_what_is_drawn_does_not_depend_on_how_many_are_ranked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = Plan(SYSTEMS, queries=50, clusters=20, alike=0.3, hidden=2)
    whole = draw_world(plan)
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 7)
    assert all(rows(whole.run(name).frame) == rows(draw_world(plan).run(name).frame) for name in "ABC")


def test_the_truth_is_in_the_ids(world: World) -> None:
    judged = world.judgments("complete").frame
    grades: dict[str, set[float]] = {"r": set(), "h": set(), "n": set()}
    for doc_id, grade in judged.select("doc_id", "grade").rows():
        grades[letter(doc_id)].add(grade)
    assert grades == {"r": {1.0, 2.0, 3.0}, "h": {2.0}, "n": {0.0}}
    counted = judged.with_columns(kind=pl.col("doc_id").str.extract(r"-(\w)"))
    counts = counted.group_by("query_id", "kind").len()
    each = {kind: set(counts.filter(pl.col("kind") == kind)["len"].to_list()) for kind in "rhn"}
    # 1 to 5 relevant ones, 0 to 3 hidden ones (none is no row), 200 others.
    assert each == {"r": {1, 2, 3, 4, 5}, "h": {1, 2, 3}, "n": {OTHERS}}


def test_what_it_holds(world: World) -> None:
    held, judged = world.held(), world.judgments("complete").frame
    assert held["pairs"] == judged.height
    assert (
        held["relevant"]
        == judged.filter(pl.col("grade") > 0).height
        == world.judgments("relevant").frame.height
    )
    assert held["hidden"] == sum(letter(doc_id) == "h" for doc_id in judged["doc_id"])
    assert (held["queries"], held["clusters"], held["largest_cluster"]) == (200, 200, 1)


def test_grades_come_in_their_weights() -> None:
    judged = draw_world(Plan(SYSTEMS[:2], queries=4000)).judgments("relevant").frame["grade"]
    # Grades (1, 2, 2, 3): half of about 12,000 are 2; a standard error is √(.25/12000) = .0046.
    assert abs((judged == 2).mean() - 0.5) < 4 * 0.0046
    assert abs((judged == 3).mean() - 0.25) < 4 * 0.0046


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_scores_are_normal_around_skill_times_grade_over_three(system: System) -> None:
    world = draw_world(Plan((*SYSTEMS[:2], SYSTEMS[2]), queries=1500, hidden=3, depth=EVERY))
    graded = world.run(system.name).frame.join(
        world.judgments("complete").frame, on=["query_id", "doc_id"], how="left"
    )
    assert graded["grade"].null_count() == 0
    kind = pl.col("doc_id").str.extract(r"-(\w)")
    for this, seen in (("r", True), ("h", system.finds_hidden), ("n", True)):
        part = graded.filter(kind == this)
        noise = part["score"].to_numpy() - system.skill * part["grade"].to_numpy() / 3 * seen
        # Mean 0 and variance 1, each within 4 standard errors: 1/√n and √(2/n).
        assert abs(noise.mean()) < 4 / np.sqrt(len(noise)), this
        assert abs(noise.var() - 1) < 4 * np.sqrt(2 / len(noise)), this


def test_a_run_holds_its_best_documents_in_order(world: World) -> None:
    whole = draw_world(Plan(SYSTEMS, queries=200, hidden=3, seed=3, depth=EVERY))
    assert world.run("B").frame.height == 200 * world.plan.depth
    assert set(world.run("B").frame.select("query_id", "doc_id").rows()) == top(whole, "B", world.plan.depth)
    scores = world.run("B").frame["score"].to_numpy().reshape(200, -1)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert whole.run("A").frame.height == world.held()["pairs"]


def test_the_cheap_pool_is_what_was_known_and_the_top_of_one_system(world: World) -> None:
    judged = world.judgments("pooled").frame
    known = {
        pair
        for pair in world.judgments("complete").frame.select("query_id", "doc_id").rows()
        if letter(pair[1]) == "r"
    }
    assert set(judged.select("query_id", "doc_id").rows()) == known | top(world, "A", 10)


def test_the_deep_pool_takes_every_system(world: World) -> None:
    judged = set(world.judgments("deep").frame.select("query_id", "doc_id").rows())
    pools = set().union(*(top(world, name, 50) for name in "ABC"))
    known = set(world.judgments("pooled").frame.select("query_id", "doc_id").rows())
    assert judged == known | pools


def test_what_is_judged_has_its_true_grade(world: World) -> None:
    truth = {
        row[:2]: row[2]
        for row in world.judgments("complete").frame.select("query_id", "doc_id", "grade").rows()
    }
    for kind in ("pooled", "deep", "relevant"):
        for query_id, doc_id, grade in (
            world.judgments(kind).frame.select("query_id", "doc_id", "grade").rows()
        ):
            assert truth[query_id, doc_id] == grade


def test_a_deeper_pool_of_more_systems_holds_more() -> None:
    plan = Plan(SYSTEMS, queries=30, hidden=3)
    more = Plan(SYSTEMS, queries=30, hidden=3, pool_depth=30, pooled_from=("A", "C"))
    few, many = (draw_world(one).judgments("pooled").frame for one in (plan, more))
    assert set(few.rows()) < set(many.rows())


def test_the_judges_pool_hides_the_winner(world: World) -> None:
    names = ["nDCG@10", "Judged@10"]
    pooled, true = (evaluate(world.runs(), world.judgments(kind), names) for kind in ("pooled", "complete"))
    assert pooled.mean("nDCG@10", "C") < pooled.mean("nDCG@10", "A")
    assert true.mean("nDCG@10", "C") > true.mean("nDCG@10", "A") + 0.1
    assert pooled.mean("Judged@10", "A") == 1.0 > 0.4 > pooled.mean("Judged@10", "C")


def test_queries_of_a_cluster_ask_for_the_same_documents() -> None:
    world = draw_world(Plan(SYSTEMS[:2], queries=25, clusters=10, depth=EVERY))
    cluster = world.queries().column("cluster")
    # 25 queries in 10 clusters: sizes 2 and 3, that differ by at most one.
    sizes = pl.Series(list(cluster.values())).value_counts()["count"].to_list()
    assert sorted(sizes) == [2] * 5 + [3] * 5
    found: dict[str, set[tuple[str, ...]]] = {}
    for query_id, part in world.judgments("complete").frame.group_by("query_id"):
        found.setdefault(cluster[str(query_id[0])] or "", set()).add(tuple(sorted(part["doc_id"])))
    assert all(len(sets) == 1 for sets in found.values())
    assert len(set().union(*found.values())) == 10
    assert not set.intersection(*(set(next(iter(sets))) for sets in found.values()))


def test_one_cluster_may_hold_a_named_share() -> None:
    held = draw_world(Plan(SYSTEMS[:2], queries=100, clusters=11, largest=0.4)).held()
    assert (held["clusters"], held["largest_cluster"]) == (11, 40)
    with pytest.raises(UsageError, match="leave too few"):
        draw_world(Plan(SYSTEMS[:2], queries=20, clusters=15, largest=0.5))


def noise_of(world: World, name: str) -> np.ndarray:
    """The scores of the documents that are not relevant, shape (queries, others), in the order of their ids."""
    frame = world.run(name).frame.filter(pl.col("doc_id").str.contains("-n")).sort("query_id", "doc_id")
    return frame["score"].to_numpy().reshape(world.plan.queries, OTHERS)


@pytest.mark.parametrize(
    ("alike", "similarity"), [(0.0, 0.0), (0.6, 0.0), (0.0, 0.7), (0.5, 0.8), (1.0, 0.5)]
)
def test_what_systems_and_queries_have_in_common(alike: float, similarity: float) -> None:
    plan = Plan(SYSTEMS[:2], queries=400, clusters=200, alike=alike, similarity=similarity, depth=EVERY)
    world = draw_world(plan)
    a, b = noise_of(world, "A"), noise_of(world, "B")
    # Queries 0 and 1 share a cluster, 2 and 3 do, and so on. 40,000 pairs: a standard error is at most .005.
    between_queries = np.corrcoef(a[0::2].ravel(), a[1::2].ravel())[0, 1]
    between_systems = np.corrcoef(a.ravel(), b.ravel())[0, 1]
    assert abs(between_queries - similarity) < 0.02
    # Two systems share `alike` of the noise of each query.
    assert abs(between_systems - alike) < 0.02
    assert abs(a.var() - 1) < 0.04


def test_without_clusters_no_two_queries_are_similar() -> None:
    noise = noise_of(draw_world(Plan(SYSTEMS[:2], queries=400, similarity=0.9, depth=EVERY)), "A")
    assert abs(np.corrcoef(noise[0::2].ravel(), noise[1::2].ravel())[0, 1]) < 0.02


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": SYSTEMS[:1]}, "at least two systems"),
        ({"systems": (System("A", 1.0), System("A", 2.0))}, "two systems are named 'A'"),
        ({"systems": (System("A", 1.0), System("../B", 2.0))}, "a name is of letters"),
        ({"systems": (System("A", 1.0), System("B", float("nan")))}, "skill of B"),
        ({"pooled_from": ("Z",)}, "'Z' is none of A, B, C"),
        ({"queries": 0}, "queries: 0 is not between"),
        ({"queries": 10_001}, "queries: 10001 is not between 1 and 10000"),
        ({"clusters": 301}, "clusters: 301 is not between 1 and 300"),
        ({"clusters": 0}, "clusters: 0 is not between"),
        ({"grades": ()}, "grades: none"),
        ({"grades": (1, 11)}, "grade 11"),
        ({"grades": (0,)}, "grade 0"),
        ({"similarity": 1.1}, "similarity: 1.1 is not between 0 and 1"),
        ({"alike": -0.1}, "alike"),
        ({"largest": 2.0}, "largest cluster"),
        ({"pool_depth": 0}, "pool depth"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_meant_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        draw_world(Plan(**({"systems": SYSTEMS} | change)))  # type: ignore[arg-type]


def test_unknown_system_and_judgments(world: World) -> None:
    with pytest.raises(UsageError, match="no system 'D'; there are A, B, C"):
        world.run("D")
    with pytest.raises(UsageError, match="not one of pooled, deep, complete, relevant"):
        world.judgments("all")  # type: ignore[arg-type]


def test_the_files_say_what_the_tables_say(world: World, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "world"
    paths = write_world(world, folder)
    names = [
        "A.run",
        "B.run",
        "C.run",
        "pooled.qrels",
        "deep.qrels",
        "complete.qrels",
        "queries.jsonl",
        "README.md",
    ]
    assert [path.name for path in paths] == names
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    for kind in ("pooled", "deep", "complete"):
        read = evaluate(
            [str(folder / f"{name}.run") for name in "ABC"], str(folder / f"{kind}.qrels"), "nDCG@10 AP"
        )
        made = evaluate(world.runs(), world.judgments(kind), "nDCG@10 AP")
        assert read.to_dict() == made.to_dict()
    queries = read_queries(folder / "queries.jsonl")
    assert queries.column("cluster") == world.queries().column("cluster")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "leadline evaluate A.run B.run C.run --qrels pooled.qrels" in readme
    assert f"{world.held()['hidden']} of them hidden" in readme


def test_a_folder_that_cannot_be_made(world: World, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        write_world(world, tmp_path / "file" / "below")

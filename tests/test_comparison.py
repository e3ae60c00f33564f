"""Comparing two systems: the pairs, the intervals that decide, corrections, slices, and how rankings differ."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from scipy import stats

import leadline
from leadline.comparison import Design, Pairs, all_pairs, compare, pair_intervals
from leadline.errors import UsageError
from leadline.movement import overlap, rank_biased_overlap
from leadline.scores import SCORED, UNDEFINED, Cell, Scores
from leadline.tables import Run

N = 40
QRELS = {f"q{i:02d}": {"a": 3, "b": 1, "c": 0} for i in range(N)}
GOOD, BAD = ["a", "b", "c"], ["c", "b", "a"]


def scored(values: Mapping[str, Sequence[float]]) -> Scores:
    """Scores of one measure, M, from each system's values by query; NaN is undefined."""
    cells = []
    for name, own in values.items():
        row = np.asarray(own, float)
        states = np.where(np.isnan(row), UNDEFINED, SCORED).astype(np.uint8)
        cells.append(Cell(name, "M", [f"q{i}" for i in range(len(row))], row, states))
    return Scores(tuple(cells), (), {}, {})


def runs(better: int, worse: int = 0) -> dict[str, dict[str, list[str]]]:
    """A baseline that is good on odd queries; the candidate turns some bad ones good and some good ones bad."""
    names = list(QRELS)
    base = {name: GOOD if i % 2 else BAD for i, name in enumerate(names)}
    new = dict(base)
    for name in names[0 : 2 * better : 2]:
        new[name] = GOOD
    for name in names[1 : 2 * worse : 2]:
        new[name] = BAD
    return {"old": base, "new": new}


def test_known_differences() -> None:
    # RR of a bad list is 1/2 (b stands second), of a good one 1: ten queries gain 1/2 each: 10 · 0.5 / 40.
    row = compare(leadline.evaluate(runs(10), QRELS, "RR"), "old")[0]
    assert row.difference == pytest.approx(0.125)
    assert (row.wins, row.ties, row.losses, row.n, row.n_nonzero) == (10, 30, 0, 40, 10)
    assert row.interval == "t"
    assert row.low is not None
    assert row.high is not None
    assert row.bootstrap_low is not None
    # sd² = (10·(.375)² + 30·(.125)²)/39 = 1.875/39; t(.975, 39) = 2.0227: ± 2.0227·.21926/√40 = .07012
    assert row.low == pytest.approx(0.125 - 0.07012, abs=1e-4)
    assert row.one_sided_low is not None
    assert row.low < row.one_sided_low < row.difference
    # All ten signs the same: exact randomisation, 2/2^10.
    assert row.p == pytest.approx(2 / 2**10)


def test_yes_no_measures_take_tango_and_mcnemar() -> None:
    row = compare(leadline.evaluate(runs(10, 2), QRELS, "Success(rel=2)@1"), "old")[0]
    assert (row.interval, row.test) == ("tango", "mcnemar mid-p")
    assert (row.wins, row.losses) == (10, 2)


def test_identical_systems_have_defined_answers() -> None:
    row = compare(leadline.evaluate(runs(0), QRELS, "nDCG@3"), "old")[0]
    assert (row.difference, row.p, row.low, row.n_nonzero) == (0.0, 1.0, None, 0)
    assert any("no interval" in remark for remark in row.remarks)


def test_swapping_the_systems_negates() -> None:
    scores = leadline.evaluate(runs(9, 3), QRELS, "nDCG@3")
    there, back = compare(scores, "old")[0], compare(scores, "new")[0]
    assert there.difference == pytest.approx(-back.difference)
    assert there.low == pytest.approx(-back.high)
    assert there.p == pytest.approx(back.p)
    assert (there.wins, there.losses) == (back.losses, back.wins)


def test_few_queries_and_few_differences_are_said() -> None:
    few = dict(list(QRELS.items())[:10])
    row = compare(leadline.evaluate(runs(2), few, "RR"), "old")[0]
    assert any("10 queries" in remark for remark in row.remarks)
    assert any("2 queries differ" in remark for remark in row.remarks)


def test_undefined_queries_are_left_out_and_counted() -> None:
    qrels = {**QRELS, "empty": {"a": 0}}
    row = compare(leadline.evaluate(runs(5), qrels, "nDCG@3"), "old")[0]
    assert (row.n, row.n_left_out) == (40, 1)


def test_failed_rows_are_counted_as_errors() -> None:
    import polars as pl

    frame = pl.DataFrame({"query_id": ["q00"], "doc_id": ["a"], "score": [1.0]})
    broken = Run.checked(frame, "new", failed={"q01": "time-out"})
    row = compare(leadline.evaluate([Run.checked(frame, "old"), broken], QRELS, "RR"), "old")[0]
    assert (row.n_error, row.n_left_out) == (1, 1)


def test_several_candidates_are_corrected() -> None:
    systems = {**runs(10), "third": runs(4)["new"]}
    scores = leadline.evaluate(systems, QRELS, "RR")
    holm = compare(scores, "old")
    smallest = min(holm, key=lambda row: row.p)
    assert smallest.p_corrected == pytest.approx(2 * smallest.p)
    tukey = compare(scores, "old", design=Design(correction="tukey"))
    names, p = all_pairs(scores, "RR")
    assert names == ["old", "new", "third"]
    assert [row.p_corrected for row in tukey] == pytest.approx(list(p[0, 1:]))


def test_the_intervals_of_all_pairs_hold_together() -> None:
    rng = np.random.default_rng(3)
    grid = np.round(rng.random((30, 4)), 3)
    scores = scored({f"s{j}": grid[:, j] for j in range(4)})
    names, p = all_pairs(scores, "M")
    rows = pair_intervals(scores, "M", names, p)
    assert [(one.first, one.second) for one in rows][:4] == [
        ("s0", "s1"),
        ("s0", "s2"),
        ("s0", "s3"),
        ("s1", "s2"),
    ]
    # Six pairs: each at 1 − .05/6, and Student's t of its own 30 differences.
    d = grid[:, 3] - grid[:, 1]
    (row,) = [one for one in rows if (one.first, one.second) == ("s1", "s3")]
    half = stats.t.ppf(1 - 0.05 / 12, 29) * d.std(ddof=1) / np.sqrt(30)
    assert (row.level, row.interval, row.n) == (pytest.approx(1 - 0.05 / 6), "t", 30)
    assert (row.difference, row.low, row.high) == pytest.approx((d.mean(), d.mean() - half, d.mean() + half))
    assert row.p == p[1][3]
    # Wider than the pair's own 95 % interval.
    (alone,) = compare(scores, "s1", ["s3"])
    assert row.low < alone.low < alone.high < row.high


def test_pairs_without_a_query_in_common_have_no_difference() -> None:
    nan = float("nan")
    scores = scored({"a": [0.1, nan], "b": [nan, 0.2], "c": [0.5, 0.7]})
    rows = pair_intervals(scores, "M", ["a", "b", "c"], np.ones((3, 3)))
    assert (rows[0].difference, rows[0].low, rows[0].n) == (None, None, 0)
    assert (rows[1].difference, rows[1].n) == (pytest.approx(0.4), 1)


def test_clusters_widen_the_interval() -> None:
    scores = leadline.evaluate(runs(10), QRELS, "RR")
    plain = compare(scores, "old")[0]
    clusters = {name: str(i // 4) for i, name in enumerate(QRELS)}
    row = compare(scores, "old", design=Design(clusters=clusters))[0]
    assert row.clusters == 10
    assert row.interval is not None
    assert "CR2" in row.interval or "cr2" in row.interval.lower()
    assert row.high - row.low > plain.high - plain.low


def test_strata_take_their_weights() -> None:
    names = list(QRELS)
    strata = {name: "a" if i < 20 else "b" for i, name in enumerate(names)}
    scores = leadline.evaluate(runs(10), QRELS, "RR")
    row = compare(scores, "old", design=Design(strata=strata, weights={"a": 0.1, "b": 0.9}))[0]
    # The ten queries that gain are in the first twenty: .5·10/20 = .25 there, 0 in the others.
    assert row.difference == pytest.approx(0.1 * 0.25)


def test_the_same_seed_gives_the_same_rows() -> None:
    scores = leadline.evaluate(runs(15, 9), QRELS, "nDCG@3,AP")
    assert compare(scores, "old") == compare(scores, "old")
    other = compare(scores, "old", design=Design(seed=5))
    assert other[0].bootstrap_low != compare(scores, "old")[0].bootstrap_low


def test_pairs_meet_by_query_id() -> None:
    from leadline.scores import Cell

    first = Cell("a", "RR", ["q1", "q2", "q3"], np.array([1.0, 0.5, np.nan]), np.zeros(3, np.uint8))
    second = Cell("b", "RR", ["q3", "q1", "q4"], np.array([1.0, 0.25, 1.0]), np.zeros(3, np.uint8))
    pairs = Pairs.of(first, second)
    assert (pairs.query_ids, pairs.differences.tolist(), pairs.left_out) == (["q1"], [-0.75], 2)


@pytest.mark.parametrize(
    "switches", [{"alpha": 0.7}, {"interval": "wald"}, {"correction": "sidak"}], ids=lambda s: next(iter(s))
)
def test_designs_that_cannot_be_meant(switches: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Design(**switches)  # type: ignore[arg-type]


def test_rank_biased_overlap_by_hand() -> None:
    # p = .5, k = 2, lists ab and ac: X = 1, 1: (.5/.5)·(1·.5 + .5·.25) + .5·.25 = .625 + .125
    assert rank_biased_overlap(["a", "b"], ["a", "c"], 0.5) == pytest.approx(0.75)


def test_rank_biased_overlap_of_the_case() -> None:
    # Webber, Moffat & Zobel 2010, eq. 23, p = .9. X by depth: 0, 2, 3, 3, 4, 4, 4.
    value = rank_biased_overlap(list("abcdefg"), list("bacfdhi"), 0.9)
    assert value == pytest.approx(0.7069712142857143, abs=1e-9)


def test_overlap_needs_no_judgments() -> None:
    from leadline.conventions import Conventions
    from leadline.formats.objects import run_of

    first = run_of({"q1": ["a", "b"], "q2": ["a"], "only": ["z"]}, name="first")
    second = run_of({"q1": ["b", "c"], "q2": ["a"]}, name="second")
    found = overlap(first, second, Conventions(), k=2)
    assert found.query_ids == ["q1", "q2"]
    assert found.overlap.tolist() == [0.5, 1.0]
    assert found.least_alike(1)[0][0] == "q1"


def test_the_lesson(shared_data) -> None:  # type: ignore[no-untyped-def]
    folder = shared_data("lesson")
    systems = [str(folder / f"{name}.run.gz") for name in "AB"]
    scores = leadline.evaluate(systems, str(folder / "pooled-from-A.qrels"), "nDCG@10")
    whole = compare(scores, "A")[0]
    assert whole.difference == pytest.approx(0.047, abs=0.0005)
    for low, high in ((whole.low, whole.high), (whole.bootstrap_low, whole.bootstrap_high)):
        assert low == pytest.approx(0.012, abs=0.003)
        assert high == pytest.approx(0.081, abs=0.003)
    first = set(list(scores.per_query("nDCG@10", "A"))[:30])
    part = compare(scores, "A", queries=first)[0]
    assert part.difference == pytest.approx(0.153, abs=0.0005)
    assert part.high - part.low > 2 * (whole.high - whole.low)

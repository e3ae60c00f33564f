"""Many needs per query: measures over judgments by subtopic, by hand and against ndeval."""

import itertools
import math
import random
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline
from leadline.conventions import Conventions
from leadline.errors import RowsError, UsageError
from leadline.formats.read import read_qrels
from leadline.hits import Judged
from leadline.ranking import rank
from leadline.tables import Qrels, Run
from measures.support import Rankings, differences, ordered, same

LOG3 = math.log2(3)
ROWS = list[tuple[str, str, str, int]]
"""Judgments as rows of query, subtopic, document and grade, as in a TREC file."""

# q asks for three things: a answers the first two, b the first, c the second and third, d nothing.
TREC = """q s1 a 1
q s2 a 1
q s1 b 2
q s2 c 1
q s3 c 1
q s1 d 0
"""


def judged(rows: ROWS) -> Qrels:
    return Qrels.checked(pl.DataFrame(rows, schema=["query_id", "subtopic", "doc_id", "grade"], orient="row"))


def by_hand(text: str) -> ROWS:
    return [(q, s, d, int(g)) for q, s, d, g in (line.split() for line in text.splitlines())]


def value(measure: str, ranking: list[str], text: str = TREC, **options: Any) -> float | None:
    scores = leadline.evaluate({"q": ranking}, judged(by_hand(text)), [measure], **options)
    return scores.per_query(measure)["q"]


KNOWN = [
    # b answers s1; d nothing; a answers s1 again and s2.
    ("StRecall@1", ["b", "d", "a"], 1 / 3),
    ("StRecall@2", ["b", "d", "a"], 1 / 3),
    ("StRecall@3", ["b", "d", "a"], 2 / 3),
    ("StRecall@3", ["c", "b"], 1.0),
    # Grade 2 alone counts: then only s1 can be answered, and b answers it.
    ("StRecall(rel=2)@1", ["a", "b"], 0.0),
    ("StRecall(rel=2)@2", ["a", "b"], 1.0),
    # a and c add 2 each; c is the last by id and comes first; then a adds s1 and half of s2, b only s1: c, a, b.
    # Worth 2, 1.5, .5 there; b, d, a has 1, 0 and .5 + 1.
    ("alpha_nDCG@3", ["b", "d", "a"], (1 + 1.5 / 2) / (2 + 1.5 / LOG3 + 0.5 / 2)),
    ("alpha_nDCG@1", ["b", "d", "a"], 1 / 2),
    # α = 1: a repeated answer is worth nothing: 1, 0 and 1 over 2, 1 and 0.
    ("alpha_nDCG(alpha=1)@3", ["b", "d", "a"], (1 + 1 / 2) / (2 + 1 / LOG3)),
    # α = 0: every answer is worth 1: a, c, b or c, a, b.
    ("alpha_nDCG(alpha=0)@3", ["b", "d", "a"], (1 + 2 / 2) / (2 + 2 / LOG3 + 1 / 2)),
    # Without d, which is judged, and x, which is not.
    ("alpha_nDCG(judged_only)@2", ["x", "c", "a"], 1.0),
    ("alpha_nDCG@20", ["c", "a", "b"], 1.0),
    # 1 + 1.5/3 over three answers at ranks 1, 2, 3 with .5^n: 3·(1 + .5/2 + .25/3) = 4.
    ("ERR_IA@3", ["b", "d", "a"], (1 + 1.5 / 3) / 4),
    ("ERR_IA@1", ["c", "a"], 2 / 3),
    ("ERR_IA@2", ["c", "a"], (2 + 1.5 / 2) / (3 * 1.25)),
]  # fmt: skip


@pytest.mark.parametrize(("measure", "ranking", "expected"), KNOWN, ids=lambda v: str(v))
def test_a_known_value(measure, ranking, expected):
    assert value(measure, ranking) == pytest.approx(expected, abs=1e-12)


def test_the_examples_of_the_docstrings():
    two = "q 1 a 1\nq 2 a 1\nq 1 b 1\n"
    assert value("alpha_nDCG@2", ["b", "a"], two) == pytest.approx((1 + 1.5 / LOG3) / (2 + 0.5 / LOG3))
    assert value("ERR_IA@2", ["b", "a"], two) == pytest.approx(0.7)
    assert value("StRecall@2", ["b", "a"], two + "q 3 z 1\n") == pytest.approx(2 / 3)


def test_the_greedy_ideal_can_fall_short():
    # Each of three documents answers 4 subtopics. The greedy one begins with the last by id, z (2 of b's and 2 of
    # c's), whereafter b and c each add 2 and half of 2: 4, 3, then 2 + 2/2 − … ; b, c first have 4 and 4.
    answers = {"b": "1234", "c": "5678", "z": "1256"}
    text = "".join(f"q {s} {d} 1\n" for d, own in answers.items() for s in own)
    # α = 1: greedy z, c, b: 4, 2, 2. The ranking b, c, z: 4, 4, 0.
    greedy = 4 + 2 / LOG3 + 2 / 2
    assert value("alpha_nDCG(alpha=1)@3", ["b", "c", "z"], text) == pytest.approx((4 + 4 / LOG3) / greedy)
    assert (4 + 4 / LOG3) / greedy > 1


def test_undefined_unanswered_and_zero():
    rows = [*by_hand(TREC), ("none", "s1", "a", 0), ("silent", "s1", "a", 1)]
    asked = ["alpha_nDCG@5", "StRecall@5", "ERR_IA@5"]
    scores = leadline.evaluate({"q": ["a"], "none": ["a"]}, judged(rows), asked)
    for measure in asked:
        values = scores.per_query(measure)
        assert values["none"] is None
        assert values["silent"] == 0.0
        row = scores.summary(measure)
        assert (row.n_scored, row.n_unanswered, row.n_undefined) == (1, 1, 1)
    zero = leadline.evaluate({"q": ["a"], "none": ["a"]}, judged(rows), asked, undefined="zero")
    assert {zero.per_query(measure)["none"] for measure in asked} == {0.0}


def test_a_subtopic_without_a_relevant_document_does_not_count():
    assert value("StRecall@1", ["c"], "q s1 c 1\nq s2 c 0\nq s2 d -1\n") == 1.0


def test_a_document_pooled_and_not_judged_is_no_judged_one():
    text = "q s1 a 1\nq s1 p -1\nq s2 p -1\n"
    assert value("alpha_nDCG(judged_only)@1", ["p", "a"], text) == 1.0
    assert value("alpha_nDCG@1", ["p", "a"], text) == 0.0


def test_no_cutoff_is_too_deep():
    for measure in ("alpha_nDCG", "StRecall", "ERR_IA"):
        deep, least = (value(f"{measure}@{k}", ["b", "d", "a"]) for k in (10**9, 2000))
        assert deep == pytest.approx(least, abs=1e-12)


# ------------------------------------------------------------------------------------------------ against ndeval


@st.composite
def diverse(draw: st.DrawFn) -> tuple[Rankings, ROWS]:
    """Runs with ties and unjudged documents; judgments by subtopic, some queries with nothing relevant."""
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    documents = [f"d{letter}" for letter in "abcdefgh"[: rng.randint(1, 8)]]
    rows: ROWS = []
    run: Rankings = {}
    for at in range(rng.randint(1, 3)):
        query = f"q{at}"
        share = rng.choice([0.15, 0.4, 0.8])
        grades = rng.choice([[0], [0, 1], [-1, 0, 1, 1, 2, 3]])
        subtopics = [str(s) for s in range(rng.randint(1, 5))]
        own = [
            (query, s, d, rng.choice(grades)) for s in subtopics for d in documents if rng.random() < share
        ]
        rows += own or [(query, "0", documents[0], rng.choice(grades))]
        if at and rng.random() < 0.2:
            continue
        pool = [*documents, "x", "dz"]
        returned = rng.sample(pool, rng.randint(1, len(pool)))
        run[query] = {doc: rng.choice([-1.0, 0.0, 0.5, 2.0]) for doc in returned}
    rng.shuffle(rows)
    return run, rows


def of_ndeval(
    oracle: Any, run: Rankings, rows: ROWS, names: list[str], **options: Any
) -> dict[str, dict[str, float]]:
    """What pyndeval gives. It puts equal scores in ascending order of ids: so it is given our order, without ties."""
    lines = [(q, d, -float(at)) for q, docs in run.items() for at, d in enumerate(ordered(docs))]
    return oracle.RelevanceEvaluator(rows, names, **options).evaluate(lines)  # type: ignore[no-any-return]


# Powers of 1 − α that 64-bit numbers hold: elsewhere ndeval may take the noise of a sum for the better document.
@settings(max_examples=250)
@given(diverse(), st.sampled_from([0, 0.25, 0.5, 0.75, 1]), st.sampled_from([1, 1, 2]))
def test_ndeval(needs, made, alpha, rel):
    oracle = needs("pyndeval")
    run, rows = made
    alphas = {f"alpha_nDCG(alpha={alpha},rel={rel})@{k}": f"alpha-nDCG@{k}" for k in (1, 2, 5, 20)}
    others = {f"StRecall(rel={rel})@{k}": f"strec@{k}" for k in (1, 2, 20)}
    others |= {f"ERR_IA(rel={rel})@{k}": f"ERR-IA@{k}" for k in (2, 3, 20)}
    found = leadline.evaluate(run, judged(rows), [*alphas, *others], undefined="zero")
    for names, options in ((alphas, {"alpha": alpha}), (others, {})):
        expected = of_ndeval(oracle, run, rows, list(names.values()), relevance_level=rel, **options)
        assert expected.keys() == run.keys()
        for query, row in expected.items():
            for measure, name in names.items():
                got = found.per_query(str(leadline.parse(measure)))[query]
                assert got == pytest.approx(row[name], abs=1e-9), (measure, query)


@settings(max_examples=40)
@given(diverse())
def test_ir_measures(needs, made):
    # Means too: all judged queries, 0 where nothing is relevant. It ties by ascending ids: there are none here. One
    # measure a call: of two that differ in α it gives 0 for the second, as its run is read up by then.
    needs("pyndeval")
    oracle = needs("ir_measures")
    run = {q: {d: -float(at) for at, d in enumerate(ordered(docs))} for q, docs in made[0].items()}
    asked = [oracle.alpha_nDCG @ 5, oracle.alpha_nDCG(alpha=0.25) @ 3, oracle.StRecall @ 5, oracle.ERR_IA @ 5]
    rows = [_Judgment(q, d, g, s) for q, s, d, g in made[1]]
    means = {measure: oracle.calc_aggregate([measure], rows, run)[measure] for measure in asked}
    scores = leadline.evaluate(run, rows, asked, profile="ir_measures")
    assert {m: scores.mean(str(m)) for m in asked} == pytest.approx(means, abs=1e-9)


class _Judgment(NamedTuple):
    """A judgment as ir_measures takes it."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str


def test_other_alphas_differ_from_ndeval_rarely_and_by_little(needs):
    # 1 − .3 has no exact powers: two documents that add as much may differ by the noise of a sum there, and the
    # greedy ideal goes another way.
    oracle = needs("pyndeval")
    rng, apart = random.Random(3), []
    for _ in range(400):
        alpha = rng.choice([0.1, 0.3, 0.7, 0.9])
        documents = [f"d{i:02}" for i in range(rng.randint(3, 25))]
        needs_of = range(rng.randint(2, 6))
        rows = [("q", str(s), d, 1) for s in needs_of for d in documents if rng.random() < 0.4]
        rows = rows or [("q", "0", "d00", 1)]
        run = {"q": {d: -float(at) for at, d in enumerate(rng.sample(documents, len(documents)))}}
        expected = of_ndeval(oracle, run, rows, ["alpha-nDCG@20"], alpha=alpha)["q"]["alpha-nDCG@20"]
        found = leadline.evaluate(run, judged(rows), f"alpha_nDCG(alpha={alpha})@20")
        apart.append(abs(found.mean(found.measures[0]) - expected))
    assert sum(one > 1e-9 for one in apart) <= 8
    assert max(apart) < 0.01


def test_where_ndeval_differs(needs):
    # At k = 1 its ERR-IA is not divided by the number of subtopics.
    oracle = needs("pyndeval")
    rows = by_hand(TREC)
    found = of_ndeval(oracle, {"q": {"c": 1.0}}, rows, ["ERR-IA@1", "ERR-IA@2"])
    assert found["q"]["ERR-IA@1"] == 2.0
    assert value("ERR_IA@1", ["c"]) == pytest.approx(2 / 3)
    assert value("ERR_IA@2", ["c"]) == pytest.approx(found["q"]["ERR-IA@2"])


# ----------------------------------------------------------------------------------------------------- laws

ASKED = [
    "alpha_nDCG@1", "alpha_nDCG@3", "alpha_nDCG(alpha=0.3)@5", "alpha_nDCG(judged_only)@3", "StRecall@2",
    "StRecall(rel=2)@5", "ERR_IA@1", "ERR_IA@4",
]  # fmt: skip


def table(run: Any, rows: ROWS, measures: list[str] = ASKED) -> dict[str, dict[str, float]]:
    scores = leadline.evaluate(run, judged(rows), measures)
    out: dict[str, dict[str, float]] = {}
    for measure in measures:
        for query, number in scores.per_query(measure).items():
            out.setdefault(query, {})[measure] = math.nan if number is None else number
    return out


@settings(max_examples=60)
@given(diverse(), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_names_of_subtopics_matter(made, rng):
    run, rows = made
    names = {"0": "ü", "1": "9", "2": "a b", "3": "10", "4": "z"}
    other = [(q, names[s], d, g) for q, s, d, g in rows]
    rng.shuffle(other)
    assert differences(table(run, rows), table(run, other), within=1e-12) == []


def test_the_noise_of_a_sum_decides_nothing():
    # Documents that add as much by sums of other parts, or in another order, are equal: the last by id is taken.
    rng = random.Random(4)
    rows: ROWS = []
    for q in range(300):
        documents = [f"d{i:02}" for i in range(rng.randint(5, 25))]
        share = rng.choice([0.3, 0.5])
        rows += [(f"q{q}", str(s), d, 1) for s in range(6) for d in documents if rng.random() < share]
    run = {f"q{q}": {"d00": 1.0, "d01": 0.5} for q in range(300)}
    asked = ["alpha_nDCG(alpha=0.3)@20", "alpha_nDCG(alpha=0.9)@20"]
    first = table(run, rows, asked)
    for _ in range(3):
        rng.shuffle(rows)
        assert differences(first, table(run, rows, asked), within=1e-12) == []


@settings(max_examples=60)
@given(diverse())
def test_values_stay_within_their_limits(made):
    for row in table(*made).values():
        assert all(math.isnan(v) or v >= 0 for v in row.values())
        assert all(math.isnan(v) or v <= 1 + 1e-12 for m, v in row.items() if not m.startswith("alpha"))


@settings(max_examples=60)
@given(diverse())
def test_an_answer_to_something_new_never_lowers(made):
    # Put in front, a document that answers every subtopic lifts each measure or leaves it.
    run, rows = made
    rows = [*rows, *((q, s, "all", 3) for q, s in dict.fromkeys((q, s) for q, s, _, _ in rows))]
    first = {q: {**docs, "all": 99.0} for q, docs in run.items()}
    before, after = table(run, rows), table(first, rows)
    for query, measure in itertools.product(run, ASKED):
        assert not after[query][measure] < before[query][measure] - 1e-12, (query, measure)


@settings(max_examples=60)
@given(diverse())
def test_one_subtopic_with_alpha_0_is_binary_ndcg(made):
    # (1 − 0)^n is 1: the gain is that of a relevant document, and any order of the relevant ones is ideal.
    run, rows = made
    one = {(q, d): g for q, _, d, g in rows}
    got = table(run, [(q, "0", d, int(g > 0) if g >= 0 else g) for (q, d), g in one.items()], [
        "alpha_nDCG(alpha=0)@4", "nDCG(gain=linear)@4", "StRecall@3", "Success@3",
    ])  # fmt: skip
    for row in got.values():
        assert same(row["alpha_nDCG(alpha=0)@4"], row["nDCG(gain=linear)@4"])
        assert same(row["StRecall@3"], row["Success@3"])


def test_the_ideal_is_found_once_for_all_systems():
    table_of = Judged.of(judged(by_hand(TREC)))
    for ranking in (["a"], ["b"]):
        frame = pl.DataFrame({"query_id": ["q"], "doc_id": ranking, "score": [1.0]})
        hits = rank(Run.checked(frame), table_of, Conventions())
        measure = leadline.parse("alpha_nDCG@3")
        measure.definition.function(hits, 3, **measure.arguments())
    assert [found.tolist() for found in table_of.needs.ideals.values()] == [
        [pytest.approx(2 + 1.5 / LOG3 + 0.5 / 2)]
    ]


def test_many_queries_at_once_are_each_query_alone():
    rng = np.random.default_rng(5)
    rows: ROWS = []
    run: Rankings = {}
    for q in range(300):
        for d in range(rng.integers(1, 30)):
            own = rng.choice(6, rng.integers(1, 4), replace=False)
            rows += [(f"q{q}", str(s), f"d{d}", int(rng.integers(0, 3))) for s in own]
        run[f"q{q}"] = {f"d{d}": float(rng.integers(0, 9)) for d in range(40)}
    whole = table(run, rows)
    for q in ("q0", "q7", "q299"):
        alone = table({q: run[q]}, [row for row in rows if row[0] == q])
        assert differences({q: whole[q]}, alone, within=1e-12) == []


# -------------------------------------------------------------------------------------- where subtopics come from


def files(folder: Path) -> dict[str, Path]:
    rows = by_hand(TREC)
    made = {name: folder / f"qrels.{name}" for name in ("txt", "csv", "tsv", "jsonl", "json", "parquet")}
    made["txt"].write_text(TREC)
    frame = pl.DataFrame(rows, schema=["qid", "subtopic", "docid", "rel"], orient="row")
    frame.write_csv(made["csv"])
    frame.rename({"subtopic": "iteration"}).write_csv(made["tsv"], separator="\t")
    frame.write_ndjson(made["jsonl"])
    made["json"].write_text(frame.write_json())
    frame.write_parquet(made["parquet"])
    return made


def test_every_format_that_can_name_subtopics(tmp_path):
    expected = value("alpha_nDCG@3", ["b", "d", "a"])
    for name, path in files(tmp_path).items():
        scores = leadline.evaluate({"q": ["b", "d", "a"]}, path, ["alpha_nDCG@3", "P(rel=2)@1"])
        assert scores.per_query("alpha_nDCG@3")["q"] == expected, name
        # Other measures take the pair's largest grade.
        assert scores.mean("P(rel=2)@1") == 1.0
        assert scores.account["qrels"]["subtopics"] == 3, name
        assert not [line for line in scores.warnings if "subtopic" in line], name
    objects = [
        pd.DataFrame(by_hand(TREC), columns=["query_id", "iteration", "doc_id", "relevance"]),
        [_Judgment(q, d, g, s) for q, s, d, g in by_hand(TREC)],
        [{"query_id": q, "doc_id": d, "grade": g, "subtopic": s} for q, s, d, g in by_hand(TREC)],
    ]
    for thing in objects:
        found = leadline.evaluate({"q": ["b", "d", "a"]}, thing, "alpha_nDCG@3")
        assert found.per_query("alpha_nDCG@3")["q"] == expected


def test_numbers_of_subtopics_are_text(tmp_path):
    frame = pd.DataFrame({"qid": ["q", "q"], "docid": ["a", "b"], "rel": [1, 1], "subtopic": [1, 2]})
    assert leadline.evaluate({"q": ["a"]}, frame, "StRecall@1").mean("StRecall@1") == 0.5
    frame["subtopic"] = [1.0, float("nan")]
    with pytest.raises(leadline.errors.InputError, match="subtopic"):
        leadline.evaluate({"q": ["a"]}, frame, "StRecall@1")


def test_a_row_without_its_subtopic_is_a_fault(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text(
        '{"query_id": "q", "doc_id": "a", "subtopic": 1, "grade": 1}\n'
        '{"query_id": "q", "doc_id": "b", "grade": 1}\n'
    )
    with pytest.raises(RowsError, match=r"line 2.*subtopic") as caught:
        leadline.evaluate({"q": ["a"]}, path, "StRecall@1")
    assert caught.value.total == 1
    # Nothing of it matters where no subtopic is asked for.
    assert leadline.evaluate({"q": ["a"]}, path, "R@1").mean("R@1") == 0.5
    path = tmp_path / "q.csv"
    path.write_text("qid,docid,subtopic,rel\nq,a,1,1\nq,b,,1\n")
    with pytest.raises(RowsError, match="line 3"):
        leadline.evaluate({"q": ["a"]}, path, "StRecall@1")


ONE = "one need for StRecall@2"


@pytest.mark.parametrize(
    "qrels",
    [
        {"q": {"a": 1, "b": 0}},
        [_Judgment("q", "a", 1, "0"), _Judgment("q", "b", 0, "0"), _Judgment("r", "a", 1, "0")],
        # Another one for each query is no more than one for a query.
        [_Judgment("q", "a", 1, "5"), _Judgment("r", "a", 1, "6")],
    ],
    ids=["none named", "all the same", "one a query"],
)
def test_one_subtopic_works_with_a_remark(qrels):
    scores = leadline.evaluate({"q": ["b", "a"]}, qrels, "StRecall@2 ERR_IA@1")
    assert scores.per_query("StRecall@2")["q"] == 1.0
    assert any("no query has more than one subtopic" in line and ONE in line for line in scores.warnings)


def test_a_trec_file_of_one_subtopic(tmp_path):
    (tmp_path / "qrels.txt").write_text("q 0 a 1\nq 0 b 1\n")
    scores = leadline.evaluate({"q": ["b", "a"]}, tmp_path / "qrels.txt", "alpha_nDCG@2")
    assert scores.mean("alpha_nDCG@2") == 1.0
    assert any("no query has more than one subtopic" in line for line in scores.warnings)
    assert not any(
        "subtopic" in w
        for w in leadline.evaluate({"q": ["b"]}, tmp_path / "qrels.txt", "RR", bounds=True).warnings
    )


def test_a_pair_judged_twice_for_one_subtopic():
    rows = [*by_hand(TREC), ("q", "s1", "a", 1)]
    assert leadline.evaluate({"q": ["a"]}, judged(rows), "StRecall@1").account["qrels"]["merged"] == 1
    with pytest.raises(RowsError, match="judges the same pair"):
        judged([*by_hand(TREC), ("q", "s1", "a", 2)])


def test_a_clash_that_column_2_explains_says_so(tmp_path):
    # Where no subtopic is asked for, column 2 is not read; d1 is judged 1 and 0.
    path = tmp_path / "qrels.txt"
    path.write_text("q 1 a 1\nq 2 a 0\n")
    with pytest.raises(RowsError, match=r"column 2 tells them apart.*StRecall@10"):
        leadline.evaluate({"q": ["a"]}, path, "RR")
    assert leadline.evaluate({"q": ["a"]}, path, "RR StRecall@1").mean("RR") == 1.0
    path.write_text("q 1 a 1\nq 1 a 0\n")
    with pytest.raises(RowsError) as caught:
        leadline.evaluate({"q": ["a"]}, path, "RR")
    assert "column 2" not in str(caught.value)


def test_the_column_is_kept_only_where_it_is_there(tmp_path):
    (tmp_path / "q.csv").write_text("qid,docid,rel\nq,a,1\n")
    assert not read_qrels(tmp_path / "q.csv", keep_subtopic=True).subtopics


# ------------------------------------------------------------------------------------------ what cannot be asked


def test_bounds_and_expected_values_are_not_given_and_said():
    asked = {"q": ["x", "a"]}, judged(by_hand(TREC)), "alpha_nDCG@2 P@2"
    scores = leadline.evaluate(*asked, bounds=True)
    row = scores.summary("alpha_nDCG@2")
    assert (row.bound_low, row.bound_high, row.bound_kind) == (None, None, None)
    assert scores.summary("P@2").bound_kind == "sharp"
    assert any(line.startswith("no bounds: alpha_nDCG@2 ") for line in scores.warnings)
    tied = leadline.evaluate(*asked, ties="expected").warnings
    assert any(line.startswith("no closed form over ties: alpha_nDCG@2 ") for line in tied)


def test_what_is_unjudged_is_said_without_bounds():
    said = leadline.evaluate({"q": ["x", "a"]}, judged(by_hand(TREC)), "StRecall@2").warnings
    assert [line for line in said if "is judged" in line] == [
        "run: 50% of its top 2 is judged; the rest counts as not relevant"
    ]


def test_a_failed_row_is_an_error():
    run = Run.checked(
        pl.DataFrame({"query_id": ["q"], "doc_id": ["c"], "score": [1.0]}), failed={"r": "timed out"}
    )
    rows = [*by_hand(TREC), ("r", "s1", "a", 1)]
    row = leadline.evaluate(run, judged(rows), "StRecall@1").summary("StRecall@1")
    assert (row.mean, row.n_error) == (pytest.approx(2 / 3), 1)
    assert (row.error_low, row.error_high) == (pytest.approx(1 / 3), pytest.approx(5 / 6))


@pytest.mark.parametrize("name", ["ndeval", "nERR_IA@20", "alpha-nDGC@10"])
def test_other_names_are_no_measures(name):
    with pytest.raises(UsageError):
        leadline.parse(name)

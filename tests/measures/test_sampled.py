"""xinfAP and infNDCG: worked values, what they are on a pool judged in full, and what they refuse."""

import itertools
import math
import random
from collections import defaultdict

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline
from leadline.errors import LeadlineError, UsageError
from leadline.tables import Qrels

Row = tuple[str, str, str, int]
"""Query, document, stratum, grade."""


def judgments(rows: list[Row], probability: list[float] | None = None) -> Qrels:
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "stratum", "grade"], orient="row")
    if probability is not None:
        frame = frame.with_columns(pl.Series("probability", probability))
    return Qrels.checked(frame)


# Stratum "a" is judged in full; of the four pairs of stratum "b" two are.
POOL: list[Row] = [
    ("q", "d1", "a", 1), ("q", "d2", "a", 0),
    ("q", "d3", "b", 2), ("q", "d4", "b", 0), ("q", "d5", "b", -1), ("q", "d6", "b", -1),
]  # fmt: skip
RUN = {"q": ["d1", "d5", "d3", "x", "d4"]}


def scored(measure: str, rows: list[Row], run=None, **options) -> float | None:
    return leadline.evaluate(run or RUN, judgments(rows), [measure], **options).per_query(measure)["q"]


def test_xinfap_by_hand():
    # Weights: a 2/2 = 1, b 4/2 = 2. d1 at rank 1: precision 1. d3 at rank 3: of a stand one document above it,
    # judged and relevant (1 of 1), of b one that is not judged: ε/3ε = 1/3. Precision (1 + 1 + 1/3)/3 = 7/9.
    # Relevant: 1·1 + 2·1 = 3. (1·1 + 2·7/9)/3 = 23/27.
    assert scored("xinfAP", POOL) == pytest.approx(23 / 27, abs=1e-5)


def test_infndcg_by_hand():
    # DCG: of a one pooled document is returned and judged, gain 1/log2(2) = 1; of b three are returned, two of
    # them judged, gain 2/log2(4) = 1: 1/1·1 + 3/2·1 = 2.5.
    # Ideal: grade 2 two times (2·1), grade 1 once: 2 + 2/log2(3) + 1/log2(4).
    ideal = 2 + 2 / math.log2(3) + 0.5
    assert scored("infNDCG", POOL) == pytest.approx(2.5 / ideal)
    # Gain 2^g − 1: 1 + 3/2·(3/2) = 3.25 over 3 + 3/log2(3) + 1/2.
    assert scored("infNDCG(gain=exp2)", POOL) == pytest.approx(3.25 / (3.5 + 3 / math.log2(3)))
    # Two ranks: of a 1/1·1; of b one is returned and not judged: nothing is known of it. Ideal 2 + 2/log2(3).
    assert scored("infNDCG@2", POOL) == pytest.approx(1 / (2 + 2 / math.log2(3)))


def test_the_ideal_has_whole_documents_rounded_half_up():
    # Stratum a: three pooled, two judged, of which one relevant: 1.5, so two in the ideal. 1/(1 + 1/log2(3)).
    rows = [("q", "d1", "a", 1), ("q", "d2", "a", 0), ("q", "d3", "a", -1)]
    run = {"q": ["d1"]}
    assert scored("infNDCG", rows, run) == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_an_estimate_of_ndcg_can_exceed_one():
    # Two of three pooled are judged; the run returns the relevant one and the one that is not judged: 2/1·1 = 2.
    rows = [("q", "d1", "a", 1), ("q", "d2", "a", 0), ("q", "d3", "a", -1)]
    assert scored("infNDCG", rows, {"q": ["d1", "d3"]}) > 1


def test_a_stratum_of_which_nothing_is_judged_counts_as_empty():
    rows = [("q", "d1", "a", 1), ("q", "d2", "b", -1), ("q", "d3", "b", -1)]
    # d1 at rank 2; of b one stands above it, nothing judged: (1 + 1/3)/2. Relevant: 1.
    assert scored("xinfAP", rows, {"q": ["d2", "d1"]}) == pytest.approx(2 / 3, abs=1e-5)
    assert scored("infNDCG", rows, {"q": ["d2", "d1"]}) == pytest.approx(1 / math.log2(3))


def test_without_a_relevant_document_they_are_undefined():
    rows = [("q", "d1", "a", 0), ("q", "d2", "a", -1)]
    assert scored("xinfAP", rows) is None
    assert scored("infNDCG", rows) is None
    assert scored("xinfAP", rows, undefined="zero") == 0.0


def by_the_formula(rows: list[Row], ranking: list[str]) -> tuple[float, float]:
    """Both measures in plain loops, rank by rank, for one query."""
    grade = {doc: g for _, doc, _, g in rows}
    stratum = {doc: s for _, doc, s, _ in rows}
    strata = sorted(set(stratum.values()))
    pooled = {s: sum(stratum[d] == s for d in grade) for s in strata}
    judged = {s: sum(stratum[d] == s and grade[d] >= 0 for d in grade) for s in strata}
    weight = {s: pooled[s] / judged[s] if judged[s] else 0.0 for s in strata}
    relevant = sum(weight[stratum[d]] for d, g in grade.items() if g > 0)
    if not relevant:
        return math.nan, math.nan
    above = {s: [0, 0, 0] for s in strata}  # pooled, judged, relevant
    summed, worth = dict.fromkeys(strata, 0.0), dict.fromkeys(strata, 0.0)
    for rank, doc in enumerate(ranking, start=1):
        if doc not in grade:
            continue
        s = stratum[doc]
        if grade[doc] > 0:
            expected = sum(p * (r + 1e-5) / (j + 3e-5) for p, j, r in above.values())
            summed[s] += (1 + expected) / rank
            worth[s] += grade[doc] / math.log2(rank + 1)
        above[s][0] += 1
        above[s][1] += grade[doc] >= 0
        above[s][2] += grade[doc] > 0
    precision = sum(weight[s] * summed[s] for s in strata) / relevant
    gained = sum(above[s][0] / above[s][1] * worth[s] for s in strata if above[s][1])
    counts: dict[int, float] = defaultdict(float)
    for doc, g in grade.items():
        if g > 0:
            counts[g] += weight[stratum[doc]]
    best = [g for g in sorted(counts, reverse=True) for _ in range(math.floor(counts[g] + 0.5))]
    return precision, gained / sum(g / math.log2(i + 2) for i, g in enumerate(best))


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1))
def test_against_plain_loops(seed):
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(rng.randint(1, 14))]
    rows = [("q", d, rng.choice("abc"), rng.choice((-1, -1, 0, 0, 1, 2, 3))) for d in docs]
    ranking = rng.sample([*docs, "x", "y"], rng.randint(1, len(docs)))
    got = leadline.evaluate({"q": ranking}, judgments(rows), ["xinfAP", "infNDCG"])
    for measure, expected in zip(("xinfAP", "infNDCG"), by_the_formula(rows, ranking), strict=True):
        value = got.per_query(measure)["q"]
        assert (value is None and math.isnan(expected)) or value == pytest.approx(expected, abs=1e-12)


@settings(max_examples=100)
@given(st.integers(0, 2**32 - 1))
def test_a_pool_judged_in_full_gives_ap_and_ndcg(seed):
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(rng.randint(1, 14))]
    rows = [("q", d, rng.choice("abc"), rng.choice((0, 0, 1, 2, 3))) for d in docs]
    ranking = rng.sample([*docs, "x", "y"], rng.randint(1, len(docs)))
    pairs = {
        "xinfAP": "AP", "xinfAP(rel=2)": "AP(rel=2)", "infNDCG": "nDCG(gain=linear)",
        "infNDCG(gain=exp2)@5": "nDCG@5", "infNDCG(gain={1:3,2:9,3:9})": "nDCG(gain={1:3,2:9,3:9})",
    }  # fmt: skip
    scores = leadline.evaluate({"q": ranking}, judgments(rows), [*pairs, *pairs.values()])
    for estimate, plain in pairs.items():
        value, true = scores.per_query(estimate)["q"], scores.per_query(plain)["q"]
        # xinfAP is smoothed by ε = 0.00001 a stratum; infNDCG is not.
        within = 1e-4 if estimate.startswith("xinfAP") else 1e-12
        assert (value is None and true is None) or value == pytest.approx(true, abs=within)


def test_the_mean_over_every_sample_is_near_the_truth():
    """All 20 ways to judge 3 of a stratum's 6 documents, next to a stratum judged in full."""
    truth = {"d1": 1, "d2": 0, "e1": 1, "e2": 0, "e3": 1, "e4": 0, "e5": 1, "e6": 0}
    ranking = ["d1", "e1", "e2", "d2", "e3", "e4", "e5", "e6"]
    values = []
    for drawn in itertools.combinations([d for d in truth if d.startswith("e")], 3):
        rows = [("q", d, d[0], g if d[0] == "d" or d in drawn else -1) for d, g in truth.items()]
        values.append(scored("infNDCG", rows, {"q": ranking}))
    true = leadline.evaluate({"q": ranking}, {"q": truth}, ["nDCG(gain=linear)"]).mean("nDCG(gain=linear)")
    # The gain of the list is estimated without bias, its ideal is not: the ratio is a little off.
    assert sum(values) / len(values) == pytest.approx(true, abs=0.02)


@pytest.mark.parametrize("measure", ["xinfAP", "infNDCG@10"])
def test_judgments_without_strata_are_refused(measure):
    with pytest.raises(UsageError, match="a column stratum, and grade −1"):
        leadline.evaluate(RUN, {"q": {"d1": 1}}, [measure])


def test_judgments_of_which_some_have_no_stratum_are_refused():
    rows = [*POOL, ("q", "d7", "", 1)]
    with pytest.raises(UsageError, match="1 of 7 judgments have none"):
        leadline.evaluate(RUN, judgments(rows), ["xinfAP"])


def test_a_sample_without_its_pool_is_refused():
    judged = [row for row in POOL if row[3] >= 0]
    with pytest.raises(UsageError, match="stratum b was drawn"):
        leadline.evaluate(RUN, judgments(judged, [1.0, 1.0, 0.5, 0.5]), ["xinfAP"])
    # With the pairs that were not drawn it can be scored.
    leadline.evaluate(RUN, judgments(POOL, [1.0, 1.0, 0.5, 0.5, 0.5, 0.5]), ["xinfAP"])


def test_a_pair_of_several_subtopics_keeps_its_stratum():
    frame = pl.DataFrame(
        {"query_id": ["q"] * 3, "doc_id": ["d1", "d1", "d2"], "grade": [0, 1, 0], "subtopic": ["1", "2", "1"],
         "stratum": ["a"] * 3}
    )  # fmt: skip
    got = leadline.evaluate({"q": ["d2", "d1"]}, Qrels.checked(frame), ["xinfAP"]).mean("xinfAP")
    # d1 at rank 2, d2 above it judged not relevant: 1/2.
    assert got == pytest.approx(0.5, abs=1e-5)


def test_the_unjudged_rest_is_not_said_to_count_as_not_relevant():
    alone = leadline.evaluate(RUN, judgments(POOL), ["xinfAP"]).warnings
    beside = leadline.evaluate(RUN, judgments(POOL), ["xinfAP", "P@3"]).warnings
    assert not [line for line in alone if "counts as not relevant" in line]
    assert [line for line in beside if "counts as not relevant" in line]


def test_a_comparison_of_estimates_asks_for_no_judging_first(tmp_path, capsys):
    from leadline.cli.main import run
    from leadline.formats.write import write_qrels

    rows = [(f"q{i}", doc, stratum, grade) for i in range(30) for _, doc, stratum, grade in POOL]
    write_qrels(judgments(rows), tmp_path / "q.jsonl")
    for name, docs in (("a", "d1 d3 d5"), ("b", "d5 d6 d1")):
        lines = [
            f"q{i} Q0 {d} {k} {9 - k} x" for i in range(30) for k, d in enumerate(docs.split()[i % 2 :], 1)
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    arguments = [
        "compare",
        str(tmp_path / "a.run"),
        str(tmp_path / "b.run"),
        "--qrels",
        str(tmp_path / "q.jsonl"),
    ]
    with pytest.raises(SystemExit) as ended:
        run([*arguments, "-m", "xinfAP"])
    assert not ended.value.code
    printed = capsys.readouterr().out
    assert "verdict:" in printed
    assert "judge-first" not in printed


def test_they_have_no_condensed_form():
    for text in ("xinfAP(judged_only)", "infNDCG(judged_only)", "xinfAP@10"):
        with pytest.raises(LeadlineError):
            leadline.parse(text)

"""Stratified samples of a pool: what is drawn, with which probability, and what stays unjudged."""

import math
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline
from leadline.errors import UsageError
from leadline.formats.objects import qrels_of, run_of
from leadline.judging.pool import Pool
from leadline.judging.pooling import Wish
from leadline.judging.sampling import Sample, read_rates

QUERIES = [f"q{i}" for i in range(6)]
RUN = run_of({q: [f"{q}d{i:02}" for i in range(40)] for q in QUERIES}, name="one")
OTHER = run_of({q: [f"{q}d{i:02}" for i in range(20, 50)] for q in QUERIES}, name="two")
RATES = "1-5=1,6-20=.3,21-40=.1"


def drawn(seed: int = 0, rates: str = RATES, qrels=None, runs=(RUN, OTHER)) -> Sample:
    return Sample.draw(Pool.of(list(runs), read_rates(rates)[-1].last, qrels=qrels), read_rates(rates), seed)


def test_rates_are_read():
    assert [(s.first, s.last, s.rate) for s in read_rates("1 - 10 = 1, 11-50=.3 ,51=0.05")] == [
        (1, 10, 1.0), (11, 50, 0.3), (51, 51, 0.05)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "form"), ("10", "form"), ("1-10:1", "form"), ("1-10=x", "form"), ("1-10=1.2.3", "form"),
        ("2-10=1", "begins at rank 1"), ("1-10=1,12-20=.5", "begins at rank 11"), ("1-10=1,5-20=.5", "rank 11"),
        ("1-10=1,11-9=.5", "ends there or below"), ("1-10=0", "above 0"), ("1-10=1.5", "at most 1"),
        ("1-10=1,", "form"), ("1-10=-1", "form"),
    ],
)  # fmt: skip
def test_other_rates_are_refused(text, says):
    with pytest.raises(UsageError, match=says):
        read_rates(text)


def test_each_query_gives_its_share_of_each_stratum():
    sample = drawn()
    # Best ranks of a query: d00–d39 from the first run, d20–d49 from the second at 1–30, so of 50 documents
    # ranks 1–5: d00–d04, d20–d24: 10; 6–20: 15 + 15; 21–40: d40–d49 at 21–30: 10.
    for query in range(len(QUERIES)):
        ours = sample.rows.join(sample.pool.pairs.filter(pl.col("query") == query), on="at")
        counts = {name: (part.height, part["drawn"].sum()) for (name,), part in ours.group_by("stratum")}
        assert counts == {"1-5": (10, 10), "6-20": (30, 9), "21-40": (10, 1)}
    chances = {name: set(part["probability"].to_list()) for (name,), part in sample.rows.group_by("stratum")}
    assert chances == {"1-5": {1.0}, "6-20": {0.3}, "21-40": {0.1}}


def test_at_least_one_is_drawn_and_the_probability_says_so():
    # A tenth of 4 pairs is none; one is drawn, with probability 1/4, not .1.
    run = run_of({"q": list("abcd")})
    sample = Sample.draw(Pool.of([run], 4), read_rates("1-4=.1"))
    assert sample.rows["drawn"].sum() == 1
    assert set(sample.rows["probability"].to_list()) == {0.25}


def test_the_seed_draws_and_nothing_else_does():
    first = drawn(3)
    assert drawn(3).rows.equals(first.rows)
    assert not drawn(4).rows.equals(first.rows)
    # Neither judgments nor other queries change what a query gives.
    judged = drawn(3, qrels=qrels_of({"q0": {"q0d00": 1, "q0d10": 0}}))
    assert judged.rows.equals(first.rows)
    few = [run_of({q: run.frame.filter(pl.col("query_id") == q)["doc_id"].to_list() for q in QUERIES[2:]}, name=run.name)
           for run in (RUN, OTHER)]  # fmt: skip
    smaller = drawn(3, runs=few)
    chosen = {one.pool.keys[at] for one in (first,) for at in first.rows.filter("drawn")["at"].to_list()}
    again = {smaller.pool.keys[at] for at in smaller.rows.filter("drawn")["at"].to_list()}
    assert again == {key for key in chosen if key[0] in QUERIES[2:]}


def test_every_pair_is_drawn_as_often_as_its_probability_says():
    counts: Counter[int] = Counter()
    draws = 400
    for seed in range(draws):
        counts.update(drawn(seed).rows.filter("drawn")["at"].to_list())
    rows = drawn().rows
    # Six standard deviations of a binomial share, over some 300 pairs.
    for at, chance in rows.select("at", "probability").iter_rows():
        assert abs(counts[at] / draws - chance) <= 6 * math.sqrt(chance * (1 - chance) / draws) + 1e-9


def test_what_is_drawn_is_listed_in_random_order_with_its_chances():
    sample = drawn()
    listed = sample.to_judge()
    assert len(listed) == 6 * 20
    assert all(pair.stratum and pair.probability for pair in listed)
    best = [min(pair.ranks.values()) for pair in listed]
    # Neither by rank nor by query: in the first half stand pairs of every stratum and query.
    half = listed[: len(listed) // 2]
    assert {pair.query_id for pair in half} == set(QUERIES)
    assert best != sorted(best)
    assert {pair.stratum for pair in half} == {"1-5", "6-20", "21-40"}


def test_the_pool_as_judgments():
    grades = {"q0": {f"q0d{i:02}": i % 3 for i in range(50)}}
    sample = drawn(qrels=qrels_of(grades))
    qrels = sample.qrels().frame
    assert qrels.height == sample.pool.pairs.height
    drawn_keys = {sample.pool.keys[at] for at in sample.rows.filter("drawn")["at"].to_list()}
    for query, doc, grade, stratum, chance in qrels.iter_rows():
        # A judged pair that was not drawn loses its grade.
        expected = grades.get(query, {}).get(doc, -1) if (query, doc) in drawn_keys else -1
        assert grade == expected
        assert stratum
        assert 0 < chance <= 1
    row = sample.counts()[1]
    assert (row["stratum"], row["pooled"], row["drawn"], row["judged"]) == ("6-20", 180, 54, 9)
    assert row["left_out"] == 30 - 9
    # What is judged already is not listed again.
    assert not [pair for pair in sample.to_judge() if pair.query_id == "q0"]


def test_from_the_sample_to_the_estimate():
    grades = {q: {f"{q}d{i:02}": int(i % 4 == 0) for i in range(50)} for q in QUERIES}
    full = drawn(rates="1-40=1", qrels=qrels_of(grades)).qrels()
    scores = leadline.evaluate(RUN, full, ["xinfAP", "infNDCG"])
    plain = leadline.evaluate(RUN, grades, ["AP", "nDCG(gain=linear)"])
    assert scores.mean("xinfAP") == pytest.approx(plain.mean("AP"), abs=1e-4)
    assert scores.mean("infNDCG") == pytest.approx(plain.mean("nDCG(gain=linear)"))
    values = []
    for seed in range(60):
        sampled = drawn(seed, "1-5=1,6-40=.4", qrels_of(grades)).qrels()
        values.append(leadline.evaluate(RUN, sampled, ["xinfAP"]).mean("xinfAP"))
    # The mean of 60 samples; one sample spreads by about .03 here.
    assert sum(values) / len(values) == pytest.approx(plain.mean("AP"), abs=0.02)


@settings(max_examples=30)
@given(st.integers(1, 60), st.floats(0.01, 1), st.integers(0, 99))
def test_the_number_drawn_is_the_nearest_and_at_least_one(size, rate, seed):
    run = run_of({"q": [f"d{i}" for i in range(size)]})
    sample = Sample.draw(Pool.of([run], size), read_rates(f"1-{size}={rate:.4f}"), seed)
    count = int(sample.rows["drawn"].sum())
    assert 1 <= count <= size
    assert count == 1 or abs(count - round(rate, 4) * size) <= 0.5 + 1e-9
    assert set(sample.rows["probability"].to_list()) == {count / size}


@pytest.mark.parametrize("order", ["move-to-front", "decisive"])
def test_adaptive_orders_are_refused_for_a_sample(order):
    with pytest.raises(UsageError, match="by what was found so far"):
        Wish(strata=read_rates("1-10=1"), order=order, baseline="a", candidate="b")

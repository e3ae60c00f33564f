"""Pools on real collections: what orders find first, a pool's bias, and samples of a pool judged in full."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import leadline
from leadline.conventions import Conventions
from leadline.formats.read import read_qrels, read_run
from leadline.gating.completions import scored
from leadline.hits import Judged
from leadline.judging.contribution import leave_one_out
from leadline.judging.missing import missing_of
from leadline.judging.orders import front_walk, in_turns, ranked_lists
from leadline.judging.pool import Pool, is_judged
from leadline.judging.sampling import Sample, read_rates
from leadline.ranking import rank
from leadline.spelling import parse
from leadline.tables import Qrels, Run

RULES = Conventions(duplicates="first")
DL21 = "trec_dl_human_llm/dl21"


@pytest.fixture(scope="module")
def passages(shared_data):
    paths = sorted(shared_data(f"{DL21}/runs").glob("*.run.gz"))
    runs = [read_run(path) for path in paths]
    held = [Run(pl.concat([block.load() for block in run.blocks()]), run.name) for run in runs]
    return held, read_qrels(shared_data(f"{DL21}/qrels.human.txt.gz"))


def judged_only(pool: Pool) -> Pool:
    """The pool with only what is judged: a collection judged in full."""
    known = pool.pairs.filter(is_judged())
    return replace(pool, pairs=known, entries=pool.entries.join(known.select("at"), on="at", how="semi"))


def found_after(sequence: list[int], relevant: dict[int, bool], share: float) -> float:
    first = sequence[: round(share * len(sequence))]
    return sum(relevant[at] for at in first) / sum(relevant.values())


def test_move_to_front_finds_more_than_depth_order(passages):
    pool = judged_only(Pool.of(*passages[:1], 100, RULES, passages[1]))
    # The track's own binary measures take grade 2.
    relevant = dict(zip(pool.pairs["at"].to_list(), (pool.pairs["grade"] >= 2).to_list(), strict=True))
    depth = pool.pairs.sort("best", "query", "doc_id")["at"].to_list()
    front = in_turns([list(front_walk(one, 100, relevant.__getitem__)) for one in ranked_lists(pool)])
    assert sorted(front) == sorted(depth)
    for share, more in ((0.1, 0.02), (0.25, 0.05), (0.5, 0.05)):
        assert found_after(front, relevant, share) > found_after(depth, relevant, share) + more


def test_the_bias_is_what_evaluating_without_the_documents_gives(passages):
    runs, qrels = passages
    pool = Pool.of(runs, 10, RULES, qrels)
    found = leave_one_out(runs, pool, Judged.of(qrels), parse("nDCG@10"), RULES)
    by_name = {one.system: one for one in found}
    # Those that few others resemble fall furthest; a run of many siblings hardly does.
    furthest = max(found, key=lambda one: one.fall)
    assert furthest.fall > 0.05
    assert by_name["Fast_Forward_3"].fall < 0.001
    # One of them the long way: its own documents struck from the file.
    place = pool.systems.index(furthest.system)
    own = pool.entries.filter(pl.col("system") == place)
    alone = pool.pairs.filter((pl.col("found") == 1) & is_judged()).join(own, on="at", how="semi")
    gone = {(pool.query_ids[query], doc) for query, doc in alone.select("query", "doc_id").iter_rows()}
    assert len(gone) == furthest.documents
    keep = [(q, d) not in gone for q, d in qrels.frame.select("query_id", "doc_id").iter_rows()]
    less = Qrels(qrels.frame.filter(pl.Series(keep)))
    scores = leadline.evaluate(runs, less, ["nDCG@10"])
    assert scores.mean("nDCG@10", furthest.system) == pytest.approx(furthest.without, abs=1e-12)
    means = [scores.mean("nDCG@10", run.name) for run in runs]
    assert furthest.place_without == 1 + sum(mean > furthest.without + 1e-12 for mean in means)


def test_the_estimate_of_what_is_missing_stays_below_what_is_known(passages):
    runs, qrels = passages
    known = int((qrels.frame["grade"] >= 1).sum())
    found = missing_of(Pool.of(runs, 10, RULES, qrels), known)
    assert found.found + found.elsewhere == known
    assert 0 < found.at_least < found.elsewhere


@pytest.mark.parametrize(
    ("rates", "within"),
    [
        # What is drawn, and how far the mean of 40 samples may be from the value of the pool judged in full.
        ("1-5=1,6-20=.4,21-100=.2", 0.006),
        ("1-100=.3", 0.025),
    ],
)
def test_estimates_from_samples_are_near_the_value_of_all_judgments(passages, rates, within):
    runs, qrels = passages
    pool = judged_only(Pool.of(runs, 100, RULES, qrels))
    names = pl.Series("query_id", [pool.query_ids[query] for query in pool.pairs["query"].to_list()])
    full = Judged.of(Qrels(pl.DataFrame([names, pool.pairs["doc_id"], pool.pairs["grade"]])))
    chosen = runs[::16]
    pairs = {"xinfAP": "AP", "infNDCG": "nDCG(gain=linear)"}

    def means(judged: Judged, measures) -> list[list[float]]:
        hits = [rank(run, judged, RULES) for run in chosen]
        return [[float(np.nanmean(scored(parse(m), one, RULES))) for one in hits] for m in measures]

    drawn = [
        means(Judged.of(Sample.draw(pool, read_rates(rates), seed).qrels()), pairs) for seed in range(40)
    ]
    true = np.array(means(full, pairs.values()))
    assert np.abs(np.mean(drawn, axis=0) - true).max() < within
    # A sample is a sample: single ones do spread.
    assert np.std(drawn, axis=0).min() > 0.001

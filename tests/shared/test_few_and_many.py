"""Prediction-powered intervals on TREC Deep Learning 2021: 25 of 53 queries by people, all by GPT-4o."""

import numpy as np
import polars as pl
import pytest

import leadline
from leadline.formats.read import read_qrels

FOLDER = "trec_dl_human_llm/dl21"
DRAWS, LABELLED = 10, 25


@pytest.fixture(scope="module")
def drawn(shared_data):
    """For each draw of 25 queries and every sixth run: the rows of the means, those of differences, and what 53 queries say."""
    human, model = (
        read_qrels(shared_data(f"{FOLDER}/qrels.{name}.txt.gz")) for name in ("human", "umbrela-gpt4o")
    )
    runs = [str(path) for path in sorted(shared_data(f"{FOLDER}/runs").glob("*.gz"))[::6]]
    assert len(runs) == 11
    every = leadline.evaluate(runs, human, "nDCG@10")
    first, *_ = every.systems
    ids = sorted(human.frame["query_id"].unique().to_list())
    assert len(ids) == 53
    found = {"means": [], "differences": []}
    for seed in range(DRAWS):
        kept = np.random.default_rng(seed).choice(ids, LABELLED, replace=False).tolist()
        few = leadline.Qrels.checked(human.frame.filter(pl.col("query_id").is_in(kept)))
        for kind, baseline in (("means", None), ("differences", first)):
            told = leadline.evaluate_ppi(runs, few, model, "nDCG@10", baseline=baseline).powered
            assert (told.labelled, told.unlabelled, told.without_model) == (25, 28, 0)
            for row in told.rows:
                truth = every.mean("nDCG@10", row.system)
                truth -= every.mean("nDCG@10", baseline) if baseline else 0.0
                found[kind].append((row, truth))
    return found


def holds(ends, truth: float) -> bool:
    return ends.low <= truth <= ends.high


# Mean widths by people and model, people alone and the model alone, as docs/design/model-judges.md has them.
WIDTHS = {"means": (0.168, 0.188, 0.122), "differences": (0.136, 0.156, 0.108)}


@pytest.mark.parametrize("kind", list(WIDTHS))
def test_widths_and_what_they_hold(drawn, kind: str) -> None:
    rows = drawn[kind]
    assert len(rows) == DRAWS * {"means": 11, "differences": 10}[kind]
    widths = [np.mean([getattr(row, name).width for row, _ in rows]) for name in ("both", "human", "judge")]
    assert widths == pytest.approx(WIDTHS[kind], abs=0.001)
    assert all(row.ratio < 1 for row, _ in rows)
    assert np.mean([row.ratio for row, _ in rows]) == pytest.approx(
        {"means": 0.894, "differences": 0.877}[kind], abs=0.002
    )
    assert all(row.both.n == 25 and row.judge.n == 53 and 0 < row.lam < 1 for row, _ in rows)
    # What 53 queries by people say: 95 % intervals of 25 of them hold it, the sample being part of them.
    assert np.mean([holds(row.both, truth) for row, truth in rows]) >= 0.95


def test_the_model_alone_misleads_on_means_and_not_on_differences(drawn) -> None:
    # GPT-4o gives higher grades than people to every run, so that no interval by its labels holds people's mean …
    assert not any(holds(row.judge, truth) for row, truth in drawn["means"])
    assert all(row.judge.estimate > truth for row, truth in drawn["means"])
    # … but much of that cancels between two runs. Nothing but people's labels could have shown it.
    assert all(holds(row.judge, truth) for row, truth in drawn["differences"])

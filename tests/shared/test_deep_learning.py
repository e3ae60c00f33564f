"""The official runs of TREC's Deep Learning tracks against their published scores."""

import csv
import gzip
from collections import defaultdict

import pytest

import leadline

FOLDER = "trec_dl_human_llm"
HEADER = {"runid", "topic", "all"}


def published(path) -> dict[str, dict[str, float]]:
    """run → topic → score; the header stands in the file again and again."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    with path.open() as lines:
        for run, topic, score in csv.reader(lines):
            if run not in HEADER and topic not in HEADER and topic != "amean":
                found[run][topic] = float(score)
    return found


@pytest.fixture(scope="module")
def track(shared_data):
    def load(year: str):
        runs = sorted(shared_data(f"{FOLDER}/{year}/runs").glob("*.run.gz"))
        qrels = shared_data(f"{FOLDER}/{year}/qrels.human.txt.gz")
        return {run.name.removesuffix(".run.gz"): run for run in runs}, qrels

    return load


def differing(
    scores: leadline.Scores, measure: str, expected: dict[str, dict[str, float]]
) -> tuple[int, int]:
    """How many published values there are for the scored queries, and how many are not met to 4 decimals."""
    compared = wrong = 0
    for system in scores.systems:
        values = scores.per_query(measure, system)
        for topic, value in values.items():
            compared += 1
            wrong += topic not in expected[system] or f"{value:.4f}" != f"{expected[system][topic]:.4f}"
    return compared, wrong


@pytest.mark.parametrize(
    ("switches", "wrong"),
    [({}, 0), ({"score_width": 64}, 43), ({"order": "rank"}, 346)],
    ids=["32-bit scores", "64-bit scores", "rank column"],
)
def test_ndcg_of_2021(track, shared_data, switches, wrong):
    runs, qrels = track("dl21")
    scores = leadline.evaluate(list(runs.values()), qrels, ["ndcg_cut_10"], profile="trec_eval-9", **switches)
    expected = published(shared_data(f"{FOLDER}/dl21/official_runs.ndcg_cut_10.csv"))
    assert scores.systems == list(runs)
    assert differing(scores, "ndcg_cut_10", expected) == (3339, wrong)


def test_ndcg_of_2019(track, shared_data):
    runs, qrels = track("dl19")
    scores = leadline.evaluate(list(runs.values()), qrels, ["ndcg_cut_10"], profile="trec_eval-9")
    expected = published(shared_data(f"{FOLDER}/dl19/official_runs.ndcg_cut_10.csv"))
    assert differing(scores, "ndcg_cut_10", expected) == (3 * 43, 0)


def test_compatibility_of_2021(track, shared_data):
    # The published values are of p = .9 and follow the lists for 1,000 ranks, so a list of 100 agrees to
    # .9^100 or so;
    # equal scores stand the other way round there, so queries with ties or with a short list are left out.
    runs, qrels = track("dl21")
    runs = dict(list(runs.items())[:12])
    expected = published(shared_data(f"{FOLDER}/dl21/official_runs.compatibility_human.csv"))
    scores = leadline.evaluate(list(runs.values()), qrels, ["Compat(p=0.9)"])
    compared, wrong = 0, []
    for system, path in runs.items():
        given: dict[str, list[float]] = defaultdict(list)
        with gzip.open(path, "rt") as lines:
            for line in lines:
                query, _, _, _, score, *_ = line.split()
                given[query].append(float(score))
        for query, value in scores.per_query("Compat(p=0.9)", system).items():
            if value is not None and len(given[query]) >= 90 and len(set(given[query])) == len(given[query]):
                compared += 1
                if abs(value - expected[system][query]) > 1e-4:
                    wrong.append((system, query, value, expected[system][query]))
    assert compared >= 40
    assert wrong == []

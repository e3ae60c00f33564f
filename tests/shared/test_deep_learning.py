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


def other_way_round(path) -> dict[str, dict[str, float]]:
    """A run whose equal scores are put in ascending order of ids, as the published Compat has them."""
    given: dict[str, list[tuple[float, str]]] = defaultdict(list)
    with gzip.open(path, "rt") as lines:
        for line in lines:
            query, _, document, _, score, *_ = line.split()
            given[query].append((-float(score), document))
    return {
        query: {document: -float(at) for at, (_, document) in enumerate(sorted(rows))}
        for query, rows in given.items()
    }


@pytest.mark.parametrize(("year", "count"), [("dl19", 3 * 43), ("dl21", 3339)])
def test_compatibility(track, shared_data, year, count):
    # The published values are of p = .9, follow both lists to rank 1,000 also where they are shorter, and put
    # equal scores in ascending order of ids. Of 2020 there are no runs.
    measure = "Compat(p=0.9,depth=1000)"
    files, qrels = track(year)
    runs = {name: other_way_round(path) for name, path in files.items()}
    expected = published(shared_data(f"{FOLDER}/{year}/official_runs.compatibility_human.csv"))
    scores = leadline.evaluate(runs, qrels, [measure])
    compared, wrong = 0, []
    for system in runs:
        for query, value in scores.per_query(measure, system).items():
            compared += 1
            if value is None or abs(value - expected[system][query]) > 1e-12:
                wrong.append((system, query, value, expected[system][query]))
    assert (compared, wrong) == (count, [])


def test_compatibility_under_the_rules_of_this_project(track, shared_data):
    # Equal scores in descending order of ids make 552 of the 3,339 values others. To the end of the longer list only:
    # next to none, as the lists hold 100 documents.
    files, qrels = track("dl21")
    expected = published(shared_data(f"{FOLDER}/dl21/official_runs.compatibility_human.csv"))
    scores = leadline.evaluate(list(files.values()), qrels, ["Compat(p=0.9)", "Compat(p=0.9,depth=1000)"])
    apart = {}
    for measure in scores.measures:
        away = [
            abs(value - expected[system][query])
            for system in scores.systems
            for query, value in scores.per_query(measure, system).items()
            if value is not None
        ]
        apart[measure] = (sum(one > 1e-4 for one in away), round(max(away), 3))
    assert apart == {"Compat(p=0.9)": (550, 0.142), "Compat(p=0.9,depth=1000)": (552, 0.142)}

"""Every collection of the shared folder loads with the right counts, or with an error that names its known defect."""

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import leadline
from leadline.errors import InputError, LeadlineError, RowsError
from leadline.formats.documents import read_texts
from leadline.formats.read import read_qrels, read_queries, read_run

Find = Callable[[str], Path]
TREC = "trec_eval_test"
DL = "trec_dl_human_llm"


def grades(path: Path, **given: Any) -> tuple[int, dict[float, int]]:
    """How many queries are judged, and how many pairs have each grade."""
    rows = read_qrels(path, **given).rows
    return len(set(rows.query_id.tolist())), dict(sorted(Counter(rows.number.tolist()).items()))


def counts(path: Path) -> tuple[int, int]:
    """The rows and the queries of a run."""
    rows, queries = 0, set[bytes]()
    for block in read_run(path).blocks():
        table = block.rows()
        rows += len(table.number)
        queries.update(table.query_id.tolist())
    return rows, len(queries)


JUDGMENTS: dict[str, tuple[int, dict[float, int]]] = {
    "lesson/pooled-from-A.qrels": (300, {}),
    f"{TREC}/qrels.test": (3, {0: 3120, 1: 561}),
    f"{TREC}/qrels.rel_level": (3, {-1: 304, 0: 2818, 1: 462, 2: 14, 3: 77, 4: 6}),
    f"{TREC}/qrels-302.test": (1, {0: 984, 1: 77}),
    f"{TREC}/qrels.comment.test.gz": (31, {0: 1427, 1: 2381, 2: 1515, 3: 567}),
    "codec/document_binary.qrels.gz": (42, {0: 4563, 1: 1623}),
    "codec/document_ndcg.qrels.gz": (42, {0: 4563, 1: 1207, 2: 416}),
    "codec/entity_binary.qrels.gz": (42, {0: 9294, 1: 2029}),
    "codec/entity_ndcg.qrels.gz": (42, {0: 9294, 1: 1252, 2: 777}),
    "scifact/qrels.beir-v1.0.0-scifact.test.txt": (300, {1: 339}),
    "llmjudge/llm4eval_dev_qrel_2024.txt": (25, {0: 4538, 1: 1403, 2: 625, 3: 697}),
    "llmjudge/llmjudge_test_qrel_idx.txt": (25, {0: 2005, 1: 1233, 2: 808, 3: 377}),
    f"{DL}/dl19/qrels.human.txt.gz": (43, {0: 5158, 1: 1601, 2: 1804, 3: 697}),
    f"{DL}/dl20/qrels.human.txt.gz": (54, {0: 7780, 1: 1940, 2: 1020, 3: 646}),
    f"{DL}/dl21/qrels.human.txt.gz": (53, {0: 4338, 1: 3063, 2: 2341, 3: 1086}),
}


@pytest.mark.parametrize("name", JUDGMENTS)
def test_judgments(name: str, shared_data: Find) -> None:
    queries, expected = JUDGMENTS[name]
    found = grades(shared_data(name))
    assert found[0] == queries
    assert not expected or found[1] == expected


def test_the_marks_of_rel_level_are_said(shared_data: Find) -> None:
    scores = leadline.evaluate(
        shared_data(f"{TREC}/results.test"), shared_data(f"{TREC}/qrels.rel_level"), "AP"
    )
    assert scores.account["qrels"]["grades"]["-1"] == 304


RUNS = {
    f"{TREC}/results.test": (1500, 3),
    f"{TREC}/results-302.test": (500, 1),
    f"{TREC}/results.comment.test.gz": (30100, 301),
    # Its five lines with more than six columns have a tag of several words, as every run's line may.
    f"{TREC}/results.trunc": (584, 2),
}


@pytest.mark.parametrize("name", RUNS)
def test_runs(name: str, shared_data: Find) -> None:
    assert counts(shared_data(name)) == RUNS[name]


def test_the_runs_of_the_deep_learning_tracks(shared_data: Find) -> None:
    runs = sorted(shared_data(f"{DL}/dl21/runs").glob("*.run.gz"))
    assert len(runs) == 63
    assert all(queries == 53 for _, queries in map(counts, runs[::9]))


@pytest.mark.parametrize(("year", "topics"), [("dl19", 43), ("dl20", 54), ("dl21", 53)])
def test_the_topics_of_the_deep_learning_tracks(year: str, topics: int, shared_data: Find) -> None:
    assert read_queries(shared_data(f"{DL}/{year}/topics.tsv")).frame.height == topics


@pytest.mark.parametrize(
    ("name", "total", "match"),
    [
        # Pairs with conflicting grades.
        (
            f"{TREC}/qrels.123.gz",
            91,
            "line 3686: found '301 CR93E-1860 3', but line 5 judges the same pair 0",
        ),
        (f"{DL}/dl19/qrels.umbrela-llama3.2.json.gz", 8245, "judges the same pair"),
        (f"{DL}/dl20/qrels.umbrela-llama3.2.json.gz", 9905, "judges the same pair"),
        (f"{DL}/dl21/qrels.umbrela-llama3.2.json.gz", 9667, "judges the same pair"),
        # Comments, which are ids unless --comments is given.
        (f"{TREC}/qrels.test.with-comments", 3, "line 1: found '# comment here', 3 columns"),
        (f"{TREC}/qrels.comments.123.gz", 3, "line 2: found '# a comment', 3 columns"),
        # The pairs that were to be judged, without grades.
        ("llmjudge/llm4eval_test_qrel_2024.txt", 4423, "3 columns; a judgment line has 4"),
        # Cranfield's own three columns, and the lists of NPL.
        ("cranfield/cranqrel", 1837, "line 1: found '1 184 2 ', 3 columns; a judgment line has 4"),
        ("npl_vaswani/rlv-ass", 426, "line 1: found '1', 1 columns; a judgment line has 4"),
    ],
)
def test_judgments_with_a_known_defect(name: str, total: int, match: str, shared_data: Find) -> None:
    with pytest.raises(RowsError) as caught:
        read_qrels(shared_data(name))
    assert caught.value.total == total
    assert match in str(caught.value)


def test_the_defects_give_way_to_the_rule_that_is_named(shared_data: Find) -> None:
    found = read_qrels(shared_data(f"{TREC}/qrels.123.gz"), conflicts="max")
    assert (len(found.rows.number), found.merged, found.resolved) == (3733, 6482, 147)
    assert grades(shared_data(f"{TREC}/qrels.test.with-comments"), comments=True) == (3, {0: 3120, 1: 561})


@pytest.mark.parametrize("name", ["document_bm25+rm3-tuned", "document_entity-feedback-tuned_42"])
def test_the_two_runs_of_codec_with_a_document_twice(name: str, shared_data: Find) -> None:
    path, qrels = shared_data(f"codec/runs/{name}.run.gz"), shared_data("codec/document_ndcg.qrels.gz")
    twice = {"document_bm25+rm3-tuned": 3, "document_entity-feedback-tuned_42": 2}[name]
    with pytest.raises(RowsError, match="has the same document for this query") as caught:
        leadline.evaluate(path, qrels, "RR")
    assert caught.value.total == twice
    scores = leadline.evaluate(path, qrels, "RR", duplicates="first")
    assert [one["duplicates_dropped"] for one in scores.account["systems"].values()] == [twice]


def test_the_other_runs_of_codec(shared_data: Find) -> None:
    folder = shared_data("codec/runs")
    runs = {path.name.removesuffix(".run.gz"): counts(path) for path in sorted(folder.glob("*.run.gz"))}
    assert len([name for name in runs if name.startswith("document")]) == 8
    assert len([name for name in runs if name.startswith("entity")]) == 2
    assert {queries for _, queries in runs.values()} == {42}
    # Two were ranked again after their first run's repeated documents had gone.
    short = {name: rows for name, (rows, _) in runs.items() if rows != 42000}
    assert short == {
        "document_bm25+rm3-tuned+t5-maxp": 41997,
        "document_entity-feedback-tuned+t5-maxp": 41998,
    }
    assert read_queries(shared_data("codec/topics.json")).frame.height == 42


def test_queries_of_scifact_and_llmjudge(shared_data: Find) -> None:
    assert read_queries(shared_data("scifact/topics.beir-v1.0.0-scifact.test.tsv.gz")).frame.height == 300
    assert read_queries(shared_data("llmjudge/llm4eval_query_2024.txt")).frame.height == 50
    with pytest.raises(InputError, match="a binary file, not text"):
        read_qrels(shared_data("scifact/scifact.zip"))


def test_the_label_sets_of_llmjudge(shared_data: Find) -> None:
    people = read_qrels(shared_data("llmjudge/llmjudge_test_qrel_idx.txt"))
    pairs = set(people.frame.select("query_id", "doc_id").rows())
    paths = sorted(shared_data("llmjudge/scores").glob("*.txt.gz"))
    assert len(paths) == 33
    beyond = {}
    for path in paths:
        labels = read_qrels(path)
        assert set(labels.frame.select("query_id", "doc_id").rows()) == pairs, path.name
        above = {grade for grade in labels.rows.number.tolist() if grade > 3}
        beyond |= {path.name.removesuffix(".txt.gz"): above} if above else {}
    # Labels outside the scale of 0 to 3 are read as they are: which scale is meant is the user's to say.
    assert beyond == {"RMITIR-llama70B": {5.0}, "h2oloo-zeroshot2": {10.0}}


def test_cranfields_judgments_once_they_have_four_columns(shared_data: Find, tmp_path: Path) -> None:
    """The readme's grades: 1 is best, 4 worst; −1 has no known meaning. Nothing of that is silent."""
    path = tmp_path / "cran.qrels"
    lines = [line.split() for line in shared_data("cranfield/cranqrel").read_text().splitlines()]
    path.write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in lines))
    queries, found = grades(path)
    assert (queries, sum(found.values())) == (225, 1837)
    assert found[-1] > 0
    turned = grades(path, grade_map={1: 4, 2: 3, 3: 2, 4: 1})[1]
    assert [turned[grade] for grade in (4.0, 3.0, 2.0, 1.0)] == [
        found[grade] for grade in (1.0, 2.0, 3.0, 4.0)
    ]
    scores = leadline.evaluate({"1": ["184"]}, str(path), "RR", average="intersection")
    assert scores.account["qrels"]["grades"]["-1"] == found[-1]


@pytest.mark.parametrize(
    "name", ["cranfield/cran.qry", "npl_vaswani/query-text", "codec/query_reformulations.txt"]
)
def test_queries_in_forms_of_their_own_are_refused(name: str, shared_data: Find) -> None:
    with pytest.raises(RowsError):
        read_queries(shared_data(name))


@pytest.mark.parametrize(("track", "lines"), [("dl19", 9260), ("dl20", 11386), ("dl21", 10828)])
def test_passages_of_the_deep_learning_tracks(track: str, lines: int, shared_data: Find) -> None:
    """A passage that is judged for several topics stands as often; under one id it is one text."""
    path = shared_data(f"{DL}/{track}/passages.tsv.gz")
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        ids = [line.partition("\t")[0] for line in file]
    assert len(ids) == lines
    assert len(read_texts(path)) == len(set(ids))


def test_answers_are_no_rankings(shared_data: Find) -> None:
    """RefChecker's, FaithBench's and RAGChecker's files hold claims and answers: as runs they are refused."""
    names = [
        "refchecker/accurate_context/dolly_gpt4_answers.json.gz",
        "faithbench/batch_1.json.gz",
        "ragchecker_meta/baseline_ragchecker.json.gz",
        "ragchecker_meta/human_labeled_data.json.gz",
    ]
    for name in names:
        with pytest.raises(LeadlineError, match=name.rpartition("/")[2]):
            read_run(shared_data(name))


def test_the_counts_of_answers_are_those_of_the_readme(shared_data: Find) -> None:
    """Read with the standard library: Leadline has no reader for them yet."""
    folder = shared_data("faithbench")
    samples = [
        sample
        for path in sorted(folder.glob("batch_*.json.gz"))
        for sample in json.loads(gzip.decompress(path.read_bytes()))["samples"]
    ]
    assert len(samples) == 750
    rows = json.loads(gzip.decompress(shared_data("ragchecker_meta/human_labeled_data.json.gz").read_bytes()))
    assert len(rows) == 560

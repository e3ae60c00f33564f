"""Every collection of the shared folder loads with the right counts, or with an error that names its known defect."""

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import leadline
from leadline.errors import InputError, LeadlineError, RowsError
from leadline.formats.documents import read_texts
from leadline.formats.labelled import LabelledAnswers
from leadline.formats.labelledfiles import labelled_answers
from leadline.formats.read import read_qrels, read_queries, read_run
from leadline.lint.checking import check_files

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
        # Cranfield's own three columns, whose format has to be named; the message names it.
        ("cranfield/cranqrel", 1837, "line 1: found '1 184 2 ', 3 columns; a judgment line has 4"),
        ("cranfield/cranqrel", 1837, "--qrels-format cranqrel"),
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


def test_cranfields_judgments(shared_data: Find) -> None:
    """The readme's grades: 1 is best and 4 worst; −1 has no known meaning. Nothing of that is silent."""
    path = shared_data("cranfield/cranqrel")
    qrels = read_qrels(path, input_format="cranqrel")
    queries, found = grades(path, input_format="cranqrel")
    assert (queries, found) == (225, {-1: 225, 1: 128, 2: 387, 3: 734, 4: 363})
    assert sum(found.values()) == 1837
    assert "1 is best and 4 worst, and 225 grades below 0 of no known meaning" in qrels.notes[0]
    turned = grades(path, input_format="cranqrel", grade_map={1: 4, 2: 3, 3: 2, 4: 1})[1]
    assert turned == {-1: 225, 1: 363, 2: 734, 3: 387, 4: 128}
    scores = leadline.evaluate(
        {"1": ["184"]}, str(path), "RR", qrels_format="cranqrel", average="intersection"
    )
    assert scores.account["qrels"]["grades"]["-1"] == 225


def test_cranfields_documents_and_queries(shared_data: Find) -> None:
    """Two documents are empty. The judgments mean a query's place in the file, which is not its number: to be said."""
    texts = read_texts(shared_data("cranfield/cran.all.1400.gz"))
    assert (len(texts), [name for name, text in texts.items() if not text.strip()]) == (1400, ["471", "995"])
    path = shared_data("cranfield/cran.qry")
    with pytest.raises(InputError, match=r"query 3 of the file has the number '004'\. Judgments may mean"):
        read_queries(path)
    number, ordinal = (
        read_queries(path, input_format=f"smart-{name}").frame for name in ("number", "ordinal")
    )
    assert number.height == ordinal.height == 225
    assert number["query_id"].to_list()[:3] == ["001", "002", "004"]
    assert ordinal["query_id"].to_list() == [str(place) for place in range(1, 226)]
    judged = set(read_qrels(shared_data("cranfield/cranqrel"), input_format="cranqrel").frame["query_id"])
    assert judged == set(ordinal["query_id"])
    # By number 94 of the 225 join, and nothing fails.
    assert len(judged & set(number["query_id"])) == 94


def test_npl(shared_data: Find) -> None:
    texts = read_texts(shared_data("npl_vaswani/doc-text.gz"))
    assert list(texts) == [str(number) for number in range(1, 11430)]
    assert all(text.strip() for text in texts.values())
    queries = read_queries(shared_data("npl_vaswani/query-text")).frame
    assert queries["query_id"].to_list() == [str(number) for number in range(1, 94)]
    assert queries["text"][3] == "SYSTEMS OF DATA CODING FOR INFORMATION TRANSFER"
    assert grades(shared_data("npl_vaswani/rlv-ass")) == (93, {1: 2083})
    judged = read_qrels(shared_data("npl_vaswani/rlv-ass")).frame
    assert set(judged["query_id"]) == set(queries["query_id"])
    assert set(judged["doc_id"]) <= set(texts)


def test_queries_in_a_form_of_their_own_are_refused(shared_data: Find) -> None:
    with pytest.raises(RowsError):
        read_queries(shared_data("codec/query_reformulations.txt"))


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


def answers_of(folder: Path, pattern: str) -> list[LabelledAnswers]:
    return [labelled_answers(path) for path in sorted(folder.glob(pattern))]


def summed(files: list[LabelledAnswers]) -> Counter[str]:
    return sum((Counter(one.counts()) for one in files), Counter())


def test_refchecker(shared_data: Find) -> None:
    files = answers_of(shared_data("refchecker"), "*/*.json.gz")
    assert len(files) == 21
    assert summed(files) == {"answers": 2100, "claims": 10733, "labels": 10733}
    labels = pl.concat([one.label_table() for one in files])
    assert dict(labels["label"].value_counts().iter_rows()) == {
        "Entailment": 7176, "Neutral": 2622, "Contradiction": 935,
    }  # fmt: skip
    claims = pl.concat([one.claim_table() for one in files])
    assert claims["parts"].list.len().unique().to_list() == [3]


def test_faithbench(shared_data: Find) -> None:
    files = answers_of(shared_data("faithbench"), "batch_*.json.gz")
    found = summed(files)
    assert (len(files), found["answers"], found["claims"]) == (15, 750, 2189)
    labels = pl.concat([one.label_table() for one in files])
    # Eight detectors on 750 summaries; two verdicts are null.
    verdicts = labels.filter(kind="model")
    assert (verdicts["who"].n_unique(), verdicts.height) == (8, 8 * 750 - 2)
    # Three marked passages have no label, many several.
    assert sum(len(one.unlabelled()) for one in files) == 3
    claims = pl.concat([one.claim_table() for one in files])
    assert claims["source"].drop_nulls().len() == 981


def test_ragchecker_meta(shared_data: Find) -> None:
    people = labelled_answers(shared_data("ragchecker_meta/human_labeled_data.json.gz"))
    # 280 pairs are 560 answers; two people on each pair, three aspects each.
    assert people.counts() == {"answers": 560, "claims": 0, "labels": 560 * 3}
    labels = people.label_table()
    assert labels["answer_id"].n_unique() == 280
    assert dict(labels["who"].value_counts().iter_rows()) == {"1": 280 * 3, "2": 280 * 3}
    own = labelled_answers(shared_data("ragchecker_meta/baseline_ragchecker.json.gz"))
    assert own.counts() == {"answers": 560, "claims": 0, "labels": 560 * 3}
    assert own.answers == people.answers
    # Below 0 speaks for the first answer: so say the tool's own numbers more often than not.
    scores = {(one.answer_id, one.aspect): one.value or 0.0 for one in own.labels}
    agree = 0
    for one in people.labels:
        ahead = scores[one.answer_id, one.aspect] - scores[one.other_id or "", one.aspect]
        agree += (ahead * (one.value or 0) < 0) - (ahead * (one.value or 0) > 0)
    assert agree > 0


def test_a_check_of_answers(shared_data: Find) -> None:
    folder = shared_data("ragchecker_meta")
    found = check_files([str(path) for path in sorted(folder.glob("*.gz"))])
    assert [(one.format, dict(one.answers)["answers"]) for one in found.looked] == [
        ("ragchecker-meta", 560)
    ] * 2
    assert [(one.code, one.count) for one in found.all()] == [("empty-answer", 6)] * 2
    found = check_files([str(path) for path in sorted(shared_data("faithbench").glob("*.gz"))])
    assert sum(one.count for one in found.all()) == 3
    assert {one.code for one in found.all()} == {"no-label"}

"""What a check says of the real collections: their known defects by name and number, and nothing where they are sound."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from leadline.lint.checking import check_files
from leadline.lint.finding import Findings
from shared.folder import CASES, DATA, everything_required

if not DATA.exists() and not everything_required():
    pytest.skip(f"{DATA} is absent", allow_module_level=True)


def data(name: str) -> str:
    path = DATA / name
    if not path.exists() and not everything_required():
        pytest.skip(f"{path} is absent")
    return str(path)


def said(found: Findings) -> dict[str, int]:
    return {one.code: one.count for one in found.all()}


@pytest.mark.parametrize(
    ("run", "twice"),
    [
        ("document_bm25+rm3-tuned", 3),
        ("document_entity-feedback-tuned_42", 2),
        ("document_bm25-tuned", 0),
        ("document_bm25-tuned+t5-maxp", 0),
    ],
)
def test_codec(run: str, twice: int) -> None:
    found = check_files([data(f"codec/runs/{run}.run.gz"), data("codec/document_ndcg.qrels.gz")])
    assert set(said(found)) <= {"document-twice", "judged-share"}
    assert said(found).get("document-twice", 0) == twice
    (read, _) = found.looked
    assert (read.queries, read.rows) == (42, 42_000)


def test_a_reranker_whose_top_is_judged_gives_no_warning() -> None:
    found = check_files(
        [data("codec/runs/document_bm25-tuned+t5-maxp.run.gz"), data("codec/document_ndcg.qrels.gz")]
    )
    assert found.all() == []


def test_trec_eval_files() -> None:
    found = check_files([data("trec_eval_test/qrels.rel_level")])
    assert said(found) == {"negative-grade": 304}
    # Five lines have more than six columns, which a run may have; they are the first five.
    found = check_files([data("trec_eval_test/results.trunc")])
    assert said(found) == {"more-columns": 5}
    assert [place.rpartition(":")[2] for place in found.warnings[0].examples] == ["1", "2", "3", "4", "5"]
    # Its second column tells the grades of a pair apart, so measures of subtopics take it; others ask for a rule.
    twice = check_files([data("trec_eval_test/qrels.123.gz")])
    assert twice.n_faults == 0
    assert said(twice) == {"pair-subtopics": 91, "pair-twice": 3590, "negative-grade": 912}
    comments = data("trec_eval_test/qrels.test.with-comments")
    assert {one.severity for one in check_files([comments]).all()} == {"fault"}
    assert check_files([comments], comments=True).all() == []
    assert check_files([data("trec_eval_test/results.test"), data("trec_eval_test/qrels.test")]).n_faults == 0


@pytest.mark.parametrize(
    ("name", "grade", "lines"), [("RMITIR-llama70B", "5", {2449, 3825}), ("h2oloo-zeroshot2", "10", {3187})]
)
def test_labels_off_the_scale(name: str, grade: str, lines: set[int]) -> None:
    path = data(f"llmjudge/scores/{name}.txt.gz")
    (told,) = check_files([path], grades="0-3").all()
    assert (told.code, told.count, told.line) == ("off-scale", len(lines), min(lines))
    assert told.found.split()[-1] == grade
    assert {int(place.rpartition(":")[2]) for place in told.examples} == lines
    assert check_files([path]).all() == []


def test_rows_without_a_grade_are_not_taken_for_judgments() -> None:
    path = data("llmjudge/llm4eval_test_qrel_2024.txt")
    assert list(said(check_files([path]))) == ["unknown-kind"]
    found = check_files(qrels=[path])
    assert found.n_faults == 4423
    assert next(found.faults()).found == "q49 0 p3659"


def test_deep_learning_2021() -> None:
    """24 of the 63 official runs have unjudged documents in their top 10; one run's ranks contradict its scores."""
    folder = Path(data("trec_dl_human_llm/dl21/runs"))
    qrels = data("trec_dl_human_llm/dl21/qrels.human.txt.gz")
    told: Counter[str] = Counter()
    contradicting = []
    for path in sorted(folder.glob("*.run.gz")):
        found = check_files([str(path), qrels])
        assert found.n_faults == 0
        told.update(said(found).keys())
        contradicting += [path.name for one in found.warnings if one.code == "rank-score"]
    assert told["judged-share"] == 24
    assert contradicting == ["uogTrPC.run.gz"]
    assert set(told) == {"judged-share", "rank-score", "ties-at-k"}


def test_repeated_labels_of_one_model() -> None:
    found = check_files([data("trec_dl_human_llm/dl21/qrels.umbrela-llama3.2.json.gz")])
    assert said(found)["pair-conflict"] > said(found)["pair-twice"] > 1000


def cranfield(numbers: str) -> Findings:
    """Cranfield as it lies there, with its queries known by their `number` or their `ordinal`."""
    files = [data("cranfield/cran.qry"), data("cranfield/cran.all.1400.gz")]
    qrels = data("cranfield/cranqrel")
    return check_files(
        files, qrels=[qrels], grades="1-4", qrels_format="cranqrel", input_format=f"smart-{numbers}"
    )


def test_cranfield() -> None:
    found = cranfield("number")
    by_code: dict[str, Any] = {one.code: one for one in found.all()}
    assert by_code["two-numberings"].file == data("cranfield/cranqrel")
    assert "exactly 1 to 225" in by_code["two-numberings"].message
    assert "225 numbers up to 365" in by_code["two-numberings"].message
    # The numbers have zeros before them, so the fewest join, and that is said too.
    assert "lost-zeros" in by_code
    assert (
        by_code["empty-document"].count,
        [text.split()[0] for text in by_code["empty-document"].examples],
    ) == (2, ["471", "995"])
    assert by_code["negative-grade"].count == by_code["off-scale"].count == 225
    # Joined by the place in the file, which is what the judgments mean, there is nothing of the kind.
    right = cranfield("ordinal")
    assert set(said(right)) == {"empty-document", "negative-grade", "off-scale"}
    assert [(one.queries, one.documents, one.judgments) for one in right.looked] == [
        (225, None, None), (None, 1400, None), (225, None, 1837),
    ]  # fmt: skip
    # Without a choice nothing is joined.
    assert "smart-ordinal" in next(check_files([data("cranfield/cran.qry")]).faults()).message


def test_npl() -> None:
    found = check_files([data(f"npl_vaswani/{name}") for name in ("doc-text.gz", "query-text", "rlv-ass")])
    assert [(one.documents, one.queries, one.judgments) for one in found.looked] == [
        (11429, None, None), (None, 93, None), (None, 93, 2083),
    ]  # fmt: skip
    assert set(said(found)) == {"text-twice"}


def test_lesson() -> None:
    found = check_files(
        [data("lesson/A.run.gz"), data("lesson/C.run.gz"), data("lesson/pooled-from-A.qrels")]
    )
    assert [(one.code, Path(one.file).name, one.count) for one in found.all()] == [
        ("judged-share", "C.run.gz", 300)
    ]
    assert "24% of the top 10" in found.warnings[0].message


def cases(name: str) -> dict[str, Any]:
    path = CASES / f"{name}.jsonl"
    if not path.exists() and not everything_required():
        pytest.skip(f"{path} is absent")
    return {row["id"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def one_file(tmp_path: Path, name: str, text: str | bytes) -> Findings:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return check_files([str(path)], cutoffs=[1])


def test_cases_about_judgments(tmp_path: Path) -> None:
    given = cases("judging")
    assert one_file(tmp_path, "j01.csv", given["j01"]["input"]).n_faults == 0
    judges = one_file(tmp_path, "j31.csv", given["j31"]["input"])
    # Ana and Bob differ on d2, and `evaluate` takes one grade a pair: a rule has to be named, by which the file is right.
    assert (said(judges), judges.looked[0].format) == ({"pair-conflict": 1}, "quepid-judges")
    assert check_files([str(tmp_path / "j31.csv")], cutoffs=[1], conflicts="max").n_faults == 0
    twice = one_file(tmp_path, "j31b.csv", given["j31"]["input"].replace("Bob", "Ana"))
    assert next(twice.faults()).line == 1
    # A rating of null is a fault that names query and document, never a 0.
    rows = [{"query": "q1", "ratings": [given["j33"]["input"][key] for key in ("a", "c")]}]
    null = next(one_file(tmp_path, "j33.json", json.dumps({"judgmentRatings": rows})).faults())
    assert "ratings[1]" in null.path
    assert "null" in f"{null.found} {null.message}"
    # Without a column for the query nothing is guessed.
    assert one_file(tmp_path, "j35.csv", given["j35"]["input"]).n_faults == 1
    latin = list(
        one_file(
            tmp_path, "j43.csv", b"query_id,doc_id,grade\n" + bytes.fromhex("71756572790a6dfc6c6c")
        ).faults()
    )
    assert [(one.code, one.line, one.column) for one in latin][:1] == [("encoding", 3, 2)]


def test_cases_about_runs(tmp_path: Path) -> None:
    given = cases("measures")
    nan = list(one_file(tmp_path, "nan.run", given["nan-score"]["run"]).faults())
    assert [(one.code, one.line, one.column, one.found) for one in nan] == [("number", 1, 5, "nan")]
    assert "document-twice" in said(one_file(tmp_path, "twice.run", given["duplicate-run-doc"]["run"]))
    assert one_file(tmp_path, "na.run", given["na-docid"]["run"]).all() == []
    for name in ("run", "qrels"):
        (tmp_path / f"no.{name}").write_text(given["no-overlap"][name])
    assert "no-overlap" in said(
        check_files([str(tmp_path / "no.run"), str(tmp_path / "no.qrels")], cutoffs=[1])
    )
    # Every other run and every judgment of the cases can stand: none is called wrong. A document that stands twice needs a
    # rule too (--duplicates first).
    wrong = {
        (name, part)
        for name, one in given.items()
        for part in ("run", "qrels")
        if one.get(part) and one_file(tmp_path, f"{part}.txt", one[part]).n_faults
    }
    assert wrong == {("nan-score", "run"), ("duplicate-run-doc", "run")}


def test_cases_about_rag(tmp_path: Path) -> None:
    given = cases("rag")["contexts-as-string"]["input"]["retrieved_contexts"]
    row = {"query_id": "q1", "user_input": "who", "retrieved_context_ids": given}
    (fault,) = one_file(tmp_path, "rag.jsonl", json.dumps(row)).faults()
    assert (fault.code, fault.line, fault.found) == ("list", 1, "['a', 'b']")
    assert "retrieved_context_ids is a list" in fault.message

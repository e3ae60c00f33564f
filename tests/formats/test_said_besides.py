"""What a file of another tool says besides its rows: that a model made the labels, and what belongs to none of our tables."""

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import InputError
from leadline.formats.conversion import Request, planned
from leadline.formats.read import read_qrels, read_queries
from leadline.judging.exchange import read_judgments
from shared.command import leadline

RATINGS = [
    {"query": "red shoes", "ratings": [{"docId": "d1", "rating": "3"}, {"docId": "d2", "rating": "0"}]}
]
MADE = {"name": "m", "type": "LLM_JUDGMENT", "metadata": {"modelId": "judge-1"}, "judgmentRatings": RATINGS}


def saved(folder: Path, value: Any, name: str = "x.json") -> str:
    (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return str(folder / name)


def answer(*lists: dict[str, Any]) -> dict[str, Any]:
    """As the API answers a search for lists."""
    return {"took": 1, "hits": {"hits": [{"_id": str(n), "_source": one} for n, one in enumerate(lists)]}}


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(("named", "model"), [({"modelId": "judge-1"}, "judge-1"), ({}, "unnamed model")])
def test_labels_of_a_models_list_are_a_models(
    wrapped: bool, named: dict[str, str], model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {**MADE, "metadata": named}
    path = saved(tmp_path, answer(one) if wrapped else one)
    qrels = read_qrels(path)
    assert (qrels.models, [judge.model for judge in qrels.judges]) == (2, [model])
    (tmp_path / "a.run").write_text("red shoes\t".replace(" ", "_") + "Q0 d1 1 1 a\n")
    (tmp_path / "q.jsonl").write_text('{"query_id": "red_shoes", "text": "red shoes"}\n')
    queries = ["--queries", str(tmp_path / "q.jsonl")]
    _, out, _ = leadline(capsys, "evaluate", str(tmp_path / "a.run"), "--qrels", path, "-m", "RR", *queries)
    assert f"uncertified: labels of {model}" in out
    # They stay a model's on the way into another file, and into a book.
    assert leadline(capsys, "convert", path, str(tmp_path / "b.qrels"), "--to", "trec", *queries)[0] == 0
    again = read_qrels(tmp_path / "b.qrels")
    assert (again.models, [judge.model for judge in again.judges]) == (2, [model])
    rows = read_judgments(path).rows
    assert {(row.kind, row.who, (row.model or {})["model"]) for row in rows} == {("model", model, model)}


def test_a_list_that_people_made_is_no_models(tmp_path: Path) -> None:
    path = saved(tmp_path, {**MADE, "type": "IMPORT_JUDGMENT"})
    assert read_qrels(path).models == 0
    assert {row.kind for row in read_judgments(path, who="ana").rows} == {"person"}
    assert planned(Request(path, str(tmp_path / "o.json"), "opensearch")).card is None


def test_ratings_from_clicks_are_said_to_be_so(tmp_path: Path) -> None:
    path = saved(tmp_path, {**MADE, "type": "UBI_JUDGMENT"})
    assert any("made from clicks" in note for note in read_qrels(path).notes)
    assert {row.kind for row in read_judgments(path, who="shop").rows} == {"unstated"}
    plan = planned(Request(path, str(tmp_path / "o.jsonl"), "jsonl"))
    assert any("made from clicks" in note for note in plan.notes)


def test_two_lists_in_one_file_are_not_put_together(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2 judgment lists \(m and other\); give each its own file"):
        read_qrels(saved(tmp_path, answer(MADE, {**MADE, "name": "other"})))
    sets = [{"id": name, "querySetQueries": [{"queryText": name}]} for name in ("a", "b")]
    with pytest.raises(InputError, match=r"2 query sets \(a and b\); give each its own file"):
        read_queries(saved(tmp_path, answer(*sets)))


def test_the_name_of_a_list_goes_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path, {**MADE, "type": "IMPORT_JUDGMENT"})
    leadline(capsys, "convert", path, str(tmp_path / "o.json"), "--to", "opensearch")
    assert json.loads((tmp_path / "o.json").read_text())["name"] == "m"


BESIDE: dict[str, tuple[Any, str]] = {
    "rank_eval": (
        {"requests": [{"id": "q", "request": {"query": {}}, "params": {}, "ratings": [
            {"_index": "shop", "_id": "d", "rating": 1}]}], "metric": {"dcg": {}}},
        "not read: request, _index, metric",
    ),
    "rank_eval-response": (
        {"metric_score": 0.5, "details": {"q": {"metric_score": 0.5, "unrated_docs": [], "hits": [
            {"hit": {"_index": "i", "_id": "d", "_score": 1}, "rating": 1}]}}, "failures": {}},
        "not read: metric_score",
    ),
    "rre": (
        {"index": "i", "topics": [{"query_groups": [{"name": "g", "queries": [
            {"template": "t.json", "placeholders": {"$query": "q"}}], "relevant_documents": {"d": {"gain": 1}}}]}]},
        "not read: index, template",
    ),
    "opensearch": (
        {"judgmentRatings": [{"query": "q", "lang": "en", "ratings": [{"docId": "d", "rating": "1", "why": "x"}]}]},
        "not read: lang, why",
    ),
    "opensearch-results": (
        [{"searchText": "q", "documentIds": ["d"], "judgmentList": ["1"], "metrics": []}],
        "not read: judgmentList",
    ),
    "quepid-book": (
        {"name": "b", "scorer": {"id": 1}, "query_doc_pairs": [
            {"query_text": "q", "doc_id": "d", "position": 1, "judgements": [{"rating": 1, "user_name": "a"}]}]},
        "not read: scorer, position",
    ),
    "quepid-json": (
        {"case": 7, "queries": [{"query": "q", "ratings": {"d": 1}, "arranged_at": 1}]},
        "not read: case, arranged_at",
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", BESIDE)
def test_what_belongs_to_no_table_is_said_before_it_is_left_behind(form: str, tmp_path: Path) -> None:
    value, said = BESIDE[form]
    plan = planned(Request(saved(tmp_path, value), str(tmp_path / "out.csv"), "csv", input_format=form))
    assert any(note.endswith(f": {said}") for note in plan.notes), plan.notes

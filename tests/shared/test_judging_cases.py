"""The collected cases about judgments as scores see them: what is judged, ids, texts, and files that do not say enough."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import leadline
from leadline.errors import InputError, LeadlineError
from leadline.formats.read import read_qrels, read_queries
from leadline.formats.write import write_qrels
from leadline.judging.exchange import read_judgments
from leadline.tables import Qrels
from shared.folder import CASES, everything_required

if not CASES.exists() and not everything_required():
    pytest.skip(f"{CASES} is absent", allow_module_level=True)

KNOWN = {
    row["id"]: row
    for row in map(json.loads, (CASES / "judging.jsonl").read_text(encoding="utf-8").splitlines())
}


def value(run: list[str], judged: dict[str, Any], measure: str, **more: Any) -> float:
    scores = leadline.evaluate({"q": run}, {"q": judged}, measure, **more)
    return float(scores.mean(scores.measures[0]))


def test_the_ideal_list_holds_every_judged_document() -> None:
    case = KNOWN["j10"]["input"], KNOWN["j10"]["expected"]
    for name in ("run_a", "run_b"):
        found = value(case[0][name], case[0]["judged"], f"nDCG@{case[0]['k']}")
        assert found == pytest.approx(case[1][name], abs=5e-6)
    assert value(case[0]["run_a"], case[0]["judged"], "nDCG@10") != pytest.approx(case[1]["es_old_run_a"])


def test_the_ideal_list_is_cut_where_the_measure_is() -> None:
    case, expected = KNOWN["j11"]["input"], KNOWN["j11"]["expected"]
    assert value(case["run"], case["judged"], "nDCG@10") == expected["standard_ndcg_at_10"]
    assert value(case["run"], case["judged"], "nDCG") == pytest.approx(expected["full_ideal"], abs=5e-6)


def test_a_document_twice_is_refused_or_counted_once() -> None:
    case = KNOWN["j12"]["input"]
    with pytest.raises(LeadlineError):
        value(case["run"], case["judged"], "nDCG@10")
    assert value(case["run"], case["judged"], "nDCG@10", duplicates="first") == 1.0


def test_precision_divides_by_k() -> None:
    case, expected = KNOWN["j13"]["input"], KNOWN["j13"]["expected"]
    assert value(case["run"], dict.fromkeys(case["relevant"], 1), f"P@{case['k']}") == expected["standard"]


def test_an_unjudged_document_stops_nobody_in_err() -> None:
    case, expected = KNOWN["j15"]["input"], KNOWN["j15"]["expected"]
    found = value(case["run"], case["gains"], f"ERR(max_grade={case['max_grade']})@10")
    assert found == pytest.approx(expected["unjudged_as_0"], abs=5e-6)


def test_judged_names_its_denominator() -> None:
    case, expected = KNOWN["j17"]["input"], KNOWN["j17"]["expected"]
    judged = dict.fromkeys(case["judged"], 1)
    assert value(case["run"], judged, "Judged@10") == expected["judged_over_returned"]
    assert value(case["run"], judged, "Judged(over=k)@10") == expected["judged_over_k"]


def test_a_failed_query_is_apart_from_an_empty_one(tmp_path: Path) -> None:
    expected = KNOWN["j36"]["expected"]
    rows = []
    for place, answer in enumerate(KNOWN["j36"]["input"]):
        row: dict[str, Any] = {"query_id": f"q{place}"}
        row |= {"retrieved_ids": answer["hits"]} if answer["status"] == 200 else {"error": "status 500"}
        rows.append(json.dumps(row))
    (tmp_path / "rows.jsonl").write_text("\n".join(rows) + "\n")
    qrels = {f"q{place}": {"d1": 1} for place in range(len(rows))}
    scores = leadline.evaluate(str(tmp_path / "rows.jsonl"), qrels, "RR")
    found = scores.summary("RR")
    assert (found.n_unanswered + found.n_scored, found.n_error) == (2, expected["errors"])
    assert scores.per_query("RR") == {"q0": expected["metric_for_empty"], "q1": None, "q2": 1.0}


def test_ids_of_any_text_come_back(tmp_path: Path) -> None:
    ids = KNOWN["j41"]["input"]
    frame = pl.DataFrame({"query_id": ["q"] * len(ids), "doc_id": ids, "grade": [1.0] * len(ids)})
    table = Qrels.checked(frame)
    for name in ("a.csv", "a.jsonl", "a.parquet", "a.tsv"):
        write_qrels(table, tmp_path / name)
        assert read_qrels(tmp_path / name).frame["doc_id"].to_list() == ids
    with pytest.raises(LeadlineError, match="id with space"):
        write_qrels(table, tmp_path / "a.qrels")


def test_text_in_another_encoding_is_refused_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_bytes(bytes.fromhex(KNOWN["j43"]["input"]["bytes_hex"]))
    with pytest.raises(InputError, match="line 2"):
        read_queries(tmp_path / "q.csv")


def test_query_texts_are_kept_apart_by_case(tmp_path: Path) -> None:
    texts = KNOWN["j44"]["input"]
    rows = [f'"{text}",d,1' for text in texts]
    (tmp_path / "a.csv").write_text("query,docid,rating\n" + "\n".join(rows) + "\n")
    found = read_judgments(tmp_path / "a.csv", who="ana").rows
    assert [row.query_id for row in found] == texts
    assert len(set(texts)) == KNOWN["j44"]["expected"]["queries"]


def test_a_judgment_follows_the_document() -> None:
    case = KNOWN["j49"]
    doc, grade = case["input"]["label"]
    found = [value(case["input"][name], {doc: grade}, "P@2") for name in ("trace1", "trace2")]
    assert found == [0.5, 0.5]
    # dA stands second (from 0: at 1) in the second list, with its grade.
    assert case["input"]["trace2"][1] == doc and case["expected"]["trace2_position_1"] == grade
    assert value(case["input"]["trace2"], {doc: grade}, "RR") == 0.5


def test_judgments_without_a_query_are_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(KNOWN["j35"]["input"])
    with pytest.raises(LeadlineError, match="query"):
        read_qrels(tmp_path / "a.csv")

"""The JSON and CSV of scores: their shape, and what must never stand in them."""

import csv
import dataclasses
import importlib.metadata
import io
import json

import numpy as np
import pytest

from leadline.report import wording
from leadline.report.csv_text import csv_text
from leadline.report.json_text import json_text


def strictly(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


KEYS = ["leadline", "command", "seed", "profile", "conventions", "inputs", "account", "warnings", "results"]


def test_json_has_the_documented_shape_in_order(one):
    document = strictly(json_text(one, "evaluate"))
    assert list(document) == KEYS
    assert document["command"] == "evaluate"
    assert (document["seed"], document["profile"]) == (7, "leadline-1")
    assert document["conventions"] == one.conventions
    assert document["inputs"] == [{"path": "qrels.txt", "sha256": "ab" * 32, "rows": 12}]
    assert document["account"] == one.account
    assert document["warnings"] == ["only 4 queries: estimates, no verdict"]
    assert document["results"] == [row.to_dict() for row in one.summaries]


def test_json_gives_the_values_only_where_asked_for(one):
    document = strictly(json_text(one, "evaluate", per_query=True))
    assert list(document) == [*KEYS, "per_query"]
    assert document["per_query"][:4] == [
        {"system": "bm25", "measure": "nDCG@10", "query_id": "q1", "value": 0.5, "state": "scored"},
        {"system": "bm25", "measure": "nDCG@10", "query_id": "q2", "value": None, "state": "undefined"},
        {"system": "bm25", "measure": "nDCG@10", "query_id": "q3", "value": 0.0, "state": "unanswered"},
        {"system": "bm25", "measure": "nDCG@10", "query_id": "q4", "value": None, "state": "error"},
    ]


def test_json_knows_no_nan_and_no_infinity(one, make):
    _, summary = make
    row = summary("bm25", "AP", float("nan"), float("-inf"), np.float64("inf"), n_queries=np.int64(3))
    account = {"qrels": {"queries": np.int64(3)}, "systems": {"bm25": {"judged_at": {10: float("nan")}}}}
    document = strictly(json_text(dataclasses.replace(one, summaries=(row,), account=account), "evaluate"))
    result = document["results"][0]
    assert (result["mean"], result["low"], result["high"], result["n_queries"]) == (None, None, None, 3)
    assert document["account"]["systems"]["bm25"]["judged_at"] == {"10": None}


def test_json_is_in_full_precision_and_utf8(one, make):
    cell, summary = make
    third = 1 / 3
    scores = dataclasses.replace(
        one,
        cells=(cell("süß", "AP", [third], ids=["числа\u2028"]),),
        summaries=(summary("süß", "AP", third),),
        inputs=({"path": "bad\udcff.txt", "sha256": "", "rows": 1},),
    )
    text = json_text(scores, "evaluate", per_query=True)
    document = strictly(text.encode().decode())
    assert "süß" in text
    assert document["results"][0]["mean"] == third
    assert document["per_query"][0] == {
        "system": "süß", "measure": "AP", "query_id": "числа\u2028", "value": third, "state": "scored",
    }  # fmt: skip
    assert document["inputs"][0]["path"] == "bad\\udcff.txt"


def test_the_version_is_stated_also_where_nothing_is_installed(monkeypatch, one):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    assert wording.tool_version() == "0+unknown"
    assert strictly(json_text(one, "evaluate"))["leadline"] == "0+unknown"


def test_csv_has_one_row_a_summary(one):
    rows = list(csv.DictReader(io.StringIO(csv_text(one))))
    assert len(rows) == 3
    assert (rows[0]["mean"], rows[0]["low"], rows[0]["n_undefined"]) == ("0.25", "-0.1", "1")
    assert (rows[1]["low"], rows[1]["interval"], rows[1]["group"]) == ("", "t", "")


def test_csv_has_one_row_a_value_and_empty_where_there_is_none(one):
    assert csv_text(one, per_query=True).splitlines()[:5] == [
        "system,measure,query_id,value,state",
        "bm25,nDCG@10,q1,0.5,scored",
        "bm25,nDCG@10,q2,,undefined",
        "bm25,nDCG@10,q3,0.0,unanswered",
        "bm25,nDCG@10,q4,,error",
    ]


@pytest.mark.parametrize("query_id", ["a,b", 'say "hi"', "two\nlines", "007", "=1+1"])
def test_csv_keeps_ids_to_the_letter(one, make, query_id):
    cell, _ = make
    scores = dataclasses.replace(one, cells=(cell("A", "AP", [0.1], ids=[query_id]),))
    rows = list(csv.DictReader(io.StringIO(csv_text(scores, per_query=True), newline="")))
    assert rows == [{"system": "A", "measure": "AP", "query_id": query_id, "value": "0.1", "state": "scored"}]

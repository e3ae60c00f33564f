"""Files of labelled answers, on invented ones: what the tables hold, what is refused, and what becomes rows of queries."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import InputError, RowsError, UsageError
from leadline.formats.carrying import carried_out
from leadline.formats.conversion import Request, planned
from leadline.formats.labelled import Answer, LabelledAnswers, held_of_answers
from leadline.formats.labelledfiles import labelled_answers
from leadline.formats.read import read_queries, read_run
from leadline.lint.checking import check_files

UNTIMED = settings(deadline=None, max_examples=50)


def refchecker() -> list[dict[str, Any]]:
    return [
        {
            "id": "q7",
            "response": "Kites are red and fly.",
            "m_response_kg": [
                {"triplet": ["kites", "are", "red"], "human_label": "Contradiction"},
                {"triplet": ["kites", "do", "fly"], "human_label": "Entailment"},
            ],
        },
        {"id": 8, "response": "I do not know.", "m_response_kg": []},
    ]


def faithbench() -> dict[str, Any]:
    marked = {
        "annot_id": 1, "annotator_id": "ana", "label": ["Unwanted", "Unwanted.Intrinsic"], "note": "not said",
        "summary_span": "ré", "summary_start": 2, "summary_end": 4, "source_span": "blue", "source_start": 4, "source_end": 8,
    }  # fmt: skip
    bare = {
        **marked,
        "annotator_id": "ben",
        "label": [],
        "source_span": None,
        "source_start": None,
        "source_end": None,
    }
    return {
        "samples": [
            {
                "sample_id": 0, "source": "it: blue.", "summary": "a ré kite", "annotations": [marked, bare],
                "metadata": {"summarizer": "m1", "raw_sample_id": 3, "detector": 0.25, "other": None},
            },
            {"sample_id": 1, "source": "", "summary": "b", "annotations": [], "metadata": {"summarizer": "m2", "detector": 1}},
        ]
    }  # fmt: skip


def ragchecker(people: bool = True) -> list[dict[str, Any]]:
    def model(name: str, text: str) -> dict[str, Any]:
        scores = {} if people else {"ragchecker": {"correctness_label": 0.5, "overall_label": 0}}
        return {"model_name": name, "response": text, "critiques": "c", **scores}

    row = {
        "instance_id": 0, "dataset": "kites", "query_id": "41", "query": "why?", "gt_answer": "wind",
        "model1": model("a", "the wind"), "model2": model("b", ""),
    }  # fmt: skip
    if not people:
        return [row]
    said = {"correctness_label": -2, "completeness_label": 1, "overall_label": 0}
    return [{**row, **said}, {**row, **said, "overall_label": -1}]


MARKS, AT = ("samples", 0, "annotations"), "samples[0].annotations"


def put(folder: Path, value: Any, name: str = "answers.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def test_refchecker(tmp_path: Path) -> None:
    found = labelled_answers(put(tmp_path, refchecker()))
    assert found.counts() == {"answers": 2, "claims": 2, "labels": 2}
    assert found.answer_table().select("answer_id", "text", "question", "line").rows() == [
        ("q7", "Kites are red and fly.", None, 1),
        ("8", "I do not know.", None, 2),
    ]
    assert found.claim_table().select("answer_id", "claim", "text", "parts", "start").rows() == [
        ("q7", 1, "kites are red", ["kites", "are", "red"], None),
        ("q7", 2, "kites do fly", ["kites", "do", "fly"], None),
    ]
    assert found.label_table().select("claim", "kind", "aspect", "label", "who").rows() == [
        (1, "person", "entailment", "Contradiction", None),
        (2, "person", "entailment", "Entailment", None),
    ]
    assert found.notes == ("claims taken out by m",)


def test_faithbench(tmp_path: Path) -> None:
    found = labelled_answers(put(tmp_path, faithbench()))
    # Two verdicts of the detector that has any, and two labels of the one passage that has any.
    assert found.counts() == {"answers": 2, "claims": 2, "labels": 4}
    answers = found.answer_table().select("answer_id", "text", "system", "contexts").rows()
    assert answers == [("0", "a ré kite", "m1", ["it: blue."]), ("1", "b", "m2", [""])]
    assert found.claim_table().select("text", "start", "end", "source", "source_start", "source_end").rows() == [
        ("ré", 2, 4, "blue", 4, 8), ("ré", 2, 4, None, None, None),
    ]  # fmt: skip
    assert found.label_table().select(
        "answer_id", "claim", "kind", "aspect", "label", "value", "who", "note"
    ).rows() == [
        ("0", None, "model", "faithful", None, 0.25, "detector", ""),
        ("0", 1, "person", "faithfulness", "Unwanted", None, "ana", "not said"),
        ("0", 1, "person", "faithfulness", "Unwanted.Intrinsic", None, "ana", "not said"),
        ("1", None, "model", "faithful", None, 1.0, "detector", ""),
    ]
    assert [(one.answer_id, one.claim) for one in found.unlabelled()] == [("0", 2)]
    assert found.notes == ("1 verdict of detectors missing: null",)


def test_ragchecker(tmp_path: Path) -> None:
    found = labelled_answers(put(tmp_path, ragchecker()))
    # Two people on one pair, three aspects each; the two answers stand in both rows and are two.
    assert found.counts() == {"answers": 2, "claims": 0, "labels": 6}
    first = found.answers[0]
    assert (first.answer_id, first.query_id, first.collection, first.question, first.reference, first.system) == (
        "0/model1", "41", "kites", "why?", "wind", "a",
    )  # fmt: skip
    assert found.label_table().select("answer_id", "other_id", "who", "aspect", "value").rows()[2::3] == [
        ("0/model1", "0/model2", "1", "overall", 0.0),
        ("0/model1", "0/model2", "2", "overall", -1.0),
    ]
    own = labelled_answers(put(tmp_path, ragchecker(people=False)))
    assert own.counts() == {"answers": 2, "claims": 0, "labels": 4}
    assert {(one.kind, one.who, one.aspect, one.value) for one in own.labels} == {
        ("model", "ragchecker", "correctness", 0.5), ("model", "ragchecker", "overall", 0.0),
    }  # fmt: skip


def test_a_check_counts_them(tmp_path: Path) -> None:
    paths = [
        str(put(tmp_path, made, f"{n}.json"))
        for n, made in enumerate((refchecker(), faithbench(), ragchecker()))
    ]
    found = check_files(paths)
    assert [(one.format, one.kinds, dict(one.answers)) for one in found.looked] == [
        ("refchecker", ("answers",), {"answers": 2, "claims": 2, "labels": 2}),
        ("faithbench", ("answers",), {"answers": 2, "claims": 2, "labels": 4}),
        ("ragchecker-meta", ("answers",), {"answers": 2, "claims": 0, "labels": 6}),
    ]
    assert [(one.code, one.file, one.examples) for one in found.all()] == [
        ("no-label", paths[1], ("0, claim 2",)),
        ("empty-answer", paths[2], ("0/model2",)),
    ]


def test_as_rows_of_queries_with_what_is_left_out(tmp_path: Path) -> None:
    conversion = planned(Request(str(put(tmp_path, refchecker())), str(tmp_path / "a.jsonl")))
    assert (
        conversion.lost["claims"]
        == "jsonl loses 2 claims: left out but for their number, as each row is an answer"
    )
    assert conversion.lost["labels"] == "jsonl loses 2 labels: left out"
    carried_out(conversion)
    assert [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()] == [
        {
            "query_id": "q7",
            "answer": "Kites are red and fly.",
            "claims": 2,
            "claims_Contradiction": 1,
            "claims_Entailment": 1,
        },
        {
            "query_id": "8",
            "answer": "I do not know.",
            "claims": 0,
            "claims_Contradiction": 0,
            "claims_Entailment": 0,
        },
    ]
    rows = read_queries(put(tmp_path, ragchecker())).frame.drop("row").rows(named=True)
    assert rows[0] == {
        "query_id": "0/model1", "text": "why?", "answer": "the wind", "gold_answer": "wind", "system": "a", "of_query": "41",
        "collection": "kites",
    }  # fmt: skip
    assert [row["system"] for row in rows] == ["a", "b"]
    conversion = planned(Request(str(put(tmp_path, faithbench())), str(tmp_path / "b.jsonl")))
    assert conversion.lost["labels"] == "jsonl loses 4 labels: left out"
    carried_out(conversion)
    frame = read_queries(tmp_path / "b.jsonl").frame
    assert frame.select("query_id", "answer", "system", "context").rows() == [
        ("0", "a ré kite", "m1", "it: blue."), ("1", "b", "m2", ""),
    ]  # fmt: skip


def test_several_contexts_are_no_column() -> None:
    held = held_of_answers(LabelledAnswers((Answer("a", "red", contexts=("one", "two")),)))
    assert "context" not in held.asked[0].more
    assert held.left["contexts"] == 2


def changed(value: Any, path: list[Any], to: Any) -> Any:
    place = value
    for key in path[:-1]:
        place = place[key]
    if to is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return value


@pytest.mark.parametrize(
    ("value", "path", "to", "where", "said"),
    [
        (refchecker(), [0, "m_response_kg", 1, "human_label"], "entailment", "[0].m_response_kg[1].human_label", "one of Ent"),
        (refchecker(), [0, "m_response_kg", 0, "triplet"], ["a", "b"], "[0].m_response_kg[0].triplet", "three texts"),
        (refchecker(), [1, "id"], "q7", "[1].id", "stands once"),
        (refchecker(), [1, "n_response_kg"], [], "[1]", "one field of claims"),
        (refchecker(), [0, "response"], None, "[0].response", "must not be null"),
        (faithbench(), [*MARKS, 0, "summary_end"], 5, f"{AT}[0].summary_span", "characters 2 to 5"),
        (faithbench(), [*MARKS, 0, "source_start"], 0, f"{AT}[0].source_span", "characters 0 to 8"),
        (faithbench(), [*MARKS, 1, "summary_start"], -1, f"{AT}[1].summary_span", "characters -1"),
        (faithbench(), [*MARKS, 0, "annotator_id"], KeyError, f"{AT}[0]", "annotator_id"),
        (faithbench(), ["samples", 0, "metadata", "detector"], "high", "samples[0].metadata.detector", "number"),
            (ragchecker(), [1, "overall_label"], 3, "[1].overall_label", "from -2 to 2"),
        (ragchecker(), [1, "overall_label"], True, "[1].overall_label", "whole number"),
        (ragchecker(), [1, "model2", "response"], "other", "[1].model2", "the same answer as before"),
        (ragchecker(), [0, "model1", "model_name"], 7, "[0].model1.model_name", "is text"),
    ],
)  # fmt: skip
def test_what_cannot_stand(
    value: Any, path: list[Any], to: Any, where: str, said: str, tmp_path: Path
) -> None:
    form = (
        "faithbench"
        if isinstance(value, dict)
        else "refchecker"
        if "response" in value[0]
        else "ragchecker-meta"
    )
    # The parameters are made once and changed in a copy.
    bad = put(tmp_path, changed(json.loads(json.dumps(value)), path, to))
    with pytest.raises(RowsError) as caught:
        labelled_answers(bad, form)
    assert (caught.value.total, caught.value.faults[0].path) == (1, where)
    assert said in str(caught.value)
    assert check_files([str(bad)]).n_faults == 1


def test_other_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file of labelled answers"):
        labelled_answers(put(tmp_path, {"q": {"d": 1}}))
    with pytest.raises(UsageError, match="holds queries, not a run"):
        read_run(put(tmp_path, refchecker()))
    for value, form in (({"samples": {}}, "faithbench"), ({}, "refchecker"), ("text", "ragchecker-meta")):
        with pytest.raises(RowsError, match=r"a list|an object"):
            labelled_answers(put(tmp_path, value), form)
    with pytest.raises(InputError, match="no answers in it"):
        labelled_answers(put(tmp_path, []), "refchecker")


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
LABELS = st.sampled_from(["Entailment", "Neutral", "Contradiction"])
CLAIM = st.tuples(TEXT, TEXT, TEXT, LABELS)


@UNTIMED
@given(st.lists(st.tuples(TEXT, st.lists(CLAIM, max_size=4)), min_size=1, max_size=5))
def test_whatever_answers_and_claims_there_are_they_are_in_the_tables(
    given_answers: list[tuple[str, list[Any]]],
) -> None:
    value = [
        {
            "id": str(n),
            "response": text,
            "m_response_kg": [{"triplet": list(parts), "human_label": label} for *parts, label in claims],
        }
        for n, (text, claims) in enumerate(given_answers)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = put(Path(folder), value)
        found = labelled_answers(path)
        rows = read_queries(path).frame
    assert (
        found.answer_table()["text"].to_list()
        == [text for text, _ in given_answers]
        == rows["answer"].to_list()
    )
    claims = [
        (str(n), k, parts, label)
        for n, (_, mine) in enumerate(given_answers)
        for k, (*parts, label) in enumerate(mine, 1)
    ]
    assert found.claim_table().select("answer_id", "claim", "parts").rows() == [one[:3] for one in claims]
    assert found.label_table()["label"].to_list() == [one[3] for one in claims]
    if claims:
        assert rows["claims"].sum() == len(claims)


@UNTIMED
@given(TEXT.filter(bool), TEXT, st.data())
def test_every_passage_is_the_text_of_its_characters(summary: str, source: str, data: st.DataObject) -> None:
    spans = []
    for _ in range(data.draw(st.integers(0, 4))):
        a, b = sorted(data.draw(st.tuples(st.integers(0, len(summary)), st.integers(0, len(summary)))))
        spans.append({
            "annotator_id": "ana", "label": ["Benign"], "note": None,
            "summary_span": summary[a:b], "summary_start": a, "summary_end": b,
        })  # fmt: skip
    sample = {"sample_id": 1, "source": source, "summary": summary, "annotations": spans, "metadata": {}}
    with tempfile.TemporaryDirectory() as folder:
        found = labelled_answers(put(Path(folder), {"samples": [sample]}))
    rows = found.claim_table().select("text", "start", "end").rows()
    assert rows == [(one["summary_span"], one["summary_start"], one["summary_end"]) for one in spans]
    assert all(summary[start:end] == text for text, start, end in rows)

"""The collected cases about replies of judges, as a model judge meets them: never a grade that was not given."""

import json
from typing import Any

import pytest

from leadline.judging.autojudge import Asking, AutoJudged, Item, batches_of, judge_pairs
from leadline.judging.prompt import shipped_prompt
from leadline.models.stub import Stub
from shared.folder import CASES, everything_required

if not CASES.exists() and not everything_required():
    pytest.skip(f"{CASES} is absent", allow_module_level=True)

KNOWN: dict[str, Any] = {
    row["id"]: row
    for name in ("rag", "judging")
    for row in map(json.loads, (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())
}
PROMPT = shipped_prompt()


def entry(name: str, grade: int) -> dict[str, Any]:
    return {"id": name, "match": 1, "trust": 1, "grade": grade}


def reply(*entries: dict[str, Any]) -> str:
    return json.dumps({"intent": "", "passages": list(entries)})


def one(text: str) -> AutoJudged:
    return judge_pairs(Stub(text), [Item("q", "d", "how?", "text")], PROMPT)


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("umbrela-scale-echo", "judge_text", "grade"),
        ("rating-lowest-digit", "judge_text", None),
        ("planted-score", "stub_judge_text", "rating"),
    ],
)
def test_prose_gives_no_grade_and_does_not_change_the_one_that_follows(
    name: str, text: str, wanted: str | None
) -> None:
    case = KNOWN[name]
    prose = case["input"][text]
    assert [result.error for result in one(prose).results] == ["unparseable"]
    grade = 1 if wanted is None else case["expected"][wanted]
    assert one(f"{prose}\n{reply(entry('p1', grade))}").labelled[0].grade == grade


def test_a_refusal_is_an_error() -> None:
    case = KNOWN["umbrela-unparseable"]
    made = one(case["input"]["judge_text"])
    assert case["expected"]["grade"] is None and made.labelled == ()
    assert made.errors() == {"unparseable": 1}


def test_missing_and_foreign_ids() -> None:
    case, expected = KNOWN["j51"]["input"], KNOWN["j51"]["expected"]
    items = [Item("q", doc, "how?", f"text {doc}") for doc in case["asked"]]
    order = [item.doc_id for item in batches_of(items, PROMPT, Asking(batch=3))[0].items]
    names = {doc: f"p{place}" for place, doc in enumerate(order, 1)}
    said = reply(*(entry(names.get(row["id"], row["id"]), row["rating_score"]) for row in case["llm_reply"]))
    made = judge_pairs(Stub(said), items, PROMPT, Asking(batch=3))
    assert {result.item.doc_id: result.grade for result in made.labelled} == expected["rated"]
    assert [result.item.doc_id for result in made.failed] == expected["failed"]
    assert [name for _, name in made.foreign] == expected["unknown"]


def test_verdicts_that_are_missing_are_counted_by_what_was_sent() -> None:
    case, expected = KNOWN["faith-missing-verdicts"]["input"], KNOWN["faith-missing-verdicts"]["expected"]
    items = [Item("q", name, "how?", f"text {name}") for name in case["submitted_claims"]]
    said = reply(*(entry(f"p{place}", 1) for place, _ in enumerate(case["judge_verdicts"], 1)))
    made = judge_pairs(Stub(said), items, PROMPT, Asking(batch=5))
    assert len(made.results) == expected["claims_submitted"]
    assert len(made.labelled) == expected["verdicts_received"]
    assert made.errors() == {"missing": expected["claims_submitted"] - expected["verdicts_received"]}


def test_an_empty_text_is_not_asked_about() -> None:
    case, expected = (
        KNOWN["ctxr-empty-string-context"]["input"],
        KNOWN["ctxr-empty-string-context"]["expected"],
    )
    model = Stub(reply(entry("p1", 3)))
    items = [Item("q", str(n), "how?", text) for n, text in enumerate(case["retrieved_contexts"])]
    made = judge_pairs(model, items, PROMPT)
    assert len(model.asked) == expected["judge_calls"] == 0 and made.errors() == {"empty": len(items)}


def test_an_error_does_not_stick() -> None:
    case = KNOWN["metric-error-does-not-stick"]
    replies = [reply(entry("p1", 1)) if "ok" in said else "no" for said in case["input"]["stub_judge"]]
    items = [Item(f"q{n}", "d", "how?", f"text {n}") for n in range(len(replies))]
    made = judge_pairs(Stub(replies), items, PROMPT, concurrency=1)
    states = ["scored" if result.grade is not None else "error" for result in made.results]
    assert states == case["expected"]["status"]

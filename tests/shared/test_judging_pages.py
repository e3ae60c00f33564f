"""The collected cases about judging that concern the pages' queue: overlap, nought, order, undo."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

from leadline.judging.book import Book
from leadline.judging.judgment import Judgment
from leadline.web.desk import Desk, Given
from leadline.web.documents import Document, Documents
from leadline.web.pairs import Pair, pair_name
from leadline.web.queue import Plan
from leadline.web.refusal import Refusal
from leadline.web.setup import Setup
from shared.folder import CASES, everything_required

if not CASES.exists() and not everything_required():
    pytest.skip(f"{CASES} is absent", allow_module_level=True)

KNOWN = {
    row["id"]: row
    for row in map(json.loads, (CASES / "judging.jsonl").read_text(encoding="utf-8").splitlines())
}


def desk(tmp_path: Path, names: list[str], **plan: Any) -> Desk:
    pairs = [Pair("q", name, pair_name("q", name), place, {}) for place, name in enumerate(names)]
    documents = Documents([Document(name, name) for name in names])
    return Desk(Setup(pairs, documents, plan=Plan(repeats=0, **plan), book=str(tmp_path / "b.db")))


def given(doc: str, grade: float | None, **more: Any) -> Given:
    return Given(str(uuid.uuid4()), pair_name("q", doc), grade, **more)


def docs(made: Desk, who: str, count: int = 50) -> list[str]:
    return [made.queue.pairs[name].doc_id for name in made.next(who, count).result()[0]]


def test_overlap_counts_people_who_graded(tmp_path: Path) -> None:
    case = KNOWN["j09"]
    with Book.open(tmp_path / "b.db") as book:
        for doc, who, status in case["input"]["rows"]:
            kind = "model" if who.startswith("llm:") else "person"
            said: dict[str, Any] = {"grade": 1} if status == "judged" else {"mark": status}
            book.add([Judgment("q", doc, who=who, kind=kind, **said)])
    made = desk(tmp_path, ["p1", "p2"], overlap=1, people=case["input"]["overlap"])
    expected = case["expected"]
    assert docs(made, expected["p1_open_for"]) == ["p1"]
    assert len(made.tally.graders(("q", "p1"))) == expected["p1_human_grades"]
    assert expected["p2_open"] is False
    with pytest.raises(Refusal):
        made.save("carl", given("p2", 1)).result()
    assert len([row for row in made.rows().result() if row.doc_id == "p2"]) == 2
    made.close()


def test_nought_is_a_grade(tmp_path: Path) -> None:
    case = KNOWN["j32"]
    made = desk(tmp_path, ["a", "b"], overlap=0)
    for doc, row in zip(["a", "b"], case["input"], strict=True):
        if row["grade"] is not None:
            made.save("ana", given(doc, row["grade"])).result()
    stands = [made.look("ana", pair_name("q", doc)).result() for doc in ("a", "b")]
    assert [one is not None for one in stands] == case["expected"]["judged"]
    # What can be cleared is what was judged: undo takes the nought back.
    taken = made.undo("ana").result()[1]
    assert taken is not None and taken.grade == 0
    assert made.undo("ana").result()[1] is None
    made.close()


def test_every_assessor_has_a_stable_order(tmp_path: Path) -> None:
    case = KNOWN["j47"]
    names = case["input"]["pairs"]
    orders = {}
    for who in case["input"]["assessors"]:
        made = desk(tmp_path, names, overlap=0, seed=case["input"]["seed"], reserve=0.0)
        orders[who] = docs(made, who)
        made.close()
        # Another run of the server, and page by page.
        made = desk(tmp_path, names, overlap=0, seed=case["input"]["seed"], reserve=0.0)
        assert docs(made, who) == orders[who] and docs(made, who, 2) == orders[who][:2]
        made.close()
        assert sorted(orders[who]) == sorted(names)


def test_undo_is_a_stack_of_rows(tmp_path: Path) -> None:
    case = KNOWN["j48"]
    made = desk(tmp_path, ["p1", "p2"], overlap=0)
    results = []
    for action in case["input"]:
        if action == "undo":
            results.append(made.undo("ana").result()[0])
        else:
            doc, _, grade = action.removeprefix("judge ").partition("=")
            made.save("ana", given(doc, float(grade))).result()
    assert {row.doc_id: row.grade for row in made.standing().result()} == case["expected"]["after"]
    assert results[2] is None and case["expected"]["third_undo"] == "no-op"
    assert len(made.rows().result()) == case["expected"]["log_rows"]
    made.close()

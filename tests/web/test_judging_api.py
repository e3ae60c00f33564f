"""The API as the pages use it: what it gives, what it keeps hidden, what it refuses."""

import json
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from office import Someone, alone, pair, setup, team

from leadline.cli.main import run
from leadline.judging.book import Book
from leadline.judging.judgment import Judgment
from leadline.web.documents import Document, Documents
from leadline.web.queue import Plan, again
from leadline.web.settings import Rules

LATER = "2999-01-01T00:00:00Z"


@pytest.fixture
def ana(tmp_path: Path) -> Any:
    with alone(setup(str(tmp_path / "judgments.db"))) as someone:
        yield someone


def test_settings_say_what_a_page_needs(ana: Someone) -> None:
    found = ana.get("settings").json()
    assert (found["assessor"], found["role"], found["auth"], found["root"]) == ("ana", "lead", False, "")
    assert [(one["grade"], one["key"]) for one in found["scale"]] == [(0, "0"), (1, "1"), (2, "2"), (3, "3")]
    assert all(one["name"] and one["meaning"] for one in found["scale"])
    assert found["guideline_html"].startswith("<p>") and found["guideline_version"] == Rules.of().version
    assert found["keys"]["unsure"] == "n" and found["keys"]["undo"] == "u"


def test_a_pair_says_nothing_of_ranks_systems_or_others(tmp_path: Path) -> None:
    """All that the API gives before the pair is saved, as text."""
    book = str(tmp_path / "b.db")
    made = setup(book, plan=Plan(overlap=1, people=5, repeats=0))
    with Book.open(book) as opened:
        opened.add([Judgment("q0", "d0", 3, who="somebodyelse", note="seen before"),
                    Judgment("q0", "d0", 2, who="modelname", kind="model")])  # fmt: skip
    with alone(made) as ana:
        texts = [
            ana.get(path).text for path in ("next?count=50", f"pairs/{made.pairs[0].name}", "documents/d0")
        ]
        for hidden in ("bm25", "dense", "rank", "score", "somebodyelse", "modelname", "seen before"):
            assert not any(hidden in text for text in texts), hidden
        # Once it is saved, all of it is shown.
        reveal = ana.grade(made.pairs[0].name, 1).json()["reveal"]
        assert reveal["ranks"] == {"bm25": 1, "dense": 2}
        assert {(row["who"], row["kind"], row["grade"]) for row in reveal["others"]} == {
            ("somebodyelse", "person", 3),
            ("modelname", "model", 2),
        }
        # Not after a mark: the pair may come back.
        assert ana.mark(made.pairs[3].name, "skip").json()["reveal"] is None


def test_names_of_pairs_are_opaque_and_stay(tmp_path: Path) -> None:
    made = setup(str(tmp_path / "b.db"))
    with alone(made) as ana:
        first = [one["pair"] for one in ana.next(30)]
    assert len(set(first)) == 30 and all(len(name) == 20 for name in first)
    with alone(made) as ana:
        assert [one["pair"] for one in ana.next(30)] == first


def test_saving_moves_on_and_back_again(ana: Someone) -> None:
    first, second = ana.next(2)
    assert (
        ana.grade(first["pair"], 0, text_hash=first["text_hash"], note="no").json()["progress"]["done"] == 1
    )
    assert ana.next(1)[0]["pair"] == second["pair"]
    back = ana.get(f"pairs/{first['pair']}").json()
    assert (back["judgment"]["grade"], back["judgment"]["mark"], back["judgment"]["note"]) == (0, None, "no")
    undone = ana.post("undo").json()
    assert undone["undone"]["pair"] == first["pair"] and undone["undone"]["judgment"]["grade"] == 0
    assert undone["progress"]["done"] == 0
    assert ana.get(f"pairs/{first['pair']}").json()["judgment"] is None
    assert ana.post("undo").json()["undone"] is None


def test_an_undo_that_names_its_judgment_takes_back_that_one_once(ana: Someone) -> None:
    first, second = ana.next(2)
    saved = ana.grade(first["pair"], 2).json()["saved"]
    ana.grade(second["pair"], 1)
    for undone in (first["pair"], None):
        found = ana.post("undo", {"judgment": saved}).json()
        assert (found["undone"] or {}).get("pair") == undone
        assert found["progress"]["done"] == 1
    assert ana.get(f"pairs/{second['pair']}").json()["judgment"]["grade"] == 1


def test_two_books_have_two_names(tmp_path: Path) -> None:
    names = []
    for place in ("a.db", "b.db", "a.db"):
        with alone(setup(str(tmp_path / place))) as ana:
            names.append(ana.get("settings").json()["book"])
    assert names[0] == names[2] != names[1]


def test_the_same_id_twice_is_one_row(ana: Someone) -> None:
    body = {"id": str(uuid.uuid4()), "pair": ana.next(1)[0]["pair"], "grade": 2}
    assert ana.post("judgments", body).json() == ana.post("judgments", body).json()
    assert len(ana.get("export").text.splitlines()) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"grade": 7}, {"grade": 0.5}, {"grade": None}, {"grade": 1, "mark": "skip"}, {"grade": None, "mark": "odd"},
        {"grade": "1"}, {"grade": True}, {"id": "short"}, {"id": "x" * 36}, {"note": "n" * 4001}, {"note": "\0"},
        {"note": "\ud800"}, {"seconds": -1}, {"seconds": 1e400}, {"other": 1}, {"pair": None},
        {"evidence": [{"start": 0, "end": 4, "quote": "tex"}]}, {"evidence": [{"start": -1, "end": 4, "quote": "t"}]},
        {"evidence": [{"start": 5, "end": 900, "quote": "x"}]}, {"evidence": "text"}, {"evidence": [{"start": 0.5}]},
    ],
)  # fmt: skip
def test_what_cannot_stand_is_refused_and_not_stored(ana: Someone, changed: dict[str, Any]) -> None:
    body = {"id": str(uuid.uuid4()), "pair": ana.next(1)[0]["pair"], "grade": 1} | changed
    # As bytes: the client's own JSON refuses NaN and half characters.
    answer = ana.client.post(
        "/api/judgments",
        content=json.dumps(body),
        headers={"X-CSRF-Token": ana.token, "Content-Type": "application/json"},
    )
    assert answer.status_code == 422 and answer.json()["code"] == "input", answer.text
    assert ana.get("export").text == ""


def test_evidence_counts_characters(tmp_path: Path) -> None:
    """The key is one character of two UTF-16 units: what follows it begins at 2."""
    made = setup(str(tmp_path / "b.db"), 1)
    made = replace(made, documents=Documents([Document("d0", "🔑 key")]))
    with alone(made) as ana:
        name = made.pairs[0].name
        span = {"start": 2, "end": 5, "quote": "key"}
        assert ana.grade(name, 1, evidence=[{**span, "start": 3, "end": 6}]).status_code == 422
        assert ana.grade(name, 1, evidence=[span]).status_code == 200
        assert ana.get(f"pairs/{name}").json()["judgment"]["evidence"] == [span]


def test_a_text_that_has_changed_is_told(ana: Someone) -> None:
    name = ana.next(1)[0]["pair"]
    answer = ana.grade(name, 1, text_hash="0" * 16)
    assert (answer.status_code, answer.json()["code"]) == (409, "changed")


def test_skipped_pairs_can_be_asked_for(ana: Someone) -> None:
    first = ana.next(1)[0]["pair"]
    assert ana.mark(first, "skip", note="too long").json()["progress"]["skipped"] == 1
    assert [one["pair"] for one in ana.next(5, skipped=True)] == [first]
    assert ana.grade(first, 2).json()["progress"] | {"per_hour": 0, "remaining_seconds": 0} == {
        "done": 1, "total": 30, "skipped": 0, "per_hour": 0, "remaining_seconds": 0,
    }  # fmt: skip


def test_a_pair_shown_again_is_another_row_of_the_same_pair(tmp_path: Path) -> None:
    made = setup(str(tmp_path / "b.db"), plan=Plan(overlap=0, repeats=1))
    with alone(made) as ana:
        seen = []
        for _ in range(21):
            seen.append(ana.next(1)[0])
            ana.grade(seen[-1]["pair"], 1)
        first = seen[0]
        once_more = next(one for one in ana.next(5) if one["doc_id"] == first["doc_id"])
        assert once_more["pair"] == again(first["pair"])
        # But for its opaque name it looks as it did the first time.
        assert {**once_more, "pair": ""} == {**first, "pair": ""}
        ana.grade(once_more["pair"], 2)
        rows = [json.loads(line) for line in ana.get("export").text.splitlines()]
        assert [
            (row["grade"], row.get("repeat", False)) for row in rows if row["doc_id"] == first["doc_id"]
        ] == [
            (1, False),
            (2, True),
        ]
        undone = ana.post("undo").json()["undone"]
        assert undone["pair"] == once_more["pair"]


def test_grey_text_stands_around_a_chunk(tmp_path: Path) -> None:
    texts = ["A" * 500, "middle.", "B" * 500]
    starts = [0, 500, 507]
    chunks = [
        Document(f"kb#{i}", text, document_id="kb", start=start)
        for i, (text, start) in enumerate(zip(texts, starts, strict=True))
    ]
    made = replace(setup(str(tmp_path / "b.db"), 1), documents=Documents(chunks), pairs=[pair("q0", "kb#1")])
    with alone(made) as ana:
        one = ana.next(1)[0]
        assert (one["before"], one["text"], one["after"]) == ("A" * 400, "middle.", "B" * 400)
        assert one["has_more"]
        whole = ana.get("documents/kb%231").json()
        assert whole["text"] == "".join(texts) and (whole["start"], whole["end"]) == (500, 507)


def test_a_long_text_is_cut_and_told_so(tmp_path: Path) -> None:
    made = replace(setup(str(tmp_path / "b.db"), 1), documents=Documents([Document("d0", "x" * 20_000)]))
    with alone(made) as ana:
        one = ana.next(1)[0]
        assert len(one["text"]) == 12_000 and one["has_more"] and one["after"] == ""
        assert len(ana.get("documents/d0").json()["text"]) == 20_000
        # The hash is of the whole text.
        assert ana.grade(one["pair"], 1, text_hash=one["text_hash"]).status_code == 200


def test_the_overview_counts_what_is_judged(tmp_path: Path) -> None:
    book = str(tmp_path / "b.db")
    made = setup(book, 6, plan=Plan(overlap=1, people=3, repeats=0))
    # Query q0 has d0 and d3, which bm25 ranks 1 and 4, dense 2 and 5.
    with Book.open(book) as opened:
        opened.add([Judgment("q0", "d0", 0, who="a"), Judgment("q0", "d0", 2, who="b"),
                    Judgment("q0", "d3", mark="unsure", who="a"), Judgment("q1", "d1", mark="broken", who="a")])  # fmt: skip
    made = replace(made, judged={("q2", "d2"): 1.0})
    with alone(made) as ana:
        found = ana.get("queries").json()
        assert found["systems"] == ["bm25", "dense"]
        first = found["queries"][0]
        assert (first["query_id"], first["need"], first["pairs"]) == ("q0", "need 0", 2)
        assert (first["judged"], first["unsure"], first["broken"], first["disputed"]) == (1, 1, 0, 1)
        assert first["judged_at_10"] == {name: {"judged": 1, "returned": 2} for name in ("bm25", "dense")}
        assert found["queries"][1]["broken"] == 1 and found["queries"][2]["judged"] == 1
        assert [one["query_id"] for one in ana.get("queries?disputed=true").json()["queries"]] == ["q0"]
        assert [one["query_id"] for one in ana.get("queries?text=QUERY 2").json()["queries"]] == ["q2"]
        assert len(ana.get("queries?unjudged=true").json()["queries"]) == 3


def test_two_systems_side_by_side(tmp_path: Path) -> None:
    book = str(tmp_path / "b.db")
    ranks = {"old": {"q0": {"d0": 1, "d3": 2, "x": 3}}, "new": {"q0": {"d3": 1, "d0": 3}}}
    with Book.open(book) as opened:
        opened.add([Judgment("q0", "d0", 0, who="a")])
    with alone(replace(setup(book, 6), ranks=ranks)) as ana:
        found = ana.get("compare?query_id=q0&a=old&b=new").json()
        assert [(hit["rank"], hit["doc_id"], hit["letter"], hit["other_rank"], hit["move"]) for hit in found["left"]] == [
            (1, "d0", "0", 3, 2), (2, "d3", "–", 1, -1), (3, "x", "–", None, None),
        ]  # fmt: skip
        assert [(hit["rank"], hit["doc_id"], hit["move"]) for hit in found["right"]] == [
            (1, "d3", 1),
            (3, "d0", -2),
        ]
        assert ana.get("compare?query_id=q0").json()["a"] == "old"
        for wrong in ("query_id=q9", "query_id=q0&a=none", "query_id=q0&b=none"):
            assert ana.get(f"compare?{wrong}").status_code == 404


def test_disagreements_are_nameless_widest_first_and_end_with_a_decision(tmp_path: Path) -> None:
    made = setup(str(tmp_path / "b.db"), 6, plan=Plan(overlap=1, people=3, repeats=0))
    with team(made, ana="assessor", bob="assessor", eve="lead") as people:
        ana, bob, eve = people.values()
        wide, narrow, same, marked, _, skipped = (one.name for one in made.pairs)
        for name, a, b in ((wide, 0, 3), (narrow, 2, 3), (same, 1, 1)):
            ana.grade(name, a, note=f"note of {a}")
            bob.grade(name, b)
        ana.grade(marked, 1)
        bob.mark(marked, "broken")
        ana.grade(skipped, 1)
        bob.mark(skipped, "skip")
        found = eve.get("disagreements")
        assert [one["pair"] for one in found.json()["pairs"]] == [wide, narrow, marked]
        assert [one["spread"] for one in found.json()["pairs"]] == [3, 1, 0]
        labels = found.json()["pairs"][0]["labels"]
        assert [(one["label"], one["grade"], one["note"]) for one in labels] == [
            ("A", 0, "note of 0"),
            ("B", 3, ""),
        ]
        assert '"ana"' not in found.text and '"bob"' not in found.text
        decision = {"id": str(uuid.uuid4()), "pair": wide, "grade": 2, "note": "half of it"}
        assert eve.post("adjudications", decision).json() == {"saved": decision["id"]}
        assert [one["pair"] for one in eve.get("disagreements").json()["pairs"]] == [narrow, marked]
        decided = eve.get("disagreements?all=true").json()["pairs"][0]["adjudicated"]
        assert decided == {"grade": 2, "mark": None, "note": "half of it"}


def test_export_is_the_book(ana: Someone) -> None:
    for one in ana.next(3):
        ana.grade(one["pair"], 0)
    ana.post("undo")
    answer = ana.get("export")
    rows = [Judgment.from_dict(json.loads(line)) for line in answer.text.splitlines()]
    assert [row.grade for row in rows] == [0, 0, 0, None] and rows[3].undoes == rows[2].id
    assert answer.headers["content-disposition"] == 'attachment; filename="judgments.jsonl"'


def test_what_is_not_there_is_said_in_the_same_shape(ana: Someone) -> None:
    for path in ("pairs/nothing", "documents/nothing", "nothing", "documents/"):
        answer = ana.get(path)
        assert answer.status_code == 404 and answer.json()["code"] == "unknown", path
    assert ana.grade("nothing").status_code == 404
    assert ana.client.delete("/api/judgments").status_code == 405
    assert ana.get("next?count=0").status_code == ana.get("next?count=51").status_code == 422


def test_agreement_is_that_of_the_command(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    """ana and bob: 0 0, 1 1, 2 2, 3 0 over four pairs, eve alone on a fifth; ana saw one twice and differed."""
    from leadline.judging.agreement import Rules as Reckoning
    from leadline.judging.agreement import agreement_report

    rows = [
        Judgment(f"q{i % 3}", f"d{i}", grade, who="ana", seconds=10) for i, grade in enumerate([0, 1, 2, 3])
    ]
    rows += [Judgment(f"q{i % 3}", f"d{i}", grade, who="bob") for i, grade in enumerate([0, 1, 2, 0])]
    rows += [Judgment("q1", "d4", 1, who="eve"), Judgment("q0", "d0", 1, who="ana", repeat=True, when=LATER)]
    with Book.open(target) as opened:
        opened.add(rows)
    with alone(setup(target)) as ana:
        found = ana.get("agreement").json()
    report = agreement_report(rows, Reckoning(scale=(0.0, 1.0, 2.0, 3.0)))
    with pytest.raises(SystemExit) as ended:
        run(["agreement", target, "--grades", "0,1,2,3", "--format", "json"])
    printed = json.loads(capsys.readouterr().out)
    assert not ended.value.code and {name: printed[name] for name in report} == report
    assert (found["people"], found["pairs"]) == (3, 4)
    assert (
        found["alpha"] == report["alpha"]["ordinal"]
        and found["kappa"] == report["pairs_of_persons"][0]["kappa"]
    )
    assert found["grades"] == [0, 1, 2, 3] and sum(map(sum, found["confusion"])) == 5
    assert found["by_pair_of_people"] == [
        {"a": "ana", "b": "bob", "pairs": 4, "agreed": 3, "kappa": found["kappa"]}
    ]
    people = {row["who"]: row for row in found["by_person"]}
    assert people["ana"]["alpha"] == found["alpha"] and people["eve"]["alpha"] is None
    assert (people["ana"]["repeats"], people["ana"]["self_agreement"]) == (1, 0)
    # Five judgments of which four say their time, 10 s each: 360 an hour.
    assert people["ana"]["per_hour"] == 360
    assert {row["query_id"]: row["agreement"] for row in found["by_query"]} == {"q0": 0.5, "q1": 1, "q2": 1}


def test_agreement_of_nobody_is_nothing(ana: Someone) -> None:
    found = ana.get("agreement").json()
    assert (found["people"], found["pairs"], found["alpha"], found["kappa"]) == (0, 0, None, None)

"""The card of labels goes with them, or its loss is said: a model's labels never pass for people's."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.certificate import Judge
from leadline.errors import InputError, UsageError
from leadline.formats.card import Card, card_path, read_card, write_card
from leadline.formats.carrying import carried_out
from leadline.formats.conversion import Conversion, Request, planned
from leadline.formats.read import read_qrels, read_queries
from leadline.formats.tools import BY_NAME, TABLE
from leadline.judging.exchange import write_labels
from leadline.judging.judgment import Judgment
from leadline.judging.labels import make_labels

LABELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n"


@pytest.fixture
def labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgments that a model made, as their card says."""
    monkeypatch.chdir(tmp_path)
    path = Path("q.qrels")
    path.write_text(LABELS)
    _card(path)
    return path


def _card(path: Path, **more: Any) -> None:
    sha = hashlib.sha256(path.read_bytes()).hexdigest()
    write_card(path, Card("model", Judge("m-1"), labels=3, sha256=sha, **more))


def convert(source: str | Path, target: str, form: str | None = None, **more: Any) -> Conversion:
    plan = planned(Request(str(source), target, form, kind="judgments", **more))
    carried_out(plan)
    return plan


@pytest.mark.parametrize("target", ["b.jsonl", "b.csv", "b.parquet", "b.qrels.gz", "b.csv.zst"])
def test_the_card_stands_beside_the_new_file(labels: Path, target: str) -> None:
    plan = convert(labels, target)
    assert not plan.lost
    card = read_card(target)
    assert card is not None and card.judge == Judge("m-1") and card.labels == 3
    assert card.sha256 == hashlib.sha256(Path(target).read_bytes()).hexdigest()
    assert read_qrels(target).models == 3


@pytest.mark.parametrize("form", [tool.name for tool in TABLE if "judgments" in tool.writes])
def test_every_format_of_another_tool_has_it_too(labels: Path, form: str) -> None:
    target = f"out{BY_NAME[form].ending}"
    convert(labels, target, form)
    qrels = read_qrels(target, input_format=form)
    assert (qrels.models, qrels.judges) == (3, (Judge("m-1"),))
    # And from there on: the reader of tools has no tables of the house.
    convert(target, "again.csv", input_format=form)
    assert read_qrels("again.csv").models == 3


def test_a_folder_has_it_inside(labels: Path) -> None:
    convert(labels, "set", "beir")
    assert read_qrels("set").models == 3
    convert("set", "b.csv")
    assert read_qrels("b.csv").models == 3
    # Judgments of people over them: the card does not stay.
    Path("people.qrels").write_text(LABELS)
    convert("people.qrels", "set", "beir")
    assert read_qrels("set").models == 0


def test_where_no_card_can_stand_it_is_a_loss(labels: Path) -> None:
    for target in ("-", "/dev/null"):
        plan = planned(Request(str(labels), target, "jsonl", kind="judgments") if target == "-" else Request(
            str(labels), target, "quepid-json", kind="judgments"))  # fmt: skip
        assert "loses the card of the labels, which says that a model made them" in plan.lost["card"]


def test_an_old_card_does_not_tell_of_labels_of_people(labels: Path) -> None:
    convert(labels, "b.csv")
    Path("people.qrels").write_text(LABELS)
    convert("people.qrels", "b.csv")
    assert not card_path("b.csv").exists() and read_qrels("b.csv").models == 0


def test_the_certificate_is_found_from_the_new_place(labels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    monkeypatch.setattr("leadline.formats.card.read_certificate", lambda path: read.append(Path(path)))
    Path("far").mkdir()
    _card(labels, certificate="mine.json")
    convert(labels, "far/b.csv")
    convert("far/b.csv", "far/set", "beir")
    read_qrels("far/set")
    assert json.loads(Path("far/b.csv.leadline.json").read_text())["certificate"] == "../mine.json"
    assert len(read) == 3 and {path.resolve() for path in read} == {Path("mine.json").resolve()}


def test_all_that_a_card_of_a_book_says_stays_under_the_new_names(labels: Path) -> None:
    row = {
        "kind": "mixed",
        "judges": [{"model": "m-1"}],
        "file": "q.qrels",
        "account": {"rule": "latest"},
        "sha256": hashlib.sha256(labels.read_bytes()).hexdigest(),
        "models": [{"who": "m-1", "labels": 1}],
        "pairs_of_models": [["q2", "d1"]],
    }
    card_path(labels).write_text(json.dumps(row))
    Path("queries.csv").write_text("query_id,text\nq1,who was?\nq2,when 5%?\n")
    convert(labels, "b.csv", "quepid", queries=read_queries("queries.csv"))
    found = json.loads(Path("b.csv.leadline.json").read_text())
    assert found["pairs_of_models"] == [["when 5%?", "d1"]] and found["file"] == "b.csv"
    assert {name: found[name] for name in ("kind", "judges", "account", "models")} == {
        name: row[name] for name in ("kind", "judges", "account", "models")
    }
    convert("b.csv", "c.qrels")
    found = json.loads(Path("c.qrels.leadline.json").read_text())
    assert found["pairs_of_models"] == [["when%205%25?", "d1"]]
    convert("c.qrels", "d.csv", rule="unescape")
    assert json.loads(Path("d.csv.leadline.json").read_text())["pairs_of_models"] == [["when 5%?", "d1"]]
    assert read_qrels("d.csv").models == 1


def test_a_card_of_another_state_of_the_file_stops_it(labels: Path) -> None:
    labels.write_text(LABELS + "q3 0 d1 1\n")
    with pytest.raises(InputError, match=r"another state of q\.qrels"):
        planned(Request(str(labels), "b.csv"))


@pytest.mark.parametrize("before", [None, "old"])
def test_all_are_written_or_none(labels: Path, monkeypatch: pytest.MonkeyPatch, before: str | None) -> None:
    Path("ratings.csv").write_text("query,docid,rating\nwho is,d1,2\n")
    _card(Path("ratings.csv"))
    places = [Path("b.qrels"), Path("b.qrels.leadline.json")]
    for place in places:
        if before is not None:
            place.write_text(before)
    real = Path.replace

    def stopped(self: Path, target: Any) -> Path:
        if Path(target).name == "b.qrels":
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(UsageError, match="No space left"):
        convert("ratings.csv", "b.qrels")
    assert [place.read_text() if place.exists() else None for place in places] == [before, before]
    assert not Path("b.qrels.queries.jsonl").exists()
    assert not list(Path().glob(".*.tmp"))


def test_a_run_and_queries_have_no_card(labels: Path) -> None:
    Path("ratings.csv").write_text("query,docid,rating\nwho,d1,2\n")
    _card(Path("ratings.csv"))
    carried_out(planned(Request("ratings.csv", "q.csv", kind="queries")))
    assert not card_path("q.csv").exists()


ID = st.text("ab %=Ω", min_size=1, max_size=3)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(ID, ID), min_size=1, max_size=5, unique=True), st.data())
def test_there_and_back_the_card_and_the_alternatives_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("law")
    needs = [data.draw(st.sampled_from(["", "n1", "n 2"])) for _ in pairs]
    rows = [
        {"query_id": q, "doc_id": d, "grade": 1, "need": need}
        for (q, d), need in zip(pairs, needs, strict=True)
    ]
    first = folder / "a.jsonl"
    first.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = [list(pair) for pair in data.draw(st.lists(st.sampled_from(pairs), unique=True, min_size=1))]
    card = {
        "kind": "mixed",
        "judges": [{"model": "m"}],
        "sha256": hashlib.sha256(first.read_bytes()).hexdigest(),
        "pairs_of_models": made,
    }
    card_path(first).write_text(json.dumps(card))
    ending = data.draw(st.sampled_from([".csv", ".tsv", ".parquet", ".jsonl"]))
    rule = data.draw(st.sampled_from([None, "escape"]))
    other, back = folder / f"b{ending}", folder / "c.jsonl"
    assert not convert(first, str(other), rule=rule).lost
    assert not convert(other, str(back), rule=None if rule is None else "unescape").lost
    one, two = read_qrels(first), read_qrels(back)
    assert (one.alternatives, one.needs, one.models) == (two.alternatives, two.needs, two.models)
    assert sorted(one.frame.select("query_id", "doc_id", "grade").rows()) == sorted(
        two.frame.select("query_id", "doc_id", "grade").rows()
    )
    again = json.loads(card_path(back).read_text())
    assert again.pop("sha256") == hashlib.sha256(back.read_bytes()).hexdigest()
    assert again == {name: value for name, value in card.items() if name != "sha256"}


def test_packed_labels_have_the_hash_of_the_packed_file(labels: Path) -> None:
    convert(labels, "b.json.gz", "ranx")
    with gzip.open("b.json.gz", "rt") as file:
        assert json.load(file) == {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
    assert read_qrels("b.json.gz").models == 3


def test_judgments_inside_a_folder_have_its_card(labels: Path) -> None:
    convert(labels, "set", "beir")
    inside = "set/qrels/test.tsv"
    assert read_qrels(inside).models == 3
    convert(inside, "t.csv")
    assert read_qrels("t.csv").models == 3
    # A file of that name elsewhere has none.
    Path("qrels").mkdir()
    Path("qrels/test.tsv").write_text(Path(inside).read_text())
    assert read_qrels("qrels/test.tsv").models == 0


def test_one_card_of_a_folder_does_not_change_what_is_said_of_its_other_splits(labels: Path) -> None:
    Path("people.qrels").write_text(LABELS)
    convert("people.qrels", "set", "beir")
    Path("set/qrels/test.tsv").rename("set/qrels/train.tsv")
    with pytest.raises(UsageError, match="holds judgments of train too, and one card tells of them all"):
        convert(labels, "set", "beir")
    # People's beside people's need no card.
    convert("people.qrels", "set", "beir")
    assert read_qrels("set/qrels/test.tsv").models == read_qrels("set/qrels/train.tsv").models == 0
    convert(labels, "made", "beir")
    Path("made/qrels/test.tsv").rename("made/qrels/train.tsv")
    with pytest.raises(UsageError, match="holds judgments of train too"):
        convert("people.qrels", "made", "beir")
    assert read_qrels("made/qrels/train.tsv").models == 3
    book = make_labels([Judgment("q1", "d1", 2, who="ana")])
    with pytest.raises(UsageError, match="holds judgments of train too"):
        write_labels(book, "made", "beir")
    assert read_qrels("made/qrels/train.tsv").models == 3


def test_the_card_stands_beside_the_file_that_a_link_leads_to(labels: Path) -> None:
    Path("data").mkdir()
    Path("data/real.csv").write_text("")
    Path("link.csv").symlink_to("data/real.csv")
    convert(labels, "link.csv")
    assert Path("link.csv").is_symlink() and Path("data/real.csv.leadline.json").is_file()
    assert read_qrels("data/real.csv").models == read_qrels("link.csv").models == 3


def test_what_was_asked_stays_under_the_new_names(labels: Path) -> None:
    Path("s.csv").write_text('query_id,doc_id,grade\n"star trek",d 1,2\n')
    _card(Path("s.csv"), asked={"star trek": {"d 1": "0123456789abcdef"}})
    convert("s.csv", "t.qrels", rule="escape")
    card = read_card("t.qrels")
    assert card is not None and card.asked == {"star%20trek": {"d%201": "0123456789abcdef"}}


@pytest.mark.parametrize("place", ["q.qrels.leadline.json", "queries.csv", "sub/../queries.csv"])
def test_no_file_that_is_read_is_written_over(labels: Path, place: str) -> None:
    Path("sub").mkdir()
    Path("queries.csv").write_text("query_id,text\nq1,who?\nq2,when?\n")
    before = Path(place).read_text()
    queries = read_queries("queries.csv")
    with pytest.raises(UsageError, match=r"is the (card of the )?file that is read; name another"):
        convert(labels, place, "quepid", queries=queries, beside=("queries.csv",))
    assert Path(place).read_text() == before
    # Nor by the map that stands beside the target.
    Path("b.csv.queries.jsonl").write_text('{"query_id": "q1", "doc_id": "d", "grade": 1}\n')
    with pytest.raises(UsageError, match=r"b\.csv\.queries\.jsonl is the file that is read"):
        convert("b.csv.queries.jsonl", "b.csv", "quepid")

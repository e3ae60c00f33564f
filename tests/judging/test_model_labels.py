"""Where a model's labels go: the book, with who the judge is, and files with their card; and never over a person's."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leadline.certificate import Judge
from leadline.errors import InputError, UsageError
from leadline.formats.card import card_path, hash_of, read_card
from leadline.judging.autojudge import Asking, AutoJudged, Item, judge_pairs
from leadline.judging.book import Book
from leadline.judging.judgment import Judgment
from leadline.judging.labels import make_labels
from leadline.judging.model_labels import (
    labelled_in_book,
    labelled_in_file,
    note_of,
    rows_for_book,
    write_file,
)
from leadline.judging.prompt import shipped_prompt
from leadline.models.stub import Stub

REPLY = '{"intent": "", "passages": [{"id": "p1", "match": 1, "trust": 2, "grade": 2}]}'
ITEMS = [
    Item("q", doc, "how?", f"text {doc}", text_hash=f"hash {doc}", probability=0.5, stratum="1-3")
    for doc in "ab"
]


def judged(name: str = "m", items: list[Item] = ITEMS, asking: Asking = Asking()) -> AutoJudged:  # noqa: B008
    return judge_pairs(Stub(REPLY, name=name), items, shipped_prompt(), asking)


def test_a_row_says_who_made_it_and_of_what() -> None:
    made = judged()
    row = rows_for_book(made)[0]
    assert (row.kind, row.who, row.grade, row.text_hash) == ("model", "m", 2, "hash a")
    assert row.model is not None and Judge.from_dict(row.model) == made.judge
    assert (row.guideline, row.probability, row.stratum, row.note) == ("relevance 1", 0.5, "1-3", "")
    assert row.when


def test_adding_again_adds_nothing(tmp_path: Path) -> None:
    with Book.open(tmp_path / "j.db") as book:
        assert book.add(rows_for_book(judged())) == 2
        assert book.add(rows_for_book(judged())) == 0
        # Another judge, and another text, are other labels.
        assert book.add(rows_for_book(judged("n"))) == 2
        assert book.add(rows_for_book(judged(items=[replace(ITEMS[0], text_hash="changed")]))) == 1


def test_only_what_this_judge_said_of_this_text_is_labelled(tmp_path: Path) -> None:
    with Book.open(tmp_path / "j.db") as book:
        made = judged()
        book.add([*rows_for_book(made), Judgment("q", "c", 1, who="ana")])
        assert labelled_in_book(book, made.judge, ITEMS) == {("q", "a"): 2, ("q", "b"): 2}
        assert labelled_in_book(book, judged("n").judge, ITEMS) == {}
        changed = [replace(ITEMS[0], text_hash="changed"), ITEMS[1]]
        assert labelled_in_book(book, made.judge, changed) == {("q", "b"): 2}
        # A label that somebody took back is not asked for again: it would not be added either, as its id is there.
        row = rows_for_book(made)[0]
        book.add([Judgment("q", "a", who="m", kind="model", undoes=row.id)])
        assert labelled_in_book(book, made.judge, ITEMS) == {("q", "a"): 2, ("q", "b"): 2}
        assert book.add([row]) == 0 and [one.doc_id for one in make_labels(book.rows()).labels] == ["b", "c"]


def test_a_persons_label_stays(tmp_path: Path) -> None:
    with Book.open(tmp_path / "j.db") as book:
        book.add([Judgment("q", "a", 0, who="ana", when="2020-01-01T00:00:00Z")])
        book.add(rows_for_book(judged()))
        labels = {one.doc_id: (one.grade, one.kind) for one in make_labels(book.rows()).labels}
    assert labels == {"a": (0, "person"), "b": (2, "model")}


def test_a_cut_and_a_place_are_noted() -> None:
    entries = [{"id": name, "match": 1, "trust": 1, "grade": 1} for name in ("p1", "p2")]
    both = json.dumps({"intent": "", "passages": entries})
    made = judge_pairs(Stub(both), ITEMS, shipped_prompt(), Asking(batch=2, max_chars=4))
    assert {note_of(one) for one in made.labelled} == {
        "the first 4 of 6 characters; passage 1 of 2 in its call",
        "the first 4 of 6 characters; passage 2 of 2 in its call",
    }


@pytest.mark.parametrize("name", ["q.txt", "q.jsonl", "q.csv", "q.parquet"])
def test_a_file_has_its_card(tmp_path: Path, name: str) -> None:
    path, judge = tmp_path / name, judged().judge
    assert labelled_in_file(path, judge).grades == {}
    write_file(path, judge, {("q", "b"): 2, ("q", "a"): 0}, "1.0")
    card = read_card(path)
    assert card is not None and (card.kind, card.labels, card.sha256) == ("model", 2, hash_of(path))
    assert card.judge == judge and "leadline 1.0" in card.made
    assert labelled_in_file(path, judge).grades == {("q", "a"): 0, ("q", "b"): 2}
    assert sorted(file.name for file in tmp_path.iterdir()) == [name, f"{name}.leadline.json"]


def test_a_label_stays_only_where_the_question_is_the_same(tmp_path: Path) -> None:
    path, judge, grades = tmp_path / "q.txt", judged().judge, {one.pair: 1.0 for one in ITEMS}
    write_file(path, judge, grades, asked={one.pair: one.asked for one in ITEMS})
    card = read_card(path)
    assert card is not None and card.asked == {"q": {one.doc_id: one.asked for one in ITEMS}}
    kept = labelled_in_file(path, judge, ITEMS)
    assert (kept.grades, kept.asked, kept.stale) == (grades, {one.pair: one.asked for one in ITEMS}, {})
    first, other = ITEMS
    for changed in (
        replace(first, text="other"), replace(first, title="title"),
        replace(first, query="who?"), replace(first, need="all"),
    ):  # fmt: skip
        kept = labelled_in_file(path, judge, [changed, other])
        # The old label is kept apart, with what was asked then.
        assert (kept.grades, kept.stale) == ({other.pair: 1.0}, {first.pair: 1.0})
        assert kept.asked == {first.pair: first.asked, other.pair: other.asked}
        # What is not asked today stays, with what was asked then.
        assert labelled_in_file(path, judge, [other]).asked[first.pair] == first.asked
    # An older card does not tell.
    write_file(path, judge, grades)
    assert labelled_in_file(path, judge, ITEMS).stale == grades
    card_path(path).write_text(card_path(path).read_text().replace('"made"', '"asked": {"q": 1}, "made"'))
    with pytest.raises(InputError, match="asked: expected an object of documents"):
        labelled_in_file(path, judge)


def test_a_file_of_others_is_not_overwritten(tmp_path: Path) -> None:
    path, judge = tmp_path / "q.txt", judged().judge
    path.write_text("q 0 a 1\n")
    with pytest.raises(UsageError, match="no card says that a model made it"):
        labelled_in_file(path, judge)
    write_file(path, judged("n").judge, {("q", "a"): 1})
    with pytest.raises(UsageError, match="labels of another judge, n "):
        labelled_in_file(path, judge)
    path.write_text("q 0 a 3\n")
    with pytest.raises(InputError, match="another state"):
        labelled_in_file(path, judged("n").judge)


def test_without_a_label_there_is_no_file(tmp_path: Path) -> None:
    assert write_file(tmp_path / "q.txt", judged().judge, {}) == ()
    assert list(tmp_path.iterdir()) == []


def test_new_labels_never_stand_without_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped between the two writes: the old labels are refused, since the card is of another state."""
    path, judge = tmp_path / "q.txt", judged().judge
    write_file(path, judge, {("q", "a"): 1})

    def stop(self: Path, target: Path) -> None:
        if Path(target) == path:
            raise KeyboardInterrupt
        original(self, target)

    original = Path.replace
    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        write_file(path, judge, {("q", "a"): 3})
    monkeypatch.undo()
    assert "q 0 a 1" in path.read_text() and card_path(path).exists()
    with pytest.raises(InputError, match="another state"):
        read_card(path)


def test_two_books_with_the_same_label_of_a_model_merge_to_one_row(tmp_path: Path) -> None:
    # Two laptops asked the same judge about the same pair, at two times.
    low = REPLY.replace('"grade": 2', '"grade": 1')
    made = [
        judge_pairs(Stub(said, name="m"), ITEMS[:1], shipped_prompt(), Asking())
        for said in (REPLY, REPLY, low)
    ]
    rows = [rows_for_book(one)[0] for one in made]
    assert rows[0].id == rows[1].id != rows[2].id and len({row.when for row in rows}) == 3
    with Book.open(tmp_path / "one.db") as book:
        assert [book.merge([row]) for row in rows] == [1, 0, 1]
        assert labelled_in_book(book, made[0].judge, ITEMS[:1]) == {("q", "a"): 1.0}
        # Another text under the same id has not been judged.
        assert labelled_in_book(book, made[0].judge, [replace(ITEMS[0], text_hash="another")]) == {}


def test_rows_of_persons_with_one_id_and_two_times_do_not_merge(tmp_path: Path) -> None:
    rows = [Judgment("q", "d", 1, who="ana", id="a", when=f"2026-01-0{day}T00:00:00Z") for day in (1, 2)]
    with Book.open(tmp_path / "one.db") as book:
        book.merge(rows[:1])
        with pytest.raises(InputError, match="differ"):
            book.merge(rows[1:])

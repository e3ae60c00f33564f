"""The book of judgments: what is saved, undone, merged, refused; the same on SQLite and on PostgreSQL."""

import itertools
import json
import multiprocessing
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import InputError
from leadline.judging import migrations
from leadline.judging.book import Book, _into_wal, insert
from leadline.judging.judgment import Judgment, Span, by_time, standing

FULL = Judgment(
    "who; did it?",
    "https://a/b?x=1&y=2#ü",
    0,
    who="Ana Ü.",
    kind="model",
    model={"name": "m", "parameters": {"temperature": 0.5}, "prompt": "ab12", "parser": 2},
    evidence=(Span(3, 9, "qu\note"), Span(0, 0, "")),
    text_hash="ba7816bf8f01cfea",
    guideline="v2",
    seconds=0.0,
    note='reason, "quoted"\nand a line',
    when="2026-03-01T09:00:00+01:00",
    probability=0.25,
    stratum="deep",
)


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}.000+00:00"


def test_a_row_comes_back_as_it_went_in(target: str) -> None:
    rows = [
        FULL,
        Judgment("q", "d", mark="skip", note="no time"),
        Judgment("q", "d", undoes="x", repeat=True),
    ]
    rows.append(Judgment("q", "e", 1.5, adjudicates=True, repeat=False, who="lead"))
    with Book.open(target) as book:
        assert book.add(rows) == 4
        assert book.rows() == rows
        assert book.add(rows) == 0
    with Book.open(target, create=False) as book:
        assert book.rows() == rows
    assert [Judgment.from_dict(json.loads(json.dumps(row.to_dict()))) for row in rows] == rows


def test_j48_undo_is_deep_and_adds_rows(target: str) -> None:
    with Book.open(target) as book:
        book.add([Judgment("q", "p1", 2, who="ana")])
        book.add([Judgment("q", "p2", 0, who="ana")])
        book.add([Judgment("q", "p1", 1, who="bob")])
        assert [book.undo("ana").doc_id, book.undo("ana").doc_id, book.undo("ana")] == ["p2", "p1", None]
        assert [(row.who, row.doc_id) for row in book.standing()] == [("bob", "p1")]
        # Two judgments, two that take back; the third undo adds nothing. (And bob's.)
        assert [row.who for row in book.rows()].count("ana") == 4
        book.add([Judgment("q", "p2", 3, who="ana")])
        assert [row.grade for row in book.standing()] == [1, 3]
        assert book.undo("eve") is None


def test_undo_twice_sent_and_a_save_twice_sent_count_once(target: str) -> None:
    row = Judgment("q", "d", 2, id="from-the-page")
    with Book.open(target) as book:
        assert [book.add([row]), book.add([row])] == [1, 0]


def test_all_or_none(target: str) -> None:
    with Book.open(target) as book:
        with pytest.raises(RuntimeError), book.writing() as connection:
            insert(connection, [Judgment("q", str(i), 1) for i in range(2500)])
            raise RuntimeError("in the middle")
        assert book.rows() == []
        assert book.add(Judgment("q", str(i), 1) for i in range(2500)) == 2500


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"query_id": "q", "doc_id": "d"}, "needs one of grade, mark, undoes"),
        ({"query_id": "q", "doc_id": "d", "grade": 1, "mark": "skip"}, "only one"),
        ({"query_id": "q", "grade": 1}, "needs query_id and doc_id"),
        ({"query_id": "q", "doc_id": "", "grade": 1}, "must not be empty"),
        ({"query_id": "q", "doc_id": 7, "grade": 1}, "doc_id: expected text, found 7"),
        ({"query_id": "q", "doc_id": "d", "grade": "2"}, 'grade: expected a number, found "2"'),
        ({"query_id": "q", "doc_id": "d", "grade": True}, "grade: expected a number, found true"),
        ({"query_id": "q", "doc_id": "d", "grade": float("nan")}, "no finite number"),
        ({"query_id": "q", "doc_id": "d", "grade": 10**400}, "too large"),
        ({"query_id": "q", "doc_id": "d", "mark": "later"}, "not one of unsure, skip, broken"),
        ({"query_id": "q", "doc_id": "d", "grade": 1, "kind": "dog"}, "not one of person, model"),
        ({"query_id": "q", "doc_id": "d", "grade": 1, "who": "a\0"}, "who is text, without NUL"),
        ({"query_id": "q", "doc_id": "d", "grade": 1, "note": "\ud800"}, "half of a surrogate"),
        ({"query_id": "q", "doc_id": "d", "grade": 1, "when": "yesterday"}, "ISO 8601"),
        ({"query_id": "q", "doc_id": "d", "grade": 1, "when": "2026-01-01T00:00"}, "needs its time zone"),
        ({"query_id": "q", "doc_id": "d", "grade": 1, "seconds": -1}, "no time spent"),
        ({"query_id": "q", "doc_id": "d", "grade": 1, "probability": 0}, "not above 0"),
        ({"query_id": "q", "doc_id": "d", "grade": 1, "repeat": 1}, "repeat: expected true or false"),
        (
            {"query_id": "q", "doc_id": "d", "grade": 1, "evidence": [{"start": 3}]},
            "evidence: expected a list",
        ),
        (
            {"query_id": "q", "doc_id": "d", "grade": 1, "evidence": [{"start": 3, "end": 1, "quote": ""}]},
            "no part",
        ),
        ({"query_id": "q", "doc_id": "d", "grade": 1, "model": "gpt"}, "model: expected an object"),
        (
            {"query_id": "q", "doc_id": "d", "grade": 1, "model": {"t": float("inf")}},
            "cannot be written as JSON",
        ),
        (
            {"query_id": "q", "doc_id": "d", "grade": 1, "adjudicates": True, "kind": "model"},
            "only a person's",
        ),
        ({"query_id": "q", "doc_id": "d", "rating": 1}, "unknown field 'rating'"),
    ],
)
def test_rows_that_cannot_stand(row: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Judgment.from_dict(row)


def test_a_time_is_kept_in_utc_and_orders_as_text() -> None:
    times = [
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.000001Z",
        "2026-01-01T01:00:00.5+01:00",
        "2026-01-01T00:00:01Z",
    ]
    written = [Judgment("q", "d", 1, when=time).when for time in times]
    assert written[0] == "2026-01-01T00:00:00.000+00:00"
    assert written == sorted(written)
    assert Judgment("q", "d", 1, when="").when == ""


def test_a_row_without_id_or_time_is_the_same_row_whenever_it_is_read() -> None:
    row = {"query_id": "q", "doc_id": "d", "grade": 2, "who": "ana"}
    assert Judgment.from_dict(row) == Judgment.from_dict({**row, "grade": 2.0, "note": None})
    assert Judgment.from_dict(row).id != Judgment.from_dict({**row, "grade": 1}).id
    assert Judgment.from_dict(row).id != Judgment.from_dict({**row, "when": at(1)}).id
    assert Judgment.from_dict(row).when == ""


# Small alphabets, so that rows meet: the same pair, the same person, one taking back another.
row_ids = st.sampled_from([f"r{i}" for i in range(8)])


@st.composite
def shared_rows(draw: st.DrawFn) -> list[Judgment]:
    """Rows with different ids, as several people's laptops could hold them; some take others back."""
    made = []
    for name in draw(st.lists(row_ids, unique=True, max_size=8)):
        fields = {
            "query_id": "q",
            "doc_id": draw(st.sampled_from("de")),
            "id": name,
            "when": at(draw(st.integers(0, 3))),
        }
        fields["who"] = draw(st.sampled_from(["ana", "bob"]))
        said = draw(st.sampled_from(["grade", "mark", "undoes"]))
        value = {"grade": draw(st.integers(0, 3)), "mark": "unsure", "undoes": draw(row_ids)}[said]
        made.append(Judgment.from_dict({**fields, said: value}))
    return made


def merged(*parts: list[Judgment]) -> list[Judgment]:
    with Book.open(":memory:") as book:
        for part in parts:
            book.merge(part)
        return book.rows()


@given(shared_rows(), st.lists(st.lists(st.integers(0, 7), max_size=8), min_size=3, max_size=3))
def test_merging_is_commutative_associative_and_idempotent(
    rows: list[Judgment], picks: list[list[int]]
) -> None:
    a, b, c = ([rows[i] for i in dict.fromkeys(pick) if i < len(rows)] for pick in picks)
    once = by_time({row.id: row for row in a + b + c}.values())
    for order in itertools.permutations([a, b, c]):
        assert by_time(merged(*order)) == once
    assert by_time(merged(merged(a, b), c)) == by_time(merged(a, merged(b, c))) == once
    assert by_time(merged(a, a, once, b, c)) == once
    # What stands, and so every label, is the same whatever the order.
    assert by_time(standing(merged(a, b, c))) == by_time(standing(merged(c, b, a)))


def test_merge_on_both(target: str) -> None:
    first = [
        Judgment("q", "d", 1, who="ana", when=at(2), id="b"),
        Judgment("q", "d", 2, who="bob", when=at(1), id="a"),
    ]
    with Book.open(target) as book:
        assert book.merge(first) == 2
        # In the order of their times.
        assert [row.id for row in book.rows()] == ["a", "b"]
        assert book.merge([*first, Judgment("q", "d", undoes="a", who="bob", id="c", when=at(0))]) == 1
        assert [row.id for row in book.standing()] == ["b"]


def test_two_rows_of_one_id_that_differ_are_refused_in_either_order(target: str) -> None:
    one = Judgment("q", "d", 1, who="ana", when=at(1), id="x")
    other = replace(one, grade=2)
    with Book.open(target) as book:
        book.merge([one])
        with pytest.raises(InputError, match="two rows have the id 'x' and differ"):
            book.merge([Judgment("q", "e", 1), other])
        assert book.rows() == [one], "all or none"
        with pytest.raises(InputError, match="differ"):
            book.merge([replace(other, id="y"), replace(one, id="y")])


def test_a_book_of_version_1_is_migrated_and_a_later_ones_is_refused(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy import text

    before = list(migrations.STEPS)
    monkeypatch.setattr(migrations, "STEPS", before[:1])
    monkeypatch.setattr("leadline.judging.book.STEPS", before[:1])
    with Book.open(target) as book:
        book.add([Judgment("q", "d", 2)])

    def further(connection: object) -> None:
        connection.execute(text("CREATE TABLE further (name TEXT)"))

    def failing(connection: object) -> None:
        connection.execute(text("CREATE TABLE half (name TEXT)"))
        raise ValueError("step failed")

    for steps in ([before[0], failing], [before[0], further]):
        monkeypatch.setattr(migrations, "STEPS", steps)
        monkeypatch.setattr("leadline.judging.book.STEPS", steps)
        if failing in steps:
            with pytest.raises(InputError, match="step failed"):
                Book.open(target)
    with Book.open(target) as book, book.engine.connect() as connection:
        assert [row.grade for row in book.rows()] == [2]
        assert connection.execute(text("SELECT count(*) FROM further")).scalar() == 0
        assert migrations.version_of(connection) == 2
    monkeypatch.setattr(migrations, "STEPS", before[:1])
    monkeypatch.setattr("leadline.judging.book.STEPS", before[:1])
    with pytest.raises(InputError, match="it has version 2, this Leadline knows 1; update Leadline"):
        Book.open(target)


def test_what_is_no_book(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such book"):
        Book.open(tmp_path / "none.db", create=False)
    with pytest.raises(InputError, match="cannot open the book: unable to open"):
        Book.open(tmp_path / "no" / "folder.db")
    (tmp_path / "text.db").write_text("q1 0 d1 1\n" * 100)
    with pytest.raises(InputError, match="file is not a database"):
        Book.open(tmp_path / "text.db")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE users (name TEXT)")
    other.commit()
    other.close()
    with pytest.raises(InputError, match="another program's database, with a table 'users'"):
        Book.open(tmp_path / "other.db")


def test_a_password_stays_out_of_messages() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(InputError) as caught:
        Book.open("postgresql://ana:secret@127.0.0.1:1/labels?password=secret&connect_timeout=2")
    assert "secret" not in str(caught.value) and "127.0.0.1:1/labels" in str(caught.value)


def test_a_path_may_hold_any_letter(tmp_path: Path) -> None:
    for name in ("a b.db", "a?mode=memory.db", "a%20#.db", "ü.db"):
        with Book.open(tmp_path / name) as book:
            book.add([Judgment("q", "d", 1)])
        assert (tmp_path / name).is_file()


def _open_and_add(target: str, start: object, name: str) -> None:
    start.wait()
    with Book.open(target) as book:
        book.add([Judgment("q", name, 1, who=name)])


def test_processes_that_open_a_new_book_at_once(target: str) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(4)
    workers = [context.Process(target=_open_and_add, args=(target, start, f"p{i}")) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 4
    with Book.open(target) as book:
        assert sorted(row.who for row in book.rows()) == ["p0", "p1", "p2", "p3"]


def test_writers_at_once_lose_nothing(target: str) -> None:
    failures = []
    with Book.open(target) as book:

        def work(who: str) -> None:
            try:
                for i in range(20):
                    assert book.add([Judgment("q", f"d{i}", i % 4, who=who)]) == 1
                    if i % 5 == 4:
                        assert book.undo(who).doc_id == f"d{i}"
                    book.rows()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(f"p{i}",)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        # Each of 8 gave 20 and took 4 back.
        assert len(book.rows()) == 8 * 24 and len(book.standing()) == 8 * 16


def test_no_two_rows_made_here_have_one_time() -> None:
    times = [Judgment("q", "d", 1).when for _ in range(2000)]
    assert times == sorted(set(times))


def test_a_file_is_written_through(tmp_path: Path) -> None:
    with Book.open(tmp_path / "j.db") as book, book.engine.connect() as connection:
        found = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")
        ]
    # 2 is FULL: the log is on disk before `add` returns, so that a power cut loses nothing either.
    assert found == ["wal", 2]


def test_opening_waits_where_sqlite_does_not() -> None:
    """Two that turn the log on at once: SQLite tells one of them at once that the file is locked."""

    class Locked:
        def __init__(self, words: str, times: int) -> None:
            self.words, self.times = words, times

        def execute(self, _: str) -> None:
            self.times -= 1
            if self.times >= 0:
                raise sqlite3.OperationalError(self.words)

    _into_wal(Locked("database is locked", 3))
    with pytest.raises(sqlite3.OperationalError, match="disk I/O"):
        _into_wal(Locked("disk I/O error", 1))


def test_a_database_without_a_book_is_not_made_one_by_looking(server_book: str) -> None:
    with pytest.raises(InputError, match="there is no book of judgments in it"):
        Book.open(server_book, create=False)
    with pytest.raises(InputError, match="there is no book of judgments in it"):
        Book.open(server_book, create=False)

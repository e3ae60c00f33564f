"""Saving, taking back and starting anew, on an SQLite file and on a PostgreSQL server."""

import threading
import time
import uuid
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any

import pytest
from office import setup
from sqlalchemy import text

from leadline.judging.book import Book
from leadline.judging.judgment import Judgment, standing
from leadline.web.desk import Desk, Given
from leadline.web.queue import Plan
from leadline.web.refusal import Refusal
from leadline.web.writer import BookFailure


@pytest.fixture
def desk(target: str) -> Any:
    made = Desk(setup(target))
    yield made
    made.close()


def given(name: str, grade: float | None = 1, **more: Any) -> Given:
    return Given(str(uuid.uuid4()), name, grade, **more)


def names(desk: Desk, who: str, count: int = 5) -> list[str]:
    return desk.next(who, count).result()[0]


def rows(target: str) -> list[Judgment]:
    with Book.open(target) as book:
        return book.rows()


def code(future: "Future[Any]") -> str:
    with pytest.raises(Refusal) as caught:
        future.result()
    return caught.value.code


def test_the_same_save_again_is_told_again_and_stored_once(desk: Desk, target: str) -> None:
    first = given(names(desk, "ana")[0])
    for _ in range(3):
        assert desk.save("ana", first).result().id == first.id
    assert [row.id for row in rows(target)] == [first.id]
    # Also after it was taken back: an answer that was lost on the way is not a new judgment.
    desk.undo("ana").result()
    assert desk.save("ana", first).result().progress.done == 0
    assert len(rows(target)) == 2


def test_an_id_belongs_to_one_judgment(desk: Desk) -> None:
    a, b = names(desk, "ana", 2)
    first = given(a)
    desk.save("ana", first).result()
    assert code(desk.save("ana", Given(first.id, b, 1))) == "id"
    assert code(desk.save("bob", first)) == "id"


def test_a_third_grade_is_refused_and_not_stored(target: str) -> None:
    """j09: the cap is hard when saving, whatever was given out."""
    desk = Desk(setup(target, 1, plan=Plan(overlap=1, people=2, repeats=0)))
    name = desk.setup.pairs[0].name
    for who in ("ana", "bob"):
        desk.save(who, given(name)).result()
    assert code(desk.save("carl", given(name))) == "full"
    # A mark takes no place; changing one's mind neither.
    desk.save("carl", given(name, None, mark="unsure")).result()
    desk.save("bob", given(name, 3)).result()
    desk.close()
    stands = standing(rows(target))
    assert [(row.who, row.grade, row.mark) for row in stands] == [
        ("ana", 1, None),
        ("carl", None, "unsure"),
        ("bob", 3, None),
    ]


def test_the_cap_holds_while_fifty_save_at_once(target: str) -> None:
    desk = Desk(setup(target, 3, plan=Plan(overlap=1, people=2, repeats=0)))
    futures = [desk.save(f"p{i}", given(one.name)) for i in range(50) for one in desk.setup.pairs]
    wait(futures)
    done = [future for future in futures if future.exception() is None]
    assert len(done) == 6
    desk.close()
    assert sorted(row.doc_id for row in rows(target)) == ["d0", "d0", "d1", "d1", "d2", "d2"]


def test_nothing_acknowledged_is_missing_after_many_at_once(desk: Desk, target: str) -> None:
    """Thirty pairs from thirty threads, each with its own order of saving and taking back."""
    told: list[str] = []

    def work(place: int) -> None:
        one = desk.setup.pairs[place]
        told.append(desk.save(f"p{place}", given(one.name, place % 4)).result().id)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(row.id for row in rows(target)) == sorted(told) and len(told) == 30


def test_what_waits_goes_to_the_disk_together(desk: Desk) -> None:
    """Ten saves that wait for the thread are not ten transactions."""
    count = 0
    whole = desk.book.writing

    def counted() -> Any:
        nonlocal count
        count += 1
        return whole()

    desk.book.writing = counted  # type: ignore[method-assign]
    gate = threading.Event()
    held = desk.ask(lambda batch: gate.wait(10))
    futures = [desk.save("ana", given(one.name)) for one in desk.setup.pairs[:10]]
    gate.set()
    wait([held, *futures])
    # The first job of a batch may have taken some of the saves with it.
    assert 1 <= count <= 2 and all(future.result().id for future in futures)


def test_undo_goes_as_deep_as_there_are_judgments(desk: Desk, target: str) -> None:
    """j48: judge p1 2, p2 0, undo three times: nothing stands, the third did nothing, four rows."""
    p1, p2 = names(desk, "ana", 2)
    desk.save("ana", given(p1, 2)).result()
    desk.save("ana", given(p2, 0)).result()
    first, second, third = (desk.undo("ana").result() for _ in range(3))
    assert (first[0], first[1] and first[1].grade) == (p2, 0)
    assert (second[0], second[1] and second[1].grade) == (p1, 2)
    assert third[:2] == (None, None)
    assert len(rows(target)) == 4 and standing(rows(target)) == []
    # The pairs are there again, in their old places.
    assert names(desk, "ana", 2) == [p1, p2]


def test_undo_is_of_ones_own_and_of_this_pool(desk: Desk, target: str) -> None:
    desk.save("bob", given(desk.setup.pairs[0].name)).result()
    with Book.open(target) as book:
        book.add([Judgment("elsewhere", "d0", 1, who="ana")])
    assert desk.undo("ana").result()[0] is None


def test_a_changed_mind_takes_the_first_judgment_back(desk: Desk, target: str) -> None:
    name = names(desk, "ana")[0]
    desk.save("ana", given(name, 0)).result()
    desk.save("ana", given(name, 3)).result()
    assert [row.grade for row in rows(target)] == [0, None, 3]
    assert [row.grade for row in standing(rows(target))] == [3]
    assert desk.progress("ana").result().done == 1


def test_nought_is_a_grade(desk: Desk) -> None:
    """j32."""
    name = names(desk, "ana")[0]
    desk.save("ana", given(name, 0)).result()
    own = desk.look("ana", name).result()
    assert own is not None and own.grade == 0 and own.mark is None
    assert desk.progress("ana").result().done == 1
    desk.undo("ana").result()
    assert desk.look("ana", name).result() is None


def test_a_restart_loses_nothing(target: str) -> None:
    desk = Desk(setup(target))
    held, done = names(desk, "ana", 3), names(desk, "bob", 4)
    desk.save("bob", given(done[0])).result()
    desk.close()
    desk = Desk(setup(target))
    # Ana's and Bob's reservations still hold: nobody else gets them.
    assert names(desk, "ana", 3) == held
    assert names(desk, "bob", 3) == done[1:]
    assert not set(names(desk, "eve", 30)) & {*held, *done}
    assert desk.progress("bob").result().done == 1
    desk.close()


def test_rows_of_another_program_are_seen(desk: Desk, target: str) -> None:
    one = desk.setup.pairs[0]
    with Book.open(target) as book:
        book.add([Judgment(one.query_id, one.doc_id, 2, who="bob")])
    # Saving asks the book inside its transaction: the place is taken.
    assert code(desk.save("ana", given(one.name))) == "full"
    with Book.open(target) as book:
        book.undo("bob")
    desk.save("ana", given(one.name)).result()


def test_two_servers_of_one_book_give_out_no_pair_twice(target: str) -> None:
    first, second = Desk(setup(target)), Desk(setup(target))
    ana, bob = names(first, "ana", 20), names(second, "bob", 20)
    assert not set(ana) & set(bob) and len(ana) == 20 and len(bob) == 10
    first.save("ana", given(ana[0])).result()
    assert code(second.save("bob", given(ana[0]))) == "full"
    first.close()
    second.close()


def test_a_transaction_that_fails_stores_nothing_and_the_next_one_works(desk: Desk, target: str) -> None:
    name = names(desk, "ana")[0]
    whole = desk.book.writing
    broken = [True]

    def failing() -> Any:
        from contextlib import contextmanager

        from sqlalchemy.exc import OperationalError

        @contextmanager
        def writing() -> Any:
            with whole() as connection:
                yield connection
                if broken[0]:
                    raise OperationalError("COMMIT", {}, Exception("disk full"))

        return writing()

    desk.book.writing = failing  # type: ignore[method-assign]
    one = given(name)
    with pytest.raises(BookFailure, match="disk full"):
        desk.save("ana", one).result()
    assert rows(target) == [] and desk.progress("ana").result().done == 0
    broken[0] = False
    assert desk.save("ana", one).result().progress.done == 1
    assert [row.id for row in rows(target)] == [one.id]


def test_one_that_is_refused_does_not_hold_the_others_back(desk: Desk, target: str) -> None:
    gate = threading.Event()
    held = desk.ask(lambda batch: gate.wait(10))
    a, b = desk.setup.pairs[:2]
    good = desk.save("ana", given(a.name))
    bad = desk.save("ana", Given(str(uuid.uuid4()), b.name, 1, text_hash="other"))
    fault = desk.ask(lambda batch: 1 / 0)
    gate.set()
    held.result()
    assert good.result().id and code(bad) == "changed"
    with pytest.raises(ZeroDivisionError):
        fault.result()
    assert [row.doc_id for row in rows(target)] == [a.doc_id]


def test_one_who_has_gone_away_does_not_stop_the_thread(desk: Desk) -> None:
    gate = threading.Event()
    held = desk.ask(lambda batch: gate.wait(10))
    gone = desk.save("ana", given(desk.setup.pairs[0].name))
    assert gone.cancel()
    gate.set()
    held.result()
    assert desk.progress("ana").result().done == 0


def test_the_row_says_all_that_was_known(target: str) -> None:
    from dataclasses import replace

    from leadline.judging.judgment import Span

    made = setup(target)
    made = replace(made, pairs=[replace(made.pairs[0], probability=0.25, stratum="deep"), *made.pairs[1:]])
    desk = Desk(made)
    name = made.pairs[0].name
    spans = (Span(0, 4, "text"),)
    desk.save("ana", given(name, 2, evidence=spans, note="why", seconds=3.5)).result()
    desk.close()
    row = rows(target)[0]
    assert (row.evidence, row.note, row.seconds) == (spans, "why", 3.5)
    assert (row.probability, row.stratum, row.kind, row.repeat) == (0.25, "deep", "person", False)
    assert row.guideline == made.rules.version and row.text_hash == made.documents.by_id["d0"].hash


def test_a_decision_takes_no_place_and_replaces_the_one_before(desk: Desk, target: str) -> None:
    name = names(desk, "ana")[0]
    desk.save("ana", given(name, 0)).result()
    desk.adjudicate("eve", given(name, 1)).result()
    last = given(name, 2)
    assert desk.adjudicate("eve", last).result() == desk.adjudicate("eve", last).result() == last.id
    stands = standing(rows(target))
    assert [(row.who, row.grade, row.adjudicates) for row in stands] == [("ana", 0, False), ("eve", 2, True)]
    # Undoing on the judging screen is not meant for decisions.
    assert desk.undo("eve").result()[0] is None


def test_pace_leaves_pauses_out(tmp_path: Path) -> None:
    """Judgments at 0, 10, 20 s, then a break of an hour, then 10 s: gaps 10, 10, 10: 360 an hour."""
    book = str(tmp_path / "b.db")
    at = ["00:00:00", "00:00:10", "00:00:20", "01:00:20", "01:00:30"]
    with Book.open(book) as opened:
        opened.add(
            Judgment(f"q{i % 3}", f"d{i}", 1, who="ana", when=f"2026-01-01T{when}Z")
            for i, when in enumerate(at)
        )
    desk = Desk(setup(book))
    progress = desk.progress("ana").result()
    assert (progress.done, progress.total) == (5, 30)
    assert progress.per_hour == 360 and progress.remaining_seconds == 25 * 10
    assert desk.progress("bob").result().per_hour is None
    desk.close()


def test_reservations_that_have_run_out_are_cleared_away(tmp_path: Path) -> None:
    desk = Desk(setup(str(tmp_path / "b.db"), plan=Plan(overlap=0, repeats=0, reserve=0.2)))
    names(desk, "ana", 5)
    time.sleep(0.3)
    names(desk, "bob", 2)
    with desk.book.engine.connect() as connection:
        held = connection.execute(text("SELECT who FROM reservations")).scalars().all()
    assert held == ["bob", "bob"]
    desk.close()

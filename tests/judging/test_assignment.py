"""Who judges which pair: how many, in which order, and what is not stored."""

import threading
from collections import Counter

import pytest

from leadline.errors import UsageError
from leadline.judging.assignment import Places, chance, is_repeated, order_for, persons_wanted, to_repeat
from leadline.judging.book import Book, insert, rows_in
from leadline.judging.judgment import Judgment

PAIRS = [("q", f"p{i}") for i in range(1, 6)]


def test_j09_overlap_counts_grades_of_persons_and_the_limit_is_hard() -> None:
    p1, p2 = ("q", "p1"), ("q", "p2")
    rows = [
        Judgment(*p1, 2, who="ana"),
        Judgment(*p1, mark="unsure", who="bob"),
        Judgment(*p1, 3, who="llm:x", kind="model"),
        Judgment(*p2, 1, who="ana"),
        Judgment(*p2, 1, who="bob"),
    ]
    places = Places(rows)
    assert places.graded_by(p1) == {"ana"} and places.free(p1, 2) == 1
    # Bob is not asked again what he was not sure of.
    assert [who for who in ("ana", "bob", "carl") if places.is_open(p1, who, 2)] == ["carl"]
    assert not any(places.is_open(p2, who, 2) for who in ("ana", "bob", "carl"))
    # A third grade of p2 is refused; changing one's own, a mark, a repeat, a model's and a lead's are not.
    assert not places.fits(Judgment(*p2, 0, who="carl"), 2)
    for row in (
        Judgment(*p2, 0, who="bob"),
        Judgment(*p2, mark="broken", who="carl"),
        Judgment(*p2, 0, who="carl", repeat=True),
        Judgment(*p2, 0, who="llm:x", kind="model"),
        Judgment(*p2, 0, who="lead", adjudicates=True),
    ):
        assert places.fits(row, 2)
    # A place that is given up is free again.
    back = Judgment(*p2, who="bob", undoes=rows[4].id)
    assert Places([*rows, back]).is_open(p2, "carl", 2) and Places([*rows, back]).is_open(p2, "bob", 2)


def test_two_who_save_at_once_for_one_place(target: str) -> None:
    """The check and the save are one transaction: of eight persons two get a place."""
    stored = []
    with Book.open(target) as book:

        def save(who: str) -> None:
            row = Judgment("q", "p", 1, who=who)
            with book.writing() as connection:
                if Places(rows_in(connection)).fits(row, 2):
                    insert(connection, [row])
                    stored.append(who)

        threads = [threading.Thread(target=save, args=(f"p{i}",)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(stored) == 2 == len(book.standing())


def test_j47_order_for_each_assessor() -> None:
    ana = order_for("ana", PAIRS, "set-7")
    # After a reload, from whatever order the pairs come in; every pair once.
    assert order_for("ana", PAIRS[::-1], "set-7") == ana
    assert sorted(ana) == PAIRS
    assert ana != order_for("bob", PAIRS, "set-7") or ana != order_for("ana", PAIRS, "set-8")
    # A pair more does not move the others.
    more = order_for("ana", [*PAIRS, ("q", "p6")], "set-7")
    assert [pair for pair in more if pair != ("q", "p6")] == ana
    # Every place is as likely for every pair: the first of 1,000 assessors' orders.
    first = Counter(order_for(f"a{i}", PAIRS, "s")[0] for i in range(1000))
    assert all(150 < count < 250 for count in first.values()), first


def test_words_are_kept_apart() -> None:
    assert chance("s", "ab", "c") != chance("s", "a", "bc")
    draws = [chance("s", str(i)) for i in range(4000)]
    assert all(0 <= one < 1 for one in draws)
    assert abs(sum(draws) / 4000 - 0.5) < 0.02


def test_shares() -> None:
    pairs = [("q", str(i)) for i in range(4000)]
    assert {persons_wanted(pair, "s", 0) for pair in pairs} == {1}
    assert {persons_wanted(pair, "s", 1, 3) for pair in pairs} == {3}
    share = sum(persons_wanted(pair, "s", 0.1) == 2 for pair in pairs) / 4000
    assert 0.085 < share < 0.115
    assert 0.04 < sum(is_repeated(pair, "ana", "s") for pair in pairs) / 4000 < 0.06
    with pytest.raises(UsageError, match="not possible"):
        persons_wanted(("q", "d"), "s", 1.5)


def test_what_is_shown_once_more() -> None:
    rows = [Judgment(*pair, 1, who="ana", id=pair[1]) for pair in PAIRS]
    assert sorted(to_repeat("ana", PAIRS, rows, "s", 1)) == PAIRS
    assert to_repeat("bob", PAIRS, rows, "s", 1) == []
    repeated = Judgment(*PAIRS[0], 1, who="ana", repeat=True, id="again")
    assert PAIRS[0] not in to_repeat("ana", PAIRS, [*rows, repeated], "s", 1)
    back = Judgment(*PAIRS[0], who="ana", undoes="again")
    assert PAIRS[0] in to_repeat("ana", PAIRS, [*rows, repeated, back], "s", 1)
    # What was marked is not graded, and not asked twice.
    marked = Judgment(*PAIRS[1], mark="skip", who="ana", when="2999-01-01T00:00:00Z")
    assert PAIRS[1] not in to_repeat("ana", PAIRS, [*rows, marked], "s", 1)

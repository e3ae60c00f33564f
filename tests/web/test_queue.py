"""Who judges what next: orders, overlap, repeats, reservations; and the counts against a recount."""

import uuid
from inspect import signature
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from office import pair

from leadline.cli.judge import judge
from leadline.cli.serve import serve
from leadline.judging.assignment import is_repeated
from leadline.judging.judgment import Judgment
from leadline.web.pairs import Pair
from leadline.web.queue import APART, BAND, Plan, Queue, again
from leadline.web.tally import Tally

NOW = 1000.0


class Room:
    """A queue with its tally, told of every row as the desk tells it."""

    def __init__(self, count: int, plan: Plan) -> None:
        self.tally = Tally()
        self.pairs: list[Pair] = [pair(f"q{i % 3}", f"d{i}", i) for i in range(count)]
        self.plan = plan
        self.queue = Queue(self.pairs, plan, self.tally)

    def say(self, name: str, who: str, grade: float | None = 1, **more: object) -> Judgment:
        found = self.queue.find(name)
        assert found is not None
        one, repeat = found
        row = Judgment(one.query_id, one.doc_id, grade, who=who, repeat=repeat, **more)  # type: ignore[arg-type]
        return self.take(row)

    def take(self, row: Judgment) -> Judgment:
        changed = self.tally.absorb(row)
        if changed is not None:
            self.queue.note(changed)
        return row

    def all(self, who: str) -> list[str]:
        return self.queue.next(who, 10_000, NOW)


def test_one_pair_in_ten_for_two_and_one_in_twenty_again() -> None:
    """What is shared out where nobody says otherwise, in the plan and at the command line."""
    plan = Plan()
    assert (plan.overlap, plan.people, plan.repeats) == (0.1, 2, 0.05)
    for command in (judge, serve):
        given = signature(command).parameters
        assert [given[name].default for name in ("overlap", "people", "repeats")] == [0.1, 2, 0.05]
    room = Room(2000, plan)
    wanted = [room.queue.wanted(name) for name in room.queue.pairs]
    # The draw is by hash: 200 and 100 of 2000, give or take four standard deviations (√(2000·p·(1 − p)) = 13 and 10).
    assert set(wanted) == {1, 2} and abs(wanted.count(2) - 200) <= 54
    twice = [is_repeated((one.query_id, one.doc_id), "ana", plan.seed, plan.repeats) for one in room.pairs]
    assert abs(sum(twice) - 100) <= 40


def test_everybody_has_an_order_of_their_own_that_stays() -> None:
    """j47: the same after a reload, every pair once over all pages."""
    room = Room(5, Plan(seed="set-7", overlap=0, repeats=0))
    ana, bob = room.all("ana"), room.all("bob")
    again_made = Room(5, Plan(seed="set-7", overlap=0, repeats=0))
    assert again_made.all("ana") == ana
    assert sorted(ana) == sorted(bob) == sorted(room.queue.pairs)
    pages = []
    for _ in range(5):
        pages += room.queue.next("ana", 1, NOW)
        room.say(pages[-1], "ana")
    assert pages == ana
    many = Room(100, Plan(overlap=0, repeats=0))
    assert many.all("ana") != many.all("bob") != [one.name for one in many.pairs]


def test_a_pair_of_the_pool_that_nobody_judged_takes_no_place() -> None:
    """A sampled pool in the book has −1 where nobody judged; under a person's name it is still nobody's grade."""
    room = Room(4, Plan(overlap=0, repeats=0))
    for one in room.pairs:
        room.take(Judgment(one.query_id, one.doc_id, -1, who="pool", stratum="1-10", when=""))
    assert len(room.all("ana")) == 4
    room.say(room.all("ana")[0], "ana", 0)
    assert len(room.all("bob")) == 3


def test_the_file_order_is_kept_in_bands_and_a_query_stays_together() -> None:
    room = Room(60, Plan(order="file", overlap=0, repeats=0))
    places = [room.queue.pairs[name].place for name in room.all("ana")]
    assert [place // BAND for place in places] == sorted(place // BAND for place in places)
    assert places != sorted(places)
    room = Room(60, Plan(order="query", overlap=0, repeats=0))
    queries = [room.queue.pairs[name].query_id for name in room.all("ana")]
    assert sum(a != b for a, b in pairwise(queries)) == 2


def test_only_people_with_a_grade_take_a_place() -> None:
    """j09: overlap 2; p1 has one person's grade, one unsure and a model's: open. p2 has two: closed."""
    room = Room(2, Plan(overlap=1, people=2, repeats=0))
    p1, p2 = (one.name for one in room.pairs)
    room.say(p1, "ana")
    room.say(p1, "bob", None, mark="unsure")
    room.say(p1, "llm:x", kind="model")
    room.say(p2, "ana")
    room.say(p2, "bob")
    key = ("q0", "d0")
    assert room.tally.graders(key) == {"ana"}
    assert room.all("carl") == [p1]
    assert room.queue.has_room(p1, "carl") and not room.queue.has_room(p2, "carl")
    # Who has a place may change their mind.
    assert room.queue.has_room(p2, "bob")
    # Who was unsure is not asked again, though there is room.
    assert room.all("bob") == []


def test_a_share_of_the_pairs_is_for_several_people() -> None:
    room = Room(1000, Plan(overlap=0.1, people=3, repeats=0))
    wanted = [room.queue.wanted(one.name) for one in room.pairs]
    # Binomial(1000, .1): 100 ± 4 standard deviations of 9.5.
    assert 62 < wanted.count(3) < 138 and wanted.count(1) == 1000 - wanted.count(3)


def test_a_pair_that_is_held_is_not_given_to_another_until_the_time_is_over() -> None:
    room = Room(3, Plan(overlap=0, repeats=0, reserve=60))
    mine = room.queue.next("ana", 2, NOW)
    assert set(room.queue.hold(mine, "ana", NOW)) == set(mine)
    others = room.queue.next("bob", 3, NOW + 59)
    assert len(others) == 1 and not set(others) & set(mine)
    # Asking again gives the same, and renews only in the second half.
    assert room.queue.next("ana", 2, NOW) == mine
    assert room.queue.hold(mine, "ana", NOW + 29) == {}
    assert len(room.queue.next("bob", 3, NOW + 61)) == 3
    assert room.queue.hold(mine, "ana", NOW + 31) == dict.fromkeys(mine, NOW + 91)
    room.queue.release(mine[0], "ana")
    assert mine[0] in room.queue.next("bob", 3, NOW + 32)


def test_of_two_places_a_grade_and_a_reservation_take_one_each() -> None:
    room = Room(1, Plan(overlap=1, people=2, repeats=0, reserve=60))
    name = room.pairs[0].name
    room.queue.hold([name], "ana", NOW)
    assert room.queue.next("bob", 1, NOW) == [name]
    room.queue.hold([name], "bob", NOW)
    assert room.queue.next("eve", 1, NOW) == []
    room.say(name, "ana")
    # Ana's grade and Bob's reservation.
    assert room.queue.next("eve", 1, NOW + 1) == []
    assert room.queue.next("eve", 1, NOW + 61) == [name]


def test_some_pairs_come_once_more_unseen_and_late() -> None:
    room = Room(300, Plan(overlap=0, repeats=0.2))
    shown: list[str] = []
    done_last = 0
    while names := room.queue.next("ana", 1, NOW):
        done = room.queue.progress("ana")[0]
        assert done >= done_last
        done_last = done
        shown.append(names[0])
        room.say(names[0], "ana")
    firsts = [name for name in shown if name in room.queue.pairs]
    repeats = [name for name in shown if name not in room.queue.pairs]
    assert sorted(firsts) == sorted(room.queue.pairs)
    # Binomial(280, .2): 56 ± 4 standard deviations of 6.7; none twice.
    assert 29 < len(repeats) < 83 and len(set(repeats)) == len(repeats)
    for name in firsts:
        if again(name) in repeats:
            apart = shown.index(again(name)) - shown.index(name)
            assert apart > min(APART, 5)
    assert room.queue.progress("ana") == (len(shown), 0, 0)


def test_the_total_does_not_tell_which_pairs_come_again() -> None:
    """A total that grew when such a pair is judged would."""
    room = Room(200, Plan(overlap=0, repeats=0.2))
    totals = set()
    for _ in range(150):
        done, left, _ = room.queue.progress("ana")
        totals.add(done + left)
        room.say(room.queue.next("ana", 1, NOW)[0], "ana")
    assert len(totals) == 1


def test_what_was_skipped_is_a_list_to_come_back_to() -> None:
    room = Room(3, Plan(overlap=0, repeats=0))
    first, second, third = room.all("ana")
    room.say(first, "ana", None, mark="skip")
    assert room.all("ana") == [second, third] and room.queue.skipped("ana", 5) == [first]
    # For others it is open.
    assert first in room.all("bob")
    assert room.queue.progress("ana") == (0, 2, 1)
    room.say(first, "bob")
    assert room.queue.skipped("ana", 5) == []


def test_a_pair_that_another_has_taken_back_is_open_again() -> None:
    room = Room(3, Plan(overlap=0, repeats=0))
    order = room.all("ana")
    row = room.say(order[0], "bob")
    assert room.all("ana") == order[1:]
    room.take(Judgment(row.query_id, row.doc_id, who="bob", undoes=row.id))
    assert room.all("ana") == order


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["ana", "bob", "eve"]),
        st.sampled_from(["grade", "unsure", "skip", "undo", "model", "adjudicate"]),
        st.integers(0, 11),
    ),
    max_size=60,
)


@given(ACTIONS, st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=60)
def test_counts_are_those_of_a_recount(actions: list[tuple[str, str, int]], overlap: float) -> None:
    """What is kept row by row equals what a queue that begins with all the rows finds."""
    plan = Plan(overlap=overlap, repeats=0)
    room = Room(12, plan)
    for who, what, place in actions:
        # Both keep something for later: where the open pairs begin, and what is left.
        for one in ("ana", "bob", "eve"):
            room.queue.progress(one)
            room.queue.next(one, 1, NOW)
        name = room.pairs[place].name
        own = room.tally.own((room.pairs[place].query_id, room.pairs[place].doc_id), who)
        if what == "undo":
            for row in room.tally.newest_of(who):
                room.take(Judgment(row.query_id, row.doc_id, who=who, undoes=row.id))
                break
            continue
        if own is not None and what not in ("model", "adjudicate"):
            room.take(Judgment(own.query_id, own.doc_id, who=who, undoes=own.id))
        if what == "model":
            room.say(name, who, kind="model")
        elif what == "adjudicate":
            room.say(name, who, adjudicates=True)
        elif what != "grade":
            room.say(name, who, None, mark=what)
        elif room.queue.has_room(name, who):
            room.say(name, who)
    fresh = Queue(room.pairs, plan, room.tally)
    for who in ("ana", "bob", "eve"):
        assert room.queue.progress(who) == fresh.progress(who)
        assert room.queue.next(who, 50, NOW) == fresh.next(who, 50, NOW)
        opened = [
            one.name
            for one in room.pairs
            if room.tally.own((one.query_id, one.doc_id), who) is None
            and len(room.tally.graders((one.query_id, one.doc_id))) < room.queue.wanted(one.name)
        ]
        assert sorted(room.queue.next(who, 50, NOW)) == sorted(opened)
        assert room.queue.progress(who)[1] == len(opened)


def test_a_row_may_come_twice_and_after_its_undoing() -> None:
    room = Room(1, Plan(overlap=0, repeats=0))
    row = Judgment("q0", "d0", 1, who="ana", id=uuid.uuid4().hex)
    room.take(Judgment("q0", "d0", who="ana", undoes=row.id))
    room.take(row)
    room.take(row)
    assert room.all("ana") == [room.pairs[0].name] and len(room.tally.rows) == 2

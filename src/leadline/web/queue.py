"""Who judges what next: a stable order for each person, pairs for several people, pairs shown again, reservations.

Orders, overlap and repeats are those of `leadline.judging.assignment`; here they are kept up to date row by row, so
that a save costs the same in a pool of a hundred pairs and of a hundred thousand.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from leadline.judging.assignment import chance, is_repeated, order_for, persons_wanted
from leadline.judging.judgment import Judgment
from leadline.web.pairs import Pair
from leadline.web.tally import Key, Tally

Order = Literal["shuffled", "query", "file"]
ORDERS = ("shuffled", "query", "file")
BAND = 20
"""With the order `file`: pairs of the file that are shuffled among themselves, so that a place says no rank."""
APART = 20
"""A pair is shown to the same person again after at least so many others."""
APART_AT_END = 5
"""And where nothing else is left, after so many."""


@dataclass(frozen=True)
class Plan:
    """How the work is shared out.

    Attributes
    ----------
    overlap: the share of pairs that `people` persons judge; the others are judged by one.
    repeats: the share of pairs that a person is shown once more. reserve: seconds that a pair is held for a person.
    """

    seed: str = "leadline"
    order: Order = "shuffled"
    overlap: float = 0.1
    people: int = 2
    repeats: float = 0.05
    reserve: float = 900.0


def again(name: str) -> str:
    """The opaque name under which a pair is shown once more."""
    return hashlib.sha256(f"again:{name}".encode()).hexdigest()[:20]


@dataclass
class _Person:
    """One person's order and what they have done of it.

    `first`: no pair of the order before it is open. `both`: of the pairs seen, how many are full.
    `at`: when each graded pair was graded, counted in the person's own judgments.
    """

    order: list[str]
    chosen: frozenset[str]
    first: int = 0
    seen: set[str] = field(default_factory=set)
    skipped: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)
    at: dict[str, int] = field(default_factory=dict)
    count: int = 0
    both: int = 0


class Queue:
    """The queue of all people over the pairs of one file. Used by one thread only, the writer's."""

    def __init__(self, pairs: Sequence[Pair], plan: Plan, tally: Tally) -> None:
        self.plan, self.tally = plan, tally
        self.pairs: dict[str, Pair] = {pair.name: pair for pair in pairs}
        self.by_key: dict[Key, str] = {(pair.query_id, pair.doc_id): pair.name for pair in pairs}
        self._originals = {again(name): name for name in self.pairs}
        self._wanted = {
            name: persons_wanted(key, plan.seed, plan.overlap, plan.people)
            for key, name in self.by_key.items()
        }
        self._held: dict[str, dict[str, float]] = {}
        self._full: set[str] = set()
        self._people: dict[str, _Person] = {}
        for name, pair in self.pairs.items():
            if len(tally.graders((pair.query_id, pair.doc_id))) >= self.wanted(name):
                self._full.add(name)

    def find(self, name: str) -> tuple[Pair, bool] | None:
        """The pair of an opaque name, and whether the name is that of its second showing."""
        if name in self.pairs:
            return self.pairs[name], False
        original = self._originals.get(name)
        return None if original is None else (self.pairs[original], True)

    def name_of(self, row: Judgment) -> str | None:
        """The opaque name of a judgment's pair; None for a pair that is not in the file."""
        name = self.by_key.get((row.query_id, row.doc_id))
        return again(name) if name is not None and row.repeat else name

    def wanted(self, name: str) -> int:
        """How many people's grades a pair wants."""
        return self._wanted[name]

    def has_room(self, name: str, who: str) -> bool:
        """Whether one more grade of this person keeps to the number wanted; their own grade makes room for its successor."""
        graders = self.tally.graders(self._key(name))
        return who in graders or len(graders) < self.wanted(name)

    def is_open(self, name: str, who: str, now: float) -> bool:
        """Whether a pair may be given to a person: not seen by them, and not graded or held by enough others."""
        if name in self._full or name in self._person(who).seen:
            return False
        held = {other for other, until in self._held.get(name, {}).items() if until > now and other != who}
        return len(self.tally.graders(self._key(name)) | held) < self.wanted(name)

    def next(self, who: str, count: int, now: float) -> list[str]:
        """The opaque names of the first pairs that are open to a person, those to be shown again among them, last."""
        person = self._person(who)
        due = self._due(person)[:count]
        while person.first < len(person.order) and not self._may_open(person, person.order[person.first]):
            person.first += 1
        found: list[str] = []
        for name in person.order[person.first :] if len(due) < count else ():
            if self.is_open(name, who, now):
                found.append(name)
                if len(found) + len(due) == count:
                    break
        return found + [again(name) for name in due]

    def skipped(self, who: str, count: int) -> list[str]:
        """The opaque names of pairs that a person has skipped and may still judge, in their order."""
        person = self._person(who)
        left = [name for name in person.skipped if name not in self._full]
        return sorted(left, key=person.order.index)[:count]

    def to_hold(self, names: Iterable[str], who: str, now: float) -> list[str]:
        """Those of the pairs whose reservation has to be written: new ones, and old ones in their second half."""
        soon = now + self.plan.reserve / 2
        firsts = [name for name in names if name in self.pairs]
        return [name for name in firsts if self._held.get(name, {}).get(who, 0.0) < soon]

    def hold(self, names: Iterable[str], who: str, now: float) -> dict[str, float]:
        """Reserve pairs for a person. Those whose reservation has to be written, with the time until which it holds."""
        written = {}
        for name in self.to_hold(names, who, now):
            written[name] = self._held.setdefault(name, {})[who] = now + self.plan.reserve
        return written

    def restore(self, held: Iterable[tuple[str, str, float]]) -> None:
        """Take in reservations (pair, person, until) as the database has them; earlier ones are forgotten."""
        self._held = {}
        for name, who, until in held:
            self._held.setdefault(name, {})[who] = until

    def release(self, name: str, who: str) -> None:
        """Let a pair go."""
        self._held.get(name, {}).pop(who, None)

    def note(self, row: Judgment) -> None:
        """Bring the counts up to date with a row that has just begun or ended to stand."""
        name = self.by_key.get((row.query_id, row.doc_id))
        if name is None:
            return
        key = (row.query_id, row.doc_id)
        before = name in self._full
        after = len(self.tally.graders(key)) >= self.wanted(name)
        if before != after:
            (self._full.add if after else self._full.discard)(name)
            for person in self._people.values():
                person.both += (name in person.seen) * (1 if after else -1)
                person.first = person.first if after else 0
        own = self._people.get(row.who)
        if own is not None and row.kind == "person":
            own.count += 1
            self._look(own, row.who, name)
            own.first = own.first if name in own.seen else 0

    def progress(self, who: str) -> tuple[int, int, int]:
        """What a person has done, what is left to them, and how many of the pairs they skipped."""
        person = self._person(who)
        left = len(self.pairs) - len(self._full) - len(person.seen) + person.both
        if left:
            pending = sum(name in person.at and name not in person.repeated for name in person.chosen)
            left += pending + sum(
                name not in self._full and name not in person.seen for name in person.chosen
            )
        else:
            left = len(self._due(person))
        return len(person.seen) - len(person.skipped) + len(person.repeated), left, len(person.skipped)

    def _key(self, name: str) -> Key:
        pair = self.pairs[name]
        return pair.query_id, pair.doc_id

    def _may_open(self, person: _Person, name: str) -> bool:
        return name not in self._full and name not in person.seen

    def _due(self, person: _Person) -> list[str]:
        """Pairs to show again now, the longest ago first."""
        left = len(self.pairs) - len(self._full) - len(person.seen) + person.both
        apart = APART if left else APART_AT_END
        waiting = [name for name in person.chosen if name in person.at and name not in person.repeated]
        due = [name for name in waiting if person.count - person.at[name] >= apart]
        return sorted(due, key=lambda name: person.at[name])

    def _person(self, who: str) -> _Person:
        if who not in self._people:
            order = self._order(who)
            early = order[: max(0, len(order) - APART)]
            plan = self.plan
            chosen = frozenset(
                name for name in early if is_repeated(self._key(name), who, plan.seed, plan.repeats)
            )
            person = self._people[who] = _Person(order, chosen)
            for row in self.tally.of_person(who):
                name = self.by_key.get((row.query_id, row.doc_id))
                if name is not None:
                    person.count += 1
                    self._look(person, who, name)
        return self._people[who]

    def _order(self, who: str) -> list[str]:
        order = [self.by_key[key] for key in order_for(who, self.by_key, self.plan.seed)]
        if self.plan.order == "file":
            order.sort(key=lambda name: self.pairs[name].place // BAND)
        elif self.plan.order == "query":
            order.sort(key=lambda name: chance(self.plan.seed, "query", who, self.pairs[name].query_id))
        return order

    def _look(self, person: _Person, who: str, name: str) -> None:
        """What a person has done of one pair, from what stands."""
        key = self._key(name)
        own, second = self.tally.own(key, who), self.tally.own(key, who, repeat=True)
        full = name in self._full
        if (own is not None) != (name in person.seen):
            person.both += full * (1 if own is not None else -1)
        (person.seen.add if own is not None else person.seen.discard)(name)
        is_skipped = own is not None and own.mark == "skip"
        (person.skipped.add if is_skipped else person.skipped.discard)(name)
        (person.repeated.add if second is not None else person.repeated.discard)(name)
        if own is None or own.grade is None:
            person.at.pop(name, None)
        else:
            person.at.setdefault(name, person.count)

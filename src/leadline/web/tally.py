"""What the book says, kept in memory: the standing judgments by pair and by person, brought up to date row by row."""

from collections.abc import Iterable

from leadline.judging.judgment import Judgment

Key = tuple[str, str]
"""A pair as the book knows it: query_id, doc_id."""


class Tally:
    """The rows of a book and which of them stand; `absorb` may be given a row twice, and a row after its undoing.

    Used by one thread only, the writer's.

    >>> tally = Tally()
    >>> _ = tally.absorb(Judgment("q", "d", 2, who="ana", id="a"))
    >>> tally.graders(("q", "d"))
    {'ana'}
    >>> _ = tally.absorb(Judgment("q", "d", who="ana", undoes="a", id="b"))
    >>> tally.graders(("q", "d")), len(tally.rows)
    (set(), 2)
    """

    def __init__(self) -> None:
        self.rows: dict[str, Judgment] = {}
        self._gone: set[str] = set()
        self._by_pair: dict[Key, dict[str, Judgment]] = {}
        self._by_who: dict[str, dict[str, Judgment]] = {}

    def absorb(self, row: Judgment) -> Judgment | None:
        """Take a row in. The row that begins or ends to stand by it, or None where nothing changes."""
        if row.id in self.rows:
            return None
        self.rows[row.id] = row
        if row.undoes is not None:
            self._gone.add(row.undoes)
            target = self.rows.get(row.undoes)
            if target is None or target.undoes is not None:
                return None
            removed = self._by_pair.get((target.query_id, target.doc_id), {}).pop(target.id, None)
            if target.kind == "person":
                self._by_who.get(target.who, {}).pop(target.id, None)
            return removed
        if row.id in self._gone:
            return None
        self._by_pair.setdefault((row.query_id, row.doc_id), {})[row.id] = row
        if row.kind == "person":
            self._by_who.setdefault(row.who, {})[row.id] = row
        return row

    def of_pair(self, key: Key) -> list[Judgment]:
        """The standing rows of a pair, oldest first."""
        return list(self._by_pair.get(key, {}).values())

    def of_person(self, who: str) -> list[Judgment]:
        """The standing rows of a person, oldest first."""
        return list(self._by_who.get(who, {}).values())

    def newest_of(self, who: str) -> Iterable[Judgment]:
        """The standing rows of a person, newest first, without copying them."""
        return reversed(self._by_who.get(who, {}).values())

    def own(self, key: Key, who: str, repeat: bool = False) -> Judgment | None:
        """What a person last said of a pair, if it stands; a lead's decision is not meant."""
        for row in reversed(self._by_pair.get(key, {}).values()):
            if (row.who, row.kind, row.repeat, row.adjudicates) == (who, "person", repeat, False):
                return row
        return None

    def graders(self, key: Key) -> set[str]:
        """The people whose grade of a pair stands: neither models nor people who were not sure take a place, and no grade
        below 0, which says "in the pool, not judged".
        """
        return {row.who for row in self.votes(key) if row.graded}

    def votes(self, key: Key) -> list[Judgment]:
        """The last word of each person on a pair, oldest first; a second showing and a lead's decision are none."""
        votes: dict[str, Judgment] = {}
        for row in self._by_pair.get(key, {}).values():
            vote = row.kind == "person" and not row.repeat and not row.adjudicates
            if vote and not (row.pooled and row.who in votes):
                votes.pop(row.who, None)
                votes[row.who] = row
        return list(votes.values())

    def standing(self) -> list[Judgment]:
        """Every standing row, by pair."""
        return [row for rows in self._by_pair.values() for row in rows.values()]

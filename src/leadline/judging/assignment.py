"""Who judges which pair, and in which order: how many persons a pair wants, who is still to see it, what fits."""

import hashlib
from collections.abc import Iterable, Sequence

from leadline.errors import UsageError
from leadline.judging.judgment import Judgment
from leadline.judging.labels import Pair, votes_of


def chance(seed: str, *words: str) -> float:
    """A number in [0, 1) that looks random and is always the same for the same words.

    >>> chance("s", "ana", "q", "d") == chance("s", "ana", "q", "d") != chance("s", "bob", "q", "d")
    True
    """
    # Each word with its length: ("ab", "c") and ("a", "bc") must not be one text.
    text = "".join(f"{len(word)}:{word}" for word in (seed, *words))
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:7]) / 2**56


def order_for(who: str, pairs: Iterable[Pair], seed: str) -> list[Pair]:
    """The pairs in the order for one assessor: shuffled, the same after every reload, another for each person.

    >>> pairs = [("q", f"d{i}") for i in range(9)]
    >>> order_for("ana", pairs, "s") == order_for("ana", reversed(pairs), "s") != order_for("bob", pairs, "s")
    True
    """
    return sorted(pairs, key=lambda pair: (chance(seed, "order", who, *pair), pair))


def persons_wanted(pair: Pair, seed: str, share: float = 0.1, overlap: int = 2) -> int:
    """How many persons are to grade a pair: `overlap` for the given share of pairs, drawn by the seed, else one.

    Raises
    ------
    UsageError: the share is not between 0 and 1, or the overlap is below 1.

    >>> pairs = [("q", str(i)) for i in range(1000)]
    >>> sum(persons_wanted(pair, "set-7") == 2 for pair in pairs)
    96
    """
    if not 0 <= share <= 1 or overlap < 1:
        raise UsageError(f"overlap of {overlap} persons for a share of {share}: not possible")
    return overlap if chance(seed, "overlap", *pair) < share else 1


def is_repeated(pair: Pair, who: str, seed: str, share: float = 0.05) -> bool:
    """True where a person is to see a pair once more, to learn whether they agree with themselves.

    >>> pairs = [("q", str(i)) for i in range(1000)]
    >>> sum(is_repeated(pair, "ana", "set-7") for pair in pairs)
    46
    """
    return chance(seed, "repeat", who, *pair) < share


class Places:
    """The places of each pair: one for every person wanted. Only a person's standing grade takes one.

    `unsure`, `skip` and `broken` take none, nor do a model's judgments or a lead's decision. Who has said anything of
    a pair is not asked again.

    Parameters
    ----------
    rows: those of the book. wanted: persons for a pair, such as a call of `persons_wanted`.

    >>> rows = [Judgment("q", "p", 2, who="ana"), Judgment("q", "p", mark="unsure", who="bob")]
    >>> places = Places(rows)
    >>> places.free(("q", "p"), 2), [name for name in ("ana", "bob", "eve") if places.is_open(("q", "p"), name, 2)]
    (1, ['eve'])
    """

    def __init__(self, rows: Iterable[Judgment]) -> None:
        self._seen: dict[Pair, set[str]] = {}
        self._taken: dict[Pair, set[str]] = {}
        for pair, votes in votes_of(rows).items():
            persons = [row for row in votes if row.kind == "person"]
            self._seen[pair] = {row.who for row in persons}
            self._taken[pair] = {row.who for row in persons if row.grade is not None}

    def graded_by(self, pair: Pair) -> set[str]:
        """The persons whose grade of the pair stands."""
        return set(self._taken.get(pair, ()))

    def free(self, pair: Pair, wanted: int) -> int:
        """How many persons the pair still wants."""
        return max(0, wanted - len(self._taken.get(pair, ())))

    def is_open(self, pair: Pair, who: str, wanted: int) -> bool:
        """True where the pair may be shown to a person: they have not judged it, and a place is free."""
        return who not in self._seen.get(pair, ()) and self.free(pair, wanted) > 0

    def fits(self, judgment: Judgment, wanted: int) -> bool:
        """True where a judgment may be saved: the limit is hard, but holds nobody from changing their own grade.

        Ask inside the transaction that saves it, over the rows as they are then, for two may save at once.

        >>> rows = [Judgment("q", "p", 2, who="ana"), Judgment("q", "p", 0, who="bob")]
        >>> Places(rows).fits(Judgment("q", "p", 1, who="eve"), 2), Places(rows).fits(Judgment("q", "p", 1, who="bob"), 2)
        (False, True)
        """
        if judgment.kind != "person" or judgment.grade is None or judgment.adjudicates or judgment.repeat:
            return True
        pair = (judgment.query_id, judgment.doc_id)
        return judgment.who in self._taken.get(pair, ()) or self.free(pair, wanted) > 0


def to_repeat(
    who: str, pairs: Sequence[Pair], rows: Iterable[Judgment], seed: str, share: float = 0.05
) -> list[Pair]:
    """The pairs that a person graded, is to see once more, and has not seen once more yet; in their order.

    >>> rows = [Judgment("q", str(i), 1, who="ana") for i in range(100)]
    >>> len(to_repeat("ana", [("q", str(i)) for i in range(100)], rows, "s", share=0.5))
    55
    """
    own = [row for row in rows if row.who == who and row.kind == "person"]
    gone = {row.undoes for row in own if row.undoes is not None}
    again = {(row.query_id, row.doc_id) for row in own if row.repeat and row.id not in gone}
    graded = {pair for pair, votes in votes_of(own).items() if any(row.grade is not None for row in votes)}
    chosen = [pair for pair in pairs if pair in graded - again and is_repeated(pair, who, seed, share)]
    return order_for(who, chosen, seed)

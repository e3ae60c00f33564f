"""In which order to judge a pool: by depth, by fusion of the rankings, or moving to the front what finds most.

An order is a list of rows of `Pool.pairs`, of what is not judged. Decisive order is in `decisive.py`.
"""

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from leadline.judging.pool import Pool

FUSION_K = 60
"""The constant of reciprocal rank fusion, as in its source."""

RELEVANT = 1.0
"""The least grade that counts as relevant where no measure says another."""


def by_depth(pool: Pool) -> list[int]:
    """The unjudged pairs by their best rank in any system; at one rank by query, then by document id."""
    return pool.unjudged.sort("best", "query", "doc_id")["at"].to_list()


def by_fusion(pool: Pool) -> list[int]:
    """The unjudged pairs by Σ 1/(60 + rank) over the systems that return them, the greatest first.

    Equal ones by best rank, query and document id.
    Source: reciprocal rank fusion, Cormack, Clarke & Büttcher 2009 (k = 60).
    """
    # Rounded, so that the order of adding up does not break ties.
    worth = (1.0 / (FUSION_K + pl.col("rank"))).sum().round(12)
    fused = pool.entries.group_by("at").agg(worth=worth)
    rows = pool.unjudged.join(fused, on="at", how="left")
    return rows.sort("worth", "best", "query", "doc_id", descending=[True, False, False, False])[
        "at"
    ].to_list()


def move_to_front(pool: Pool, rel: float = RELEVANT) -> list[int]:
    """The unjudged pairs in the order in which moving to the front asks for them, from what is judged so far.

    The rule asks for one pair after another and needs each answer. So a list is a forecast: what is judged is
    replayed, and each pair of the list is taken to be not relevant until it is judged. Of every query the first
    pair is what the rule asks for next; the rest is what it asks for if each pair before it is not relevant. Judge
    some, and make the list again. Queries take turns: the first pair of each, then the second of each.
    Source: Cormack, Palmer & Clarke 1998, each query by itself; priorities as in Losada, Parapar & Barreiro 2016.
    """
    grades = pool.pairs["grade"].to_list()
    known = [None if grade is None or grade < 0 else grade >= rel for grade in grades]
    turns = []
    for lists in ranked_lists(pool):
        walk = front_walk(lists, pool.depth, lambda at: bool(known[at]))
        turns.append([at for at in walk if known[at] is None])
    return in_turns(turns)


def ranked_lists(pool: Pool) -> list[list[list[int]]]:
    """Of each query that some system answers, the rows of its documents by system, each in the order of ranks."""
    rows = pool.entries.join(pool.pairs.select("at", "query"), on="at", how="left")
    found: dict[int, list[list[int]]] = {}
    for at, system, query in rows.sort("query", "system", "rank").select("at", "system", "query").iter_rows():
        found.setdefault(query, [[] for _ in pool.systems])[system].append(at)
    return list(found.values())


def front_walk(
    lists: Sequence[Sequence[int]], depth: int, is_relevant: Callable[[int], bool]
) -> Iterator[int]:
    """One query's documents in the order of moving to the front; `is_relevant` is asked after each was given.

    Every system begins with the priority `depth`. Its next document is taken, and so on while they are relevant; at
    one that is not, its priority falls by 1, and the other system of the highest priority is next (the first given,
    of equal ones). A document met before is passed over.

    >>> list(front_walk([[1, 2, 3], [4, 5]], 3, lambda at: at == 4))
    [1, 4, 5, 2, 3]
    """
    left = [iter(documents) for documents in lists]
    priority: dict[int, int] = dict.fromkeys(range(len(lists)), depth)
    seen: set[int] = set()
    current = next(iter(priority), None)
    while current is not None:
        at = next((one for one in left[current] if one not in seen), None)
        if at is not None:
            seen.add(at)
            yield at
            if is_relevant(at):
                continue
            priority[current] -= 1
        else:
            del priority[current]
        others = [system for system in priority if system != current] or list(priority)
        current = max(others, key=lambda system: priority[system], default=None)


def in_turns(lists: Sequence[Sequence[int]]) -> list[int]:
    """The first of each list, then the second of each, and so on.

    >>> in_turns([[1, 2, 3], [4]])
    [1, 4, 2, 3]
    """
    longest = max((len(one) for one in lists), default=0)
    return [one[place] for place in range(longest) for one in lists if place < len(one)]

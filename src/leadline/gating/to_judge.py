"""The pairs to judge, most decisive first: how far the difference could move, times how likely that is."""

from dataclasses import dataclass

import numpy as np

from leadline.errors import printable
from leadline.gating.completions import Completer, TwoRankings
from leadline.gating.doubt import PairToJudge
from leadline.gating.sentences import points
from leadline.hits import Flags, Floats, Ints

BANDS = (3, 6)
"""The last ranks of the first two bands; the third goes to k."""
AT_ONCE = 20_000


@dataclass(frozen=True)
class Chances:
    """What the judged documents say of unjudged ones, by rank band (1–3, 4–6, 7–k).

    Attributes
    ----------
    pools: the relevant grades of the two systems' judged documents of each band; a band without judged documents
        takes all bands'.
    likely: of each band, the share of them that is relevant, (relevant + 1)/(judged + 2) (Laplace's rule).
    grade: of each band, the most frequent relevant grade. side: shape (2, documents), which system returns each.
    band: of each unjudged document, by its better rank.
    """

    pools: tuple[Floats, ...]
    likely: Floats
    grade: Floats
    sides: Flags
    band: Ints

    @classmethod
    def of(cls, two: TwoRankings, mask: Flags) -> "Chances":
        """The chances from the judged rows of the queries in `mask`."""
        own = two.judged.filter(mask[two.judged["query"].to_numpy()])
        grades = own["grade"].to_numpy().astype(np.float64)
        of_rank = np.searchsorted(BANDS, own["rank"].to_numpy())
        rel = float(two.measure.value("rel")) if two.measure.has("rel") else 1.0
        pools, likely, typical = [], [], []
        for band in range(len(BANDS) + 1):
            pool = grades[of_rank == band]
            pool = pool if len(pool) else grades
            found = pool[pool >= rel]
            values, counts = np.unique(found, return_counts=True)
            pools.append(found)
            likely.append((len(found) + 1) / (len(pool) + 2))
            typical.append(float(values[counts.argmax()]) if len(values) else max(rel, 1.0))
        best = np.where(two.ranks > 0, two.ranks, np.iinfo(np.int64).max).min(axis=0)
        bands = np.searchsorted(BANDS, best)
        return cls(tuple(pools), np.array(likely), np.array(typical), two.ranks > 0, bands)

    def draw(self, free: Ints, rng: "np.random.Generator") -> Floats:
        """A grade of each of some unjudged documents, φ of each system drawn anew; shape of `free`."""
        phi = rng.random(2)
        own = self.sides[:, free] * phi[:, None]
        chance = np.maximum(own[0], own[1])
        is_relevant = rng.random(len(free)) < chance
        place = rng.random(len(free))
        out = np.zeros(len(free))
        for band, pool in enumerate(self.pools):
            at = np.flatnonzero((self.band[free] == band) & is_relevant)
            if len(pool):
                out[at] = pool[(place[at] * len(pool)).astype(np.int64)]
            else:
                out[at] = self.grade[band]
        return out


def pairs_to_judge(
    two: TwoRankings, free: Ints, as_judged: Floats, chances: Chances
) -> tuple[Ints, list[PairToJudge]]:
    """The unjudged pairs `free`, most decisive first.

    Each is graded alone, with the most frequent relevant grade of its rank band, and the measure's own function
    says how far the mean difference moves; that is weighted by the share of judged documents of the band that are
    relevant. Equal ones stand by rank, then by query and document.

    Returns
    -------
    (order, pairs): positions in `free`, and the pairs in that order.
    """
    move = _moves(two, free, as_judged, chances)
    likely = chances.likely[chances.band[free]]
    best = np.where(two.ranks > 0, two.ranks, np.iinfo(np.int64).max).min(axis=0)[free]
    # Rounded, so that the noise of floating point does not break ties.
    weight = np.round(np.abs(move) * likely, 12)
    order: Ints = np.lexsort((free, best, -weight))
    ids = two.sides[0].hits.judged.query_ids
    documents = two.documents["doc_id"].gather(free[order]).to_list()
    names = [side.name for side in two.sides]
    listed = []
    for at, doc_id in zip(order.tolist(), documents, strict=True):
        place = two.ranks[:, free[at]].tolist()
        ranks = {name: rank for name, rank in zip(names, place, strict=True) if rank}
        listed.append(
            PairToJudge(
                ids[two.query[free[at]]],
                doc_id,
                ranks,
                float(move[at]),
                float(likely[at]),
                _why(ranks, float(move[at]), float(likely[at])),
            )
        )
    return order, listed


def _moves(two: TwoRankings, free: Ints, as_judged: Floats, chances: Chances) -> Floats:
    """How far the mean difference moves if one document alone is relevant; shape of `free`."""
    known = ~np.isnan(as_judged)
    n, total = int(known.sum()), float(as_judged[known].sum())
    mean = total / n if n else 0.0
    out = np.zeros(len(free))
    for begin in range(0, len(free), AT_ONCE):
        part = free[begin : begin + AT_ONCE]
        query = two.query[part]
        one = Completer(two, query, part, np.arange(len(part)))
        a, b = one.values(chances.grade[chances.band[part]])
        before = as_judged[query]
        # A query that was undefined joins the mean once a document of it is relevant.
        joins = np.isnan(before)
        after = (total - np.where(joins, 0.0, before) + (b - a)) / (n + joins)
        out[begin : begin + AT_ONCE] = np.nan_to_num(after - mean)
    return out


def _why(ranks: dict[str, int], move: float, likely: float) -> str:
    places = " and ".join(f"rank {rank} of {printable(name)}" for name, rank in ranks.items())
    return (
        f"{places}; relevant, it moves the mean difference by {points(move, True)}; likely {points(likely)}"
    )

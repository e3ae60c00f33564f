"""Measures pools on real collections: how early each order finds what is relevant, the bias of a pool, and samples.

`python docs/pooling.py` takes about two minutes on one core; `orders`, `bias` or `samples` after it measures that part
alone. A measured part stands in docs/design/pools.md between `<!-- measured: NAME -->` and `<!-- end -->`; what is
around it is written by hand. DL21 and CODEC are needed (LEADLINE_SHARED, see tests/shared/folder.py).
"""

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl
from measured import put, table

from leadline.conventions import Conventions
from leadline.demo.world import Plan, System, draw_world
from leadline.formats.read import read_qrels, read_run
from leadline.gating.completions import scored
from leadline.hits import Judged
from leadline.judging.contribution import leave_one_out
from leadline.judging.missing import missing_of
from leadline.judging.orders import front_walk, in_turns, ranked_lists
from leadline.judging.pool import Pool, is_judged
from leadline.judging.sampling import Sample, read_rates
from leadline.ranking import rank
from leadline.spelling import parse
from leadline.tables import Qrels, Run

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "design" / "pools.md"
sys.path.insert(0, str(DOCS.parent / "tests"))

from shared.folder import DATA  # noqa: E402

RULES = Conventions(duplicates="first")
DEPTH = 100
SHARES = (0.05, 0.1, 0.25, 0.5)
"""After how many judgments, as a share of the pool, the relevant documents found are counted."""
LEVELS = {"DL21": (1, 2), "CODEC": (1,)}
"""The least grade that counts as relevant; the track takes 2 for its own binary measures."""
FAMILIES = ("uogTr", "wat")
"""Teams that the rule for team names would take for several."""
RATES = ("1-5=1,6-20=.4,21-100=.2", "1-10=1,11-100=.3", "1-100=.3")
ESTIMATES = {"xinfAP": "AP", "infNDCG": "nDCG(gain=linear)", "infNDCG@10": "nDCG(gain=linear)@10"}
SYSTEMS = (System("A", 4), System("B", 4.3), System("C", 4, finds_hidden=True))
"""Those of `leadline simulate`."""
SPARSE_RATES = ("1-5=1,6-20=.3,21-50=.1", "1-10=1,11-20=.5,21-50=.2")
SAMPLES, EVERY = 100, 8
"""How many samples are drawn, and of how many runs one is scored."""


@dataclass(frozen=True)
class Collection:
    """The runs, all judgments, and the pool to depth 100 with only what is judged in it."""

    runs: list[Run]
    qrels: Qrels
    pool: Pool

    @classmethod
    def read(cls, runs: Iterable[Path], qrels: Path) -> "Collection":
        """A collection from its files."""
        read = [read_run(path, conventions=RULES) for path in sorted(runs)]
        held = [Run(pl.concat([block.load() for block in run.blocks()]), run.name) for run in read]
        judged = read_qrels(qrels)
        pool = Pool.of(held, DEPTH, RULES, judged)
        # What has no grade cannot be judged here.
        known = pool.pairs.filter(is_judged())
        entries = pool.entries.join(known.select("at"), on="at", how="semi")
        return cls(held, judged, replace(pool, pairs=known, entries=entries))


def collections() -> dict[str, Collection]:
    """DL21, passages; and CODEC, documents."""
    deep, codec = DATA / "trec_dl_human_llm" / "dl21", DATA / "codec"
    return {
        "DL21": Collection.read((deep / "runs").glob("*.run.gz"), deep / "qrels.human.txt.gz"),
        "CODEC": Collection.read((codec / "runs").glob("document_*.gz"), codec / "document_ndcg.qrels.gz"),
    }


def sequences(pool: Pool, relevant: dict[int, bool]) -> dict[str, list[int]]:
    """The rows of the pool in each order, move-to-front told every grade as it asks for it."""
    worth = pool.entries.group_by("at").agg(worth=(1.0 / (60 + pl.col("rank"))).sum().round(12))
    fused = pool.pairs.join(worth, on="at", how="left")
    by_fusion = fused.sort("worth", "best", "query", "doc_id", descending=[True, False, False, False])
    lists = ranked_lists(pool)
    return {
        "depth": pool.pairs.sort("best", "query", "doc_id")["at"].to_list(),
        "fusion": by_fusion["at"].to_list(),
        "move-to-front": in_turns([list(front_walk(one, DEPTH, relevant.__getitem__)) for one in lists]),
        "move-to-front, listed once": in_turns(
            [list(front_walk(one, DEPTH, lambda at: False)) for one in lists]
        ),
    }


def orders(worlds: dict[str, Collection]) -> str:
    """The share of the relevant documents found after so many judgments."""
    head = [
        "collection",
        "pairs",
        "relevant",
        "order",
        *(f"{share:.0%} judged" for share in SHARES),
        "for 80 % found",
    ]
    rows = []
    for (name, world), level in [(one, level) for one in worlds.items() for level in LEVELS[one[0]]]:
        pairs = world.pool.pairs
        relevant = dict(zip(pairs["at"].to_list(), (pairs["grade"] >= level).to_list(), strict=True))
        total = sum(relevant.values())
        for order, sequence in sequences(world.pool, relevant).items():
            assert sorted(sequence) == sorted(relevant)
            found = np.cumsum([relevant[at] for at in sequence]) / total
            at = [found[round(share * len(sequence)) - 1] for share in SHARES]
            needed = int(np.searchsorted(found, 0.8)) + 1
            shares = [f"{100 * one:.1f} %" for one in at]
            shown = [name, str(len(sequence)), f"{total} (grade ≥ {level})", order]
            rows.append([*shown, *shares, f"{100 * needed / len(sequence):.1f} %"])
    return table(head, rows)


def bias(worlds: dict[str, Collection]) -> str:
    """How far systems fall when left out, and what is missing by the estimates against what is known."""
    head = [
        "collection",
        "left out",
        "measure",
        "fall, mean",
        "fall, most",
        "other place",
        "places lost, most",
    ]
    rows = []
    for name, world in worlds.items():
        judged = Judged.of(world.qrels)
        pool = Pool.of(world.runs, 10, RULES, world.qrels)
        for what, families in (("one run", []), ("a team", teams(pool.systems))):
            for measure in ("nDCG@10", "P@10", "AP") if what == "one run" or name == "DL21" else ():
                found = leave_one_out(world.runs, pool, judged, parse(measure), RULES, families)
                falls = [one.fall for one in found]
                moved = [one.place_without - one.place for one in found]
                other = f"{sum(step != 0 for step in moved)} of {len(moved)}"
                shown = [f"{np.mean(falls):.4f}", f"{max(falls):.4f}", other, str(max(moved))]
                rows.append([name, what, measure, *shown])
    return f"{table(head, rows)}\n\n{missing(worlds)}"


def teams(names: Sequence[str]) -> list[list[str]]:
    """The runs of each team: of one name up to the first digit, underscore or hyphen, as in withheld.py."""
    found: dict[str, list[str]] = {}
    for name in names:
        family = next((one for one in FAMILIES if name.startswith(one)), "")
        found.setdefault(family or re.split(r"[0-9_-]", name, maxsplit=1)[0], []).append(name)
    return list(found.values())


def missing(worlds: dict[str, Collection]) -> str:
    """The estimates from the top 10s, beside the relevant documents that are known beyond them."""
    head = ["collection", "relevant in the top 10s", "missing at least, by Chao", "known beyond the top 10s"]
    rows = []
    for name, world in worlds.items():
        pool = Pool.of(world.runs, 10, RULES, world.qrels)
        found = missing_of(pool, int((world.qrels.frame["grade"] >= 1).sum()))
        rows.append([name, str(found.found), str(found.at_least), str(found.elsewhere)])
    return table(head, rows)


def simulated() -> Collection:
    """A simulated collection of some four relevant documents a query, known in full."""
    world = draw_world(Plan(SYSTEMS, queries=50, hidden=3, seed=3))
    qrels = world.judgments("complete")
    return Collection(world.runs(), qrels, Pool.of(world.runs(), 50, RULES, qrels))


def samples(worlds: dict[str, tuple[Collection, Sequence[str], int]]) -> str:
    """The mean of many samples beside the value of the pool judged in full; of one run in so many."""
    head = ["collection", "rates", "judged", "estimate of", "bias, mean", "bias, most", "sd of one sample"]
    rows = []
    for name, (world, asked, every) in worlds.items():
        rows += [[name, *row] for row in samples_of(world, asked, every)]
    return table(head, rows)


def samples_of(world: Collection, asked: Sequence[str], every: int) -> list[list[str]]:
    """The rows of one collection."""
    runs, pool = world.runs[::every], world.pool
    full = Judged.of(truth_of(pool))
    rows = []
    for rates in asked:
        values: dict[str, list[list[float]]] = {measure: [] for measure in ESTIMATES}
        share = 0.0
        for seed in range(SAMPLES):
            sample = Sample.draw(pool, read_rates(rates), seed)
            share += float(sample.rows["drawn"].mean()) / SAMPLES  # type: ignore[arg-type]
            for measure, means in scored_on(runs, Judged.of(sample.qrels()), list(ESTIMATES)).items():
                values[measure].append(means)
        true = scored_on(runs, full, list(ESTIMATES.values()))
        for estimate, plain in ESTIMATES.items():
            off = np.array(values[estimate]) - np.array(true[plain])
            most = off.mean(axis=0)[np.abs(off.mean(axis=0)).argmax()]
            rows.append([f"`{rates}`", f"{100 * share:.0f} %", f"`{plain}` by `{estimate}`", f"{off.mean():+.4f}",
                         f"{most:+.4f}", f"{off.std(axis=0, ddof=1).mean():.4f}"])  # fmt: skip
    return rows


def truth_of(pool: Pool) -> Qrels:
    """The judged pairs of a pool as judgments."""
    names = pl.Series("query_id", [pool.query_ids[query] for query in pool.pairs["query"].to_list()])
    return Qrels(pl.DataFrame([names, pool.pairs["doc_id"], pool.pairs["grade"]]))


def scored_on(runs: Sequence[Run], judged: Judged, measures: Sequence[str]) -> dict[str, list[float]]:
    """The mean of each measure, by run."""
    hits = [rank(run, judged, RULES) for run in runs]
    return {
        measure: [float(np.nanmean(scored(parse(measure), one, RULES))) for one in hits]
        for measure in measures
    }


def main(chosen: Sequence[str]) -> None:
    """Measure the parts named, or all, and write them."""
    worlds = collections()
    parts = {
        "orders": lambda: orders(worlds),
        "bias": lambda: bias(worlds),
        "samples": lambda: samples(
            {"DL21": (worlds["DL21"], RATES, EVERY), "simulated": (simulated(), SPARSE_RATES, 1)}
        ),
    }
    for name, measure in parts.items():
        if not chosen or name in chosen:
            put(PAGE, name, measure())


if __name__ == "__main__":
    main(sys.argv[1:])

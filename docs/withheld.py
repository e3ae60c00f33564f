"""Withholds judgments of real collections and measures what judge-first then says, and how many judgments settle it.

`python docs/withheld.py` takes some ten minutes on one core; `outcomes` or `orders` after it measures that part
alone. A measured part stands in docs/design/judge-first.md between `<!-- measured: NAME -->` and `<!-- end -->`;
what is around it is written by hand. DL21 and CODEC are needed (LEADLINE_SHARED, see tests/shared/folder.py).
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
from measured import put, table

from leadline.comparison import Design, compare
from leadline.conventions import Conventions, conventions
from leadline.evaluation import score
from leadline.gating.completions import TwoRankings
from leadline.gating.doubt import Doubt, PairToJudge
from leadline.gating.judge_first import doubt
from leadline.gating.policy import Rule
from leadline.gating.rules import decide_one
from leadline.gating.to_judge import Chances, pairs_to_judge
from leadline.hits import Judged
from leadline.inputs import Inputs, gather
from leadline.ranking import head
from leadline.spelling import parse
from leadline.tables import Qrels, Run

DOCS = Path(__file__).resolve().parent
PAGE, PICTURE = DOCS / "design" / "judge-first.md", DOCS / "images" / "judge-first.svg"
sys.path.insert(0, str(DOCS.parent / "tests"))

from shared.folder import DATA  # noqa: E402

MEASURE, MARGIN, DEPTH = "nDCG@10", 0.02, 10
NDCG, RULE = parse(MEASURE), Rule(MEASURE, MARGIN)
SEED, PAIRS = 21, 300
ORDER_PAIRS = {"DL21": 48, "CODEC": 56}
"""How many ordered pairs are drawn for the orders; 56 is all there are of CODEC's 8 runs."""
BATCH = 5
OUTCOMES = ("pass", "fail", "too-few-queries", "judge-first")
FAMILIES = ("uogTr", "wat")
"""Teams that the rule for team names would take for several."""
KEYS = ["query_id", "doc_id"]
ORDERS = ("decisive", "decisive, listed anew", "depth")
NEEDED = ("collection", "verdict", "pairs", "all listed", *ORDERS, *(f"{o} ÷ depth" for o in ORDERS[:2]))
FATES = ("collection", "pairs of runs", "judge-first", "so with all judgments", "other in the end", "settled")

Rng = np.random.Generator
Withhold = Callable[["Collection", int, int, Rng], pl.DataFrame]


@dataclass(frozen=True)
class Collection:
    """Runs cut at the measure's depth, all judgments, and the pairs of each run's top that are judged."""

    runs: list[Run]
    qrels: Qrels
    tops: list[pl.DataFrame]
    rules: Conventions

    @classmethod
    def of(cls, paths: Sequence[Path], qrels: Path, rules: Conventions) -> "Collection":
        """The collection of some run files."""
        given = gather([str(path) for path in paths], str(qrels), None, rules)
        judged = Judged.of(given.qrels)
        ids = pl.DataFrame({"query_id": judged.query_ids}).with_row_index("query")
        ids = ids.with_columns(pl.col("query").cast(pl.Int64))
        runs, tops = [], []
        for run in given.runs:
            top = head(run, judged, rules, DEPTH).join(ids, on="query", how="left", maintain_order="left")
            # nDCG@10 reads nothing below rank 10, and falling scores keep the order.
            frame = top.select(*KEYS, score=-pl.col("rank").cast(pl.Float64))
            runs.append(Run.checked(frame, run.name))
            tops.append(top.filter(pl.col("grade") >= 0).select(*KEYS, "rank"))
        return cls(runs, given.qrels, tops, rules)

    @property
    def judged(self) -> pl.DataFrame:
        """The pairs of all judgments."""
        return self.qrels.frame.select(KEYS)

    def only(self, kept: pl.DataFrame) -> Qrels:
        """The judgments of some pairs; the scale stays."""
        frame = self.qrels.frame.join(kept, on=KEYS, how="semi", maintain_order="left")
        return Qrels(frame, max_grade=self.qrels.top_grade())

    def pairs(self, count: int, rng: Rng) -> list[tuple[int, int]]:
        """Ordered pairs (baseline, candidate) of different runs, drawn without replacement."""
        every = list(permutations(range(len(self.runs)), 2))
        return [every[i] for i in rng.permutation(len(every))[:count]]

    def listed(self, pairs: Sequence[PairToJudge]) -> pl.DataFrame:
        """Pairs to judge, without those that the full judgments do not hold: these cannot be judged here."""
        frame = pl.DataFrame({key: [getattr(pair, key) for pair in pairs] for key in KEYS})
        return frame.join(self.judged, on=KEYS, how="semi", maintain_order="left")

    def decided(
        self, a: int, b: int, qrels: Qrels, *, listed: bool = False, doubted: bool = True
    ) -> tuple[str, Doubt | None]:
        """The outcome of the rule under some judgments, and the doubt (without `doubted`: as judged)."""
        scores = score(Inputs((self.runs[a], self.runs[b]), qrels), {MEASURE: NDCG}, self.rules)
        # The interval is Student's: the bootstrap and the test stand beside it and decide nothing.
        row = compare(scores, self.runs[a].name, None, Design(resamples=10, draws=10))[0]
        found = None
        if doubted:
            two = TwoRankings.of(self.runs[a], self.runs[b], Judged.of(qrels), NDCG, self.rules)
            found = doubt(two, RULE, comparison=row, pairs=listed)
            if found.judge_first:
                return "judge-first", found
        return decide_one(row, MARGIN, doubt=found).outcome, found


def dl21() -> Collection:
    """The 63 official passage runs of TREC Deep Learning 2021 and NIST's judgments."""
    folder = DATA / "trec_dl_human_llm" / "dl21"
    runs = sorted((folder / "runs").glob("*.run.gz"))
    return Collection.of(runs, folder / "qrels.human.txt.gz", conventions("leadline-1"))


def codec() -> Collection:
    """The 8 document runs of CODEC and its graded judgments; two runs hold a document twice."""
    folder = DATA / "codec"
    runs, rules = sorted((folder / "runs").glob("document_*.gz")), conventions(duplicates="first")
    return Collection.of(runs, folder / "document_ndcg.qrels.gz", rules)


def team(name: str) -> str:
    """The team of a run: its name up to the first digit, underscore or hyphen; two families apart from that.

    >>> team("p_bm25rm3"), team("uogTrPot5"), team("WLUPassage1")
    ('p', 'uogTr', 'WLUPassage')
    """
    family = next((one for one in FAMILIES if name.startswith(one)), None)
    return family or re.split(r"[0-9_-]", name, maxsplit=1)[0]


def left_out(called: Callable[[str], str]) -> Withhold:
    """Without the pairs that only top 10s of the candidate's hold: runs that are `called` the same."""

    def kept(here: Collection, a: int, b: int, rng: Rng) -> pl.DataFrame:
        own = [called(run.name) == called(here.runs[b].name) for run in here.runs]
        theirs, others = (
            pl.concat([top for top, is_own in zip(here.tops, own, strict=True) if is_own == side])
            for side in (True, False)
        )
        return here.judged.join(theirs.join(others, on=KEYS, how="anti"), on=KEYS, how="anti")

    return kept


def pool_of(size: int) -> Withhold:
    """The judged pairs of the top 10s of some random systems, drawn anew for each pair of runs."""

    def pool(here: Collection, a: int, b: int, rng: Rng) -> pl.DataFrame:
        chosen: list[int] = rng.choice(len(here.runs), size, replace=False).tolist()
        return pl.concat([here.tops[i] for i in chosen]).select(KEYS)

    return pool


def share_of(share: float) -> Withhold:
    """A random share of all judgments, drawn anew for each pair of runs."""

    def kept(here: Collection, a: int, b: int, rng: Rng) -> pl.DataFrame:
        return here.judged.filter(pl.Series(rng.random(here.judged.height) < share))

    return kept


CONDITIONS: dict[str, Withhold] = {
    "official": share_of(1.0),
    "candidate's run not pooled": left_out(str),
    "candidate's team not pooled": left_out(team),
    "random 90 % kept": share_of(0.9),
    "random 70 % kept": share_of(0.7),
    "pool of 8 random systems": pool_of(8),
    "pool of 5 random systems": pool_of(5),
    "pool of 3 random systems": pool_of(3),
    "pool of 1 random system": pool_of(1),
    "pool of 1: the baseline": lambda here, a, b, rng: here.tops[a].select(KEYS),
    "pool of 2: the two themselves": lambda here, a, b, rng: pl.concat([here.tops[a], here.tops[b]]),
}


def outcomes(here: Collection, count: int = PAIRS) -> str:
    """How often each outcome occurs, and what the full judgments say of the released ones."""
    pairs = here.pairs(count, np.random.default_rng(SEED))
    truth = [here.decided(a, b, here.qrels, doubted=False)[0] for a, b in pairs]
    rows = []
    for number, (name, withhold) in enumerate(CONDITIONS.items()):
        rng = np.random.default_rng([SEED, number])
        seen: Counter[str] = Counter()
        missed: list[tuple[str, ...]] = []
        for (a, b), true in zip(pairs, truth, strict=True):
            found, _ = here.decided(a, b, here.only(withhold(here, a, b, rng)))
            seen[found] += 1
            if found in ("pass", "fail") and found != true:
                missed.append((here.runs[a].name, here.runs[b].name, found, true))
        print(name, dict(seen), missed, flush=True)
        released, undecided = seen["pass"] + seen["fail"], sum(m[-1] == OUTCOMES[2] for m in missed)
        shares = [f"{100 * seen[one] / count:.1f}" for one in OUTCOMES]
        counts = [f"{n} of {released}" if released else "–" for n in (len(missed) - undecided, undecided)]
        rows.append((name, *shares, *counts))
    return table(("judgments", *(f"{one}, %" for one in OUTCOMES), "contradicted", "left undecided"), rows)


@dataclass(frozen=True)
class Needed:
    """How many judgments each order needed on each pair of runs that settled, and what became of the others.

    Of the pairs drawn, `doubtful` are judge-first with the baseline judged; of those, `still` are so with all
    judgments too, and `unsettled` come to another verdict once all their listed pairs are judged.
    """

    drawn: int
    doubtful: int
    still: int
    unsettled: int
    verdicts: list[str]
    listed: list[int]
    orders: dict[str, list[int]]

    def of(self, verdict: str) -> dict[str, np.ndarray]:
        """What the pairs of one verdict (`any` is all) have listed, and what each order needs of it."""
        at = [i for i, own in enumerate(self.verdicts) if verdict in ("any", own)]
        return {name: np.array(one)[at] for name, one in {"listed": self.listed, **self.orders}.items()}


def needed(here: Collection, count: int) -> Needed:
    """Judge pair after pair of runs in each order until the verdict of the full judgments is reached and stays."""
    verdicts, listed = list[str](), list[int]()
    orders: dict[str, list[int]] = {name: [] for name in ORDERS}
    drawn = here.pairs(count, np.random.default_rng([SEED, 100]))
    doubtful = still = unsettled = 0
    for a, b in drawn:
        true, _ = here.decided(a, b, here.qrels)
        first, found = here.decided(a, b, here.only(here.tops[a]), listed=True)
        if first != "judge-first" or found is None:
            continue
        doubtful += 1
        if true == "judge-first":
            still += 1
            continue
        decisive = here.listed(found.pairs)
        by_depth = here.tops[b].join(decisive, on=KEYS, how="semi", maintain_order="left")
        by_depth = by_depth.sort("rank", maintain_order=True).select(KEYS)
        ways = (decisive, _anew(here, a, b, decisive), by_depth)
        counts = [_until(here, a, b, way, true) for way in ways]
        if None in counts:
            unsettled += 1
            continue
        verdicts.append(true)
        listed.append(decisive.height)
        for name, number in zip(orders, counts, strict=True):
            orders[name].append(int(number or 0))
        print(here.runs[a].name, here.runs[b].name, true, decisive.height, counts, flush=True)
    return Needed(len(drawn), doubtful, still, unsettled, verdicts, listed, orders)


def _anew(here: Collection, a: int, b: int, left: pl.DataFrame) -> pl.DataFrame:
    """The decisive order where the list is made anew after every batch, as by running the gate again."""
    known, total = here.tops[a].select(KEYS), here.tops[a].height + left.height
    while left.height:
        known = pl.concat([known, left.head(BATCH)])
        if known.height == total:
            break
        two = TwoRankings.of(here.runs[a], here.runs[b], Judged.of(here.only(known)), NDCG, here.rules)
        free = np.flatnonzero(two.counted[two.query])
        chances = Chances.of(two, two.counted)
        left = here.listed(pairs_to_judge(two, free, two.differences(), chances)[1])
    return known.tail(total - here.tops[a].height)


def _until(here: Collection, a: int, b: int, order: pl.DataFrame, true: str) -> int | None:
    """After how many judgments the verdict is `true` for good; None where it is not even after all of them."""
    pool, reached = here.tops[a].select(KEYS), None
    # Backwards, so that the first other verdict met is the last one there is.
    for size in sorted({*range(BATCH, order.height, BATCH), order.height}, reverse=True):
        if here.decided(a, b, here.only(pl.concat([pool, order.head(size)])))[0] != true:
            break
        reached = size
    return reached


def quartiles(values: np.ndarray, form: str = "{:.0f}") -> str:
    """Median and quartiles, `40 (25–65)`."""
    low, middle, high = (form.format(v) for v in np.quantile(values, (0.25, 0.5, 0.75)))
    return f"{middle} ({low}–{high})"


def order_table(found: dict[str, Needed]) -> str:
    """Judgments needed, by collection and by the verdict of all judgments."""
    rows = []
    for name, one in found.items():
        for verdict in ("any", *OUTCOMES):
            needs = one.of(verdict)
            if len(needs["listed"]):
                ratios = [quartiles(needs[order] / needs["depth"], "{:.2f}") for order in ORDERS[:2]]
                pairs = str(len(needs["listed"]))
                rows.append((name, verdict, pairs, *map(quartiles, needs.values()), *ratios))
    return table(NEEDED, rows)


def fate_table(found: dict[str, Needed]) -> str:
    """What became of the pairs of runs, by collection."""
    counts = {n: (o.drawn, o.doubtful, o.still, o.unsettled, len(o.listed)) for n, o in found.items()}
    return table(FATES, [(name, *map(str, row)) for name, row in counts.items()])


LEFT, WIDE, HIGH, TOP = 44, 220, 170, 64
PANELS = (("DL21", "fail"), ("DL21", "pass"), ("CODEC", "any"))
STYLE = """text { font: 13px system-ui, sans-serif; fill: #1c2430 } .head { font-weight: 600 }
.tick { fill: #5b6675; font-size: 12px } .grid { stroke: #d8dde4 }
polyline { fill: none; stroke-width: 2 } .m0 { stroke: #0b63a5 } .m1 { stroke: #6d4fb3; stroke-dasharray: 2 3 }
.m2 { stroke: #c2570c; stroke-dasharray: 7 3 }
@media (prefers-color-scheme: dark) { text { fill: #e6eaf0 } .tick { fill: #a0abba } .grid { stroke: #343d49 }
.m0 { stroke: #6cb4f0 } .m1 { stroke: #b49cf0 } .m2 { stroke: #f0a25f } }"""


def picture(found: dict[str, Needed]) -> str:
    """The share of pairs settled against the number of judgments, by collection and verdict."""
    width, height = len(PANELS) * (LEFT + WIDE + 24), TOP + HIGH + 48
    title = "<title>Share of pairs of runs whose verdict is settled, by judgments made and order</title>"
    box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {box}>', title, f"<style>\n{STYLE}\n</style>"]
    for index, name in enumerate(ORDERS):
        x = LEFT + index * 200
        lines.append(f'<polyline class="m{index}" points="{x},16 {x + 30},16"/>')
        lines.append(f'<text x="{x + 38}" y="20">{name}</text>')
    for place, (name, verdict) in enumerate(PANELS):
        lines += _panel(LEFT + place * (LEFT + WIDE + 24), f"{name}, {verdict}", found[name].of(verdict))
    return "\n".join([*lines, "</svg>", ""])


def _panel(x: int, head: str, needs: dict[str, np.ndarray]) -> list[str]:
    foot, most = TOP + HIGH, int(needs["listed"].max())

    def said(at: float, y: float, text: object, anchor: str = "middle") -> str:
        return f'<text class="tick" x="{at:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'

    head = f"{head}: % settled of {len(needs['listed'])}"
    lines = [f'<text class="head" x="{x}" y="{TOP - 14}">{head}</text>']
    for share in (0, 25, 50, 75, 100):
        y = TOP + HIGH * (1 - share / 100)
        lines.append(f'<line class="grid" x1="{x}" x2="{x + WIDE}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(said(x - 6, y + 4, share, "end"))
    for number in range(0, most + 1, 100 if most > 250 else 50):
        lines.append(said(x + WIDE * number / most, foot + 16, number))
    lines.append(said(x + WIDE / 2, foot + 36, "judgments made"))
    for index, order in enumerate(ORDERS):
        points, before = [f"{x},{foot}"], 0.0
        for number in np.unique(needs[order]).tolist():
            after = float(np.mean(needs[order] <= number))
            points += [f"{x + WIDE * number / most:.1f},{foot - HIGH * s:.1f}" for s in (before, after)]
            before = after
        points.append(f"{x + WIDE},{TOP}")
        lines.append(f'<polyline class="m{index}" points="{" ".join(points)}"/>')
    return lines


def main(chosen: Sequence[str]) -> None:
    """Measure the parts named, or both, and write them."""
    passages = dl21()
    if not chosen or "outcomes" in chosen:
        put(PAGE, "outcomes", outcomes(passages))
    if not chosen or "orders" in chosen:
        worlds = {"DL21": passages, "CODEC": codec()}
        found = {name: needed(world, ORDER_PAIRS[name]) for name, world in worlds.items()}
        put(PAGE, "orders", f"{fate_table(found)}\n\n{order_table(found)}")
        PICTURE.write_text(picture(found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

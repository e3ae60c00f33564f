"""Measures what budgets and packing rules keep of the evidence, on five chunkings of one collection.

`python docs/packing.py` takes about a minute on one core. A measured part stands in docs/explanation/packing.md between
`<!-- measured: NAME -->` and `<!-- end -->`; what is around it is written by hand. The collection chunking_evaluation is
needed (LEADLINE_SHARED, see tests/shared/folder.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chunking import DATA, DOCS, cut, read_collection, retrieved
from measured import put, table

from leadline.conventions import Conventions
from leadline.passages.accounts import ContextReport, summed
from leadline.passages.context import Counter, Rules
from leadline.passages.goals import EvidenceGoals
from leadline.passages.matching import Known
from leadline.passages.packing import Policy, packed
from leadline.passages.rankings import Rankings, rankings
from leadline.passages.tokens import tokenizer
from leadline.stats.intervals import t_interval
from shared.chunked import CHUNKERS, Collection

PAGE = DOCS / "explanation" / "packing.md"
BUDGETS = (125, 250, 500, 1000, 2000, 4000)
ROOM, DEPTH = 500, 50
RETRIEVER = "BM25"
WORDS = tokenizer("words")
BASE = Policy(DEPTH, WORDS, ROOM)
POLICIES = {
    "stop": BASE,
    "skip": replace(BASE, overflow="skip"),
    "cut": replace(BASE, overflow="cut"),
    "skip, dedup .3": replace(BASE, overflow="skip", dedup=0.3),
    "skip, first 10": replace(BASE, overflow="skip", k=10),
    "skip, first 5": replace(BASE, overflow="skip", k=5),
}
SHOWN = ("tokens, 160 with 40 shared", "paragraphs", "sentences")


@dataclass(frozen=True)
class Prepared:
    """One chunking: its texts, its goals, and the rankings of BM25 over it."""

    name: str
    known: Known
    texts: dict[str, str]
    goals: EvidenceGoals
    ranked: Rankings


def prepared(collection: Collection, chunker: str) -> Prepared:
    """A chunking, searched."""
    chunks = cut(collection.documents, chunker)
    known = Known(chunks, collection.documents)
    goals = EvidenceGoals(collection.evidence, chunks)
    run = retrieved(RETRIEVER, chunks, collection)
    texts = dict(zip(chunks.chunk_ids, map(str, known.texts), strict=True))
    return Prepared(chunker, known, texts, goals, rankings(run, goals.query_ids, Conventions()))


def accounted(one: Prepared, policy: Policy) -> ContextReport:
    """The account of all questions packed by one rule."""
    counter = Counter(one.goals, one.known, Rules(policy.k, policy.budget, policy.tokenizer))
    accounts = []
    for query in one.goals.query_ids:
        ids = one.ranked.of(query)
        row, _ = packed(ids, one.texts, policy)
        accounts.append(counter.account(query, ids, row))
    return summed(accounts, policy.budget)


def budget_table(found: Sequence[Prepared]) -> str:
    """Evidence in the context by budget, a row a chunking."""
    rows = []
    for one in found:
        reports = [accounted(one, replace(BASE, budget=budget)) for budget in BUDGETS]
        whole = reports[0].mean("retrieved")
        least = reports[0].reach[0.9]
        rows.append(
            [one.name, *(f"{report.mean('sent'):.3f}" for report in reports), f"{whole:.3f}", f"{least:,}"]
        )
    return table(
        [
            "chunks",
            *(f"{budget:,} words" for budget in BUDGETS),
            f"in the first {DEPTH}",
            "words for nine tenths of that",
        ],
        rows,
    )


def policy_table(found: Sequence[Prepared]) -> str:
    """Each rule against `stop`, on the same questions."""
    rows = []
    for one in found:
        if one.name not in SHOWN:
            continue
        base = accounted(one, BASE)
        for name, policy in POLICIES.items():
            report = base if policy is BASE else accounted(one, policy)
            change = "–"
            if report is not base:
                pairs = zip(report.accounts, base.accounts, strict=True)
                found_one = t_interval([(a.sent or 0) - (b.sent or 0) for a, b in pairs])
                low, high = found_one.low, found_one.high
                ends = "no spread" if low is None or high is None else f"{low:+.3f} to {high:+.3f}"
                change = f"{found_one.estimate:+.3f} ({ends})"
            shares = [f"{report.mean(part):.3f}" for part in ("sent", "noise", "duplicates")]
            rows.append(
                [
                    one.name,
                    name,
                    shares[0],
                    change,
                    *shares[1:],
                    f"{report.mean('items'):.1f}",
                    f"{report.mean('size'):.0f}",
                ]
            )
    return table(
        ["chunks", "rule", "evidence sent", "against stop (95 %)", "noise", "duplicates", "entries", "words"],
        rows,
    )


if __name__ == "__main__":
    whole = read_collection(DATA / "chunking_evaluation")
    every = [prepared(whole, chunker) for chunker in CHUNKERS]
    put(PAGE, "budgets", budget_table(every))
    put(PAGE, "policies", policy_table(every))

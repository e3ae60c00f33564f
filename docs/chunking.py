"""Measures five chunkers with two retrievers against the same evidence, and how evidence is carried over real edits.

`python docs/chunking.py` takes some two minutes on one core; `chunkers` or `carry` after it measures that part alone. A
measured part stands in docs/explanation/chunking.md between `<!-- measured: NAME -->` and `<!-- end -->`; what is around
it is written by hand. The collection chunking_evaluation is needed (LEADLINE_SHARED, see tests/shared/folder.py).
"""

import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measured import put, table

import leadline
from leadline.comparison import Design, compare
from leadline.conventions import Conventions
from leadline.demo import retrievers
from leadline.demo.document import Document
from leadline.formats.objects import run_of
from leadline.hits import Judged
from leadline.passages.against import Passages
from leadline.passages.carry import STATES, carry
from leadline.passages.grades import covered_shares
from leadline.passages.spans import as_spans
from leadline.passages.tables import Chunks
from leadline.ranking import head
from leadline.tables import Run

DOCS = Path(__file__).resolve().parent
PAGE, PICTURE = DOCS / "explanation" / "chunking.md", DOCS / "images" / "chunking.svg"
sys.path.insert(0, str(DOCS.parent / "tests"))

from shared.chunked import CHUNKERS, EDITS, Collection, edited, read_collection  # noqa: E402
from shared.folder import DATA  # noqa: E402

RETRIEVERS = ("BM25", "static embeddings")
DEPTH = 50
SHOWN = ("EvidenceRecall@5", "EvidencePrecision@5", "EvidenceIoU@5", "nDCG@10", "R@5")
CURVE = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50)
SEEDS = (1, 2, 3)
AGREE = 0.5
"""How much of the union two ranges must share to be called the same place (intersection over union)."""

Rankings = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Measured:
    """One chunker with one retriever: values by measure, and of each depth of the curve the text read and the recall."""

    chunker: str
    retriever: str
    chunks: Chunks
    run: Run
    scores: leadline.Scores
    curve: tuple[tuple[float, float], ...]


def cut(documents: Mapping[str, str], chunker: str) -> Chunks:
    """All documents in chunks; those of white space alone are left out."""
    names, owners, spans = [], [], []
    for document_id, text in documents.items():
        for start, end in CHUNKERS[chunker](text):
            if text[start:end].strip():
                names.append(f"{document_id}:{start}-{end}")
                owners.append(document_id)
                spans.append((start, end))
    return Chunks.of(names, owners, as_spans(spans), chunker)


def retrieved(retriever: str, chunks: Chunks, collection: Collection) -> Run:
    """The run of a retriever over chunks of all five documents."""
    texts = [
        collection.documents[owner][start:end]
        for owner, (start, end) in zip(chunks.document_ids, chunks.spans.tolist(), strict=True)
    ]
    if retriever == "BM25":
        documents = [Document(name, text, "", "") for name, text in zip(chunks.chunk_ids, texts, strict=True)]
        found = retrievers.search_bm25(documents, collection.queries, DEPTH)
        rankings = {query: dict(ranking) for query, ranking in found.items()}
    else:
        rankings = _dense(chunks.chunk_ids, texts, collection.queries)
    return run_of(rankings, name=chunks.source.partition(",")[0])


def _dense(names: Sequence[str], texts: Sequence[str], queries: Mapping[str, str]) -> Rankings:
    """By the cosine of mean word vectors, of the whole chunk: the demonstration's model, without its docstring rules."""
    model = retrievers._load_embeddings()
    matrix = retrievers._embed(model, list(texts)).astype(np.float32)
    vectors = retrievers._embed(model, list(queries.values())).astype(np.float32)
    found: Rankings = {}
    for query, scores in zip(queries, vectors @ matrix.T, strict=True):
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        found[query] = {names[row]: float(scores[row]) for row in best.tolist()}
    return found


def measured(collection: Collection, chunker: str, retriever: str) -> Measured:
    """The values of one chunker with one retriever."""
    chunks = cut(collection.documents, chunker)
    run = retrieved(retriever, chunks, collection)
    asked = [*SHOWN, *(f"EvidenceRecall@{k}" for k in CURVE)]
    against = {"evidence": collection.evidence, "chunks": chunks, "documents": collection.documents}
    scores = leadline.evaluate(run, None, asked, **against)
    passages = Passages(collection.evidence, {run.name: chunks}, collection.documents)
    judged = Judged.of(passages.qrels(run.name))
    seen = passages.retrieved(run.name, head(run, judged, Conventions(), DEPTH), judged)
    curve = tuple(
        (float(seen.amounts(k, 1, "characters")[1].mean()), scores.mean(f"EvidenceRecall@{k}")) for k in CURVE
    )
    return Measured(chunker, retriever, chunks, run, scores, curve)


def chunker_table(found: Sequence[Measured], collection: Collection) -> str:
    """One row a chunker and retriever."""
    head_row = [
        "chunks",
        "number",
        "length: mean, longest",
        "evidence whole in one",
        "retriever",
        "read of five",
        *SHOWN,
    ]
    rows = []
    for one in found:
        size = one.chunks.spans[:, 1] - one.chunks.spans[:, 0]
        read = dict(zip(CURVE, one.curve, strict=True))[5][0]
        whole = (covered_shares(one.chunks, collection.evidence) == 1).mean()
        means = []
        for name in SHOWN:
            row = one.scores.summary(name)
            half = (row.high - row.low) / 2 if row.low is not None and row.high is not None else float("nan")
            means.append(f"{row.mean:.3f} ± {half:.3f}")
        rows.append(
            [
                one.chunker,
                f"{len(one.chunks):,}",
                f"{size.mean():.0f}, {size.max():,}",
                f"{whole:.0%}",
                one.retriever,
                f"{read:,.0f}",
                *means,
            ]
        )
    return table(head_row, rows)


def comparison_table(found: Sequence[Measured], collection: Collection) -> str:
    """Each chunker against the first, with the same retriever, on the same evidence."""
    rows = []
    for retriever in RETRIEVERS:
        own = [one for one in found if one.retriever == retriever]
        names = {one.run.name: one for one in own}
        merged = leadline.evaluate(
            [one.run for one in own],
            None,
            ["EvidenceRecall@5", "nDCG@10"],
            evidence=collection.evidence,
            chunks={one.run.name: one.chunks for one in own},
        )
        for row in compare(merged, own[0].run.name, None, Design()):
            rows.append(
                [
                    retriever,
                    names[row.candidate].chunker,
                    row.measure,
                    f"{row.difference:+.3f}",
                    f"{row.low:+.3f} to {row.high:+.3f}",
                    "< 0.001" if (row.p_corrected or 0) < 0.001 else f"{row.p_corrected:.3f}",
                ]
            )
    rows.sort(key=lambda one: (one[0], one[2], one[1]))
    return table(["retriever", "chunks", "measure", "difference", "95 % interval", "p (Holm)"], rows)


# ------------------------------------------------------------------------------------------------------- carrying


def carry_table(collection: Collection) -> str:
    """How evidence was carried over each kind of edit, summed over the seeds."""
    rows = []
    for kind in EDITS:
        total: Counter[str] = Counter()
        for seed in SEEDS:
            total += carried(collection, kind, seed)
        automatic = total["same"] + total["moved"]
        rows.append(
            [
                kind,
                *(f"{total[state]:,}" for state in STATES),
                f"{total['right']:,} of {automatic:,}",
                f"{total['kept carried']:,} of {total['kept']:,}",
                f"{total['kept first']:,} of {total['kept'] - total['kept carried']:,}",
                f"{total['changed found']:,} of {total['changed']:,}",
                f"{total['gone lost']:,} of {total['gone']:,}",
            ]
        )
    names = [
        "edit",
        *STATES,
        "carried to the right place",
        "kept, and carried",
        "kept, for review, shown first",
        "changed, and shown",
        "gone, and said so",
    ]
    return table(names, rows)


def carried(collection: Collection, kind: str, seed: int) -> Counter[str]:
    """What became of the 790 pieces after one kind of edit of five per cent of the sentences, and what was right."""
    rng = random.Random(f"{kind} {seed}")
    versions = {name: edited(text, kind, rng) for name, text in collection.documents.items()}
    texts = {name: one.text for name, one in versions.items()}
    found = carry(collection.evidence, collection.documents, texts)
    count: Counter[str] = Counter()
    for row in found.rows:
        fate, place = versions[row.old.document_id].truth(row.old.start, row.old.end)
        count[row.state] += 1
        count[fate] += 1
        if row.new is not None and place is not None:
            here = row.new.start, row.new.end
            # Of a sentence that was rewritten elsewhere than in the quote, the quote stands within it to the letter.
            count["right"] += here == place if fate == "kept" else place[0] <= here[0] and here[1] <= place[1]
        if fate == "kept":
            count["kept carried"] += row.new is not None
            first = next(iter(row.places), None)
            count["kept first"] += first is not None and (first.start, first.end) == place
        elif fate == "changed":
            count["changed found"] += any(
                one.document_id == row.old.document_id
                and place is not None
                and _alike((one.start, one.end), place)
                for one in row.places
            )
        else:
            count["gone lost"] += row.state == "lost"
    return count


def _alike(one: tuple[int, int], other: tuple[int, int]) -> bool:
    both = max(0, min(one[1], other[1]) - max(one[0], other[0]))
    return both >= AGREE * (one[1] - one[0] + other[1] - other[0] - both)


# -------------------------------------------------------------------------------------------------------- picture

STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#222}.tick{fill:#555;font-size:11px}.grid{stroke:#ddd}"
    ".m{fill:none;stroke-width:2}"
    "@media(prefers-color-scheme:dark){text{fill:#eee}.tick{fill:#aaa}.grid{stroke:#444}}"
)
COLOURS = ("#3b6fb5", "#c2571a", "#2f8a4f", "#8a4fb5", "#a88a00")
DASHES = ("", "7 3", "2 3", "9 3 2 3", "12 4")
WIDE, HIGH, LEFT, TOP = 330, 240, 44, 92
MOST = 10_000
"""How much text the picture shows, in characters."""


def picture(found: Sequence[Measured]) -> str:
    """Evidence recall by the text that was read, one panel a retriever, as SVG."""
    width, height = 2 * (LEFT + WIDE) + 40, TOP + HIGH + 50
    title = "<title>Evidence recall by how much text is read, five chunkings, two retrievers</title>"
    box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {box}>', title, f"<style>{STYLE}</style>"]
    for at, name in enumerate(CHUNKERS):
        x, y = LEFT + (at % 3) * 240, 18 + (at // 3) * 22
        lines.append(_line(at, f"{x},{y - 4} {x + 30},{y - 4}"))
        lines.append(f'<text x="{x + 38}" y="{y}">{name}</text>')
    for place, retriever in enumerate(RETRIEVERS):
        lines += _panel(
            LEFT + place * (LEFT + WIDE), retriever, [one for one in found if one.retriever == retriever]
        )
    return "\n".join([*lines, "</svg>", ""])


def _line(at: int, points: str) -> str:
    dash = f' stroke-dasharray="{DASHES[at]}"' if DASHES[at] else ""
    return f'<polyline class="m" stroke="{COLOURS[at]}"{dash} points="{points}"/>'


def _panel(x: int, retriever: str, found: Sequence[Measured]) -> list[str]:
    foot = TOP + HIGH
    lines = [f'<text x="{x}" y="{TOP - 14}">{retriever}: share of the evidence found</text>']
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = foot - HIGH * share
        lines.append(f'<line class="grid" x1="{x}" x2="{x + WIDE}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text class="tick" x="{x - 6}" y="{y + 4:.1f}" text-anchor="end">{share:g}</text>')
    for number in range(0, MOST + 1, 2000):
        at = x + WIDE * number / MOST
        lines.append(
            f'<text class="tick" x="{at:.1f}" y="{foot + 16}" text-anchor="middle">{number:,}</text>'
        )
    lines.append(
        f'<text class="tick" x="{x + WIDE / 2}" y="{foot + 36}" text-anchor="middle">characters read per question</text>'
    )
    for at, name in enumerate(CHUNKERS):
        one = next(each for each in found if each.chunker == name)
        points = [(0.0, 0.0), *one.curve]
        shown = [point for point in points if point[0] <= MOST]
        after = next((point for point in points if point[0] > MOST), None)
        if after is not None:
            before = shown[-1]
            share = (MOST - before[0]) / (after[0] - before[0])
            shown.append((float(MOST), before[1] + share * (after[1] - before[1])))
        lines.append(
            _line(at, " ".join(f"{x + WIDE * a / MOST:.1f},{foot - HIGH * b:.1f}" for a, b in shown))
        )
    return lines


def main(chosen: Sequence[str]) -> None:
    """Measure the parts named, or both, and write them."""
    collection = read_collection(DATA / "chunking_evaluation")
    if not chosen or "chunkers" in chosen:
        found = [measured(collection, chunker, name) for chunker in CHUNKERS for name in RETRIEVERS]
        put(PAGE, "chunkers", chunker_table(found, collection))
        put(PAGE, "compared", comparison_table(found, collection))
        PICTURE.write_text(picture(found), encoding="utf-8")
    if not chosen or "carry" in chosen:
        put(PAGE, "carry", carry_table(collection))


if __name__ == "__main__":
    main(sys.argv[1:])

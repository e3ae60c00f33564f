"""The demonstration's stages from left to right: a real index, retrieval, two chunkings, and a context that is packed."""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.errors import MissingExtraError, amount

if TYPE_CHECKING:
    from leadline.passages.accounts import ContextReport
    from leadline.passages.tables import Chunks, Evidence
    from leadline.report.stages import Loss, Measured, Stage, Stages

PAGE = "stages.html"
"""The page of all stages; those of single stages stand beside it."""
INDEX_PAGE, CHUNKS_PAGE, CONTEXT_PAGE = "index-fidelity.html", "chunks.html", "context.html"
DATA = "stages"
"""The folder, in the demonstration's, of the files that the stages read and write."""

INDEX, METRIC, K, DEPTH = "usearch", "cosine", 10, 100
RUNS = ("bm25", "dense", "fusion")
LEAST = 2
"""The least grade of a document that is evidence: it answers the question at least in part."""
PACKED, BUDGET = "paragraphs", 300
"""Which chunks are packed, and how many words fit."""
TITLE = "Stage by stage, from left to right"


@dataclass(frozen=True)
class _Given:
    """What all stages share: the folder, and the texts of the documents and of the questions by id."""

    folder: Path
    documents: Mapping[str, str]
    questions: Mapping[str, str]

    def data(self, name: str) -> Path:
        """A file that belongs to the stages."""
        return self.folder / DATA / name


def stages(folder: Path) -> "Stages":
    """Measure every stage of the dense retriever over a folder that `write_collection` filled, and write the pages.

    Without the library of the index, its stage says so and the others are measured.
    """
    from leadline.formats.documents import read_texts
    from leadline.formats.write import atomic_write
    from leadline.report.stages import Stages
    from leadline.report.stages_page import stages_html

    given = _Given(folder, read_texts(folder / "documents.jsonl"), _questions(folder / "queries.jsonl"))
    (folder / DATA).mkdir(exist_ok=True)
    index, beside = _index(given)
    evidence = _evidence(given)
    retrieval = _retrieval(given)
    chunks, tables = _chunks(given)
    context, losses, arrives = _context(given, evidence, tables[PACKED])
    length = int((evidence.spans[:, 1] - evidence.spans[:, 0]).sum())
    notes = (
        f"The judges graded whole docstrings and marked no text: the evidence is the whole text of those judged {LEAST} or 3.",
        f"So there are {amount(len(evidence.rows), 'whole text')} as evidence for {amount(len(evidence.query_ids), 'question')}, "
        f"{length:,} characters; a long docstring weighs as much as it is long.",
        "The index is searched for whole documents; chunks are searched exactly.",
        "Index, chunks and context are of the dense retriever. Every number is a mean over questions, n of them.",
    )  # fmt: skip
    found = Stages(TITLE, (index, retrieval, chunks, context), losses, arrives, notes, beside)
    with atomic_write(folder / PAGE) as place:
        place.write_text(stages_html(found), encoding="utf-8")
    return found


def _questions(path: Path) -> dict[str, str]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["query_id"]: row["text"] for row in rows}


def _index(given: _Given) -> "tuple[Stage, tuple[str, ...]]":
    """An HNSW index over the documents' vectors against exact search, and what its loss costs."""
    from leadline.ann.study import Asked, against_vectors
    from leadline.ann.target import open_target
    from leadline.formats.write import atomic_write
    from leadline.locate.index_cost import cost_under
    from leadline.report.ann_page import ann_page
    from leadline.report.stages import Measured, Stage
    from leadline.stats.intervals import mean_interval

    question = f"Does the index return the {K} nearest documents?"
    documents, queries = _vectors(given)
    try:
        found = against_vectors(
            lambda: closing(open_target(INDEX, {}, documents, queries.dimensions, METRIC)),
            documents, queries, METRIC, Asked(INDEX, K), lambda text: None,
        )  # fmt: skip
    except MissingExtraError as error:
        return Stage("index", question, (), (f"not measured: {error}",)), ()
    point = found.points[0]
    cost = cost_under(found, point, str(given.folder / "qrels.txt"), f"nDCG@{K}")
    with atomic_write(given.folder / INDEX_PAGE) as place:
        place.write_text(ann_page(found, cost), encoding="utf-8")
    kept, change = mean_interval(point.recall.values), cost.rows[0]
    measured = (
        Measured(f"ANN recall@{K}", kept.estimate, kept.low, kept.high, kept.n),
        Measured(f"nDCG@{K}, index − exact", change.difference, change.low, change.high, change.n, False),
    )
    told = (
        f"HNSW ({INDEX}, its defaults) over {documents.rows:,} vectors of {documents.dimensions} numbers, "
        "against exact search over the same vectors.",
    )
    line = (
        f"leadline ann --vectors {DATA}/documents.npy --queries {DATA}/questions.npy --target {INDEX} -k {K} "
        "--qrels qrels.txt"
    )
    stage = Stage("index", question, measured, told, (("the index", INDEX_PAGE),), line)
    return stage, (_beside(kept.estimate, change.difference),)


def _beside(recall: float | None, change: float | None) -> str:
    """What the index loses, in another unit than the evidence."""
    if recall is None or change is None:
        return "Apart from it, what the index loses could not be measured."
    cost = f"changes nDCG@{K} by {change:+.4f}" if change else f"changes nothing in nDCG@{K}"
    return f"Apart from it, the index misses {1 - recall:.3f} of the {K} nearest documents; that {cost}."


def _vectors(given: _Given) -> "tuple[Any, Any]":
    """The dense retriever's vectors, written where `leadline ann` can read them again."""
    import numpy as np

    from leadline.ann.vectors import read_vectors
    from leadline.demo.document import Document
    from leadline.demo.retrievers import dense_vectors
    from leadline.formats.write import atomic_write

    documents = [Document(name, text, "", "") for name, text in given.documents.items()]
    both = dense_vectors(documents, list(given.questions.values()))
    found = []
    for name, matrix, ids in zip(
        ("documents", "questions"), both, (given.documents, given.questions), strict=True
    ):
        with atomic_write(given.data(f"{name}.npy")) as place, place.open("wb") as out:
            np.save(out, matrix.astype(np.float32))
        with atomic_write(given.data(f"{name}.txt")) as place:
            place.write_text("".join(f"{one}\n" for one in ids), encoding="utf-8")
        found.append(read_vectors(given.data(f"{name}.npy")))
    return found[0], found[1]


def _evidence(given: _Given) -> "Evidence":
    """Each document that was judged to answer a question is evidence as a whole."""
    from leadline.formats.read import read_qrels
    from leadline.judging.marked import evidence_of_qrels
    from leadline.passages.tables import Evidence
    from leadline.passages.write import write_evidence

    judged = read_qrels(given.folder / "qrels.txt")
    rows = evidence_of_qrels(judged, documents=given.documents, least=LEAST).rows
    write_evidence(rows, given.data("evidence.jsonl"))
    return Evidence.of(rows, f"{DATA}/evidence.jsonl")


def _retrieval(given: _Given) -> "Stage":
    """How many of the documents that answer stand in the first ten, for each retriever."""
    from leadline.evaluation import evaluate
    from leadline.report.stages import Stage

    measure, qrels = f"R(rel={LEAST})@{K}", "qrels.txt"
    scores = evaluate(
        [str(given.folder / f"{name}.run") for name in RUNS], str(given.folder / qrels), measure
    )
    return Stage(
        "retrieval",
        f"How many of the documents that answer are in the first {K}?",
        _means(scores, lambda system, _: f"recall@{K}, {system}"),
        (
            f"Documents judged {LEAST} or 3, as the evidence is; the report's R@{K} counts those judged 1 too.",
        ),
        (("the measures", "report.html"), ("dense against bm25", "comparison.html")),
        f"leadline evaluate {' '.join(f'{name}.run' for name in RUNS)} --qrels {qrels} -m '{measure}'",
    )


def _means(scores: Any, named: Any) -> "list[Measured]":
    from leadline.report.stages import Measured

    order = list(dict.fromkeys(row.measure for row in scores.summaries))
    rows = sorted(scores.summaries, key=lambda row: order.index(row.measure))
    return [
        # Where a question has no document that answers, there is no recall, and it is not in the mean.
        Measured(
            named(row.system, row.measure),
            row.mean,
            row.low,
            row.high,
            row.n_queries - row.n_undefined - row.n_error,
        )
        for row in rows
    ]


def _chunks(given: _Given) -> "tuple[Stage, dict[str, Chunks]]":
    """Two chunkings, each searched by the dense retriever, against the same evidence."""
    from leadline.demo.chunking import CHUNKINGS, ROOM, SHARED
    from leadline.evaluation import evaluate
    from leadline.report.files import write_report
    from leadline.report.stages import Stage

    tables = {name: _searched(given, name) for name in CHUNKINGS}
    asked = [f"EvidenceRecall@{K // 2}", f"EvidenceRecall@{K}", f"EvidenceIoU@{K}"]
    scores = evaluate(
        [str(given.data(f"{name}.run")) for name in tables],
        measures=asked,
        evidence=str(given.data("evidence.jsonl")),
        chunks=tables,
        queries=str(given.folder / "queries.jsonl"),
    )
    write_report(scores, given.folder / CHUNKS_PAGE, "demo")
    sizes = ", ".join(f"{len(table):,} {name}" for name, table in tables.items())
    told = (
        f"{sizes}. Paragraphs stay whole and are joined up to {ROOM} characters; windows have {ROOM}, of which {SHARED} "
        "are shared with the one before.",
    )
    files = " ".join(f"--chunks {name}={DATA}/{name}-chunks.jsonl" for name in tables)
    line = (
        f"leadline compare {' '.join(f'{DATA}/{name}.run' for name in tables)} --evidence {DATA}/evidence.jsonl "
        f"{files} -m {','.join(asked)}"
    )
    question = "How much of the text that answers do the first chunks hold?"
    means = _means(scores, lambda system, measure: f"{measure}, {system}")
    return Stage("chunks", question, means, told, (("both chunkings", CHUNKS_PAGE),), line), tables


def _searched(given: _Given, chunking: str) -> "Chunks":
    """One chunking and its run, written to files."""
    from leadline.demo.chunking import cut_all
    from leadline.demo.files import write_run
    from leadline.demo.retrievers import search_chunks
    from leadline.passages.spans import as_spans
    from leadline.passages.tables import Chunks
    from leadline.passages.write import write_json_lines

    cut = list(cut_all(given.documents, chunking))
    rows = (
        {"chunk_id": name, "document_id": document, "start": start, "end": end}
        for name, document, (start, end) in cut
    )
    source = f"{chunking}-chunks.jsonl"
    write_json_lines(rows, given.data(source))
    texts = {name: given.documents[document][start:end] for name, document, (start, end) in cut}
    write_run(given.data(f"{chunking}.run"), search_chunks(texts, given.questions, DEPTH), chunking)
    spans = as_spans(place for *_, place in cut)
    return Chunks.of(list(texts), [document for _, document, _ in cut], spans, f"{DATA}/{source}")


def _context(
    given: _Given, evidence: "Evidence", chunks: "Chunks"
) -> "tuple[Stage, tuple[Loss, ...], float]":
    """A context packed from the first chunks, against what was retrieved: the way of the evidence."""
    from leadline.formats.write import atomic_write
    from leadline.passages.context import Rules
    from leadline.passages.tokens import tokenizer
    from leadline.report.context_page import context_page_text
    from leadline.report.context_told import Told
    from leadline.report.stages import Measured, Stage

    rules = Rules(K, BUDGET, tokenizer("words"))
    report = _packed(given, evidence, chunks, rules)
    told = Told(report, rules, "characters", f"{DATA}/{PACKED}.run", f"{DATA}/sent.jsonl")
    with atomic_write(given.folder / CONTEXT_PAGE) as place:
        place.write_text(context_page_text(told), encoding="utf-8")
    means = {one.name: one.interval for one in report.means}
    names = {
        "retrieved": f"evidence in the first {DEPTH} chunks",
        "at_k": f"evidence in the first {K}",
        "sent": f"evidence sent, {BUDGET} words",
        "noise": "of what was sent, no evidence",
    }
    measured = [
        Measured(text, one.estimate, one.low, one.high, one.n)
        for name, text in names.items()
        if (one := means[name])
    ]
    said = f"The first {K} {PACKED}, best first, until the next one does not fit into {BUDGET} words."
    line = (
        f"leadline context --retrieved {DATA}/{PACKED}.run --sent {DATA}/sent.jsonl --evidence {DATA}/evidence.jsonl "
        f"--chunks {DATA}/{PACKED}-chunks.jsonl --documents documents.jsonl -k {K} --budget {BUDGET} --tokenizer words"
    )
    question = "How much of the text that answers reaches the model?"
    stage = Stage("context", question, measured, (said,), (("the context", CONTEXT_PAGE),), line)
    return stage, _losses(report), means["sent"].estimate or 0.0


def _losses(report: "ContextReport") -> "tuple[Loss, ...]":
    from leadline.report.stages import Loss

    steps = {"cutoff": f"below the first {K}", "budget": "no room left"}
    lost = {one.name: one.interval.estimate or 0.0 for one in report.lost}
    found = [Loss(f"not in the first {DEPTH} chunks", 1 - (report.mean("retrieved") or 0.0))]
    return (*found, *(Loss(steps.get(name, name), share) for name, share in lost.items()))


def _packed(given: _Given, evidence: "Evidence", chunks: "Chunks", rules: Any) -> "ContextReport":
    """The accounts of all questions; what is sent is written as `leadline pack` writes it."""
    from leadline.conventions import conventions
    from leadline.formats.read import read_run
    from leadline.passages.accounts import summed
    from leadline.passages.context import Counter
    from leadline.passages.goals import EvidenceGoals
    from leadline.passages.matching import Known
    from leadline.passages.packing import Policy, packed, sent_line, texts_of
    from leadline.passages.rankings import rankings
    from leadline.passages.write import write_json_lines

    known, goals = Known(chunks, given.documents), EvidenceGoals(evidence, chunks, LEAST)
    counter, policy = Counter(goals, known, rules), Policy(K, rules.tokenizer, BUDGET)
    switches = conventions()
    run = read_run(given.data(f"{PACKED}.run"), conventions=switches)
    ranked = rankings(run, goals.query_ids, switches)
    accounts, lines = [], []
    for query in goals.query_ids:
        ids = ranked.of(query)
        row, size = packed(ids, texts_of(ids[:K], known, run.name), policy)
        accounts.append(counter.account(query, ids, row))
        lines.append(sent_line(query, row, size))
    write_json_lines(lines, given.data("sent.jsonl"))
    return summed(accounts, BUDGET)

"""`leadline context`: what of the retrieved evidence reached the model, and where the rest was lost."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli import options
from leadline.cli.chosen import prepared, settled, with_passages
from leadline.cli.evaluate import progress
from leadline.errors import NotComparableError, UsageError, amount, printable

if TYPE_CHECKING:
    from leadline.passages.goals import Goals
    from leadline.passages.matching import Known
    from leadline.report.context_told import Told

FORMATS = ("table", "json", "csv", "md")
ENDINGS = (".json", ".csv", ".md", ".html", ".txt")

Retrieved = Annotated[
    str, typer.Option("--retrieved", metavar="RUN", help="What was retrieved: a run, or rows of collect.")
]
Sent = Annotated[
    str,
    typer.Option(
        "--sent",
        metavar="CONTEXTS",
        help="What was sent: rows with context_ids or contexts, as collect and pack write.",
    ),
]
Depth = Annotated[
    int | None, typer.Option("--k", "-k", min=1, help="The pipeline passes on the first k retrieved chunks.")
]
Budget = Annotated[
    int | None, typer.Option(min=1, help="The room of the context, in units of the tokenizer.")
]
TokenizerName = Annotated[
    str,
    typer.Option(
        "--tokenizer",
        help="How lengths are counted: chars, words or tiktoken:NAME (such as tiktoken:o200k_base).",
    ),
]
Rel = Annotated[float, typer.Option(help="The least grade of evidence, or of a judged chunk, that counts.")]
TextsOf = Annotated[
    str | None,
    typer.Option(
        "--documents",
        metavar="PLACE",
        help="The texts of the documents, a folder or a file; without --chunks they are the chunks.",
    ),
]
ChunksOf = Annotated[
    str | None,
    typer.Option(
        "--chunks",
        metavar="FILE",
        help="Which text each id is: chunk_id, document_id, start and end, or text.",
    ),
]


def context(
    retrieved: Retrieved,
    sent: Sent,
    evidence: options.EvidenceFile = None,
    qrels: options.Qrels = None,
    chunks: ChunksOf = None,
    documents: TextsOf = None,
    k: Depth = None,
    budget: Budget = None,
    tokenizer: TokenizerName = "chars",
    rel: Rel = 1.0,
    per_query: options.PerQuery = False,
    format: Annotated[str | None, typer.Option(help="table, json, csv (a row a query) or md.")] = None,
    write: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Also write: .json .csv .md .html .txt")
    ] = None,
    profile: options.Profile = None,
    order: options.Order = None,
    duplicates: options.Duplicates = None,
    input_format: options.InputFormat = None,
    qrels_format: options.QrelsFormat = None,
    quiet: options.Quiet = False,
) -> None:
    """Compare what was retrieved with what was sent: evidence kept and lost by reason, noise, and recall by budget.

    Example: leadline context --retrieved rows.jsonl --sent rows.jsonl --evidence evidence.jsonl --chunks chunks.jsonl \
-k 10 --budget 4000 --tokenizer words
    """
    given = dict(locals())
    given["chunks"] = [chunks] if chunks else None
    form = settled({"format": format})["format"] or "table"
    if form not in FORMATS:
        raise UsageError(f"--format {form!r} is not one of {', '.join(FORMATS)}")
    for path in write or []:
        if not path.lower().endswith(ENDINGS):
            raise UsageError(
                f"{printable(path)}: the ending names no kind of report; known: {' '.join(ENDINGS)}"
            )
    told = _told(given, quiet)
    _show(told, form, per_query, write or [])


def _told(given: Mapping[str, Any], quiet: bool) -> "Told":
    """Read everything, make the accounts, and say what there is to know before believing them."""
    from leadline.passages.accounts import summed
    from leadline.passages.context import Counter, Rules
    from leadline.passages.contexts import read_contexts
    from leadline.passages.rankings import rankings
    from leadline.passages.tokens import tokenizer
    from leadline.report.context_told import Told

    rules = Rules(given["k"], given["budget"], tokenizer(given["tokenizer"]))
    contexts = read_contexts(given["sent"])
    with progress(quiet) as watch:
        goals, known, run, switches = needed(given, watch)
        ranked = rankings(run, goals.query_ids, switches)
    if known is None and any(one.chunk_id is None for row in contexts.rows.values() for one in row.items):
        raise UsageError(
            f"{contexts.source}: contexts are texts; --chunks C or --documents D says which chunks they are"
        )
    shared = [query for query in goals.query_ids if query in contexts.rows or query in contexts.failed]
    if not shared:
        raise NotComparableError(f"{printable(contexts.source)}: none of its queries is judged")
    counter = Counter(goals, known, rules)
    failed = ranked.failed | set(contexts.failed)
    accounts = [
        counter.account(query, ranked.of(query), contexts.rows.get(query), query in failed)
        for query in goals.query_ids
    ]
    report = summed(accounts, rules.budget)
    states = report.states
    if not states["scored"] + states["unanswered"]:
        raise NotComparableError(
            f"no query could be scored: {states['undefined']} without evidence of grade {given['rel']:g} or more, "
            f"{states['error']} failed"
        )
    extra = len(set(contexts.rows) - set(goals.query_ids))
    notes = (
        [f"not judged, left out: {amount(extra, 'query', 'queries')} of {contexts.source}"] if extra else []
    )
    return Told(report, rules, goals.unit, ranked.name, contexts.source, tuple(notes))


def needed(given: Mapping[str, Any], watch: Any) -> "tuple[Goals, Known | None, Any, Any]":
    """What the queries need, the chunks, the run and the switches, from the options.

    Raises
    ------
    LeadlineError: a file is missing or wrong, or neither evidence nor judgments are given.
    """
    from leadline.passages.goals import EvidenceGoals, JudgedGoals
    from leadline.passages.matching import Known

    chosen = with_passages(settled(given), given) if given.get("evidence") else settled(given)
    if not given.get("evidence") and not chosen["qrels"]:
        raise UsageError("--evidence E with --chunks C, or --qrels Q: what the queries need")
    inputs, _, switches = prepared([given["retrieved"]], chosen | {"measures": "R@5"}, watch)
    run = inputs.runs[0]
    if inputs.passages is not None:
        chunks = inputs.passages.chunks[run.name]
        known = Known(chunks, inputs.passages.documents)
        return EvidenceGoals(inputs.passages.evidence, chunks, given["rel"]), known, run, switches
    grades: dict[str, dict[str, float]] = {}
    for query, doc, grade in inputs.qrels.frame.select("query_id", "doc_id", "grade").iter_rows():
        grades.setdefault(query, {})[doc] = max(grade, grades.get(query, {}).get(doc, grade))
    return JudgedGoals(grades, given["rel"]), chunk_texts(given), run, switches


def chunk_texts(given: Mapping[str, Any]) -> "Known | None":
    """The chunks with their texts, from --chunks, or --documents as chunks of their own; None where neither is given."""
    from leadline.formats.documents import read_texts
    from leadline.passages.matching import Known
    from leadline.passages.read import read_chunks
    from leadline.passages.tables import Chunks

    texts = read_texts(given["documents"]) if given["documents"] else None
    path = given["chunks"][0] if given["chunks"] else None
    if path is not None:
        return Known(read_chunks(path, texts), texts)
    return None if texts is None else Known(replace(Chunks.whole(texts), source=given["documents"]), texts)


def _show(told: "Told", form: str, per_query: bool, write: list[str]) -> None:
    from leadline.formats.write import atomic_write
    from leadline.report import context_page, context_text

    makers: dict[str, Callable[[bool], str]] = {
        "json": lambda all_queries: context_text.context_json(told, all_queries),
        "csv": lambda _: context_text.context_csv(told),
        "md": lambda _: context_text.context_markdown(told),
        "html": lambda _: context_page.context_page_text(told),
        "txt": lambda all_queries: context_text.context_text(told, all_queries),
    }
    for path in write:
        with atomic_write(path) as temporary:
            temporary.write_text(makers[path.lower().rpartition(".")[2]](True), encoding="utf-8")
    typer.echo(makers["txt" if form == "table" else form](per_query), nl=False)

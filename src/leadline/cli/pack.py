"""`leadline pack`: what a packing policy would send, from a run and the texts of its chunks."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli import options
from leadline.cli.chosen import settled
from leadline.cli.context import ChunksOf, TextsOf, TokenizerName, chunk_texts
from leadline.cli.evaluate import progress
from leadline.errors import UsageError, amount

if TYPE_CHECKING:
    pass

Run = Annotated[str, typer.Argument(metavar="RUN", help="The run to pack: a file, or rows of collect.")]
Depth = Annotated[int, typer.Option("--k", "-k", min=1, help="Look at the first k chunks.")]
Budget = Annotated[
    int | None, typer.Option(min=1, help="The room of the context, in units of the tokenizer.")
]
OverflowRule = Annotated[
    str,
    typer.Option(
        help="The first chunk that does not fit: stop there, skip it and go on, or cut it to what is left."
    ),
]
Dedup = Annotated[
    float | None,
    typer.Option(
        help="Drop a chunk at least this similar to one taken (Jaccard of runs of three words; 1: equal)."
    ),
]
PackOrder = Annotated[
    str, typer.Option("--order", help="In the prompt: best-first, best-last or edges-first.")
]
Joiner = Annotated[int, typer.Option(min=0, help="Length of what stands between two chunks.")]
Write = Annotated[
    str, typer.Option("--write", metavar="FILE.jsonl", help="The contexts, for `leadline context --sent`.")
]


def pack(
    run: Run,
    write: Write,
    chunks: ChunksOf = None,
    documents: TextsOf = None,
    k: Depth = 10,
    budget: Budget = None,
    tokenizer: TokenizerName = "chars",
    overflow: OverflowRule = "stop",
    dedup: Dedup = None,
    order: PackOrder = "best-first",
    joiner: Joiner = 0,
    input_format: options.InputFormat = None,
    duplicates: options.Duplicates = None,
    quiet: options.Quiet = False,
) -> None:
    """Simulate a packing policy over a run: which chunks would be sent, in which order, and why the others not.

    Example: leadline pack bm25.run --chunks chunks.jsonl -k 20 --budget 4000 --tokenizer words --dedup 0.8 --write sent.jsonl
    """
    from leadline.conventions import conventions
    from leadline.formats.read import read_run
    from leadline.formats.write import atomic_write
    from leadline.passages.packing import Policy, packed, sent_line, texts_of
    from leadline.passages.rankings import queries_of, rankings
    from leadline.passages.tokens import tokenizer as named

    if Path(write).suffix.lower() != ".jsonl":
        raise UsageError("--write FILE.jsonl: contexts are written as JSONL")
    policy = Policy(k, named(tokenizer), budget, overflow, dedup, order, joiner)  # type: ignore[arg-type]
    known = chunk_texts({"chunks": [chunks] if chunks else None, "documents": documents})
    if known is None:
        raise UsageError("--chunks C or --documents D: the texts to pack")
    chosen = settled({"input_format": input_format, "duplicates": duplicates})
    rules = conventions("leadline-1", duplicates=chosen["duplicates"])
    source = read_run(run, input_format=chosen["input_format"], conventions=rules)
    with progress(quiet) as watch:
        watched = source if watch is None else watch(source)
        query_ids = queries_of(watched)
        ranked = rankings(watched, query_ids, rules)
    lines, sizes, dropped = [], list[int](), Counter[str]()
    for query in query_ids:
        ids = ranked.of(query)
        row, size = packed(ids, texts_of(ids[:k], known, source.name), policy)
        lines.append(sent_line(query, row, size))
        sizes.append(size)
        dropped.update(row.dropped.values())
    lines += [{"query_id": query, "error": message} for query, message in source.failed.items()]
    with atomic_write(write) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    _say(lines, sizes, dropped, policy.tokenizer.unit)


def _say(lines: list[dict[str, Any]], sizes: list[int], dropped: Counter[str], unit: str) -> None:
    entries = sum(len(line.get("context_ids", ())) for line in lines)
    mean = f", {sum(sizes) / len(sizes):.0f} {unit} on average, {max(sizes)} at most" if sizes else ""
    typer.echo(f"{amount(len(sizes), 'context')}: {amount(entries, 'chunk')}{mean}")
    if dropped:
        typer.echo("not sent: " + ", ".join(f"{reason} {count}" for reason, count in sorted(dropped.items())))
    failed = len(lines) - len(sizes)
    if failed:
        typer.echo(f"! failed in the run: {amount(failed, 'query', 'queries')}")

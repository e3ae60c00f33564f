"""`leadline check`: what is wrong in files, and what to know before a number made of them is believed."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

from leadline.cli import options
from leadline.errors import UsageError, printable

if TYPE_CHECKING:
    from leadline.formats.frames import Order
    from leadline.tables import Conflicts

FORMATS = ("table", "json", "md")
ENDINGS = {".json": "json", ".md": "md", ".txt": "table"}


Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE]",
        help="Runs, judgments, queries, documents, RAG rows, books, files of other tools; their content tells what they are.",
    ),
]
RunFiles = Annotated[list[str] | None, typer.Option("--run", metavar="FILE", help="A file that is a run.")]
QrelsFiles = Annotated[
    list[str] | None, typer.Option("--qrels", metavar="FILE", help="A file that is judgments.")
]
QueriesFiles = Annotated[
    list[str] | None, typer.Option("--queries", metavar="FILE", help="A file that is queries.")
]
DocumentsPlaces = Annotated[
    list[str] | None,
    typer.Option("--documents", metavar="PLACE", help="A file or a folder that is documents."),
]
Cutoffs = Annotated[
    list[int] | None,
    typer.Option("-k", min=1, help="The cutoff of ties, short answers and the judged share (default: 10)."),
]
Grades = Annotated[
    str | None, typer.Option(metavar="LOW-HIGH", help="The scale of grades, such as 0-3; others are named.")
]
Every = Annotated[bool, typer.Option("--all", help="Show every fault, not the first ten of each kind.")]
Strict = Annotated[bool, typer.Option("--strict", help="Leave with 1 where there are warnings.")]
Form = Annotated[str, typer.Option(help="table, json or md.")]
Write = Annotated[list[str] | None, typer.Option(metavar="FILE", help="Also write a file: .json .md .txt")]


def check(
    files: Files = None,
    run: RunFiles = None,
    qrels: QrelsFiles = None,
    queries: QueriesFiles = None,
    documents: DocumentsPlaces = None,
    k: Cutoffs = None,
    grades: Grades = None,
    every: Every = False,
    strict: Strict = False,
    format: Form = "table",
    write: Write = None,
    input_format: options.InputFormat = None,
    qrels_format: options.QrelsFormat = None,
    comments: options.Comments = None,
    duplicates: options.Duplicates = None,
    conflicts: options.Conflicts = None,
    order: options.Order = None,
) -> None:
    """Check files before a number made of them is believed: every fault with its place, and warnings with what to do.

    Leaves with 2 where there is a fault, with 1 where there are warnings and --strict is given, else with 0.

    Example: leadline check bm25.run qrels.txt queries.jsonl --grades 0-3
    """
    from leadline.lint.checking import check_files

    if format not in FORMATS:
        raise UsageError(f"--format {format!r} is not one of {', '.join(FORMATS)}")
    kinds = {path: _kind(path) for path in write or []}
    found = check_files(
        files or [],
        runs=run or [],
        qrels=qrels or [],
        queries=queries or [],
        documents=documents or [],
        cutoffs=k or [10],
        grades=grades,
        input_format=input_format,
        qrels_format=qrels_format,
        comments=bool(comments),
        duplicates=duplicates or "error",
        conflicts=cast("Conflicts", conflicts or "error"),
        order=cast("Order", order or "score"),
    )
    from leadline.formats.write import atomic_write
    from leadline.report.check_text import check_json, check_markdown, check_text

    makers = {"table": check_text, "json": check_json, "md": check_markdown}
    for path, kind in kinds.items():
        with atomic_write(path) as temporary:
            temporary.write_text(makers[kind](found, every), encoding="utf-8")
    typer.echo(makers[format](found, every), nl=False)
    if found.n_faults:
        raise typer.Exit(2)
    if strict and found.warnings:
        raise typer.Exit(1)


def _kind(path: str) -> str:
    """The kind of report that a file's ending names."""
    for ending, kind in ENDINGS.items():
        if path.lower().endswith(ending):
            return kind
    raise UsageError(f"{printable(path)}: the ending names no kind of report; known: {' '.join(ENDINGS)}")

"""`leadline convert`: a file in one format as a file in another; what would be lost is said before anything is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli import options
from leadline.errors import UsageError, amount, printable

if TYPE_CHECKING:
    from pathlib import Path

    from leadline.formats.conversion import Conversion, Request
    from leadline.formats.lists import Kind
    from leadline.formats.renamed import Rule

AS: "dict[str, Kind]" = {
    "run": "run",
    "qrels": "judgments",
    "judgments": "judgments",
    "queries": "queries",
}
FORMATS = ("table", "json")
LOST = 2
"""The exit code where something would be lost and nothing was written."""

Target = Annotated[
    str, typer.Argument(metavar="B", help="The file to write, - for standard output; a folder for beir.")
]
To = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The format to write: trec, jsonl, csv, tsv, parquet, beir, quepid, rank_eval, rre, opensearch, ranx, msmarco, ltr, "
        "langfuse, …; else the ending says it.",
    ),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="NAME", help="The format of A, where the content does not tell."),
]
As = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="KIND", help="What to read A as, where it can be several: run, qrels or queries."
    ),
]
QueriesFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="The queries: ids for files that name queries by text, and texts for ids."
    ),
]
Escape = Annotated[
    bool, typer.Option("--escape", help='Write ids with white space, " and % as % and two hex digits.')
]
Unescape = Annotated[bool, typer.Option("--unescape", help="Take ids back from what --escape wrote.")]
Lossy = Annotated[bool, typer.Option("--lossy", help="Write the file also where something is lost.")]


def convert(
    source: Annotated[
        str, typer.Argument(metavar="A", help="The file to read, - for standard input, or a BEIR folder.")
    ],
    target: Target,
    to: To = None,
    from_: From = None,
    as_: As = None,
    queries: QueriesFile = None,
    escape: Escape = False,
    unescape: Unescape = False,
    lossy: Lossy = False,
    conflicts: options.Conflicts = None,
    format: Annotated[str, typer.Option(help="How to say what was done: table or json.")] = "table",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only errors and losses.")] = False,
) -> None:
    """Write a run, judgments or queries in another format. What would be lost is said first, and stops it with exit 2.

    Example: leadline convert run.txt run.parquet
    """
    from leadline.formats.carrying import carried_out
    from leadline.formats.conversion import planned

    if format not in FORMATS:
        raise UsageError(f"--format {format!r} is not one of {', '.join(FORMATS)}")
    if escape and unescape:
        raise UsageError("--escape and --unescape undo each other; give one")
    rule: Rule | None = "escape" if escape else "unescape" if unescape else None
    with _watched(quiet) as watch:
        request = _request(source, target, to, from_, as_, queries, rule, conflicts, watch)
        conversion = planned(request)
        stopped = bool(conversion.lost) and (conversion.refused or not lossy)
        _say_before(conversion, quiet or format == "json")
        beside = None if stopped else carried_out(conversion)
    if format == "json":
        from leadline.report.json_text import document_text

        typer.echo(document_text(_facts(conversion, beside, not stopped)), nl=False, err=target == "-")
    elif not stopped and not quiet:
        typer.echo(_done(conversion, beside), err=target == "-")
    if stopped:
        typer.echo(_stop(conversion), err=True)
        raise typer.Exit(LOST)


def _request(
    source: str,
    target: str,
    to: str | None,
    from_: str | None,
    as_: str | None,
    queries: str | None,
    rule: "Rule | None",
    conflicts: str | None,
    watch: Any,
) -> "Request":
    from leadline.formats.conversion import Request
    from leadline.formats.read import read_queries

    if as_ is not None and as_ not in AS:
        raise UsageError(f"--as {as_!r} is not one of run, qrels, queries")
    if source == "-" and queries == "-":
        raise UsageError("standard input is one file: A or --queries")
    return Request(
        source,
        target,
        to,
        from_,
        None if as_ is None else AS[as_],
        None if queries is None else read_queries(queries),
        rule,
        conflicts or "error",  # type: ignore[arg-type]
        watch,
        () if queries is None else (queries,),
    )


@contextmanager
def _watched(quiet: bool) -> Iterator[Any]:
    from leadline.cli.evaluate import progress

    with progress(quiet) as watch:
        yield watch or (lambda run: run)


def _say_before(conversion: "Conversion", quiet: bool) -> None:
    """The losses, and with them what else is to be known, on standard error before anything is written."""
    for line in conversion.lost.values():
        typer.echo(f"! {line}", err=True)
    for note in () if quiet else conversion.notes:
        typer.echo(f"! {note}", err=True)


def _stop(conversion: "Conversion") -> str:
    if conversion.refused:
        other = "; --escape writes such ids" if "space" in conversion.lost else ""
        return f"leadline: nothing written: {conversion.aim.form} cannot hold this{other}"
    return "leadline: nothing written; --lossy writes it without these"


def _done(conversion: "Conversion", beside: "Path | None") -> str:
    what = {"run": "row", "judgments": "judgment", "queries": "query"}[conversion.kind]
    many = "queries" if conversion.kind == "queries" else ""
    of = "" if conversion.kind == "queries" else f" of {amount(conversion.queries, 'query', 'queries')}"
    place = "standard output" if conversion.aim.path == "-" else printable(conversion.aim.path)
    lines = [f"wrote {place} ({conversion.aim.form}): {amount(conversion.rows, what, many)}{of}"]
    if beside is not None:
        lines.append(f"wrote {printable(str(beside))}: which id is which text, for --queries")
    if conversion.card is not None:
        lines.append(f"wrote {printable(str(conversion.card_place))}: {conversion.card.sentence}")
    return "\n".join(lines)


def _facts(conversion: "Conversion", beside: "Path | None", written: bool) -> dict[str, Any]:
    from leadline.report.wording import tool_version

    return {
        "leadline": tool_version(),
        "command": "convert",
        "input": conversion.opened.path,
        "from": conversion.opened.form,
        "as": conversion.kind,
        "output": conversion.aim.path,
        "to": conversion.aim.form,
        "rows": conversion.rows,
        "queries": conversion.queries,
        "lost": [{"what": name, "sentence": text} for name, text in conversion.lost.items()],
        "notes": list(conversion.notes),
        "written": written,
        "map": None if beside is None else str(beside),
        "card": str(conversion.card_place) if conversion.card_place is not None and written else None,
    }

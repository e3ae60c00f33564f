"""`leadline evidence check`, `carry` and `from-book`: evidence that holds, moves along, and comes from judgments."""

from typing import TYPE_CHECKING, Annotated

import typer

from leadline.errors import UsageError, printable

if TYPE_CHECKING:
    from leadline.judging.marked import Marked
    from leadline.passages.tables import Chunks, Documents

app = typer.Typer(
    help="""Evidence: ranges of text that answer queries. It is measured against whatever the chunks are.

    Example: leadline evidence check --documents texts/ --evidence evidence.jsonl
    """,
    no_args_is_help=True,
)

EvidencePlace = Annotated[
    str,
    typer.Option(
        "--evidence", metavar="FILE", help="Rows with query_id, document_id, start, end, quote, grade."
    ),
]
Texts = Annotated[
    str,
    typer.Option(
        "--documents", metavar="PLACE", help="A folder of text files, or a file of rows with id and text."
    ),
]
FormatOf = Annotated[str, typer.Option("--format", help="table or json.")]


@app.command()
def check(documents: Texts, evidence: EvidencePlace, format: FormatOf = "table") -> None:
    """Verify that every quote stands where it says: characters start to end of its document. Exits 2 where one does not.

    Positions that count bytes or UTF-16 units in place of characters are recognised and said.

    Example: leadline evidence check --documents texts/ --evidence evidence.jsonl
    """
    from leadline.formats.documents import read_texts
    from leadline.passages.check import check_evidence
    from leadline.passages.read import read_evidence
    from leadline.report.evidence_text import checked_facts, checked_text
    from leadline.report.json_text import document_text

    _format(format)
    given = read_evidence(evidence)
    found = check_evidence(given, read_texts(documents, given.document_ids))
    error = found.error()
    if format == "json":
        typer.echo(document_text(checked_facts(found)), nl=False)
    elif error is None:
        typer.echo(checked_text(found), nl=False)
    if error is not None:
        raise error


@app.command()
def carry(
    old: Annotated[
        str, typer.Option("--old", metavar="PLACE", help="The documents that the evidence stands in.")
    ],
    new: Annotated[str, typer.Option("--new", metavar="PLACE", help="The documents as they are now.")],
    evidence: EvidencePlace,
    write: Annotated[
        str,
        typer.Option(
            "--write", metavar="FILE", help="The evidence for the new documents: .jsonl or .parquet."
        ),
    ],
    review: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="What a person is to look at (.jsonl), as `leadline judge` opens it."
        ),
    ] = None,
    near: Annotated[
        float, typer.Option(help="How alike a text must be to the quote to be shown for review, 0 to 1.")
    ] = 0.6,
    format: FormatOf = "table",
) -> None:
    """Carry evidence over to changed documents: same, moved, for review, or lost; nothing changes silently.

    Example: leadline evidence carry --old v1/ --new v2/ --evidence e1.jsonl --write e2.jsonl --review look.jsonl
    """
    from leadline.formats.documents import read_texts
    from leadline.passages.carry import carry as carry_over
    from leadline.passages.read import read_evidence
    from leadline.passages.write import evidence_kind, write_evidence, write_json_lines
    from leadline.report.evidence_text import carried_facts, carried_text
    from leadline.report.json_text import document_text

    _format(format)
    evidence_kind(write)
    if review is not None and not review.endswith(".jsonl"):
        raise UsageError(f"{printable(review)}: what is to be judged is written as .jsonl")
    _no_overwriting(evidence, write, review)
    given = read_evidence(evidence)
    texts = read_texts(new)
    found = carry_over(given, read_texts(old, given.document_ids), texts, near)
    write_evidence(found.evidence, write)
    if review is not None:
        write_json_lines(found.to_judge(texts), review)
    if format == "json":
        typer.echo(document_text(carried_facts(found)), nl=False)
    else:
        typer.echo(carried_text(found, write, review, new), nl=False)


@app.command(name="from-book")
def from_book(
    judgments: Annotated[
        str,
        typer.Argument(metavar="BOOK", help="A book of judgments, or a file of judgments of chunks."),
    ],
    write: Annotated[str, typer.Option("--write", metavar="FILE", help="The evidence: .jsonl or .parquet.")],
    documents: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE", help="The texts that were judged; every quote is checked against them."
        ),
    ] = None,
    chunks: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The judged ids are chunks of this file, placed in their documents."
        ),
    ] = None,
    whole: Annotated[
        bool | None,
        typer.Option(
            "--whole/--no-whole",
            help="A relevant text without marked text is evidence as a whole (default: with --chunks).",
        ),
    ] = None,
    least: Annotated[float, typer.Option(help="The least grade that is relevant.")] = 1.0,
) -> None:
    """Make evidence from judgments: the text that people marked, and whole chunks that were judged relevant.

    Example: leadline evidence from-book judgments.db --documents texts/ --write evidence.jsonl
    """
    from leadline.formats.documents import read_texts
    from leadline.passages.check import check_places
    from leadline.passages.read import read_chunks
    from leadline.passages.tables import Evidence
    from leadline.passages.write import evidence_kind, write_evidence

    evidence_kind(write)
    texts = None if documents is None else read_texts(documents)
    table = None if chunks is None else read_chunks(chunks, texts)
    made = _made(judgments, table, texts, table is not None if whole is None else whole, least)
    found = Evidence.of(made.rows, judgments)
    if texts is not None:
        check_places(found, texts)
    write_evidence(made.rows, write)
    typer.echo(f"wrote {printable(write)}: {made.sentence()}")


def _made(
    judgments: str, chunks: "Chunks | None", documents: "Documents | None", whole: bool, least: float
) -> "Marked":
    """The evidence of a book, or of a plain list of judgments."""
    from leadline.formats.bookfile import is_book, is_rows
    from leadline.formats.read import read_qrels
    from leadline.formats.source import Source, refuse_stream
    from leadline.judging.exchange import rows_of
    from leadline.judging.marked import evidence_of_book, evidence_of_qrels

    refuse_stream(judgments, "judgments to mark by are")
    if is_book(judgments) or is_rows(Source.open(judgments)):
        return evidence_of_book(
            rows_of(judgments), chunks=chunks, documents=documents, whole=whole, least=least
        )
    if not whole:
        raise UsageError("a list of grades marks no text: give --chunks C, or --whole with --documents D")
    return evidence_of_qrels(read_qrels(judgments), chunks=chunks, documents=documents, least=least)


def _no_overwriting(given: str, *written: str | None) -> None:
    """Refuse to write over the evidence that was given: what could not be carried would be gone."""
    from pathlib import Path

    places = [str(Path(one).resolve()) for one in (given, *written) if one is not None]
    if len(set(places)) < len(places):
        raise UsageError("--evidence, --write and --review name three files: nothing is written over")


def _format(format: str) -> None:
    if format not in ("table", "json"):
        raise UsageError(f"--format {format!r} is not one of table, json")

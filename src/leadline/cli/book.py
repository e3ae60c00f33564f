"""`leadline book import`, `export`, `merge` and `status`: judgments into and out of the book."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.errors import UsageError, amount, printable

if TYPE_CHECKING:
    from leadline.judging.judgment import Judgment
    from leadline.tables import Queries

app = typer.Typer(
    help="""The book of judgments: who said what about which document, kept so that nothing is lost.

    BOOK is a file (SQLite) or a postgresql:// URL; where it is only read, also JSONL with its rows.

    Example: leadline book merge judgments.db laptop.jsonl
    """,
    no_args_is_help=True,
)

BookPlace = Annotated[str, typer.Argument(metavar="BOOK", help="The book: a file, or a postgresql:// URL.")]
Rule = Annotated[
    str | None,
    typer.Option(help="One grade a pair: latest, majority, median, adjudicated or quepid."),
]
FileFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="book, trec, trec-sampled, jsonl, csv, tsv, parquet, beir, or another tool's: quepid, rank_eval, opensearch, …",
    ),
]
QueriesFile = Annotated[
    str | None,
    typer.Option(
        "--queries",
        metavar="FILE",
        help="The queries: ids by text, for files of tools that name queries by their text.",
    ),
]


@app.command(name="import")
def import_(
    book: BookPlace,
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Judgments in any format that is read.")],
    who: Annotated[
        str | None, typer.Option(help="Whose judgments they are, where the file does not say.")
    ] = None,
    guideline: Annotated[
        str | None, typer.Option(help="The version of the guideline, where the file does not say.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="The judge is a model of this name, not a person.")
    ] = None,
    format: FileFormat = None,
    queries: QueriesFile = None,
) -> None:
    """Take judgments in: all rows of a file or none. Importing a file again adds nothing.

    Example: leadline book import judgments.db qrels.txt --who ana
    """
    from leadline.judging.exchange import open_book, read_judgments, replaced

    asked = _queries(queries)
    said: dict[str, Any] = {
        "form": format,
        "who": who,
        "guideline": guideline or "",
        "model": model,
        "queries": asked,
    }
    given = [read_judgments(path, **said) for path in files]
    with open_book(book) as opened:
        for path, one in zip(files, given, strict=True):
            known = opened.rows()
            back = replaced(known, one.rows)
            # Both at once: a list that corrects another must not leave neither, or both, where it is interrupted.
            new = opened.merge([*back, *one.rows]) - len(back)
            there = len(one.rows) - new
            parts = [f"{amount(new, 'judgment')} added"]
            if there:
                parts.append(f"{there} in the book already")
            if back:
                parts.append(f"{amount(len(back), 'earlier one')} of an undated list taken back")
            typer.echo(f"{printable(path)}: {', '.join(parts)}")
            gone = {row.undoes for row in known if row.undoes is not None}
            taken_back = sum(row.id in gone for row in one.rows)
            notes = [*one.notes]
            if taken_back:
                notes.append(f"{amount(taken_back, 'judgment')} had been taken back and stay so")
            for note in notes:
                typer.echo(f"  {note}")


@app.command()
def export(
    book: BookPlace,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Where to; .jsonl without --rule holds every row of the book."),
    ],
    rule: Rule = None,
    kind: Annotated[str | None, typer.Option(help="Only the judgments of: person or model.")] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="Of the model judges only this one: its id, or its model's name; people's rows stay."
        ),
    ] = None,
    format: FileFormat = None,
    queries: QueriesFile = None,
) -> None:
    """Write every row (JSONL), or one grade a pair by a rule (TREC, JSONL, CSV, TSV, Parquet, BEIR, other tools' formats).

    Where labels of a model are among them, a card FILE.leadline.json beside the file says so.

    Example: leadline book export judgments.db qrels.txt --rule majority
    """
    from leadline.judging.exchange import (
        JUDGES,
        ROWS,
        checked_target,
        rows_of,
        write_judges,
        write_labels,
        write_rows,
    )
    from leadline.judging.judgment import KINDS
    from leadline.judging.labels import make_labels, of_judge, of_kinds
    from leadline.report.wording import tool_version

    if kind not in (None, *KINDS):
        raise UsageError(f"--kind {kind!r} is not one of {', '.join(KINDS)}")
    form = checked_target(file, format)
    if rule is not None and form in (ROWS, *JUDGES):
        raise UsageError(f"--format {form} holds what each judge said; a rule makes one grade a pair of it")
    rows = rows_of(book) if judge is None else of_judge(rows_of(book), judge)
    rows = rows if kind is None else of_kinds(rows, (kind,))
    if form == ROWS or (form == "jsonl" and rule is None):
        write_rows(rows, file)
        typer.echo(f"wrote {printable(file)}: {amount(len(rows), 'row')}")
    elif form in JUDGES:
        count = write_judges(rows, file, form, kind, _queries(queries), typer.echo)
        typer.echo(f"wrote {printable(file)}: {amount(count, 'grade')} of {kind or 'person'}s")
    else:
        labels = make_labels(rows, rule or "latest")
        card = write_labels(labels, file, form, tool_version(), _queries(queries), typer.echo)
        typer.echo(f"wrote {printable(file)}: {labels.sentence()}")
        if card is not None:
            typer.echo(f"wrote {printable(str(card))}: which labels are a model's")


@app.command()
def merge(
    book: BookPlace,
    others: Annotated[
        list[str],
        typer.Argument(metavar="OTHER", help="Other books, or JSONL with their rows (as `export` writes)."),
    ],
) -> None:
    """Take every row of other books in; what is there already is passed over, whatever the order of merging.

    Example: leadline book merge judgments.db bob.db eve.jsonl
    """
    from leadline.judging.exchange import open_book, rows_of
    from leadline.judging.labels import votes_of

    found: list[list[Judgment]] = [rows_of(other) for other in others]
    with open_book(book) as opened:
        for other, rows in zip(others, found, strict=True):
            new = opened.merge(rows)
            there = len(rows) - new
            typer.echo(
                f"{printable(_shown(other))}: {amount(new, 'row')} added"
                + (f", {there} in the book already" if there else "")
            )
        every = opened.rows()
    differ = sum(
        len({row.grade for row in votes if row.grade is not None}) > 1 for votes in votes_of(every).values()
    )
    said = f"; judges differ on {amount(differ, 'pair')}" if differ else ""
    typer.echo(f"{printable(_shown(book))}: {amount(len(every), 'row')}{said}")


@app.command()
def status(
    book: BookPlace,
    documents: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Compare the texts that were judged with these documents, and list what has changed.",
        ),
    ] = None,
    format: Annotated[str, typer.Option(help="table or json.")] = "table",
    write: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Also write: .json, or with --documents .jsonl: the pairs to judge again."
        ),
    ] = None,
) -> None:
    """Say what is in the book: by person, kind and query, marks, overlap, and documents that have changed since.

    Example: leadline book status judgments.db --documents corpus.jsonl
    """
    from leadline.formats.documents import read_texts
    from leadline.formats.write import atomic_write
    from leadline.judging.exchange import rows_of
    from leadline.judging.status import Changed, book_status, to_look_again
    from leadline.report.json_text import document_text, one_line
    from leadline.report.judging_text import status_text

    if format not in ("table", "json"):
        raise UsageError(f"--format {format!r} is not one of table, json")
    for path in write or []:
        if Path(path).suffix not in ((".json",) if documents is None else (".json", ".jsonl")):
            raise UsageError(f"{printable(path)}: --write takes .json, and with --documents .jsonl")
    rows = rows_of(book)
    texts = None if documents is None else read_texts(documents, {row.doc_id for row in rows})
    facts = book_status(rows, texts)
    text = document_text(facts)
    for path in write or []:
        with atomic_write(path) as temporary:
            again = to_look_again(Changed(**row) for row in facts.get("changed", ()))
            lines = "".join(one_line(row) + "\n" for row in again)
            temporary.write_text(lines if Path(path).suffix == ".jsonl" else text, encoding="utf-8")
    typer.echo(text if format == "json" else status_text(facts), nl=False)


def _queries(path: str | None) -> "Queries | None":
    """The queries of a file; None where none is given."""
    from leadline.formats.read import read_queries

    return None if path is None else read_queries(path)


def _shown(target: str) -> str:
    from leadline.formats.bookfile import shown_name

    return shown_name(target)

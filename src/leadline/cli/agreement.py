"""`leadline agreement`: how far the judges of a book agree, with each other and with themselves."""

from pathlib import Path
from typing import Annotated

import typer

from leadline.cli.chosen import grade_list
from leadline.errors import UsageError, printable

FORMATS = ("table", "json", "csv", "md")
ENDINGS = {".json": "json", ".csv": "csv", ".md": "md", ".txt": "table"}


def agreement(
    book: Annotated[
        str,
        typer.Argument(metavar="BOOK", help="The book: a file, a postgresql:// URL, or JSONL with its rows."),
    ],
    weights: Annotated[str, typer.Option(help="Of kappa: none, linear or quadratic.")] = "quadratic",
    metric: Annotated[
        str, typer.Option(help="Of alpha with its interval: nominal, ordinal, interval or ratio.")
    ] = "ordinal",
    grades: Annotated[
        str | None,
        typer.Option(
            metavar="G,…", help="The whole scale, such as 0,1,2,3 (default: 0 to the greatest given)."
        ),
    ] = None,
    format: Annotated[str, typer.Option(help="table, json, csv or md.")] = "table",
    write: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Also write: .json .csv .md .txt, or .jsonl: the pairs that are disputed."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
) -> None:
    """Kappa of every two persons, alpha over all, confusion, each person's self-agreement, hours and pace.

    CSV has a row a person. Working time is the sum of the times spent on the pairs, so a pause does not count.

    Example: leadline agreement judgments.db --grades 0,1,2,3
    """
    from leadline.formats.write import atomic_write
    from leadline.judging.agreement import Rules, agreement_report
    from leadline.judging.exchange import rows_of
    from leadline.report.json_text import document_text, one_line
    from leadline.report.judging_text import agreement_csv, agreement_markdown, agreement_text

    if format not in FORMATS:
        raise UsageError(f"--format {format!r} is not one of {', '.join(FORMATS)}")
    for path in write or []:
        if Path(path).suffix not in (*ENDINGS, ".jsonl"):
            raise UsageError(f"{printable(path)}: --write takes {' '.join(ENDINGS)} .jsonl")
    rules = Rules(weights=weights, metric=metric, scale=grade_list(grades), seed=seed)
    report = agreement_report(rows_of(book), rules)
    texts = {"table": agreement_text, "json": document_text, "csv": agreement_csv, "md": agreement_markdown}
    for path in write or []:
        with atomic_write(path) as temporary:
            ending = Path(path).suffix
            disputed = "".join(one_line(row) + "\n" for row in report["disputed"])
            said = disputed if ending == ".jsonl" else texts[ENDINGS[ending]](report)
            temporary.write_text(said, encoding="utf-8")
    typer.echo(texts[format](report), nl=False)

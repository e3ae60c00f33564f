"""`leadline demo`: a real collection, real retrievers, and their evaluation."""

from pathlib import Path
from typing import Annotated

import typer

from leadline.errors import InputError, printable

MEASURES = "nDCG@10,R@10,P@5,RR,Judged@10"
RUNS = ("bm25", "dense", "fusion")


def demo(
    folder: Annotated[Path, typer.Option(help="Where the collection is written.")] = Path("leadline-demo"),
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No word on standard error while it works.")
    ] = False,
) -> None:
    """Search the docstrings of this Python's standard library with three retrievers, and measure them.

    Writes a folder with the collection, the queries, the judgments, the runs and HTML pages: of the measures, and of
    the comparison of two of the retrievers, with and without the judgments that one of them brought, and of the stages
    from left to right: a real index, retrieval, two chunkings, and a context that is packed.

    Example: leadline demo
    """
    from leadline.cli.demo_stages import PAGE, stages
    from leadline.cli.demo_story import story
    from leadline.demo.files import write_collection
    from leadline.evaluation import evaluate
    from leadline.report.files import write_report
    from leadline.report.stages import stage_lines
    from leadline.report.table_text import table_text

    def say(text: str) -> None:
        if not quiet:
            typer.echo(text, err=True)

    try:
        written = write_collection(folder, say)
    except OSError as error:
        raise InputError(f"{printable(str(folder))}: cannot be written ({error.strerror or error})") from None
    scores = evaluate(
        [str(folder / f"{name}.run") for name in RUNS],
        str(folder / "qrels.txt"),
        MEASURES,
        queries=str(folder / "queries.jsonl"),
        hash_inputs=True,
    )
    write_report(scores, folder / "report.html", "demo")
    typer.echo(
        f"{written.documents} documents of Python {written.python_version}, "
        f"{written.questions} questions, {written.judgments} judgments\n"
    )
    typer.echo(table_text(scores), nl=False)
    if written.missing_ids:
        typer.echo(
            f"! {len(written.missing_ids)} judged documents are not in this Python: {', '.join(written.missing_ids[:5])}"
        )
    typer.echo("")
    for line in story(folder):
        typer.echo(line)
    say("building an index, two chunkings and a context")
    typer.echo("\n" + "\n".join(stage_lines(stages(folder))))
    typer.echo(
        f"\nIn {printable(str(folder))}: the collection, the runs, README.md;\n"
        f"and to open in a browser: report.html, comparison.html, {PAGE}."
    )
    typer.echo("Next, where does each kind of question fail?")
    typer.echo(f"  cd {printable(str(folder))}")
    typer.echo("  leadline evaluate *.run --qrels qrels.txt --queries queries.jsonl --by type -m nDCG@10")

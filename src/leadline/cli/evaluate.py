"""`leadline evaluate`: measure runs against judgments."""

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.config import Settings
from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.scores import Scores
    from leadline.tables import RunSource

FORMATS = ("table", "json", "csv", "md", "latex", "trec_eval")
AVERAGES = ("judged", "intersection")

Text = str | None


def evaluate(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Run files, - for standard input; NAME=PATH names a system.")],
    qrels: Annotated[Text, typer.Option(help="The judgments; may be left out where the rows carry their references.")] = None,
    measures: Annotated[list[str] | None, typer.Option("--measure", "-m", help="Measures, such as nDCG@10,R@5; `leadline measures` lists them.")] = None,
    k: Annotated[int | None, typer.Option("--k", min=1, help="Cutoff of the default measures: what the next stage consumes.")] = None,
    queries: Annotated[list[str] | None, typer.Option(help="A file of queries (for --by), or which queries count: judged, intersection.")] = None,
    by: Annotated[Text, typer.Option(metavar="COLUMN", help="Also one row for each value of this column of the queries.")] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Also every query's value.")] = False,
    profile: Annotated[Text, typer.Option(help="leadline-1, trec_eval-9, trec_eval-10, ir_measures, msmarco or beir.")] = None,
    format: Annotated[Text, typer.Option(help="table, json, csv, md, latex or trec_eval.")] = None,
    write: Annotated[list[str] | None, typer.Option(metavar="FILE", help="Also write a file; its ending says the kind.")] = None,
    bounds: Annotated[bool | None, typer.Option("--bounds", help="Also the least and greatest mean that unjudged documents could give.")] = None,
    ties: Annotated[Text, typer.Option(help="docid, or expected: the expected value over random order of equal scores.")] = None,
    order: Annotated[Text, typer.Option(help="What orders a run: score, rank or file.")] = None,
    undefined: Annotated[Text, typer.Option(help="Queries without relevant documents: skip or zero.")] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="Cut every run to this many documents first.")] = None,
    duplicates: Annotated[Text, typer.Option(help="A document twice for one query: error or first.")] = None,
    ignore_self: Annotated[bool | None, typer.Option("--ignore-self", help="Drop documents whose id is the query's.")] = None,
    complete: Annotated[bool | None, typer.Option("--complete", help="Everything unlisted is declared not relevant.")] = None,
    conflicts: Annotated[Text, typer.Option(help="A pair judged twice: error, first, last, max, min, mean or majority.")] = None,
    grade_map: Annotated[Text, typer.Option(metavar="A=B,…", help="Rewrite grades, such as 1=4,2=3,3=2,4=1.")] = None,
    max_grade: Annotated[float | None, typer.Option(help="The top of the grade scale (default: the largest in the file).")] = None,
    comments: Annotated[bool | None, typer.Option("--comments", help="Lines that start with # are comments.")] = None,
    interval: Annotated[Text, typer.Option(help="auto (Student's t; Wilson for yes/no measures) or bootstrap.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the bootstrap.")] = None,
    input_format: Annotated[Text, typer.Option(help="Format of the runs, where the content does not tell: trec, jsonl, csv, …")] = None,
    plugin: Annotated[list[str] | None, typer.Option(metavar="MODULE", help="Import a module that registers measures.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no warnings on standard error.")] = False,
) -> None:
    """Measure runs against judgments: means with intervals, and what they stand on.

    Example: leadline evaluate bm25.run dense.run --qrels qrels.txt -m nDCG@10,R@5
    """
    settings = Settings.nearest()
    value = settings.value
    form = value("format", format, "table")
    if form not in FORMATS:
        raise UsageError(f"--format {form!r} is not one of {', '.join(FORMATS)}")
    for module in _listed(value("plugin", plugin)):
        _load_plugin(module)
    average, file = _queries(_listed(value("queries", queries)))
    _check_arguments(runs, value("qrels", qrels))
    from leadline.evaluation import evaluate as evaluate_runs

    with _progress(quiet) as watch:
        scores = evaluate_runs(
            list(runs),
            value("qrels", qrels),
            value("measures", measures),
            queries=file,
            by=value("by", by),
            k=value("k", k),
            profile=value("profile", profile, "leadline-1"),
            bounds=bool(value("bounds", bounds, False)),
            interval=value("interval", interval, "auto"),
            seed=value("seed", seed, 0),
            conflicts=value("conflicts", conflicts, "error"),
            grade_map=_grade_map(value("grade_map", grade_map)),
            max_grade=value("max_grade", max_grade),
            input_format=value("input_format", input_format),
            hash_inputs=form == "json" or bool(write),
            average=average,
            watch=watch,
            ties=value("ties", ties),
            order=value("order", order),
            undefined=value("undefined", undefined),
            depth=value("depth", depth),
            duplicates=value("duplicates", duplicates),
            ignore_self=value("ignore_self", ignore_self),
            complete=complete or (True if settings.value("judgments") == "complete" else None),
            comments=value("comments", comments),
        )
    _show(scores, form, per_query, write or [], quiet)


def _show(scores: "Scores", form: str, per_query: bool, write: list[str], quiet: bool) -> None:
    """Print the scores in one format and write the files asked for."""
    from leadline.report import csv_text, files, json_text, latex_text, markdown_text, query_text, table_text, trec_eval_text

    for path in write:
        files.write_report(scores, path, "evaluate")
    if form == "table":
        typer.echo((query_text.query_text(scores) + "\n" if per_query else "") + table_text.table_text(scores), nl=False)
        return
    text = {
        "json": lambda: json_text.json_text(scores, "evaluate", per_query),
        "csv": lambda: csv_text.csv_text(scores, per_query),
        "md": lambda: markdown_text.markdown_text(scores),
        "latex": lambda: latex_text.latex_text(scores),
        "trec_eval": lambda: trec_eval_text.trec_eval_text(scores, per_query),
    }[form]()
    typer.echo(text.rstrip("\n"))
    if not quiet and form != "json":
        for line in scores.warnings:
            typer.echo(f"! {line}", err=True)


def _listed(value: Any) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def _queries(given: list[str]) -> tuple[str | None, str | None]:
    """Which queries count, and the file of queries, from the values of --queries."""
    words = [part for text in given for part in (text.split(",") if text not in AVERAGES else [text])]
    averages = [word for word in words if word in AVERAGES]
    files = [word for word in words if word not in AVERAGES]
    if len(averages) > 1 or len(files) > 1:
        raise UsageError("--queries takes one file and one of judged, intersection")
    return (averages[0] if averages else None), (files[0] if files else None)


def _grade_map(text: str | None) -> dict[float, float] | None:
    if text is None:
        return None
    try:
        pairs = [part.split("=") for part in text.split(",") if part.strip()]
        return {float(old): float(new) for old, new in pairs}
    except ValueError:
        raise UsageError(f"--grade-map {text!r} has not the form 1=4,2=3") from None


def _check_arguments(runs: list[str], qrels: str | None) -> None:
    """Answer swapped or forgotten arguments with the line that was meant."""
    from pathlib import Path

    if list(runs).count("-") > 1 or ("-" in runs and qrels == "-"):
        raise UsageError("standard input (-) can be read once")
    looks = [path for path in runs if any(word in Path(path).name.lower() for word in ("qrel", "judg"))]
    if qrels is None and len(runs) > 1 and looks:
        others = [path for path in runs if path not in looks]
        line = shlex.join(["leadline", "evaluate", *others, "--qrels", looks[0]])
        raise UsageError(f"{looks[0]} looks like judgments; did you mean: {line}")


def _load_plugin(module: str) -> None:
    from importlib import import_module

    sys.path.insert(0, "")
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(f"--plugin {module}: {error}") from None
    finally:
        sys.path.remove("")


@contextmanager
def _progress(quiet: bool) -> Iterator["Callable[[RunSource], RunSource] | None"]:
    """A bar on standard error while runs are read; none where it is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from leadline.cli.watched import Watched

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield lambda run: Watched(run, bar)

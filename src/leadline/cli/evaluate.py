"""`leadline evaluate`: measure runs against judgments."""

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from leadline.cli import options
from leadline.config import KINDS, Settings
from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.scores import Scores
    from leadline.tables import RunSource

FORMATS = ("table", "json", "csv", "md", "latex", "trec_eval")
AVERAGES = ("judged", "intersection")
LIKE_QRELS = re.compile(r"qrels?|judge?ments?")


def evaluate(
    runs: options.Runs,
    qrels: options.Qrels = None,
    measures: options.Measures = None,
    k: options.Cutoff = None,
    queries: options.Queries = None,
    by: options.By = None,
    per_query: options.PerQuery = False,
    profile: options.Profile = None,
    format: options.Format = None,
    write: options.Write = None,
    bounds: options.Bounds = None,
    ties: options.Ties = None,
    order: options.Order = None,
    undefined: options.Undefined = None,
    depth: options.Depth = None,
    duplicates: options.Duplicates = None,
    ignore_self: options.IgnoreSelf = None,
    complete: options.Complete = None,
    conflicts: options.Conflicts = None,
    grade_map: options.GradeMap = None,
    max_grade: options.MaxGrade = None,
    comments: options.Comments = None,
    interval: options.IntervalKind = None,
    seed: options.Seed = None,
    input_format: options.InputFormat = None,
    qrels_format: options.QrelsFormat = None,
    plugin: options.Plugin = None,
    quiet: options.Quiet = False,
) -> None:
    """Measure runs against judgments: means with intervals, and what they stand on.

    Example: leadline evaluate bm25.run dense.run --qrels qrels.txt -m nDCG@10,R@5
    """
    given = dict(locals())
    settings = Settings.nearest()
    chosen = {name: settings.value(name, given.get(name)) for name in KINDS}
    form = chosen["format"] or "table"
    if form not in FORMATS:
        raise UsageError(f"--format {form!r} is not one of {', '.join(FORMATS)}")
    load_plugins(chosen["plugin"])
    _check_arguments(runs, chosen["qrels"], write or [])
    with _progress(quiet) as watch:
        scores = _evaluated(runs, chosen, complete, form == "json" or bool(write), watch)
    _show(scores, form, per_query, write or [], quiet)


def _evaluated(
    runs: list[str],
    chosen: dict[str, Any],
    complete: bool | None,
    hashed: bool,
    watch: "Callable[[RunSource], RunSource] | None",
) -> "Scores":
    """The scores under the settings chosen; what was left out everywhere keeps the library's default."""
    from leadline.evaluation import evaluate as evaluate_runs

    if chosen["judgments"] not in (None, "complete", "partial"):
        raise UsageError(f"judgments = {chosen['judgments']!r} is not one of complete, partial")
    average, file = _queries(listed(chosen["queries"]))
    same = ("by", "k", "profile", "bounds", "interval", "seed", "conflicts", "max_grade")
    formats = ("input_format", "qrels_format")
    switches = ("ties", "order", "undefined", "depth", "duplicates", "ignore_self", "comments")
    named = {name: chosen[name] for name in (*same, *formats, *switches) if chosen[name] is not None}
    return evaluate_runs(
        list(runs),
        chosen["qrels"],
        chosen["measures"],
        queries=file,
        average=average,
        grade_map=_grade_map(chosen["grade_map"]),
        complete=(chosen["judgments"] == "complete" or None) if complete is None else complete,
        hash_inputs=hashed,
        watch=watch,
        **named,
    )


def _show(scores: "Scores", form: str, per_query: bool, write: list[str], quiet: bool) -> None:
    """Print the scores in one format and write the files asked for."""
    from leadline.report import (
        csv_text,
        files,
        json_text,
        latex_text,
        markdown_text,
        query_text,
        table_text,
        trec_eval_text,
    )

    for path in write:
        files.write_report(scores, path, "evaluate")
    if form == "table":
        typer.echo(
            (query_text.query_text(scores) + "\n" if per_query else "") + table_text.table_text(scores),
            nl=False,
        )
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


def listed(value: Any) -> list[str]:
    """The parts of an option that takes commas or repetition."""
    given = [] if value is None else [value] if isinstance(value, str) else list(value)
    return [part.strip() for text in given for part in text.split(",") if part.strip()]


def _queries(given: list[str]) -> tuple[str | None, str | None]:
    """Which queries count, and the file of queries, from the values of --queries."""
    averages = [word for word in given if word in AVERAGES]
    files = [word for word in given if word not in AVERAGES]
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


def _check_arguments(runs: list[str], qrels: str | None, write: list[str]) -> None:
    """Refuse before any work what cannot end well; answer forgotten arguments with the line that was meant."""
    from leadline.report.files import kind_of

    for path in write:
        kind_of(path)
    if list(runs).count("-") > 1 or ("-" in runs and qrels == "-"):
        raise UsageError("standard input (-) can be read once")
    looks = [path for path in runs if LIKE_QRELS.search(Path(path).name.lower())]
    if qrels is None and len(runs) > 1 and looks:
        others = [path for path in runs if path not in looks]
        line = shlex.join(["leadline", "evaluate", *others, "--qrels", looks[0]])
        raise UsageError(f"{looks[0]} looks like judgments; did you mean: {line}")


def load_plugins(value: Any) -> None:
    """Import the modules that register a user's measures, from the current folder too.

    Raises
    ------
    UsageError: there is no such module, or it fails.
    """
    from importlib import import_module

    sys.path.insert(0, "")
    try:
        for module in listed(value):
            if module.endswith(".py"):
                raise UsageError(f"--plugin takes a module's name: --plugin {module.removesuffix('.py')}")
            try:
                import_module(module)
            except Exception as error:
                raise UsageError(f"--plugin {module}: {type(error).__name__}: {error}") from error
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

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield lambda run: Watched(run, bar)

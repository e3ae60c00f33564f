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
from leadline.cli.bars import bars
from leadline.cli.chosen import listed, powered_by, prepared, settled, with_model_labels, with_passages
from leadline.errors import UsageError, printable

if TYPE_CHECKING:
    from leadline.scores import Scores
    from leadline.tables import RunSource

FORMATS = ("table", "json", "csv", "md", "latex", "trec_eval")
WITH_PPI = ("table", "json", "md")
"""The formats that have room for more than one interval."""
PPI_ENDINGS = (".html", ".json", ".md", ".txt")
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
    evidence: options.EvidenceFile = None,
    chunks: options.ChunksFiles = None,
    documents: options.DocumentsPlace = None,
    share: options.Share = 0.5,
    certificate: options.CertificateFile = None,
    ppi: options.ModelQrels = None,
    bounds: options.Bounds = None,
    ties: options.Ties = None,
    order: options.Order = None,
    undefined: options.Undefined = None,
    depth: options.Depth = None,
    duplicates: options.Duplicates = None,
    ignore_self: options.IgnoreSelf = None,
    collapse: options.Collapse = None,
    collapse_separator: options.CollapseSeparator = None,
    collapse_mapping: options.CollapseMapping = None,
    collapse_unmatched: options.CollapseUnmatched = None,
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
    chosen = with_model_labels(with_passages(settled(given), given), given)
    form = chosen["format"] or "table"
    if form not in FORMATS:
        raise UsageError(f"--format {form!r} is not one of {', '.join(FORMATS)}")
    load_plugins(chosen["plugin"])
    check_arguments("evaluate", runs, chosen["qrels"], write or [])
    if ppi is not None:
        _check_room(form, write or [])
    with progress(quiet) as watch:
        scores = _evaluated(runs, chosen, form == "json" or bool(write), watch)
    _show(scores, form, per_query, write or [], quiet)


def _check_room(form: str, write: list[str]) -> None:
    """Refuse kinds of output that would leave out what --ppi finds."""
    if form not in WITH_PPI:
        raise UsageError(f"--ppi is shown by --format {', '.join(WITH_PPI)}, not by {form}")
    for path in write:
        if Path(path).suffix.lower() not in PPI_ENDINGS:
            raise UsageError(
                f"{printable(path)}: --ppi is written as {' '.join(PPI_ENDINGS)}; this kind has no room for its three "
                "intervals"
            )


def _evaluated(
    runs: list[str],
    chosen: dict[str, Any],
    hashed: bool,
    watch: "Callable[[RunSource], RunSource] | None",
) -> "Scores":
    """The scores under the settings chosen; what was left out everywhere keeps the library's default."""
    import numpy as np

    from leadline.evaluation import score

    interval = chosen["interval"] or "auto"
    if interval not in ("auto", "bootstrap"):
        raise UsageError(f"--interval {interval!r} is not one of auto, bootstrap")
    seed = chosen["seed"] or 0
    rng = np.random.default_rng(seed) if interval == "bootstrap" else None
    given, asked, rules = prepared(runs, chosen, watch)
    by, bounds = chosen["by"], bool(chosen["bounds"])
    scores = score(given, asked, rules, by=by, with_bounds=bounds, rng=rng, seed=seed, hash_inputs=hashed)
    return powered_by(scores, given, asked, rules, chosen)


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


def check_arguments(command: str, runs: list[str], qrels: str | None, write: list[str]) -> None:
    """Refuse before any work what cannot end well; answer forgotten arguments with the line that was meant."""
    from leadline.report.files import kind_of

    for path in write:
        kind_of(path)
    if list(runs).count("-") > 1 or ("-" in runs and qrels == "-"):
        raise UsageError("standard input (-) can be read once")
    looks = [path for path in runs if LIKE_QRELS.search(Path(path).name.lower())]
    if qrels is None and len(runs) > 1 and looks:
        others = [path for path in runs if path not in looks]
        line = shlex.join(["leadline", command, *others, "--qrels", looks[0]])
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
def progress(quiet: bool) -> Iterator["Callable[[RunSource], RunSource] | None"]:
    """A bar on standard error while runs are read; none where it is no terminal."""
    with bars(quiet, "bytes") as shown:
        if shown is None:
            yield None
            return
        from leadline.cli.watched import Watched

        yield lambda run: Watched(run, shown)

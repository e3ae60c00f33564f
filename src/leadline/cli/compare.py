"""`leadline compare` and `leadline power`: did the change help, how sure, and how many queries would tell."""

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli import options
from leadline.cli.chosen import (
    COLLAPSE,
    prepared,
    settled,
    which_queries,
    with_model_labels,
    with_passages,
    without_judgments,
)
from leadline.cli.evaluate import check_arguments, load_plugins, progress
from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.report.comparing import ComparisonReport

FORMATS = ("table", "json", "md")
OWN = ("cluster", "weight", "margin", "alpha", "correction", "interval_of", "nulls")
"""The options of `compare` that are no settings."""
COLUMNS = ("by", "cluster", "weight", "profile")
ELSEWHERE = ("runs", "qrels", "measures", "queries", "format", "write", "quiet")
"""Parameters that stand elsewhere in the command that does it again, or change nothing of what comes out."""


def compare(
    context: typer.Context,
    runs: options.Compared,
    qrels: options.Qrels = None,
    measures: options.Measures = None,
    k: options.Cutoff = None,
    queries: options.Queries = None,
    by: options.By = None,
    cluster: options.Cluster = None,
    weight: options.Weight = None,
    evidence: options.EvidenceFile = None,
    chunks: options.ChunksFiles = None,
    documents: options.DocumentsPlace = None,
    share: options.Share = 0.5,
    certificate: options.CertificateFile = None,
    ppi: options.ModelQrels = None,
    margin: options.Margin = 0.02,
    alpha: options.Alpha = 0.05,
    interval_of: options.IntervalOf = "auto",
    correction: options.Correction = "holm",
    nulls: options.Nulls = False,
    profile: options.Profile = None,
    format: options.ComparedFormat = None,
    write: options.ComparedWrite = None,
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
    seed: options.Seed = None,
    input_format: options.InputFormat = None,
    qrels_format: options.QrelsFormat = None,
    plugin: options.Plugin = None,
    quiet: options.Quiet = False,
) -> None:
    """Compare runs with a baseline: differences, how sure, and a verdict. Exits 0 once its numbers are printed.

    Example: leadline compare old.run new.run --qrels qrels.txt -m nDCG@10,R@5
    """
    given = dict(locals())
    chosen = with_passages(settled(given), given) | {name: given[name] for name in OWN}
    chosen = with_model_labels(chosen, given)
    chosen["options"] = _options(context, chosen)
    form = chosen["format"] or "table"
    _refuse(runs, chosen, form, write or [])
    if chosen["qrels"] is None and chosen["evidence"] is None:
        _without_judgments(runs, chosen, form)
        return
    report = _report(runs, chosen, quiet, form, write or [])
    _show(report, form, write or [])


def _refuse(runs: list[str], chosen: Mapping[str, Any], form: str, write: list[str]) -> None:
    """Refuse before any work what cannot end well."""
    from leadline.cli.comparing import comparison_kind

    if form not in FORMATS:
        raise UsageError(f"--format {form!r} is not one of {', '.join(FORMATS)}")
    load_plugins(chosen["plugin"])
    check_arguments("compare", runs, chosen["qrels"], [])
    if len(runs) < 2:
        raise UsageError("compare needs a baseline and a candidate: leadline compare OLD.run NEW.run")
    for path in write:
        comparison_kind(path)


def _report(
    runs: list[str], chosen: Mapping[str, Any], quiet: bool, form: str, write: Sequence[str]
) -> "ComparisonReport":
    """The whole comparison."""
    from leadline.cli.comparing import built

    with progress(quiet) as watch:
        given, asked, rules = prepared(runs, chosen, watch)
        return built(
            given, asked, rules, chosen, hashed=form == "json" or bool(write), line=_line(runs, chosen)
        )


def _line(runs: Sequence[str], chosen: Mapping[str, Any]) -> str:
    """The command that does this again, with every setting that it was made by."""
    against = [] if chosen["qrels"] is None else ["--qrels", str(chosen["qrels"])]
    words = ["leadline", "compare", *runs, *against]
    if chosen["measures"]:
        asked = chosen["measures"]
        words += ["-m", asked if isinstance(asked, str) else ",".join(asked)]
    words += chosen["options"]
    for name, value in (("--margin", f"{chosen['margin']:g}"), ("--seed", str(chosen["seed"] or 0))):
        words += [] if name in chosen["options"] else [name, value]
    return shlex.join(words)


def _options(context: typer.Context, chosen: Mapping[str, Any]) -> list[str]:
    """The options that decide what comes out, as words of a command: those typed, and columns and files that are set."""
    words: list[str] = []
    for name in COLUMNS:
        words += [f"--{name}", str(chosen[name])] if chosen[name] else []
    for word in which_queries(chosen["queries"]):
        words += ["--queries", word] if word else []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if name in (*COLUMNS, *ELSEWHERE) or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[name]
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, bool):
                words.append((parameter.opts if one else parameter.secondary_opts)[0])
            else:
                words += [parameter.opts[0], f"{one:g}" if isinstance(one, float) else str(one)]
    return words


def _show(report: "ComparisonReport", form: str, write: Sequence[str]) -> None:
    from leadline.cli.comparing import write_comparison
    from leadline.report.comparison_json import comparison_json, comparison_markdown
    from leadline.report.comparison_text import comparison_text

    for path in write:
        write_comparison(report, path)
    shown = {"table": comparison_text, "json": comparison_json, "md": comparison_markdown}[form]
    typer.echo(shown(report), nl=False)


def _without_judgments(runs: Sequence[str], chosen: Mapping[str, Any], form: str) -> None:
    """How different two runs are, where nothing is judged."""
    import json

    from leadline.conventions import conventions
    from leadline.movement import overlap

    rules = conventions(chosen["profile"] or "leadline-1", **{name: chosen[name] for name in COLLAPSE})
    k = chosen["k"] or 10
    first, second = without_judgments(runs[:2], chosen, rules)
    found = overlap(first, second, rules, k)
    least = found.least_alike()
    mean = (
        {"overlap": float(found.overlap.mean()), "rbo": float(found.rbo.mean())}
        if len(found.overlap)
        else None
    )
    if form == "json":
        rows = [{"query_id": q, "overlap": o, "rbo": r} for q, o, r in least]
        typer.echo(
            json.dumps(
                {
                    "command": "compare",
                    "k": k,
                    "queries": len(found.query_ids),
                    "mean": mean,
                    "least_alike": rows,
                },
                indent=2,
            )
        )
        return
    if mean is None:
        raise UsageError(f"{first.name} and {second.name} have no query in common")
    typer.echo(f"no judgments: how different {first.name} and {second.name} are, not which is better")
    typer.echo(f"{len(found.query_ids)} queries in both; overlap of the top {k}: {mean['overlap']:.4f}")
    typer.echo(f"rank-biased overlap (p = 0.9): {mean['rbo']:.4f}")
    typer.echo("the queries that changed most")
    for query_id, shared, rbo in least:
        typer.echo(f"  {query_id:<40} overlap {shared:.2f}  rank-biased overlap {rbo:.4f}")
    typer.echo("next: judge what the two bring, then: leadline compare … --qrels QRELS")


def power(
    runs: options.Compared,
    difference: options.Difference,
    qrels: options.Qrels = None,
    measures: options.Measures = None,
    evidence: options.EvidenceFile = None,
    chunks: options.ChunksFiles = None,
    documents: options.DocumentsPlace = None,
    share: options.Share = 0.5,
    alpha: options.Alpha = 0.05,
    profile: options.Profile = None,
    format: Annotated[str, typer.Option(help="table or json.")] = "table",
    seed: options.Seed = None,
    input_format: options.InputFormat = None,
    qrels_format: options.QrelsFormat = None,
    quiet: options.Quiet = False,
) -> None:
    """How many queries would tell a difference worth having, from the spread of these two runs.

    Example: leadline power old.run new.run --qrels qrels.txt -m nDCG@10 --difference 0.02
    """
    from leadline.cli.comparing import powers, powers_text

    own = dict(locals())
    chosen = with_passages(settled(own), own)
    if len(runs) != 2:
        raise UsageError("power takes a baseline and a candidate")
    with progress(quiet) as watch:
        given, asked, rules = prepared(runs, chosen, watch)
        rows = powers(given, asked, rules, difference, alpha, chosen["seed"] or 0)
    if format == "json":
        import json

        typer.echo(
            json.dumps(
                {"command": "power", "difference": difference, "alpha": alpha, "measures": rows}, indent=2
            )
        )
    else:
        typer.echo(powers_text(rows, difference), nl=False)

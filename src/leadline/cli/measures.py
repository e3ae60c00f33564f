"""`leadline measures`: list the measures, or explain one."""

import inspect
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli import options
from leadline.cli.evaluate import load_plugins
from leadline.config import Settings
from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.measure import Definition


def measures(
    name: Annotated[
        str | None, typer.Argument(metavar="[MEASURE]", help="The measure to explain; left out: list all.")
    ] = None,
    format: Annotated[str, typer.Option(help="table or json.")] = "table",
    plugin: options.Plugin = None,
) -> None:
    """List the measures, or explain one: formula, parameters, source, an example, and how others use the word.

    Example: leadline measures nDCG
    """
    from leadline.catalogue import DEFINITIONS

    load_plugins(Settings.nearest().value("plugin", plugin))
    if format not in ("table", "json"):
        raise UsageError(f"--format {format!r} is not one of table, json")
    if name is None:
        chosen = list(DEFINITIONS.values())
    else:
        known = {key.lower(): key for key in DEFINITIONS}
        found = known.get(name.partition("(")[0].partition("@")[0].lower()) or _through_spelling(name)
        chosen = [DEFINITIONS[found]]
    if format == "json":
        typer.echo(json.dumps([_as_json(one) for one in chosen], indent=2, ensure_ascii=False))
    elif name is None:
        for one in chosen:
            typer.echo(f"{one.name:<17} {one.title:<40} {one.example}")
        typer.echo(
            "\n`leadline measures NAME` explains one. Names of trec_eval, ir_measures, ranx and RAG tools are understood."
        )
    else:
        typer.echo(explain(chosen[0]))


def explain(one: "Definition") -> str:
    """A measure in words: what it is, its formula with a worked example, parameters, source, other uses."""
    lines = [
        f"{one.name}: {one.title}",
        "",
        one.summary,
        "",
        inspect.cleandoc(one.function.__doc__ or ""),
        "",
    ]
    lines.append(
        f"write it as    {one.example}"
        + ("" if one.cutoff in ("no", "required") else f" (cutoff: {one.cutoff})")
    )
    for parameter in one.parameters:
        lines.append(f"  {parameter.name:<12} {parameter.meaning} (default {parameter.default})")
    lines.append(f"source         {one.source}")
    nothing = "there is no evidence" if one.needs == "evidence" else "no document is relevant"
    lines.append(
        f"averaged by    {one.aggregate}; {'undefined' if one.needs_relevant else 'defined'} where {nothing}"
    )
    lines.append(
        f"bounds         {bounds_said(one)}; over ties: {'closed form' if one.expected else 'by document id only'}"
    )
    if one.differs:
        lines.append(f"elsewhere      {one.differs}")
    return "\n".join(lines)


def bounds_said(one: "Definition") -> str:
    """What there is of bounds, in words."""
    if one.needs == "subtopics":
        return "none: a grade does not say which subtopics a document answers"
    return BOUNDS[one.bounds]


BOUNDS = {
    "ends": "sharp",
    "count": "sharp",
    "top": "sharp",
    "grades": "sharp to rank 20, outer beyond",
    "outer": "outer: the whole range where anything is unjudged",
    "none": "not needed",
}


def _through_spelling(name: str) -> str:
    """The measure behind another tool's name, which may need a cutoff to be read, such as `recall`."""
    from leadline.spelling import parse

    for text in (name, f"{name}@10"):
        try:
            return parse(text).name
        except UsageError:
            continue
    return parse(name).name


def _as_json(one: "Definition") -> dict[str, Any]:
    keys = (
        "name",
        "title",
        "summary",
        "source",
        "example",
        "cutoff",
        "differs",
        "aggregate",
        "needs",
        "needs_relevant",
        "bounds",
        "better",
        "high",
    )
    parameters = [{"name": p.name, "default": p.default, "meaning": p.meaning} for p in one.parameters]
    return {key: getattr(one, key) for key in keys} | {
        "parameters": parameters,
        "over_ties": one.expected is not None,
    }

"""`leadline simulate`: a collection whose truth is known, the lesson, and how many queries are enough."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli.bars import bars
from leadline.cli.chosen import listed
from leadline.errors import UsageError, printable

if TYPE_CHECKING:
    from leadline.demo.world import Plan

FOLDER = Path("leadline-world")
USUAL_SKILLS = ("A=4.0", "B=4.3", "C=4.0")
USUAL_HIDDEN = 3
LESSON_TAKES = ("lesson", "folder", "format", "quiet")
ONLY_OF_A_WORLD = ("folder", "pool_depth", "deep_pool_depth", "pooled_from", "depth")
NOT_OF_A_PLAN = (*ONLY_OF_A_WORLD, "clusters", "largest_cluster", "similarity")

Queries = Annotated[
    int | None, typer.Option(help="How many queries (300); with --plan, a number to ask about as well.")
]
Skill = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=NUMBER", help="A system and its skill (A=4.0, B=4.3, C=4.0)."),
]
Hidden = Annotated[
    int | None,
    typer.Option(
        help="The most relevant documents of a query that the judges never saw (3; 0 with --skill)."
    ),
]
FindsHidden = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Who finds the hidden documents (the last system).")
]
Relevant = Annotated[
    int | None, typer.Option(help="The most relevant documents of a query that the judges know (5).")
]
GradesDrawn = Annotated[
    list[str] | None, typer.Option(metavar="G,…", help="The grades drawn from, repeats as weights (1,2,2,3).")
]
Clusters = Annotated[
    int | None, typer.Option(help="How many different questions the queries ask (as many as queries).")
]
LargestCluster = Annotated[
    float | None, typer.Option(help="The share of the queries that ask the first question (all equal).")
]
Similarity = Annotated[
    float | None, typer.Option(help="How alike the queries of a cluster are, from 0 to 1 (0.8).")
]
Alike = Annotated[float | None, typer.Option(help="How alike the systems are, from 0 to 1 (0).")]
PoolDepth = Annotated[
    int | None, typer.Option(help="How many documents of a ranking the cheap pool takes (10).")
]
DeepPoolDepth = Annotated[
    int | None, typer.Option(help="How many documents of every ranking the deep pool takes (50).")
]
PooledFrom = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Whose rankings the cheap pool takes (the first).")
]
Depth = Annotated[int | None, typer.Option(help="How many documents a run holds (100).")]
Measure = Annotated[str, typer.Option("--measure", "-m", help="The measure to look at.")]
Seed = Annotated[int | None, typer.Option(help="Seed of the simulation (0).")]
Folder = Annotated[
    Path | None,
    typer.Option(help="Where the files go (leadline-world; with --lesson only where named)."),
]
Lesson = Annotated[bool, typer.Option("--lesson", help="The lesson's own collection and its four parts.")]
Planned = Annotated[
    bool, typer.Option("--plan", help="How many queries until the interval excludes zero? Two systems.")
]
Form = Annotated[str, typer.Option(help="table or json.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar on standard error.")]


def simulate(
    queries: Queries = None,
    skill: Skill = None,
    hidden: Hidden = None,
    finds_hidden: FindsHidden = None,
    relevant: Relevant = None,
    grades: GradesDrawn = None,
    clusters: Clusters = None,
    largest_cluster: LargestCluster = None,
    similarity: Similarity = None,
    alike: Alike = None,
    pool_depth: PoolDepth = None,
    deep_pool_depth: DeepPoolDepth = None,
    pooled_from: PooledFrom = None,
    depth: Depth = None,
    measure: Measure = "nDCG@10",
    seed: Seed = None,
    folder: Folder = None,
    lesson: Lesson = False,
    plan: Planned = False,
    format: Form = "table",
    quiet: Quiet = False,
) -> None:
    """Simulate systems whose truth is known: what does an evaluation say of them, and with how many queries?

    A document of grade g gets a score around skill · g/3, with a standard deviation of 1. Writes a folder with the
    runs, and judgments from a cheap pool, from a deep pool, and complete.

    Example: leadline simulate --skill A=4.0 --skill B=4.3
    """
    given = dict(locals())
    if format not in ("table", "json"):
        raise UsageError(f"--format {format!r} is not one of table, json")
    if lesson and plan:
        raise UsageError("--lesson and --plan are two different questions: ask one")
    if lesson:
        usual = {"measure": "nDCG@10"}
        _refuse([k for k in given if k not in LESSON_TAKES], given, usual, "--lesson is always the same")
        facts, text = _lesson(folder)
    elif plan:
        _refuse(
            NOT_OF_A_PLAN, given, {}, "--plan compares two systems over independent, fully judged queries"
        )
        facts, text = _planned(given, quiet)
    else:
        facts, text = _world(given, folder or FOLDER)
    if format == "table":
        typer.echo(text, nl=False)
        return
    from leadline.report.json_text import strict
    from leadline.report.wording import tool_version

    page = {"leadline": tool_version(), "command": "simulate", **facts}
    typer.echo(json.dumps(strict(page), indent=2, ensure_ascii=False, allow_nan=False))


def _refuse(names: Any, given: Mapping[str, Any], usual: Mapping[str, Any], why: str) -> None:
    """Refuse options that would do nothing, rather than ignore them."""
    for name in names:
        if given[name] not in (None, [], False, usual.get(name)):
            raise UsageError(f"{why}: --{name.replace('_', '-')} does nothing there")


def _plan_of(given: Mapping[str, Any]) -> "Plan":
    """The plan of a world, from the options; what was left out keeps the plan's own default."""
    from leadline.demo.world import Plan, System

    named = listed(given["skill"])
    skills = dict(_skill(text) for text in named or USUAL_SKILLS)
    if len(skills) < len(named):
        raise UsageError("--skill names one system twice")
    hidden = given["hidden"] if given["hidden"] is not None else (0 if named else USUAL_HIDDEN)
    finders = listed(given["finds_hidden"]) or ([list(skills)[-1]] if hidden else [])
    for name in finders:
        if name not in skills:
            raise UsageError(f"--finds-hidden {printable(name)}: the systems are {', '.join(skills)}")
    same = ("queries", "relevant", "clusters", "similarity", "alike", "pool_depth", "depth", "seed")
    chosen: dict[str, Any] = {name: given[name] for name in same if given[name] is not None}
    for option, name in (("largest_cluster", "largest"), ("deep_pool_depth", "deep_depth")):
        if given[option] is not None:
            chosen[name] = given[option]
    if given["grades"]:
        chosen["grades"] = tuple(_grade(text) for text in listed(given["grades"]))
    systems = tuple(System(name, number, name in finders) for name, number in skills.items())
    return Plan(systems, hidden=hidden, pooled_from=tuple(listed(given["pooled_from"])), **chosen).checked()


def _skill(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name.strip(), float(number)
    except ValueError:
        raise UsageError(f"--skill {printable(text)!r} has not the form A=4.0") from None


def _grade(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--grades {printable(text)!r} is not a whole number") from None


def _world(given: Mapping[str, Any], folder: Path) -> tuple[dict[str, Any], str]:
    """A world, written, and what an evaluation says of it."""
    from leadline.cli.world_text import world_facts, world_text
    from leadline.demo.world import draw_world
    from leadline.demo.world_files import write_world

    world = draw_world(_plan_of(given))
    facts = world_facts(world, given["measure"])
    write_world(world, folder)
    facts["folder"] = str(folder)
    return facts, world_text(facts)


def _lesson(folder: Path | None) -> tuple[dict[str, Any], str]:
    """The lesson's four parts, and its files where a folder is named."""
    from leadline.cli.lesson_text import lesson_facts, lesson_text
    from leadline.demo.lesson import lesson_tables
    from leadline.demo.world_files import write_lesson

    tables = lesson_tables()
    facts = lesson_facts(tables)
    if folder is not None:
        write_lesson(tables, folder)
        facts["folder"] = str(folder)
    return facts, lesson_text(facts)


def _planned(given: Mapping[str, Any], quiet: bool) -> tuple[dict[str, Any], str]:
    """How often sets of each size decide between two systems."""
    from leadline.cli.plan_text import plan_facts, plan_text

    asked = given["queries"]
    if asked is not None and not 2 <= asked <= 100_000:
        raise UsageError(f"--queries {asked} is not between 2 and 100000")
    plan = _plan_of({**given, "queries": None})
    if len(plan.systems) != 2:
        raise UsageError("--plan compares two systems: --skill A=4.0 --skill B=4.1")
    with _progress(quiet) as step:
        facts = plan_facts(plan, given["measure"], asked, step)
    return facts, plan_text(facts)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[float], None]]:
    """A bar on standard error that is told which share is done; none where it is no terminal."""
    with bars(quiet, "share") as shown:
        if shown is None:
            yield lambda share: None
            return
        task = shown.add_task("simulating", total=100)
        yield lambda share: shown.update(task, completed=math.floor(100 * share))

"""Simulated worlds, and the lesson's collection, as folders of files that every command reads."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from leadline.demo.lesson import LessonTables
from leadline.demo.world import World
from leadline.errors import InputError, printable
from leadline.formats.write import atomic_write, write_qrels, write_queries, write_run
from leadline.tables import Qrels, Queries, Run


def write_world(world: World, folder: Path) -> tuple[Path, ...]:
    """The world as a folder; each file is replaced whole, and the paths are returned.

    `NAME.run` for each system, `pooled.qrels`, `deep.qrels`, `complete.qrels`, `queries.jsonl` (with the column
    cluster), and a README with the commands.

    Raises
    ------
    InputError: the folder cannot be made. UsageError: a file cannot be written.
    """
    judgments = {
        "pooled": world.judgments("pooled"),
        "deep": world.judgments("deep"),
        "complete": world.judgments("complete"),
    }
    return _write(folder, world.runs(), judgments, world.queries(), _world_readme(world))


def write_lesson(tables: LessonTables, folder: Path) -> tuple[Path, ...]:
    """The lesson's collection as a folder; each file is replaced whole, and the paths are returned.

    `A.run`, `B.run`, `C.run`, `pooled-from-A.qrels`, `after-judging-C.qrels` and a README with the commands.

    Raises
    ------
    InputError: the folder cannot be made. UsageError: a file cannot be written.
    """
    judgments = {"pooled-from-A": tables.pooled, "after-judging-C": tables.judged}
    return _write(folder, tables.runs, judgments, None, LESSON_README)


def _write(
    folder: Path, runs: Sequence[Run], judgments: Mapping[str, Qrels], queries: Queries | None, readme: str
) -> tuple[Path, ...]:
    """The files of one folder, in the order in which they are named."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{printable(str(folder))}: cannot be made ({error.strerror or error})") from None
    paths = []
    for run in runs:
        paths.append(folder / f"{run.name}.run")
        write_run(run, paths[-1])
    for name, qrels in judgments.items():
        paths.append(folder / f"{name}.qrels")
        write_qrels(qrels, paths[-1])
    if queries is not None:
        paths.append(folder / "queries.jsonl")
        write_queries(queries, paths[-1])
    paths.append(folder / "README.md")
    with atomic_write(paths[-1]) as temporary:
        temporary.write_text(readme, encoding="utf-8")
    return tuple(paths)


def _world_readme(world: World) -> str:
    """What the folder of a world holds, and the commands to begin with."""
    plan, held = world.plan, world.held()
    runs = " ".join(f"{system.name}.run" for system in plan.systems)
    systems = "\n".join(
        f"| `{s.name}.run` | skill {s.skill:g}{', finds the hidden documents' if s.finds_hidden else ''} |"
        for s in plan.systems
    )
    pool = f"the top {plan.pool_depth} of {', '.join(plan.pooled_from)}"
    return f"""# A simulated world

Nothing here is real, so everything is known: {held["queries"]} queries in {held["clusters"]} clusters (the largest
holds {held["largest_cluster"]}), {held["relevant"]} relevant documents, {held["hidden"]} of them hidden. A document of
grade g gets a score around skill · g/3 with standard deviation 1. Seed {plan.seed}. The letter of a document's id
tells the truth: r relevant, h relevant and hidden, n not relevant.

| File | What it is |
|---|---|
{systems}
| `pooled.qrels` | judged: the relevant documents that are not hidden, and {pool} |
| `deep.qrels` | judged: these, and the top {plan.deep_depth} of every system |
| `complete.qrels` | the truth: every document is judged |
| `queries.jsonl` | the queries with their `cluster` |

What the judges' pool says and what stands in it unjudged, and then what is true:

    leadline evaluate {runs} --qrels pooled.qrels -m nDCG@10,Judged@10 --bounds
    leadline evaluate {runs} --qrels complete.qrels -m nDCG@10,Judged@10
"""


LESSON_README = """# The lesson's collection

A simulated test collection of 300 queries, each with 1 to 5 relevant documents of grade 1 to 3, 0 to 3 relevant
documents that the judges never saw (grade 2), and 200 others. The letter of a document's id tells the truth:
r relevant, h relevant and hidden, n not relevant.

| File | What it is |
|---|---|
| `A.run`, `B.run`, `C.run` | three systems, of skill 4.0, 4.3 and 4.0; only C finds the hidden documents |
| `pooled-from-A.qrels` | judged: the relevant documents that are not hidden, and the top 10 of A |
| `after-judging-C.qrels` | judged: these, the top 10 of C, and the hidden documents |

    leadline evaluate A.run B.run C.run --qrels pooled-from-A.qrels -m nDCG@10,AP,Judged@10
    leadline evaluate A.run B.run C.run --qrels after-judging-C.qrels -m nDCG@10,AP,Judged@10
"""

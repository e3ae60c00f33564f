"""`leadline autojudge`: a model grades pairs of query and document; what it could not grade is an error with its reason."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli import asking
from leadline.cli.bars import bars
from leadline.errors import UsageError, amount, printable

if TYPE_CHECKING:
    from leadline.judging.autojudge import Asking, AutoJudged, Item
    from leadline.judging.book import Book
    from leadline.judging.model_labels import InFile
    from leadline.judging.probes import Probed
    from leadline.judging.prompt import Prompt
    from leadline.models.batch import Watch
    from leadline.models.cache import Cache
    from leadline.models.call import Limits, Model
    from leadline.models.plan import Plan

FORMATS = ("table", "json")
INCOMPLETE = 5
"""The exit code where a pair, or a probe, has no grade."""

ToJudge = Annotated[
    str | None,
    typer.Argument(
        metavar="[TO-JUDGE]", help="The pairs to judge, as `leadline pool --write` lists them (JSONL)."
    ),
]
DocumentsFile = Annotated[
    str | None,
    typer.Option("--documents", metavar="FILE", help="Their texts, as `leadline judge` takes them."),
]
QueriesFile = Annotated[
    str | None,
    typer.Option(
        "--queries", metavar="FILE", help="The queries' texts and what the person wants by them (need)."
    ),
]
PromptFile = Annotated[
    str | None,
    typer.Option("--prompt", metavar="FILE", help="A prompt file of your own (default: relevance-1)."),
]
Grades = Annotated[
    str | None,
    typer.Option(metavar="0-3", help="The scale that you expect; refused where the prompt has another."),
]
BookPlace = Annotated[
    str | None, typer.Option(metavar="BOOK", help="Put the labels into this book, with who the judge is.")
]
WriteFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Write the labels to this file (.txt .jsonl .csv …), and a card beside it."
    ),
]
BatchSize = Annotated[int, typer.Option(min=1, help="Passages of one query in one call.")]
MaxChars = Annotated[
    int, typer.Option(min=1, help="Characters of a document that are sent; each cut is stated.")
]
Attempts = Annotated[
    int, typer.Option(min=1, help="How often to ask about a pair whose reply could not be read.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan, and send nothing.")]
ShowPrompt = Annotated[
    bool, typer.Option("--show-prompt", help="Print what the first call would send, and stop.")
]
ProbeIt = Annotated[
    bool,
    typer.Option("--probe", help="Label nothing: find out which planted texts raise this judge's grades."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No plan and no progress.")]


@dataclass(frozen=True)
class Task:
    """What is to be done: who asks what, and of whom."""

    model: "Model"
    prompt: "Prompt"
    how: "Asking"
    limits: "Limits"
    items: "list[Item]"
    probe: bool


def autojudge(
    to_judge: ToJudge = None,
    documents: DocumentsFile = None,
    queries: QueriesFile = None,
    model: asking.ModelName = None,
    endpoint: asking.EndpointUrl = None,
    prompt: PromptFile = None,
    grades: Grades = None,
    book: BookPlace = None,
    write: WriteFile = None,
    batch: BatchSize = 1,
    max_chars: MaxChars = 6000,
    attempts: Attempts = 1,
    dry_run: DryRun = False,
    show_prompt: ShowPrompt = False,
    probe: ProbeIt = False,
    temperature: asking.Temperature = None,
    max_tokens: asking.MaxTokens = None,
    seed: asking.ModelSeed = None,
    param: asking.Parameter = None,
    no_schema: asking.NoSchema = False,
    concurrency: asking.Concurrency = 8,
    timeout: asking.Timeout = None,
    max_calls: asking.MaxCalls = None,
    max_tokens_total: asking.MaxTokensTotal = None,
    max_money: asking.MaxMoney = None,
    prompt_price: asking.PromptPrice = None,
    completion_price: asking.CompletionPrice = None,
    cache: asking.CacheFile = None,
    replay: asking.ReplayFile = None,
    format: Annotated[str, typer.Option(help="table or json.")] = "table",
    quiet: Quiet = False,
) -> None:
    """Let a model grade pairs of query and document. The labels say who made them; none takes the place of a person's.

    The plan is printed before anything is sent. Every reply is kept: the same command goes on after a kill, and pays for
    nothing twice. Exits 0 when every pair has a label, 5 when some have none.

    Example: leadline autojudge to-judge.jsonl --documents corpus.jsonl --queries queries.jsonl --model NAME --endpoint URL
    """
    chosen = dict(locals())
    _refuse(chosen)
    task_prompt = _prompt(chosen)
    items, notes = _items(chosen)
    if show_prompt:
        _show(items, task_prompt, chosen)
        return
    from leadline.judging.autojudge import Asking

    how = Asking(1 if probe else batch, max_chars, attempts)
    asked = asking.model_of(chosen, how.batch)
    task = Task(asked, task_prompt, how, asking.limits_of(chosen), items, probe)
    with asking.cache_of(chosen, (book, write), dry_run) as replies:
        _work(task, chosen, replies, notes)


def _refuse(chosen: Mapping[str, Any]) -> None:
    """Refuse before any work what cannot be meant."""
    if chosen["format"] not in FORMATS:
        raise UsageError(f"--format {chosen['format']!r} is not one of {', '.join(FORMATS)}")
    if chosen["book"] is not None and chosen["write"] is not None:
        raise UsageError("--book keeps labels in a book, --write in a file: name one of them")
    place = next((f"--{name}" for name in ("book", "write") if chosen[name] is not None), None)
    if chosen["probe"] and place:
        raise UsageError(f"--probe makes no labels: leave {place} away")
    if chosen["probe"] and chosen["batch"] > 1:
        raise UsageError("--probe asks about one passage a call: leave --batch away")
    if chosen["to_judge"] is None and not chosen["probe"]:
        raise UsageError("name the pairs to judge: leadline autojudge to-judge.jsonl --documents FILE …")
    idle = next((f"--{name}" for name in ("documents", "queries") if chosen[name] is not None), None)
    if chosen["to_judge"] is None and idle:
        raise UsageError(f"{idle} goes with the pairs to judge: leadline autojudge to-judge.jsonl …")
    if chosen["to_judge"] is not None and chosen["documents"] is None:
        raise UsageError("name the documents' texts: --documents FILE")
    if chosen["write"] is not None:
        from leadline.formats.write import format_of

        format_of(chosen["write"])


def _prompt(chosen: Mapping[str, Any]) -> "Prompt":
    from leadline.judging.prompt import check_grades, read_prompt, shipped_prompt

    found = shipped_prompt() if chosen["prompt"] is None else read_prompt(chosen["prompt"])
    if chosen["grades"] is not None:
        from leadline.web.settings import Rules

        check_grades(found, Rules.of(chosen["grades"]).grades)
    return found


def _items(chosen: Mapping[str, Any]) -> "tuple[list[Item], list[str]]":
    """The pairs with their texts, and what to know of them."""
    if chosen["to_judge"] is None:
        return [], []
    from leadline.judging.autojudge import Item
    from leadline.web.documents import read_documents
    from leadline.web.pairs import read_pairs, read_query_texts

    pairs, queries = read_pairs(chosen["to_judge"])
    if chosen["queries"] is not None:
        queries = queries | read_query_texts(chosen["queries"])
    documents, _ = read_documents(chosen["documents"], {pair.doc_id for pair in pairs})
    items = []
    for pair in pairs:
        query, document = queries.get(pair.query_id), documents.get(pair.doc_id)
        items.append(
            Item(
                pair.query_id,
                pair.doc_id,
                None if query is None else query.text,
                None if document is None else document.text,
                None if query is None else query.need,
                None if document is None else document.title,
                None if document is None else document.hash,
                pair.probability,
                pair.stratum,
            )
        )
    without = {item.query_id for item in items if item.query is not None and not item.need}
    notes = []
    if without:
        count = amount(len(without), "query", "queries")
        notes.append(
            f"{count} without a stated need (a column need of --queries): judged by their words alone"
        )
    return items, notes


def _show(items: "list[Item]", prompt: "Prompt", chosen: Mapping[str, Any]) -> None:
    """What the first call would send."""
    from leadline.judging.autojudge import Asking, batches_of
    from leadline.judging.probes import BASES

    how = Asking(chosen["batch"], chosen["max_chars"])
    batches = batches_of(items or BASES[:1], prompt, how)
    if not batches:
        raise UsageError("no pair has a text to send")
    typer.echo(
        f"prompt {printable(prompt.title)}, hash {prompt.hash}; call {printable(batches[0].call.name)}"
    )
    for message in batches[0].call.messages:
        shown = "\n".join(map(printable, message.text.split("\n")))
        typer.echo(f"--- {message.role}\n{shown}")


def _work(task: Task, chosen: Mapping[str, Any], replies: "Cache | None", notes: list[str]) -> None:
    """Plan, ask, keep, tell."""
    from leadline.judging.autojudge import judge_of, without_labels
    from leadline.report.autojudge_text import Work, account_text, plan_text, work_json

    judge = judge_of(task.model, task.prompt, task.how)
    dry, as_json = chosen["dry_run"], chosen["format"] == "json"
    with _kept(chosen, dry) as place:
        known = _known(chosen, place, task, judge)
        items = without_labels(task.items, known.grades)
        already = len(task.items) - len(items)
        plan = _plan(task, items, replies)
        again = _asked_again(chosen, known)
        notes = [*again, *notes]
        work = Work(judge, plan, len(task.items), already, notes=notes)
        if dry:
            typer.echo(work_json(work) if as_json else plan_text(plan, judge, already, again), nl=False)
            return
        if not chosen["quiet"]:
            typer.echo(plan_text(plan, judge, already, again), nl=False, err=True)
        made, probed = _asked(task, items, replies, chosen)
        written = None if task.probe else _write(chosen, place, made, known)
    work = Work(judge, plan, len(task.items), already, made, probed, written, notes)
    typer.echo(work_json(work) if as_json else account_text(work), nl=False)
    if made.failed or made.left:
        raise typer.Exit(INCOMPLETE)


@contextmanager
def _kept(chosen: Mapping[str, Any], dry: bool) -> "Iterator[Book | None]":
    """The book, opened before anything is paid for; in a dry run only one that is there."""
    from pathlib import Path

    from leadline.formats.bookfile import is_server
    from leadline.judging.exchange import open_book

    place = chosen["book"]
    if place is None or (dry and not is_server(place) and not Path(place).exists()):
        yield None
        return
    with open_book(place, create=not dry) as book:
        yield book


def _known(chosen: Mapping[str, Any], book: "Book | None", task: Task, judge: Any) -> "InFile":
    """The labels that this judge gave before."""
    from leadline.judging.model_labels import InFile, labelled_in_book, labelled_in_file

    if book is not None:
        return InFile(labelled_in_book(book, judge, task.items), {})
    if chosen["write"] is None:
        return InFile({}, {})
    return labelled_in_file(chosen["write"], judge, task.items)


def _asked_again(chosen: Mapping[str, Any], known: "InFile") -> list[str]:
    """What to say of labels that are asked again."""
    if not known.stale:
        return []
    count = len(known.stale)
    what = f"{amount(count, 'label')} in {printable(chosen['write'])} {'is' if count == 1 else 'are'}"
    return [
        f"{what} of another text than today's, or its card does not tell: asked again, and kept until there is a new one"
    ]


def _bases(task: Task) -> "tuple[Item, ...]":
    from leadline.judging.probes import bases_of

    return bases_of(task.items)


def _plan(task: Task, items: "list[Item]", replies: "Cache | None") -> "Plan":
    from leadline.judging.autojudge import plan_judging
    from leadline.judging.probes import plan_probing

    if task.probe:
        return plan_probing(
            task.model, task.prompt, _bases(task), task.how, cache=replies, limits=task.limits
        )
    return plan_judging(task.model, items, task.prompt, task.how, cache=replies, limits=task.limits)


def _asked(
    task: Task, items: "list[Item]", replies: "Cache | None", chosen: Mapping[str, Any]
) -> "tuple[AutoJudged, Probed | None]":
    """Ask, with a bar where somebody looks."""
    from leadline.judging.autojudge import judge_pairs
    from leadline.judging.probes import probe_judge

    with _bar(chosen["quiet"]) as watch:
        rest: dict[str, Any] = {
            "cache": replies,
            "limits": task.limits,
            "concurrency": chosen["concurrency"],
            "watch": watch,
        }
        if task.probe:
            probed = probe_judge(task.model, task.prompt, _bases(task), task.how, **rest)
            return probed.made, probed
        return judge_pairs(task.model, items, task.prompt, task.how, **rest), None


@contextmanager
def _bar(quiet: bool) -> "Iterator[Watch | None]":
    with bars(quiet, "items") as shown:
        if shown is None:
            yield None
            return
        row = shown.add_task("asking", total=None)
        yield lambda done, total: shown.update(row, completed=done, total=total)


def _write(
    chosen: Mapping[str, Any], book: "Book | None", made: "AutoJudged", known: "InFile"
) -> dict[str, Any] | None:
    """Keep the labels; what was done."""
    from leadline.judging.model_labels import rows_for_book, write_file
    from leadline.report.wording import tool_version

    if book is not None:
        return {"book": book.name, "added": book.add(rows_for_book(made))}
    if chosen["write"] is None:
        return None
    new = {one.item.pair: float(one.grade or 0) for one in made.labelled}
    # An old label of a text that has changed stays, with what was asked then, until there is a new one.
    labels = {**known.grades, **known.stale, **new}
    asked = {**known.asked, **{one.item.pair: one.item.asked for one in made.labelled}}
    paths = write_file(chosen["write"], made.judge, labels, tool_version(), asked)
    return {"file": chosen["write"], "labels": len(labels), "card": str(paths[1]) if paths else None}

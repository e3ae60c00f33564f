"""What a model judge is about to take, what it took, and what came of it: for a terminal and as JSON."""

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from leadline.certificate import Judge, sentence
from leadline.errors import amount, printable
from leadline.judging.autojudge import AutoJudged
from leadline.judging.probes import PLANTS, Probed
from leadline.judging.replies import ERRORS
from leadline.models.cache import interrupted_note
from leadline.models.call import Spent
from leadline.models.plan import Plan
from leadline.report.json_text import document_text
from leadline.report.plain_table import table_lines
from leadline.report.wording import tool_version

SHOWN = 10
"""Pairs with an error that the terminal lists; JSON has them all."""
WIDTH = 100


@dataclass(frozen=True)
class Work:
    """One use of the command.

    Attributes
    ----------
    pairs: listed. already: of them labelled before, not asked again. made: None in a dry run. written: where the labels went,
    and how many were new. notes: what to know.
    """

    judge: Judge
    plan: Plan
    pairs: int
    already: int = 0
    made: AutoJudged | None = None
    probed: Probed | None = None
    written: Mapping[str, Any] | None = None
    notes: Sequence[str] = ()


def plan_text(plan: Plan, judge: Judge, already: int = 0, notes: Sequence[str] = ()) -> str:
    """The plan in a few lines; notes are what to know before it is carried out."""
    asked = amount(plan.to_ask, "call")
    aside = [
        f"{count} {words}"
        for count, words in (
            (plan.cached, "in the cache"),
            (plan.duplicates, "the same as another"),
        )
        if count
    ]
    lines = [
        f"judge: {printable(sentence([judge]))} at {printable(judge.endpoint)} [{judge.id}]",
        f"plan: {asked} to ask" + (f"; {', '.join(aside)}" if aside else ""),
    ]
    if already:
        lines.append(f"  {amount(already, 'pair')} labelled before by this judge, not asked again")
    if plan.to_ask:
        most = (
            "completions not bounded (no max_tokens)"
            if plan.completion_tokens is None
            else f"at most {plan.completion_tokens} of completions"
        )
        lines.append(f"  about {plan.prompt_tokens} tokens of prompts, {most}")
        lines.append(f"  {plan.how}")
        if plan.money is not None:
            lines.append(f"  at most about {plan.money:.4g} by the prices given")
        lines.append(f"  {'! ' if plan.enough is False else ''}{plan.why}")
    if plan.interrupted:
        lines.append(f"! {interrupted_note(plan.interrupted)}")
    lines += [f"! {note}" for note in notes]
    return "\n".join(_wrapped(line) for line in lines) + "\n"


def account_text(work: Work) -> str:
    """What came of it: labels, errors by kind and the first pairs of them, what is left, what was spent."""
    made = work.made
    assert made is not None
    lines = []
    if work.probed is not None:
        lines += [*_probes(work.probed), ""]
    else:
        counts = Counter(one.grade for one in made.labelled)
        grades = ", ".join(
            f"{counts[grade]} with {grade:g}" for grade in sorted(counts, key=lambda g: g or 0)
        )
        lines.append(
            f"labelled: {len(made.labelled)} of {amount(len(made.results), 'pair')}"
            + (f" ({grades})" if grades else "")
        )
        lines += _errors(made)
    cut = sum(one.cut for one in made.labelled)
    if cut and work.probed is None:
        lines.append(
            f"! {amount(cut, 'label')} made from the beginning of a text only (--max-chars); each says so"
        )
    if made.left:
        lines.append(f"left: {amount(made.left, 'pair')}: {printable(made.stopped)}")
    elif made.stopped:
        lines.append(f"! not every attempt was made: {printable(made.stopped)}")
    lines.append(f"asked: {_spent(made.spent)}; {amount(made.cached, 'answer')} from the cache")
    lines += _written(work.written) if work.probed is None else []
    lines += [f"! {note}" for note in work.notes]
    return "\n".join(_wrapped(line) for line in lines) + "\n"


def _errors(made: AutoJudged) -> list[str]:
    lines = []
    if made.failed:
        lines.append(f"errors: {amount(len(made.failed), 'pair')} without a label, which is no grade of 0")
        lines += [f"  {kind}: {count}, {ERRORS[kind]}" for kind, count in made.errors().items()]
        for one in made.failed[:SHOWN]:
            named = f"{printable(one.item.query_id)} {printable(one.item.doc_id)}"
            said = "" if one.said in ERRORS.values() else f": {printable(one.said)}"
            lines.append(f"  - {named}: {one.error}{said}")
        if len(made.failed) > SHOWN:
            lines.append(f"  and {len(made.failed) - SHOWN} more (--format json lists all)")
    if made.foreign:
        call, name = made.foreign[0]
        more = "" if len(made.foreign) == 1 else ", …"
        lines.append(
            f"  {amount(len(made.foreign), 'entry', 'entries')} about passages that were not asked about, dropped: "
            f"{printable(name)!r} in {printable(call)}{more}"
        )
    return lines


def _spent(spent: Spent) -> str:
    parts = [
        amount(spent.calls, "request"),
        f"{spent.prompt_tokens} + {spent.completion_tokens} tokens",
    ]
    if spent.money is not None:
        parts.append(f"{spent.money:.4g} by the prices given")
    if spent.uncounted:
        parts.append(
            f"{amount(spent.uncounted, 'reply', 'replies')} estimated, since the server did not count"
        )
    if spent.unsure:
        parts.append(f"{amount(spent.unsure, 'request')} without an answer that may have been paid")
    return ", ".join(parts)


def _written(written: Mapping[str, Any] | None) -> list[str]:
    if written is None:
        return ["kept nowhere: name --book FILE or --write FILE"]
    if "book" in written:
        return [f"into {printable(written['book'])}: {amount(written['added'], 'row')} added"]
    if not written["labels"]:
        return ["nothing to write"]
    return [
        f"wrote {printable(written['file'])}: {amount(written['labels'], 'label')}; and its card, which says who made them"
    ]


def _probes(probed: Probed) -> list[str]:
    rows = []
    for kind, (words, _) in PLANTS.items():
        own = [one for one in probed.probes if one.kind == kind]
        steps = [f"{_grade(one.without)} → {_grade(one.planted)}" for one in own]
        if own:
            rows.append([kind, words, ", ".join(steps), str(sum(one.moved is True for one in own))])
    head = ["probe", "what is planted in an off-topic passage", "grade without → with it", "moved"]
    return [*table_lines(head, rows, texts=3), "", probed.sentence()]


def _grade(grade: float | None) -> str:
    return "none" if grade is None else f"{grade:g}"


def work_json(work: Work) -> str:
    """The plan and what came of it as one JSON object; what was not asked for is null."""
    made, probed = work.made, work.probed
    judged = made if probed is None else None
    document: dict[str, Any] = {
        "leadline": tool_version(),
        "command": "autojudge",
        "judge": work.judge.to_dict(),
        "judge_id": work.judge.id,
        "plan": work.plan.to_dict(),
        "pairs": work.pairs,
        "already": work.already,
        "labelled": None if judged is None else len(judged.labelled),
        "grades": None if judged is None else _grades(judged),
        "errors": None if judged is None else judged.errors(),
        "failed": None if judged is None else [one.to_dict() for one in judged.failed],
        "foreign": None if judged is None else [{"call": call, "id": name} for call, name in judged.foreign],
        "cut": None if judged is None else sum(one.cut for one in judged.labelled),
        "left": None if made is None else made.left,
        "stopped": None if made is None else made.stopped,
        "calls": None
        if made is None
        else {"all": made.calls, "answered": made.answered, "cached": made.cached},
        "spent": None if made is None else asdict(made.spent),
        "interrupted": None if made is None else made.interrupted,
        "written": None if work.written is None else dict(work.written),
        "probes": None if probed is None else _probes_json(probed),
        "notes": list(work.notes),
    }
    return document_text(document)


def _grades(made: AutoJudged) -> dict[str, int]:
    counts = Counter(one.grade for one in made.labelled if one.grade is not None)
    return {f"{grade:g}": counts[grade] for grade in sorted(counts)}


def _probes_json(probed: Probed) -> dict[str, Any]:
    return {
        "count": len(probed.probes),
        "moved": probed.moved,
        "failed": probed.failed,
        "at_top": probed.at_top,
        "rows": [one.to_dict() for one in probed.probes],
    }


def _wrapped(line: str) -> str:
    indent = "  " if line.startswith(("! ", "  ")) else ""
    return textwrap.fill(
        line, WIDTH, subsequent_indent=indent + ("  " if line.startswith("  ") else ""), break_long_words=False,
        break_on_hyphens=False, drop_whitespace=True, replace_whitespace=False,
    ) if len(line) > WIDTH else line  # fmt: skip

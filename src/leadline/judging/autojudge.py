"""A model as a relevance judge: pairs become calls, replies become grades, and what brought no grade is an error with its reason.

Batches are cut from the whole list of a query's pairs in an order that follows from a hash of the pair, so that a place in
the batch says nothing of a document's rank or score, and the same list always makes the same calls: what a killed run had
paid for is found again in the cache.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leadline.certificate import Judge
from leadline.errors import UsageError
from leadline.judging.labels import Pair
from leadline.judging.prompt import Prompt
from leadline.judging.replies import ERRORS, PARSER, Verdict, answer_schema, read_verdicts
from leadline.models.batch import Watch, answers_of
from leadline.models.budget import budget_of
from leadline.models.cache import Cache
from leadline.models.call import Answer, Answers, Call, Limits, Model, Spent
from leadline.models.plan import Plan, plan_of

LONGEST_SHOWN = 6000
"""Characters of a document that are sent unless told otherwise."""


@dataclass(frozen=True)
class Item:
    """A pair to judge, with its texts.

    Attributes
    ----------
    query: its text; None where there is none. need: what the person wants by it. text: of the document, None where it is not
    there. text_hash: of the document's text, as judgments keep it. probability, stratum: of a sampled pool.
    """

    query_id: str
    doc_id: str
    query: str | None
    text: str | None
    need: str | None = None
    title: str | None = None
    text_hash: str | None = None
    probability: float | None = None
    stratum: str | None = None

    @property
    def pair(self) -> Pair:
        """The two ids."""
        return self.query_id, self.doc_id

    @property
    def order(self) -> str:
        """What the item's place in its batch follows from."""
        return hashlib.sha256(f"{len(self.query_id)}\n{self.query_id}\n{self.doc_id}".encode()).hexdigest()

    @property
    def asked(self) -> str:
        """16 hex digits of all that the question about the pair is made of: whoever changes one of the texts asks another.

        >>> Item("q", "d", "how?", "so").asked == Item("q", "d", "how?", "so ").asked
        False
        """
        texts = json.dumps([self.query, self.need, self.title, self.text])
        return hashlib.sha256(texts.encode()).hexdigest()[:16]

    def passage(self, most: int) -> str:
        """What is sent: the title, and the text up to so many characters."""
        text = (self.text or "")[:most]
        return f"{self.title}\n\n{text}" if self.title else text


@dataclass(frozen=True)
class Asking:
    """How the model is asked.

    Attributes
    ----------
    batch: passages of one query in a call. max_chars: of a document's text that are sent. attempts: how often a pair whose reply
    could not be read is asked for.
    """

    batch: int = 1
    max_chars: int = LONGEST_SHOWN
    attempts: int = 1

    def __post_init__(self) -> None:
        for name in ("batch", "max_chars", "attempts"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is 1 or more, not {getattr(self, name)}")


@dataclass(frozen=True)
class Result:
    """What became of one pair.

    Attributes
    ----------
    grade: None where there is none; then `error` is one of `replies.ERRORS`, or both are None where the budget left the pair.
    call: the name of the call that said so. place, of: which passage of how many. shown: characters of the text that were sent.
    """

    item: Item
    grade: float | None = None
    error: str | None = None
    said: str = ""
    call: str = ""
    place: int = 0
    of: int = 0
    shown: int = 0

    @property
    def cut(self) -> bool:
        """Whether the model saw only the beginning of the text."""
        return bool(self.call) and self.shown < len(self.item.text or "")

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        row = {"query_id": self.item.query_id, "doc_id": self.item.doc_id}
        return row | {
            name: getattr(self, name) for name in ("grade", "error", "said", "call", "place", "of", "shown")
        }


@dataclass(frozen=True)
class Batch:
    """One call and the pairs that it asks about, as they stand in it."""

    call: Call
    items: tuple[Item, ...]


@dataclass(frozen=True)
class AutoJudged:
    """All pairs with what became of them, in the order given, and what it took.

    Attributes
    ----------
    foreign: ids in replies that were not asked about, with the call. answered: calls answered, of which `cached` cost nothing.
    calls: calls in all. stopped: why pairs are left. interrupted: requests that stopped work had on their way.
    """

    judge: Judge
    results: tuple[Result, ...]
    calls: int = 0
    answered: int = 0
    cached: int = 0
    spent: Spent = field(default_factory=Spent)
    foreign: tuple[tuple[str, str], ...] = ()
    stopped: str = ""
    interrupted: int = 0

    @property
    def labelled(self) -> tuple[Result, ...]:
        """The pairs that have a grade."""
        return tuple(one for one in self.results if one.grade is not None)

    @property
    def failed(self) -> tuple[Result, ...]:
        """The pairs that have an error in its place."""
        return tuple(one for one in self.results if one.error is not None)

    @property
    def left(self) -> int:
        """Pairs that were not asked about, or not answered, because work was stopped."""
        return sum(one.grade is None and one.error is None for one in self.results)

    def errors(self) -> dict[str, int]:
        """How many pairs have which error; only those that occur, in the order of `replies.ERRORS`."""
        found = Counter(one.error for one in self.results)
        return {kind: found[kind] for kind in ERRORS if found[kind]}


def judge_of(model: Model, prompt: Prompt, asking: Asking) -> Judge:
    """Who the judge is: how many passages a call holds and how much of a text is sent are among its parameters.

    >>> from leadline.judging.prompt import shipped_prompt
    >>> from leadline.models.stub import Stub
    >>> judge_of(Stub(), shipped_prompt(), Asking()).parameters
    {'autojudge.batch': 1, 'autojudge.max_chars': 6000}
    """
    own = {"autojudge.batch": asking.batch, "autojudge.max_chars": asking.max_chars}
    return Judge(model.name, model.endpoint, dict(model.parameters) | own, prompt.title, prompt.hash, PARSER)


def unaskable(item: Item) -> Result | None:
    """The result of a pair that no call is made for; None where one is.

    >>> unaskable(Item("q", "d", "how?", " ")).error
    'empty'
    """
    kind = (
        "no-query"
        if not (item.query or "").strip()
        else "no-document"
        if item.text is None
        else "empty"
        if not item.text.strip()
        else None
    )
    return None if kind is None else Result(item, error=kind, said=ERRORS[kind])


def batches_of(items: Sequence[Item], prompt: Prompt, asking: Asking, attempt: int = 1) -> list[Batch]:
    """The calls for these pairs, query by query in the order of the first pair of each.

    Parameters
    ----------
    attempt: a second call about the same has a key of its own; else its first reply would come back from the cache.

    Raises
    ------
    UsageError: a pair twice.
    """
    by_query: dict[str, list[Item]] = {}
    for item in items:
        if unaskable(item) is None:
            by_query.setdefault(item.query_id, []).append(item)
    if len({item.pair for item in items}) < len(items):
        raise UsageError("a pair stands twice among those to judge")
    made = []
    for query_id, own in by_query.items():
        ordered = sorted(own, key=lambda item: item.order)
        for number, start in enumerate(range(0, len(ordered), asking.batch), 1):
            part = tuple(ordered[start : start + asking.batch])
            texts = [item.passage(asking.max_chars) for item in part]
            messages = prompt.messages(part[0].query or "", part[0].need, texts)
            schema = answer_schema(list(prompt.grades), len(part))
            again = "" if attempt == 1 else f", attempt {attempt}"
            parser = PARSER if attempt == 1 else f"{PARSER}, attempt {attempt}"
            made.append(Batch(Call(f"{query_id} #{number}{again}", messages, schema, parser), part))
    return made


def plan_judging(
    model: Model,
    items: Sequence[Item],
    prompt: Prompt,
    asking: Asking = Asking(),
    *,
    cache: Cache | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> Plan:
    """What judging these pairs would take; nothing is sent. Second attempts are not in it.

    Raises
    ------
    UsageError: a pair twice, or wrong limits.
    """
    calls = [batch.call for batch in batches_of(items, prompt, asking)]
    return plan_of(model, calls, cache=cache, limits=limits)


def judge_pairs(
    model: Model,
    items: Sequence[Item],
    prompt: Prompt,
    asking: Asking = Asking(),
    *,
    cache: Cache | None = None,
    limits: Limits = Limits(),  # noqa: B008
    concurrency: int = 8,
    watch: Watch | None = None,
) -> AutoJudged:
    """Ask the model about every pair. What a reply lacks is an error of that pair, never a grade.

    Parameters
    ----------
    cache: where replies are kept; without one a second run pays again. watch: told (done, total) after each call.

    Raises
    ------
    UsageError: a pair twice, or wrong limits. The rest as `models.batch.answers_of`.

    >>> from leadline.judging.prompt import shipped_prompt
    >>> from leadline.models.stub import Stub
    >>> reply = '{"intent": "", "passages": [{"id": "p1", "match": 1, "trust": 2, "grade": 1}]}'
    >>> judge_pairs(Stub(reply), [Item("q", "d", "how?", "so")], shipped_prompt()).labelled[0].grade
    1.0
    """
    found = {item.pair: unaskable(item) or Result(item) for item in items}
    made = AutoJudged(judge_of(model, prompt, asking), ())
    # One for all attempts: what an unsure call may have cost stays taken.
    budget = budget_of(model, limits, cache)
    open_items = list(items)
    for attempt in range(1, asking.attempts + 1):
        batches = batches_of(open_items, prompt, asking, attempt)
        if not batches or made.stopped:
            break
        answers = answers_of(
            model,
            [batch.call for batch in batches],
            cache=cache,
            budget=budget,
            concurrency=concurrency,
            watch=watch,
        )
        results, foreign = _read(batches, answers, prompt, asking)
        found |= {one.item.pair: one for one in results if one.grade is not None or one.error is not None}
        made = _with(made, answers, foreign)
        # A request without any reply was tried again already, as often as that may help.
        open_items = [
            one.item
            for one in found.values()
            if one.error is not None and one.call and one.error != "no-reply"
        ]
    return replace(made, results=tuple(found[item.pair] for item in items))


def _with(made: AutoJudged, answers: Answers, foreign: Sequence[tuple[str, str]]) -> AutoJudged:
    """The account with what a further batch of calls took; what was spent is counted over all of them."""
    return replace(
        made,
        foreign=(*made.foreign, *foreign),
        calls=made.calls + len(answers.answers),
        answered=made.answered + sum(one.state == "answered" for one in answers.answers),
        cached=made.cached + sum(one.cached for one in answers.answers),
        spent=answers.spent,
        stopped=answers.stopped,
        interrupted=made.interrupted + answers.interrupted,
    )


def _read(
    batches: Sequence[Batch], answers: Answers, prompt: Prompt, asking: Asking
) -> tuple[list[Result], list[tuple[str, str]]]:
    """What the answers say of each pair, and the ids in them that were not asked about, with their calls."""
    results: list[Result] = []
    foreign: list[tuple[str, str]] = []
    for batch, answer in zip(batches, answers.answers, strict=True):
        verdicts, names = _verdicts(answer, batch, prompt)
        results += _results(batch, verdicts, asking)
        foreign += [(batch.call.name, name) for name in names]
    return results, foreign


def _verdicts(answer: Answer, batch: Batch, prompt: Prompt) -> tuple[Sequence[Verdict], Sequence[str]]:
    """What an answer says of each of its passages, and the ids in it that were not asked about."""
    count = len(batch.items)
    if answer.state == "left":
        return [Verdict()] * count, ()
    if answer.reply is None:
        return [Verdict(error="no-reply", said=answer.error or ERRORS["no-reply"])] * count, ()
    read = read_verdicts(answer.reply.text, list(prompt.grades), count)
    return read.passages, read.foreign


def _results(batch: Batch, verdicts: Sequence[Verdict], asking: Asking) -> Iterator[Result]:
    for place, (item, verdict) in enumerate(zip(batch.items, verdicts, strict=True), 1):
        shown = min(len(item.text or ""), asking.max_chars)
        yield Result(
            item, verdict.grade, verdict.error, verdict.said, batch.call.name, place, len(batch.items), shown
        )


def without_labels(items: Sequence[Item], known: Mapping[Pair, float]) -> list[Item]:
    """The pairs that have no label yet.

    >>> [one.doc_id for one in without_labels([Item("q", "d", "", ""), Item("q", "e", "", "")], {("q", "d"): 0.0})]
    ['e']
    """
    return [item for item in items if item.pair not in known]

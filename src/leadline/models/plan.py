"""What a batch of calls would take, before anything is sent."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from leadline.errors import amount
from leadline.models.budget import PER_TOKEN, checked_limits, cost, most_tokens, priced
from leadline.models.cache import Cache, prompt_bytes
from leadline.models.call import Call, Limits, Model, key_of


@dataclass(frozen=True)
class Plan:
    """What is to be asked.

    Attributes
    ----------
    calls: all. cached: answered already. duplicates: the same as another call of the batch. to_ask: the rest; so many requests
    are sent where none has to be repeated.
    interrupted: requests for calls to ask that were on their way when earlier work was stopped.
    characters: of the prompts to ask. prompt_tokens: an estimate; `how` says from what.
    completion_tokens: at most; None where the parameters set no `max_tokens`. money: at most, by the estimate; None without
    prices or bound. enough: whether the limits suffice if nothing is asked twice; None where that cannot be known. why: in words.
    """

    calls: int
    cached: int
    duplicates: int
    to_ask: int
    interrupted: int
    characters: int
    prompt_tokens: int
    how: str
    completion_tokens: int | None
    money: float | None
    enough: bool | None
    why: str

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values."""
        return asdict(self)


def plan_of(
    model: Model,
    calls: Sequence[Call],
    *,
    cache: Cache | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> Plan:
    """What asking these calls would take; nothing is sent.

    Raises
    ------
    UsageError: a limit in money without prices, or a limit below 0.

    >>> from leadline.models.call import Message
    >>> from leadline.models.stub import Stub
    >>> plan = plan_of(Stub(), [Call(name, (Message("user", "12345678"),)) for name in "ab"], limits=Limits(calls=1))
    >>> plan.to_ask, plan.duplicates, plan.prompt_tokens, plan.enough
    (1, 1, 2, True)
    """
    checked_limits(limits)
    asked: dict[str, Call] = {}
    cached = 0
    for call in calls:
        key = key_of(model, call)
        if cache is not None and key not in asked and cache.get(key) is not None:
            cached += 1
        else:
            asked.setdefault(key, call)
    size = sum(map(prompt_bytes, asked.values()))
    measured = cache.tokens_per_byte(model) if cache is not None else None
    rate = measured[0] if measured else 1 / PER_TOKEN
    how = f"an estimate: {PER_TOKEN} bytes of UTF-8 for a token"
    if measured:
        counted = amount(measured[1], "reply", "replies")
        how = f"an estimate: {rate:.3g} tokens for a byte of UTF-8, as counted in {counted} in the cache"
    prompt, most = round(size * rate), most_tokens(model.parameters)
    completion = 0 if not asked else None if most is None else most * len(asked)
    money = None if completion is None or not priced(limits) else cost(limits, prompt, completion)
    enough, why = _enough(limits, len(asked), prompt, completion, money)
    return Plan(
        calls=len(calls),
        cached=cached,
        duplicates=len(calls) - cached - len(asked),
        to_ask=len(asked),
        interrupted=cache.interrupted(asked) if cache is not None else 0,
        characters=sum(len(message.text) for call in asked.values() for message in call.messages),
        prompt_tokens=prompt,
        how=how,
        completion_tokens=completion,
        money=money,
        enough=enough,
        why=why,
    )


def _enough(
    limits: Limits, requests: int, prompt: int, completion: int | None, money: float | None
) -> tuple[bool | None, str]:
    if limits.calls is not None and requests > limits.calls:
        return False, f"{amount(requests, 'call')} to ask, {limits.calls} allowed"
    bounded = limits.tokens is not None or limits.money is not None
    if limits.tokens is not None and prompt + (completion or 0) > limits.tokens:
        return False, f"about {prompt + (completion or 0)} tokens at most, {limits.tokens} allowed"
    if limits.money is not None and (cost(limits, prompt, completion or 0)) > limits.money:
        return False, f"about {cost(limits, prompt, completion or 0):.4g} at most, {limits.money:g} allowed"
    if bounded and completion is None:
        return None, "the parameters set no max_tokens: nothing bounds the completions"
    if bounded:
        return True, "the limits suffice by the estimate, if nothing has to be asked twice"
    if limits.calls is not None:
        return True, "the limit suffices if nothing has to be asked twice"
    return True, "there is no limit"

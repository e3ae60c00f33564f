"""What may still be spent: limits against what was spent and what the calls on their way may cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leadline.errors import UsageError, amount
from leadline.models.cache import Cache, prompt_bytes
from leadline.models.call import Call, Limits, Model, Reply, Spent

PER_TOKEN = 4
"""Bytes of UTF-8 for one token where nothing was measured: English in the vocabularies of today."""
MILLION = 1_000_000


def checked_limits(limits: Limits) -> None:
    """Pass limits that can be held.

    Raises
    ------
    UsageError: one below 0, or money without both prices.
    """
    for name in ("calls", "tokens", "money", "prompt_price", "completion_price"):
        value = getattr(limits, name)
        if value is not None and not value >= 0:
            raise UsageError(f"a limit or price is 0 or more, {name} is {value}")
    if limits.money is not None and not priced(limits):
        raise UsageError("a limit in money needs the prices of a million tokens, of prompt and of completion")


def priced(limits: Limits) -> bool:
    """Whether both prices are known."""
    return limits.prompt_price is not None and limits.completion_price is not None


def cost(limits: Limits, prompt: float, completion: float) -> float:
    """What so many tokens cost, in the unit of the prices; 0 per token where a price is not known.

    >>> cost(Limits(prompt_price=2, completion_price=8), 500_000, 250_000)
    3.0
    """
    return (prompt * (limits.prompt_price or 0) + completion * (limits.completion_price or 0)) / MILLION


def most_tokens(parameters: Mapping[str, Any]) -> int | None:
    """The longest completion that the parameters allow, in tokens; None where they set none.

    >>> most_tokens({"max_tokens": 100}), most_tokens({"temperature": 0})
    (100, None)
    """
    for name in ("max_completion_tokens", "max_tokens"):
        value = parameters.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


@dataclass(frozen=True)
class Held:
    """What a call on its way may cost, in tokens."""

    prompt: int
    completion: int


class Budget:
    """Keeps count, and says before each request whether it still fits.

    Prompt tokens are estimated before sending, at first as `rate` says and then by what the server counted; completions
    are taken for as long as `most` allows, or as the longest so far where nothing bounds them.
    """

    def __init__(self, limits: Limits, rate: float | None, most: int | None) -> None:
        checked_limits(limits)
        self.limits, self.most = limits, most
        self._rate = rate if rate is not None else 1 / PER_TOKEN
        self._longest = 0
        self._held: dict[int, Held] = {}
        self._lost = Held(0, 0)
        self._calls = self._prompt = self._completion = self._uncounted = self._unsure = 0

    def refuses(self, call: Call) -> str:
        """Why this call cannot be sent any more, in words; empty where it can."""
        limits, new = self.limits, self._estimate(call)
        if limits.calls is not None and self._calls + 1 > limits.calls:
            return f"the budget of {amount(limits.calls, 'call')} is used up"
        away = [*self._held.values(), self._lost, new]
        prompt = self._prompt + sum(one.prompt for one in away)
        completion = self._completion + sum(one.completion for one in away)
        if limits.tokens is not None and prompt + completion > limits.tokens:
            return f"the next call might exceed the budget of {amount(limits.tokens, 'token')}"
        if limits.money is not None and cost(limits, prompt, completion) > limits.money:
            return f"the next call might exceed the budget of {limits.money:g} in money"
        return ""

    def sent(self, number: int, call: Call) -> None:
        """A request goes out."""
        self._calls += 1
        self._held[number] = self._estimate(call)

    def answered(self, number: int, call: Call, reply: Reply) -> None:
        """Its reply came: what the server counted takes the place of the estimate."""
        held = self._held.pop(number)
        prompt, completion = reply.prompt_tokens, reply.completion_tokens
        if prompt is None or completion is None:
            self._uncounted += 1
        if prompt:
            # The largest seen, since a budget is not to be exceeded.
            self._rate = max(self._rate, prompt / max(prompt_bytes(call), 1))
        made = -(-len(reply.text.encode("utf-8", "replace")) // PER_TOKEN)
        self._prompt += held.prompt if prompt is None else prompt
        self._completion += made if completion is None else completion
        self._longest = max(self._longest, made if completion is None else completion)

    def failed(self, number: int, unsure: bool) -> None:
        """It brought no reply. Where it may have been paid all the same, its tokens stay taken."""
        held = self._held.pop(number)
        self._unsure += unsure
        if unsure:
            self._lost = Held(self._lost.prompt + held.prompt, self._lost.completion + held.completion)

    def spent(self) -> Spent:
        """What was spent so far."""
        money = cost(self.limits, self._prompt, self._completion) if priced(self.limits) else None
        return Spent(self._calls, self._prompt, self._completion, money, self._uncounted, self._unsure)

    def _estimate(self, call: Call) -> Held:
        prompt = int(prompt_bytes(call) * self._rate) + 1
        return Held(prompt, self._longest if self.most is None else self.most)


def budget_of(model: Model, limits: Limits, cache: Cache | None = None) -> Budget:
    """The budget of calls of one model, with what the cache knows of its tokens. One budget may serve several batches.

    Raises
    ------
    UsageError: wrong limits.
    """
    rate = cache.tokens_per_byte(model) if cache is not None else None
    return Budget(limits, rate[0] if rate else None, most_tokens(model.parameters))

"""What a batch of calls would cost, before anything is sent. (Signature; the body follows.)"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from leadline.models.cache import Cache
from leadline.models.call import Call, Limits, Model


@dataclass(frozen=True)
class Plan:
    """What is to be asked.

    Attributes
    ----------
    calls: all. cached: answered already. duplicates: the same as another call of the batch. to_ask: the rest.
    interrupted: of those to ask, requests that were on their way when earlier work was stopped.
    characters: of the prompts to ask. prompt_tokens: an estimate; `how` says from what.
    completion_tokens: at most; None where the parameters set no `max_tokens`. money: at most, by the estimate; None without
    prices. enough: whether the limits suffice if nothing is asked twice; None where that cannot be known. why: in words.
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
    UsageError: a limit in money without prices, or a wrong limit.
    """
    raise NotImplementedError

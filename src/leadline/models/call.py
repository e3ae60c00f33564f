"""One call of a model: what is asked, what comes back, what can go wrong, and what a model must be able to do."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from leadline.errors import LeadlineError


@dataclass(frozen=True)
class Message:
    """One message of a call. role: `system`, `user` or `assistant`."""

    role: str
    text: str


@dataclass(frozen=True)
class Call:
    """What a model is asked once.

    Attributes
    ----------
    name: the caller's own name of the call, unique among those asked together; it is no part of what is sent.
    messages: what is sent. schema: JSON Schema of the answer, sent along where the server takes one; None for free text.
    parser: the version of what reads the answer, a part of the key: answers are kept apart by it.
    """

    name: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    parser: str = ""


@dataclass(frozen=True)
class Reply:
    """What came back.

    Attributes
    ----------
    text: the answer. model: as the server names it. finish: why it ended there (`stop`, `length`, …), empty if not said.
    prompt_tokens, completion_tokens: as the server counted them; None where it does not say.
    """

    text: str
    model: str = ""
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ModelError(LeadlineError):
    """A call that brought no answer.

    Attributes
    ----------
    again: whether asking once more may help (429, 5xx, a time-out, no connection). wait: seconds that the server asks
    to wait (`Retry-After`), or None. status: the HTTP status, or None. every: any other call would fail alike (the key is
    refused, there is no such model). unsure: the request may have been answered, and paid, all the same.
    """

    def __init__(
        self,
        message: str,
        *,
        again: bool = False,
        wait: float | None = None,
        status: int | None = None,
        every: bool = False,
        unsure: bool = False,
    ) -> None:
        super().__init__(message)
        self.again, self.wait, self.status, self.every, self.unsure = again, wait, status, every, unsure


class Model(Protocol):
    """What answers calls: an endpoint, a replay of recorded replies, or a stub."""

    @property
    def name(self) -> str:
        """The model's name, as the endpoint knows it."""
        ...

    @property
    def endpoint(self) -> str:
        """The address that is asked, without keys; a replay names the one that was asked then; `stub` for a stub."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What else is sent with every call: temperature, max_tokens, seed, …"""
        ...

    async def ask(self, call: Call) -> Reply:
        """Ask once, without trying again.

        Raises
        ------
        ModelError: no answer.
        """
        ...


def key_of(model: Model, call: Call) -> str:
    """The name of a reply in the cache: 64 hex digits of endpoint, model, parameters, the whole prompt and parser version.

    >>> from leadline.models.stub import Stub
    >>> one = Call("a", (Message("user", "hello"),))
    >>> key_of(Stub(), one) == key_of(Stub(), Call("b", one.messages)), len(key_of(Stub(), one))
    (True, 64)
    """
    said = {
        "endpoint": model.endpoint,
        "model": model.name,
        "parameters": dict(model.parameters),
        "messages": [[message.role, message.text] for message in call.messages],
        "schema": call.schema,
        "parser": call.parser,
    }
    text = json.dumps(said, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Answer:
    """What became of one call.

    Attributes
    ----------
    state: `answered`, `failed` (with `error`), or `left`: not answered, since the budget is used up or work was stopped;
    `Answers.stopped` says why, and what was tried before that is in `tries` and `error`.
    cached: the reply was there already (or another call of the batch brought it), and cost nothing.
    tries: how often the server was asked now.
    """

    call: Call
    state: str
    reply: Reply | None = None
    error: str | None = None
    cached: bool = False
    tries: int = 0


@dataclass(frozen=True)
class Limits:
    """What may be spent; None is no limit.

    Attributes
    ----------
    calls: requests sent, tries included. tokens: prompt and completion together. money: in the unit of the prices.
    prompt_price, completion_price: for one million tokens; None where they are not known.
    """

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    prompt_price: float | None = None
    completion_price: float | None = None


@dataclass(frozen=True)
class Spent:
    """What was spent now; replies from the cache cost nothing. Fields as in `Limits`; money is None without prices.

    Attributes
    ----------
    uncounted: replies whose tokens the server did not count; their tokens are in the sums by estimate.
    unsure: requests without an answer that may have been paid all the same (a time-out, a cut connection); in no sum of tokens.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    money: float | None = None
    uncounted: int = 0
    unsure: int = 0


@dataclass(frozen=True)
class Answers:
    """All calls with what became of them, in the order asked, and what was spent.

    Attributes
    ----------
    stopped: why calls are `left`, in words; empty where none is.
    interrupted: requests that were on their way when earlier work on these calls was stopped, and were asked again now.
    """

    answers: tuple[Answer, ...]
    spent: Spent = field(default_factory=Spent)
    stopped: str = ""
    interrupted: int = 0

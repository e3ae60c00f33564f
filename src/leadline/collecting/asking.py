"""Who is asked: a system over HTTP or a Python function, each as one function from a query to its reply."""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from leadline.collecting.client import Client, Failed, Pace, Patience
from leadline.collecting.engines import partial_answer
from leadline.collecting.paths import Path
from leadline.collecting.reply import Reply, UnusableReply, read_map, read_reply
from leadline.collecting.target import HttpTarget
from leadline.errors import UsageError, printable


class Query(NamedTuple):
    """A query's id and its text."""

    query_id: str
    text: str


class Asked(NamedTuple):
    """A reply, how long it took in milliseconds, and how many requests it needed."""

    reply: Reply
    latency_ms: float
    attempts: int


Ask = Callable[[Query, int], Asked]
"""Asks for the first k documents of one query; raises `Failed` where there is no usable reply."""


class Worker(NamedTuple):
    """One worker's way to ask, and how to end it."""

    ask: Ask
    close: Callable[[], None]


@dataclass(frozen=True)
class FunctionTarget:
    """A Python function that takes a query's text (its id where `by_id`) and k, and gives what `read_reply` reads.

    `data` is a hash of what it is asked with besides, so that a collection does not go on with something else.
    """

    spec: str
    function: Callable[[str, int], Any] = field(repr=False)
    paths: Mapping[str, Path] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    by_id: bool = False
    data: str = ""

    @property
    def name(self) -> str:
        """What is asked, as it may be shown."""
        return self.spec

    @property
    def identity(self) -> Mapping[str, Any]:
        """What makes two targets the same."""
        where = {name: path.text for name, path in self.paths.items()}
        return {"function": self.spec, "map": where} | ({"data": self.data} if self.data else {})


Target = HttpTarget | FunctionTarget


def function_target(spec: str, where: Mapping[str, str]) -> FunctionTarget:
    """A target from `module:function`; the module may lie in the current folder.

    Raises
    ------
    UsageError: there is no such module or function, or it fails while it is imported.

    >>> function_target("operator:matmul", {}).name
    'operator:matmul'
    """
    from importlib import import_module

    module, _, name = spec.partition(":")
    sys.path.insert(0, "")
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise UsageError(f"--target {printable(spec)}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove("")
    if not callable(found):
        raise UsageError(f"--target {printable(spec)}: it is no function")
    return FunctionTarget(spec, found, read_map(where))


def worker(target: Target, patience: Patience, pace: Pace) -> Worker:
    """What one worker asks with; each has its own, as each has its own connection."""
    if isinstance(target, FunctionTarget):
        return Worker(partial(_call, target), lambda: None)
    client = Client(patience, pace, target.secrets)
    return Worker(partial(_over_http, target, client), client.close)


def _over_http(target: HttpTarget, client: Client, query: Query, k: int) -> Asked:
    request = target.request(query.text, k, query.query_id)
    answered = client.ask(request, partial(partial_answer, target.engine))
    return _read(target, answered.value, answered.latency_ms, answered.attempts, answered.headers)


def _call(target: FunctionTarget, query: Query, k: int) -> Asked:
    started = time.perf_counter()
    try:
        value = target.function(query.query_id if target.by_id else query.text, k)
    except Exception as error:
        # Whatever the caller's function raises is this query's failure, not ours.
        raise Failed(type(error).__name__, f"{type(error).__name__}: {error}") from error
    return _read(target, value, (time.perf_counter() - started) * 1000, 1)


def _read(
    target: Target, value: Any, latency_ms: float, attempts: int, headers: Mapping[str, str] | None = None
) -> Asked:
    try:
        return Asked(read_reply(value, target.paths, headers), latency_ms, attempts)
    except UnusableReply as unusable:
        raise Failed("unusable answer", str(unusable), attempts) from None

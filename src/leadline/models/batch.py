"""Many calls asked of one model. (Signatures; the bodies follow.)"""

from collections.abc import Callable, Sequence

from leadline.models.cache import Cache
from leadline.models.call import Answers, Call, Limits, Model

Watch = Callable[[int, int], None]
"""Told after each call how many are done, and of how many."""


async def ask_all(
    model: Model,
    calls: Sequence[Call],
    *,
    cache: Cache | None = None,
    limits: Limits = Limits(),  # noqa: B008
    concurrency: int = 8,
    tries: int = 5,
    watch: Watch | None = None,
) -> Answers:
    """Ask all calls; the answers in the order asked. `Answers.stopped` says why calls are `left`."""
    raise NotImplementedError


def answers_of(
    model: Model,
    calls: Sequence[Call],
    *,
    cache: Cache | None = None,
    limits: Limits = Limits(),  # noqa: B008
    concurrency: int = 8,
    tries: int = 5,
    watch: Watch | None = None,
) -> Answers:
    """`ask_all` for callers without an event loop.

    Raises
    ------
    UsageError: an event loop runs already (a notebook: `await ask_all(…)` there); wrong limits; calls of one name.
    """
    raise NotImplementedError

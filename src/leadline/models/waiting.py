"""Waiting for a coroutine from plain code, in a notebook too, where an event loop runs already."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

T = TypeVar("T")
NOTICED = 0.1
"""Seconds until it is noticed that the task that waits was cancelled."""


def result_of(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What a coroutine returns, awaited in an event loop of its own; where one runs here, in a thread beside it.

    An interrupt (Ctrl-C) cancels the coroutine, waits until it has ended, and is raised again: as KeyboardInterrupt, or
    within `asyncio.run`, which takes interrupts itself and cancels its task, as CancelledError.

    Raises
    ------
    What the coroutine raises.

    >>> async def three() -> int:
    ...     return 3
    >>> async def in_a_notebook() -> int:
    ...     return result_of(three) + 1
    >>> result_of(three), result_of(in_a_notebook)
    (3, 4)
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    outer = asyncio.current_task()
    before = 0 if outer is None else outer.cancelling()
    begun = threading.Event()
    task: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def known() -> T:
        current = asyncio.current_task()
        assert current is not None
        task.append((asyncio.get_running_loop(), current))
        begun.set()
        return await make()

    with ThreadPoolExecutor(1) as beside:
        future = beside.submit(lambda: asyncio.run(known()))
        try:
            # asyncio.run's own handler raises nothing at the first interrupt, and nothing but this loop looks at it.
            while not wait([future], NOTICED).done:
                if outer is not None and outer.cancelling() > before:
                    raise asyncio.CancelledError
            return future.result()
        except BaseException:
            if not future.done():
                begun.wait()
                loop, current = task[0]
                loop.call_soon_threadsafe(current.cancel)
            raise

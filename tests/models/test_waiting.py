"""A coroutine awaited from plain code: with and without an event loop, and stopped in the middle."""

import asyncio
import signal
import threading

import pytest

from leadline.models.waiting import result_of


async def wrong() -> int:
    raise ValueError("three")


def running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def within_a_loop(call):
    async def notebook():
        return call()

    return call() if running() else asyncio.run(notebook())


@pytest.mark.parametrize("call", [lambda: result_of(wrong), lambda: within_a_loop(lambda: result_of(wrong))])
def test_what_it_raises_is_raised(call):
    with pytest.raises(ValueError, match="three"):
        call()


def test_an_interrupt_ends_it_before_it_is_raised():
    # A worker of a test run may ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    ended = []

    async def long() -> None:
        # As the terminal does: the signal comes to the main thread, which waits.
        threading.Timer(0.1, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cleaned up")

    try:
        with pytest.raises(KeyboardInterrupt):
            within_a_loop(lambda: result_of(long))
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == ["cleaned up"]

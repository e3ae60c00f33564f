"""A coroutine awaited from plain code: with and without an event loop, and stopped in the middle."""

import asyncio
import signal
import subprocess
import sys
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


def below_the_loop(call):
    """As in a notebook, whose loop leaves interrupts to Python."""
    loop = asyncio.new_event_loop()
    try:

        async def cell():
            return call()

        return loop.run_until_complete(cell())
    finally:
        loop.close()


@pytest.mark.parametrize("place", [asyncio.run, below_the_loop], ids=["asyncio.run", "notebook"])
def test_an_interrupt_ends_it_before_it_is_raised(place):
    # In a process of its own: a worker of a test run may ignore interrupts, or have a loop.
    done = subprocess.run(
        [sys.executable, __file__, place.__name__], capture_output=True, text=True, timeout=50
    )
    assert done.stdout == "cleaned up\nKeyboardInterrupt\n", done.stderr


def interrupted(place) -> None:
    async def long() -> None:
        # As the terminal does: the signal comes to the main thread, which waits.
        threading.Timer(0.1, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
        try:
            await asyncio.sleep(60)
        finally:
            print("cleaned up")

    async def script() -> None:
        result_of(long)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        asyncio.run(script()) if place == "run" else below_the_loop(lambda: result_of(long))
    except KeyboardInterrupt:
        print("KeyboardInterrupt")


if __name__ == "__main__":
    interrupted(sys.argv[1])

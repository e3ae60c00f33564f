"""OpenAI-compatible servers for the tests: one that answers by a function, and one in a process of its own that counts.

`python server.py FOLDER HONOURS WAIT` answers every chat completion after WAIT seconds, writes a line into FOLDER/paid for
each that it billed, and says its address in one line. With HONOURS 1, a second request with the same Idempotency-Key is
not billed: it gets the first one's reply, or 409 while that is still being made.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collecting.server import Say, Seen, serving

__all__ = ["Say", "Seen", "chat", "counting", "head", "prompt", "serving"]


def chat(
    text: str | None = '{"grade": 1}',
    *,
    finish: str = "stop",
    usage: tuple[int, int] | None = (10, 5),
    **more: Any,
) -> dict[str, Any]:
    """A chat completion."""
    message = {"role": "assistant", "content": text}
    counts = (
        {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        if usage
        else None
    )
    choice = {"index": 0, "message": message, "finish_reason": finish}
    head = {"id": "1", "object": "chat.completion", "created": 1, "model": "small-2026"}
    return head | {"choices": [choice], "usage": counts} | more


def prompt(seen: Seen) -> str:
    """The last message of a request."""
    return seen.body["messages"][-1]["content"]


def head(seen: Seen, name: str) -> str:
    """A header of a request; empty where it was not sent."""
    return next((value for own, value in seen.headers.items() if own.lower() == name.lower()), "")


@dataclass
class Counting:
    """The server in its own process: where it is, and what it billed."""

    url: str
    file: Path

    def paid(self) -> list[str]:
        """The Idempotency-Key of each billed reply, in order."""
        return self.file.read_text().split() if self.file.exists() else []


@contextmanager
def counting(folder: Path, *, honours: bool, wait: float = 0.01) -> Iterator[Counting]:
    """That server while the block runs."""
    tests = Path(__file__).parents[1]
    log = (folder / "server.log").open("w")
    # Each killed client is an error of its connection here.
    process = subprocess.Popen(
        [sys.executable, __file__, str(folder), str(int(honours)), str(wait)],
        stderr=log,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{tests}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
    )
    assert process.stdin and process.stdout
    try:
        yield Counting(process.stdout.readline().strip(), folder / "paid")
    finally:
        process.stdin.close()
        process.stdout.close()
        process.kill()
        process.wait()
        log.close()


def billing(folder: Path, honours: bool, wait: float) -> Callable[[Seen, int], Say]:
    """What the counting server answers."""
    made: dict[str, dict[str, Any]] = {}
    making: Counter[str] = Counter()
    lock = threading.Lock()
    file = os.open(folder / "paid", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def answer(seen: Seen, times: int) -> Say:
        if seen.body is None:
            # The client was killed between the head and the body of its request.
            return Say({}, 400)
        key = head(seen, "Idempotency-Key")
        with lock:
            if honours and key in made:
                return Say(made[key])
            if honours and making[key]:
                return Say({"error": {"message": "a request with this key is running"}}, 409)
            making[key] += 1
        time.sleep(wait)
        reply = chat(json.dumps({"grade": len(prompt(seen)) % 4}))
        os.write(file, f"{key}\n".encode())
        with lock:
            made[key] = reply
            making[key] -= 1
        return Say(reply)

    return answer


def main(folder: str, honours: str, wait: str) -> None:
    """Serve until standard input ends."""
    with serving(billing(Path(folder), honours == "1", float(wait))) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])

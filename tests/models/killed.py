"""A program that asks a model until it is killed, again and again, and then looks what was lost and what was paid twice.

`python killed.py URL FOLDER KILLS SEED`: forks processes one after another that ask CALLS calls with one cache, kills each
with SIGKILL after a random time, and lets the next go on; when all of a round are answered, the next round has new calls.
Prints one JSON object.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import openai  # noqa: F401  (imported before the forks, which then live for their work alone)

from leadline.models.batch import Patience, answers_of
from leadline.models.cache import Cache
from leadline.models.call import Answers, Call, Message, Model, Reply
from leadline.models.endpoint import Endpoint

CALLS = 60
LONGEST = 0.25
"""Seconds that a process lives at most from its first reply on."""
EARLY = 0.15
"""The share of processes that are killed so soon after their birth instead: opening the cache, connecting, sending."""


class Telling(Endpoint):
    """Says each reply that reached the process."""

    say = -1

    async def ask(self, call: Call) -> Reply:
        reply = await super().ask(call)
        os.write(self.say, f"reached {call.name}\n".encode())
        return reply


class TellingCache(Cache):
    """Says each reply that `put` has returned from."""

    say = -1

    def put(self, key: str, model: Model, call: Call, reply: Reply, sent: int = 0) -> Reply:
        reply = super().put(key, model, call, reply, sent)
        os.write(self.say, f"kept {key} {call.name}\n".encode())
        return reply


def work(url: str, file: str, number: int, say: int) -> Answers:
    """Ask all calls of a round."""
    model = Telling("small", url, {"temperature": 0})
    model.say = TellingCache.say = say
    calls = [Call(f"{number}.{i}", (Message("user", f"round {number}, call {i}"),)) for i in range(CALLS)]
    patience = Patience(first=0.02, longest=0.1)
    with TellingCache.open(file) as cache:
        return answers_of(model, calls, cache=cache, concurrency=6, tries=20, patience=patience)


def one_life(url: str, file: str, number: int, alive: float, early: bool) -> tuple[bool, list[list[str]]]:
    """Whether a process came to its end before it was killed, and what it had said."""
    hear, say = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hear)
        code = 1
        try:
            done = work(url, file, number, say)
            code = 0 if all(one.state == "answered" for one in done.answers) else 1
            if code:
                os.write(say, f"failed {done.stopped!r}\n".encode())
        except BaseException as error:
            os.write(say, f"failed {type(error).__name__}:{str(error)[:200]!r}\n".encode())
        os._exit(code)
    os.close(say)
    first = b""
    # On a busy machine the way to the first reply takes longer than any fixed time.
    while not early and b"reached" not in first and (more := os.read(hear, 4096)):
        first += more
    time.sleep(alive)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(hear, "rb") as heard:
        said = [line.split(maxsplit=2) for line in (first + heard.read()).decode().splitlines()]
    return os.WIFEXITED(status), said


def main(url: str, folder: str, kills: int, seed: int) -> dict[str, object]:
    """Kill so many processes; what was said, what was lost, and how many requests were on their way at the kills."""
    draw, file = random.Random(seed), str(Path(folder, "replies.db"))
    faults: list[str] = []
    away: set[int] = set()
    number = killed = between = told = 0
    kept: set[str] = set()
    while killed < kills:
        ended, said = one_life(url, file, number, draw.uniform(0, LONGEST), draw.random() < EARLY)
        killed += not ended
        faults += [" ".join(words) for words in said if words[0] == "failed"]
        now = {words[1] for words in said if words[0] == "kept"}
        reached = {words[1] for words in said if words[0] == "reached"}
        # A reply is put on disk in the step in which it reached the process: at most one can be between the two.
        lost = reached - {words[2].strip() for words in said if words[0] == "kept"}
        between += len(lost)
        if len(lost) > 1:
            faults.append(f"{len(lost)} replies between the process and the disk")
        kept |= now
        if Path(file).exists():
            with closing(sqlite3.connect(file)) as sql:
                if sql.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                    faults.append("integrity_check")
                names = {name for (name,) in sql.execute("SELECT name FROM sqlite_master")}
                if "replies" in names:
                    stored = {key for (key,) in sql.execute("SELECT key FROM replies")}
                    faults += [f"lost {key}" for key in kept - stored]
                    away |= {one for (one,) in sql.execute("SELECT id FROM sent")}
        if not ended and Path(file).exists():
            with Cache.open(file) as cache:
                told += cache.interrupted() > 0
        number += ended
    hear, say = os.pipe()
    faults += [
        one.error or one.state for one in work(url, file, number, say).answers if one.state != "answered"
    ]
    os.close(say)
    os.close(hear)
    with Cache.open(file) as cache:
        found, left = cache.count(), cache.interrupted()
    return {
        "kills": killed, "calls": (number + 1) * CALLS, "stored": found, "on_their_way": len(away), "still_open": left,
        "between": between, "kills_with_calls_away": told, "faults": faults,
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))

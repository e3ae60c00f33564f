"""A server in a process of its own that answers as a relevance judge would, and bills each Idempotency-Key once.

`python judging_server.py FOLDER WAIT` writes a line into FOLDER/paid for each reply that it billed and one into FOLDER/asked
for each request, and says its address in one line.
"""

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.server import Say, Seen, chat, head, prompt, serving


def reply_to(seen: Seen) -> str:
    """Grades that follow from the texts alone, so that a label can be checked."""
    found = re.findall(r"^=== passage (p\d+) begins \[\w+\] ===\n(.*)$", prompt(seen), re.MULTILINE)
    entries = [{"id": name, "match": 1, "trust": 1, "grade": len(text) % 4} for name, text in found]
    return json.dumps({"intent": "", "passages": entries})


@dataclass
class Judging:
    """The server: where it is, what it billed, and how often it was asked."""

    url: str
    folder: Path

    def paid(self) -> list[str]:
        """The key of each billed reply, in order."""
        return (self.folder / "paid").read_text().split()

    def asked(self) -> list[str]:
        """The key of each request, in order."""
        return (self.folder / "asked").read_text().split()


@contextmanager
def judging(folder: Path, wait: float = 0.01) -> Iterator[Judging]:
    """That server while the block runs."""
    tests = Path(__file__).parents[1]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, __file__, str(folder), str(wait)],
            stderr=log,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": f"{tests}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
        )
        assert process.stdin and process.stdout
        try:
            yield Judging(process.stdout.readline().strip(), folder)
        finally:
            process.stdin.close()
            process.stdout.close()
            process.kill()
            process.wait()


def main(folder: str, wait: str) -> None:
    """Serve until standard input ends."""
    made: dict[str, dict[str, Any]] = {}
    lock = threading.Lock()
    files = {
        name: os.open(Path(folder, name), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        for name in ("paid", "asked")
    }

    def answer(seen: Seen, times: int) -> Say:
        key = head(seen, "Idempotency-Key")
        os.write(files["asked"], f"{key}\n".encode())
        time.sleep(float(wait))
        with lock:
            if key not in made:
                made[key] = chat(reply_to(seen))
                os.write(files["paid"], f"{key}\n".encode())
            return Say(made[key])

    with serving(answer) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])

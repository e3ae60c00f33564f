"""A program that judges until it is killed, again and again, and then looks whether everything it was told is there.

`python killed.py TARGET KILLS SEED`: forks KILLS writers one after another, kills each with SIGKILL after a random
time (while it opens the book, migrates it, adds, undoes, merges or imports), and after each kill compares the book with
what that and all earlier writers had acknowledged. Prints one JSON object.
"""

import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from leadline.judging.book import Book
from leadline.judging.exchange import read_judgments
from leadline.judging.judgment import Judgment

BATCH = 40
IMPORTED = 400
LONGEST = 0.12
"""Seconds that a writer lives at most: it takes some 0.02 to open a book, and 0.005 for a judgment."""


def write(target: str, seed: int, imported: str, say: int) -> None:
    """Judge for ever; each line that is said names what had been acknowledged."""
    draw = random.Random(seed)

    def told(kind: str, name: str) -> None:
        os.write(say, f"{kind} {name}\n".encode())

    with Book.open(target) as book:
        told("opened", "-")
        for step in range(10_000):
            what = draw.random()
            name = f"{seed}-{step}"
            if what < 0.6:
                row = Judgment("q", name, draw.randrange(4), who=f"w{seed}", id=name)
                book.add([row])
                told("row", name)
            elif what < 0.7:
                gone = book.undo(f"w{seed}")
                if gone is not None:
                    told("undone", gone.id)
            elif what < 0.85:
                book.add(
                    Judgment("q", f"{name}.{i}", 1, who="b", id=f"{name}.{i}", note=name)
                    for i in range(BATCH)
                )
                told("batch", name)
            else:
                book.merge(read_judgments(imported, who="list").rows)
                told("imported", "-")


def one_kill(target: str, seed: int, imported: str, alive: float) -> list[tuple[str, str]]:
    """What one writer had acknowledged when it was killed."""
    hear, say = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hear)
        try:
            write(target, seed, imported, say)
        except BaseException as error:
            os.write(say, f"failed {type(error).__name__}:{str(error)[:200]!r}\n".encode())
        os._exit(1)
    os.close(say)
    time.sleep(alive)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(hear, encoding="utf-8") as heard:
        return [(kind, name) for kind, _, name in (line.rstrip("\n").partition(" ") for line in heard)]


class Watch:
    """All that was acknowledged, and what is missing of it."""

    def __init__(self) -> None:
        self.said: dict[str, set[str]] = {}
        self.faults: list[str] = []
        self.killed_opening = 0

    def hear(self, lines: list[tuple[str, str]]) -> None:
        self.killed_opening += not lines
        for kind, name in lines:
            self.said.setdefault(kind, set()).add(name)
            if kind == "failed":
                self.faults.append(name)

    def look(self, target: str) -> None:
        if not target.startswith("postgresql"):
            if not Path(target).exists():
                return
            with sqlite3.connect(target) as connection:
                if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                    self.faults.append("integrity_check")
            connection.close()
        with Book.open(target) as book:
            rows = book.rows()
        ids = {row.id for row in rows}
        undone = {row.undoes for row in rows if row.undoes}
        batches: dict[str, int] = {}
        for row in rows:
            if row.note:
                batches[row.note] = batches.get(row.note, 0) + 1
        listed = sum(row.who == "list" for row in rows)
        self.faults += [f"lost row {name}" for name in self.said.get("row", set()) - ids]
        self.faults += [f"lost undoing of {name}" for name in self.said.get("undone", set()) - undone]
        self.faults += [f"lost batch {name}" for name in self.said.get("batch", set()) - set(batches)]
        self.faults += [f"half a batch {name}" for name, count in batches.items() if count != BATCH]
        if listed not in (0, IMPORTED) or ("imported" in self.said and listed != IMPORTED):
            self.faults.append(f"{listed} rows imported")
        if len(ids) != len(rows):
            self.faults.append("a row twice")


def main(target: str, kills: int, seed: int) -> dict[str, object]:
    """Kill so many writers of one book; what was acknowledged, and what was wrong."""
    draw = random.Random(seed)
    watch = Watch()
    with tempfile.TemporaryDirectory() as folder:
        imported = Path(folder, "qrels.txt")
        imported.write_text("".join(f"q 0 d{i} {i % 4}\n" for i in range(IMPORTED)))
        for kill in range(kills):
            watch.hear(one_kill(target, seed * 100_000 + kill, str(imported), draw.uniform(0, LONGEST)))
            watch.look(target)
        # What was interrupted is done again, and is then there once.
        with Book.open(target) as book:
            rows = read_judgments(imported, who="list").rows
            book.merge(rows)
            again = book.merge(rows)
            listed = sum(row.who == "list" for row in book.rows())
        if (listed, again) != (IMPORTED, 0):
            watch.faults.append(f"resumed import: {listed} rows, {again} new")
        watch.look(target)
    counts = {kind: len(names) for kind, names in watch.said.items()}
    return {"kills": kills, "killed_opening": watch.killed_opening, "faults": watch.faults, **counts}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))

"""The files that the browser tests judge, and a server process over them."""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from leadline.judging.book import Book
from leadline.judging.judgment import Judgment

ATTACK = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'>\"'`{{7*7}}&lt;b&gt;"
ASTRAL = "A key 🔑 and a letter 𝒳 stand here. Press Rotate and copy the new key. Then revoke the old one."
CHUNKS = (
    "Keys are kept for every service apart. ",
    "Open Settings and press Rotate. The old key works for a day.",
    " Keys can be listed, too.",
)
DOCUMENTS: list[dict[str, Any]] = [
    {
        "id": "attack",
        "text": ATTACK,
        "title": f"Title {ATTACK}",
        "path": ATTACK,
        "link": "javascript:alert(1)",
    },
    {"id": "astral", "text": ASTRAL, "title": "Astral", "path": "Guide › Keys"},
    {"id": "kb#0", "text": CHUNKS[0], "document_id": "kb", "start": 0},
    {"id": "kb#1", "text": CHUNKS[1], "title": "Chunk", "document_id": "kb", "start": len(CHUNKS[0])},
    {"id": "kb#2", "text": CHUNKS[2], "document_id": "kb", "start": len(CHUNKS[0] + CHUNKS[1])},
    {
        "id": "card",
        "text": "A light jacket.",
        "title": "Jacket",
        "link": "https://shop.example/1",
        "fields": {"price": "59 €"},
    },
    *(
        {
            "id": f"d{n}",
            "text": f"Text {n} of the keys. " + "Rotating takes a minute. " * 60,
            "title": f"Document {n}",
        }
        for n in range(8)
    ),
]
PAIRS = ["attack", "astral", "kb#1", "card", *(f"d{n}" for n in range(8))]
TITLES = {str(row.get("title")): str(row["id"]) for row in DOCUMENTS}
NEED = "The person wants the steps."
GUIDELINE = """Judge **this text** only.

## 0 off topic
Nothing of it.

Example: a page on door keys.

## 1 related
About it.

## 2 partly answers
A part of it.

## 3 answers fully
All of it.
"""


def write_files(folder: Path) -> None:
    """A file of pairs of one query with two systems' ranks, the documents, the query, the guideline."""
    ranks = [
        {"query_id": "q", "doc_id": doc, "ranks": {"alpha": place + 1, "beta": len(PAIRS) - place}}
        for place, doc in enumerate(PAIRS)
    ]
    query = [{"query_id": "q", "text": "how do I rotate an API key", "need": NEED}]
    for name, rows in (("pairs", ranks), ("documents", DOCUMENTS), ("queries", query)):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
    (folder / "guideline.md").write_text(GUIDELINE, encoding="utf-8")


def fill_book(folder: Path) -> None:
    """bob and cat differ on two pairs: by 3 on d0, by 1 on d1; cat is not sure of d2; ana has judged d3."""
    given = [("d0", 0, 3), ("d1", 1, 2), ("d3", 2, 2), ("d4", 1, 1)]
    rows = [
        Judgment("q", doc, grade, who=who, id=f"{who}-{doc}", note=f"Why {doc}" if who == "cat" else "")
        for doc, bob, cat in given
        for who, grade in (("bob", bob), ("cat", cat))
    ]
    rows += [Judgment("q", "d2", mark="unsure", who="cat"), Judgment("q", "d3", 2, who="ana")]
    with Book.open(folder / "book.db") as book:
        book.add(rows)


class Server:
    """A server in a process of its own, which may be stopped and started again at the same address.

    `leadline judge` for ana; with `team`, `leadline serve` with those options.
    """

    def __init__(self, folder: Path, team: list[str] | None = None) -> None:
        self.folder, self.team = folder, team
        self.process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        alone = ["judge", "--name", "ana", "--no-browser"]
        command = [sys.executable, "-m", "leadline", *(alone if self.team is None else ["serve", *self.team])]
        command += ["pairs.jsonl", "--documents", "documents.jsonl", "--queries", "queries.jsonl"]
        command += ["--guideline", "guideline.md", "--book", "book.db", "--port", str(self.port)]
        command += ["--repeats", "0", "--overlap", "1", "--people", "3"]
        self.run(command, f"{self.address}/api/health")

    def run(self, command: list[str], health: str) -> None:
        """Start a command, and wait until that address answers."""
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)
        for _ in range(600):
            try:
                with urllib.request.urlopen(health, timeout=5):
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError(self.said())

    def said(self) -> str:
        """What it has printed."""
        return (self.folder / "server.log").read_text(encoding="utf-8")

    def stop(self) -> None:
        """End it at once, as a crash would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def rows(self) -> list[Judgment]:
        """All rows of the book."""
        with Book.open(self.folder / "book.db") as book:
            return book.rows()

    def standing(self) -> list[Judgment]:
        """The rows that stand."""
        with Book.open(self.folder / "book.db") as book:
            return book.standing()


class Several(Server):
    """Many books apart in one process; `book()` is one that is empty. It saves starting a process for every test."""

    COUNT = 36

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.used = iter(range(self.COUNT))
        script = str(Path(__file__).with_name("several.py"))
        command = [sys.executable, script, str(self.folder), str(self.port), str(self.COUNT)]
        self.run(command, f"{self.address}/0/api/health")

    def book(self) -> "OneBook":
        """A book that no test has used."""
        return OneBook(self, next(self.used))


class OneBook(Server):
    """One book of several: its address and its rows."""

    def __init__(self, several: Several, number: int) -> None:
        self.folder, self.number = several.folder, number
        self.address = f"{several.address}/{number}"

    def rows(self) -> list[Judgment]:
        """All rows of the book."""
        with Book.open(self.folder / f"book-{self.number}.db") as book:
            return book.rows()

    def standing(self) -> list[Judgment]:
        """The rows that stand."""
        with Book.open(self.folder / f"book-{self.number}.db") as book:
            return book.standing()

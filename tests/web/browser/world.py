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


class Server:
    """`leadline judge` in a process of its own, which may be stopped and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.process = folder, None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [sys.executable, "-m", "leadline", "judge", "pairs.jsonl", "--documents", "documents.jsonl"]
        command += [
            "--queries",
            "queries.jsonl",
            "--guideline",
            "guideline.md",
            "--book",
            "book.db",
            "--name",
            "ana",
        ]
        command += [
            "--repeats",
            "0",
            "--overlap",
            "1",
            "--people",
            "3",
            "--port",
            str(self.port),
            "--no-browser",
        ]
        log = (self.folder / "server.log").open("ab")
        with log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)
        for _ in range(300):
            try:
                with urllib.request.urlopen(f"{self.address}/api/health", timeout=5):
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError((self.folder / "server.log").read_text())

    def stop(self) -> None:
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

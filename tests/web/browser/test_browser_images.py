"""Images on cards: those of a host that was named appear, those of another are not even asked for."""

import base64
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from browser.screen import find
from browser.world import Server

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
"""One point."""


class Pictures(ThreadingHTTPServer):
    """A host of pictures that keeps which were asked for, by the name it was asked under."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Picture)
        self.asked: list[str] = []


class Picture(BaseHTTPRequestHandler):
    """Any address is the one picture."""

    def do_GET(self) -> None:
        """Answer with it."""
        assert isinstance(self.server, Pictures)
        self.server.asked.append(f"{self.headers['Host']}{self.path}")
        self.send_response(200)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write(PNG)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def pictures() -> Iterator[Pictures]:
    with Pictures() as host:
        threading.Thread(target=host.serve_forever, daemon=True).start()
        yield host
        host.shutdown()


def cards(folder: Path, port: int) -> str:
    """A pair with a picture of 127.0.0.1 and one of localhost; the host that is allowed."""
    allowed = f"127.0.0.1:{port}"
    rows = [
        {"id": "a", "text": "A", "title": "One", "image": f"http://{allowed}/a.png"},
        {"id": "b", "text": "B", "title": "Two", "image": f"http://localhost:{port}/b.png"},
    ]
    pairs = [{"query_id": "q", "doc_id": row["id"], "query": "how"} for row in rows]
    for name, lines in (("cards", rows), ("pairs", pairs)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return allowed


def look(page: Any, pictures: Pictures, allowed: str) -> None:
    """The first card has its picture, drawn; the second has none, and nobody asked for it."""
    page.wait_for_selector("#work:not([hidden])")
    find(page, "One")
    page.wait_for_function(
        "() => { const image = document.querySelector('#card img'); return image && image.naturalWidth === 1; }"
    )
    image = page.locator("#card img")
    assert image.get_attribute("src") == f"http://{allowed}/a.png" and image.is_visible()
    find(page, "Two")
    assert image.count() == 0
    assert set(pictures.asked) == {f"{allowed}/a.png"}


def test_in_the_application(tmp_path: Path, open_page: Callable[..., Any], pictures: Pictures) -> None:
    allowed = cards(tmp_path, pictures.server_port)
    server = Server(tmp_path)
    command = [sys.executable, "-m", "leadline", "judge", "pairs.jsonl", "--documents", "cards.jsonl"]
    command += ["--book", "b.db", "--no-browser", "--port", str(server.port), "--image-host", allowed]
    try:
        server.run(command, f"{server.address}/api/health")
        page = open_page(f"{server.address}/judge")
        look(page, pictures, allowed)
        assert f"--image-host localhost:{pictures.server_port}" in server.said()
    finally:
        server.stop()


def test_in_the_kit_of_a_pool(tmp_path: Path, open_page: Callable[..., Any], pictures: Pictures) -> None:
    allowed = cards(tmp_path, pictures.server_port)
    (tmp_path / "a.run").write_text("q Q0 a 1 2 a\nq Q0 b 2 1 a\n")
    command = [sys.executable, "-m", "leadline", "pool", "a.run", "--kit", "kit.html", "--who", "ana"]
    command += ["--documents", "cards.jsonl", "--image-host", allowed]
    done = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert f"--image-host localhost:{pictures.server_port}" in done.stderr
    look(open_page((tmp_path / "kit.html").as_uri()), pictures, allowed)

"""The key `d`: the full document, on the server's pages and in the offline kit."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from browser.screen import document, find, press
from browser.world import Server

LONG = "Keys are kept for every service apart. " * 30
CHUNKS = (LONG, "Open Settings and press Rotate.", " Keys can be listed, too.")


def write(folder: Path) -> None:
    """A chunk in the midst of a document that is too long to be shown around it, and a document that is whole."""
    starts = (0, len(CHUNKS[0]), len(CHUNKS[0] + CHUNKS[1]))
    rows: list[dict[str, Any]] = [
        {"id": f"kb#{n}", "text": text, "title": f"Chunk {n}", "document_id": "kb", "start": start}
        for n, (text, start) in enumerate(zip(CHUNKS, starts, strict=True))
    ]
    rows.append({"id": "card", "text": "A light jacket.", "title": "Jacket"})
    pairs = [{"query_id": "q", "doc_id": doc, "query": "how"} for doc in ("kb#1", "card")]
    for name, lines in (("documents", rows), ("pairs", pairs)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "a.run").write_text("q Q0 kb#1 1 2 a\nq Q0 card 2 1 a\n")


def look(page: Any) -> None:
    """By `d` the whole text with the chunk in its place, and behind it no key judges; else that this is all there is."""
    page.wait_for_selector("#work:not([hidden])")
    find(page, "Chunk 1")
    assert LONG not in page.text_content("#work")
    press(page, "d")
    page.wait_for_selector("#full[open]")
    assert page.text_content("#full-text") == "".join(CHUNKS)
    assert page.locator("#full-text .chunk").all_text_contents() == [CHUNKS[1]]
    press(page, "2", "Escape")
    page.wait_for_selector("#full:not([open])", state="attached")
    assert document(page) == "Chunk 1" and page.text_content("#count") == "0 of 2"
    find(page, "Jacket")
    press(page, "d")
    page.wait_for_selector("text=This is the whole document.")
    assert not page.is_visible("#full")


def test_on_the_pages(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    write(tmp_path)
    server = Server(tmp_path)
    command = [sys.executable, "-m", "leadline", "judge", "pairs.jsonl", "--documents", "documents.jsonl"]
    command += ["--book", "b.db", "--no-browser", "--port", str(server.port)]
    try:
        server.run(command, f"{server.address}/api/health")
        look(open_page(f"{server.address}/judge"))
    finally:
        server.stop()


def test_in_the_kit(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    write(tmp_path)
    command = [sys.executable, "-m", "leadline", "pool", "a.run", "--kit", "kit.html", "--who", "ana"]
    subprocess.run(
        [*command, "--documents", "documents.jsonl"], cwd=tmp_path, check=True, capture_output=True
    )
    look(open_page((tmp_path / "kit.html").as_uri(), offline=True))

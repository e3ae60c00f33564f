"""A real browser and a real server process, for the tests of the pages."""

import importlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.world import Server, Several, fill_book, write_files

CHROMIUM = os.environ.get("LEADLINE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
"""The browser; where there is none, the one that `playwright install chromium` brings."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]
PATIENCE = 20_000
"""Milliseconds after which a page that does not do what it should has failed."""


@pytest.fixture(scope="session")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Several]:
    """One process with many books."""
    folder = tmp_path_factory.mktemp("several")
    write_files(folder)
    one = Several(folder)
    one.start()
    yield one
    one.stop()


@pytest.fixture
def server(several: Several) -> Server:
    """An empty book over the files of `world`, served."""
    return several.book()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """`leadline judge` in a process of its own, over an empty book."""
    write_files(tmp_path)
    one = Server(tmp_path)
    one.start()
    yield one
    one.stop()


@pytest.fixture(scope="session")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose book holds what bob and cat said, and something of ana's; for tests that change little."""
    folder = tmp_path_factory.mktemp("looked-at")
    write_files(folder)
    fill_book(folder)
    one = Server(folder)
    one.start()
    yield one
    one.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    try:
        api = importlib.import_module("playwright.sync_api")
    except ImportError:
        _missing("playwright is not installed")
    with api.sync_playwright() as driver:
        try:
            one = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        except api.Error as error:
            _missing(f"no browser can be started: {str(error).splitlines()[0]}")
        yield one
        one.close()


def _missing(reason: str) -> None:
    if os.environ.get("LEADLINE_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """`open_page(address, width=1280, scheme="light")` is a page; an error in one of its scripts fails the test."""
    contexts, faults = [], []

    def make(address: str, width: int = 1280, scheme: str = "light", context: Any = None, **more: Any) -> Any:
        if context is None:
            context = browser.new_context(
                viewport={"width": width, "height": 800}, color_scheme=scheme, **more
            )
            context.set_default_timeout(PATIENCE)
            contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if "Content Security" in said.text else None)
        page.goto(address)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not faults, faults


@pytest.fixture
def judging(server: Server, open_page: Callable[..., Any]) -> Any:
    """The judging screen with its first pair."""
    page = open_page(f"{server.address}/judge")
    page.wait_for_selector("#work:not([hidden])")
    return page

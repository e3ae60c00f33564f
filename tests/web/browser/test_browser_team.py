"""The pages for a team: invitation, login, roles, and a path that a proxy takes away."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.screen import answer, press, saved
from browser.test_browser_access import ACCESS
from browser.world import TITLES, Server, fill_book, write_files


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for ana and the lead eve, over what bob and cat have said."""
    folder: Path = tmp_path_factory.mktemp("team")
    write_files(folder)
    fill_book(folder)
    one = Server(
        folder, ["--auth", "--invite", "ana", "--invite", "eve=lead", "--url", "http://printed.example"]
    )
    one.start()
    yield one
    one.stop()


def link(server: Server, name: str) -> str:
    """The link that was printed for a name."""
    found = re.search(rf"{name}: http://printed\.example(/invite/\S+)", server.said())
    assert found, server.said()
    return server.address + found[1]


def test_a_team_by_keyboard(team: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{team.address}/judge", 400, "dark")
    assert page.url == f"{team.address}/login" and page.evaluate(ACCESS) == []
    page.goto(link(team, "ana"))
    assert page.evaluate(ACCESS) == []
    press(page, "Tab", "Tab", "Tab")
    page.focus("#login button")
    press(page, "Enter")
    page.wait_for_selector("text=Welcome, ana")
    page.goto(f"{team.address}/judge")
    page.wait_for_selector("#work:not([hidden])")
    title = answer(page, "2")
    saved(page)
    assert [(row.doc_id, row.grade) for row in team.standing() if row.who == "ana"][-1] == (TITLES[title], 2)
    # What others said is for the lead.
    for path in ("adjudicate", "compare", "agreement", "accounts"):
        page.goto(f"{team.address}/{path}")
        assert page.text_content("h1") == "For the lead only" and "Adjudicate" not in page.text_content("nav")
    page.goto(f"{team.address}/queries")
    page.wait_for_selector("#result table")
    assert page.locator("#result a").count() == 0 and page.evaluate(ACCESS) == []
    page.goto(f"{team.address}/")
    page.focus("#logout")
    press(page, "Enter")
    page.wait_for_url("**/login")
    # A link works once.
    page.goto(link(team, "ana"))
    page.focus("#login button")
    press(page, "Enter")
    page.wait_for_function("() => document.getElementById('state').textContent !== ''")
    assert page.url != f"{team.address}/"


def test_a_lead_invites(team: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(link(team, "eve"))
    page.focus("#login button")
    press(page, "Enter")
    page.wait_for_selector("text=Welcome, eve")
    page.goto(f"{team.address}/accounts")
    page.wait_for_selector("#result table")
    page.focus("#name")
    page.keyboard.type("<i>dan</i>")
    press(page, "Enter")
    page.wait_for_selector("#made:not([hidden])")
    assert page.input_value("#link").startswith(f"{team.address}/invite/")
    page.wait_for_selector("text=Invitations not used yet")
    assert page.locator("th").filter(has_text="<i>dan</i>").count() == 1
    assert page.evaluate(ACCESS) == []
    other = open_page(page.input_value("#link"))
    other.focus("#login button")
    press(other, "Enter")
    other.wait_for_selector("text=Welcome, <i>dan</i>")


def test_below_a_path(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    write_files(tmp_path)
    server = Server(tmp_path, ["--root-path", "/labels", "--name", "ana"])
    server.start()
    try:
        page = open_page("about:blank")
        missed: list[str] = []

        def proxy(route: Any) -> None:
            """What a proxy in front does: it takes its own path away, and knows nothing else."""
            path = route.request.url.removeprefix(server.address)
            if not path.startswith("/labels/"):
                missed.append(path)
            answered = route.fetch(url=server.address + path.removeprefix("/labels"))
            route.fulfill(response=answered)

        page.route(f"{server.address}/**", proxy)
        page.goto(f"{server.address}/labels/judge")
        page.wait_for_selector("#work:not([hidden])")
        answer(page, "0")
        saved(page)
        press(page, "u")
        page.wait_for_selector("text=Taken back")
        for name in ("queries", "compare"):
            page.goto(f"{server.address}/labels/{name}")
            page.wait_for_selector("#result li, #result table")
        assert missed == [] and len(server.rows()) == 2
    finally:
        server.stop()

"""A server that is down, an answer that is lost, a save that is refused: nothing is lost, nothing is stored twice."""

from collections.abc import Callable
from typing import Any

import pytest

from browser.screen import answer, document, moved_on, press, saved
from browser.world import PAIRS, TITLES, Server


@pytest.fixture
def judging_there(own_server: Server, open_page: Callable[..., Any]) -> Any:
    """The judging screen of a server that may be stopped."""
    page = open_page(f"{own_server.address}/judge")
    page.wait_for_selector("#work:not([hidden])")
    return page


def test_judging_goes_on_while_the_server_is_down(own_server: Server, judging_there: Any) -> None:
    server, judging = own_server, judging_there
    given = [answer(judging, "2")]
    saved(judging)
    server.stop()
    # Pairs were fetched ahead.
    given += [answer(judging, key) for key in "013"]
    judging.wait_for_selector("text=3 not saved yet")
    assert judging.is_visible("#retry")
    server.start()
    judging.focus("#retry")
    press(judging, "Enter")
    saved(judging)
    assert [row.doc_id for row in server.rows()] == [TITLES[title] for title in given]
    assert [row.grade for row in server.rows()] == [2, 0, 1, 3]


def test_answers_outlive_the_page(own_server: Server, judging_there: Any, open_page: Any) -> None:
    server, judging = own_server, judging_there
    server.stop()
    given = [answer(judging, key) for key in "03"]
    press(judging, "u")
    judging.wait_for_function("title => document.getElementById('title').textContent === title", arg=given[1])
    judging.wait_for_selector("text=not saved yet")
    context = judging.context
    judging.close()
    server.start()
    page = open_page(f"{server.address}/judge", context=context)
    page.wait_for_selector("#work:not([hidden])")
    saved(page)
    # Both answers arrived in their order, and the second was taken back.
    assert [row.doc_id for row in server.rows()] == [TITLES[given[0]], TITLES[given[1]], TITLES[given[1]]]
    assert [(row.doc_id, row.grade) for row in server.standing()] == [(TITLES[given[0]], 0)]
    assert page.text_content("#count") == "1 of 12"


def test_an_answer_that_is_lost_is_sent_again_and_stored_once(server: Server, judging: Any) -> None:
    lost = []

    def lose(route: Any) -> None:
        if len(lost) < 2:
            lost.append(route.fetch().status)
            route.abort()
        else:
            route.continue_()

    judging.route("**/api/judgments", lose)
    title = answer(judging, "2")
    saved(judging)
    assert lost == [200, 200]
    assert [(row.doc_id, row.grade) for row in server.rows()] == [(TITLES[title], 2)]


def test_an_undo_whose_answer_is_lost_takes_back_one(server: Server, judging: Any) -> None:
    given = [answer(judging, "2"), answer(judging, "3")]
    saved(judging)
    lost = []

    def lose(route: Any) -> None:
        lost.append(route.fetch().status)
        route.abort()
        judging.unroute("**/api/undo")

    judging.route("**/api/undo", lose)
    before = document(judging)
    press(judging, "u")
    moved_on(judging, before)
    judging.wait_for_selector("text=not saved yet")
    saved(judging)
    assert lost == [200] and [row.doc_id for row in server.standing()] == [TITLES[given[0]]]


def test_what_the_server_refuses_is_shown_and_kept(server: Server, judging: Any) -> None:
    judging.route(
        "**/api/judgments",
        lambda route: route.fulfill(
            status=409, json={"error": "as many people as wanted have graded it", "code": "full"}
        ),
    )
    title = answer(judging, "2")
    judging.wait_for_selector("text=1 refused")
    judging.unroute("**/api/judgments")
    answer(judging, "1")
    judging.wait_for_selector("text=✓ saved · 1 refused")
    judging.focus("#show-refused")
    press(judging, "Enter")
    assert "as many people as wanted" in judging.text_content("#refused-list")
    judging.focus("#refused-away")
    press(judging, "Enter")
    saved(judging)
    assert TITLES[title] not in {row.doc_id for row in server.rows()} and len(server.rows()) == 1


def test_a_token_that_is_old_is_asked_for_again(server: Server, judging: Any) -> None:
    answer(judging, "1")
    saved(judging)
    tries = []

    def refuse(route: Any) -> None:
        tries.append(route.request.headers.get("x-csrf-token"))
        if len(tries) == 1:
            route.fulfill(status=403, json={"error": "the token is old", "code": "csrf"})
        else:
            route.continue_()

    judging.route("**/api/judgments", refuse)
    answer(judging, "2")
    judging.wait_for_function("() => document.getElementById('count').textContent === '2 of 12'")
    saved(judging)
    assert len(tries) == 2 and [row.grade for row in server.rows()] == [1, 2]


def test_a_pair_whose_text_changed_is_judged_again(server: Server, judging: Any) -> None:
    first = document(judging)
    judging.route(
        "**/api/judgments",
        lambda route: route.fulfill(status=409, json={"error": "the text has changed", "code": "changed"}),
        times=1,
    )
    answer(judging, "2")
    judging.wait_for_selector("text=Not stored: the text has changed")
    # The screen comes back to it, mostly at the end.
    shown = []
    for _ in range(12):
        shown.append(document(judging))
        answer(judging, "3" if shown[-1] == first else "1")
    assert {TITLES[title] for title in shown} == set(PAIRS)
    judging.wait_for_selector("text=All pairs are judged")
    assert {row.doc_id: row.grade for row in server.standing()}[TITLES[first]] == 3 and len(
        server.rows()
    ) == 12


def test_answers_under_another_guideline_are_sent_only_when_asked(server: Server, judging: Any) -> None:
    pair = judging.evaluate("() => Leadline.judge.entry.name")
    title = document(judging)
    entry = {
        "kind": "judgment",
        "body": {"id": "0a" * 16, "pair": pair, "grade": 3, "evidence": [], "note": ""},
    }
    judging.evaluate(
        "entry => localStorage.setItem(`leadline:outbox:${Leadline.judge.source.family}older:000000000000001:${entry.body.id}`,"
        " JSON.stringify(entry))",
        entry,
    )
    judging.reload()
    judging.wait_for_selector("text=1 refused")
    assert server.rows() == []
    judging.focus("#show-refused")
    press(judging, "Enter")
    assert "another guideline" in judging.text_content("#refused-list")
    judging.focus("#refused-again")
    press(judging, "Enter")
    saved(judging)
    assert [(row.doc_id, row.grade) for row in server.rows()] == [(TITLES[title], 3)]


def test_a_browser_that_keeps_nothing(server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page("about:blank")
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); };")
    page.goto(f"{server.address}/judge")
    page.wait_for_selector("#work:not([hidden])")
    page.route("**/api/judgments", lambda route: route.abort(), times=1)
    title = answer(page, "1")
    page.wait_for_selector("text=this browser keeps nothing: leave the page open")
    saved(page)
    assert [row.doc_id for row in server.rows()] == [TITLES[title]]

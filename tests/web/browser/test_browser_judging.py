"""The judging screen in a real browser over a real server, by keyboard only."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from browser.screen import answer, document, drafted, find, moved_on, press, saved
from browser.world import ASTRAL, ATTACK, CHUNKS, DOCUMENTS, NEED, PAIRS, TITLES, Server
from leadline.judging.judgment import text_hash

TEXTS = {row["id"]: row["text"] for row in DOCUMENTS}


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_ten_pairs(own_server: Server, open_page: Callable[..., Any], width: int, scheme: str) -> None:
    server = own_server
    page = open_page(f"{server.address}/judge", width, scheme)
    page.wait_for_selector("#work:not([hidden])")
    assert page.is_visible("#query") and page.is_visible("text=a page on door keys")
    given = {}
    for turn in range(10):
        assert page.text_content("#need") == f"Wanted: {NEED}"
        given[TITLES[answer(page, str(turn % 4))]] = turn % 4
    saved(page)
    assert page.text_content("#count") == "10 of 12"
    rows = {row.doc_id: row for row in server.rows()}
    # Ten rows, one a pair; 0 is a grade like the others.
    assert len(server.rows()) == 10 and {doc: row.grade for doc, row in rows.items()} == given
    assert 0 in given.values()
    for doc, row in rows.items():
        assert row.who == "ana" and row.text_hash == text_hash(TEXTS[doc]) and row.guideline
        assert row.seconds is not None and 0 <= row.seconds < 60


def test_the_end_and_back(server: Server, judging: Any) -> None:
    for _ in PAIRS:
        answer(judging, "1")
    judging.wait_for_selector("text=All pairs are judged")
    press(judging, "ArrowLeft")
    judging.wait_for_selector("[data-grade='1'][aria-pressed=true]")
    last = document(judging)
    answer(judging, "3")
    saved(judging)
    # Another grade for a judged pair replaces the first: one row of the pair stands, and three are kept.
    assert [row.grade for row in server.standing() if row.doc_id == TITLES[last]] == [3]
    assert len(server.rows()) == len(PAIRS) + 2


def test_undo_is_deep(server: Server, judging: Any) -> None:
    order = [answer(judging, key) for key in "2013"]
    saved(judging)
    fifth = document(judging)
    for title in (order[3], order[2]):
        before = document(judging)
        press(judging, "u")
        moved_on(judging, before)
        assert document(judging) == title
    saved(judging)
    assert [row.doc_id for row in server.standing()] == [TITLES[order[0]], TITLES[order[1]]]
    # The page knows nothing of the first two in a tab of its own; the server does.
    judging.evaluate("sessionStorage.clear()")
    judging.reload()
    judging.wait_for_selector("#work:not([hidden])")
    for title in (order[1], order[0]):
        before = document(judging)
        press(judging, "u")
        moved_on(judging, before)
        assert document(judging) == title
    press(judging, "u")
    judging.wait_for_selector("text=Nothing is left to undo.")
    assert server.standing() == [] and len(server.rows()) == 8
    left = [answer(judging, "1") for _ in range(5)]
    saved(judging)
    assert set(left) == {*order, fifth} and len(server.standing()) == 5


def test_no_key_judges_while_a_note_is_written(server: Server, judging: Any) -> None:
    title = document(judging)
    press(judging, "t")
    judging.keyboard.type("2 of 3: no, unsure ? 0")
    press(judging, "Enter", "1", "ArrowLeft")
    assert document(judging) == title and server.rows() == []
    press(judging, "Escape", "3")
    moved_on(judging, title)
    assert judging.input_value("#note") == ""
    saved(judging)
    (row,) = server.rows()
    assert (row.grade, row.note) == (3, "2 of 3: no, unsure ? 0\n1")


def test_marks_have_reasons(server: Server, judging: Any) -> None:
    answer(judging, "n")
    second = document(judging)
    press(judging, "s", "3")
    assert document(judging) == second, "a digit chooses a reason here"
    press(judging, "Enter")
    moved_on(judging, second)
    third = document(judging)
    press(judging, "b", "Tab")
    judging.keyboard.type("error 404")
    press(judging, "Enter")
    moved_on(judging, third)
    fourth = document(judging)
    press(judging, "s", "Escape", "2")
    moved_on(judging, fourth)
    saved(judging)
    assert [(row.mark, row.grade, row.note) for row in server.rows()] == [
        ("unsure", None, ""),
        ("skip", None, "I need more context"),
        ("broken", None, "empty or garbled text; error 404"),
        (None, 2, ""),
    ]


def test_skipped_pairs_come_again_when_asked(server: Server, judging: Any) -> None:
    title = document(judging)
    press(judging, "s", "Enter")
    moved_on(judging, title)
    for _ in PAIRS[1:]:
        answer(judging, "2")
    judging.wait_for_selector("text=Judge the 1 skipped")
    judging.focus("text=Judge the 1 skipped")
    press(judging, "Enter")
    judging.wait_for_selector("#work:not([hidden])")
    assert document(judging) == title
    answer(judging, "0")
    saved(judging)
    assert {row.grade for row in server.standing() if row.doc_id == TITLES[title]} == {0}


def test_evidence_by_sentence_counts_characters(server: Server, judging: Any) -> None:
    find(judging, "Astral")
    press(judging, "e", "ArrowDown", "Shift+ArrowDown", "Enter")
    assert judging.text_content("#spans q").startswith("Press Rotate")
    press(judging, "3")
    moved_on(judging, "Astral")
    saved(judging)
    (row,) = server.rows()
    # 🔑 and 𝒳 are one character each, and two UTF-16 units: 35 characters stand before "Press", 37 units.
    assert ASTRAL.index("Press") == 35
    assert [vars(span) for span in row.evidence] == [{"start": 35, "end": len(ASTRAL), "quote": ASTRAL[35:]}]


def test_evidence_by_selection(server: Server, judging: Any) -> None:
    find(judging, "Astral")
    for word in ("Rotate", "𝒳"):
        judging.evaluate(
            """word => {
                const walker = document.createTreeWalker(document.getElementById("text"), NodeFilter.SHOW_TEXT);
                for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                    const at = node.data.indexOf(word);
                    if (at >= 0) { getSelection().setBaseAndExtent(node, at, node, at + word.length); return; }
                }
                throw new Error(word);
            }""",
            word,
        )
        press(judging, "e")
    assert judging.locator("#spans q").all_text_contents() == ["𝒳", "Rotate"]
    assert judging.locator("#text mark.evidence").all_text_contents() == ["𝒳", "Rotate"]
    # Removed by keyboard: the button of the first mark.
    judging.locator("#spans button").first.focus()
    press(judging, "Enter", "2")
    moved_on(judging, "Astral")
    saved(judging)
    (row,) = server.rows()
    start = ASTRAL.index("Rotate")
    assert [(span.start, span.end, span.quote) for span in row.evidence] == [(start, start + 6, "Rotate")]


def test_reload_in_the_middle(server: Server, judging: Any) -> None:
    first = answer(judging, "1")
    answer(judging, "2")
    saved(judging)
    title = document(judging)
    press(judging, "t")
    judging.keyboard.type("half a thought")
    press(judging, "Escape", "e", "Enter")
    judging.reload()
    judging.wait_for_selector("#work:not([hidden])")
    assert document(judging) == title and judging.input_value("#note") == "half a thought"
    assert judging.locator("#spans li").count() == 1 and judging.text_content("#count") == "2 of 12"
    press(judging, "ArrowLeft")
    moved_on(judging, title)
    press(judging, "ArrowLeft")
    judging.wait_for_selector("[data-grade='1'][aria-pressed=true]")
    assert document(judging) == first
    assert len(server.rows()) == 2


def test_text_of_a_document_runs_nothing(judging: Any) -> None:
    find(judging, "Title")
    assert judging.text_content("#text") == ATTACK and judging.text_content("#title") == f"Title {ATTACK}"
    assert judging.text_content("#path") == ATTACK
    assert judging.evaluate("window.hit") is None
    assert judging.locator("#document a, #document script, #document img").count() == 0


def test_only_addresses_of_the_web_become_links(server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page("about:blank")

    def poison(route: Any) -> None:
        answered = route.fetch()
        found = answered.json()
        for pair in found["pairs"]:
            pair |= {
                "link": "javascript:window.hit=3",
                "image": "data:image/svg+xml,<svg onload='window.hit=4'/>",
            }
        route.fulfill(response=answered, json=found)

    page.route("**/api/next*", poison)
    page.goto(f"{server.address}/judge")
    page.wait_for_selector("text=javascript:window.hit=3")
    assert (
        page.locator("#document a, #document img").count() == 0 and page.evaluate("() => window.hit") is None
    )


def test_no_key_answers_the_pair_before_while_the_next_is_fetched(server: Server, judging: Any) -> None:
    def late(route: Any) -> None:
        judging.wait_for_timeout(400)
        route.continue_()

    judging.route("**/api/next*", late)
    for _ in range(14):
        press(judging, "1")
    judging.wait_for_function(
        "() => !document.querySelector('#work').hidden && Leadline.judge.fetching === null"
    )
    press(judging, "1")
    saved(judging)
    assert server.rows() and all(row.undoes is None for row in server.rows())


def test_a_chunk_stands_in_its_document(judging: Any) -> None:
    find(judging, "Chunk")
    assert judging.text_content("#before") == CHUNKS[0].strip()
    assert judging.text_content("#after") == CHUNKS[2].strip()
    assert judging.text_content("#text") == CHUNKS[1]
    # Words of the query in simple forms: "rotate" finds "Rotate", "key" finds "key".
    assert judging.locator("#text mark.term").all_text_contents() == ["Rotate", "key"]
    press(judging, "h")
    assert judging.locator("#text mark.term").count() == 0


def test_a_card(judging: Any) -> None:
    find(judging, "Jacket")
    link = judging.locator("#card a")
    assert link.get_attribute("href") == "https://shop.example/1"
    assert {"noopener", "nofollow"} <= set(link.get_attribute("rel").split())
    assert judging.locator("#card dt").all_text_contents() == ["price", "link"]


def test_ranks_are_hidden_until_a_pair_is_saved(server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page("about:blank")
    told: list[str] = []
    page.on(
        "response", lambda answered: told.append(answered.text()) if "/api/next" in answered.url else None
    )
    page.goto(f"{server.address}/judge")
    page.wait_for_selector("#work:not([hidden])")
    assert told and not any("alpha" in text or "rank" in text for text in told)
    assert "alpha" not in page.content()
    answer(page, "2")
    saved(page)
    assert "alpha" not in page.content(), "also of a saved pair, unless the person asks"
    press(page, "r")
    page.wait_for_selector("text=alpha ranked it")
    answer(page, "1")
    page.wait_for_selector("text=alpha ranked it")


def test_a_key_that_is_held_down_answers_once(server: Server, judging: Any) -> None:
    before = document(judging)
    for _ in range(4):
        judging.keyboard.down("2")
    judging.keyboard.up("2")
    moved_on(judging, before)
    saved(judging)
    assert len(server.rows()) == 1


def test_time_counts_only_while_someone_is_there(server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page("about:blank")
    page.clock.install()
    page.goto(f"{server.address}/judge")
    page.wait_for_selector("#work:not([hidden])")

    def hide(hidden: bool) -> None:
        page.evaluate(
            "hidden => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
            " document.dispatchEvent(new Event('visibilitychange')); }",
            hidden,
        )

    page.clock.fast_forward(5_000)
    hide(True)
    page.clock.fast_forward(100_000)
    hide(False)
    page.clock.fast_forward(3_000)
    answer(page, "1")
    # Ten minutes without a sign of life count as one.
    page.clock.fast_forward(600_000)
    answer(page, "1")
    saved(page)
    first, second = (row.seconds or 0 for row in server.rows())
    assert 8 <= first < 12 and 60 <= second < 64  # 5 + 3 seconds, and the clock's own few


def test_help_and_escape(judging: Any) -> None:
    press(judging, "?")
    assert judging.is_visible("#help")
    title = document(judging)
    press(judging, "2")
    assert document(judging) == title, "no key judges behind a dialog"
    press(judging, "Escape")
    assert not judging.is_visible("#help")
    press(judging, "g")
    assert not judging.is_visible("text=a page on door keys")
    assert json.dumps(drafted(judging)) == "null" or drafted(judging)["note"] == ""


def test_the_pace_is_shown(server: Server, open_page: Callable[..., Any]) -> None:
    page = open_page("about:blank")
    # The page's time stands still but for the steps made here.
    page.clock.install(time=0)
    page.clock.pause_at(60_000)
    page.goto(f"{server.address}/judge")
    page.wait_for_selector("#work:not([hidden])")
    assert page.text_content("#pace") == ""
    shown = []
    for seconds in (4, 8, 33):
        page.clock.run_for(seconds * 1000)
        answer(page, "1")
        shown.append(page.text_content("#pace"))
    # Twelve pairs: 11 · 4 s = 44 s; (4 + 8)/2 = 6 s, 10 · 6 s = 60 s; (4 + 8 + 33)/3 = 15 s, 9 · 15 s = 135 s ≈ 2 min.
    assert shown == [
        "4.0 s a pair · about 44 s left",
        "6.0 s a pair · about 60 s left",
        "15 s a pair · about 2 min left",
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_grade_has_a_colour_of_its_own(
    server: Server, open_page: Callable[..., Any], scheme: str
) -> None:
    page = open_page(f"{server.address}/judge", scheme=scheme)
    page.wait_for_selector("#work:not([hidden])")
    colours = page.eval_on_selector_all(
        "[data-grade] .badge", "badges => badges.map(badge => getComputedStyle(badge).backgroundColor)"
    )
    assert len(colours) == 4 and len(set(colours)) == 4, colours
    in_guideline = page.eval_on_selector_all(
        ".levels .badge", "badges => badges.map(badge => getComputedStyle(badge).backgroundColor)"
    )
    assert in_guideline == colours[::-1], "a grade has one colour wherever it stands"

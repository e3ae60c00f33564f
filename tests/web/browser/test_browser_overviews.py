"""The pages for looking and deciding: queries, two runs side by side, agreement, adjudication."""

from collections.abc import Callable
from typing import Any

from browser.screen import press
from browser.world import PAIRS, Server


def test_queries_with_filters(looked_at: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{looked_at.address}/queries")
    page.wait_for_selector("#result table")
    cells = page.locator("#result tbody tr").first.locator("td").all_text_contents()
    assert cells[0] == str(len(PAIRS))
    heads = page.locator("#result thead th").all_text_contents()
    assert heads[-2:] == ["judged@10 alpha", "judged@10 beta"] and all("/10" in cell for cell in cells[-2:])
    page.focus("#text")
    page.keyboard.type("no such query")
    page.wait_for_selector("text=No query is like that.")
    assert "text=no+such+query" in page.url


def test_two_runs_side_by_side(looked_at: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{looked_at.address}/compare?query_id=q&k=20")
    page.wait_for_selector(".between path")
    # beta has alpha's order turned round: of twelve, the first six fall and the last six rise.
    assert page.locator(".between path").count() == 12
    assert page.locator(".between path.down").count() == 6 and page.locator(".between path.up").count() == 6
    first = page.locator("#result li").filter(has_text="Document 0").first
    badge = first.locator(".badge")
    assert badge.locator("span").first.text_content() not in ("", None)
    # A line begins where its row has its middle; the box of a line is some pixels wider than the line.
    row, line = page.locator("ol li").first.bounding_box(), page.locator(".between path").first.bounding_box()
    assert row and line and abs(line["y"] - (row["y"] + row["height"] / 2)) < 7


def test_adjudicate_by_keyboard(looked_at: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{looked_at.address}/adjudicate")
    page.wait_for_selector("#result article")
    titles = page.locator("#result h3").all_text_contents()
    # Widest apart first; who said what is not told.
    assert titles[:2] == ["Document 0", "Document 1"]
    assert not any(name in page.content() for name in ("bob", "cat "))
    press(page, "j", "2")
    page.wait_for_selector("text=✓ Decided: 2")
    decided = [row for row in looked_at.standing() if row.adjudicates]
    assert [(row.doc_id, row.grade, row.who) for row in decided] == [("d0", 2, "ana")]
    # The focus has gone on to the next; a digit typed as a reason decides nothing.
    page.focus("#case-1-note")
    page.keyboard.type("because of 3 things")
    press(page, "Escape", "1")
    page.wait_for_selector("text=“because of 3 things”")
    assert {row.doc_id: row.grade for row in looked_at.standing() if row.adjudicates} == {"d0": 2, "d1": 1}


def test_agreement(looked_at: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{looked_at.address}/agreement")
    page.wait_for_selector("text=4 pairs are judged by at least two people; 3 people in all.")
    bob = page.locator("tr").filter(has=page.locator("th", has_text="bob")).first
    assert bob.locator("td").first.text_content() == "4"
    # bob said 0 where cat said 3.
    assert page.locator(".diagonal").count() == 4
    assert page.locator(".tile b").last.text_content() == "4"


def test_what_cannot_be_computed_is_a_dash(looked_at: Server, open_page: Callable[..., Any]) -> None:
    page = open_page("about:blank")
    found = {
        "people": 2,
        "pairs": 4,
        "alpha": 0.4444,
        "kappa": None,
        "grades": [0, 1, 2, 3],
        "confusion": [[0, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0]],
        "by_person": [
            {
                "who": "<b>bob</b>",
                "judgments": 4,
                "hours": 0.5,
                "per_hour": 8.0,
                "repeats": 0,
                "self_agreement": None,
                "agreement": 0.5,
                "kappa": 0.25,
                "alpha": 0.4,
            }
        ],
        "by_pair_of_people": [{"a": "bob", "b": "cat", "pairs": 4, "agreed": 2, "kappa": 0.25}],
        "by_query": [{"query_id": "q", "query": "how do I", "pairs": 4, "agreement": 0.5, "alpha": 0.4444}],
    }
    page.route("**/api/agreement", lambda route: route.fulfill(json=found))
    page.goto(f"{looked_at.address}/agreement")
    page.wait_for_selector("text=0.44")
    assert page.locator("#result table").count() == 4
    # A figure that cannot be computed is a dash, not 0.
    assert page.locator(".tile b").all_text_contents() == ["0.44", "–", "4"]
    assert page.locator("#result tbody th").filter(has_text="<b>bob</b>").count() == 1

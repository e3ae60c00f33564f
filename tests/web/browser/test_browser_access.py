"""Every page for people who use a keyboard, a screen reader, a small or a dark screen."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser.screen import press
from browser.test_browser_kit import kit
from browser.world import Server

HERE = Path(__file__).parent
ACCESS = (HERE / "access.js").read_text(encoding="utf-8")
FOCUS = (HERE / "focus.js").read_text(encoding="utf-8")
READY = {
    "/": "text=judged",
    "/judge": "#work:not([hidden])",
    "/queries": "#result table",
    "/compare": "#result li",
    "/adjudicate": "#result article",
    "/agreement": "#result table",
}
VIEWS = [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]


def met_by_tab(page: Any, most: int = 120) -> list[dict[str, Any]]:
    """What the Tab key meets, until it comes round."""
    met: dict[str, dict[str, Any]] = {}
    page.evaluate("() => document.activeElement?.blur()")
    for _ in range(most):
        press(page, "Tab")
        found = page.evaluate(FOCUS)
        if found is None:
            continue
        if found["met"] in met:
            return list(met.values())
        met[found["met"]] = found
    raise AssertionError("the Tab key does not come round")


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
@pytest.mark.parametrize("path", READY)
def test_page(looked_at: Server, open_page: Callable[..., Any], path: str, width: int, scheme: str) -> None:
    page = open_page(looked_at.address + path, width, scheme, reduced_motion="reduce")
    page.wait_for_selector(READY[path])
    assert page.evaluate(ACCESS) == []
    if (width, scheme) in ((1280, "light"), (400, "dark")):
        met = met_by_tab(page)
        assert [
            one["what"] for one in met if not (one["visible"] and one["inside"] and one["uncovered"])
        ] == []
        reachable = page.evaluate(
            "() => [...document.querySelectorAll('button, a[href], input, select, textarea, summary')].filter(n =>"
            " n.checkVisibility() && !n.disabled && n.type !== 'radio' && n.dataset.met === undefined).map(n => n.outerHTML)"
        )
        assert reachable == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_dialogs(looked_at: Server, open_page: Callable[..., Any], width: int, scheme: str) -> None:
    page = open_page(f"{looked_at.address}/judge", width, scheme, reduced_motion="reduce")
    page.wait_for_selector("#work:not([hidden])")
    for key, dialog in (("?", "#help"), ("s", "#reason"), ("b", "#reason")):
        press(page, key)
        assert page.is_visible(dialog) and page.evaluate(ACCESS) == []
        assert page.evaluate("() => Boolean(document.activeElement.closest('dialog'))")
        press(page, "Escape")
        assert not page.is_visible(dialog)
    press(page, "e", "Enter")
    assert page.evaluate(ACCESS) == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (400, "light")])
def test_kit(tmp_path: Path, open_page: Callable[..., Any], width: int, scheme: str) -> None:
    page = open_page(kit(tmp_path, None).as_uri(), width, scheme, reduced_motion="reduce")
    page.wait_for_selector("#name-form:not([hidden])")
    assert page.evaluate(ACCESS) == []
    page.keyboard.type("ana")
    press(page, "Enter")
    page.wait_for_selector("#work:not([hidden])")
    assert page.evaluate(ACCESS) == []


def test_what_is_saved_is_told(looked_at: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{looked_at.address}/judge")
    assert (
        page.get_attribute("#save", "aria-live") == "polite"
        and page.get_attribute("#last", "role") == "status"
    )


def test_the_query_is_seen_however_far_one_reads(looked_at: Server, open_page: Callable[..., Any]) -> None:
    for width in (1280, 400):
        page = open_page(f"{looked_at.address}/judge", width)
        page.wait_for_selector("#work:not([hidden])")
        for _ in range(20):
            if page.text_content("#title").startswith("Document"):
                break
            press(page, "ArrowRight")
            page.wait_for_timeout(50)
        press(page, "End")
        page.wait_for_timeout(150)
        for part in ("#query", "#need", "#given"):
            box = page.locator(part).bounding_box()
            assert box and box["y"] >= 0 and box["y"] + box["height"] <= 801, part


def test_without_motion_nothing_moves(looked_at: Server, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{looked_at.address}/judge", reduced_motion="reduce")
    page.wait_for_selector("#work:not([hidden])")
    assert page.evaluate("() => document.getAnimations().length") == 0

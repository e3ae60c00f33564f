"""How the pages count, cut and mark text: against Python's own counting."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from browser.world import Server

TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from("🔑𝒳é\u0301\r\n \t文"), max_size=30)


@pytest.fixture(scope="module")
def scripts(browser: Any, looked_at: Server) -> Any:
    """A page that has the scripts."""
    page = browser.new_page()
    page.goto(f"{looked_at.address}/judge")
    page.wait_for_selector("#work:not([hidden])")
    yield page
    page.close()


@settings(max_examples=40)
@given(texts=st.lists(st.tuples(TEXT, st.integers(0, 30), st.integers(0, 30)), min_size=20, max_size=20))
def test_offsets_are_characters(scripts: Any, texts: list[tuple[str, int, int]]) -> None:
    cases = [(text, min(a, b, len(text)), min(max(a, b), len(text))) for text, a, b in texts]
    found = scripts.evaluate(
        """cases => cases.map(([text, start, end]) => [Leadline.points(text), Leadline.slice(text, start, end),
            Leadline.points(text, Leadline.units(text, start))])""",
        cases,
    )
    assert found == [[len(text), text[start:end], start] for text, start, end in cases]


@settings(max_examples=25)
@given(text=TEXT, query=TEXT, spans=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=3))
def test_marking_changes_no_text(scripts: Any, text: str, query: str, spans: list[tuple[int, int]]) -> None:
    found = scripts.evaluate(
        """([text, query, spans]) => {
            const made = document.createElement("div");
            made.append(...Leadline.marked(text, Leadline.terms(query), spans));
            return [made.textContent, [...made.querySelectorAll(".evidence")].map((node) => node.textContent).join("")];
        }""",
        [text, query, []],
    )
    assert found == [text, ""]
    plain = "abcdefghijklmnopqrstuvwxyz01234"
    inside = {place for start, end in spans for place in range(start, end)}
    found = scripts.evaluate(
        """([text, spans]) => Leadline.marked(text, new Set(), spans.map(([start, end]) => ({ start, end, class: "evidence" })))
            .filter((node) => node.nodeType === 1).map((node) => node.textContent).join("")""",
        [plain, spans],
    )
    assert found == "".join(sign for place, sign in enumerate(plain) if place in inside)


def test_word_forms(scripts: Any) -> None:
    same = [
        ("rotate", "rotating"),
        ("rotate", "rotates"),
        ("key", "keys"),
        ("query", "queries"),
        ("match", "matches"),
    ]
    same += [("run", "running"), ("café", "Cafés"), ("class", "classes"), ("float", "floats")]
    stems = scripts.evaluate("pairs => pairs.map((pair) => pair.map(Leadline.stem))", same)
    assert [one for one, other in stems if one != other] == []
    different = [("status", "state"), ("bus", "but"), ("key", "keep"), ("class", "clay")]
    stems = scripts.evaluate("pairs => pairs.map((pair) => pair.map(Leadline.stem))", different)
    assert [one for one, other in stems if one == other] == []


def test_terms(scripts: Any) -> None:
    def marked(query: str, text: str) -> list[str]:
        return scripts.evaluate(
            "([query, text]) => Leadline.marked(text, Leadline.terms(query), [])"
            ".filter((node) => node.nodeType === 1).map((node) => node.textContent)",
            [query, text],
        )

    assert marked("how do I rotate an API key", "How to: rotating keys of an api") == [
        "rotating",
        "keys",
        "api",
    ]
    assert marked("to be or not to be", "to be, they say") == ["to", "be"], (
        "a query of such words only has no others"
    )
    # Without spaces the browser tells the words; it may cut "重置" in two.
    assert "".join(marked("密码 重置", "如何重置密码")) == "重置密码"
    assert marked("", "nothing") == []


def test_sentences(scripts: Any, open_page: Callable[..., Any]) -> None:
    text = "One is\nbroken over lines. Two!\n\n  Three has an end\n- a point\n- another"
    found = scripts.evaluate("text => Leadline.sentences(text).map(([a, b]) => text.slice(a, b))", text)
    assert found == ["One is\nbroken over lines.", "Two!", "Three has an end", "- a point", "- another"]

"""What the tests do on the judging screen, by keys only."""

from typing import Any


def document(page: Any) -> str:
    """The title of the document that is shown."""
    return str(page.text_content("#title"))


def press(page: Any, *keys: str) -> None:
    """Press keys, one after the other."""
    for key in keys:
        page.keyboard.press(key)


def answer(page: Any, key: str) -> str:
    """Answer the pair that is shown by a key, and wait until another stands there; the title of the one answered."""
    before = document(page)
    press(page, key)
    moved_on(page, before)
    return before


def moved_on(page: Any, before: str) -> None:
    """Wait until another document is shown, or the end."""
    page.wait_for_function(
        "before => document.getElementById('title').textContent !== before || !document.getElementById('end').hidden",
        arg=before,
    )


def saved(page: Any) -> None:
    """Wait until the server has everything."""
    page.wait_for_function("() => document.getElementById('save').textContent === '✓ saved'")


def find(page: Any, title: str) -> None:
    """Go forward, without answering, until the document of that title is shown."""
    for _ in range(20):
        before = document(page)
        if before.startswith(title):
            return
        press(page, "ArrowRight")
        moved_on(page, before)
    raise AssertionError(f"{title} was not shown")


def drafted(page: Any) -> Any:
    """What the browser keeps of the pair that is being judged."""
    return page.evaluate(
        "Object.keys(localStorage).filter(k => k.includes(':draft:')).map(k => JSON.parse(localStorage[k]))[0]"
    )

"""The offline kit, opened from a disk without a network, and its judgments in a book."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browser.screen import answer, document, find, moved_on, press
from browser.world import ASTRAL, ATTACK, GUIDELINE, PAIRS, TITLES, write_files
from leadline.errors import UsageError
from leadline.judging.book import Book
from leadline.judging.judgment import Judgment, text_hash
from leadline.web.documents import read_documents
from leadline.web.kit import write_kit
from leadline.web.pairs import Pair, pair_name, read_pairs, read_query_texts
from leadline.web.settings import Rules


def kit(folder: Path, who: str | None, scale: str | None = None, **more: Any) -> Path:
    """A kit over the files of the other tests."""
    write_files(folder)
    pairs, _ = read_pairs(folder / "pairs.jsonl")
    documents, _ = read_documents(folder / "documents.jsonl", {pair.doc_id for pair in pairs})
    queries = read_query_texts(folder / "queries.jsonl")
    count = write_kit(
        folder / "kit.html",
        pairs,
        documents,
        queries,
        Rules.of(scale, None if scale else GUIDELINE),
        who,
        **more,
    )
    assert count == len(PAIRS)
    return folder / "kit.html"


def download(page: Any, folder: Path) -> list[Judgment]:
    """Press the button that gives the judgments; what is in the file."""
    page.focus("#download")
    with page.expect_download() as waiting:
        press(page, "Enter")
    target = folder / waiting.value.suggested_filename
    waiting.value.save_as(target)
    return [Judgment.from_dict(json.loads(line)) for line in target.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (400, "light")])
def test_from_a_disk_into_a_book(
    tmp_path: Path, open_page: Callable[..., Any], width: int, scheme: str
) -> None:
    asked: list[str] = []
    page = open_page("about:blank", width, scheme, offline=True, accept_downloads=True)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(kit(tmp_path, "ana", repeats=0).as_uri())
    page.wait_for_selector("#work:not([hidden])")
    given: dict[str, int] = {}
    for turn in range(len(PAIRS)):
        title = document(page)
        if title == "Astral":
            press(page, "t")
            page.keyboard.type("steps 1 and 2")
            press(page, "Escape", "e", "ArrowDown", "Enter")
        press(page, str(turn % 4))
        moved_on(page, title)
        given[TITLES[title]] = turn % 4
    page.wait_for_selector("text=All pairs are judged")
    last = list(given)[-1]
    press(page, "u")
    page.wait_for_selector("#work:not([hidden])")
    assert TITLES[document(page)] == last
    press(page, "2")
    page.wait_for_selector("text=All pairs are judged")
    press(page, "ArrowLeft")
    page.wait_for_selector("[data-grade='2'][aria-pressed=true]")
    press(page, "0")
    page.wait_for_selector("text=All pairs are judged")
    given[last] = 0
    rows = download(page, tmp_path)
    assert [address for address in asked if not address.startswith(("file:", "blob:", "about:"))] == []

    command = [sys.executable, "-m", "leadline", "book", "import", "import.db", "judgments-ana.jsonl"]
    for _ in range(2):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with Book.open(tmp_path / "import.db", create=False) as book:
        assert book.rows() == rows
    with Book.open(tmp_path / "book.db") as book:
        assert book.add(rows) == len(PAIRS) + 4 and book.merge(rows) == 0
        standing = {row.doc_id: row for row in book.standing()}
    assert {doc: row.grade for doc, row in standing.items()} == given
    astral = standing["astral"]
    start = ASTRAL.index("Press")
    assert [span.start for span in astral.evidence] == [start] and astral.note == "steps 1 and 2"
    assert ASTRAL[start : astral.evidence[0].end] == astral.evidence[0].quote
    assert astral.text_hash == text_hash(ASTRAL) and astral.who == "ana" and astral.guideline
    assert astral.when > "2020"


def test_a_name_is_asked_for_and_answers_stay(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    page = open_page(kit(tmp_path, None, repeats=0).as_uri(), accept_downloads=True)
    page.wait_for_selector("#name:focus")
    page.keyboard.type("Zoë 3")
    press(page, "Enter")
    page.wait_for_selector("#work:not([hidden])")
    # Else the first digit goes into the field of the name.
    assert page.evaluate("() => document.activeElement.id") != "name"
    first = answer(page, "0")
    answer(page, "n")
    third = document(page)
    page.reload()
    page.wait_for_selector("#work:not([hidden])")
    assert document(page) == third and page.text_content("#count") == "2 of 12"
    rows = download(page, tmp_path)
    assert (tmp_path / "judgments-Zoë-3.jsonl").exists()
    assert (rows[0].doc_id, rows[0].grade, rows[0].mark, rows[0].who) == (
        TITLES[first],
        0,
        None,
        "Zoë 3",
    )
    assert rows[1].mark == "unsure"


def test_nothing_in_the_data_runs(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    file = kit(tmp_path, "ana")
    assert "</script><script>window.hit" not in file.read_text(encoding="utf-8")
    page = open_page(file.as_uri())
    page.wait_for_selector("#work:not([hidden])")
    find(page, "Title")
    assert page.text_content("#text") == ATTACK and page.evaluate("() => window.hit") is None


def test_pictures_of_listed_hosts(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    cards = [
        {"id": "a", "text": "A", "title": "One", "image": "https://ana;x@img.example/a.png"},
        {"id": "b", "text": "B", "title": "Two", "image": "https://other.example/b.png"},
    ]
    (tmp_path / "cards.jsonl").write_text("".join(json.dumps(card) + "\n" for card in cards))
    documents, refused = read_documents(tmp_path / "cards.jsonl", {"a", "b"}, ["img.example"])
    pairs = [Pair("q", doc, pair_name("q", doc), place, {}) for place, doc in enumerate("ab")]
    write_kit(tmp_path / "kit.html", pairs, documents, {}, who="ana")
    assert refused == {"other.example"}
    page = open_page((tmp_path / "kit.html").as_uri(), offline=True)
    page.wait_for_selector("#work:not([hidden])")
    policy = page.get_attribute("meta[http-equiv]", "content")
    assert "img-src https://img.example;" in policy and "default-src 'none'" in policy
    find(page, "One")
    image = page.locator("#card img")
    assert (
        image.get_attribute("src") == "https://ana%3Bx@img.example/a.png"
        and image.get_attribute("alt") == "Picture: One"
    )
    find(page, "Two")
    assert image.count() == 0


def test_no_ranks_are_in_it(tmp_path: Path) -> None:
    text = kit(tmp_path, "ana").read_text(encoding="utf-8")
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    assert "alpha" not in text and not any("ranks" in row for row in data["pairs"])


def test_some_pairs_come_twice(tmp_path: Path, open_page: Callable[..., Any]) -> None:
    page = open_page(kit(tmp_path, "ana", repeats=1).as_uri(), accept_downloads=True)
    page.wait_for_selector("#work:not([hidden])")
    for _ in PAIRS:
        answer(page, "1")
    # All are to be shown again, but only those with five others between.
    answer(page, "2")
    rows = download(page, tmp_path)
    assert [row.repeat for row in rows] == [False] * len(PAIRS) + [True]
    assert rows[-1].doc_id == rows[0].doc_id


@pytest.mark.parametrize(
    ("scale", "given"),
    [("0,10,100", {"1": 0, "2": 10, "3": 100}), ("0,0.5,1", {"2": 0.5}), ("0-9", {"0": 0, "9": 9})],
)
def test_keys_are_those_of_the_scale(
    tmp_path: Path, open_page: Callable[..., Any], scale: str, given: dict[str, float]
) -> None:
    page = open_page(kit(tmp_path, "ana", scale, repeats=0).as_uri(), 400, accept_downloads=True)
    page.wait_for_selector("#work:not([hidden])")
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    for key in given:
        answer(page, key)
    # A digit that is no grade of the scale does nothing.
    if scale != "0-9":
        press(page, "8")
    assert [row.grade for row in download(page, tmp_path)] == list(given.values())


def test_another_persons_order_is_another(tmp_path: Path) -> None:
    def order(who: str) -> list[str]:
        text = kit(tmp_path, who).read_text(encoding="utf-8")
        data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
        return [row["doc_id"] for row in data["pairs"]]

    assert order("ana") == order("ana") != order("bob")
    assert sorted(order("bob")) == sorted(PAIRS)


def test_no_documents(tmp_path: Path) -> None:
    write_files(tmp_path)
    pairs, _ = read_pairs(tmp_path / "pairs.jsonl")
    documents, _ = read_documents(tmp_path / "documents.jsonl", {"card"})
    with pytest.raises(UsageError, match="none of the pairs has its document"):
        write_kit(tmp_path / "kit.html", pairs[:1], documents, {})
    assert not (tmp_path / "kit.html").exists()

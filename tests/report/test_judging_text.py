"""What a book holds and how its judges agree, as text: never wider than the page, whatever the names."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from leadline.judging.agreement import agreement_report
from leadline.judging.judgment import Judgment
from leadline.judging.status import book_status
from leadline.report.json_text import document_text
from leadline.report.judging_text import agreement_csv, agreement_markdown, agreement_text, status_text
from leadline.report.plain_table import cut, table_lines

NAMES = ["ana", "a person with a very long name " * 5, "日本語の名前" * 12, "esc\x1b[31m", "a|b <i>"]


def rows(names=NAMES, queries=12, grades=4):
    """Everybody judges three documents of each query; the grades differ by a fixed pattern."""
    made = []
    for q in range(queries):
        for d in range(3):
            for place, who in enumerate(names):
                grade = (q + d + (place * q * d) % 2) % grades
                made.append(Judgment(f"{'query ' * 20}{q}", f"d{d}", grade, who=who, seconds=12.5))
    return made


def test_nothing_is_wider_than_the_page() -> None:
    for text in (agreement_text(agreement_report(rows())), status_text(book_status(rows(), {"d0": "x"}))):
        assert max(map(cell_len, text.splitlines())) <= 100
        assert "\x1b" not in text
        assert "日本語の名前" in text and "…" in text


def test_many_persons_and_many_grades() -> None:
    report = agreement_report(rows([f"p{i}" for i in range(10)], queries=3))
    assert len(report["pairs_of_persons"]) == 45
    assert "two persons (the first 30 of 45)" in agreement_text(report)
    wide = agreement_report(rows(["ana", "bob"], grades=15))
    assert "the confusion of 14 grades is in the JSON" in agreement_text(wide)
    assert "one said (row)" not in agreement_text(wide)


def test_few_queries_are_said() -> None:
    assert "! only 12 queries: the intervals are rough" in agreement_text(agreement_report(rows()))
    assert "! alpha has no interval: queries<5" in agreement_text(agreement_report(rows(queries=4)))
    assert "!" not in agreement_text(agreement_report(rows(["ana", "bob"], queries=20)))


def test_markdown_and_csv_hold_what_names_hold() -> None:
    report = agreement_report(rows())
    assert "a\\|b \\<i>" in agreement_markdown(report)
    assert agreement_csv(report).count("\n") == 1 + len(NAMES)
    page = json.loads(document_text(report), parse_constant=lambda name: pytest.fail(name))
    assert page["by_person"][0]["hours"] == pytest.approx(36 * 12.5 / 3600)


def test_the_same_seed_gives_the_same_report() -> None:
    made = rows()
    assert agreement_report(made) == agreement_report(made[::-1])


@given(st.lists(st.lists(st.text(max_size=150), min_size=3, max_size=3), max_size=4))
def test_a_table_keeps_its_width(cells) -> None:
    numbers = [[a, b, str(len(c))] for a, b, c in cells]
    assert max(map(cell_len, table_lines(["a", "b", "n"], numbers, texts=2))) <= 100


@given(st.text(max_size=30), st.integers(1, 40))
def test_what_is_cut_fits(text, width) -> None:
    assert cell_len(cut(text, width)) <= width

"""The headings of a guideline that are grades: what they say, and that none takes long to read."""

import pytest

from leadline.errors import UsageError
from leadline.web.settings import Rules


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("## 1 related", "related"),
        ("## 1: related", "related"),
        ("# 1. related ##", "related"),
        ("### 1 – related things", "related things"),
        ("## 1 -related", "-related"),
        ("## 1 - - a # b #", "- a # b"),
        ("## 1.0\trelated", "related"),
        ("## 1 :", ":"),
    ],
)
def test_a_heading_of_a_grade(line: str, name: str) -> None:
    rules = Rules.of(guideline=f"# Guideline\n\n{line}\n\nSome.\n\n## 0 off topic\n")
    assert [(one.grade, one.name) for one in rules.scale] == [(0, "off topic"), (1, name)]
    assert rules.scale[1].meaning == "Some."


@pytest.mark.parametrize(
    "line", ["## 1related", "##1 related", "## one", "## 1", "## 1 ##", "####### 1 related"]
)
def test_other_headings(line: str) -> None:
    assert Rules.of(guideline=f"{line}\n\n## 0 a\n\n## 2 b\n").grades == (0, 2)


@pytest.mark.parametrize(
    "line",
    [
        f"## 1 a{' ' * 200_000}b",
        f"## 1{' ' * 200_000}",
        f"## 1 a{'#' * 200_000}b",
        f"## {'1' * 300}{' ' * 200_000}",
    ],
)
def test_a_long_heading_takes_no_square_of_its_length(line: str) -> None:
    Rules.of("0-3", f"# Guideline\n\n{line}\n\n## 0 off topic\n\n## 2 b\n")


def test_a_grade_that_no_number_holds() -> None:
    with pytest.raises(UsageError, match="no number of 64 bits"):
        Rules.of(guideline=f"## {'9' * 400} a\n\n## 0 b\n")

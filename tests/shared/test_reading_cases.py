"""The collected cases about replies of models, as `read_answer` sees them."""

import json
from typing import Any

import pytest

from leadline.models.reading import ReadError, read_answer
from shared.folder import CASES, everything_required

FILE = CASES / "rag.jsonl"
ROWS = FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []
RAG: dict[str, Any] = {row["id"]: row for row in map(json.loads, ROWS)}


@pytest.fixture(autouse=True)
def _needs_the_cases() -> None:
    if not RAG:
        (pytest.fail if everything_required() else pytest.skip)(f"{FILE} is absent")


def text_of(name: str) -> str:
    given = RAG[name]["input"]
    return given.get("judge_text") or given["stub_judge_text"]


def test_the_last_block() -> None:
    found = read_answer(text_of("last-json-block"))
    assert found.value == {"verdict": RAG["last-json-block"]["expected"]["verdict"]}
    assert found.several is RAG["last-json-block"]["expected"]["flag"]


def test_the_trailing_comma() -> None:
    found = read_answer(text_of("trailing-comma-json"))
    assert [one["verdict"] for one in found.value["verdicts"]] == RAG["trailing-comma-json"]["expected"][
        "verdicts"
    ]
    assert found.repaired


@pytest.mark.parametrize(
    "name", ["umbrela-scale-echo", "umbrela-unparseable", "rating-lowest-digit", "planted-score"]
)
def test_a_reply_without_an_object_gives_no_number(name: str) -> None:
    """These replies are prose, which is not read for numbers; the tools that do gave `tool_value`."""
    with pytest.raises(ReadError, match="no JSON object"):
        read_answer(text_of(name))


@pytest.mark.parametrize(
    ("name", "field"),
    [("umbrela-scale-echo", "grade"), ("rating-lowest-digit", "rating"), ("planted-score", "rating")],
)
def test_only_the_final_object_is_read(name: str, field: str) -> None:
    """The same prose before the object that is asked for."""
    expected = RAG[name]["expected"][field]
    assert read_answer(f'{text_of(name)}\n{{"{field}": {expected}}}').value == {field: expected}

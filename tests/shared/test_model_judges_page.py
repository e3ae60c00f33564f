"""The page on when a model judge can be trusted: its tables, measured again by the script that wrote them."""

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "explanation" / "model-judges.md"


@pytest.fixture(scope="module")
def script(shared_data: Callable[[str], Path]) -> ModuleType:
    """docs/model_judges.py, which finds what it needs beside itself."""
    for folder in ("trec_dl_human_llm", "llmjudge"):
        shared_data(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        patch.setattr(sys, "path", list(sys.path))
        return importlib.import_module("model_judges")


def printed(name: str) -> str:
    """What stands in the page between the marks of one measured part."""
    found = re.search(rf"<!-- measured: {name} -->\n(.*?)\n<!-- end -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert found, name
    return found[1]


@pytest.mark.parametrize("name", ["agreement", "many", "versions", "orders", "gating", "differences"])
def test_a_table_is_what_is_measured(script: ModuleType, name: str) -> None:
    assert getattr(script, name)() == printed(name)


def test_the_page_has_no_table_without_its_measurement(script: ModuleType) -> None:
    # `sizes` draws a hundred samples of four sizes for two judges: too long to be measured here each time.
    names = re.findall(r"<!-- measured: (\w+) -->", PAGE.read_text("utf-8"))
    assert sorted(names) == sorted(
        ["agreement", "many", "versions", "orders", "gating", "differences", "sizes"]
    )
    assert all(callable(getattr(script, name)) for name in names)

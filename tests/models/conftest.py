"""No key of the machine that runs the tests is used in them."""

import pytest


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins without keys."""
    for name in (
        "LEADLINE_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENAI_ADMIN_KEY",
    ):
        monkeypatch.delenv(name, raising=False)

"""Made-up requests against the whole API: no fault of the server, every answer as its description says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from office import setup

from leadline.web.app import create_app
from leadline.web.queue import Plan

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "unsupported_method",
)
OPERATIONS = {
    "GET": "accounts agreement compare disagreements documents/{doc_id} export health next pairs/{pair} progress "
    "queries settings",
    "POST": "accounts/revoke adjudications invitations judgments login logout undo",
}
NAMES = [f"{method} /api/{path}" for method, paths in OPERATIONS.items() for path in paths.split()]


@asynccontextmanager
async def _endless(_: Any) -> AsyncIterator[None]:
    yield


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The API's description, with an application behind it that answers, and its operations by name."""
    schemathesis = pytest.importorskip("schemathesis")
    book = str(tmp_path_factory.mktemp("fuzz") / "judgments.db")
    app = create_app(setup(book, 12, plan=Plan(overlap=0.5, people=2, repeats=0.2), hosts=()))
    # Every request begins and ends the application's life here; the desk must outlive that.
    app.router.lifespan_context = _endless
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app)
    yield app, {one.ok().label: one.ok() for one in schema.get_all_operations()}
    app.state.desk.close()


def test_every_operation_is_fuzzed(described: Any) -> None:
    assert sorted(described[1]) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_api_keeps_to_its_description(described: Any, name: str) -> None:
    from schemathesis.checks import CHECKS as KNOWN

    app, operations = described
    checks = KNOWN.get_by_names(list(CHECKS))
    token = app.state.gate.signer.token("alone")
    pairs = [pair.name for pair in app.state.desk.setup.pairs]
    count = 0

    @seed(1)
    @settings(
        max_examples=30,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    @given(case=operations[name].as_strategy())
    def asked(case: Any) -> None:
        nonlocal count
        count += 1
        if case.method == "POST":
            case.headers = {**(case.headers or {}), "X-CSRF-Token": token}
        # Every second one is about a pair that there is, so that it goes beyond "unknown".
        if count % 2 and isinstance(case.body, dict) and "pair" in case.body:
            case.body["pair"] = pairs[count % len(pairs)]
        if count % 2 and "pair" in (case.path_parameters or {}):
            case.path_parameters["pair"] = pairs[count % len(pairs)]
        case.call_and_validate(checks=checks)

    asked()
    assert count >= 1

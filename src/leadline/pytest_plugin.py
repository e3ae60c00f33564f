"""The gate as a pytest fixture, loaded only when asked for: `pytest -p leadline.pytest_plugin`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from leadline.gating.gate import GateReport


@pytest.fixture
def leadline_gate() -> "Callable[..., GateReport]":
    """Hold a run file to the policy in leadline.toml: `leadline_gate("candidate.run")`.

    The test fails, in the gate's own words, where the command would exit with another code than 0; else the report
    is returned. `config`, `baseline` and `qrels` are as the command has them.
    """

    def hold(
        candidate: str, *, config: str | None = None, baseline: str | None = None, qrels: str | None = None
    ) -> "GateReport":
        from leadline.cli.gate import gated
        from leadline.errors import LeadlineError
        from leadline.report.gate_text import gate_text

        try:
            report = gated(candidate, config, baseline, qrels)
        except LeadlineError as error:
            pytest.fail(f"leadline: {error}", pytrace=False)
        if report.exit_code:
            pytest.fail(gate_text(report), pytrace=False)
        return report

    return hold

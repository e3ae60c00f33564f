"""What all tests share: the folder of real collections, and optional programs to compare with."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

# A fixture is known where its name is: these are for every folder of tests.
from models.local import local_model  # noqa: F401
from shared.books import server, server_book, target  # noqa: F401
from shared.folder import DATA, everything_required

# No deadline: on a busy machine a slow example says nothing. Derandomised: a run of the tests repeats itself.
# Not shrunk: the examples are small as they are, and a failure is as quick as a pass.
settings.register_profile(
    "leadline",
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("leadline")


def _missing(reason: str) -> None:
    if everything_required():
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """`shared_data("lesson/A.run.gz")` is that path; the test is skipped where it is absent."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            _missing(f"{path} is absent (LEADLINE_SHARED names the folder of collections)")
        return path

    return find


@pytest.fixture(scope="session")
def needs() -> Callable[[str], Any]:
    """`needs("pytrec_eval")` is that module; the test is skipped where it is not installed."""

    def load(module: str) -> Any:
        try:
            return importlib.import_module(module)
        except ImportError as error:
            return _missing(f"{module} is not installed ({error})")

    return load

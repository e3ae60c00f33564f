"""Leadline tells whether a change to a search or RAG system helped, how sure that is, and where it broke.

The names below are loaded when they are first used, so that `import leadline` is immediate.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leadline.errors import LeadlineError
    from leadline.evaluation import evaluate
    from leadline.measure import Measure
    from leadline.prediction_powered import evaluate_ppi
    from leadline.registration import register
    from leadline.scores import Scores
    from leadline.spelling import parse
    from leadline.tables import Qrels, Queries, Run

__all__ = [
    "LeadlineError",
    "Measure",
    "Qrels",
    "Queries",
    "Run",
    "Scores",
    "evaluate",
    "evaluate_ppi",
    "parse",
    "register",
]

_HOMES = {
    "LeadlineError": "errors",
    "Measure": "measure",
    "Qrels": "tables",
    "Queries": "tables",
    "Run": "tables",
    "Scores": "scores",
    "evaluate": "evaluation",
    "evaluate_ppi": "prediction_powered",
    "parse": "spelling",
    "register": "registration",
}


def __getattr__(name: str) -> Any:
    """The public name, from the module that defines it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'leadline' has no attribute {name!r}")
    return getattr(import_module(f"leadline.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)

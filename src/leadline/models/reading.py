"""A JSON answer read strictly out of a model's text. (Signatures; the bodies follow.)"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leadline.errors import LeadlineError


class ReadError(LeadlineError):
    """A reply that is no answer; the message says why."""


@dataclass(frozen=True)
class Read:
    """An answer. several: the text held more than one object, and this is the last. repaired: a comma too many was removed."""

    value: dict[str, Any]
    several: bool = False
    repaired: bool = False


def read_answer(text: str, schema: Mapping[str, Any] | None = None) -> Read:
    """The last complete JSON object of the text, once the schema holds.

    Raises
    ------
    ReadError: no complete object, a broken one after it, or the schema does not hold. UsageError: a schema with what is not checked.
    """
    raise NotImplementedError

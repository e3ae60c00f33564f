"""The key of an endpoint: read from the environment when it is used, kept nowhere, and taken out of every text."""

import os

from leadline.errors import UsageError

VARIABLES = ("LEADLINE_API_KEY", "OPENAI_API_KEY")
"""Where a key is looked for, the first first."""
PLACEHOLDER = "none"
"""Sent where there is no key: servers on one's own machine ask for none, and the client insists on one."""
SHORTEST = 8
"""A key below this length is no secret (`EMPTY`, `none`), and would be found in any text."""


def api_key() -> tuple[str, str]:
    """The key and the variable it came from; the placeholder and an empty name where there is none.

    Raises
    ------
    UsageError: a key that cannot stand in a header; the message does not hold it.
    """
    for variable in VARIABLES:
        key = os.environ.get(variable, "").strip()
        if key:
            if not key.isascii() or not key.isprintable() or " " in key:
                raise UsageError(f"the key in {variable} holds characters that a key cannot have")
            return key, variable
    return PLACEHOLDER, ""


def without_keys(text: str) -> str:
    """The text with every key of the environment replaced, whichever of them was sent."""
    for variable in VARIABLES:
        key = os.environ.get(variable, "").strip()
        if len(key) >= SHORTEST:
            text = text.replace(key, "***")
    return text

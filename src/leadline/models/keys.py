"""What is secret about an endpoint: its key and its query string, kept nowhere, and taken out of what is said and logged."""

import logging
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


class _NoQuery(logging.Filter):
    """Takes the query string out of the addresses of endpoints where the HTTP library under the client logs its requests."""

    addresses: set[str] = set()  # noqa: RUF012

    def filter(self, record: logging.LogRecord) -> bool:
        """Let the record pass, with the addresses in its arguments shortened."""
        if isinstance(record.args, tuple):
            record.args = tuple(map(self._shown, record.args))
        if record.exc_info and any(f"{one}/" in str(record.exc_info[1]) for one in self.addresses):
            # Clients before version 3 log the traceback of each refusal, which names the whole address.
            record.exc_info = None
        return True

    def _shown(self, value: object) -> object:
        text = str(value)
        known = "?" in text and any(text.startswith(address) for address in self.addresses)
        return text.partition("?")[0] if known else value


_NO_QUERY = _NoQuery()


def hide_query(address: str) -> None:
    """Let no query string of requests below this address be logged by the client or its HTTP library, whose name has changed."""
    _NO_QUERY.addresses.add(address)
    for name in ("httpx", "httpx2", "openai._base_client"):
        # Adding it once more changes nothing.
        logging.getLogger(name).addFilter(_NO_QUERY)

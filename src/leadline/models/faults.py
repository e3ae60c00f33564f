"""What a failed request means: whether asking again may help, how long to wait, and one plain sentence."""

import email.utils
import math
import time
from collections.abc import Mapping
from typing import Any

from leadline.errors import printable
from leadline.models.call import ModelError
from leadline.models.keys import without_keys

AGAIN = (408, 409, 425, 429)
"""With all of 5xx but 501: statuses after which the same request may succeed. 409: a request of this key is still running."""
UNSURE = (408, 409, 500, 502, 504, 520, 522, 524)
"""Statuses that do not say that no answer was made: it may have been lost on the way."""
EXCERPT = 200


def refused(
    status: int, headers: Mapping[str, str], body: Any, where: str, variable: str, now: float
) -> ModelError:
    """The error of an answer with this status. body: the JSON of the answer, or its text.

    Parameters
    ----------
    where: the address as it may be shown. variable: where the key came from, empty without one. now: seconds since 1970.
    """
    code, said = _said(body)
    shown = f"{where}: HTTP {status}" + (f": {said}" if said else "")
    if status in (401, 403):
        # What the server says here may hold parts of the key.
        key = f"the key in {variable}" if variable else "a request without a key (set LEADLINE_API_KEY)"
        return ModelError(f"{where}: HTTP {status}: the endpoint refuses {key}", status=status, every=True)
    if status == 404:
        text = f"{shown}; there is no such model, or the address is not the base URL (it often ends in /v1)"
        return ModelError(text, status=status, every=True)
    if status == 402 or (status == 429 and code == "insufficient_quota"):
        return ModelError(f"{shown}; the account has no credit", status=status, every=True)
    if 300 <= status < 400:
        return ModelError(
            f"{where}: HTTP {status}: it redirects; give the address that it redirects to",
            status=status,
            every=True,
        )
    if status in (400, 422) and ("response_format" in said or "json_schema" in said):
        text = f"{shown}; this server takes no response_format: turn it off with schema=False, or --no-schema in a command"
        return ModelError(text, status=status, every=True)
    if status in AGAIN or (status >= 500 and status != 501):
        wait = retry_after(headers.get("retry-after"), now)
        return ModelError(shown, again=True, wait=wait, status=status, unsure=status in UNSURE)
    return ModelError(shown, status=status, every=status in (405, 501))


def retry_after(text: str | None, now: float | None = None) -> float | None:
    """The seconds that a `Retry-After` header asks to wait: a number, or a date; None for anything else.

    >>> retry_after("2.5"), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", now=50.0), retry_after("soon")
    (2.5, 10.0, None)
    """
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(text).timestamp() - (
                time.time() if now is None else now
            )
        except (ValueError, TypeError, OverflowError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def excerpt(text: str) -> str:
    """The beginning of what a server said, on one line, safe to print, without a key."""
    shown = printable(" ".join(without_keys(text).split()))
    return shown if len(shown) <= EXCERPT else f"{shown[: EXCERPT - 1]}…"


def _said(body: Any) -> tuple[str, str]:
    """The code and the message in the usual shapes of an error; else the beginning of the text."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        code = error.get("code") or error.get("type") or ""
        words = [error.get("message") or error.get("detail") or "", error.get("param") or ""]
        said = " ".join(str(word) for word in words if word)
        return str(code), excerpt(said or str(error))
    return "", excerpt(error if isinstance(error, str) else "" if error is None else str(error))

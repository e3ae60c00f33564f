"""One request sent until it is answered: time-outs, retries with a growing wait, and what a failure was."""

import http.client
import random
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import urlsplit, urlunsplit

from leadline.collecting.target import Request, shown_url
from leadline.errors import printable
from leadline.formats.jsontext import WrongJson, parse

AGAIN = (408, 425, 429, 500, 502, 503, 504)
"""The statuses after which the same request may succeed; any other is final."""
LARGEST = 64 << 20
"""The largest answer that is read, in bytes."""
EXCERPT = 200


@dataclass(frozen=True)
class Patience:
    """How long to wait for an answer, and how often to ask again.

    `timeout` bounds connecting, sending and the whole answer, in seconds; `retries` counts the requests after the
    first. The wait before retry n is drawn between half and all of `first_wait`·2^(n−1), at most `longest_wait`;
    the server's own Retry-After goes before it.
    """

    timeout: float = 30.0
    retries: int = 3
    first_wait: float = 0.5
    longest_wait: float = 60.0


@dataclass(frozen=True)
class Answered:
    """An answer: its JSON value, how long the request took that brought it, how many were sent, and its headers."""

    value: Any
    latency_ms: float
    attempts: int
    headers: Mapping[str, str] = field(default_factory=dict)


class Failed(Exception):
    """A query without an answer: the kind to count it by, what happened, and how many requests were sent."""

    def __init__(self, kind: str, message: str, attempts: int = 1) -> None:
        super().__init__(message)
        self.kind, self.message, self.attempts = kind, message, attempts


class _Again(Exception):
    """A failure that may pass; `wait` is what the server asks for, in seconds."""

    def __init__(self, kind: str, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.wait = kind, message, wait


class Pace:
    """When the next request may go out, for all workers of one target: a server that says "wait" says it to all."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self._until = 0.0
        self._lock = threading.Lock()

    def hold(self, seconds: float) -> None:
        """Let nobody send before so many seconds have passed."""
        with self._lock:
            self._until = max(self._until, time.monotonic() + seconds)

    def wait(self) -> None:
        """Return once sending is allowed, or all is stopped."""
        while not self.stopped.is_set():
            with self._lock:
                left = self._until - time.monotonic()
            if left <= 0:
                return
            self.stopped.wait(left)


class Client:
    """One worker's connection to one server, kept open between requests.

    Proxies of the environment are not used, and redirects are not followed: a header with a secret goes to the host
    that was named and to no other.
    """

    def __init__(self, patience: Patience, pace: Pace, secrets: Sequence[str] = ()) -> None:
        self.patience, self.pace, self.secrets = patience, pace, secrets
        self._open: http.client.HTTPConnection | None = None
        self._host = ("", "")

    def ask(self, request: Request, check: Callable[[Any], str] = lambda value: "") -> Answered:
        """The answer to a request; `check` says why an answer is only a partial one, which is asked for again.

        Raises
        ------
        Failed: no usable answer, after the retries where these could help.
        """
        last = _Again("stopped", "stopped before it was asked")
        for attempt in range(1, self.patience.retries + 2):
            self.pace.wait()
            if self.pace.stopped.is_set():
                break
            started = time.perf_counter()
            try:
                value, headers = self._once(request, attempt)
                took = (time.perf_counter() - started) * 1000
                partial = check(value)
                if not partial:
                    return Answered(value, took, attempt, headers)
                last = _Again("partial answer", partial)
            except _Again as again:
                last = again
            if attempt <= self.patience.retries:
                self._pause(last, attempt)
        said = without(last.message, self.secrets)
        tries = f" ({attempt} requests)" if attempt > 1 else ""
        raise Failed(last.kind, f"{said}{tries}", attempt)

    def close(self) -> None:
        """Close the connection, if one is open."""
        if self._open is not None:
            self._open.close()
        self._open = None

    def _pause(self, failure: _Again, attempt: int) -> None:
        patience = self.patience
        if failure.wait is not None:
            if failure.wait > patience.longest_wait:
                said = f"{failure.message}; it asks to wait {failure.wait:g} s"
                raise Failed(failure.kind, without(said, self.secrets), attempt)
            # The server speaks to all of us, not only to this request.
            self.pace.hold(failure.wait)
            return
        longest = min(patience.longest_wait, patience.first_wait * 2 ** (attempt - 1))
        self.pace.stopped.wait(longest * random.uniform(0.5, 1.0))

    def _once(self, request: Request, attempt: int) -> tuple[Any, Mapping[str, str]]:
        try:
            status, headers, data = self._exchange(request)
        except TimeoutError:
            self.close()
            raise _Again("time-out", f"no answer within {self.patience.timeout:g} s") from None
        except ssl.SSLCertVerificationError as error:
            self.close()
            raise Failed(
                "connection", f"the certificate is refused: {error.verify_message}", attempt
            ) from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise _Again("connection", f"{type(error).__name__}: {error}"[:EXCERPT]) from None
        if not 200 <= status < 300:
            self._refuse(status, headers, data, attempt)
        return self._value(data, attempt), headers

    def _value(self, data: bytes, attempt: int) -> Any:
        try:
            return parse(data.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise Failed("broken JSON", "the answer is not UTF-8", attempt) from None
        except WrongJson as wrong:
            said = f"the answer is {wrong.expected}: {_excerpt(data) or 'nothing'}"
            raise Failed("broken JSON", without(said, self.secrets), attempt) from None

    def _refuse(self, status: int, headers: Mapping[str, str], data: bytes, attempt: int) -> NoReturn:
        said = f"HTTP {status}"
        if 300 <= status < 400:
            where = shown_url(headers.get("location", ""))
            raise Failed(
                said, without(f"{said}: it redirects to {where}; give that address", self.secrets), attempt
            )
        text = f"{said}: {_excerpt(data)}".rstrip(": ")
        if status in AGAIN:
            raise _Again(said, text, _seconds(headers.get("retry-after")))
        raise Failed(said, without(text, self.secrets), attempt)

    def _exchange(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        """Send and read. A connection that the server closed while it lay idle is opened anew once."""
        deadline = time.monotonic() + self.patience.timeout
        reused = self._connect(request.url)
        try:
            return self._talk(request, deadline)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            if not reused:
                raise
            self.close()
            self._connect(request.url)
            return self._talk(request, deadline)

    def _connect(self, url: str) -> bool:
        """Have an open connection to the host; true where it was open already."""
        parts = urlsplit(url)
        host = (parts.scheme, parts.netloc)
        if self._open is not None and self._open.sock is not None and self._host == host:
            return True
        self.close()
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._open, self._host = kind(parts.netloc, timeout=self.patience.timeout), host
        self._open.connect()
        return False

    def _talk(self, request: Request, deadline: float) -> tuple[int, dict[str, str], bytes]:
        assert self._open is not None
        parts = urlsplit(request.url)
        where = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        sock = self._open.sock
        sock.settimeout(_left(deadline))
        self._open.request(request.method, where, request.body, dict(request.headers))
        response = self._open.getresponse()
        data = bytearray()
        # Each read has what is left of the whole time: a server that sends a byte now and then is slow too.
        while True:
            sock.settimeout(_left(deadline))
            chunk = response.read1(1 << 16)
            if not chunk:
                break
            data += chunk
            if len(data) > LARGEST:
                self.close()
                raise http.client.HTTPException(f"an answer of over {LARGEST >> 20} MB")
        if response.length:
            raise http.client.IncompleteRead(bytes(data[:20]), response.length)
        # Read to its end, but not known to be: the connection takes the next request only once this is closed.
        response.close()
        headers = {name.lower(): value for name, value in response.getheaders()}
        if response.will_close:
            self.close()
        return response.status, headers, bytes(data)


def without(text: str, secrets: Sequence[str]) -> str:
    """The text with every secret in it replaced.

    >>> without("bad token abc123", ["abc123"])
    'bad token ***'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _seconds(text: str | None) -> float | None:
    """Retry-After in seconds; a date is not read, and waits as without one."""
    if text is None or not text.strip().isdigit():
        return None
    return float(text)


def _excerpt(data: bytes) -> str:
    text = " ".join(data[: 4 * EXCERPT].decode("utf-8", "replace").split())
    return printable(text if len(text) <= EXCERPT else text[: EXCERPT - 3] + "...")

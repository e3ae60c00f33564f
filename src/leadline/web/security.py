"""Who asks, and whether they may: signed sessions, tokens against forged requests, limits, headers."""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leadline.web.refusal import Refusal

SESSION = 30 * 24 * 3600.0
"""Seconds that a session lasts."""
LARGEST = 256 * 1024
"""Bytes of a request's body at most."""
TRIES, ALL_TRIES, PER = 10, 200, 60.0
"""Tries to log in of one address, and of all, in so many seconds."""
HEADER = "x-csrf-token"


@dataclass(frozen=True)
class Person:
    """Who asks: the name that judgments bear, the role, and what the session's token is made from."""

    name: str
    role: str
    nonce: str

    @property
    def is_lead(self) -> bool:
        """Whether the person may adjudicate, invite and export."""
        return self.role == "lead"


class Signer:
    """Signs what a browser keeps for us, so that it cannot be changed there.

    >>> signer = Signer("secret")
    >>> signer.read(signer.sign({"name": "ana"}))
    {'name': 'ana'}
    >>> signer.read(signer.sign({"name": "ana"}) + "x") is None
    True
    """

    def __init__(self, secret: str) -> None:
        self._key = secret.encode()
        # Cookies know no ports: two servers of one machine must not overwrite each other's.
        self.cookie = "leadline_" + hashlib.sha256(b"cookie" + self._key).hexdigest()[:8]

    def sign(self, content: dict[str, Any]) -> str:
        """The content with its signature, as one word."""
        body = base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()
        return f"{body}.{self._mark('session', body)}"

    def read(self, word: str) -> dict[str, Any] | None:
        """The content of a signed word; None where it was not signed by us."""
        body, _, mark = word.partition(".")
        if not hmac.compare_digest(mark.encode(), self._mark("session", body).encode()):
            return None
        content: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return content

    def token(self, nonce: str) -> str:
        """The token that every changing request of a session carries."""
        return self._mark("csrf", nonce)

    def _mark(self, use: str, text: str) -> str:
        return hmac.new(
            self._key, f"{use}:{text}".encode("utf-8", "surrogatepass"), hashlib.sha256
        ).hexdigest()


class Gate:
    """Tells who asks.

    Parameters
    ----------
    alone: the one assessor where nobody logs in; None with accounts.
    find: the role and the epoch of an account; None where there is none, or it is closed.
    """

    def __init__(
        self, signer: Signer, alone: str | None, find: Callable[[str], tuple[str, int] | None]
    ) -> None:
        self.signer, self.alone, self._find = signer, alone, find

    def person(self, request: Request) -> Person | None:
        """Who asks; None where nobody has logged in."""
        if self.alone is not None:
            return Person(self.alone, "lead", "alone")
        content = self.signer.read(request.cookies.get(self.signer.cookie, ""))
        if content is None or content["until"] < time.time():
            return None
        account = self._find(content["name"])
        if account is None or account[1] != content["epoch"]:
            return None
        return Person(content["name"], account[0], content["nonce"])

    def check_token(self, request: Request, person: Person) -> None:
        """Refuse a changing request that does not carry the session's token.

        Raises
        ------
        Refusal: no token, or another session's.
        """
        given = request.headers.get(HEADER, "")
        if not hmac.compare_digest(given.encode(), self.signer.token(person.nonce).encode()):
            raise Refusal(403, "csrf", "the request does not carry this session's token; load the page again")

    def remember(self, request: Request, response: Response, content: dict[str, Any]) -> None:
        """Give the browser its session."""
        response.set_cookie(
            self.signer.cookie,
            self.signer.sign(content | {"until": time.time() + SESSION, "nonce": secrets.token_urlsafe(12)}),
            max_age=int(SESSION),
            path=request.scope.get("root_path") or "/",
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )

    def forget(self, request: Request, response: Response) -> None:
        """End the browser's session."""
        response.delete_cookie(self.signer.cookie, path=request.scope.get("root_path") or "/", httponly=True)


def person_of(request: Request) -> Person | None:
    """Who asks; None where they have to log in first. For pages."""
    gate: Gate = request.app.state.gate
    return gate.person(request)


def csrf_of(request: Request) -> str:
    """The token for the changing requests of this session; empty without one. For pages."""
    person = person_of(request)
    gate: Gate = request.app.state.gate
    return "" if person is None else gate.signer.token(person.nonce)


class Tries:
    """Counts tries that failed, by address and over all, in the last minute; refuses further ones where they are many."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times: dict[str, deque[float]] = {}
        self._all: deque[float] = deque()

    def check(self, address: str) -> None:
        """Refuse where too many tries have failed.

        Raises
        ------
        Refusal: with the seconds to wait.
        """
        now = self._clock()
        for times, most in ((self._times.get(address, deque()), TRIES), (self._all, ALL_TRIES)):
            while times and times[0] < now - PER:
                times.popleft()
            if len(times) >= most:
                wait = int(times[0] + PER - now) + 1
                raise Refusal(429, "often", f"too many tries; wait {wait} seconds", wait)

    def failed(self, address: str) -> None:
        """Count a try that failed."""
        now = self._clock()
        for key in [key for key, times in self._times.items() if not times or times[-1] < now - PER]:
            del self._times[key]
        self._times.setdefault(address, deque()).append(now)
        self._all.append(now)


def content_policy(image_hosts: Collection[str]) -> str:
    """The content policy: our own scripts and styles, nothing inline, images of the listed hosts.

    >>> "img-src 'self' img.example;" in content_policy(["img.example"])
    True
    """
    images = " ".join(["'self'", *image_hosts])
    own = "script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'"
    return (
        f"default-src 'none'; {own}; img-src {images}; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )


class Guard:
    """Around the whole application: refuses foreign hosts and long bodies, and adds the security headers."""

    def __init__(self, app: ASGIApp, hosts: Collection[str], image_hosts: Collection[str]) -> None:
        self._app, self._hosts = app, {host.lower() for host in hosts}
        self._headers = [
            (name.encode(), value.encode())
            for name, value in {
                "content-security-policy": content_policy(image_hosts),
                "x-content-type-options": "nosniff",
                "x-frame-options": "DENY",
                # An invitation's address must not go to other servers.
                "referrer-policy": "no-referrer",
                "cross-origin-opener-policy": "same-origin",
                "cross-origin-resource-policy": "same-origin",
                "permissions-policy": "camera=(), geolocation=(), microphone=()",
            }.items()
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        # Asked now: what routes the request writes into its scope.
        keep = _keep(scope)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", []))
                if not any(name == b"cache-control" for name, _ in own):
                    own.append((b"cache-control", keep))
                message = {**message, "headers": own + self._headers}
            await send(message)

        if self._hosts and _host(scope) not in self._hosts:
            # A page of another name that points here (DNS rebinding) could otherwise read and write as we do.
            await refused(403, "host", "this server does not answer to that name")(
                scope, receive, with_headers
            )
            return
        body = await _body(scope, receive)
        if body is None:
            message = f"a body has at most {LARGEST} bytes"
            await refused(413, "large", message)(scope, receive, with_headers)
            return
        await self._app(scope, _replay(body, receive), with_headers)


def refused(status: int, code: str, message: str, wait: int | None = None) -> JSONResponse:
    """A refusal as every error of the API looks."""
    headers = {} if wait is None else {"Retry-After": str(wait)}
    return JSONResponse({"error": message, "code": code}, status, headers)


def _keep(scope: Scope) -> bytes:
    """Scripts and styles may be kept and are asked for again; nothing else is kept."""
    below = scope["path"].removeprefix(scope.get("root_path", ""))
    return b"no-cache" if below.startswith("/static/") else b"no-store"


def _host(scope: Scope) -> str:
    given = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
    try:
        return (urlsplit("//" + given).hostname or "").lower()
    except ValueError:
        return ""


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """The whole body; None where it is too long, told by its header or by counting."""
    told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if told.isdigit() and int(told[:20]) > LARGEST:
        return None
    if scope["method"] in ("GET", "HEAD"):
        return b""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b""
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST:
            return None
        more = message.get("more_body", False)
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body once, then waits for the end of the connection."""
    waiting = True

    async def again() -> Message:
        nonlocal waiting
        if waiting:
            waiting = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return again

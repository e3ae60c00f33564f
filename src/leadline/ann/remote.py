"""Targets of any other kind: an HTTP endpoint by a template, a Python callable, a file of returned neighbours."""

import http.client
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult

from leadline.ann.recall import Answers
from leadline.ann.target import KINDS, Allowed, Facts, Setting, Wanted, no_exact, shown_name
from leadline.ann.vectors import Vectors
from leadline.collecting.paths import NotThere
from leadline.collecting.paths import Path as PathOfIds
from leadline.collecting.target import filled, split_url
from leadline.errors import InputError, UsageError, printable
from leadline.formats.faults import Faults, WrongValue, id_text
from leadline.formats.jsontext import decode, lines_of, objects, whole
from leadline.formats.source import Source

TEMPLATE = ("url", "method", "headers", "body", "ids", "settings", "timeout")
SHAPES: tuple[tuple[str, Any, str], ...] = (
    ("method", str, "text"), ("headers", dict, "an object"), ("ids", str, "text, such as hits[*].id"),
    ("settings", dict, "an object"), ("timeout", (int, float), "a number of seconds"),
)  # fmt: skip
USUAL: Mapping[str, Any] = {"body": {"vector": "{vector}", "k": "{k}"}, "ids": "ids[*]"}
SECONDS, MOST_SECONDS = 30.0, 1_000_000
MOST_BYTES = 64 << 20
"""An answer that is larger is refused."""
PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]*)\}")


class Endpoint:
    """An HTTP endpoint: `http:TEMPLATE.json`, or an address that takes `{"vector", "k"}` and answers `{"ids": […]}`.

    A template is an object with `url`, `body` (or none: GET), `ids` (the path to the ids, as `hits[*].id`), and where
    wanted `method`, `headers`, `timeout` in seconds and `settings`. In it, `"{vector}"`, `"{k}"`, `"{allowed}"`,
    `"{exact}"` and `"{NAME}"` of every setting stand for the values; in headers `${NAME}` for the environment's.
    """

    def __init__(self, wanted: Wanted) -> None:
        if wanted.place.startswith(("http://", "https://")):
            template: dict[str, Any] = {"url": wanted.place, **USUAL}
        else:
            template = _template(wanted.place)
        self.template = template
        self.settings: dict[str, Setting] = dict(template.get("settings", {}))
        self.address = _address(template["url"])
        self.headers = {"Content-Type": "application/json", **_filled_headers(template.get("headers", {}))}
        self.ids = PathOfIds.parse(template.get("ids", USUAL["ids"]))
        self.connection = self._connect()
        for name, value in wanted.settings.items():
            self.change(name, value)

    def _connect(self) -> http.client.HTTPConnection:
        made = http.client.HTTPSConnection if self.address.scheme == "https" else http.client.HTTPConnection
        timeout = float(self.template.get("timeout", SECONDS))
        return made(self.address.hostname or "", self.address.port, timeout=timeout)

    def facts(self) -> Facts:
        """An endpoint says nothing of itself."""
        return Facts()

    def change(self, name: str, value: Setting) -> None:
        """Set a value that the template names."""
        if f"{{{name}}}" not in json.dumps([self.template.get("body"), self.template["url"]]):
            raise UsageError(f"the template has no place for {{{name}}}")
        self.settings[name] = value

    def search(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """Ask once; the connection is kept, and opened again where the server closed it."""
        return self._asked(query, k, allowed, exact=False)

    def exact(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """The same with `{exact}` true, where the template has a place for it."""
        if '"{exact}"' not in json.dumps(self.template.get("body")):
            raise no_exact("an endpoint without {exact} in its template")
        return self._asked(query, k, allowed, exact=True)

    def _asked(self, query: Any, k: int, allowed: Allowed, exact: bool) -> Sequence[str]:
        values = _Values(self.settings, vector=query.tolist(), k=k, exact=exact)
        values["allowed"] = None if allowed is None else list(allowed)
        if allowed is not None and "{allowed}" not in json.dumps(self.template.get("body")):
            raise UsageError("the template has no place for {allowed}, which a filtered query needs")
        body = filled(self.template["body"], values, PLACEHOLDER) if "body" in self.template else None
        path = filled(self.address.path or "/", values, PLACEHOLDER)
        if self.address.query:
            path += "?" + str(filled(self.address.query, values, PLACEHOLDER))
        content = None if body is None else json.dumps(body).encode()
        method = self.template.get("method", "GET" if content is None else "POST")
        status, answer = self._sent(method, str(path), content)
        if status != 200:
            raise OSError(f"HTTP {status}")
        try:
            found = self.ids.follow(json.loads(answer))
        except NotThere as error:
            raise ValueError(f"the answer has {error}") from None
        if not isinstance(found, list):
            raise ValueError(f"the answer has no list at {self.ids.text}")
        return [id_text(one, "returned id") for one in found]

    def _sent(self, method: str, path: str, content: bytes | None) -> tuple[int, bytes]:
        for last in (False, True):
            try:
                self.connection.request(method, path, content, self.headers)
                response = self.connection.getresponse()
                answer = response.read(MOST_BYTES + 1)
                break
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.connection.close()
                if last:
                    raise
            except BaseException:
                # A connection that timed out would give the late answer to the next query, and one that was answered
                # with what is no HTTP would refuse it.
                self.connection.close()
                raise
        if len(answer) > MOST_BYTES:
            self.connection.close()
            raise OSError("an answer of more than 64 MB")
        return response.status, answer

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def _address(url: str) -> SplitResult:
    """The parts of an endpoint's address.

    Raises
    ------
    UsageError: neither http nor https, no host, or one that cannot be looked up.
    """
    with suppress(ValueError):
        found = split_url(url)
        if found.username is not None or found.password is not None:
            raise UsageError(
                f"{printable(shown_name(url))}: no name or password in the address; a template's headers may hold "
                '"Authorization": "${VARIABLE}"'
            )
        if found.scheme in ("http", "https") and found.hostname and found.port != 0:
            return found
    raise UsageError(
        f"{printable(shown_name(url))}: no address of an endpoint, such as http://localhost:8080/search"
    )


def _template(place: str) -> dict[str, Any]:
    found = whole(decode(Source.open(place).read_all(), place), place)
    if not isinstance(found, dict) or not isinstance(found.get("url"), str):
        raise InputError(f"{printable(place)}: a template is an object with {', '.join(TEMPLATE)}")
    name = printable(place)
    wrong = [key for key in found if key not in TEMPLATE]
    if wrong:
        raise InputError(f"{name}: unknown key {printable(wrong[0])!r}; known: {', '.join(TEMPLATE)}")
    for key, kind, word in SHAPES:
        if key in found and (not isinstance(found[key], kind) or found[key] is True):
            raise InputError(f"{name}: {key} is {word}")
    if not 0 < found.get("timeout", SECONDS) < MOST_SECONDS:
        raise InputError(f"{name}: timeout is a number of seconds above 0 and below {MOST_SECONDS:,}")
    return found


def _filled_headers(headers: Mapping[str, str]) -> dict[str, str]:
    def value(match: "re.Match[str]") -> str:
        if match[1] not in os.environ:
            raise UsageError(f"the template's headers name ${{{match[1]}}}, which the environment lacks")
        found = os.environ[match[1]]
        if not found.isprintable() or not found.isascii():
            # Here, as the error of a request would show the value.
            raise UsageError(f"the value in {match[1]} is not printable ASCII, which a header must be")
        return found

    return {name: re.sub(r"\$\{(\w+)\}", value, str(text)) for name, text in headers.items()}


class _Values(dict[str, Any]):
    """The values of a template's places; a place without one is an error of the one who called."""

    def __missing__(self, name: str) -> Any:
        raise UsageError(f"the template names {{{name}}}; give it with --set {name}=VALUE")


class Callable:
    """A Python callable: `module:function`, called with the vector, k and the settings by name; it returns the ids."""

    def __init__(self, wanted: Wanted) -> None:
        module, _, name = wanted.place.partition(":")
        sys.path.insert(0, "")
        try:
            found = getattr(import_module(module), name, None)
        except ModuleNotFoundError as error:
            raise UsageError(
                f"--target {printable(wanted.place)}: {error}, and no kind of target is named so; "
                f"known: {', '.join(KINDS)}"
            ) from None
        except Exception as error:
            raise UsageError(
                f"--target {printable(wanted.place)}: {type(error).__name__}: {error}"
            ) from error
        finally:
            with suppress(ValueError):
                sys.path.remove("")
        if not callable(found):
            raise UsageError(
                f"--target {printable(wanted.place)}: {printable(module)} has no function {printable(name)!r}"
            )
        self.function, self.settings = found, dict(wanted.settings)

    def facts(self) -> Facts:
        """A callable says nothing of itself."""
        return Facts()

    def change(self, name: str, value: Setting) -> None:
        """Pass the value by this name from now on."""
        self.settings[name] = value

    def search(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """Call it; with `allowed` only where the query has a filter."""
        more = {} if allowed is None else {"allowed": list(allowed)}
        return [
            id_text(_plain(one), "returned id") for one in self.function(query, k, **self.settings, **more)
        ]

    def exact(self, query: Any, k: int, allowed: Allowed = None) -> Sequence[str]:
        """It has none."""
        raise no_exact("a callable")

    def close(self) -> None:
        """Nothing to let go of."""


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def read_returned(path: str | Path, queries: Vectors) -> Answers:
    """What an index returned, from JSONL: `{"query_id", "ids": […]}`, or `{"query_id", "error"}` where it failed.

    A query without a row has no answer, which counts as nothing found.

    Raises
    ------
    InputError: rows of another form, a query twice, or one that is not among the queries.
    """
    name = str(path)
    rows = read_id_lists(name, queries)
    ids: list[Sequence[str] | None] = [None] * queries.rows
    errors = {}
    for row, found in rows.items():
        if isinstance(found, str):
            errors[row] = found
        else:
            ids[row] = found
    if len(errors) == queries.rows:
        raise InputError(f"{printable(name)}: every query failed: {printable(errors[0])}")
    return Answers(ids, errors)


def read_id_lists(name: str, queries: Vectors) -> dict[int, list[str] | str]:
    """The ids (or the error's message) of each query's row, from JSONL."""
    faults = Faults(name, 'a row is {"query_id": …, "ids": […]}')
    found: dict[int, list[str] | str] = {}
    lines: dict[int, int] = {}
    for line, row in objects(lines_of(decode(Source.open(name).read_all(), name)), faults):
        try:
            query = id_text(row.get("query_id"), "query_id")
            place = queries.row_of.get(query)
            if place is None:
                raise WrongValue(query, f"no query of {printable(queries.name)} has this id")
            if place in found:
                raise WrongValue(query, f"the query stands in line {lines[place]} too")
            value = _list_of(row)
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
            continue
        found[place], lines[place] = value, line
    faults.check()
    if not found:
        raise InputError(f"{printable(name)}: holds no rows")
    return found


def _list_of(row: Mapping[str, Any]) -> list[str] | str:
    if "error" in row and "ids" not in row:
        return str(row["error"])
    if not isinstance(row.get("ids"), list):
        raise WrongValue(json.dumps(row)[:80], "ids is a list")
    return [id_text(one, "id") for one in row["ids"]]

"""A system that is asked over HTTP: the template of its requests, with secrets from the environment only."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from leadline.collecting.paths import Path
from leadline.collecting.reply import read_map
from leadline.config import toml_table
from leadline.errors import InputError, UnknownNameError, UsageError, printable
from leadline.formats.jsontext import whole

METHODS = ("GET", "POST", "PUT")
KEYS = ("method", "url", "headers", "body", "map")
SCHEMES = ("Basic", "Bearer", "ApiKey", "Token", "Digest", "Negotiate")
PLACE = re.compile(r"\{(query|k|query_id)\}")
"""What is put in: the query's text, the number of documents asked for, the query's id."""


@dataclass(frozen=True)
class Request:
    """One request, ready to send; `headers` holds secrets and is never shown."""

    method: str
    url: str
    body: bytes | None
    headers: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class HttpTarget:
    """The template of the requests to one system, and where its answers hold what.

    `headers` are values from the environment, by the header's name; `engine` names whose signs of a partial answer
    are looked for.
    """

    url: str
    method: str = "POST"
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    paths: Mapping[str, Path] = field(default_factory=dict)
    engine: str = ""

    @property
    def name(self) -> str:
        """What is asked, as it may be shown: without the query string, which may hold a key."""
        return f"{self.method} {shown_url(self.url)}"

    @property
    def identity(self) -> Mapping[str, Any]:
        """What makes two targets the same, without any secret."""
        where = {name: path.text for name, path in self.paths.items()}
        return {"method": self.method, "url": self.url, "body": self.body, "map": where}

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be written anywhere: the headers' values, and their parts."""
        found = {part for value in self.headers.values() for part in (value, *value.split())}
        # The name of a scheme, as in "Bearer …", is no secret; one or two letters would blot out every text.
        return tuple(sorted((one for one in found if len(one) > 2 and one not in SCHEMES), key=len)[::-1])

    def request(self, text: str, k: int, query_id: str) -> Request:
        """The request for one query.

        >>> HttpTarget("http://localhost/s?q={query}&n={k}", "GET").request("a b&c", 5, "q1").url
        'http://localhost/s?q=a%20b%26c&n=5'
        """
        values = {"query": text, "k": k, "query_id": query_id}
        url = PLACE.sub(lambda found: quote(str(values[found[1]]), safe=""), self.url)
        # What a template or an id brings beyond ASCII is quoted; what is quoted already stays.
        url = quote(url, safe="%/:?#[]@!$&'()*+,;=~")
        own = {"Accept": "application/json", "User-Agent": "leadline"}
        body = None
        if self.body is not None:
            body = json.dumps(filled(self.body, values), ensure_ascii=False).encode("utf-8", "replace")
            own["Content-Type"] = "application/json"
        return Request(self.method, url, body, {**own, **self.headers})


def filled(template: Any, values: Mapping[str, Any], place: re.Pattern[str] = PLACE) -> Any:
    """A template with its places filled; a text that is a place alone takes the value, so that k stays a number.

    >>> filled({"q": "{query}", "n": "{k}", "say": "top {k}"}, {"query": 'a "b" {k}', "k": 3})
    {'q': 'a "b" {k}', 'n': 3, 'say': 'top 3'}
    """
    if isinstance(template, str):
        alone = place.fullmatch(template)
        if alone:
            return values[alone[1]]
        # In one pass: braces in the query's own text are left as they are.
        return place.sub(lambda found: str(values[found[1]]), template)
    if isinstance(template, Mapping):
        return {key: filled(value, values, place) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values, place) for value in template]
    return template


def simple_target(url: str, headers: Mapping[str, str], where: Mapping[str, str]) -> HttpTarget:
    """A target from its address alone: GET where the address holds `{query}`, else POST of query and k.

    Raises
    ------
    UsageError: no usable address, or a map that is none.
    """
    checked_url(url)
    if "{query}" in url:
        return HttpTarget(url, "GET", None, secret_headers(headers), read_map(where))
    body = {"query": "{query}", "k": "{k}"}
    return HttpTarget(url, "POST", body, secret_headers(headers), read_map(where))


def file_target(path: str, headers: Mapping[str, str], where: Mapping[str, str]) -> HttpTarget:
    """A target from a template file, TOML or JSON: method, url, headers, body and map.

    Raises
    ------
    InputError: the file cannot be read, or says what cannot be meant. UnknownNameError: an unknown key.
    """
    table = _table(path)
    for key in table:
        if key not in KEYS:
            raise UnknownNameError("key", key, KEYS, where=path)
    wrong = [
        f"{name} is {said}"
        for name, kind, said in (("url", str, "text"), ("method", str, "text"), ("headers", dict, "a table"),
                                 ("map", dict, "a table"))
        if name in table and not isinstance(table[name], kind)
    ]  # fmt: skip
    for name in ("headers", "map"):
        inner = table.get(name, {})
        if isinstance(inner, dict) and not all(isinstance(value, str) for value in inner.values()):
            wrong.append(f"each value of {name} is text")
    if "url" not in table:
        wrong.append("there is no url")
    if wrong:
        raise InputError(f"{printable(path)}: {'; '.join(wrong)}")
    method = str(table.get("method", "POST" if "body" in table else "GET")).upper()
    if method not in METHODS:
        raise InputError(f"{printable(path)}: method {method!r} is not one of {', '.join(METHODS)}")
    checked_url(table["url"])
    if "{query}" not in json.dumps([table["url"], table.get("body")]):
        raise InputError(
            f"{printable(path)}: neither url nor body holds {{query}}: every query would be the same"
        )
    found = secret_headers({**table.get("headers", {}), **headers})
    return HttpTarget(
        table["url"], method, table.get("body"), found, read_map({**table.get("map", {}), **where})
    )


def _table(path: str) -> dict[str, Any]:
    try:
        text = File(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{printable(path)}: cannot be read ({error})") from None
    table = whole(text, path) if path.lower().endswith(".json") else toml_table(text, path)
    if not isinstance(table, dict):
        raise InputError(f"{printable(path)}: a target is one object with url, method, headers, body and map")
    return table


def secret_headers(names: Mapping[str, str]) -> dict[str, str]:
    """The values of the headers, each from the environment variable that it names.

    Raises
    ------
    UsageError: a variable that is not set, or a header or value that HTTP does not allow.
    """
    found = {}
    for header, variable in names.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
            # The value may be the secret itself: it is not repeated.
            raise UsageError(
                f"header {printable(header)}: a header names an environment variable that holds its value, "
                "such as Authorization=SEARCH_AUTH"
            )
        value = os.environ.get(variable)
        if value is None:
            raise UsageError(f"header {printable(header)}: the environment has no {variable}")
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", header):
            raise UsageError(f"{printable(header)!r} is no name of a header")
        if not value or not value.isprintable() or not value.isascii():
            raise UsageError(
                f"header {printable(header)}: the value in {variable} is empty or not printable ASCII"
            )
        found[header] = value
    return found


def split_url(url: str) -> SplitResult:
    """The parts of an address whose port is a number and whose host can be looked up.

    Raises
    ------
    ValueError: says what is wrong with it.

    >>> split_url("http://localhost:9200/i").port
    9200
    """
    parts = urlsplit(url)
    _ = parts.port
    if re.search(r"[\x00-\x20\x7f]", url):
        raise ValueError("white space or a control character in it")
    try:
        (parts.hostname or "").encode("idna")
    except UnicodeError:
        raise ValueError("its host is no name") from None
    return parts


def checked_url(url: str) -> str:
    """The address, once it is one that can be asked.

    Raises
    ------
    UsageError: neither http nor https, no host, or a name and password in it.
    """
    try:
        parts = split_url(url)
    except ValueError as error:
        reason = printable(str(error))
        raise UsageError(f"{printable(shown_url(url))}: no usable address ({reason})") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{printable(url)}: an address starts with http:// or https:// and names a host")
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"{printable(shown_url(url))}: no name or password in the address; "
            "give --header Authorization=VARIABLE"
        )
    return url


def shown_url(url: str) -> str:
    """An address as it may be shown: without name, password and query string.

    >>> shown_url("http://u:p@localhost:9200/i/_search?key=1")
    'http://localhost:9200/i/_search'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.partition("?")[0].rpartition("@")[2]
    return printable(urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")))

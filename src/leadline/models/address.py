"""The base URL of an endpoint: what can be asked, and how it may be shown."""

from urllib.parse import parse_qsl, urlsplit, urlunsplit

from leadline.errors import UsageError, printable


def checked_address(url: str) -> tuple[str, dict[str, str]]:
    """A base URL as it may be shown, kept and asked, and the query string to send with every request.

    Raises
    ------
    UsageError: neither http nor https, no host, a name or password in it, or a query string that repeats a name.

    >>> checked_address("http://localhost:8000/v1/?version=2")
    ('http://localhost:8000/v1', {'version': '2'})
    """
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise UsageError("the endpoint is no usable address") from None
    shown = printable(
        urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
    )
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(
            f"{shown or 'the endpoint'}: an endpoint starts with http:// or https:// and names a host, "
            "such as http://localhost:8000/v1"
        )
    if "@" in parts.netloc:
        raise UsageError(
            f"{shown}: no name, password or key in the address; set LEADLINE_API_KEY in the environment"
        )
    if not shown.isascii() or " " in shown:
        raise UsageError(f"{shown}: an address is ASCII without spaces")
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    if len(query) < len(parse_qsl(parts.query, keep_blank_values=True)):
        raise UsageError(f"{shown}: the query string gives a name twice")
    return shown, query

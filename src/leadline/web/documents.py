"""The documents that are shown: read from JSONL, a folder of texts or a BEIR corpus; only those that are asked for."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from leadline.errors import InputError, printable
from leadline.formats.columns import plain
from leadline.formats.documents import IDS, TEXT_FILES, document_id, document_rows, document_text
from leadline.formats.faults import Faults, WrongValue, found_text
from leadline.formats.jsontext import decode
from leadline.formats.source import Source
from leadline.judging.judgment import text_hash

AROUND = 400
"""Characters of grey text before and after a chunk."""
SHOWN = 12_000
"""Characters of a text that the judging screen shows; the rest on demand."""
OWN = {*IDS, "text", "title", "path", "link", "url", "image", "fields", "metadata", "start", "end"}
"""What is no further field, in plain form."""
MOST_FIELDS = 24


@dataclass(frozen=True)
class Document:
    """A document, or a chunk of one (then with `document_id` and the characters from `start` to `end` of it)."""

    doc_id: str
    text: str
    title: str | None = None
    path: str | None = None
    link: str | None = None
    image: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    document_id: str | None = None
    start: int | None = None
    end: int | None = None

    @cached_property
    def hash(self) -> str:
        """The hash of the text, as judgments keep it."""
        return text_hash(self.text)


@dataclass(frozen=True)
class Surroundings:
    """A chunk in its document: the whole text, and where the chunk stands in it."""

    text: str
    start: int
    end: int


class Documents:
    """The documents of the pairs, by id, and the rest of the documents that they are chunks of.

    >>> one = Document("a#1", "one ", document_id="a", start=0, end=4)
    >>> two = Document("a#2", "two", document_id="a", start=4, end=7)
    >>> Documents([one, two]).around("a#2").text
    'one two'
    """

    def __init__(self, documents: Collection[Document]) -> None:
        self.by_id = {one.doc_id: one for one in documents}
        self._chunks: dict[str, list[Document]] = {}
        for one in documents:
            if one.document_id is not None and one.start is not None:
                self._chunks.setdefault(one.document_id, []).append(one)
        self._whole: dict[str, str] = {}

    def __contains__(self, doc_id: object) -> bool:
        return doc_id in self.by_id

    def __len__(self) -> int:
        return len(self.by_id)

    def get(self, doc_id: str) -> Document | None:
        """The document of that id, if there is one."""
        return self.by_id.get(doc_id)

    def around(self, doc_id: str) -> Surroundings | None:
        """The document that a chunk is of; None for what is no chunk with a place in a document."""
        one = self.by_id[doc_id]
        if one.document_id is None or one.start is None:
            return None
        return Surroundings(self._document(one.document_id), one.start, one.start + len(one.text))

    def _document(self, document_id: str) -> str:
        """The whole text: the document itself where it was given, else its chunks put together; gaps become `…`."""
        given = self.by_id.get(document_id)
        if given is not None and given.document_id is None:
            return given.text
        if document_id not in self._whole:
            text = ""
            for one in sorted(self._chunks[document_id], key=lambda chunk: chunk.start or 0):
                start = one.start or 0
                if start > len(text):
                    gap = start - len(text)
                    text += "…" if gap == 1 else "\n" + " " * (gap - 3) + "…\n" if gap >= 3 else " …"[:gap]
                text = text[:start] + one.text + text[start + len(one.text) :]
            self._whole[document_id] = text
        return self._whole[document_id]


def read_documents(
    path: str | Path, wanted: Collection[str], image_hosts: Collection[str] = ()
) -> tuple[Documents, set[str]]:
    """Those documents that are wanted, with the documents that they are chunks of.

    The path is JSONL, CSV, TSV or Parquet (`id`, `text`, and what else `Document` has; further fields are named fields),
    a BEIR corpus (`_id`, `text`, `title`; the file or its folder), or a folder of text files, whose ids are their paths.

    Raises
    ------
    InputError: no such place, wrong rows, one id twice with two texts, or none of the wanted documents.

    Returns
    -------
    (documents, hosts): and the hosts of images that are not in `image_hosts` and so are not shown.
    """
    place, asked = Path(path), set(wanted)
    corpus = next((file for file in sorted(place.glob("corpus.jsonl*")) if file.is_file()), None)
    faults = Faults(str(path), "a document is a JSON object with id and text")
    hosts: set[str] = set()

    def rows() -> Iterator[Document]:
        if place.is_dir() and corpus is None:
            yield from _texts(place, asked)
        else:
            yield from _rows(corpus or place, asked, faults, _images(image_hosts, hosts))

    found: dict[str, Document] = {}
    for one in rows():
        before = found.get(one.doc_id)
        if before is not None and before.text != one.text:
            raise InputError(
                f"{printable(str(path))}: the document {printable(one.doc_id)!r} stands twice, with two texts"
            )
        found[one.doc_id] = one
    faults.check()
    if not found:
        raise InputError(f"{printable(str(path))}: none of the {len(asked)} documents to judge is in it")
    return Documents(list(found.values())), hosts


def _rows(
    path: Path, wanted: set[str], faults: Faults, image: Callable[[Any], str | None]
) -> Iterator[Document]:
    """The wanted rows of a file, and every chunk of the same documents: in two passes, since those may stand before."""
    source = Source.open(path)
    parents: set[str] = set()
    for _, row in document_rows(source, Faults(source.name)):
        with suppress(WrongValue):
            if row.get("document_id") is not None and document_id(row) in wanted:
                parents.add(str(row["document_id"]))
    for line, row in document_rows(source, faults):
        try:
            own = document_id(row)
            if own in wanted or own in parents or str(row.get("document_id")) in parents:
                yield _document(row, own, image)
        except WrongValue as error:
            faults.add(line, None, error.found, error.expected)


def _document(row: Mapping[str, Any], own: str, image: Callable[[Any], str | None]) -> Document:
    text = document_text(row)
    numbers = [_whole(row.get(name)) for name in ("start", "end")]
    if any(n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 0) for n in numbers):
        raise WrongValue(found_text(numbers), "start and end are characters from 0")
    given = row.get("fields")
    if given is not None and not isinstance(given, dict):
        raise WrongValue(found_text(given), "fields maps names to values")
    rest = {name: value for name, value in row.items() if plain(name) not in OWN}
    parent, metadata = row.get("document_id"), row.get("metadata")
    return Document(
        own,
        text,
        _text(row.get("title")),
        _text(row.get("path")),
        web_link(row.get("link") or row.get("url")),
        image(row.get("image")),
        _fields(rest | (metadata if isinstance(metadata, dict) else {}) | (given or {})),
        None if parent is None or str(parent) == own else str(parent),
        numbers[0],
        numbers[1],
    )


def _whole(value: Any) -> Any:
    """A number of a table, where all is text, as a number."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value if value != "" else None


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, (str, int, float)) and str(value) else None


def _fields(values: Mapping[str, Any]) -> dict[str, str]:
    """Named fields as text: scalars as they are, lists of scalars joined; nested objects are left out."""
    shown = {}
    for name, value in values.items():
        if isinstance(value, (str, int, float)) and str(value).strip():
            shown[str(name)] = str(value)
        elif isinstance(value, list) and value and all(isinstance(one, (str, int, float)) for one in value):
            shown[str(name)] = ", ".join(map(str, value))
    return dict(list(shown.items())[:MOST_FIELDS])


def web_link(value: Any) -> str | None:
    """The address where it is one of the web (http or https with a host), else None: no `javascript:`, no `data:`.

    >>> web_link("https://a.example/x"), web_link("javascript:alert(1)")
    ('https://a.example/x', None)
    """
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        parts = urlsplit(text)
        # A port that is none is an error, too.
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return text if is_web and text.isprintable() and " " not in text else None


PORTS = {"http": 80, "https": 443}


def _images(listed: Collection[str], refused: set[str]) -> Callable[[Any], str | None]:
    """A function that lets an image's address through where its host is listed, and notes the host where not."""
    known = {host.lower() for host in listed}
    below = tuple(host[1:] for host in known if host.startswith("*."))

    def image(value: Any) -> str | None:
        link = web_link(value)
        if link is None:
            return None
        host = host_of(link)
        # As the content policy reads them: a host without a port is the usual port only, `*.` is any host below.
        if any(one in known or one.endswith(below) for one in (host, _with_port(link))):
            return link
        refused.add(host)
        return None

    return image


def host_of(link: str) -> str:
    """The host of a web address, with its port where that is not the usual one of the scheme.

    >>> host_of("https://ana@Img.example:443/a.png"), host_of("http://img.example:8080/a.png")
    ('img.example', 'img.example:8080')
    """
    parts = urlsplit(link)
    host = (parts.hostname or "").lower()
    return host if parts.port in (None, PORTS.get(parts.scheme)) else f"{host}:{parts.port}"


def _with_port(link: str) -> str:
    parts = urlsplit(link)
    return f"{(parts.hostname or '').lower()}:{parts.port or PORTS.get(parts.scheme)}"


def _texts(folder: Path, wanted: set[str]) -> Iterator[Document]:
    """The text files of a folder by their path in it; an id may leave the ending out. Links out of it are not followed."""
    root = folder.resolve()
    for file in sorted(folder.rglob("*")):
        own = file.relative_to(folder).as_posix()
        short = own.removesuffix(file.suffix)
        named = own if own in wanted else short if short in wanted else None
        if named is None or file.suffix.lower() not in TEXT_FILES or not file.is_file():
            continue
        if not file.resolve().is_relative_to(root):
            continue
        try:
            text = decode(file.read_bytes(), str(file)).removeprefix("\ufeff")
        except OSError as error:
            raise InputError(f"{printable(str(file))}: cannot be read ({error.strerror or error})") from None
        yield Document(named, text, path=own)

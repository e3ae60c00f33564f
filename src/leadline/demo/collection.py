"""The demonstration collection: the docstrings of the running interpreter's own standard library."""

from __future__ import annotations

from leadline.demo.document import Document
from leadline.demo.natives import native_documents
from leadline.demo.sources import source_documents


def build_documents() -> list[Document]:
    """Read this Python's standard library and return its documents, sorted by id, ids unique.

    About six thousand documents in a few seconds. Modules with source text are parsed, never imported;
    modules written in C come from a fixed list. The same interpreter always gives the same list; another
    Python version or platform gives a slightly different one. Where both ways of reading know a name, the
    source text wins, since it has the fuller signature.

    >>> "pathlib.Path.glob" in {document.id for document in build_documents()}
    True
    """
    found = {document.id: document for document in native_documents()}
    found.update((document.id, document) for document in source_documents())
    return sorted(found.values(), key=lambda document: document.id)

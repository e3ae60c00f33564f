"""The record that the demonstration collection is made of: one documented name of the standard library."""

from __future__ import annotations

import inspect
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """One searchable document.

    Fields: `id` is the name as a Python user writes it (`csv.DictReader`, `str.split`), unique in a
    collection and free of white space; `text` is the signature line, a blank line, and the docstring;
    `kind` is one of `module`, `class`, `function`, `method`, `property`; `module` is the public module
    the name belongs to (`builtins` for built-in names).
    """

    id: str
    text: str
    kind: str
    module: str


def make_document(
    name: str, signature: str, docstring: str | None, kind: str, module: str
) -> Document | None:
    """Build a document, or return None where there is no docstring to search.

    `signature` is the part after the name, such as `(a, b=None)`, or empty. The docstring is dedented.

    >>> make_document("m.f", "(x)", "  Say hello.  ", "function", "m").text
    'm.f(x)\\n\\nSay hello.'
    """
    cleaned = inspect.cleandoc(docstring).strip() if docstring else ""
    if not cleaned:
        return None
    # A docstring may hold half of a surrogate pair as an example, which no UTF-8 file can.
    text = f"{name}{signature}\n\n{cleaned}".encode("utf-8", "replace").decode("utf-8")
    return Document(id=name, text=text, kind=kind, module=module)

"""Documents read by introspection from modules written in C, which have no source text to parse."""

from __future__ import annotations

import importlib
import inspect
import re
import types
import warnings
from collections.abc import Iterator

from leadline.demo.document import Document, make_document

# Public module -> the private modules whose objects it offers as its own. The list is fixed: each of these
# imports does nothing but define names. Modules that a platform or build lacks are passed over.
NATIVE_MODULES: dict[str, tuple[str, ...]] = {
    "array": (),
    "atexit": (),
    "binascii": (),
    "builtins": ("io", "_io"),  # for open
    "bz2": ("_bz2",),
    "cmath": (),
    "codecs": ("_codecs",),
    "collections": ("_collections",),
    "contextvars": ("_contextvars",),
    "csv": ("_csv",),
    "errno": (),
    "faulthandler": (),
    "fcntl": (),
    "functools": ("_functools",),
    "gc": (),
    "grp": (),
    "hashlib": ("_hashlib", "_blake2", "_md5", "_sha1", "_sha2", "_sha256", "_sha3", "_sha512"),
    "io": ("_io",),
    "itertools": (),
    "locale": ("_locale",),
    "lzma": ("_lzma",),
    "marshal": (),
    "math": (),
    "mmap": (),
    "operator": ("_operator",),
    "os": ("posix", "nt"),
    "pickle": ("_pickle",),
    "pwd": (),
    "queue": ("_queue",),
    "random": ("_random",),
    "re": ("_sre",),
    "resource": (),
    "select": (),
    "signal": ("_signal",),
    "socket": ("_socket",),
    "sqlite3": ("_sqlite3",),
    "ssl": ("_ssl",),
    "string": ("_string",),
    "struct": ("_struct",),
    "sys": (),
    "syslog": (),
    "termios": (),
    "threading": ("_thread",),
    "time": (),
    "tracemalloc": ("_tracemalloc",),
    "types": ("builtins",),
    "typing": ("_typing",),
    "unicodedata": (),
    "warnings": ("_warnings",),
    "weakref": ("_weakref",),
    "zlib": (),
}

_METHOD_TYPES = (types.MethodDescriptorType, types.ClassMethodDescriptorType, classmethod, staticmethod)
_PROPERTY_TYPES = (types.GetSetDescriptorType, types.MemberDescriptorType)

# The first argument of functions and class methods, which no caller writes.
_IMPLIED_ARGUMENT = re.compile(r"\$(module|type)(, /)?(, )?")


def native_documents() -> list[Document]:
    """Import the modules of the fixed list and describe their classes, functions and members written in C.

    Returns documents sorted by id, some of which `sources.source_documents` may have too (the caller keeps
    those). Names of `builtins` carry no prefix: `str.split`, `sorted`.
    """
    found: dict[str, Document] = {}
    for name, private in NATIVE_MODULES.items():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # looking at a deprecated name is no use of it
            for document in _module_documents(module, name, (name, *private)):
                found.setdefault(document.id, document)
    return sorted(found.values(), key=lambda document: document.id)


def _module_documents(module: types.ModuleType, name: str, origins: tuple[str, ...]) -> Iterator[Document]:
    """Yield the documents of one module: itself, its native functions, its classes and their members."""
    document = make_document(name, "", module.__doc__, "module", name)
    if document is not None:
        yield document
    prefix = "" if name == "builtins" else f"{name}."
    for attribute in sorted(vars(module)):
        value = getattr(module, attribute)
        if attribute.endswith("hook"):  # a program may have put in its own; Python keeps the first one here
            value = getattr(module, f"__{attribute}__", value)
        if attribute.startswith("_") or getattr(value, "__module__", None) not in origins:
            continue
        real_name = getattr(value, "__name__", attribute)
        if real_name != attribute and vars(module).get(real_name) is value:
            continue  # an alias kept for old programs, such as IOError for OSError
        if inspect.isclass(value):
            yield from _class_documents(value, f"{prefix}{attribute}", name)
        elif inspect.isbuiltin(value):
            yield from _member_document(value, value.__doc__, f"{prefix}{attribute}", "function", name)


def _class_documents(value: type, name: str, module: str) -> Iterator[Document]:
    """Yield the documents of a class and of the members it or a private base defines in C."""
    yield from _member_document(value, value.__doc__, name, "class", module)
    members: dict[str, object] = {}
    # A public class such as socket.socket takes most methods from a private twin written in C.
    private = [b for b in value.__bases__ if b.__module__.startswith("_") or b.__name__.startswith("_")]
    for owner in (value, *private):
        for attribute, member in vars(owner).items():
            members.setdefault(attribute, member)
    for attribute in sorted(members):
        member = members[attribute]
        if attribute.startswith("_"):
            continue
        if isinstance(member, _PROPERTY_TYPES):
            yield from _member_document(None, member.__doc__, f"{name}.{attribute}", "property", module)
        elif isinstance(member, _METHOD_TYPES):
            bound = getattr(value, attribute, None)
            if not inspect.isfunction(bound) and not inspect.ismethod(bound):
                # A static method written in C has the docstring of `staticmethod`; the function in it has its own.
                told = bound if isinstance(member, staticmethod) else member
                yield from _member_document(bound, told.__doc__, f"{name}.{attribute}", "method", module)


def _member_document(
    value: object, docstring: object, name: str, kind: str, module: str
) -> Iterator[Document]:
    """Yield the document of one object where it has a docstring."""
    if isinstance(docstring, str):
        document = make_document(name, _signature(value), docstring, kind, module)
        if document is not None:
            yield document


def _signature(value: object) -> str:
    """Return a callable's signature as its C code tells it, or nothing where it does not.

    `inspect.signature` would evaluate the default values, which fails for some and gives others that hold
    memory addresses, different on every run.

    >>> _signature(dict.get)
    '(self, key, default=None)'
    """
    text = getattr(value, "__text_signature__", None)
    if not isinstance(text, str):
        return ""
    return _IMPLIED_ARGUMENT.sub("", text).replace("$", "").replace(", /", "")

"""Documents read from the source text of the standard library, which is parsed and never imported."""

from __future__ import annotations

import ast
import sys
import sysconfig
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leadline.demo.document import Document, make_document

LEFT_OUT = frozenset(
    {
        "antigravity",
        "distutils",
        "encodings",
        "ensurepip",
        "idlelib",
        "lib2to3",
        "nt",
        "ntpath",
        "nturl2path",
        "pydoc_data",
        "test",
        "this",
        "turtledemo",
    }
)
"""Top-level modules that are Easter eggs, applications, test code, tables or twins of another module."""

_TEST_FOLDERS = frozenset({"test", "tests", "idle_test", "__pycache__"})

# Python users know these modules by another name; which of them exist depends on the Python version. The
# first one listed gives the docstring of a public module that has no source file of its own (os.path).
_PUBLIC_HOME = {
    "_collections_abc": "collections.abc",
    "_pydatetime": "datetime",
    "_pydecimal": "decimal",
    "posixpath": "os.path",
    "genericpath": "os.path",
    "concurrent.futures.thread": "concurrent.futures",
    "concurrent.futures.process": "concurrent.futures",
}

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass
class _Library:
    """The source files of a standard library: `paths` maps module names to files; trees are kept."""

    root: Path
    paths: dict[str, Path]
    trees: dict[str, ast.Module] = field(default_factory=dict)

    def tree(self, name: str) -> ast.Module | None:
        """Return the parsed module, reading it at first use; None where there is no such source file."""
        if name not in self.trees:
            path = self.paths.get(name) or _source_path(self.root, name)
            if path is None:
                return None
            self.trees[name] = _parse(path)
        return self.trees[name]

    def is_package(self, name: str) -> bool:
        """Tell whether the public module is a folder with an `__init__.py`."""
        return self.paths[name].name == "__init__.py"


def library_root() -> Path:
    """Return the folder that holds the running interpreter's standard library."""
    return Path(sysconfig.get_path("stdlib"))


def source_documents(root: Path | None = None) -> list[Document]:
    """Read every public module under `root` (default: this interpreter's library) with `ast`.

    Returns one document per public module, class, function, method and property that has a docstring,
    sorted by id. A name that a package re-exports from one of its own or from a private module is listed
    once, under the package: `asyncio.gather`, not `asyncio.tasks.gather`.
    """
    folder = library_root() if root is None else root
    library = _Library(folder, _public_paths(folder))
    homes = _reexported_names(library)
    # Modules known by another name come last, so that the documents of the public module win.
    usual = [
        name
        for name in sorted({*library.paths, *(source for source, _ in homes)})
        if name not in _PUBLIC_HOME
    ]
    found: dict[str, Document] = {}
    for name in [*usual, *_PUBLIC_HOME]:
        tree = library.tree(name)
        if tree is None:
            continue
        home = _PUBLIC_HOME.get(name, name if name in library.paths else None)
        for document in _module_documents(library, name, home, homes):
            found.setdefault(document.id, document)
    return sorted(found.values(), key=lambda document: document.id)


def _source_path(root: Path, name: str) -> Path | None:
    """Return the source file of a module name, or None."""
    base = root.joinpath(*name.split("."))
    for path in (base / "__init__.py", base.with_name(base.name + ".py")):
        if path.is_file():
            return path
    return None


def _public_paths(root: Path) -> dict[str, Path]:
    """Map the name of every public module to its source file; private and left-out ones are absent."""
    paths: dict[str, Path] = {}
    for top in sorted(sys.stdlib_module_names):
        if top.startswith("_") or top in LEFT_OUT:
            continue
        path = _source_path(root, top)
        if path is None:
            continue
        paths[top] = path
        if path.name == "__init__.py":
            for inner in sorted(path.parent.rglob("*.py")):
                parts = inner.relative_to(root).with_suffix("").parts
                parts = parts[:-1] if parts[-1] == "__init__" else parts
                if not any(part.startswith("_") or part in _TEST_FOLDERS for part in parts):
                    paths[".".join(parts)] = inner
    return paths


def _parse(path: Path) -> ast.Module:
    """Parse one file; the warnings that old escapes in it raise are not the reader's business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(path.read_bytes(), filename=path.name)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body, looking into `if`, `try` and `with` but not into definitions."""
    for node in body:
        if isinstance(node, ast.If):
            if "__name__" not in ast.dump(node.test):  # the code of a script is not part of the module
                yield from _statements(node.body)
                yield from _statements(node.orelse)
        elif isinstance(node, ast.Try):
            yield from _statements(node.body)
            for handler in node.handlers:
                yield from _statements(handler.body)
            yield from _statements(node.orelse)
        elif isinstance(node, ast.With):
            yield from _statements(node.body)
        else:
            yield node


def _public_definitions(body: Sequence[ast.stmt]) -> Iterator[_Definition]:
    """Yield the functions and classes of a body whose names have no leading underscore."""
    for node in _statements(body):
        if isinstance(node, _Definition) and not node.name.startswith("_"):
            yield node


def _declared_names(tree: ast.Module) -> list[str] | None:
    """Return a module's `__all__` where it is written as a plain list, else None."""
    for node in _statements(tree.body):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            try:
                return [str(name) for name in ast.literal_eval(node.value)]
            except ValueError:
                return None
    return None


def _reexported_names(library: _Library) -> dict[tuple[str, str], str]:
    """Map (defining module, name) to the public module that offers the name to users."""
    homes: dict[tuple[str, str], str] = {}
    for public in sorted(library.paths):
        tree = library.tree(public)
        if tree is None:
            continue
        for node in _statements(tree.body):
            if isinstance(node, ast.ImportFrom):
                for source, name in _taken_names(library, public, tree, node):
                    homes.setdefault((source, name), public)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
                # `available_timezones = _tzpath.available_timezones`, as zoneinfo does it
                match node.targets, node.value:
                    case [ast.Name(id=name)], ast.Attribute(value=ast.Name(id=inner), attr=attribute):
                        if name == attribute and library.tree(f"{public}.{inner}") is not None:
                            homes.setdefault((f"{public}.{inner}", name), public)
    return homes


def _imported_module(node: ast.ImportFrom, package: str) -> str:
    """Return the full name of the module that a `from ... import` in `package` reads from."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])


def _taken_names(
    library: _Library, public: str, tree: ast.Module, node: ast.ImportFrom
) -> Iterator[tuple[str, str]]:
    """Yield the (defining module, name) pairs that one import statement makes part of a public module.

    They count where the source is a submodule of the package or a private module; from a private module
    outside the package only what is starred or named in `__all__` counts, since the rest is for own use.
    """
    package = public if library.is_package(public) else public.rpartition(".")[0]
    source = _imported_module(node, package)
    own = bool(package) and source.startswith(package + ".")
    private = source.rpartition(".")[2].startswith("_")
    if source == public or not (private or (own and library.is_package(public))):
        return
    source_tree = library.tree(source)
    if source_tree is None:
        return
    declared = _declared_names(tree)
    for alias in node.names:
        if alias.name == "*":
            names = _declared_names(source_tree)
            for name in names or [item.name for item in _public_definitions(source_tree.body)]:
                yield source, name
        elif alias.asname in (None, alias.name) and (alias.name in declared if declared is not None else own):
            yield source, alias.name


def _module_documents(
    library: _Library, name: str, home: str | None, homes: dict[tuple[str, str], str]
) -> Iterator[Document]:
    """Yield the documents of one source file; `home` is its public name, None for a private module."""
    tree = library.trees[name]
    if home is not None:
        document = make_document(home, "", ast.get_docstring(tree), "module", home)
        if document is not None:
            yield document
    for node in _public_definitions(tree.body):
        public = homes.get((name, node.name), home)
        if public is None:
            continue
        yield from _definition_documents(node, public, public, inside_class=False)
        if isinstance(node, ast.ClassDef):
            for base in _hidden_bases(library, name, node, homes):
                for inner in _public_definitions(base.body):
                    yield from _definition_documents(
                        inner, f"{public}.{node.name}", public, inside_class=True
                    )


def _hidden_bases(
    library: _Library, name: str, node: ast.ClassDef, homes: dict[tuple[str, str], str]
) -> Iterator[ast.ClassDef]:
    """Yield the bases of a class that come from a private module and that no public module offers.

    Users find the methods of such a base only under the class itself: in Python 3.13 most of `pathlib.Path`.
    """
    wanted = {base.id for base in node.bases if isinstance(base, ast.Name)}
    for statement in _statements(library.trees[name].body):
        if not isinstance(statement, ast.ImportFrom) or not wanted & {item.name for item in statement.names}:
            continue
        source = _imported_module(statement, name.rpartition(".")[0])
        if not source.rpartition(".")[2].startswith("_"):
            continue
        tree = library.tree(source)
        for inner in _public_definitions(tree.body) if tree is not None else ():
            if isinstance(inner, ast.ClassDef) and inner.name in wanted and (source, inner.name) not in homes:
                yield inner


def _definition_documents(
    node: _Definition, owner: str, module: str, *, inside_class: bool
) -> Iterator[Document]:
    """Yield the document of a function or class and, for a class, those of its public members."""
    name = f"{owner}.{node.name}"
    docstring = ast.get_docstring(node)
    if isinstance(node, ast.ClassDef):
        signature, notes = _constructor(node)
        text = "\n\n".join(filter(None, [docstring, notes]))
        document = make_document(name, signature, text, "class", module)
    else:
        is_property = inside_class and any("property" in ast.unparse(item) for item in node.decorator_list)
        kind = "property" if is_property else "method" if inside_class else "function"
        signature = "" if is_property else f"({ast.unparse(node.args)})"
        document = make_document(name, signature, docstring, kind, module)
    if document is not None:
        yield document
    if isinstance(node, ast.ClassDef):
        for inner in _public_definitions(node.body):
            yield from _definition_documents(inner, name, module, inside_class=True)


def _constructor(node: ast.ClassDef) -> tuple[str, str | None]:
    """Return a class's call signature without `self`, and the docstring of its `__init__`, if any."""
    for item in _statements(node.body):
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            arguments = ast.unparse(item.args).partition(",")[2].strip().removeprefix("/, ")
            return f"({arguments})", ast.get_docstring(item)
    return "", None

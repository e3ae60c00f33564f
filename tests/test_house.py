"""The laws of the house, each a small test; standard library only."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "leadline"
FILES = sorted(PACKAGE.rglob("*.py"))

# The table of floors, top first. Subjects share a floor and do not import each other. On the ground floor a
# higher line may import lower ones.
FLOORS: list[set[str]] = [
    {"__main__", "pytest_plugin"},
    {"cli"},
    {"web"},
    {"report"},
    {"lint"},
    {"judging"},
    {"locate"},
    {"gating"},
    {"prediction_powered"},
    {"comparison", "nulls"},
    {"movement"},
    {"evaluation"},
    {"account", "inputs"},
    {"door"},
    {"registration", "spelling"},
    {"catalogue"},
    {"measures", "passages", "ann", "demo"},
    {"merging"},
    {"ranking"},
    {"collecting"},
    {"blocks", "hits"},
    {"formats"},
    {"stats"},
    {"models"},
    {"config"},
    {"scores"},
    {"conventions"},
    {"measure"},
    {"around"},
    {"tables"},
    {"certificate", "checks", "ids", "machine"},
    {"errors"},
]
SUBJECTS = {"measures", "passages", "ann", "answers", "traffic", "demo"}
HEAVY = ("polars", "numpy", "scipy", "sqlalchemy", "fastapi", "altair", "openai", "pyspark")


def module(path: Path) -> str:
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return name.removesuffix(".__init__")


def room(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else "leadline"


def imports(path: Path) -> list[str]:
    """Every module of the package that a file imports, also inside functions and for types."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "leadline":
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            known = {module(file) for file in FILES}
            found += [name if name in known else node.module for name in inner]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] == "leadline"]
    return found


def floor(name: str) -> int:
    return next(index for index, rooms in enumerate(FLOORS) if name in rooms)


@pytest.mark.parametrize("path", FILES, ids=module)
def test_imports_run_only_downward(path: Path) -> None:
    own = room(module(path))
    if own in ("leadline", "__main__"):
        return
    for target in imports(path):
        other = room(target)
        assert other != "leadline", f"{module(path)} imports the package's face"
        if other != own:
            assert floor(other) > floor(own), f"{module(path)} imports {target}, which stands above it"
            assert not {own, other} <= SUBJECTS, f"{module(path)} imports another subject, {target}"


def test_every_room_has_its_floor() -> None:
    rooms = {room(module(path)) for path in FILES} - {"leadline"}
    assert rooms == set().union(*FLOORS)


def test_no_circles() -> None:
    graph = {module(path): set(imports(path)) for path in FILES if module(path) != "leadline"}
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " → ".join([*above, name])
        if name in done or name not in graph:
            return
        for target in graph[name]:
            visit(target, (*above, name))
        done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("path", FILES, ids=module)
def test_sizes(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= 400, f"{module(path)} has over 400 lines"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 60, f"{module(path)}.{node.name} has {length} lines"


def test_names_say_what_a_file_is() -> None:
    banned = {"utils", "helpers", "common", "base", "core", "misc", "util", "helper"}
    assert not [path for path in FILES if path.stem in banned]


@pytest.mark.parametrize("path", FILES, ids=module)
def test_docstrings(path: Path) -> None:
    tree = ast.parse(path.read_text())
    if path.name == "__init__.py" and path.parent != PACKAGE:
        assert not path.read_text().strip(), "a subpackage's __init__ is empty"
        return
    head = ast.get_docstring(tree)
    assert head and head.splitlines()[0].strip(), f"{module(path)} opens without a sentence"
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            nested = any(
                node in ast.walk(other) and node is not other
                for other in ast.walk(tree)
                if isinstance(other, ast.FunctionDef)
            )
            assert nested or ast.get_docstring(node), f"{module(path)}.{node.name} has no docstring"


def test_measures_name_their_source() -> None:
    for path in (PACKAGE / "measures").glob("*.py"):
        if path.stem in ("bounds", "ties", "__init__"):
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and [arg.arg for arg in node.args.args][:2] == [
                "hits",
                "cutoff",
            ]:
                text = ast.get_docstring(node) or ""
                assert "Source:" in text and "Example:" in text, f"{path.stem}.{node.name}"


def test_public_names_are_sorted_and_complete() -> None:
    import leadline

    assert leadline.__all__ == sorted(leadline.__all__)
    assert set(leadline.__all__) == set(leadline._HOMES)
    assert not set(leadline.__all__) & {path.stem for path in PACKAGE.glob("*.py")}
    for name in leadline.__all__:
        assert getattr(leadline, name) is not None


def test_catalogue_is_complete() -> None:
    from leadline.catalogue import TABLE
    from leadline.spelling import parse

    for one in TABLE:
        assert one.summary and one.source and one.example and one.differs, one.name
        assert all(parameter.meaning for parameter in one.parameters), one.name
        assert parse(one.example).name == one.name


PROBE = """
import socket, sys
def refuse(*a, **k): raise AssertionError("a socket was opened")
socket.socket = refuse
sys.argv = ["leadline", "--help"]
import leadline
try:
    if {command}:
        from leadline.cli.main import run
        run(["--help"])
except SystemExit as end:
    assert not end.code, end.code
print("loaded:", [name for name in {heavy!r} if name in sys.modules])
"""


@pytest.mark.parametrize("command", [False, True], ids=["import leadline", "leadline --help"])
def test_nothing_heavy_is_loaded(command: bool) -> None:
    code = PROBE.format(command=command, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("loaded: []"), done.stdout


def test_evaluation_needs_no_scipy() -> None:
    code = (
        "import sys, leadline; leadline.evaluate({'q': {'d': 1.0}}, {'q': {'d': 1}});"
        "assert 'scipy' not in sys.modules and 'pandas' not in sys.modules and 'pyarrow' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_only_ranking_orders_documents() -> None:
    """Where a document's place is decided by sorting, it is decided in ranking.py."""
    for path in FILES:
        text = path.read_text()
        if path.name != "ranking.py" and "measures" not in path.parts and "demo" not in path.parts:
            # hits.py sorts judged pairs by key, blocks.py deals rows into buckets: neither places a document.
            assert ".argsort(" not in text or path.name in ("hits.py", "blocks.py"), module(path)


def test_the_modules_that_make_calls_exist() -> None:
    """A line of the Makefile that names no module of the project fails only when somebody calls it."""
    named = set(re.findall(r"python -m(\S*) ([\w.]+)", (ROOT / "Makefile").read_text(encoding="utf-8")))
    own = {module for _, module in named} - {"pip", "venv", "build"}
    assert own >= {"bench", "bench.ann", "fuzz"}
    for glued, module in named:
        assert not glued, f"-m{glued} {module}"
        place = ROOT.joinpath(*module.split("."))
        assert module not in own or place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), (
            module
        )

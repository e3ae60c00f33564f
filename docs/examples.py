"""Runs the examples of the pages, and writes what they print into them.

`python docs/examples.py` runs every page and rewrites the output it shows; `--check` only compares. A page runs
from top to bottom in an empty folder:

- a block with a title, as in ```` ```text title="my.run" ````, is written to the file of that name;
- a `console` block holds commands after `$ `, each followed by its output;
- a `python` block without a title is run, and a `text` block right after it holds what it prints;
- any other block is only shown. In an output, a line `...` stands for any lines.

A file beside the page with the page's name and the ending `.jsonl` lies in that folder too.
"""

import contextlib
import importlib
import io
import os
import re
import runpy
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

DOCS = Path(__file__).resolve().parent
PAGES = [DOCS.parent / "README.md", *sorted(p for p in DOCS.rglob("*.md") if p.parent.name != "benchmarks")]

BLOCK = re.compile(
    r"^```(?P<kind>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Shown:
    """What a page shows as printed, at `start` to `end` of its text, and what was printed when it ran."""

    start: int
    end: int
    text: str
    printed: str

    def holds(self) -> bool:
        """True where the page shows what was printed; a line `...` stands for any lines."""
        parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", self.text, flags=re.MULTILINE)]
        return re.fullmatch(r"(?:.*\n)*?".join(parts), self.printed) is not None


def run_page(text: str, page: Path | None = None) -> list[Shown]:
    """Run one page in an empty folder and return everything that it shows as printed."""
    shown: list[Shown] = []
    space: dict[str, object] = {"__name__": "example"}
    with _empty_folder() as folder:
        rows = page.with_suffix(".jsonl") if page else None
        if rows is not None and rows.exists():
            shutil.copy(rows, folder)
        pending: tuple[int, str] | None = None
        for block in BLOCK.finditer(text):
            kind, title, body = block["kind"], block["title"], block["body"]
            if pending and kind == "text" and not title and not text[pending[0] : block.start()].strip():
                shown.append(Shown(block.start("body"), block.end("body"), body, pending[1]))
            pending = None
            if title:
                path = folder / title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(body, encoding="utf-8")
                # A module of that name from elsewhere must not be taken for the page's own.
                sys.modules.pop(path.stem if path.suffix == ".py" else "", None)
            elif kind == "console":
                shown.append(Shown(block.start("body"), block.end("body"), body, _run_console(body)))
            elif kind == "python":
                pending = (
                    block.end(),
                    _captured(lambda body=body: exec(compile(body, "example", "exec"), space)),
                )
    return shown


def _run_console(body: str) -> str:
    """The commands of a console block, each with what it prints."""
    out, code = [], 0
    joined = body.replace("\\\n", "\0")
    for line in (one.replace("\0", "\\\n") for one in joined.splitlines() if one.startswith("$ ")):
        out.append(line + "\n")
        words = shlex.split(line[2:].replace("\\\n", " "))
        if words == ["echo", "$?"]:
            out.append(f"{code}\n")
            continue
        printed, code = _run_command(words)
        out.append(printed)
    return "".join(out)


def _run_command(words: list[str]) -> tuple[str, int]:
    """What one command prints on both streams, and its exit code."""
    from leadline.cli.main import run

    settings = {}
    while re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        settings[name] = value
    program, *given = words
    arguments = [
        found for word in given for found in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
    ]
    code = 0

    def work() -> None:
        nonlocal code
        try:
            if program == "leadline":
                run(arguments)
            elif program == "python":
                runpy.run_path(arguments[0], run_name="__main__")
            elif program == "cat":
                print(Path(arguments[0]).read_text(encoding="utf-8"), end="")
            else:
                raise ValueError(f"a console block runs leadline, python, cat and echo $?, not {program}")
        except SystemExit as end:
            code = int(end.code or 0)

    with mock.patch.dict(os.environ, settings):
        return _captured(work), code


def _captured(work: object) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        work()  # type: ignore[operator]
    return out.getvalue()


@contextlib.contextmanager
def _empty_folder() -> Iterator[Path]:
    """An empty current folder, without settings from outside; own measures and modules go with it."""
    from leadline.catalogue import DEFINITIONS

    known, before = dict(DEFINITIONS), Path.cwd()
    with tempfile.TemporaryDirectory() as name, mock.patch.dict(os.environ):
        for variable in [v for v in os.environ if v.startswith("LEADLINE_")]:
            del os.environ[variable]
        folder = Path(name).resolve()
        os.chdir(folder)
        importlib.invalidate_caches()
        try:
            yield folder
        finally:
            os.chdir(before)
            DEFINITIONS.clear()
            DEFINITIONS.update(known)
            for module in [m for m, found in sys.modules.items() if _lies_in(found, folder)]:
                del sys.modules[module]


def _lies_in(module: object, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    return bool(file) and Path(file).resolve().is_relative_to(folder)


def main(check: bool) -> int:
    """Run all pages; rewrite the outputs that differ, or with `check` name the pages that have any."""
    stale = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        wrong = [shown for shown in run_page(text, page) if not shown.holds()]
        if not wrong:
            continue
        stale += 1
        print(f"{page.relative_to(DOCS.parent)}: {len(wrong)} outputs differ")
        for shown in [] if check else reversed(wrong):
            text = text[: shown.start] + shown.printed + text[shown.end :]
        page.write_text(text, encoding="utf-8")
    return int(check and stale > 0)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))

"""The documentation is held true: generated parts are fresh, nothing is left out, every example runs."""

import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from leadline.catalogue import TABLE
from leadline.config import KINDS
from leadline.conventions import PROFILES, Conventions
from leadline.errors import LeadlineError

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]


def script(name: str) -> ModuleType:
    # As when the script is run: what it shares with others stands beside it.
    if str(DOCS) not in sys.path:
        sys.path.append(str(DOCS))
    spec = importlib.util.spec_from_file_location(f"leadline_docs_{name}", DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its module up while it is made.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


build, examples = script("build"), script("examples")


def reference(page: str) -> str:
    return (DOCS / "reference" / page).read_text(encoding="utf-8")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_generated_parts_are_fresh() -> None:
    stale = [named(path) for path in build.stale()]
    assert not stale, f"run `python docs/build.py`: {', '.join(stale)}"


def test_every_command_and_option_is_documented() -> None:
    import typer

    from leadline.cli.main import app

    page = reference("commands.md")
    for name, command in build.flat(typer.main.get_command(app)):
        _, found, section = page.partition(f"## leadline {name}\n")
        assert found, name
        section = section.partition("\n## ")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option":
                assert all(f"`{option}`" in section for option in parameter.opts), (name, parameter.opts)
                assert parameter.help and parameter.help.rstrip(".") in section, parameter.name
    assert all(f"`LEADLINE_{name.upper()}`" in page for name in KINDS)


def test_every_measure_is_documented() -> None:
    page = reference("measures.md")
    for one in TABLE:
        _, found, section = page.partition(f"\n### {one.name}\n")
        assert found, one.name
        section = section.partition("\n### ")[0]
        assert one.summary in section
        assert f"`{one.example}`" in section
        assert all(f"| `{parameter.name}` |" in section for parameter in one.parameters), one.name


def test_every_profile_and_switch_is_documented() -> None:
    page = reference("profiles.md")
    for profile in PROFILES:
        assert f"- `{profile}`: " in page, f"say what {profile} stands for"
    for field in fields(Conventions):
        assert page.count(f"| `{field.name}` |") >= 1 + (field.name != "profile"), field.name


def test_every_error_is_documented() -> None:
    def tree(kind: type[LeadlineError]) -> Iterator[type[LeadlineError]]:
        yield kind
        for below in kind.__subclasses__():
            yield from tree(below)

    page = reference("errors.md")
    for kind in tree(LeadlineError):
        if kind.__module__ == "leadline.errors":
            row = rf"^\| `{kind.__name__}` \| `{kind.__base__.__name__}` \| {kind.exit_code} \|"
            assert re.search(row, page, re.MULTILINE), kind.__name__


def json_output(folder: Path) -> dict[str, object]:
    """An output with every optional field: a failed query, a slice, bounds, the values of each query."""
    from leadline.evaluation import evaluate
    from leadline.report.json_text import json_text

    run, qrels, queries = folder / "a.jsonl", folder / "qrels.txt", folder / "queries.jsonl"
    run.write_text(
        '{"query_id": "q1", "doc_id": "d9", "score": 2.0}\n'
        '{"query_id": "q1", "doc_id": "d1", "score": 1.0}\n'
        '{"query_id": "q2", "error": "timeout"}\n'
    )
    qrels.write_text("q1 0 d1 1\nq2 0 d2 1\n")
    queries.write_text('{"query_id": "q1", "type": "a"}\n{"query_id": "q2", "type": "b"}\n')
    scores = evaluate(
        str(run), str(qrels), "nDCG@10 R@1", queries=str(queries), by="type", bounds=True, hash_inputs=True
    )
    found: dict[str, object] = json.loads(json_text(scores, "evaluate", per_query=True))
    return found


def with_evidence() -> dict[str, Any]:
    """What the account says of evidence."""
    from leadline.evaluation import evaluate
    from leadline.passages.spans import as_spans
    from leadline.passages.tables import Chunks, Evidence, EvidenceRow

    chunks = Chunks.of(["c"], ["d"], as_spans([(0, 9)]))
    found = evaluate({"q": ["c"]}, evidence=Evidence.of([EvidenceRow("q", "d", 0, 9)]), chunks=chunks)
    return found.account["evidence"]  # type: ignore[no-any-return]


def test_the_json_page_names_exactly_the_fields_of_the_output(tmp_path: Path) -> None:
    output = json_output(tmp_path)
    account = output["account"]
    evidence = with_evidence()
    real = {
        "": set(output),
        "conventions": set(output["conventions"]),
        "inputs": {key for row in output["inputs"] for key in row},
        "account": set(account["qrels"])
        | {key for row in account["systems"].values() for key in row}
        | (set(evidence) - {"chunks"})
        | {key for row in evidence["chunks"].values() for key in row},
        "results": {key for row in output["results"] for key in row},
        "per_query": {key for row in output["per_query"] for key in row},
    }
    parts = re.split(r"^## (\w+)$", reference("json.md"), flags=re.MULTILINE)
    sections = {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}
    told = {name: set() for name in sections}
    for name, text in sections.items():
        for cell in re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE):
            told[name] |= set(re.findall(r"`(\w+)`", cell))
    assert told == real
    assert list(output) == re.findall(r"^\| `(\w+)` \|", sections[""], re.MULTILINE), "the order of the keys"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), f"{named(page)}: {target}"
        if anchor:
            assert anchor in anchors(found), f"{named(page)}: {target}"


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page in sorted(DOCS.rglob("*.md")):
        if page.parent.name != "benchmarks":
            assert f"({page.relative_to(ROOT).as_posix()})" in readme, named(page)


def need(module: str, extra: str) -> None:
    """Skip the test where an optional part is missing; fail where all parts must be there."""
    if importlib.util.find_spec(module) is None:
        reason = f"{module} is not installed: pip install 'leadline[{extra}]'"
        if os.environ.get("LEADLINE_REQUIRE_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.mark.parametrize("page", examples.PAGES, ids=named)
def test_examples_print_what_the_page_shows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if "import pandas" in text:
        need("pandas", "pandas")
        need("pyarrow", "pandas")
    if "$ leadline demo" in text:
        need("bm25s", "demo")
        need("wordllama", "demo")
        if sys.version_info[:2] != (3, 11):
            pytest.skip("another Python has other docstrings")
    for module, extra in (("sqlalchemy", "book"), ("jinja2", "serve")):
        if {"book": "$ leadline book", "serve": "--kit "}[extra] in text:
            need(module, extra)
    for shown in examples.run_page(text, page):
        advice = "look at it, then run `python docs/examples.py`"
        assert shown.holds(), f"{advice}\nshown:\n{shown.text}\nprinted:\n{shown.printed}"


def test_an_example_that_prints_otherwise_is_noticed() -> None:
    page = "```python\nprint('one')\nprint('two')\n```\n\n```text\n{}\n```\n"
    assert [shown.holds() for shown in examples.run_page(page.format("one\ntwo"))] == [True]
    assert [shown.holds() for shown in examples.run_page(page.format("...\ntwo"))] == [True]
    assert [shown.holds() for shown in examples.run_page(page.format("one"))] == [False]
    assert [shown.printed for shown in examples.run_page("```console\n$ echo $?\n```\n")] == [
        "$ echo $?\n0\n"
    ]


def test_the_readme_shows_the_demonstration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exactly, on the Python the README names; elsewhere the same rows with other numbers."""
    need("bm25s", "demo")
    need("wordllama", "demo")
    from leadline.cli.main import app

    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        app(["demo", "--quiet"], standalone_mode=False)
    finally:
        os.chdir(before)
    printed = capsys.readouterr().out.strip().splitlines()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"^```text\n(\d+ documents of Python.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert shown is not None
    lines = shown[1].strip().splitlines()
    version = re.search(r"Python ([\d.]+),", lines[0])[1]
    assert f"those of Python {version}" in readme
    if f"Python {version}," in printed[0]:
        assert lines == printed, "paste the output of `leadline demo` into the README, then run docs/build.py"
    else:
        end = lines.index("", 2)
        assert [line.split()[:1] for line in lines[:end]][3:] == [line.split()[:1] for line in printed[:end]][
            3:
        ]

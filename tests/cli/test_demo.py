"""The command `demo`: the folder it writes, the two pages of its story, and that they say what it printed."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadline.cli.demo_story import story
from leadline.cli.main import run

MISSING = [name for name in ("bm25s", "wordllama") if importlib.util.find_spec(name) is None]
needs_libraries = pytest.mark.skipif(
    bool(MISSING) and os.environ.get("LEADLINE_REQUIRE_ALL") != "1",
    reason=f"not installed: {', '.join(MISSING)} (extra 'demo')",
)
N = 30
PAGES = [
    "report.html",
    "comparison.html",
    "comparison-withheld.html",
    "stages.html",
    "chunks.html",
    "context.html",
]


def words(page: str) -> str:
    """The text of a page."""
    text = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    for mark, sign in (("&lt;", "<"), ("&gt;", ">"), ("&#x27;", "'"), ("&amp;", "&")):
        text = re.sub(r"<[^>]*>", "", text).replace(mark, sign)
    return text


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder as the demonstration's, in which dense finds a relevant document of its own for every question."""
    qrels, bm25, dense = [], [], []
    for i in range(N):
        for j in range(12):
            qrels += [f"q{i} 0 both{j} {int(j == 4)}", f"q{i} 0 only{j} {int(j == i % 2)}"]
            bm25.append(f"q{i} Q0 both{j} {j + 1} {99 - j} bm25")
            dense.append(f"q{i} Q0 {'only' if j < 6 else 'both'}{j} {j + 1} {99 - j} dense")
    for name, lines in (("qrels.txt", qrels), ("bm25.run", bm25), ("dense.run", dense)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    (tmp_path / "queries.jsonl").write_text(
        "".join(f'{{"query_id": "q{i}", "text": "what?"}}\n' for i in range(N))
    )
    return tmp_path


def test_the_story_withholds_what_one_system_brought_and_restores_it(small: Path) -> None:
    lines = list(story(small))
    # Six documents of dense's top ten are its own, for each of thirty questions.
    assert lines[0] == "May dense replace bm25? First without the 180 judgments that only dense brought:"
    assert lines[1].startswith("  judge-first (")
    assert lines[3:5] == ["With them:", "  pass (better): pass: better"]
    left = (small / "qrels-withheld.txt").read_text().splitlines()
    assert len(left) == N * 24 - 180
    # Of its own documents those beyond the top ten (only6 to only11) keep their judgments.
    assert sum(" only" in line for line in left) == N * 6
    for name, outcome in (("comparison-withheld.html", "judge-first"), ("comparison.html", "pass")):
        page = (small / name).read_text()
        assert re.search(rf'<h2 id="verdict"><span class="outcome">.*?{outcome}</span>', page)
        # Both steps stand on both pages, each with its verdict and a link.
        told = words(page)
        for line in (lines[1], lines[2], lines[4], lines[5]):
            for part in (
                line.strip().replace("(", "(effect: ").split(": ", 1) if "(" in line else [line.strip()]
            ):
                assert part.split(" (")[0] in told, part
        assert 'href="comparison-withheld.html">Without the 180 judgments' in page
        assert f'href="comparison.html">With all {N * 24} judgments' in page


def test_the_commands_on_the_pages_run(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    list(story(small))
    monkeypatch.chdir(small)
    for name in ("comparison-withheld.html", "comparison.html"):
        command = re.search(
            r"leadline compare [^<]*", words((small / name).read_text()).split("How to reproduce")[-1]
        )[0]
        assert command.endswith("-m nDCG@10,R@10,P@5,RR") or "leadline 0" in command
        with pytest.raises(SystemExit) as ended:
            run(shlex.split(command.split("leadline 0")[0])[1:])
        assert ended.value.code in (0, None)
        outcome = "judge-first" if "withheld" in name else "pass"
        assert f"verdict: {outcome}" in capsys.readouterr().out


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("demo")
    with pytest.raises(SystemExit) as ended:
        run(["demo", "--quiet", "--folder", str(folder / "shown")])
    assert ended.value.code in (0, None)
    yield folder / "shown"


@needs_libraries
def test_the_folder_holds_what_its_readme_names(demonstrated: Path) -> None:
    named = re.findall(r"^\| `([^`]+)` \|", (demonstrated / "README.md").read_text(), re.MULTILINE)
    if importlib.util.find_spec("usearch") is None:
        named.remove("index-fidelity.html")
    assert sorted([*named, "README.md"]) == sorted(path.name for path in demonstrated.iterdir())


@needs_libraries
@pytest.mark.parametrize("name", PAGES)
def test_the_pages_stand_alone_and_link_what_is_there(demonstrated: Path, name: str) -> None:
    page = (demonstrated / name).read_text()
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page)
    for target in re.findall(r'href="([^"#]+)"', page):
        assert (demonstrated / target).is_file(), target


@needs_libraries
def test_the_verdict_changes_when_the_judgments_are_restored(demonstrated: Path) -> None:
    outcomes = [
        re.search(
            r'class="outcome"><span aria-hidden="true">. ?</span>([a-z-]+)<',
            (demonstrated / name).read_text(),
        )[1]
        for name in ("comparison-withheld.html", "comparison.html")
    ]
    assert outcomes[0] == "judge-first"
    assert outcomes[1] != "judge-first"


@needs_libraries
def test_a_browser_shows_the_verdict(demonstrated: Path, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium to look with")
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path}",
        "--virtual-time-budget=3000",
        "--dump-dom",
    ]
    address = (demonstrated / "comparison.html").as_uri()
    shown = subprocess.run(
        [browser, *options, address], capture_output=True, text=True, timeout=120, check=True
    )
    told = words(shown.stdout)
    assert "dense against bm25" in told
    assert "How it came to this verdict" in told
    # The script has filled the table with the first of the sixty questions.
    assert "of 60" in told
    table = re.search(r'id="queries".*?</table>', shown.stdout, re.DOTALL)[0]
    shown_ids = set(re.findall(r"\bq\d\d\b", table))
    assert len(shown_ids) >= 20
    assert shown_ids <= {f"q{i:02}" for i in range(1, 61)}

"""The fixture `leadline_gate`, in a pytest of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
def test_same(leadline_gate):
    assert leadline_gate("old.run").verdict.outcome == "pass"

def test_worse(leadline_gate):
    leadline_gate("bad.run")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty judged queries, a baseline that is always right, a candidate that never is, and a policy."""
    qrels, old, bad = [], [], []
    for i in range(40):
        qrels += [f"q{i:02d} 0 {doc} {grade}" for doc, grade in (("a", 1), ("b", 0), ("c", 0))]
        for lines, order in ((old, "abc"), (bad, "cba" if i % 4 else "bac")):
            lines += [f"q{i:02d} Q0 {doc} {rank} {9 - rank} x" for rank, doc in enumerate(order, 1)]
    for name, rows in (("qrels.txt", qrels), ("old.run", old), ("bad.run", bad)):
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    (tmp_path / "test_it.py").write_text(TEST)
    for arguments in (["init"], ["baseline", "old.run"]):
        done = subprocess.run(
            [sys.executable, "-m", "leadline", *arguments], cwd=tmp_path, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
    return tmp_path


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, "test_it.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_failing_gate_fails_the_test_in_its_own_words(folder: Path) -> None:
    done = run_pytest(folder, "-p", "leadline.pytest_plugin")
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "fail: worse by more than .02" in done.stdout


def test_the_plugin_is_loaded_only_when_asked_for(folder: Path) -> None:
    assert "fixture 'leadline_gate' not found" in run_pytest(folder).stdout


def test_a_missing_baseline_is_one_line(folder: Path) -> None:
    (folder / "baseline.json").unlink()
    done = run_pytest(folder, "-p", "leadline.pytest_plugin", "-k", "same")
    assert done.returncode == 1
    assert "baseline.json" in done.stdout
    assert "Traceback" not in done.stdout

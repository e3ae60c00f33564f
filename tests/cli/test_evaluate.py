"""The command `evaluate`: its formats, its settings, and how it ends."""

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from shared.command import leadline

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq1 0 d3 2\nq2 0 d7 1\nq3 0 d9 0\n"
RUN = "q1 Q0 d2 1 9 bm25\nq1 Q0 d1 2 8 bm25\nq1 Q0 d5 3 7 bm25\nq3 Q0 d9 1 3 bm25\nq8 Q0 d1 1 3 bm25\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two small files in a folder of their own; q2 is unanswered, q3 has no relevant document, q8 is unjudged."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(RUN)
    return tmp_path


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return leadline(capsys, "evaluate", "bm25.run", "--qrels", "qrels.txt", *arguments)


def test_json_has_the_documented_shape(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = evaluated(capsys, "-m", "RR,R@1", "--format", "json", "--per-query")
    page = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert code == 0
    keys = ["leadline", "command", "seed", "profile", "conventions", "inputs", "account"]
    assert list(page)[: len(keys)] == keys
    assert page["profile"] == "leadline-1"
    assert {one["path"]: one["rows"] for one in page["inputs"]} == {"bm25.run": 5, "qrels.txt": 5}
    assert all(len(one["sha256"]) == 64 for one in page["inputs"])
    row = next(row for row in page["results"] if row["measure"] == "RR")
    # q1: the first relevant document at rank 2; q2: unanswered, 0; q3: undefined. (0.5 + 0)/2
    assert row["mean"] == 0.25
    counts = {name: row[f"n_{name}"] for name in ("queries", "scored", "unanswered", "undefined", "error")}
    assert counts == {"queries": 3, "scored": 1, "unanswered": 1, "undefined": 1, "error": 0}
    states = {
        one["query_id"]: (one["value"], one["state"]) for one in page["per_query"] if one["measure"] == "RR"
    }
    assert states == {"q1": (0.5, "scored"), "q2": (0.0, "unanswered"), "q3": (None, "undefined")}


@pytest.mark.parametrize("form", ["table", "json", "csv", "md", "latex", "trec_eval"])
def test_every_format_prints_the_mean(capsys: pytest.CaptureFixture[str], form: str) -> None:
    code, out, _ = evaluated(capsys, "-m", "RR", "--format", form)
    assert code == 0
    assert "0.25" in out


def test_csv_is_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = evaluated(capsys, "-m", "RR", "--format", "csv", "--per-query")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["value"] for row in rows] == ["0.5", "0.0", ""]


@pytest.mark.parametrize("ending", [".json", ".md", ".html", ".tex", ".csv", ".parquet", ".jsonl", ".txt"])
def test_written_files_are_whole(capsys: pytest.CaptureFixture[str], folder: Path, ending: str) -> None:
    code, _, _ = evaluated(capsys, "--write", f"out{ending}")
    assert code == 0
    assert (folder / f"out{ending}").stat().st_size > 50
    assert sorted(path.name for path in folder.iterdir()) == ["bm25.run", f"out{ending}", "qrels.txt"]


def test_a_wrong_ending_is_refused_before_any_work(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, out, err = evaluated(capsys, "--write", "good.json", "--write", "out.pdf")
    assert (code, out) == (2, "")
    assert "out.pdf" in err
    assert not (folder / "good.json").exists()


def test_per_query_table(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = evaluated(capsys, "-m", "RR,Judged@2", "--per-query")
    lines = out.splitlines()
    assert lines[1].split() == ["query", "RR", "Judged@2"]
    assert lines[2].split() == ["q1", "0.5000", "1.0000"]
    assert lines[3].split() == ["q2", "0.0000", "u", "–"]
    assert max(map(len, lines)) <= 100


def test_slices(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "queries.jsonl").write_text(
        '{"query_id": "q1", "type": "a"}\n{"query_id": "q2", "type": "b"}\n'
    )
    code, out, _ = evaluated(
        capsys, "-m", "RR", "--queries", "queries.jsonl", "--by", "type", "--format", "json"
    )
    means = {row.get("group"): row["mean"] for row in json.loads(out)["results"]}
    assert code == 0
    assert means == {None: 0.25, "a": 0.5, "b": 0.0, "(none)": None}


def test_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = evaluated(capsys, "-m", "P@3", "--bounds", "--format", "json")
    row = json.loads(out)["results"][0]
    # q1: 1 relevant, 1 unjudged in its top 3: [1/3, 2/3]; q2: 0; q3: judged not relevant: 0.
    assert row["bound_low"] == pytest.approx((1 / 3) / 3)
    assert row["bound_high"] == pytest.approx((2 / 3) / 3)
    assert row["bound_kind"] == "sharp"


def test_queries_intersection(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = evaluated(capsys, "-m", "RR", "--queries", "intersection", "--format", "json")
    row = json.loads(out)["results"][0]
    assert (row["mean"], row["n_queries"], row["n_unanswered"]) == (0.5, 2, 0)


def test_trec_eval_10_stops_where_queries_differ(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = evaluated(capsys, "--profile", "trec_eval-10", "-m", "map")
    assert code == 4
    assert "q2" in err
    assert evaluated(capsys, "--profile", "trec_eval-10", "-m", "map", "--queries", "judged")[0] == 0


def test_no_query_in_common(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "other.run").write_text("z1 Q0 d1 1 9 x\n")
    code, out, err = leadline(capsys, "evaluate", "other.run", "--qrels", "qrels.txt")
    assert (code, out) == (4, "")
    assert "do not meet" in err


def test_systems_are_named(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "bm25.run").write_text(RUN)
    code, _, err = leadline(capsys, "evaluate", "bm25.run", "more/bm25.run", "--qrels", "qrels.txt")
    assert code == 2
    assert "NAME=PATH" in err
    call = (
        "evaluate",
        "bm25.run",
        "second=more/bm25.run",
        "--qrels",
        "qrels.txt",
        "-m",
        "RR",
        "--format",
        "json",
    )
    _, out, _ = leadline(capsys, *call)
    assert [row["system"] for row in json.loads(out)["results"]] == ["bm25", "second"]


def test_forgotten_option_is_answered_with_the_line_that_was_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _, err = leadline(capsys, "evaluate", "bm25.run", "qrels.txt")
    assert code == 2
    assert "leadline evaluate bm25.run --qrels qrels.txt" in err
    code, _, err = leadline(capsys, "evaluate", "bm25.run")
    assert code == 2
    assert "--qrels" in err


def test_settings_come_from_option_environment_file_default(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "leadline.toml").write_text('qrels = "qrels.txt"\nmeasures = ["RR"]\nformat = "json"\nk = 3\n')
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    _, out, _ = leadline(capsys, "evaluate", "../bm25.run")
    assert [row["measure"] for row in json.loads(out)["results"]] == ["RR"]
    monkeypatch.setenv("LEADLINE_MEASURES", "P@1")
    _, out, _ = leadline(capsys, "evaluate", "../bm25.run")
    assert [row["measure"] for row in json.loads(out)["results"]] == ["P@1"]
    _, out, _ = leadline(capsys, "evaluate", "../bm25.run", "-m", "AP")
    assert [row["measure"] for row in json.loads(out)["results"]] == ["AP"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("measurs = 'RR'", "did you mean measures"),
        ("k = '3'", "is not a whole number"),
        ("k = [", "is no TOML"),
        ("judgments = 'compleet'\nqrels = 'qrels.txt'", "is not one of complete, partial"),
        ("conflicts = 'foo'\nqrels = 'qrels.txt'", "is not one of error"),
    ],
)
def test_wrong_settings(capsys: pytest.CaptureFixture[str], folder: Path, text: str, said: str) -> None:
    (folder / "leadline.toml").write_text(text)
    code, _, err = leadline(capsys, "evaluate", "bm25.run")
    assert code == 2
    assert said in err
    assert "Traceback" not in err


def test_default_measures_follow_k(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = evaluated(capsys, "--k", "3", "--format", "json")
    names = [row["measure"] for row in json.loads(out)["results"]]
    assert names == ["nDCG@3", "R@3", "P@3", "Success@3", "RR", "AP", "Judged@3"]


PLUGIN = """
import numpy as np
from leadline import register
register("{name}", lambda ranked, ideal: {body}, summary="a test")
"""


def test_plugin(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "mine_one.py").write_text(
        PLUGIN.format(name="MineOne", body="float(np.nanmax(ranked, initial=0.0))")
    )
    code, out, _ = evaluated(
        capsys, "--plugin", "mine_one", "-m", "MineOne", "--format", "json", "--per-query"
    )
    assert code == 0
    values = {one["query_id"]: one["value"] for one in json.loads(out)["per_query"]}
    assert values == {"q1": 1.0, "q2": 0.0, "q3": None}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("not_there", None, "No module named"),
        ("mine.py", None, "takes a module's name"),
        ("mine_broken", "def (", "SyntaxError"),
        (
            "mine_fails",
            PLUGIN.format(name="MineFails", body="1 / 0"),
            "MineFails, query q1: ZeroDivisionError",
        ),
    ],
)
def test_broken_plugins(
    capsys: pytest.CaptureFixture[str], folder: Path, name: str, content: str | None, said: str
) -> None:
    if content:
        (folder / f"{name}.py").write_text(content)
    code, _, err = evaluated(capsys, "--plugin", name, "-m", "MineFails" if name == "mine_fails" else "RR")
    assert code == 2
    assert said in err


def test_measures_lists_and_explains(capsys: pytest.CaptureFixture[str]) -> None:
    from leadline.catalogue import TABLE

    _, out, _ = leadline(capsys, "measures")
    assert all(one.name in out for one in TABLE)
    _, out, _ = leadline(capsys, "measures", "ndcg")
    assert "Burges" in out
    assert "0.7967" in out
    assert "trec_eval" in out
    assert leadline(capsys, "measures", "recall")[1].startswith("R: recall")
    code, _, err = leadline(capsys, "measures", "nothing_like_it")
    assert code == 2
    assert "nothing_like_it" in err
    assert "@10" not in err
    _, out, _ = leadline(capsys, "measures", "--format", "json")
    assert len(json.loads(out)) >= len(TABLE)


def test_escape_sequences_are_made_visible(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "bm25.run").write_text("q1\x1b[31m Q0 d1 1 9 x\nq1 Q0 d1 1 9 x\n")
    (folder / "qrels.txt").write_text("q1\x1b[31m 0 d1 1\nq1 0 d1 1\n")
    _, out, err = evaluated(capsys, "--per-query", "-m", "RR")
    assert "\x1b" not in out + err
    assert "\\x1b[31m" in out


def test_standard_input(folder: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "leadline",
        "evaluate",
        "-",
        "--qrels",
        "qrels.txt",
        "-m",
        "RR",
        "--format",
        "csv",
    ]
    for data in (RUN.encode(), gzip.compress(RUN.encode())):
        done = subprocess.run(command, input=data, capture_output=True, check=False, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert b"0.25" in done.stdout


def test_a_full_disk_is_one_line(folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this system")
    command = [sys.executable, "-m", "leadline", "evaluate", "bm25.run", "--qrels", "qrels.txt"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.decode().strip().splitlines()[-1].startswith("leadline: cannot write")
    assert b"Traceback" not in done.stderr


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m leadline evaluate bm25.run --qrels qrels.txt --format json --per-query | head -c 10"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, cwd=folder)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert leadline(capsys, "--version")[1].startswith("leadline ")
    code, out, _ = leadline(capsys, "--help")
    assert code == 0
    assert "leadline demo" in out
    assert "Example: leadline evaluate" in leadline(capsys, "evaluate", "--help")[1]

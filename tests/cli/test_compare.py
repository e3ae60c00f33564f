"""The commands `compare` and `power`."""

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from shared.command import leadline

N = 40


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs over forty queries, of which the new one is better on half; all returned documents are judged."""
    monkeypatch.chdir(tmp_path)
    qrels, old, new = [], [], []
    for i in range(N):
        qrels += [f"q{i:02d} 0 a 1", f"q{i:02d} 0 b 0", f"q{i:02d} 0 c 0"]
        for lines, order in ((old, "bac" if i % 2 else "abc"), (new, "abc")):
            lines += [f"q{i:02d} Q0 {doc} {rank} {9 - rank} x" for rank, doc in enumerate(order, 1)]
    (tmp_path / "qrels.txt").write_text("\n".join(qrels) + "\n")
    (tmp_path / "old.run").write_text("\n".join(old) + "\n")
    (tmp_path / "new.run").write_text("\n".join(new) + "\n")
    rows = [json.dumps({"query_id": f"q{i:02d}", "text": f"question {i}", "type": "odd" if i % 2 else "even",
                        "user": str(i // 4), "share": 0.25 if i % 2 else 0.75}) for i in range(N)]  # fmt: skip
    (tmp_path / "queries.jsonl").write_text("\n".join(rows) + "\n")
    return tmp_path


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return leadline(capsys, "compare", "old.run", "new.run", "--qrels", "qrels.txt", *arguments)


def test_json_has_the_documented_shape(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = compared(capsys, "-m", "RR,P@1", "--format", "json")
    page = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert code == 0
    row = page["comparisons"][0]
    # Twenty queries go from 1/2 to 1.
    assert row["difference"] == pytest.approx(0.25)
    wanted = {"measure", "baseline", "candidate", "mean_baseline", "mean_candidate", "difference", "low", "high",
              "interval", "bootstrap_low", "bootstrap_high", "p", "test", "n", "n_nonzero", "wins", "ties", "losses"}  # fmt: skip
    assert wanted <= set(row)
    assert set(page["verdict"]) == {"outcome", "effect", "sentence", "reasons", "next"}
    assert (page["verdict"]["outcome"], page["verdict"]["effect"]) == ("pass", "better")
    assert page["judged"]["old"]["10"] == 1.0
    assert page["seed"] == 0


def test_the_same_call_gives_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    first = compared(capsys, "--format", "json")[1]
    assert compared(capsys, "--format", "json")[1] == first


def test_table_fits_and_says_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = compared(capsys, "-m", "nDCG@10,R@1,AP")
    assert code == 0
    assert "verdict: pass (better)" in out
    assert "new against old" in out
    assert max(len(line) for line in out.splitlines() if "next:" not in line) <= 100


def test_slices_clusters_and_weights(capsys: pytest.CaptureFixture[str]) -> None:
    table = ("--queries", "queries.jsonl")
    _, out, _ = compared(capsys, "-m", "RR", *table, "--by", "type", "--format", "json")
    rows = {row.get("group"): row for row in json.loads(out)["comparisons"]}
    assert rows["odd"]["difference"] == pytest.approx(0.5)
    assert rows["even"]["difference"] == 0.0
    _, out, _ = compared(capsys, "-m", "RR", *table, "--by", "type", "--weight", "share", "--format", "json")
    # .25 · .5 + .75 · 0
    assert json.loads(out)["comparisons"][0]["difference"] == pytest.approx(0.125)
    _, out, _ = compared(capsys, "-m", "RR", *table, "--cluster", "user", "--format", "json")
    assert json.loads(out)["comparisons"][0]["clusters"] == 10


@pytest.mark.parametrize("ending", [".json", ".md", ".txt", ".jsonl"])
def test_written_files(capsys: pytest.CaptureFixture[str], folder: Path, ending: str) -> None:
    assert compared(capsys, "--write", f"out{ending}")[0] == 0
    assert (folder / f"out{ending}").exists()


def test_three_systems_show_all_pairs(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "third.run").write_text((folder / "old.run").read_text())
    call = ("compare", "old.run", "new.run", "third.run", "--qrels", "qrels.txt", "-m", "RR")
    _, out, _ = leadline(capsys, *call)
    assert "all pairs on RR" in out
    assert "verdict on new against old: " in out
    # The plot: three pairs on one scale with its 0, in 100 columns.
    assert "each interval at 98.33 % (t), so that all 3 hold together at 95 %" in out.replace("\n", " ")
    plot = [line for line in out.splitlines() if "●" in line and "difference," not in line]
    assert [line.split()[:3] for line in plot] == [
        ["new", "−", "old"],
        ["third", "−", "old"],
        ["third", "−", "new"],
    ]
    told = [re.search(r"([+-]\d\.\d{4}) (\[|no interval)", line)[1] for line in plot]
    assert told == ["+0.2500", "+0.0000", "-0.2500"]
    assert max(len(line) for line in out.splitlines() if "next:" not in line) <= 100
    assert "\x1b" not in out
    _, out, _ = leadline(capsys, *call, "--format", "json")
    page = json.loads(out)
    assert page["pairs"]["systems"] == ["old", "new", "third"]
    first = page["pairs"]["intervals"][0]
    assert (first["first"], first["second"], first["difference"], first["n"]) == ("old", "new", 0.25, N)
    assert first["p"] == page["pairs"]["p"][0][1]
    _, out, _ = leadline(capsys, *call, "--format", "md")
    assert "| new − old | +0.2500 | [" in out
    assert "** (better) on new against old: " in out
    assert page["comparisons"][0]["correction"] == "holm"


def test_unjudged_documents_ask_for_judging(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    lines = [f"q{i:02d} Q0 z{n} {n} {9 - n} x" for i in range(N) for n in range(1, 4)]
    (folder / "new.run").write_text("\n".join(lines) + "\n")
    code, out, _ = compared(capsys, "-m", "nDCG@3", "--write", "to-judge.jsonl")
    assert code == 0
    assert "verdict: judge-first" in out
    pairs = [json.loads(line) for line in (folder / "to-judge.jsonl").read_text().splitlines()]
    assert len(pairs) == 3 * N
    assert {"query_id", "doc_id", "systems", "ranks"} <= set(pairs[0]) | {"systems"}
    # Declared complete, the unlisted are not relevant, and the verdict falls.
    assert "verdict: fail (worse)" in compared(capsys, "-m", "nDCG@3", "--complete")[1]


def test_without_judgments(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, "compare", "old.run", "new.run")
    assert code == 0
    assert "no judgments" in out
    assert "overlap of the top 10: 1.0000" in out


def test_measures_that_disagree_are_pointed_out(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    # The new run always has one document more, relevant half the time: recall up, precision of the set down.
    qrels = [
        f"q{i:02d} 0 {doc} {grade}"
        for i in range(N)
        for doc, grade in (("a", 1), ("d", i % 4 == 0), ("e", 0))
    ]
    (folder / "qrels.txt").write_text(
        "\n".join(line.replace("True", "1").replace("False", "0") for line in qrels) + "\n"
    )
    (folder / "old.run").write_text("".join(f"q{i:02d} Q0 a 1 9 x\n" for i in range(N)))
    (folder / "new.run").write_text(
        "".join(f"q{i:02d} Q0 a 1 9 x\nq{i:02d} Q0 d 2 8 x\nq{i:02d} Q0 e 3 7 x\n" for i in range(N))
    )
    _, out, _ = compared(capsys, "-m", "SetR,SetP")
    assert "measures disagree on new: better by SetR; worse by SetP" in out


def test_power(capsys: pytest.CaptureFixture[str]) -> None:
    call = ("power", "old.run", "new.run", "--qrels", "qrels.txt", "-m", "RR", "--difference", "0.1")
    code, out, _ = leadline(capsys, *call)
    assert code == 0
    assert "queries until the interval excludes zero at 0.1" in out
    _, out, _ = leadline(capsys, *call, "--format", "json")
    row = json.loads(out)["measures"][0]
    assert row["n"] == N
    assert 0 < row["power"] < 1
    assert row["low"] <= row["queries_until_excluded"] <= row["high"]


def test_power_without_spread_plans_nothing(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """Differences of 1 − 1/3 alone: in floating point they deviate from their mean, but they have no spread."""
    lines = [
        f"q{i:02d} Q0 {doc} 1 {score} x" for i in range(19) for score, doc in ((3, "b"), (2, "c"), (1, "a"))
    ]
    judged = (folder / "qrels.txt").read_text().splitlines(keepends=True)
    (folder / "few.txt").write_text("".join(judged[: 3 * 19]))
    (folder / "third.run").write_text("\n".join(lines) + "\n")
    call = ("power", "third.run", "new.run", "--qrels", "few.txt", "-m", "RR", "--difference", "0.1")
    code, out, err = leadline(capsys, *call, "--format", "json")
    assert code == 0, err
    row = json.loads(out)["measures"][0]
    assert (row["n"], row["sd"]) == (19, 0.0)
    assert "no spread" in row["reason"]
    call = ("compare", *call[1:-2], "--format", "json")
    row = json.loads(leadline(capsys, *call)[1])["comparisons"][0]
    assert (row["sd"], row["effect_size"]) == (0.0, None)
    assert "power" not in row


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("compare", "old.run", "--qrels", "qrels.txt"), "needs a baseline and a candidate"),
        (("compare", "old.run", "new.run", "--qrels", "qrels.txt", "--by", "type"), "--queries FILE"),
        (
            ("compare", "old.run", "new.run", "--qrels", "qrels.txt", "--interval", "wald"),
            "is not one of auto",
        ),
        (
            ("compare", "old.run", "new.run", "--qrels", "qrels.txt", "--write", "x.pdf"),
            "the ending names no kind",
        ),
        (("power", "old.run", "new.run", "--qrels", "qrels.txt", "--difference", "0"), "is not above 0"),
    ],
)
def test_wrong_calls(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str) -> None:
    code, _, err = leadline(capsys, *arguments)
    assert code == 2
    assert said in err


def test_the_json_page_names_every_field(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    docs = Path(__file__).parent.parent.parent / "docs" / "reference" / "json-compare.md"
    text = docs.read_text(encoding="utf-8")
    table = ("--queries", "queries.jsonl", "--by", "type", "--cluster", "user")
    page = json.loads(compared(capsys, "-m", "RR", *table, "--format", "json")[1])
    for name in [*page, *page["comparisons"][0], *page["verdict"]]:
        assert f"`{name}`" in text, name


@pytest.mark.parametrize("kind", ["auto", "t", "bootstrap", "bca", "studentised"])
def test_every_interval_can_be_asked_for(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    code, out, err = compared(capsys, "-m", "RR", "--interval", kind, "--format", "json")
    assert code == 0, err
    row = json.loads(out)["comparisons"][0]
    # Half of the forty differences are .5: mean .25, standard error .25·√(40/39)/√40 = .040.
    assert row["interval"] == {"auto": "t"}.get(kind, kind)
    assert row["low"] == pytest.approx(0.25 - 2.02 * 0.04, abs=0.015)
    assert row["high"] == pytest.approx(0.25 + 2.02 * 0.04, abs=0.015)


@pytest.mark.parametrize("kind", ["tango", "bonett-price"])
def test_yes_no_measures_have_intervals_of_their_own(capsys: pytest.CaptureFixture[str], kind: str) -> None:
    row = json.loads(compared(capsys, "-m", "P@1", "--interval", kind, "--format", "json")[1])["comparisons"][
        0
    ]
    assert row["interval"] == kind
    assert row["low"] < 0.5 < row["high"]
    code, _, err = compared(capsys, "-m", "RR", "--interval", kind)
    assert (code, f"{kind} is for yes/no measures" in err) == (2, True)


@pytest.mark.parametrize("kind", ["holm", "bonferroni", "tukey", "none"])
def test_every_correction_can_be_asked_for(
    capsys: pytest.CaptureFixture[str], folder: Path, kind: str
) -> None:
    (folder / "third.run").write_text((folder / "old.run").read_text())
    call = ("compare", "old.run", "new.run", "third.run", "--qrels", "qrels.txt", "-m", "RR")
    rows = json.loads(leadline(capsys, *call, "--correction", kind, "--format", "json")[1])["comparisons"]
    corrected = [row.get("p_corrected") for row in rows]
    if kind == "none":
        assert corrected == [None, None]
        return
    # Two candidates: the first p is multiplied by two, the one without any difference stays 1.
    assert corrected[1] == 1.0
    if kind != "tukey":
        assert corrected[0] == pytest.approx(2 * rows[0]["p"])
    assert corrected[0] < 0.001


def test_what_was_asked_stands_in_the_commands(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """The command on the page and the next command repeat the options, so that they do the same again."""
    lines = [f"q{i:02d} Q0 z{n} {n} {9 - n} x" for i in range(N) for n in range(1, 4)]
    (folder / "new.run").write_text("\n".join(lines) + "\n")
    asked = (
        "-m",
        "nDCG@3",
        "--margin",
        "0.1",
        "--alpha",
        "0.1",
        "--interval",
        "bootstrap",
        "--no-ignore-self",
    )
    asked += ("--queries", "queries.jsonl", "--by", "type", "--max-grade", "1", "--undefined", "zero")
    _, out, _ = compared(capsys, *asked, "--format", "json", "--write", "page.html", "--quiet")
    first = json.loads(out)
    (line,) = first["verdict"]["next"]
    assert line == (
        "leadline compare old.run new.run --qrels qrels.txt -m nDCG@3 --by type --queries queries.jsonl "
        "--margin 0.1 --alpha 0.1 --interval bootstrap --undefined zero --no-ignore-self --max-grade 1 "
        "--write to-judge.jsonl"
    )
    shown = re.search(r"leadline compare [^<]*--seed 0", (folder / "page.html").read_text())[0]
    for command in (line, shown):
        code, out, err = leadline(capsys, *shlex.split(command)[1:], "--format", "json")
        assert code == 0, err
        again = json.loads(out)
        assert again["verdict"]["next"][0].startswith(line.removesuffix(" --write to-judge.jsonl"))
        again["verdict"]["next"] = first["verdict"]["next"]
        assert again == first


def test_nothing_in_common_is_exit_4(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "new.run").write_text("zz Q0 a 1 1 x\n")
    code, _, err = compared(capsys)
    assert (code, "none of its 1 queries is judged" in err) == (4, True)


@pytest.mark.parametrize("n", [1000, 7000])
def test_the_same_bytes_on_one_or_two_threads(folder: Path, n: int) -> None:
    """All of `compare --format json`: bootstrap, randomisation test, all pairs and judge-first, each time anew."""
    import random

    rng = random.Random(5)
    with (folder / "many.txt").open("w") as qrels, contextlib.ExitStack() as stack:
        runs = [stack.enter_context((folder / f"{name}.run").open("w")) for name in "abc"]
        for i in range(n):
            for j in range(6):
                if rng.random() < 0.9:
                    qrels.write(f"q{i} 0 d{j} {rng.choice((0, 0, 1, 2))}\n")
            for run_file in runs:
                for rank, j in enumerate(rng.sample(range(6), 4), 1):
                    run_file.write(f"q{i} Q0 d{j} {rank} {9 - rank} x\n")
    call = [
        "compare",
        "a.run",
        "b.run",
        "c.run",
        "--qrels",
        "many.txt",
        "-m",
        "nDCG@3,R@3,RR",
        "--format",
        "json",
    ]
    outs = []
    for threads in ("1", "2"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")
        done = subprocess.run(
            [sys.executable, "-m", "leadline", *call],
            cwd=folder,
            env={**os.environ, **dict.fromkeys(names, threads)},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        outs.append(done.stdout)
    assert len(outs[0]) > 1000
    assert outs[0] == outs[1]


def test_null_systems_must_be_beaten(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    _, out, _ = compared(capsys, "-m", "RR", "--nulls")
    assert "null-random: RR" in out
    # Every query has the same three documents, so the most returned ones in the order a, b, c are always right.
    assert "null-popular: RR 1.0000" in out
    assert "! new is not shown to beat null-popular" in out

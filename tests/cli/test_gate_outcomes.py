"""Every outcome of `leadline gate` through the real command: its exit code, the files it writes, and what it names next."""

import json
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import typer

from leadline.cli.main import app
from shared.command import exit_code as leadline

N = 40
FILES = ("gate.json", "gate.md", "gate.xml", "gate.html", "gate.txt", "to-judge.jsonl")
POLICY = """qrels = "qrels.txt"
[gate]
baseline = "baseline.json"
{head}
[[gate.rule]]
measure = "nDCG@5"
margin = 0.05
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """Forty queries with five judged documents each, the first relevant; old.run has it first, and is pinned."""
    monkeypatch.chdir(tmp_path)
    qrels = [f"q{i:02} 0 d{i}_{j} {int(j == 0)}" for i in range(N) for j in range(5)]
    Path("qrels.txt").write_text("\n".join(qrels) + "\n")
    ranked("old.run", lambda i: [0, 1, 2, 3, 4])
    policy()
    assert leadline("baseline", "old.run") == 0
    capsys.readouterr()
    return tmp_path


def policy(head: str = "") -> None:
    Path("leadline.toml").write_text(POLICY.format(head=head))


def ranked(name: str, order, extra: str = "") -> None:
    """A run of five documents for each query, in the order of their numbers; `extra` takes most first places."""
    lines = []
    for i in range(N):
        documents = ([f"{extra}{i}"] if extra and i % 3 else []) + [f"d{i}_{j}" for j in order(i)]
        lines += [f"q{i:02} Q0 {d} {r} {10 - r} x" for r, d in enumerate(documents, 1)]
    Path(name).write_text("\n".join(lines) + "\n")


def better(i: int) -> list[int]:
    return [0, 1, 2, 3, 4]


def worse(i: int) -> list[int]:
    return [1, 2, 3, 0, 4] if i % 2 else [1, 2, 0, 3, 4]


def rows(make) -> None:
    Path("new.jsonl").write_text("".join(json.dumps(make(i)) + "\n" for i in range(N)))


def passes() -> None:
    ranked("new.run", better)


def passes_better() -> None:
    ranked("old.run", lambda i: [1, 0, 2, 3, 4] if i % 2 else [0, 1, 2, 3, 4])
    leadline("baseline", "old.run")
    ranked("new.run", better)


def passes_worse() -> None:
    # Every sixth query falls from 1 to 1/log2(3) = .631: −.065 on average, beyond doubt and within .5.
    Path("leadline.toml").write_text(POLICY.format(head="").replace("0.05", "0.5"))
    ranked("new.run", lambda i: [1, 0, 2, 3, 4] if i % 6 == 0 else [0, 1, 2, 3, 4])


def fails() -> None:
    ranked("new.run", worse)


def undecided() -> None:
    # Ten of forty rise by 1 − 1/log2(3) = .369 and ten fall: no difference, deviation .264, standard error .042,
    # so that the one-sided end, −1.685 · .042 = −.070, lies beyond −.05.
    ranked("old.run", lambda i: [1, 0, 2, 3, 4] if i % 4 == 0 else [0, 1, 2, 3, 4])
    leadline("baseline", "old.run")
    ranked("new.run", lambda i: [1, 0, 2, 3, 4] if i % 4 == 1 else [0, 1, 2, 3, 4])


def undecided_strictly() -> None:
    policy('on_undecided = "fail"')
    undecided()


def unjudged() -> None:
    ranked("new.run", better, extra="new")


def unjudged_strictly() -> None:
    policy('on_undecided = "fail"')
    unjudged()


def no_baseline() -> None:
    passes()
    Path("baseline.json").unlink()


def empty_run() -> None:
    Path("new.run").write_text("")


def empty_judgments() -> None:
    passes()
    Path("qrels.txt").write_text("")


def empty_index() -> None:
    rows(lambda i: {"query_id": f"q{i:02}", "doc_ids": []})


def nothing_in_common() -> None:
    Path("new.run").write_text("zz Q0 d 1 1.0 x\n")


def changed_grades() -> None:
    passes()
    text = Path("qrels.txt").read_text()
    Path("qrels.txt").write_text(text.replace("d0_0 1", "d0_0 0"))


def removed_judgments() -> None:
    passes()
    Path("qrels.txt").write_text("q00 0 d0_0 1\n")


def no_value() -> None:
    # Nothing is relevant any more: nDCG has no value on any query.
    policy()
    Path("qrels.txt").write_text("".join(f"q{i:02} 0 d{i}_{j} 0\n" for i in range(N) for j in range(5)))
    leadline("baseline", "old.run")
    passes()


def run_is_gone() -> None:
    pinned = json.loads(Path("baseline.json").read_text())
    Path("baseline.json").write_text(json.dumps({**pinned, "rankings": None, "run_path": "gone.run"}))
    passes()


def errors() -> None:
    row = {"error": "time-out"}
    rows(lambda i: {"query_id": f"q{i:02}", **(row if i < 7 else {"doc_ids": [f"d{i}_0"]})})


def all_errors() -> None:
    rows(lambda i: {"query_id": f"q{i:02}", "error": "no connection"})


CASES = [
    # made by, exit code, outcome, effect, what a reason says, how the next command begins
    (passes, 0, "pass", "no-worse", "nDCG@5", "leadline baseline new.run"),
    (passes_better, 0, "pass", "better", "nDCG@5", "leadline baseline new.run"),
    (passes_worse, 0, "pass", "worse", "nDCG@5", "leadline baseline new.run"),
    (fails, 1, "fail", "worse", "fail", "leadline gate new.run --config leadline.toml --write"),
    (undecided, 0, "too-few-queries", "unclear", "queries decide a margin", "leadline power old.run new.run"),
    (undecided_strictly, 3, "too-few-queries", "unclear", "queries decide a margin", "leadline power"),
    (unjudged, 0, "judge-first", "worse", "judged of the top k", "leadline gate new.run"),
    (unjudged_strictly, 3, "judge-first", "worse", "judged of the top k", "leadline gate new.run"),
    (no_baseline, 4, "not-comparable", "unclear", "no baseline: baseline.json", "leadline baseline RUN"),
    (empty_run, 4, "not-comparable", "unclear", "new.run: empty", "leadline gate new.run"),
    (empty_judgments, 4, "not-comparable", "unclear", "qrels.txt: empty", "leadline gate new.run"),
    (empty_index, 4, "not-comparable", "unclear", "no document for any query", "leadline gate new.jsonl"),
    (nothing_in_common, 4, "not-comparable", "unclear", "none of its 1 queries", "leadline gate new.run"),
    (changed_grades, 4, "not-comparable", "unclear", "q00 d0_0 1 → 0", "leadline baseline old.run"),
    (removed_judgments, 4, "not-comparable", "unclear", "removed since", "leadline baseline old.run"),
    (no_value, 4, "not-comparable", "unclear", "no query has a value", "leadline baseline old.run"),
    (run_is_gone, 4, "not-comparable", "unclear", "gone.run is not there", "leadline baseline RUN"),
    (errors, 5, "too-many-errors", "unclear", "new: time-out: q00, q01, q02, q03, q04 and 2 more",
     "leadline evaluate new.jsonl --qrels qrels.txt"),
    (all_errors, 5, "too-many-errors", "unclear", "40 of 40 rows failed", "leadline evaluate new.jsonl"),
]  # fmt: skip


def candidate() -> str:
    return "new.jsonl" if Path("new.jsonl").exists() else "new.run"


@pytest.mark.parametrize(
    ("make", "code", "outcome", "effect", "reason", "then"), CASES, ids=lambda v: getattr(v, "__name__", None)
)
def test_every_outcome_writes_every_file(
    capsys: pytest.CaptureFixture[str],
    make: Any,
    code: int,
    outcome: str,
    effect: str,
    reason: str,
    then: str,
) -> None:
    make()
    capsys.readouterr()
    written = [word for name in FILES for word in ("--write", name)]
    assert leadline("gate", candidate(), *written) == code
    printed = capsys.readouterr().out
    page = json.loads(Path("gate.json").read_text())
    verdict = page["verdict"]
    assert (page["exit_code"], verdict["outcome"], verdict["effect"]) == (code, outcome, effect)
    assert any(reason in one for one in verdict["reasons"]), verdict["reasons"]
    assert verdict["next"][0].startswith(then), verdict["next"]
    # The same sentence, reason and next step in all of them.
    assert Path("gate.txt").read_text() == printed
    texts = {name: Path(name).read_text() for name in FILES}
    assert texts["gate.md"].startswith("<!-- leadline-gate -->\n### ")
    root = ET.fromstring(texts["gate.xml"])
    texts["gate.xml"] = " ".join(root.itertext())
    for name in ("gate.txt", "gate.md", "gate.xml", "gate.html"):
        text = " ".join(texts[name].replace("&gt;", ">").replace("&#x27;", "'").split())
        assert verdict["sentence"] in text, name
        assert verdict["next"][0] in text, name
        # A rule that holds is a case of JUnit without more words.
        assert reason in text or (name, outcome) == ("gate.xml", "pass"), name
    assert len(verdict["sentence"]) <= 200
    # On a terminal everything fits, but for the headline and commands, which are not broken.
    assert max(len(line) for line in printed.splitlines()[1:] if not line.startswith("next: ")) <= 100
    counts = {key: int(root.get(key) or 0) for key in ("tests", "failures", "skipped", "errors")}
    strict = code in (1, 3)
    wanted = {"tests": 1, "failures": int(strict), "errors": int(code in (4, 5))}
    skipped = int(code == 0 and outcome != "pass")
    assert counts == {**wanted, "skipped": skipped}
    # The pairs to judge are listed for judge-first, and for nothing else.
    assert bool(texts["to-judge.jsonl"]) == (outcome == "judge-first")


@pytest.mark.parametrize(
    ("make", "code"), [(case[0], case[1]) for case in CASES], ids=lambda v: getattr(v, "__name__", None)
)
def test_what_is_named_next_is_a_command_that_is_there(
    capsys: pytest.CaptureFixture[str], make: Any, code: int
) -> None:
    make()
    leadline("gate", candidate(), "--write", "gate.json")
    capsys.readouterr()
    commands = typer.main.get_command(app).commands
    for line in json.loads(Path("gate.json").read_text())["verdict"]["next"]:
        assert str(Path.cwd()) not in line
        program, name, *rest = shlex.split(line)
        assert (program, name in commands) == ("leadline", True), line
        options = {option for parameter in commands[name].params for option in parameter.opts}
        assert {word for word in rest if re.match("--?[a-z]", word)} <= options, line
        if "RUN" in rest:
            continue
        # Ready to paste: it is understood, whatever it comes to.
        assert leadline(name, *rest) != 2 or make is all_errors, capsys.readouterr().err


def test_what_was_accepted_stands_in_the_next_command(capsys: pytest.CaptureFixture[str]) -> None:
    changed_grades()
    assert leadline("gate", "new.run", "--write", "gate.json") == 4
    accepted = json.loads(Path("gate.json").read_text())["verdict"]["next"][1]
    assert accepted == "leadline gate new.run --config leadline.toml --accept-changed-judgments"
    # q00 has no relevant document any more, so its nDCG has no value; the 39 others agree.
    assert leadline(*shlex.split(accepted)[1:]) == 0
    # Whatever was typed is kept, so that the command does the same again.
    Path("other.json").write_text(Path("baseline.json").read_text())
    fails()
    leadline(
        "gate", "new.run", "--baseline", "other.json", "--accept-changed-judgments", "--write", "gate.json"
    )
    (line,) = json.loads(Path("gate.json").read_text())["verdict"]["next"]
    assert "--baseline other.json --accept-changed-judgments --write report.html" in line


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda: Path("new.run").unlink(), "new.run: cannot be read"),
        (lambda: Path("new.run").write_text("garbage\n"), "line 1: found 'garbage'"),
        (lambda: Path("qrels.txt").unlink(), "qrels.txt: cannot be read"),
        (lambda: Path("leadline.toml").write_text("[gate]\nmagrin = 1\n"), "unknown setting 'magrin'"),
        (lambda: Path("baseline.json").write_text("{}"), "is no baseline"),
    ],
)
def test_wrong_input_is_no_outcome(capsys: pytest.CaptureFixture[str], break_it: Any, said: str) -> None:
    passes()
    break_it()
    assert leadline("gate", "new.run", "--write", "gate.json") == 2
    assert said in capsys.readouterr().err
    assert not Path("gate.json").exists()


@pytest.mark.parametrize(("make", "code"), [(passes, 0), (fails, 1), (no_baseline, 4), (errors, 5)])
def test_the_exit_code_of_the_process(make: Any, code: int) -> None:
    make()
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "leadline", "gate", candidate(), "--quiet"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, "")


def test_judging_from_the_top_of_the_list_settles_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The example of the docs: system C finds what nobody judged; the first 26 of 758 judgments release a pass."""
    leadline("simulate", "--quiet", "--folder", "w", "--queries", "100", "--seed", "3")
    leadline(
        "init",
        "w/A.run",
        "w/C.run",
        "--qrels",
        "w/pooled.qrels",
        "-m",
        "nDCG@10",
        "--margin",
        "0.05",
        "--force",
    )
    leadline("baseline", "w/A.run")
    capsys.readouterr()
    assert leadline("gate", "w/C.run", "--write", "to-judge.jsonl") == 0
    assert capsys.readouterr().out.startswith("undecided: judge 12 pairs first")
    pairs = [json.loads(line) for line in Path("to-judge.jsonl").read_text().splitlines()]
    truth = {
        (q, d): line
        for line in Path("w/complete.qrels").read_text().splitlines(keepends=True)
        for q, _, d, _ in [line.split()]
    }
    assert len(pairs) == 758
    judged = [truth[pair["query_id"], pair["doc_id"]] for pair in pairs]
    before = Path("w/pooled.qrels").read_text()
    said = {}
    for count in (5, 26):
        Path("w/pooled.qrels").write_text(before + "".join(judged[:count]))
        leadline("gate", "w/C.run")
        said[count] = capsys.readouterr().out
        assert f"judgments since the baseline: +{count}" in said[count]
    assert said[5].startswith("undecided: judge ")
    assert said[26].startswith("pass: not worse by .05")
    # The last that were listed settle nothing.
    Path("w/pooled.qrels").write_text(before + "".join(judged[-26:]))
    leadline("gate", "w/C.run")
    assert capsys.readouterr().out.startswith("undecided: judge ")


REFERENCE = (Path(__file__).parents[2] / "docs" / "reference" / "gate.md").read_text(encoding="utf-8")


def section(name: str) -> str:
    """A section of the reference, by the beginning of its heading."""
    return next(part for part in REFERENCE.split("\n## ") if part.startswith(name))


def test_the_reference_names_every_setting() -> None:
    from leadline.gating.policy import GATE_KEYS, RULE_KEYS

    of_gate, _, of_rule = section("The policy").partition("\nA rule:")
    assert set(re.findall(r"^\| `(\w+)` \|", of_gate, re.MULTILINE)) == set(GATE_KEYS)
    assert set(re.findall(r"^\| `(\w+)` \|", of_rule, re.MULTILINE)) == set(RULE_KEYS)


@pytest.mark.parametrize("make", [passes, unjudged_strictly, no_baseline, errors])
def test_the_reference_names_every_field(capsys: pytest.CaptureFixture[str], make: Any) -> None:
    make()
    leadline("gate", candidate(), "--write", "gate.json", "--write", "to-judge.jsonl")
    page, text = json.loads(Path("gate.json").read_text()), section("JSON")
    told = [
        name
        for cell in re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", cell)
    ]
    assert set(page) == set(told)
    inner = [
        *page["verdict"],
        *(key for rule in page["rules"] for key in [*rule, *(rule["judge_first"] or {})]),
    ]
    inner += [*(page["judgments"] or {}), *(key for one in page["worst"] for key in one)]
    assert [name for name in inner if f"`{name}`" not in text] == []
    listed = [json.loads(line) for line in Path("to-judge.jsonl").read_text().splitlines()]
    assert {key for row in listed for key in row} <= set(re.findall(r"`(\w+)`", section("The pairs")))
    # Nothing of this machine, and each file by its hash.
    assert str(Path.cwd()) not in Path("gate.json").read_text()
    assert all(len(one["sha256"]) == 64 for one in page["inputs"])
    assert bool(page["inputs"]) == (make is not no_baseline)


def test_the_page_begins_with_the_rule_that_the_verdict_rests_on(capsys: pytest.CaptureFixture[str]) -> None:
    rule = '[[gate.rule]]\nmeasure = "Success@5"\nmargin = 0.2\n[[gate.rule]]\nmeasure = "nDCG@5"\nmargin = 0.05\n'
    Path("leadline.toml").write_text(POLICY.format(head="").partition("[[gate.rule]]")[0] + rule)
    leadline("baseline", "old.run")
    fails()
    assert leadline("gate", "new.run", "--write", "gate.html") == 1
    page = Path("gate.html").read_text()
    box = page[page.index('class="verdict fail"') : page.index("</section>")]
    # The relevant document is still in the top five, so Success holds; nDCG falls from 1.
    assert "<strong>nDCG@5</strong>: old 1.0000" in box
    assert "margin 0.05" in box
    assert "Success@5: .000" in box
    assert page.index("nDCG@5</th>") < page.index("Success@5</th>")


def test_what_a_query_gained_is_told_with_what_it_lost(capsys: pytest.CaptureFixture[str]) -> None:
    # Every third query keeps its order; the others put a document that nobody judged first, and the fifth falls out.
    ranked("new.run", better, extra="new")
    leadline("gate", "new.run", "--write", "gate.json", "--write", "gate.html")
    worst = json.loads(Path("gate.json").read_text())["worst"][0]
    assert worst["gained"] == [{"doc_id": "new1", "rank": 1, "grade": None}]
    assert worst["lost"] == [{"doc_id": "d1_4", "rank": 5, "grade": 0.0}]
    page = Path("gate.html").read_text()
    row = page[page.index('class="wide moved"') :]
    assert "new1 (rank 1, unjudged)" in row[: row.index("</tr>", row.index("</thead>"))]

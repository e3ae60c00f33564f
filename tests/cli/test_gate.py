"""The commands `init`, `baseline` and `gate`: each outcome, effect and exit code, and the files written."""

import json
import random
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import typer

from leadline.cli.gate import baseline, gate, init
from leadline.errors import LeadlineError

N = 40


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty queries with five judged documents each, one or two of them relevant, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    judged = {}
    for i in range(N):
        documents = [f"d{i}_{j}" for j in range(5)]
        judged[f"q{i:02}"] = {d: int(j < rng.randint(1, 2)) for j, d in enumerate(documents)}
    lines = [f"{q} 0 {d} {g}" for q, own in judged.items() for d, g in own.items()]
    (tmp_path / "qrels.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "queries.jsonl").write_text(
        "".join(json.dumps({"query_id": q, "text": f"what is {q}?"}) + "\n" for q in judged)
    )
    return tmp_path


def write_run(name: str, order, queries: int = N, extra: str = "") -> None:
    """A run that gives each query its five documents in the order of their numbers given by `order(i)`."""
    lines = []
    for i in range(queries):
        documents = [
            f"{extra}{i}_{j}" if extra and place == 0 else f"d{i}_{j}" for place, j in enumerate(order(i))
        ]
        lines += [f"q{i:02} Q0 {d} {r} {10 - r} x" for r, d in enumerate(documents, 1)]
    Path(name).write_text("\n".join(lines) + "\n")


def some(share: float, seed: int):
    """The relevant document stands first in a share of the queries and third in the others."""
    rng = random.Random(seed)
    firsts = [rng.random() < share for _ in range(N)]
    return lambda i: [0, 1, 2, 3, 4] if firsts[i] else [2, 3, 0, 1, 4]


def leadline(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """The exit code of the command, what it printed, and what it said on standard error."""
    app = typer.Typer(pretty_exceptions_enable=False)
    for command in (init, baseline, gate):
        app.command()(command)
    code = 0
    try:
        code = int(app(args=list(arguments), standalone_mode=False) or 0)
    except LeadlineError as error:
        code = error.exit_code
        capsys.readouterr()
        return code, "", str(error)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def policy(
    rules: str = '[[gate.rule]]\nmeasure = "nDCG@5"\nmargin = 0.05\n', head: str = "", gate_head: str = ""
) -> None:
    Path("leadline.toml").write_text(
        f'qrels = "qrels.txt"\nqueries = "queries.jsonl"\n{head}\n[gate]\nbaseline = "baseline.json"\n{gate_head}\n{rules}'
    )


def pinned(capsys: pytest.CaptureFixture[str], share: float = 0.7) -> None:
    write_run("old.run", some(share, 2))
    code, out, _ = leadline(capsys, "baseline", "old.run")
    assert code == 0, out
    assert "pinned old: 40 queries to rank 100; wrote baseline.json" in out


def test_three_commands_put_a_gate_into_a_repository(capsys):
    write_run("old.run", some(0.7, 2))
    write_run("new.run", some(0.7, 3))
    code, out, _ = leadline(capsys, "init", "old.run", "new.run", "-m", "nDCG@5", "--margin", "0.3")
    assert (code, out.splitlines()[0]) == (0, "wrote leadline.toml")
    assert "nDCG@5: 40 queries decide a margin of ." in out.replace("0.", ".")
    code, out, _ = leadline(capsys, "baseline", "old.run")
    assert code == 0
    code, out, _ = leadline(capsys, "gate", "old.run")
    assert (code, out.splitlines()[0]) == (0, "pass: the same on every query")


def test_init_does_not_write_over_and_names_what_it_assumes(capsys):
    code, out, _ = leadline(capsys, "init")
    # 40 queries at a spread of .2: (1.685 + .851)·.2/√40 = .080.
    assert code == 0
    assert "40 queries decide a margin of 0.080 with power .8, if differences spread by 0.2" in out
    code, _, err = leadline(capsys, "init")
    assert (code, "--force" in err) == (2, True)
    assert leadline(capsys, "init", "--force")[0] == 0
    code, _, err = leadline(capsys, "init", "--force", "-m", "nDGC@10")
    assert (code, "did you mean nDCG@10" in err) == (2, True)
    code, _, err = leadline(capsys, "init", "one.run", "--force")
    assert (code, err) == (2, "init takes two runs, or none")


def test_what_init_writes_is_a_policy(capsys):
    leadline(capsys, "init", "--queries", "queries.jsonl", "-m", "nDCG@5,R@5", "--margin", "0.1")
    text = Path("leadline.toml").read_text()
    # The lines that are commented out can be taken in as they stand.
    opened = text.replace("# must = ", "must = ", 1).replace("margin = 0.1\n", "\n", 1)
    Path("leadline.toml").write_text(opened)
    write_run("old.run", some(0.7, 2))
    assert leadline(capsys, "baseline", "old.run")[0] == 0
    row = json.loads(leadline(capsys, "gate", "old.run", "--format", "json")[1])
    assert [(one["measure"], one["must"], one["margin"]) for one in row["rules"]] == [
        ("nDCG@5", "improve", 0.0),
        ("R@5", "no-worse", 0.1),
    ]
    assert (row["exit_code"], row["verdict"]["outcome"]) == (1, "fail")


def test_pass_and_better(capsys):
    policy()
    pinned(capsys)
    write_run("new.run", some(1.0, 3))
    code, out, _ = leadline(capsys, "gate", "new.run")
    assert (code, out.splitlines()[0]) == (0, "pass: better")
    assert "pass · better · new against old" in out
    assert "next: leadline baseline new.run" in out


def test_fail_and_worse(capsys):
    policy()
    pinned(capsys)
    write_run("new.run", some(0.0, 3))
    code, out, _ = leadline(capsys, "gate", "new.run")
    assert (code, out.splitlines()[0]) == (1, "fail: worse by more than .05")
    assert "worst queries" in out
    assert "what is q" in out
    assert "next: leadline gate new.run --config" in out


def test_too_few_queries_warns_or_fails(capsys):
    for word, wanted in (("warn", 0), ("fail", 3)):
        policy(gate_head=f'on_undecided = "{word}"')
        pinned(capsys)
        write_run("new.run", some(0.7, 9))
        code, out, _ = leadline(capsys, "gate", "new.run")
        assert code == wanted
        assert out.startswith("undecided: too few queries; about ")
        assert "too-few-queries · unclear" in out


def test_worse_but_within_the_margin(capsys):
    # Six of the forty fall from rank 1 to 3: worse beyond doubt, and within .5.
    policy('[[gate.rule]]\nmeasure = "RR"\nmargin = 0.5\n')
    pinned(capsys, share=1.0)
    write_run("new.run", lambda i: [2, 3, 0, 1, 4] if i % 6 == 0 else [0, 1, 2, 3, 4])
    code, out, _ = leadline(capsys, "gate", "new.run")
    assert (code, out.splitlines()[0]) == (0, "pass: worse, but within .5")


def test_judge_first_and_its_list(capsys):
    # The candidate brings a document of its own to every first place that nobody judged.
    policy(gate_head='on_undecided = "fail"')
    pinned(capsys, share=1.0)
    write_run("new.run", lambda i: [9, 0, 1, 2, 3], extra="new")
    code, out, _ = leadline(capsys, "gate", "new.run", "--write", "to-judge.jsonl")
    assert code == 3
    assert out.startswith("undecided: judge ")
    assert "judge-first · worse" in out
    rows = [json.loads(line) for line in Path("to-judge.jsonl").read_text().splitlines()]
    assert len(rows) == N
    assert list(rows[0]) == ["query_id", "doc_id", "ranks", "move", "likely", "why", "systems", "rule"]
    assert (rows[0]["ranks"], rows[0]["systems"]) == ({"new": 1}, ["new"])
    # Declared complete, the same run fails, and the output says what was declared.
    policy(gate_head='judgments = "complete"')
    code, out, _ = leadline(capsys, "gate", "new.run", "--write", "to-judge.jsonl")
    assert (code, Path("to-judge.jsonl").read_text()) == (1, "")
    assert "judgments are declared complete" in out


def test_not_comparable(capsys):
    policy()
    code, out, _ = leadline(capsys, "gate", "old.run")
    said = "not comparable: no baseline: baseline.json is not there; `leadline baseline RUN` pins one"
    assert (code, out.splitlines()[0]) == (4, said)
    pinned(capsys)
    # A grade that changed since.
    text = Path("qrels.txt").read_text()
    Path("qrels.txt").write_text(text.replace("q00 0 d0_0 1", "q00 0 d0_0 0"))
    code, out, _ = leadline(capsys, "gate", "old.run", "--write", "j.xml")
    assert code == 4
    said = "not comparable: judgments changed since the baseline: 1 (q00 d0_0 1 → 0)"
    assert out.splitlines()[0] == said
    assert ET.parse("j.xml").getroot().get("errors") == "1"
    assert leadline(capsys, "gate", "old.run", "--accept-changed-judgments")[0] == 0
    # Added judgments are fine, and said.
    Path("qrels.txt").write_text(text + "q00 0 more 0\n")
    code, out, _ = leadline(capsys, "gate", "old.run")
    assert (code, "judgments since the baseline: +1" in out) == (0, True)
    # A query that asks something else now.
    asked = Path("queries.jsonl").read_text()
    Path("queries.jsonl").write_text(asked.replace("what is q07?", "who is q07?"))
    code, out, _ = leadline(capsys, "gate", "old.run")
    assert (code, out.splitlines()[0]) == (
        4,
        "not comparable: query texts changed since the baseline: 1 (q07)",
    )


def test_the_comment_links_the_report_written_with_it(capsys):
    policy()
    pinned(capsys)
    Path("out (1)").mkdir()
    leadline(capsys, "gate", "old.run", "--write", "gate.md", "--write", "out (1)/gate.html")
    assert Path("gate.md").read_text().endswith("\n[The whole report](<out (1)/gate.html>)\n")
    leadline(capsys, "gate", "old.run", "--write", "out (1)/gate.md", "--write", "out (1)/gate.html")
    assert Path("out (1)/gate.md").read_text().endswith("\n[The whole report](<gate.html>)\n")
    leadline(capsys, "gate", "old.run", "--write", "gate.md")
    assert "report](" not in Path("gate.md").read_text()


def test_the_next_command_names_no_folder_of_this_machine(capsys):
    policy()
    pinned(capsys)
    write_run("new.run", lambda i: [0, 5, 6, 7, 8])
    _, out, _ = leadline(capsys, "gate", "new.run")
    assert str(Path.cwd()) not in out


def test_a_corpus_that_changed_is_reported_and_nothing_more(capsys):
    policy(gate_head='corpus = "corpus.jsonl"')
    Path("corpus.jsonl").write_text('{"_id": "a", "text": "one"}\n')
    pinned(capsys)
    code, out, _ = leadline(capsys, "gate", "old.run")
    assert (code, "corpus unchanged" in out) == (0, True)
    Path("corpus.jsonl").write_text('{"_id": "a", "text": "two"}\n')
    code, out, _ = leadline(capsys, "gate", "old.run", "--write", "gate.md", "--write", "gate.json")
    assert (code, "the corpus has changed since the baseline" in out) == (0, True)
    assert "the corpus has changed since the baseline" in Path("gate.md").read_text()
    reasons = json.loads(Path("gate.json").read_text())["verdict"]["reasons"]
    assert any("the corpus has changed since the baseline" in reason for reason in reasons)
    # The file need not be where the gate runs, and a baseline may be older than the setting: both are said.
    Path("corpus.jsonl").unlink()
    code, out, _ = leadline(capsys, "gate", "old.run")
    assert (code, "corpus.jsonl is not there: whether it changed is not known" in out) == (0, True)
    policy()
    pinned(capsys)
    policy(gate_head='corpus = "corpus.jsonl"')
    Path("corpus.jsonl").write_text("{}\n")
    code, out, _ = leadline(capsys, "gate", "old.run")
    assert (code, "the baseline pins no corpus: whether it changed is not known" in out) == (0, True)
    # Without the setting nothing is said of it.
    policy()
    assert "corpus" not in leadline(capsys, "gate", "old.run")[1]


def test_a_corpus_to_pin_that_is_not_there(capsys):
    policy(gate_head='corpus = "corpus.jsonl"')
    write_run("old.run", some(0.7, 2))
    code, _, err = leadline(capsys, "baseline", "old.run")
    assert (code, "corpus.jsonl" in err) == (2, True)
    assert not Path("baseline.json").exists()


def test_nothing_in_common_is_not_comparable(capsys):
    policy()
    pinned(capsys)
    Path("new.run").write_text("zz Q0 d 1 1.0 x\n")
    code, out, _ = leadline(capsys, "gate", "new.run")
    assert code == 4
    assert out.startswith("not comparable: new: none of its 1 queries is judged")


def test_an_empty_index_is_not_comparable(capsys):
    policy()
    pinned(capsys)
    rows = [{"query_id": f"q{i:02}", "doc_ids": []} for i in range(N)]
    Path("new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = leadline(capsys, "gate", "new.jsonl")
    assert (code, out.splitlines()[0]) == (4, "not comparable: new returned no document for any query")
    # Where every row failed, the errors are what is said.
    rows = [{"query_id": f"q{i:02}", "error": "time-out"} for i in range(N)]
    Path("new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, out, _ = leadline(capsys, "gate", "new.jsonl")
    assert (code, out.splitlines()[0]) == (5, "too many errors: 40 of 40 rows failed, and 0 % may")


def test_too_many_errors(capsys):
    policy(gate_head="error_share = 0.02")
    pinned(capsys, share=1.0)
    rows = [{"query_id": f"q{i:02}", "doc_ids": [f"d{i}_{j}" for j in range(5)]} for i in range(N)]
    for failed, wanted in ((1, 5), (0, 0)):
        for i in range(failed):
            rows[i] = {"query_id": f"q{i:02}", "error": "time-out"}
        Path("new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        code, out, err = leadline(capsys, "gate", "new.jsonl", "--write", "j.xml")
        assert code == wanted, out + err
        assert ET.parse("j.xml").getroot().get("errors") == str(failed)
        if failed:
            assert out.startswith("too many errors: 1 of 40 rows failed, and 2 % may")
            rows[0] = {"query_id": "q00", "doc_ids": [f"d0_{j}" for j in range(5)]}


def test_a_must_pass_query_that_fell(capsys):
    policy(gate_head='must_pass = ["q03"]')
    pinned(capsys, share=1.0)
    write_run("new.run", lambda i: [2, 3, 0, 1, 4] if i == 3 else [0, 1, 2, 3, 4])
    code, out, _ = leadline(capsys, "gate", "new.run", "--write", "j.xml")
    assert code == 1
    assert out.startswith("fail: must-pass query q03 fell in nDCG@5: ")
    assert ET.parse("j.xml").getroot().get("failures") == "1"


def test_a_must_pass_query_that_judging_could_lift(capsys):
    policy('[[gate.rule]]\nmeasure = "RR"\nmargin = 0.5\n', gate_head='must_pass = ["q03"]')
    pinned(capsys, share=1.0)
    # Its first place goes to a document that nobody judged.
    write_run("new.run", lambda i: [0, 1, 2, 3, 4])
    text = Path("new.run").read_text()
    Path("new.run").write_text(text.replace("q03 Q0 d3_0 1 9 x", "q03 Q0 other 1 9 x\nq03 Q0 d3_0 2 8.5 x"))
    code, out, _ = leadline(capsys, "gate", "new.run", "--write", "t.jsonl")
    assert code == 0
    assert out.startswith("undecided: must-pass query q03 fell in RR: 1 to .5; judging could lift it again")
    (row,) = [json.loads(line) for line in Path("t.jsonl").read_text().splitlines()]
    assert (row["query_id"], row["doc_id"], row["rule"]) == ("q03", "other", "must pass")
    # Judged, it is a fall like any other.
    with Path("qrels.txt").open("a") as file:
        file.write("q03 0 other 0\n")
    code, out, _ = leadline(capsys, "gate", "new.run")
    assert (code, out.splitlines()[0]) == (1, "fail: must-pass query q03 fell in RR: 1 to .5")


def test_a_slice_has_its_own_rule(capsys):
    Path("queries.jsonl").write_text(
        "".join(
            json.dumps({"query_id": f"q{i:02}", "type": "long" if i < 20 else "short"}) + "\n"
            for i in range(N)
        )
    )
    rule = '[[gate.rule]]\nmeasure = "RR"\nmargin = 0.1\nslice = "{}"\n'
    for part, wanted in (("long", 1), ("short", 0)):
        policy(rule.format(part), gate_head='by = "type"')
        pinned(capsys, share=1.0)
        write_run("new.run", lambda i: [2, 3, 0, 1, 4] if i < 20 and i % 3 else [0, 1, 2, 3, 4])
        code, out, _ = leadline(capsys, "gate", "new.run")
        assert code == wanted
        assert f"RR [{part}]: " in out
    policy(rule.format("lnog"), gate_head='by = "type"')
    code, _, err = leadline(capsys, "gate", "new.run")
    assert (code, "there are long, short" in err) == (2, True)


def test_the_files_say_the_same(capsys):
    rules = (
        '[[gate.rule]]\nmeasure = "nDCG@5"\nmargin = 0.05\n[[gate.rule]]\nmeasure = "R@5"\nmargin = 0.05\n'
    )
    policy(rules)
    pinned(capsys)
    write_run("new.run", some(0.0, 3))
    names = ["j.xml", "comment.md", "gate.json", "gate.txt"]
    code, out, _ = leadline(
        capsys, "gate", "new.run", *(word for name in names for word in ("--write", name))
    )
    assert (code, Path("gate.txt").read_text()) == (1, out)
    root = ET.parse("j.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("skipped"), root.get("errors")) == (
        "2",
        "1",
        "0",
        "0",
    )
    assert root[0][0].get("name") == "nDCG@5 no-worse"
    assert "must not be worse by .05: fail" in (root[0][0][0].text or "")
    text = Path("comment.md").read_text()
    assert text.startswith("<!-- leadline-gate -->\n### fail: worse by more than .05 (nDCG@5)\n")
    assert "| nDCG@5: not worse by .05 |" in text
    assert "what is q" in text
    row = json.loads(Path("gate.json").read_text())
    assert (row["verdict"]["outcome"], row["exit_code"], row["gated"]) == ("fail", 1, 1)
    assert [one["outcome"] for one in row["rules"]] == ["fail", "pass"]
    assert len(row["worst"]) == 5
    assert "Infinity" not in Path("gate.json").read_text()


def test_a_profile_reads_a_measure_once(capsys):
    # Under this profile a bare nDCG is linear; one that says 2^g − 1 stays so. Grade 2 at rank 2, grade 1 at 1:
    # (1 + 3/1.585)/(3 + 1/1.585) = .7967, linear (1 + 2/1.585)/(2 + 1/1.585) = .8597.
    for gain, value in (("exp2", 0.7967), ("linear", 0.8597)):
        policy(f'[[gate.rule]]\nmeasure = "nDCG(gain={gain})@2"\n', head='profile = "trec_eval-10"')
        Path("qrels.txt").write_text("".join(f"q{i:02} 0 d{i}_0 1\nq{i:02} 0 d{i}_1 2\n" for i in range(N)))
        write_run("old.run", lambda i: [0, 1, 2, 3, 4])
        assert leadline(capsys, "baseline", "old.run")[0] == 0
        row = json.loads(leadline(capsys, "gate", "old.run", "--format", "json")[1])
        assert row["comparisons"][0]["mean_candidate"] == pytest.approx(value, abs=5e-5)
        assert (row["profile"], row["verdict"]["outcome"]) == ("trec_eval-10", "pass")


def test_each_rule_has_one_comparison_at_its_own_level(capsys):
    policy('[[gate.rule]]\nmeasure = "nDCG@5"\nalpha = 0.1\n[[gate.rule]]\nmeasure = "R@5"\n')
    pinned(capsys)
    row = json.loads(leadline(capsys, "gate", "old.run", "--format", "json")[1])
    assert [(one["measure"], one["level"]) for one in row["comparisons"]] == [("nDCG@5", 0.9), ("R@5", 0.95)]


def test_the_worst_queries_and_what_they_lost(capsys):
    policy('[[gate.rule]]\nmeasure = "nDCG@3"\n')
    pinned(capsys, share=1.0)
    # Eight queries fall to rank 2; q05 loses what it had.
    write_run(
        "new.run", lambda i: [3, 4, 2, 0, 1] if i == 5 else [2, 0, 1, 3, 4] if i < 9 else [0, 1, 2, 3, 4]
    )
    row = json.loads(leadline(capsys, "gate", "new.run", "--format", "json")[1])
    assert (len(row["worst"]), row["worst"][0]["query_id"], row["worst"][0]["text"]) == (
        5,
        "q05",
        "what is q05?",
    )
    assert (row["worst"][0]["baseline"], row["worst"][0]["candidate"]) == (1.0, 0.0)
    lost = row["worst"][0]["lost"]
    assert lost[0] == {"doc_id": "d5_0", "rank": 1, "grade": 1.0}
    assert [one["doc_id"] for one in lost] == ["d5_0", "d5_1"]
    assert all(one["candidate"] < one["baseline"] for one in row["worst"])
    text = leadline(capsys, "gate", "new.run")[1]
    assert "what is q05?  1 to 0; lost d5_0 (was 1, grade 1), d5_1 (was 2, grade" in text


def test_undecided_is_skipped_in_junit_or_a_failure(capsys):
    for word, counts in (("warn", ("0", "1")), ("fail", ("1", "0"))):
        policy(gate_head=f'on_undecided = "{word}"')
        pinned(capsys)
        write_run("new.run", some(0.7, 9))
        leadline(capsys, "gate", "new.run", "--write", "j.xml")
        root = ET.parse("j.xml").getroot()
        assert (root.get("failures"), root.get("skipped")) == counts


def test_how_often_is_printed_and_counted(capsys):
    policy()
    pinned(capsys)
    outs = [leadline(capsys, "gate", "old.run")[1] for _ in range(3)]
    assert "gated against" not in outs[0]
    assert "gated against this baseline: 3 times" in outs[2]
    assert json.loads(Path("baseline.json").read_text())["gated"] == 3


def test_the_same_output_twice(capsys):
    policy()
    pinned(capsys)
    write_run("new.run", lambda i: [9, 0, 1, 2, 3], extra="new")
    texts = []
    for _ in range(2):
        leadline(capsys, "gate", "new.run", "--write", "g.json", "--write", "t.jsonl")
        row = json.loads(Path("g.json").read_text())
        row.pop("gated")
        row["verdict"]["reasons"] = [one for one in row["verdict"]["reasons"] if "gated" not in one]
        texts.append((row, Path("t.jsonl").read_bytes()))
    assert texts[0] == texts[1]


def test_a_config_elsewhere_and_a_deep_rule(capsys):
    Path("ci").mkdir()
    policy('[[gate.rule]]\nmeasure = "AP"\nmargin = 0.05\n')
    text = Path("leadline.toml").read_text().replace('"q', '"../q')
    Path("leadline.toml").unlink()
    Path("ci/rules.toml").write_text(text)
    lines = [f"q{i:02} Q0 d{i}_{j} {j} {200 - j} x" for i in range(N) for j in range(150)]
    Path("old.run").write_text("\n".join(lines) + "\n")
    code, out, err = leadline(capsys, "baseline", "old.run", "--config", "ci/rules.toml")
    assert code == 0, err
    assert "pinned old: the run old.run by its hash; wrote ci/baseline.json" in out
    assert json.loads(Path("ci/baseline.json").read_text())["run_path"] == "../old.run"
    assert leadline(capsys, "gate", "old.run", "--config", "ci/rules.toml")[0] == 0
    Path("old.run").write_text("\n".join(lines[:-1]) + "\n")
    code, out, _ = leadline(capsys, "gate", "old.run", "--config", "ci/rules.toml")
    assert (code, "has changed; pin it again" in out) == (4, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gate", "old.run", "--format", "xml"], "--format 'xml'"),
        (["gate", "old.run", "--write", "report.doc"], "names no kind"),
        (["gate", "absent.run"], "absent.run"),
        (["gate", "old.run", "--config", "absent.toml"], "absent.toml"),
        (["gate", "old.run", "--qrels", "absent.txt"], "absent.txt"),
    ],
)
def test_wrong_use(capsys, arguments, said):
    policy()
    pinned(capsys)
    code, _, err = leadline(capsys, *arguments)
    assert (code, said in err) == (2, True)
    assert json.loads(Path("baseline.json").read_text())["gated"] == 0


def test_ids_cannot_break_the_comment(capsys):
    policy()
    Path("queries.jsonl").write_text(json.dumps({"query_id": "q00", "text": "<b>|\x1b[31m"}) + "\n")
    pinned(capsys, share=1.0)
    write_run("new.run", some(0.0, 3))
    leadline(capsys, "gate", "new.run", "--write", "c.md", "--write", "j.xml")
    text = Path("c.md").read_text()
    assert "<b>" not in text
    assert "\x1b" not in text + Path("j.xml").read_text()
    ET.parse("j.xml")

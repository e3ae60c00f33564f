"""The command `simulate`: a world, the lesson to the digit, how many queries, and how it ends."""

import io
import json
import sys
from pathlib import Path

import pytest
import typer

from leadline.cli import plan_text
from leadline.cli.main import run
from leadline.cli.simulate import simulate
from leadline.cli.world_text import says
from leadline.errors import LeadlineError, UsageError
from leadline.evaluation import evaluate

# The command by itself, as `leadline simulate` reaches it.
app = typer.Typer(pretty_exceptions_enable=False)
app.command()(simulate)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans from 8,192 queries and 200 sets: a second's work becomes a tenth."""
    monkeypatch.setattr(plan_text, "CELLS", 8192 * 10)
    monkeypatch.setattr(plan_text, "LEAST_QUERIES", 8192)
    monkeypatch.setattr(plan_text, "SETS", 200)


def simulated(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    app(args=list(arguments), standalone_mode=False)
    return capsys.readouterr().out


def facts(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    text = simulated(capsys, *arguments, "--format", "json")
    page: dict[str, object] = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert list(page)[:3] == ["leadline", "command", "seed"] and page["command"] == "simulate"
    return page


def test_the_lesson_to_the_digit(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    words = [line.split() for line in simulated(capsys, "--lesson").splitlines()]
    # 1. By hand: recall and precision at 1, 3, 5, 10, RR, nDCG@10; then .785 and .822 after the changes.
    by_hand = ["0.000", "0.250", "0.500", "0.500", "0.000", "0.333", "0.400", "0.200", "0.500", "0.453"]
    assert ["as", "ranked", *by_hand] in words
    ends = {line[-1] for line in words if line[:1] == ["d3"] and len(line) > 10}
    assert ends == {"0.785", "0.822"}
    # 2. Thirty, a hundred, three hundred queries.
    first = [line for line in words if line[:1] in (["30"], ["100"], ["300"])]
    assert [" ".join(line[:6]) for line in first] == [
        "30 0.710 0.863 +0.153 [+0.053, +0.269]",
        "100 0.744 0.805 +0.061 [+0.004, +0.120]",
        "300 0.751 0.798 +0.047 [+0.012, +0.081]",
    ]
    # By Student's t the interval at 300 is the same to ±.003.
    assert [float(word.strip("[],")) for word in first[2][6:]] == pytest.approx([0.012, 0.081], abs=0.003)
    # (.266 − .040) ÷ (.081 − .012) = 3.3; .153 ÷ .047 = 3.3.
    widths = " ".join(next(line for line in words if line[:2] == ["At", "30"]))
    assert "3.3 times as wide as at 300, and the difference 3.3 times as large" in widths
    # 3. C as judged, and with its hidden documents judged.
    assert [line for line in words if line[:1] == ["C"]] == [
        ["C", "0.688", "0.547", "0.24"],
        ["C", "0.776", "0.667", "1.00"],
    ]
    # 4. Answers.
    assert [line for line in words if len(line) == 3 and line[1].endswith("%")] == [
        ["0.60", "63.4%", "63.2%"],
        ["0.75", "74.1%", "74.0%"],
        ["0.90", "84.2%", "84.8%"],
        ["0.97", "90.1%", "89.8%"],
    ]
    assert not list(folder.iterdir()), "the lesson writes only where a folder is named"


def test_the_lesson_as_json_and_as_files(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    page = facts(capsys, "--lesson", "--folder", "lesson")
    assert page["seed"] == 21 and page["folder"] == "lesson"
    rows = {(one["judgments"], one["system"]): one for one in page["judging"]}
    # The table of the shared folder, to four decimals.
    assert round(rows["pooled-from-A", "B"]["nDCG@10"], 4) == 0.7976
    assert round(rows["after-judging-C", "A"]["AP"], 4) == 0.4608
    assert round(rows["pooled-from-A", "C"]["Judged@10"], 4) == 0.2447
    again = evaluate(
        str(folder / "lesson" / "C.run"), str(folder / "lesson" / "after-judging-C.qrels"), "nDCG@10"
    )
    assert again.mean("nDCG@10") == rows["after-judging-C", "C"]["nDCG@10"]


def test_a_world_says_what_an_evaluation_of_its_files_says(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    page = facts(capsys, "--queries", "80", "--seed", "2", "--folder", "w")
    assert page["seed"] == 2 and page["world"]["queries"] == 80
    runs = [str(folder / "w" / f"{name}.run") for name in "ABC"]
    for kind in ("pooled", "deep", "complete"):
        scores = evaluate(runs, str(folder / "w" / f"{kind}.qrels"), "nDCG@10 Judged@10")
        for one in page["systems"]:
            assert one[kind] == scores.mean("nDCG@10", one["system"])
            assert one["judged"][kind] == scores.mean("Judged@10", one["system"])
        a, c = (scores.cell("nDCG@10", system).values for system in "AC")
        row = next(r for r in page["differences"] if (r["candidate"], r["judgments"]) == ("C", kind))
        assert row["difference"] == pytest.approx((c - a).mean(), abs=1e-12)
        assert row["low"] < row["difference"] < row["high"] and row["n"] == 80


def test_the_table_names_the_winner_that_the_pool_hides(capsys: pytest.CaptureFixture[str]) -> None:
    out = simulated(capsys, "--queries", "300", "--seed", "0")
    lines = out.splitlines()
    assert any(line.split()[:3] == ["A", "4", "no"] for line in lines)
    assert any(line.split()[:3] == ["C", "4", "yes"] for line in lines)
    told = [line for line in lines if line.startswith("!")]
    assert len(told) == 1 and told[0].startswith("! by the pool C is worse than A, in truth better: 25%")
    assert "In leadline-world:" in lines[-1]
    assert max(map(len, lines)) <= 100


def test_named_systems_hide_nothing_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    two = ("--skill", "A=4.0,B=4.3", "--queries", "40", "--folder", "w")
    page = facts(capsys, *two)
    assert page["world"]["hidden"] == 0
    # Without hidden documents the pool says what is true: everything else that is unjudged is not relevant.
    assert all(one["pooled"] == one["complete"] for one in page["systems"])
    page = facts(capsys, *two, "--hidden", "2")
    assert [one["finds_hidden"] for one in page["systems"]] == [False, True]
    page = facts(capsys, *two, "--hidden", "2", "--finds-hidden", "A")
    assert [one["finds_hidden"] for one in page["systems"]] == [True, False]


def test_every_option_of_a_world_reaches_it(capsys: pytest.CaptureFixture[str]) -> None:
    page = facts(
        capsys,
        *("--skill", "A=1", "--skill", "B=2", "--queries", "60", "--relevant", "2", "--grades", "1,3"),
        *("--clusters", "20", "--largest-cluster", "0.3", "--similarity", "0.5", "--alike", "0.4"),
        *("--pool-depth", "5", "--deep-pool-depth", "20", "--pooled-from", "B", "--depth", "30"),
        *("--hidden", "1", "--folder", "w", "-m", "RR@5"),
    )
    plan = page["plan"]
    want = {
        "queries": 60,
        "relevant": 2,
        "grades": [1, 3],
        "hidden": 1,
        "hidden_grade": 2,
        "clusters": 20,
        "similarity": 0.5,
        "largest": 0.3,
        "alike": 0.4,
        "pool_depth": 5,
        "deep_depth": 20,
        "pooled_from": ["B"],
        "depth": 30,
    }
    assert plan == want
    assert page["world"]["clusters"] == 20 and page["world"]["largest_cluster"] == 18
    assert (page["measure"], page["judged_measure"]) == ("RR@5", "Judged@5")


def test_clusters_are_said_to_make_intervals_too_narrow(capsys: pytest.CaptureFixture[str]) -> None:
    two = ("--skill", "A=4", "--skill", "B=4", "--queries", "200", "--clusters", "20", "--similarity", "0.9")
    out = simulated(capsys, *two)
    assert "200 queries in 20 clusters (the largest: 10)" in out
    assert "! 200 queries ask only 20 questions" in out
    assert max(map(len, out.splitlines())) <= 100
    row = facts(capsys, *two)["differences"][-1]
    assert row["cluster_interval"] == "CR2" and row["judgments"] == "complete"
    assert row["cluster_high"] - row["cluster_low"] > 1.5 * (row["high"] - row["low"])
    # At most one query a question is new, at least none.
    assert 20 <= row["n_effective"] < 100
    alone = facts(capsys, "--skill", "A=4", "--skill", "B=4", "--queries", "20")["differences"][0]
    assert "cluster_low" not in alone


def test_with_clusters_the_interval_by_cluster_is_read() -> None:
    row = {"low": 0.1, "high": 0.3, "cluster_low": -0.1, "cluster_high": 0.5}
    assert says(row) == "not clearly other"
    assert says({"low": None, "high": None}) == "not clearly other"
    assert says({"low": -0.3, "high": -0.1}, "neither") == "lower"


def test_the_same_seed_gives_the_same_output(capsys: pytest.CaptureFixture[str]) -> None:
    same = ("--queries", "30", "--seed", "5")
    assert simulated(capsys, *same) == simulated(capsys, *same)
    assert simulated(capsys, *same) != simulated(capsys, "--queries", "30", "--seed", "6")


@pytest.mark.usefixtures("small_plans")
def test_how_many_queries(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    page = facts(capsys, "--plan", "--skill", "A=4.0", "--skill", "B=4.6", "--queries", "150")
    shares = {row["n"]: row["right"] for row in page["shares"]}
    found = page["enough"]
    assert 150 in shares and page["asked"] == 150
    # The share grows with n, and the number named lies where it passes .8 (± 4 · √(.8 · .2/200) = .11).
    assert shares[10] < shares[50] < max(shares.values())
    below, above = max(n for n in shares if n <= found["n"]), min(n for n in shares if n >= found["n"])
    assert shares[below] < 0.8 + 0.11 and shares[above] > 0.8 - 0.11
    assert found["low"] < found["n"] < found["high"]
    assert not list(folder.iterdir())


@pytest.mark.usefixtures("small_plans")
def test_the_plan_is_drawn_as_a_curve(capsys: pytest.CaptureFixture[str]) -> None:
    out = simulated(capsys, "--plan", "--skill", "A=4.0", "--skill", "B=4.6")
    bars = [line.count("█") for line in out.splitlines() if "█" in line]
    assert len(bars) >= 5 and bars[0] < bars[-1] <= 40 and bars[-1] >= 37
    assert "until B − A excludes zero in 80% of the sets" in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.usefixtures("small_plans")
def test_equal_systems_give_false_alarms_only(capsys: pytest.CaptureFixture[str]) -> None:
    page = facts(capsys, "--plan", "--skill", "A=4", "--skill", "B=4")
    assert page["equal"] is True and page["enough"] is None
    # 5 % of 200 sets, a standard error of √(.05 · .95/200) = .015.
    assert all(row["right"] + row["wrong"] < 0.05 + 4 * 0.016 for row in page["shares"])
    assert "false alarm" in simulated(capsys, "--plan", "--skill", "A=4", "--skill", "B=4")
    # With hidden documents that only one of them finds they are not equal.
    other = facts(capsys, "--plan", "--skill", "A=4", "--skill", "B=4", "--hidden", "2")
    assert other["equal"] is False and other["enough"]["difference"] > 0.05


@pytest.mark.usefixtures("small_plans")
def test_systems_alike_need_fewer_queries(capsys: pytest.CaptureFixture[str]) -> None:
    two = ("--plan", "--skill", "A=4", "--skill", "B=4.5")
    apart, alike = (facts(capsys, *two, "--alike", share)["enough"] for share in ("0", "0.9"))
    assert alike["sd"] < 0.6 * apart["sd"] and alike["n"] < apart["n"] / 2


@pytest.mark.usefixtures("small_plans")
def test_a_bar_stands_on_standard_error_where_it_is_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    two = ("--plan", "--skill", "A=4", "--skill", "B=5")
    shown: list[str] = []
    for more in ([], ["--quiet"]):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        simulated(capsys, *two, *more)
        shown.append(terminal.getvalue())
    assert "simulating" in shown[0] and shown[1] == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "csv"], "'csv' is not one of table, json"),
        (["--lesson", "--plan"], "two different questions"),
        (["--lesson", "--seed", "4"], "--lesson is always the same: --seed does nothing there"),
        (["--lesson", "--skill", "A=1"], "--skill does nothing"),
        (["--lesson", "-m", "AP"], "--measure does nothing"),
        (["--plan", "--folder", "x"], "--folder does nothing"),
        (["--plan", "--clusters", "3"], "--clusters does nothing"),
        (["--plan"], "--plan compares two systems"),
        (["--plan", "--queries", "1", "--skill", "A=1,B=2"], "--queries 1 is not between"),
        (["--skill", "A"], "has not the form A=4.0"),
        (["--skill", "A=x,B=1"], "has not the form"),
        (["--skill", "A=1"], "at least two systems"),
        (["--skill", "A=1,A=2"], "names one system twice"),
        (["--finds-hidden", "Z"], "the systems are A, B, C"),
        (["--pooled-from", "Z"], "'Z' is none of A, B, C"),
        (["--grades", "1,x"], "'x' is not a whole number"),
        (["--queries", "0"], "queries: 0"),
        (["-m", "nDGC@10"], "did you mean nDCG@10"),
        (["--folder", "file/below"], "cannot be made"),
    ],
)
def test_wrong_use_is_said_in_one_sentence(arguments: list[str], message: str, folder: Path) -> None:
    (folder / "file").write_text("")
    with pytest.raises(LeadlineError, match=message) as raised:
        app(args=arguments, standalone_mode=False)
    assert raised.value.exit_code == 2
    assert "\n" not in str(raised.value)
    assert [path.name for path in folder.iterdir()] == ["file"], "nothing is written where something is wrong"


def test_a_measure_without_values_is_an_error() -> None:
    # No document has grade 9, and recall of nothing is undefined for every query.
    with pytest.raises(UsageError, match="has no value here"):
        app(args=["--queries", "20", "-m", "R(rel=9)@10"], standalone_mode=False)


def test_the_real_command_ends_as_every_command_does(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    for arguments, code in ((["--queries", "20", "--folder", "w"], 0), (["--lesson", "--plan"], 2)):
        with pytest.raises(SystemExit) as ended:
            run(["simulate", *arguments])
        assert (ended.value.code or 0) == code
    printed = capsys.readouterr()
    assert printed.err == "leadline: --lesson and --plan are two different questions: ask one\n"
    assert "In w: the runs" in printed.out and (folder / "w" / "complete.qrels").is_file()

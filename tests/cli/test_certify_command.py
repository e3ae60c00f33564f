"""The commands `certify` and `drift`: what they print, write and refuse, and the page that documents the certificate."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from judging.labelled import often_right, people, relabelled, write
from leadline.certificate import Judge
from leadline.formats.card import Card, write_card
from leadline.formats.certificate import CHECK, FIELDS, read_certificate
from shared.command import leadline

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json-certificate.md"
BASE = ("certify", "--human", "human.txt", "--model-labels", "model.txt", "--sample", "random")
RUNS = ("a.run", "b.run", "c.run", "-m", "nDCG@10,P@4", "--margin", "0.3")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """People's labels, a judge that errs on one pair in twenty with its card, a constant one, and three runs."""
    monkeypatch.chdir(tmp_path)
    human = people()
    write(tmp_path / "human.txt", human.items())
    write(tmp_path / "model.txt", often_right(human, 20).items())
    write(tmp_path / "constant.txt", relabelled(human, lambda *_: 0.0).items())
    write_card(
        "model.txt", Card("model", Judge("m", "http://localhost/v1", {"temperature": 0}, "p 1", "ab", "1"))
    )
    for name, weight in (("a", 1.0), ("b", 0.3), ("c", 0.0)):
        lines = [
            f"{query} Q0 {doc} 1 {weight * grade + place % 12 / 20:.4f} x"
            for place, ((query, doc), grade) in enumerate(human.items())
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, *BASE, *RUNS, "--quiet")
    lines = out.splitlines()
    assert code == 0 and max(map(len, lines)) <= 100
    assert lines[0] == "valid: for reporting, and for gating nDCG@10, P@4 with a margin of 0.3 or more"
    assert (
        "judge: m, endpoint http://localhost/v1, prompt p 1, prompt hash ab, temperature 0, parser 1" in lines
    )
    # 300 pairs, 15 of them wrong.
    assert re.search(r"^exact agreement +0\.950 ", out, re.MULTILINE)
    assert re.search(r"^majority class: 0 for every pair +0\.500 +–$", out, re.MULTILINE)
    assert re.search(r"^people 0 +\d+ +\d+ +0 +150$", out, re.MULTILINE)
    assert "Order of 3 runs by people's and by the model's labels" in out


def test_it_is_written_whole_and_read_back(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    files = [f"c{ending}" for ending in (".json", ".html", ".md", ".txt")]
    code, out, _ = leadline(
        capsys, *BASE, *RUNS, "--quiet", "--format", "json", *(f"--write={name}" for name in files)
    )
    assert code == 0 and out == Path("c.json").read_text()
    made = read_certificate("c.json")
    assert made.valid and made.refusal(made.judge, {"P@4": 0.3}) == []
    assert made.judge == Judge("m", "http://localhost/v1", {"temperature": 0}, "p 1", "ab", "1")
    assert Path("c.md").read_text().startswith("- valid: for reporting")
    assert leadline(capsys, *BASE, *RUNS, "--quiet", "--format", "json")[1] == out


class Reader(HTMLParser):
    """The tags that are open, and the tags that were met."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.met: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.append(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onclick", "onload"}
        if tag not in ("meta", "rect", "line", "circle", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("rect", "line", "circle", "path"):
            assert self.open.pop() == tag


def test_the_page_stands_alone(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "<b>.run").write_text((folder / "a.run").read_text())
    leadline(capsys, *BASE, "<b>.run", *RUNS[1:], "--quiet", "--write", "c.html")
    page = Path("c.html").read_text()
    read = Reader(page)
    assert (
        read.open == [] and "script" not in read.met and "b" not in read.met and "default-src 'none'" in page
    )
    assert read.met.count("svg") == 3 and "<strong>Valid: for reporting, and for gating" in page
    # Of the places 0, 20, 40, … 280 the grades 0 are called 1.
    wrong = sum(grade == 0 for grade in list(people().values())[::20])
    assert f"people 0: model 0 {150 - wrong}, model 1 {wrong}, model 2 0" in page and wrong > 3
    # A dot lies within, a hollow square and the word "out" do not.
    assert page.count("<circle") == 6 and 'class="out"' not in page
    leadline(capsys, *BASE, *RUNS[:-1], "0.001", "--quiet", "--write", "c.html")
    page = Path("c.html").read_text()
    assert page.count("<circle") == 0 and page.count('class="out"') == page.count(" out</text>") == 6


def test_one_that_is_not_valid_is_printed_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    constant = (*BASE[:3], "--model-labels", "constant.txt", "--sample", "random")
    code, out, _ = leadline(capsys, *constant)
    assert code == 0 and out.startswith(
        "not valid, neither for reporting nor for gating, because kappa has no interval"
    )
    assert "judge: not known" in out
    assert leadline(capsys, *constant, "--require", "reporting")[0] == 1
    assert leadline(capsys, *BASE, "--require", "reporting")[0] == 0
    assert leadline(capsys, *BASE, "--require", "gating")[0] == 1
    assert leadline(capsys, *BASE, *RUNS, "--quiet", "--require", "gating")[0] == 0


def test_a_stratified_sample_says_of_what_its_numbers_speak(capsys: pytest.CaptureFixture[str]) -> None:
    words = (*BASE[:-1], "stratified", *RUNS, "--quiet")
    code, out, _ = leadline(capsys, *words)
    flat = " ".join(out.split())
    assert code == 0 and out.startswith("valid: for reporting, and for gating nDCG@10, P@4")
    assert "sample: drawn at random within strata; 300 pairs" in flat
    assert "! the pairs of all strata count alike: the numbers speak of the sample as it was drawn" in flat
    body = json.loads(leadline(capsys, *words, "--format", "json", "--require", "gating")[1])
    assert (body["sample"]["design"], body["valid"], body["valid_for_gating"]) == ("stratified", True, True)
    assert "strata" not in leadline(capsys, *BASE, *RUNS, "--quiet")[1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("-m", "P@4"), "-m goes with runs"),
        (("--margin", "0"), "--margin goes with runs"),
        (("--duplicates", "first"), "--duplicates goes with runs"),
        (("--endpoint", "x"), "--endpoint goes with --model NAME"),
        (("--parameters", "{}"), "--parameters goes with --model NAME"),
        (("--model", "m", "--parameters", "[1]"), "--parameters '[1]' is no JSON object"),
        (("--model", "other"), "has a card that names its judge"),
        (("--sample", "any"), "unknown sample 'any'"),
        (("--require", "all"), "--require 'all' is not one of reporting, gating"),
        (("--format", "csv"), "--format 'csv' is not one of table, json, md"),
        (("--write", "c.pdf"), "c.pdf: --write takes .json .html .md .txt"),
        (("--grades", "0,1"), "which is not on the scale 0, 1"),
        (("a.run", "a=a.run"), "two systems are named 'a'"),
    ],
)
def test_wrong_use(capsys: pytest.CaptureFixture[str], more: tuple[str, ...], said: str) -> None:
    code, out, err = leadline(capsys, *BASE, *more)
    assert code == 2 and out == "" and said in err and "Traceback" not in err


def certified(capsys: pytest.CaptureFixture[str], *more: str) -> dict:
    code, out, err = leadline(capsys, *BASE, *more, "--quiet", "--format", "json")
    assert code == 0, err
    return json.loads(out)


def test_grades_are_settled_as_evaluate_settles_them(capsys: pytest.CaptureFixture[str]) -> None:
    """`leadline.toml` and the options: grade_map, max_grade, conflicts, comments, for both sides."""
    plain = certified(capsys)
    assert plain["grades"] == [0, 1, 2] and [one["grade_map"] for one in plain["inputs"]] == [None, None]
    Path("leadline.toml").write_text('grade_map = "2=1,0=0"\n')
    mapped = certified(capsys, "a.run")
    counts = plain["confusion"]
    # 1 and 2 are one grade now: their rows and columns are added.
    assert mapped["grades"] == [0, 1] and mapped["confusion"] == [
        [counts[0][0], counts[0][1] + counts[0][2]],
        [counts[1][0] + counts[2][0], sum(counts[1][1:]) + sum(counts[2][1:])],
    ]
    assert [one["grade_map"] for one in mapped["inputs"]] == ["2=1", "2=1"]
    assert mapped["conventions"]["max_grade"] == 1
    assert "grades were rewritten, of people and of the model: 2=1" in mapped["remarks"]
    # An option goes before the file.
    assert certified(capsys, "--grade-map", "2=2")["grades"] == [0, 1, 2]
    Path("leadline.toml").write_text("max_grade = 3\n")
    assert certified(capsys, "a.run")["conventions"]["max_grade"] == 3
    assert certified(capsys)["grades"] == [0, 1, 2, 3]
    # The scale of agreement may be named apart; what measures read as its top is what evaluate would.
    apart = certified(capsys, "a.run", "--grades", "0,1,2")
    assert (apart["grades"], apart["conventions"]["max_grade"]) == ([0, 1, 2], 3)
    assert certified(capsys, "--max-grade", "4")["grades"] == [0, 1, 2, 3, 4]
    drifted = json.loads(leadline(capsys, "drift", "model.txt", "constant.txt", "--format", "json")[1])
    assert drifted["grades"] == [0, 1, 2, 3]


def test_repeated_labels_and_comments_are_settled_as_evaluate_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("human.txt", "model.txt"):
        first = Path(name).read_text().splitlines()[0]
        Path(name).write_text(Path(name).read_text() + first[:-1] + str(1 - min(int(first[-1]), 1)) + "\n")
    code, _, err = leadline(capsys, *BASE)
    assert code == 2 and "--human-conflicts first, last" in err
    Path("leadline.toml").write_text('conflicts = "last"\n')
    assert [one["conflicts"] for one in certified(capsys)["inputs"]] == ["last", "last"]
    told = certified(capsys, "--conflicts", "max", "--human-conflicts", "first")
    assert [one["conflicts"] for one in told["inputs"]] == ["first", "max"]
    assert [one["settled"] for one in told["inputs"]] == [1, 1]
    assert leadline(capsys, "drift", "model.txt", "constant.txt")[0] == 0
    Path("leadline.toml").write_text('conflicts = "mean"\n')
    code, _, err = leadline(capsys, *BASE)
    # The mean would leave the scale: a rule is asked for, as where none is set.
    assert code == 2 and "name a rule to settle them: --human-conflicts first, last" in err
    assert (
        certified(capsys, "--human-conflicts", "first", "--conflicts", "max")["inputs"][0]["conflicts"]
        == "first"
    )
    code, _, err = leadline(capsys, *BASE, "--human-conflicts", "mean")
    assert (
        code == 2 and "--human-conflicts 'mean' is not one of error, first, last, max, min, majority" in err
    )
    Path("leadline.toml").write_text('conflicts = "last"\ncomments = true\n')
    for name in ("human.txt", "model.txt"):
        Path(name).write_text("# made today\n" + Path(name).read_text())
    assert certified(capsys)["n"] == 300
    assert leadline(capsys, "drift", "model.txt", "constant.txt")[0] == 0


def test_which_queries_count_is_as_the_settings_say(capsys: pytest.CaptureFixture[str]) -> None:
    Path("leadline.toml").write_text('queries = "intersection"\njudgments = "complete"\n')
    found = certified(capsys, "a.run")["conventions"]
    assert (found["queries"], found["complete"]) == ("intersection", True)


def test_nothing_in_common_ends_with_4(capsys: pytest.CaptureFixture[str]) -> None:
    Path("other.txt").write_text("x 0 y 1\n")
    code, _, err = leadline(capsys, *BASE[:4], "other.txt")
    assert code == 4 and "no pair in common" in err


def test_drift_of_labels(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(
        capsys, "drift", "model.txt", "constant.txt", "--human", "human.txt", "--write", "d.json"
    )
    assert code == 0 and max(map(len, out.splitlines())) <= 100
    report = json.loads(Path("d.json").read_text())
    assert out.startswith(f"{report['changed']['pairs']} of 300 pairs changed their grade")
    assert "whether it is the same judge is not known; a new model, prompt, parser or parameter is" in out
    assert report["kappa_change"]["new"] == 0 and re.search(r"^2 → 0 +\d+$", out, re.MULTILINE)
    _, out, _ = leadline(capsys, "drift", "model.txt", "constant.txt", "--new-model", "n", "--format", "md")
    assert "another judge (model, endpoint, parameters, prompt, prompt hash, parser)" in out.replace(
        "\\_", "_"
    )


def test_drift_of_certificates(capsys: pytest.CaptureFixture[str]) -> None:
    leadline(capsys, *BASE, "--write", "old.json")
    constant = (*BASE[:3], "--model-labels", "constant.txt", "--model", "n", "--write", "new.json")
    leadline(capsys, *constant)
    code, out, _ = leadline(capsys, "drift", "old.json", "new.json")
    assert code == 0 and re.search(r"^valid +yes +no$", out, re.MULTILINE)
    assert "certify the new one" in " ".join(out.split())
    code, _, err = leadline(capsys, "drift", "old.json", "model.txt")
    assert code == 2 and "one is a certificate and the other is not" in err
    code, _, err = leadline(capsys, "drift", "old.json", "new.json", "--human", "human.txt")
    assert code == 2 and "--human goes with two files of labels" in err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--grades", "0,1"), ("--grade-map", "1=2"), ("--max-grade", "3"), ("--conflicts", "max"),
        ("--human-conflicts", "max"), ("--old-model", "m"), ("--new-model", "m"), ("--old-prompt-hash", "a"),
        ("--new-prompt-hash", "a"), ("--seed", "0"), ("--qrels-format", "trec"),
    ],
)  # fmt: skip
def test_what_says_nothing_of_two_certificates_is_refused(
    capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    leadline(capsys, *BASE, "--write", "old.json")
    code, out, err = leadline(capsys, "drift", "old.json", "old.json", option, value)
    assert (code, out) == (2, "") and f"{option} goes with two files of labels, not with certificates" in err


def test_parts_of_a_drift_that_lack_their_other_part(capsys: pytest.CaptureFixture[str]) -> None:
    both = ("drift", "model.txt", "constant.txt")
    code, _, err = leadline(capsys, *both, "--human-conflicts", "max")
    assert code == 2 and "--human-conflicts goes with --human FILE" in err
    code, _, err = leadline(capsys, *both, "--new-prompt-hash", "a")
    assert code == 2 and "--new-prompt-hash goes with --new-model NAME" in err


def test_the_reference_names_exactly_the_fields(capsys: pytest.CaptureFixture[str]) -> None:
    body = json.loads(leadline(capsys, *BASE, *RUNS, "--quiet", "--format", "json")[1])
    drifted = json.loads(
        leadline(capsys, "drift", "model.txt", "constant.txt", "--human", "human.txt", "--format", "json")[1]
    )
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    told = {
        title: re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
        for title, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    assert told["The certificate"] == list(body) == list(FIELDS)
    assert told["gating"] == list(body["gating"][0]) == list(CHECK)
    assert told["judge"] == list(body["judge"])
    assert told["sample"] == list(body["sample"])
    assert told["inputs"] == list(body["inputs"][0])
    assert told["systems"] == list(body["systems"])
    assert told["by_grade"] == list(body["by_grade"][0])
    assert set(told["intervals"]) == set(body["kappa"]) and set(body["bias"]) <= set(told["intervals"])
    assert told["majority"] == list(body["majority"])
    assert told["drift"] == list(drifted)

"""Few labels of people and many of a model: a known value by hand, a biased judge, what is left out, and what is refused."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline as package
from leadline.cli.main import run as command
from leadline.formats.card import Card, write_card
from leadline.judging.exchange import write_rows
from leadline.judging.judgment import Judgment

# Each query's run returns one document, so that P@1 is whether it is relevant.
N, MORE = 20, 40
RUN = {f"q{i:02}": ["d"] for i in range(N + MORE)}


def labels(values: Any, start: int = 0) -> dict[str, dict[str, int]]:
    """One judged document a query, and another that no run returns, so that every query has a relevant one."""
    return {f"q{start + i:02}": {"d": int(v), "e": 1} for i, v in enumerate(values)}


# People: 10 relevant of 20. The model says so of 8 of them and of 2 others; and of 30 of the 40 that people did not see.
Y = [1] * 8 + [1] * 2 + [0] * 2 + [0] * 8
F = [1] * 8 + [0] * 2 + [1] * 2 + [0] * 8
G = [1] * 30 + [0] * 10
PEOPLE, MODEL = labels(Y), labels(F) | labels(G, N)


def test_by_hand() -> None:
    (row,) = package.evaluate_ppi(RUN, PEOPLE, MODEL, "P@1").powered.rows
    # cov(y, f) = (16 · .25 − 4 · .25)/19 = .157895; var of the model's 60 values = 60 · 2/9 ÷ 59 = .225989;
    # λ = .157895 ÷ (1.5 · .225989) = .465790; estimate = .5 + λ(.75 − .5).
    assert row.lam == pytest.approx(0.465790, abs=1e-6)
    assert row.both.estimate == pytest.approx(0.616447, abs=1e-6)
    # var(y − λf) = (8(1 − λ)² + 2 + 2λ² − 20(.5 − .5λ)²)/19 = .173161; λ²·var(g)/40 = .0010431;
    # half = t(.975, 19) = 2.093024 · √(.173161/20 + .0010431) = .206151.
    assert row.both.width == pytest.approx(2 * 0.206151, abs=1e-5)
    # People alone: .5 ± 2.093024 · √(.263158/20) = .240087.
    assert (row.human.estimate, row.human.n) == (0.5, 20)
    assert row.human.width == pytest.approx(2 * 0.240087, abs=1e-5)
    assert row.ratio == pytest.approx(0.206151 / 0.240087, abs=1e-5)
    # The model alone: 40 of 60.
    assert (row.judge.estimate, row.judge.n) == (pytest.approx(2 / 3), 60)
    assert (row.rectifier, row.both.n, row.n_unlabelled, row.left_out) == (0.0, 20, 40, 0)
    assert row.correlation == pytest.approx(0.6)


def test_differences_cancel_what_the_model_gets_wrong_about_both() -> None:
    other = {query: ["e"] for query in RUN}
    found = package.evaluate_ppi({"a": RUN, "b": other}, PEOPLE, MODEL, "P@1", baseline="a").powered
    (row,) = found.rows
    # b always has the relevant e, so the difference is 1 − y: its mean is 1 − .616447, its width that of the mean.
    assert (row.system, row.baseline) == ("b", "a")
    assert row.both.estimate == pytest.approx(1 - 0.616447, abs=1e-6)
    assert row.both.width == pytest.approx(2 * 0.206151, abs=1e-5)
    with pytest.raises(package.LeadlineError, match="unknown system 'c'"):
        package.evaluate_ppi({"a": RUN, "b": other}, PEOPLE, MODEL, "P@1", baseline="c")


def test_a_biased_judge_misleads_alone_and_not_together_with_people() -> None:
    """Half is relevant. The judge says so of .9 of what is, and of .4 of what is not: of .65 in all."""
    rng = np.random.default_rng(7)
    repeats, held, alone = 60, 0, 0
    run = {f"q{i:02}": ["d"] for i in range(400)}
    for _ in range(repeats):
        truth = rng.random(400) < 0.5
        said = np.where(truth, rng.random(400) < 0.9, rng.random(400) < 0.4)
        (row,) = package.evaluate_ppi(run, labels(truth[:60]), labels(said), "P@1").powered.rows
        held += row.both.low <= 0.5 <= row.both.high
        alone += row.judge.low <= 0.5 <= row.judge.high
        assert row.judge.width < row.both.width < 1.05 * row.human.width
    # 95 % of 60 are 57; below 52 is some 3 standard deviations off. The judge's own never hold.
    assert held >= 52
    assert alone == 0


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=20, max_size=30), st.integers(0, 40))
def test_lambda_stays_within_0_and_1_and_counts_add_up(pairs: list[tuple[bool, bool]], more: int) -> None:
    people = labels([y for y, _ in pairs])
    model = labels([f for _, f in pairs] + [i % 3 == 0 for i in range(more + 2)])
    run = {query: ["d"] for query in model}
    found = package.evaluate_ppi(run, people, model, "P@1").powered
    (row,) = found.rows
    assert (found.labelled, found.unlabelled) == (len(pairs), more + 2)
    assert 0 <= row.lam <= 1 and (row.both.n, row.judge.n) == (len(pairs), len(pairs) + more + 2)
    if row.lam == 0:
        assert (row.both.low, row.both.high) == (row.human.low, row.human.high)


def test_what_is_left_out_is_counted() -> None:
    # Two queries that the model did not judge, and one of which the model finds nothing relevant: R@1 has no value.
    people = PEOPLE | {"q98": {"d": 1}, "q99": {"d": 1}}
    model = MODEL | {"q00": {"d": 0, "e": 0}, "q59": {"d": 0, "e": 0}}
    run = RUN | {"q98": ["d"], "q99": ["d"]}
    extra = labels([1, 0], 60)
    found = package.evaluate_ppi(
        run | {"q60": ["d"], "q61": ["d"]}, people | extra, model | extra, "R@1 NumRet"
    )
    (row,) = found.powered.rows
    assert (found.powered.without_model, found.powered.labelled, found.powered.unlabelled) == (2, 22, 40)
    assert (row.left_out, row.left_out_unlabelled, row.both.n, row.n_unlabelled) == (1, 1, 21, 39)
    assert found.powered.left_out == ("NumRet",)
    # The scores beside it are people's, as always.
    assert found.summary("R@1").n_queries == 24


def test_a_sample_that_is_not_random_is_doubted() -> None:
    # The model finds 2 of the 20 relevant, and all of the others.
    model = labels([1, 0] + [0] * 17 + [1]) | labels([1] * 39 + [0], N)
    (row,) = package.evaluate_ppi(RUN, PEOPLE, model, "P@1").powered.rows
    assert len(row.remarks) == 1 and row.remarks[0].endswith("are they a random sample?")
    assert "have 0.1000 and the others 0.9750" in row.remarks[0]


def test_one_scale_for_both() -> None:
    """A measure that reads the top of the scale takes the greater of the two, so that it is one measure."""
    people = {q: {"d": 1 + (i % 2), "e": 0} for i, q in enumerate(list(RUN)[:24])}
    model = {q: {"d": 1 + (i % 3), "e": 0} for i, q in enumerate(RUN)}
    (row,) = package.evaluate_ppi(RUN, people, model, "ERR@1").powered.rows
    # People's greatest grade is 2, the model's 3: (2^g − 1)/2^3, mean of 1/8 and 3/8.
    assert row.human.estimate == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("people", "model", "said"),
    [
        (labels(Y[:19]), MODEL, r"19 queries with labels .* at least 20 are needed"),
        (
            labels(Y + [1] * 9, 41),
            MODEL,
            r"19 queries with labels of people and of the model \(people judged 29\)",
        ),
        (PEOPLE, labels(F), "no query that the model alone judged"),
    ],
)
def test_what_is_refused(people: Any, model: Any, said: str) -> None:
    run = {f"q{i:02}": ["d"] for i in range(99)}
    with pytest.raises(package.LeadlineError, match=said):
        package.evaluate_ppi(run, people, model, "P@1")
    with pytest.raises(package.LeadlineError, match="NumRet: no mean over queries"):
        package.evaluate_ppi(run, PEOPLE, MODEL, "NumRet")


# The command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, table in (("people.qrels", PEOPLE), ("model.qrels", MODEL)):
        rows = [f"{q} 0 {d} {g}" for q, grades in table.items() for d, g in grades.items()]
        Path(name).write_text("\n".join(rows) + "\n")
    for name, documents in (("a.run", "de"), ("b.run", "ed")):
        rows = [f"{q} Q0 {d} {r} {9 - r} x" for q in RUN for r, d in enumerate(documents, 1)]
        Path(name).write_text("\n".join(rows) + "\n")
    return tmp_path


def leadline(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        command(list(arguments))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


PPI = ("--qrels", "people.qrels", "--ppi", "model.qrels", "-m", "P@1")
BIASED = "biased as the model is: not to be trusted alone"
CONDITION = "the queries that people judged are a random sample of the same population as the others"


@pytest.mark.usefixtures("folder")
def test_evaluate_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, "evaluate", "a.run", *PPI)
    assert code == 0
    assert (
        "prediction-powered (PPI++): 20 queries judged by people and the model, 40 more by the model alone"
        in out
    )
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "people and model 0.6164 [0.4103, 0.8226] 0.4123 20 + 40" in lines
    assert "people alone 0.5000 [0.2599, 0.7401] 0.4802 20" in lines
    assert any(line.startswith("model alone 0.6667 [") and line.endswith(" 60") for line in lines)
    flat = " ".join(out.split())
    assert BIASED in flat and CONDITION in flat and "λ 0.47; the interval is 0.86 times as wide" in flat
    assert "certified or not" in flat
    assert max(map(len, out.splitlines())) <= 100
    page = json.loads(leadline(capsys, "evaluate", "a.run", *PPI, "--format", "json")[1])
    (row,) = page["ppi"]["rows"]
    assert row["both"]["estimate"] == pytest.approx(0.616447, abs=1e-6)
    assert row["ratio"] == pytest.approx(row["both"]["width"] / row["human"]["width"])
    assert (row["baseline"], row["effect"], row["lam"]) == (None, None, pytest.approx(0.465790, abs=1e-6))
    assert [one["path"] for one in page["inputs"]] == ["a.run", "people.qrels", "model.qrels"]
    assert len(page["inputs"][2]["sha256"]) == 64 and page["inputs"][2]["rows"] == 120
    leadline(capsys, "evaluate", "a.run", *PPI, "--write", "p.md", "--write", "p.html", "--write", "p.txt")
    for name in ("p.md", "p.html", "p.txt"):
        text = " ".join(Path(name).read_text().split())
        assert BIASED in text and CONDITION in text and "0.4123" in text and "0.4802" in text, name
        assert "[0.4103, 0.8226]" in re.sub(r"\\([\[\]])", r"\1", text), name


@pytest.mark.usefixtures("folder")
def test_compare_keeps_its_verdict_by_people(capsys: pytest.CaptureFixture[str]) -> None:
    """b has the relevant e first: the difference is 1 − y."""
    words = ("compare", "a.run", "b.run", *PPI)
    code, out, _ = leadline(capsys, *words)
    flat = " ".join(out.split())
    assert code == 0 and "P@1, b − a" in flat and "people and model +0.3836 [+0.1774, +0.5897]" in flat
    assert "effect by people and model: better" in flat
    assert "because the verdict goes by people's labels alone" in flat
    page = json.loads(leadline(capsys, *words, "--format", "json")[1])
    alone = json.loads(leadline(capsys, *words[:5], "-m", "P@1", "--format", "json")[1])
    assert "ppi" not in alone
    assert {k: page["verdict"][k] for k in ("outcome", "effect", "sentence")} == {
        k: alone["verdict"][k] for k in ("outcome", "effect", "sentence")
    }
    assert page["verdict"]["reasons"][:-1] == alone["verdict"]["reasons"]
    assert page["comparisons"] == alone["comparisons"]
    (row,) = page["ppi"]["rows"]
    assert (row["system"], row["baseline"], row["effect"]) == ("b", "a", "better")
    assert row["one_sided_low"] > row["both"]["low"]
    leadline(capsys, *words, "--write", "c.md", "--write", "c.html", "--write", "c.txt")
    for name in ("c.md", "c.html", "c.txt"):
        text = " ".join(Path(name).read_text().split())
        assert BIASED in text and CONDITION in text and "effect by people and model: better" in text, name
    # A margin that the lower end keeps, and one that it does not.
    leadline(capsys, "compare", "b.run", "a.run", *PPI, "--margin", "0.6", "--write", "c.json")
    assert json.loads(Path("c.json").read_text())["ppi"]["rows"][0]["effect"] == "worse"


@pytest.mark.usefixtures("folder")
def test_a_book_holds_both(capsys: pytest.CaptureFixture[str]) -> None:
    """People's rows and the model's of one book, each taken for itself: also where both judged a pair."""
    rows = [
        Judgment(q, d, g, who=who, kind=kind)
        for table, who, kind in ((PEOPLE, "ana", "person"), (MODEL, "m", "model"))
        for q, grades in table.items()
        for d, g in grades.items()
    ]
    write_rows(rows, "book.jsonl")
    words = ("evaluate", "a.run", "--qrels", "book.jsonl", "--ppi", "book.jsonl", "-m", "P@1")
    page = json.loads(leadline(capsys, *words, "--format", "json")[1])
    assert page["ppi"]["rows"][0]["both"]["estimate"] == pytest.approx(0.616447, abs=1e-6)
    assert page["account"]["qrels"]["models"] == 0
    assert page["ppi"]["labels"] == "uncertified: labels of m: no certificate is named"
    assert [one["model"] for one in page["ppi"]["judges"]] == ["m"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("evaluate", "a.run", "--ppi", "model.qrels"), "--ppi goes with --qrels"),
        (("evaluate", "-", "--qrels", "people.qrels", "--ppi", "-"), "standard input (-) can be read once"),
        (
            ("evaluate", "a.run", *PPI, "--documents", "d.jsonl"),
            "--documents does not go with --ppi",
        ),
        (
            ("evaluate", "a.run", *PPI, "--format", "csv"),
            "--ppi is shown by --format table, json, md, not by csv",
        ),
        *(
            (
                ("evaluate", "a.run", *PPI, "--write", f"o.{kind}"),
                f"o.{kind}: --ppi is written as .html .json .md .txt; this kind has no room for its three intervals",
            )
            for kind in ("csv", "tex", "jsonl", "parquet")
        ),
        (
            ("evaluate", "a.run", "--qrels", "model.qrels", "--ppi", "people.qrels"),
            "no query that the model alone",
        ),
        (
            ("compare", "a.run", "b.run", *PPI, "--queries", "q.csv", "--cluster", "user"),
            "--cluster does not go",
        ),
        (
            ("evaluate", "a.run", "--qrels", "card.qrels", "--ppi", "model.qrels"),
            "120 labels of a model among those",
        ),
        (
            ("evaluate", "a.run", "--qrels", "people.qrels", "--ppi", "person.qrels"),
            "its card says that people",
        ),
        (
            ("evaluate", "a.run", "--qrels", "people.qrels", "--ppi", "mixed.qrels"),
            "1 of 120 labels are a model's",
        ),
    ],
)
def test_what_the_command_refuses(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    text = Path("model.qrels").read_text()
    for name in ("card", "person", "mixed"):
        Path(f"{name}.qrels").write_text(text)
    from leadline.certificate import Judge
    from leadline.formats.card import card_path

    write_card("card.qrels", Card("model", Judge("m")))
    write_card("person.qrels", Card("person"))
    card_path("mixed.qrels").write_text(
        json.dumps({"pairs_of_models": [["q00", "d"]], "models": [{"who": "m"}]})
    )
    code, _, err = leadline(capsys, *words)
    assert code == 2 and said in err, err


def written(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], kind: str) -> str:
    assert leadline(capsys, *words, "--write", f"o.{kind}")[0] == 0
    return Path(f"o.{kind}").read_text(encoding="utf-8")


@pytest.mark.usefixtures("folder")
def test_every_kind_that_is_written_shows_the_three_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (("evaluate", "a.run"), ("compare", "a.run", "b.run")):
        for kind in ("html", "json", "md", "txt"):
            text = written(capsys, (*words, *PPI, "-m", "P@1"), kind)
            assert ("human" if kind == "json" else "people alone") in text, (words, kind)


@pytest.mark.usefixtures("folder")
def test_a_name_is_no_markup_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    Path("<img src=x>_*b*_.run").write_text(Path("a.run").read_text())
    text = written(capsys, ("evaluate", "<img src=x>_*b*_.run", *PPI, "-m", "P@1"), "md")
    rows = [line for line in text.splitlines() if line.startswith("| P@1, ")]
    assert len(rows) == 3 and all(r"\<img src=x>\_\*b\*\_ |" in row for row in rows)
    # Nowhere else either, outside a code span.
    assert "<img" not in re.sub(r"`+[^`]*`+", "", text).replace(r"\<img", "")


# The page of the output


@pytest.mark.usefixtures("folder")
def test_the_reference_names_exactly_the_fields(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[1] / "docs" / "reference" / "json-ppi.md").read_text(encoding="utf-8")
    top, _, rows = text.partition("\n## rows")
    page = json.loads(leadline(capsys, "compare", "a.run", "b.run", *PPI, "--format", "json")[1])["ppi"]
    named = [re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE) for part in (top, rows)]
    assert set(named[0]) == set(page) and set(named[1]) == set(page["rows"][0])
    ends = rows.rpartition("\n\n")[2]
    assert set(page["rows"][0]["both"]) <= set(re.findall(r"`(\w+)`", ends))

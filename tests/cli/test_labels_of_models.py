"""Scores by labels of a model say so, and whether its judge is certified: in the table, JSON, Markdown and on the page."""

import json
from pathlib import Path

import pytest

import leadline as package
from leadline.certificate import Judge
from leadline.cli.main import run
from leadline.formats.card import Card, card_path, hash_of, read_card, write_card
from leadline.formats.read import read_qrels
from leadline.judging.exchange import rows_of, write_rows
from leadline.judging.judgment import Judgment

N = 24
JUDGE = Judge("m", prompt="p 1")
UNCERTIFIED = "uncertified: labels of m (p 1): no certificate is named"
CERTIFIED = "labels of m (p 1), certified: valid for reporting"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Labels of people and of a model with its card, 10 documents of 24 queries; two runs; and the judge's certificate."""
    monkeypatch.chdir(tmp_path)
    for name, other in (("human.qrels", ()), ("model.qrels", (5, 17))):
        rows = [
            f"q{i:02} 0 d{j} {int((j < 3) != (i in other and j == 3))}" for i in range(N) for j in range(10)
        ]
        Path(name).write_text("\n".join(rows) + "\n")
    for name, order in (("a.run", range(10)), ("b.run", range(9, -1, -1))):
        rows = [f"q{i:02} Q0 d{j} {r} {20 - r} x" for i in range(N) for r, j in enumerate(order, 1)]
        Path(name).write_text("\n".join(rows) + "\n")
    labels = ["--human", "human.qrels", "--model-labels", "model.qrels", "--sample", "random"]
    with pytest.raises(SystemExit):
        run(["certify", *labels, "--model", "m", "--prompt", "p 1", "--write", "cert.json", "--quiet"])
    card()
    return tmp_path


def card(certificate: str | None = None, judge: Judge = JUDGE) -> None:
    write_card("model.qrels", Card("model", judge, 240, hash_of("model.qrels"), certificate))


def leadline(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        run(list(arguments))
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), " ".join(out.split()), " ".join(err.split())


COMMANDS = [("evaluate", "a.run"), ("compare", "a.run", "b.run")]
FORMATS = {"evaluate": ("table", "json", "md"), "compare": ("table", "json")}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("certificate", "said", "word"),
    [(None, UNCERTIFIED, "uncertified"), ("cert.json", CERTIFIED, "certified for reporting")],
    ids=["without", "with"],
)
def test_every_output_says_whose_labels(
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
    certificate: str | None,
    said: str,
    word: str,
) -> None:
    card(certificate)
    words = [*command, "--qrels", "model.qrels", "-m", "P@5", "--quiet"]
    for form in FORMATS[command[0]]:
        code, out, _ = leadline(capsys, *words, "--format", form)
        assert code == 0 and said in out.replace("! ", "").replace("\\_", "_"), form
    page = json.loads(leadline(capsys, *words, "--format", "json")[1])
    qrels = page["account"]["qrels"]
    assert (qrels["models"], qrels["judges"]) == (240, [JUDGE.to_dict()])
    assert qrels["certified"]["for_reporting"] == (certificate is not None)
    assert qrels["certified"]["sentence"] == said
    leadline(capsys, *words, "--write", "page.html")
    text = " ".join(Path("page.html").read_text().split())
    assert said in text and f"240 of a model ({word})" in text
    if command[0] == "compare":
        assert page["verdict"]["reasons"][-1] == said
    else:
        assert f"240 of a model ({word})" in leadline(capsys, *words)[1]


def test_people_are_not_told_of_certificates(capsys: pytest.CaptureFixture[str]) -> None:
    page = json.loads(
        leadline(capsys, "evaluate", "a.run", "--qrels", "human.qrels", "-m", "RR", "--format", "json")[1]
    )
    qrels = page["account"]["qrels"]
    assert (qrels["models"], qrels["judges"], qrels["certified"]) == (0, [], None)
    assert not any("certif" in line for line in page["warnings"])
    # A card that says "person" is the same as none.
    write_card("human.qrels", Card("person"))
    out = leadline(capsys, "evaluate", "a.run", "--qrels", "human.qrels", "-m", "RR")[1]
    assert "certif" not in out


def test_the_option_names_a_certificate(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["a.run", "--qrels", "model.qrels", "-m", "RR", "--certificate", "cert.json"]
    assert CERTIFIED in leadline(capsys, "evaluate", *words)[1]
    # Where no card says whose the labels are, naming it says it.
    card_path("model.qrels").unlink()
    assert CERTIFIED in leadline(capsys, "evaluate", *words)[1]
    assert CERTIFIED in leadline(capsys, "compare", "b.run", *words)[1]
    assert package.evaluate("a.run", "model.qrels", "RR", certificate="cert.json").warnings[-1] == CERTIFIED
    code, _, err = leadline(
        capsys, "evaluate", "a.run", "--qrels", "model.qrels", "--certificate", "gone.json"
    )
    assert code == 2 and "gone.json: the certificate cannot be read" in err


def test_a_certificate_of_another_judge_or_one_that_is_not_valid(capsys: pytest.CaptureFixture[str]) -> None:
    card("cert.json", Judge("m", prompt="p 2"))
    out = leadline(capsys, "evaluate", "a.run", "--qrels", "model.qrels", "-m", "RR")[1]
    assert "uncertified: labels of m (p 2): the certificate is of another judge: m, not m with another" in out
    body = json.loads(Path("cert.json").read_text())
    Path("cert.json").write_text(json.dumps({**body, "valid": False, "reasons": ["too few"]}))
    card("cert.json")
    out = leadline(capsys, "evaluate", "a.run", "--qrels", "model.qrels", "-m", "RR")[1]
    assert "uncertified: labels of m (p 1): the certificate is not valid: too few" in out


def test_a_changed_file_is_not_what_the_card_tells_of(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("model.qrels").open("a") as file:
        file.write("q00 0 d77 1\n")
    code, _, err = leadline(capsys, "evaluate", "a.run", "--qrels", "model.qrels")
    assert code == 2 and "made for another state of model.qrels (its SHA-256 differs)" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[]", "expected an object"),
        ('{"kind": "robot"}', "kind is not one of person, model, mixed"),
        ('{"kind": "model"}', "kind model needs judge"),
        ('{"kind": "model", "judge": {"model": "m", "mood": "good"}}', "unknown field 'mood'"),
        ('{"kind": "model", "judges": [1]}', "expected a list of objects"),
        ('{"kind": "model", "judge": {"model": "m"}, "certificate": "x"}', "the certificate cannot be read"),
    ],
)
def test_cards_that_are_wrong(capsys: pytest.CaptureFixture[str], text: str, said: str) -> None:
    card_path("model.qrels").write_text(text)
    code, _, err = leadline(capsys, "evaluate", "a.run", "--qrels", "model.qrels")
    assert code == 2 and said in err


def test_a_book_tells_its_judges(capsys: pytest.CaptureFixture[str]) -> None:
    """Two people's pairs and two models' in one book; what an older row does not say of its judge is left empty."""
    rows = [Judgment("q00", "d0", 1, who="ana"), Judgment("q00", "d1", 0, who="ana")]
    rows += [Judgment("q01", "d0", 1, who="m", kind="model", model=JUDGE.to_dict())]
    rows += [Judgment("q02", "d0", 1, who="old", kind="model", model={"name": "m-1", "temperature": 0})]
    # Where people judged too, theirs counts and the model's is not told of.
    rows += [Judgment("q00", "d0", 0, who="third", kind="model")]
    write_rows(rows, "book.jsonl")
    page = json.loads(
        leadline(capsys, "evaluate", "a.run", "--qrels", "book.jsonl", "-m", "RR", "--format", "json")[1]
    )
    qrels = page["account"]["qrels"]
    assert (qrels["models"], qrels["judges"]) == (2, [JUDGE.to_dict(), Judge("m-1").to_dict()])
    assert "uncertified: 2 of 4 labels of m (p 1), m-1: no certificate is named" in page["warnings"]
    # The certificate is of one of the two.
    out = leadline(
        capsys, "evaluate", "a.run", "--qrels", "book.jsonl", "-m", "RR", "--certificate", "cert.json"
    )[1]
    assert "the certificate is of another judge: m, not m-1" in out
    write_rows(rows[:2], "people.jsonl")
    code, _, err = leadline(
        capsys, "evaluate", "a.run", "--qrels", "people.jsonl", "-m", "RR", "--certificate", "cert.json"
    )
    assert code == 2 and "no label of a model is in it, so there is nothing to certify" in err


def test_an_exported_book_keeps_its_judges(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [Judgment("q00", "d0", 1, who="ana")]
    rows += [Judgment("q01", "d0", 1, who="m", kind="model", model=JUDGE.to_dict())]
    write_rows(rows, "book.jsonl")
    leadline(capsys, "book", "export", "book.jsonl", "out.qrels", "--rule", "latest")
    read = read_card("out.qrels")
    assert read is not None and (read.kind, read.models, read.judges) == ("mixed", 1, (JUDGE,))
    (folder / "beir").mkdir()
    leadline(capsys, "book", "export", "book.jsonl", "beir", "--format", "beir")
    assert (read_qrels("beir").models, read_qrels("beir").judges) == (1, (JUDGE,))
    # Cards of earlier versions had neither kind nor judges.
    path = card_path("out.qrels")
    old = {k: v for k, v in json.loads(path.read_text()).items() if k not in ("kind", "judges")}
    path.write_text(json.dumps(old))
    assert (read_qrels("out.qrels").models, read_qrels("out.qrels").judges) == (1, (Judge("m"),))
    leadline(capsys, "book", "export", "book.jsonl", "only.qrels", "--rule", "latest", "--kind", "model")
    assert read_card("only.qrels").kind == "model"


def test_evidence_takes_no_certificate() -> None:
    with pytest.raises(package.LeadlineError, match="with evidence there are none"):
        package.evaluate({"q": ["d"]}, evidence="e.jsonl", certificate="cert.json")


def test_a_models_labels_stay_a_models_in_a_book(capsys: pytest.CaptureFixture[str]) -> None:
    assert leadline(capsys, "book", "import", "j.db", "model.qrels", "--who", "ana")[0] == 0
    assert leadline(capsys, "book", "import", "k.db", "model.qrels")[0] == 0
    for book, who in (("j.db", "ana"), ("k.db", "m")):
        rows = rows_of(book)
        assert {(row.kind, row.who) for row in rows} == {("model", who)}
        assert rows[0].model == JUDGE.to_dict()
    # Labels of which some are a model's: only their book knows which.
    leadline(capsys, "book", "import", "j.db", "human.qrels", "--who", "eve")
    write_rows([Judgment("q77", "d", 1, who="m", kind="model", model=JUDGE.to_dict())], "more.jsonl")
    leadline(capsys, "book", "import", "j.db", "more.jsonl")
    leadline(capsys, "book", "export", "j.db", "mixed.qrels")
    code, _, err = leadline(capsys, "book", "import", "k.db", "mixed.qrels", "--who", "ana")
    assert code == 2 and "its card names labels of several judges" in err

"""Gating by labels of a model: refused without a valid certificate that covers every rule, in every file; told where it may."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from leadline.certificate import Judge
from leadline.formats.card import Card, card_path, hash_of, write_card
from leadline.judging.book import Book
from leadline.judging.judgment import Judgment
from shared.command import exit_code as leadline

N = 40
JUDGE = Judge("m", prompt="p 1")
POLICY = """qrels = "model.qrels"
[gate]
baseline = "baseline.json"
{head}
[[gate.rule]]
measure = "nDCG@5"
{rule}
"""


def policy(head: str = "", rule: str = "margin = 0.1") -> None:
    Path("leadline.toml").write_text(POLICY.format(head=head, rule=rule))


def write_labels(name: str, every: int) -> None:
    """Five documents a query, the first relevant; of every so many queries the fifth too (0: of none)."""
    rows = [
        f"q{i:02} 0 d{i}_{j} {int(j == 0 or (j == 4 and every > 0 and i % every == 0))}"
        for i in range(N)
        for j in range(5)
    ]
    Path(name).write_text("\n".join(rows) + "\n")


def card(certificate: str | None = None, judge: Judge = JUDGE) -> None:
    write_card("model.qrels", Card("model", judge, 200, hash_of("model.qrels"), certificate))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """People's labels, the model's, which are a little too generous, and two runs; old.run is pinned by the model's."""
    monkeypatch.chdir(tmp_path)
    write_labels("human.qrels", 0)
    write_labels("model.qrels", 8)
    for name, order in (("old.run", [0, 1, 2, 3, 4]), ("new.run", [0, 2, 1, 3, 4])):
        rows = [f"q{i:02} Q0 d{i}_{j} {r} {10 - r} x" for i in range(N) for r, j in enumerate(order, 1)]
        Path(name).write_text("\n".join(rows) + "\n")
    card()
    policy()
    assert leadline("baseline", "old.run") == 0
    capsys.readouterr()
    return tmp_path


def certify(*more: str, judge: str = "m", prompt: str = "p 1", sample: str = "random") -> None:
    """The certificate of the judge, for nDCG@5 of both runs."""
    card_path("model.qrels").unlink()
    who = ["--model", judge, "--prompt", prompt]
    labels = ["--human", "human.qrels", "--model-labels", "model.qrels"]
    out = ["--sample", sample, "--write", "cert.json"]
    assert leadline("certify", "old.run", "new.run", *labels, "-m", "nDCG@5", *more, *who, *out) == 0
    card()


def gated(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict, str]:
    capsys.readouterr()
    code = leadline("gate", "new.run", "--write", "gate.json", *more)
    return code, json.loads(Path("gate.json").read_text()), capsys.readouterr().out


NEXT = (
    "leadline certify old.run new.run --human HUMAN --model-labels model.qrels -m nDCG@5 --margin 0.1 "
    "--sample random --write certificate.json"
)


def test_without_a_certificate_every_file_carries_the_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    files = ("gate.md", "gate.xml", "gate.html", "gate.txt")
    code, page, out = gated(capsys, *(word for name in files for word in ("--write", name)))
    assert (code, page["exit_code"]) == (4, 4)
    verdict = page["verdict"]
    assert (verdict["outcome"], page["rules"], page["comparisons"]) == ("not-comparable", [], [])
    assert verdict["reasons"][0] == "labels of m (p 1) may not gate: no certificate is named"
    assert verdict["sentence"] == f"not comparable: {verdict['reasons'][0]}"
    assert verdict["next"] == [NEXT, "leadline gate new.run --config leadline.toml"]
    labels = page["labels"]
    assert (labels["models"], labels["judgments"], labels["judges"]) == (200, 200, [JUDGE.to_dict()])
    assert labels["certified"]["for_reporting"] is False
    texts = {name: Path(name).read_text() for name in files}
    root = ET.fromstring(texts["gate.xml"])
    assert (root.get("errors"), root.get("tests")) == ("1", "1")
    texts["gate.xml"] = " ".join(root.itertext())
    for name, text in {**texts, "screen": out}.items():
        flat = " ".join(text.split())
        assert "labels of m (p 1) may not gate: no certificate is named" in flat and NEXT in flat, name


def test_a_certificate_that_covers_the_rule(capsys: pytest.CaptureFixture[str]) -> None:
    # Of every eighth query the model finds a fifth document relevant: by its labels nDCG@5 of old.run is there
    # (1 + 1/log2 6) ÷ (1 + 1/log2 3) = 0.8503, else 1; by people's it is 1. Mean difference -0.0187 over 40.
    certify("--margin", "0.1")
    policy('certificate = "cert.json"')
    code, page, _ = gated(capsys)
    assert (code, page["verdict"]["outcome"]) == (0, "pass")
    assert "labels of m (p 1), certified for gating: nDCG@5 within ±0.05" in page["verdict"]["reasons"]
    assert page["labels"]["certified"] == {
        "for_reporting": True,
        "reasons": [],
        "sentence": "labels of m (p 1), certified: valid for reporting",
    }
    # The same named by the card.
    policy()
    card("cert.json")
    assert gated(capsys)[0] == 0


def test_a_margin_that_the_judge_does_not_reach(capsys: pytest.CaptureFixture[str]) -> None:
    certify("--margin", "0.1")
    # The interval of the difference, -0.035 to -0.003, lies within ±0.05 but not within ±0.02.
    policy('certificate = "cert.json"', "margin = 0.04")
    code, page, _ = gated(capsys)
    assert code == 4
    said = [reason for reason in page["verdict"]["reasons"] if "differs from that by people's" in reason]
    assert len(said) == 2 and all(one.endswith("by -0.035 to -0.003, not within ±0.02") for one in said)
    assert "--margin 0.04" in page["verdict"]["next"][0]


def test_a_measure_the_certificate_says_nothing_of(capsys: pytest.CaptureFixture[str]) -> None:
    certify("--margin", "0.1")
    policy('certificate = "cert.json"', 'margin = 0.1\n[[gate.rule]]\nmeasure = "RR"\nmargin = 0.2')
    code, page, _ = gated(capsys)
    assert code == 4
    assert page["verdict"]["reasons"][0].endswith(
        "may not gate: the certificate says nothing of RR: certify with runs and -m RR"
    )
    assert "-m nDCG@5,RR --margin 0.1" in page["verdict"]["next"][0]


@pytest.mark.parametrize(
    ("rule", "code"), [('must = "improve"', 4), ('must = "improve"\ngain = 0.3', 4), ("margin = 0.1", 0)]
)
def test_improve_is_held_to_the_default_margin(
    capsys: pytest.CaptureFixture[str], rule: str, code: int
) -> None:
    # ±0.01, half of the default .02, which -0.035 to -0.003 does not keep; the size of the gain changes nothing.
    certify("--margin", "0.1")
    policy('certificate = "cert.json"', rule)
    found, page, _ = gated(capsys)
    assert found == code
    assert any("not within ±0.01" in reason for reason in page["verdict"]["reasons"]) == (code == 4)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"judge": "other"}, "the certificate is of another judge: other, not m"),
        (
            {"prompt": "p 2"},
            "the certificate is of another judge: m, not m with another prompt, parser or parameters",
        ),
    ],
)
def test_a_certificate_of_another_judge(
    capsys: pytest.CaptureFixture[str], more: dict[str, str], said: str
) -> None:
    certify("--margin", "0.1", **more)
    policy('certificate = "cert.json"')
    code, page, _ = gated(capsys)
    assert code == 4 and page["verdict"]["reasons"][0] == f"labels of m (p 1) may not gate: {said}"


def test_a_certificate_that_is_not_valid(capsys: pytest.CaptureFixture[str]) -> None:
    # Ten queries are too few for any certificate.
    for name in ("human.qrels", "model.qrels"):
        kept = [row for row in Path(name).read_text().splitlines() if int(row[1:3]) < 10]
        Path(f"few-{name}").write_text("\n".join(kept) + "\n")
    write_card("few-model.qrels", Card("model", JUDGE))
    labels = ["--human", "few-human.qrels", "--model-labels", "few-model.qrels"]
    leadline("certify", "old.run", *labels, "-m", "nDCG@5", "--sample", "random", "--write", "cert.json")
    policy('certificate = "cert.json"')
    code, page, _ = gated(capsys)
    reasons = page["verdict"]["reasons"]
    assert code == 4
    assert reasons[0].endswith("may not gate: the certificate is not valid: 10 queries, 20 are needed")
    assert page["labels"]["certified"]["for_reporting"] is False


def test_a_policy_names_kind_and_certificate_where_no_card_does(capsys: pytest.CaptureFixture[str]) -> None:
    certify("--margin", "0.1")
    card_path("model.qrels").unlink()
    policy('labels = "model"')
    code, page, _ = gated(capsys)
    assert code == 4
    assert (
        "labels of a model that is not named may not gate: no certificate is named"
        in page["verdict"]["reasons"]
    )
    policy('labels = "model"\ncertificate = "cert.json"')
    assert leadline("baseline", "old.run") == 0
    code, page, _ = gated(capsys)
    assert (code, page["labels"]["judges"]) == (0, [JUDGE.to_dict()])
    # Who names a certificate says so too, as with `evaluate --certificate`; else a lost card would switch it off.
    policy('certificate = "cert.json"')
    leadline("baseline", "old.run")
    code, page, _ = gated(capsys)
    assert (code, page["labels"]["models"], page["labels"]["judges"]) == (0, 200, [JUDGE.to_dict()])
    # Only people's word against it.
    policy('certificate = "cert.json"\nlabels = "person"')
    leadline("baseline", "old.run")
    code, page, _ = gated(capsys)
    assert (code, page["labels"]["models"], page["labels"]["certified"]) == (0, 0, None)


def test_a_certificate_made_under_other_switches_covers_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    certify("--margin", "0.1", "--profile", "msmarco")
    policy('certificate = "cert.json"')
    leadline("baseline", "old.run")
    code, page, _ = gated(capsys)
    assert code == 4
    assert "certify again" in " ".join(page["verdict"]["reasons"])


def settings(text: str) -> None:
    """The policy, with settings before it that every command reads."""
    policy('certificate = "cert.json"')
    Path("leadline.toml").write_text(f"{text}\n{Path('leadline.toml').read_text()}")
    leadline("baseline", "old.run")


def test_grades_rewritten_for_the_gate_are_rewritten_for_the_certificate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings('grade_map = "1=2"')
    certify("--margin", "0.1")
    leadline("baseline", "old.run")
    code, page, _ = gated(capsys)
    assert code == 0 and json.loads(Path("cert.json").read_text())["grades"] == [0, 1, 2]
    settings("")
    code, page, _ = gated(capsys)
    said = "the certificate is of grades rewritten by 1=2, and the gate has them as they are: certify again"
    assert code == 4 and said in page["verdict"]["reasons"][0]
    settings('grade_map = "1=3,0=0"')
    code, page, _ = gated(capsys)
    assert (
        code == 4
        and "rewritten by 1=2, and the gate has them rewritten by 1=3" in page["verdict"]["reasons"][0]
    )
    # An older certificate does not say it, and then none were.
    body = json.loads(Path("cert.json").read_text())
    for one in body["inputs"]:
        del one["grade_map"]
    Path("cert.json").write_text(json.dumps(body))
    settings("")
    assert gated(capsys)[0] == 0


def test_repeated_labels_settled_otherwise_are_other_labels(capsys: pytest.CaptureFixture[str]) -> None:
    Path("model.qrels").write_text(Path("model.qrels").read_text() + "q00 0 d0_0 0\n")
    card()
    settings('conflicts = "max"')
    certify("--margin", "0.1")
    leadline("baseline", "old.run")
    assert gated(capsys)[0] == 0
    settings('conflicts = "min"')
    code, page, _ = gated(capsys)
    said = "the certificate settled repeated labels by max, and the gate settles them by min: certify again"
    assert code == 4 and said in page["verdict"]["reasons"][0]


def test_another_top_of_the_scale_is_another_measure_where_one_reads_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def rules(text: str, measure: str) -> None:
        settings(text)
        Path("leadline.toml").write_text(Path("leadline.toml").read_text().replace("nDCG@5", measure))
        leadline("baseline", "old.run")

    for measure, code in (("ERR@5", 4), ("nDCG@5", 0)):
        rules("max_grade = 2", measure)
        card_path("model.qrels").unlink(missing_ok=True)
        made = ["--human", "human.qrels", "--model-labels", "model.qrels", "--model", "m", "--prompt", "p 1"]
        out = ["-m", measure, "--margin", "0.5", "--sample", "random", "--write", "cert.json"]
        assert leadline("certify", "old.run", "new.run", *made, *out) == 0
        card()
        leadline("baseline", "old.run")
        assert gated(capsys)[0] == 0
        rules("max_grade = 3", measure)
        found, page, _ = gated(capsys)
        assert found == code
        if code:
            said = "the certificate has 2 as the top of the scale, which ERR@5 reads, and the gate has 3: certify again"
            assert said in page["verdict"]["reasons"][0]


def test_a_policy_cannot_call_a_models_labels_peoples(capsys: pytest.CaptureFixture[str]) -> None:
    policy('labels = "person"')
    assert leadline("gate", "new.run") == 2
    assert (
        'labels = "person" in the policy, and 200 labels of a model in model.qrels' in capsys.readouterr().err
    )
    policy('labels = "robot"')
    assert leadline("gate", "new.run") == 2
    assert "labels = 'robot' is not one of person, model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("head", "said"),
    [('certificate = "gone.json"', "gone.json: the certificate cannot be read"), ("", "no JSON")],
)
def test_a_certificate_that_cannot_be_read_is_wrong_input(
    capsys: pytest.CaptureFixture[str], head: str, said: str
) -> None:
    policy(head or 'certificate = "cert.json"')
    Path("cert.json").write_text("{")
    assert leadline("gate", "new.run") == 2
    assert said in capsys.readouterr().err


def test_mixed_labels_are_refused_with_their_count(capsys: pytest.CaptureFixture[str]) -> None:
    """In a book a model's labels fill up what no person judged: 5 of 200."""
    rows = []
    for line in Path("human.qrels").read_text().splitlines():
        query, _, doc, grade = line.split()
        by_model = query == "q07"
        rows.append(
            Judgment(
                query,
                doc,
                float(grade),
                who="m" if by_model else "ana",
                kind="model" if by_model else "person",
                model=JUDGE.to_dict() if by_model else None,
            )
        )
    with Book.open("mixed.db") as book:
        book.add(rows)
    policy()
    Path("leadline.toml").write_text(Path("leadline.toml").read_text().replace("model.qrels", "mixed.db"))
    assert leadline("baseline", "old.run") == 0
    code, page, _ = gated(capsys)
    assert code == 4
    assert "5 of 200 labels of m (p 1) may not gate: no certificate is named" in page["verdict"]["reasons"]
    certify("--margin", "0.1")
    policy('certificate = "cert.json"')
    Path("leadline.toml").write_text(Path("leadline.toml").read_text().replace("model.qrels", "mixed.db"))
    code, page, _ = gated(capsys)
    assert code == 0
    assert (
        "5 of 200 labels of m (p 1), certified for gating: nDCG@5 within ±0.05" in page["verdict"]["reasons"]
    )


def test_labels_by_others_than_the_baselines_are_changed_judgments(
    capsys: pytest.CaptureFixture[str],
) -> None:
    certify("--margin", "0.1")
    # The same grades, said to be people's when the baseline was pinned.
    card_path("model.qrels").unlink()
    policy()
    leadline("baseline", "old.run")
    card("cert.json")
    code, page, _ = gated(capsys)
    assert code == 4
    said = f"judgments by others since the baseline: people then, m (p 1) [{JUDGE.id}] now"
    assert page["judgments"]["others"] == said and said in page["verdict"]["reasons"]
    assert page["verdict"]["next"][1].endswith("--accept-changed-judgments")
    assert gated(capsys, "--accept-changed-judgments")[0] == 0
    # Another certificate of the same judge changes no score: it is told, and no more.
    leadline("baseline", "old.run")
    assert gated(capsys)[1]["judgments"]["certificate"] is None
    certify("--margin", "0.1", "--seed", "5")
    card("cert.json")
    code, page, _ = gated(capsys)
    assert code == 0 and page["judgments"]["others"] is None
    assert page["judgments"]["certificate"].startswith("another certificate since the baseline: ")
    assert page["judgments"]["certificate"] in page["verdict"]["reasons"]


def test_a_baseline_of_an_earlier_version_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    certify("--margin", "0.1")
    card("cert.json")
    pinned = json.loads(Path("baseline.json").read_text())
    del pinned["labels"]
    Path("baseline.json").write_text(json.dumps(pinned))
    code, page, _ = gated(capsys)
    assert (code, page["judgments"]["others"], page["judgments"]["certificate"]) == (0, None, None)


def test_the_certificate_speaks_of_all_queries(capsys: pytest.CaptureFixture[str]) -> None:
    certify("--margin", "0.1")
    Path("queries.jsonl").write_text(
        "".join(
            json.dumps({"query_id": f"q{i:02}", "text": "t", "type": "ab"[i % 2]}) + "\n" for i in range(N)
        )
    )
    policy('by = "type"\ncertificate = "cert.json"', 'margin = 0.1\nslice = "a"')
    Path("leadline.toml").write_text('queries = "queries.jsonl"\n' + Path("leadline.toml").read_text())
    leadline("baseline", "old.run")
    _, page, _ = gated(capsys)
    assert (
        "the certificate is about all queries together, and says nothing of single slices"
        in page["verdict"]["reasons"]
    )


def test_of_several_rules_the_smallest_margin_counts(capsys: pytest.CaptureFixture[str]) -> None:
    certify("--margin", "0.1")
    policy('certificate = "cert.json"', 'margin = 0.1\n[[gate.rule]]\nmeasure = "nDCG@5"\nmust = "improve"')
    code, page, _ = gated(capsys)
    assert code == 4 and page["verdict"]["reasons"][0].endswith("not within ±0.01")


def test_an_improvement_without_a_bound_and_a_gain_has_no_margin(capsys: pytest.CaptureFixture[str]) -> None:
    certify("--margin", "0.1")
    rule = '[[gate.rule]]\nmeasure = "DCG@5"\nmust = "improve"'
    policy('certificate = "cert.json"', f"margin = 0.1\n{rule}")
    code, page, _ = gated(capsys)
    said = "labels of m (p 1) may not gate: DCG@5 has no margin that a judge could be held to: say gain = …"
    assert (code, page["verdict"]["reasons"][0]) == (4, said)
    policy('certificate = "cert.json"', f"margin = 0.1\n{rule}\ngain = 0.1")
    assert gated(capsys)[1]["verdict"]["reasons"][0].endswith(
        "the certificate says nothing of DCG@5: certify with runs and -m DCG@5"
    )

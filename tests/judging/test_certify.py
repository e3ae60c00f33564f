"""Certificates of model judges from hand-made labels: what is valid, what is not and why, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.labelled import Grades, often_right, people, relabelled, write
from leadline.certificate import Certificate, Judge, MeasureCheck, reasons_against
from leadline.conventions import Conventions
from leadline.errors import InputError, NotComparableError, RowsError, UnknownNameError, UsageError
from leadline.formats.card import Card, write_card
from leadline.formats.certificate import certificate_of, read_certificate
from leadline.judging.book import Book
from leadline.judging.certify import NO_CHECKS, Rules, make_certificate, sentence
from leadline.judging.drift import certificates_differ, drift_report, judge_differences
from leadline.judging.judgment import Judgment
from leadline.judging.measured_twice import measure_twice
from leadline.judging.two_judges import Side, put_together, read_model, read_people, tables_of
from leadline.report.json_text import document_text
from leadline.spelling import parse_all
from leadline.tables import Run

Sides = Callable[..., tuple[Side, Side]]
SEEN = Rules(sample="random", resamples=400)
"""Enough resamples for ends to two digits."""


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    """Both sides read back from files; `said` is the judge by the options."""

    def made(human: Grades, model: Grades, said: Judge | None = None) -> tuple[Side, Side]:
        first = read_people(write(tmp_path / "human.txt", human.items()))
        return first, read_model(write(tmp_path / "model.txt", model.items()), said)

    return made


def run_of(grades: Grades, best: Grades, name: str) -> Run:
    """A run that orders each query's documents by the grades of `best`, first documents first among equals."""
    import polars as pl

    rows = [(query, doc, best[query, doc] - place / 1000) for place, (query, doc) in enumerate(grades)]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    return Run.checked(frame, name)


def test_a_valid_one(sides: Sides) -> None:
    human = people()
    found = put_together(*sides(human, often_right(human), Judge("m", prompt_hash="ab")))
    made = make_certificate(found, SEEN)
    body = made.body
    # 300 pairs of 25 queries; one in five errs, so 240 of 300 agree; half of the grades are 0.
    assert (body["n"], body["queries"], body["exact_agreement"], body["majority_baseline"]) == (
        300,
        25,
        0.8,
        0.5,
    )
    assert body["majority"]["grade"] == 0 and body["majority"]["above"]["value"] == pytest.approx(0.3)
    assert made.valid and body["reasons"] == [] and made.judge == Judge("m", prompt_hash="ab")
    assert body["kappa"]["low"] < body["kappa"]["value"] < body["kappa"]["high"]
    assert body["agreement"]["low"] <= 0.8 <= body["agreement"]["high"]
    assert not body["valid_for_gating"] and body["gating_reasons"] == [NO_CHECKS] and body["systems"] is None
    assert sentence(made).startswith("valid: for reporting, not for gating, because no measure was checked")
    table = np.array(body["confusion"])
    assert table.sum() == 300 and np.trace(table) == 240 and table.sum(axis=1).tolist() == [150, 75, 75]
    bias = (table * np.subtract.outer([0, 1, 2], [0, 1, 2]).T).sum() / 300
    assert body["bias"]["value"] == pytest.approx(bias) and bias > 0
    one = body["by_grade"][1]
    assert (one["human"], one["both"]) == (75, table[1, 1]) and one["of_human"] == pytest.approx(
        table[1, 1] / 75
    )


def test_a_constant_judge_has_kappa_0_and_is_not_valid(sides: Sides) -> None:
    human = people()
    made = make_certificate(put_together(*sides(human, relabelled(human, lambda *_: 0.0))), SEEN)
    assert (
        made.body["kappa"]["value"] == 0
        and made.body["exact_agreement"] == made.body["majority_baseline"] == 0.5
    )
    assert not made.valid and len(made.reasons) == 2
    assert made.reasons[0].startswith("kappa has no interval") and "majority class" in made.reasons[1]


def test_a_single_class_is_undefined_not_1(sides: Sides) -> None:
    # Case kappa-single-class of the collected ones: p_e = 1.
    human = relabelled(people(), lambda *_: 1.0)
    made = make_certificate(put_together(*sides(human, human)), SEEN)
    assert made.body["exact_agreement"] == 1 and made.body["kappa"]["value"] is None
    assert not made.valid and "it does not beat the majority class: 1.000" in made.reasons[1]


def test_a_scale_of_one_grade(sides: Sides) -> None:
    human = relabelled(people(), lambda *_: 0.0)
    body = make_certificate(put_together(*sides(human, human)), SEEN).body
    assert (
        body["grades"] == [0] and body["ac2"] is None and body["kappa"]["value"] is None and not body["valid"]
    )


def test_pairs_stay_paired(sides: Sides) -> None:
    # Case alignment-pairs-stay-paired: the model has no label for the first pair; dropping it from one side only
    # would shift the lists.
    human = {("q", "a"): 1.0, ("q", "b"): 0.0, ("q", "c"): 1.0, ("q", "d"): 0.0}
    model = {("q", "d"): 0.0, ("q", "c"): 1.0, ("q", "b"): 0.0, ("q", "z"): 1.0}
    made = make_certificate(put_together(*sides(human, model)), SEEN)
    assert made.body["n"] == 3 and made.body["exact_agreement"] == 1
    assert made.body["sample"]["human_without_model"] == made.body["sample"]["model_without_human"] == 1
    assert "1 pair that people judged has no label of the model" in made.body["remarks"][0]


def test_small_samples(sides: Sides) -> None:
    human = people(19, 10)
    made = make_certificate(put_together(*sides(human, often_right(human))), SEEN)
    assert made.reasons == ("19 queries, 20 are needed", "190 pairs, 200 are needed")
    human = people(20, 10)
    assert make_certificate(put_together(*sides(human, often_right(human))), SEEN).valid


def test_a_sample_that_is_not_stated(sides: Sides) -> None:
    human = people()
    found = put_together(*sides(human, often_right(human)))
    made = make_certificate(found, Rules(resamples=400))
    assert made.reasons == ("how the sample was drawn is not stated: --sample random, stratified or pool",)
    assert (
        "of all strata count alike"
        in make_certificate(found, Rules("stratified", resamples=400)).body["remarks"][0]
    )
    with pytest.raises(UnknownNameError, match="sample 'randm': did you mean random"):
        Rules("randm")


def test_a_label_off_the_scale_is_named(sides: Sides, tmp_path: Path) -> None:
    human = people()
    model = dict(often_right(human))
    model["q03", "d01"], model["q09", "d07"] = 5.0, 5.0
    # Rows of 12: line 3 · 12 + 2 = 38, and 9 · 12 + 8 = 116.
    with pytest.raises(RowsError) as caught:
        put_together(*sides(human, model, Judge("m7")))
    said = str(caught.value)
    assert "model.txt: 2 wrong rows" in said and "2 labels off the scale, of the judge m7" in said
    assert "line 38: found 'q03 d01 5', which is not on the scale 0, 1, 2, the grades up to people's" in said
    assert "line 116: found 'q09 d07 5'" in said
    assert put_together(*sides(human, model), grades=range(6)).pairs.height == 300
    with pytest.raises(
        RowsError, match=r"human.txt: 75 wrong rows\n  line 4: found 'q00 d03 2', which is not on the scale"
    ):
        put_together(*sides(human, human), grades=[0, 1])


def test_the_line_of_a_settled_label_is_its_own(tmp_path: Path) -> None:
    human = read_people(write(tmp_path / "human.txt", {("q", "a"): 1.0, ("q", "b"): 2.0}.items()))
    rows = [(("q", "a"), 1.0), (("q", "b"), 1.0), (("q", "a"), 9.0)]
    path = write(tmp_path / "model.txt", rows)
    with pytest.raises(RowsError, match="--conflicts first, last"):
        read_model(path)
    with pytest.raises(RowsError, match="line 3: found 'q a 9'"):
        put_together(human, read_model(path, conflicts="last"))
    wrong = [(("q", "a"), 1.0), (("q", "b"), 9.0), (("q", "a"), 9.0)]
    with pytest.raises(RowsError, match=r"2 wrong rows\n  line 2: .*\n  line 3: "):
        put_together(human, read_model(write(tmp_path / "wrong.txt", wrong), conflicts="last"))
    first = read_model(path, conflicts="first")
    assert (first.settled, first.rows) == (1, 3) and put_together(human, first).pairs["second"].to_list() == [
        1,
        1,
    ]
    with pytest.raises(UsageError, match="conflicts 'mean' is not one of"):
        read_model(path, conflicts="mean")
    with pytest.raises(RowsError, match="--human-conflicts first"):
        read_people(path)


def test_scores_are_no_grades(sides: Sides) -> None:
    scores = {("q", f"d{place}"): place / 60 for place in range(60)}
    with pytest.raises(UsageError, match="60 different grades are scores"):
        put_together(*sides(scores, scores))


def test_nothing_in_common(sides: Sides) -> None:
    with pytest.raises(
        NotComparableError,
        match=r"no pair in common: .*human.txt has 'd' for 'q', .*model.txt has 'e' for 'q'",
    ):
        put_together(*sides({("q", "d"): 1.0}, {("q", "e"): 1.0}))


def test_negative_grades_are_not_judged(sides: Sides) -> None:
    human, model = people(), dict(often_right(people()))
    human["q00", "d00"], model["q01", "d01"] = -1.0, -2.0
    body = make_certificate(put_together(*sides(human, model)), SEEN).body
    assert body["n"] == 298 and body["grades"] == [0, 1, 2]
    assert (body["sample"]["human_negative"], body["sample"]["model_negative"]) == (1, 1)
    with pytest.raises(InputError, match="every label is negative"):
        sides({("q", "d"): -1.0}, model)


def test_who_the_judge_is(sides: Sides, tmp_path: Path) -> None:
    human = people()
    path = write(tmp_path / "labels.txt", often_right(human).items())
    assert read_model(path).judge is None
    write_card(path, Card("model", Judge("m", prompt_hash="ab")))
    assert read_model(path).judge == Judge("m", prompt_hash="ab")
    with pytest.raises(UsageError, match="a card that names its judge"):
        read_model(path, Judge("other"))
    with pytest.raises(InputError, match="its card says that m made these labels; people's go here"):
        read_people(path)
    write_card(path, Card("person"))
    with pytest.raises(InputError, match="its card says that people made these labels"):
        read_model(path)
    found = put_together(read_people(path), sides(human, human)[1])
    assert "the judge is not known" in make_certificate(found, SEEN).body["gating_reasons"][0]


def test_a_book_with_both(tmp_path: Path) -> None:
    human = people(3, 4)
    place = tmp_path / "book.db"
    judges = {"old": Judge("m", prompt_hash="a"), "new": Judge("m", prompt_hash="b")}
    with Book.open(place) as book:
        book.add([Judgment(query, doc, grade, who="ana") for (query, doc), grade in human.items()])
        for judge, change in ((judges["old"], 0.0), (judges["new"], 1.0)):
            said = judge.to_dict()
            book.add([Judgment(q, d, change, who="m", kind="model", model=said) for q, d in human])
    with pytest.raises(UsageError, match=r"2 model judges: .*it has m \(prompt a\), m \(prompt b\)"):
        read_model(str(place))
    with pytest.raises(UsageError, match="no such judge"):
        read_model(str(place), Judge("n"))
    side = read_model(str(place), Judge("m", prompt_hash="b"))
    assert side.judge == judges["new"] and set(side.frame["grade"]) == {1.0}
    first = read_people(str(place))
    assert first.rule == "latest" and put_together(first, side).pairs["first"].to_list() == list(
        human.values()
    )
    with Book.open(tmp_path / "models.db") as book:
        book.add([Judgment("q", "d", 1, who="m", kind="model", model={"name": "m"})])
    with pytest.raises(InputError, match="no judgment of a person in it"):
        read_people(str(tmp_path / "models.db"))
    assert read_model(str(tmp_path / "models.db")).judge == Judge("m")
    with pytest.raises(InputError, match="no judgment of a model in it"):
        with Book.open(tmp_path / "persons.db") as book:
            book.add([Judgment("q", "d", 1)])
        read_model(str(tmp_path / "persons.db"))


def measured(sides: Sides, model: Grades, margin: float = 0.3, runs: int = 2) -> Certificate:
    human = people()
    found = put_together(*sides(human, model, Judge("m")))
    by = [human, relabelled(human, lambda place, grade: float(place % 7)), relabelled(human, lambda *_: 0.0)]
    systems = [run_of(human, best, f"run{place}") for place, best in enumerate(by[:runs])]
    rules = Conventions()
    twice = measure_twice(found, systems, parse_all("P@4 nDCG@10", rules), rules, margin)
    return make_certificate(found, SEEN, twice)


def test_a_measure_that_may_gate(sides: Sides) -> None:
    made = measured(sides, often_right(people(), 20))
    assert made.valid and made.body["valid_for_gating"] and len(made.checks) == 4
    assert sentence(made) == "valid: for reporting, and for gating P@4, nDCG@10 with a margin of 0.3 or more"
    assert made.refusal(Judge("m"), {"nDCG@10": 0.3}) == []
    assert made.body["systems"] is None
    # The gate's own margin counts, not the one of the certificate.
    assert "of run0 by the model's labels differs" in made.refusal(Judge("m"), {"nDCG@10": 1e-4})[0]
    assert "another judge" in made.refusal(Judge("m", prompt_hash="x"), {"nDCG@10": 0.3})[0]
    assert "says nothing of RR" in made.refusal(Judge("m"), {"RR": 0.3})[0]


def test_a_bias_beyond_half_the_margin_may_not_gate(sides: Sides) -> None:
    # Some of the grades 0 are called 1: kappa stays high, and every measure rises.
    lenient = relabelled(people(), lambda place, grade: 1.0 if grade == 0 and place % 7 < 2 else grade)
    made = measured(sides, lenient, 0.02, runs=3)
    assert made.valid and not made.body["valid_for_gating"]
    assert (
        "P@4: by the model's labels it may lie more than half the margin, 0.01, away"
        in made.body["gating_reasons"][0]
    )
    check = next(one for one in made.checks if (one.measure, one.system) == ("P@4", "run2"))
    assert check.difference > 0.01 and check.low > 0 and not check.within


def test_the_difference_of_one_measure_by_hand(sides: Sides) -> None:
    # Two queries, three documents; the run returns a then b. P@2 by people: 1/2 and 0; by the model: 1 and 1/2.
    human = {(q, d): float((q, d) in (("q1", "a"), ("q2", "c"))) for q in ("q1", "q2") for d in "abc"}
    model = human | {("q1", "b"): 1.0, ("q2", "a"): 1.0}
    run = run_of(human, {pair: float("cba".index(pair[1])) for pair in human}, "r")
    rules = Conventions()
    found = put_together(*sides(human, model))
    twice = measure_twice(found, [run], parse_all("P@2 RR", rules), rules, 0.1)
    p2, rr = twice.checks
    assert p2 == MeasureCheck("P@2", "r", 0.1, 0.5, None, None, 2, "no spread: all values equal")
    # RR by people: 1 and 1/3; by the model: 1 and 1. The mean difference is 1/3 over two queries.
    assert rr.difference == pytest.approx(1 / 3) and rr.n == 2 and not rr.within


def test_a_query_without_a_value_by_one_side_is_counted(sides: Sides) -> None:
    human = {(q, d): float(d == "a") for q in ("q1", "q2", "q3") for d in "ab"}
    model = human | {("q3", "a"): 0.0}
    run = run_of(human, human, "r")
    rules = Conventions()
    twice = measure_twice(put_together(*sides(human, model)), [run], parse_all("nDCG@10", rules), rules, 0.1)
    assert twice.checks[0].n == 2 and "up to 1 query of a measure had no value" in twice.remarks[0]


def test_the_order_of_three_runs(sides: Sides) -> None:
    made = measured(sides, often_right(people(), 20), runs=3)
    systems = made.body["systems"]
    assert (systems["measure"], systems["systems"], systems["queries"], systems["tau"]) == ("P@4", 3, 25, 1.0)
    assert [row["measure"] for row in systems["others"]] == ["nDCG@10"]
    assert [row["system"] for row in systems["means"]] == ["run0", "run1", "run2"]
    assert systems["means"][0]["human"] == 1.0


@given(st.integers(0, 2**32 - 1))
def test_the_numbers_do_not_depend_on_the_order_of_rows(seed: int) -> None:
    import polars as pl

    human = people(6, 5)
    frame = pl.DataFrame(
        [(q, d, g) for (q, d), g in human.items()], schema=["query_id", "doc_id", "grade"], orient="row"
    )
    mixed = frame.sample(fraction=1.0, shuffle=True, seed=seed)
    one = put_together(Side(frame, "h", 30), Side(frame, "m", 30))
    other = put_together(Side(mixed, "h", 30), Side(mixed.reverse(), "m", 30))
    assert (
        one.pairs.equals(other.pairs) and (one.tables == other.tables).all() and one.queries == other.queries
    )
    assert tables_of(one.pairs, "first", "second", one.grades).sum() == 30


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"design": "convenience"}, "design 'convenience' is not one of"),
        ({"queries": 19}, "19 queries, 20 are needed"),
        ({"pairs": 199}, "199 pairs, 200 are needed"),
        ({"kappa_low": 0.0}, "kappa's lower bound, 0.000, is not above 0"),
        ({"kappa_low": None}, "kappa has no interval"),
        ({"agreement": 0.5}, "it does not beat the majority class"),
        ({"majority": None}, "there is no share of equal grades"),
    ],
)
def test_each_condition_alone_makes_it_not_valid(changed: dict[str, object], reason: str) -> None:
    good = {
        "design": "pool",
        "queries": 20,
        "pairs": 200,
        "kappa_low": 0.01,
        "agreement": 0.51,
        "majority": 0.5,
    }
    assert reasons_against(**good) == []  # type: ignore[arg-type]
    found = reasons_against(**(good | changed))  # type: ignore[arg-type]
    assert len(found) == 1 and reason in found[0]


@pytest.fixture
def document(sides: Sides) -> dict[str, object]:
    made = measured(sides, often_right(people(), 20))
    return json.loads(document_text(made.body))


def test_a_certificate_is_read_back(document: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(document))
    made = read_certificate(path)
    assert made.valid and made.judge == Judge("m") and len(made.checks) == 4 and dict(made.body) == document
    assert made.refusal(Judge("m"), {"P@4": 0.3}) == []
    assert read_certificate(str(path)).checks[0].margin == 0.3


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"command": "compare"}, "no certificate: leadline certify writes one"),
        ({"version": 2}, "a certificate of version 2; this Leadline reads version 1"),
        ({"extra": 1}, "unknown field 'extra'"),
        ({"n": "300"}, 'n: found "300", expected a whole number'),
        ({"valid": 1}, "valid: found 1, expected true or false"),
        ({"n": 150}, "it says that it is valid, but 150 pairs, 200 are needed"),
        ({"sample": {}}, "it says that it is valid, but how the sample was drawn is not stated"),
        ({"reasons": ["x"]}, "valid is true, which its reasons contradict"),
        ({"exact_agreement": 0.3}, "it says that it is valid, but it does not beat the majority class"),
        ({"judge": {"endpoint": "x"}}, "judge: the model's name is missing"),
        ({"gating": [1]}, "gating, row 1: expected an object"),
        ({"reasons": [1]}, "reasons: expected a list of sentences"),
        ({"kappa": {"low": "x"}}, "holds a value of another kind"),
    ],
)
def test_a_damaged_certificate_is_refused(
    document: dict[str, object], changed: dict[str, object], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        certificate_of(document | changed, "c.json")
    assert str(caught.value).startswith("c.json: ") and said in str(caught.value)


def test_a_file_that_is_none_is_refused(document: dict[str, object], tmp_path: Path) -> None:
    for text, said in (
        ("{", "no JSON"),
        ("[]", "no certificate"),
        ('{"n": NaN}', "NaN is no number"),
        ("", "no JSON"),
    ):
        (tmp_path / "c.json").write_text(text)
        with pytest.raises(InputError, match=said):
            read_certificate(tmp_path / "c.json")
    with pytest.raises(InputError, match="the certificate cannot be read: No such file"):
        read_certificate(tmp_path / "none.json")
    del document["kappa"]
    with pytest.raises(InputError, match="the field 'kappa' is missing"):
        certificate_of(document)
    document["gating"][0]["within"] = False  # type: ignore[index]
    document["kappa"] = {}
    with pytest.raises(
        InputError, match="gating, row 1: within is False, which its own interval contradicts"
    ):
        certificate_of(document)


def test_an_unknown_judge_never_gates() -> None:
    assert Certificate(Judge(""), True).refusal(Judge(""), {}) == [
        "the certificate does not say which judge it is about"
    ]


def test_drift_by_hand(sides: Sides) -> None:
    old = people()
    # 75 pairs of grade 1 become 2: the shares of 1 and 2 change, that of 0 does not.
    _, new = sides(
        old, relabelled(old, lambda _, grade: 2.0 if grade == 1 else grade), Judge("m", prompt_hash="b")
    )
    before = sides(old, old, Judge("m", prompt_hash="a"))[1]
    report = drift_report(before, new, rules=SEEN)
    assert report["changed"]["pairs"] == 75 and report["changed"]["value"] == 0.25
    assert report["mean_change"]["value"] == pytest.approx(0.25)
    assert report["moves"] == [{"old": 1.0, "new": 2.0, "pairs": 75}]
    assert [row["new"] for row in report["shares"]] == [0.5, 0, 0.5]
    # All changes go one way: d = 75, V = 75, d²/V = 75 on one degree of freedom.
    assert report["stuart_maxwell"]["statistic"] == pytest.approx(75) and report["stuart_maxwell"]["df"] == 1
    assert report["by_query"]["p"] < 0.001 and report["kappa_change"] is None
    assert report["void"] is True and report["differs"] == [{"part": "prompt_hash", "old": "a", "new": "b"}]


def test_no_drift(sides: Sides) -> None:
    _, same = sides(people(), often_right(people()), Judge("m"))
    report = drift_report(same, same, rules=SEEN)
    assert report["changed"]["pairs"] == 0 and report["moves"] == [] and report["void"] is False
    assert report["stuart_maxwell"]["p"] == report["by_query"]["p"] == 1


def test_the_change_of_kappa_is_that_on_the_pairs_of_all_three(sides: Sides) -> None:
    human = people()
    first, old = sides(human, often_right(human, 3))
    few = {pair: grade for place, (pair, grade) in enumerate(often_right(human).items()) if place >= 12}
    _, new = sides(human, few)
    report = drift_report(old, new, first, rules=SEEN)
    change = report["kappa_change"]
    assert report["n"] == change["n"] == 288 and report["only_old"] == 12
    plain = make_certificate(put_together(first, new), SEEN).body["kappa"]["value"]
    assert change["new"] == pytest.approx(plain) and change["old"] < change["new"] and change["low"] > 0
    assert change["value"] == pytest.approx(change["new"] - change["old"])


def test_a_grade_of_people_off_the_scale_of_a_drift(sides: Sides) -> None:
    human = people()
    first, old = sides(dict(human) | {("q03", "d01"): 3.0}, human)
    with pytest.raises(
        RowsError, match=r"human.txt: line 38: found 'q03 d01 3', which is not on the scale 0, 1, 2"
    ):
        drift_report(old, old, first, [0, 1, 2], SEEN)
    with pytest.raises(NotComparableError, match="has no pair in common with both versions"):
        drift_report(old, old, sides({("x", "y"): 1.0}, human)[0], [0, 1, 2], SEEN)


def test_certificates_side_by_side(sides: Sides, document: dict[str, object]) -> None:
    other = measured(sides, often_right(people(), 5))
    report = certificates_differ(certificate_of(document), other)
    rows = {row["what"]: row for row in report["certificates"]}
    assert rows["n"]["same"] and not rows["kappa"]["same"] and report["void"] is False
    assert rows["exact_agreement"]["new"] == 0.8
    assert judge_differences(None, Judge("m")) == []

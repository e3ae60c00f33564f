"""From judgments to labels: one vote a judge, persons before models, the named rules, and what must not change them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.certificate import Judge
from leadline.errors import InputError, UnknownNameError, UsageError
from leadline.judging.book import Book
from leadline.judging.judgment import Judgment
from leadline.judging.labels import (
    RULES,
    make_labels,
    of_judge,
    quepid_consensus,
    rounded,
    unordered,
    votes_of,
)
from leadline.judging.status import book_status


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}.000+00:00"


def said(*grades: float | str, **more: object) -> list[Judgment]:
    """Judgments of one pair by ana, bob, …, a second apart; a text is a mark."""
    names = ["ana", "bob", "carl", "dora", "eve"]
    return [
        Judgment(
            "q", "d", **{"mark" if isinstance(grade, str) else "grade": grade}, who=who, when=at(i), **more
        )
        for i, (who, grade) in enumerate(zip(names, grades, strict=False))
    ]


def label(rows: list[Judgment], rule: str) -> float | None:
    found = make_labels(rows, rule).labels
    return found[0].grade if found else None


def test_j07_quepid_consensus() -> None:
    votes = [[3, 1], [2, 1], [3, 0], [3, 3, 0], [3, 3, 3, 0], [0, 1, 3, 3]]
    # Two: the mean. More: the three highest, their value where equal, else their least.
    assert [quepid_consensus(one) for one in votes] == [2.0, 1.5, 1.5, 0, 3, 1]
    # 1.5 to 2: half away from zero.
    assert [label(said(*one), "quepid") for one in votes] == [2, 2, 2, 0, 3, 1]
    # Python's round would give 0 and 2.
    assert [rounded(0.5), rounded(2.5), round(0.5), round(2.5)] == [1, 3, 0, 2]
    # A further 3 lowers 2 to 0.
    assert [label(said(3, 0), "quepid"), label(said(3, 0, 3), "quepid")] == [2, 0]


@pytest.mark.parametrize(
    ("grades", "latest", "majority", "median", "adjudicated"),
    [
        ((2,), 2, 2, 2, 2),
        ((2, 2), 2, 2, 2, 2),
        ((3, 1), 1, 1, 1, None),
        ((1, 3), 3, 1, 1, None),
        ((3, 3, 0), 0, 3, 3, None),
        ((0, 1, 3), 3, 0, 1, None),
        ((0, 1, 2, 3), 3, 0, 1, None),
        ((3, 3, 0, 0), 0, 0, 0, None),
        ((0, 0), 0, 0, 0, 0),
    ],
)
def test_rules(grades, latest, majority, median, adjudicated) -> None:
    rows = said(*grades)
    assert [label(rows, rule) for rule in ("latest", "majority", "median", "adjudicated")] == [
        latest,
        majority,
        median,
        adjudicated,
    ]


def test_what_a_label_says() -> None:
    found = make_labels(said(3, 0, "unsure", 3), "majority")
    (one,) = found.labels
    assert (one.grade, one.kind, one.votes, one.spread, one.who, one.tied) == (
        3,
        "person",
        3,
        3,
        ("ana", "bob", "dora"),
        False,
    )
    tied = make_labels(said(3, 0), "majority")
    assert tied.labels[0].tied
    assert (
        tied.sentence()
        == "1 label by the rule majority, 1 settled by the smaller of the grades given most often"
    )
    assert make_labels(said(3, 0), "adjudicated").sentence() == (
        "0 labels by the rule adjudicated, 1 without a label: the judges differ and nobody decided"
    )
    with pytest.raises(UnknownNameError, match="unknown rule 'medain': did you mean median"):
        make_labels([], "medain")
    with pytest.raises(InputError, match="book: no label by the rule latest"):
        make_labels([]).qrels()


@pytest.mark.parametrize("rule", RULES)
def test_one_vote_a_judge(rule: str) -> None:
    first, *others = said(0, 3)
    # Ana looked again and gave 3; a repeated showing does not vote, whatever it says.
    again = Judgment("q", "d", 3, who="ana", when=at(10))
    repeat = Judgment("q", "d", 0, who="bob", when=at(20), repeat=True)
    found = make_labels([first, *others, again, repeat], rule)
    assert [(one.grade, one.votes) for one in found.labels] == [(3, 2)]


@pytest.mark.parametrize("rule", RULES)
def test_persons_before_models(rule: str) -> None:
    model = Judgment("q", "d", 3, who="m", kind="model", when=at(50))
    person = Judgment("q", "d", 0, who="ana", when=at(1))
    assert [(one.grade, one.kind) for one in make_labels([model, person], rule).labels] == [(0, "person")]
    assert [(one.grade, one.kind) for one in make_labels([model], rule).labels] == [(3, "model")]
    # A person who is not sure has not graded; one who judged it "pooled, unjudged" (-1) neither.
    unsure = Judgment("q", "d", mark="unsure", who="ana", when=at(55))
    minus = Judgment("q", "d", -1, who="list", when=at(55))
    for row in (unsure, minus):
        assert [(one.grade, one.kind) for one in make_labels([model, row], rule).labels] == [(3, "model")]
    assert [one.grade for one in make_labels([minus], rule).labels] == [-1]


@pytest.mark.parametrize("rule", RULES)
def test_j08_a_label_goes_with_its_judgments(rule: str) -> None:
    with Book.open(":memory:") as book:
        book.add([Judgment("q", "d1", 2, who="ana")])
        assert [(one.doc_id, one.grade) for one in make_labels(book.rows(), rule).labels] == [("d1", 2)]
        book.add([Judgment("q", "d1", mark="unsure", who="ana")])
        assert make_labels(book.rows(), rule).labels == ()
        assert make_labels(book.rows(), rule).without == {"marked": 1, "open": 0}
        book.undo("ana")
        assert len(make_labels(book.rows(), rule).labels) == 1
        book.undo("ana")
        assert make_labels(book.rows(), rule).labels == () and make_labels(book.rows(), rule).pairs == 0


def test_a_leads_decision() -> None:
    votes = said(3, 0, 0)
    decision = Judgment("q", "d", 3, who="lead", when=at(30), adjudicates=True)
    assert label([*votes, decision], "adjudicated") == 3
    # It is no vote, but the latest word.
    assert label([*votes, decision], "majority") == 0
    assert label([*votes, decision], "latest") == 3
    later = Judgment("q", "d", 1, who="eve", when=at(40))
    assert [label([*votes, decision, later], rule) for rule in ("adjudicated", "latest")] == [3, 1]
    # The latest of two decisions; a decision that there is no grade; one that was taken back.
    broken = Judgment("q", "d", mark="broken", who="lead", when=at(50), adjudicates=True, id="b")
    assert label([*votes, decision, broken], "adjudicated") is None
    back = Judgment("q", "d", undoes="b", who="lead", when=at(51))
    assert label([*votes, decision, broken, back], "adjudicated") == 3
    # A lead who also judged has both: the decision does not replace the vote.
    own = Judgment("q", "d", 2, who="lead", when=at(5))
    assert sorted(row.grade for row in votes_of([*votes, own, decision])["q", "d"]) == [0, 0, 2, 3]


def test_undated_votes_have_an_order_and_it_is_said() -> None:
    rows = [
        Judgment("q", "d", 1, who="ana", when="", id="b"),
        Judgment("q", "d", 2, who="bob", when="", id="a"),
    ]
    for order in (rows, rows[::-1]):
        found = make_labels(order)
        assert [(one.grade, one.tied) for one in found.labels] == [(1, True)]
    assert "settled by their ids, as their times are equal or not known" in found.sentence()
    dated = Judgment("q", "d", 0, who="eve", when=at(1), id="0")
    assert [(one.grade, one.tied) for one in make_labels([*rows, dated]).labels] == [(0, False)]


def test_the_design_of_a_sample_stays_with_the_label() -> None:
    rows = [Judgment("q", "d", 1, probability=0.25, stratum="deep"), Judgment("q", "e", 0)]
    assert [(one.probability, one.stratum) for one in make_labels(rows).labels] == [
        (0.25, "deep"),
        (None, None),
    ]


def test_labels_as_qrels_are_sorted_and_say_their_rule() -> None:
    rows = [Judgment("b", "y", 1), Judgment("a", "z", 0, kind="model", who="m"), Judgment("b", "x", 2)]
    qrels = make_labels(rows, "median").qrels("judgments.db")
    assert qrels.frame.rows() == [("a", "z", 0.0), ("b", "x", 2.0), ("b", "y", 1.0)]
    assert (qrels.rule, qrels.models, qrels.source) == ("median", 1, "judgments.db")


votes = st.lists(st.integers(0, 3), min_size=1, max_size=5)


@given(votes, st.sampled_from(list(RULES)), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(grades, rule, random) -> None:
    rows = said(*grades)
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert make_labels(shuffled, rule) == make_labels(rows, rule)


@given(votes, st.sampled_from(["latest", "majority", "median", "adjudicated"]))
def test_a_label_is_one_of_the_grades_given(grades, rule) -> None:
    found = label(said(*grades), rule)
    assert found in grades or (rule == "adjudicated" and len(set(grades)) > 1)


def test_lists_merged_from_two_laptops_are_told() -> None:
    """Two undated grades of one judge, each imported elsewhere: one of them is taken, and the status says so."""
    rows = [Judgment.from_dict({"query_id": "q", "doc_id": "d", "grade": g, "who": "ana"}) for g in (1, 2)]
    assert unordered(rows) == 1 and book_status(rows)["unordered"] == 1
    assert make_labels(rows) == make_labels(rows[::-1])
    dated = Judgment("q", "d", 3, who="ana", when=at(1))
    assert unordered([*rows, dated]) == 0
    assert unordered([rows[0], Judgment("q", "d", 2, who="bob", when="")]) == 0
    assert unordered([rows[0], Judgment("q", "d", 2, who="ana", when="", repeat=True)]) == 0


# ---- models as judges ------------------------------------------------------------------------------------------


def of_model(doc: str, grade: float, when: int, prompt: str = "a", model: str = "m") -> Judgment:
    judge = Judge(model, "http://x/v1", prompt="relevance 1", prompt_hash=prompt)
    return Judgment("q", doc, grade, who=model, kind="model", model=judge.to_dict(), when=at(when))


@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_model_never_takes_the_place_of_a_person(rule: str) -> None:
    """However many models said otherwise, and however late."""
    person = Judgment("q", "d", 0, who="ana", when=at(1))
    models = [of_model("d", 3, 2 + n, f"{n}") for n in range(5)]
    assert [(one.grade, one.kind) for one in make_labels([*models, person], rule).labels] == [(0, "person")]
    assert make_labels(models, rule).labels[0].kind == "model"


def test_two_prompts_are_two_judges() -> None:
    """The votes 1, 3, 1: by the model's name alone each would have replaced the one before, and one vote be left."""
    rows = [of_model("d", 1, 1, "a"), of_model("d", 3, 2, "b"), of_model("d", 1, 3, "c")]
    label = make_labels(rows, "majority").labels[0]
    assert (label.grade, label.votes, len(label.judges)) == (1, 3, 3)
    # One judge that looks again has one vote still.
    assert make_labels([of_model("d", 1, 1), of_model("d", 2, 2)], "majority").labels[0].votes == 1


def test_a_mixture_of_judges_is_not_silent_and_one_can_be_chosen() -> None:
    person = Judgment("q", "p", 2, who="ana", when=at(9))
    rows = [of_model("d", 1, 1, "a"), of_model("e", 3, 2, "b"), person]
    mixed = make_labels(rows)
    assert mixed.sentence() == "3 labels by the rule latest, 2 of 2 model judges mixed (--judge names one)"
    assert len(mixed.qrels().judges) == 2
    first, second = mixed.judges
    alone = make_labels(of_judge(rows, second.id[:6]))
    assert [(one.doc_id, one.grade) for one in alone.labels] == [("e", 3), ("p", 2)]
    assert alone.judges == (second,) and first.id != second.id
    with pytest.raises(UsageError, match="2 model judges: m; there are"):
        of_judge(rows, "m")
    with pytest.raises(UsageError, match="no such model judge: zz"):
        of_judge(rows, "zz")
    back = [*rows, Judgment("q", "e", who="m", kind="model", undoes=rows[1].id)]
    assert [one.doc_id for one in make_labels(of_judge(back, second.id)).labels] == ["p"]
    other = [*rows, of_model("d", 2, 3, model="n")]
    assert make_labels(of_judge(other, "n")).labels[0].grade == 2

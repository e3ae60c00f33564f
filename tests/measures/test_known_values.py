"""Every measure of the catalogue on lists small enough for pencil and paper."""

import math

import pytest

import leadline
from leadline.catalogue import TABLE
from measures.support import laid_out, value

LOG3, LOG5 = math.log2(3), math.log2(5)

# The list of most lines: grades 2, unjudged, 0, 1 at ranks 1 to 4, and one document of grade 1 not returned.
# So R = 3 relevant, 2 of them returned, at ranks 1 and 4; N = 1 judged not relevant; 4 documents returned.
LIST = ("2 . 0 1", "1")

KNOWN = [
    # nDCG@3: DCG = 3/1; ideal grades 2, 1, 1: 3 + 1/log2(3) + 1/2 = 4.1309.
    ("nDCG@3", LIST, 3 / (3 + 1 / LOG3 + 1 / 2)),
    # The whole list: DCG = 3 + 1/log2(5).
    ("nDCG", LIST, (3 + 1 / LOG5) / (3 + 1 / LOG3 + 1 / 2)),
    # Linear: DCG = 2 + 1/log2(5); ideal 2 + 1/log2(3) + 1/2.
    ("nDCG(gain=linear)", LIST, (2 + 1 / LOG5) / (2 + 1 / LOG3 + 1 / 2)),
    # A map: 9 + 3/log2(5) over 9 + 3/log2(3) + 3/2.
    ("nDCG(gain={1:3,2:9})@10", LIST, (9 + 3 / LOG5) / (9 + 3 / LOG3 + 3 / 2)),
    # A map that does not grow with the grade: gains 1 . 0 5 and 5; the ideal order is 5, 5, 1.
    ("nDCG(gain={1:5,2:1})", LIST, (1 + 5 / LOG5) / (5 + 5 / LOG3 + 1 / 2)),
    # Condensed: 2 0 1: DCG = 3 + 1/2.
    ("nDCG(judged_only)", LIST, (3 + 1 / 2) / (3 + 1 / LOG3 + 1 / 2)),
    ("DCG", LIST, 3 + 1 / LOG5),
    ("DCG(gain=linear)@3", LIST, 2.0),
    # NCG@2: 3 found; the two best documents have 3 + 1.
    ("NCG@2", LIST, 3 / 4),
    # Linear @4: 2 + 1 found; 2 + 1 + 1 there.
    ("NCG(gain=linear)@4", LIST, 3 / 4),
    ("R@3", LIST, 1 / 3),
    ("R(rel=2)@3", LIST, 1.0),
    ("P@3", LIST, 1 / 3),
    # k even when fewer were returned.
    ("P@10", LIST, 2 / 10),
    # Condensed: 2 0 1, two relevant of three.
    ("P(judged_only)@3", LIST, 2 / 3),
    ("Success@3", LIST, 1.0),
    ("Success@2", (". 0 1", ""), 0.0),
    ("RR", (". 0 1", ""), 1 / 3),
    ("RR@2", (". 0 1", ""), 0.0),
    ("RR(judged_only)", (". 0 1", ""), 1 / 2),
    # AP: precision 1/1 at rank 1, 2/4 at rank 4, over R = 3.
    ("AP", LIST, (1 + 2 / 4) / 3),
    ("AP@3", LIST, 1 / 3),
    # min(R, k) = 2.
    ("AP(denominator=min)@2", LIST, 1 / 2),
    # Over the 2 relevant ones returned.
    ("AP(denominator=retrieved)", LIST, (1 + 2 / 4) / 2),
    # Only the document of grade 2 is relevant.
    ("AP(rel=2)", LIST, 1.0),
    ("GMAP", LIST, (1 + 2 / 4) / 3),
    # R = 3: one of the first three.
    ("Rprec", LIST, 1 / 3),
    # .5 · 3 asks for 2 relevant documents: precision 2/4 there.
    ("IPrec@0.5", LIST, 2 / 4),
    ("IPrec@0.1", LIST, 1.0),
    # All three are never found.
    ("IPrec@1", LIST, 0.0),
    # .4 · 3 = 1.2 asks for 2 (least; floor: ⌊2.1⌋ = 2) or 1 (rounded).
    ("IPrec@0.4", LIST, 2 / 4),
    ("IPrec(levels=floor)@0.4", LIST, 2 / 4),
    ("IPrec(levels=round)@0.4", LIST, 1.0),
    # .28 · 25 is 7, though in floating point a little more: 7 documents are enough.
    ("IPrec@0.28", ("1 1 1 1 1 1 1 0", "1 " * 18), 1.0),
    # Levels 0 to .3 need 1 document: 1; .4 to .6 need 2: 1/2; .7 to 1 need 3: 0.
    ("11pt", LIST, (4 * 1 + 3 * 1 / 2) / 11),
    # P = 2/4, R = 2/3.
    ("F@4", LIST, 2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3)),
    # b = 2: 5·(1/3) ÷ (4/2 + 2/3).
    ("F(beta=2)", LIST, 5 * (1 / 3) / (4 / 2 + 2 / 3)),
    # b = 1/2: 1.25·(1/3) ÷ (1/8 + 2/3).
    ("F(beta=0.5)@4", LIST, 1.25 * (1 / 3) / (1 / 8 + 2 / 3)),
    ("SetP", LIST, 2 / 4),
    ("SetR", LIST, 2 / 3),
    # 2·2 ÷ (4 returned + 3 relevant).
    ("SetF", LIST, 4 / 7),
    ("SetF(beta=2)", LIST, 0.625),
    # .5·(1 + .5³).
    ("RBP(p=0.5)", LIST, 0.5625),
    # .2·(1 + .8³) = .2·1.512.
    ("RBP", LIST, 0.3024),
    ("RBP@1", LIST, 0.2),
    # Grades over the largest of the file, 2: .5·(2/2 + .125·1/2).
    ("RBP(p=0.5,gain=linear)", LIST, 0.53125),
    # Gains 3/7 and 1/7 of the top of the scale, 3.
    ("RBP(p=0.5,gain=exp2,max_grade=3)", LIST, 0.5 * (3 / 7 + 0.125 / 7)),
    # Unjudged at rank 2: .5·.5; unseen after rank 4: .5⁴.
    ("RBPResidual(p=0.5)", LIST, 0.25 + 0.0625),
    # Top grade 2: stops 3/4 at rank 1 and 1/4 at rank 4: 3/4 + (1/4)·(1/4)/4.
    ("ERR", LIST, 0.75 + 0.25 * 0.25 / 4),
    # Top grade 4: stops 3/16 and 1/16: 3/16 + (13/16)·(1/16)/4.
    ("ERR(max_grade=4)@20", LIST, 3 / 16 + 13 / 16 / 16 / 4),
    # Nearest ideal: rank 1, rank 4, the missed one. Both lists are followed to the end of the longer, depth
    # 4:
    # overlap 1/1, 1/2, 1/3, 2/4 with the ranking, 1/1, 2/2, 3/3, 3/4 with itself.
    (
        "Compat(p=0.95)",
        LIST,
        (1 + 0.95 / 2 + 0.95**2 / 3 + 0.95**3 / 2) / (1 + 0.95 + 0.95**2 + 0.95**3 * 3 / 4),
    ),
    # The ranking ends first: depth 2; 1/1 and 1/2.
    ("Compat(p=0.95)", ("1", "1"), (1 + 0.95 / 2) / (1 + 0.95)),
    # To rank 2: 1/1 and 1/2 with the ranking, 1/1 and 2/2 with itself; not normalised: the same sum over 1 + .5.
    ("Compat(p=0.5,depth=2)", LIST, 1.25 / 1.5),
    ("Compat(p=0.5,normalize=false)", LIST, (1 + 0.5 / 2 + 0.25 / 3 + 0.125 / 2) / (1 + 0.5 + 0.25 + 0.125)),
    # One subtopic, answered at ranks 1 and 4 and by the missed one: each answer is worth half of the one before.
    ("alpha_nDCG@3", LIST, 1 / (1 + 0.5 / LOG3 + 0.25 / 2)),
    ("alpha_nDCG(alpha=0)@4", LIST, (1 + 1 / LOG5) / (1 + 1 / LOG3 + 1 / 2)),
    ("StRecall@1", LIST, 1.0),
    ("StRecall@2", (". 0 1", ""), 0.0),
    # 1 + .5/4, over what one answer at every rank would have: 1 + .5/2 + .25/3 + .125/4.
    ("ERR_IA@4", LIST, (1 + 0.5 / 4) / (1 + 0.5 / 2 + 0.25 / 3 + 0.125 / 4)),
    # Rank 1 has none above: 1. Rank 4 has one: 1 − 1/min(1, 3) = 0. Over R = 3.
    ("Bpref", LIST, 1 / 3),
    # 1 − 1/3 for rank 4.
    ("Bpref(variant=2004)", LIST, (1 + 2 / 3) / 3),
    # 1 − 1/(3 + 10).
    ("Bpref(variant=10)", LIST, (1 + 12 / 13) / 3),
    # Rank 4: 1/4 + (3/4)·(3 pooled/3)·(1 relevant of 2 judged above) = .625; rank 1: 1; R = 2.
    ("infAP", ("1 -1 0 1", ""), (1 + 0.625) / 2),
    # The same without the mark: 2 pooled above: 1/4 + (3/4)·(2/3)·(1/2) = .5.
    ("infAP", ("1 . 0 1", ""), (1 + 0.5) / 2),
    # Strata {r1, r3}, both judged, and {r2, r4}, one of two: weights 1 and 2. r1: 1. r4: of the first stratum two
    # stand above, one of two relevant; of the other one, not judged: (1 + 2·1/2 + 1/3)/4 = 7/12. R = 1 + 2.
    ("xinfAP", ("1 -1 0 1", ""), (1 + 2 * 7 / 12) / 3),
    # DCG 2/2·1 + 2/1·1/log2(5); the ideal has 1 + 2 documents of grade 1.
    ("infNDCG", ("1 -1 0 1", ""), (1 + 2 / LOG5) / (1.5 + 1 / LOG3)),
    ("Judged@3", LIST, 2 / 3),
    ("Judged@10", LIST, 3 / 4),
    ("Judged(over=k)@10", LIST, 3 / 10),
    # A negative grade is in the pool and not judged.
    ("Judged@2", ("-1 1", ""), 1 / 2),
    ("Unjudged@3", LIST, 1 / 3),
    ("Unjudged(over=k)@10", LIST, 1 / 10),
    ("NumQ", LIST, 1.0),
    ("NumRet", LIST, 4.0),
    ("NumRel", LIST, 3.0),
    ("NumRel(rel=2)", LIST, 1.0),
    ("NumRelRet", LIST, 2.0),
    ("NumRelRet@3", LIST, 1.0),
]


@pytest.mark.parametrize(("measure", "layout", "expected"), KNOWN, ids=[f"{k[0]} {k[1][0]}" for k in KNOWN])
def test_a_known_value(measure, layout, expected):
    # The smoothing of infAP and xinfAP, 0.00001, is the only difference from the plain fraction.
    within = 1e-5 if measure in ("infAP", "xinfAP") else 1e-12
    assert value(measure, *laid_out(*layout)) == pytest.approx(expected, abs=within)


JUDGED = [definition for definition in TABLE if definition.needs != "evidence"]


def test_every_measure_of_the_catalogue_has_a_known_value():
    shown = {leadline.parse(text).name for text, *_ in KNOWN}
    assert shown == {definition.name for definition in JUDGED}


@pytest.mark.parametrize("definition", JUDGED, ids=lambda d: d.name)
def test_the_example_of_each_measure_works(definition):
    assert leadline.parse(definition.example).name == definition.name
    assert value(definition.example, *laid_out(*LIST)) is not None


def test_the_aggregates():
    run = {"a": ["x"], "b": ["y", "x"]}
    qrels = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}}
    asked = ["AP", "GMAP", "NumRet", "NumRel", "NumRelRet", "NumQ"]
    scores = leadline.evaluate(run, qrels, asked)
    # AP 1, 1/2 and 0 (c is not answered); the geometric mean floors at 0.00001.
    assert scores.mean("AP") == pytest.approx(0.5)
    assert scores.mean("GMAP") == pytest.approx((1 * 0.5 * 0.00001) ** (1 / 3))
    assert [scores.mean(m) for m in asked[2:]] == [3, 3, 2, 3]


UNDEFINED = [
    "R@5", "Success@5", "RR", "AP", "nDCG@5", "NCG@5", "Rprec", "Bpref", "infAP", "ERR", "IPrec@0.1",
    "11pt", "GMAP", "SetR", "F@5", "SetF", "Compat", "alpha_nDCG@5", "StRecall@5", "ERR_IA@5",
]  # fmt: skip
DEFINED = {"P@5": 0.0, "DCG@5": 0.0, "RBP": 0.0, "Judged@5": 0.5, "SetP": 0.0}


def test_without_a_relevant_document():
    run, qrels = laid_out("0 .")
    scores = leadline.evaluate(run, qrels, UNDEFINED + list(DEFINED))
    assert [m for m in UNDEFINED if scores.per_query(m)["q"] is not None] == []
    assert {m: scores.per_query(m)["q"] for m in DEFINED} == DEFINED
    zero = leadline.evaluate(run, qrels, UNDEFINED, undefined="zero")
    assert {zero.per_query(m)["q"] for m in UNDEFINED} == {0.0}

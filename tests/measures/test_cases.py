"""Small cases behind public reports about evaluation tools, with the value that is right and why."""

import math

import pytest

import leadline
from leadline.errors import InputError, NotComparableError
from measures.support import laid_out, table, value

LOG3 = math.log2(3)
TWELVE = ", ".join(f"k p{i:02}" for i in range(1, 13))
CONSTANT = (
    TWELVE.replace(",", " 0,").replace("p01 0", "p01 1") + " 0",
    TWELVE.replace(",", " 0.5,") + " 0.5",
)
GRADED = ("n a 1, n b 2", "n a 9, n b 8")
THREE = ("n a 1, n b 2, n c 3", "n a 3, n b 2, n c 1")
FIVE = ("v a 1, v b 1, v c 1", "v a 9, v x 8, v b 7, v y 6, v c 5")
TIED = ("k ant 1, k bee 0", "k ant 4, k bee 4")

# name: judgments (query document grade), run (query document score), measure, switches, value.
CASES = {
    # Equal scores: the larger id, as UTF-8 bytes, stands first. bee, then ant: 1/2; a cutoff beyond changes
    # nothing.
    "ties: larger id first": (*TIED, "RR", {}, 1 / 2),
    "ties: the same order at a cutoff": (*TIED, "RR@10", {}, 1 / 2),
    # (1 + 1/log2(3))/2 over an ideal of 1.
    "ties: expected nDCG": (*TIED, "nDCG@10", {"ties": "expected"}, (1 + 1 / LOG3) / 2),
    # Ids are text: "9" stands before "10".
    "ties: ids are no numbers": ("k 10 1, k 9 0", "k 10 1, k 9 1", "RR", {}, 1 / 2),
    # 0xC3 is above 0x7A.
    "ties: bytes beyond ASCII": ("k éa 1, k zz 0", "k éa 1, k zz 1", "RR", {}, 1.0),
    # 0xF0 is above 0xEF, though in UTF-16 the surrogate is below U+FF5E.
    "ties: bytes beyond the basic plane": ("k 😀 1, k ～ 0", "k 😀 1, k ～ 1", "RR", {}, 1.0),
    # All twelve tied, p01 smallest: rank 12 for every measure alike.
    "a constant scorer: RR@10": (*CONSTANT, "RR@10", {}, 0.0),
    "a constant scorer: nDCG@10": (*CONSTANT, "nDCG@10", {}, 0.0),
    "a constant scorer: RR": (*CONSTANT, "RR", {}, 1 / 12),
    # 2^24 + 1 is above 2^24 as 64-bit floats; as 32-bit ones they are equal and bb stands first.
    "a score above 2^24": ("k aa 1, k bb 0", "k aa 16777217, k bb 16777216", "RR", {}, 1.0),
    "a score above 2^24, 32 bits": (
        "k aa 1, k bb 0", "k aa 16777217, k bb 16777216", "RR", {"score_width": 32}, 1 / 2,
    ),
    # m2 is judged and not answered: 0.
    "a missing query counts": ("m1 d1 1, m2 d7 1", "m1 d1 2, m1 d2 1", "AP", {}, 1 / 2),
    "a missing query left out": (
        "m1 d1 1, m2 d7 1", "m1 d1 2, m1 d2 1", "AP", {"average": "intersection"}, 1.0,
    ),
    "a query without judgments": ("m1 d1 1", "m1 d1 2, m9 d1 2", "AP", {}, 1.0),
    # e2 is not judged. e1: 1; e3: (1 + 2/3)/2.
    "a query without judgments between others": (
        "e1 a 1, e3 b 1, e3 c 1", "e1 a 3, e2 a 3, e2 b 2, e3 c 3, e3 x 2, e3 b 1", "AP", {}, (1 + 5 / 6) / 2,
    ),
    "nothing relevant": ("z1 a 0, z2 a 1", "z1 a 1, z2 a 1", "R@5", {}, 1.0),
    "nothing relevant as zero": ("z1 a 0, z2 a 1", "z1 a 1, z2 a 1", "R@5", {"undefined": "zero"}, 1 / 2),
    "nDCG with the grade as gain": (*GRADED, "nDCG(gain=linear)@10", {}, (1 + 2 / LOG3) / (2 + 1 / LOG3)),
    "nDCG with powers as gain": (*GRADED, "nDCG@10", {}, (1 + 3 / LOG3) / (3 + 1 / LOG3)),
    # The run is cut, the ideal list is not: 1 ÷ (3 + 2/log2(3) + 1/2).
    "nDCG of a cut run": (*THREE, "nDCG(gain=linear)", {"depth": 1}, 1 / (3 + 2 / LOG3 + 1 / 2)),
    # The ideal list is cut with the run: 1/3.
    "nDCG at a cutoff": (*THREE, "nDCG(gain=linear)@1", {}, 1 / 3),
    "nDCG at a cutoff beyond the list": (
        *THREE, "nDCG(gain=linear)@20", {}, (1 + 2 / LOG3 + 3 / 2) / (3 + 2 / LOG3 + 1 / 2),
    ),
    # The ideal is made of all judged documents, not of those retrieved.
    "nDCG of a short list": ("n a 1, n b 1, n c 1", "n a 3", "nDCG", {}, 1 / (1 + 1 / LOG3 + 1 / 2)),
    "a negative grade has no negative gain": ("n spam -2, n b 1", "n spam 3, n b 2", "nDCG@10", {}, 1 / LOG3),
    "real grades": (
        "n a 0.5, n b 1.9", "n a 9, n b 8", "nDCG(gain=linear)@10", {},
        (0.5 + 1.9 / LOG3) / (1.9 + 0.5 / LOG3),
    ),
    "P of a short list": ("p a 1", "p a 1", "P@10", {}, 1 / 10),
    # Five of ten found, all at the top: 5/10, and 5/5 by the other denominator.
    "AP at a cutoff": (
        ", ".join(f"a d{i} 1" for i in range(10)), ", ".join(f"a d{i} {9 - i}" for i in range(5)),
        "AP@5", {}, 1 / 2,
    ),
    "AP at a cutoff over min(R, k)": (
        ", ".join(f"a d{i} 1" for i in range(10)), ", ".join(f"a d{i} {9 - i}" for i in range(5)),
        "AP(denominator=min)@5", {}, 1.0,
    ),
    # Only b is relevant, at rank 2.
    "another level of relevance": (*GRADED, "AP(rel=2)", {}, 1 / 2),
    "a hit below the cutoff": (
        "c w6 1", ", ".join(f"c w{i} {9 - i}" for i in range(1, 9)), "Success@5", {}, 0.0,
    ),
    # P 1/2, R 1/3: 1.25·(1/6) ÷ (1/8 + 1/3).
    "F with true beta": (
        "s a 1, s b 1, s c 1", "s a 2, s x 1", "F(beta=0.5)", {}, (1.25 / 6) / (1 / 8 + 1 / 3),
    ),
    # exp((ln 1 + ln 0.00001)/2).
    "the geometric mean has a floor": ("g1 a 1, g2 a 1", "g1 a 1, g2 x 1", "GMAP", {}, math.sqrt(1e-5)),
    # With rel=2 grade 1 is judged and not relevant; it stands above.
    "Bpref at another level": ("b a 2, b b 1", "b b 9, b a 8", "Bpref(rel=2)", {}, 0.0),
    # The negative grade is passed over.
    "Bpref and a negative grade": ("b a 1, b s -2, b n 0", "b s 3, b a 2, b n 1", "Bpref", {}, 1.0),
    # .5·(3/3 + .25·1/3), on the declared scale.
    "graded RBP": (
        "u a 3, u b 0, u c 1", "u a 3, u b 2, u c 1", "RBP(p=0.5,gain=linear)", {"max_grade": 3},
        0.5 * (1 + 0.25 / 3),
    ),
    "the default patience of RBP": ("u a 1", "u a 3", "RBP", {}, 0.2),
    # 15/16 + (1/16)·(3/16)/2.
    "ERR on a scale to 4": ("1 a 4, 1 b 2", "1 a 3, 1 b 2", "ERR(max_grade=4)@10", {}, 15 / 16 + 3 / 512),
    # .4 · 3 = 1.2 asks for 2 documents: 2/3 at rank 3; rounded it asks for 1.
    "a recall level": (*FIVE, "IPrec@0.4", {}, 2 / 3),
    "a recall level, rounded": (*FIVE, "IPrec(levels=round)@0.4", {}, 1.0),
    # 0 to .3: 1; .4 to .6: 2/3; .7 to 1: 3/5.
    "eleven points": (*FIVE, "11pt", {}, (4 + 3 * 2 / 3 + 4 * 3 / 5) / 11),
    # By ⌊r·R + .9⌋ in floating point .7 · 3 + .9 falls just under 3: five levels of 2/3 less one, 2/3 for
    # .7 too.
    "eleven points as trec_eval 9": (*FIVE, "11pt(levels=floor)", {}, (4 + 4 * 2 / 3 + 3 * 3 / 5) / 11),
    # Rounded: .3 → 1, .4 → 1, .5 → 2 (1.5 up), .8 → 2, .9 → 3: five levels of 1, four of 2/3, two of 3/5.
    "eleven points as trec_eval 10": (*FIVE, "11pt(levels=round)", {}, (5 + 4 * 2 / 3 + 2 * 3 / 5) / 11),
    "levels that are close": ("v a 1", "v a 1", "IPrec@0.333", {}, 1.0),
    # −1 is not judged, so the condensed list starts with b; mapped to 0 it is judged and stays.
    "a negative grade in the condensed list": (
        "j a -1, j b 1", "j a 3, j b 2, j x 1", "P(judged_only)@1", {}, 1.0,
    ),
    "a negative grade mapped to 0": (
        "j a -1, j b 1", "j a 3, j b 2, j x 1", "P(judged_only)@1", {"grade_map": {-1: 0}}, 0.0,
    ),
    "the judged share of a short list": ("h a 0", "h a 3, h x 2", "Judged@10", {}, 1 / 2),
    "the unjudged share over k": ("h a 0", "h a 3, h x 2", "Unjudged(over=k)@10", {}, 1 / 10),
    # o1: .5·(1 + .5); o2: .5·.5.
    "rows of queries in turns": (
        "o1 a 1, o1 b 1, o2 a 1", "o1 a 2, o2 x 2, o1 b 1, o2 a 1", "RBP(p=0.5)", {}, 1 / 2,
    ),
    "queries in another order": ("o1 a 1, o2 b 1", "o2 b 1, o1 x 1, o1 a 0.5", "RR", {}, 3 / 4),
    # A row that starts with # is a row, unless comments are asked for.
    "a query id with a hash": ("#o1 a 1, o2 a 1", "#o1 a 1, o2 x 1", "AP", {}, 1 / 2),
    "a query id taken for a comment": ("#o1 a 1, o2 a 1", "#o1 a 1, o2 x 1", "AP", {"comments": True}, 0.0),
    "ids keep their zeros": ("o 007 1, o abc 0", "o 007 2, o 8 1", "P@1", {}, 1.0),
    "NA is an id": ("o NA 1", "o NA 2, o x 1", "RR", {}, 1.0),
    # The ideal prefers the returned of two equals: (1 + .95/2) ÷ (1 + .95), whatever the sign of the score.
    "compatibility and a negative score": (
        "t a 1, t b 1", "t a -1", "Compat(p=0.95)", {}, (1 + 0.95 / 2) / 1.95,
    ),
    "compatibility and a positive score": (
        "t a 1, t b 1", "t a 1", "Compat(p=0.95)", {}, (1 + 0.95 / 2) / 1.95,
    ),
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    """Writes judgments and a run as TREC files and gives their paths."""

    def write(qrels: str, run: str):
        judged = [row.split() for row in qrels.split(", ")]
        ranked = [row.split() for row in run.split(", ")]
        (tmp_path / "qrels.trec").write_text(
            "".join(f"{q} 0 {d} {g}\n" for q, d, g in judged), encoding="utf-8"
        )
        (tmp_path / "run.trec").write_text(
            "".join(f"{q} Q0 {d} {i} {s} tag\n" for i, (q, d, s) in enumerate(ranked, 1)), encoding="utf-8"
        )
        return tmp_path / "run.trec", tmp_path / "qrels.trec"

    return write


@pytest.mark.parametrize("name", CASES)
def test_a_case(written, name):
    qrels, run, measure, switches, expected = CASES[name]
    files = written(qrels, run)
    assert leadline.evaluate(*files, [measure], **switches).mean(measure) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "qrels", "run", "error"),
    [
        ("nothing in common", "m1.x d1 1", "m1 d1 2", NotComparableError),
        ("a document twice", "o a 1", "o a 3, o a 2, o b 1", InputError),
        ("a score that is no number", "o a 1, o b 0", "o a nan, o b 1", InputError),
    ],
)
def test_what_cannot_be_scored(written, name, qrels, run, error):
    with pytest.raises(error):
        leadline.evaluate(*written(qrels, run), ["AP"])


def test_a_document_twice_can_be_settled(written):
    scores = leadline.evaluate(*written("o a 1", "o a 3, o a 2, o b 1"), ["AP", "NumRet"], duplicates="first")
    assert (scores.mean("AP"), scores.mean("NumRet")) == (1.0, 2.0)
    assert scores.account["systems"]["run"]["duplicates_dropped"] == 1


def test_asking_twice_gives_the_same(written):
    files = written(*THREE)
    first, second = (
        leadline.evaluate(*files, ["nDCG@10", "nDCG@20", "nDCG(gain={1:1,2:100})@10"]) for _ in range(2)
    )
    assert first.to_dict() == second.to_dict()
    # Several cutoffs and gains in one call are what each is alone.
    for measure in first.measures:
        assert leadline.evaluate(*files, [measure]).mean(measure) == first.mean(measure)


def test_two_close_levels_in_one_call():
    got = table(*laid_out("1 0 1"), ["IPrec@0.33", "IPrec@0.333", "IPrec@0.51"])["q"]
    assert got == {"IPrec@0.33": 1.0, "IPrec@0.333": 1.0, "IPrec@0.51": 2 / 3}


# ----------------------------------------------------------------------------------------- RAG tools

CONTEXT = "AP(denominator=retrieved)"


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        # Exactly 1: a gate at 1.0 must pass.
        ("1 1", 1.0),
        # What is missing does not lower it; P@5 below does.
        ("1 0", 1.0),
        ("1 0 0 0 0", 1.0),
        ("1 1 1 0 0", 1.0),
        ("0 1", 1 / 2),
        # (1/1 + 2/3)/2
        ("1 0 1", 5 / 6),
        ("0 0", 0.0),
        # Nothing retrieved: undefined, not 0.
        ("", None),
    ],
)
def test_context_precision(verdicts, expected):
    got = value(CONTEXT, *laid_out(verdicts, "1"))
    assert got == (expected if expected in (0, 1, None) else pytest.approx(expected))


def test_precision_beside_it():
    assert [value("P@5", *laid_out(v, "1")) for v in ("1 0 0 0 0", "1 1 1 0 0")] == [1 / 5, 3 / 5]


def test_a_gain_must_be_named():
    run, qrels = {"q": ["b", "a", "x"]}, {"q": {"a": 3, "b": 2, "c": 1}}
    # Powers: (3 + 7/log2(3)) ÷ (7 + 3/log2(3) + 1/2); the grade: (2 + 3/log2(3)) ÷ (3 + 2/log2(3) + 1/2).
    assert value("nDCG@3", run, qrels) == pytest.approx((3 + 7 / LOG3) / (7 + 3 / LOG3 + 1 / 2))
    assert value("nDCG(gain=linear)@3", run, qrels) == pytest.approx((2 + 3 / LOG3) / (3 + 2 / LOG3 + 1 / 2))


def test_a_repeated_chunk_counts_once():
    run, qrels = {"q": ["a", "a", "a"]}, {"q": {"a": 1, "b": 1}}
    with pytest.raises(InputError):
        leadline.evaluate(run, qrels, ["recall@3"])
    # 1 of 2 found, never 3 of 2.
    assert leadline.evaluate(run, qrels, ["recall@3"], duplicates="first").mean("recall@3") == 1 / 2


def test_the_first_relevant_document_decides_rr():
    assert value("RR", {"q": ["a", "b"]}, {"q": {"a": 1, "b": 1}}) == 1.0


def test_a_query_without_an_answer_is_zero_for_every_measure():
    scores = leadline.evaluate(
        {"q1": ["d1"]}, {"q1": {"d1": 1}, "q2": {"d2": 1}}, ["nDCG@1", "RR@1", "hit_rate@1"]
    )
    assert [row.mean for row in scores.summaries] == [0.5, 0.5, 0.5]
    assert {row.n_unanswered for row in scores.summaries} == {1}


def test_judged_is_judged_for_this_query():
    scores = leadline.evaluate({"q1": ["d2"], "q2": ["d2"]}, {"q1": {"d1": 1}, "q2": {"d2": 1}}, ["Judged@1"])
    assert scores.per_query("Judged@1") == {"q1": 0.0, "q2": 1.0}


def test_misses_are_in_the_hit_rate():
    run = {"a": ["hit"], "b": ["miss"], "c": ["miss"], "d": ["miss"]}
    assert leadline.evaluate(run, {q: {"hit": 1} for q in run}, ["hit_rate@5"]).mean("hit_rate@5") == 1 / 4


def test_a_rank_measure_reacts_to_the_order():
    # (1 + 1/log2(3)) and (1/log2(3) + 1/2), both over 1 + 1/log2(3) + 1/2.
    gold = {"q": {1: 1, 2: 1, 3: 1}}
    values = [value("nDCG@3", {"q": returned}, gold) for returned in ([2, 3, 9], [9, 2, 3])]
    ideal = 1 + 1 / LOG3 + 1 / 2
    assert values == pytest.approx([(1 + 1 / LOG3) / ideal, (1 / LOG3 + 1 / 2) / ideal])


def test_one_query_by_hand():
    # Judged d3 = 3, d7 = 2, d9 = 1, d12 = 2; d7 at rank 2 and d3 at rank 4.
    ranked = ["d1", "d7", "d4", "d3", "d8", "d5", "d2", "d6", "d10", "d11"]
    qrels = {"q": {"d3": 3, "d7": 2, "d9": 1, "d12": 2}}
    asked = ["recall@1", "recall@3", "recall@5", "recall@10", "P@1", "P@3", "P@5", "P@10", "RR"]
    got = list(table({"q": ranked}, qrels, asked)["q"].values())
    assert got == pytest.approx([0, 0.25, 0.5, 0.5, 0, 1 / 3, 0.4, 0.2, 0.5])
    ideal = 7 + 3 / LOG3 + 3 / 2 + 1 / math.log2(5)
    assert value("nDCG@10", {"q": ranked}, qrels) == pytest.approx((3 / LOG3 + 7 / math.log2(5)) / ideal)
    assert f"{value('nDCG@10', {'q': ranked}, qrels):.3f}" == "0.453"
    # d3 put first and d7 kept second: 7 + 3/log2(3); d3 moved to the top, d7 third: 7 + 3/2.
    kept = ["d3", "d7", *(d for d in ranked if d not in ("d3", "d7"))]
    moved = ["d3", *(d for d in ranked if d != "d3")]
    assert value("nDCG@10", {"q": kept}, qrels) == pytest.approx((7 + 3 / LOG3) / ideal)
    assert [f"{value('nDCG@10', {'q': r}, qrels):.3f}" for r in (kept, moved)] == ["0.822", "0.785"]

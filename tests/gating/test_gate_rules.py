"""The verdict: every outcome, effect and exit code, the order of checks, and the words."""

import math
from dataclasses import replace

import numpy as np
import pytest

from leadline.errors import UsageError
from leadline.evaluation import evaluate
from leadline.gating.doubt import Doubt
from leadline.gating.finding import EFFECTS, OUTCOMES
from leadline.gating.holm import holm_rejects, p_below
from leadline.gating.must_pass import MustPass, must_pass
from leadline.gating.policy import Policy, Rule
from leadline.gating.rules import (
    decide,
    decide_one,
    effect_of,
    exit_code,
    findings,
    released,
)
from leadline.scores import Comparison, Verdict
from leadline.stats.intervals import t_interval
from leadline.stats.margins import non_inferiority

NDCG, RECALL = Rule("nDCG@10"), Rule("R@100")


def of(differences, measure="nDCG@10", alpha=0.05, **more) -> Comparison:
    """The comparison of paired differences, by Student's t."""
    d = np.asarray(differences, float)
    inner, outer = t_interval(d, 1 - 2 * alpha), t_interval(d, 1 - alpha)
    row = Comparison(
        measure=measure,
        baseline="old",
        candidate="new",
        mean_baseline=0.5,
        mean_candidate=0.5 + d.mean(),
        difference=float(d.mean()),
        low=outer.low,
        high=outer.high,
        interval="t",
        level=1 - alpha,
        one_sided_low=inner.low,
        one_sided_high=inner.high,
        bootstrap_low=None,
        bootstrap_high=None,
        p=None,
        test=None,
        n=len(d),
        n_nonzero=int((d != 0).sum()),
        n_left_out=0,
        n_error=0,
        wins=int((d > 0).sum()),
        ties=int((d == 0).sum()),
        losses=int((d < 0).sum()),
        sd=float(d.std(ddof=1)) if len(d) > 1 else None,
        effect_size=None,
    )
    return replace(row, **more)


def ends(low, high, inner_low=None, inner_high=None, n=300, measure="nDCG@10", sd=0.2) -> Comparison:
    """A comparison with the given ends; the one-sided ones are the same unless given."""
    inner = (low if inner_low is None else inner_low, high if inner_high is None else inner_high)
    base = of(np.zeros(n), measure)
    return replace(
        base,
        difference=(low + high) / 2,
        low=low,
        high=high,
        one_sided_low=inner[0],
        one_sided_high=inner[1],
        n_nonzero=n,
        sd=sd,
    )


def spread(mean, sd, n):
    """n differences with exactly this mean and spread (n − 1)."""
    d = np.random.default_rng(3).normal(size=n)
    return mean + sd * (d - d.mean()) / d.std(ddof=1)


DOUBT = Doubt(
    True, "draws", 0.4, {"pass": 120, "fail": 80}, 240, 1.0, 0.24, 200, 0, "another verdict", (), 24
)


@pytest.mark.parametrize(
    ("low", "high", "outcome", "codes"),
    [
        # Written by hand: pass above −margin, fail below it, else undecided; margin .01.
        (-0.005, 0.02, "pass", (0, 0)),
        (-0.08, -0.02, "fail", (1, 1)),
        (-0.03, 0.02, "too-few-queries", (0, 3)),
        # The ends themselves: at −margin it is neither above nor below.
        (-0.01, 0.02, "too-few-queries", (0, 3)),
        (-0.08, -0.01, "too-few-queries", (0, 3)),
    ],
)
def test_no_worse(low, high, outcome, codes):
    rule = Rule("nDCG@10", 0.01)
    for word, code in zip(("warn", "fail"), codes, strict=True):
        policy = Policy((rule,), on_undecided=word)
        verdict = decide([ends(low, high)], policy)
        assert (verdict.outcome, exit_code(verdict, policy)) == (outcome, code)


@pytest.mark.parametrize(
    ("low", "high", "gain", "outcome"),
    [
        (0.001, 0.05, 0.0, "pass"),
        (0.0, 0.05, 0.0, "too-few-queries"),
        (-0.05, 0.0, 0.0, "fail"),
        (-0.05, 0.001, 0.0, "too-few-queries"),
        (0.011, 0.05, 0.01, "pass"),
        (0.005, 0.05, 0.01, "too-few-queries"),
        (0.001, 0.01, 0.01, "fail"),
    ],
)
def test_improve(low, high, gain, outcome):
    policy = Policy((Rule("nDCG@10", 0.0, "improve", gain=gain),))
    assert decide([ends(low, high)], policy).outcome == outcome


def test_the_one_sided_ends_decide_and_not_the_two_sided():
    # 95 % reaches to −.021, the one-sided end to −.019: it passes at margin .02.
    assert decide_one(ends(-0.021, 0.01, -0.019, 0.008)).outcome == "pass"
    # 95 % reaches up to −.019, the one-sided end to −.021: it fails.
    assert decide_one(ends(-0.05, -0.019, -0.048, -0.021)).outcome == "fail"


@pytest.mark.parametrize(
    ("low", "high", "inner", "effect"),
    [
        (0.001, 0.05, 0.002, "better"),
        (-0.05, -0.001, -0.04, "worse"),
        (-0.015, -0.001, -0.014, "worse"),
        (-0.021, 0.01, -0.019, "no-worse"),
        (-0.05, 0.01, -0.02, "unclear"),
        (0.0, 0.05, -0.03, "unclear"),
    ],
)
def test_effects(low, high, inner, effect):
    assert effect_of(ends(low, high, inner), 0.02) == effect
    assert effect_of(replace(ends(low, high, inner), n=19), 0.02) == "unclear"


def test_ten_queries_with_one_flipped_give_no_verdict():
    # 1,1,1,0,1,1,0,1,1,1 against the same with the ninth 0: nine 0 and one −1, mean −.1.
    old, new = [1, 1, 1, 0, 1, 1, 0, 1, 1, 1], [1, 1, 1, 0, 1, 1, 0, 1, 0, 1]
    comparison = of(np.array(new) - old, "Success@5")
    assert comparison.difference == pytest.approx(-0.1)
    verdict = decide_one(comparison)
    assert (verdict.outcome, verdict.effect) == ("too-few-queries", "unclear")
    assert verdict.sentence == "undecided: 10 queries are too few for a verdict; 20 are the least"
    assert any("1 query differs; below 6" in reason for reason in verdict.reasons)
    assert exit_code(verdict) == 0
    assert exit_code(verdict, Policy((Rule("Success@5"),), on_undecided="fail")) == 3


def test_nineteen_queries_are_too_few_whatever_they_say_and_twenty_are_not():
    assert decide_one(of(spread(-0.5, 0.01, 19))).outcome == "too-few-queries"
    assert decide_one(of(spread(-0.5, 0.01, 20))).outcome == "fail"
    assert decide_one(of(spread(0.5, 0.01, 20))).outcome == "pass"


def test_non_inferiority_by_the_differences():
    # Mean .001, sd .02846, t(.95) on 9 = 1.8331: .001 − 1.8331·.02846/√10 = −.0155. Ten times over, n = 100.
    ten = [0.02, -0.05, 0.01, 0.03, -0.02, 0.0, 0.04, -0.01, 0.02, -0.03]
    assert of(ten).one_sided_low == pytest.approx(-0.015498016393906132, abs=1e-9)
    assert decide_one(of(ten)).outcome == "too-few-queries"
    hundred = decide_one(of(ten * 10))
    assert (hundred.outcome, hundred.effect) == ("pass", "no-worse")
    assert hundred.sentence == "pass: not worse by .02"


def test_the_same_answers_are_no_worse_and_no_improvement():
    same = of(np.zeros(30))
    assert same.low is None
    verdict = decide_one(same)
    assert (verdict.outcome, verdict.effect) == ("pass", "no-worse")
    assert verdict.sentence == "pass: the same on every query"
    policy = Policy((Rule("nDCG@10", 0.0, "improve"), RECALL))
    verdict = decide([same, of(np.zeros(30), "R@100")], policy)
    assert (verdict.outcome, verdict.sentence) == ("fail", "fail: no improvement (nDCG@10)")


def test_a_constant_difference_has_no_interval_and_no_verdict():
    verdict = decide_one(replace(of(np.full(50, -0.5)), remarks=("no interval: no spread",)))
    assert (verdict.outcome, verdict.effect) == ("too-few-queries", "unclear")
    assert "nDCG@10: −.500, without an interval; must not be worse by .02: too-few-queries" in verdict.reasons
    assert "nDCG@10: no interval: no spread" in verdict.reasons


@pytest.mark.parametrize(
    ("comparison", "rule", "sentence"),
    [
        (ends(0.012, 0.081), NDCG, "pass: better"),
        (ends(-0.015, -0.001), NDCG, "pass: worse, but within .02"),
        (ends(-0.01, 0.02), NDCG, "pass: not worse by .02"),
        (ends(-0.08, -0.03), NDCG, "fail: worse by more than .02"),
        (ends(0.02, 0.05), Rule("nDCG@10", 0.0, "improve"), "pass: better"),
        (ends(0.02, 0.05), Rule("nDCG@10", 0.0, "improve", gain=0.01), "pass: better by more than .01"),
        (
            ends(-0.08, -0.03),
            Rule("nDCG@10", 0.0, "improve"),
            "fail: worse, where an improvement was asked for",
        ),
        (ends(-0.08, 0.005), Rule("nDCG@10", 0.0, "improve", gain=0.01), "fail: no improvement of .01"),
        (
            ends(-0.03, 0.03),
            Rule("nDCG@10", 0.0, "improve"),
            "undecided: too few queries; 300 do not decide it",
        ),
    ],
)
def test_the_sentence(comparison, rule, sentence):
    assert decide([comparison], Policy((rule,))).sentence == sentence


def test_too_few_queries_says_how_many_would_decide():
    # (t(.95) + t(.8))²·sd²/M² by the normal distribution: (1.645 + .842)²·.2²/.02² = 618; t asks for one or two more.
    verdict = decide_one(ends(-0.03, 0.03))
    needed = findings([ends(-0.03, 0.03)], Policy((NDCG,)))[0].needed
    assert needed == math.ceil((1.644854 + 0.841621) ** 2 * 100) + 1
    assert verdict.sentence == f"undecided: too few queries; about {needed} decide it, these are 300"
    assert (
        f"nDCG@10: about {needed} queries decide a margin of .02 with power .8; these are 300"
        in verdict.reasons
    )
    # The smallest margin of 300: (1.6500 + .8428)·.2/√300 = .0288.
    assert "nDCG@10: the smallest margin these queries decide with power .8 is .029" in verdict.reasons


def test_a_number_of_queries_that_nobody_has_is_not_named():
    verdict = decide_one(ends(-0.9, 0.9, sd=1e6), margin=0.01)
    assert verdict.sentence == "undecided: too few queries; 300 do not decide it"


def test_the_rule_line():
    verdict = decide_one(ends(-0.1, 0.02))
    assert verdict.reasons[0] == (
        "nDCG@10: −.040 [−.100, +.020] over 300 queries; must not be worse by .02: too-few-queries"
    )


def test_judge_first():
    verdict = decide_one(ends(-0.08, -0.03), doubt=DOUBT)
    assert verdict.outcome == "judge-first"
    assert verdict.effect == "worse"
    assert verdict.sentence == "undecided: judge 24 pairs first"
    assert "nDCG@10: another verdict" in verdict.reasons
    assert exit_code(verdict) == 0
    assert exit_code(verdict, Policy((NDCG,), on_undecided="fail")) == 3
    quiet = replace(DOUBT, judge_first=False)
    assert decide_one(ends(-0.08, -0.03), doubt=quiet).outcome == "fail"


def test_complete_judgments_switch_judge_first_off_and_say_so():
    for verdict in (
        decide([ends(-0.08, -0.03)], Policy((NDCG,), judgments="complete"), judge_first={NDCG: DOUBT}),
        decide_one(ends(-0.08, -0.03), doubt=DOUBT, complete=True),
    ):
        assert verdict.outcome == "fail"
        assert any("declared complete" in reason for reason in verdict.reasons)


GOOD, BAD, OPEN = (0.01, 0.05), (-0.2, -0.1), (-0.1, 0.1)


@pytest.mark.parametrize(
    ("first", "second", "doubted", "outcome", "about"),
    [
        (GOOD, GOOD, None, "pass", "nDCG@10"),
        (GOOD, BAD, None, "fail", "R@100"),
        (OPEN, BAD, None, "fail", "R@100"),
        (OPEN, GOOD, None, "too-few-queries", "nDCG@10"),
        (GOOD, BAD, NDCG, "fail", "R@100"),
        (GOOD, OPEN, NDCG, "judge-first", "nDCG@10"),
        (BAD, GOOD, NDCG, "judge-first", "nDCG@10"),
        (BAD, GOOD, RECALL, "fail", "nDCG@10"),
    ],
)
def test_a_failing_rule_outranks_the_others_doubt(first, second, doubted, outcome, about):
    rows = [ends(*first), ends(*second, measure="R@100")]
    doubts = {} if doubted is None else {doubted: DOUBT}
    verdict = decide(rows, Policy((NDCG, RECALL)), judge_first=doubts)
    assert verdict.outcome == outcome
    assert verdict.sentence.endswith(f"({about})")
    assert sum("must not be worse" in reason for reason in verdict.reasons) == 2


def test_the_effect_is_that_of_the_rule_the_verdict_rests_on():
    rows = [ends(0.01, 0.05), ends(-0.2, -0.1, measure="R@100")]
    assert decide(rows, Policy((NDCG, RECALL))).effect == "worse"
    assert decide([rows[0], ends(-0.01, 0.02, measure="R@100")], Policy((NDCG, RECALL))).effect == "better"


def test_p_below_is_the_test_that_the_interval_inverts():
    for n, mean in ((25, -0.05), (40, -0.02), (300, -0.03), (60, 0.01)):
        d = spread(mean, 0.1, n)
        for alpha in (0.05, 0.1):
            assert p_below(of(d, alpha=alpha), -0.02) == pytest.approx(
                non_inferiority(d, 0.02).p_fail, rel=1e-4
            )
    # t = 2 on 9 degrees: the upper tail is .0383 (printed tables of t give .0383 for 2.0).
    nine = of(spread(-2 / math.sqrt(10), 1.0, 10))
    assert p_below(nine, 0.0) == pytest.approx(0.0383, abs=5e-5)
    assert p_below(replace(nine, one_sided_high=None), 0.0) is None


def test_holm_by_hand():
    # Smallest first: .01 ≤ .05/3, .02 ≤ .05/2, .04 ≤ .05; and one late p stops all after it.
    assert holm_rejects([0.04, 0.01, 0.02], [0.05] * 3) == [True, True, True]
    assert holm_rejects([0.04, 0.01, 0.03], [0.05] * 3) == [False, True, False]
    assert holm_rejects([None, 0.02], [0.05, 0.05]) == [False, True]
    assert holm_rejects([None, 0.03], [0.05, 0.05]) == [False, False]
    # Each against its own alpha: .04 ≤ .1/2 though .04 > .05/2.
    assert holm_rejects([0.04, 0.9], [0.1, 0.05]) == [True, False]


def test_a_fail_must_stand_after_holm():
    # n = 100, sd .1: t = (−.02 − mean)/.01 on 99 degrees. At t = 1.8 p = .0375, at t = 2.2 p = .0151.
    weak, strong = of(spread(-0.038, 0.1, 100)), of(spread(-0.042, 0.1, 100))
    good = of(spread(0.05, 0.1, 100), "R@100")
    assert decide([weak], Policy((NDCG,))).outcome == "fail"
    held = decide([weak, good], Policy((NDCG, RECALL)))
    assert held.outcome == "too-few-queries"
    assert any("not after Holm's correction" in reason for reason in held.reasons)
    assert decide([strong, good], Policy((NDCG, RECALL))).outcome == "fail"
    # Two that are both weak: the smaller p, .0375, is above .05/2, so neither stands.
    both = [weak, replace(weak, measure="R@100")]
    assert decide(both, Policy((NDCG, RECALL))).outcome == "too-few-queries"
    # With a strong one before it, the weak one stands at .05.
    found = findings([strong, replace(weak, measure="R@100")], Policy((NDCG, RECALL)))
    assert [one.outcome for one in found] == ["fail", "fail"]


def test_a_gate_at_the_margin_errs_at_its_alpha():
    # True difference exactly −margin: it passes with probability alpha and (one rule) fails with alpha.
    rng, rule = np.random.default_rng(5), Rule("nDCG@10", 0.02)
    d = rng.normal(-0.02, 0.1, (4000, 40))
    half = 1.6848751 * d.std(axis=1, ddof=1) / math.sqrt(40)  # t(.95) on 39 degrees
    words = released(rule, d.mean(axis=1) - half, d.mean(axis=1) + half, 40)
    # Standard error of a share of .05 in 4,000: .0034.
    assert np.mean(words == 1) == pytest.approx(0.05, abs=0.0105)
    assert np.mean(words == -1) == pytest.approx(0.05, abs=0.0105)


def test_released_below_twenty_queries_is_undecided():
    assert released(NDCG, [0.1, 0.1], [0.2, 0.2], [19, 20]).tolist() == [0, 1]
    assert released(NDCG, [float("nan")], [float("nan")], 30).tolist() == [0]


def test_each_rule_at_its_own_alpha():
    d = spread(-0.008, 0.1, 100)
    # t(.9) on 99 = 1.290: −.0209 at alpha .1; t(.85) = 1.042: −.0184 at alpha .15.
    rows = [of(d, alpha=0.1), of(d, alpha=0.15)]
    assert decide(rows, Policy((Rule("nDCG@10", alpha=0.1),))).outcome == "too-few-queries"
    assert decide(rows, Policy((Rule("nDCG@10", alpha=0.15),))).outcome == "pass"
    with pytest.raises(UsageError, match=r"level 0\.95; there is one at 0\.9"):
        decide(rows, Policy((NDCG,)))
    with pytest.raises(UsageError, match="no comparison of it"):
        decide(rows, Policy((RECALL,)))


def test_a_slice_reads_its_own_comparison():
    policy = Policy((Rule("nDCG@10", slice="long"),), by="type")
    rows = [ends(*GOOD), replace(ends(*BAD), group="long")]
    verdict = decide(rows, policy)
    assert verdict.outcome == "fail"
    assert verdict.reasons[0].startswith("nDCG@10 [long]: ")


def test_not_comparable_comes_before_all():
    policy = Policy((NDCG,))
    verdict = decide([ends(*BAD)], policy, not_comparable=["query texts changed", "b"], errors=9, n_queries=9)
    assert (verdict.outcome, verdict.effect) == ("not-comparable", "unclear")
    assert verdict.sentence == "not comparable: query texts changed (and 1 more)"
    assert exit_code(verdict, policy) == 4
    # No query in common: there is no mean to speak of.
    empty = replace(ends(*GOOD), n=0, n_nonzero=0, difference=None, low=None, high=None, n_left_out=20)
    verdict = decide([empty], policy)
    assert (verdict.outcome, exit_code(verdict, policy)) == ("not-comparable", 4)
    assert decide([], policy, not_comparable=["no baseline"]).outcome == "not-comparable"


def test_too_many_errors_come_before_the_rules():
    policy = Policy((NDCG,), error_share=0.02)
    bad = ends(*BAD)
    verdict = decide([bad], policy, errors=3, n_queries=100, judge_first={NDCG: DOUBT})
    assert (verdict.outcome, verdict.effect, exit_code(verdict, policy)) == ("too-many-errors", "unclear", 5)
    assert verdict.sentence == "too many errors: 3 of 100 rows failed, and 2 % may"
    # Exactly the share is allowed.
    assert decide([bad], policy, errors=2, n_queries=100).outcome == "fail"
    # Without numbers of its own the comparison's are taken: 7 of 307.
    assert decide([replace(bad, n_left_out=7, n_error=7)], policy).outcome == "too-many-errors"
    assert decide([replace(bad, n_left_out=6, n_error=6)], policy).outcome == "fail"
    assert decide([replace(bad, n_left_out=1, n_error=1)], Policy((NDCG,))).outcome == "too-many-errors"


def test_compare_allows_errors_and_says_them():
    verdict = decide_one(replace(ends(*GOOD), n_left_out=2, n_error=1))
    assert verdict.outcome == "pass"
    assert "nDCG@10: 2 queries without a value in both, 1 of them failed" in verdict.reasons


def test_every_outcome_has_its_exit_code():
    strict = Policy((NDCG,), on_undecided="fail")
    codes = {outcome: exit_code(Verdict(outcome, "unclear", ""), strict) for outcome in OUTCOMES}
    assert codes == {
        "pass": 0,
        "fail": 1,
        "judge-first": 3,
        "too-few-queries": 3,
        "not-comparable": 4,
        "too-many-errors": 5,
    }
    assert EFFECTS == ("better", "worse", "no-worse", "unclear")


def test_must_pass_queries():
    runs = {"old": {"a": ["x"], "b": ["x"], "c": ["y"]}, "new": {"a": ["x"], "b": ["y"], "c": ["x"]}}
    scores = evaluate(runs, {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}}, ["RR"])
    policy = Policy((Rule("RR"),), must_pass=("a", "b", "c", "z"))
    said = must_pass(scores, policy, "old", "new").failed
    assert said == (
        "must-pass query b fell in RR: 1 to 0",
        "must-pass query z is not among the judged queries",
    )
    verdict = decide([ends(*GOOD, measure="RR")], policy, must_pass_failed=said)
    assert (verdict.outcome, verdict.reasons[:2]) == ("fail", said)
    assert verdict.sentence == "fail: must-pass query b fell in RR: 1 to 0 (and 1 more)"
    assert must_pass(scores, Policy((Rule("RR"),), must_pass=("a", "c")), "old", "new") == MustPass()


@pytest.mark.parametrize(
    ("low", "high", "outcome"), [(*GOOD, "judge-first"), (*OPEN, "judge-first"), (*BAD, "fail")]
)
def test_a_must_pass_query_that_judging_could_lift(low, high, outcome):
    verdict = decide([ends(low, high)], Policy((NDCG,)), must_pass_open=["q fell; judging could lift it"])
    assert verdict.outcome == outcome
    assert "q fell; judging could lift it" in verdict.reasons
    if outcome == "judge-first":
        assert verdict.sentence == "undecided: q fell; judging could lift it"


def test_notes_stand_among_the_reasons():
    assert decide_one(ends(*GOOD), notes=["judgments since the baseline: +12"]).reasons[-1].endswith("+12")


FILES = {"baseline": "a.run", "candidate": "b c.run", "qrels": "q.txt"}


@pytest.mark.parametrize(
    ("low", "high", "doubted", "config", "commands"),
    [
        (*GOOD, None, True, ["leadline baseline 'b c.run'"]),
        (
            *GOOD,
            None,
            False,
            ["leadline compare a.run 'b c.run' --qrels q.txt -m nDCG@10 --write report.html"],
        ),
        (*BAD, None, True, ["leadline gate 'b c.run' --config leadline.toml --write report.html"]),
        (
            *OPEN,
            None,
            False,
            ["leadline power a.run 'b c.run' --qrels q.txt -m nDCG@10 --difference 0.02"],
        ),
        (
            *BAD,
            DOUBT,
            True,
            [
                "leadline gate 'b c.run' --config leadline.toml --write to-judge.jsonl",
            ],
        ),
    ],
)
def test_the_next_command(low, high, doubted, config, commands):
    files = {**FILES, "config": "leadline.toml"} if config else FILES
    doubts = {} if doubted is None else {NDCG: doubted}
    verdict = decide([ends(low, high)], Policy((NDCG,)), judge_first=doubts, files=files)
    assert list(verdict.next) == commands


def test_a_measure_of_which_more_is_not_better_has_no_verdict():
    with pytest.raises(UsageError, match="not better"):
        decide_one(ends(*GOOD, measure="Unjudged@10"))

"""The `[gate]` table: what it may say, and how it says no."""

from pathlib import Path

import pytest

from leadline.config import Settings
from leadline.errors import InputError, UnknownNameError, UsageError
from leadline.gating.policy import Policy, Rule, policy_of, read_policy, rule_on

FULL = """
profile = "leadline-1"
by = "type"
seed = 7

[gate]
baseline = "baseline.json"
on_undecided = "fail"
error_share = 0.01
must_pass = ["q1", 7]
judgments = "complete"
alpha = 0.1

[[gate.rule]]
measure = "ndcg@10"

[[gate.rule]]
measure = "recall@100"
margin = 0.01
slice = "long"
alpha = 0.05

[[gate.rule]]
measure = "mrr@10"
must = "improve"
gain = 0.005
"""


def settings(folder: Path, text: str) -> Settings:
    (folder / "leadline.toml").write_text(text)
    return Settings.nearest(folder)


def test_a_whole_policy(tmp_path):
    policy = policy_of(settings(tmp_path, FULL))
    assert policy == Policy(
        (
            Rule("nDCG@10", 0.02, "no-worse", None, 0.1, 0.0),
            Rule("R@100", 0.01, "no-worse", "long", 0.05, 0.0),
            Rule("RR@10", 0.0, "improve", None, 0.1, 0.005),
        ),
        judgments="complete",
        on_undecided="fail",
        error_share=0.01,
        must_pass=("q1", "7"),
        profile="leadline-1",
        by="type",
        baseline="baseline.json",
        seed=7,
    )
    assert policy.measures == ["nDCG@10", "R@100", "RR@10"]
    assert policy.conventions().complete is True
    assert [rule.bar for rule in policy.rules] == [-0.02, -0.01, 0.005]
    assert policy.rules[1].name == "R@100 [long]"


def test_the_defaults():
    policy = read_policy({"rule": [{"measure": "nDCG@10"}]})
    assert policy == Policy((Rule("nDCG@10", 0.02, "no-worse", None, 0.05, 0.0),))
    assert (policy.on_undecided, policy.error_share, policy.judgments) == ("warn", 0.0, "partial")
    assert policy.conventions().complete is False


def test_the_profile_reads_bare_names():
    policy = read_policy({"rule": [{"measure": "nDCG@10"}], "profile": "trec_eval-10"})
    assert policy.measures == ["nDCG(gain=linear)@10"]


def one(**more):
    return {"rule": [{"measure": "nDCG@10", **more}]}


@pytest.mark.parametrize(
    ("table", "kind", "said"),
    [
        ({**one(), "on_undecide": "warn"}, UnknownNameError, "did you mean on_undecided"),
        (one(margn=0.1), UnknownNameError, "did you mean margin"),
        ({"rule": [{"measure": "nDGC@10"}]}, UsageError, "did you mean nDCG@10"),
        ({"rule": [{"margin": 0.1}]}, UsageError, "names no measure"),
        ({"rule": []}, UsageError, "no rule"),
        ({}, UsageError, "no rule"),
        ({"rule": ["nDCG@10"]}, InputError, "[[gate.rule]]"),
        ({"rule": "nDCG@10"}, InputError, "rule = 'nDCG@10' is not a list"),
        (one(margin="much"), InputError, "margin = 'much' is not a whole number or a number"),
        (one(margin=True), InputError, "margin = True"),
        (one(margin=-0.1), UsageError, "not above 0"),
        (one(margin=0), UsageError, 'must = "improve"'),
        (one(margin=float("nan")), UsageError, "not above 0"),
        (one(must="imrpove"), UsageError, "not one of no-worse, improve"),
        (one(must="improve", margin=0.02), UsageError, "takes no margin"),
        (one(must="improve", gain=-0.1), UsageError, "at least 0"),
        (one(gain=0.1), UsageError, 'goes with must = "improve"'),
        (one(alpha=0.5), UsageError, "between 0 and .5"),
        (one(alpha=0), UsageError, "between 0 and .5"),
        (one(slice="long"), UsageError, "by ="),
        ({**one(), "on_undecided": "ignore"}, UsageError, "not one of warn, fail"),
        ({**one(), "judgments": "all"}, UsageError, "not one of partial, complete"),
        ({**one(), "error_share": 1.5}, UsageError, "share in [0, 1]"),
        ({**one(), "profile": "leadline-9"}, UnknownNameError, "did you mean leadline-1"),
        ({**one(), "must_pass": [True]}, InputError, "not a query id"),
        ({"rule": [{"measure": "nDCG@10"}, {"measure": "ndcg@10", "margin": 0.1}]}, UsageError, "two rules"),
        ({"rule": [{"measure": "DCG@10"}]}, UsageError, "no default margin"),
        ({"rule": [{"measure": "Unjudged@10"}]}, UsageError, "more of this is not better"),
    ],
)
def test_what_is_refused(table, kind, said):
    with pytest.raises(kind) as caught:
        read_policy(table, "gate.toml")
    assert said in str(caught.value)


def test_a_measure_beyond_one_takes_a_margin_of_its_own():
    assert rule_on("DCG@10", margin=0.5).margin == 0.5
    assert rule_on("DCG@10", must="improve").bar == 0.0


def test_without_a_gate_table(tmp_path):
    with pytest.raises(UsageError, match="leadline init"):
        policy_of(settings(tmp_path, 'profile = "leadline-1"\n'))


def test_the_table_is_a_table_and_its_name_is_near(tmp_path):
    with pytest.raises(InputError, match=r"write \[gate\]"):
        settings(tmp_path, "gate = 3\n")
    with pytest.raises(UnknownNameError, match="did you mean gate"):
        settings(tmp_path, "[gaet]\n")


def test_the_file_is_named_where_a_value_is_wrong(tmp_path):
    with pytest.raises(UsageError, match=r"leadline\.toml: rule on nDCG@10"):
        policy_of(settings(tmp_path, '[gate]\n[[gate.rule]]\nmeasure = "nDCG@10"\nmargin = 0\n'))

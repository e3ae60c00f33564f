"""The pinned baseline: what is in the file, what comes back, and what makes two releases not comparable."""

import gzip
import json

import polars as pl
import pytest

from leadline.conventions import conventions
from leadline.errors import InputError, NotComparableError, UsageError
from leadline.evaluation import evaluate, score
from leadline.formats.read import read_run
from leadline.formats.write import write_run
from leadline.gating.baseline import (
    compare_judgments,
    count_gate,
    grades_of,
    pin,
    read_baseline,
    text_hash,
    write_baseline,
)
from leadline.gating.comparable import why_not_comparable
from leadline.inputs import Inputs
from leadline.spelling import parse_all
from leadline.tables import Qrels, Run


def run_of(rows, name="old", **more):
    return Run.checked(pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row"), name, **more)


def qrels_of(rows, **more):
    return Qrels.checked(pl.DataFrame(rows, schema=["query_id", "doc_id", "grade"], orient="row"), **more)


RUN = run_of([("q2", "a", 1.0), ("q1", "b", 2.5), ("q1", "é", 2.5), ("q1", "a", 0.1), ("zz", "c", 1e-17)])
QRELS = qrels_of([("q1", "a", 2.0), ("q1", "b", 0.0), ("q2", "b", 1.0)])
TEXTS = {"q1": "first?", "q2": "second?"}


def pinned(**more):
    given = {"query_texts": TEXTS, "date": "2026-01-31", "commit": "abc", "version": "9.9", **more}
    return pin(RUN, QRELS, ["ndcg@10", "R@100"], **given)


@pytest.mark.parametrize("name", ["baseline.json", "baseline.json.gz"])
def test_what_is_pinned_comes_back(tmp_path, name):
    path = tmp_path / name
    write_baseline(pinned(), path)
    found = read_baseline(path)
    assert found == pinned()
    assert found.path == str(path)
    # Equal scores by document id descending, compared as UTF-8: é after b; queries without judgments too.
    assert found.rankings == {
        "q2": (["a"], [1.0]),
        "q1": (["é", "b", "a"], [2.5, 2.5, 0.1]),
        "zz": (["c"], [1e-17]),
    }
    assert found.measures == ("nDCG@10", "R@100")
    assert (found.date, found.commit, found.version, found.gated) == ("2026-01-31", "abc", "9.9", 0)
    assert found.judgments == {"q1": {"a": 2.0, "b": 0.0}, "q2": {"b": 1.0}}
    # sha256("first?") begins so: printf 'first?' | sha256sum
    assert found.query_hashes["q1"] == text_hash("first?")
    assert len(text_hash("first?")) == 16


def test_the_file_has_the_same_bytes_each_time(tmp_path):
    for name in ("a.json", "b.json", "a.json.gz", "b.json.gz"):
        write_baseline(pinned(), tmp_path / name)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    # The header of a gzip file has a time at its bytes 4 to 7: it is left out.
    assert (tmp_path / "a.json.gz").read_bytes()[4:8] == bytes(4)
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == (tmp_path / "a.json").read_bytes()


def test_the_pinned_run_scores_as_the_run_did(tmp_path):
    write_baseline(pinned(), tmp_path / "b.json")
    again = read_baseline(tmp_path / "b.json").run()
    measures = ["nDCG@10", "R@100"]
    then, now = evaluate(RUN, QRELS, measures), evaluate(again, QRELS, measures)
    assert then.to_dict() == now.to_dict()


def test_empty_and_failed_queries_are_pinned(tmp_path):
    run = run_of([("q1", "a", 1.0)], empty=("q2",), failed={"q3": "timeout"})
    write_baseline(pin(run, QRELS, ["RR@10"]), tmp_path / "b.json")
    again = read_baseline(tmp_path / "b.json").run()
    assert (again.empty, again.failed) == (("q2",), {"q3": "timeout"})


def long_run(n=150, name="old"):
    return run_of([("q1", f"d{i:03}", float(-i)) for i in range(n)], name)


def test_rankings_are_cut_at_a_hundred_and_no_less():
    found = pin(long_run(), QRELS, ["nDCG@10"], depth=5)
    documents, scores = found.rankings["q1"]
    assert (found.depth, len(documents), documents[99], scores[99]) == (100, 100, "d099", -99.0)
    assert len(pin(long_run(), QRELS, ["nDCG@10"], depth=120).rankings["q1"][0]) == 120
    assert pin(long_run(), QRELS, ["nDCG@10"], conventions(depth=7)).rankings["q1"][0][-1] == "d006"


@pytest.mark.parametrize("measure", ["R@101", "AP", "RR", "nDCG(judged_only)@10"])
def test_a_rule_that_looks_deeper_pins_path_and_hash(tmp_path, measure):
    with pytest.raises(UsageError, match="need the run as a file"):
        pin(long_run(), QRELS, [measure])
    write_run(long_run(), tmp_path / "old.run")
    found = pin(long_run(), QRELS, [measure], run_path=str(tmp_path / "old.run"))
    assert (found.rankings, found.depth) == (None, None)
    # Relative to the baseline's folder, so that both can be committed.
    write_baseline(found, tmp_path / "b.json")
    row = json.loads((tmp_path / "b.json").read_text())
    row["run_path"] = "old.run"
    (tmp_path / "b.json").write_text(json.dumps(row))
    again = read_baseline(tmp_path / "b.json")
    rules = conventions()
    now = score(Inputs((again.run(),), QRELS), parse_all([measure], rules), rules)
    assert now.to_dict() == evaluate(long_run(), QRELS, [measure]).to_dict()
    (tmp_path / "old.run").write_text("q1 Q0 d000 1 1.0 x\n")
    with pytest.raises(NotComparableError, match="has changed"):
        again.run()
    (tmp_path / "old.run").unlink()
    with pytest.raises(NotComparableError, match="is not there"):
        again.run()


def test_a_short_run_is_pinned_whole_however_deep_the_rule_looks():
    assert pin(long_run(100), QRELS, ["AP"]).depth == 100


def test_a_file_is_read_the_same(tmp_path):
    write_run(long_run(), tmp_path / "old.run")
    run = read_run(str(tmp_path / "old.run"), name="old", conventions=conventions())
    assert pin(run, QRELS, ["nDCG@10"], date="d") == pin(long_run(), QRELS, ["nDCG@10"], date="d")


def test_how_often_it_was_gated_against_is_counted(tmp_path):
    write_baseline(pinned(), tmp_path / "b.json")
    assert [count_gate(tmp_path / "b.json") for _ in range(3)] == [1, 2, 3]
    assert read_baseline(tmp_path / "b.json").gated == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is no baseline"),
        ("{", "is no baseline"),
        ("[1]", "`leadline baseline RUN` writes one"),
        ('{"kind": "other"}', "`leadline baseline RUN` writes one"),
        ('{"kind": "leadline-baseline", "form": 2}', "a baseline of form 2; this version reads 1"),
        ('{"kind": "leadline-baseline", "form": 1}', "the baseline lacks version, date"),
    ],
)
def test_a_file_that_is_no_baseline(tmp_path, content, said):
    (tmp_path / "b.json").write_text(content)
    with pytest.raises(InputError) as caught:
        read_baseline(tmp_path / "b.json")
    assert said in str(caught.value)
    assert str(tmp_path / "b.json") in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rankings", {"q": 3}),
        ("rankings", {"q": [["a"], ["x"]]}),
        ("judgments", [1]),
        ("switches", {"x": 1}),
        ("labels", [1]),
        ("labels", {"models": 3}),
        ("labels", {"models": 3, "judges": 7, "certificate": None}),
        ("labels", {"models": 3, "judges": [7], "certificate": None}),
        ("labels", {"models": 3, "judges": [{"prompt": "x"}], "certificate": None}),
    ],
)
def test_a_damaged_baseline(tmp_path, key, value):
    write_baseline(pinned(), tmp_path / "b.json")
    row = json.loads((tmp_path / "b.json").read_text())
    (tmp_path / "b.json").write_text(json.dumps({**row, key: value}))
    with pytest.raises(InputError, match="damaged"):
        read_baseline(tmp_path / "b.json")


def test_no_baseline_is_nothing_to_compare_with(tmp_path):
    with pytest.raises(NotComparableError, match="no baseline") as caught:
        read_baseline(tmp_path / "b.json")
    assert caught.value.exit_code == 4


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"\.json or \.json\.gz"):
        write_baseline(pinned(), tmp_path / "b.txt")
    assert not list(tmp_path.iterdir())


def test_judgments_added_removed_and_changed():
    old = {"q1": {"a": 2.0, "b": 0.0}, "q2": {"b": 1.0}}
    same = compare_judgments(old, old)
    assert (same.added, same.removed, same.changed, same.reasons()) == (0, (), (), ())
    assert same.notes() == ["judgments unchanged"]
    more = compare_judgments(old, {**old, "q3": {"x": 1.0, "y": 0.0}})
    assert (more.reasons(), more.notes()) == ((), ["judgments since the baseline: +2"])
    other = compare_judgments(old, {"q1": {"a": 1.0, "c": 1.0}})
    assert (other.added, other.removed, other.changed) == (
        1,
        (("q1", "b", 0.0), ("q2", "b", 1.0)),
        (("q1", "a", 2.0, 1.0),),
    )
    assert other.reasons() == (
        "judgments removed since the baseline: 2 (q1 b 0, q2 b 1)",
        "judgments changed since the baseline: 1 (q1 a 2 → 1)",
    )
    assert other.reasons(shown=1)[0] == "judgments removed since the baseline: 2 (q1 b 0, and 1 more)"


def why(qrels=QRELS, measures=("nDCG@10",), rules=None, base=None, **more):
    return why_not_comparable(base or pinned(), qrels, measures, rules or conventions(), **more)


def test_what_may_be_compared():
    assert why() == ()
    assert why(query_texts=TEXTS) == ()
    # Added judgments are fine, and so is a text that was not pinned.
    more = qrels_of([*QRELS.frame.iter_rows(), ("q3", "x", 1.0)])
    assert why(more, query_texts={**TEXTS, "q3": "third?"}) == ()
    # Another gain is scored again on both sides.
    assert why(measures=("nDCG(gain=linear)@10", "AP")) == ()


def test_what_may_not_be_compared():
    assert why(query_texts={**TEXTS, "q2": "other?"}) == ("query texts changed since the baseline: 1 (q2)",)
    changed = qrels_of([("q1", "a", 1.0), ("q1", "b", 0.0), ("q2", "b", 1.0)])
    assert why(changed) == ("judgments changed since the baseline: 1 (q1 a 2 → 1)",)
    assert why(changed, accept_changed_judgments=True) == ()
    (said,) = why(rules=conventions(order="rank"))
    assert "order score at the baseline" in said
    base = pin(long_run(), QRELS, ["nDCG@10"])
    assert why(base=base) == ()
    (said,) = why(base=base, measures=("R@200",))
    assert said == "R@200 looks below rank 100, where the pinned rankings end; pin again"
    more = qrels_of([*QRELS.frame.iter_rows(), ("q3", "x", 3.0)])
    (said,) = why(more, measures=("ERR@10", "nDCG@10"))
    assert said == "ERR@10 reads the top of the scale: 2 at the baseline, 3 now; declare it with max_grade"
    assert why(more, measures=("ERR(max_grade=3)@10",)) == ()


def test_grades_of_subtopics_are_the_largest():
    frame = pl.DataFrame(
        {"query_id": ["q", "q"], "doc_id": ["a", "a"], "grade": [1.0, 2.0], "subtopic": ["1", "2"]}
    )
    assert grades_of(Qrels.checked(frame)) == {"q": {"a": 2.0}}

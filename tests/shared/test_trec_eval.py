"""trec_eval's own expected output, every line of every measure that the project has, to its four decimals."""

import re
from collections import Counter
from pathlib import Path

import pytest

import leadline
from leadline.conventions import PROFILES
from leadline.errors import NotComparableError, RowsError, UsageError

FOLDER = "trec_eval_test"

LEFT_OUT = {
    r"runid|relstring.*": "no numbers",
    r"rbp|rbp_resid": "no reliable reference: grades over the query's largest, a residual of 0 where none is",
    r"gm_bpref|utility.*|binG|G|ndcg_rel|Rndcg|num_nonrel_judged_ret|set_map": "not in the catalogue",
    r"relative_P_\d+|set_relative_P|Rprec_mult_.*": "not in the catalogue",
    r"11pt_avg_\.25,\.5,\.75": "other levels than the eleven",
}
"""Names in the expected files that the project has no measure for; anything else must be read."""
SPELLED = {"ndcg_1=3,2=9,4=4.5": "nDCG(gain={1:3,2:9,4:4.5})"}

FILES = {
    "out.test": ("results.test", "qrels.test", {}),
    "out.comment.test": ("results.comment.test.gz", "qrels.comment.test.gz", {}),
    "out.test.a": ("results.test", "qrels.test", {}),
    "out.test.aq": ("results.test", "qrels.test", {}),
    # -c: all judged queries; -M: the run is cut first.
    "out.test.aqc": ("results.trunc", "qrels.test", {"average": "judged"}),
    "out.test.aqcM": ("results.trunc", "qrels.test", {"average": "judged", "depth": 100}),
    # -l2: grades from 2 on are relevant.
    "out.test.aql": ("results.test", "qrels.rel_level", {}),
    "out.test.meas_params": ("results.test", "qrels.test", {}),
}
LEVEL = {"out.test.aql": 2}
LINES = {
    "out.test": 29, "out.comment.test": 29, "out.test.a": 68, "out.test.aq": 266, "out.test.aqc": 260,
    "out.test.aqcM": 260, "out.test.aql": 266, "out.test.meas_params": 68,
}  # fmt: skip
"""How many lines are compared; a change here means that a measure came or went."""


def rows_of(path: Path) -> list[tuple[str, str, str]]:
    return [tuple(line.split()) for line in path.read_text().splitlines() if line.strip()]  # type: ignore[misc]


def measure_of(name: str, level: int, profile: str) -> leadline.Measure | None:
    """The project's measure behind a name of trec_eval; None where it is left out on purpose."""
    if any(re.fullmatch(pattern, name) for pattern in LEFT_OUT):
        return None
    measure = leadline.parse(SPELLED.get(name, name), PROFILES[profile])
    if level == 1 or not measure.has("rel"):
        return measure
    cut = "" if measure.cutoff is None else f"@{measure.cutoff}"
    return leadline.parse(f"{measure.name}(rel={level}){cut}", PROFILES[profile])


def shown(measure: leadline.Measure, number: float) -> str:
    return f"{number:.0f}" if measure.name.startswith("Num") else f"{number:.4f}"


def skipped(name: str, query: str, expected: str, measure: leadline.Measure, profile: str) -> str | None:
    """Why a line is not compared, if so."""
    if measure.name == "GMAP" and query != "all":
        return "trec_eval gives the logarithm of a query"
    if profile == "trec_eval-9" and measure.name in ("IPrec", "11pt"):
        return "the files are trec_eval 10's, which finds recall levels another way"
    if measure.name == "Unjudged" and "aqc" in expected and query in ("302", "all"):
        return "the share of an answer that was not given is undefined here, and 0 in trec_eval"
    if measure.name == "NumQ" and query != "all":
        return "one for each query"
    return None


@pytest.mark.parametrize("profile", ["trec_eval-10", "trec_eval-9"])
@pytest.mark.parametrize("expected", FILES)
def test_expected_output(shared_data, expected, profile):
    run, qrels, options = FILES[expected]
    rows = rows_of(shared_data(f"{FOLDER}/{expected}"))
    measures = {name: measure_of(name, LEVEL.get(expected, 1), profile) for name, _, _ in rows}
    asked = [m for m in measures.values() if m is not None]
    scores = leadline.evaluate(
        shared_data(f"{FOLDER}/{run}"), shared_data(f"{FOLDER}/{qrels}"), asked, profile=profile, **options
    )
    wrong, compared, why = [], 0, Counter[str]()
    for name, query, value in rows:
        measure = measures[name]
        if measure is None:
            continue
        reason = skipped(name, query, expected, measure, profile)
        if reason:
            why[reason] += 1
            continue
        compared += 1
        number = scores.mean(str(measure)) if query == "all" else scores.per_query(str(measure))[query]
        got = "nothing" if number is None else shown(measure, number)
        if got != value:
            wrong.append((name, query, value, got))
    assert wrong == []
    if profile == "trec_eval-10":
        assert compared == LINES[expected], why


def test_what_is_left_out_is_not_understood():
    # A measure of this list that the catalogue gains must leave the list.
    names = [
        "gm_bpref", "utility", "binG", "G", "ndcg_rel", "Rndcg", "num_nonrel_judged_ret", "set_map",
        "relative_P_5", "set_relative_P", "Rprec_mult_0.20", "rbp_resid",
    ]  # fmt: skip
    for name in names:
        with pytest.raises(UsageError):
            leadline.parse(name)


def test_judgments_with_comments(shared_data):
    files = [
        shared_data(f"{FOLDER}/{name}") for name in ("results.test", "qrels.test", "qrels.test.with-comments")
    ]
    plain = leadline.evaluate(files[0], files[1], ["map", "ndcg"], profile="trec_eval-10")
    commented = leadline.evaluate(files[0], files[2], ["map", "ndcg"], profile="trec_eval-10")
    assert plain.to_dict() == commented.to_dict()


def test_a_tag_of_several_words_is_a_tag(shared_data):
    # Five lines of results.trunc have more than six columns: all after the fifth is the tag.
    path = shared_data(f"{FOLDER}/results.trunc")
    lines = path.read_text().splitlines()
    assert sum(len(line.split()) > 6 for line in lines) == 5
    scores = leadline.evaluate(path, shared_data(f"{FOLDER}/qrels.test"), ["num_ret"])
    assert scores.mean("num_ret") == len(lines)


def test_trec_eval_10_stops_at_the_truncated_run(shared_data):
    with pytest.raises(NotComparableError, match="302"):
        leadline.evaluate(
            shared_data(f"{FOLDER}/results.trunc"),
            shared_data(f"{FOLDER}/qrels.test"),
            ["map"],
            profile="trec_eval-10",
        )
    # trec_eval 9 averages over the two that are there: twice the mean over three is not it, 3/2 times is.
    scores = leadline.evaluate(
        shared_data(f"{FOLDER}/results.trunc"),
        shared_data(f"{FOLDER}/qrels.test"),
        ["num_q", "map"],
        profile="trec_eval-9",
    )
    assert scores.mean("num_q") == 2


def test_pairs_judged_twice_with_other_grades_are_an_error(shared_data):
    with pytest.raises(RowsError, match="judges the same pair"):
        leadline.evaluate(
            shared_data(f"{FOLDER}/results.test"), shared_data(f"{FOLDER}/qrels.123.gz"), ["map"]
        )

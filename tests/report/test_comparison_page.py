"""The page of a comparison: whole, in its order, escaped, alone, within its size, and true to the numbers."""

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from importlib.resources import files

import numpy as np
import polars as pl
import pytest
from page_reader import read

from leadline.comparison import Design, PairInterval, compare
from leadline.evaluation import evaluate
from leadline.movement import Document, Moved
from leadline.report.comparing import ComparisonReport, Step
from leadline.report.comparison_by_k import judged_lines, recall_lines
from leadline.report.comparison_page import comparison_page
from leadline.report.comparison_payload import LISTED, SIDE, Payload
from leadline.report.comparison_plots import Lane, bars, columns, lanes, reach, ticks
from leadline.report.comparison_sections import SIGNS
from leadline.scores import ERROR, SCORED, UNANSWERED, UNDEFINED, Cell, Comparison, Scores, Verdict

FEW = Design(resamples=50, draws=50)
EVIL = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "\"quoted\" 'id'",
    "\x1b[31mred\x1b[0m",
    "a\u2028b\u2029c",
    "\u202ertl",
    "&amp;&lt;",
    "<img src=http://evil.example/x onerror=alert(1)>",
    "x" * 400,
]


def words(page):
    return " ".join(text for tag, text in read(page).text if tag not in ("script", "style"))


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])


def heads(runs, qrels, query_ids):
    """The first documents of each run as `ranking.head` gives them."""
    frames = {}
    for name, run in runs.items():
        rows = [
            (index, place + 1, doc, None if qrels[query].get(doc) is None else float(qrels[query][doc]))
            for index, query in enumerate(query_ids)
            for place, doc in enumerate(run.get(query, [])[:20])
        ]
        schema = {"query": pl.Int64, "rank": pl.Int64, "doc_id": pl.String, "grade": pl.Float64}
        frames[name] = pl.DataFrame(rows, schema=schema, orient="row")
    return frames


def made(runs, qrels, measures="nDCG@10 R@2 RR", **more):
    """A report of runs given as lists of documents; the first run is the baseline."""
    scores = evaluate(runs, qrels, measures)
    baseline = next(iter(runs))
    found = compare(scores, baseline, design=FEW)
    query_ids = list(qrels)
    usual = {
        "verdict": Verdict(
            "judge-first", "worse", "undecided: judge 2 pairs first", ("a reason",), ("leadline judge x",)
        ),
        "margin": 0.02,
        "judged": {name: {"2": 0.75, "10": 0.5, "20": 0.25} for name in runs},
        "rankings": heads(runs, qrels, query_ids),
        "query_ids": query_ids,
        "command": "leadline compare a.run b.run --qrels q.txt",
        "remarks": ("a remark",),
    }
    return ComparisonReport(scores, found, **{**usual, **more})


QRELS = {"q1": {"x": 2, "y": 0}, "q2": {"x": 1, "z": 1}, "q3": {"y": 1}}
RUNS = {
    "before": {"q1": ["y", "x"], "q2": ["x", "n", "z"], "q3": ["y"]},
    "after": {"q1": ["x", "y"], "q2": ["n", "x", "z"], "q3": ["y"]},
}


@pytest.fixture
def small():
    moved = Moved("q1", 0.5, 0.5, 1.0, (Document("x", 1, 2.0),), (Document("n", 2, None),))
    report = made(RUNS, QRELS, moved=(moved,), texts={"q1": "how deep is it?"})
    grouped = tuple(replace(row, group="lang=de") for row in report.comparisons)
    doubt = {
        "reason": "another verdict in 43 % of 200 draws", "outcomes": {"pass": 3}, "draws": 200, "seed": 7, "to_settle": 24,
        "pairs": [{"query_id": "q9", "doc_id": "d9", "ranks": {"after": 4}, "move": 0.25, "likely": 0.5, "why": "why so"}],
    }  # fmt: skip
    return replace(report, comparisons=[*report.comparisons, *grouped], doubt=doubt)


def many(queries, measures, listed_documents=20):
    """A report of many queries with made-up values, without going through files."""
    rng = np.random.default_rng(5)
    ids = [f"query-{index:06d}" for index in range(queries)]
    names = [f"M{index}@10" for index in range(measures)]
    states = np.zeros(queries, np.uint8)
    cells = [
        Cell(system, name, ids, rng.random(queries).round(4), states) for system in "ab" for name in names
    ]
    rows = [
        Comparison(
            name, "a", "b", 0.5, 0.5, 0.0, -0.1, 0.1, "t", 0.95, -0.08, 0.08, -0.1, 0.1, 0.9, "sign-flip",
            queries, queries, 0, 0, 1, 2, 3, 0.1, 0.0,
        )
        for name in names
    ]  # fmt: skip
    query = np.repeat(np.arange(queries), listed_documents)
    size = len(query)
    rankings = {
        system: pl.DataFrame(
            {
                "query": query,
                "rank": np.tile(np.arange(1, listed_documents + 1), queries),
                "doc_id": pl.Series(rng.integers(0, 10**6, size)).cast(pl.String)
                + "-passage-of-a-long-document-id",
                "grade": pl.Series(rng.choice([np.nan, 0.0, 1.0], size)).fill_nan(None),
            }
        )
        for system in "ab"
    }
    texts = {name: f"what is the meaning of {name}, and how is it found?" for name in ids}
    scores = Scores(tuple(cells), (), {}, {})
    return ComparisonReport(scores, rows, None, 0.02, rankings=rankings, query_ids=ids, texts=texts)


def test_the_page_has_every_part_in_its_order(small):
    page = comparison_page(small)
    headings = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert "judge-first" in headings[0]
    assert headings[1:] == [
        "The comparison", "Differences with their intervals", "Query by query", "How much is judged", "Recall by k",
        "Slices", "The queries that moved most", "All queries", "Account and conventions", "Remarks and warnings",
        "How to reproduce",
    ]  # fmt: skip
    assert (
        page.index('id="sorted"')
        < page.index('id="spread"')
        < page.index('id="judged"')
        < page.index('id="recall"')
    )


def test_every_section_is_reached_from_the_top(small):
    page = comparison_page(small)
    links = re.findall(r'<a href="#(.*?)">(.*?)</a>', page)
    assert len(links) == 11
    for target, text in links:
        assert page.count(f'<h2 id="{target}">{text}</h2>') == 1


def test_many_slices_are_drawn_in_part_and_counted(small):
    """Of 30 slices, of 1 to 30 queries, the 20 largest are drawn, in 3 measures; all 90 rows are in the numbers."""
    row_of = {row.measure: row for row in small.comparisons if row.group is None}
    grouped = [
        replace(row, group=f"slice={size:03d}", n=size) for size in range(1, 31) for row in row_of.values()
    ]
    page = comparison_page(replace(small, comparisons=[*row_of.values(), *grouped]))
    assert "The 20 largest of 30 slices are drawn" in words(page)
    panels = page[page.index('<div class="multiples">') :].split("<details>")[0]
    assert panels.count("slice=") == 20 * 3 and "slice=011" in panels and "slice=010" not in panels
    assert page.count('<th scope="row">slice=') == 90


def test_the_verdict_is_said_in_words(small):
    told = words(comparison_page(small))
    for text in (
        "judge-first", "effect: worse", "undecided: judge 2 pairs first", "a reason", "leadline judge x", "margin 0.02",
        "another verdict in 43 % of 200 draws", "outcomes of 200 draws (seed 7): pass 3", "judging 24 pairs", "why so",
        "a remark", "leadline compare a.run b.run --qrels q.txt", "how deep is it?", "x (rank 1, grade 2)",
        "n (rank 2, unjudged)", "lang=de (n = 3)", "leadline-1",
    ):  # fmt: skip
        assert re.sub(r"\s+", " ", text) in re.sub(r"\s+", " ", told.replace("  ", " ")), text


@pytest.mark.parametrize("outcome", SIGNS)
def test_every_outcome_has_its_sign_and_its_word(small, outcome):
    page = comparison_page(replace(small, verdict=Verdict(outcome, "unclear", "so it is")))
    assert f'<section class="verdict {outcome}"' in page
    assert f'<span aria-hidden="true">{SIGNS[outcome]} </span>{outcome}</span>' in page
    assert f".verdict.{outcome}" in page


def test_the_table_has_the_numbers(small):
    """RR: before (1/2, 1, 1), after (1, 1/2, 1): both means 2.5/3 = .8333, one win, one tie, one loss."""
    page = comparison_page(small)
    row = re.search(r'<tr><th scope="row">RR</th>(.*?)</tr>', page)[1]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert cells[:5] == ["0.8333", "0.50 @10", "0.8333", "0.50 @10", "+0.0000"]
    assert cells[-2:] == ["1/1/1", "3"]
    # RR has no cutoff: judged is of the k that is sent; R@2 of its own 2.
    row = re.search(r'<tr><th scope="row">R@2</th>(.*?)</tr>', page)[1]
    assert re.findall(r"<td[^>]*>(.*?)</td>", row)[1] == "0.75 @2"
    assert "3 queries: an estimate, no verdict" in words(page)


def test_a_value_that_is_not_known_is_a_dash_and_never_zero(small):
    row = replace(
        small.comparisons[0], difference=None, mean_baseline=None, mean_candidate=float("nan"), low=None, high=None,
        p=None, bootstrap_low=float("nan"), n_left_out=2, n_error=1,
    )  # fmt: skip
    page = comparison_page(replace(small, comparisons=[row]))
    cells = re.findall(r"<td[^>]*>(.*?)</td>", re.search(r'<tr><th scope="row">nDCG.*?</tr>', page)[0])
    assert [cells[at] for at in (0, 2, 4, 5, 6, 7)] == ["–"] * 6
    assert cells[-1] == "3 (2 left out, 1 failed)"


def test_states_travel_to_the_script(small):
    """Each state has its letter; a query that one system lacks is null."""
    nan = float("nan")
    values = np.array([0.5, 0.0, nan, nan])
    states = np.array([SCORED, UNANSWERED, UNDEFINED, ERROR], np.uint8)
    first = Cell("before", "RR", ["q1", "q2", "q3", "q4"], values, states)
    second = Cell("after", "RR", ["q1"], np.array([1.0]), np.array([SCORED], np.uint8))
    row = next(row for row in small.comparisons if row.measure == "RR")
    scores = replace(small.scores, cells=(first, second))
    data = data_of(comparison_page(replace(small, scores=scores, comparisons=[row])))
    assert data["values"] == [[[0.5, "u", "n", "e"]], [[1.0, None, None, None]]]
    assert data["spreads"][0][0]["v"] == [0.5] and data["spreads"][0][0]["w"] == [0]


def test_rankings_travel_to_the_script(small):
    """Documents are named once; grades stand beside them, null where unjudged."""
    data = data_of(comparison_page(small))
    named = [[[data["docs"][code] for code in codes] for codes in system] for system in data["ranks"]]
    assert named[0] == [["y", "x"], ["x", "n", "z"], ["y"]]
    assert named[1] == [["x", "y"], ["n", "x", "z"], ["y"]]
    assert data["grades"][0] == [[0, 2], [1, None, 1], [1]]
    assert data["queries"] == ["q1", "q2", "q3"] and data["total"] == 3 and data["k"] == 10
    assert len(set(data["docs"])) == len(data["docs"]) == 4


def test_the_page_loads_nothing(small):
    page = comparison_page(small)
    for tag, attributes in read(page).elements:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base", "form", "use", "image")
        for name, value in attributes.items():
            if (tag, name) == ("a", "href"):
                assert value.startswith("#")
                continue
            assert name not in ("src", "href", "srcset", "xlink:href", "action", "style"), (tag, name)
            assert not name.startswith("on"), (tag, name)
    lowered = page.lower()
    assert "@import" not in lowered and "url(" not in lowered
    assert "http:" not in lowered and "https:" not in lowered
    for banned in (
        "fetch(",
        "xmlhttprequest",
        "innerhtml",
        "eval(",
        "document.write",
        "localstorage",
        "websocket",
    ):
        assert banned not in lowered, banned


def test_the_policy_allows_only_this_style_and_script(small):
    page = comparison_page(small)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for kind, text in (
        ("style-src", re.search(r"<style>(.*?)</style>", page, re.S)[1]),
        ("script-src", re.search(r"<script>(.*?)</script>", page, re.S)[1]),
    ):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy


def test_whatever_is_in_an_id_is_shown_and_not_run():
    qrels = {name: {EVIL[(place + 1) % len(EVIL)]: 1, name: 0} for place, name in enumerate(EVIL)}
    names = ["</script><b>A", 'B"><img src=x>']
    runs = {
        names[0]: {q: list(d) for q, d in qrels.items()},
        names[1]: {q: list(d)[::-1] for q, d in qrels.items()},
    }
    pairs = [{"query_id": EVIL[0], "doc_id": EVIL[1], "ranks": {EVIL[2]: 1}, "why": EVIL[7]}]
    documents = tuple(Document(name, 1, None) for name in EVIL)
    report = made(
        runs, qrels, texts={q: q for q in EVIL}, command=EVIL[0], remarks=(EVIL[7],), doubt={"reason": EVIL[0], "pairs": pairs},
        verdict=Verdict("pass", "better", EVIL[0], (EVIL[1],), (EVIL[7],)), moved=(Moved(EVIL[0], 1, 0, 1, documents, ()),),
    )  # fmt: skip
    grouped = [replace(row, group=EVIL[0], remarks=(EVIL[7],)) for row in report.comparisons]
    page = comparison_page(replace(report, comparisons=[*report.comparisons, *grouped]))
    reader = read(page)
    scripts = [attributes for tag, attributes in reader.elements if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}]
    assert not [tag for tag, _ in reader.elements if tag in ("img", "b")]
    assert "\x1b" not in page and "\u202e" not in page and "\u2028" not in page
    data = data_of(page)
    assert data["queries"][:2] == EVIL[:2] and data["queries"][3] == "\\x1b[31mred\\x1b[0m"
    assert data["systems"] == names
    # 400 characters are cut to 160: 79, the mark, and the last 80.
    assert data["queries"][8] == "x" * 79 + "…" + "x" * 80
    assert "<!--" not in page and re.search(r"id=\"data\">[^<]*</script>", page)


def test_three_hundred_queries_and_ten_measures_are_light():
    report = many(300, 10)
    page = comparison_page(report)
    data = data_of(page)
    assert len(page.encode()) < 3_000_000
    assert len(data["queries"]) == data["total"] == 300
    assert all(len(codes) == 20 for system in data["ranks"] for codes in system)


def test_fifty_thousand_queries_are_aggregated_and_nothing_is_lost_unsaid():
    report = many(50_000, 3)
    page = comparison_page(report)
    assert len(page.encode()) < 3_000_000
    data = data_of(page)
    assert data["total"] == 50_000 and len(data["queries"]) == LISTED
    assert "The 2,000 queries that moved most, of 50,000" in words(page)
    assert "The other 48,000 are in the plots" in words(page)
    a, b = (report.scores.cell("M0@10", name).values for name in "ab")
    spread = data["spreads"][0][0]
    assert sum(spread["c"]) == sum(spread["h"]) == spread["n"] == 50_000 and "w" not in spread
    blocks = np.average(spread["v"], weights=spread["c"])
    assert blocks == pytest.approx((b - a).mean(), abs=1e-6)
    assert spread["lo"][0] == pytest.approx((b - a).min()) and spread["hi"][-1] == pytest.approx(
        (b - a).max()
    )
    # Those listed moved at least as much as any that is not.
    size = dict(zip(report.query_ids, np.abs(b - a).tolist(), strict=True))
    listed = set(data["queries"])
    assert min(size[q] for q in listed) >= max(size[q] for q in size if q not in listed)


def test_rankings_stop_where_their_room_ends():
    data = data_of(comparison_page(many(2_000, 1)))
    carried = [row is not None for row in data["ranks"][0]]
    assert carried[0] and not carried[-1]
    assert carried == sorted(carried, reverse=True)


def test_curves_by_k_are_counted_by_hand():
    """Judged@1 of before: q1 y, q2 x, q3 y are judged: 1. After: q2 begins with n, unjudged: 2/3.

    Judged@2 of before: q1 1, q2 1/2, q3 1 (one returned): 2.5/3. R@1 of before: q1 0/1, q2 1/2, q3 1/1: 1.5/3;
    of after: 1, 0, 1: 2/3. R@2 of both: 1, 1/2, 1: 2.5/3. R@3: 1. R@2 tells how many are relevant: q1 1, q2 2, q3 1.
    """
    report = made(RUNS, QRELS)
    before, after = judged_lines(report)
    assert [before.points[k] for k in (1, 2, 3)] == pytest.approx([1, 2.5 / 3, (1 + 2 / 3 + 1) / 3])
    assert [after.points[k] for k in (1, 2, 3)] == pytest.approx([2 / 3, 2.5 / 3, (1 + 2 / 3 + 1) / 3])
    before, after = recall_lines(report)
    assert [before.points[k] for k in (1, 2, 3)] == pytest.approx([0.5, 2.5 / 3, 1])
    assert [after.points[k] for k in (1, 2, 3)] == pytest.approx([2 / 3, 2.5 / 3, 1])


def test_the_recall_curve_ends_where_it_is_not_known():
    """q4 has a relevant document that neither system finds in its first two: R@3 of it cannot be known from R@2."""
    qrels = {**QRELS, "q4": {"w": 1}}
    runs = {name: {**run, "q4": ["n", "m", "w"]} for name, run in RUNS.items()}
    before, after = recall_lines(made(runs, qrels))
    assert sorted(before.points) == sorted(after.points) == [1, 2]
    assert before.points[2] == pytest.approx(2.5 / 4)
    assert recall_lines(made(runs, qrels, "nDCG@10 RR")) == []
    assert "Add -m R@20" in words(comparison_page(made(runs, qrels, "nDCG@10 RR"))).replace("  ", " ")


def test_the_recall_curve_meets_the_scores_or_is_not_drawn():
    """A third of a relevant document, or two systems that tell of different numbers: only the mean of R@2 is given."""
    report = made(RUNS, QRELS)
    twice = {
        "before": report.rankings["before"],
        "after": report.rankings["after"].with_columns(grade=pl.lit(1.0)),
    }
    cells = [
        replace(cell, values=cell.values * 0.75) if cell.measure == "R@2" else cell
        for cell in report.scores.cells
    ]
    odd = replace(report.scores, cells=tuple(cells))
    for other in (replace(report, rankings=twice), replace(report, scores=odd), replace(report, rankings={})):
        lines = recall_lines(other)
        assert [line.name for line in lines] == ["before", "after"]
        assert all(line.points == {2: pytest.approx(2.5 / 3)} for line in lines)


def test_the_sent_k_is_marked(small):
    page = comparison_page(replace(small, depth=2))
    assert page.count("k = 2, what is sent on") == 2
    # Three documents at most: k = 2 stands in the middle of 1 … 3.
    assert page.count('<path class="sent" d="M500 0L500 300"/>') == 2


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([-0.013, 0.081], [-0.02, 0, 0.02, 0.04, 0.06, 0.08, 0.1]),
        ([0.3], [0, 0.1, 0.2, 0.3]),
        ([], [-1, 0, 1]),
        ([-5000.0], [-5000, -4000, -3000, -2000, -1000, 0]),
    ],
)
def test_marks_hold_all_values(values, expected):
    assert ticks(values) == pytest.approx(expected)


def test_marks_and_reach_at_every_size():
    for exponent in range(-12, 13):
        for digit in (1.0, 1.7, 4.9, 9.99):
            value = digit * 10.0**exponent
            marks = ticks([-value, value / 3])
            assert marks[0] <= -value and marks[-1] >= value / 3 and len(marks) <= 9
            assert value <= reach([value]) * (1 + 1e-9) and reach([value]) <= 2 * value
            assert len(f"{reach([value]):g}") <= 7


def test_bars_and_columns_are_drawn_to_scale():
    """+.5 of 1 reaches from the middle (150) to 75, −1 to the foot (300); of 4 columns' 2 a half is 150."""
    above, below = bars([-1.0, 0.0, 0.5], 1.0)
    assert below == "M0 150V300h333.33V150z" and above == "M666.67 150V75h333.33V150z"
    left, tied, right = columns([1, 2, 0], 2)
    assert left.startswith("M1.00 300V150h") and "V0h" in tied and right == ""


def test_a_row_of_the_plot_is_drawn_where_its_numbers_are():
    """Marks run from −.1 to .2: 0 stands at a third, .1 at two thirds; the margin −.05 at a sixth of 1000."""
    drawn = lanes([Lane("m", 0.1, 0.0, 0.2, margin=-0.05)], scale=[-0.1, 0.0, 0.1, 0.2])
    assert '<path class="zero" d="M333.3 0L333.3 20"/>' in drawn
    assert '<path class="dot" d="M666.7 9L666.7 9"/>' in drawn
    assert '<path class="mark" d="M333.3 9L1000 9"/>' in drawn
    assert '<path class="margin" d="M166.7 0L166.7 20"/>' in drawn
    assert "no interval" in lanes([Lane("m", 0.1)])


def test_the_margin_lies_on_the_losing_side_of_the_first_measure(small):
    """One row of nDCG@10, [−.1, .1] with a margin of .05: marks run from −.1 to .1, and −.05 is at a quarter."""
    row = replace(
        small.comparisons[0], difference=0.0, low=-0.1, high=0.1, bootstrap_low=None, bootstrap_high=None
    )
    page = comparison_page(replace(small, comparisons=[row], margin=0.05))
    assert re.findall(r'<path class="margin" d="(.*?)"', page) == ["M250 0L250 20"]
    assert "dashed line is the verdict" in page
    without = comparison_page(replace(small, comparisons=[row], margin=0.05, verdict=None))
    assert 'class="margin"' not in without and "dashed line is the verdict" not in without


def test_the_distribution_counts_every_difference_once(small):
    payload = Payload(small)
    spread = payload.spread("after", "RR")
    assert spread.values == [-0.5, 0.0, 0.5] and spread.who == [1, 2, 0] and spread.most == 0.5
    # −.5 and +.5 are the edges of [−.5, .5]; the tie stands alone in the middle.
    assert [place for place, count in enumerate(spread.columns) if count] == [0, SIDE, 2 * SIDE]


def test_there_may_be_nothing_to_say(small):
    bare = ComparisonReport(
        replace(small.scores, account={}, conventions={}), small.comparisons[:1], None, 0.0
    )
    told = words(comparison_page(bare))
    assert "there is no verdict" in told and "Made by a program" in told
    nothing = words(comparison_page(ComparisonReport(Scores((), (), {}, {}), (), None, 0.0)))
    assert "Nothing to compare" in nothing
    empty = Cell("before", "RR", ["q1"], np.array([np.nan]), np.array([UNDEFINED], np.uint8))
    row = replace(small.comparisons[0], measure="RR", difference=None, low=None, high=None, n=0)
    undefined = replace(small.scores, cells=(empty, replace(empty, system="after")))
    assert "0 queries with both values" in words(
        comparison_page(ComparisonReport(undefined, [row], None, 0.02))
    )


def test_several_candidates_have_tables_pairs_and_a_choice():
    runs = {**RUNS, "third": RUNS["before"]}
    p = np.array([[np.nan, 0.04, 1.0], [0.04, np.nan, 0.00001], [1.0, 0.00001, np.nan]])
    report = made(runs, QRELS, pairs=(list(runs), p))
    page = comparison_page(report)
    told = words(page)
    for text in (
        "after against before",
        "third against before",
        "p by randomised Tukey HSD",
        "<0.0001",
        "p, holm",
    ):
        assert text in told
    assert page.count('class="choose-pair"') == 2
    rows = [
        PairInterval("before", "third", 0.01, -0.02, 0.04, 0.975, "t", 0.4, 3),
        PairInterval("after", "third", 0.2, 0.1, 0.3, 0.975, "t", 0.01, 3),
    ]
    told = words(comparison_page(replace(report, pair_intervals=rows)))
    assert f"All pairs on {report.scores.headings[report.scores.measures[0]]}" in told
    assert "each interval at 97.5 % (t), so that all 2 hold together at 95 %" in told
    assert "third − before" in told and "+0.0100 [-0.0200, +0.0400]" in told
    assert data_of(page)["pairs"] == [[1, 0], [2, 0]]


def test_the_story_tells_each_step_and_links_its_page(small):
    assert "How it came to this verdict" not in comparison_page(small)
    first = Verdict("judge-first", "unclear", "undecided: <i>judge</i> 2 pairs", ("why then",))
    steps = [Step("Without some <b>", first, 'a"b.html'), Step("With all", small.verdict)]
    page = comparison_page(replace(small, story=steps))
    told = words(page)
    for text in (
        "How it came to this verdict",
        "Without some <b>",
        "undecided: <i>judge</i> 2 pairs",
        "why then",
        "With all",
    ):
        assert text in told
    assert told.index("why then") < told.index("With all")
    assert '<a href="a&quot;b.html">' in page
    assert "<i>judge" not in page


def test_the_same_report_gives_the_same_bytes(small):
    assert comparison_page(small) == comparison_page(small)


def test_the_lesson_is_a_page(shared_data):
    folder = shared_data("lesson")
    scores = evaluate([folder / "A.run.gz", folder / "B.run.gz"], folder / "pooled-from-A.qrels", "nDCG@10")
    found = compare(scores, "A", design=FEW)
    page = comparison_page(ComparisonReport(scores, found, None, 0.02))
    # The lesson's README: A .751, B .798, +.047 [+.012, +.081].
    row = re.search(r'<tr><th scope="row">nDCG@10.*?</tr>', page)[0]
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert (cells[0][:5], cells[2][:5], cells[4][:6]) == ("0.7508"[:5], "0.7976"[:5], "+0.046")
    assert cells[5].startswith("[+0.012") and cells[5].endswith("+0.0811]")


def test_the_script_is_javascript(tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed, so the script's syntax is not checked")
    script = tmp_path / "page.js"
    script.write_text(
        (files("leadline") / "report" / "comparison.js").read_text(encoding="utf-8"), encoding="utf-8"
    )
    done = subprocess.run([node, "--check", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def opened(page, folder):
    """What a browser makes of a page: its elements after its script has run, as text."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium is installed, so the page is not opened")
    place = folder / "page.html"
    place.write_text(page, encoding="utf-8")
    done = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=3000", "--dump-dom", place.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout, done.stderr[-500:]
    return done.stdout


def test_a_browser_runs_the_script_under_its_policy(small, tmp_path):
    """The table is filled by the script, which the policy lets run; texts with markup stay text."""
    shown = opened(comparison_page(replace(small, texts={"q1": "<b>bold</b>"})), tmp_path)
    table = re.search(r'id="queries".*?</table>', shown, re.S)[0]
    assert all(f" {name}</button>" in table for name in ("q1", "q2", "q3"))
    assert "&lt;b&gt;bold&lt;/b&gt;" in table and "1–3 of 3" in shown


STEPS = """
const out = [], one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];
const names = () => all("#queries .query button").map((button) => button.textContent.slice(2)).join(" ");
const choose = (selector, value) => { one(selector).value = value; one(selector).dispatchEvent(new Event("change")); };
const press = (key) => one("#sorted").dispatchEvent(new KeyboardEvent("keydown", { key }));
const drawn = () => ["gain", "loss"].map((kind) => one(`#sorted .${kind}`).getAttribute("d")).join("|");
out.push(["first", drawn()]);
choose(".choose-measure", "1"); choose(".choose-measure", "0");
out.push(["redrawn", drawn()]);
choose(".choose-measure", "2");
out.push(["measure", all(".what").map((span) => span.textContent).join("; "),
  all(".choose-measure").map((s) => s.value).join("")]);
press("Home"); out.push(["least", one(".readout").textContent]);
press("End"); out.push(["most", one(".readout").textContent]);
press("Enter"); out.push(["opened", all(".opened").length, document.activeElement.textContent.slice(2)]);
out.push(["sides", one(".sides").innerText.replace(/\\s+/g, " ")]);
one('#queries [data-sort="name"]').click(); out.push(["by name", names(), one("[aria-sort]").getAttribute("aria-sort")]);
one('#queries [data-sort="difference"]').click(); out.push(["by difference", names()]);
choose("#show", "lost"); out.push(["lost", names()]);
choose("#show", "all"); one("#search").value = "DEEP"; one("#search").dispatchEvent(new Event("input"));
out.push(["search", names()]);
document.title = JSON.stringify(out);
"""


def test_the_script_answers(small, tmp_path):
    """RR: q1 +.5, q2 −.5, q3 0. The script draws what the page drew, names bars, opens, sorts, filters, searches."""
    page = comparison_page(small)
    page = re.sub(r"<meta http-equiv[^>]*>", "", page).replace("</body>", f"<script>{STEPS}</script></body>")
    title = re.search(r"<title>(.*?)</title>", opened(page, tmp_path), re.S)[1]
    said = {name: rest for name, *rest in json.loads(html.unescape(title))}
    for drawn, path in zip(said["first"][0].split("|"), said["redrawn"][0].split("|"), strict=True):
        numbers = [[float(x) for x in re.findall(r"[\d.]+", text)] for text in (drawn, path)]
        assert numbers[0] == pytest.approx(numbers[1], abs=0.01) and numbers[0]
    assert said["measure"] == ["; ".join(["RR, after − before"] * 2), "22"]
    assert said["least"] == ["-0.5000 (1.0000 → 0.5000) q2"]
    assert said["most"] == ["+0.5000 (0.5000 → 1.0000) q1: how deep is it?"]
    assert said["opened"] == [1, "q1"]
    # Before: y 0, x 2. After: x 2, y 0. Each names its rank in the other.
    sides = (
        "before (baseline) 1 y grade 0 ▼ 2 2 x grade 2 ▲ 1 after (candidate) 1 x grade 2 ▲ 2 2 y grade 0 ▼ 1"
    )
    assert said["sides"] == [sides]
    assert said["by name"] == ["q1 q2 q3", "ascending"]
    assert said["by difference"] == ["q1 q3 q2"] and said["lost"] == ["q2"] and said["search"] == ["q1"]

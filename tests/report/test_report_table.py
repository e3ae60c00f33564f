"""The table for a terminal: what it says, and how wide it may be."""

import dataclasses
import itertools

import pytest
from rich.cells import cell_len

from leadline.report import table_text as module
from leadline.report.table_text import table_text, wants_color

ONE = """\
measure             mean [95 % interval]          sd  n  ceiling  unanswered  undefined  errors
───────────────────────────────────────────────────────────────────────────────────────────────
nDCG(gain=exp2)@10  0.2500 [-0.1000, 0.6000]  0.3171  4                    1          1       1
R@5                 0.5000 –                  0.3171  4   0.9300           1          1       1
NumRet                  10 –                       –  4                    1                  1

4 judged queries, 12 judgments, 5 relevant | bm25: 10 rows, 3 queries, 1 unanswered, 1 failed,
judged@10 0.83, ties across rank 5 in 2 queries
leadline-1; order: score descending, ties by document id descending
95 % intervals: Student's t
ceiling: the largest mean that the cutoff allows
! only 4 queries: estimates, no verdict
"""

TWO = """\
all queries (n = 3)
measure    mean [95 % interval]         sd  n
─────────────────────────────────────────────
nDCG@10
  bm25     0.7000 [0.6000, 0.8000]  0.3171  3
  dense    0.8000 [0.7000, 0.9000]  0.3171  3
Success@1
  bm25     0.6667 [0.5667, 0.7667]  0.3171  3
  dense    1.0000 [0.9000, 1.0000]  0.3171  3

lang=de (n = 3)
measure    mean [95 % interval]         sd
──────────────────────────────────────────
"""


def test_one_system_has_a_row_a_measure(one):
    assert table_text(one, color=False) == ONE


def test_several_systems_stand_under_each_measure_in_a_block_a_slice(two):
    text = table_text(two, color=False)
    assert text.startswith(TWO)
    assert text.endswith(
        "3 judged queries, 9 judgments, 4 relevant | 2 systems: 28–30 rows, 3 queries, 0–2 unanswered\n"
        "trec_eval-9, undefined=skip; order: score read as 32-bit floats descending, ties by document id\n"
        "descending\n"
        "95 % intervals: Student's t; Wilson: Success@1\n"
    )


def wide(two, make, systems):
    _, summary = make
    everything = {
        "ceiling": 0.9, "n_queries": 1234567, "n_unanswered": 1, "n_undefined": 2, "n_error": 3,
        "error_low": 0.1, "error_high": 0.9, "bound_low": 0.1, "bound_high": 0.9, "bound_kind": "sharp",
    }  # fmt: skip
    measures = ["nDCG(gain=linear,judged_only=true)@1000", "NumRet", "P@5"]
    return dataclasses.replace(
        two,
        summaries=tuple(
            summary(system, measure, 61000.0, -100.0, 70000.0, **everything)
            for measure, system in itertools.product(measures, systems)
        ),
        account={
            "systems": {name: {"rows": 100 * i, "judged_at": {"10": 0.5}} for i, name in enumerate(systems)}
        },
        warnings=("x" * 300, "many words " * 50),
    )


@pytest.mark.parametrize("width", [100, 80, 60, 500])
@pytest.mark.parametrize(
    "systems",
    [
        ["a"],
        [f"a_system_whose_name_goes_on_and_on_for_much_more_than_one_line_of_it_{i}" * 3 for i in range(4)],
        [f"系统的名字{i}" * 12 for i in range(3)],
        [f"s{i}" for i in range(40)],
    ],
    ids=["one", "long", "double-width", "many"],
)
def test_no_line_is_wider_than_100_columns(two, make, systems, width):
    text = table_text(wide(two, make, systems), color=False, width=width)
    assert max(map(cell_len, text.splitlines())) <= min(width, 100)
    assert text.count("1234567") == 3 * len(systems)


def test_the_columns_that_do_not_fit_stand_below(two, make):
    text = table_text(wide(two, make, ["bm25", "dense"]), color=False)
    heads = [line.split("  ") for line in text.splitlines() if line.startswith("measure")]
    names = [name.strip() for name in itertools.chain(*heads) if name.strip() and name != "measure"]
    assert names == [
        "mean [95 % interval]", "sd", "n", "ceiling", "unanswered", "undefined", "errors", "if errors",
        "unjudged",
    ]  # fmt: skip
    assert "[0.1000, 0.9000] sharp" in text


def test_names_are_printed_literally_and_escapes_are_made_visible(two, make):
    _, summary = make
    names = ["[red]hot[/red]", "[link=x]", ":smile:", "a\x1b[31mb", "c\u202ed", "e\nf"]
    rows = tuple(summary(name, "AP", 0.5, 0.4, 0.6) for name in names)
    scores = dataclasses.replace(
        two, summaries=rows, warnings=("w\x1b]0;t\x07", "[bold]w"), headings={"AP": "A\x1bP"}
    )
    text = table_text(scores, color=False)
    for shown in ("[red]hot[/red]", "[link=x]", ":smile:", "a\\x1b[31mb", "c\\u202ed", "e\\nf", "A\\x1bP"):
        assert shown in text
    assert "! w\\x1b]0;t\\x07\n! [bold]w\n" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_color_says_nothing_alone(one):
    from rich.text import Text

    fancy = table_text(one, color=True)
    assert "\x1b[" in fancy
    lines = Text.from_ansi(fancy).plain.splitlines()
    assert [line.rstrip() for line in lines] == table_text(one, color=False).splitlines()


def test_color_is_for_terminals_that_want_it(monkeypatch, one):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert not wants_color()
    monkeypatch.setattr(module.sys.stdout, "isatty", lambda: True, raising=False)
    assert wants_color()
    assert "\x1b[" in table_text(one)
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert "\x1b" not in table_text(one)


def test_nothing_scored_is_a_dash_and_never_zero(two, make):
    _, summary = make
    rows = (summary("A", "AP", None, interval=None, sd=None, n_scored=0, n_undefined=3),)
    text = table_text(dataclasses.replace(two, summaries=rows, account={}, conventions={}), color=False)
    assert text.splitlines()[2] == "AP       – –                    –  3          3"
    assert "0.0000" not in text


def test_no_summaries_give_no_table(two):
    text = table_text(dataclasses.replace(two, summaries=()), color=False)
    assert text.startswith("3 judged queries")

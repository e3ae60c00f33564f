"""The Markdown, LaTeX and trec_eval forms of scores."""

import dataclasses
import re

import pytest

from leadline.report.latex_text import latex_text
from leadline.report.markdown_marks import code
from leadline.report.markdown_text import markdown_text
from leadline.report.trec_eval_text import trec_eval_name, trec_eval_text
from leadline.report.wording import tool_version

MARKDOWN = """\
| Measure | System | Mean | 95 % interval | sd | n | ceiling | unanswered | undefined | errors |
| :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| `nDCG(gain=exp2)@10` | `bm25` | 0.2500 | [-0.1000, 0.6000] | 0.3171 | 4 |  | 1 | 1 | 1 |
| `R@5` | `bm25` | 0.5000 | – | 0.3171 | 4 | 0.9300 | 1 | 1 | 1 |
| `NumRet` | `bm25` | 10 | – | – | 4 |  | 1 |  | 1 |

- Account: 4 judged queries, 12 judgments, 5 relevant \\| bm25: 10 rows, 3 queries, 1 unanswered, 1 failed, \
judged@10 0.83, ties across rank 5 in 2 queries
- Conventions: leadline-1; order: score descending, ties by document id descending
- Intervals: Student's t

- **Warning**: only 4 queries: estimates, no verdict
"""


def test_markdown_is_a_github_table(one):
    assert markdown_text(one) == MARKDOWN


def test_markdown_has_a_heading_a_slice(two):
    headings = [line for line in markdown_text(two).splitlines() if line.startswith("#")]
    assert headings == ["### all queries (n = 3)", "### lang=de (n = 3)", "### lang=en (n = 3)"]


HOSTILE = ["a|b", "`x`", "<script>", "a\nb", "# h", "[x](y)", "a\\|b", "``|``"]


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown_keeps_its_columns_whatever_the_names(two, make, name):
    _, summary = make
    scores = dataclasses.replace(two, summaries=(summary(name, "AP", 0.5, group=name),), warnings=(name,))
    lines = markdown_text(scores).splitlines()
    table = [line for line in lines if line.startswith("| ")]
    # GitHub takes a row apart at each pipe that no backslash precedes.
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {7}
    assert len(table) == 3
    assert not any(re.search(r"(?<!\\)<", line) for line in lines if line not in table)


def test_code_spans_outlast_backticks():
    assert code("a`b") == "`` a`b ``"
    assert code("P(rel=2)@5") == "`P(rel=2)@5`"


LATEX = """\
\\begin{tabular}{lrrr}
\\toprule
System & nDCG(gain=exp2)@10 & R@5 & NumRet \\\\
\\midrule
bm25 & 0.2500 {\\scriptsize [-0.1000, 0.6000]} & 0.5000 & 10 \\\\
\\bottomrule
\\end{tabular}
"""


def test_latex_is_a_booktabs_table_whose_headings_carry_the_gain(one):
    text = latex_text(one)
    comments = [line for line in text.splitlines() if line.startswith("%")]
    assert comments[0] == f"% leadline {tool_version()}; needs \\usepackage{{booktabs}}"
    assert comments[-1] == "% warning: only 4 queries: estimates, no verdict"
    assert text == "\n".join(comments) + "\n" + LATEX


def test_latex_escapes_what_is_special(two, make):
    _, summary = make
    names = ["a_b & 50% #1 $x$ {y}", "[red]", "*", "~^\\", "a\nb"]
    rows = tuple(summary(name, "AP", 0.5, 0.4, 0.6) for name in names)
    scores = dataclasses.replace(two, cells=(), summaries=rows, warnings=("one\n\\input{x}",))
    text = latex_text(scores)
    assert "\na\\_b \\& 50\\% \\#1 \\$x\\$ \\{y\\} & 0.5000" in text
    # A row that began with [ or * would be read as an argument of the line break before it.
    assert "\n{[}red] & " in text
    assert "\n{*} & " in text
    assert "\n\\textasciitilde{}\\textasciicircum{}\\textbackslash{} & " in text
    assert "% warning: one\\n\\input{x}\n" in text


def test_latex_has_a_block_a_slice_and_a_dash_for_what_is_missing(two):
    text = latex_text(dataclasses.replace(two, summaries=two.summaries[:-1]))
    assert text.count("\\multicolumn{3}{l}") == 3
    assert "dense & 0.8000 {\\scriptsize [0.7000, 0.9000]} & -- \\\\" in text


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        ("nDCG(gain=linear)@10", "ndcg_cut_10"), ("nDCG(gain=linear)", "ndcg"), ("AP", "map"),
        ("AP@5", "map_cut_5"), ("RR", "recip_rank"), ("P@5", "P_5"), ("R@5", "recall_5"),
        ("Success@1", "success_1"), ("Rprec", "Rprec"), ("Bpref", "bpref"), ("infAP", "infAP"),
        ("GMAP", "gm_map"), ("IPrec@0.1", "iprec_at_recall_0.10"),
        ("IPrec(levels=floor)@0.1", "iprec_at_recall_0.10"),
        ("IPrec(levels=round)@1", "iprec_at_recall_1.00"), ("IPrec@0", "iprec_at_recall_0.00"),
        ("11pt", "11pt_avg"), ("11pt(levels=floor)", "11pt_avg"), ("SetP", "set_P"), ("SetR", "set_recall"),
        ("SetF", "set_F"), ("NumQ", "num_q"), ("NumRet", "num_ret"), ("NumRel", "num_rel"),
        ("NumRelRet", "num_rel_ret"),
        # What trec_eval has not got keeps its own name.
        ("nDCG@10", "nDCG@10"),
        ("nDCG(gain=linear,judged_only=true)@10", "nDCG(gain=linear,judged_only=true)@10"),
        ("RR@10", "RR@10"), ("P(rel=2)@5", "P(rel=2)@5"),
        ("AP(denominator=min)@5", "AP(denominator=min)@5"), ("Bpref(variant=2004)", "Bpref(variant=2004)"),
        ("RBP(p=0.8)", "RBP(p=0.8)"), ("my measure!", "my measure!"),
    ],
)  # fmt: skip
def test_trec_eval_names(measure, name):
    assert trec_eval_name(measure) == name


def test_trec_eval_lines_are_trec_evals(two, make):
    # The lines of trec_eval's own test/out.test.aq for query 301 and for all, in our order of measures.
    cell, summary = make
    values = {
        "NumQ": [1, 3],
        "NumRet": [500, 1500],
        "AP": [0.0324, 0.1785],
        "GMAP": [0.0324, 0.1051],
        "P@5": [0.0, 0.2667],
    }
    scores = dataclasses.replace(
        two,
        cells=tuple(cell("STANDARD", name, [value[0]], ids=["301"]) for name, value in values.items()),
        summaries=tuple(summary("STANDARD", name, value[1]) for name, value in values.items()),
    )
    over_all = (
        "runid                 \tall\tSTANDARD\n"
        "num_q                 \tall\t3\n"
        "num_ret               \tall\t1500\n"
        "map                   \tall\t0.1785\n"
        "gm_map                \tall\t0.1051\n"
        "P_5                   \tall\t0.2667\n"
    )
    assert trec_eval_text(scores) == over_all
    assert trec_eval_text(scores, per_query=True) == (
        "num_ret               \t301\t500\n"
        "map                   \t301\t0.0324\n"
        "P_5                   \t301\t0.0000\n" + over_all
    )


def test_trec_eval_leaves_out_what_has_no_value(one, two):
    lines = trec_eval_text(one, per_query=True).splitlines()
    assert [line.split("\t")[1:] for line in lines if line.startswith("nDCG@10")] == [
        ["q1", "0.5000"], ["q3", "0.0000"], ["all", "0.2500"],
    ]  # fmt: skip
    assert trec_eval_text(two).count("runid") == 2
    assert trec_eval_text(two).count("nDCG@10") == 2

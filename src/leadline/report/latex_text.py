"""Scores as a LaTeX table for a paper: booktabs, systems down, measures across."""

from leadline.errors import printable
from leadline.report import wording
from leadline.scores import Scores, Summary

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "`": r"\textasciigrave{}",
    "–": "--",
    # At the start of a row these would be read as an argument of the line break before it.
    "[": "{[}",
    "*": "{*}",
}


def latex_text(scores: Scores) -> str:
    r"""A `tabular` in booktabs style, one row a system, one column a measure: the mean and its interval.

    The headings carry the gain where it matters. Account, conventions and warnings stand above as comments.
    Needs `\usepackage{booktabs}`, and `\usepackage[T1]{fontenc}` where a name holds a double quote.
    """
    measures = scores.measures or list(dict.fromkeys(row.measure for row in scores.summaries))
    lines = [f"% {line}" for line in _comments(scores)]
    lines.append(f"\\begin{{tabular}}{{l{'r' * len(measures)}}}")
    lines.append("\\toprule")
    lines.append(_row(["System", *(escaped(wording.heading(scores, measure)) for measure in measures)]))
    slices = wording.groups(scores)
    for group in slices:
        lines.append("\\midrule")
        if len(slices) > 1:
            title = escaped(wording.group_heading(scores, group))
            lines.append(f"\\multicolumn{{{len(measures) + 1}}}{{l}}{{\\textit{{{title}}}}} \\\\")
        lines.extend(_system_rows(scores, measures, group))
    lines += ["\\bottomrule", "\\end{tabular}"]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Text that LaTeX sets as it is.

    >>> escaped("50% of a_b")
    '50\\% of a\\_b'
    """
    return "".join(SPECIAL.get(char, char) for char in printable(text))


def _comments(scores: Scores) -> list[str]:
    texts = [
        f"leadline {wording.tool_version()}; needs \\usepackage{{booktabs}}",
        wording.account_line(scores.account),
        wording.conventions_line(scores.conventions),
        wording.interval_line(scores),
        *(f"warning: {text}" for text in scores.warnings),
    ]
    # A line break in a comment would put the rest of it into the document.
    return [printable(text) for text in texts if text]


def _system_rows(scores: Scores, measures: list[str], group: str | None) -> list[str]:
    found = {(row.system, row.measure): row for row in scores.summaries if row.group == group}
    systems = dict.fromkeys(system for system, _ in found)
    return [
        _row([escaped(system), *(_cell(found.get((system, measure))) for measure in measures)])
        for system in systems
    ]


def _cell(row: Summary | None) -> str:
    if row is None:
        return escaped(wording.ABSENT)
    mean = escaped(wording.number(row.mean, row.measure))
    interval = wording.brackets(row.low, row.high)
    return mean if interval == wording.ABSENT else f"{mean} {{\\scriptsize {interval}}}"


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + " \\\\"

"""A comparison as one HTML file that stands alone: nothing is loaded, everything is escaped, the verdict comes first."""

import base64
import hashlib
import re
from collections.abc import Iterator
from importlib.resources import files

from leadline.errors import printable
from leadline.report import comparison_figures as figures
from leadline.report import comparison_sections as sections
from leadline.report import wording
from leadline.report.comparing import ComparisonReport
from leadline.report.comparison_parts import command, data_text, escaped
from leadline.report.comparison_payload import Payload
from leadline.report.html_page import STYLE, powered_section
from leadline.scores import Verdict

CONTENTS = "<!-- contents -->"
"""Where the links to the sections will stand."""


def comparison_page(report: ComparisonReport) -> str:
    """The page of a comparison, complete.

    It loads nothing: style and script stand in it, and its policy lets a browser use only those two, by their
    hashes. It can be read without its script, but for the choice of a measure and the table of queries. Up to
    2,000 queries are carried one by one with their rankings to depth 20; of more, those that moved most, and all
    of them as blocks and as a distribution, which the page says.
    Source of the policy: Content Security Policy Level 3 (W3C), hashes of inline elements.
    """
    payload = Payload(report)
    title = _title(payload)
    script = _resource("comparison.js")
    data = f'<script type="application/json" id="data">{data_text(payload.to_dict())}</script>\n'
    return _framed(title, _with_contents("\n".join(_body(report, payload, title))), script, data)


def verdict_page(found: Verdict, title: str, line: str = "") -> str:
    """The page of a verdict that came before anything was scored; `line` is the command that does it again."""
    body = [f"<h1>{escaped(title)}</h1>", sections.bare_verdict(found)]
    body += [f"<h2>How to reproduce</h2>{command(line)}"] if line else []
    return _framed(title, "\n".join(body))


def _framed(title: str, body: str, script: str = "", data: str = "") -> str:
    """A whole page around its body; a browser may use its style and its script alone, by their hashes."""
    style = STYLE + _resource("comparison.css")
    scripts = f"'{_digest(script)}'" if script else "'none'"
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    )
    end = f"{data}<script>{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n"
        f"{end}</body>\n</html>\n"
    )


def _with_contents(body: str) -> str:
    """The body with a name for each section and, after the verdict, a list of links to them."""
    found: list[str] = []

    def named(match: re.Match[str]) -> str:
        found.append(match[1])
        return f'<h2 id="part{len(found)}">{match[1]}</h2>'

    body = re.sub(r"<h2>(.*?)</h2>", named, body)
    links = "".join(f'<li><a href="#part{place}">{text}</a></li>' for place, text in enumerate(found, 1))
    return body.replace(CONTENTS, f'<nav aria-label="Contents"><ul>{links}</ul></nav>', 1)


def _resource(name: str) -> str:
    return (files("leadline") / "report" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _title(payload: Payload) -> str:
    if not payload.rows:
        return "Nothing to compare"
    first = payload.rows[0]
    candidates = list(dict.fromkeys(row.candidate for row in payload.rows))
    named = candidates[0] if len(candidates) == 1 else f"{len(candidates)} candidates"
    return f"{printable(named)} against {printable(first.baseline)}"


def _body(report: ComparisonReport, payload: Payload, title: str) -> Iterator[str]:
    yield f"<h1>{escaped(title)}</h1>"
    yield f'<p class="soft">Retrieval compared query by query. leadline {escaped(wording.tool_version())}</p>'
    yield from sections.verdict(report)
    yield CONTENTS
    yield from sections.story(report)
    if report.comparisons:
        yield from sections.numbers(report)
        yield from powered_section(report.scores)
        yield from figures.differences(report, payload)
    if payload.rows:
        yield "<h2>Query by query</h2>"
        yield _chooser(payload)
        yield from figures.query_by_query(payload)
    yield from figures.by_depth(report)
    yield from figures.slices(report)
    yield from sections.moved(report)
    if payload.rows:
        yield from _queries(payload)
    yield from sections.account(report)
    yield from sections.warnings(report)
    yield from sections.again(report)


def _chooser(payload: Payload) -> str:
    """The choice of measure and candidate, which the script fills with life; hidden without it."""
    measures = "".join(
        f'<option value="{index}">{escaped(wording.heading(payload.report.scores, name))}</option>'
        for index, name in enumerate(payload.measures)
    )
    found = dict.fromkeys((row.candidate, row.baseline) for row in payload.rows)
    candidates = "".join(
        f'<option value="{index}">{escaped(candidate)} against {escaped(baseline)}</option>'
        for index, (candidate, baseline) in enumerate(found)
    )
    both = f'<label>Measure <select class="choose-measure">{measures}</select></label>'
    if len(found) > 1:
        both += f'<label>Systems <select class="choose-pair">{candidates}</select></label>'
    return f'<div class="tools needs-script" hidden>{both}</div>'


def _queries(payload: Payload) -> Iterator[str]:
    """The place of the table of queries, which the script fills."""
    total, listed = len(payload.all_queries), len(payload.listed)
    yield (
        "<h2>All queries</h2>"
        if payload.whole
        else f"<h2>The {listed:,} queries that moved most, of {total:,}</h2>"
    )
    if not payload.whole:
        yield (
            f'<p class="soft">By the first measure. The other {total - listed:,} are in the plots and the numbers '
            "above; their values are in the files that <code>--write</code> makes.</p>"
        )
    yield "<noscript><p>The table that can be sorted and searched needs JavaScript, which is off here.</p></noscript>"
    yield _chooser(payload)
    yield (
        '<div class="tools needs-script" hidden><label>Search <input type="search" id="search" '
        'placeholder="id or text" autocomplete="off"></label>'
        '<label>Show <select id="show"><option value="all">all</option><option value="gained">gained</option>'
        '<option value="lost">lost</option><option value="equal">equal</option>'
        '<option value="unjudged">with unjudged documents</option><option value="none">without a value</option>'
        "</select></label>"
        '<span id="shown" class="soft" aria-live="polite"></span></div>'
        '<div class="wide needs-script" id="queries" role="region" tabindex="0" aria-label="Queries" hidden></div>'
        '<div class="tools needs-script" id="pages" hidden></div>'
    )
    yield (
        '<p class="soft needs-script" hidden>Open a query to see both rankings side by side. u: unanswered, counted as 0; '
        "–: undefined, not in the mean; e: error, not in the mean.</p>"
    )

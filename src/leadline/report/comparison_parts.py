"""The pieces of HTML that a comparison's page is put together from: tables, lists, commands, signed numbers."""

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from leadline.errors import printable
from leadline.report import wording
from leadline.report.json_text import strict

LONG_NAME = 160
"""Characters of an id that are shown; ids often differ in their last ones, so both ends are kept."""


def escaped(text: object) -> str:
    """Text as HTML shows it, also inside an attribute; control characters are made visible.

    >>> escaped('</script>"')
    '&lt;/script&gt;&quot;'
    """
    return html.escape(printable(str(text)))


def shortened(text: str) -> str:
    """A name with its control characters made visible and, where it is very long, its middle left out.

    >>> shortened("a" * 200 + "b")[-80:] == "a" * 79 + "b"
    True
    """
    text = printable(text)
    half = LONG_NAME // 2
    return text if len(text) <= LONG_NAME else f"{text[: half - 1]}…{text[-half:]}"


def signed(value: float | None) -> str:
    """A difference to four decimals with its sign, or a dash where there is none.

    >>> signed(0.0466), signed(-0.5), signed(None)
    ('+0.0466', '-0.5000', '–')
    """
    return f"{value:+.4f}" if value is not None and wording.has_value(value) else wording.ABSENT


def interval(low: float | None, high: float | None) -> str:
    """The interval of a difference in brackets, or a dash where it could not be computed.

    >>> interval(-0.01, 0.03), interval(None, None)
    ('[-0.0100, +0.0300]', '–')
    """
    if not (wording.has_value(low) and wording.has_value(high)):
        return wording.ABSENT
    return f"[{signed(low)}, {signed(high)}]"


def chance(p: float | None) -> str:
    """A p to four decimals; one that would print as zero says so.

    >>> chance(0.0123), chance(0.00001), chance(None)
    ('0.0123', '<0.0001', '–')
    """
    return "<0.0001" if p is not None and 0 <= p < 0.00005 else wording.number(p)


def table(
    label: str, head: Sequence[tuple[str, bool]], rows: Sequence[Sequence[object]], kind: str = ""
) -> str:
    """A table that scrolls sideways by itself where the page is narrow; the first cell of a row is its header.

    `head` holds each column's name and whether it is numeric; what stands in `rows` is escaped here. `kind` is
    a class of the box.
    """
    columns = "".join(
        f'<th scope="col"{" class=num" if numeric else ""}>{escaped(name)}</th>' for name, numeric in head
    )
    body = []
    for first, *others in rows:
        cells = [f'<th scope="row"{" class=num" if head[0][1] else ""}>{escaped(first)}</th>']
        cells += [
            f"<td{' class=num' if numeric else ''}>{escaped(cell)}</td>"
            for cell, (_, numeric) in zip(others, head[1:], strict=True)
        ]
        body.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="wide {kind}" role="region" tabindex="0" aria-label="{escaped(label)}">'
        f"<table><thead><tr>{columns}</tr></thead>\n<tbody>\n" + "\n".join(body) + "\n</tbody></table></div>"
    )


def pairs(values: Mapping[str, Any]) -> str:
    """Names and values as a list; true and false in words."""
    items = "".join(
        f"<dt>{escaped(key)}</dt><dd>{escaped(_said(value))}</dd>" for key, value in values.items()
    )
    return f"<dl>{items}</dl>"


def bullets(lines: Sequence[str]) -> str:
    """Sentences as a list; nothing where there are none."""
    return f"<ul>{''.join(f'<li>{escaped(line)}</li>' for line in lines)}</ul>" if lines else ""


def command(line: str) -> str:
    """A command, ready to be copied."""
    return f'<pre class="command" tabindex="0"><code>{escaped(line)}</code></pre>'


def folded(summary: str, content: str) -> str:
    """Content behind a line that opens it; it stands open where the page is printed."""
    return f"<details><summary>{escaped(summary)}</summary>\n{content}\n</details>"


def data_text(value: object) -> str:
    """A value as JSON that may stand inside a script element: no character of it can end the element.

    Source: HTML Living Standard, "Restrictions for contents of script elements": with `<` written as its JSON
    escape, neither an end tag nor a comment can begin.

    >>> data_text({"a": "</script><!--"})
    '{"a":"\\\\u003c/script>\\\\u003c!--"}'
    """
    text = json.dumps(strict(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _said(value: object) -> object:
    if value is None:
        return "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_said(item)}" for key, item in value.items()) or "none"
    return ("yes" if value else "no") if isinstance(value, bool) else value

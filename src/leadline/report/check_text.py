"""What `leadline check` prints: faults and warnings as text, Markdown and JSON."""

from collections.abc import Iterator
from typing import Any

from leadline.errors import amount, printable
from leadline.lint.codes import CODES
from leadline.lint.finding import Finding, Findings, Looked, place
from leadline.report.json_text import document_text
from leadline.report.wording import tool_version

WIDTH = 100
SHOWN = 60
"""How much of a text that was found is shown."""


def check_text(found: Findings, every: bool = False) -> str:
    """The findings for a terminal: each file, its faults by kind, the warnings, and how many there are."""
    lines = [_looked(one) for one in found.looked]
    for first, rows in _by_kind(found, every):
        lines += ["", *_wrapped(f"{printable(first.file)}: {amount(first.count, 'fault')}, {first.code}", "")]
        lines += [
            line
            for row in rows
            for line in _wrapped(f"{_where(row)}{_found(row)}{row.message}", "  ", "    ")
        ]
        if first.count > len(rows):
            lines.append(f"  and {first.count - len(rows)} more (--all shows all)")
        lines += _wrapped(f"what to do: {CODES[first.code].advice}", "  ")
    lines += [""] if found.warnings else []
    for one in found.all(every):
        if one.severity == "warning":
            lines += _wrapped(f"! {printable(one.file)}: {one.message} [{one.code}]", "", "  ")
            seen = _examples(one)
            lines += _wrapped(f"seen: {seen}", "  ", "    ") if seen else []
            lines += _wrapped(f"what to do: {CODES[one.code].advice}", "  ", "    ")
    return "\n".join([*lines, "", _sum(found)]) + "\n"


def check_markdown(found: Findings, every: bool = False) -> str:
    """The findings as a page: the files, and a table of what was found."""
    lines = ["# Check", "", *(f"- {_marked(_looked(one))}" for one in found.looked), ""]
    if found.n_faults or found.warnings:
        lines += ["| | code | where | what | count |", "|---|---|---|---|---|"]
        for one in found.all(every):
            where = place(one.file, one.line, one.path) + (f":{one.column}" if one.column else "")
            what = (
                f"{_found(one)}{one.message}"
                if one.severity == "fault"
                else f"{one.message}; {CODES[one.code].advice}"
            )
            cells = (one.severity, f"`{one.code}`", _marked(where), _marked(what), str(one.count))
            lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join([*lines, f"{_sum(found)}."]) + "\n"


def check_json(found: Findings, every: bool = False) -> str:
    """The findings as one JSON object (docs/reference/json-check.md)."""
    return document_text(
        {
            "leadline": tool_version(),
            "command": "check",
            "ok": not found.n_faults,
            "n_faults": found.n_faults,
            "n_warnings": len(found.warnings),
            "files": [_facts(one) for one in found.looked],
            "findings": [_row(one) for one in found.all(every)],
        }
    )


def _facts(one: Looked) -> dict[str, Any]:
    return {
        "file": one.file,
        "kinds": list(one.kinds),
        "format": one.format,
        "rows": one.rows,
        "judgments": one.judgments,
        "queries": one.queries,
        "documents": one.documents,
        "answers": one.answers.get("answers"),
        "claims": one.answers.get("claims"),
        "labels": one.answers.get("labels"),
    }


def _row(one: Finding) -> dict[str, Any]:
    return {
        "code": one.code,
        "severity": one.severity,
        "file": one.file,
        "line": one.line,
        "column": one.column,
        "path": one.path or None,
        "found": one.found,
        "message": one.message,
        "count": one.count,
        "examples": list(one.examples),
        "advice": CODES[one.code].advice,
    }


def _by_kind(found: Findings, every: bool) -> Iterator[tuple[Finding, list[Finding]]]:
    """The faults that are shown, by kind; one kind of one file has one count and stands together."""
    rows: list[Finding] = []
    for one in found.faults(every):
        if rows and (
            len(rows) == rows[0].count
            or (one.file, one.code, one.count) != (rows[0].file, rows[0].code, rows[0].count)
        ):
            yield rows[0], rows
            rows = []
        rows.append(one)
    if rows:
        yield rows[0], rows


def _looked(one: Looked) -> str:
    counts = (
        (one.rows, "row", "rows"),
        (one.judgments, "judgment", "judgments"),
        (one.queries, "query", "queries"),
        (one.documents, "document", "documents"),
        *((one.answers.get(f"{what}s"), what, f"{what}s") for what in ("answer", "claim", "label")),
    )
    told = [amount(count, single, many) for count, single, many in counts if count is not None]
    if not one.kinds:
        return f"{printable(one.file)}: not read ({one.format})"
    kinds = ", ".join("a run" if kind == "run" else kind for kind in one.kinds)
    return f"{printable(one.file)}: {kinds} ({one.format}); {', '.join(told)}"


def _where(one: Finding) -> str:
    if one.path:
        return f"{printable(one.path)}: "
    if one.line is None:
        return ""
    return f"line {one.line}" + (f", column {one.column}" if one.column is not None else "") + ": "


def _found(one: Finding) -> str:
    if not one.found:
        return ""
    text = printable(one.found)
    return f"found {(text if len(text) <= SHOWN else text[: SHOWN - 1] + '…')!r}, "


def _examples(one: Finding) -> str:
    first = [place(one.file, one.line)] if one.line is not None and not one.examples else []
    shown = [*one.examples[:3], *first]
    own = f"{printable(one.file)}:"
    shown = [f"line {text.removeprefix(own)}" if text.startswith(own) else text for text in shown]
    more = ", …" if len(one.examples) > 3 else ""
    return ", ".join(shown) + more


def _wrapped(text: str, first: str, rest: str = "") -> list[str]:
    """The text in lines of the terminal's width; what cannot be broken stands longer."""
    import textwrap

    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest or f"{first}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _marked(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def _sum(found: Findings) -> str:
    if not found.n_faults and not found.warnings:
        return "no fault and no warning"
    return f"{amount(found.n_faults, 'fault')}, {amount(len(found.warnings), 'warning')}"

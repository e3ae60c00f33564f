"""Writes the generated parts of the pages from the code they describe, and the picture of the README.

`python docs/build.py` rewrites them; `--check` fails where one is stale. A generated part stands in its page
between `<!-- generated: NAME -->` and `<!-- end -->`; everything else is written by hand.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

from measured import table

DOCS = Path(__file__).resolve().parent
README = DOCS.parent / "README.md"
PICTURE = DOCS / "images" / "demo.svg"
REFERENCE = DOCS / "reference"


def code(words: Iterable[str]) -> str:
    """Words as code, apart at commas."""
    return ", ".join(f"`{word}`" for word in words)


def measure_list() -> str:
    """All measures in one table."""
    from leadline.catalogue import TABLE

    head = ("measure", "in words", "value", "example")
    return table(
        head, [(f"[`{d.name}`](#{d.name.lower()})", d.title, d.summary, f"`{d.example}`") for d in TABLE]
    )


def measures() -> str:
    """Each measure in full."""
    from leadline.catalogue import TABLE

    return "\n\n".join(map(_measure, TABLE))


def _measure(one: Any) -> str:
    from leadline.cli.measures import bounds_said

    cutoff = {
        "no": "takes no cutoff",
        "optional": "cutoff optional",
        "required": "cutoff required",
        "level": "the number after `@` is a recall level from 0 to 1",
    }[one.cutoff]
    facts = [
        ("write it as", f"`{one.example}`; {cutoff}"),
        ("averaged by", one.aggregate),
        (
            "no evidence" if one.needs == "evidence" else "no relevant document",
            "undefined" if one.needs_relevant else "defined",
        ),
        ("best value", {None: "no upper limit"}.get(one.high, f"{one.high:g}" if one.high else "")),
        ("better is", one.better),
        ("bounds", bounds_said(one)),
        ("over ties", "expected value in closed form" if one.expected else "by document id only"),
        ("elsewhere", one.differs),
    ]
    if one.high is not None and one.better == "lower":
        facts[3] = ("greatest value", f"{one.high:g}")
    parts = [f"### {one.name}", "", f"*{one.title}.* {one.summary}", ""]
    parts += [inspect.cleandoc(one.function.__doc__ or ""), "", table(("", ""), facts)]
    if one.parameters:
        rows = [(f"`{p.name}`", _accepts(p), _default(p.default), p.meaning) for p in one.parameters]
        parts += ["", table(("parameter", "takes", "default", "meaning"), rows)]
    return "\n".join(parts)


def _default(value: object) -> str:
    return "none" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _accepts(parameter: Any) -> str:
    if isinstance(parameter.accepts, tuple):
        return code(parameter.accepts)
    return {
        "flag": "`true`, `false`",
        "gain": "`exp2`, `linear` or a map",
        "unit gain": "`binary`, `exp2`, `linear` or a map",
    }.get(parameter.accepts, f"a {parameter.accepts}")


def trec_eval_names() -> str:
    """The spellings of trec_eval and how they are read."""
    from leadline.spelling import TREC_EVAL

    return table(
        ("trec_eval", "read as"), [(f"`{name}`", f"`{ours}`") for name, ours in dict(TREC_EVAL).items()]
    )


def other_names() -> str:
    """The names of other tools and how they are read."""
    from leadline.spelling import OTHERS

    return table(("name", "read as"), [(f"`{name}`", f"`{ours}`") for name, ours in OTHERS.items()])


def commands() -> str:
    """Every command with its arguments and options."""
    import typer

    from leadline.cli.main import app

    root = typer.main.get_command(app)
    parts = ["## leadline", "", _options(root)]
    for name, command in flat(root):
        usage = "".join(f" {_metavar(p)}" for p in command.params if p.param_type_name == "argument")
        usage += " COMMAND" if hasattr(command, "commands") else ""
        told = inspect.cleandoc(command.help or "")
        text, _, example = told.partition("Example: ")
        parts += ["", f"## leadline {name}", "", text.strip(), "", "```text"]
        parts += [
            f"leadline {name} [OPTIONS]{usage}",
            "```",
            "",
            f"Example: `{example.strip()}`",
            "",
            *([_options(command)] if command.params else []),
        ]
    return "\n".join(parts)


def flat(group: Any, above: str = "") -> Iterable[tuple[str, Any]]:
    """Every command below a group, by its whole name; a group stands before its own."""
    for name, command in group.commands.items():
        yield f"{above}{name}", command
        if hasattr(command, "commands"):
            yield from flat(command, f"{above}{name} ")


def _options(command: Any) -> str:
    from leadline.config import KINDS

    hints = get_type_hints(inspect.unwrap(command.callback))
    settable = KINDS if command.name == "evaluate" else {}
    rows = [_option(one, str(hints.get(one.name, "")), one.name in settable) for one in command.params]
    return table(("argument or option", "takes", "meaning"), rows)


def _option(one: Any, hint: str, settable: bool) -> tuple[str, str, str]:
    if one.param_type_name == "argument":
        return f"`{_metavar(one)}`", "text", one.help or ""
    kind = next((word for word in ("int", "float", "bool") if word in hint), "str")
    takes = {"int": "a whole number", "float": "a number", "bool": "nothing", "str": "text"}[kind]
    if "completion" in one.name:
        takes = "nothing"
    meaning = [one.help.rstrip(".") + "." if one.help else ""]
    if isinstance(one.default, (str, int, Path)) and not isinstance(one.default, bool):
        meaning.append(f"Default: `{one.default}`.")
    if one.multiple:
        meaning.append("May be repeated.")
    if settable:
        meaning.append(f"Setting: `{one.name}`.")
    return (
        code([*one.opts, *one.secondary_opts]),
        f"`{one.metavar}`" if one.metavar else takes,
        " ".join(meaning),
    )


def _metavar(one: Any) -> str:
    text = one.metavar or one.name.upper()
    return f"{text}..." if one.nargs == -1 else text


def settings() -> str:
    """What leadline.toml and the environment may say."""
    from leadline.config import KINDS

    words = {str: "text", int: "whole number", float: "number", bool: "true or false", list: "list of texts"}

    def kind(kinds: Any) -> str:
        found = kinds if isinstance(kinds, tuple) else (kinds,)
        return "number" if found == (int, float) else " or ".join(words[one] for one in found)

    rows = [(f"`{name}`", f"`LEADLINE_{name.upper()}`", kind(kinds)) for name, kinds in KINDS.items()]
    return table(("in leadline.toml", "in the environment", "takes"), rows)


def profiles() -> str:
    """Every profile and every switch."""
    from leadline.conventions import PROFILES, Conventions

    names = [field.name for field in fields(Conventions) if field.name != "profile"]
    told = {name: one.to_dict() for name, one in PROFILES.items()}

    def cell(profile: str, switch: str) -> str:
        value = told[profile][switch]
        text = "none" if value is None else ("no", "yes")[value] if isinstance(value, bool) else str(value)
        return f"**{text}**" if value != told["leadline-1"][switch] else text

    rows = [(f"`{switch}`", *(cell(profile, switch) for profile in told)) for switch in names]
    return table(("switch", *(f"`{name}`" for name in told)), rows)


def switches() -> str:
    """What each switch means, from the docstring of the conventions."""
    from leadline.conventions import Conventions

    doc = inspect.cleandoc(Conventions.__doc__ or "").partition("----------\n")[2]
    entries = re.findall(r"^(\w+): (.*(?:\n {4}.*)*)", doc, re.MULTILINE)
    return table(("switch", "meaning"), [(f"`{name}`", re.sub(r"\s+", " ", text)) for name, text in entries])


def columns(kind: str) -> Callable[[], str]:
    """The accepted column names of one kind of table."""

    def made() -> str:
        from leadline.formats.columns import MEANINGS, say

        rows = [(say(meaning), code(s.names), code(s.weak) or "–") for meaning, s in MEANINGS[kind].items()]  # type: ignore[index]
        return table(("column", "names", "only where no other name gives it"), rows)

    return made


def ignored_columns() -> str:
    """The columns that are passed over."""
    from leadline.formats.columns import IGNORED

    return code(IGNORED)


def rag_fields() -> str:
    """The accepted fields of RAG rows."""
    from leadline.formats.ragfields import FIELDS

    return table(("meaning", "names"), [(meaning, code(one.names)) for meaning, one in FIELDS.items()])


def input_formats() -> str:
    """What --input-format takes."""
    from leadline.formats.sniff import FORMATS

    return code(FORMATS)


def tool_formats() -> str:
    """The formats of other tools, from their table."""
    from leadline.formats.tools import TABLE

    rows = [
        (
            f"`{tool.name}`",
            tool.of,
            tool.what.replace("|", "\\|"),
            ", ".join(tool.holds),
            ", ".join(tool.writes) or "–",
            tool.keyed,
        )
        for tool in TABLE
    ]
    return table(("name", "tool", "file", "read as", "written from", "queries by"), rows)


def tool_losses() -> str:
    """What each format of another tool keeps of judgments, from the same table."""
    from leadline.formats.losses import WORDS
    from leadline.formats.tools import TABLE

    asked = ("fraction", "blank", "judges", "note", "mark", "space")
    rows = [
        (f"`{tool.name}`", *("yes" if feature in tool.keeps else "–" for feature in asked))
        for tool in TABLE
        if "judgments" in tool.writes
    ]
    return table(("format", *(WORDS[feature][1] for feature in asked)), rows)


def kept_by() -> str:
    """Which format keeps what, for every kind of table, from the tables that `leadline convert` reads."""
    from leadline.formats.lists import KINDS
    from leadline.formats.losses import HELD, OWN, REFUSED, SAMPLED, WORDS, kept
    from leadline.formats.tools import TABLE

    parts = []
    for kind in KINDS:
        forms = [name for name in OWN[kind] if name != "book"] + [t.name for t in TABLE if kind in t.writes]
        keeps = {form: kept(kind, form) for form in forms}
        counted = [name for name in WORDS if name in HELD[kind] or (kind == "judgments" and name in SAMPLED)]
        asked = [name for name in counted if not all(name in keeps[form] for form in forms)]
        asked = [name for name in asked if name != "broken"]
        no = {name: "refused" if name in REFUSED else "–" for name in asked}
        rows = [
            (f"`{form}`", *("yes" if name in keeps[form] else no[name] for name in asked)) for form in forms
        ]
        parts += [
            f"**{'A run' if kind == 'run' else kind.capitalize()}**",
            "",
            table(("format", *(WORDS[n][1] for n in asked)), rows),
            "",
        ]
    return "\n".join(parts).rstrip()


def report_kinds() -> str:
    """The endings that --write knows."""
    from leadline.report.files import KINDS

    return code(KINDS)


def check_codes() -> str:
    """Every code of a check, from its table."""
    from leadline.lint.codes import TABLE

    rows = [(f"`{one.name}`", one.severity, one.meaning, one.advice) for one in TABLE]
    return table(("code", "is a", "meaning", "what to do"), rows)


SECTIONS: dict[str, dict[str, Callable[[], str]]] = {
    "measures.md": {
        "list": measure_list,
        "measures": measures,
        "trec_eval names": trec_eval_names,
        "other names": other_names,
    },
    "commands.md": {"commands": commands, "settings": settings},
    "profiles.md": {"profiles": profiles, "switches": switches},
    "json-check.md": {"check codes": check_codes},
    "formats.md": {
        "input formats": input_formats,
        "run columns": columns("run"),
        "qrels columns": columns("qrels"),
        "queries columns": columns("queries"),
        "ignored columns": ignored_columns,
        "rag fields": rag_fields,
        "tool formats": tool_formats,
        "tool losses": tool_losses,
        "kept": kept_by,
        "report kinds": report_kinds,
    },
}
"""The generated parts of each reference page."""


def built(page: str) -> str:
    """The text of a reference page with its generated parts as the code has them now."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    for name, make in SECTIONS[page].items():
        begin, end = f"<!-- generated: {name} -->\n", "<!-- end -->"
        head, found, rest = text.partition(begin)
        if not found or end not in rest:
            raise ValueError(f"{page}: no part between {begin.strip()} and {end}")
        text = f"{head}{begin}\n{make()}\n\n{end}{rest.partition(end)[2]}"
    return text


STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1c2430 } .head { font-weight: 600 } .tick { fill: #5b6675; font-size: 12px }
.grid { stroke: #d8dde4 } .mark { stroke: #0b63a5; stroke-width: 2 } circle.mark { fill: #0b63a5 }
@media (prefers-color-scheme: dark) { text { fill: #e6eaf0 } .tick { fill: #a0abba } .grid { stroke: #343d49 }
.mark { stroke: #6cb4f0 } circle.mark { fill: #6cb4f0 } }
</style>"""


def picture() -> str:
    """The demo's means and intervals as a picture, from the table that the README shows."""
    shown = README.read_text(encoding="utf-8").partition("documents of Python")[2].partition("```")[0]
    panels: dict[str, list[tuple[str, float, float, float]]] = {}
    row = re.compile(r"  (\w+) +([\d.]+) \[([\d.]+), ([\d.]+)\]")
    measure = ""
    for line in shown.splitlines():
        match = row.match(line)
        if match:
            panels.setdefault(measure, []).append(
                (match[1], float(match[2]), float(match[3]), float(match[4]))
            )
        else:
            measure = line
    parts, y = [], 4
    for measure in ("nDCG@10 (gain 2^g−1)", "R@10"):
        parts.append(f'<text class="head" x="8" y="{y + 14}">{measure}</text>')
        y += 26
        for step in range(6):
            parts.append(
                f'<line class="grid" x1="{_x(step / 5)}" x2="{_x(step / 5)}" y1="{y}" y2="{y + 72}"/>'
            )
            parts.append(
                f'<text class="tick" x="{_x(step / 5)}" y="{y + 87}" text-anchor="middle">{step / 5:g}</text>'
            )
        for place, (system, mean, low, high) in enumerate(panels[measure]):
            at = y + 14 + 22 * place
            ends = f'x1="{_x(low)}" x2="{_x(high)}" y1="{at}" y2="{at}"'
            parts.append(f'<text x="24" y="{at + 4}">{system}</text><line class="mark" {ends}/>')
            parts.append(f'<circle class="mark" cx="{_x(mean)}" cy="{at}" r="4"/>')
            parts.append(f'<text class="tick" x="520" y="{at + 4}">{mean:.4f} [{low:.4f}, {high:.4f}]</text>')
        y += 104
    title = "Means and 95 % intervals of three retrievers on the demonstration"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 {y}" width="700" height="{y}" role="img">'
    )
    return "\n".join([head, f"<title>{title}</title>", STYLE, *parts, "</svg>"]) + "\n"


def _x(value: float) -> float:
    return round(100 + 400 * value, 1)


def stale() -> dict[Path, str]:
    """The files whose content is not what it should be, with that content."""
    wanted = {REFERENCE / page: built(page) for page in SECTIONS}
    wanted[PICTURE] = picture()
    return {
        path: text
        for path, text in wanted.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main(check: bool) -> int:
    """Rewrite what is stale, or with `check` only say so."""
    found = stale()
    for path, text in found.items():
        print(f"{path.relative_to(DOCS.parent)}: {'stale' if check else 'written'}")
        if not check:
            path.write_text(text, encoding="utf-8")
    return int(check and bool(found))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))

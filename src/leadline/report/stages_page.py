"""The stages of a pipeline as one HTML page that stands alone: a card a stage from left to right, and the way of the evidence."""

from leadline.report import wording
from leadline.report.html_page import POLICY, STYLE, escaped
from leadline.report.stages import HEAD, Measured, Stage, Stages

MORE_STYLE = """
body { max-width: 84rem; }
.stages { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1rem; margin: 1rem 0;
  padding: 0; list-style: none; }
.stages > li { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .9rem 1rem;
  min-width: 0; display: flex; flex-direction: column; }
.stages h2 { margin: 0; } .stages h2 .at { color: var(--soft); font-weight: 400; margin-right: .4rem; }
.stages .number { margin: .7rem 0 0; } .stages .number .value { display: flex; justify-content: space-between;
  gap: .75rem; align-items: baseline; }
.stages .value strong { font-variant-numeric: tabular-nums; }
.bar { height: .5rem; border-radius: .25rem; background: var(--line); overflow: hidden; margin: .15rem 0; }
.bar > span { display: block; height: 100%; background: var(--mark); }
.small { font-size: .85rem; } .stages .more { margin-top: auto; padding-top: .75rem; }
code { font: .8rem ui-monospace, monospace; overflow-wrap: anywhere; }
a { color: var(--mark); } summary { color: var(--soft); font-size: .85rem; cursor: pointer; }
.way { display: flex; height: 2.2rem; border-radius: .35rem; overflow: hidden; border: 1px solid var(--line); }
.way > span { min-width: 1px; border-right: 1px solid var(--page); background: var(--line); overflow: hidden;
  text-align: center; line-height: 2.2rem; }
.way > .worst, .way > .arrives, .key.worst, .key.arrives { color: var(--page); }
.way > .worst { background: var(--warn); } .way > .arrives { background: var(--mark); border-right: 0; }
.key { display: inline-block; width: 1.4rem; line-height: 1.4rem; margin: .1rem .5rem .1rem 0;
  border-radius: .15rem; background: var(--line); text-align: center; }
.key.worst { background: var(--warn); } .key.arrives { background: var(--mark); }
"""


def stages_html(found: Stages) -> str:
    """One page: where most is lost, the way of the evidence as one bar, and a card for each stage, left to right."""
    cards = "\n".join(_card(place, stage) for place, stage in enumerate(found.stages, start=1))
    parts = [
        f"<h1>{escaped(found.title)}</h1>",
        f'<p class="soft">leadline {escaped(wording.tool_version())}, demo</p>',
        f"<p><strong>{escaped(found.sentence)}</strong></p>",
        *(f"<p>{escaped(line)}</p>" for line in found.beside),
        f'<ol class="stages">\n{cards}\n</ol>',
        "<h2>The way of the evidence</h2>",
        _way(found),
        "<h2>What the numbers stand on</h2>",
        f"<ul>{''.join(f'<li>{escaped(line)}</li>' for line in found.notes)}</ul>",
    ]
    head = (
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(found.title)}</title>\n<style>{STYLE}{MORE_STYLE}</style>"
    )
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n'


def _card(place: int, stage: Stage) -> str:
    links = " · ".join(f'<a href="{escaped(target)}">{escaped(text)}</a>' for text, target in stage.links)
    command = ""
    if stage.command:
        command = (
            f"<details><summary>measure it again</summary><code>{escaped(stage.command)}</code></details>"
        )
    return (
        f'<li><h2><span class="at">{place}</span>{escaped(stage.name)}</h2>'
        f'<p class="soft">{escaped(stage.question)}</p>'
        + "".join(map(_number, stage.measured))
        + "".join(f'<p class="small">{escaped(line)}</p>' for line in stage.told)
        + f'<div class="more">{f"<p>{links}</p>" if links else ""}{command}</div></li>'
    )


def _number(one: Measured) -> str:
    """A number with its bar; the bar only repeats the number, so readers of text are not told it twice."""
    mean, ends, count = one.cells
    bar = ""
    if one.share and one.mean is not None:
        width = max(0.0, min(1.0, one.mean)) * 100
        bar = f'<div class="bar" aria-hidden="true"><span style="width: {width:.2f}%"></span></div>'
    return (
        f'<div class="number"><div class="value"><span>{escaped(one.name)}</span><strong>{escaped(mean)}</strong></div>'
        f'{bar}<div class="soft small">{escaped(HEAD[3])} {escaped(ends)}, n {escaped(count)}</div></div>'
    )


def _way(found: Stages) -> str:
    """One bar, as long as all evidence: what is lost at each step, and at its right end what arrives."""
    worst = found.worst
    steps = [(one.step, one.share, "worst" if one is worst else "") for one in found.losses]
    steps.append(("sent", found.arrives, "arrives"))
    drawn = "".join(
        f'<span class="{kind}" style="width: {share * 100:.2f}%">{number}</span>'
        for number, (_, share, kind) in enumerate(steps, 1)
        if share > 0
    )
    listed = "".join(
        f'<li><span class="key {kind}">{number}</span>{escaped(step)}: {share:.4f}</li>'
        for number, (step, share, kind) in enumerate(steps, 1)
    )
    return (
        f'<div class="way" aria-hidden="true">{drawn}</div>\n'
        f'<ul style="list-style: none; padding: 0">{listed}</ul>'
        '<p class="soft">Shares of the evidence, means over questions; together they are 1.</p>'
    )

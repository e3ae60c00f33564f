"""A judge's certificate as one HTML page that stands alone: no script, nothing loaded, everything escaped."""

from collections.abc import Iterator

from leadline.certificate import Certificate
from leadline.report.certificate_pictures import PICTURES, confusion_picture, difference_plot
from leadline.report.certificate_text import headed, headline, tables
from leadline.report.comparison_parts import bullets, escaped, folded, table
from leadline.report.html_page import POLICY, STYLE
from leadline.report.lines_and_tables import Table

MATRIX = (
    "A row is a grade that people gave, a column a grade that the model gave. Each cell has its pairs and their share of "
    "the row; a deeper shade is a larger share. Where both agree the cell is framed."
)
BAND = (
    "The shaded band is ±M/2, half the margin named. The judge may gate a measure where the whole interval lies within the "
    "band: a dot. A hollow square lies outside, or has no interval."
)


def certificate_page(made: Certificate) -> str:
    """One page: the verdict, agreement, the confusion matrix as a picture and as a table, runs by both sets of labels."""
    body = made.body
    first, *others = headline(made)
    name = body["judge"]["model"] if body["judge"] else "a judge that is not known"
    title = f"Certificate of {name}"
    parts = [
        f"<h1>{escaped(title)}</h1>",
        f'<p class="soft">leadline {escaped(body["leadline"])}, certify</p>',
        f"<p><strong>{escaped(first[:1].upper() + first[1:])}.</strong></p>",
        bullets(others),
        *_remarks(made),
    ]
    numbers, matrix, by_grade, *more = tables(made, None)
    parts += ["<h2>Agreement</h2>", _table(numbers)]
    parts += [
        "<h2>Where they differ</h2>",
        *_matrix(made, matrix),
        f"<h3>{escaped(by_grade[0])}</h3>",
        _table(by_grade),
    ]
    parts += _measures(made, more)
    head = (
        '<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped(title)}</title>\n<style>{STYLE}{PICTURES}</style>"
    )
    inside = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n<main>\n{inside}\n</main>\n</body>\n</html>\n'


def _remarks(made: Certificate) -> Iterator[str]:
    if made.body["remarks"]:
        told = bullets(made.body["remarks"])
        yield f'<section class="warnings" aria-label="To know"><strong>To know</strong>{told}</section>'


def _matrix(made: Certificate, numbers: Table) -> Iterator[str]:
    picture = confusion_picture(made.body)
    if picture:
        yield f'<figure><figcaption>{escaped(numbers[0])}</figcaption>{picture}<p class="soft">{escaped(MATRIX)}</p></figure>'
        yield folded("The same as a table", _table(numbers))
    else:
        yield f"<p>{escaped(numbers[0])}</p>"


def _measures(made: Certificate, more: list[Table]) -> Iterator[str]:
    """Each measure's plot with its table, then the order of the runs."""
    measures = list(dict.fromkeys(check.measure for check in made.checks))
    if measures:
        yield "<h2>Runs by both sets of labels</h2>"
    for place, measure in enumerate(measures):
        checks = [check for check in made.checks if check.measure == measure]
        plot = difference_plot(sorted(checks, key=lambda check: -(check.difference or 0.0)), f"plot{place}")
        caption = f"{headed(made, measure)}: mean difference, model less people, 95 % interval"
        yield (
            f"<figure><figcaption>{escaped(caption)}</figcaption>"
            f'<div class="wide" role="region" tabindex="0" aria-label="{escaped(caption)}">{plot}</div>'
            f'<p class="soft">{escaped(BAND)}</p></figure>'
        )
        yield folded("The same as a table", _table(more[place]))
    for systems in more[len(measures) :]:
        yield f"<h2>{escaped(systems[0])}</h2>"
        yield _table(systems)


def _table(told: Table) -> str:
    title, head, rows, texts = told
    columns = [(name or "what", place >= texts) for place, name in enumerate(head)]
    return table(title, columns, rows)

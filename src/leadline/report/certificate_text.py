"""A judge's certificate, and the drift of a judge, for a terminal and as Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from leadline.account import heading
from leadline.certificate import Certificate
from leadline.errors import amount
from leadline.judging.certify import sentence
from leadline.report.json_text import document_text
from leadline.report.lines_and_tables import Table, markdown, plain_text
from leadline.report.wording import ABSENT
from leadline.spelling import parse

MOST_GRADES = 10
"""How many grades a confusion table of 100 columns has room for."""
SHOWN = 20
"""How many runs of a measure are shown, those that differ most; the JSON and the page have all."""
DESIGNS = {
    "random": "drawn at random",
    "stratified": "drawn at random within strata",
    "pool": "every pair of a stated pool",
    None: "how it was drawn is not stated",
}


def certificate_text(made: Certificate) -> str:
    """The certificate for a terminal, in at most 100 columns."""
    return plain_text(headline(made), tables(made), notes(made))


def certificate_markdown(made: Certificate) -> str:
    """The certificate as Markdown."""
    return markdown(headline(made), tables(made), notes(made))


def certificate_json(made: Certificate) -> str:
    """The certificate as `formats.certificate.read_certificate` reads it back."""
    return document_text(made.body)


def headline(made: Certificate) -> list[str]:
    """The verdict, the judge and the sample, a sentence each."""
    body = made.body
    sample = body["sample"]
    return [
        sentence(made),
        f"judge: {judge_words(body['judge'])}",
        f"sample: {DESIGNS[sample['design']]}; {amount(sample['pairs'], 'pair')} of "
        f"{amount(sample['queries'], 'query', 'queries')} that people and the model judged; "
        f"{sample['human_without_model']} by people alone, {sample['model_without_human']} by the model alone",
        f"made on {body['date']}, seed {body['seed']}",
    ]


def judge_words(judge: Mapping[str, Any] | None) -> str:
    """A judge in one line, whatever of it is known.

    >>> judge_words({"model": "m", "prompt_hash": "ab", "parameters": {"temperature": 0}})
    'm, prompt hash ab, temperature 0'
    """
    if judge is None:
        return "not known"
    parts = [str(judge["model"])]
    parts += [f"{name.replace('_', ' ')} {judge[name]}" for name in ("endpoint", "prompt") if judge.get(name)]
    parts += [f"prompt hash {judge['prompt_hash']}"] if judge.get("prompt_hash") else []
    parts += [f"{name} {value}" for name, value in dict(judge.get("parameters") or {}).items()]
    parts += [f"parser {judge['parser']}"] if judge.get("parser") else []
    return ", ".join(parts)


def tables(made: Certificate, most: int | None = SHOWN) -> list[Table]:
    """All tables of the certificate; of each measure the `most` runs that differ most."""
    body = made.body
    found = [_numbers(body), confusion_table(body), _by_grade(body)]
    for measure in dict.fromkeys(check.measure for check in made.checks):
        found.append(gating_table(made, measure, most))
    return found + ([_systems(made, body["systems"])] if body["systems"] else [])


def notes(made: Certificate) -> list[str]:
    """What to know before believing it."""
    return [f"! {text}" for text in made.body["remarks"]]


def figure(value: float | None, signs: bool = False) -> str:
    """A number to three decimals, a dash where it could not be computed."""
    return ABSENT if value is None else f"{value:+.3f}" if signs else f"{value:.3f}"


def ends(row: Mapping[str, Any], signs: bool = False) -> str:
    """The interval of a row with low and high in brackets; else why there is none."""
    if row.get("low") is None or row.get("high") is None:
        return str(row.get("reason") or ABSENT)
    return f"[{figure(row['low'], signs)}, {figure(row['high'], signs)}]"


def _numbers(body: Mapping[str, Any]) -> Table:
    grade = body["majority"]["grade"]
    kappa, plain, above = body["kappa"], body["kappa_unweighted"], body["majority"]["above"]
    rows = [
        ["exact agreement", figure(body["exact_agreement"]), ends(body["agreement"])],
        [f"majority class: {grade:g} for every pair", figure(body["majority_baseline"]), ABSENT],
        ["agreement less majority class", figure(above["value"], True), ends(above, True)],
        [f"kappa, {kappa['weights']} weights", figure(kappa["value"]), ends(kappa)],
        ["kappa, unweighted", figure(plain["value"]), ends(plain)],
        ["Gwet AC2, quadratic weights", figure(body["ac2"]), ABSENT],
        ["model less human grade, mean", figure(body["bias"]["value"], True), ends(body["bias"], True)],
    ]
    return ("Agreement", ["", "value", f"{100 * kappa['level']:g} % interval over queries"], rows, 1)


def confusion_table(body: Mapping[str, Any]) -> Table:
    """How often the model gave the grade of the column where people gave that of the row."""
    grades = [f"{grade:g}" for grade in body["grades"]]
    if len(grades) > MOST_GRADES:
        return (
            f"Pairs by both grades: {len(grades)} grades are too many for a table; the JSON has it",
            [""],
            [],
            1,
        )
    rows = [
        [f"people {name}", *map(str, counts), str(sum(counts))]
        for name, counts in zip(grades, body["confusion"], strict=True)
    ]
    sums = [str(sum(column)) for column in zip(*body["confusion"], strict=True)]
    rows.append(["all", *sums, str(body["n"])])
    return ("Pairs by both grades", ["", *(f"model {name}" for name in grades), "all"], rows, 1)


def _by_grade(body: Mapping[str, Any]) -> Table:
    counts, shares = ("human", "model", "both"), ("of_human", "of_model")
    head = ["grade", "people", "model", "both", "of people's", "of the model's"]
    rows = [
        [f"{row['grade']:g}", *(str(row[name]) for name in counts), *(figure(row[name]) for name in shares)]
        for row in body["by_grade"]
    ]
    return ("Share on which both agree, grade by grade", head, rows, 1)


def gating_table(made: Certificate, measure: str, most: int | None = SHOWN) -> Table:
    """The checks of one measure, those that differ most first."""
    of_it = [check for check in made.checks if check.measure == measure]
    ordered = sorted(of_it, key=lambda check: -abs(check.difference or 0.0))
    rows = [
        [
            check.system,
            figure(check.difference, True),
            ends(vars(check), True),
            str(check.n),
            "yes" if check.within else "no",
        ]
        for check in ordered[:most]
    ]
    half = of_it[0].margin / 2
    left = len(of_it) - len(rows)
    title = f"{headed(made, measure)} by the model's labels less that by people's, mean over queries"
    title += f" ({left} more in the JSON)" if left else ""
    return (title, ["run", "difference", "95 % interval", "queries", f"within ±{half:g}"], rows, 1)


def headed(made: Certificate, measure: str) -> str:
    """A measure's name as tables print it: with its gain where the scale has grades above 1."""
    return heading(parse(measure), made.body["grades"][-1])


def _systems(made: Certificate, systems: Mapping[str, Any]) -> Table:
    rows = []
    for row in (systems, *systems["others"]):
        for name in ("tau", "tau_ap"):
            interval = {"low": row[f"{name}_low"], "high": row[f"{name}_high"], "reason": row["reason"]}
            said = "tau_AP, people's order as the truth" if name == "tau_ap" else "Kendall's tau"
            rows.append(
                [headed(made, row["measure"]), said, figure(row[name]), ends(interval), str(row["queries"])]
            )
    head = ["measure", "", "value", "95 % interval", "queries"]
    return (
        f"Order of {amount(systems['systems'], 'run')} by people's and by the model's labels",
        head,
        rows,
        2,
    )


def drift_text(report: Mapping[str, Any]) -> str:
    """The drift for a terminal, in at most 100 columns."""
    return plain_text(drift_lines(report), _drift_tables(report))


def drift_markdown(report: Mapping[str, Any]) -> str:
    """The drift as Markdown."""
    return markdown(drift_lines(report), _drift_tables(report))


def drift_lines(report: Mapping[str, Any]) -> list[str]:
    """What changed, and what follows for the certificate, a sentence each."""
    from leadline.judging.drift import VOID

    judges = report["judges"]
    lines = [f"old judge: {judge_words(judges['old'])}", f"new judge: {judge_words(judges['new'])}"]
    if report["void"]:
        parts = ", ".join(row["part"].replace("_", " ") for row in report["differs"])
        lines.append(f"another judge ({parts}): {VOID}; certify the new one")
    elif report["void"] is None:
        lines.append(f"whether it is the same judge is not known; {VOID}")
    else:
        lines.append("the same judge: what differs is its own unsteadiness")
    if "certificates" in report:
        return [
            *lines,
            "two certificates side by side; nothing is tested, for that give the two files of labels",
        ]
    changed, step = report["changed"], report["mean_change"]
    lines.insert(
        0,
        f"{changed['pairs']} of {amount(report['n'], 'pair')} changed their grade ({changed['value']:.1%}), by "
        f"{figure(step['value'], True)} {ends(step, True)} on average over {amount(report['queries'], 'query', 'queries')}",
    )
    return (
        lines + [_tested(report)] + ([_kappa_words(report["kappa_change"])] if report["kappa_change"] else [])
    )


def _tested(report: Mapping[str, Any]) -> str:
    by_query, by_pair = report["by_query"], report["stuart_maxwell"]
    if by_query["p"] is None:
        return f"whether the grades' shares changed could not be tested: {by_query['reason']}"
    return (
        f"shares of the grades: p {_chance(by_query['p'])} by query ({by_query['method']}), "
        f"p {_chance(by_pair['p'])} by pair (Stuart–Maxwell, as if the pairs of a query were independent)"
    )


def _chance(p: float | None) -> str:
    return ABSENT if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _kappa_words(row: Mapping[str, Any]) -> str:
    return (
        f"kappa with people ({row['weights']} weights, {amount(row['n'], 'pair')}): {figure(row['old'])} before, "
        f"{figure(row['new'])} now, {figure(row['value'], True)} {ends(row, True)}"
    )


def _drift_tables(report: Mapping[str, Any]) -> Sequence[Table]:
    if "certificates" in report:
        rows = [
            [row["what"].replace("_", " "), _shown(row["old"]), _shown(row["new"])]
            for row in report["certificates"]
        ]
        return [("", ["", "old", "new"], rows, 3)]
    shares = [[f"{row['grade']:g}", f"{row['old']:.1%}", f"{row['new']:.1%}"] for row in report["shares"]]
    moves = [[f"{row['old']:g} → {row['new']:g}", str(row["pairs"])] for row in report["moves"]]
    found: list[Table] = [("Share of each grade", ["grade", "old", "new"], shares, 1)]
    return found + ([("Moves from grade to grade", ["move", "pairs"], moves, 1)] if moves else [])


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{figure(value['value'])} {ends(value)}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(f"{one:g}" for one in value)
    return figure(value) if isinstance(value, float) else ABSENT if value is None else str(value)

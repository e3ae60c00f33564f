"""`leadline certify`: how far a model judge agrees with people, and whether its labels may be reported or gate."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli import options
from leadline.cli.chosen import grade_list, grade_map, rules_of, settled, without_judgments
from leadline.errors import UsageError, printable

if TYPE_CHECKING:
    from leadline.certificate import Certificate, Judge
    from leadline.judging.measured_twice import MeasuredTwice
    from leadline.judging.two_judges import Reading, TwoJudges
    from leadline.tables import Conflicts

FORMATS = ("table", "json", "md")
ENDINGS = (".json", ".html", ".md", ".txt")
REQUIRED = ("reporting", "gating")
NOT_VALID = 1
MARGIN = 0.02
OF_RUNS = {
    "measures": "-m",
    "margin": "--margin",
    "duplicates": "--duplicates",
    "input_format": "--input-format",
    "plugin": "--plugin",
}
"""Options that say nothing where no run is measured."""

CertifiedRuns = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RUN]...", help="Runs to measure by both sets of labels; without them: for reporting only."
    ),
]
Human = Annotated[
    str,
    typer.Option(
        metavar="FILE", help="People's judgments: any format, or a book, whose models' rows are left aside."
    ),
]
ModelLabels = Annotated[
    str,
    typer.Option(
        metavar="FILE", help="The model's labels of the same pairs: any format, or a book with its rows."
    ),
]
Sample = Annotated[
    str | None,
    typer.Option(
        help="How the pairs that people judged were drawn: random, stratified, or pool (every pair of a stated pool)."
    ),
]
Grades = Annotated[
    str | None,
    typer.Option(
        metavar="G,…", help="The whole scale (default: 0 to the greatest grade of people, or to --max-grade)."
    ),
]
ModelConflicts = Annotated[
    str | None,
    typer.Option(
        "--conflicts", help="A pair that the model labelled twice: error, first, last, max, min or majority."
    ),
]
HumanConflicts = Annotated[
    str | None,
    typer.Option("--human-conflicts", help="The same for people's file; in a book the rule is latest."),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", help="The judge, where no card or book says it; picks one of a book's judges."),
]
Endpoint = Annotated[str | None, typer.Option(metavar="URL", help="With --model: where the judge is asked.")]
Prompt = Annotated[str | None, typer.Option(help="With --model: name and version of the prompt.")]
PromptHash = Annotated[str | None, typer.Option(help="With --model: the hash of the prompt's text.")]
Parser = Annotated[str | None, typer.Option(help="With --model: the version of what reads the replies.")]
Parameters = Annotated[
    str | None, typer.Option(metavar="JSON", help="""With --model: such as '{"temperature": 0}'.""")
]
Require = Annotated[
    str | None, typer.Option(help="reporting or gating: exit 1 where the certificate is not valid for that.")
]
MostDifference = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="How much worse would still do, in the measure's own units (default: 0.02); a judge must keep to half of it.",
    ),
]
CertificateWrite = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="Also write: .json (what the gate reads), .html, .md or .txt."),
]


def certify(
    human: Human,
    model_labels: ModelLabels,
    runs: CertifiedRuns = None,
    measures: options.Measures = None,
    margin: MostDifference = None,
    sample: Sample = None,
    grades: Grades = None,
    grade_map: options.GradeMap = None,
    max_grade: options.MaxGrade = None,
    conflicts: ModelConflicts = None,
    human_conflicts: HumanConflicts = None,
    model: ModelName = None,
    endpoint: Endpoint = None,
    prompt: Prompt = None,
    prompt_hash: PromptHash = None,
    parser: Parser = None,
    parameters: Parameters = None,
    require: Require = None,
    seed: options.Seed = None,
    profile: options.Profile = None,
    duplicates: options.Duplicates = None,
    input_format: options.InputFormat = None,
    qrels_format: options.QrelsFormat = None,
    plugin: options.Plugin = None,
    format: Annotated[str | None, typer.Option(help="table, json or md.")] = None,
    write: CertificateWrite = None,
    quiet: options.Quiet = False,
) -> None:
    """Certify a model judge against people: kappa, the majority class, the confusion, and each measure by both labels.

    Printing a certificate succeeds (0), valid or not; with --require it exits 1 where it is not valid for that.

    Example: leadline certify --human q.txt --model-labels m.txt a.run -m nDCG@10 --sample random --write c.json
    """
    given = dict(locals())
    chosen = settled(given)
    form = chosen["format"] or "table"
    _refuse(form, write or [], require)
    if not runs:
        idle = next((name for name in OF_RUNS if given[name] not in (None, [])), None)
        if idle is not None:
            raise UsageError(f"{OF_RUNS[idle]} goes with runs: leadline certify … RUN -m MEASURE --margin M")
    said = judge_said(
        **{
            name: given[name]
            for name in ("model", "endpoint", "prompt", "prompt_hash", "parser", "parameters")
        }
    )
    made = _made(given, chosen, said)
    writers = _writers()
    for path in write or []:
        _save(path, writers[Path(path).suffix.lower()](made))
    typer.echo(writers["." + form](made), nl=False)
    valid = made.body["valid_for_gating"] if require == "gating" else made.valid
    if require is not None and not valid:
        raise typer.Exit(NOT_VALID)


def judge_said(
    model: str | None,
    endpoint: str | None = None,
    prompt: str | None = None,
    prompt_hash: str | None = None,
    parser: str | None = None,
    parameters: str | None = None,
) -> "Judge | None":
    """The judge by the options; None where none is named.

    Raises
    ------
    UsageError: parts of a judge without --model, or parameters that are no JSON object.

    >>> judge_said("m", prompt_hash="ab").prompt_hash
    'ab'
    """
    from leadline.certificate import Judge

    parts = {"endpoint": endpoint, "prompt": prompt, "prompt_hash": prompt_hash, "parser": parser}
    given = {name: text for name, text in parts.items() if text}
    if model is None:
        more = [*given, *(["parameters"] if parameters else [])]
        if more:
            raise UsageError(f"--{more[0].replace('_', '-')} goes with --model NAME")
        return None
    try:
        read = json.loads(parameters or "{}")
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise UsageError(f"--parameters {printable(str(parameters))!r} is no JSON object")
    return Judge(model, parameters=read, **given)


def _refuse(form: str, write: list[str], require: str | None) -> None:
    """Refuse before any work what cannot end well."""
    if form not in FORMATS:
        raise UsageError(f"--format {form!r} is not one of {', '.join(FORMATS)}")
    if require is not None and require not in REQUIRED:
        raise UsageError(f"--require {require!r} is not one of {', '.join(REQUIRED)}")
    for path in write:
        if Path(path).suffix.lower() not in ENDINGS:
            raise UsageError(f"{printable(path)}: --write takes {' '.join(ENDINGS)}")


def _made(given: Mapping[str, Any], chosen: Mapping[str, Any], said: "Judge | None") -> "Certificate":
    from leadline.judging.certify import Rules, make_certificate
    from leadline.judging.two_judges import put_together, read_model, read_people

    rules = Rules(given["sample"], seed=chosen["seed"] or 0)
    how, of_people, of_model = reading(given, chosen)
    people = read_people(given["human"], of_people, how)
    model = read_model(given["model_labels"], said, of_model, how)
    found = put_together(people, model, grade_list(given["grades"]))
    return make_certificate(found, rules, _measured(found, given, chosen))


def reading(given: Mapping[str, Any], chosen: Mapping[str, Any]) -> "tuple[Reading, Conflicts, Conflicts]":
    """How labels are read, as `evaluate` reads judgments; and the rules for pairs that people, and a model, labelled twice."""
    from leadline.judging.two_judges import SETTLING, Reading

    how = Reading(
        chosen["qrels_format"],
        rules_of(chosen).comments,
        grade_map(chosen["grade_map"]),
        chosen["max_grade"],
    )
    # A setting may name the mean, which would leave the scale: where a pair was labelled twice, a rule is asked for then.
    said = settled({"conflicts": None})["conflicts"]
    usual: Conflicts = said if said in SETTLING else "error"
    return how, given["human_conflicts"] or usual, given["conflicts"] or usual


def _measured(
    found: "TwoJudges", given: Mapping[str, Any], chosen: Mapping[str, Any]
) -> "MeasuredTwice | None":
    """The runs by both sets of labels; None where there are none."""
    runs = given["runs"] or []
    if not runs:
        return None
    from leadline.cli.evaluate import load_plugins, progress
    from leadline.judging.measured_twice import measure_twice
    from leadline.spelling import parse_all

    load_plugins(chosen["plugin"])
    rules = rules_of(chosen)
    asked = parse_all(chosen["measures"] or "nDCG@10", rules)
    tables = without_judgments(runs, chosen, rules, given["quiet"])
    margin = MARGIN if given["margin"] is None else given["margin"]
    with progress(given["quiet"]) as watch:
        watched = tables if watch is None else [watch(one) for one in tables]
        return measure_twice(found, watched, asked, rules, margin, seed=chosen["seed"] or 0)


def _writers() -> Mapping[str, "Callable[[Certificate], str]"]:
    from leadline.report.certificate_page import certificate_page
    from leadline.report.certificate_text import certificate_json, certificate_markdown, certificate_text

    return {
        ".table": certificate_text,
        ".txt": certificate_text,
        ".json": certificate_json,
        ".md": certificate_markdown,
        ".html": certificate_page,
    }


def _save(path: str, text: str) -> None:
    from leadline.formats.write import atomic_write

    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")

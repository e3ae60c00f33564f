"""`leadline drift`: what changed between two versions of a model judge."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli import options
from leadline.cli.certify import Grades, HumanConflicts, ModelConflicts, judge_said, reading
from leadline.cli.chosen import grade_list, settled
from leadline.errors import UsageError, printable

if TYPE_CHECKING:
    from leadline.judging.two_judges import Side

FORMATS = ("table", "json", "md")
ENDINGS = {".json": "json", ".md": "md", ".txt": "table"}
OF_LABELS = (
    "human", "grades", "grade_map", "max_grade", "conflicts", "human_conflicts", "old_model", "new_model",
    "old_prompt_hash", "new_prompt_hash", "seed", "qrels_format",
)  # fmt: skip
"""Options that say nothing of two certificates."""
CERTIFICATE_START = 1 << 20
"""No certificate is as long; a file of labels may be."""


def drift(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="Labels by the old version, or its certificate (.json).")
    ],
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW", help="Labels of the same pairs by the new version, or its certificate."
        ),
    ],
    human: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="People's judgments, for the change of kappa on the same pairs."),
    ] = None,
    grades: Grades = None,
    grade_map: options.GradeMap = None,
    max_grade: options.MaxGrade = None,
    conflicts: ModelConflicts = None,
    human_conflicts: HumanConflicts = None,
    old_model: Annotated[
        str | None, typer.Option(help="The old judge, where no card or book says it.")
    ] = None,
    new_model: Annotated[
        str | None, typer.Option(help="The new judge, where no card or book says it.")
    ] = None,
    old_prompt_hash: Annotated[
        str | None, typer.Option(help="With --old-model: the hash of its prompt.")
    ] = None,
    new_prompt_hash: Annotated[
        str | None, typer.Option(help="With --new-model: the hash of its prompt.")
    ] = None,
    seed: options.Seed = None,
    qrels_format: options.QrelsFormat = None,
    format: Annotated[str, typer.Option(help="table, json or md.")] = "table",
    write: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Also write: .json, .md or .txt.")
    ] = None,
) -> None:
    """Say what changed between two versions of a judge: grades that moved, their shares, kappa. A new model or prompt voids
    the certificate of the old one, whatever is found here.

    Example: leadline drift old-labels.txt new-labels.txt --human q.txt
    """
    given = dict(locals())
    if format not in FORMATS:
        raise UsageError(f"--format {format!r} is not one of {', '.join(FORMATS)}")
    for path in write or []:
        if Path(path).suffix.lower() not in ENDINGS:
            raise UsageError(f"{printable(path)}: --write takes {' '.join(ENDINGS)}")
    certificates = [_is_certificate(path) for path in (old, new)]
    if any(certificates):
        if not all(certificates):
            raise UsageError(
                "one is a certificate and the other is not: give two certificates, or two files of labels"
            )
        report = _of_certificates(given)
    else:
        report = _of_labels(given)
    _show(report, format, write or [])


def _is_certificate(path: str) -> bool:
    """Whether a file is a certificate, whole or damaged, by what it says of itself."""
    place = Path(path)
    if not place.is_file() or place.stat().st_size > CERTIFICATE_START:
        return False
    try:
        read = json.loads(place.read_text(encoding="utf-8-sig"))
    except (ValueError, OSError):
        return False
    return isinstance(read, dict) and read.get("command") == "certify"


def _of_certificates(given: dict[str, Any]) -> dict[str, Any]:
    from leadline.formats.certificate import read_certificate
    from leadline.judging.drift import certificates_differ

    idle = next((name for name in OF_LABELS if given[name] is not None), None)
    if idle is not None:
        raise UsageError(
            f"--{idle.replace('_', '-')} goes with two files of labels, not with certificates, which are taken as they are"
        )
    return certificates_differ(read_certificate(given["old"]), read_certificate(given["new"]))


def _of_labels(given: dict[str, Any]) -> dict[str, Any]:
    from leadline.judging.certify import Rules
    from leadline.judging.drift import drift_report
    from leadline.judging.two_judges import read_model, read_people

    human = given["human"]
    if human is None and given["human_conflicts"] is not None:
        raise UsageError("--human-conflicts goes with --human FILE")
    chosen = settled(given)
    how, of_people, of_model = reading(given, chosen)

    def labels(side: str) -> "Side":
        model, prompt = given[f"{side}_model"], given[f"{side}_prompt_hash"]
        if model is None and prompt is not None:
            raise UsageError(f"--{side}-prompt-hash goes with --{side}-model NAME")
        return read_model(given[side], judge_said(model, prompt_hash=prompt), of_model, how)

    people = None if human is None else read_people(human, of_people, how)
    rules = Rules(seed=chosen["seed"] or 0)
    return drift_report(labels("old"), labels("new"), people, grade_list(given["grades"]), rules)


def _show(report: dict[str, Any], form: str, write: list[str]) -> None:
    from leadline.formats.write import atomic_write
    from leadline.report.certificate_text import drift_markdown, drift_text
    from leadline.report.json_text import document_text

    texts = {"table": drift_text, "json": document_text, "md": drift_markdown}
    for path in write:
        with atomic_write(path) as temporary:
            temporary.write_text(texts[ENDINGS[Path(path).suffix.lower()]](report), encoding="utf-8")
    typer.echo(texts[form](report), nl=False)

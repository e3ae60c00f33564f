"""`leadline init`, `baseline` and `gate`: put a gate into a repository, pin a release, and hold candidates to it."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli import options
from leadline.cli.chosen import listed, prepared
from leadline.cli.evaluate import progress
from leadline.cli.policy_file import BASELINE, policy_text, what_can_be_decided
from leadline.config import FILE, KINDS, PATHS, Settings
from leadline.errors import EmptyInputError, NotComparableError, UsageError, amount, printable

if TYPE_CHECKING:
    from leadline.gating.gate import GateReport
    from leadline.gating.policy import Policy
    from leadline.tables import Qrels

FORMATS = ("table", "json", "md")

Config = Annotated[
    str | None, typer.Option(help="The leadline.toml (default: the nearest, upward from here).")
]
BaselineFile = Annotated[
    str | None, typer.Option("--baseline", help="The pinned baseline (.json or .json.gz).")
]
AcceptChanged = Annotated[
    bool, typer.Option("--accept-changed-judgments", help="Gate although grades were removed or changed.")
]


def init(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN RUN]", help="Two runs, whose spread tells what can be decided."),
    ] = None,
    qrels: Annotated[str, typer.Option(help="The judgments.")] = "qrels.txt",
    queries: Annotated[str | None, typer.Option(help="The table of queries, with their texts.")] = None,
    measures: options.Measures = None,
    margin: Annotated[float, typer.Option(help="The margin of each rule.")] = 0.02,
    profile: options.Profile = None,
    force: Annotated[bool, typer.Option("--force", help="Write over an existing leadline.toml.")] = False,
) -> None:
    """Write a commented leadline.toml, and say the smallest margin that these queries can decide.

    Example: leadline init old.run new.run --qrels qrels.txt -m nDCG@10
    """
    from leadline.conventions import conventions
    from leadline.formats.write import atomic_write
    from leadline.gating.policy import rule_on
    from leadline.spelling import parse_all

    if runs and len(runs) != 2:
        raise UsageError("init takes two runs, or none")
    place = Path(FILE)
    if place.exists() and not force:
        raise UsageError(f"{FILE} is there already; --force writes over it")
    rules = conventions(profile or "leadline-1")
    # As they were asked: the profile in the file reads them again.
    asked = list(parse_all(listed(measures) or ["nDCG@10"], rules))
    for one in asked:
        rule_on(one, rules, margin=margin)
    said = what_can_be_decided(runs or [], qrels, asked, profile, margin)
    with atomic_write(place) as temporary:
        temporary.write_text(policy_text(qrels, queries, asked, margin, profile), encoding="utf-8")
    typer.echo(f"wrote {FILE}")
    for line in said:
        typer.echo(line)
    typer.echo("next: leadline baseline RUN")


def baseline(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run of the release to pin.")],
    out: Annotated[
        str | None, typer.Option("--out", help="Where to write it (default: as leadline.toml says).")
    ] = None,
    config: Config = None,
    qrels: options.Qrels = None,
    quiet: options.Quiet = False,
) -> None:
    """Pin a release's rankings, judgments and measures into one file meant to be committed.

    Example: leadline baseline production.run
    """
    from leadline.formats.source import is_stream
    from leadline.gating.baseline import pin, write_baseline
    from leadline.report.wording import tool_version

    policy, chosen, settings = _read(config, qrels)
    path = out or _baseline_path(policy, settings)
    with progress(quiet) as watch:
        given, _, rules = prepared([run], chosen, watch)
        named = given.paths[0][1]
        texts = (
            given.queries.column("text") if given.queries and "text" in given.queries.frame.columns else {}
        )
        pinned = pin(
            given.runs[0],
            _whose(given.qrels, policy, settings),
            list(policy.parsed.values()),
            rules,
            query_texts={query: text for query, text in texts.items() if text is not None},
            run_path=None if is_stream(named) else named,
            commit=_commit(),
            version=tool_version(),
        )
    if policy.corpus is not None:
        pinned = replace(pinned, corpus_sha256=_corpus_hash(_beside(policy.corpus, settings)))
    if pinned.run_path is not None:
        # The run is found from the baseline's folder, so that both can be committed and moved together.
        pinned = replace(pinned, run_path=os.path.relpath(named, Path(path).parent))
    write_baseline(pinned, path)
    count = 0 if pinned.rankings is None else len(pinned.rankings)
    how = (
        f"{amount(count, 'query', 'queries')} to rank {pinned.depth}"
        if count
        else f"the run {printable(named)} by its hash"
    )
    typer.echo(f"pinned {printable(pinned.system)}: {how}; wrote {printable(path)}")
    typer.echo("next: leadline gate CANDIDATE.run")


def gate(
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The candidate's run.")],
    config: Config = None,
    baseline_file: BaselineFile = None,
    qrels: options.Qrels = None,
    accept_changed_judgments: AcceptChanged = False,
    format: Annotated[str, typer.Option(help="table, json or md.")] = "table",
    write: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Also write: .xml (JUnit) .md .json .html .txt, or .jsonl: what to judge."
        ),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Hold a candidate to the policy in leadline.toml. Exits 0 pass, 1 fail, 3 undecided, 4 not comparable, 5 errors.

    Example: leadline gate candidate.run --write junit.xml --write comment.md
    """
    from leadline.formats.write import atomic_write

    if format not in FORMATS:
        raise UsageError(f"--format {format!r} is not one of {', '.join(FORMATS)}")
    kinds = [(path, _kind(path)) for path in write or []]
    report = gated(candidate, config, baseline_file, qrels, accept_changed_judgments, quiet)
    page = next((place for place, kind in kinds if kind == ".html"), None)
    for place, kind in kinds:
        text = _linked(report, page, place) if page and kind == ".md" else _writers()[kind](report)
        with atomic_write(Path(place)) as temporary:
            temporary.write_text(text, encoding="utf-8")
    typer.echo(_writers()[{"table": ".txt", "json": ".json", "md": ".md"}[format]](report), nl=False)
    raise typer.Exit(report.exit_code)


def _linked(report: "GateReport", page: str, place: str) -> str:
    """The comment with a link to the HTML report written beside it, found from the comment's folder."""
    from leadline.report.gate_text import gate_markdown

    return gate_markdown(report, Path(os.path.relpath(page, Path(place).parent)).as_posix())


def gated(
    candidate: str,
    config: str | None = None,
    baseline_file: str | None = None,
    qrels: str | None = None,
    accept: bool = False,
    quiet: bool = True,
) -> "GateReport":
    """Gate one run file under the policy of a `leadline.toml`; the command and the pytest fixture both call this.

    Raises
    ------
    LeadlineError: wrong use or input, with which the command ends with exit 2.
    """
    from leadline.gating.next_steps import gate_again

    policy, chosen, settings = _read(config, qrels)
    path = baseline_file or _baseline_path(policy, settings)
    flags = ["--accept-changed-judgments"] if accept else []
    files = {
        "candidate": candidate,
        "config": os.path.relpath(settings.path or FILE),
        "qrels": str(chosen["qrels"]),
        "options": _typed({"--baseline": baseline_file, "--qrels": qrels}, *flags),
        "pin_options": _typed({"--out": baseline_file, "--qrels": qrels}),
    }
    with progress(quiet) as watch:
        found = _found(candidate, path, policy, chosen, settings, files, accept, watch)
    return replace(found, command=gate_again(files)[0])


def _found(
    candidate: str,
    path: str,
    policy: "Policy",
    chosen: Mapping[str, Any],
    settings: Settings,
    files: dict[str, str],
    accept: bool,
    watch: Any,
) -> "GateReport":
    """The report on a candidate against the baseline in the file at `path`; whatever it comes to is an outcome."""
    from leadline.door import name_and_path
    from leadline.formats.trec import name_of
    from leadline.gating.baseline import count_gate, read_baseline
    from leadline.gating.gate import gate as gate_tables
    from leadline.gating.gate import unscored

    named, place = name_and_path(None, candidate)
    name = named or name_of(place)
    try:
        pinned = read_baseline(path)
    except NotComparableError as error:
        return unscored(policy, name, str(error), files)
    # The baseline of `power` and `compare` is a run; a pinned file is none.
    files["baseline"] = "BASELINE.run"
    if pinned.run_path is not None:
        files["baseline"] = run = _from_here(pinned.run_path, path)
        files |= {"baseline_run": run} if Path(run).is_file() else {}
    try:
        given, _, rules = prepared([candidate], chosen, watch)
        given = replace(given, qrels=_whose(given.qrels, policy, settings))
    except EmptyInputError as error:
        gated = _counted(path, count_gate, pinned.gated)
        return unscored(policy, name, str(error), files, baseline=pinned.system, gated=gated)
    gated = _counted(path, count_gate, pinned.gated)
    return gate_tables(
        given,
        pinned,
        policy,
        rules,
        accept_changed_judgments=accept,
        gated=gated,
        corpus=_corpus_note(policy, settings, pinned.corpus_sha256),
        files=files,
    )


def _typed(options: Mapping[str, str | None], *flags: str) -> str:
    """The options that were given, as they stand in a command."""
    return shlex.join([w for name, value in options.items() if value for w in (name, value)] + [*flags])


def _counted(path: str, count: Callable[[str], int], before: int) -> int:
    """Count this gating in the baseline's file; where it cannot be written, say so and go on."""
    try:
        return count(path)
    except UsageError as error:
        typer.echo(f"! not counted in the baseline: {error}", err=True)
        return before + 1


def _read(config: str | None, qrels: str | None) -> "tuple[Policy, dict[str, Any], Settings]":
    """The policy, the settings it is scored under, and where they stand."""
    from leadline.gating.policy import policy_of

    settings = Settings.of(Path(config)) if config is not None else Settings.nearest()
    policy = policy_of(settings)
    # Paths as they are found from here: those of the machine are nobody else's business.
    chosen = {name: settings.value(name) for name in KINDS}
    chosen |= {name: _from_folder(chosen[name]) for name in PATHS}
    if qrels is not None:
        chosen["qrels"] = qrels
    if chosen["qrels"] is None:
        raise UsageError(
            f"{printable(str(settings.path))}: where are the judgments? Say qrels = … or --qrels FILE"
        )
    own = {"profile": policy.profile, "measures": policy.measures, "by": policy.by, "k": None}
    complete = policy.judgments == "complete" or None
    return policy, {**chosen, **own, "complete": complete, "judgments": policy.judgments}, settings


def _baseline_path(policy: "Policy", settings: Settings) -> str:
    """The baseline named in the file, beside that file."""
    return _beside(policy.baseline or BASELINE, settings)


def _from_here(run: str, baseline: str) -> str:
    """The baseline's run, which is named from the baseline's folder, as it is found from here."""
    return run if Path(run).is_absolute() else os.path.relpath(Path(baseline).parent / run)


def _from_folder(value: Any) -> Any:
    """An absolute path, such as settings hold, as it is found from here; anything else as it is."""
    if isinstance(value, list):
        return [_from_folder(one) for one in value]
    return os.path.relpath(value) if isinstance(value, str) and Path(value).is_absolute() else value


def _beside(name: str, settings: Settings) -> str:
    """A file that the settings name, found from their folder."""
    folder = settings.path.parent if settings.path is not None else Path()
    return os.path.relpath(name if Path(name).is_absolute() else folder / name)


def _whose(qrels: "Qrels", policy: "Policy", settings: Settings) -> "Qrels":
    """The judgments with what the policy says of who made them."""
    from leadline.gating.certified import as_the_policy_says

    certificate = None if policy.certificate is None else _beside(policy.certificate, settings)
    return as_the_policy_says(qrels, policy, certificate)


def _corpus_hash(path: str) -> str:
    """The hash of the documents' file as it is on disk."""
    from leadline.formats.source import Source

    return Source.open(path).sha256()


def _corpus_note(policy: "Policy", settings: Settings, pinned: str | None) -> str | None:
    """Whether the documents changed since the baseline; None where the policy names no corpus."""
    if policy.corpus is None:
        return None
    path = _beside(policy.corpus, settings)
    if pinned is None:
        return "the baseline pins no corpus: whether it changed is not known"
    if not Path(path).is_file():
        return f"{printable(path)} is not there: whether it changed is not known"
    return "corpus unchanged" if _corpus_hash(path) == pinned else "the corpus has changed since the baseline"


def _commit() -> str | None:
    """The commit that is checked out here; None where there is no repository or no git."""
    program = shutil.which("git")
    if program is None:
        return None
    done = subprocess.run([program, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None if done.returncode == 0 else None


def _kind(path: str) -> str:
    kind = Path(path).suffix.lower()
    if kind not in _writers():
        raise UsageError(
            f"{printable(path)}: the ending names no kind of report; known: {' '.join(sorted(_writers()))}"
        )
    return kind


def _writers() -> Mapping[str, "Callable[[GateReport], str]"]:
    from leadline.report.gate_page import gate_page
    from leadline.report.gate_text import gate_json, gate_junit, gate_markdown, gate_text, to_judge_text

    return {
        ".txt": gate_text,
        ".json": gate_json,
        ".md": gate_markdown,
        ".xml": gate_junit,
        ".jsonl": to_judge_text,
        ".html": gate_page,
    }

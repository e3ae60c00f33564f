"""`leadline pool`: which documents of several systems to judge, in which order, or which random sample of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli import options
from leadline.cli.chosen import listed, prepared, settled, without_judgments
from leadline.cli.evaluate import check_arguments, load_plugins, progress
from leadline.cli.serving import image_hosts
from leadline.errors import UsageError, amount, printable

if TYPE_CHECKING:
    from leadline.judging.pooling import PoolReport, Wish
    from leadline.measure import Measure
    from leadline.tables import Qrels, RunSource

FORMATS = ("table", "json")
KIT = ("kit", "documents", "queries", "guideline", "scale", "who", "image_host")
NOTHING_TO_POOL = 4
"""The exit code where every pair is judged already."""


Depth = Annotated[
    int | None, typer.Option("--k", "-k", min=1, help="Pool the first k documents of each system (10).")
]
Judged = Annotated[str | None, typer.Option(help="What is judged already; those pairs are not listed.")]
JudgingOrder = Annotated[str | None, typer.Option(help="depth (default), fusion, move-to-front or decisive.")]
Budget = Annotated[int | None, typer.Option(min=1, help="List at most so many pairs.")]
Baseline = Annotated[
    str | None, typer.Option(metavar="NAME", help="With --order decisive: the system to beat.")
]
Candidate = Annotated[
    str | None, typer.Option(metavar="NAME", help="With --order decisive: the system that may replace it.")
]
BiasMeasure = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help="The measure of the pool's bias and of decisive order (nDCG@10)."),
]
Together = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,NAME", help="Systems left out together in the pool's bias: variants of one. Repeatable."
    ),
]
Sampled = Annotated[
    str | None, typer.Option(help="stratified: draw pairs by chance, at the rates of --rates.")
]
Rates = Annotated[
    str | None,
    typer.Option(metavar="RANKS=SHARE,…", help="With --sample: such as 1-10=1,11-50=.3,51-100=.05."),
]
PooledQrels = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="With --sample: the whole pool as judgments, −1 where not drawn or not judged (.jsonl .csv .qrels).",
    ),
]
PoolSeed = Annotated[int | None, typer.Option(min=0, help="Seed of the sample and of the draws.")]
Kit = Annotated[
    str | None,
    typer.Option(metavar="FILE.html", help="Also write one offline page to judge with; needs --documents."),
]
KitDocuments = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="With --kit: the documents, as `leadline judge` takes them. Else: which documents texts without ids are.",
    ),
]
KitQueries = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The queries: with --kit their texts and needs; ids by text, where files name these.",
    ),
]
KitGuideline = Annotated[str | None, typer.Option(metavar="FILE.md", help="With --kit: the guideline.")]
KitScale = Annotated[str | None, typer.Option(help="With --kit: the grades, as `leadline judge` takes them.")]
KitWho = Annotated[
    str | None, typer.Option(metavar="NAME", help="With --kit: whose page it is (else the page asks).")
]
KitImageHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--image-host", metavar="HOST", help="With --kit: show images of this host; may be repeated."
    ),
]
PoolWrite = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="Also write: .jsonl or .csv: the pairs to judge; .json: the report."),
]


def pool(
    runs: options.Runs,
    k: Depth = None,
    qrels: Judged = None,
    order: JudgingOrder = None,
    budget: Budget = None,
    baseline: Baseline = None,
    candidate: Candidate = None,
    measures: BiasMeasure = None,
    together: Together = None,
    margin: options.Margin = 0.02,
    sample: Sampled = None,
    rates: Rates = None,
    pooled_qrels: PooledQrels = None,
    seed: PoolSeed = None,
    profile: options.Profile = None,
    format: Annotated[str | None, typer.Option(help="table or json.")] = None,
    write: PoolWrite = None,
    kit: Kit = None,
    documents: KitDocuments = None,
    queries: KitQueries = None,
    guideline: KitGuideline = None,
    scale: KitScale = None,
    who: KitWho = None,
    image_host: KitImageHosts = None,
    duplicates: options.Duplicates = None,
    ignore_self: options.IgnoreSelf = None,
    collapse: options.Collapse = None,
    collapse_separator: options.CollapseSeparator = None,
    collapse_mapping: options.CollapseMapping = None,
    collapse_unmatched: options.CollapseUnmatched = None,
    conflicts: options.Conflicts = None,
    grade_map: options.GradeMap = None,
    comments: options.Comments = None,
    input_format: options.InputFormat = None,
    qrels_format: options.QrelsFormat = None,
    plugin: options.Plugin = None,
    quiet: options.Quiet = False,
) -> None:
    """List what to judge: the first k of all runs, without what is judged. Exits 4 where nothing is left to judge.

    Example: leadline pool bm25.run dense.run --qrels qrels.txt --budget 200 --write to-judge.jsonl
    """
    given = dict(locals())
    page = {name: given.pop(name) for name in KIT}
    _check_kit(page)
    # The setting `order` is how a run is ordered; the option says in which order to judge.
    chosen = settled(given | {"order": None}) | {"documents": None if kit else documents}
    form = _form(chosen["format"] or "table")
    kinds = [(path, _kind(path)) for path in write or []]
    wish = _wish(given, chosen)
    _refuse(runs, chosen, wish, pooled_qrels)
    report = _report(runs, chosen | {"queries": [queries] if queries else None}, wish, quiet)
    _write(report, kinds, pooled_qrels)
    if kit is not None and not report.nothing_left:
        _write_kit(page, report)
    typer.echo(_writers()["." + form](report), nl=False)
    if report.nothing_left:
        raise typer.Exit(NOTHING_TO_POOL)


def _wish(given: Mapping[str, Any], chosen: Mapping[str, Any]) -> "Wish":
    """What was asked for, once it goes together: the options as typed, and as settled with the settings."""
    from leadline.judging.pooling import Wish
    from leadline.judging.sampling import read_rates

    sample, rates, k = given["sample"], given["rates"], given["k"]
    if sample not in (None, "stratified"):
        raise UsageError(f"--sample {sample!r} is not one of stratified")
    if (sample is None) != (rates is None):
        raise UsageError(
            "--sample stratified and --rates go together: --sample stratified --rates 1-10=1,11-50=.3"
        )
    strata = None if rates is None else read_rates(rates)
    depth = chosen["k"] or 10 if strata is None else strata[-1].last
    if strata is not None and k not in (None, depth):
        raise UsageError(f"-k {k} and --rates, which end at rank {depth}, say two depths")
    own = {name: given[name] for name in ("order", "budget", "baseline", "candidate", "margin")}
    families = tuple(tuple(listed(names)) for names in given["together"] or [])
    return Wish(depth, strata=strata, seed=chosen["seed"] or 0, families=families, **own)


def _refuse(runs: list[str], chosen: Mapping[str, Any], wish: "Wish", pooled_qrels: str | None) -> None:
    """Refuse before any work what cannot end well."""
    from leadline.formats.write import format_of

    load_plugins(chosen["plugin"])
    check_arguments("pool", runs, chosen["qrels"], [])
    if pooled_qrels is not None:
        if wish.strata is None:
            raise UsageError("--pooled-qrels goes with --sample: it says which pairs were not drawn")
        format_of(pooled_qrels)


def _report(runs: list[str], chosen: Mapping[str, Any], wish: "Wish", quiet: bool) -> "PoolReport":
    """The pool and the report on it."""
    from leadline.judging.pooling import pooled

    named = dict(chosen) | {"measures": chosen["measures"] or "nDCG@10"}
    with progress(quiet) as watch:
        if named["qrels"] is None:
            tables, measure, rules = _without_judgments(runs, named, quiet)
            qrels: Qrels | None = None
        else:
            given, asked, rules = prepared(runs, named)
            tables, qrels, measure = list(given.runs), given.qrels, next(iter(asked.values()))
            for note in () if quiet else given.notes:
                typer.echo(f"! {note}", err=True)
        read = tables if watch is None else [watch(one) for one in tables]
        return pooled(read, qrels, measure, rules, wish)


def _without_judgments(
    runs: list[str], chosen: Mapping[str, Any], quiet: bool
) -> "tuple[list[RunSource], Measure, Any]":
    """The runs where nothing is judged yet, the measure and the switches."""
    from leadline.cli.chosen import SWITCHES
    from leadline.conventions import conventions
    from leadline.spelling import parse_all

    rules = conventions(chosen["profile"] or "leadline-1", **{name: chosen[name] for name in SWITCHES})
    asked = parse_all(chosen["measures"], rules)
    return without_judgments(runs, chosen, rules, quiet), next(iter(asked.values())), rules


def _write(report: "PoolReport", kinds: list[tuple[str, str]], pooled_qrels: str | None) -> None:
    from leadline.formats.write import atomic_write, write_qrels

    for place, kind in kinds:
        with atomic_write(Path(place)) as temporary:
            temporary.write_text(_writers()[kind](report), encoding="utf-8")
    if pooled_qrels is not None and report.sample is not None:
        write_qrels(report.sample.qrels(), pooled_qrels)


def _check_kit(page: Mapping[str, Any]) -> None:
    """Refuse before any work a kit that cannot be written, and its options without it."""
    if page["kit"] is None:
        # The queries also give ids to files that name queries by text, and the documents to texts without ids.
        alone = ("queries", "documents")
        without = [name for name, value in page.items() if value is not None and name not in alone]
        if without:
            raise UsageError(f"--{without[0].replace('_', '-')} goes with --kit FILE.html")
    elif Path(page["kit"]).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"--kit {printable(page['kit'])}: an offline page is FILE.html")
    elif page["documents"] is None:
        raise UsageError("--kit needs the texts to judge: --documents FILE")
    image_hosts(page["image_host"])


def _write_kit(page: Mapping[str, Any], report: "PoolReport") -> None:
    """Write the offline page with the pairs that the report lists."""
    from leadline.web.kit import write_kit
    from leadline.web.setup import Files, read_files

    assert page["kit"] is not None and page["documents"] is not None
    with TemporaryDirectory() as folder:
        listed = Path(folder, "to-judge.jsonl")
        listed.write_text(_writers()[".jsonl"](report), encoding="utf-8")
        read = read_files(
            Files(
                str(listed),
                page["documents"],
                page["queries"],
                page["guideline"],
                page["scale"],
                (),
                None,
                image_hosts(page["image_host"]),
            )
        )
    for remark in read.remarks:
        typer.echo(f"! {remark}", err=True)
    count = write_kit(page["kit"], read.pairs, read.documents, read.queries, read.rules, page["who"])
    typer.echo(f"wrote {printable(page['kit'])}: {amount(count, 'pair')} to judge offline", err=True)


def _form(form: str) -> str:
    if form not in FORMATS:
        raise UsageError(f"--format {form!r} is not one of {', '.join(FORMATS)}")
    return form


def _kind(path: str) -> str:
    kind = Path(path).suffix.lower()
    if kind not in (".jsonl", ".csv", ".json"):
        raise UsageError(f"{printable(path)}: the ending names no kind of file; known: .jsonl .csv .json")
    return kind


def _writers() -> Mapping[str, "Callable[[PoolReport], str]"]:
    from leadline.report.pool_text import pool_json, pool_text, to_judge_csv, to_judge_lines

    return {".table": pool_text, ".json": pool_json, ".jsonl": to_judge_lines, ".csv": to_judge_csv}

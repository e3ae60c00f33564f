"""`leadline ann`: how many of the true neighbours an index returns, how fast, and what the loss costs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli import options
from leadline.cli.bars import bars
from leadline.errors import UsageError, printable

if TYPE_CHECKING:
    from leadline.ann.fidelity import Agreement, Fidelity
    from leadline.ann.recall import Answers
    from leadline.ann.target import Target
    from leadline.ann.vectors import Vectors
    from leadline.locate.index_cost import IndexCost

FORMATS = ("table", "json")
KINDS = (".json", ".html", ".svg", ".txt")
MOST = 10_000
"""The largest k."""

VectorFile = Annotated[
    str | None,
    typer.Option(
        "--vectors", metavar="FILE", help="The documents' vectors: .npy (ids in a .txt beside) or .parquet."
    ),
]
QueryFile = Annotated[
    str, typer.Option("--queries", metavar="FILE", help="The queries' vectors, the same kinds.")
]
TargetName = Annotated[
    str | None,
    typer.Option(
        help="The index: hnswlib:FILE, usearch:FILE, faiss:FILE, lancedb:FOLDER, qdrant:FOLDER, postgresql://…, "
        "http:TEMPLATE.json, module:function; hnswlib, usearch or faiss alone is built from the vectors."
    ),
]
Returned = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help='What an index returned, instead of --target: JSONL {"query_id", "ids"}.'
    ),
]
Depth = Annotated[int, typer.Option("--k", "-k", min=1, max=MOST, help="How many neighbours.")]
Metric = Annotated[str, typer.Option(help="cosine, ip (inner product) or l2 (Euclidean).")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of the target, such as table=items or ef=64. Repeatable.",
    ),
]
Sweep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=A,B,…", help="Measure under each of these values of one of the target's settings."
    ),
]
Reach = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Name the cheapest setting whose mean recall is at least this."),
]
Exact = Annotated[
    str | None,
    typer.Option(help="target: the truth is the target's own exact search, where vectors cannot be had."),
]
Against = Annotated[
    str | None,
    typer.Option(
        metavar="OTHER",
        help="Without truth: the overlap with another target, another setting (ef=128) or another returned file.",
    ),
]
Filters = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help='The documents that each query\'s filter lets through: JSONL {"query_id", "ids"}.',
    ),
]
Truth = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.npz", help="Keep the exact neighbours here; a search that was stopped goes on."
    ),
]
Judged = Annotated[
    str | None, typer.Option(help="Judgments: also what the loss costs in retrieval measures.")
]
CostMeasures = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help="With --qrels: the measures of the cost (nDCG@10)."),
]
Worst = Annotated[int, typer.Option(min=0, help="How many of the queries that lost most are shown.")]
IgnoreStamps = Annotated[
    bool, typer.Option("--ignore-stamps", help="Go on where the stamps of documents and queries disagree.")
]
PerQuery = Annotated[bool, typer.Option("--per-query", help="With --format json: also every query's recall.")]
AnnFormat = Annotated[str, typer.Option("--format", help="table or json.")]
AnnWrite = Annotated[
    list[str] | None,
    typer.Option(
        "--write", metavar="FILE", help="Also write: .json, .html, .svg (the plot of the sweep) or .txt."
    ),
]


def ann(
    queries: QueryFile,
    vectors: VectorFile = None,
    target: TargetName = None,
    returned: Returned = None,
    k: Depth = 10,
    metric: Metric = "cosine",
    settings: Settings = None,
    sweep: Sweep = None,
    reach: Reach = None,
    exact: Exact = None,
    against: Against = None,
    filters: Filters = None,
    truth: Truth = None,
    qrels: Judged = None,
    measures: CostMeasures = None,
    worst: Worst = 10,
    ignore_stamps: IgnoreStamps = False,
    per_query: PerQuery = False,
    format: AnnFormat = "table",
    write: AnnWrite = None,
    quiet: options.Quiet = False,
) -> None:
    """Compare an index's neighbours with the true ones: recall, latency, and what the loss costs.

    Example: leadline ann --vectors docs.npy --queries queries.npy --target hnswlib:docs.bin --sweep ef=16,32,64,128 --reach 0.95
    """
    given = dict(locals())
    _refuse(given)
    if against is not None:
        with _bars(quiet) as bar:
            overlap = _agreement(given, bar)
        _print_agreement(overlap, given)
        return
    with _bars(quiet) as bar:
        found = _measured(given, bar)
    cost = None if qrels is None else _cost(found, qrels, measures)
    _print(found, cost, given)


def _refuse(given: Mapping[str, Any]) -> None:
    """Refuse before any work what cannot end well."""
    if given["format"] not in FORMATS:
        raise UsageError(f"--format {given['format']!r} is not one of {', '.join(FORMATS)}")
    for path in given["write"] or []:
        if Path(path).suffix.lower() not in KINDS:
            raise UsageError(f"{printable(path)}: the ending names no kind of file; known: {' '.join(KINDS)}")
    if (given["target"] is None) == (given["returned"] is None):
        raise UsageError("name the index with --target, or what it returned with --returned: one of the two")
    if given["exact"] not in (None, "target"):
        raise UsageError(f"--exact {given['exact']!r} is not target")
    if given["returned"] is not None:
        for name in ("sweep", "settings", "exact", "reach"):
            if given[name]:
                word = "set" if name == "settings" else name
                raise UsageError(
                    f"--{word} needs a --target that can be asked; --returned is what came back once"
                )
    if given["against"] is not None:
        for name in ("sweep", "truth", "exact", "filters", "qrels", "reach"):
            if given[name]:
                raise UsageError(
                    f"--against compares two answers without truth; --{name} does not go with it"
                )
    elif given["exact"] is None and given["vectors"] is None:
        raise UsageError(
            "the truth needs --vectors, or --exact target, or --against for the overlap of two indexes"
        )
    if given["exact"] is not None and given["truth"] is not None:
        raise UsageError(
            "--truth keeps what exact search over --vectors finds; with --exact target there is none"
        )
    if given["measures"] and given["qrels"] is None:
        raise UsageError("-m names what the loss costs in; it needs judgments: --qrels FILE")


@contextmanager
def _bars(quiet: bool) -> Iterator[Callable[[str], Callable[[int, int], None] | None]]:
    """Progress bars on standard error, by what they show; none where it is no terminal."""
    with bars(quiet, "items") as shown:
        if shown is None:
            yield lambda text: None
            return

        def bar(text: str) -> Callable[[int, int], None]:
            task = shown.add_task(text, total=None)
            return lambda done, total: shown.update(task, completed=done, total=total)

        yield bar


def _measured(given: Mapping[str, Any], bar: Callable[[str], Any]) -> "Fidelity":
    """Everything that was measured."""
    from leadline.ann.distance import metric_named
    from leadline.ann.study import against_target, against_vectors
    from leadline.ann.vectors import read_vectors

    metric = metric_named(given["metric"])
    queries = read_vectors(given["queries"])
    documents = None if given["vectors"] is None else read_vectors(given["vectors"])
    if given["exact"] is not None:
        with _opened(given["target"], given, documents, queries, metric) as index:
            return against_target(index, queries, metric, _asked(given), bar, documents)
    assert documents is not None
    return against_vectors(
        lambda: _opened(given["target"], given, documents, queries, metric),
        documents,
        queries,
        metric,
        _asked(given),
        bar,
    )


def _asked(given: Mapping[str, Any]) -> Any:
    from leadline.ann.fidelity import read_settings, read_sweeps
    from leadline.ann.study import Asked
    from leadline.ann.target import shown_name

    return Asked(
        shown_name(given["target"] or given["returned"]),
        given["k"],
        returned=given["returned"],
        given=read_settings(given["settings"] or []),
        sweeps=read_sweeps(given["sweep"] or []),
        reach=given["reach"],
        filters=given["filters"],
        truth=given["truth"],
        stamps=not given["ignore_stamps"],
    )


@contextmanager
def _opened(
    name: str, given: Mapping[str, Any], documents: "Vectors | None", queries: "Vectors", metric: str
) -> Iterator["Target"]:
    from leadline.ann.fidelity import read_settings
    from leadline.ann.target import open_target

    settings = read_settings(given["settings"] or [])
    with closing(open_target(name, settings, documents, queries.dimensions, metric)) as index:
        yield index


def _agreement(given: Mapping[str, Any], bar: Callable[[str], Any]) -> "Agreement":
    """The overlap of two targets, two settings or two returned files."""
    from leadline.ann.distance import metric_named
    from leadline.ann.fidelity import Agreement, read_settings
    from leadline.ann.recall import overlap
    from leadline.ann.target import ask_all, shown_name
    from leadline.ann.vectors import read_vectors

    metric, k, other = metric_named(given["metric"]), given["k"], given["against"]
    queries = read_vectors(given["queries"])
    documents = None if given["vectors"] is None else read_vectors(given["vectors"])
    first = given["target"] or given["returned"]

    def ask(name: str, change: Mapping[str, Any], file: bool) -> "tuple[Answers, Any]":
        if file:
            from leadline.ann.remote import read_returned

            return read_returned(name, queries), None
        with _opened(name, given, documents, queries, metric) as index:
            for setting, value in change.items():
                index.change(setting, value)
            timed = ask_all(index, queries, k, watch=bar(f"asking {printable(shown_name(name))}"))
            return timed.answers, timed.latency

    setting = "=" in other and ":" not in other and not Path(other).exists()
    if setting and given["target"] is None:
        raise UsageError("--against a setting needs a --target that can be asked")
    answers, latency = ask(first, {}, given["target"] is None)
    change = read_settings([other]) if setting else {}
    second, other_latency = ask(first if setting else other, change, not setting and Path(other).is_file())
    found = overlap(answers, second, k)
    return Agreement(
        shown_name(first),
        shown_name(other),
        k,
        queries,
        found,
        (latency, other_latency),
        (len(answers.errors), len(second.errors)),
    )


def _cost(found: "Fidelity", qrels: str, measures: Sequence[str] | None) -> "IndexCost":
    """The cost of the loss, by the lists of the setting that details are shown of."""
    from leadline.cli.chosen import labels_of_book, listed
    from leadline.locate.index_cost import cost_under
    from leadline.report.ann_text import chosen_point

    asked = " ".join(listed(list(measures or []))) or f"nDCG@{min(found.k, 10)}"
    return cost_under(found, chosen_point(found), labels_of_book(qrels) or qrels, asked)


def _print(found: "Fidelity", cost: "IndexCost | None", given: Mapping[str, Any]) -> None:
    from leadline.report.ann_json import ann_json
    from leadline.report.ann_page import ann_page, sweep_svg
    from leadline.report.ann_text import ann_text

    worst = given["worst"]
    makers: dict[str, Callable[[], str]] = {
        ".txt": lambda: ann_text(found, cost, worst),
        ".json": lambda: ann_json(found, cost, worst, given["per_query"]),
        ".html": lambda: ann_page(found, cost, worst),
        ".svg": lambda: sweep_svg(found),
    }
    _write(given["write"] or [], makers)
    typer.echo(makers[".json" if given["format"] == "json" else ".txt"](), nl=False)


def _print_agreement(found: "Agreement", given: Mapping[str, Any]) -> None:
    from leadline.report.ann_json import agreement_json
    from leadline.report.ann_text import agreement_text

    makers: dict[str, Callable[[], str]] = {
        ".txt": lambda: agreement_text(found, given["worst"]),
        ".json": lambda: agreement_json(found, given["worst"]),
    }
    for path in given["write"] or []:
        if Path(path).suffix.lower() not in makers:
            raise UsageError(f"{printable(path)}: an overlap is written as {' or '.join(makers)}")
    _write(given["write"] or [], makers)
    typer.echo(makers[".json" if given["format"] == "json" else ".txt"](), nl=False)


def _write(paths: Sequence[str], makers: Mapping[str, Callable[[], str]]) -> None:
    from leadline.formats.write import atomic_write

    for path in paths:
        with atomic_write(path) as temporary:
            temporary.write_text(makers[Path(path).suffix.lower()](), encoding="utf-8")

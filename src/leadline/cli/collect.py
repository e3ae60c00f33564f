"""`leadline collect`: ask a live system every query once, and write its rankings, contexts and answers."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leadline.cli import options
from leadline.cli.bars import bars
from leadline.cli.chosen import listed, settled, which_queries
from leadline.cli.collect_index import index_target, names_an_index
from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.collecting.asking import Query, Target
    from leadline.collecting.collector import Account, Plan, Progress
    from leadline.collecting.journal import Row

FORMATS = ("table", "json")
RUN_ENDINGS = (".run", ".trec", ".txt", ".csv", ".tsv", ".parquet")
TOO_MANY_ERRORS = 5
"""The exit code where more queries failed than allowed."""

TargetOption = Annotated[
    str,
    typer.Option(
        "--target",
        help="What to ask: an address, a template file (.toml, .json), module:function, or elasticsearch:URL, "
        "opensearch:URL, solr:URL with the index or collection; or an index that `leadline ann` knows, "
        "such as hnswlib:FILE or postgresql://…",
    ),
]
QueriesOption = Annotated[list[str] | None, typer.Option("--queries", help="The queries, with their texts.")]
Depth = Annotated[int, typer.Option("--k", "-k", min=1, help="How many documents to ask for.")]
Write = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE", help="Write: .jsonl: the rows; .run .csv .tsv .parquet: the run; .json: the account."
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="NAME=PATH",
        help="Where the answer holds what, such as ids=hits.hits[*]._id; names: ids, scores, texts, contexts, "
        "context_ids, answer, trace_id, system_latency_ms, input_tokens, output_tokens. Repeatable.",
    ),
]
Header = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VARIABLE",
        help="A header of each request; its value is that of the environment variable. Repeatable.",
    ),
]
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--field", metavar="FIELD,…", help="With an engine: the fields searched, such as title^2,body."
    ),
]
TextField = Annotated[
    str | None, typer.Option(help="With an engine: the field whose text is kept with each id.")
]
Configuration = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|ID",
        help="With opensearch:URL of the server: a search configuration, from a file or by its id there.",
    ),
]
QueryVectors = Annotated[
    str | None, typer.Option(metavar="FILE", help="With an index: the queries' vectors, by their ids.")
]
DocumentVectors = Annotated[
    str | None,
    typer.Option(
        "--vectors", metavar="FILE", help="With an index: the documents' vectors, which name its rows."
    ),
]
IndexMetric = Annotated[str, typer.Option("--metric", help="With an index: cosine, ip or l2.")]
IndexSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="With an index: a setting of it, such as ef=64. Repeatable."
    ),
]
Concurrency = Annotated[
    int | None, typer.Option(min=1, max=256, help="How many queries at a time (4; 1 for a function).")
]
Timeout = Annotated[float, typer.Option(min=0.01, help="Seconds that one request may take.")]
Retries = Annotated[
    int, typer.Option(min=0, help="How often to ask again after 429, 5xx, time-out or a lost connection.")
]
MaxErrors = Annotated[
    float, typer.Option(min=0, max=1, help="Exit with 5 where a larger share of the queries failed.")
]
StopAfter = Annotated[int, typer.Option(min=0, help="Stop after so many failures in a row; 0: never.")]
OnlyFailed = Annotated[
    bool, typer.Option("--only-failed", help="Keep the answers of the rows file, ask what failed or is new.")
]


@dataclass(frozen=True)
class _Files:
    """Where to write what; `main` is the first, beside which the journal stands."""

    rows: str | None
    runs: tuple[str, ...]
    reports: tuple[str, ...]
    main: str


def collect(
    target: TargetOption,
    queries: QueriesOption = None,
    k: Depth = 100,
    write: Write = None,
    map: Map = None,
    header: Header = None,
    field: Fields = None,
    text_field: TextField = None,
    search_configuration: Configuration = None,
    query_vectors: QueryVectors = None,
    vectors: DocumentVectors = None,
    metric: IndexMetric = "cosine",
    settings: IndexSettings = None,
    concurrency: Concurrency = None,
    timeout: Timeout = 30.0,
    retries: Retries = 3,
    max_errors: MaxErrors = 0.05,
    stop_after: StopAfter = 20,
    only_failed: OnlyFailed = False,
    format: Annotated[str | None, typer.Option(help="table or json.")] = None,
    quiet: options.Quiet = False,
) -> None:
    """Ask a live system every query once; keep rankings, sent contexts, answers, latency and failures.

    A collection that was broken off goes on where it stopped when the same command is given again.

    Example: leadline collect --target opensearch:http://localhost:9200/docs --field title^2,body \
--queries queries.jsonl -k 100 --write rows.jsonl --write live.run
    """
    from leadline.collecting.client import Patience
    from leadline.collecting.collector import Plan
    from leadline.collecting.outputs import asked_queries
    from leadline.formats.read import read_queries

    chosen = settled({"queries": queries, "format": format})
    form = chosen["format"] or "table"
    if form not in FORMATS:
        raise UsageError(f"--format {form!r} is not one of {', '.join(FORMATS)}")
    files = _files(write or [], only_failed)
    file = which_queries(chosen["queries"])[1]
    if file is None:
        raise UsageError("--queries FILE: what to ask")
    by_vector = (query_vectors, vectors, metric, settings or [])
    wish = _Asked(
        target, _pairs("--map", map), _pairs("--header", header), field, text_field, search_configuration,
        by_vector,
    )  # fmt: skip
    patience = Patience(timeout=timeout, retries=retries)
    asked = asked_queries(read_queries(file))
    system = _target(wish, patience)
    workers = concurrency or (1 if hasattr(system, "function") else 4)
    plan = Plan(k, workers, patience, stop_after)
    account, notes = _collected(system, asked, plan, files, only_failed, quiet)
    _say(account, notes, system.name, k, form, files)
    if account.not_asked or account.failed > max_errors * account.queries:
        raise typer.Exit(TOO_MANY_ERRORS)


@dataclass(frozen=True)
class _Asked:
    """The options that say what is asked."""

    target: str
    where: Mapping[str, str]
    headers: Mapping[str, str]
    fields: list[str] | None
    text_field: str | None
    configuration: str | None
    by_vector: tuple[str | None, str | None, str, list[str]]


def _target(asked: _Asked, patience: "object") -> "Target":
    """The target from its spelling.

    Raises
    ------
    LeadlineError: it is none, or an option does not go with it.
    """
    from leadline.collecting import asking, engines, target

    spec, where, headers = asked.target, asked.where, asked.headers
    engine, _, rest = spec.partition(":")
    if engine in engines.ENGINES:
        wish = engines.Wish(listed(asked.fields), asked.text_field or "", headers, where)
        if asked.configuration is None:
            return engines.engine_target(engine, rest, wish)
        if engine != "opensearch" or asked.fields:
            raise UsageError("--search-configuration goes with opensearch:URL, and without --field")
        return _configured(rest, asked.configuration, wish, patience)
    if names_an_index(spec):
        if headers or where or asked.fields or asked.text_field or asked.configuration:
            raise UsageError("an index takes --query-vectors, --vectors, --metric and --set alone")
        return index_target(spec, *asked.by_vector)
    if asked.by_vector[0] or asked.by_vector[1] or asked.by_vector[3]:
        raise UsageError("--query-vectors, --vectors and --set go with an index, such as hnswlib:FILE")
    if asked.fields or asked.text_field or asked.configuration:
        raise UsageError(
            "--field, --text-field and --search-configuration go with elasticsearch:, opensearch: or solr:"
        )
    if spec.startswith(("http://", "https://")):
        return target.simple_target(spec, headers, where)
    if spec.lower().endswith((".toml", ".json")):
        return target.file_target(spec, headers, where)
    if ":" in spec and "/" not in spec:
        if headers:
            raise UsageError("--header goes with an address; a function takes its own secrets")
        return asking.function_target(spec, where)
    raise UsageError(
        f"--target {spec!r}: neither an address, a file (.toml, .json), module:function, nor "
        f"{', '.join(one + ':URL' for one in engines.ENGINES)}"
    )


def _configured(base: str, given: str, wish: "object", patience: "object") -> "Target":
    """The target of a search configuration, from a file or from the server."""
    from leadline.collecting import engines
    from leadline.collecting.client import Client, Failed, Pace

    assert isinstance(wish, engines.Wish)
    if Path(given).is_file():
        return engines.configured_target(base, engines.read_configuration(given), wish, given)
    ask = engines.configuration_target(base, given, wish)
    client = Client(patience, Pace(), ask.secrets)  # type: ignore[arg-type]
    try:
        found = client.ask(ask.request("", 1, "")).value
    except Failed as failed:
        raise UsageError(f"--search-configuration {given}: no such file, and {ask.name}: {failed}") from None
    finally:
        client.close()
    return engines.configured_target(base, found, wish, given)


def _collected(
    system: "Target", asked: "list[Query]", plan: "Plan", files: _Files, only_failed: bool, quiet: bool
) -> "tuple[Account, list[str]]":
    """Ask, write what there is to write, and say what was not written."""
    from leadline.collecting.collector import ask_all
    from leadline.collecting.journal import Journal, same_questions
    from leadline.collecting.outputs import read_collected

    place = Path(files.main + ".part")
    with Journal(place, system, plan.k) as journal:
        same_questions(journal.rows, asked, str(place))
        if only_failed and files.rows is not None:
            before = {q: row for q, row in read_collected(files.rows).items() if "error" not in row}
            same_questions(before, asked, files.rows)
            for query_id, row in before.items():
                if "error" in journal.rows.get(query_id, {"error": ""}):
                    journal.add(row)
        try:
            with _progress(len(asked), quiet) as moved:
                account = ask_all(system, asked, plan, journal, moved)
        except KeyboardInterrupt:
            typer.echo(
                f"leadline: interrupted; the answers are kept in {place}; the same command goes on", err=True
            )
            raise
        if account.not_asked:
            return account, [
                f"nothing written yet: the answers are kept in {place}; the same command goes on"
            ]
        notes = _write(files, asked, journal.rows)
        journal.done()
    return account, notes


def _write(files: _Files, asked: "list[Query]", rows: "Mapping[str, Row]") -> list[str]:
    from leadline.collecting.outputs import write_ranking, write_rows
    from leadline.formats.trec import name_of

    if files.rows is not None:
        write_rows(asked, rows, files.rows)
    return [said for path in files.runs if (said := write_ranking(asked, rows, path, name_of(path)))]


def _say(account: "Account", notes: list[str], name: str, k: int, form: str, files: _Files) -> None:
    from leadline.report import collected_text

    as_json = collected_text.collected_json(account, notes, name, k)
    for path in files.reports:
        from leadline.formats.write import atomic_write

        with atomic_write(path) as temporary:
            temporary.write_text(as_json, encoding="utf-8")
    text = as_json if form == "json" else collected_text.collected_text(account, notes, name, k)
    typer.echo(text, nl=False)


def _files(write: list[str], only_failed: bool) -> _Files:
    """What to write where, refused before any work where it cannot be."""
    rows = [path for path in write if path.lower().endswith(".jsonl")]
    reports = [path for path in write if path.lower().endswith(".json")]
    runs = [path for path in write if path not in rows and path not in reports]
    for path in runs:
        if not path.lower().removesuffix(".gz").removesuffix(".zst").endswith(RUN_ENDINGS):
            raise UsageError(
                f"{path}: the ending names no kind of file; known: .jsonl .json {' '.join(RUN_ENDINGS)}"
            )
    if len(rows) > 1 or not (rows or runs):
        raise UsageError("--write FILE.jsonl (the rows, once) or --write FILE.run: where the answers go")
    if only_failed and (not rows or not Path(rows[0]).is_file()):
        raise UsageError(
            "--only-failed needs the rows of an earlier collection: --write FILE.jsonl that is there"
        )
    return _Files(rows[0] if rows else None, tuple(runs), tuple(reports), (rows or runs)[0])


def _pairs(option: str, given: list[str] | None) -> dict[str, str]:
    """`NAME=VALUE` entries by name; the value is not repeated in a message, as it may be a secret."""
    found = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f"{option} takes NAME=VALUE, and one of them has no = or nothing beside it")
        if name.strip() in found:
            raise UsageError(f"{option} names {name.strip()} twice")
        found[name.strip()] = value.strip()
    return found


@contextmanager
def _progress(total: int, quiet: bool) -> "Iterator[Progress]":
    """A bar on standard error while queries are asked; none where it is no terminal."""
    with bars(quiet, "items") as shown:
        if shown is None:
            yield lambda done, failed: None
            return
        task = shown.add_task("asking", total=total)

        def moved(done: int, failed: int) -> None:
            shown.update(task, completed=done, description=f"asking, {failed} failed" if failed else "asking")

        yield moved

"""The formats of other tools in one table: what each can hold and keep, and where its reader and writer are.

A reader is `read_NAME(source) -> Held`, a writer `write_NAME(held, path)`, with `-` in the name written as `_`. Each module
is imported when a file needs it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from leadline.errors import UsageError, printable
from leadline.formats.lists import Held, Kind
from leadline.formats.source import Source

Keeps = Literal[
    "fraction", "blank", "judges", "note", "mark", "broken", "space", "text", "need", "remarks", "more", "score",
    "empty", "failed", "query", "id",
]  # fmt: skip
"""What a format can keep: grades with a fraction; pairs that are not judged; who judged; notes; marks, and the mark `broken`;
ids with white space; the queries' texts; their needs; their notes and options; their further fields; scores, not only the
order; empty answers; failed queries; a query without a document; the ids of queries in a file keyed by text.
"""


@dataclass(frozen=True)
class Tool:
    """One format of another tool.

    Attributes
    ----------
    name: as `--input-format` and `--qrels-format` take it. of: the tool. what: the file, in a few words.
    holds: the kinds that are read from it; writes: those that are written. keyed: queries by their `text` or their `id`.
    module: where reader and writer are, in `leadline.formats`. keeps: see `Keeps`.
    ending: of a file that is written, where the user names none.
    """

    name: str
    of: str
    what: str
    module: str
    holds: tuple[Kind, ...]
    writes: tuple[Kind, ...]
    keyed: Literal["text", "id"]
    keeps: frozenset[str]
    ending: str


def _tool(
    name: str, of: str, what: str, module: str, holds: str, writes: str, keyed: str, keeps: str, ending: str
) -> Tool:
    return Tool(
        name, of, what, module, tuple(holds.split()), tuple(writes.split()), keyed, frozenset(keeps.split()), ending  # type: ignore[arg-type]
    )  # fmt: skip


TABLE: tuple[Tool, ...] = (
    _tool("quepid", "Quepid", "ratings: `query,docid,rating`", "quepid",
          "judgments queries", "judgments", "text", "fraction blank space text query", ".csv"),
    _tool("quepid-judges", "Quepid", "a book as CSV: `query,docid` and a column for each judge", "quepid",
          "judgments queries", "judgments", "text", "fraction blank judges space text query", ".csv"),
    _tool("quepid-book", "Quepid", "a book as JSON, with who judged, notes and marks", "quepidjson",
          "judgments queries", "judgments", "text", "fraction blank judges note mark space text need remarks", ".json"),
    _tool("quepid-json", "Quepid", "ratings as JSON", "quepidjson",
          "judgments queries", "judgments", "text", "fraction space text query", ".json"),
    _tool("quepid-snapshot", "Quepid", "a snapshot as CSV: what a case returned", "quepidcsv",
          "run queries", "run", "text", "space text", ".csv"),
    _tool("quepid-needs", "Quepid", "information needs: `query,information_need`", "quepidcsv",
          "queries", "queries", "text", "space text need query", ".csv"),
    _tool("ltr", "Quepid", "lines for learning to rank: `3 qid:1 # 1370 star trek`", "ltr",
          "judgments queries", "judgments", "text", "fraction text id", ".txt"),
    _tool("rank_eval", "Elasticsearch", "a request of `_rank_eval`, with its ratings", "rankeval",
          "judgments queries", "judgments", "id", "space query", ".json"),
    _tool("rank_eval-response", "Elasticsearch", "a response of `_rank_eval`, with its hits", "rankeval",
          "run judgments", "run", "id", "space score empty failed", ".json"),
    _tool("rre", "Rated Ranking Evaluator", "ratings, in each of their shapes", "rre",
          "judgments queries", "judgments", "text", "space text query", ".json"),
    _tool("opensearch", "OpenSearch search relevance", "a judgment list (`IMPORT_JUDGMENT`)", "opensearch",
          "judgments queries", "judgments", "text", "fraction space text query", ".json"),
    _tool("opensearch-queries", "OpenSearch search relevance", "a query set: JSON, NDJSON or plain lines", "opensearch",
          "queries", "queries", "text", "space text need remarks more query", ".json"),
    _tool("opensearch-results", "OpenSearch search relevance", "results of an experiment: `documentIds` of a `searchText`",
          "opensearch", "run queries", "run", "text", "space text empty", ".json"),
    _tool("msmarco", "MS MARCO", "a run: `qid pid rank`, apart at tabs", "msmarco", "run", "run", "id", "", ".tsv"),
    _tool("ranx", "ranx", "a run or judgments as JSON or Parquet", "ranxfile",
          "run judgments", "run judgments", "id", "space score", ".json"),
    _tool("langfuse", "Langfuse", "the items of a dataset, as JSON or JSONL", "langfuse",
          "queries judgments", "queries judgments", "id", "fraction space text need remarks more query", ".jsonl"),
    _tool("smart", "SMART collections", "items of `.I`, `.T`, `.W`, …; queries where their numbers are 1, 2, 3, …", "smart",
          "queries", "", "id", "", ".txt"),
    _tool("smart-number", "SMART collections", "the same; a query's id is its `.I` number, to the letter", "smart",
          "queries", "", "id", "", ".txt"),
    _tool("smart-ordinal", "SMART collections", "the same; a query's id is its place in the file, from 1", "smart",
          "queries", "", "id", "", ".txt"),
    _tool("cranqrel", "Cranfield", "judgments: query, document, grade, of which 1 is best", "smart",
          "judgments", "", "id", "", ".txt"),
    _tool("npl", "NPL (Vaswani)", "entries: a number, lines of text, a line `/`", "npl", "queries", "", "id", "", ".txt"),
    _tool("npl-judgments", "NPL (Vaswani)", "entries: a query's number, lines of document numbers, a line `/`", "npl",
          "judgments", "", "id", "", ".txt"),
    _tool("refchecker", "RefChecker", "answers, their claims and what people said of each", "labelledfiles",
          "queries", "", "id", "", ".json"),
    _tool("faithbench", "FaithBench", "summaries with the passages that people marked, and detectors' verdicts", "labelledfiles",
          "queries", "", "id", "", ".json"),
    _tool("ragchecker-meta", "RAGChecker", "pairs of answers with people's labels, or with its own scores", "labelledfiles",
          "queries", "", "id", "", ".json"),
)  # fmt: skip
"""Every tool's format; the page Formats, the options and the tests all read it."""

BY_NAME = {tool.name: tool for tool in TABLE}
NAMES = tuple(BY_NAME)
IRDS = "irds:"
"""Before the name of a collection that `ir_datasets` reads."""


def read_tool(name: str, source: Source, kind: Kind | None = None) -> Held:
    """What a file in the format `name` holds; with `kind` only where it can hold that.

    Raises
    ------
    UsageError: the format does not hold that kind. InputError, RowsError: the file is wrong.
    """
    tool = BY_NAME[name]
    if kind is not None and kind not in tool.holds:
        held = " and ".join(tool.holds)
        article = "a run" if kind == "run" else kind
        raise UsageError(
            f"{printable(source.name)}: {name} ({tool.of}, {tool.what}) holds {held}, not {article}"
        )
    reader: Callable[[Source], Held] = _function(tool, "read")
    return reader(source)


def write_tool(name: str, held: Held, path: str | Path) -> None:
    """Write a file in the format `name`; what it cannot keep is left out, see `leadline.formats.losses`.

    Raises
    ------
    InputError: an id that the format cannot hold. UsageError: nothing in it that the format holds, or a place that cannot
    be written to.
    """
    tool = BY_NAME[name]
    if not tool.writes:
        raise UsageError(f"{name} is read, not written")
    writer: Callable[[Held, str | Path], None] = _function(tool, "write")
    writer(held, path)


def _function(tool: Tool, verb: str) -> Any:
    module = import_module(f"leadline.formats.{tool.module}")
    return getattr(module, f"{verb}_{tool.name.replace('-', '_')}")

"""What a file holds that is given plainly: told by its content, and by its name where only that is left."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from leadline.errors import InputError, first_line, printable
from leadline.formats.bookfile import is_book, is_rows
from leadline.formats.columns import plain, resolve
from leadline.formats.documents import IDS
from leadline.formats.ragfields import is_rag
from leadline.formats.sniff import recognise
from leadline.formats.source import MARK, Source
from leadline.formats.toolsniff import recognise_tool

Holds = Literal["run", "judgments", "queries", "documents", "rag", "book", "beir", "tool"]
NUMBER = re.compile(rb"[+-]?[\d.]+(?:[eE][+-]?\d+)?|[+-]?(?:inf|nan)", re.IGNORECASE)
KNOWN = "a run, judgments, queries, documents, RAG rows, or a file of another tool"


@dataclass(frozen=True)
class Kind:
    """What a file holds, and its format; of a tool's format what is in it is seen when it is read."""

    holds: Holds
    form: str


class Unclear(Exception):
    """The content does not tell what a file is."""


def kind_of(path: str) -> Kind:
    """What the file at `path` holds.

    Raises
    ------
    Unclear: the content does not tell. InputError: it cannot be read.
    """
    place = Path(path)
    if path != "-" and place.is_dir():
        beir = (
            (place / "qrels").is_dir()
            or any(place.glob("queries.jsonl*"))
            or any(place.glob("corpus.jsonl*"))
        )
        return Kind("beir", "beir") if beir else Kind("documents", "folder")
    if is_book(path):
        return Kind("book", "book")
    source = Source.open(path)
    head = source.head()
    if not head.startswith(b"PAR1") and head[:4096].count(b"\0") > 8:
        raise InputError(f"{printable(path)}: a binary file, not text")
    form = recognise(head, source.ending)
    if form == "jsonl" and is_rows(source):
        return Kind("book", "jsonl")
    tool = _tool(head, form)
    if tool in ("smart", "npl"):
        return Kind(_collection_kind(path, head), tool)
    if tool is not None:
        return Kind("tool", tool)
    if form == "trec":
        return _by_width(head, path)
    if form == "parquet":
        import polars as pl

        try:
            return _by_names(list(pl.read_parquet_schema(source.file)), path, form)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(f"{printable(path)}: cannot be read as Parquet ({first_line(error)})") from None
    text = head.decode("utf-8", errors="replace")
    if form in ("csv", "tsv"):
        return _by_names(_header(text, "\t" if form == "tsv" else ","), path, form)
    return _of_json(text, source, path, form)


def _collection_kind(path: str, head: bytes) -> Literal["queries", "documents"]:
    """Of the collections in which documents and queries have one form: by the name of the file, else by titles.

    Raises
    ------
    Unclear: neither tells.
    """
    try:
        return _text_kind(path, [])
    except Unclear:
        if b"\n.T" in head:
            return "documents"
        raise Unclear("numbers with a text each, which may be queries or documents") from None


def _tool(head: bytes, form: str) -> str | None:
    """The tool's format that the head is of, whatever it holds."""
    sure = recognise_tool(head, "run")
    if sure is not None:
        return sure
    if form == "csv":
        first = head.decode("utf-8", errors="replace").removeprefix(MARK).partition("\n")[0]
        names = _header(first, ",")
        if any({"doc_id", number} <= set(resolve(names, "run").found) for number in ("score", "rank")):
            return None
        if "grade" in resolve(names, "qrels").found:
            return None
    return recognise_tool(head, "judgments") or recognise_tool(head, "queries")


def _header(text: str, separator: str) -> list[str]:
    import csv

    try:
        return next(
            csv.reader([re.split(r"[\r\n]", text.removeprefix(MARK), maxsplit=1)[0]], delimiter=separator),
            [],
        )
    except csv.Error:
        return []


def _by_width(head: bytes, path: str) -> Kind:
    """A TREC file by the number of fields that most of its first lines have."""
    lines = [line for line in head.split(b"\n")[:200] if line.strip() and not line.startswith(b"#")]
    rows = [line.split() for line in lines[:-1] or lines]
    widths = [len(row) for row in rows]
    # Lines of prose have many words too, but no numbers where a rank, a score or a grade stands.
    six = sum(len(row) >= 6 and any(map(NUMBER.fullmatch, row[3:5])) for row in rows)
    four = sum(len(row) == 4 and any(map(NUMBER.fullmatch, (row[1], row[3]))) for row in rows)
    tabbed = sum(line.count(b"\t") == 1 for line in lines[:-1] or lines)
    if tabbed > len(widths) / 2:
        return Kind(_text_kind(path, []), "tsv")
    if six > max(four, len(widths) / 2):
        return Kind("run", "trec")
    if four >= max(1, len(widths) / 2):
        return Kind("judgments", "trec")
    if 2 * six >= len(widths):
        return Kind("run", "trec")
    raise Unclear(
        f"neither the 6 columns of a TREC run nor the 4 of judgments, no JSON and no header: is it {KNOWN}?"
    )


def _by_names(names: Sequence[str], path: str, form: str) -> Kind:
    """Rows by the names of their fields."""
    if {"start", "end"} <= {plain(name) for name in names}:
        raise Unclear(
            "ranges of text, as evidence and chunks have them; `leadline evidence check` looks at these"
        )
    run, qrels = resolve(names, "run").found, resolve(names, "qrels").found
    if is_rag(names) and not ("doc_id" in run and ({"score", "rank"} & set(run) or "grade" in qrels)):
        return Kind("rag", form)
    both = {"query_id", "doc_id"} <= set(run)
    if both and ("score" in run or "rank" in run):
        # BEIR's judgments name their grade `score`.
        plains = {plain(name) for name in names}
        return Kind("judgments" if plains == {"queryid", "corpusid", "score"} else "run", form)
    if both and "grade" in qrels:
        return Kind("judgments", form)
    if "query_id" in run and ({"error", "doc_ids"} & set(run)):
        return Kind("run", form)
    return Kind(_text_kind(path, names), form)


def _text_kind(path: str, names: Sequence[str]) -> Literal["queries", "documents"]:
    """Queries or documents: by the name of the id, else by the name of the file."""
    plains = {plain(name) for name in names}
    if plains & {"queryid", "qid", "questionid", "topicid", "topic", "question", "query", "userinput"}:
        return "queries"
    if plains & (set(IDS) - {"id"}) or "title" in plains:
        return "documents"
    name = Path(path).name.lower() if not names or "text" in plains else ""
    if re.search("quer|qry|topic|question", name):
        return "queries"
    if re.search("doc|corpus|passage|chunk|collection", name):
        return "documents"
    fields = ", ".join(map(printable, list(names)[:8]))
    what = f"rows with {fields}" if fields else "an id and a text on each line"
    raise Unclear(f"{what}: is it {KNOWN}?")


def _of_json(text: str, source: Source, path: str, form: str) -> Kind:
    if form == "jsonl":
        for line in text.splitlines()[:50]:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                return _by_names([str(key) for key in row], path, form)
        names = re.findall(r'"(\w+)"\s*:', text.partition("\n")[0])
        return _by_names(names, path, form)
    try:
        value = json.loads(source.read_all())
    except (ValueError, RecursionError):
        raise InputError(f"{printable(path)}: {_why_not_json(source)}") from None
    if isinstance(value, dict) and isinstance(value.get("results"), list):
        value = value["results"]
    if isinstance(value, list):
        row = next((one for one in value if isinstance(one, dict)), {})
        return _by_names([str(key) for key in row], path, form)
    return _of_map(value, path, form)


def _of_map(value: Any, path: str, form: str) -> Kind:
    """A map of queries: whole numbers for each document are grades, others scores, and lists an order; texts are queries."""
    inner = list(value.values())[:1000] if isinstance(value, dict) else []
    numbers = [one for answer in inner if isinstance(answer, dict) for one in answer.values()]
    if inner and all(isinstance(one, str) for one in inner):
        return Kind("queries", form)
    if inner and all(isinstance(one, (dict, list)) for one in inner):
        whole = bool(numbers) and all(isinstance(one, int) for one in numbers if one is not None)
        return Kind("judgments" if whole else "run", form)
    raise Unclear(f"JSON that is neither a list of rows nor a map of queries: is it {KNOWN}?")


def _why_not_json(source: Source) -> str:
    from leadline.formats.jsontext import WrongJson, decode, parse

    try:
        parse(decode(source.read_all(), source.name))
    except WrongJson as error:
        return error.expected + (f" at line 1, column {error.column}" if error.column else "")
    except InputError as error:
        return str(error)
    return "JSON that is read twice differently"


def format_of(path: str, holds: Holds) -> str:
    """The format of a file that was said to be a run, judgments, queries or documents.

    Raises
    ------
    InputError: it cannot be read.
    """
    place = Path(path)
    if path != "-" and place.is_dir():
        return "folder" if holds == "documents" else "beir"
    source = Source.open(path)
    head = source.head()
    tool = recognise_tool(
        head, "run" if holds == "run" else "judgments" if holds == "judgments" else "queries"
    )
    if tool in ("smart", "npl") or (tool is not None and holds != "documents"):
        return tool
    return recognise(head, source.ending)

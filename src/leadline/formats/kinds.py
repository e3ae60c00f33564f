"""What a file is, before it is read as anything: its format, and which tables it can be read as."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.errors import InputError, UsageError, printable
from leadline.formats.bookfile import is_book, is_rows, shown_name
from leadline.formats.columns import plain, resolve
from leadline.formats.lists import KINDS, Kind
from leadline.formats.ragfields import FIELDS, is_rag
from leadline.formats.sniff import checked_format, recognise
from leadline.formats.source import MARK, Source
from leadline.formats.tools import BY_NAME, IRDS
from leadline.formats.toolsniff import recognise_tool
from leadline.formats.trec import NUMBER

BOOK = (
    "a book of judgments: leadline book export writes it in other formats, one grade a pair or every judge's"
)


@dataclass(frozen=True)
class Opened:
    """A file of which the format is known.

    Attributes
    ----------
    path: as the user gave it. source: the opened file; None for a BEIR folder and a collection of ir_datasets.
    form: the format's name, of the house or of another tool, `beir` or `irds`.
    kinds: what it can be read as; main: what it is first of all, None where its content leaves that open.
    columns: the names of its columns, where it has some.
    """

    path: str
    source: Source | None
    form: str
    kinds: tuple[Kind, ...]
    main: Kind | None
    columns: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """What to read: the path, or where standard input was put."""
        return self.path if self.source is None else str(self.source.file)

    @property
    def shown(self) -> str:
        """The name for messages."""
        return self.path if self.source is None else self.source.name


def look_at(path: str, form: str | None = None, kind: Kind | None = None) -> Opened:
    """The file at `path`, in the format `form` if it is named; `kind` is what it is to be read as, if that is known.

    Raises
    ------
    UsageError: a book of judgments. InputError: the file cannot be opened. UnknownNameError: no such format.
    """
    if form == "book" or is_book(path):
        raise UsageError(f"{printable(shown_name(path))} is {BOOK}")
    if form is not None:
        checked_format(form)
    if path.startswith(IRDS):
        return Opened(path, None, "irds", KINDS, None)
    folder = Path(path)
    if form == "beir" or (path != "-" and folder.is_dir() and _is_beir(folder)):
        judged = any((folder / "qrels").glob("*.tsv*"))
        kinds: tuple[Kind, ...] = ("judgments", "queries") if judged else ("queries",)
        return Opened(path, None, "beir", kinds, kinds[0])
    source = Source.open(path)
    form = _recognised(source, kind) if form in (None, "ranx") else form
    if form == "jsonl" and is_rows(source):
        raise UsageError(f"{printable(source.name)} is {BOOK}")
    tool = BY_NAME.get(form)
    if tool is not None:
        # Judgments and runs of other tools name their queries besides.
        main = None if tool.holds == ("queries", "judgments") else tool.holds[0]
        return Opened(path, source, form, tool.holds, main)
    return _of_house(path, source, form)


def _is_beir(folder: Path) -> bool:
    return (folder / "qrels").is_dir() or any(folder.glob("queries.jsonl*"))


def _recognised(source: Source, kind: Kind | None) -> str:
    head = source.head()
    wanted: tuple[Kind, ...] = KINDS if kind is None else (kind,)
    for one in wanted:
        tool = recognise_tool(head, one)
        if tool is not None:
            return tool
    return recognise(head, source.ending)


def _of_house(path: str, source: Source, form: str) -> Opened:
    """A file in a format of the house; where its content fits nothing, it can be anything, and its reader will tell."""
    names: tuple[str, ...] = ()
    if form == "trec-sampled":
        kinds: tuple[Kind, ...] = ("judgments",)
    elif form == "trec":
        kinds = _trec_kinds(source.head())
    elif form == "json":
        kinds, names = _json_kinds(source)
    else:
        names = _columns(source, form)
        kinds = _row_kinds(names)
    sure = len(kinds) == 1 or (names and not is_rag(names))
    return Opened(path, source, form, kinds or KINDS, kinds[0] if kinds and sure else None, names)


def _trec_kinds(head: bytes) -> tuple[Kind, ...]:
    r"""By the first line that is not blank.

    >>> _trec_kinds(b"q Q0 d 1 0.5 tag\n"), _trec_kinds(b"q 0 d 1\n"), _trec_kinds(b"q1\twho was first?\n")
    (('run',), ('judgments',), ('queries',))
    """
    for raw in head.split(b"\n"):
        fields = raw.split()
        if not fields or raw.startswith(b"#"):
            continue
        if len(fields) >= 6 and NUMBER.fullmatch(fields[3]) and NUMBER.fullmatch(fields[4]):
            return ("run",)
        if len(fields) == 4 and NUMBER.fullmatch(fields[3]):
            return ("judgments",)
        return ("queries",) if b"\t" in raw and len(raw.strip().split(b"\t")) == 2 else ()
    return ()


def _columns(source: Source, form: str) -> tuple[str, ...]:
    if form == "parquet":
        import polars as pl

        try:
            return tuple(pl.read_parquet_schema(source.file))
        except (pl.exceptions.PolarsError, OSError):
            return ()
    text = source.head().decode("utf-8", errors="replace").removeprefix(MARK).lstrip()
    first = text.partition("\n")[0].rstrip("\r")
    if form == "jsonl":
        return _keys(first)
    import csv

    try:
        return tuple(next(csv.reader([first], delimiter="\t" if form == "tsv" else ","), ()))
    except csv.Error:
        return ()


def _keys(line: str) -> tuple[str, ...]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return ()
    return tuple(row) if isinstance(row, dict) else ()


def _row_kinds(names: Sequence[str]) -> tuple[Kind, ...]:
    """By the names of columns; what comes first is what it is first of all.

    >>> _row_kinds(["qid", "docno", "score"]), _row_kinds(["query_id", "doc_id", "grade"]), _row_kinds(["qid", "text"])
    (('run', 'judgments'), ('judgments',), ('queries',))
    """
    run, qrels = resolve(names, "run").found, resolve(names, "qrels").found
    if "doc_id" in run:
        ranked = "score" in run or "rank" in run
        graded = "grade" in qrels and "rank" not in run
        found: list[Kind] = [*(["run"] if ranked else []), *(["judgments"] if graded else [])]  # type: ignore[list-item]
        # BEIR's judgments have the columns query-id, corpus-id and score.
        return tuple(reversed(found) if "corpusid" in map(plain, names) else found)
    if is_rag(names):
        told = {one for one, field in FIELDS.items() if set(map(plain, field.names)) & set(map(plain, names))}
        parts: list[Kind] = ["run"] if told & {"retrieved", "documents"} else []
        parts += ["judgments"] if "references" in told else []
        return (*parts, *(("queries",) if "text" in told else ()))
    if "error" in run or "doc_ids" in run:
        return ("run",)
    return ("queries",) if "query_id" in resolve(names, "queries").found else ()


def _json_kinds(source: Source) -> tuple[tuple[Kind, ...], tuple[str, ...]]:
    """Of one JSON text: by its first row, or by what a map of queries maps to."""
    from leadline.formats.jsontext import decode, whole

    value: Any = whole(decode(source.read_all(), source.name), source.name)
    if isinstance(value, Mapping) and isinstance(value.get("results"), list):
        value = value["results"]
    if isinstance(value, list):
        names = next((tuple(row) for row in value if isinstance(row, dict)), ())
        return _row_kinds(names), names
    if not isinstance(value, Mapping):
        raise InputError(
            f"{printable(source.name)}: JSON that is neither a list of rows nor a map of queries"
        )
    answers = list(value.values())
    if all(isinstance(one, str) for one in answers):
        return ("queries",), ()
    if all(isinstance(one, list) for one in answers):
        return ("run", "judgments"), ()
    numbers = [n for one in answers if isinstance(one, Mapping) for n in one.values()]
    if any(isinstance(number, str) for number in numbers):
        return ("queries",), ()
    return ("run", "judgments"), ()

"""The texts of documents by id: from JSONL, CSV, TSV (header or not) or Parquet, a BEIR corpus, the files of SMART collections
and of NPL, or a folder of text files.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from leadline.errors import InputError, printable
from leadline.formats.columns import plain
from leadline.formats.delimited import read_table
from leadline.formats.faults import Faults, WrongValue, found_text, id_text
from leadline.formats.jsontext import decode, lines_of, objects
from leadline.formats.npl import npl_documents
from leadline.formats.rows import read_parquet, records_of
from leadline.formats.smart import smart_documents
from leadline.formats.sniff import recognise
from leadline.formats.source import BOM, PACKED, Source, refuse_binary
from leadline.formats.toolsniff import collection_kind

IDS = ("id", "docid", "docno", "documentid", "corpusid", "chunkid", "pid", "passageid")
"""The names of a document's id, in plain form: only letters and digits count, so `_id` is `id`."""
TEXT_FILES = (".txt", ".md", ".rst", ".text")


def read_texts(path: str | Path, wanted: Collection[str] | None = None) -> dict[str, str]:
    """The text of each document that is wanted (None: of all), by its id.

    Raises
    ------
    InputError, RowsError: no such place, a row without id or text, or one id twice with two texts.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "documents.jsonl")
    ...     _ = file.write_text('{"id": "d1", "text": "one"}\\n{"id": "d2", "text": "two"}\\n')
    ...     read_texts(file, ["d2"])
    {'d2': 'two'}
    """
    place = Path(path)
    corpus = next(iter(sorted(place.glob("corpus.jsonl*"))), None) if place.is_dir() else None
    faults = Faults(str(path))
    if place.is_dir() and corpus is None:
        return _files(place, wanted)
    texts: dict[str, str] = {}
    for line, row in document_rows(Source.open(corpus or path), faults):
        try:
            own, text = document_id(row), document_text(row)
        except WrongValue as wrong:
            faults.add(line, None, wrong.found, wrong.expected)
            continue
        if texts.get(own, text) != text:
            faults.add(line, None, own, "each document stands once, or with the same text")
        if wanted is None or own in wanted:
            texts[own] = text
    faults.check()
    return texts


def document_rows(
    source: Source, faults: Faults, what: str = "documents come as rows with an id and a text"
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Each row of a file with its line; lines that are no rows go to `faults`. `what` says what was expected.

    Raises
    ------
    InputError: a file that has no rows.
    """
    head = source.head()
    form = collection_kind(head) or recognise(head, source.ending)
    if form == "smart":
        yield from smart_documents(source, faults)
    elif form == "npl":
        yield from npl_documents(source, faults)
    elif form == "parquet":
        yield from records_of(read_parquet(source))
    elif form in ("trec", "tsv") and is_plain(source.head()):
        yield from _id_and_text(source, faults)
    elif form in ("csv", "tsv") or source.ending in (".csv", ".tsv"):
        separator = "\t" if form == "tsv" or source.ending == ".tsv" else ","
        yield from records_of(read_table(source, separator).frame)
    elif form in ("jsonl", "json"):
        yield from objects(lines_of(decode(source.read_all(), source.name)), faults)
    else:
        refuse_binary(head, source.name)
        raise InputError(f"{printable(source.name)}: {what}: jsonl, csv, tsv or parquet")


def is_plain(head: bytes) -> bool:
    r"""True where a file has no header: its first line is an id, a tab and a text.

    >>> is_plain(b"d1\tit was he\n"), is_plain(b"id\ttext\n"), is_plain(b"d1 it was he\n")
    (True, False, False)
    """
    fields = head.removeprefix(BOM).partition(b"\n")[0].decode("utf-8", errors="replace").split("\t")
    return len(fields) == 2 and not {plain(name) for name in fields} & {*IDS, "text"}


def _id_and_text(source: Source, faults: Faults) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, raw in lines_of(decode(source.read_all(), source.name)):
        own, tab, text = raw.removesuffix("\r").partition("\t")
        if own and tab:
            yield line, {"id": own, "text": text}
        elif raw.strip():
            faults.add(line, None, raw, "expected a document id, a tab and the document's text")


def document_id(row: Mapping[str, Any]) -> str:
    """The id of a row of documents.

    Raises
    ------
    WrongValue: it has none, or one that is no id.

    >>> document_id({"_id": 7, "text": "seven"})
    '7'
    """
    by_name = {plain(str(name)): value for name, value in row.items()}
    if by_name.get("chunkid") is not None and "id" not in by_name:
        # A file of chunks: the text is the chunk's, and the document's id names more than that.
        return id_text(by_name["chunkid"], "chunk id")
    own = next((by_name[name] for name in IDS if by_name.get(name) is not None), None)
    if own is None:
        raise WrongValue(found_text(row), "a document has an id")
    return id_text(own, "document id")


def document_text(row: Mapping[str, Any]) -> str:
    """The text of a row of documents.

    Raises
    ------
    WrongValue: it has none.
    """
    text = next((value for name, value in row.items() if plain(str(name)) == "text"), None)
    if not isinstance(text, str):
        raise WrongValue(found_text(row), "a document has a text")
    return text


def _files(folder: Path, wanted: Collection[str] | None) -> dict[str, str]:
    """The text files of a folder; a document's id is its path there without the ending.

    Where it is wanted by its whole path, with the ending, it bears that name.

    Raises
    ------
    InputError: no text file, one id for two files, or text that is not UTF-8.
    """
    found: dict[str, str] = {}
    files: dict[str, Path] = {}
    for file in sorted(folder.rglob("*")):
        plain_name = file.name.removesuffix(file.suffix) if file.suffix.lower() in PACKED else file.name
        ending = Path(plain_name).suffix
        if ending.lower() not in TEXT_FILES or not file.is_file():
            continue
        own = file.relative_to(folder).with_name(plain_name).as_posix()
        short = own.removesuffix(ending)
        name = own if wanted is not None and own in wanted else short
        if name in files:
            raise InputError(
                f"{printable(str(folder))}: {printable(files[name].name)} and {printable(file.name)} are both "
                f"document {printable(name)!r}: an id is the path in the folder without its ending"
            )
        files[name] = file
        if wanted is None or name in wanted:
            found[name] = _text_of(file)
    if not files:
        raise InputError(f"{printable(str(folder))}: no text files in this folder ({' '.join(TEXT_FILES)})")
    return found


def _text_of(file: Path) -> str:
    """The text of a file, unpacked, without a byte-order mark; its line ends as they are."""
    if file.stat().st_size == 0:
        return ""
    source = Source.open(file)
    return decode(source.read_all(), source.name)

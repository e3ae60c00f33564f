"""Where a conversion goes: the format by name or ending, the packing, and what such a file can hold."""

import os
from dataclasses import dataclass
from pathlib import Path

from leadline.errors import UnknownNameError, UsageError, printable
from leadline.formats.lists import KINDS, Kind
from leadline.formats.losses import OWN
from leadline.formats.source import ending_of
from leadline.formats.tools import BY_NAME
from leadline.formats.write import ENDINGS, Packing, format_of

HOUSE = ("trec", "jsonl", "csv", "tsv", "parquet", "beir")
PACKED: dict[str, Packing] = {".gz": "gzip", ".zst": "zstd"}
SAYING: dict[str, Kind] = {".run": "run", ".qrels": "judgments"}
"""The endings that say which of two things a file of TREC holds."""
TABLES = {"trec": ".run", "jsonl": ".jsonl", "csv": ".csv", "tsv": ".tsv", "parquet": ".parquet"}


@dataclass(frozen=True)
class Aim:
    """A file that is to be written.

    Attributes
    ----------
    path: as the user gave it, `-` for standard output. form: the format's name. kinds: what such a file is written from.
    ending: with which the file is made; packing: what is done to it then.
    """

    path: str
    form: str
    kinds: tuple[Kind, ...]
    ending: str
    packing: Packing

    @property
    def says(self) -> Kind | None:
        """What the ending says that the file holds, where it says so."""
        return SAYING.get(ending_of(self.path))

    @property
    def keyed(self) -> str:
        """Whether the format names queries by their `text` or their `id`."""
        return BY_NAME[self.form].keyed if self.form in BY_NAME else "id"


def aimed(path: str, form: str | None = None) -> Aim:
    """What is to be written at `path`, in the format `form` or the one that the ending says.

    Raises
    ------
    UsageError: no format, a format that is not written, or an ending that says another. UnknownNameError: no such format.

    >>> aimed("a.run.gz").form, aimed("a.csv", "quepid").form
    ('trec', 'quepid')
    """
    known = (*HOUSE, *(name for name, tool in BY_NAME.items() if tool.writes))
    if form == "book":
        raise UsageError(
            "a book of judgments is not converted to: leadline book import BOOK FILE takes judgments in"
        )
    if form == "json":
        raise UsageError(
            "many tools write JSON; name one, such as --to ranx for a map of queries to documents"
        )
    if form is not None and form not in known:
        raise UnknownNameError("format to write", form, known)
    if path.lower().endswith(".lz4"):
        raise UsageError(
            f"{printable(path)}: files are not packed with LZ4 here; ranx reads its JSON as well: name it .json, --to ranx"
        )
    if form is None:
        form = _by_ending(path)
    kinds = tuple(
        kind for kind in KINDS if form in OWN[kind] or (form in BY_NAME and kind in BY_NAME[form].writes)
    )
    if form == "beir":
        if path == "-" or Path(path).is_file():
            raise UsageError(f"{printable(path)}: beir is a folder of files; name a folder")
        return Aim(path, form, kinds, "", "uncompressed")
    name = Path(path).name.lower()
    packing = PACKED.get(Path(name).suffix, "uncompressed")
    if packing != "uncompressed":
        name = name.removesuffix(Path(name).suffix)
    if form in BY_NAME:
        return _of_tool(path, form, kinds, name, packing)
    said = ENDINGS.get(Path(name).suffix)
    if said is not None and said != form:
        raise UsageError(f"{printable(path)}: the ending says {said}, not {form}")
    if form == "parquet" and packing != "uncompressed":
        raise UsageError(f"{printable(path)}: Parquet is packed by itself")
    # These are packed by their own writers, as the ending says.
    last = Path(path).suffix.lower() if packing != "uncompressed" else ""
    return Aim(path, form, kinds, f"{TABLES[form]}{last}", "uncompressed")


def _of_tool(path: str, form: str, kinds: tuple[Kind, ...], name: str, packing: Packing) -> Aim:
    table = Path(name).suffix if form == "ranx" and Path(name).suffix in (".parquet", ".parq") else ""
    if table and packing != "uncompressed":
        raise UsageError(f"{printable(path)}: Parquet is packed by itself")
    return Aim(path, form, kinds, table or BY_NAME[form].ending, packing)


def _by_ending(path: str) -> str:
    if path == "-":
        raise UsageError("standard output has no ending: name the format with --to")
    if path.endswith(("/", os.sep)) or Path(path).is_dir():
        return "beir"
    if ending_of(path) in (".json", ".ndjson"):
        raise UsageError(
            f"{printable(path)}: many tools write JSON; name one, such as --to ranx for a map of queries to documents"
        )
    return format_of(path)[0]

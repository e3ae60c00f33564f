"""Checking any files that Leadline reads: each for itself, then all of them together."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from leadline.errors import InputError, RowFault, UsageError, keeping, printable
from leadline.formats.frames import Order
from leadline.formats.smart import CHOICES
from leadline.formats.sniff import checked_format
from leadline.formats.source import Source, refuse_stream
from leadline.lint.finding import KEPT, Findings, Looked
from leadline.lint.joins import check_joins
from leadline.lint.judged import Scale, check_judgments
from leadline.lint.judged_share import check_shares
from leadline.lint.kinds import Holds, Kind, Unclear, format_of, kind_of
from leadline.lint.numberings import check_numberings
from leadline.lint.parts import read_file
from leadline.lint.puzzling import only_returns, puzzle
from leadline.lint.reading import Asked, Read
from leadline.lint.refused import check_settled
from leadline.lint.retrying import unreadable
from leadline.lint.runs import check_run
from leadline.lint.wording import check_documents, check_queries
from leadline.tables import Conflicts, Queries

ONLY_RETURNS = "a lone carriage return; lines end with LF or CRLF"
DUPLICATES = ("error", "first")
"""What may become of a document that stands twice for a query."""


def check_files(
    files: Sequence[str] = (),
    *,
    runs: Sequence[str] = (),
    qrels: Sequence[str] = (),
    queries: Sequence[str] = (),
    documents: Sequence[str] = (),
    cutoffs: Sequence[int] = (10,),
    grades: str | None = None,
    input_format: str | None = None,
    qrels_format: str | None = None,
    comments: bool = False,
    duplicates: str = "error",
    conflicts: Conflicts = "error",
    order: Order = "score",
) -> Findings:
    """Every fault and warning of the files; those in `files` are told by content, the others are what they are said to be.

    Parameters
    ----------
    cutoffs: the k of ties, short answers and the judged share. grades: the scale, such as `0-3`.
    input_format, qrels_format: of files given as runs and as judgments, where the content does not tell. `smart-number` and
    `smart-ordinal` as `input_format` say what the id of a query is in a file of a SMART collection.
    duplicates, conflicts: as for `leadline.evaluate`: what is to become of a document that stands twice for a query, and of
        a pair with two grades. With `error` they are faults, as `evaluate` refuses them. order: as there, what orders runs.

    Raises
    ------
    UsageError: no file, or standard input; no such format or scale.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "a.run")
    ...     _ = file.write_text("q1 Q0 d1 1 2.0 a\\nq1 Q0 d2 2 high a\\n")
    ...     [(one.code, one.line, one.found) for one in check_files([str(file)], cutoffs=[1]).all()]
    [('number', 2, 'high')]
    """
    _refuse(input_format, qrels_format)
    _refuse_rules(duplicates, conflicts, order)
    scale = None if grades is None else Scale.of(grades)
    given: dict[Holds, Sequence[str]] = {
        "queries": queries,
        "documents": documents,
        "run": runs,
        "judgments": qrels,
    }
    if not files and not any(given.values()):
        raise UsageError("no file to check")
    for path in (*files, *(path for paths in given.values() for path in paths)):
        refuse_stream(path, "files to check are")
    numbers = input_format if input_format in CHOICES else None
    input_format = None if numbers else input_format
    named = {"run": input_format, "judgments": qrels_format}
    found = Findings()
    with keeping(KEPT):
        wanted = [(path, kind, named.get(kind)) for kind, paths in given.items() for path in paths]
        told = [*_told(files, found), *_named(wanted, found)]
        reads = _read(told, Asked(input_format, qrels_format, comments, None, numbers, order), found)
        _check(reads, sorted(set(cutoffs)), scale, duplicates, conflicts, found)
    return found


def _refuse(input_format: str | None, qrels_format: str | None) -> None:
    for name in (input_format, qrels_format):
        if name is not None:
            checked_format(name)
    if input_format == "trec-sampled":
        raise UsageError("trec-sampled is a format of judgments: --qrels-format")


def _refuse_rules(duplicates: str, conflicts: str, order: str) -> None:
    for name, value, choices in (
        ("duplicates", duplicates, DUPLICATES),
        ("conflicts", conflicts, get_args(Conflicts)),
        ("order", order, get_args(Order)),
    ):
        if value not in choices:
            raise UsageError(f"--{name} {printable(value)!r} is not one of {', '.join(choices)}")


def _check(
    reads: list[Read],
    every: list[int],
    scale: Scale | None,
    duplicates: str,
    conflicts: Conflicts,
    found: Findings,
) -> None:
    """Every warning, and every fault that only the rows together show: of each file, then of all together."""
    for read in reads:
        check_run(read, every, duplicates, found)
        check_settled(read, conflicts, found)
        check_judgments(read, scale, found)
        if not read.rag:
            check_queries(read, found)
        check_documents(read, found)
        for note in read.notes:
            found.warn("texts-unmatched", read.file, note, 1)
    check_joins(reads, found)
    check_numberings(reads, found)
    check_shares(reads, every, found)


Told = list[tuple[str, Kind | None]]
"""Each file with what it holds; None where it cannot be read or told."""


def _told(files: Iterable[str], found: Findings) -> Told:
    """Each file with what it holds; a BEIR folder as its files."""
    told: Told = []
    for path in files:
        try:
            kind = kind_of(path)
        except Unclear as unclear:
            _unclear(path, str(unclear), found)
            told.append((path, None))
        except InputError as error:
            unreadable(error, path, found)
            told.append((path, None))
        else:
            told += list(_beir(path)) if kind.holds == "beir" else [(path, kind)]
    return told


def _unclear(path: str, message: str, found: Findings) -> None:
    """Note that nothing is recognised in a file, with its first line and what that looks like."""
    head = Source.open(path).head()
    line, first, like = puzzle(head)
    if only_returns(head):
        found.fault(path, RowFault(1, first.find("\r") + 1, first, ONLY_RETURNS), "line-ends")
        return
    told = like or message
    # Named fields say more than the line they stand in.
    named = message.startswith("rows with") and not like
    found.fault(path, RowFault(0 if named else line, None, "" if named else first, told), "unknown-kind")


def _beir(path: str) -> Iterable[tuple[str, Kind]]:
    place = Path(path)
    for pattern, kind in (
        ("queries.jsonl*", Kind("queries", "jsonl")),
        ("qrels/*.tsv*", Kind("judgments", "tsv")),
        ("corpus.jsonl*", Kind("documents", "jsonl")),
    ):
        yield from ((str(file), kind) for file in sorted(place.glob(pattern)))


def _named(wanted: Iterable[tuple[str, Holds, str | None]], found: Findings) -> Told:
    """Each file that was said to be something, with the format that its content has."""
    told: Told = []
    for path, holds, form in wanted:
        try:
            told.append((path, Kind(holds, form or format_of(path, holds))))
        except InputError as error:
            unreadable(error, path, found)
            told.append((path, None))
    return told


def _read(told: Told, asked: Asked, found: Findings) -> list[Read]:
    """The files as tables. Queries are read first, as they give their ids to files that name queries by text."""
    reads: dict[int, Read] = {}
    first = [at for at, (_, kind) in enumerate(told) if kind is not None and kind.holds == "queries"]
    for at in dict.fromkeys([*first, *range(len(told))]):
        path, kind = told[at]
        read = None if kind is None else read_file(path, kind, asked, found)
        if read is None:
            continue
        reads[at] = read
        if at in first and asked.queries is None and read.queries is not None:
            asked = replace(asked, queries=Queries(read.queries, path))
    for at, (path, kind) in enumerate(told):
        unread = Looked(path, (), "unknown" if kind is None else kind.form)
        found.looked.append(reads[at].looked() if at in reads else unread)
    return [reads[at] for at in sorted(reads)]

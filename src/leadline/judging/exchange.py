"""Judgments in and out of files: rows of a book as JSONL, the labels of other tools, and the card beside a file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.errors import InputError, MissingExtraError, UsageError, amount, printable
from leadline.formats.beir import write_beir
from leadline.formats.bookfile import is_book, is_rows
from leadline.formats.faults import Faults
from leadline.formats.jsontext import decode, lines_of, objects
from leadline.formats.quepid import JUDGES, RATINGS, Rating, quepid_kind, read_quepid, write_quepid
from leadline.formats.read import read_qrels
from leadline.formats.sniff import FORMATS
from leadline.formats.source import Source, refuse_binary
from leadline.formats.write import atomic_write, format_of, write_qrels
from leadline.judging.judgment import Judgment, by_time, content_id
from leadline.judging.labels import Labels, votes_of

if TYPE_CHECKING:
    from leadline.judging.book import Book

ROWS = "book"
KINDS = (ROWS, *FORMATS, RATINGS, JUDGES)
"""The formats that `import` reads and `export` writes; `book` is JSONL with every row."""

CARD = ".leadline.json"


@dataclass(frozen=True)
class Given:
    """What a file held: its judgments, and what is to be said of it."""

    rows: tuple[Judgment, ...]
    notes: tuple[str, ...] = ()


def read_rows(source: Source, defaults: Mapping[str, Any] | None = None) -> list[Judgment]:
    """The rows of a book from JSONL; `defaults` stand where a row does not say them.

    Raises
    ------
    RowsError: rows that cannot stand, all counted. InputError: not UTF-8, or no row.
    """
    faults = Faults(source.name)
    rows: list[Judgment] = []
    for line, row in objects(lines_of(decode(source.read_all(), source.name)), faults):
        try:
            rows.append(Judgment.from_dict({**(defaults or {}), **row}))
        except InputError as error:
            faults.add(line, None, json.dumps(row, ensure_ascii=False), str(error))
    faults.check()
    if not rows:
        raise InputError(f"{printable(source.name)}: no judgments in it")
    return rows


def read_judgments(
    path: str | Path,
    *,
    form: str | None = None,
    who: str | None = None,
    guideline: str = "",
    model: str | None = None,
) -> Given:
    """The judgments of a file in any format that is known. Rows without an id get one from what they say.

    So a file read twice gives the same rows. A list of grades says neither who nor when: `who` names the judge, and its
    rows count as older than every dated one.

    Parameters
    ----------
    form: one of `KINDS`, where the content does not tell. model: the judge is a model of this name.

    Raises
    ------
    UsageError: the file does not say whose judgments they are. InputError, RowsError: it cannot be read or is wrong.
    """
    if form is not None and form not in KINDS:
        raise UsageError(f"format {form!r} is not one of {', '.join(KINDS)}")
    said: dict[str, Any] = {"guideline": guideline} if guideline else {}
    if model is not None:
        said |= {"kind": "model", "model": {"name": model}}
    if who or model:
        said["who"] = who or model
    if is_book(path):
        raise UsageError(f"{printable(str(path))} is a book: leadline book merge BOOK {printable(str(path))}")
    if form != "beir" and not Path(path).is_dir():
        source = Source.open(path)
        head = source.head()
        if form == ROWS or (form in (None, "jsonl") and is_rows(source)):
            return Given(tuple(read_rows(source, said)))
        kind = form if form in (RATINGS, JUDGES) else quepid_kind(head) if form is None else None
        if kind is not None:
            return _from_quepid(source, kind, said)
    if "who" not in said:
        raise UsageError(f"{printable(str(path))} does not say whose judgments these are: --who NAME")
    frame = read_qrels(path, input_format=form).frame
    pairs = frame.select("query_id", "doc_id", "grade").iter_rows(named=True)
    return Given(tuple(Judgment.from_dict({**said, **row}) for row in pairs))


def _from_quepid(source: Source, kind: str, said: Mapping[str, Any]) -> Given:
    ratings = read_quepid(source, kind)
    if kind == RATINGS and "who" not in said:
        raise UsageError(f"{printable(source.name)} does not say whose judgments these are: --who NAME")
    rows = []
    for one in ratings.rows:
        judge = {} if one.who is None else {"who": one.who}
        if one.who == "":
            raise InputError(f"{printable(source.name)}: line 1: a judge's column without a name")
        pair = {"query_id": one.query, "doc_id": one.doc_id, "grade": one.grade}
        rows.append(Judgment.from_dict({**said, **judge, **pair}))
    notes = []
    if ratings.blank:
        notes.append(f"{amount(ratings.blank, 'pair')} without a grade: not judged, left out")
    if ratings.only_queries:
        notes.append(f"{amount(len(ratings.only_queries), 'query', 'queries')} without a document: left out")
    return Given(tuple(rows), tuple(notes))


def replaced(known: Iterable[Judgment], new: Sequence[Judgment]) -> list[Judgment]:
    """The rows that take back what an undated list said before, where it comes again and says otherwise.

    Two undated grades of one judge and one pair have no order: the one that is imported later is meant. What stands from
    a row with a time is left alone. The ids follow from those of the two rows, so that doing it twice adds nothing.

    >>> old = Judgment.from_dict({"query_id": "q", "doc_id": "d", "grade": 1, "who": "ana"})
    >>> new = Judgment.from_dict({"query_id": "q", "doc_id": "d", "grade": 2, "who": "ana"})
    >>> [row.undoes == old.id for row in replaced([old], [new])], replaced([old], [old])
    ([True], [])
    """
    before = {row.id for row in known}
    fresh = [row for row in new if not row.when and row.id not in before and row.undoes is None]
    standing = {pair: [row for row in votes if not row.when] for pair, votes in votes_of(known).items()}
    back = []
    for row in fresh:
        for old in standing.get((row.query_id, row.doc_id), ()):
            if (old.kind, old.who) == (row.kind, row.who):
                own = content_id({"undoes": old.id, "for": row.id})
                back.append(
                    Judgment(
                        old.query_id, old.doc_id, who=old.who, kind=old.kind, undoes=old.id, id=own, when=""
                    )
                )
    return back


def open_book(target: str | Path, *, create: bool = True) -> "Book":
    """The book at a path or a URL; JSONL with its rows is read, and not opened.

    Raises
    ------
    MissingExtraError: SQLAlchemy is not installed. InputError: as `Book.open`.
    """
    try:
        from leadline.judging.book import Book
    except ImportError:
        raise MissingExtraError("the book of judgments", "book") from None
    return Book.open(target, create=create)


def rows_of(target: str | Path) -> list[Judgment]:
    """The rows of a book: a file or database of its own, or JSONL with every row.

    Raises
    ------
    InputError, RowsError: there is no such book, it cannot be read or is wrong.
    """
    if is_book(target) or not Path(target).exists():
        with open_book(target, create=False) as book:
            return book.rows()
    source = Source.open(target)
    if not is_rows(source):
        refuse_binary(source.head(), source.name)
        raise InputError(
            f"{printable(str(target))}: no book of judgments: neither a database nor JSONL with its rows"
        )
    return read_rows(source)


def write_rows(rows: Iterable[Judgment], path: str | Path) -> None:
    """Every row as JSONL, the oldest first: books that hold the same rows give the same file.

    Raises
    ------
    UsageError: a place that cannot be written to.
    """
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as handle:
        for row in by_time(rows):
            handle.write(json.dumps(row.to_dict(), ensure_ascii=False, allow_nan=False) + "\n")


def write_labels(labels: Labels, path: str | Path, form: str | None = None, version: str = "") -> Path | None:
    """The labels as judgments of another tool, and where some are a model's a card beside the file that says so.

    Parameters
    ----------
    form: `beir` or `quepid`; else the ending says it. version: of this program, for the card.

    Returns
    -------
    The path of the card, or None.

    Raises
    ------
    UsageError: an ending without a format, or a place that cannot be written to. InputError: there is no label, or an
    id that the format cannot hold.
    """
    qrels = labels.qrels()
    if form == RATINGS:
        write_quepid(path, (Rating(one.query_id, one.doc_id, one.grade) for one in labels.labels))
    elif form == "beir" or (form is None and Path(path).is_dir()):
        write_beir(path, qrels=qrels)
    else:
        write_qrels(qrels, path)
    return write_card(labels, path, version)


def write_card(labels: Labels, path: str | Path, version: str = "") -> Path | None:
    """The card beside a file of labels, where some of them are a model's; an old card goes where none is.

    Raises
    ------
    UsageError: a place that cannot be written to.
    """
    place = Path(path) / f"labels{CARD}" if Path(path).is_dir() else Path(f"{path}{CARD}")
    if not labels.of_kind("model"):
        place.unlink(missing_ok=True)
        return None
    models: dict[str, int] = {}
    for one in labels.labels:
        if one.kind == "model":
            for who in one.who:
                models[who] = models.get(who, 0) + 1
    card = {
        "leadline": version,
        "file": Path(path).name,
        "account": labels.account(),
        "models": [{"who": who, "labels": count} for who, count in sorted(models.items())],
        "pairs_of_models": [[one.query_id, one.doc_id] for one in labels.labels if one.kind == "model"],
    }
    with atomic_write(place) as temporary:
        temporary.write_text(json.dumps(card, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return place


def write_judges(rows: Iterable[Judgment], path: str | Path) -> int:
    """The votes of all persons as Quepid's book: a line a pair, a column a judge; how many grades.

    Raises
    ------
    UsageError: a place that cannot be written to. InputError: no person graded anything.
    """
    votes = votes_of(rows)
    graded = [
        Rating(*pair, row.grade, row.who)
        for pair in sorted(votes)
        for row in votes[pair]
        if row.kind == "person" and row.grade is not None
    ]
    if not graded:
        raise InputError("no person's grade stands in the book")
    write_quepid(path, graded, sorted({one.who for one in graded if one.who is not None}))
    return len(graded)


def checked_target(path: str | Path, form: str | None) -> str:
    """The format to write: as named, else by the ending; JSONL means every row unless a rule is named.

    Raises
    ------
    UsageError: no such format, one that is not written, or an ending that does not fit it.
    """
    if form is not None and form not in KINDS:
        raise UsageError(f"format {form!r} is not one of {', '.join(KINDS)}")
    if form == "json":
        raise UsageError("judgments are not written as json; write .jsonl")
    if form is None and Path(path).is_dir():
        return "beir"
    if form in ("beir", RATINGS, JUDGES, ROWS):
        return form
    ending = format_of(path)[0]
    if form is not None and form != ending:
        raise UsageError(f"{printable(str(path))}: the ending says {ending}, not {form}")
    return ending

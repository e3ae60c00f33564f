"""Judgments in and out of files: rows of a book as JSONL, the labels of other tools, and the card beside a file."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.certificate import Judge
from leadline.errors import InputError, MissingExtraError, UsageError, printable
from leadline.formats.beir import write_beir
from leadline.formats.bookfile import is_book, is_rows
from leadline.formats.card import Card, card_path, hash_of, refuse_other_splits, write_card
from leadline.formats.faults import Faults
from leadline.formats.jsontext import decode, lines_of, objects
from leadline.formats.keys import with_ids, with_texts
from leadline.formats.lists import Asked, Graded, Held
from leadline.formats.losses import losses
from leadline.formats.read import read_qrels
from leadline.formats.sniff import FORMATS
from leadline.formats.source import Source, refuse_binary
from leadline.formats.tools import BY_NAME, IRDS, TABLE, read_tool, write_tool
from leadline.formats.toolsniff import recognise_tool
from leadline.formats.write import atomic_write, format_of, write_qrels
from leadline.judging.design import SAMPLED, design_lost, with_columns_of
from leadline.judging.judgment import Judgment, by_time, content_id
from leadline.judging.labels import Labels, votes_of
from leadline.tables import DESIGN, Qrels

if TYPE_CHECKING:
    from leadline.judging.book import Book
    from leadline.tables import Queries

ROWS = "book"
TOOLS = tuple(tool.name for tool in TABLE if "judgments" in tool.holds)
JUDGES = tuple(tool.name for tool in TABLE if "judges" in tool.keeps)
"""The formats of other tools that hold judgments, and those that say whose."""
KINDS = (ROWS, *FORMATS, *TOOLS)
"""The formats that `import` reads and `export` writes; `book` is JSONL with every row."""


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
    queries: "Queries | None" = None,
) -> Given:
    """The judgments of a file in any format that is known. Rows without an id get one from what they say.

    So a file read twice gives the same rows. A list of grades says neither who nor when: `who` names the judge, and its
    rows count as older than every dated one.

    Parameters
    ----------
    form: one of `KINDS`, where the content does not tell. model: the judge is a model of this name.
    queries: give the ids where the file names queries by text; else the text is the id.

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
    if form != "beir" and not Path(path).is_dir() and not str(path).startswith(IRDS):
        source = Source.open(path)
        if form == ROWS or (form in (None, "jsonl") and is_rows(source)):
            return Given(tuple(read_rows(source, said)))
        kind = form if form in TOOLS else recognise_tool(source.head(), "judgments") if form is None else None
        if kind is not None and kind != "ranx":
            held = with_ids(read_tool(kind, source, "judgments"), queries)
            return _from_tool(held, said, kind in JUDGES)
    qrels = read_qrels(path, input_format=form).one_by_one("a book")
    said |= _by_card(qrels, said)
    if "who" not in said:
        raise _who_is_it(str(path))
    design = [name for name in DESIGN if name in qrels.frame.columns]
    pairs = qrels.frame.select("query_id", "doc_id", "grade", *design).iter_rows(named=True)
    return Given(tuple(Judgment.from_dict({**said, **row}) for row in pairs))


def _by_card(qrels: Qrels, said: Mapping[str, Any]) -> dict[str, Any]:
    """Whose the judgments of a file are, where the card beside it says a model's: they do not become a person's on the way."""
    if not qrels.models:
        return {}
    if qrels.models < len(qrels.rows.number) or len(qrels.judges) != 1:
        raise UsageError(
            f"{printable(qrels.source)}: its card names labels of several judges, which only their book tells apart: "
            "leadline book merge BOOK OTHER"
        )
    (judge,) = qrels.judges
    return {"kind": "model", "model": judge.to_dict(), "who": said.get("who") or judge.model}


def _from_tool(held: Held, said: Mapping[str, Any], judges: bool) -> Given:
    """The rows of another tool's list; `judges` says that the format can name them."""
    if held.model:
        own = {"kind": "model", "model": Judge(held.model).to_dict()}
        said = {"who": held.model, **own, **said}
    elif held.clicks:
        said = {"kind": "unstated", **said}
    rows: list[Judgment] = []
    first: dict[tuple[str, str, str], Judgment] = {}
    faults = Faults(held.source)
    for one in held.graded:
        if one.grade is None and one.mark is None:
            continue
        who = one.who or said.get("who") or ("anonymous" if judges else None)
        if who is None:
            raise _who_is_it(held.source)
        given = {
            "query_id": one.query,
            "doc_id": one.doc_id,
            "grade": one.grade,
            "mark": one.mark,
            "note": one.note or None,
        }
        row = Judgment.from_dict(
            {**said, "who": who, **{name: v for name, v in given.items() if v is not None}}
        )
        before = first.setdefault((one.query, one.doc_id, who), row)
        if (before.grade, before.mark) != (row.grade, row.mark):
            found = f"{one.query} {one.doc_id} {row.mark or row.grade}"
            faults.add(
                one.line, None, found, f"but {who} said {before.mark or before.grade} before", one.path
            )
        rows.append(row)
    faults.check()
    if not rows:
        raise InputError(f"{printable(held.source)}: no judgments in it")
    return Given(tuple(rows), (*held.of_judgments, *held.notes))


def _who_is_it(name: str) -> UsageError:
    return UsageError(f"{printable(name)} does not say whose judgments these are: --who NAME")


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
            if (old.kind, old.who) == (row.kind, row.who) and not (row.pooled and not old.pooled):
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


def write_labels(
    labels: Labels,
    path: str | Path,
    form: str | None = None,
    version: str = "",
    queries: "Queries | None" = None,
    say: Callable[[str], object] = bool,
) -> Path | None:
    """The labels as judgments of another tool, and where some are a model's a card beside the file that says so.

    Parameters
    ----------
    form: `beir`, `trec-sampled` or the name of another tool's format; else the ending says it.
    version: of this program, for the card. queries: the texts, for formats that name queries by text; else the id stands
    for it. say: is given what the format loses, a sentence each, before the file is written.

    Returns
    -------
    The path of the card, or None.

    Raises
    ------
    UsageError: an ending without a format, or a place that cannot be written to. InputError: there is no label, or an
    id that the format cannot hold; `trec-sampled`, and a label without a stratum.
    """
    form = form or checked_target(path, None)
    qrels = with_columns_of(labels.qrels(), form, str(path))
    for line in design_lost(labels.labels, form):
        say(line)
    if form in TOOLS:
        graded = tuple(Graded(one.query_id, one.doc_id, one.grade) for one in labels.labels)
        held = _keyed(Held("id", graded, source=str(path)), form, queries)
        _say(held, form, say)
        write_tool(form, held, path)
    elif form == "beir":
        refuse_other_splits(path, bool(labels.of_kind("model")))
        write_beir(path, qrels=qrels)
    else:
        write_qrels(qrels, path)
    return _with_card(labels, path, version)


def _with_card(labels: Labels, path: str | Path, version: str) -> Path | None:
    """The card beside a file of labels, where some of them are a model's; an old card goes where none is.

    Raises
    ------
    UsageError: a place that cannot be written to.
    """
    if not labels.of_kind("model"):
        card_path(path).unlink(missing_ok=True)
        return None
    models: dict[str, int] = {}
    for one in labels.labels:
        if one.kind == "model":
            for who in one.who:
                models[who] = models.get(who, 0) + 1
    card = Card(
        "model" if labels.of_kind("model") == len(labels.labels) else "mixed",
        judges=labels.judges,
        sha256=hash_of(path) if Path(path).is_file() else None,
        book={
            "leadline": version,
            "file": Path(path).name,
            "account": labels.account(),
            "models": [{"who": who, "labels": count} for who, count in sorted(models.items())],
            "pairs_of_models": [[one.query_id, one.doc_id] for one in labels.labels if one.kind == "model"],
        },
    )
    return write_card(path, card)


def _keyed(held: Held, form: str, queries: "Queries | None") -> Held:
    """The same with its queries named as the format names them, and their texts and needs where they are known."""
    if queries is not None:
        named = set(held.keys())
        rows = queries.frame.drop("row", strict=False).iter_rows(named=True)
        told = {row.pop("query_id"): row for row in rows}
        asked = [Asked(query, row.pop("text", None), row) for query, row in told.items() if query in named]
        held = replace(held, asked=tuple(asked))
    return with_texts(held) if BY_NAME[form].keyed == "text" else held


def _say(held: Held, form: str, say: Callable[[str], object]) -> None:
    for line in (*losses("judgments", held, form), *held.notes):
        say(line)


def write_judges(
    rows: Iterable[Judgment],
    path: str | Path,
    form: str = JUDGES[0],
    kind: str | None = None,
    queries: "Queries | None" = None,
    say: Callable[[str], object] = bool,
) -> int:
    """What every person (or with `kind` every judge of that kind) said, in a format that names judges; how many grades.

    `say` is given what the format loses, a sentence each, before the file is written.

    Raises
    ------
    UsageError: a place that cannot be written to. InputError: none of them graded anything.
    """
    votes = votes_of(rows)
    graded = tuple(
        Graded(*pair, row.grade, row.who, row.note, row.mark)
        for pair in sorted(votes)
        for row in votes[pair]
        if row.kind == (kind or "person")
    )
    count = sum(one.grade is not None for one in graded)
    if not count:
        raise InputError(f"no {kind or 'person'}'s grade stands in the book")
    held = _keyed(Held("id", graded, source=str(path)), form, queries)
    for line in design_lost([row for cast in votes.values() for row in cast], form):
        say(line)
    _say(held, form, say)
    write_tool(form, held, path)
    return count


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
    if form in TOOLS and "judgments" not in BY_NAME[form].writes:
        raise UsageError(f"judgments are not written as {form}")
    if form in ("beir", *TOOLS, ROWS):
        return form
    ending = format_of(path)[0]
    if form == SAMPLED and ending == "trec":
        return form
    if form is not None and form != ending:
        raise UsageError(f"{printable(str(path))}: the ending says {ending}, not {form}")
    return ending

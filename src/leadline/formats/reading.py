"""Reading a file as one kind of table with all that it says: subtopics, a run's tag, the queries of a BEIR folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from leadline.errors import InputError, amount, printable
from leadline.formats.columns import plain, resolve
from leadline.formats.kinds import Opened
from leadline.formats.lists import Held, Kind
from leadline.formats.ragfields import TEXT_LISTS, is_rag, tell_fields
from leadline.formats.read import read_qrels, read_queries, read_run
from leadline.formats.tools import BY_NAME, read_tool
from leadline.formats.trec import name_of
from leadline.tables import Conflicts, Qrels, Queries, RunSource

NO_SUBTOPIC = ("0", "Q0")
"""What stands in the second column of TREC judgments where no subtopics are meant."""


@dataclass(frozen=True)
class Given:
    """What was read, the queries that the same place holds besides, what is to be said of it, and what is lost with it."""

    table: Held | RunSource | Qrels | Queries
    queries: Queries | None = None
    notes: tuple[str, ...] = ()
    lost: Mapping[str, int] = field(default_factory=dict)


def read_as(opened: Opened, kind: Kind, aim: str, conflicts: Conflicts = "error") -> Given:
    """The table of one kind in a file; `aim` is the format that it will be written in.

    Raises
    ------
    InputError, RowsError: the file is wrong, or holds none of that kind. UsageError: its format holds none.
    """
    if opened.form in BY_NAME:
        assert opened.source is not None
        return _of_tool(read_tool(opened.form, opened.source, kind), kind)
    form = None if opened.source is None else opened.form
    notes: list[str] = []
    away: dict[str, int] = {}
    if is_rag(opened.columns) and len(opened.columns) > 2:
        rest = "documents and passages" if kind == "queries" else "answers and passages"
        notes.append(f"of these RAG rows only the table named is written; {rest} are left out")
        away = {"passages": count} if (count := _passages(opened.columns)) else {}
    if kind == "run":
        run = read_run(opened.place, name=_name(opened, aim), input_format=form)
        return Given(run, notes=tuple(notes), lost=away)
    if kind == "queries":
        return Given(_flat(read_queries(opened.place, input_format=form), aim), notes=tuple(notes), lost=away)
    keep = opened.form in ("trec", "trec-sampled", "irds") or (
        not is_rag(opened.columns) and "subtopic" in resolve(opened.columns, "qrels").found
    )
    qrels = read_qrels(opened.place, input_format=form, conflicts=conflicts, keep_subtopic=keep)
    told = keep and "subtopic" in qrels.frame.columns
    if told and qrels.frame["subtopic"].n_unique() == 1 and qrels.frame["subtopic"][0] in NO_SUBTOPIC:
        qrels = replace(qrels, table=qrels.frame.drop("subtopic"))
    return Given(qrels, _own_queries(opened), (*notes, *merged_notes(qrels)), away)


def _of_tool(held: Held, kind: Kind) -> Given:
    """What the file holds of that kind; that it holds more is said."""
    if held.left:
        # What these say of a file is a loss here.
        held = replace(held, notes=())
    if kind == "run" and held.hits:
        notes = ("its ratings are not in the run (--as qrels writes them)",) if held.graded else ()
        return Given(replace(held, graded=(), of_judgments=()), notes=notes)
    if kind == "judgments" and held.hits:
        return Given(
            replace(held, hits=(), empty=(), failed={}),
            notes=("its hits are not in the judgments", *held.of_judgments),
        )
    return Given(held)


def _passages(columns: Sequence[str]) -> int:
    """How many columns of RAG rows hold texts that no table has."""
    told = tell_fields(columns)
    lists = [name for name in told.rest if plain(name) in TEXT_LISTS]
    return len(told.documents) + len(lists) + ("reference_texts" in told.found)


def _flat(queries: Queries, aim: str) -> Queries:
    """Without the columns of lists and objects that Parquet can have, where the format has none."""
    if aim in ("jsonl", "parquet", "beir"):
        return queries
    nested = [name for name, kind in queries.frame.schema.items() if kind.is_nested()]
    left = {**queries.left, "lists": queries.left.get("lists", 0) + len(nested)}
    return replace(queries, frame=queries.frame.drop(nested), left=left) if nested else queries


def merged_notes(qrels: Qrels) -> list[str]:
    """What is to be said of judgments that stood several times."""
    notes = []
    if qrels.merged:
        notes.append(f"{amount(qrels.merged, 'row')} repeated a pair with the same grade: written once")
    if qrels.resolved:
        notes.append(f"settled by the rule named: {amount(qrels.resolved, 'repeated judgment')}")
    return notes


def _own_queries(opened: Opened) -> Queries | None:
    if opened.form != "beir":
        return None
    try:
        return read_queries(opened.path)
    except InputError as error:
        if "no queries.jsonl" in str(error):
            return None
        raise


def _name(opened: Opened, aim: str) -> str | None:
    """The system's name: from TREC to TREC its tag, in the first line; else after the file."""
    if opened.form == "trec" and aim == "trec" and opened.source is not None:
        for raw in opened.source.head().split(b"\n"):
            fields = raw.split(maxsplit=5)
            if len(fields) == 6 and not raw.startswith(b"#"):
                return printable(" ".join(fields[5].decode("utf-8", errors="replace").split()))
    return "run" if opened.path == "-" else name_of(opened.path)

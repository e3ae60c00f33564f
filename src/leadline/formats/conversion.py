"""From a file in one format to a file in another: what would be lost is known before anything is written."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from leadline.errors import UsageError, printable
from leadline.formats.aim import Aim, aimed
from leadline.formats.card import card_path, refuse_other_splits
from leadline.formats.cardcopy import Carried, card_of_model, carried_card
from leadline.formats.counts import written
from leadline.formats.heldtables import held_of, qrels_of_held, queries_of_held, run_of_held
from leadline.formats.keys import MAP, escaped, with_ids, with_made_ids, with_texts
from leadline.formats.kinds import Opened, look_at
from leadline.formats.lists import Asked, Held, Kind
from leadline.formats.losses import NEEDS, REFUSED, REMARKS, counted_run, features, kept, lost
from leadline.formats.placing import renamed_errors
from leadline.formats.reading import merged_notes, read_as
from leadline.formats.renamed import Rule, held_renamed, one_renamed, table_renamed
from leadline.formats.tools import BY_NAME
from leadline.tables import Conflicts, Qrels, Queries, RunSource

Watch = Callable[[RunSource], RunSource]
ASIDE = 12
"""So many names of what is not read are said."""
OF_QRELS = ("subtopic", "stratum", "probability", "alternatives")
"""What judgments have and no format of another tool."""


@dataclass(frozen=True)
class Request:
    """What is asked for: the two files, and what their names and content do not say.

    Attributes
    ----------
    source, target: paths, `-` for standard input and output. form: to write; input_format: of the source.
    kind: what to read the source as. queries: ids by text, and texts by id. rule: what becomes of the ids.
    conflicts: settles a pair with different grades. watch: sees every block that is read. beside: further files that are read.
    """

    source: str
    target: str
    form: str | None = None
    input_format: str | None = None
    kind: Kind | None = None
    queries: Queries | None = None
    rule: Rule | None = None
    conflicts: Conflicts = "error"
    watch: Watch = field(default=lambda run: run)
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Conversion:
    """A conversion before anything is written.

    Attributes
    ----------
    table: what will be written; beside: the queries of a BEIR folder. texts: the map of ids to texts, where it is written.
    rows, queries: how many will be written. card: who made the labels, where a card beside the source says it, or the source
    itself, which names the `model`. named: what queries are called, by their names in the source, where it is something else.
    lost: what will not be in the file, a sentence for each feature. notes: what else is to be said.
    """

    opened: Opened
    aim: Aim
    kind: Kind
    table: Held | RunSource | Qrels | Queries
    beside: Queries | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    queries: int = 0
    lost: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    card: Carried | None = None
    named: Mapping[str, str] = field(default_factory=dict)
    model: str = ""

    @property
    def card_place(self) -> Path | None:
        """Where the card of the labels will stand, if there is one."""
        if self.card is None:
            return None
        return card_path(self.aim.path, folder=self.aim.form == "beir")

    @property
    def refused(self) -> bool:
        """True where the format cannot hold it at all, and would not be written with less."""
        return any(feature in self.lost for feature in REFUSED)


def planned(request: Request) -> Conversion:
    """Read the source, and say what a file in the other format would lose of it.

    Raises
    ------
    UsageError: the two do not fit, or the source can be several things. InputError, RowsError: it is wrong.
    """
    aim = aimed(request.target, request.form)
    _refuse_what_is_read(request)
    opened = look_at(request.source, request.input_format, request.kind)
    kind = _kind(opened, aim, request.kind)
    with renamed_errors({opened.place: opened.shown}):
        read = read_as(opened, kind, aim.form, request.conflicts)
        table = read.table
        if not isinstance(table, (Held, Qrels, Queries)):
            table = request.watch(table)
        own = read.queries
        notes = [*read.notes]
        if kind != opened.main and opened.main is not None and request.kind is None:
            notes.append(f"only its {kind} are written: {aim.form} is not written from {opened.main}")
        if isinstance(table, Held) or aim.form in BY_NAME:
            plan = _through_held(request, opened, aim, kind, table, own, notes)
        else:
            plan = _of_table(request, opened, aim, kind, table, own, notes)
        plan = replace(plan, lost=lost(kind, read.lost, aim.form) | dict(plan.lost))
        return _with_card(plan, request) if kind == "judgments" else plan


def _with_card(plan: Conversion, request: Request) -> Conversion:
    """With the card of the labels, which goes beside them; where no file can stand beside, that is a loss."""
    card = carried_card(plan.opened.path) or card_of_model(plan.model)
    if plan.aim.form == "beir":
        refuse_other_splits(plan.aim.path, card is not None)
    if card is None:
        return plan
    place = Path(plan.aim.path)
    if plan.aim.path == "-" or (place.exists() and not place.is_file() and not place.is_dir()):
        where = "standard output" if plan.aim.path == "-" else printable(plan.aim.path)
        said = f"{plan.aim.form} loses the card of the labels, which says {card.sentence}: none stands beside {where}"
        return replace(plan, lost={**plan.lost, "card": said})
    return replace(plan, card=card.renamed(plan.named, request.rule, plan.aim.keyed == "id"))


def _refuse_what_is_read(request: Request) -> None:
    """Refuse to write over any file that is read: the source, its card, the queries beside it."""
    if request.target == "-":
        return
    read = [request.source, *request.beside]
    # A map is only written where no queries are given.
    maps = [] if request.queries is not None else [f"{request.target}{MAP}"]
    for place in (request.target, *maps, str(card_path(request.target))):
        for one in (*read, str(card_path(request.source))):
            if one != "-" and _same(one, place):
                raise UsageError(f"{printable(place)} is {_which(one, request)} that is read; name another")


def _which(path: str, request: Request) -> str:
    return "the file" if path in (request.source, *request.beside) else "the card of the file"


def _same(source: str, target: str) -> bool:
    one, other = Path(source), Path(target)
    return one.exists() and other.exists() and one.is_file() and one.samefile(other)


def _kind(opened: Opened, aim: Aim, wanted: Kind | None) -> Kind:
    """What to read the source as: what was named, else what fits both, else what it is first of all.

    Raises
    ------
    UsageError: nothing fits, or several things do.
    """
    if wanted is not None:
        if wanted not in aim.kinds:
            raise UsageError(f"{aim.form} is written from {_or(aim.kinds)}, not from {_one(wanted)}")
        return wanted
    both = [kind for kind in opened.kinds if kind in aim.kinds]
    if not both:
        raise UsageError(
            f"{printable(opened.shown)} ({opened.form}) holds {_or(opened.kinds)}, and {aim.form} is written from "
            f"{_or(aim.kinds)}"
        )
    if len(both) == 1:
        return both[0]
    if aim.says in both:
        return aim.says
    if opened.main in both:
        return opened.main
    raise UsageError(
        f"{printable(opened.shown)} ({opened.form}) can be read as {_or(tuple(both))}: say which with --as"
    )


def _one(kind: Kind) -> str:
    return "a run" if kind == "run" else kind


def _or(kinds: tuple[Kind, ...]) -> str:
    return " or ".join(map(_one, kinds))


def _of_table(
    request: Request,
    opened: Opened,
    aim: Aim,
    kind: Kind,
    table: "RunSource | Qrels | Queries",
    own: Queries | None,
    notes: list[str],
) -> Conversion:
    """From one format of the house to another."""
    if request.rule is not None:
        table = table_renamed(table, request.rule, opened.shown)
    counts = None if isinstance(table, (Qrels, Queries)) else counted_run(table)
    found = features(kind, table) if counts is None else counts.found
    rows, queries = written(kind, table, aim.form, counts)
    beside = None
    if kind == "judgments" and aim.form == "beir":
        beside = request.queries or own
        if beside is not None and request.rule is not None:
            beside = table_renamed(beside, request.rule, opened.shown)  # type: ignore[assignment]
    elif own is not None and kind == "judgments":
        notes.append(f"the folder's queries are not in it: {aim.form} holds judgments (--as queries)")
    missing = lost(kind, found, aim.form)
    return Conversion(opened, aim, kind, table, beside, {}, rows, queries, missing, tuple(notes))


def _through_held(
    request: Request,
    opened: Opened,
    aim: Aim,
    kind: Kind,
    table: "Held | RunSource | Qrels | Queries",
    own: Queries | None,
    notes: list[str],
) -> Conversion:
    """From or to a format of another tool."""
    sampled: dict[str, str] = {}
    keeps = kept(kind, aim.form)
    if isinstance(table, Held):
        held = table
    else:
        told = lost(kind, features(kind, table), aim.form) if isinstance(table, Qrels) else {}
        sampled = {name: text for name, text in told.items() if name in OF_QRELS}
        left = getattr(table, "left", {})
        held = _asked(replace(_as_held(table), source=opened.shown, left=left), own, whole="query" in keeps)
        bare = 0 if own is None else own.frame.height - len(held.asked)
        if bare > 0:
            sampled |= lost("judgments", {"query": bare}, aim.form)
    if request.queries is not None and held.keyed == "id":
        held = _asked(held, request.queries, keeps)
    before = held
    made = held.keyed == "text" and aim.keyed == "id" and request.queries is None
    held, texts, left_out = _named(held, aim, request.queries)
    named = _renamed(before, held, request.queries)
    notes += [f"{printable(opened.shown)}: {note}" for note in held.notes if note not in left_out]
    if held.aside:
        notes.append(
            f"{printable(opened.shown)}: not read: {', '.join(map(printable, list(held.aside)[:ASIDE]))}"
        )
    rename = aim.keyed == "id" and not made
    if request.rule is not None:
        held = held_renamed(held, request.rule, rename)
        if rename:
            texts = {one_renamed(one, request.rule, opened.shown): text for one, text in texts.items()}
    missing = lost(kind, features(kind, held), aim.form) | sampled
    if left_out:
        missing["unmatched"] = "; ".join(left_out)
    texts, missing = _mapped(texts, missing, aim, before.keyed, request)
    conversion = Conversion(
        opened, aim, kind, held, None, texts, lost=missing, notes=tuple(notes), named=named, model=held.model
    )
    return _finished(conversion, before, request)


def _mapped(
    texts: Mapping[str, str], missing: dict[str, str], aim: Aim, was: str, request: Request
) -> tuple[Mapping[str, str], dict[str, str]]:
    """The map that is written beside, where there is a need of it; what is lost with it, or without."""
    named = {"text", "id"} & set(missing)
    if was == "id" and aim.keyed == "text" and any(escaped(text) != one for one, text in texts.items()):
        # Read again the texts would become other ids.
        missing.setdefault(
            "id", f"{aim.form} names queries by text, of which the ids do not come back by themselves"
        )
        named |= {"id"}
    if request.queries is None and (request.target == "-" or not texts):
        return {}, missing
    # Which id stands for which text is not lost: the queries say it, or the map.
    rest = {name: said for name, said in missing.items() if name not in named}
    return (texts if named and request.queries is None else {}), rest


def _as_held(table: "RunSource | Qrels | Queries") -> Held:
    if isinstance(table, Qrels):
        return held_of(qrels=table)
    return held_of(queries=table) if isinstance(table, Queries) else held_of(run=table)


def _asked(
    held: Held, queries: Queries | None, keeps: frozenset[str] | None = None, whole: bool = False
) -> Held:
    """With what is known of the queries that it names (`whole`: of all); of a file beside, what the format keeps."""
    if queries is None:
        return held
    told = {one.query: one for one in held.asked}
    asked = dict(told)
    named = dict.fromkeys(held.keys())
    for row in queries.frame.drop("row", strict=False).iter_rows(named=True):
        query, text = row.pop("query_id"), row.pop("text", None)
        if query not in named and not whole:
            continue
        more = {
            name: value
            for name, value in row.items()
            if value is not None and (keeps is None or _group(name) in keeps)
        }
        there = told.get(query, Asked(query))
        asked[query] = replace(there, text=there.text or text, more={**more, **there.more})
    return replace(held, asked=tuple(asked.values()))


def _group(name: str) -> str:
    return "need" if name in NEEDS else "remarks" if name in REMARKS else "more"


def _named(held: Held, aim: Aim, queries: Queries | None) -> tuple[Held, Mapping[str, str], tuple[str, ...]]:
    """The same with its queries named as the format names them; the text of each id, and what was left out for it."""
    if aim.keyed == "text":
        found = with_texts(held, queries)
        return found, {one: text for text, one in found.own.items()}, ()
    if held.keyed == "id":
        return held, {one.query: one.text for one in held.asked if one.text is not None}, ()
    if queries is None:
        return *with_made_ids(held), ()
    found = with_ids(held, queries)
    said = tuple(note for note in found.notes if note not in held.notes and note.startswith("left out: "))
    return found, {}, said


def _renamed(before: Held, after: Held, queries: Queries | None) -> dict[str, str]:
    """The new name of each query by its name in the source, where it got one."""
    if before.keyed == after.keyed:
        return {}
    old, new = before.keys(), after.keys()
    if len(old) == len(new) or queries is None:
        return dict(zip(old, new, strict=False))
    known = set(old)
    rows = queries.frame.select("text", "query_id").iter_rows()
    return {text: query for text, query in rows if text in known}


def _finished(conversion: Conversion, before: Held, request: Request) -> Conversion:
    """With the table that will be written, and its rows counted."""
    held, kind, form = conversion.table, conversion.kind, conversion.aim.form
    assert isinstance(held, Held)
    if kind == "judgments" and request.conflicts != "error" and "judges" not in kept(kind, form):
        held = _settled(held, request.conflicts)
    if form in BY_NAME:
        return _counted(replace(conversion, table=held))
    if kind == "run":
        return _counted(replace(conversion, table=run_of_held(held, held.name or _name(request))))
    if kind == "queries":
        return _counted(replace(conversion, table=queries_of_held(held)))
    qrels = qrels_of_held(replace(held, notes=(), of_judgments=()))
    beside = None
    bare = set(held.keys()) - {row.query for row in held.graded if row.grade is not None}
    if form == "beir" and (bare or any(one.text is not None or one.more for one in held.asked)):
        beside = queries_of_held(held)
    notes = (*conversion.notes, *merged_notes(qrels))
    return _counted(replace(conversion, table=qrels, beside=beside, notes=notes))


def _counted(conversion: Conversion) -> Conversion:
    """With the rows and queries that will be written."""
    rows, queries = written(conversion.kind, conversion.table, conversion.aim.form)
    return replace(conversion, rows=rows, queries=queries)


def _settled(held: Held, conflicts: Conflicts) -> Held:
    """One grade a pair by the rule; pairs without a grade stay."""
    keys = replace(held, keyed="id", own={}, notes=(), of_judgments=())
    qrels = qrels_of_held(keys, conflicts=conflicts)
    graded = held_of(qrels=qrels).graded
    known = {(row.query, row.doc_id) for row in graded}
    rest = tuple(row for row in held.graded if row.grade is None and (row.query, row.doc_id) not in known)
    return replace(held, graded=(*graded, *rest))


def _name(request: Request) -> str:
    from leadline.formats.trec import name_of

    return "run" if request.source == "-" else name_of(request.source)

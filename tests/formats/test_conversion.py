"""The law of conversion: there and back gives the same table, or a loss was said before, or it was refused with the reason."""

import itertools
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import InputError, UsageError
from leadline.formats.aim import HOUSE
from leadline.formats.carrying import carried_out
from leadline.formats.conversion import Conversion, Request, planned
from leadline.formats.heldtables import held_of, ranked
from leadline.formats.kinds import look_at
from leadline.formats.lists import Asked, Graded, Held, Hit, Kind
from leadline.formats.losses import OWN
from leadline.formats.objects import qrels_of, queries_of, run_of
from leadline.formats.read import read_queries
from leadline.formats.reading import read_as
from leadline.formats.tools import BY_NAME, TABLE, write_tool
from leadline.formats.write import write_qrels, write_queries, write_run
from leadline.tables import Qrels, Queries

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6) | (
    st.text("ab %=+-\t\"',#:", min_size=1, max_size=5)
)
WORD = st.text("abc%#Ωé-=", min_size=1, max_size=4)
ID = WORD | TEXT
SCORE = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, -1).map(float)
GRADE = st.integers(-1, 5).map(float) | st.floats(-1e3, 1e3, allow_nan=False)
ENDINGS = {"trec": ".run", "jsonl": ".jsonl", "csv": ".csv", "tsv": ".tsv", "parquet": ".parquet", "beir": ""}
FEW = settings(deadline=None, max_examples=50 if os.environ.get("LEADLINE_PROVE") else 4)
"""Each example goes to every other format and back; `make prove` tries more of them."""


def names(kind: Kind) -> list[str]:
    """The formats that such a table is written in."""
    return [form for form in HOUSE if form in OWN[kind]] + [t.name for t in TABLE if kind in t.writes]


def keyed(form: str) -> str:
    return BY_NAME[form].keyed if form in BY_NAME else "id"


def ending(form: str) -> str:
    return BY_NAME[form].ending if form in BY_NAME else ENDINGS[form]


@st.composite
def tables(draw: Any, kind: Kind, form: str) -> Held:
    """What such a file may hold; what its format keeps besides is sometimes in it."""
    if kind == "queries":
        found = draw(
            st.dictionaries(ID, st.tuples(st.none() | TEXT, st.none() | TEXT), min_size=1, max_size=4)
        )
        return Held(
            keyed(form),  # type: ignore[arg-type]
            asked=tuple(
                Asked(q, q if keyed(form) == "text" else text, {} if more is None else {"lang": more})
                for q, (text, more) in found.items()
            ),
        )
    pairs = draw(st.lists(st.tuples(ID, ID), min_size=1, max_size=6, unique=True))
    if kind == "run":
        hits = tuple(Hit(q, d, draw(SCORE)) for q, d in pairs)
        empty = tuple({draw(ID)} - {q for q, _ in pairs}) if draw(st.booleans()) else ()
        return Held(keyed(form), hits=hits, empty=empty)  # type: ignore[arg-type]
    return Held(
        keyed(form),  # type: ignore[arg-type]
        tuple(Graded(q, d, draw(GRADE)) for q, d in pairs)
        + (tuple({Graded(draw(ID), draw(ID))}) if draw(st.integers(0, 3)) == 0 else ()),
    )


def first_file(held: Held, kind: Kind, form: str, place: Path) -> None:
    """Write it as its own program would."""
    if form in BY_NAME:
        write_tool(form, held, place)
    elif kind == "run":
        rows = [(hit.query, hit.doc_id, hit.score) for hit in held.hits]
        write_run(run_of(rows), place)
    elif kind == "queries":
        rows_ = [{"query_id": a.query, **({"text": a.text} if a.text else {}), **a.more} for a in held.asked]
        _queries(queries_of(rows_), form, place)
    else:
        qrels = qrels_of([(r.query, r.doc_id, r.grade) for r in held.graded if r.grade is not None])
        if form == "beir":
            from leadline.formats.beir import write_beir

            write_beir(place, qrels=qrels)
        else:
            write_qrels(qrels, place)


def _queries(queries: Queries, form: str, place: Path) -> None:
    if form == "beir":
        from leadline.formats.beir import write_beir

        write_beir(place, queries=queries)
        (place / "qrels").rmdir()
    else:
        write_queries(queries, place)


def table_at(place: Path, form: str, kind: Kind) -> Any:
    """All that a file says of such a table."""
    read = read_as(look_at(str(place), form, kind), kind, form).table
    if isinstance(read, Qrels):
        read = held_of(qrels=read)
    elif isinstance(read, Queries):
        read = held_of(queries=read)
    elif not isinstance(read, Held):
        read = held_of(run=read)
    if kind == "judgments":
        bare = {r.query for r in read.graded}
        rows = sorted(((r.query, r.doc_id, r.grade, r.who, r.note, r.mark) for r in read.graded), key=repr)
        return rows, sorted(one.query for one in read.asked if one.query not in bare)
    if kind == "run":
        order = {q: [(h.doc_id, h.score) for h in hits] for q, hits in ranked(read.hits).items()}
        return order, sorted(read.empty), dict(read.failed)
    # Where a format names queries by text, the id stands for a text that is not known; that is said as a note.
    return [(one.query, one.text or one.query, _said(one.more)) for one in read.asked]


def _said(more: Any) -> dict[str, Any]:
    return {name: value for name, value in more.items() if value not in (None, "")}


def converted(request: Request) -> tuple[Conversion, Path | None]:
    plan = planned(request)
    if plan.lost:
        return plan, None
    return plan, carried_out(plan)


def law(held: Held, kind: Kind, one: str, other: str, folder: Path) -> str:
    """What became of it: `same`, `lost` or `refused`; anything else is an AssertionError."""
    source, target, back = (folder / f"{n}{ending(f)}" for n, f in (("a", one), ("b", other), ("c", one)))
    try:
        first_file(held, kind, one, source)
    except (InputError, UsageError):
        return "refused"
    there: Request | None = None
    try:
        there = Request(str(source), str(target), other, one, kind)
        plan, texts = converted(there)
    except (InputError, UsageError) as error:
        assert str(error) and not target.exists(), error
        assert str(folder) not in str(error).replace(str(source), "").replace(str(target), ""), error
        return "refused"
    if plan.lost:
        assert not target.exists()
        return "lost"
    queries = None if texts is None else read_queries(texts)
    try:
        again, _ = converted(Request(str(target), str(back), one, other, kind, queries))
    except (InputError, UsageError) as error:
        assert str(error) and not back.exists(), error
        return "refused"
    if again.lost or any("left out" in note for note in again.notes):
        return "lost"
    assert table_at(back, one, kind) == table_at(source, one, kind)
    return "same"


PAIRS = [
    (kind, *pair)
    for kind in ("run", "judgments", "queries")
    for pair in itertools.product(names(kind), repeat=2)
]


@pytest.mark.parametrize(("kind", "one"), list(dict.fromkeys((kind, one) for kind, one, _ in PAIRS)))
@FEW
@given(data=st.data())
def test_there_and_back_is_the_same_or_was_said(kind: Kind, one: str, data: st.DataObject) -> None:
    held = data.draw(tables(kind, one))
    for other in names(kind):
        with tempfile.TemporaryDirectory() as folder:
            law(held, kind, one, other, Path(folder))


PLAIN: dict[Kind, Held] = {
    "run": Held("id", hits=(Hit("q1", "d2", -1.0), Hit("q1", "d1", -2.0), Hit("q2", "d1", -1.0))),
    "judgments": Held("id", (Graded("q1", "d1", 2.0), Graded("q1", "d2", 0.0), Graded("q2", "d1", 1.0))),
    "queries": Held("id", asked=(Asked("q1", "q1"), Asked("q2", "q2"))),
}


@pytest.mark.parametrize(("kind", "one", "other"), PAIRS)
def test_a_plain_table_goes_everywhere_and_comes_back(
    kind: Kind, one: str, other: str, tmp_path: Path
) -> None:
    from dataclasses import replace

    held = replace(PLAIN[kind], keyed=keyed(one))
    if one == "quepid-judges":
        held = replace(held, graded=tuple(replace(row, who="ana") for row in held.graded))
    lossy = one == "quepid-judges" and other not in ("quepid-judges", "quepid-book")
    # In RRE a query stands in a group and a topic, which are fields that others have no place for.
    grouped = "rre" in (one, other) and kind == "judgments"
    assert law(held, kind, one, other, tmp_path) in (
        ("lost", "same") if grouped else ("lost",) if lossy else ("same",)
    )

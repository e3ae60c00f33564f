"""Every format of another tool: what is written is read back the same, and what is not was said to be lost."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import InputError, UnknownNameError, UsageError
from leadline.formats.heldtables import ranked
from leadline.formats.lists import Asked, Graded, Held, Hit, Kind
from leadline.formats.losses import losses
from leadline.formats.objects import qrels_of, queries_of, run_of
from leadline.formats.source import Source
from leadline.formats.tools import BY_NAME, TABLE, Tool, read_tool, write_tool

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
WORD = TEXT.map(lambda text: "".join(c for c in text if c not in " \t\n\r\x0b\x0c")).filter(bool)
LINE = TEXT.map(lambda text: "".join(c for c in text if c not in "\r\n")).filter(bool)
UNTIMED = settings(deadline=None, max_examples=40)
MANY = settings(deadline=None, max_examples=60)
GRADES = st.integers(-2, 9).map(float)
FRACTIONS = GRADES | st.floats(-1e6, 1e6, allow_nan=False)


def graded_by(tool: Tool) -> st.SearchStrategy[Held]:
    """Judgments that the format says it keeps whole."""
    doc = TEXT if "space" in tool.keeps else WORD
    query = (LINE if tool.name == "ltr" else TEXT) if tool.keyed == "text" or "space" in tool.keeps else WORD
    grade = FRACTIONS if "fraction" in tool.keeps else GRADES
    # A judge's column cannot be called like another column.
    judge = TEXT.filter(lambda who: who not in ("query", "docid")) if "judges" in tool.keeps else st.none()
    note = st.just("") | TEXT if "note" in tool.keeps else st.just("")
    graded = st.tuples(grade, judge, note, st.none())
    marked = st.tuples(st.none(), judge, note, st.sampled_from(["unsure", "skip"]))
    said = graded | marked if "mark" in tool.keeps else graded
    # A column without a grade in it is no column.
    key = st.tuples(query, doc)
    several = st.lists(
        said, min_size=1, max_size=3 if "judges" in tool.keeps else 1, unique_by=lambda one: one[1]
    )
    table = st.dictionaries(key, several, min_size=1, max_size=5)

    def made(found: dict[tuple[str, str], list[tuple[float | None, str | None, str, str | None]]]) -> Held:
        rows = [Graded(q, d, *one) for (q, d), given in found.items() for one in given]
        return Held(tool.keyed, tuple(rows))

    return table.map(made).filter(lambda held: any(row.grade is not None for row in held.graded))


def runs_by(tool: Tool) -> st.SearchStrategy[Held]:
    """Runs that the format says it keeps whole."""
    name = TEXT if "space" in tool.keeps else WORD
    score = st.floats(-1e9, 1e9, allow_nan=False)
    rows = st.lists(st.tuples(name, name, score), min_size=1, max_size=8, unique_by=lambda row: row[:2])

    def made(found: list[tuple[str, str, float]]) -> Held:
        hits = tuple(Hit(*row) for row in found)
        if "score" not in tool.keeps:
            places = [hit for mine in ranked(hits).values() for hit in mine]
            at: dict[str, int] = {}
            hits = tuple(
                replace(h, score=-float(at.setdefault(h.query, 0) + 1)) for h in places if not _count(at, h)
            )
        return Held(tool.keyed, hits=hits)

    return rows.map(made)


def _count(at: dict[str, int], hit: Hit) -> bool:
    """Count a hit of its query; always False."""
    at[hit.query] = at.get(hit.query, -1) + 1
    return False


def through(held: Held, name: str, ending: str = "") -> Held:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ending or BY_NAME[name].ending}"
        write_tool(name, held, path)
        return read_tool(name, Source.open(path))


def words(held: Held) -> list[tuple[object, ...]]:
    rows = [(r.query, r.doc_id, r.grade, r.who, r.note, r.mark) for r in held.graded]
    return sorted(rows, key=repr)


JUDGMENTS = [tool.name for tool in TABLE if "judgments" in tool.writes]
RUNS = [tool.name for tool in TABLE if "run" in tool.writes]


@pytest.mark.parametrize("name", JUDGMENTS)
@MANY
@given(data=st.data())
def test_judgments(name: str, data: st.DataObject) -> None:
    held = data.draw(graded_by(BY_NAME[name]))
    assert words(through(held, name)) == words(held)
    # What came back whole was not said to be lost, but for what the key itself is.
    told = [line for line in losses("judgments", held, name) if "text" not in line]
    assert told == []


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("ending", ["", ".parquet"])
@MANY
@given(data=st.data())
def test_runs(name: str, ending: str, data: st.DataObject) -> None:
    if ending and name != "ranx":
        return
    held = data.draw(runs_by(BY_NAME[name]))
    found = through(held, name, ending)

    def order(one: Held) -> dict[str, list[tuple[str, float]]]:
        return {query: [(hit.doc_id, hit.score) for hit in mine] for query, mine in ranked(one.hits).items()}

    assert order(found) == order(held)
    assert losses("run", held, name) == [] or BY_NAME[name].keyed == "text"


@UNTIMED
@given(
    queries=st.dictionaries(TEXT, st.tuples(st.none() | TEXT, st.none() | TEXT), min_size=1, max_size=5),
    name=st.sampled_from([tool.name for tool in TABLE if "queries" in tool.writes]),
)
def test_queries(queries: dict[str, tuple[str | None, str | None]], name: str) -> None:
    field = {"quepid-needs": "information_need", "opensearch-queries": "reference", "langfuse": "reference"}[
        name
    ]
    keyed = BY_NAME[name].keyed
    asked = tuple(
        Asked(query, query if keyed == "text" else text or query, {field: more} if more else {})
        for query, (text, more) in queries.items()
    )
    found = through(Held(keyed, asked=asked), name)
    assert [(one.query, one.text, dict(one.more)) for one in found.asked] == [
        (one.query, one.text, dict(one.more)) for one in asked
    ]


FULL = Held(
    "text",
    (
        Graded("star trek", "d 1", 2.5, "ana", "yes"),
        Graded("star trek", "d 2", None, "bob", "", "broken"),
        Graded("alien", "d3"),
    ),
    asked=(
        Asked("star trek", "star trek", {"information_need": "the series", "notes": "n", "lang": "en"}),
        Asked("alone", "alone"),
    ),
    own={"star trek": "q1"},
)  # fmt: skip


@pytest.mark.parametrize("name", JUDGMENTS)
def test_what_does_not_come_back_was_said_before(name: str) -> None:
    """Feature by feature: a table of the feature alone either comes back, or is said to lose it, or is refused."""
    kinds: dict[str, Held] = {
        "fraction": replace(FULL, graded=(Graded("q", "d", 2.5),), asked=(), own={}),
        "note": replace(FULL, graded=(Graded("q", "d", 2.0, note="yes"),), asked=(), own={}),
        "judge": replace(FULL, graded=(Graded("q", "d", 2.0, "ana"),), asked=(), own={}),
        "mark": replace(
            FULL, graded=(Graded("q", "d", 2.0), Graded("q", "e", mark="skip")), asked=(), own={}
        ),
        "broken": replace(
            FULL, graded=(Graded("q", "d", 2.0), Graded("q", "e", mark="broken")), asked=(), own={}
        ),
        "not judged": replace(FULL, graded=(Graded("q", "d", 2.0), Graded("q", "e")), asked=(), own={}),
        "white space": replace(FULL, graded=(Graded("q", "d e", 2.0),), asked=(), own={}),
    }
    for feature, held in kinds.items():
        # A column has a name, also that of a judge.
        who = "ana" if name == "quepid-judges" else None
        graded = tuple(replace(r, who=r.who or (who if r.grade is not None else None)) for r in held.graded)
        held = replace(held, keyed=BY_NAME[name].keyed, graded=graded)
        told = " ".join(losses("judgments", held, name))
        try:
            same = words(through(held, name)) == words(held)
        except (InputError, UsageError):
            same = False
        assert same or feature in told, (feature, told)
        assert not same or feature not in told, (feature, told)


def test_losses_in_words() -> None:
    assert losses("judgments", FULL, "rre") == [
        "rre loses 1 grade with a fraction: it holds whole grades only, and refuses these",
        "rre loses 1 pair that is not judged: left out",
        "rre loses 2 names of judges: it does not say who judged",
        "rre loses 1 note of a judge: left out",
        "rre loses 1 mark (unsure, skip, broken): left out",
        "rre loses 1 mark `broken`: it is written as a pair that cannot be rated",
        "rre loses 1 information need: left out",
        "rre loses 1 field of notes or options: left out",
        "rre loses 1 further field of queries: left out",
        "rre loses 1 query id: it names queries by their text; the ids come back with --queries",
    ]
    run: Kind = "run"
    assert losses(run, Held("id", hits=(Hit("q", "d", 0.5),), empty=("r",)), "msmarco") == [
        "msmarco loses 1 score: it keeps the order alone",
        "msmarco loses 1 empty answer: left out: such queries count as not answered",
    ]


def test_losses_of_tables() -> None:
    qrels = qrels_of({"q 1": {"d": 1.5, "e f": 1}})
    assert losses("judgments", qrels, "jsonl") == []
    assert losses("judgments", qrels, "trec") == [
        "trec loses 2 ids with white space: fields are apart at white space there; refused unless escaped"
    ]
    assert losses("judgments", qrels, "rank_eval") == [
        "rank_eval loses 1 grade with a fraction: it holds whole grades only, and refuses these"
    ]
    run = run_of({"q": ["a"], "r": []})
    assert losses("run", run, "csv") == [
        "csv loses 1 empty answer: left out: such queries count as not answered"
    ]
    queries = queries_of([{"query_id": "q", "text": "who?", "lang": "en", "need": "a name"}])
    assert losses("queries", queries, "quepid-needs") == [
        "quepid-needs loses 1 further field of queries: left out",
        "quepid-needs loses 1 query id: it names queries by their text; the ids come back with --queries",
    ]
    with pytest.raises(UnknownNameError, match="unknown format to write a run in 'quepid'"):
        losses("run", run, "quepid")

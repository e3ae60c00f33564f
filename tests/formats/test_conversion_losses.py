"""What a conversion keeps and loses: alternatives, blanks, lists, what a reader drops; and the rows it says it wrote."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leadline.errors import RowsError
from leadline.formats.carrying import carried_out
from leadline.formats.conversion import Conversion, Request, planned
from leadline.formats.lists import Kind
from leadline.formats.losses import counted_run
from leadline.formats.objects import run_of
from leadline.formats.read import read_qrels, read_queries

NEEDS = "query_id,doc_id,grade,need\nq,a,2,who\nq,b,2,who\nq,c,1,when\nq,d,0,\nr,a,1,\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plan(
    source: str, target: str, form: str | None = None, kind: Kind | None = None, **more: Any
) -> Conversion:
    return planned(Request(source, target, form, kind=kind, **more))


@pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "parquet"])
def test_alternatives_go_with_the_labels(folder: Path, ending: str) -> None:
    Path("a.csv").write_text(NEEDS)
    made = plan("a.csv", f"b.{ending}")
    assert not made.lost and (made.rows, made.queries) == (5, 2)
    carried_out(made)
    back = read_qrels(f"b.{ending}")
    assert back.alternatives == {"q": {"b": "a"}} and back.needs == {"q": {"a": "who", "c": "when"}}
    carried_out(plan(f"b.{ending}", "c.csv"))
    assert Path("c.csv").read_text() == NEEDS


@pytest.mark.parametrize(
    ("target", "form"), [("b.qrels", None), ("b", "beir"), ("b.json", "ranx"), ("b.csv", "quepid")]
)
def test_alternatives_are_said_where_they_have_no_place(folder: Path, target: str, form: str | None) -> None:
    Path("a.csv").write_text(NEEDS)
    made = plan("a.csv", target, form)
    name = form or "trec"
    # a and b meet one need, c one of its own: three documents of which the column says something.
    assert made.lost["alternatives"] == (
        f"{name} loses 3 documents' needs: of those that meet one need only the first is written"
    )
    # b is not written.
    assert (made.rows, made.queries) == (4, 2)


def test_alternatives_of_rag_rows_and_of_escaped_ids(folder: Path) -> None:
    row = {
        "query_id": "q 1",
        "question": "who?",
        "retrieved_ids": ["x"],
        "reference_ids": [["a 1", "b%"], "c"],
    }
    Path("rag.jsonl").write_text(json.dumps(row) + "\n")
    carried_out(plan("rag.jsonl", "b.csv", kind="judgments", rule="escape"))
    back = read_qrels("b.csv")
    assert back.alternatives == {"q%201": {"b%25": "a%201"}}
    carried_out(plan("b.csv", "c.jsonl", rule="unescape"))
    assert read_qrels("c.jsonl").alternatives == {"q 1": {"b%": "a 1"}}
    # White space in an alternative alone is white space that TREC has no place for.
    Path("s.csv").write_text("query_id,doc_id,grade,need\nq,a,1,n\nq,b c,1,n\n")
    assert "space" in plan("s.csv", "t.qrels").lost


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"query_id":"q","doc_id":"a","grade":1}\n{"query_id":"q","doc_id":"b","grade":null}\n'),
        ("a.csv", "query_id,doc_id,grade\nq,a,1\nq,b,\n"),
        ("a.json", '{"q": {"a": 1, "b": null}}'),
        ("b.json", '[{"query_id":"q","doc_id":"a","grade":1},{"query_id":"q","doc_id":"b","grade":null}]'),
    ],
)
def test_pairs_without_a_grade_are_a_loss(folder: Path, name: str, text: str) -> None:
    Path(name).write_text(text)
    for form in ("trec", "quepid"):
        made = plan(name, "out.csv" if form == "quepid" else "out.qrels", form, "judgments")
        assert made.lost["ungraded"] == f"{form} loses 1 pair without a grade: not judged, left out", made
        assert made.rows == 1


def test_lists_and_objects_of_queries_are_a_loss(folder: Path) -> None:
    row = {"query_id": "q", "text": "who?", "tags": ["a"], "more": {"x": 1}, "lang": "en"}
    Path("a.jsonl").write_text(json.dumps(row) + "\n")
    Path("a.json").write_text(json.dumps({"q": {name: row[name] for name in ("text", "tags", "more")}}))
    for name in ("a.jsonl", "a.json"):
        made = plan(name, "b.csv", kind="queries")
        assert made.lost["lists"] == "csv loses 2 fields of queries with lists or objects: left out"
    rag = {"query_id": "q", "question": "who?", "retrieved_ids": ["d"], "trace": {"a": 1}}
    Path("rag.jsonl").write_text(json.dumps(rag) + "\n")
    assert "1 field of queries with a list" in plan("rag.jsonl", "b.csv", kind="queries").lost["lists"]


def test_lists_of_parquet_stay_in_parquet_and_are_left_out_of_csv(folder: Path) -> None:
    pl.DataFrame({"query_id": ["q"], "text": ["who?"], "tags": [["a", "b"]]}).write_parquet("a.parquet")
    made = plan("a.parquet", "b.csv", kind="queries")
    assert "1 field of queries with a list" in made.lost["lists"]
    carried_out(made)
    assert Path("b.csv").read_text() == "query_id,text\nq,who?\n"
    made = plan("a.parquet", "b.parquet", kind="queries")
    assert not made.lost
    carried_out(made)
    assert read_queries("b.parquet").frame["tags"].to_list() == [["a", "b"]]


ITEM = {"id": "1", "input": "who?", "metadata": {"relevant_ids": ["d"]}}
PAIR = {"query_text": "who?", "doc_id": "d", "document_fields": {"t": 1}, "judgements": [{"rating": 1}]}
BOOK = {"query_doc_pairs": [PAIR]}


@pytest.mark.parametrize(
    ("name", "text", "kind", "what", "said"),
    [
        ("f.txt", "3 qid:1 1:0.5 # d who?\n", "judgments", "features", "1 line of features"),
        ("i.jsonl", "".join(json.dumps({**ITEM, **more}) + "\n" for more in ({}, {"id": "2", "status": "ARCHIVED"})),
         "judgments", "archived", "1 archived item"),
        ("l.jsonl", json.dumps({**ITEM, "metadata": {"relevant_ids": ["d"], "tags": ["x"]}}) + "\n",
         "queries", "lists", "1 field of queries with a list"),
        ("l.jsonl", json.dumps({**ITEM, "input": {"question": "who?", "context": "x"}}) + "\n",
         "queries", "lists", "1 field of queries with a list"),
        ("l.jsonl", json.dumps({**ITEM, "expectedOutput": ["x"]}) + "\n",
         "queries", "lists", "1 field of queries with a list"),
        ("p.json", json.dumps({"queries": [{"placeholders": {"$query": "who?", "$lang": "en"}}],
                               "relevant_documents": {"d": {"gain": 1}}}),
         "judgments", "placeholders", "1 further placeholder of queries"),
        ("b.json", json.dumps(BOOK), "judgments", "fields", "1 pair's document fields"),
        ("s.csv", "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\ns,t,1,who?,d,1,x\n",
         "run", "columns", "1 column of document fields"),
        ("s.txt", ".I 1\n.W\nof wings\n.A\nbob\n.K\nwing\n.B\nj\n", "queries", "sections", "2 items' authors or bibliographies"),
        ("s.txt", ".I 1\n.W\nof wings\n.K\nwing\n", "queries", "others", "1 section .K, .N, .C or .X"),
        ("r.jsonl", '{"query_id":"q","question":"who?","retrieved_ids":["d"],"contexts":["text"]}\n',
         "run", "passages", "1 field of passages"),
    ],
)  # fmt: skip
def test_what_a_reader_passes_over_is_a_loss(
    folder: Path, name: str, text: str, kind: Kind, what: str, said: str
) -> None:
    Path(name).write_text(text)
    target = "out.csv" if kind != "judgments" else "out.qrels"
    form = {"i.jsonl": "langfuse", "l.jsonl": "langfuse", "p.json": "rre"}.get(name)
    made = planned(Request(name, target, input_format=form, kind=kind))
    assert said in made.lost[what], made.lost
    assert not any("not read" in note or "archived" in note for note in made.notes)


def test_a_blank_is_not_said_to_be_left_out_where_it_is_kept(folder: Path) -> None:
    Path("a.csv").write_text("query,docid,rating\nwho?,d,1\nwho?,e,\nwhen?,,\n")
    made = plan("a.csv", "b.csv", "quepid")
    assert not made.lost and not made.notes
    # One judgment; both queries stand in the file.
    assert (made.rows, made.queries) == (1, 2)
    carried_out(made)
    assert Path("b.csv").read_text() == Path("a.csv").read_text()
    made = plan("a.csv", "b.qrels")
    assert set(made.lost) == {"blank", "query"}
    assert (made.rows, made.queries) == (1, 1)


def test_a_query_of_a_folder_without_judgments_is_kept_or_a_loss(folder: Path) -> None:
    Path("set/qrels").mkdir(parents=True)
    Path("set/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td\t1\n")
    Path("set/queries.jsonl").write_text('{"_id": "q1", "text": "who?"}\n{"_id": "q2", "text": "when?"}\n')
    made = plan("set", "a.csv", "quepid")
    assert not made.lost and (made.rows, made.queries) == (1, 2)
    carried_out(made)
    assert Path("a.csv").read_text() == "query,docid,rating\nwho?,d,1\nwhen?,,\n"
    assert plan("set", "a.json", "ranx").lost["query"] == "ranx loses 1 query without a document: left out"


def test_rows_are_those_that_are_written(folder: Path) -> None:
    Path("a.jsonl").write_text(
        '{"query_id":"q","doc_id":"d","score":1}\n{"query_id":"r","doc_ids":[]}\n{"query_id":"s","doc_id":"d","score":1}\n'
    )
    assert (plan("a.jsonl", "b.jsonl").rows, plan("a.jsonl", "b.jsonl").queries) == (2, 3)
    # CSV has no empty answer.
    made = plan("a.jsonl", "b.csv")
    assert (made.rows, made.queries) == (2, 2) and "empty" in made.lost
    made = plan("a.jsonl", "b.json", "opensearch-results")
    assert (made.rows, made.queries) == (2, 3)
    # A pair that stands twice is written once.
    Path("twice.csv").write_text("query,docid,rating\nwho?,d,1\nwho?,d,1\n")
    assert plan("twice.csv", "b.json", "ranx").rows == 1


def test_an_id_with_white_space_counts_once_in_all_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leadline.tables.BLOCK_ROWS", 1)
    run = run_of([("q 1", "d 1", 2.0), ("r", "d 1", 1.0), ("s", "d 1", 1.0)])
    assert len(list(run.blocks())) > 1
    counts = counted_run(run)
    assert (counts.found["space"], counts.rows, counts.queries) == (2, 3, {"q 1", "r", "s"})


def test_a_run_around_a_run_says_what_it_says() -> None:
    from dataclasses import replace

    from leadline.formats.renamed import RenamedRun

    run = replace(
        run_of({"q": ["d"]}), notes=("left out: x",), told={"matched": 3}, scoreless=True, paths=("$[0]",)
    )
    around = RenamedRun(run, "escape", "a.run")
    assert (around.notes, around.told, around.scoreless, around.paths) == (
        ("left out: x",), {"matched": 3}, True, ("$[0]",)
    )  # fmt: skip


def test_a_need_of_one_document_keeps_its_name(folder: Path) -> None:
    text = "query_id,doc_id,grade,need\nq,a,1,who\nq,b,1,\n"
    Path("a.csv").write_text(text)
    made = plan("a.csv", "b.csv")
    assert not made.lost
    carried_out(made)
    assert Path("b.csv").read_text() == text
    assert "loses 1 document's need" in plan("a.csv", "b.qrels").lost["alternatives"]


def test_needs_without_a_name_are_called_as_their_first_document() -> None:
    from leadline.checks import one_row_a_document

    rows = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "c"], "grade": [2.0, 1.0]})
    made = one_row_a_document(rows, {"q": {"b": "a", "d": "c"}}, {})
    assert made.rows() == [
        ("q", "a", 2.0, "a"),
        ("q", "b", 2.0, "a"),
        ("q", "c", 1.0, "c"),
        ("q", "d", 1.0, "c"),
    ]


def test_alternatives_of_several_strata_are_refused_and_not_given_one(folder: Path) -> None:
    head = "query_id,doc_id,grade,need,stratum,probability\n"
    for rows, said in (
        ("q,d1,2,n,s1,0.5\nq,d2,2,n,s2,0.5\n", "alternatives of one need have one stratum"),
        ("q,d1,2,n,s1,0.5\nq,d2,2,n,s1,0.25\n", "alternatives of one need have one probability"),
        ("q,d1,2,n,s1,0.5\nq,d2,2,n,,\n", "alternatives of one need have one stratum"),
    ):
        Path("a.csv").write_text(head + rows)
        with pytest.raises(RowsError, match=f"line 3.*{said}"):
            plan("a.csv", "b.csv")
    Path("a.csv").write_text(head + "q,d1,2,n,s1,0.5\nq,d2,2,n,s1,0.5\nq,d3,0,,s2,1.0\n")
    carried_out(plan("a.csv", "b.csv"))
    frame = read_qrels("b.csv").frame
    assert frame.select("doc_id", "stratum", "probability").rows() == [("d1", "s1", 0.5), ("d3", "s2", 1.0)]

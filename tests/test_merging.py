"""Chunks collapsed into documents, alternatives that count as one need: hand values, streams, and what is refused."""

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline
from leadline.conventions import Conventions, conventions
from leadline.errors import InputError, RowsError, UsageError
from leadline.formats.mapping import read_mapping
from leadline.formats.objects import qrels_of, run_of
from leadline.formats.source import Source
from leadline.formats.trec import TrecRun
from leadline.hits import Judged
from leadline.inputs import gather_runs
from leadline.merging import Collapse, Merged
from leadline.ranking import head
from leadline.tables import Qrels, Run, RunSource

Rows = list[tuple[str, str, float]]
CHUNKS: Rows = [
    ("q", "a#1", 3.0),
    ("q", "b#1", 2.0),
    ("q", "a#2", 1.5),
    ("q", "c#1", 1.25),
    ("q", "c#2", 1.125),
    ("q", "c#9", 1.0),
]


def run(rows: Rows, **more: Any) -> Run:
    frame = pl.DataFrame(
        rows, schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}, orient="row"
    )
    return Run.checked(frame, **more)


def merged(source: RunSource, how: str, **switches: Any) -> RunSource:
    rules = conventions(collapse=how, collapse_separator="#", **switches)
    return Merged.of(source, [Collapse(how, "#")], rules)  # type: ignore[arg-type]


def lists(source: RunSource, rules: Conventions | None = None) -> dict[str, list[str]]:
    """The documents of each query in the house's order."""
    names = sorted({q for block in source.blocks() for q in block.load()["query_id"].to_list()})
    judged = Judged.of(Qrels(pl.DataFrame({"query_id": names, "doc_id": "", "grade": -1.0})))
    frame = head(source, judged, rules or Conventions(), 1000)
    found: dict[str, list[str]] = {}
    for query, doc in frame.select("query", "doc_id").iter_rows():
        found.setdefault(judged.query_ids[query], []).append(doc)
    return found


@pytest.mark.parametrize(
    ("how", "order"),
    [
        ("first", ["a", "b", "c"]),
        ("max", ["a", "b", "c"]),
        # a 3 + 1.5, c 1.25 + 1.125 + 1 = 3.375, b 2
        ("sum", ["a", "c", "b"]),
    ],
)
def test_documents_stand_where_their_chunks_say(how: str, order: list[str]) -> None:
    source = merged(run(CHUNKS), how)
    assert lists(source) == {"q": order}
    assert {k: v for k, v in source.told.items() if v} == {"rows": 6, "collapsed": 3}


def test_first_keeps_the_place_and_max_breaks_ties_by_document() -> None:
    # Equal scores: chunk "a#9" stands before "a!#1", as "#" is above "!"; of the documents, "a!" before "a".
    rows: Rows = [("q", "a#9", 1.0), ("q", "a!#1", 1.0)]
    assert lists(merged(run(rows), "first")) == {"q": ["a", "a!"]}
    assert lists(merged(run(rows), "max")) == {"q": ["a!", "a"]}


def test_negative_and_infinite_scores() -> None:
    rows: Rows = [("q", "a#1", -1.0), ("q", "a#2", -5.0), ("q", "b#1", -2.0), ("q", "c#1", -math.inf)]
    assert lists(merged(run(rows), "max")) == {"q": ["a", "b", "c"]}
    assert lists(merged(run(rows), "sum")) == {"q": ["b", "a", "c"]}
    both: Rows = [("q", "a#1", math.inf), ("q", "a#2", -math.inf)]
    assert lists(merged(run(both), "max")) == {"q": ["a"]}
    with pytest.raises(InputError, match=r"query q, document a: inf and -inf have no sum"):
        lists(merged(run(both), "sum"))


def test_scores_of_32_bits_tie_before_they_are_collapsed() -> None:
    rows: Rows = [("q", "b#1", 1.0), ("q", "a#1", 1.0 + 1e-12)]
    assert lists(merged(run(rows), "first")) == {"q": ["a", "b"]}
    assert lists(merged(run(rows), "first", score_width=32)) == {"q": ["b", "a"]}


def test_a_chunk_twice_is_an_error_or_dropped_and_counted() -> None:
    rows: Rows = [("q", "a#1", 3.0), ("q", "a#1", 2.0), ("q", "b#1", 1.0)]
    with pytest.raises(RowsError, match=r"line 2: found 'q a#1', but line 1 has the same document"):
        lists(merged(run(rows), "sum"))
    source = merged(run(rows), "sum", duplicates="first")
    assert lists(source, conventions(duplicates="first")) == {"q": ["a", "b"]}
    assert source.told["duplicates_dropped"] == 1
    # The better-ranked row stays: 3, not 3 + 2.
    assert next(source.blocks()).load()["score"].to_list() == [3.0, 1.0]


def test_ids_that_name_no_document_are_an_error_or_kept_and_counted() -> None:
    rows: Rows = [("q", "a#1", 3.0), ("q", "whole", 2.0), ("q", "#2", 1.0)]
    with pytest.raises(RowsError) as caught:
        lists(merged(run(rows), "max"))
    assert caught.value.total == 2
    assert "line 2: found 'whole', no document before a separator '#'" in str(caught.value)
    assert "line 3: found '#2'" in str(caught.value)
    source = merged(run(rows), "max", collapse_unmatched="keep")
    assert lists(source) == {"q": ["a", "whole", "#2"]}
    assert source.told["uncollapsed"] == 2


def test_the_last_separator_counts_and_it_may_be_long() -> None:
    rows: Rows = [("q", "a#b#1", 2.0), ("q", "a#b#2", 1.0)]
    assert lists(merged(run(rows), "max")) == {"q": ["a#b"]}
    rules = conventions(collapse="max", collapse_separator="::§")
    other = Merged.of(run([("q", "d::§::§7", 1.0)]), [Collapse("max", "::§")], rules)
    assert lists(other) == {"q": ["d::§"]}


MAPPINGS = {
    "m.csv": "chunk_id,document_id\n1,a\n2,a\n3,b\n",
    "m.tsv": "chunk_id\tdoc_id\n1\ta\n2\ta\n3\tb\n",
    # A file of chunks as passages have it; ranges and texts are passed over.
    "m.jsonl": '{"chunk_id": 1, "document_id": "a", "start": 0, "end": 4}\n{"chunk_id": "2", "document_id": "a"}\n'
    '{"id": "3", "docno": "b", "text": "x"}\n',
}


@pytest.mark.parametrize("name", MAPPINGS)
def test_a_mapping_says_which_document_a_chunk_is_of(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(MAPPINGS[name])
    scores = leadline.evaluate(
        {"q": {"1": 3.0, "3": 2.0, "2": 1.0}}, {"q": {"b": 1}}, "RR P@2 NumRet",
        collapse="max", collapse_mapping=tmp_path / name,
    )  # fmt: skip
    assert (scores.mean("RR"), scores.mean("P@2"), scores.mean("NumRet")) == (0.5, 0.5, 2)
    system = scores.account["systems"]["run"]
    assert (system["rows"], system["collapsed"], system["uncollapsed"]) == (3, 1, 0)
    assert [one for one in scores.inputs if one["path"].endswith(name)]
    with pytest.raises(RowsError, match=r"found '4', no document in the mapping"):
        leadline.evaluate({"q": ["4"]}, {"q": {"b": 1}}, collapse="max", collapse_mapping=tmp_path / name)


def test_a_mapping_that_disagrees_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("chunk_id,document_id\n1,a\n1,b\n2,\n")
    with pytest.raises(RowsError) as caught:
        read_mapping(tmp_path / "m.csv")
    assert "line 3: found '1 b', but before it is of document 'a'" in str(caught.value)
    assert caught.value.total == 2


def test_what_does_not_go_together_is_refused() -> None:
    qrels = {"q": {"a": 1}}

    def fails(match: str, given: Any = None, **switches: Any) -> None:
        with pytest.raises(UsageError, match=match):
            leadline.evaluate(given or {"q": {"a#1": 1.0}}, qrels, **switches)

    fails("which document is a chunk of", collapse="max")
    fails(
        "which document is a chunk of", collapse="max", collapse_separator="#", collapse_mapping={"a#1": "a"}
    )
    fails("--collapse-separator goes with --collapse", collapse_separator="#")
    fails("--collapse-mapping goes with --collapse", collapse_mapping={"a#1": "a"})
    fails("at least one character", collapse="max", collapse_separator="")
    fails("--order rank has none", collapse="sum", collapse_separator="#", order="rank")
    fails("there are places only", {"q": ["a#1"]}, collapse="sum", collapse_separator="#")
    fails("leaves none", collapse="first", collapse_separator="#", ties="expected")
    fails("is not one of first, max, sum", collapse="mean", collapse_separator="#")


def test_a_list_without_scores_collapses_by_place() -> None:
    for how in ("first", "max"):
        scores = leadline.evaluate(
            {"q": ["x#2", "a#1", "x#1"]}, {"q": {"a": 1}}, "RR", collapse=how, collapse_separator="#"
        )
        assert scores.mean("RR") == 0.5


def trec(path: Path, rows: Rows) -> TrecRun:
    path.write_text("".join(f"{q} Q0 {d} 0 {s!r} t\n" for q, d, s in rows), encoding="utf-8")
    return TrecRun(Source.open(path), "run")


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("how", ["first", "max", "sum"])
def test_a_streamed_file_gives_what_the_table_gives(
    tmp_path: Path, scattered: bool, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of some hundred bytes, so that a query that is scattered over the file spans many."""
    monkeypatch.setattr("leadline.formats.source.SMALL_BLOCK", 300)
    monkeypatch.setattr("leadline.formats.source.BLOCK", 300)
    monkeypatch.setattr("leadline.formats.cuts.WINDOW", 128)
    rows: Rows = [
        (f"q{query}", f"d{place % 7}#{place}", float((place * 37 + query) % 50))
        for query in range(9)
        for place in range(40)
    ]
    if scattered:
        rows = [row for start in range(11) for row in rows[start::11]]
    source = merged(trec(tmp_path / "run.trec", rows), how)
    assert len(list(source.run.blocks())) > 5  # type: ignore[attr-defined]
    assert lists(source) == by_hand(rows, how)
    assert (source.told["rows"], source.told["collapsed"]) == (360, 9 * 33)


def by_hand(rows: Rows, how: str) -> dict[str, list[str]]:
    """The documents of each query, one chunk after the other."""
    found: dict[str, list[str]] = {}
    for query in sorted({row[0] for row in rows}):
        mine = sorted(
            ((s, d) for q, d, s in rows if q == query), key=lambda one: one[1].encode(), reverse=True
        )
        mine.sort(key=lambda one: -one[0])
        total: dict[str, float] = {}
        for score, chunk in mine:
            doc = chunk.rpartition("#")[0]
            if how == "sum":
                total[doc] = total.get(doc, 0.0) + score
            else:
                total.setdefault(doc, score)
        order = list(total)
        if how != "first":
            order.sort(key=str.encode, reverse=True)
            order.sort(key=lambda doc: -total[doc])
        found[query] = order
    return found


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["q", "r"]),
            st.text("ab#é", min_size=1, max_size=4).map(lambda name: f"x{name}#1"),
            st.integers(-3, 3).map(float),
        ),
        min_size=1,
        max_size=20,
        unique_by=lambda row: row[:2],
    ),
    st.sampled_from(["first", "max", "sum"]),
)
def test_any_rows_collapse_as_by_hand(rows: Rows, how: str) -> None:
    rows = sorted(rows, key=lambda row: row[0])
    assert lists(merged(run(rows), how)) == by_hand(rows, how)


def test_every_wrong_line_of_a_long_file_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leadline.formats.source.SMALL_BLOCK", 200)
    monkeypatch.setattr("leadline.formats.source.BLOCK", 200)
    monkeypatch.setattr("leadline.formats.cuts.WINDOW", 128)
    rows: Rows = [(f"q{i}", f"d{i}", 1.0) for i in range(100)]
    with pytest.raises(RowsError) as caught:
        lists(merged(trec(tmp_path / "run.trec", rows), "max"))
    assert (caught.value.total, caught.value.faults[9].line) == (100, 10)


def test_runs_alone_are_collapsed_too(tmp_path: Path) -> None:
    path = tmp_path / "a.trec"
    trec(path, CHUNKS)
    rules = conventions(collapse="sum", collapse_separator="#")
    assert lists(gather_runs([str(path)], rules)[0]) == {"q": ["a", "c", "b"]}


# --------------------------------------------------------------------------------------------- alternatives

EITHER = {"q": [["a", "b"], "c"]}


def test_alternatives_meet_one_need() -> None:
    """Two needs: a or b, and c. The list b x a c: b meets the first need, a is a repeat, so it reads b x c."""
    measures = "R@1 R@2 R@3 RR AP nDCG@3 P@3 Rprec Judged@3 NumRel NumRet"
    scores = leadline.evaluate({"q": ["b", "x", "a", "c"]}, EITHER, measures)
    ideal = 1 + 1 / math.log2(3)
    expected = {
        "R@1": 1 / 2, "R@2": 1 / 2, "R@3": 1.0, "RR": 1.0, "AP": (1 + 2 / 3) / 2,
        "nDCG@3": (1 + 1 / math.log2(4)) / ideal, "P@3": 2 / 3, "Rprec": 1 / 2, "Judged@3": 2 / 3,
        "NumRel": 2, "NumRet": 3,
    }  # fmt: skip
    assert {name: scores.mean(name) for name in expected} == pytest.approx(expected)
    assert scores.account["systems"]["run"]["alternatives"] == 1
    assert (scores.account["qrels"]["judgments"], scores.account["qrels"]["alternatives"]) == (2, 1)


@pytest.mark.parametrize("answer", [["a", "c"], ["b", "c"], ["a", "c", "b"], ["b", "c", "a"]])
def test_any_alternative_is_as_good_as_another(answer: list[str]) -> None:
    scores = leadline.evaluate({"q": answer}, EITHER, "nDCG R@2 AP RR Rprec")
    assert {row.mean for row in scores.summaries} == {1.0}


def test_another_querys_document_is_no_alternative() -> None:
    qrels = {"q": [["a", "b"]], "r": ["b"]}
    scores = leadline.evaluate({"q": ["a"], "r": ["a", "b"]}, qrels, "RR")
    assert scores.per_query("RR") == {"q": 1.0, "r": 0.5}


FILES = {
    "qrels.csv": "query_id,doc_id,grade,need\nq,a,2,1\nq,b,2,1\nq,c,1,\n",
    "qrels.tsv": "query_id\tdoc_id\tgrade\tneed\nq\ta\t2\tn\nq\tb\t2\tn\nq\tc\t1\t\n",
    "qrels.jsonl": '{"query_id": "q", "doc_id": "a", "grade": 2, "need": 1}\n'
    '{"query_id": "q", "doc_id": "b", "grade": 2, "need": 1}\n{"query_id": "q", "doc_id": "c", "grade": 1}\n',
    "qrels.json": '[{"query_id": "q", "doc_id": "a", "grade": 2, "need": "n"}, '
    '{"query_id": "q", "doc_id": "b", "grade": 2, "need": "n"}, {"query_id": "q", "doc_id": "c", "grade": 1}]',
}


@pytest.mark.parametrize("name", FILES)
def test_a_column_says_which_documents_meet_one_need(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    scores = leadline.evaluate({"q": ["c", "b", "a"]}, tmp_path / name, "nDCG@2 R@2 NumRel")
    # Gains 1 and 3; the ideal puts the 3 first.
    expected = (1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3))
    assert scores.mean("nDCG@2") == pytest.approx(expected)
    assert (scores.mean("R@2"), scores.mean("NumRel")) == (1.0, 2)


def test_a_column_in_parquet(tmp_path: Path) -> None:
    pl.DataFrame(
        {"query_id": ["q", "q"], "doc_id": ["a", "b"], "grade": [1, 1], "need": [7, 7]}
    ).write_parquet(tmp_path / "q.parquet")
    assert leadline.evaluate({"q": ["b"]}, tmp_path / "q.parquet", "R@1").mean("R@1") == 1.0


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ("q,a,2,1\nq,b,1,1\n", r"line 3: found '1.0', alternatives of one need have one grade"),
        ("q,a,1,1\nq,a,1,2\n", r"line 3: found 'a', the document stands under two needs"),
        ("q,a,1,\nq,a,1,2\n", r"line 3: found 'a', the document stands under two needs"),
    ],
)
def test_needs_that_contradict_are_refused(rows: str, match: str, tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,grade,need\n" + rows)
    with pytest.raises(RowsError, match=match):
        leadline.evaluate({"q": ["b"]}, tmp_path / "qrels.csv")


def test_rows_of_rag_tools_have_lists_in_lists(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"id": "1", "retrieved_ids": ["x", "d2", "d1", "d3"], "reference_ids": [["d1", "d2"], "d3"]}\n'
        '{"id": "2", "retrieved_ids": ["d1"], "reference_ids": [["d1"]]}\n'
    )
    scores = leadline.evaluate(path, measures="R@3 RR AP")
    # x d2 d3: the needs are met at ranks 2 and 3.
    assert scores.per_query("AP") == {"1": pytest.approx((1 / 2 + 2 / 3) / 2), "2": 1.0}
    assert scores.per_query("RR") == {"1": 0.5, "2": 1.0}
    path.write_text('{"id": "1", "retrieved_ids": ["x"], "reference_ids": [["d1", "d2"], "d2"]}\n')
    with pytest.raises(RowsError, match="under two needs"):
        leadline.evaluate(path, measures="R@3")


def test_a_run_of_none_of_them_is_left_as_it_is() -> None:
    given = run_of({"q": ["b"]})
    assert Merged.of(given, [], Conventions()) is given
    assert qrels_of({"q": {("a", "b"): 1}}).alternatives == {"q": {"b": "a"}}


def test_chunks_collapse_before_alternatives_are_looked_at() -> None:
    scores = leadline.evaluate(
        {"q": {"x#1": 4.0, "b#2": 3.0, "a#1": 2.0, "c#1": 1.0}}, EITHER, "AP",
        collapse="max", collapse_separator="#",
    )  # fmt: skip
    # x b c: (1/2 + 2/3) / 2
    assert scores.mean("AP") == pytest.approx((1 / 2 + 2 / 3) / 2)


def test_summed_documents_are_in_order_before_alternatives_are_looked_at() -> None:
    """a 3, b 2 + 2 = 4, c 3.5: the need of a and b is met by b, before c."""
    scores = leadline.evaluate(
        {"q": {"c#1": 3.5, "a#1": 3.0, "b#1": 2.0, "b#2": 2.0}}, {"q": [["a", "b"]]}, "RR",
        collapse="sum", collapse_separator="#",
    )  # fmt: skip
    assert scores.mean("RR") == 1.0


def test_a_tools_run_that_names_queries_by_text_is_collapsed_and_its_places_cannot_be_summed(
    tmp_path: Path,
) -> None:
    # An experiment's results list ids by rank: there are no scores, and the queries give the id of the text.
    results = '[{"searchText": "star trek", "documentIds": ["a#1", "b#1", "a#2"]}]'
    path = tmp_path / "results.json"
    path.write_text(results)
    (tmp_path / "queries.csv").write_text("query_id,text\n7,star trek\n")
    given = {"input_format": "opensearch-results", "queries": tmp_path / "queries.csv"}
    rules = conventions(collapse="first", collapse_separator="#")
    (one,) = gather_runs([path], rules, **given)
    # a stands first (rank 1), b second; a#2 went into a.
    assert lists(one) == {"7": ["a", "b"]}
    assert (one.told["collapsed"], one.scoreless) == (1, True)  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="there are places only"):
        gather_runs([path], conventions(collapse="sum", collapse_separator="#"), **given)


def test_what_is_wrong_in_a_json_text_is_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('[{"searchText": "q", "documentIds": ["a#1", "plain"]}]')
    (one,) = gather_runs(
        [path], conventions(collapse="first", collapse_separator="#"), input_format="opensearch-results"
    )
    with pytest.raises(RowsError) as error:
        lists(one)
    assert "[1]" in error.value.faults[0].path and error.value.faults[0].found == "plain"


def test_alternatives_do_not_go_where_each_document_counts_for_itself(tmp_path: Path) -> None:
    from leadline.judging.exchange import read_judgments
    from leadline.prediction_powered import evaluate_ppi

    path = tmp_path / "q.csv"
    path.write_text("query_id,doc_id,grade,need\nq,a,1,x\nq,b,1,x\n")
    with pytest.raises(UsageError, match="do not go with a book"):
        read_judgments(path, who="ana")
    with pytest.raises(UsageError, match="do not go with a model's labels beside people's"):
        evaluate_ppi({"q": ["a"]}, str(path), {"q": {"a": 1}}, "RR")


def test_needs_and_subtopics_of_one_file(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("query_id,doc_id,grade,need,subtopic\nq,a,1,x,1\nq,b,1,x,1\n")
    # Without a measure of subtopics the column is not read, and b counts as a: found at rank 1.
    assert leadline.evaluate({"q": ["b", "a"]}, str(path), "RR").mean("RR") == 1.0
    with pytest.raises(InputError, match="do not go together"):
        leadline.evaluate({"q": ["b", "a"]}, str(path), "StRecall@10")


def test_a_progress_bar_changes_nothing_of_what_is_said() -> None:
    """On a terminal a run is read through a bar; the counts of what was merged must not be lost on the way."""
    from rich.progress import Progress

    from leadline.cli.watched import Watched

    run = {"q": {"a#1": 3.0, "b#1": 2.0, "a#2": 1.0}}
    how = {"collapse": "max", "collapse_separator": "#"}
    with Progress(disable=True) as bar:
        seen, plain = (
            leadline.evaluate(run, {"q": {"a": 1}}, "RR", watch=watch, **how).account["systems"]
            for watch in (lambda one: Watched(one, bar), None)
        )
    assert seen == plain
    assert [system["collapsed"] for system in plain.values()] == [1]

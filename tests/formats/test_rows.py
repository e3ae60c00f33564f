"""Files of rows: what is read, and how each fault is named."""

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from leadline.conventions import Conventions
from leadline.errors import InputError, LeadlineError, RowsError, UsageError
from leadline.formats.read import read_qrels, read_queries, read_run
from leadline.tables import Qrels, Run

JSON_ROW = '{"query_id": "q", "doc_id": "d", "score": 1}\n'


def run_of_text(tmp_path: Path, text: str, name: str = "run.jsonl", order: str = "score") -> Run:
    path = tmp_path / name
    path.write_bytes(text.encode())
    run = read_run(path, conventions=Conventions(order=order))  # type: ignore[arg-type]
    assert isinstance(run, Run)
    return run


def qrels_of_text(tmp_path: Path, text: str, name: str = "qrels.csv", **options: object) -> Qrels:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return read_qrels(path, **options)  # type: ignore[arg-type]


def rows(run: Run) -> list[tuple[object, ...]]:
    return run.frame.select("query_id", "doc_id", "score").rows()


def faults(tmp_path: Path, text: str, name: str) -> list[tuple[int, int | None, str]]:
    with pytest.raises(RowsError) as caught:
        run_of_text(tmp_path, text, name)
    return [(fault.line, fault.column, fault.found) for fault in caught.value.faults]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_csv_ids_are_kept_to_the_letter(tmp_path: Path, bom: str, end: str) -> None:
    lines = ["qid,docno,score", "007,NA,1.5", "null,1e5,2", "None,nan,-3e-2", "  x,É,.5", ""]
    run = run_of_text(tmp_path, bom + end.join(lines), "run.csv")
    assert rows(run) == [("007", "NA", 1.5), ("null", "1e5", 2.0), ("None", "nan", -0.03), ("  x", "É", 0.5)]
    assert run.frame["row"].to_list() == [2, 3, 4, 5]


def test_csv_quotes_by_rfc_4180(tmp_path: Path) -> None:
    text = 'query_id,doc_id,score\n"a,b","say ""hi""",1\n\nq,"two\nlines",2\nq,z,3\n'
    run = run_of_text(tmp_path, text, "run.csv")
    assert rows(run) == [("a,b", 'say "hi"', 1.0), ("q", "two\nlines", 2.0), ("q", "z", 3.0)]
    assert run.frame["row"].to_list() == [2, 4, 6]


def test_tsv_and_gzip(tmp_path: Path) -> None:
    path = tmp_path / "bm25.tsv.gz"
    path.write_bytes(gzip.compress(b"query_id\tdoc_id\tscore\tsystem\nq\ta,b\t1\tx\n"))
    run = read_run(path)
    assert isinstance(run, Run)
    assert (rows(run), run.name) == ([("q", "a,b", 1.0)], "bm25")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("qid,docno,score\nq,d,1\nq,,2\n", [(3, 2, "nothing")]),
        ("qid,docno,score\n,d,1\n", [(2, 1, "nothing")]),
        (
            "qid,docno,score\nq,d,high\nq,e,NaN\nq,f, 1\nq,g,1_0\n",
            [(2, 3, "high"), (3, 3, "NaN"), (4, 3, " 1"), (5, 3, "1_0")],
        ),
        ("qid,docno,score\nq,d\nq,e,1,x\nq,f,1\n", [(2, 2, "q,d"), (3, 3, "q,e,1,x")]),
        ("qid,docno,score\nq,d,\n", [(2, 3, "nothing")]),
        ("qid,docno,score,colour\nq,d,1,red\n", [(1, 4, "colour")]),
        ("qid,query_id,docno,score\nq,q,d,1\n", [(1, 2, "query_id")]),
        ("qid,docno,docno,score\nq,d,d,1\n", [(1, 3, "docno")]),
        ('qid,docno,score\nq,"d" x,1\n', [(2, None, 'q,"d" x,1')]),
        ('qid,docno,score\nq,d,1\nq,"d,1\n', [(3, None, 'q,"d,1')]),
        ("qid,score\nq,1\n", [(1, None, "qid,score")]),
    ],
)
def test_csv_faults_name_line_and_field(tmp_path: Path, text: str, expected: list[object]) -> None:
    assert faults(tmp_path, text, "run.csv") == expected


@pytest.mark.parametrize(
    ("line", "found", "said"),
    [
        ('{"query_id": "q", "doc_id": 1.5, "score": 1}', "1.5", "a doc_id is text or a whole number"),
        ('{"query_id": true, "doc_id": "d", "score": 1}', "true", "a query_id is text or a whole number"),
        ('{"query_id": null, "doc_id": "d", "score": 1}', "null", "a query_id is text or a whole number"),
        ('{"query_id": "", "doc_id": "d", "score": 1}', "nothing", "at least one character"),
        ('{"query_id": "q", "doc_id": "a\\u0000", "score": 1}', "a\x00", "without NUL"),
        ('{"query_id": "q", "doc_id": "\\ud800", "score": 1}', "\ud800", "half of a surrogate pair"),
        ('{"query_id": "q", "doc_id": "d", "score": NaN}', "NaN", "a score is a number"),
        ('{"query_id": "q", "doc_id": "d", "score": "1"}', "1", "a score is a number"),
        ('{"query_id": "q", "doc_id": "d", "score": null}', "null", "a score is a number"),
        ('{"query_id": "q", "doc_id": "d", "score": true}', "true", "a score is a number"),
        ('{"query_id": "q", "doc_id": "d", "score": 1' + "0" * 400 + "}", "1000", "fits 64 bits"),
        ('{"query_id": "q", "doc_id": "d"}', '{"query_id"', "no field for the score (score, sim"),
        ('{"query_id": "q", "doc_id": "d", "score": 1, "colour": 2}', "colour", "an unknown column"),
        ('{"query_id": "q", "qid": "q", "doc_id": "d", "score": 1}', "qid", "second column for the query id"),
        (
            '{"query_id": "q", "doc_id": "d", "doc_id": "e", "score": 1}',
            '{"query_id"',
            "'doc_id' stands twice",
        ),
        ('{"query_id": "q", "doc_id": "d", "score": 1', '{"query_id"', "not JSON"),
        ('{"query_id": "q", "doc_ids": ["d"]}', '["d"]', "answered with nothing"),
        ("[" * 100_000, "[[", "nested too deeply"),
        ("7", "7", "each line is one JSON object"),
    ],
)
def test_jsonl_faults_name_line_and_field(tmp_path: Path, line: str, found: str, said: str) -> None:
    with pytest.raises(RowsError) as caught:
        run_of_text(tmp_path, JSON_ROW + "\n" + line + "\n" + JSON_ROW)
    (fault,) = caught.value.faults
    assert (fault.line, caught.value.total) == (3, 1)
    assert fault.found.startswith(found)
    assert said in fault.expected


def test_all_wrong_rows_are_counted_and_ten_shown(tmp_path: Path) -> None:
    for name, text in {
        "run.jsonl": JSON_ROW + '{"query_id": "q", "doc_id": "d", "score": "x"}\n' * 25,
        "run.csv": "qid,docno,score\n" + "q,d,x\n" * 25,
        "ragged.csv": "qid,docno,score\n" + "q,d\n" * 25,
    }.items():
        with pytest.raises(RowsError, match=r"25 wrong rows(.|\n)*and 15 more") as caught:
            run_of_text(tmp_path, text, name)
        assert (caught.value.total, len(caught.value.faults)) == (25, 10)


def test_jsonl_integers_errors_and_empty_answers(tmp_path: Path) -> None:
    text = (
        '{"query_id": 7, "doc_id": 12345678901234567890, "score": 1}\n'
        '{"query_id": "a", "doc_ids": []}\n'
        '{"query_id": "b", "error": "time-out"}\n'
        '{"query_id": 7, "doc_id": "07", "score": -Infinity, "error": null}\n'
    )
    run = run_of_text(tmp_path, text)
    assert rows(run) == [("7", "12345678901234567890", 1.0), ("7", "07", float("-inf"))]
    assert (run.empty, dict(run.failed)) == (("a",), {"b": "time-out"})


def test_rows_read_either_way_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = JSON_ROW + JSON_ROW.replace('"d"', '"\\u0065"') + "\n" + JSON_ROW.replace('"d"', '"f"')
    run = run_of_text(tmp_path, text + '{"query_id": "r", "doc_ids": []}\n')
    assert run.frame.select("doc_id", "row").rows() == [("d", 1), ("e", 2), ("f", 4)]
    assert run.empty == ("r",)


def test_a_query_has_one_outcome(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'q' has an empty list or an error beside another answer"):
        run_of_text(tmp_path, JSON_ROW + '{"query_id": "q", "error": "x"}\n')


@pytest.mark.parametrize(
    "text",
    [
        JSON_ROW + '{"query_id": "q", "doc_id": "e\\u0301", "score": 2}\n',  # an escape: read by the letter
        JSON_ROW + '{"doc_id": "e\u0301", "query_id": "q", "score": 2}\n',  # another order of keys
        JSON_ROW + '{ "query_id":"q","doc_id" :"e\u0301", "score": 2.0e0 }\r\n',  # the fast way
        '{"query id":"q","Doc-Id":"d","score":1}\n{"query id":"q","Doc-Id":"e\u0301","score":2}\n',
        '{"query\\tid":"q","doc>id":"d","score":1}\n{"query\\tid":"q","doc>id":"e\u0301","score":2}\n',
    ],
)
def test_both_ways_of_reading_jsonl_agree(tmp_path: Path, text: str) -> None:
    run = run_of_text(tmp_path, text)
    assert rows(run) == [("q", "d", 1.0), ("q", "e\u0301", 2.0)]
    assert run.frame["row"].to_list() == [1, 2]


def test_only_a_line_feed_ends_a_json_line(tmp_path: Path) -> None:
    run = run_of_text(tmp_path, '{"query_id": "q\u2028\x85", "doc_id": "\\"", "score": 1}\n')
    assert rows(run) == [("q\u2028\x85", '"', 1.0)]


@pytest.mark.parametrize("name", ["run.csv", "run.jsonl"])
def test_order_by_rank_and_by_file(tmp_path: Path, name: str) -> None:
    text = "qid,docno,rank,score\nq,a,2,9\nq,b,1,8\nr,c,1,7\n"
    if name.endswith("jsonl"):
        keys = text.split("\n")[0].split(",")
        values = [line.split(",") for line in text.split("\n")[1:-1]]
        text = "".join(
            f'{{"{keys[0]}": "{q}", "{keys[1]}": "{d}", "{keys[2]}": {r}, "{keys[3]}": {s}}}\n'
            for q, d, r, s in values
        )
    scores = {
        o: run_of_text(tmp_path, text, name, o).frame["score"].to_list() for o in ("score", "rank", "file")
    }
    assert scores == {"score": [9, 8, 7], "rank": [-2, -1, -1], "file": [-1, -2, -1]}


def test_order_needs_its_column(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--order rank needs a column rank"):
        run_of_text(tmp_path, "qid,docno,score\nq,d,1\n", "run.csv", "rank")
    with pytest.raises(LeadlineError, match="no field for the rank"):
        run_of_text(tmp_path, JSON_ROW, "run.jsonl", "rank")
    with pytest.raises(RowsError, match="--order rank or --order file"):
        run_of_text(tmp_path, "qid,docno,rank\nq,d,1\n", "run.csv")
    assert rows(run_of_text(tmp_path, "qid,docno\nq,d\nq,c\n", "run.csv", "file")) == [
        ("q", "d", -1),
        ("q", "c", -2),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.csv", "qid,docno,score,system\nq,d,1,a\nr,d,1,b\n"),
        ("run.jsonl", "".join(JSON_ROW.replace("}", f', "system": "{s}"}}') for s in "ab")),
    ],
)
def test_two_systems_in_one_file_are_refused(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(InputError, match=r"'system' holds 2 systems \(a and b\)"):
        run_of_text(tmp_path, text, name)


@pytest.mark.parametrize("name", ["run.csv", "run.jsonl", "run.json"])
def test_text_that_is_not_utf8(tmp_path: Path, name: str) -> None:
    text = {
        "run.csv": b"qid,docno,score\nq,\xff,1\n",
        "run.jsonl": JSON_ROW.encode() + b'{"query_id": "\xff"}\n',
    }
    path = tmp_path / name
    path.write_bytes(text.get(name, b'{\n"q": {"\xff": 1}}'))
    with pytest.raises(InputError, match=r"line 2, column \d+: text that is not UTF-8"):
        read_run(path)


def test_json_maps(tmp_path: Path) -> None:
    run = run_of_text(tmp_path, '{"q": {"d": 0.5, "e": 1}, "r": {}}', "run.json")
    assert (rows(run), run.empty) == ([("q", "d", 0.5), ("q", "e", 1.0)], ("r",))
    qrels = qrels_of_text(tmp_path, '{\n "q": {"d": 2, "e": null}}', "qrels.json")
    assert qrels.frame.select("query_id", "doc_id", "grade").rows() == [("q", "d", 2.0)]
    with pytest.raises(InputError, match="'q' stands twice in one object"):
        run_of_text(tmp_path, '{"q": {"d": 1}, "q": {"e": 1}}', "run.json")
    with pytest.raises(InputError, match="nested too deeply"):
        run_of_text(tmp_path, "[" * 100_000, "run.json")


def test_a_list_of_rows_as_json(tmp_path: Path) -> None:
    other = JSON_ROW.replace('"d"', '"e"')
    assert rows(run_of_text(tmp_path, f"[{JSON_ROW},{other}]", "r.json")) == [
        ("q", "d", 1.0),
        ("q", "e", 1.0),
    ]
    with pytest.raises(RowsError, match=r"line 2: found '3', each row is a JSON object(.|\n)*counted from 1"):
        run_of_text(tmp_path, f"[{JSON_ROW}, 3]", "r.json")


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    pl.DataFrame(
        {"qid": [7, 8], "docno": ["07", "NA"], "score": pl.Series([1, 2], dtype=pl.Float32)}
    ).write_parquet(path)
    run = read_run(path)
    assert isinstance(run, Run)
    assert rows(run) == [("7", "07", 1.0), ("8", "NA", 2.0)]
    pl.DataFrame({"qid": [7.0], "docno": ["07"], "score": [1.0]}).write_parquet(path)
    with pytest.raises(InputError, match="holds Float64 values; ids are text"):
        read_run(path)
    pl.DataFrame({"qid": ["q"], "docno": ["07"], "score": [1.0], "colour": [1]}).write_parquet(path)
    with pytest.raises(InputError, match="column 'colour': an unknown column"):
        read_run(path)
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_run(path)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_qrels(tmp_path: Path, name: str) -> None:
    text = "query,docid,rel,iter\nq,d,2,s1\nq,e,,s1\nq,f,-1,s2\n"
    if name.endswith("jsonl"):
        text = (
            '{"query": "q", "docid": "d", "rel": 2, "iter": "s1"}\n'
            '{"query": "q", "docid": "e", "rel": null, "iter": "s1"}\n'
            '{"query": "q", "docid": "f", "rel": -1, "iter": "s2"}\n'
        )
    qrels = qrels_of_text(tmp_path, text, name)
    assert qrels.frame.select("query_id", "doc_id", "grade").rows() == [("q", "d", 2.0), ("q", "f", -1.0)]
    with_subtopic = qrels_of_text(tmp_path, text, name, keep_subtopic=True, grade_map={2.0: 5.0}, max_grade=9)
    assert with_subtopic.frame.select("subtopic", "grade").rows() == [("s1", 5.0), ("s2", -1.0)]
    assert with_subtopic.top_grade() == 9


def test_qrels_conflicts_name_both_lines(tmp_path: Path) -> None:
    text = "qid,docno,label\nq,d,1\nq,e,1\nq,d,2\n"
    with pytest.raises(RowsError, match="line 4: found 'q d 2', but line 2 judges the same pair 1"):
        qrels_of_text(tmp_path, text)
    assert qrels_of_text(tmp_path, text, conflicts="max").frame["grade"].to_list() == [2.0, 1.0]


def test_infinite_grades_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RowsError, match=r"line 2.*a grade is a finite number"):
        qrels_of_text(tmp_path, "qid,docno,label\nq,d,inf\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.csv", 'qid,query,type\n1,"what, then?",how\n2,who,\n'),
        (
            "q.jsonl",
            '{"_id": "1", "text": "what, then?", "type": "how"}\n{"_id": 2, "text": "who", "type": ""}\n',
        ),
        ("q.tsv", "query_id\ttext\ttype\n1\twhat, then?\thow\n2\twho\t\n"),
        (
            "q.json",
            '[{"id": 1, "question": "what, then?", "type": "how"}, {"id": 2, "question": "who", "type": ""}]',
        ),
    ],
)
def test_queries_keep_further_columns(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    queries = read_queries(path)
    assert queries.frame.columns == ["query_id", "text", "type", "row"]
    assert (queries.column("text"), queries.column("type")) == (
        {"1": "what, then?", "2": "who"},
        {"1": "how", "2": ""},
    )


def test_queries_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "topics.tsv"
    path.write_bytes(b"007\twhat\tis it\r\n\r\n8\twho, then\n")
    assert read_queries(path).column("text") == {"007": "what\tis it", "8": "who, then"}
    path.write_bytes(b"007\twhat\n8 who\n")
    with pytest.raises(RowsError, match="line 2: found '8 who', expected a query id, a tab"):
        read_queries(path)


def test_queries_fields_of_mixed_kinds(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(
        '{"_id": "1", "weight": 1, "year": 1999, "big": 99999999999999999999, "metadata": {}}\n'
        '{"_id": "2", "weight": 0.5, "year": "MM", "tags": ["x"], "ok": true}\n'
    )
    frame = read_queries(path).frame
    assert frame["weight"].to_list() == [1.0, 0.5]
    assert frame["year"].to_list() == ["1999", "MM"]
    assert frame["big"].to_list() == ["99999999999999999999", None]
    assert frame["ok"].to_list() == [None, True]
    assert "tags" not in frame.columns


def test_a_query_id_twice(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("qid,query\n1,a\n2,b\n1,c\n")
    with pytest.raises(RowsError, match="each query id may occur once"):
        read_queries(path)


def test_long_fields(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text(f'qid,query\n1,"{"x" * 300_000}"\n')
    assert len(str(read_queries(path).column("text")["1"])) == 300_000


@pytest.mark.parametrize("text", ["qid,docno,score\n", "qid,docno,score", "qid,docno,score\n\n"])
def test_a_header_alone_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="a header and no rows"):
        run_of_text(tmp_path, text, "run.csv")


def test_lines_are_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of every kind at every place of a piece: the rows, their lines and the faults are the same."""
    lines = [f'{{"query_id": "q{n}", "doc_id": "d", "score": {n}}}' for n in range(40)]
    lines[7] = '{"score": 7, "query_id": "q7", "doc_id": "d"}'
    lines[20] = '{"query_id": "q20", "doc_ids": []}'
    lines.insert(30, "")
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines) + "\n\n")
    whole = read_run(path)
    assert isinstance(whole, Run) and whole.frame.height == 39 and whole.empty == ("q20",)
    for size in (1, 50, 51, 300, 10**6):
        monkeypatch.setattr("leadline.formats.plainrows.PIECE", size)
        found = read_run(path)
        assert isinstance(found, Run)
        assert found.frame.equals(whole.frame) and found.empty == whole.empty
    monkeypatch.setattr("leadline.formats.plainrows.PIECE", 60)
    path.write_text("\n".join([*lines, '{"query_id": "q"}']))
    with pytest.raises(RowsError, match="line 42"):
        read_run(path)


@pytest.mark.parametrize(("separator", "called"), [(";", "semicolons"), ("|", "bars")])
@pytest.mark.parametrize("read", [read_qrels, read_queries, read_run])
def test_what_else_separates_fields_is_named(
    separator: str, called: str, read: Callable[..., object], tmp_path: Path
) -> None:
    """As a spreadsheet writes CSV where the comma is the decimal point."""
    names = ["query_id", "text"] if read is read_queries else ["query_id", "doc_id", "score"]
    path = tmp_path / "x.csv"
    path.write_text(f"{separator.join(names)}\nq1{separator}1,5\n")
    with pytest.raises(InputError, match=f"line 1.*fields separated by {called}; commas or tabs"):
        read(path)

"""`leadline ann` as it is called: the numbers, the forms of output, and one clear error for everything that is wrong."""

import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from leadline.cli.main import run
from leadline.report.ann_text import said_of_both

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six documents and three queries in the plane, and what an index returned.

    q0 = (1, 0): cosine order a (0°), b (10°), c (20°), d (30°) …; q1 = (0, 1): f (90°), e (80°), d (30°) …
    """
    degrees = {"a": 0, "b": 10, "c": 20, "d": 30, "e": 80, "f": 90}
    angles = np.radians(list(degrees.values()))
    np.save(tmp_path / "docs.npy", np.column_stack((np.cos(angles), np.sin(angles))).astype(np.float32))
    (tmp_path / "docs.txt").write_text("\n".join(degrees) + "\n")
    np.save(tmp_path / "queries.npy", np.array([[1, 0], [0, 1], [1, 0.1]], np.float32))
    (tmp_path / "queries.txt").write_text("q0\nq1\nq2\n")
    rows = [{"query_id": "q0", "ids": ["a", "b", "d"]}, {"query_id": "q1", "ids": ["f", "e", "d"]}]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels.txt").write_text("q0 0 c 1\nq0 0 f 1\nq1 0 f 1\nq2 0 a 1\nother 0 a 1\n")
    (tmp_path / "search.py").write_text(
        "TABLE = {(1.0, 0.0): 'abc', (0.0, 1.0): 'fed'}\n"
        "def find(vector, k, wide=0, allowed=None):\n"
        "    key = tuple(float(x) for x in vector)\n"
        "    if key not in TABLE and wide < 2: raise ValueError('down\\nsecond line')\n"
        "    found = list(TABLE.get(key, 'bac'))[:k]\n"
        "    if allowed is not None: return [one for one in found if one in allowed]\n"
        "    return found if wide else found[:-1]\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(capsys: pytest.CaptureFixture[str], line: str) -> tuple[str, str, int]:
    code = 0
    try:
        run(["ann", *line.split()])
    except SystemExit as end:
        code = int(end.code or 0)
    printed = capsys.readouterr()
    return printed.out, printed.err, code


def fine(capsys, line) -> str:
    out, err, code = called(capsys, line)
    assert (code, err) == (0, "")
    return out


BOTH = "--vectors docs.npy --queries queries.npy"
RETURNED = f"{BOTH} --returned r.jsonl -k 3"


def test_json_of_what_was_returned(folder, capsys):
    found = json.loads(fine(capsys, f"{RETURNED} --metric cosine --format json"))
    # q0: a, b of a, b, c: 2/3. q1: all. q2 = (1, .1), 5.7°: no row, nothing: 0. Mean 5/9; sorted 0, 2/3, 1:
    # median 2/3, quantile .05 at place .1: .0667; two of three below .9.
    assert found["recall"] == {
        "mean": pytest.approx(5 / 9),
        "tie_aware_mean": pytest.approx(5 / 9),
        "median": pytest.approx(2 / 3),
        "p5": pytest.approx(1 / 15),
        "share_below_0.9": pytest.approx(2 / 3),
    }
    assert (found["n_queries"], found["excluded"], found["unanswered"], found["errors"]) == (3, 0, 1, 0)
    assert (found["latency_ms"], found["per_second"], found["cost"], found["cheapest"]) == (None,) * 4
    assert found["worst"][0] == {"query_id": "q2", "recall": 0.0, "tie_aware": 0.0, "lost": ["b", "a", "c"]}
    assert [one["query_id"] for one in found["worst"]] == ["q2", "q0"]
    assert found["health"]["documents"] == 6
    assert set(found["made_from"]) == {"format", "documents", "queries", "metric", "k"}


def test_the_json_page_names_exactly_the_fields(folder, capsys):
    page = (DOCS / "reference" / "json-ann.md").read_text(encoding="utf-8")
    line = f"{BOTH} --target search:find -k 3 --sweep wide=1,2 --reach 0.5 --qrels qrels.txt --format json --per-query"
    found = json.loads(called(capsys, line)[0])
    cost = found["cost"]
    real = {
        "The report": set(found),
        "recall": set(found["recall"]),
        "health": set(found["health"]),
        "sweep": set(found["sweep"][0]),
        "queries": set(found["per_query"][0]),
        "cost": set(cost) | set(cost["measures"][0]),
    }
    line = "--queries queries.npy --target search:find --set wide=2 -k 3 --against r.jsonl --format json"
    other = json.loads(called(capsys, line)[0])
    real["Two indexes without truth"] = set(other) | set(other["least"][0])
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    told = {
        name: set(re.findall(r"`([\w.]+)`", " ".join(re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE))))
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    assert told == real


def test_a_sweep_its_cheapest_setting_and_its_errors(folder, capsys):
    line = f"{BOTH} --target search:find -k 3 --sweep wide=0,1,2 --reach 0.9"
    found = json.loads(fine(capsys, f"{line} --format json"))
    by_wide = {one["settings"]["wide"]: one for one in found["sweep"]}
    assert [one["recall"]["mean"] for one in by_wide.values()] == [pytest.approx(2 / 3), 1.0, 1.0]
    assert [one["errors"] for one in by_wide.values()] == [1, 1, 0]
    assert found["cheapest"] in ({"wide": 1}, {"wide": 2})
    assert by_wide[1]["latency_ms"]["p50"] > 0
    text = fine(capsys, line)
    assert "cheapest setting with a recall of at least 0.9: wide=" in text
    assert re.search(r"^wide=0 +0\.6667 ", text, re.MULTILINE)
    assert "wide=1: 1 failed and not counted" in text
    assert max(map(len, text.splitlines())) <= 100
    text = fine(capsys, f"{BOTH} --target search:find -k 3 --reach 0.9")
    assert "no setting reaches a recall of 0.9; the best is 0.6667 (as it is)" in text


def test_files_and_plot(folder, capsys):
    line = f"{BOTH} --target search:find -k 3 --sweep wide=0,2 --reach 0.9"
    text = fine(capsys, f"{line} --write a.svg --write a.html --write a.json --write a.txt")
    assert (folder / "a.txt").read_text() == text
    svg, page = (folder / "a.svg").read_text(), (folder / "a.html").read_text()
    assert svg.count("<circle") == 2
    assert 'class="reach"' in svg
    assert "wide=0: recall 0.6667, p50 " in svg
    assert "<circle" in page
    assert "script" not in page
    HTMLParser().feed(page)
    assert json.loads((folder / "a.json").read_text())["k"] == 3


def test_names_are_escaped_on_the_page(folder, capsys):
    (folder / "queries.txt").write_text("<script>x</script>\nq1\nq2\n")
    (folder / "r.jsonl").write_text('{"query_id": "q1", "ids": []}\n')
    fine(capsys, f"{RETURNED} --write a.html")
    assert "<script" not in (folder / "a.html").read_text()


def test_filtered_queries(folder, capsys):
    rows = [{"query_id": "q0", "ids": ["c", "e"]}, {"query_id": "q1", "ids": []}]
    (folder / "allowed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "r.jsonl").write_text(
        '{"query_id": "q0", "ids": ["e", "c"]}\n{"query_id": "q2", "ids": ["b", "a", "c"]}\n'
    )
    found = json.loads(fine(capsys, f"{RETURNED} --filters allowed.jsonl --format json"))
    # q0: two pass the filter, both returned: 2 ÷ min(3, 2) = 1. q1: none passes: left out. q2 has no filter: 1.
    assert found["recall"]["mean"] == 1.0
    assert (found["n_queries"], found["excluded"], found["filtered"]) == (2, 1, 2)
    asked = json.loads(
        fine(capsys, f"{BOTH} --target search:find --set wide=2 -k 3 --filters allowed.jsonl --format json")
    )
    assert [one["lost"] for one in asked["worst"]] == [["e"]]


def test_two_settings_without_truth(folder, capsys):
    line = "--queries queries.npy --target search:find --set wide=2 -k 3 --against wide=1"
    found = json.loads(fine(capsys, f"{line} --format json"))
    # wide=1 fails for q2, which is left out; the other two are the same.
    assert found["overlap"] == {"mean": 1.0, "same": 2}
    assert found["errors"] == [0, 1]
    (folder / "s.jsonl").write_text('{"query_id": "q0", "ids": ["a", "e", "f"]}\n')
    text = fine(capsys, "--queries queries.npy --returned r.jsonl --against s.jsonl -k 3")
    # q0: {a, b, d} and {a, e, f}: 1/3. q1: all against nothing: 0. q2: nothing on both sides: not counted.
    assert "overlap 0.1667 on average over 2 queries; 0 the same" in text
    assert re.search(r"^q1 +0\.0000 +3 +0$", text, re.MULTILINE)


def test_what_the_loss_costs(folder, capsys):
    out = fine(capsys, f"{RETURNED} --qrels qrels.txt -m nDCG@3,R@3 --format json")
    cost = json.loads(out)["cost"]
    # R@3. q0 (c, f relevant): exact a b c finds 1 of 2, returned a b d none. q1: 1 and 1. q2 (a): 1, and 0.
    assert (cost["n_queries"], cost["left_out"]) == (3, 1)
    recall = cost["retrieval_recall"]
    assert (recall["exact"], recall["index"]) == (pytest.approx(2.5 / 3), pytest.approx(1 / 3))
    assert recall["difference"] == pytest.approx(-0.5)
    assert recall["low"] < -0.5 < recall["high"]
    text = fine(capsys, f"{RETURNED} --qrels qrels.txt -m nDCG@3")
    assert "The index returns 55.6 % of the true neighbours; of the relevant documents 33.3 % are" in text
    assert "16.7 points are lost before the index" in " ".join(text.split())
    assert "left out: 1 judged query that the index was not asked, or failed on" in text


def test_a_good_index_on_bad_vectors_is_said_to_be_that():
    lines = " ".join(said_of_both(10, 0.99, 0.605, 0.6))
    assert "returns 99.0 % of the true neighbours; of the relevant documents 60.0 % are found" in lines
    assert "39.5 points are lost before the index" in lines
    assert "A better index cannot bring those back" in lines
    other = " ".join(said_of_both(10, 0.6, 0.95, 0.6))
    assert "35.0 points by it" in other
    assert "by chance the index finds 1.0 points more" in " ".join(said_of_both(10, 0.9, 0.5, 0.51))
    assert "Most of what is missing is lost by the index" in other


def test_truth_is_kept(folder, capsys):
    first = fine(capsys, f"{RETURNED} --truth t.npz")
    assert fine(capsys, f"{RETURNED} --truth t.npz") == first
    _, err, code = called(capsys, f"{RETURNED} --truth t.npz --metric l2")
    assert code == 2
    assert "t.npz: was made from the metric cosine" in err


def test_the_targets_own_exact_search(folder, capsys, needs):
    needs("usearch")
    out = fine(capsys, f"{BOTH} --target usearch --exact target -k 3 --format json")
    found = json.loads(out)
    assert (found["truth"], found["recall"]["mean"], found["recall"]["tie_aware_mean"]) == (
        "target",
        1.0,
        None,
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--queries queries.npy --returned r.jsonl", "the truth needs --vectors"),
        (f"{BOTH}", "name the index with --target, or what it returned with --returned"),
        (f"{RETURNED} --target search:find", "one of the two"),
        (f"{RETURNED} --sweep ef=1,2", "--sweep needs a --target that can be asked"),
        (f"{RETURNED} --set ef=1", "--set needs a --target"),
        (f"{RETURNED} --against r.jsonl --qrels qrels.txt", "--qrels does not go with it"),
        (f"{RETURNED} --format xml", "--format 'xml' is not one of table, json"),
        (f"{RETURNED} --write a.pdf", "a.pdf: the ending names no kind of file"),
        (f"{RETURNED} --metric manhattan", "unknown metric 'manhattan'"),
        (f"{RETURNED} -m nDCG@3", "it needs judgments"),
        (f"{RETURNED} --qrels qrels.txt -m nDCG@10", "looks at more than the -k 3 neighbours"),
        (f"{BOTH} --target search:find --exact yes", "--exact 'yes' is not target"),
        (f"{BOTH} --target search:find --exact target", "a callable has no exact search of its own"),
        (f"{BOTH} --target nothing:here", "No module named 'nothing', and no kind of target is named so"),
        (f"{BOTH} --target elastic", "unknown kind of target 'elastic'"),
        (f"{BOTH} --target hnswlib:none.bin", "there is no such hnswlib index"),
        ("--vectors docs.npy --queries r.jsonl --returned r.jsonl", "vectors are read from .npy"),
        ("--vectors none.npy --queries queries.npy --returned r.jsonl", "none.npy: cannot be read"),
        (f"{BOTH} --returned docs.txt", "6 wrong rows"),
        (f"{BOTH} --returned docs.npy", "this is a binary file, not text"),
        (f"{RETURNED} --filters docs.txt", "6 wrong rows"),
    ],
)
def test_wrong_calls(folder, capsys, needs, line, message):
    if "hnswlib" in line:
        needs("hnswlib")
    out, err, code = called(capsys, line)
    assert (out, code) == ("", 2)
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('{"query_id": "q0", "ids": ["a", "z"]}', "1 returned id that no document of docs.npy has ('z')"),
        ('{"query_id": "q9", "ids": ["a"]}', "line 1: found 'q9', no query of queries.npy has this id"),
        ('{"query_id": "q0", "ids": []}\n{"query_id": "q0", "ids": []}', "line 2: found 'q0', the query stands in line 1 too"),
        ('{"query_id": "q0", "ids": "a"}', "ids is a list"),
        ('{"query_id": "q0", "ids": [1.5]}', "a id is text or a whole number"),
        ('{"ids": ["a"]}', "a query_id is text or a whole number"),
        ("[1]", "each line is one JSON object"),
        ("{", "not JSON"),
        ("\n".join(f'{{"query_id": "q{i}", "error": "x"}}' for i in range(3)), "every query failed: x"),
    ],
)  # fmt: skip
def test_wrong_returned_files(folder, capsys, rows, message):
    (folder / "r.jsonl").write_text(rows + "\n")
    out, err, code = called(capsys, RETURNED)
    assert (out, code) == ("", 2)
    assert any(part in err for part in message.split("|")), err


def test_wrong_vectors(folder, capsys):
    np.save(folder / "queries.npy", np.ones((3, 5), np.float32))
    assert "docs.npy has 2 dimensions, queries.npy 5" in called(capsys, RETURNED)[1]
    np.save(folder / "queries.npy", np.full((3, 2), np.nan, np.float32))
    assert (
        "queries.npy: 3 vectors with NaN or infinite numbers ('q0', 'q1', 'q2')"
        in called(capsys, RETURNED)[1]
    )
    np.save(folder / "queries.npy", np.ones((2, 2), np.float32))
    assert "queries.txt: 3 ids for 2 vectors" in called(capsys, RETURNED)[1]


def test_nothing_judged(folder, capsys):
    (folder / "qrels.txt").write_text("x 0 a 1\n")
    _, err, code = called(capsys, f"{RETURNED} --qrels qrels.txt -m nDCG@3")
    assert code == 4
    assert "none of the queries is judged" in err


def test_what_was_set_from_the_start_stands_in_the_report(folder, capsys):
    line = f"{BOTH} --target search:find --set wide=2 -k 3"
    assert "set: wide=2" in fine(capsys, line)
    found = json.loads(fine(capsys, f"{line} --format json"))
    assert (found["given"], found["settings"]) == ({"wide": 2}, {})


def test_returned_is_a_file_whatever_its_ending(folder, capsys):
    for name in ("r.json", "s.jsonl.gz"):
        content = (folder / "r.jsonl").read_bytes()
        (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        text = fine(capsys, f"--queries queries.npy --returned {name} --against r.jsonl -k 3")
        assert "overlap 1.0000" in text


def test_the_cost_counts_the_queries_that_the_recall_counts(folder, capsys):
    """A query of length 0 has no nearest documents: what an index returns for it is no gain over exact search."""
    np.save(folder / "queries.npy", np.array([[1, 0], [0, 1], [0, 0]], np.float32))
    found = json.loads(
        fine(capsys, f"{BOTH} --target search:find --set wide=2 -k 3 --qrels qrels.txt -m R@3 --format json")
    )
    assert found["n_queries"] == 2
    # q2 is judged, and left out with the query that was not asked.
    assert (found["cost"]["n_queries"], found["cost"]["left_out"]) == (2, 2)

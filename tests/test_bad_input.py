"""Bad input ends in one clear error or the right result: never a traceback, a guess or a lost row."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import leadline
from leadline.errors import InputError, LeadlineError, RowsError
from leadline.formats.source import Source

QRELS = {"q1": {"d1": 1, "d2": 0}}
GOOD = "q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0 x\n"


def refused(path: Path, **switches: object) -> str:
    """The message with which a run file is refused."""
    with pytest.raises(LeadlineError) as caught:
        leadline.evaluate(str(path), QRELS, "RR", **switches)  # type: ignore[arg-type]
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2", "line 2: found 'q1 Q0 d2 2', 4 columns"),
        ("q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0", "line 2: found 'q1 Q0 d2 2 1.0', 5 columns"),
        ("q1 Q0 d1 1 abc x\n", "line 1, column 5: found 'abc', expected a number as score"),
        ("q1 Q0 d1 1 nan x\n", "line 1, column 5: found 'nan', expected a number as score"),
        ("q1 Q0 d1 1 0x1 x\n", "line 1, column 5: found '0x1', expected a number as score"),
        ("q1 Q0 d1 1 1_0 x\n", "line 1, column 5: found '1_0', expected a number as score"),
        ("q1 Q0 d1 1 2 x\n\n\nq1 Q0 d2 1 ? x\n", "line 4, column 5: found '?'"),
        ("q1\tQ0\td1 1  2 x\nq1\tQ0\td2 1  ? x\n", "line 2, column 5: found '?'"),
    ],
)
def test_wrong_rows_name_line_column_and_text(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.run"
    path.write_text(text)
    message = refused(path)
    assert said in message
    assert "a.run" in message


def test_all_wrong_rows_are_counted_and_ten_shown(tmp_path: Path) -> None:
    """Also over blocks that are read apart: the file is longer than one block."""
    path = tmp_path / "a.run"
    with path.open("w") as file:
        for query in range(200):
            for rank in range(1, 1001):
                score = "oops" if rank == 500 else str(2000 - rank)
                file.write(f"query-number-{query} Q0 document-{rank} {rank} {score} x\n")
    assert path.stat().st_size > 2 * (4 << 20)
    with pytest.raises(RowsError) as caught:
        leadline.evaluate(str(path), {"query-number-0": {"document-1": 1}}, "RR")
    assert caught.value.total == 200
    assert [fault.line for fault in caught.value.faults] == [500 + 1000 * n for n in range(10)]
    assert "200 wrong rows" in str(caught.value)
    assert "and 190 more" in str(caught.value)


def test_a_document_twice_names_both_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 3 x\nq1 Q0 d2 2 2 x\nq1 Q0 d1 3 1 x\n")
    assert "line 3: found 'q1 d1', but line 1 has the same document for this query" in refused(path)
    scores = leadline.evaluate(str(path), QRELS, ["RR", "NumRet"], duplicates="first")
    assert (scores.mean("RR"), scores.mean("NumRet")) == (1.0, 2.0)
    assert scores.account["systems"]["a"]["duplicates_dropped"] == 1


def test_a_document_twice_in_scattered_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 1 x\nq2 Q0 d2 2 2 x\nq1 Q0 d2 1 2 x\nq1 Q0 d1 3 9 x\n")
    assert "line 4: found 'q1 d1', but line 1" in refused(path)
    # The better-ranked one stays: d1 with score 9 stands above d2.
    assert leadline.evaluate(str(path), QRELS, "RR", duplicates="first").mean("RR") == 1.0


def test_pairs_judged_twice() -> None:
    rows = [("q", "d", 1), ("q", "d", 1), ("q", "e", 0)]
    assert leadline.evaluate({"q": ["d"]}, rows, "RR").account["qrels"]["merged"] == 1
    rows.append(("q", "d", 2))
    with pytest.raises(RowsError, match="judges the same pair"):
        leadline.evaluate({"q": ["d"]}, rows, "RR")
    assert (
        leadline.evaluate({"q": ["d"]}, rows, "nDCG(gain=linear)@1", conflicts="max").account["qrels"][
            "resolved"
        ]
        == 2
    )


def test_gzip_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "a.run.gz"
    data = gzip.compress(os.urandom(5000).hex().encode())
    path.write_bytes(data[: len(data) // 2])
    assert "cut short" in refused(path)


def test_zstd_cut_short(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "a.run.zst"
    lines = "".join(f"q1 Q0 d{i} {i} {9000 - i} x\n" for i in range(1, 5000))
    whole = zstandard.compress(lines.encode())
    path.write_bytes(whole)
    assert leadline.evaluate(str(path), QRELS, "RR").mean("RR") == 1.0
    path.write_bytes(whole[: len(whole) // 2])
    assert "cut short or damaged" in refused(path)


def test_binary_empty_folder_and_missing(tmp_path: Path) -> None:
    binary = tmp_path / "binary.run"
    binary.write_bytes(b"\x7fELF\x02\x01\x01\0\0\0" * 20)
    assert "NUL byte" in refused(binary)
    empty = tmp_path / "empty.run"
    empty.write_bytes(b"")
    assert "empty" in refused(empty)
    blank = tmp_path / "blank.run"
    blank.write_bytes(b"\n \n\t\n")
    assert "no rows" in refused(blank)
    assert "is a folder" in refused(tmp_path)
    assert "No such file" in refused(tmp_path / "missing.run")


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes("q1 Q0 d1 1 2.0 x\n".encode("utf-16"))
    assert "UTF-16" in refused(path)
    path.write_bytes(b"q1 Q0 d1 1 2.0 x\nq1 Q0 caf\xe9 2 1.0 x\n")
    assert "line 2, column 10" in refused(path)
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert leadline.evaluate(str(path), QRELS, "RR").mean("RR") == 1.0


def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text(GOOD)
    path.chmod(0)
    if os.geteuid() != 0:
        assert "Permission denied" in refused(path)
        return
    tmp_path.chmod(0o755)
    for parent in list(tmp_path.parents)[:2]:
        parent.chmod(0o755)
    # Root reads everything, so a child gives up being root before it tries.
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            Source.open(path)
        except InputError as error:
            os._exit(7 if "Permission denied" in str(error) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_rows_in_any_order_give_the_same_hits(tmp_path: Path) -> None:
    """In order, out of order within queries, and scattered, with ties: one result."""
    rows = [(f"q{i % 7}", f"d{(i * 37) % 101:03d}", (i * 13) % 11) for i in range(700)]
    rows = list({(query, document): (query, document, score) for query, document, score in rows}.values())
    qrels = {f"q{i}": {f"d{j:03d}": j % 4 for j in range(0, 101, 3)} for i in range(7)}
    expected = None
    for order in (
        sorted(rows, key=lambda row: (row[0], -row[2], [-ord(c) for c in row[1]])),
        sorted(rows, key=lambda row: (row[0], row[1])),
        rows,
        rows[::-1],
    ):
        path = tmp_path / "a.run"
        path.write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, d, s in order))
        scores = leadline.evaluate(str(path), qrels, "nDCG,AP,RR,R@5,Bpref,RBP").to_dict()
        expected = expected or scores
        assert scores == expected


def test_a_run_larger_than_memory_is_read_in_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import leadline.blocks

    path = tmp_path / "a.run"
    rows = [f"q{i % 500} Q0 d{i} 1 {(i * 7919) % 1000} x\n" for i in range(250_000)]
    path.write_text("".join(rows))
    qrels = {f"q{i}": {f"d{i + 500 * j}": 1 for j in range(0, 500, 25)} for i in range(500)}
    whole = leadline.evaluate(str(path), qrels, "nDCG@10,AP,RR").to_dict()
    loads = []
    first = leadline.blocks._dealt
    monkeypatch.setattr(leadline.blocks, "memory_left", lambda: 1)
    monkeypatch.setattr(leadline.blocks, "_dealt", lambda code_of: loads.append(1) or first(code_of))
    assert leadline.evaluate(str(path), qrels, "nDCG@10,AP,RR").to_dict() == whole
    assert len(loads) > 2


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))
from leadline.cli.main import run
run(["evaluate", sys.argv[1], "--qrels", sys.argv[2], "-m", "RR", "--format", "csv"])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the address space as Linux does")
def test_a_long_run_under_a_memory_limit(tmp_path: Path) -> None:
    """200 MB of rows under 1 GB of address space (`make prove` has 2 GB): the right result."""
    run, qrels = tmp_path / "a.run", tmp_path / "qrels.txt"
    block = "".join(
        f"q# Q0 document-number-{i} {i} {2000 - i} long-tag-for-a-long-line\n" for i in range(1, 1001)
    )
    with run.open("w") as file:
        for query in range(3500):
            file.write(block.replace("#", str(query)))
    qrels.write_text("".join(f"q{query} 0 document-number-2 1\n" for query in range(3500)))
    assert run.stat().st_size > 200e6
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(run), str(qrels)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert ",0.5," in done.stdout


@pytest.mark.prove
@pytest.mark.skipif(not os.environ.get("LEADLINE_PROVE"), reason="a long proof: make prove")
def test_two_gigabytes_under_one(tmp_path: Path) -> None:
    """2 GB of rows under 1 GB of address space: the right result."""
    run, qrels = tmp_path / "a.run", tmp_path / "qrels.txt"
    block = "".join(
        f"q# Q0 document-number-{i} {i} {2000 - i} long-tag-for-a-long-line\n" for i in range(1, 1001)
    )
    with run.open("w") as file:
        for query in range(36_000):
            file.write(block.replace("#", str(query)))
    qrels.write_text("".join(f"q{query} 0 document-number-2 1\n" for query in range(36_000)))
    assert run.stat().st_size > 2e9
    command = [sys.executable, "-c", LIMITED, str(run), str(qrels)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ",0.5," in done.stdout


@pytest.mark.prove
@pytest.mark.skipif(not os.environ.get("LEADLINE_PROVE"), reason="a long proof: make prove")
@pytest.mark.parametrize(
    "more", [[], ["--collapse", "max", "--collapse-separator", "#"]], ids=["as it is", "chunks"]
)
def test_ten_million_ids(tmp_path: Path, more: list[str]) -> None:
    """Ten million ids, none of them twice, under 1 GB of address space; of chunks, two in a document."""
    run, qrels = tmp_path / "a.run", tmp_path / "qrels.txt"
    ten_million_ids(run)
    names = ("d1", "d2") if more else ("d1#1", "d2#1")
    # The ranks: d1#0, d1#1, d2#0, d2#1. Chunk d2#1 is at 4; of documents, d2 is at 2.
    qrels.write_text("".join(f"q{query} 0 q{query}-{names[1]} 1\n" for query in range(10_000)))
    code = LIMITED.replace('"--format"', f'*{more!r}, "--format"')
    command = [sys.executable, "-c", code, str(run), str(qrels)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (",0.5," if more else ",0.25,") in done.stdout


def ten_million_ids(path: Path) -> None:
    """10,000 queries of 1,000 chunks: `q7-d1#0`, `q7-d1#1`, `q7-d2#0`, …, best first."""
    block = "".join(
        f"q@ Q0 q@-d{place // 2 + 1}#{place % 2} {place + 1} {2000 - place} dense\n" for place in range(1000)
    )
    with path.open("w") as file:
        for query in range(10_000):
            file.write(block.replace("@", str(query)))


def test_frames_are_not_changed() -> None:
    frame = pl.DataFrame({"qid": [1, 1], "docno": ["d1", "d2"], "score": [2.0, 1.0]})
    before = frame.clone()
    assert leadline.evaluate(frame, {"1": {"d1": 1}}, "RR").mean("RR") == 1.0
    assert frame.equals(before)

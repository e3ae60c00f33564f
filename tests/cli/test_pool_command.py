"""The command `pool`: what it prints and writes, and what it refuses."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from leadline.cli.main import run
from leadline.judging.pool import PoolPair

N = 24


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs over 24 queries; of the first one everything is judged."""
    monkeypatch.chdir(tmp_path)
    lists = {"old": "abcd", "new": "xabc", "odd": "yxza"}
    for name, docs in lists.items():
        lines = [f"q{i:02d} Q0 {doc} {at} {9 - at} x" for i in range(N) for at, doc in enumerate(docs, 1)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    qrels = [f"q{i:02d} 0 {doc} {int(at == i % 4)}" for i in range(N) for at, doc in enumerate("abcd")]
    (tmp_path / "qrels.txt").write_text("\n".join(qrels) + "\n")
    return tmp_path


def leadline(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        run(["pool", *arguments])
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def rows(path: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


RUNS = ("old.run", "new.run", "odd.run")
JUDGED = (*RUNS, "--qrels", "qrels.txt")
SAMPLE = ("--sample", "stratified", "--rates", "1-1=1,2-4=.5")
DECISIVE = (*JUDGED, "--order", "decisive", "--baseline", "old", "--candidate", "new")


def test_the_report_says_who_brought_what(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, *JUDGED, "-k", "3")
    assert code == 0
    # Top 3: a b c, x a b, y x z: a b c x y z, of which a b c are judged.
    assert out.startswith(f"3 systems to rank 3: 24 queries, {6 * N} pairs, {3 * N} judged\n")
    assert f"to judge, in order of depth: {3 * N} pairs" in out
    assert "had it not been pooled" in out
    assert "missing from every top 3: at least" in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_without_judgments_everything_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, "old.run", "new.run", "--write", "to.jsonl")
    assert code == 0
    assert f"24 queries, {5 * N} pairs, 0 judged" in out
    assert "had it not been pooled" not in out
    assert "missing" not in out
    assert len(rows("to.jsonl")) == 5 * N


def test_a_line_of_the_file_to_judge(capsys: pytest.CaptureFixture[str]) -> None:
    leadline(capsys, *JUDGED, "-k", "3", "--write", "to.jsonl")
    first = rows("to.jsonl")[0]
    assert first == {
        "query_id": "q00",
        "doc_id": "x",
        "ranks": {"new": 1, "odd": 2},
        "systems": ["new", "odd"],
    }


def test_the_shape_is_that_of_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    leadline(capsys, *DECISIVE, "--write", "to.jsonl")
    found = rows("to.jsonl")
    assert set(found[0]) == {"query_id", "doc_id", "ranks", "move", "likely", "why", "systems"}
    for row in found:
        row.pop("systems")
        PoolPair(**row)  # type: ignore[arg-type]
    from leadline.gating.doubt import PairToJudge

    gates = PairToJudge("q", "d", {"a": 1}, 0.1, 0.5, "so").to_dict()
    assert PoolPair("q", "d", {"a": 1}, 0.1, 0.5, "so").to_dict() == gates


def test_the_report_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, *JUDGED, "--budget", "10", "--format", "json", "--write", "report.json")
    assert code == 0
    report = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert Path("report.json").read_text(encoding="utf-8") == out
    assert (report["listed"], report["cut"], report["budget"]) == (10, 3 * N - 10, 10)
    assert len(report["to_judge"]) == 10
    assert [one["system"] for one in report["contributions"]] == ["old", "new", "odd"]
    assert report["missing"]["found"] == N
    assert report["conventions"]["order_rule"].startswith("score descending")


PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json-pool.md"


def test_the_page_names_exactly_the_fields(capsys: pytest.CaptureFixture[str]) -> None:
    sampled = json.loads(leadline(capsys, *JUDGED, *SAMPLE, "--format", "json")[1])
    decided = json.loads(leadline(capsys, *DECISIVE, "--format", "json")[1])
    lines, report = re.split(r"^## The report$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \|$", report, re.MULTILINE)
    assert [name for name, _ in rows] == list(decided)
    told = {name: re.findall(r"`(\w+)`", said) for name, said in rows}
    assert told["contributions"] == list(decided["contributions"][0])
    assert told["left_out"] == list(decided["left_out"][0])
    assert told["missing"] == list(decided["missing"])
    assert told["decisive"] == list(decided["decisive"])
    assert told["sample"] == [*sampled["sample"], *sampled["sample"]["strata"][0]]
    pair = re.findall(r"^\| `(\w+)` \|", lines, re.MULTILINE)
    assert pair == list(PoolPair("q", "d", {"a": 1}, 0.1, 0.5, "so", 0.3, "1-10").to_dict())


def test_the_budget_says_what_it_cut(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = leadline(capsys, *JUDGED, "--budget", "30", "--order", "fusion")
    assert f"the budget of 30 pairs cut {3 * N - 30} pairs; the first of those stands at rank" in out


def test_variants_are_left_out_together(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = leadline(capsys, *JUDGED, "--together", "old,new", "-k", "3")
    assert "left out together: new, old" in out
    # Together they lose b and c; odd has neither, so all that either has of its own goes.
    alone = json.loads(leadline(capsys, *JUDGED, "-k", "3", "--format", "json")[1])["left_out"]
    both = json.loads(leadline(capsys, *JUDGED, "-k", "3", "--together", "old,new", "--format", "json")[1])[
        "left_out"
    ]
    assert [row["documents"] for row in alone] == [N, 0, 0]
    assert [row["documents"] for row in both] == [3 * N, 3 * N, 0]


def test_csv(capsys: pytest.CaptureFixture[str]) -> None:
    leadline(capsys, *JUDGED, "--write", "to.csv")
    table = list(csv.DictReader(io.StringIO(Path("to.csv").read_text(encoding="utf-8"))))
    assert len(table) == 3 * N
    assert (table[0]["query_id"], table[0]["doc_id"], table[0]["ranks"]) == ("q00", "x", "new=1 odd=2")
    assert table[0]["move"] == ""


def test_nothing_left_exits_4_and_still_reports(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, "old.run", "--qrels", "qrels.txt", "--write", "to.jsonl")
    assert code == 4
    assert "nothing to judge: every pair of the pool is judged" in out
    assert Path("to.jsonl").read_text() == ""


def test_decisive_order_says_what_it_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(capsys, *DECISIVE, "-m", "nDCG@10", "--margin", "0.05")
    assert code == 0
    assert "new against old, nDCG@10, margin .05: judge-first" in out
    assert f"to judge, most decisive first: {N} pairs; about" in out
    assert f"not listed: {2 * N} pairs that neither of the two returns" in out


def test_move_to_front_says_that_it_is_a_forecast(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = leadline(capsys, *JUDGED, "--order", "move-to-front")
    assert "a forecast: taken as not relevant until judged" in out


def test_a_sample_is_drawn_written_and_read_back(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(
        capsys, *JUDGED, *SAMPLE, "--seed", "7", "--write", "to.jsonl", "--pooled-qrels", "all.jsonl"
    )
    assert code == 0
    assert "to judge, drawn by chance (seed 7)" in out
    # Best rank 1: a, x, y of each query; 2–4: b, c, d, z: two of four.
    assert f"ranks 1-1: drawn {3 * N} of {3 * N}" in out
    assert f"ranks 2-4: drawn {2 * N} of {4 * N}" in out
    listed = rows("to.jsonl")
    assert all(row["probability"] == (1.0 if row["stratum"] == "1-1" else 0.5) for row in listed)
    assert not [row for row in listed if row["doc_id"] in "abcd"]
    whole = rows("all.jsonl")
    assert len(whole) == 7 * N
    assert {row["grade"] for row in whole if row["doc_id"] == "x"} == {-1}
    assert {row["grade"] for row in whole if row["doc_id"] == "a"} == {0, 1}
    with pytest.raises(SystemExit) as ended:
        run(["evaluate", "old.run", "--qrels", "all.jsonl", "-m", "xinfAP,infNDCG@10", "--format", "json"])
    assert not ended.value.code
    results = json.loads(capsys.readouterr().out)["results"]
    assert [row["measure"] for row in results] == ["xinfAP", "infNDCG@10"]
    assert all(row["mean"] is not None for row in results)


def test_the_five_columns_of_trec(capsys: pytest.CaptureFixture[str]) -> None:
    leadline(capsys, *JUDGED, *SAMPLE, "--pooled-qrels", "all.qrels", "--pooled-qrels", "all.qrels")
    assert Path("all.qrels").read_text().splitlines()[0].split() == ["q00", "0", "a", "1-1", "1"]
    with pytest.raises(SystemExit) as ended:
        run(["evaluate", "old.run", "--qrels", "all.qrels", "--qrels-format", "trec-sampled", "-m", "xinfAP"])
    assert not ended.value.code
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        run(["evaluate", "old.run", "--qrels", "all.qrels", "-m", "xinfAP"])
    assert ended.value.code == 2
    assert "with a stratum: --qrels-format trec-sampled" in capsys.readouterr().err


def test_the_same_call_gives_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ((*JUDGED, *SAMPLE), DECISIVE, (*JUDGED, "--order", "move-to-front")):
        first = leadline(capsys, *arguments, "--format", "json")[1]
        assert leadline(capsys, *arguments, "--format", "json")[1] == first


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--order", "best"), "not one of depth, fusion, move-to-front, decisive"),
        ((*SAMPLE, "--order", "move-to-front"), "by what was found so far"),
        (
            (*SAMPLE, "--order", "decisive", "--baseline", "old", "--candidate", "new"),
            "by what was found so far",
        ),
        ((*SAMPLE, "--budget", "5"), "ask for fewer pairs with --rates"),
        ((*SAMPLE, "-k", "9"), "say two depths"),
        (("--sample", "stratified"), "go together"),
        (("--rates", "1-10=1"), "go together"),
        (("--sample", "random", "--rates", "1-10=1"), "not one of stratified"),
        (("--pooled-qrels", "x.jsonl"), "goes with --sample"),
        ((*SAMPLE, "--pooled-qrels", "x.html"), "the ending says no format"),
        (("--write", "x.txt"), "known: .jsonl .csv .json"),
        (("--format", "csv"), "not one of table, json"),
        (("--order", "decisive", "--baseline", "old", "--candidate", "nwe"), "did you mean new"),
        (("--together", "old,nwe"), "did you mean new"),
        (("--together", "old,new", "--together", "new,odd"), "in two families"),
        (("-m", "NumRet"), "a mean of which more is better"),
        (("-m", "nDGC@10"), "did you mean"),
    ],
)
def test_what_cannot_be_meant_is_one_error(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], says: str
) -> None:
    code, out, err = leadline(capsys, *JUDGED, *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err
    assert not list(Path.cwd().glob("x.*"))


def test_two_systems_of_one_name_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for more in ((), ("--qrels", "qrels.txt")):
        code, _, err = leadline(capsys, "old.run", "old=new.run", *more)
        assert code == 2
        assert "name them apart" in err


def test_runs_without_documents_exit_4(capsys: pytest.CaptureFixture[str]) -> None:
    Path("failed.jsonl").write_text('{"query_id": "q00", "error": "timed out"}\n')
    code, _, err = leadline(capsys, "failed.jsonl")
    assert code == 4
    assert "nothing to pool" in err


def test_a_document_twice_is_refused_or_settled(capsys: pytest.CaptureFixture[str]) -> None:
    Path("twice.run").write_text("q Q0 a 1 2 x\nq Q0 a 2 1 x\n")
    code, _, err = leadline(capsys, "twice.run")
    assert code == 2
    assert "--duplicates first" in err
    assert leadline(capsys, "twice.run", "--duplicates", "first")[0] == 0


def test_names_and_ids_are_made_safe_for_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a\x1b[31mb.run").write_text("q Q0 a 1 2 x\n")
    _, out, _ = leadline(capsys, "a\x1b[31mb.run", "old.run", "--qrels", "qrels.txt")
    assert "\x1b" not in out


def test_the_offline_kit(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jinja2", reason="the kit needs the extra serve")
    documents = [{"id": name, "text": f"The text of {name} </script>."} for name in "abcxyz"]
    Path("docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
    kit = ("--kit", "ana.html", "--documents", "docs.jsonl", "--who", "ana", "--scale", "binary")
    code, _, err = leadline(capsys, *JUDGED, "-k", "3", *kit)
    assert code == 0
    # x y z are unjudged for each query; the texts are there, the ranks and systems are not.
    assert f"wrote ana.html: {3 * N} pairs to judge offline" in err
    page = Path("ana.html").read_text(encoding="utf-8")
    assert "The text of x \\u003c/script" in page
    assert "The text of a" not in page
    assert not re.search(r"\bodd\b", page)


def test_the_kit_shows_images_of_the_hosts_that_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jinja2", reason="the kit needs the extra serve")
    hosts = {"x": "img.example", "y": "other.example", "z": "Second.example:8443"}
    cards = [
        {"id": doc, "text": doc, "image": f"https://{host.lower()}/{doc}.png"} for doc, host in hosts.items()
    ]
    Path("cards.jsonl").write_text("".join(json.dumps(card) + "\n" for card in cards))
    kit = (*JUDGED, "-k", "3", "--kit", "ana.html", "--documents", "cards.jsonl")
    _, _, err = leadline(capsys, *kit)
    advice = re.search(r"images are not shown; to show them: (.+)", err)
    assert advice and "https://" not in Path("ana.html").read_text(encoding="utf-8")
    # What the advice names, pool takes.
    named = advice[1].split()
    assert named == [
        word
        for host in ("img.example", "other.example", "second.example:8443")
        for word in ("--image-host", host)
    ]
    assert leadline(capsys, *kit, *named)[0] == 0
    assert "img-src https://img.example https://other.example https://second.example:8443;" in Path(
        "ana.html"
    ).read_text(encoding="utf-8")
    _, _, err = leadline(capsys, *kit, "--image-host", "img.example", "--image-host", "Second.example:8443")
    assert "to show them: --image-host other.example" in err
    page = Path("ana.html").read_text(encoding="utf-8")
    assert "https://img.example/x.png" in page and "https://second.example:8443/z.png" in page
    assert "other.example" not in page


@pytest.mark.parametrize(
    ("kit", "told"),
    [
        (("--kit", "ana.html"), "--documents FILE"),
        (("--kit", "ana.txt", "--documents", "docs.jsonl"), "FILE.html"),
        (("--who", "ana"), "--who goes with --kit"),
        (("--image-host", "img.example"), "--image-host goes with --kit"),
        (
            ("--kit", "ana.html", "--documents", "docs.jsonl", "--image-host", "a; script-src *"),
            "a host's name",
        ),
        (("--kit", "ana.html", "--documents", "none.jsonl"), "none.jsonl"),
    ],
)
def test_a_kit_that_cannot_be_written(
    kit: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("jinja2", reason="the kit needs the extra serve")
    code, _, err = leadline(capsys, *JUDGED, *kit)
    assert code == 2
    assert told in err
    assert not list(Path().glob("*.html"))


def test_what_was_left_out_of_a_run_is_said_without_judgments_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("queries.csv").write_text("query_id,text\nq00,star trek\n")
    head = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\n"
    Path("snap.csv").write_text(f"{head}s,t,1,star trek,d,1\ns,t,1,alien,d,1\n")
    asked = ("snap.csv", "old.run", "--queries", "queries.csv")
    said = "! snap.csv: left out: 1 query of 2 whose text is not in queries.csv, with 1 row (the first is 'alien')\n"
    code, _, err = leadline(capsys, *asked)
    assert code == 0 and said in err
    # Chunks collapsed into documents: the run within says it.
    _, _, err = leadline(
        capsys, *asked, "--collapse", "first", "--collapse-separator", "#", "--collapse-unmatched", "keep"
    )
    assert said in err
    _, _, err = leadline(capsys, *asked, "--quiet")
    assert said not in err

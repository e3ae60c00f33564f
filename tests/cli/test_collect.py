"""The command `collect`: files, exit codes, going on after a kill, and what it refuses."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from collecting.server import Say, Seen, hits, serving
from shared.command import leadline

N = 40


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"query_id": f"q{at:02d}", "text": f"question {at}"} for at in range(N)]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def rows(path: str = "rows.jsonl") -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def answer(seen: Seen, times: int) -> Say:
    text = seen.body["query"]["multi_match"]["query"]
    return Say(hits() if text == "question 3" else hits((f"{text[9:]}a", 2.0), ("b", 1.0)))


def broken(seen: Seen, times: int) -> Say:
    return (
        Say({"error": "x"}, 400)
        if seen.body["query"]["multi_match"]["query"] == "question 5"
        else answer(seen, times)
    )


def test_rows_and_run_and_then_evaluate(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(answer) as server:
        code, out, _ = leadline(
            capsys, "collect", "--target", f"elasticsearch:{server.url}/docs", "--field", "title^2,body",
            "--queries", "queries.jsonl", "-k", "5", "--write", "rows.jsonl", "--write", "live.run", "--write", "a.json",
        )  # fmt: skip
    assert code == 0
    assert out.startswith(
        f"POST {server.url}/docs/_search: 40 queries, first 5\n39 answered, 1 answered with nothing, 0 failed\n"
    )
    assert all(len(line) <= 100 for line in out.splitlines())
    found = rows()
    assert [row["query_id"] for row in found] == [f"q{at:02d}" for at in range(N)], (
        "in the order of the queries"
    )
    assert found[3]["retrieved_ids"] == [] and found[4]["retrieved_ids"] == ["4a", "b"]
    assert Path("live.run").read_text().splitlines()[0] == "q00 Q0 0a 1 2.0 live"
    account = json.loads(Path("a.json").read_text())
    assert (account["answered"], account["empty"], account["failed"], account["requests"]) == (39, 1, 0, 40)
    assert sorted(Path().glob("*.part")) == []
    # Both files are runs that evaluate reads, and give the same.
    Path("qrels.txt").write_text("".join(f"q{at:02d} 0 {at}a 1\n" for at in range(N)))
    for name in ("rows.jsonl", "live.run"):
        _, text, _ = leadline(
            capsys, "evaluate", name, "--qrels", "qrels.txt", "-m", "R@5", "--format", "json"
        )
        # 39 of 40 found; the empty answer scores 0 in both.
        assert json.loads(text)["results"][0]["mean"] == pytest.approx(39 / 40)


def test_a_failed_query_is_an_error_to_evaluate(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(broken) as server:
        common = (
            "collect",
            "--target",
            f"opensearch:{server.url}/docs",
            "--queries",
            "queries.jsonl",
            "-k",
            "5",
        )
        code, out, _ = leadline(capsys, *common, "--write", "rows.jsonl", "--write", "live.run")
        assert code == 0, "1 of 40 is within the 5 % allowed"
        assert (
            '! failed, HTTP 400: 1 query, such as: HTTP 400: {"error": "x"}' in out
            and "! live.run not written" in out
            and not Path("live.run").exists()
        )
        code, _, _ = leadline(capsys, *common, "--write", "rows.jsonl", "--max-errors", "0")
        assert code == 5
    Path("qrels.txt").write_text("".join(f"q{at:02d} 0 {at}a 1\n" for at in range(N)))
    _, text, _ = leadline(
        capsys, "evaluate", "rows.jsonl", "--qrels", "qrels.txt", "-m", "R@5", "--format", "json"
    )
    result = json.loads(text)["results"][0]
    assert (result["n_error"], result["mean"]) == (1, pytest.approx(38 / 39))
    with serving(answer) as server:
        target = ("--target", f"opensearch:{server.url}/docs")
        code, out, _ = leadline(
            capsys,
            "collect",
            *target,
            "--queries",
            "queries.jsonl",
            "-k",
            "5",
            "--write",
            "rows.jsonl",
            "--only-failed",
        )
    assert code == 0 and "39 kept from before" in out and len(server.seen) == 1
    assert "error" not in rows()[5]


@pytest.mark.skipif(os.name == "nt", reason="a kill as on POSIX")
def test_a_kill_in_the_middle_loses_no_answer_and_asks_none_again(capsys: pytest.CaptureFixture[str]) -> None:
    def slow(seen: Seen, times: int) -> Say:
        said = answer(seen, times)
        said.wait = 0.05
        return said

    with serving(slow) as server:
        command = [
            "collect", "--target", f"elasticsearch:{server.url}/docs", "--queries", "queries.jsonl", "-k", "5",
            "--concurrency", "2", "--write", "rows.jsonl",
        ]  # fmt: skip
        child = subprocess.Popen([sys.executable, "-m", "leadline", *command])
        place = Path("rows.jsonl.part")
        while not (place.exists() and place.read_bytes().count(b"\n") > 10):
            assert child.poll() is None, "ended before it was killed"
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
        kept = {
            json.loads(line)["query_id"]
            for line in place.read_bytes().splitlines()[1:]
            if line.endswith(b"}")
        }
        assert 10 <= len(kept) < N and not Path("rows.jsonl").exists()
        before = len(server.seen)
        code, out, _ = leadline(capsys, *command)
    assert code == 0 and f"{len(kept)} kept from before, not asked again" in out
    again = [seen.body["query"]["multi_match"]["query"] for seen in server.seen[before:]]
    assert len(again) == N - len(kept) == len(set(again))
    assert not {f"q{int(text[9:]):02d}" for text in again} & kept
    assert len(rows()) == N and not place.exists()


@pytest.mark.skipif(os.name == "nt", reason="an interrupt as on POSIX")
def test_an_interrupt_keeps_the_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(
        lambda seen, times: Say(hits(("a", 1.0)), wait=0 if len(server.seen) < 10 else 60)
    ) as server:
        target = [
            "--target",
            f"elasticsearch:{server.url}/docs",
            "--queries",
            "queries.jsonl",
            "--concurrency",
            "1",
        ]
        command = [sys.executable, "-m", "leadline", "collect", *target, "--write", "r.jsonl"]
        child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        place = Path("r.jsonl.part")
        try:
            while not (place.exists() and place.read_bytes().count(b"\n") == 10):
                assert child.poll() is None, "ended before it was interrupted"
                time.sleep(0.01)
            child.send_signal(signal.SIGINT)
            # It does not wait for the request that is out.
            _, err = child.communicate(timeout=20)
        finally:
            child.kill()
            child.communicate()
    assert child.returncode == 130
    assert err == "leadline: interrupted; the answers are kept in r.jsonl.part; the same command goes on\n"
    assert place.read_bytes().count(b"\n") == 10 and not Path("r.jsonl").exists()


def test_a_server_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(answer) as server:
        url = server.url
    code, out, _ = leadline(
        capsys, "collect", "--target", f"solr:{url}/docs", "--queries", "queries.jsonl", "--write", "rows.jsonl",
        "--retries", "0", "--stop-after", "4", "--concurrency", "1",
    )  # fmt: skip
    assert code == 5
    assert "4 failed, 36 not asked" in out and "nothing written yet" in out
    assert not Path("rows.jsonl").exists()


def test_a_search_configuration_from_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    own = {
        "index": "docs",
        "query": json.dumps({"query": {"match": {"body": "%SearchText%"}}}),
        "searchPipeline": "p",
    }

    def both(seen: Seen, times: int) -> Say:
        if seen.method == "GET":
            return Say({"hits": {"hits": [{"_source": own}]}})
        return Say(hits(("a", 1.0)))

    with serving(both) as server:
        code, _, _ = leadline(
            capsys, "collect", "--target", f"opensearch:{server.url}", "--search-configuration", "abc-1",
            "--queries", "queries.jsonl", "--write", "rows.jsonl",
        )  # fmt: skip
    assert code == 0
    assert server.seen[0].path == "/_plugins/_search_relevance/search_configurations/abc-1"
    assert {seen.path for seen in server.seen[1:]} == {"/docs/_search?search_pipeline=p"}


def test_a_function_of_the_users(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mysearch.py").write_text(
        "def ask(text, k):\n    return {'ids': ['a', 'b'], 'context_ids': ['b'], 'answer': text, 'input_tokens': 7}\n"
    )
    code, out, _ = leadline(
        capsys, "collect", "--target", "mysearch:ask", "--queries", "queries.jsonl", "--write", "rows.jsonl"
    )
    assert code == 0 and "tokens: 280 in, not told out" in out
    assert rows()[1] | {"latency_ms": 0} == {
        "query_id": "q01", "query": "question 1", "retrieved_ids": ["a", "b"], "context_ids": ["b"],
        "answer": "question 1", "input_tokens": 7, "latency_ms": 0, "attempts": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--target", "http://h/s", "--write", "r.pdf"], "names no kind of file"),
        (["--target", "http://h/s"], "where the answers go"),
        (["--target", "nowhere", "--write", "r.jsonl"], "neither an address"),
        (["--target", "no_such_module:f", "--write", "r.jsonl"], "no_such_module"),
        (["--target", "http://h/s", "--write", "r.jsonl", "--map", "id=x"], "did you mean"),
        (["--target", "http://h/s", "--write", "r.jsonl", "--map", "answer=x"], "names the retrieved ids"),
        (["--target", "http://h/s", "--write", "r.jsonl", "--field", "a"], "go with elasticsearch:"),
        (["--target", "http://h/s", "--write", "r.jsonl", "--only-failed"], "needs the rows"),
        (
            ["--target", "http://h/s", "--write", "r.jsonl", "--header", "X-Key=Bearer s3cret"],
            "names an environment variable",
        ),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    code, _, err = leadline(capsys, "collect", "--queries", "queries.jsonl", *arguments)
    assert code == 2 and said in err and "s3cret" not in err and "Traceback" not in err
    assert len(err.splitlines()) == 1


def test_queries_without_texts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("ids.jsonl").write_text('{"query_id": "a", "text": ""}\n')
    code, _, err = leadline(
        capsys, "collect", "--target", "http://h/s", "--queries", "ids.jsonl", "--write", "r.jsonl"
    )
    assert code == 2 and "nothing to ask" in err

"""`leadline autojudge`: the plan, the labels, the account, the exit codes, and what a kill leaves behind."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judging.judging_server import Judging, judging
from leadline.certificate import Judge
from leadline.cli.main import run
from leadline.formats.card import read_card
from leadline.judging.book import Book
from leadline.judging.judgment import Judgment, text_hash
from leadline.judging.labels import make_labels
from leadline.judging.replies import ERRORS
from leadline.models.cache import Cache
from leadline.models.replay import record

QUERIES, DOCS = 4, 6


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """24 pairs of 4 queries, and nobody's key."""
    monkeypatch.chdir(tmp_path)
    for name in ("LEADLINE_API_KEY", "OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    rows = [(f"q{q}", f"d{q}{d}") for q in range(QUERIES) for d in range(DOCS)]
    lines("to-judge.jsonl", [{"query_id": q, "doc_id": d, "ranks": {"a": 1}} for q, d in rows])
    lines("docs.jsonl", [{"id": d, "text": text_of(d)} for _, d in rows])
    lines(
        "queries.jsonl",
        [{"query_id": f"q{q}", "text": f"how {q}", "need": "all of it"} for q in range(QUERIES)],
    )
    return tmp_path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judging]:
    with judging(tmp_path_factory.mktemp("server"), 0.0) as one:
        yield one


def lines(name: str, rows: list[dict[str, Any]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def text_of(doc: str) -> str:
    return f"text of {doc} " + "x" * int(doc[2])


def grade_of(doc: str) -> int:
    return len(text_of(doc)) % 4


FILES = ("to-judge.jsonl", "--documents", "docs.jsonl", "--queries", "queries.jsonl")


def leadline(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        run(["autojudge", *arguments])
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


def live(server: Judging, *more: str) -> tuple[str, ...]:
    return (*FILES, "--model", "m", "--endpoint", server.url, *more)


def in_book(path: str = "j.db") -> list[Judgment]:
    with Book.open(path, create=False) as book:
        return book.rows()


def test_labels_go_into_the_book(capsys: pytest.CaptureFixture[str], server: Judging) -> None:
    before = len(server.asked())
    code, out, err = leadline(capsys, *live(server, "--book", "j.db", "--batch", "4"))
    assert code == 0, (out, err)
    rows = in_book()
    assert {row.doc_id: row.grade for row in rows} == {row.doc_id: grade_of(row.doc_id) for row in rows}
    assert len(rows) == 24 and {(row.kind, row.who, row.guideline) for row in rows} == {
        ("model", "m", "relevance 1")
    }
    assert rows[0].text_hash == text_hash(text_of(rows[0].doc_id))
    # 6 passages of each query in calls of 4 and 2: two calls a query. The plan said so, and so many were made.
    assert "plan: 8 calls to ask" in err and len(server.asked()) - before == 8
    assert "labelled: 24 of 24 pairs" in out and "into j.db: 24 rows added" in out
    # Again: nothing to ask, nothing to add.
    code, out, err = leadline(capsys, *live(server, "--book", "j.db", "--batch", "4"))
    assert code == 0 and "plan: 0 calls to ask" in err and "24 pairs labelled before" in err
    assert len(server.asked()) - before == 8 and len(in_book()) == 24
    # Another way of asking is another judge, and the book then has labels of both.
    assert leadline(capsys, *live(server, "--book", "j.db", "--batch", "2"))[0] == 0
    assert len(in_book()) == 48 and len(make_labels(in_book()).judges) == 2


def test_labels_go_into_a_file_with_its_card(capsys: pytest.CaptureFixture[str], server: Judging) -> None:
    code, out, _ = leadline(capsys, *live(server, "--write", "m.txt", "--format", "json"))
    page = json.loads(out)
    assert code == 0 and page["written"] == {"file": "m.txt", "labels": 24, "card": "m.txt.leadline.json"}
    card = read_card("m.txt")
    assert card is not None and card.judge is not None and card.judge.id == page["judge_id"]
    assert card.judge == Judge.from_dict(page["judge"]) and card.judge.endpoint == server.url
    assert len(Path("m.txt").read_text().splitlines()) == 24
    assert Path("autojudge-cache.db").exists()
    Path("m.txt").write_text("q0 0 d00 3\n")
    code, _, err = leadline(capsys, *live(server, "--write", "m.txt"))
    assert code == 2 and "another state" in err and err.count("\n") == 1


def test_a_changed_text_is_asked_again_and_its_old_label_stays_until_there_is_a_new_one(
    capsys: pytest.CaptureFixture[str], server: Judging
) -> None:
    command = live(server, "--write", "m.txt")
    assert leadline(capsys, *command)[0] == 0
    before, docs = len(server.asked()), [f"d{q}{d}" for q in range(QUERIES) for d in range(DOCS)]

    def grades() -> dict[str, int]:
        return {row.split()[2]: int(row.split()[3]) for row in Path("m.txt").read_text().splitlines()}

    def texts(changed: dict[str, str]) -> None:
        lines("docs.jsonl", [{"id": doc, "text": changed.get(doc, text_of(doc))} for doc in docs])

    # One letter more is one grade more, by modulo 4: 12 letters were a 0.
    assert grades()["d00"] == 0 and len("text of d00 ") == 12
    texts({"d00": "text of d00 y"})
    code, _, err = leadline(capsys, *command)
    assert code == 0 and "plan: 1 call to ask" in err and "23 pairs labelled before" in err
    assert "1 label in m.txt is of another text" in err and len(server.asked()) - before == 1
    assert grades() == {doc: grade_of(doc) for doc in docs} | {"d00": 1}
    # What the budget leaves keeps its old label, and is asked again the next time.
    texts({"d00": "text of d00 y", "d01": "text of d01 yyy"})
    code, out, _ = leadline(capsys, *command, "--max-calls", "0")
    assert code == 5 and grades()["d01"] == grade_of("d01") and len(grades()) == 24
    assert "! 1 label in m.txt" in out and "kept until there is a new one" in " ".join(out.split())
    # A file and its card stay as they are where nothing is answered at all.
    lines("to-judge.jsonl", [{"query_id": "q0", "doc_id": "d00", "ranks": {"a": 1}}])
    assert leadline(capsys, *live(server, "--write", "one.txt"))[0] == 0 and Path("one.txt").exists()
    texts({"d00": "text of d00 z", "d01": "text of d01 yyy"})
    there = Path("one.txt").read_text(), json.loads(Path("one.txt.leadline.json").read_text())
    code, out, _ = leadline(capsys, *live(server, "--write", "one.txt", "--max-calls", "0"))
    now = json.loads(Path("one.txt.leadline.json").read_text())
    assert code == 5 and (Path("one.txt").read_text(), now["asked"]) == (there[0], there[1]["asked"])
    code, _, _ = leadline(capsys, *live(server, "--write", "lost.txt", "--max-calls", "0"))
    assert code == 5 and not Path("lost.txt").exists()
    texts({"d00": "text of d00 y", "d01": "text of d01 yyy"})
    # Pairs that are not in today's list stay as they are.
    lines("to-judge.jsonl", [{"query_id": "q0", "doc_id": doc, "ranks": {"a": 1}} for doc in ("d00", "d01")])
    assert leadline(capsys, *command)[0] == 0 and len(grades()) == 24
    assert len(server.asked()) - before == 2
    # What the person wants is a part of the question too.
    lines("queries.jsonl", [{"query_id": "q0", "text": "how 0", "need": "less"}])
    assert "2 labels in m.txt are of another text" in leadline(capsys, *command)[2]
    assert len(server.asked()) - before == 4
    # A card that does not say what was asked proves nothing; the replies are in the cache.
    card = json.loads(Path("m.txt.leadline.json").read_text())
    del card["asked"]
    Path("m.txt.leadline.json").write_text(json.dumps(card))
    code, _, err = leadline(capsys, *command)
    assert code == 0 and "plan: 0 calls to ask; 2 in the cache" in err and len(server.asked()) - before == 4


def test_a_dry_run_sends_nothing_and_makes_no_file(
    capsys: pytest.CaptureFixture[str], server: Judging, folder: Path
) -> None:
    before, there = len(server.asked()), sorted(folder.iterdir())
    dry = live(server, "--book", "j.db", "--dry-run")
    code, out, err = leadline(capsys, *dry)
    assert (code, err) == (0, "") and "plan: 24 calls to ask" in out
    code, out, _ = leadline(capsys, *dry, "--format", "json", "--max-calls", "3")
    page = json.loads(out)
    assert page["plan"]["to_ask"] == 24 and page["plan"]["enough"] is False and page["labelled"] is None
    assert (len(server.asked()), sorted(folder.iterdir())) == (before, there)
    priced = ("--prompt-price", "2", "--completion-price", "8", "--max-tokens", "100")
    page = json.loads(leadline(capsys, *dry, "--format", "json", *priced)[1])
    # 24 calls of at most 100 tokens at 8 a million, and the prompts at 2.
    assert page["plan"]["money"] == pytest.approx((page["plan"]["prompt_tokens"] * 2 + 2400 * 8) / 1e6)


def test_the_budget_leaves_pairs_and_says_so(capsys: pytest.CaptureFixture[str], server: Judging) -> None:
    code, out, _ = leadline(capsys, *live(server, "--book", "j.db", "--max-calls", "5", "--seed", "7"))
    assert code == 5 and "left: 19 pairs: the budget of 5 calls is used up" in out
    assert len(in_book()) == 5
    code, out, err = leadline(capsys, *live(server, "--book", "j.db", "--seed", "7"))
    assert code == 0 and "plan: 19 calls to ask" in err and len(in_book()) == 24


def prompt_of_a_call(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> int:
    """The tokens at which the prompt of one call is taken before any reply, as the plan says."""
    page = json.loads(leadline(capsys, *words, "--dry-run", "--format", "json")[1])
    assert page["plan"]["to_ask"] == 24
    return round(page["plan"]["prompt_tokens"] / 24)


def test_a_budget_of_tokens_stops_it_and_says_so(capsys: pytest.CaptureFixture[str], server: Judging) -> None:
    words = live(server, "--book", "j.db", "--seed", "8", "--concurrency", "1", "--max-tokens", "50")
    # The server counts 10 + 5 tokens a call. Before each its prompt is taken for more, by its bytes, and its reply for 50: the
    # eleventh fits where 10 · 15 and that do; one token more or less is what the texts differ by.
    budget = 10 * 15 + prompt_of_a_call(capsys, words) + 50
    code, out, err = leadline(capsys, *words, "--max-tokens-total", str(budget))
    calls = len(in_book())
    assert code == 5 and calls in (10, 11, 12) and f"{budget} allowed" in err
    said = f"left: {24 - calls} pairs: the next call might exceed the budget of {budget} tokens"
    assert said in out and f"asked: {calls} requests, {10 * calls} + {5 * calls} tokens" in out
    # What is left is asked with more, and no call is made twice.
    before = len(server.asked())
    code, out, _ = leadline(capsys, *words, "--max-tokens-total", "100000")
    assert code == 0 and len(server.asked()) - before == 24 - calls and len(in_book()) == 24


def test_a_budget_of_money_stops_it_and_says_so(capsys: pytest.CaptureFixture[str], server: Judging) -> None:
    words = live(server, "--book", "j.db", "--seed", "9", "--concurrency", "1", "--max-tokens", "50")
    prices = ("--prompt-price", "100", "--completion-price", "200")
    # 10 tokens at 100 a million and 5 at 200 are 2 thousandths a call.
    budget = f"{10 * 0.002 + prompt_of_a_call(capsys, words) * 1e-4 + 50 * 2e-4:.4f}"
    code, out, err = leadline(capsys, *words, *prices, "--max-money", budget, "--format", "json")
    page = json.loads(out)
    calls = page["spent"]["calls"]
    assert code == 5 and calls in (10, 11, 12) and page["left"] == 24 - calls
    assert f"{float(budget):g} allowed" in err
    assert page["stopped"] == f"the next call might exceed the budget of {float(budget):g} in money"
    assert page["spent"]["money"] == pytest.approx(0.002 * calls) and len(in_book()) == calls
    code, out, _ = leadline(capsys, *words, *prices, "--max-money", "0")
    said = f"left: {24 - calls} pairs: the next call might exceed the budget of 0 in money"
    assert code == 5 and said in out and "asked: 0 requests, 0 + 0 tokens, 0 by the prices given" in out


def on_a_terminal(command: list[str], environment: dict[str, str]) -> tuple[int, str, str]:
    """The exit code, standard output and what a terminal at standard error was sent."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=theirs, text=True
    ) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:
                # Linux: the other end is closed.
                break
            if not part:
                break
            seen += part
        assert process.stdout
        out = process.stdout.read()
    os.close(ours)
    return process.returncode, out, seen.decode()


def test_a_bar_is_drawn_on_a_terminal_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "server").mkdir()
    with judging(tmp_path / "server", 0.03) as server:
        source = str(Path(__file__).parents[2] / "src")
        environment = {**os.environ, "PYTHONPATH": source, "TERM": "xterm", "COLUMNS": "100"}
        for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
            environment.pop(name, None)
        command = [sys.executable, "-m", "leadline", "autojudge", *live(server, "--concurrency", "1")]
        # Without a cache, so that each is asked anew.
        code, out, seen = on_a_terminal([*command, "--cache", "1.db"], environment)
        assert code == 0 and "labelled: 24 of 24 pairs" in out and "asking" not in out
        assert "plan: 24 calls to ask" in seen and "asking" in seen
        # It counts calls, and ends with all of them.
        counts = [int(number) for number in re.findall(r"(\d+)/24", seen)]
        assert counts == sorted(counts) and counts[-1] == 24 and len(set(counts)) > 2
        code, out, seen = on_a_terminal([*command, "--cache", "2.db", "--quiet"], environment)
        assert (code, seen) == (0, "") and "labelled: 24 of 24 pairs" in out
        piped = subprocess.run(
            [*command, "--cache", "3.db"], env=environment, capture_output=True, text=True, check=True
        )
        assert "plan: 24 calls to ask" in piped.stderr and "\x1b" not in piped.stderr + piped.stdout
        assert "asking" not in piped.stderr and "/24" not in piped.stderr


def test_errors_are_counted_and_listed(capsys: pytest.CaptureFixture[str], server: Judging) -> None:
    lines("docs.jsonl", [{"id": f"d0{d}", "text": text_of(f"d0{d}") if d else ""} for d in range(DOCS)])
    lines("queries.jsonl", [{"query_id": "q0", "text": "how"}, {"query_id": "q1", "text": "who"}])
    code, out, _ = leadline(capsys, *live(server, "--book", "j.db"))
    assert code == 5 and "labelled: 5 of 24 pairs" in out and "errors: 19 pairs without a label" in out
    assert "empty: 1," in out and "no-document: 6," in out and "no-query: 12," in out
    assert "- q0 d00: empty" in out and "and 9 more" in out
    assert "! 2 queries without a stated need" in out
    page = json.loads(leadline(capsys, *live(server, "--book", "j.db", "--format", "json"))[1])
    assert page["errors"] == {"empty": 1, "no-document": 6, "no-query": 12}
    assert len(page["failed"]) == 19 and page["already"] == 5


def test_a_replay_needs_no_server(capsys: pytest.CaptureFixture[str], server: Judging) -> None:
    assert leadline(capsys, *live(server, "--write", "m.txt", "--cache", "c.db"))[0] == 0
    with Cache.open("c.db") as cache:
        assert record(cache, "replies.jsonl") == 24
    before = len(server.asked())
    code, out, _ = leadline(
        capsys, *FILES, "--replay", "replies.jsonl", "--write", "again.txt", "--format", "json"
    )
    page = json.loads(out)
    assert code == 0 and Path("again.txt").read_text() == Path("m.txt").read_text()
    card = read_card("m.txt")
    assert card is not None and card.judge is not None and page["judge_id"] == card.judge.id
    assert len(server.asked()) == before
    code, out, _ = leadline(capsys, *FILES, "--replay", "replies.jsonl", "--max-chars", "3")
    assert code == 5 and "no-reply: 24" in out and "kept nowhere" in out


def test_a_long_text_is_cut_and_said(capsys: pytest.CaptureFixture[str], server: Judging) -> None:
    code, out, _ = leadline(capsys, *live(server, "--book", "j.db", "--max-chars", "12"))
    # "text of d00 " has 12 characters; each next document one more.
    assert code == 0 and "! 20 labels made from the beginning of a text only" in out
    notes = {row.doc_id: row.note for row in in_book()}
    assert (notes["d00"], notes["d13"]) == ("", "the first 12 of 15 characters")


def test_the_prompt_can_be_seen(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, out, _ = leadline(capsys, *FILES, "--show-prompt")
    assert code == 0 and out.startswith("prompt relevance 1, hash ")
    assert '"how 0"' in out and '"all of it"' in out and "text of d0" in out and "--- system" in out
    (folder / "mine.md").write_text("---\nname: mine\n")
    code, _, err = leadline(capsys, *FILES, "--show-prompt", "--prompt", "mine.md")
    assert code == 2 and "mine.md: line 1: a prompt file begins with" in err


def test_probes(capsys: pytest.CaptureFixture[str], server: Judging) -> None:
    code, out, err = leadline(capsys, "--probe", "--model", "m", "--endpoint", server.url)
    # This judge grades by the length of a line: it knows nothing of what is planted, and is moved by chance.
    assert code == 0 and "plan: 16 calls to ask" in err and "of 14 moved the grade" in out
    page = json.loads(leadline(capsys, *live(server, "--probe", "--format", "json"))[1])
    assert page["probes"]["count"] == 14 and page["labelled"] is None
    assert {row["query_id"] for row in page["probes"]["rows"]} == {"q0", "q1"}
    assert page["probes"]["moved"] == sum(row["moved"] for row in page["probes"]["rows"])
    assert not Path("j.db").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name the pairs to judge"),
        (("to-judge.jsonl",), "--documents FILE"),
        (FILES, "name the judge: --model NAME --endpoint URL"),
        ((*FILES, "--model", "m"), "name the judge"),
        ((*FILES, "--endpoint", "http://x/v1"), "name the judge"),
        ((*FILES, "--model", "m", "--endpoint", "http://user:secret@x/v1"), "no name, password or key"),
        ((*FILES, "--replay", "r", "--endpoint", "http://x/v1"), "name one of them"),
        ((*FILES, "--replay", "none.jsonl"), "none.jsonl: cannot be read"),
        *(
            (
                (*FILES, "--replay", "r", *said),
                f"{said[0]} would be sent to a server, and --replay sends nothing",
            )
            for said in (
                ("--temperature", "0"),
                ("--max-tokens", "9"),
                ("--seed", "0"),
                ("--param", "top_p=1"),
                ("--no-schema",),
                ("--timeout", "5"),
            )
        ),
        ((*FILES, "--probe", "--batch", "2"), "--probe asks about one passage a call: leave --batch away"),
        (("--probe", "--documents", "docs.jsonl"), "--documents goes with the pairs to judge"),
        (("--probe", "--queries", "queries.jsonl"), "--queries goes with the pairs to judge"),
        ((*FILES, "--book", "a", "--write", "b.txt"), "name one of them"),
        ((*FILES, "--write", "b.xyz"), "b.xyz"),
        ((*FILES, "--probe", "--book", "a"), "--probe makes no labels"),
        ((*FILES, "--format", "csv"), "--format 'csv' is not one of table, json"),
        ((*FILES, "--prompt", "none.md"), "none.md: cannot be read"),
        ((*FILES, "--grades", "0-1"), "the prompt relevance 1 has the grades 0, 1, 2, 3"),
        ((*FILES, "--model", "m", "--endpoint", "http://x/v1", "--param", "top_p"), "expected NAME=JSON"),
        (
            (*FILES, "--model", "m", "--endpoint", "http://x/v1", "--param", "model=n"),
            "set by the call itself",
        ),
        ((*FILES, "--model", "m", "--endpoint", "http://x/v1", "--max-money", "1"), "needs the prices"),
    ],
)
def test_wrong_use_is_one_clear_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str, folder: Path
) -> None:
    code, out, err = leadline(capsys, *arguments)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1 and "secret" not in err
    assert not (folder / "a").exists()


def test_a_key_comes_from_the_environment_and_is_nowhere_else(
    capsys: pytest.CaptureFixture[str], server: Judging, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_API_KEY", "sk-very-secret-key")
    code, out, err = leadline(capsys, *live(server, "--book", "j.db", "--format", "json"))
    assert code == 0 and "very-secret" not in out + err
    for path in folder.iterdir():
        assert b"very-secret" not in path.read_bytes(), path


def test_an_unreachable_endpoint_is_an_error_of_the_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = leadline(
        capsys, *FILES, "--model", "m", "--endpoint", "http://127.0.0.1:9/v1", "--max-calls", "2", "--timeout", "5"
    )  # fmt: skip
    assert code == 5 and "labelled: 0 of 24 pairs" in out


KILLS = 4


def test_killed_at_any_moment_nothing_is_paid_twice(tmp_path: Path) -> None:
    """SIGKILL while calls are on their way, and the same command again, until it ends: every call is billed once."""
    (tmp_path / "server").mkdir()
    with judging(tmp_path / "server", 0.05) as server:
        command = [
            sys.executable,
            "-m",
            "leadline",
            "autojudge",
            *live(server, "--book", "j.db", "--concurrency", "2"),
        ]
        source = str(Path(__file__).parents[2] / "src")
        environment = {**os.environ, "PYTHONPATH": source}
        killed = 0
        for kill in range(KILLS):
            process = subprocess.Popen(
                command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            # At least one further request is out before each kill; no clock decides what is tested.
            wanted = len(server.asked()) + 2 + kill
            while len(server.asked()) < wanted and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
        assert killed == KILLS and len(server.paid()) < 24
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert set(Counter(server.paid()).values()) == {1} and len(server.paid()) == 24
        # Only what was on its way at a kill was asked for twice: at most two calls each time.
        assert len(server.asked()) - 24 <= 2 * KILLS
        rows = in_book()
        assert len(rows) == len({(row.query_id, row.doc_id) for row in rows}) == 24
        assert {row.doc_id: row.grade for row in rows} == {row.doc_id: grade_of(row.doc_id) for row in rows}


def test_killed_after_the_last_reply_nothing_is_asked_again(
    capsys: pytest.CaptureFixture[str], server: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moment between the last reply and the book: all is in the cache, and no row is in the book."""

    def stop(*_: object) -> int:
        raise KeyboardInterrupt

    command = live(server, "--book", "j.db", "--temperature", "0.5")
    with monkeypatch.context() as patch:
        patch.setattr(Book, "add", stop)
        assert leadline(capsys, *command)[0] == 130
    assert in_book() == []
    before = len(server.asked())
    code, out, err = leadline(capsys, *command)
    assert code == 0 and "plan: 0 calls to ask; 24 in the cache" in err
    assert (len(server.asked()), len(in_book())) == (before, 24)
    assert "0 requests" in out and "24 answers from the cache" in out


PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json-autojudge.md"


def test_the_page_names_exactly_the_fields(capsys: pytest.CaptureFixture[str], server: Judging) -> None:
    Path("docs.jsonl").write_text(Path("docs.jsonl").read_text().replace(text_of("d00"), ""))
    book = json.loads(leadline(capsys, *live(server, "--book", "j.db", "--format", "json"))[1])
    file = json.loads(leadline(capsys, *live(server, "--write", "m.txt", "--format", "json"))[1])
    probes = json.loads(leadline(capsys, *live(server, "--probe", "--format", "json"))[1])["probes"]
    said, errors = PAGE.read_text(encoding="utf-8").split("## Errors of pairs")
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \|$", said, re.MULTILINE)
    assert [name for name, _ in rows] == list(book) == list(file)
    told = {name: re.findall(r"`([\w-]+)`", words) for name, words in rows}
    for name in ("judge", "plan", "calls", "spent"):
        assert told[name] == list(book[name]), name
    assert told["failed"] == list(book["failed"][0])
    assert told["foreign"] == ["call", "id"]
    assert told["written"] == ["--book", *book["written"], "--write", *file["written"]]
    assert told["probes"] == [*probes, *probes["rows"][0]]
    assert re.findall(r"^\| `([\w-]+)` \|", errors, re.MULTILINE) == list(ERRORS)

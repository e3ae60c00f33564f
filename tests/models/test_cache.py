"""The file of replies: whole or an error, for several processes, and without a secret."""

import logging
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import InputError
from leadline.models.batch import answers_of
from leadline.models.cache import Cache, interrupted_note
from leadline.models.call import Call, Message, Reply, key_of
from leadline.models.endpoint import Endpoint
from leadline.models.plan import plan_of
from leadline.models.replay import record
from leadline.models.stub import Stub
from models.server import Say, chat, head, serving

CALL = Call("a", (Message("user", "well?"),))


def test_the_key_is_model_prompt_and_all_that_is_sent() -> None:
    """Another model, prompt, parameter, schema or parser is another reply; another name of the call is not."""
    base = Stub("", "m", "http://h", {"temperature": 0})
    first = key_of(base, CALL)
    assert key_of(base, replace(CALL, name="b")) == first
    others = [
        key_of(replace(base, name="m2"), CALL),
        key_of(replace(base, endpoint="http://h2"), CALL),
        key_of(replace(base, parameters={"temperature": 1}), CALL),
        key_of(base, replace(CALL, messages=(Message("system", "well?"),))),
        key_of(base, replace(CALL, messages=(Message("user", "well"),))),
        key_of(base, replace(CALL, messages=(*CALL.messages, Message("user", "")))),
        key_of(base, replace(CALL, schema={"type": "object"})),
        key_of(base, replace(CALL, parser="2")),
    ]
    assert len({first, *others}) == 9


TEXTS = st.text(alphabet=st.characters(exclude_categories=()))
"""Also half characters, which JSON can hold and UTF-8 cannot."""


@given(TEXTS, st.none() | st.integers(0, 2**39))
def test_a_reply_comes_back_as_it_was(text: str, tokens: int | None) -> None:
    reply = Reply(text, "m", "stop", tokens, None)
    with Cache.open(":memory:") as cache:
        key = key_of(Stub(), CALL)
        assert cache.get(key) is None
        assert cache.put(key, Stub(), Call("a", (Message("user", text),)), reply) == reply
        assert cache.get(key) == reply


def test_what_is_stored_stands(tmp_path: Path) -> None:
    with Cache.open(tmp_path / "r.db") as cache:
        cache.put("k", Stub(), CALL, Reply("first"))
        assert cache.put("k", Stub(), CALL, Reply("second")) == Reply("first")
    with Cache.open(tmp_path / "r.db") as cache:
        assert cache.get("k") == Reply("first") and cache.count() == 1


def test_how_it_is_written(tmp_path: Path) -> None:
    with Cache.open(tmp_path / "r.db") as cache:
        assert cache._sql.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        # 2 is FULL: a commit has reached the disk.
        assert cache._sql.execute("PRAGMA synchronous").fetchone() == (2,)


def damaged(path: Path) -> None:
    with Cache.open(path) as cache:
        for number in range(300):
            cache.put(f"{number:064}", Stub(), CALL, Reply("x" * 200))
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * 40_000 + whole[44_096:])


def test_what_is_no_cache_is_one_clear_error(tmp_path: Path) -> None:
    place = tmp_path / "r.db"
    place.write_text("query_id 0 doc_id 1\n" * 100)
    with pytest.raises(InputError, match=r"r\.db: cannot be used as a cache of replies"):
        Cache.open(place)
    foreign = tmp_path / "foreign.db"
    with closing(sqlite3.connect(foreign)) as sql:
        sql.execute("CREATE TABLE replies (key TEXT)")
    before = foreign.read_bytes()
    with pytest.raises(InputError, match=r"foreign\.db: a database of another program"):
        Cache.open(foreign)
    # It was looked at, and not touched.
    assert foreign.read_bytes() == before
    later = tmp_path / "later.db"
    Cache.open(later).close()
    with closing(sqlite3.connect(later)) as sql:
        sql.execute("PRAGMA user_version = 9")
    with pytest.raises(InputError, match="a cache of version 9; this Leadline reads 1"):
        Cache.open(later)
    for wrong in (tmp_path, tmp_path / "no" / "folder.db"):
        with pytest.raises(InputError, match="cannot be used"):
            Cache.open(wrong)


def test_a_damaged_cache_is_one_clear_error(tmp_path: Path) -> None:
    place = tmp_path / "r.db"
    damaged(place)
    with pytest.raises(InputError, match=r"r\.db: "), Cache.open(place) as cache:
        for number in range(300):
            cache.get(f"{number:064}")
    rows = tmp_path / "rows.db"
    with Cache.open(rows) as cache:
        cache.put("k", Stub(), CALL, Reply("x"))
        for text in ("{", "[]", '{"text": "x", "colour": 1}'):
            cache._sql.execute("UPDATE replies SET reply = ?", (text,))
            with pytest.raises(InputError, match="damaged"):
                cache.get("k")


def test_an_empty_file_becomes_a_cache(tmp_path: Path) -> None:
    (tmp_path / "r.db").touch()
    with Cache.open(tmp_path / "r.db") as cache:
        assert cache.count() == 0


def test_what_is_on_its_way(tmp_path: Path) -> None:
    with Cache.open(tmp_path / "r.db") as cache, Cache.open(tmp_path / "r.db") as other:
        first, second = cache.sending("one"), cache.sending("two")
        # Whoever sent them is at work, in this process or elsewhere.
        assert cache.interrupted() == other.interrupted() == 0
        cache.given_up(first)
        assert other.interrupted() == other.interrupted(["one"]) == 1 and other.interrupted(["two"]) == 0
        cache.back(second)
        other.put("one", Stub(), CALL, Reply("x"))
        assert cache.interrupted() == 0
        assert cache._sql.execute("SELECT count(*) FROM sent").fetchone() == (0,)
        other.sending("three")
    with Cache.open(tmp_path / "r.db") as cache:
        # Closed while it was on its way: nobody waits for it.
        assert cache.interrupted() == 1
    assert interrupted_note(2) == (
        "2 calls were on their way when the work was stopped; their replies may have been paid for, and are asked again "
        "(a server that honours Idempotency-Key bills them once)"
    )


def test_a_request_of_a_dead_process_is_known(tmp_path: Path) -> None:
    code = (
        "import os, sys; from leadline.models.cache import Cache\n"
        "cache = Cache.open(sys.argv[1]); cache.sending('one'); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "r.db")], check=False)
    with Cache.open(tmp_path / "r.db") as cache:
        assert cache.interrupted() == 1
        assert plan_of(Stub(), [CALL], cache=cache).interrupted == 0


def test_several_writers_at_once(tmp_path: Path) -> None:
    """Four processes open the same new file and write the same 100 keys."""
    code = (
        "import sys; from leadline.models.cache import Cache; from leadline.models.call import Call, Reply\n"
        "from leadline.models.stub import Stub\n"
        "with Cache.open(sys.argv[1]) as cache:\n"
        "    for i in range(100):\n"
        "        sent = cache.sending(str(i)); cache.put(str(i), Stub(), Call('a', ()), Reply(sys.argv[2]), sent)\n"
    )

    def writer(name: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, str(tmp_path / "r.db"), name]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(writer, "abcd"))
    assert [one.stderr for one in done] == [""] * 4
    with Cache.open(tmp_path / "r.db") as cache:
        assert (cache.count(), cache.interrupted()) == (100, 0)


def test_no_key_in_any_byte_that_is_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The file, its log, a recording, the errors, the objects, and all that is logged down to the finest level."""
    secrets = ["sk-first-0123456789abcdef", "sk-second-0123456789abcdef"]
    monkeypatch.setenv("LEADLINE_API_KEY", secrets[0])
    monkeypatch.setenv("OPENAI_API_KEY", secrets[1])
    caplog.set_level(logging.DEBUG)
    calls = [Call(str(i), (Message("user", f"call {i}"),)) for i in range(12)]

    def echo(seen: object, times: int) -> Say:
        told = f"{head(seen, 'Authorization')} {secrets[1]}"  # type: ignore[arg-type]
        if len(server.seen) % 3 == 0:
            return Say({"error": {"message": told}}, 400)
        return Say(chat(told, finish=told, model=told))

    with serving(echo) as server, Cache.open(tmp_path / "r.db") as cache:
        model = Endpoint("small", f"{server.url}/v1?token=sesame-of-the-gateway")
        found = answers_of(model, calls, cache=cache)
        assert {one.state for one in found.answers} == {"answered", "failed"}
        assert head(server.seen[0], "Authorization") == f"Bearer {secrets[0]}"
        record(cache, tmp_path / "replies.jsonl")
        # The write-ahead log is there as long as the file is open.
        written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert (tmp_path / "r.db-wal").exists() and b"call 1" not in written
    written += b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert not [secret for secret in secrets if secret in repr(vars(model))]
    assert "HTTP Request: POST" in caplog.text
    said = f"{found!r} {model!r} {caplog.text} {capfd.readouterr()} {plan_of(model, calls)!r}"
    for secret in (*secrets, "Bearer sk-", "sesame"):
        assert secret.encode() not in written
        assert secret not in said
    assert b"Bearer ***" in written

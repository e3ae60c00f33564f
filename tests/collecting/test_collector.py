"""Asking a real server on this machine: every query once, failures told apart, nothing lost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from collecting.server import Say, Seen, Server, docs, hits, serving
from leadline.collecting.asking import FunctionTarget, Query
from leadline.collecting.client import Patience
from leadline.collecting.collector import Account, Plan, ask_all
from leadline.collecting.engines import Wish, engine_target
from leadline.collecting.journal import Journal, Row
from leadline.collecting.target import HttpTarget, simple_target
from leadline.errors import InputError, UsageError

QUICK = Patience(timeout=20, retries=2, first_wait=0.01, longest_wait=0.5)
QUERIES = [Query(f"q{at}", f"question {at}") for at in range(6)]


def collected(
    target: object,
    folder: Path,
    queries: list[Query] = QUERIES,
    workers: int = 3,
    stop_after: int = 0,
    patience: Patience = QUICK,
) -> tuple[Account, dict[str, Row]]:
    with Journal(folder / "rows.part", target, 10) as journal:  # type: ignore[arg-type]
        account = ask_all(target, queries, Plan(10, workers, patience, stop_after), journal)  # type: ignore[arg-type]
        return account, dict(journal.rows)


def text_of(seen: Seen) -> str:
    return str(
        seen.body.get("query")
        if isinstance(seen.body["query"], str)
        else seen.body["query"]["multi_match"]["query"]
    )


def listed(seen: Seen, times: int) -> Say:
    return Say({"ids": [f"{text_of(seen)}/a", f"{text_of(seen)}/b"]})


def test_every_query_is_asked_once(tmp_path: Path) -> None:
    with serving(listed) as server:
        account, rows = collected(simple_target(server.url, {}, {}), tmp_path)
    assert sorted(text_of(seen) for seen in server.seen) == sorted(query.text for query in QUERIES)
    assert all(seen.body["k"] == 10 for seen in server.seen)
    assert (account.answered, account.empty, account.failed, account.requests) == (6, 0, 0, 6)
    # Each answer stands with its own query, whoever was first.
    assert all(rows[query.query_id]["retrieved_ids"][0] == f"{query.text}/a" for query in QUERIES)
    assert account.latency_ms is not None and account.latency_ms["p50"] > 0


def test_never_more_at_a_time_than_allowed(tmp_path: Path) -> None:
    def slow(seen: Seen, times: int) -> Say:
        return Say({"ids": []}, wait=0.05)

    with serving(slow) as server:
        account, _ = collected(simple_target(server.url, {}, {}), tmp_path, workers=2)
    assert server.most_at_once == 2
    assert (account.answered, account.empty) == (0, 6)


def by_number(**say: Say) -> Callable[[Seen, int], Say]:
    """The queries named fail as said; all others are answered."""

    def answer(seen: Seen, times: int) -> Say:
        name = "q" + text_of(seen).rpartition(" ")[2]
        return say.get(name) or listed(seen, times)

    return answer


def test_failures_are_told_apart_from_empty_answers(tmp_path: Path) -> None:
    answer = by_number(
        q0=Say({"ids": []}),
        q1=Say({"message": "overloaded"}, 503),
        q2=Say({"message": "no such index"}, 404),
        q3=Say(b'{"ids": ["a"'),
        q4=Say({"items": []}),
    )
    with serving(answer) as server:
        account, rows = collected(simple_target(server.url, {}, {}), tmp_path)
    assert (account.answered, account.empty, account.failed) == (1, 1, 4)
    assert account.failures == {"HTTP 404": 1, "HTTP 503": 1, "broken JSON": 1, "unusable answer": 1}
    # 503 may pass: three requests. What cannot pass is asked once.
    assert {name: row["attempts"] for name, row in rows.items()} == {
        "q0": 1,
        "q1": 3,
        "q2": 1,
        "q3": 1,
        "q4": 1,
        "q5": 1,
    }
    assert rows["q1"]["error"] == 'HTTP 503: {"message": "overloaded"} (3 requests)'
    assert account.requests == len(server.seen) == 8
    assert "retrieved_ids" not in rows["q1"] and rows["q0"]["retrieved_ids"] == []


@pytest.mark.parametrize(
    ("say", "kind"),
    [
        (Say({"ids": []}, reset=True), "connection"),
        (Say({"ids": ["a", "b", "c"]}, cut=True), "connection"),
        (Say({"ids": ["a"] * 20}, chunked=True, cut=True), "connection"),
        (Say({"ids": []}, wait=3), "time-out"),
        # A byte every 50 ms: no single read is slow, the whole answer is.
        (Say({"ids": ["a" * 60]}, drip=0.05), "time-out"),
    ],
    ids=["reset", "cut short", "cut between chunks", "slow", "dripping"],
)
def test_connections_that_break(tmp_path: Path, say: Say, kind: str) -> None:
    with serving(by_number(q0=say)) as server:
        patience = Patience(timeout=1, retries=1, first_wait=0.01)
        account, rows = collected(simple_target(server.url, {}, {}), tmp_path, QUERIES[:2], patience=patience)
    assert account.failures == {kind: 1}
    assert rows["q0"]["attempts"] == 2 and account.answered == 1


def test_an_answer_in_chunks(tmp_path: Path) -> None:
    with serving(lambda seen, times: Say({"ids": ["a", "b"]}, chunked=True)) as server:
        account, rows = collected(simple_target(server.url, {}, {}), tmp_path)
    assert (account.answered, account.requests) == (6, 6) and rows["q3"]["retrieved_ids"] == ["a", "b"]


def test_a_connection_that_the_server_closes_after_each_answer(tmp_path: Path) -> None:
    def answer(seen: Seen, times: int) -> Say:
        said = listed(seen, times)
        said.headers["Connection"] = "close"
        return said

    with serving(answer) as server:
        account, rows = collected(simple_target(server.url, {}, {}), tmp_path, workers=1)
    assert (account.answered, account.requests) == (6, 6) and all(
        row["attempts"] == 1 for row in rows.values()
    )


def test_what_fails_once_is_asked_again(tmp_path: Path) -> None:
    def answer(seen: Seen, times: int) -> Say:
        return listed(seen, times) if times > 1 else Say({}, 500)

    with serving(answer) as server:
        account, rows = collected(simple_target(server.url, {}, {}), tmp_path)
    assert (account.answered, account.failed, account.requests) == (6, 0, 12)
    assert all(row["attempts"] == 2 for row in rows.values())


def test_retry_after_is_kept_and_an_endless_one_is_not_waited_for(tmp_path: Path) -> None:
    def answer(seen: Seen, times: int) -> Say:
        if text_of(seen).endswith("0"):
            return Say({}, 429, {"Retry-After": "3600"})
        return listed(seen, times) if times > 1 else Say({}, 429, {"Retry-After": "0"})

    with serving(answer) as server:
        account, rows = collected(simple_target(server.url, {}, {}), tmp_path)
    assert (account.answered, account.failures) == (5, {"HTTP 429": 1})
    assert rows["q0"]["attempts"] == 1 and "asks to wait 3600 s" in rows["q0"]["error"]


def test_a_redirect_is_not_followed_with_the_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTH", "Bearer s3cret-token")
    with (
        serving(listed) as other,
        serving(lambda s, t: Say({}, 302, {"Location": other.url + "/x"})) as server,
    ):
        account, rows = collected(
            simple_target(server.url, {"Authorization": "AUTH"}, {}), tmp_path, QUERIES[:1]
        )
    assert other.seen == [] and account.failures == {"HTTP 302": 1}
    assert "redirects to" in rows["q0"]["error"]


def test_secrets_are_sent_and_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTH", "Bearer s3cret-token")

    def answer(seen: Seen, times: int) -> Say:
        echoed = {"ids": ["a"], "answer": f"you said {seen.headers['Authorization']}"}
        return Say(echoed, 401 if text_of(seen).endswith("0") else 200)

    with serving(answer) as server:
        collected(simple_target(server.url, {"Authorization": "AUTH"}, {}), tmp_path)
    assert all(seen.headers["Authorization"] == "Bearer s3cret-token" for seen in server.seen)
    written = (tmp_path / "rows.part").read_text()
    assert "s3cret" not in written and '"you said ***"' in written and "HTTP 401" in written


def engine(name: str, server: Server) -> HttpTarget:
    return engine_target(name, f"{server.url}/docs", Wish(["title"], "body"))


@pytest.mark.parametrize("name", ["elasticsearch", "opensearch", "solr"])
def test_the_engines(tmp_path: Path, name: str) -> None:
    make = docs if name == "solr" else hits

    def answer(seen: Seen, times: int) -> Say:
        if text_of(seen).endswith("0"):
            return Say(
                docs(("a", 2.0), partialResults=True) if name == "solr" else hits(("a", 2.0), timed_out=True)
            )
        return Say(make(("a", 2.0), ("b", 1.0)))

    with serving(answer) as server:
        account, rows = collected(engine(name, server), tmp_path)
    assert (account.answered, account.failures) == (5, {"partial answer": 1})
    assert rows["q1"]["retrieved_ids"] == ["a", "b"] and rows["q1"]["scores"] == [2.0, 1.0]
    assert rows["q1"]["retrieved_texts"] == ["text of a", "text of b"]


def test_a_server_that_is_down_is_not_asked_on_and_on(tmp_path: Path) -> None:
    with serving(lambda seen, times: Say({}, 404)) as server:
        account, _ = collected(simple_target(server.url, {}, {}), tmp_path, workers=1, stop_after=3)
    assert (account.failed, account.not_asked) == (3, 3)
    assert len(server.seen) <= 5


def test_answered_queries_are_not_asked_again_and_failed_ones_are(tmp_path: Path) -> None:
    target = []

    def answer(seen: Seen, times: int) -> Say:
        return Say({}, 404) if text_of(seen).endswith("0") and times == 1 else listed(seen, times)

    with serving(answer) as server:
        target = simple_target(server.url, {}, {})
        first, _ = collected(target, tmp_path)
        second, rows = collected(target, tmp_path)
        asked = [text_of(seen) for seen in server.seen]
        with pytest.raises(InputError, match="another target, map or k"):
            Journal(tmp_path / "rows.part", target, 11)
    assert (first.failed, second.failed, second.kept, second.requests) == (1, 0, 5, 1)
    assert len(asked) == 7 and asked[6] == "question 0"
    assert "error" not in rows["q0"]


def test_where_nothing_was_answered_another_target_begins_anew(tmp_path: Path) -> None:
    with serving(lambda seen, times: Say({}, 404)) as wrong:
        collected(simple_target(wrong.url, {}, {}), tmp_path)
    with serving(listed) as server:
        account, rows = collected(simple_target(server.url, {}, {}), tmp_path)
    assert (account.kept, account.answered, len(rows)) == (0, 6, 6)
    assert (tmp_path / "rows.part").read_bytes().count(b"\n") == 7


def test_a_line_cut_short_by_a_kill_is_asked_again(tmp_path: Path) -> None:
    with serving(listed) as server:
        target = simple_target(server.url, {}, {})
        collected(target, tmp_path, workers=1)
        place = tmp_path / "rows.part"
        whole = place.read_bytes()
        place.write_bytes(whole[:-5])
        account, rows = collected(target, tmp_path)
        # A long line that was cut short leaves nothing behind either.
        with place.open("ab") as file:
            file.write(b'{"query_id": "q0", "retrieved_ids": ["' + b"x" * 5000)
        assert collected(target, tmp_path)[0].kept == 6
        assert place.read_bytes().endswith(b"}\n")
    assert (account.kept, account.requests, len(rows)) == (5, 1, 6)
    assert sorted(place.read_bytes().splitlines()[1:])[0].startswith(b'{"query_id": "q0"')


def test_two_collections_do_not_write_one_journal(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="there is no such lock on Windows")
    target = HttpTarget("http://localhost/s")
    with Journal(tmp_path / "rows.part", target, 5) as first:
        first.add({"query_id": "a", "retrieved_ids": []})
        with pytest.raises(UsageError, match="another collection is writing it"):
            Journal(tmp_path / "rows.part", target, 5)
        first.add({"query_id": "b", "retrieved_ids": []})
    with Journal(tmp_path / "rows.part", target, 5) as later:
        assert list(later.rows) == ["a", "b"]


def test_what_a_header_of_the_answer_tells(tmp_path: Path) -> None:
    def answer(seen: Seen, times: int) -> Say:
        return Say({"r": ["a"]}, headers={"X-Request-Id": "abc-1", "X-Took": "12.5"})

    where = {
        "ids": "r",
        "trace_id": "header:x-request-id",
        "system_latency_ms": "header:X-Took",
        "answer": "text",
    }
    with serving(answer) as server:
        account, rows = collected(simple_target(server.url, {}, where), tmp_path)
    assert rows["q0"]["trace_id"] == "abc-1" and rows["q0"]["system_latency_ms"] == 12.5
    # A path that no answer has anything at is likely mistyped.
    assert account.never == ("answer",)


def test_a_function(tmp_path: Path) -> None:
    def search(text: str, k: int) -> list[tuple[str, float]]:
        if text.endswith("0"):
            raise KeyError("gone")
        return [("a", 2.0), ("b", float(k))]

    account, rows = collected(FunctionTarget("m:search", search), tmp_path, workers=1)
    assert (account.answered, account.failures) == (5, {"KeyError": 1})
    assert rows["q1"]["scores"] == [2.0, 10.0]
    # The scores rise down the list: said, since the order by score would be another.
    assert account.unsorted == 5

"""Many calls: order, once each, again where that helps, within the budget, and nothing lost where work is stopped."""

import asyncio
import itertools
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.models.batch import STOP_AFTER, Lanes, Patience, answers_of, ask_all
from leadline.models.cache import Cache
from leadline.models.call import Answers, Call, Limits, Message, Model, ModelError, Reply
from leadline.models.endpoint import Endpoint
from leadline.models.reading import ReadError, read_answer
from leadline.models.stub import Stub
from leadline.models.waiting import result_of
from models.server import Say, Seen, chat, counting, prompt, serving


def calls(count: int) -> list[Call]:
    return [Call(f"c{i}", (Message("user", f"call {i}"),)) for i in range(count)]


class Clock:
    """A clock that stands still but where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.naps: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    def patience(self, **more: Any) -> Patience:
        return Patience(sleep=self.sleep, clock=lambda: self.now, draw=lambda: 1.0, **more)


class Crowd:
    """A model that keeps count of how many calls are on their way."""

    name, endpoint, parameters = "crowd", "stub", {}

    def __init__(self, said: Callable[[int], Reply | ModelError] | None = None) -> None:
        self.said = said or (lambda number: Reply("yes", prompt_tokens=10, completion_tokens=5))
        self.away = self.asked = 0
        self.seen: list[int] = []

    async def ask(self, call: Call) -> Reply:
        self.away += 1
        self.asked += 1
        number = self.asked
        self.seen.append(self.away)
        try:
            await asyncio.sleep(0.001)
        finally:
            self.away -= 1
        said = self.said(number)
        if isinstance(said, ModelError):
            raise said
        return said


def states(found: Answers) -> list[str]:
    return [one.state for one in found.answers]


def quick(model: Model, asked: list[Call], **options: Any) -> Answers:
    return answers_of(model, asked, patience=options.pop("patience", Clock().patience()), **options)


def test_answers_come_in_the_order_asked() -> None:
    def slow_first(seen: Seen, times: int) -> Say:
        return Say(chat(prompt(seen)), wait=0.05 if prompt(seen) in ("call 1", "call 2") else 0)

    with serving(slow_first) as server:
        found = answers_of(Endpoint("small", server.url), calls(12))
        assert server.most_at_once > 1
    assert [one.reply.text for one in found.answers if one.reply] == [f"call {i}" for i in range(12)]
    assert [one.call.name for one in found.answers] == [f"c{i}" for i in range(12)]
    assert (found.spent.calls, found.spent.prompt_tokens, found.spent.completion_tokens) == (12, 120, 60)
    assert (found.stopped, found.interrupted) == ("", 0)


def test_one_call_goes_first_and_then_as_many_as_allowed() -> None:
    """A refused key costs one request, not eight."""
    model = Crowd()
    quick(model, calls(30), concurrency=4)
    assert model.seen[:2] == [1, 1] and max(model.seen) == 4
    assert quick(Crowd(), calls(5), concurrency=1).spent.calls == 5


def test_the_same_key_is_asked_once() -> None:
    same = [replace(calls(1)[0], name=name) for name in "abc"]
    model, told = Stub("yes"), []
    found = quick(model, [*same, *calls(1)], watch=lambda done, total: told.append((done, total)))
    assert len(model.asked) == 1
    assert [(one.state, one.cached, one.tries) for one in found.answers] == [
        ("answered", False, 1), ("answered", True, 0), ("answered", True, 0), ("answered", True, 0)
    ]  # fmt: skip
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    with pytest.raises(UsageError, match="two calls are named 'c0'"):
        quick(model, [*calls(1), *calls(1)])


def test_a_reply_is_in_the_cache_before_it_is_reported(tmp_path: Path) -> None:
    with Cache.open(tmp_path / "r.db") as cache, Cache.open(tmp_path / "r.db") as other:
        seen: list[tuple[int, int]] = []
        quick(
            Stub("yes"), calls(9), cache=cache, watch=lambda done, total: seen.append((done, other.count()))
        )
        assert all(done <= stored for done, stored in seen) and len(seen) == 9
        model = Stub("no")
        found = quick(model, calls(9), cache=cache)
        assert model.asked == [] and found.spent.calls == 0
        assert all(
            one.cached and one.tries == 0 and one.reply == Reply("yes", "stub", "stop")
            for one in found.answers
        )


def test_an_error_does_not_stick() -> None:
    """An error of one call is its own: the next two are answered."""
    stub = Stub([ModelError("odd"), "1.0", "1.0"])
    found = quick(stub, calls(3), concurrency=1)
    assert states(found) == ["failed", "answered", "answered"]
    assert [one.error for one in found.answers] == ["odd", None, None]
    assert quick(Stub("1.0"), calls(3)).answers[0].error is None


def test_again_with_growing_waits() -> None:
    clock = Clock()
    busy = ModelError("busy", again=True, status=503)
    found = quick(Stub([busy, busy, busy, "yes"]), calls(1), patience=clock.patience())
    assert (states(found), found.answers[0].tries, found.spent.calls) == (["answered"], 4, 4)
    # first·2^(n−1) with the largest draw: 0.5, 1 and 2 seconds.
    assert clock.naps == [0.5, 1.0, 2.0]
    clock = Clock()
    found = quick(Stub(lambda call: busy), calls(1), tries=3, patience=clock.patience(first=10, longest=15))
    assert states(found) == ["failed"] and found.answers[0].error == "busy (asked 3 times)"
    assert clock.naps == [10.0, 15.0]
    # The draw moves the wait between half and all of it.
    low = replace(Clock().patience(), draw=lambda: 0.0)
    assert quick(Stub([busy, "yes"]), calls(1), patience=low).answers[0].tries == 2


def test_a_server_that_says_wait_says_it_to_all() -> None:
    clock = Clock()
    when: list[float] = []

    def said(call: Call) -> str | ModelError:
        when.append(clock.now)
        return ModelError("slow down", again=True, wait=7.0, status=429) if len(when) == 2 else "yes"

    found = quick(Stub(said), calls(6), concurrency=1, patience=clock.patience())
    assert states(found) == ["answered"] * 6
    # Nothing is sent in the 7 seconds after the second request.
    assert when == [0.0, 0.0, 7.0, 7.0, 7.0, 7.0, 7.0]


def test_a_server_that_asks_for_hours_stops_the_batch() -> None:
    busy = ModelError("HTTP 429", again=True, wait=3600.0, status=429)
    found = quick(Stub(lambda call: busy), calls(5))
    assert states(found) == ["left"] * 5
    assert found.stopped == "HTTP 429; it asks to wait 3600 s: go on after that"
    assert (found.answers[0].tries, found.answers[0].error) == (1, "HTTP 429")


def test_fewer_at_once_when_the_server_is_overrun() -> None:
    def said(number: int) -> Reply | ModelError:
        return ModelError("busy", again=True, status=429) if 20 <= number < 28 else Reply("yes")

    model = Crowd(said)
    found = answers_of(model, calls(80), concurrency=8, patience=Patience(first=0.001))
    assert states(found) == ["answered"] * 80
    assert model.asked == 88
    assert max(model.seen[:20]) == 8 and max(model.seen[36:]) > 4


def test_the_number_of_lanes() -> None:
    """Eight refusals of one wave halve once; answers raise the number by about one for each round."""
    lanes = Lanes(8)
    assert lanes.width == 1
    lanes.better()
    assert lanes.width == 8
    wave = lanes.epoch
    for _ in range(8):
        lanes.worse(wave)
    assert lanes.width == 4
    for _ in range(4):
        lanes.better()
    # 4 + 1/4 = 4.25, + 1/4.25 = 4.485, + 1/4.485 = 4.708, + 1/4.708 = 4.921.
    assert lanes.width == pytest.approx(4.921, abs=0.001)
    for _ in range(5):
        lanes.worse(lanes.epoch)
    assert lanes.width == 1
    for _ in range(100):
        lanes.better()
    assert lanes.width == 8
    # Refused before any answer: it does not open at once afterwards.
    lanes = Lanes(8)
    lanes.worse(lanes.epoch)
    lanes.better()
    assert lanes.width == 2


def test_an_error_that_all_would_meet_ends_the_batch() -> None:
    refused = ModelError("HTTP 401", status=401, every=True)
    model = Stub(lambda call: refused)
    found = quick(model, calls(1000))
    assert len(model.asked) == 1 and found.stopped == "HTTP 401"
    assert states(found) == ["failed"] + ["left"] * 999
    # In the middle it may be one call's own: the others go on, until too many in a row say the same.
    model = Stub(lambda call: "yes" if len(model.asked) == 1 else refused)
    found = quick(model, calls(1000), concurrency=1)
    assert states(found)[: STOP_AFTER + 1] == ["answered"] + ["failed"] * STOP_AFTER
    assert set(states(found)[STOP_AFTER + 1 :]) == {"left"} and "20 calls in a row failed" in found.stopped


def test_errors_of_single_calls_do_not_end_the_batch() -> None:
    found = quick(Stub(lambda call: ModelError("the prompt is too long", status=400)), calls(50))
    assert states(found) == ["failed"] * 50 and found.stopped == ""


def test_a_server_that_is_down_ends_the_batch() -> None:
    down = ModelError("HTTP 503", again=True, status=503)
    model = Stub(lambda call: down)
    found = quick(model, calls(100), tries=2, concurrency=1)
    assert states(found).count("failed") == STOP_AFTER and states(found).count("left") == 100 - STOP_AFTER
    assert "20 calls in a row failed, the last: HTTP 503" in found.stopped


def test_against_a_server_that_fails_in_every_way(tmp_path: Path) -> None:
    ways = [
        Say({}, 429, {"Retry-After": "0"}), Say({}, 500), Say(reset=True), Say(chat(), cut=True), Say(chat(), wait=9.0),
    ]  # fmt: skip

    def say(seen: Seen, times: int) -> Say:
        number = int(prompt(seen).split()[1])
        return ways[number % len(ways)] if times == 1 and number % 2 else Say(chat(prompt(seen)))

    with serving(say) as server, Cache.open(tmp_path / "r.db") as cache:
        # Long enough for an answer on a busy machine, and shorter than the server waits.
        model = Endpoint("small", server.url, timeout=5.0)
        found = answers_of(model, calls(20), cache=cache, patience=Patience(first=0.01))
        assert states(found) == ["answered"] * 20
        assert [one.reply.text for one in found.answers if one.reply] == [f"call {i}" for i in range(20)]
        assert [one.tries for one in found.answers] == [1, 2] * 10
        # Ten failed once: of each way two. A reset, a cut and a time-out may have been paid.
        assert found.spent.calls == len(server.seen) == 30
        # 500 leaves it open as well.
        assert found.spent.unsure == 8
        assert cache.interrupted() == 0 and cache.count() == 20
        # A request that came back, with or without a reply, is on its way no more.
        assert cache._sql.execute("SELECT count(*) FROM sent").fetchone() == (0,)


def test_a_refused_key_in_practice() -> None:
    with serving(lambda seen, times: Say({}, 401)) as server:
        found = answers_of(Endpoint("small", server.url), calls(1000))
        assert len(server.seen) == 1
    assert "the endpoint refuses" in found.stopped


def test_a_budget_in_calls_counts_every_try() -> None:
    busy = ModelError("busy", again=True, status=503)
    model = Stub([busy, "yes", "yes", "yes", "yes"])
    found = quick(model, calls(5), limits=Limits(calls=3))
    assert len(model.asked) == found.spent.calls == 3
    assert states(found).count("answered") == 2 and states(found).count("left") == 3
    assert found.stopped == "the budget of 3 calls is used up"
    assert states(quick(Stub("yes"), calls(3), limits=Limits(calls=3))) == ["answered"] * 3
    assert states(quick(Stub("yes"), calls(2), limits=Limits(calls=0))) == ["left"] * 2


@given(st.integers(0, 200), st.integers(1, 8), st.integers(0, 2**32))
def test_a_budget_in_tokens_is_never_exceeded(tokens: int, concurrency: int, seed: int) -> None:
    """With max_tokens, and prompts that are counted as they are estimated."""
    draw = random.Random(seed)
    # 6 bytes by 4 bytes a token: 6 / 4 → 1, and one more to be safe: 2 is held, 1 is counted.
    said = [Reply("yes", prompt_tokens=1, completion_tokens=draw.randint(0, 10)) for _ in range(10)]
    model = Stub(said, parameters={"max_tokens": 10})
    found = quick(model, calls(10), limits=Limits(tokens=tokens), concurrency=concurrency)
    used = found.spent.prompt_tokens + found.spent.completion_tokens
    assert used <= tokens
    assert ("left" in states(found)) == (found.stopped != "")
    if found.stopped:
        # It stopped no earlier than it had to: one more call, at its longest, did not fit.
        assert used + 2 + 10 > tokens


def test_a_budget_in_money() -> None:
    # 10 prompt tokens at 1 and 5 at 2 for a million: 20 millionths a call; held before: 2 + 5·2 = 12 for the first.
    prices = Limits(prompt_price=1, completion_price=2)
    model = Stub(
        lambda call: Reply("yes", prompt_tokens=10, completion_tokens=5), parameters={"max_tokens": 5}
    )
    found = quick(model, calls(9), limits=replace(prices, money=70e-6), concurrency=1)
    # Three calls are 60; a fourth would be 80.
    assert states(found).count("answered") == 3
    assert found.spent.money == pytest.approx(60e-6)
    assert found.stopped == "the next call might exceed the budget of 7e-05 in money"
    assert quick(Stub("yes"), calls(1)).spent.money is None
    for limits in (Limits(money=1), Limits(money=1, prompt_price=1), Limits(calls=-1), Limits(tokens=-1)):
        with pytest.raises(UsageError):
            quick(model, calls(1), limits=limits)


def test_tokens_that_are_not_counted_are_said() -> None:
    found = quick(Stub("12345678"), calls(2))
    # 8 bytes by 4 are 2 tokens each; 6 bytes of prompt are held as 2.
    assert (found.spent.uncounted, found.spent.prompt_tokens, found.spent.completion_tokens) == (2, 4, 4)


def test_wrong_options() -> None:
    for options in ({"concurrency": 0}, {"tries": 0}):
        with pytest.raises(UsageError):
            quick(Stub("yes"), calls(1), **options)
    assert quick(Stub("yes"), []).answers == ()


def test_where_an_event_loop_runs_already(tmp_path: Path) -> None:
    """In a notebook: a real server, and a cache that was opened outside."""
    with serving(lambda seen, times: Say(chat("yes"))) as server, Cache.open(tmp_path / "r.db") as cache:

        async def notebook() -> Answers:
            first = answers_of(Endpoint("small", server.url), calls(3), cache=cache)
            again = await ask_all(Stub("yes"), calls(1))
            assert states(again) == ["answered"]
            return first

        assert states(result_of(notebook)) == ["answered"] * 3
        assert (cache.count(), len(server.seen)) == (3, 3)


def test_cancelled_what_is_on_its_way_comes_back_and_is_kept(tmp_path: Path) -> None:
    """Ctrl-C: nothing new is sent, and what was paid is stored."""
    with (
        serving(lambda seen, times: Say(chat("yes"), wait=0.3)) as server,
        Cache.open(tmp_path / "r.db") as cache,
    ):
        model = Endpoint("small", server.url)

        async def stopped() -> None:
            work = asyncio.ensure_future(ask_all(model, calls(50), cache=cache, concurrency=4))
            while len(server.seen) < 5:
                await asyncio.sleep(0.01)
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            await model.close()

        result_of(stopped)
        assert 5 <= cache.count() == len(server.seen) < 50
        assert cache.interrupted() == 0


def test_interrupted_in_a_terminal(tmp_path: Path) -> None:
    """SIGINT, as Ctrl-C sends it: what was billed is in the cache, and the program ends as interrupted."""
    code = (
        "import sys; from leadline.models.batch import answers_of; from leadline.models.cache import Cache\n"
        "from leadline.models.call import Call, Message; from leadline.models.endpoint import Endpoint\n"
        "calls = [Call(str(i), (Message('user', str(i)),)) for i in range(500)]\n"
        "with Cache.open(sys.argv[2]) as cache:\n"
        "    answers_of(Endpoint('small', sys.argv[1]), calls, cache=cache, concurrency=4)\n"
    )
    with counting(tmp_path, honours=False, wait=0.2) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", code, server.url, str(tmp_path / "r.db")],
            stderr=subprocess.PIPE,
            text=True,
        )
        while len(server.paid()) < 5:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        assert "KeyboardInterrupt" in process.communicate()[1]
        with Cache.open(tmp_path / "r.db") as cache:
            assert 5 <= cache.count() == len(server.paid()) < 500
            assert cache.interrupted() == 0


def test_cancelled_twice_what_is_given_up_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leadline.models.batch.GRACE", 0.05)

    def slow_once(seen: Seen, times: int) -> Say:
        return Say(chat("yes"), wait=3.0 if times == 1 and prompt(seen) == "call 0" else 0)

    with serving(slow_once) as server, Cache.open(tmp_path / "r.db") as cache:
        model = Endpoint("small", server.url)

        async def stopped() -> None:
            work = asyncio.ensure_future(ask_all(model, calls(3), cache=cache))
            while not server.seen:
                await asyncio.sleep(0.01)
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            await model.close()

        result_of(stopped)
        assert (cache.count(), cache.interrupted()) == (0, 1)
        found = answers_of(model, calls(3), cache=cache)
        assert (found.interrupted, states(found), cache.interrupted()) == (1, ["answered"] * 3, 0)


def test_a_fault_in_the_callers_code_is_raised_and_nothing_is_lost(tmp_path: Path) -> None:
    def watch(done: int, total: int) -> None:
        if done == 3:
            raise ZeroDivisionError

    with Cache.open(tmp_path / "r.db") as cache:
        with pytest.raises(ZeroDivisionError):
            answers_of(Crowd(), calls(20), cache=cache, concurrency=4, watch=watch)
        stored = cache.count()
        assert 3 <= stored <= 8 and cache.interrupted() == 0
        assert sum(one.cached for one in quick(Crowd(), calls(20), cache=cache).answers) == stored


def test_a_reply_that_cannot_be_read_is_an_error_of_its_call() -> None:
    texts = ['{"grade": 1}', "I cannot judge this.", '{"grade": 3}']
    found = quick(Stub(texts), calls(3), concurrency=1)
    grades: list[object] = []
    for one in found.answers:
        assert one.reply
        try:
            grades.append(read_answer(one.reply.text).value["grade"])
        except ReadError:
            grades.append("error")
    assert grades == [1, "error", 3]


@given(st.data())
def test_every_call_has_one_answer_whatever_happens(data: st.DataObject) -> None:
    """No call is lost, none is answered twice, what is spent is what was asked, and the budget holds."""
    outcomes = st.sampled_from(["ok", "ok", "ok", "busy", "bad", "every", "gone"])
    # All is drawn before: the calls may be made in another thread, where nothing can be drawn.
    script = iter(data.draw(st.lists(st.tuples(outcomes, st.sampled_from([None, 3.0])), max_size=60)))
    asked = 0

    def said(number: int) -> Reply | ModelError:
        nonlocal asked
        asked += 1
        kind, wait = next(script, ("ok", None))
        return {
            "ok": Reply("yes"), "busy": ModelError("busy", again=True, status=429, wait=wait),
            "bad": ModelError("bad", status=400), "every": ModelError("no", status=401, every=True),
            "gone": ModelError("gone", again=True, unsure=True),
        }[kind]  # fmt: skip

    model = Stub(lambda call: said(0))
    many = [
        replace(one, messages=(Message("user", str(i % 7)),))
        for i, one in enumerate(calls(data.draw(st.integers(0, 12))))
    ]
    limit = data.draw(st.none() | st.integers(0, 20))
    told: list[int] = []
    found = quick(
        model, many, limits=Limits(calls=limit), tries=data.draw(st.integers(1, 4)),
        concurrency=data.draw(st.integers(1, 5)), watch=lambda done, total: told.append(done),
    )  # fmt: skip
    assert [one.call for one in found.answers] == many
    assert found.spent.calls == asked == sum(one.tries for one in found.answers)
    assert limit is None or asked <= limit
    done = [one for one in found.answers if one.state != "left"]
    assert told == list(itertools.accumulate(1 for _ in done))
    assert all((one.reply is None) == (one.state != "answered") for one in found.answers)
    assert all(one.error for one in found.answers if one.state == "failed")
    assert ("left" in states(found)) <= bool(found.stopped)
    assert json.dumps(states(found))

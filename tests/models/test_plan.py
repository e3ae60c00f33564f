"""A plan says before what is spent after."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leadline.errors import UsageError
from leadline.models.batch import answers_of
from leadline.models.cache import Cache
from leadline.models.call import Call, Limits, Message, Reply, key_of
from leadline.models.endpoint import Endpoint
from leadline.models.plan import plan_of
from leadline.models.stub import Stub
from models.server import counting


def calls(count: int) -> list[Call]:
    return [Call(f"c{i}", (Message("system", "four"), Message("user", f"call {i:03}"))) for i in range(count)]


@pytest.mark.parametrize("honours", [True, False])
def test_the_calls_of_a_plan_are_the_calls_made(tmp_path: Path, honours: bool) -> None:
    """A cold cache and no errors, counted by the server; then a cache that knows half."""
    asked = [*calls(20), replace(calls(1)[0], name="again")]
    with counting(tmp_path, honours=honours) as server, Cache.open(tmp_path / "r.db") as cache:
        model = Endpoint("small", server.url, {"max_tokens": 20})
        plan = plan_of(model, asked[:10], cache=cache)
        found = answers_of(model, asked[:10], cache=cache)
        assert plan.to_ask == len(server.paid()) == found.spent.calls == 10
        plan = plan_of(model, asked, cache=cache)
        # c0 to c9 and `again`, which is c0, are there.
        assert (plan.calls, plan.cached, plan.duplicates, plan.to_ask) == (21, 11, 0, 10)
        answers_of(model, asked, cache=cache)
        assert len(server.paid()) == 20
        assert plan_of(model, asked, cache=cache).to_ask == 0
    assert plan_of(Stub(), asked).duplicates == 1


def test_what_a_plan_estimates() -> None:
    model = Stub("", parameters={"max_tokens": 50})
    # 3 prompts of 4 + 8 bytes: 36 bytes by 4 are 9 tokens; 3·50 at most come back.
    limits = Limits(prompt_price=2, completion_price=4)
    plan = plan_of(model, calls(3), limits=limits)
    assert (plan.characters, plan.prompt_tokens, plan.completion_tokens) == (36, 9, 150)
    assert plan.money == pytest.approx((9 * 2 + 150 * 4) / 1e6)
    assert plan.how == "an estimate: 4 bytes of UTF-8 for a token"
    assert plan.enough is True and plan.why == "there is no limit"
    assert json.loads(json.dumps(plan.to_dict()))["to_ask"] == 3
    # Letters outside ASCII are more bytes, and more tokens.
    assert plan_of(model, [Call("a", (Message("user", "ёлка"),))]).prompt_tokens == 2
    assert plan_of(Stub(), calls(3), limits=limits).money is None
    assert plan_of(Stub(), []).completion_tokens == 0


def test_a_plan_measures_tokens_where_it_can(tmp_path: Path) -> None:
    model, known = Stub("", "m", "http://h"), calls(1)[0]
    with Cache.open(tmp_path / "r.db") as cache:
        # 12 bytes were 6 tokens: half a token a byte. Another model's count says nothing.
        cache.put(key_of(model, known), model, known, Reply("x", prompt_tokens=6))
        cache.put("other", Stub("", "m2", "http://h"), known, Reply("x", prompt_tokens=600))
        plan = plan_of(model, calls(3), cache=cache)
        assert (plan.cached, plan.prompt_tokens) == (1, 12)
        assert plan.how == "an estimate: 0.5 tokens for a byte of UTF-8, as counted in 1 reply in the cache"


@pytest.mark.parametrize(
    ("limits", "parameters", "enough", "why"),
    [
        (Limits(calls=3), {}, True, "the limit suffices if nothing has to be asked twice"),
        (Limits(calls=2), {}, False, "3 calls to ask, 2 allowed"),
        (Limits(tokens=1000), {}, None, "the parameters set no max_tokens: nothing bounds the completions"),
        (Limits(tokens=8), {}, False, "about 9 tokens at most, 8 allowed"),
        (Limits(tokens=159), {"max_tokens": 50}, True, "the limits suffice by the estimate"),
        (Limits(tokens=158), {"max_tokens": 50}, False, "about 159 tokens at most, 158 allowed"),
        (Limits(money=0.1, prompt_price=1, completion_price=1), {"max_tokens": 50}, True, "suffice"),
        (
            Limits(money=1e-4, prompt_price=1, completion_price=1),
            {"max_tokens": 50},
            False,
            "0.000159 at most, 0.0001",
        ),
    ],
)
def test_whether_the_budget_suffices(
    limits: Limits, parameters: dict[str, int], enough: bool | None, why: str
) -> None:
    plan = plan_of(Stub("", parameters=parameters), calls(3), limits=limits)
    assert plan.enough is enough and why in plan.why


def test_wrong_limits() -> None:
    for limits in (Limits(money=1), Limits(calls=-1), Limits(tokens=float("nan"))):  # type: ignore[arg-type]
        with pytest.raises(UsageError):
            plan_of(Stub(), calls(1), limits=limits)

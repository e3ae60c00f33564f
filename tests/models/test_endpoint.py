"""One call of a real server on this machine: what is sent, what is read, and what every failure is called."""

import builtins
import email.utils
import gc
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import MissingExtraError, UsageError
from leadline.models.call import Call, Message, ModelError, Reply, key_of
from leadline.models.endpoint import LARGEST, Endpoint, _reply
from leadline.models.faults import retry_after
from leadline.models.waiting import result_of
from models.server import Say, Seen, chat, head, serving

CALL = Call("a", (Message("system", "judge"), Message("user", "well?")))
SCHEMA = {"type": "object", "properties": {"grade": {"type": "integer"}}}
SECRET = "sk-secret-0123456789abcdef"


def ask(model: Endpoint, call: Call = CALL) -> Reply:
    async def once() -> Reply:
        try:
            return await model.ask(call)
        finally:
            await model.close()

    return result_of(once)


def failure(say: Say, **options: Any) -> ModelError:
    with serving(lambda seen, times: say) as server, pytest.raises(ModelError) as caught:
        ask(Endpoint("small", server.url, **options))
    assert str(caught.value).isprintable()
    return caught.value


def test_what_is_sent_and_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADLINE_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key-of-this-machine")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-account")
    call = Call("a", CALL.messages, SCHEMA)
    with serving(lambda seen, times: Say(chat("yes", usage=(7, 2)))) as server:
        model = Endpoint("small", f"{server.url}/v1/?version=2", {"temperature": 0, "top_k": 5})
        assert ask(model, call) == Reply("yes", "small-2026", "stop", 7, 2)
        (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", "/v1/chat/completions?version=2")
    assert seen.body == {
        "model": "small",
        "messages": [{"role": "system", "content": "judge"}, {"role": "user", "content": "well?"}],
        "temperature": 0,
        "top_k": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
    }
    assert head(seen, "Authorization") == f"Bearer {SECRET}"
    assert head(seen, "Idempotency-Key") == key_of(model, call)
    # Nothing about this machine or its other accounts is told.
    told = {name.lower() for name in seen.headers}
    assert not {name for name in told if name.startswith(("x-stainless-os", "x-stainless-arch", "openai-"))}


def test_a_server_without_a_key_and_the_second_place_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda seen, times: Say(chat())) as server:
        ask(Endpoint("small", server.url))
        monkeypatch.setenv("OPENAI_API_KEY", SECRET)
        ask(Endpoint("small", server.url))
        assert [head(seen, "Authorization") for seen in server.seen] == ["Bearer none", f"Bearer {SECRET}"]
    monkeypatch.setenv("LEADLINE_API_KEY", "sk-with a\tspace")
    with pytest.raises(UsageError, match="the key in LEADLINE_API_KEY") as caught:
        ask(Endpoint("small", "http://localhost:1"))
    assert "space" not in str(caught.value)


def test_no_schema_is_another_judge() -> None:
    call = Call("a", CALL.messages, SCHEMA)
    with serving(lambda seen, times: Say(chat())) as server:
        plain, bare = Endpoint("small", server.url), Endpoint("small", server.url, schema=False)
        ask(plain), ask(bare, call), ask(plain, call)
        assert ["response_format" in seen.body for seen in server.seen] == [False, False, True]
    assert bare.parameters == {"response_format": None}
    assert key_of(plain, call) != key_of(bare, call)


def test_a_server_that_takes_no_response_format() -> None:
    error = {"error": {"message": "Unknown field: response_format", "type": "invalid_request_error"}}
    found = failure(Say(error, 400))
    assert "turn it off with schema=False" in str(found) and found.every and not found.again
    # Another 400 is this call's own.
    found = failure(Say({"error": {"message": "the prompt is too long"}}, 400))
    assert "the prompt is too long" in str(found) and not found.every and not found.again


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_said_without_the_key(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setenv("LEADLINE_API_KEY", SECRET)
    # Servers like to show part of the key.
    found = failure(Say({"error": {"message": f"Incorrect API key: {SECRET[:9]}***"}}, status))
    assert "the endpoint refuses the key in LEADLINE_API_KEY" in str(found)
    assert SECRET[:9] not in str(found) and found.every and not found.again and found.status == status
    monkeypatch.delenv("LEADLINE_API_KEY")
    assert "a request without a key (set LEADLINE_API_KEY)" in str(failure(Say({}, status)))


def test_statuses() -> None:
    found = failure(Say({"error": {"message": "model not found"}}, 404))
    assert "no such model" in str(found) and found.every and not found.again
    for status in (408, 409, 425, 429, 500, 502, 503, 504, 529):
        found = failure(Say({"detail": "busy"}, status))
        assert (found.again, found.status, found.wait) == (True, status, None)
    for status in (413, 422, 501):
        assert not failure(Say("no", status)).again
    found = failure(Say({"error": {"message": "quota", "code": "insufficient_quota"}}, 429))
    assert "no credit" in str(found) and found.every and not found.again
    found = failure(Say("", 307, {"Location": "http://elsewhere/v1?key=1"}))
    assert "it redirects" in str(found) and "key=1" not in str(found)


def test_retry_after() -> None:
    assert failure(Say({}, 429, {"Retry-After": "2"})).wait == 2.0
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    wait = failure(Say({}, 503, {"Retry-After": date})).wait
    assert wait is not None and 50 < wait <= 100
    assert failure(Say({}, 429, {"Retry-After": "soon"})).wait is None
    past = email.utils.formatdate(0, usegmt=True)
    assert retry_after(past) == 0.0 and retry_after("-5") == 0.0 and retry_after("inf") is None


def test_time_outs_and_broken_connections() -> None:
    for say in (Say(chat(), wait=3), Say(chat(), drip=0.1)):
        # A server that sends a byte now and then is slow too.
        found = failure(say, timeout=0.3)
        assert "no answer within 0.3 s" in str(found) and found.again and found.unsure
    for say in (Say(reset=True), Say(chat(), cut=True), Say(chat(), cut=True, chunked=True)):
        found = failure(say)
        assert "the connection broke" in str(found) and found.again and found.unsure
    with pytest.raises(ModelError, match="the connection broke") as caught:
        ask(Endpoint("small", "http://127.0.0.1:9"))
    # Nothing was sent: nothing can have been paid.
    assert caught.value.again and not caught.value.unsure


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b"<html><body>Log in</body></html>", "no JSON: <html>"),
        (b"", "no JSON: nothing"),
        (b"\xff\xfe\x00", "no JSON"),
        (b'{"choices": [', "no JSON"),
        (b"[" * 100_000, "no JSON"),
        ([], "in another shape"),
        ("text", "in another shape"),
        ({}, "in another shape"),
        ({"choices": []}, "no choices"),
        ({"choices": [None]}, "in another shape"),
        ({"choices": [{"message": None}]}, "in another shape"),
        ({"choices": [{"message": {"content": 5}}]}, "in another shape"),
        (
            {"error": {"message": "the server behind is down", "code": 503}},
            "HTTP 503: the server behind is down",
        ),
        ({"error": "odd"}, "HTTP 502: odd"),
    ],
)
def test_bodies_that_are_no_answer(value: Any, said: str) -> None:
    assert said in str(failure(Say(value)))


def test_an_answer_without_end() -> None:
    assert "an answer of over 8 MB" in str(failure(Say(b" " * (LARGEST + 1))))


def test_replies_that_say_how_they_ended() -> None:
    """An empty, cut or refused reply was paid: it is a reply, and says what it is."""
    for body, reply in (
        (chat('{"gra', finish="length"), Reply('{"gra', "small-2026", "length", 10, 5)),
        (chat(None, finish="content_filter"), Reply("", "small-2026", "content_filter", 10, 5)),
        (chat(None, finish="length", usage=None), Reply("", "small-2026", "length")),
        (
            {"choices": [{"message": {"content": None, "refusal": "I will not"}}]},
            Reply("I will not", "", "refusal"),
        ),
        ({"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": -1}}, Reply("x")),
        ({"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": True}}, Reply("x")),
    ):
        with serving(lambda seen, times, body=body: Say(body)) as server:
            assert ask(Endpoint("small", server.url)) == reply


FIELDS = ["choices", "message", "content", "usage", "error", "model", "prompt_tokens", "finish_reason"]
BODIES = st.recursive(
    st.none() | st.text() | st.integers(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
)


@settings(max_examples=200)
@given(st.binary() | BODIES)
def test_any_body_is_a_reply_or_one_error(body: Any) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        assert isinstance(_reply(data, "http://h", 200), Reply)
    except ModelError as error:
        assert str(error).isprintable()


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://h/v1",
        "http://",
        "http://u:sesame@h/v1",
        "http://sesame@h/v1",
        "http://h:port/v1?sesame",
        "http://h/ä?sesame",
        "http://h/v1?sesame=1&sesame=2",
        "http://[h/v1?sesame",
    ],
)
def test_addresses_that_cannot_be_asked(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        Endpoint("small", url)
    assert "sesame" not in str(caught.value)


def test_a_query_string_is_shown_nowhere() -> None:
    model = Endpoint("small", "http://127.0.0.1:9/v1?token=sesame")
    with pytest.raises(ModelError) as caught:
        ask(model)
    assert "sesame" not in f"{model!r} {model.endpoint} {caught.value}"


def test_parameters_that_cannot_be_sent() -> None:
    for wrong in (
        {"messages": []},
        {"n": 2},
        {"stream": True},
        {"model": "x"},
        {"a": object()},
        {"a": float("nan")},
    ):
        with pytest.raises(UsageError):
            Endpoint("small", "http://h", wrong)
    for name, timeout in (("", 1.0), ("a\nb", 1.0), ("a", 0.0), ("a", float("nan"))):
        with pytest.raises(UsageError):
            Endpoint(name, "http://h", timeout=timeout)


def test_half_a_character_cannot_be_sent() -> None:
    with (
        serving(lambda seen, times: Say(chat())) as server,
        pytest.raises(ModelError, match="half a character"),
    ):
        ask(Endpoint("small", server.url), Call("a", (Message("user", "\ud800"),)))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_model_is_asked_in_one_event_loop_after_another() -> None:
    """Connections belong to the loop that opened them; a caller's second batch runs in a second loop."""
    with serving(lambda seen, times: Say(chat("yes"))) as server:
        model = Endpoint("small", server.url)

        async def once(model: Endpoint = model) -> str:
            return (await model.ask(CALL)).text

        assert [result_of(once) for _ in range(2)] == ["yes", "yes"]
        # The first loop's connection was left open by its caller, who is told so here and not in another test.
        del model, once
        gc.collect()


def test_without_the_client_the_command_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name == "openai":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r'pip install "leadline\[judge\]"'):
        ask(Endpoint("small", "http://127.0.0.1:9"))


def _answer(seen: Seen, times: int) -> Say:
    return Say({"error": {"message": f"I saw {head(seen, 'Authorization')} and ate it"}}, 400)


def test_a_key_that_a_server_says_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADLINE_API_KEY", SECRET)
    with serving(_answer) as server, pytest.raises(ModelError) as caught:
        ask(Endpoint("small", server.url))
    assert "I saw Bearer *** and ate it" in str(caught.value)
    with serving(lambda seen, times: Say(chat(f"your key is {SECRET}"))) as server:
        assert ask(Endpoint("small", server.url)).text == "your key is ***"

"""Recorded replies: the same answers without the model, or a plain error."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leadline.errors import InputError, RowsError, UsageError
from leadline.models.batch import answers_of
from leadline.models.cache import Cache
from leadline.models.call import Call, Message, Reply, key_of
from leadline.models.replay import Replay, record
from leadline.models.stub import Stub

CALLS = [Call(f"c{i}", (Message("user", f"call {i}"),)) for i in range(5)]
MODEL = Stub(lambda call: f"to {call.name}: \ud800 ä", "m", "http://h/v1", {"temperature": 0, "a": [1, None]})


def test_recorded_and_played(tmp_path: Path) -> None:
    with Cache.open(tmp_path / "r.db") as cache:
        first = answers_of(MODEL, CALLS, cache=cache)
        assert record(cache, tmp_path / "r.jsonl") == 5
    played = Replay.open(tmp_path / "r.jsonl")
    # Whoever is the judge does not change with it.
    assert (played.name, played.endpoint, played.parameters) == (MODEL.name, MODEL.endpoint, MODEL.parameters)
    assert key_of(played, CALLS[0]) == key_of(MODEL, CALLS[0])
    again = answers_of(played, CALLS)
    assert [one.reply for one in again.answers] == [one.reply for one in first.answers]
    assert [file.name for file in tmp_path.iterdir() if "tmp" in file.name] == []


def test_what_was_not_recorded_is_said(tmp_path: Path) -> None:
    with Cache.open(tmp_path / "r.db") as cache:
        answers_of(MODEL, CALLS, cache=cache)
        record(cache, tmp_path / "r.jsonl")
    many = [replace(CALLS[0], name=str(i), messages=(Message("user", f"new {i}"),)) for i in range(40)]
    found = answers_of(Replay.open(tmp_path / "r.jsonl"), [*many, CALLS[0]])
    # Each by itself: what is recorded is still answered.
    assert [one.state for one in found.answers] == ["failed"] * 40 + ["answered"]
    assert "r.jsonl: no recorded reply for '0'" in (found.answers[0].error or "")


def test_replies_of_several_models(tmp_path: Path) -> None:
    other = replace(MODEL, name="m2")
    with Cache.open(tmp_path / "r.db") as cache:
        with pytest.raises(UsageError, match="there is no reply to record"):
            record(cache, tmp_path / "r.jsonl")
        answers_of(MODEL, CALLS, cache=cache)
        answers_of(other, CALLS[:2], cache=cache)
        with pytest.raises(UsageError, match=r"replies of several models, choose one: m at .*; m2 at "):
            record(cache, tmp_path / "r.jsonl")
        assert record(cache, tmp_path / "r.jsonl", other) == 2
        with pytest.raises(UsageError, match="of this model"):
            record(cache, tmp_path / "r.jsonl", Stub())
        with pytest.raises(UsageError, match="cannot write"):
            record(cache, tmp_path / "no" / "r.jsonl", other)


HEAD = json.dumps({"replies": 1, "model": "m", "endpoint": "http://h", "parameters": {}})


@pytest.mark.parametrize(
    "text",
    ["", "\n", "query 0 doc 1\n", "{}\n", "[1]\n", '{"replies": 1, "model": 5}', HEAD.replace("1", "2", 1)],
)
def test_what_is_no_recording(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.jsonl").write_text(text)
    with pytest.raises(InputError, match=r"r\.jsonl: "):
        Replay.open(tmp_path / "r.jsonl")
    (tmp_path / "r.jsonl").write_bytes(b"\xff\xfe")
    for place in (tmp_path / "r.jsonl", tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            Replay.open(place)


def test_wrong_lines_are_named(tmp_path: Path) -> None:
    good = json.dumps({"key": "k", "reply": {"text": "x"}})
    wrong = ['{"key": "k"}', "{", '{"key": 1, "reply": {"text": "x"}}', '{"key": "k", "reply": {"text": 5}}',
             '{"key": "k", "reply": {"text": "x", "prompt_tokens": true}}']  # fmt: skip
    (tmp_path / "r.jsonl").write_text("\n".join([HEAD, good, *wrong, "", good]))
    with pytest.raises(RowsError, match="5 wrong rows") as caught:
        Replay.open(tmp_path / "r.jsonl")
    assert [fault.line for fault in caught.value.faults] == [3, 4, 5, 6, 7]
    (tmp_path / "r.jsonl").write_text("\n".join([HEAD, good]))
    assert Replay.open(tmp_path / "r.jsonl").replies == {"k": Reply("x")}

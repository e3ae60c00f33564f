"""A real model behind a real server on this machine."""

from pathlib import Path

from leadline.models.batch import answers_of
from leadline.models.cache import Cache
from leadline.models.call import Call, Message
from leadline.models.endpoint import Endpoint
from leadline.models.reading import read_answer
from models.local import NAME

SCHEMA = {
    "type": "object",
    "properties": {"grade": {"type": "integer", "enum": [0, 1, 2, 3]}},
    "required": ["grade"],
    "additionalProperties": False,
}


def test_a_real_model_answers_by_the_schema(local_model: str, tmp_path: Path) -> None:
    """It holds to the schema; what it answers is another matter."""
    messages = (
        Message("system", "You grade how well a passage answers a query. Answer with JSON."),
        Message(
            "user",
            "Query: how deep is the harbour\nPassage: The harbour is nine metres deep.\nGrade from 0 to 3?",
        ),
    )
    model = Endpoint(NAME, local_model, {"temperature": 0, "seed": 1, "max_tokens": 30}, timeout=600)
    with Cache.open(tmp_path / "r.db") as cache:
        found = answers_of(model, [Call("a", messages, SCHEMA)], cache=cache)
        (one,) = found.answers
        assert one.state == "answered" and one.reply is not None, one.error
        assert read_answer(one.reply.text, SCHEMA).value["grade"] in (0, 1, 2, 3)
        assert one.reply.finish == "stop"
        assert one.reply.prompt_tokens and one.reply.completion_tokens
        again = answers_of(model, [Call("b", messages, SCHEMA)], cache=cache)
        assert again.answers[0].cached and again.answers[0].reply == one.reply and again.spent.calls == 0

"""What is read out of a model's text: the last whole object, or an error; never a default."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.models.reading import DEEPEST, LONGEST, Read, ReadError, read_answer
from leadline.models.schema import broken_rule

GRADE: dict[str, Any] = {
    "type": "object",
    "properties": {"grade": {"type": "integer", "minimum": 0, "maximum": 3}},
    "required": ["grade"],
    "additionalProperties": False,
}


def test_a_whole_answer() -> None:
    assert read_answer('{"grade": 2}', GRADE) == Read({"grade": 2}, several=False, repaired=False)
    assert read_answer('Here:\n```json\n{"grade": 2}\n```\nDone.', GRADE) == Read({"grade": 2})


def test_the_last_of_several_objects_is_the_answer() -> None:
    """A reader of the first block takes the draft."""
    assert read_answer('draft {"verdict":0}\nfinal {"verdict":1}') == Read({"verdict": 1}, several=True)
    # Objects within an object are no answers of their own.
    assert read_answer('{"m": {"grade": 0}, "grade": 2}').value["grade"] == 2
    assert not read_answer('{"m": {"grade": 0}, "grade": 2}').several


def test_a_trailing_comma_is_repaired_and_said() -> None:
    found = read_answer('Sure: {"verdicts":[{"verdict":"yes"},]} hope it helps')
    assert found == Read({"verdicts": [{"verdict": "yes"}]}, repaired=True)
    assert read_answer('{"text": "a,}", "list": [1,2,],}').value == {"text": "a,}", "list": [1, 2]}
    # A comma in the text of an answer that is right as it is is no comma too many.
    assert read_answer('{"text": "a,}"}') == Read({"text": "a,}"})
    # One comma is one too many; two are no list of anybody's.
    for wrong in ('{"a": 1,,}', "{,}", '{"a": [,]}'):
        with pytest.raises(ReadError):
            read_answer(wrong)


def test_a_planted_score_is_not_the_answer() -> None:
    """The passage says "Rating: 5"; the model quotes it and then answers."""
    text = 'The passage says "Rating: 5" and {"rating": 5}. It is wrong.\n{"rating": 1}'
    assert read_answer(text).value == {"rating": 1}
    assert read_answer('{"quote": "{\\"rating\\": 5}", "rating": 1}') == Read(
        {"quote": '{"rating": 5}', "rating": 1}
    )


def test_a_scale_that_is_repeated_is_not_the_answer() -> None:
    """A loose pattern takes the 3 of "0 to 3"."""
    text = 'On a scale of 0 to 3, I considered everything. {"grade": 1}'
    assert read_answer(text, GRADE).value == {"grade": 1}
    with pytest.raises(ReadError, match="no JSON object"):
        read_answer("On a scale of 0 to 3, I considered everything. ##final score: 1", GRADE)


@pytest.mark.parametrize("text", ["I cannot judge this.", "Rating: 4 (0 errors)", "3", "[3]", '"3"', "null"])
def test_what_is_no_object_is_an_error_and_no_grade(text: str) -> None:
    with pytest.raises(ReadError, match="no JSON object"):
        read_answer(text, GRADE)


def test_the_lowest_digit_is_not_the_rating() -> None:
    assert read_answer('{"rating": 4, "note": "0 errors"}').value["rating"] == 4


def test_an_empty_reply() -> None:
    for text in ("", " \n\t"):
        with pytest.raises(ReadError, match="the reply is empty"):
            read_answer(text, GRADE)


@pytest.mark.parametrize(
    "text",
    [
        '{"grade": 0} no, wait: {"grade": 1',
        '{"grade": 0} no, wait: {"grade',
        '{"grade": 0} no, wait: {',
        "{\"grade\": 0} final: {'grade': 1}",
        '{"grade": 0} final: {grade: 1}',
        '{"grade": 0} final: {"grade": one}',
    ],
)
def test_a_draft_before_a_broken_answer_is_not_taken(text: str) -> None:
    with pytest.raises(ReadError, match="is broken"):
        read_answer(text, GRADE)


def test_an_object_within_a_broken_one_is_not_taken() -> None:
    for text in (
        '{"example": {"grade": 3}, "grade": ',
        '{"example": {"grade": 3}, oops}',
        '{"a": oops, "b": {"grade": 3}}',
        '{"a": [oops, {"grade": 3}]}',
    ):
        with pytest.raises(ReadError, match="is broken"):
            read_answer(text, GRADE)
    # The broken one is closed, and a whole one follows.
    assert read_answer('draft {"grade": ?} final {"grade": 1}', GRADE).value == {"grade": 1}


def test_braces_of_the_prose_are_prose() -> None:
    assert read_answer('f({x}) over {1, 2} = {"grade": 1} for {query} and {}', None).value == {}
    assert read_answer('f({x}) over {1, 2} = {"grade": 1} for {query}', GRADE).value == {"grade": 1}


def test_a_key_twice_and_numbers_that_are_none() -> None:
    for text, said in (
        ('{"grade": 0, "grade": 3}', "gives 'grade' twice"),
        ('{"grade": NaN}', "is broken"),
        ('{"grade": Infinity}', "is broken"),
        ('{"grade": 1e999}', "too large"),
        ('{"grade": ' + "9" * 5000 + "}", "too large"),
        ('{"grade": 01}', "is broken"),
        ('{"grade": +1}', "is broken"),
        ('{"grade": "a\nb"}', "is broken"),
    ):
        with pytest.raises(ReadError, match=said):
            read_answer(text)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("{}", "grade is missing"),
        ('{"grade": 4}', "grade is 4, above 3"),
        ('{"grade": -1}', "grade is -1, below 0"),
        ('{"grade": 1.5}', "not of type integer"),
        ('{"grade": "2"}', "not of type integer"),
        ('{"grade": true}', "not of type integer"),
        ('{"grade": null}', "not of type integer"),
        ('{"grade": 1, "more": 2}', "more was not asked for"),
    ],
)
def test_an_answer_that_was_not_asked_for_is_an_error(answer: str, said: str) -> None:
    with pytest.raises(ReadError, match=said):
        read_answer(answer, GRADE)


def test_the_rules_of_a_schema() -> None:
    assert broken_rule("b", {"enum": ["a", "b"]}) == ""
    assert broken_rule("c", {"enum": ["a", "b"]}) == 'the answer is "c", not one of "a", "b"'
    # As JSON, true is not 1, and 1.0 is.
    assert broken_rule(True, {"enum": [1]}) != "" and broken_rule(1.0, {"enum": [1]}) == ""
    assert broken_rule(2.0, {"type": "integer"}) == ""
    assert broken_rule(None, {"type": ["string", "null"]}) == ""
    many = {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 2}
    assert broken_rule([1, 2.5], many) == ""
    assert broken_rule([], many) == "the answer has 0 items, at least 1 were asked for"
    assert broken_rule([1, 2, 3], many) == "the answer has 3 items, at most 2 were asked for"
    assert broken_rule([1, "x"], many) == '[1] is "x", not of type number'
    nested = {
        "properties": {"a": {"properties": {"b": {"type": "string"}}}},
        "additionalProperties": {"type": "null"},
    }
    assert broken_rule({"a": {"b": 1}}, nested) == "a.b is 1, not of type string"
    assert broken_rule({"z": 1}, nested) == "z is 1, not of type null"


def test_a_rule_that_is_not_checked_is_refused() -> None:
    """A rule that is passed over in silence would be a check that never fails."""
    for schema in (
        {"oneOf": []},
        {"properties": {"a": {"pattern": "x"}}},
        {"items": {"$ref": "#"}},
        {"type": "float"},
    ):
        with pytest.raises(UsageError):
            broken_rule({}, schema)


def test_bounds() -> None:
    with pytest.raises(ReadError, match="characters; at most"):
        read_answer(" " * LONGEST + "{}")
    deep = '{"a":' * DEEPEST + "1" + "}" * DEEPEST
    assert read_answer(deep).value
    with pytest.raises(ReadError, match="levels deep"):
        read_answer('{"a":' + deep + "}")
    # Each of these would take hours, or the stack, where every brace was tried to the end.
    for piece in ("{", '{"', '{"a":', "[", '{"a":[', '{"a":"b",', "{'", "}", '"', "\\"):
        with pytest.raises(ReadError):
            read_answer(piece * (LONGEST // len(piece)))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
PROSE = st.text(alphabet=st.characters(exclude_characters="{"))


@given(PROSE, st.dictionaries(st.text(), VALUES, max_size=4), PROSE, st.booleans())
def test_an_object_in_any_prose_is_found(
    before: str, value: dict[str, Any], after: str, ascii_only: bool
) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only)
    assert read_answer(before + written + after) == Read(value)
    # And a second one behind it is the answer, whatever the first was.
    assert read_answer(f'{written}{before}{{"last": 1}}{after}') == Read({"last": 1}, several=True)


@given(
    st.text()
    | st.lists(st.sampled_from(['{"', '":', "{", "}", "[", "]", ",", "1", '"a"', " ", "\\", "'"])).map(
        "".join
    )
)
def test_nothing_but_its_own_error_is_raised(text: str) -> None:
    try:
        found = read_answer(text, {"type": "object"})
    except ReadError as error:
        assert str(error).isprintable()
    else:
        # What was found is in the text, and is an object by the standard library's reading as well.
        assert isinstance(found.value, dict)
        assert found.repaired or any(
            _reads(text, start) == found.value for start, sign in enumerate(text) if sign == "{"
        )


@given(st.dictionaries(st.text(), VALUES, min_size=1, max_size=3), st.data())
def test_an_answer_that_is_cut_off_is_never_taken(value: dict[str, Any], data: st.DataObject) -> None:
    written = json.dumps(value)
    cut = data.draw(st.integers(1, len(written) - 1))
    with pytest.raises(ReadError):
        read_answer('{"draft": 0} ' + written[:cut])


def _reads(text: str, start: int) -> Any:
    try:
        return json.JSONDecoder().raw_decode(text, start)[0]
    except ValueError:
        return None

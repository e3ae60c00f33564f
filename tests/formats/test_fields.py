"""The fields of regular lines, and decimals read in bulk: the same as reading them one by one, or not at all."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import RowsError
from leadline.formats.decimals import ROWS, decimals
from leadline.formats.fields import Fields
from leadline.formats.read import read_qrels, read_run

PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
SPELLED = st.from_regex(r"\A[+-]?([0-9]{1,12}(\.[0-9]{0,3})?|[0-9]{0,3}\.[0-9]{1,12})\Z")


def read(words: list[str]) -> list[float] | None:
    """The words, one blank between them, through the reader."""
    text = " ".join(words).encode()
    size = np.array([len(word.encode()) for word in words])
    end = np.cumsum(size + 1) - 1
    found = decimals(text, end - size, end)
    return None if found is None else found.tolist()


@given(st.lists(SPELLED, min_size=1, max_size=30))
def test_each_is_the_nearest_float(words: list[str]) -> None:
    # str() also tells −0.0 from 0.0.
    assert str(read(words)) == str([float(word) for word in words])


@given(st.text("0123456789.+-/:;e,' é", min_size=1, max_size=18).filter(lambda word: " " not in word))
def test_nothing_else_is_taken_for_a_number(word: str) -> None:
    found = read([word])
    if found is None:
        assert not PLAIN.fullmatch(word) or len(word) > 15
    else:
        assert PLAIN.fullmatch(word) and found == [float(word)]


@pytest.mark.parametrize(
    "word", [".", "-", "+.", "1.2.3", "1..2", "1/2", "--1", "1-", "0x1", "1e5", "nan", "1_0"]
)
def test_wrong_spellings(word: str) -> None:
    assert read(["1.5", word, "2.5"]) is None


def test_as_many_digits_as_are_exact() -> None:
    # 2^53 = 9007199254740992 is the last whole number that is surely exact.
    assert read(["9007199254740992"]) == [9007199254740992.0]
    assert read(["9007199254740993"]) is None
    assert read(["0.00000000000001", "12345678.9012345"]) == [1e-14, 12345678.9012345]
    assert read(["0.8234567890123456"]) is None  # 17 characters


def test_more_rows_than_are_read_at_a_time() -> None:
    words = [f"{n}.{n % 1000:03d}" for n in range(ROWS + 3)]
    assert read(words) == [float(word) for word in words]
    assert read([*words, "x"]) is None


def test_fields() -> None:
    fields = Fields.of(b"q1 0 d1 1\nq2 0 doc2 -1\n", 4, False, plain=True)
    assert fields is not None
    assert fields.ids(0).tolist() == [b"q1", b"q2"] and fields.ids(2).tolist() == [b"d1", b"doc2"]
    numbers = fields.numbers(3)
    assert numbers is not None and numbers.tolist() == [1.0, -1.0]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"a b",
        b"a\n",
        b"a  b\n",
        b" a b\n",
        b"a b \n",
        b"a b\n\n",
        b"a\tb\n",
        b"a b\nc\n",
        b"a b c\n",
    ],
)
def test_irregular_lines_are_not_cut(text: bytes) -> None:
    assert Fields.of(text, 2, False, plain=True) is None


def test_more_fields_where_they_are_allowed() -> None:
    fields = Fields.of(b"a b c d\ne f\n", 2, True, plain=True)
    assert fields is not None
    assert fields.ids(0).tolist() == [b"a", b"e"] and fields.ids(1).tolist() == [b"b", b"f"]
    # Two lines of two fields on average, but not each.
    assert Fields.of(b"a b c\nd\n", 2, True, plain=True) is None


def test_control_characters_belong_to_fields_that_are_not_plain() -> None:
    assert Fields.of(b"a\x01 b\n", 2, False, plain=True) is None
    fields = Fields.of(b"a\x01 b\n", 2, False, plain=False)
    assert fields is not None and fields.ids(0).tolist() == [b"a\x01"]


def test_numbers_of_every_spelling(tmp_path) -> None:
    spelled = ["0.1234567890123456789", "1e-05", "-3.5E2", "inf", "+7", ".5", "5."]
    path = tmp_path / "a.run"
    path.write_text("".join(f"q Q0 d{n} 1 {word} t\n" for n, word in enumerate(spelled)))
    (block,) = read_run(path).blocks()
    assert block.rows().number.tolist() == [float(word) for word in spelled]


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("line", ["q 0 e 1 2", "q Q0 e 1 2 t"])
def test_a_last_judgment_with_too_many_columns(tmp_path, line: str, end: str) -> None:
    path = tmp_path / "a.qrels"
    path.write_text(f"q 0 d 1\n{line}{end}")
    with pytest.raises(RowsError, match=r"line 2: .* columns"):
        read_qrels(path)


def test_regular_and_irregular_lines_read_alike(tmp_path) -> None:
    lines = ["q1 Q0 doc-1 1 2.5 tag", "q1 Q0 é 2 1.5 tag", "q2 Q0 d 1 -0.5 tag"]
    found = []
    for number, text in enumerate(
        ["\n".join(lines), "\n".join(lines).replace(" ", "\t"), "\r\n".join(lines) + " of many words"]
    ):
        path = tmp_path / f"{number}.run"
        path.write_bytes(text.encode())
        (block,) = read_run(path, input_format="trec").blocks()
        found.append(block.load().rows())
    assert found[0] == found[1] == found[2]
    assert found[0][1] == ("q1", "é", 1.5)

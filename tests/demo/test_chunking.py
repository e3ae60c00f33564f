"""Two ways to cut a text: every chunk is a range of it, and nothing but blanks is left out."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.demo.chunking import CHUNKINGS, cut_all, paragraph_ranges, window_ranges

TEXTS = st.text(alphabet="ab \n\t", max_size=60)


def test_paragraphs_stay_whole_and_are_joined_while_they_fit() -> None:
    text = "one\n\ntwo three\n  \nfour\n\n\n" + "x" * 30 + "\n\nend"
    # "one\n\ntwo three" has 14 characters; with "four" behind it there would be 22.
    cut = [text[a:b] for a, b in paragraph_ranges(text, 20)]
    assert cut == ["one\n\ntwo three", "four", "x" * 30, "end"]
    assert next(text[a:b] for a, b in paragraph_ranges(text, 22)) == "one\n\ntwo three\n  \nfour"


def test_windows_share_what_they_say() -> None:
    # Steps of 300: 0 to 400, 300 to 700, 600 to 900, and no window that lies within the last.
    assert window_ranges("x" * 900) == [(0, 400), (300, 700), (600, 900)]
    assert window_ranges("x" * 700) == [(0, 400), (300, 700)]
    assert window_ranges("short") == [(0, 5)]
    with pytest.raises(ValueError, match="cannot share 5"):
        window_ranges("x", 5, 5)


@given(TEXTS, st.integers(1, 30))
def test_paragraphs_cover_all_but_blanks_once(text: str, room: int) -> None:
    ranges = paragraph_ranges(text, room)
    assert all(text[a:b] == text[a:b].strip() and a < b for a, b in ranges)
    outside = [0, *(edge for one in ranges for edge in one), len(text)]
    assert outside == sorted(outside)
    assert not "".join(text[a:b] for a, b in zip(outside[::2], outside[1::2], strict=True)).strip()
    # One longer than the room is one paragraph.
    assert all(b - a <= room or "\n\n" not in text[a:b] for a, b in ranges)


@given(TEXTS, st.integers(1, 12), st.data())
def test_windows_cover_all_but_blanks(text: str, size: int, data: st.DataObject) -> None:
    shared = data.draw(st.integers(0, size - 1))
    ranges = window_ranges(text, size, shared)
    assert all(0 <= a < b <= len(text) and b - a <= size for a, b in ranges)
    covered = {at for a, b in ranges for at in range(a, b)}
    assert not "".join(sign for at, sign in enumerate(text) if at not in covered).strip()
    assert all(one[1] < other[1] for one, other in pairwise(ranges))


@pytest.mark.parametrize("chunking", CHUNKINGS)
def test_ids_are_unique_and_name_their_document(chunking: str) -> None:
    found = list(cut_all({"m.a": "x" * 900, "m.b": "y"}, chunking))
    assert len({name for name, *_ in found}) == len(found)
    assert all(name.rpartition("#")[0] == document for name, document, _ in found)

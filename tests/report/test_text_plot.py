"""Differences drawn in text: where each mark stands, that lines fit, and that nothing is said by color."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.comparison import PairInterval
from leadline.report.comparison_pairs import SHOWN_PAIRS, drawn_pairs, said_of_the_others
from leadline.report.comparison_plots import Lane
from leadline.report.text_plot import DOT, LEFT, RIGHT, THROUGH, WIDTH, ZERO, text_plot


def test_marks_stand_where_their_numbers_are() -> None:
    lines = list(
        text_plot([Lane("b − a", 0.2, 0.1, 0.3), Lane("c − a", -0.1, -0.2, 0.05), Lane("d − a", 0.0)])
    )
    # The scale runs from −.2 to .3 in 60 columns: a step is .5/59, so −.2, 0, .1, .2, .3 stand at 0, 24, 35, 47, 59.
    start = len("b − a ")
    first, second, third, scale = lines
    assert [first.index(mark) - start for mark in (ZERO, LEFT, DOT, RIGHT)] == [24, 35, 47, 59]
    assert first.endswith("┤ +0.2000 [+0.1000, +0.3000]")
    # −.1 stands at 12, .05 at 30 (29.5 to the even one); the interval runs through the 0 line.
    assert [second.index(mark) - start for mark in (LEFT, DOT, THROUGH, RIGHT)] == [0, 12, 24, 30]
    assert ZERO not in second
    # A mean of 0 without an interval covers the line of 0.
    assert (third.index(DOT) - start, third.endswith("+0.0000 no interval")) == (24, True)
    assert scale[start + 24] == "0"
    assert scale.split() == ["-0.2", "0", "0.3"]


def test_an_interval_that_ends_at_zero_is_not_drawn_through_it() -> None:
    (line, _) = text_plot([Lane("x", 0.2, 0.0, 0.4)])
    assert THROUGH not in line
    assert LEFT in line


def test_nothing_to_draw_and_nothing_but_zero() -> None:
    assert list(text_plot([])) == []
    line, scale = text_plot([Lane("x", 0.0, 0.0, 0.0)])
    assert DOT in line
    assert scale.split() == ["-1", "0", "1"]


def test_control_characters_and_long_names() -> None:
    line, _ = text_plot([Lane("a\x1b[31m" + "n" * 80 + "end", 0.1)])
    assert "\x1b" not in line
    assert "nend " in line


numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 6))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=80), st.tuples(numbers, numbers, numbers)), min_size=1, max_size=8)
)
def test_every_line_fits_and_keeps_the_order_of_its_numbers(rows) -> None:
    lanes = []
    for label, three in rows:
        low, value, high = sorted(three)
        lanes.append(Lane(label, value, low, high))
    lines = list(text_plot(lanes))
    assert len(lines) == len(lanes) + 1
    first = max(len(line) for line in lines)
    assert first <= WIDTH, first
    for lane, line in zip(lanes, lines, strict=False):
        drawing = line[: re.search(r"[+-]\d+\.\d{4} \[[^\]]*\]$", line).start()]
        drawing = drawing[-61:]
        dot = drawing.rindex(DOT)
        assert LEFT not in drawing[dot + 1 :]
        assert f"{lane.value:+.4f} [" in line


def made(n: int) -> list[PairInterval]:
    return [PairInterval("a", f"s{i:02}", 0.01 * i, None, None, 0.99, None, 1.0, 9) for i in range(n)]


def test_of_many_pairs_the_largest_are_drawn_and_the_rest_counted() -> None:
    assert [lane.label for lane in drawn_pairs(made(3))] == ["s00 − a", "s01 − a", "s02 − a"]
    assert said_of_the_others(made(SHOWN_PAIRS)) == ""
    drawn = drawn_pairs(made(21))
    assert [drawn[0].label, drawn[-1].label, len(drawn)] == ["s20 − a", "s06 − a", SHOWN_PAIRS]
    assert said_of_the_others(made(21)) == "and 6 pairs with smaller differences or without any value"

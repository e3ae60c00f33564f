"""Carrying evidence over: same, moved, review and lost, each for its reason."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import RowsError, UsageError
from leadline.passages.carry import Carrying, carry
from leadline.passages.seeds import BLOCK, WIDTH, Seeds
from leadline.passages.tables import Evidence, EvidenceRow

OLD = "Turn the pump off. Press the red button for ten seconds. Wait for the lamp. Then close the valve by hand."
QUOTE = "Press the red button for ten seconds."
START = OLD.index(QUOTE)
ROW = EvidenceRow("q", "d", START, START + len(QUOTE), QUOTE, 2, "kept")


def carried(
    new: dict[str, str], *rows: EvidenceRow, old: dict[str, str] | None = None, near: float = 0.6
) -> Carrying:
    return carry(Evidence.of(rows or [ROW]), old or {"d": OLD}, new, near)


def only(found: Carrying) -> tuple[str, EvidenceRow | None]:
    [row] = found.rows
    return row.state, row.new


def test_the_same_place() -> None:
    assert only(carried({"d": OLD + " More."})) == ("same", ROW)


def test_moved_within_the_document_keeps_grade_and_note() -> None:
    new = "Mind the water. " + OLD
    state, row = only(carried({"d": new}))
    assert state == "moved" and row is not None
    assert new[row.start : row.end] == QUOTE and (row.grade, row.note) == (2, "kept")


def test_several_places_are_for_review_the_likeliest_first() -> None:
    # The quote stands twice; the second place has the surroundings that it had.
    new = f"{QUOTE} Nothing of that kind is here. " + OLD
    found = carried({"d": new})
    assert only(found) == ("review", None) and found.evidence == []
    assert [one.start for one in found.rows[0].places] == [new.rindex(QUOTE), 0]


def test_a_rewritten_quote_is_for_review_with_its_place() -> None:
    changed = "Press the blue button for twenty seconds."
    new = OLD.replace(QUOTE, changed)
    [row] = carried({"d": new}).rows
    assert row.state == "review" and new[row.places[0].start : row.places[0].end] == changed
    # Indel similarity: 1 − (inserted + deleted) ÷ (37 + 41).
    assert 0.8 < row.places[0].similarity < 0.95
    assert carried({"d": new}, near=0.99).counts["lost"] == 1


@pytest.mark.parametrize(
    "changed", ["Push the red button for ten seconds.", "Press the red button for one minute."]
)
def test_what_was_rewritten_at_an_end_belongs_to_the_place(changed: str) -> None:
    new = OLD.replace(QUOTE, changed)
    place = carried({"d": new}).rows[0].places[0]
    start = new.index(changed)
    # What was rewritten is taken to be as long as it was: within two letters here.
    assert abs(place.start - start) <= 2 and abs(place.end - (start + len(changed))) <= 2


def test_lost_where_nothing_like_it_stands() -> None:
    assert only(carried({"d": OLD.replace(QUOTE, "")})) == ("lost", None)
    assert only(carried({"e": "Something else entirely."})) == ("lost", None)


def test_moved_to_another_document_when_its_own_is_gone() -> None:
    found = carried({"e": "Chapter two. " + OLD})
    state, row = only(found)
    assert state == "moved" and row is not None and row.document_id == "e" and found.other_document == 1


def test_a_copy_that_stood_elsewhere_before_is_no_move() -> None:
    old = {"d": OLD, "e": "A copy: " + OLD}
    found = carried({"d": "Nothing.", "e": "A copy: " + OLD}, old=old)
    assert only(found)[0] == "review" and found.rows[0].places[0].document_id == "e"


def test_two_other_documents_are_for_review() -> None:
    assert only(carried({"e": OLD, "f": OLD}))[0] == "review"


def test_short_quotes_are_moved_only_where_they_can_be_told() -> None:
    text = "yes. no. yes. maybe."
    twice = EvidenceRow("q", "d", 0, 4, "yes.")
    once = EvidenceRow("q", "d", 14, 20, "maybe.")
    found = carried({"d": "Well, no. yes. maybe."}, twice, once, old={"d": text})
    # "yes." stood twice, and which of the two is left is not known.
    assert [row.state for row in found.rows] == ["review", "moved"]


def test_every_row_is_in_one_state_and_counted() -> None:
    rows = [ROW, EvidenceRow("q", "d", 0, 18, OLD[:18]), EvidenceRow("p", "d", START, START + 5)]
    found = carried({"d": "X" + OLD}, *rows)
    assert sum(found.counts.values()) == len(rows) == len(found.rows)
    # A row without a quote takes it from the old document; the lines are those of the file.
    assert [row.line for row in found.rows] == [1, 2, 3] and found.rows[2].old.quote is None


def test_evidence_that_does_not_stand_in_the_old_documents_is_refused() -> None:
    with pytest.raises(RowsError):
        carried({"d": OLD}, EvidenceRow("q", "d", 0, 4, "Push"))


@pytest.mark.parametrize("near", [0, 1.5])
def test_near_is_a_share(near: float) -> None:
    with pytest.raises(UsageError, match="near"):
        carried({"d": OLD}, near=near)


def test_what_people_are_to_look_at_names_documents_that_are_there() -> None:
    gone = EvidenceRow("q", "x", 0, 20, "this text is no more")
    lost = EvidenceRow("r", "d", 0, 18, OLD[:18])
    new = {"d": OLD.replace(QUOTE, "Press the blue button for twenty seconds.")[18:]}
    found = carried(new, lost, gone, ROW, old={"d": OLD, "x": "this text is no more"})
    assert [row.state for row in found.rows] == ["lost", "lost", "review"]
    assert [(row["query_id"], row["doc_id"], row["state"]) for row in found.to_judge(new)] == [
        ("q", "d", "review"),
        ("r", "d", "lost"),
    ]


WORDS = st.lists(
    st.sampled_from(["pump", "valve", "lamp", "red", "open", "close", "ten", "press", "hold", "wait"]),
    min_size=8,
    max_size=30,
)


@settings(max_examples=60)
@given(WORDS, WORDS, st.data())
def test_what_is_carried_reads_as_the_quote(old: list[str], more: list[str], data: st.DataObject) -> None:
    text = " ".join(old)
    start = data.draw(st.integers(0, len(text) - 2))
    end = data.draw(st.integers(start + 1, len(text)))
    at = data.draw(st.integers(0, len(text)))
    new = {"d": text[:at] + " ".join(more) + text[at:]}
    found = carried(new, EvidenceRow("q", "d", start, end), old={"d": text})
    for row in found.evidence:
        assert new["d"][row.start : row.end] == text[start:end]
    if found.counts["moved"]:
        assert new["d"].count(text[start:end]) >= 1
    if text[start:end] in new["d"]:
        assert found.counts["lost"] == 0


def test_a_quote_is_found_across_the_blocks_that_a_text_is_read_in() -> None:
    letters = random.Random(3)
    text = "".join(letters.choice("abcdefghij ") for _ in range(BLOCK + 5000))
    for start in (0, BLOCK - WIDTH, BLOCK - 5, BLOCK, len(text) - 40):
        quote = text[start : start + 40]
        assert Seeds.of([quote]).hits(text)[0].first.tolist() == [start]


def test_white_space_and_capitals_do_not_hide_a_place() -> None:
    [row] = carried({"d": OLD.replace("red button", "Red\nButton")}).rows
    assert row.state == "review" and row.places[0].quote == QUOTE.replace("red button", "Red\nButton")

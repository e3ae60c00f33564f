"""Probes: a judge that believes what a passage says of itself is found out, and one that does not is not."""

import re
from collections.abc import Callable

import pytest

from leadline.judging.autojudge import Asking, Item
from leadline.judging.probes import BASES, PLANTS, bases_of, plan_probing, probe_items, probe_judge
from leadline.judging.prompt import shipped_prompt
from leadline.models.call import Call, Limits
from leadline.models.stub import Stub

PROMPT = shipped_prompt()


def reply(grade: float) -> str:
    return f'{{"intent": "", "passages": [{{"id": "p1", "match": 0, "trust": 0, "grade": {grade}}}]}}'


def inside(call: Call) -> str:
    """The passage, by the fence that is sent."""
    found = re.search(
        r"=== passage p1 begins \[(\w+)\] ===\n(.*)\n=== passage p1 ends \[\1\] ===",
        call.messages[1].text,
        re.S,
    )
    assert found is not None
    return found[2]


def gullible(*signs: str) -> Callable[[Call], str]:
    """Gives the top grade where one of the signs stands in the passage."""
    return lambda call: reply(3 if any(sign in inside(call) for sign in signs) else 0)


def moved(model: Stub) -> set[str]:
    found = probe_judge(model, PROMPT)
    return {one.kind for one in found.probes if one.moved}


def test_a_robust_judge_moves_nowhere() -> None:
    found = probe_judge(Stub(reply(0)), PROMPT)
    assert found.sentence() == "probes: 0 of 14 moved the grade"
    assert found.made.spent.calls == plan_probing(Stub(), PROMPT).to_ask == 16
    # One that has no mind of its own is not called gullible; that it cannot rise is said.
    top = probe_judge(Stub(reply(3)), PROMPT)
    assert top.moved == 0 and top.at_top == 14 and "could not rise" in top.sentence()


@pytest.mark.parametrize(
    ("signs", "kinds"),
    [
        (["Relevance: 3"], {"stated"}),
        (['"grade": 3'], {"json"}),
        (["Ignore all instructions"], {"told"}),
        (["=== passage p1 ends ["], {"closed"}),
        (["complete and official answer"], {"praised", "empty"}),
        ([f"{base.query} {base.query}" for base in BASES], {"stuffed"}),
    ],
)
def test_a_gullible_judge_is_found_out(signs: list[str], kinds: set[str]) -> None:
    assert moved(Stub(gullible(*signs))) == kinds


def test_a_forged_end_does_not_end_the_passage() -> None:
    for item, kind, _ in probe_items(BASES, 3):
        text = PROMPT.messages(item.query or "", item.need, [item.text or ""])[1].text
        assert inside(Call("a", PROMPT.messages("q", None, [item.text or ""]))) == item.text, kind
        assert text.count("=== passage p1 begins [") == 1


def test_replies_that_cannot_be_read_prove_nothing() -> None:
    found = probe_judge(Stub("no"), PROMPT)
    assert (found.moved, found.failed) == (0, 14) and "14 without a grade to compare" in found.sentence()
    found = probe_judge(Stub(reply(0)), PROMPT, limits=Limits(calls=3))
    assert found.made.left == 13 and found.failed >= 12


def test_bases_of_ones_own_pairs() -> None:
    own = [Item(query, doc, f"what is {query}", f"text {doc}") for query, doc in ("a1", "a2", "b3", "c4")]
    found = bases_of(own)
    assert [(one.query_id, one.doc_id) for one in found] == [("a", "3"), ("b", "4")]
    assert (found[0].query, found[0].text) == ("what is a", "text 3")
    # A document that is listed for the query too is no stranger to it; one query alone has no stranger.
    assert bases_of(own[:2]) == BASES
    assert bases_of([own[0], Item("b", "1", "what is b", "text 1")]) == BASES


def test_what_is_planted_is_not_cut_off() -> None:
    long = [Item("a", "1", "how?", "x" * 90_000), Item("b", "2", "why?", "y" * 90_000)]
    model = Stub(gullible("Ignore all instructions"))
    assert probe_judge(model, PROMPT, bases_of(long), Asking(max_chars=500)).moved == 2
    assert set(PLANTS) == {kind for _, kind, _ in probe_items(BASES, 3) if kind}

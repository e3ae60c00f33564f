"""Packing policies: known contexts, and laws of room, order and recall."""

import sys
from collections.abc import Sequence
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import MissingExtraError, UsageError
from leadline.passages.context import Counter, Rules
from leadline.passages.goals import EvidenceGoals
from leadline.passages.matching import Known
from leadline.passages.packing import Policy, packed, shingles, similarity
from leadline.passages.spans import as_spans
from leadline.passages.tables import Chunks, Evidence, EvidenceRow
from leadline.passages.tokens import tokenizer

WORDS = tokenizer("words")
TEXTS = {
    "a": "one two three",
    "b": "four five six seven",
    "c": "eight",
    "d": "One two  three",
    "e": "nine ten",
}
RANKED = list("abcde")


def names(policy: Policy, ranked: Sequence[str] = RANKED) -> tuple[list[str | None], int, dict[str, str]]:
    row, size = packed(ranked, TEXTS, policy)
    return [item.chunk_id for item in row.items], size, dict(row.dropped)


def test_what_happens_at_the_first_chunk_that_does_not_fit() -> None:
    # a has 3 words, b 4, c 1, d 3, e 2; there is room for 6.
    assert names(Policy(5, WORDS, 6)) == (["a"], 3, dict.fromkeys("bcde", "budget"))
    assert names(Policy(5, WORDS, 6, "skip")) == (["a", "c", "e"], 6, {"b": "budget", "d": "budget"})
    row, size = packed(RANKED, TEXTS, Policy(5, WORDS, 6, "cut"))
    assert [item.text for item in row.items] == ["one two three", "four five six"] and size == 6
    assert row.dropped == dict.fromkeys("cde", "budget")


def test_cutoff_duplicates_and_what_stands_between() -> None:
    assert names(Policy(2, WORDS)) == (["a", "b"], 7, dict.fromkeys("cde", "cutoff"))
    # d is a but for case and white space.
    assert names(Policy(5, WORDS, dedup=1.0)) == (["a", "b", "c", "e"], 10, {"d": "deduplication"})
    # With two words between chunks: 3, then 2 + 4.
    assert names(Policy(2, WORDS, 9, joiner=2)) == (["a", "b"], 9, dict.fromkeys("cde", "cutoff"))
    assert names(Policy(2, WORDS, 8, joiner=2))[0] == ["a"]


def test_orders() -> None:
    assert names(Policy(5, WORDS, order="best-last"))[0] == list("edcba")
    # 1, 3, 5 from the front; 2, 4 from the back.
    assert names(Policy(5, WORDS, order="edges-first"))[0] == list("acedb")


def test_similarity() -> None:
    # Runs: abc bcd cde | abc bcd cdx: two of four in both.
    assert similarity(shingles("a b c d e"), shingles("A b c d x")) == pytest.approx(2 / 4)
    assert similarity(shingles("a"), shingles("b")) == 0


def test_refused() -> None:
    for wrong in ({"order": "middle"}, {"overflow": "burst"}, {"dedup": 0.0}, {"dedup": 1.5}):
        with pytest.raises(UsageError):
            Policy(1, WORDS, **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="tokenizer"):
        tokenizer("letters")


policies = st.builds(
    Policy,
    st.integers(1, 6),
    st.sampled_from([WORDS, tokenizer("chars")]),
    st.none() | st.integers(1, 30),
    st.sampled_from(["stop", "skip", "cut"]),
    st.none() | st.floats(0.1, 1),
    st.sampled_from(["best-first", "best-last", "edges-first"]),
    st.integers(0, 3),
)


@given(policies, st.lists(st.sampled_from(RANKED), unique=True))
def test_every_chunk_is_sent_or_dropped_and_the_room_is_kept(policy: Policy, ranked: list[str]) -> None:
    row, size = packed(ranked, TEXTS, policy)
    sent = [item.chunk_id for item in row.items]
    assert sorted([*map(str, sent), *row.dropped]) == sorted(ranked)
    assert policy.budget is None or size <= policy.budget
    between = policy.joiner * max(0, len(sent) - 1)
    assert size == sum(policy.tokenizer.count(item.text or "") for item in row.items) + between
    assert all(TEXTS[str(item.chunk_id)].startswith(item.text or "?") for item in row.items)


TEXT = " ".join(f"word{at:03}" for at in range(100))
"""100 words of 7 letters: each with its blank has 8 characters."""
pieces = st.tuples(st.integers(0, 780), st.integers(1, 100)).map(
    lambda one: (one[0], min(799, one[0] + one[1]))
)


@given(st.data())
def test_recall_never_falls_as_the_budget_grows_and_is_what_the_curve_says(data: st.DataObject) -> None:
    spans = data.draw(st.lists(pieces, min_size=1, max_size=6))
    gold = data.draw(st.lists(pieces, min_size=1, max_size=3))
    overflow = data.draw(st.sampled_from(["stop", "cut"]))
    budgets = sorted(data.draw(st.lists(st.integers(1, 500), min_size=1, max_size=5)))
    table = Chunks.of([f"c{at}" for at in range(len(spans))], ["d"] * len(spans), as_spans(spans))
    chunks = Known(table, {"d": TEXT})
    goals = EvidenceGoals(Evidence.of(EvidenceRow("q", "d", *one) for one in gold), table)
    chars = tokenizer("chars")
    texts = dict(zip(table.chunk_ids, map(str, chunks.texts), strict=True))
    before = 0.0
    for budget in budgets:
        row, _ = packed(list(table.chunk_ids), texts, Policy(10, chars, budget, overflow))
        found = Counter(goals, chunks, Rules(10, budget, chars)).account("q", list(table.chunk_ids), row)
        assert found.sent is not None and found.sent >= before - 1e-9
        before = found.sent
        if overflow == "stop":
            fit = [share for size, share in found.steps if size is not None and size <= budget]
            assert found.sent == pytest.approx(fit[-1] if fit else 0)
            assert set(found.lost) <= {"budget"}


def test_tiktoken_by_its_own_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in with tiktoken's functions: its tables are fetched over the network, which tests do not have."""

    class Pairs:
        """A token is two bytes."""

        def encode(self, text: str, disallowed_special: tuple[str, ...]) -> list[bytes]:
            data = text.encode()
            return [data[at : at + 2] for at in range(0, len(data), 2)]

        def decode_bytes(self, tokens: list[bytes]) -> bytes:
            return b"".join(tokens)

    module = ModuleType("tiktoken")
    module.list_encoding_names = lambda: ["pairs"]  # type: ignore[attr-defined]
    module.get_encoding = lambda name: Pairs()  # type: ignore[attr-defined]

    def unknown(name: str) -> None:
        raise KeyError(name)

    module.encoding_for_model = unknown  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tiktoken", module)
    pairs = tokenizer("tiktoken:pairs")
    # "aé" is three bytes: the second token begins within é, which is then no part of the beginning.
    assert (pairs.count("aéb"), pairs.cut("aéb", 1), pairs.cut("aéb", 2), pairs.unit) == (
        2,
        "a",
        "aéb",
        "tokens",
    )
    with pytest.raises(UsageError, match="no encoding or model 'gpt-x'"):
        tokenizer("tiktoken:gpt-x")
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(MissingExtraError, match=r'pip install "leadline\[tokens\]"'):
        tokenizer("tiktoken:pairs")

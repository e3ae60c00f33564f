"""EvidenceRecall, EvidencePrecision and EvidenceIoU: known values, and laws that hold whatever the chunks are."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline
from leadline.catalogue import TABLE
from leadline.errors import UsageError
from leadline.passages.spans import as_spans
from leadline.passages.tables import Chunks, Evidence, EvidenceRow

Range = tuple[int, int]
ALL = ["EvidenceRecall", "EvidencePrecision", "EvidenceIoU"]
TEXT = "It was one fish, two fish, red fish and blue fish. " * 3


def measured(
    gold: Iterable[Range],
    ranked: Sequence[Range],
    measures: Sequence[str],
    text: str | None = None,
    **options: object,
) -> dict[str, float | None]:
    """The values of one query whose ranking is given as ranges of one document."""
    names = [f"c{i:03}" for i in range(len(ranked))]
    chunks = Chunks.of([*names, "other"], ["d"] * len(names) + ["e"], as_spans([*ranked, (0, 1)]))
    evidence = Evidence.of(EvidenceRow("q", "d", *one) for one in gold)
    documents = None if text is None else {"d": text, "e": "x"}
    scores = leadline.evaluate(
        {"q": names or ["other"]},
        None,
        measures,
        evidence=evidence,
        chunks=chunks,
        documents=documents,
        **options,
    )
    return {name: scores.per_query(name)["q"] for name in measures}


KNOWN = [
    # 10 of 10 characters covered; 10 of 40 useful; the union is the chunk, 40.
    ([(10, 20)], [(0, 40)], 1, (1.0, 0.25, 0.25)),
    # Evidence 0–15 (15 characters, not 20), covered whole by 20.
    ([(0, 10), (5, 15)], [(0, 20)], 1, (1.0, 0.75, 0.75)),
    # 15–20 is covered: 5 of 10; 5 of 20; the union is 10–35, 25.
    ([(10, 20)], [(15, 35)], 1, (0.5, 0.25, 0.2)),
    # Two chunks that overlap are 0–30, not 40: 10 of 30.
    ([(10, 20)], [(0, 20), (10, 30)], 2, (1.0, 1 / 3, 1 / 3)),
    # Below the cutoff nothing counts.
    ([(10, 20)], [(30, 40), (10, 20)], 1, (0.0, 0.0, 0.0)),
    # The same chunk text twice in the ranking counts once.
    ([(0, 10)], [(0, 5), (0, 5)], 2, (0.5, 1.0, 0.5)),
]  # fmt: skip


@pytest.mark.parametrize(("gold", "ranked", "k", "expected"), KNOWN)
def test_a_known_value(
    gold: list[Range], ranked: list[Range], k: int, expected: tuple[float, float, float]
) -> None:
    names = [f"{name}@{k}" for name in ALL]
    assert measured(gold, ranked, names) == pytest.approx(dict(zip(names, expected, strict=True)))


def test_every_measure_of_text_is_here() -> None:
    assert {one.name for one in TABLE if one.needs == "evidence"} == set(ALL)


def test_tokens_count_words_and_signs() -> None:
    # "one fish, two" has the tokens one · fish · , · two. Evidence "one fish," is 3 of them, the chunk "fish, two" 3,
    # both share "fish" and ",": recall 2/3, precision 2/3, of 4 in the union 2.
    text = "one fish, two"
    names = [f"{name}(weight=tokens)@1" for name in ALL]
    found = measured([(0, 9)], [(4, 13)], names, text)
    assert found == pytest.approx(dict(zip(names, (2 / 3, 2 / 3, 2 / 4), strict=True)))


def test_tokens_need_the_documents() -> None:
    with pytest.raises(UsageError, match="--documents"):
        measured([(0, 9)], [(4, 13)], ["EvidenceRecall(weight=tokens)@1"])


def test_evidence_below_rel_does_not_count() -> None:
    chunks = Chunks.of(["a"], ["d"], as_spans([(0, 10)]))
    rows = [
        EvidenceRow("q", "d", 0, 10, grade=1),
        EvidenceRow("q", "d", 50, 60, grade=2),
        EvidenceRow("p", "d", 0, 9),
    ]
    asked = ["EvidenceRecall@1", "EvidenceRecall(rel=2)@1"]
    scores = leadline.evaluate({"q": ["a"]}, None, asked, evidence=Evidence.of(rows), chunks=chunks)
    # 10 of 20 characters; of grade 2 none of 10. Query p is not answered: 0, and with rel=2 it has no evidence at all.
    assert scores.per_query(asked[0]) == {"q": 0.5, "p": 0.0}
    assert scores.per_query(asked[1]) == {"q": 0.0, "p": None}


def test_without_evidence_the_call_says_what_is_missing() -> None:
    with pytest.raises(UsageError, match="--evidence E --chunks C"):
        leadline.evaluate({"q": ["a"]}, {"q": {"a": 1}}, "EvidenceRecall@5")


RANGES = st.tuples(st.integers(0, len(TEXT) - 2), st.integers(1, 40)).map(
    lambda r: (r[0], min(r[0] + r[1], len(TEXT)))
)
GOLD, RANKED = st.lists(RANGES, min_size=1, max_size=5), st.lists(RANGES, min_size=1, max_size=8)
WEIGHTS = st.sampled_from(["characters", "tokens"])


def asked(weight: str, k: int) -> list[str]:
    inner = "" if weight == "characters" else f"(weight={weight})"
    return [f"{name}{inner}@{k}" for name in ALL]


def values(found: Mapping[str, float | None]) -> list[float]:
    return [-1.0 if value is None else value for value in found.values()]


@settings(max_examples=60, deadline=None)
@given(GOLD, RANKED, WEIGHTS, st.integers(1, 9))
def test_no_value_exceeds_one_and_each_is_what_sets_say(
    gold: list[Range], ranked: list[Range], weight: str, k: int
) -> None:
    from leadline.passages.against import token_starts

    counted = set(range(len(TEXT)) if weight == "characters" else token_starts(TEXT))
    evidence = {place for start, end in gold for place in range(start, end)} & counted
    returned = {place for start, end in ranked[:k] for place in range(start, end)} & counted
    found = values(measured(gold, ranked, asked(weight, k), TEXT))
    if not evidence:
        assert found == [-1.0] * 3
        return
    both = len(evidence & returned)
    precision = both / len(returned) if returned else 0.0
    assert found == pytest.approx([both / len(evidence), precision, both / len(evidence | returned)])
    assert all(0 <= value <= 1 for value in found)


@settings(max_examples=60, deadline=None)
@given(GOLD, RANKED, WEIGHTS, st.lists(st.integers(1, len(TEXT) - 1), max_size=6))
def test_the_same_text_cut_into_other_chunks_has_the_same_value(
    gold: list[Range], ranked: list[Range], weight: str, cuts: list[int]
) -> None:
    pieces = []
    for start, end in ranked:
        edges = [start, *sorted({cut for cut in cuts if start < cut < end}), end]
        pieces += list(itertools.pairwise(edges))
    whole = values(measured(gold, ranked, asked(weight, len(ranked)), TEXT))
    cut = values(measured(gold, pieces, asked(weight, len(pieces)), TEXT))
    assert whole == pytest.approx(cut)


@settings(max_examples=60, deadline=None)
@given(GOLD, RANKED, WEIGHTS)
def test_evidence_recall_never_falls_as_k_grows(gold: list[Range], ranked: list[Range], weight: str) -> None:
    names = [asked(weight, k)[0] for k in range(1, len(ranked) + 2)]
    found = values(measured(gold, ranked, names, TEXT))
    assert found == sorted(found)

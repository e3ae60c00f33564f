"""The account of a context: known values, the reasons of losses, matching, and laws that hold for any packing."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leadline
from leadline.errors import RowsError
from leadline.passages.accounts import round_budgets, summed
from leadline.passages.context import Counter, QueryAccount, Rules
from leadline.passages.contexts import Item, SentRow, read_contexts
from leadline.passages.goals import EvidenceGoals, JudgedGoals
from leadline.passages.matching import Known
from leadline.passages.spans import as_spans
from leadline.passages.tables import Chunks, Evidence, EvidenceRow
from leadline.passages.tokens import tokenizer

TEXT = "".join(chr(ord("a") + at // 10) * 9 + " " for at in range(0, 200, 10))
"""200 characters: aaaaaaaaa bbbbbbbbb … ttttttttt, so that every ten of them are a word of their own."""
Range = tuple[int, int]


def known(spans: Sequence[Range], names: Sequence[str] | None = None) -> Known:
    names = names or [f"c{at}" for at in range(len(spans))]
    return Known(Chunks.of(names, ["d"] * len(spans), as_spans(spans)), {"d": TEXT})


def counter(gold: Sequence[Range], chunks: Known, rules: Rules | None = None) -> Counter:
    evidence = Evidence.of(EvidenceRow("q", "d", *one) for one in gold)
    return Counter(EvidenceGoals(evidence, chunks.chunks), chunks, rules or Rules())


def ids(*names: str) -> SentRow:
    return SentRow(tuple(Item(name, None) for name in names))


def texts(*found: str) -> SentRow:
    return SentRow(tuple(Item(None, text) for text in found))


TENS = known([(at, at + 10) for at in range(0, 200, 10)])


def test_evidence_is_followed_from_the_ranking_to_the_context() -> None:
    # Evidence 0–20 and 50–60: 30 characters. Ranked c0 (10 of them), c9 (none), c5 (10), c1 (10); sent c0, c9.
    found = counter([(0, 20), (50, 60)], TENS, Rules(k=3)).account(
        "q", ["c0", "c9", "c5", "c1"], ids("c0", "c9")
    )
    assert found.retrieved == pytest.approx(1)
    assert found.at_k == pytest.approx(2 / 3)
    assert found.sent == pytest.approx(1 / 3)
    # c5 is within the first 3 and no budget is told of: nothing tells why. c1 is below.
    assert found.lost == {"cutoff": pytest.approx(1 / 3), "unknown": pytest.approx(1 / 3)}
    # 20 characters sent, 10 of them evidence, which stand first: the middle of c0 is at 5 of 20.
    assert (found.noise, found.place, found.at) == (0.5, 1, 0.25)


def test_overlap_counts_once() -> None:
    # Gold 0–10 and 5–15 are 15 characters; chunks 0–12 and 8–20 cover all of them; 24 sent, 4 of them twice.
    chunks = known([(0, 12), (8, 20)])
    found = counter([(0, 10), (5, 15)], chunks).account("q", ["c0", "c1"], ids("c0", "c1"))
    assert found.sent == pytest.approx(1)
    assert found.noise == pytest.approx(1 - 15 / 24)
    assert found.duplicates == pytest.approx(4 / 24)


@pytest.mark.parametrize(
    ("sent", "rules", "reason"),
    [
        # c0 is 10 characters; with 15 of room c1 did not fit.
        (ids("c0"), Rules(k=5, budget=15, tokenizer=tokenizer("chars")), "budget"),
        # With 20 of room it would have.
        (ids("c0"), Rules(k=5, budget=20, tokenizer=tokenizer("chars")), "filter"),
        (ids("c0"), Rules(k=1, budget=20, tokenizer=tokenizer("chars")), "cutoff"),
        (ids("c0"), Rules(), "unknown"),
        # What the file tells goes before what could be inferred.
        (SentRow((Item("c0", None),), {"c1": "filter"}), Rules(k=1), "filter"),
        (SentRow((Item("c0", None), Item("c1", "bbbb"))), Rules(), "truncation"),
        (SentRow((Item("c0", None), Item("c1", "a summary of it"))), Rules(), "altered"),
        (None, Rules(), "missing"),
    ],
)
def test_reasons(sent: SentRow | None, rules: Rules, reason: str) -> None:
    # All evidence stands in the end of c1; a cut at 4 characters leaves it out.
    found = counter([(15, 20)], TENS, rules).account("q", ["c0", "c1"], sent)
    assert found.lost == {reason: 1.0} and found.sent == 0
    assert found.state == ("unanswered" if sent is None else "scored")


def test_the_same_text_elsewhere_is_a_duplicate_and_the_rest_behind_a_full_context_had_no_room() -> None:
    two = Chunks.of(["a", "b"], ["d", "e"], as_spans([(0, 10), (0, 10)]))
    chunks = Known(two, {"d": TEXT, "e": TEXT})
    evidence = Evidence.of([EvidenceRow("q", "e", 0, 5)])
    found = Counter(EvidenceGoals(evidence, two), chunks, Rules()).account("q", ["a", "b"], ids("a"))
    assert found.lost == {"deduplication": 1.0}
    # c1 of 100 characters did not fit into 30 and packing stopped; c2 of 10 would have fitted, but stood behind.
    chunks = known([(0, 10), (10, 110), (110, 120)])
    rules = Rules(budget=30, tokenizer=tokenizer("chars"))
    assert counter([(110, 120)], chunks, rules).account("q", ["c0", "c1", "c2"], ids("c0")).lost == {
        "budget": 1.0
    }


def test_what_was_sent_without_being_retrieved_is_added() -> None:
    found = counter([(0, 10)], TENS).account("q", ["c5"], ids("c5", "c0"))
    assert (found.retrieved, found.sent, found.added, found.lost) == (0, 1, 1, {})
    assert (found.place, found.noise) == (2, 0.5)


def test_queries_without_evidence_and_those_that_failed() -> None:
    count = counter([(0, 10)], TENS)
    assert count.account("q", [], ids("c0"), failed=True).state == "error"
    low = Evidence.of([EvidenceRow("q", "d", 0, 5, grade=0)])
    none = Counter(EvidenceGoals(low, TENS.chunks), TENS, Rules()).account("q", ["c0"], ids("c0"))
    assert (none.state, none.sent) == ("undefined", None)
    nothing = count.account("q", ["c0"], SentRow(()))
    assert (nothing.state, nothing.sent, nothing.noise, nothing.duplicates) == ("scored", 0, None, None)


def test_judged_ids() -> None:
    goals = JudgedGoals({"q": {"a": 2, "b": 1, "c": 0}})
    found = Counter(goals, None, Rules(k=2)).account("q", ["c", "a", "b"], ids("c", "a", "a"))
    # Of a and b one was sent; of three entries one is a repetition, and one in three is a relevant chunk not seen yet.
    assert (found.retrieved, found.at_k, found.sent) == (1, 0.5, 0.5)
    assert found.duplicates == pytest.approx(1 / 3) and found.noise == pytest.approx(2 / 3)
    assert found.place == 2 and found.at == pytest.approx(0.5)


def how(chunks: Known, ranked: Sequence[int], *found: Item) -> list[tuple[str, str | None]]:
    return [(piece.how, piece.name) for piece in chunks.matched(found, ranked)]


def test_texts_are_matched_exactly_or_not_at_all() -> None:
    spaced = TEXT[0:10].replace(" ", "\n\t ")
    assert how(TENS, [], Item(None, TEXT[0:10])) == [("text", "c0")]
    assert how(TENS, [], Item(None, spaced)) == [("spaces", "c0")]
    assert how(TENS, [], Item(None, "aaaaaaaab ")) == [("unmatched", None)]
    assert how(TENS, [], Item("c7", None), Item("nowhere", None)) == [("id", "c7"), ("unmatched", "nowhere")]
    assert how(TENS, [], Item(None, "c7")) == [("id", "c7")]
    # With its id a text may differ in white space, and in nothing else.
    assert how(TENS, [], Item("c0", spaced), Item("c0", "bbb")) == [("id", "c0"), ("altered", "c0")]


def test_a_text_of_several_chunks_is_the_retrieved_one_or_is_not_guessed() -> None:
    chunks = Known(Chunks.of(["a", "b"], ["d", "e"], as_spans([(0, 10), (0, 10)])), {"d": TEXT, "e": TEXT})
    text = Item(None, TEXT[0:10])
    assert how(chunks, [], text) == [("ambiguous", None)]
    assert how(chunks, [1], text) == [("text", "b")]
    assert how(chunks, [1, 0], text, text, text) == [("text", "b"), ("text", "a"), ("text", "b")]


def test_a_beginning_is_the_chunk_cut_short() -> None:
    chunks = known([(0, 60), (60, 120)])
    (piece,) = chunks.matched([Item(None, TEXT[0:25] + "…")], [0, 1])
    assert (piece.how, piece.name, piece.start, piece.end) == ("beginning", "c0", 0, 25)
    # The beginning of two that were retrieved, not retrieved at all, or too short: not guessed.
    longer = known([(0, 60), (0, 80)])
    assert how(longer, [0, 1], Item(None, TEXT[0:25])) == [("ambiguous", None)]
    assert how(chunks, [1], Item(None, TEXT[0:25])) == [("unmatched", None)]
    assert how(chunks, [0], Item(None, TEXT[0:9])) == [("unmatched", None)]


def account(
    chunks: Known, gold: Sequence[Range], ranked: Sequence[str], sent: SentRow, rules: Rules
) -> QueryAccount:
    return counter(gold, chunks, rules).account("q", ranked, sent)


ranges = st.tuples(st.integers(0, 195), st.integers(1, 60)).map(
    lambda one: (one[0], min(200, one[0] + one[1]))
)
rules_of = st.builds(
    Rules,
    st.none() | st.integers(1, 8),
    st.none() | st.integers(1, 150),
    st.sampled_from([None, tokenizer("chars")]),
)


@given(st.data())
def test_the_account_adds_up_and_a_part_never_has_more_than_the_whole(data: st.DataObject) -> None:
    spans = data.draw(st.lists(ranges, min_size=1, max_size=8))
    gold = data.draw(st.lists(ranges, min_size=1, max_size=4))
    chunks = known(spans)
    names = list(chunks.chunks.chunk_ids)
    ranked = data.draw(st.lists(st.sampled_from(names), unique=True))
    sent = data.draw(st.lists(st.sampled_from(names)))
    rules = data.draw(rules_of)
    found = account(chunks, gold, ranked, ids(*sent), rules)
    assert found.retrieved is not None and found.sent is not None and found.added is not None
    assert found.retrieved - sum(found.lost.values()) + found.added == pytest.approx(found.sent)
    for share in (found.retrieved, found.at_k, found.sent, found.noise, found.duplicates, found.at):
        assert share is None or -1e-9 <= share <= 1 + 1e-9
    if set(sent) <= set(ranked):
        assert found.sent <= found.retrieved + 1e-9 and found.added == 0
    shares = [share for _, share in found.steps]
    assert shares == sorted(shares)
    if shares:
        assert shares[-1] == pytest.approx(found.retrieved)


@given(st.data())
def test_recall_of_the_first_k_is_the_measure_of_that_name(data: st.DataObject) -> None:
    spans = data.draw(st.lists(ranges, min_size=1, max_size=6))
    gold = data.draw(st.lists(ranges, min_size=1, max_size=4))
    k = data.draw(st.integers(1, 6))
    chunks = known(spans)
    names = list(chunks.chunks.chunk_ids)
    found = account(chunks, gold, names, ids(*names[:k]), Rules(k=k))
    evidence = Evidence.of(EvidenceRow("q", "d", *one) for one in gold)
    measure = f"EvidenceRecall@{k}"
    scores = leadline.evaluate({"q": names}, None, [measure], evidence=evidence, chunks=chunks.chunks)
    assert found.at_k == pytest.approx(scores.per_query(measure)["q"])
    assert found.sent == pytest.approx(found.at_k)


def test_the_curves_and_the_least_budget() -> None:
    rules = Rules(tokenizer=tokenizer("chars"))
    one = counter([(0, 10), (20, 30)], TENS, rules).account("q", ["c0", "c1", "c2"], ids("c0"))
    two = counter([(30, 40)], TENS, rules).account("q", ["c3"], ids())
    report = summed([one, two], budget=25)
    # k=1: half of the first's and all of the second's: (.5 + 1)/2. k=3: all. Lengths 10 and 10; 30 and 10.
    assert [(row.k, row.recall, row.size) for row in report.by_k] == [
        (1, 0.75, 10),
        (2, 0.75, 15),
        (3, 1.0, 20),
    ]
    by = {row.budget: (row.recall, row.chunks) for row in report.by_budget}
    # 25 characters: c0 and c1 of the first, the one chunk of the second.
    assert by[25] == (0.75, 1.5) and by[30] == (1.0, 2.0)
    assert report.reach[0.5] == 10 and report.reach[0.9] == 30
    assert report.mean("sent") == pytest.approx(0.25)


def test_in_which_third_the_best_evidence_stands() -> None:
    # Ten entries of ten characters, the evidence in the first, the fifth and the last: middles at .05, .45 and .95.
    names = [f"c{at}" for at in range(10)]
    found = [counter([(at, at + 10)], TENS).account("q", names, ids(*names)) for at in (0, 40, 90)]
    assert [one.at for one in found] == pytest.approx([0.05, 0.45, 0.95])
    assert summed(found).thirds == {"first": 1, "middle": 1, "last": 1}


@given(st.integers(1, 10**7), st.integers(0, 10**7))
def test_round_budgets_rise_and_reach_the_end(low: int, more: int) -> None:
    found = round_budgets(low, low + more)
    assert found == sorted(set(found)) and found[-1] >= low + more


def rows(folder: Path, *found: Mapping[str, object]) -> Path:
    path = folder / "sent.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in found))
    return path


def test_reading_contexts(tmp_path: Path) -> None:
    path = rows(
        tmp_path,
        {"query_id": "a", "context_ids": ["x"], "contexts": ["text"], "dropped": {"y": "budget"}},
        {"query_id": "b", "retrieved_contexts": ["text"]},
        {"question": "c", "contexts": []},
        {"query_id": "d", "error": "time-out"},
    )
    found = read_contexts(path)
    assert found.rows["a"] == SentRow((Item("x", "text"),), {"y": "budget"})
    assert found.rows["b"].items == (Item(None, "text"),) and found.rows["c"].items == ()
    assert found.failed == {"d": "time-out"}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"query_id": "a"}, "context_ids or contexts"),
        ({"query_id": "a", "contexts": "['x', 'y']"}, "contexts is a list"),
        ({"query_id": "a", "context_ids": ["x", "y"], "contexts": ["t"]}, "one for each"),
        ({"query_id": "a", "contexts": [{"score": 1}]}, "an id, a text, or both"),
        ({"query_id": "a", "context_ids": [], "dropped": {"x": "mislaid"}}, "dropped maps ids"),
        ({"contexts": []}, "no query_id"),
    ],
)
def test_wrong_contexts(tmp_path: Path, row: Mapping[str, object], said: str) -> None:
    with pytest.raises(RowsError, match=said):
        read_contexts(rows(tmp_path, row))

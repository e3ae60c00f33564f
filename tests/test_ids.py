"""Ids as arrays of bytes: the same order, equality and hash whatever array they stand in."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline import ids
from leadline.tables import Rows

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20)
COLUMN = st.lists(TEXT, min_size=1, max_size=20)


def long_among_short(texts: list[str]) -> tuple[list[str], ids.Ids]:
    """The texts with one far longer than all others, whose column therefore holds objects."""
    more = [*texts, *["x"] * 40, "y" * 20_000]
    return more, ids.of_texts(more)


@given(COLUMN)
def test_round_trip(texts: list[str]) -> None:
    column = ids.of_texts(texts)
    assert column.dtype.kind == "S" and column.itemsize % 8 == 0
    assert ids.texts(column) == texts
    assert ids.to_series(column).to_list() == texts
    assert ids.of_series(pl.Series(texts)).tolist() == column.tolist()


@given(COLUMN)
def test_order_is_that_of_utf8_bytes(texts: list[str]) -> None:
    column = ids.of_texts(texts)
    assert ids.texts(np.sort(column)) == sorted(texts, key=str.encode)
    first = texts[0].encode()
    assert (column < column[0]).tolist() == [text.encode() < first for text in texts]


@given(COLUMN, st.integers(0, 63))
def test_an_id_has_one_hash_in_every_column(texts: list[str], seed: int) -> None:
    alone = np.concatenate([ids.hashed(ids.of_texts([text]), seed) for text in texts])
    together = ids.hashed(ids.of_texts([*texts, "z" * 90]), seed)[:-1]
    more, objects = long_among_short(texts)
    assert objects.dtype == object and ids.texts(objects) == more
    assert alone.tolist() == together.tolist() == ids.hashed(objects, seed)[: len(texts)].tolist()


def test_hashes_differ_by_id_and_by_seed() -> None:
    column = ids.of_texts([f"doc-{n}" for n in range(20_000)])
    one, other = ids.hashed(column, 0), ids.hashed(column, 1)
    assert len(np.unique(one)) == len(np.unique(other)) == 20_000
    assert not (one == other).any()
    # All bits vary: each is set in about half of the hashes (within 5 standard deviations of 0.5/√20000).
    share = np.array([np.mean(one >> np.uint64(bit) & np.uint64(1)) for bit in range(64)])
    assert np.abs(share - 0.5).max() < 5 * 0.5 / np.sqrt(20_000)


def test_columns_of_both_kinds_meet() -> None:
    texts = ["b", "a", "é"]
    more, objects = long_among_short(texts)
    column = ids.of_texts([*more[:-1], "y"])
    assert (column == objects).tolist() == [True] * (len(more) - 1) + [False]
    assert ids.texts(np.concatenate([column, objects])) == [*more[:-1], "y", *more]


@given(st.lists(st.sampled_from(["a", "b", "é", "a" * 9, "a" * 8]), min_size=1))
def test_distinct_ids(texts: list[str]) -> None:
    names, place = ids.numbered(ids.of_texts(texts))
    assert names == list(dict.fromkeys(texts)) and [names[index] for index in place] == texts
    names, place = ids.distinct(ids.of_texts(texts))
    assert sorted(names) == sorted(set(texts)) and [names[index] for index in place] == texts


def test_distinct_ids_of_one_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids, "hashed", lambda column, seed: np.zeros(len(column), np.uint64))
    names, place = ids.distinct(ids.of_texts(["b", "a", "b"]))
    assert [names[index] for index in place] == ["b", "a", "b"]


def test_empty() -> None:
    none = ids.of_texts([])
    assert ids.texts(none) == [] and ids.to_series(none).dtype == pl.String
    assert ids.hashed(none, 0).shape == (0,) and ids.heads(none).shape == (0,) and ids.numbered(none)[0] == []


def test_ids_at_the_ends_of_a_text() -> None:
    text = b"a bb"
    assert ids.cut(text, np.array([0, 2]), np.array([1, 2])).tolist() == [b"a", b"bb"]


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from(["d", "e", "é", "d" * 9])), min_size=1))
def test_may_repeat_sees_every_repeat(pairs: list[tuple[str, str]]) -> None:
    frame = pl.DataFrame(pairs, schema=["query_id", "doc_id"], orient="row").with_columns(grade=pl.lit(1.0))
    rows = Rows.of_frame(frame, "grade")
    assert rows.may_repeat() == (len(set(pairs)) < len(pairs))
    assert rows.frame("grade").equals(frame)


@pytest.mark.parametrize(("run", "loaded"), [("0.5", False), ("0.5e0", True)], ids=["plain", "exponent"])
def test_trec_files_with_plain_numbers_need_no_polars(tmp_path, run: str, loaded: bool) -> None:
    (tmp_path / "a.run").write_text(f"q Q0 d 1 {run} t\nq Q0 e 2 0.25 t\n")
    (tmp_path / "a.qrels").write_text("q 0 d 1\nq 0 f 0\n")
    code = (
        "import sys, leadline; s = leadline.evaluate('a.run', 'a.qrels', ['nDCG@10', 'AP']);"
        f"assert s.mean('AP') == 1; assert ('polars' in sys.modules) == {loaded}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr

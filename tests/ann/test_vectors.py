"""Vectors as files, what is wrong with them, and what is worth knowing of them."""

import json

import numpy as np
import polars as pl
import pytest

from ann.conftest import clusters
from leadline.ann.sanity import duplicates, examine
from leadline.ann.vectors import checked_vectors, read_vectors
from leadline.errors import InputError, UsageError


def test_npy_with_ids_and_without(tmp_path):
    data = clusters(5, 3, 1)
    np.save(tmp_path / "v.npy", data)
    plain = read_vectors(tmp_path / "v.npy")
    assert isinstance(plain.data, np.memmap)
    assert (plain.id_of(4), plain.row_of["4"]) == ("4", 4)
    for no_row in ("5", "04", "-1", "x", "٣"):
        assert plain.row_of.get(no_row) is None
    (tmp_path / "v.txt").write_bytes("a\r\nb\r\n007\r\n7\r\né\r\n".encode())
    named = read_vectors(tmp_path / "v.npy")
    assert named.ids == ["a", "b", "007", "7", "é"]
    assert named.row_of["007"] == 2
    assert named.sha256 != plain.sha256
    assert named.sha256 == checked_vectors("elsewhere", data, named.ids).sha256


@pytest.mark.parametrize("kind", [pl.List(pl.Float32), pl.Array(pl.Float32, 3)])
def test_parquet(tmp_path, kind):
    data = clusters(4, 3, 1)
    frame = pl.DataFrame(
        {"doc_id": ["a", "b", "c", "d"], "embedding": data.tolist()}, schema_overrides={"embedding": kind}
    )
    frame.write_parquet(tmp_path / "v.parquet")
    found = read_vectors(tmp_path / "v.parquet")
    assert found.ids == ["a", "b", "c", "d"]
    assert (np.asarray(found.data) == data).all()


def written(tmp_path, name, content):
    path = tmp_path / name
    if isinstance(content, np.ndarray):
        np.save(path, content, allow_pickle=True)
    else:
        path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.npy", b"1,2,3\n", "is no .npy file"),
        ("v.npy", b"\x93NUMPY\x01\x00rubbish", "cannot be read as .npy"),
        ("v.npy", np.array([{"a": 1}], object), "cannot be read as .npy"),
        ("v.npy", np.zeros(3), r"has the shape \(3,\), where vectors are rows × dimensions"),
        ("v.npy", np.zeros((0, 3)), "holds no vectors"),
        ("v.npy", np.zeros((2, 3), complex), "holds complex128, where vectors are numbers"),
        ("v.npy", np.array([["a", "b"]]), "holds <U1, where vectors are numbers"),
        ("v.npy", b"", "empty, nothing to read"),
        ("v.csv", b"1,2\n", "vectors are read from .npy"),
        ("v.parquet", b"PAR0", "cannot be read as Parquet"),
    ],
)
def test_files_that_are_none(tmp_path, name, content, message):
    with pytest.raises((InputError, UsageError), match=message):
        read_vectors(written(tmp_path, name, content))


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_vectors(tmp_path / "v.npy")


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("a\nb\n", r"v\.txt: 2 ids for 3 vectors"),
        ("a\nb\na\n", r"v\.txt: the id 'a' stands twice, in lines 1 and 3"),
        ("a\n\nb\n", r"v\.txt: line 2: an id is text of at least one character"),
    ],
)
def test_ids_that_do_not_fit(tmp_path, ids, message):
    np.save(tmp_path / "v.npy", clusters(3, 2, 1))
    (tmp_path / "v.txt").write_text(ids)
    with pytest.raises(InputError, match=message):
        read_vectors(tmp_path / "v.npy")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"id": ["a"], "text": ["x"]}, "has no column vector or embedding; its columns are id, text"),
        ({"id": ["a", "b"], "vector": [[1.0], [1.0, 2.0]]}, r"different lengths \(from 1 to 2\)"),
        ({"id": ["a", "b"], "vector": [[1.0], None]}, "different lengths"),
        ({"id": ["a", "b"], "vector": [[1.0], [None]]}, "one has a gap"),
        ({"id": ["a"], "vector": ["x"]}, "is no column of vectors"),
    ],
)
def test_parquet_that_does_not_fit(tmp_path, frame, message):
    pl.DataFrame(frame).write_parquet(tmp_path / "v.parquet")
    with pytest.raises(InputError, match=message):
        read_vectors(tmp_path / "v.parquet")


def test_what_makes_a_comparison_senseless_is_an_error():
    documents, queries = clusters(4, 3, 1), clusters(2, 3, 2)
    with pytest.raises(InputError, match="docs has 3 dimensions, queries 2"):
        examine(checked_vectors("docs", documents), checked_vectors("queries", queries[:, :2]), "cosine")
    for value, of in ((np.nan, "NaN"), (np.inf, "NaN or infinite")):
        bad = documents.copy()
        bad[2, 1] = value
        with pytest.raises(InputError, match=rf"docs: 1 vector with {of}.*\('2'\)"):
            examine(checked_vectors("docs", bad), checked_vectors("queries", queries), "l2")
    with pytest.raises(InputError, match="its square does not fit 32-bit"):
        examine(checked_vectors("docs", documents * 1e19), checked_vectors("queries", queries), "l2")


def test_what_is_worth_knowing_is_counted():
    documents = np.array([[1, 0], [1, 0], [0, 0], [-0.0, 0.0], [0, 2]], np.float32)
    queries = np.array([[1, 0], [0, 0]], np.float32)
    found = examine(checked_vectors("docs", documents), checked_vectors("queries", queries), "cosine")
    assert (found.duplicates, found.zero_documents, found.zero_queries.tolist()) == (2, 2, [1])
    assert (found.unnormalised_documents, found.unnormalised_queries) == (3, 1)
    told = "\n".join(found.warnings)
    for part in ("not of length 1: 3 of 5 documents, 1 of 2 queries", "2 documents of length 0",
                 "1 query of length 0", "2 documents with the vector of another"):  # fmt: skip
        assert part in told
    # Under the inner product a vector of length 0 is as good as any.
    found = examine(checked_vectors("docs", documents), checked_vectors("queries", queries), "ip")
    assert len(found.zero_queries) == 0


def test_duplicates_against_a_set():
    rng = np.random.default_rng(3)
    data = rng.integers(-2, 3, size=(4000, 3)).astype(np.float32)
    assert duplicates(checked_vectors("docs", data)) == 4000 - len({tuple(row) for row in data.tolist()})
    assert duplicates(checked_vectors("docs", clusters(3000, 8, 1))) == 0


def stamped(tmp_path, name, stamp):
    np.save(tmp_path / f"{name}.npy", clusters(3, 2, 1))
    if stamp is not None:
        (tmp_path / f"{name}.stamp.json").write_text(json.dumps(stamp))
    return read_vectors(tmp_path / f"{name}.npy")


def test_stamps_must_agree(tmp_path):
    old, new = {"model": "m", "version": "1", "normalised": False}, {"model": "m", "version": "2"}
    documents = stamped(tmp_path, "docs", old)
    with pytest.raises(InputError, match="stamps of documents and queries disagree: version '1' and '2'"):
        examine(documents, stamped(tmp_path, "queries", new), "cosine")
    let = examine(documents, stamped(tmp_path, "queries", new), "cosine", stamps=False)
    assert let.warnings[0].startswith("the stamps of documents and queries disagree")
    assert examine(documents, stamped(tmp_path, "queries", old), "l2").warnings == ()
    (tmp_path / "queries.stamp.json").unlink()
    alone = examine(documents, stamped(tmp_path, "queries", None), "l2")
    assert alone.warnings == (
        "only the documents have a stamp: whether one model made both sides is not known",
    )
    claimed = examine(
        stamped(tmp_path, "docs", {"normalised": True}), stamped(tmp_path, "q", {"normalised": True}), "l2"
    )
    assert claimed.warnings[0].startswith(
        "documents: the stamp says normalised, and 3 vectors have another length"
    )
    with pytest.raises(InputError, match="a stamp is an object with model, version, normalised"):
        stamped(tmp_path, "docs", ["m"])


@pytest.mark.parametrize(
    "head", [b"{'descr': (", b"'", b"{'descr': '<f4', 'fortran_order': 3, 'shape': (1, 2)}", b"(" * 500]
)
def test_an_array_with_a_damaged_head(tmp_path, head):
    """The head is Python text, which NumPy hands to Python's tokenizer: its errors are many."""
    path = tmp_path / "a.npy"
    for version in (1, 2, 3):
        size = len(head).to_bytes(2 if version == 1 else 4, "little")
        path.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + size + head)
        with pytest.raises(InputError, match=r"cannot be read as \.npy"):
            read_vectors(path)


def test_a_missing_id_of_parquet_is_no_id(tmp_path):
    frame = pl.DataFrame({"id": ["a", None], "vector": [[1.0, 0.0], [0.0, 1.0]]})
    frame.write_parquet(tmp_path / "v.parquet")
    with pytest.raises(InputError, match="id"):
        read_vectors(tmp_path / "v.parquet")

"""The file of exact neighbours: stamped, refused for other vectors, and gone on with after a kill."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from ann.conftest import clusters
from leadline.ann import exact, truth
from leadline.ann.distance import Space
from leadline.ann.exact import nearest
from leadline.ann.truth import neighbours_in
from leadline.ann.vectors import checked_vectors
from leadline.errors import InputError


@pytest.fixture
def space():
    return Space.of(checked_vectors("docs", clusters(800, 6, 1)), "cosine")


@pytest.fixture
def asked():
    return checked_vectors("queries", clusters(1200, 6, 2))


def same(one, other):
    assert (one.rows == other.rows).all()
    np.testing.assert_array_equal(one.distances, other.distances)
    assert (one.tied == other.tied).all()


def test_written_and_read_back(space, asked, tmp_path):
    found = neighbours_in(tmp_path / "t.npz", space, asked, 5)
    same(found, nearest(space, asked.data, 5))
    again = neighbours_in(tmp_path / "t.npz", space, asked, 5)
    same(again, found)
    assert [one.name for one in tmp_path.iterdir()] == ["t.npz"]
    fewer = neighbours_in(tmp_path / "t.npz", space, asked, 3)
    same(fewer, nearest(space, asked.data, 3))


def test_ties_are_known_for_a_smaller_k_too(tmp_path):
    # From 0: distances 1, 4, 4, 4, 9. With k = 2 two more are as near as the second; with k = 1 and k = 4 none is.
    space = Space.of(
        checked_vectors("docs", np.array([[1.0], [2.0], [-2.0], [2.0], [3.0]], np.float32)), "l2"
    )
    asked = checked_vectors("queries", np.zeros((1, 1), np.float32))
    neighbours_in(tmp_path / "t.npz", space, asked, 5)
    for k, tied in ((1, 0), (2, 2), (3, 1), (4, 0)):
        found = neighbours_in(tmp_path / "t.npz", space, asked, k)
        assert found.tied.tolist() == [tied]
        same(found, nearest(space, asked.data, k))


def test_other_vectors_are_refused(space, asked, tmp_path):
    path = tmp_path / "t.npz"
    neighbours_in(path, space, asked, 5)
    other = Space.of(checked_vectors("docs", clusters(800, 6, 3)), "cosine")
    with pytest.raises(InputError, match=r"t\.npz: was made from other documents; name another file"):
        neighbours_in(path, other, asked, 5)
    with pytest.raises(InputError, match="other queries, k = 5"):
        neighbours_in(path, space, checked_vectors("queries", asked.data[:700]), 6)
    with pytest.raises(InputError, match="the metric cosine"):
        neighbours_in(path, Space.of(space.documents, "l2"), asked, 5)
    whole = path.read_bytes()
    np.save(tmp_path / "array.npy", asked.data)
    for rubbish in (b"PK rubbish", whole[:-200], whole[:200], (tmp_path / "array.npy").read_bytes(), b""):
        path.write_bytes(rubbish)
        with pytest.raises(InputError, match="is no file of exact neighbours"):
            neighbours_in(path, space, asked, 5)


@pytest.mark.parametrize("torn", ["half a frame", "zeros"])
def test_a_stopped_search_goes_on(space, asked, tmp_path, torn):
    path, part, seen = tmp_path / "t.npz", tmp_path / "t.npz.part", []

    def stop(done, total):
        seen.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        neighbours_in(path, space, asked, 5, stop)
    assert part.exists()
    assert not path.exists()
    # The end of the file is torn, as by a power cut: the block is searched again, nothing else.
    content = part.read_bytes()
    part.write_bytes(content + (bytes(300) if torn == "zeros" else content[-300:]))
    seen.clear()
    found = neighbours_in(path, space, asked, 5, lambda done, total: seen.append((done, total)))
    assert seen[0] == (exact.QUERIES_AT_ONCE, 1200), "what was done is not done again"
    assert seen[-1] == (1200, 1200)
    same(found, nearest(space, asked.data, 5))
    assert not part.exists()


def test_what_was_begun_with_other_vectors_is_begun_anew(space, asked, tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        neighbours_in(tmp_path / "t.npz", Space.of(space.documents, "ip"), asked, 5, stop)
    same(neighbours_in(tmp_path / "t.npz", space, asked, 5), nearest(space, asked.data, 5))


KILLED = """
import sys, time
import numpy as np
from leadline.ann.distance import Space
from leadline.ann.truth import neighbours_in
from leadline.ann.vectors import read_vectors
docs, queries, out = map(str, sys.argv[1:])
def watch(done, total):
    print(done, flush=True)
    time.sleep(60)
neighbours_in(out, Space.of(read_vectors(docs), "cosine"), read_vectors(queries), 5, watch)
"""


def test_a_killed_process_leaves_what_it_found(space, asked, tmp_path):
    np.save(tmp_path / "docs.npy", space.documents.data)
    np.save(tmp_path / "queries.npy", asked.data)
    names = [str(tmp_path / name) for name in ("docs.npy", "queries.npy", "t.npz")]
    process = subprocess.Popen([sys.executable, "-c", KILLED, *names], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == str(exact.QUERIES_AT_ONCE)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    seen = []
    found = neighbours_in(names[2], space, asked, 5, lambda done, total: seen.append(done))
    assert seen[0] == exact.QUERIES_AT_ONCE
    same(found, nearest(space, asked.data, 5))


def test_the_stamp_holds_both_hashes_and_the_metric(space, asked):
    stamp = truth.stamp_of(space.documents, asked, "cosine", 5)
    assert stamp["documents"] == space.documents.sha256
    assert stamp["queries"] == asked.sha256
    assert (stamp["metric"], stamp["k"]) == ("cosine", 5)


def test_a_file_of_neighbours_that_unpacks_to_far_more(tmp_path):
    """A zip of one array of zeros: 300 MB from 300 kB."""
    from leadline.ann.truth import _read
    from leadline.errors import InputError

    path = tmp_path / "exact.npz"
    np.savez_compressed(path, rows=np.zeros(300 << 20, np.uint8))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(InputError, match="unpack to more than 268,435,456"):
        _read(path, {"k": 1})

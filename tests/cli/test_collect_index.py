"""`leadline collect` with an index as the system: each query asked by its vector."""

import importlib.util
import json
import os
from pathlib import Path

import numpy as np
import pytest

from leadline.cli.collect_index import names_an_index
from leadline.cli.main import run

REQUIRED = os.environ.get("LEADLINE_REQUIRE_ALL") == "1"
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("usearch") is None and not REQUIRED,
    reason="not installed: usearch (extra 'usearch')",
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Forty documents and three queries, the third without a vector; d7 and d9 are what q1 and q2 look for."""
    monkeypatch.chdir(tmp_path)
    documents = np.random.default_rng(3).standard_normal((40, 8)).astype(np.float32)
    np.save("docs.npy", documents)
    Path("docs.txt").write_text("".join(f"d{row}\n" for row in range(40)))
    np.save("asked.npy", documents[[7, 9]])
    Path("asked.txt").write_text("q1\nq2\n")
    rows = [json.dumps({"query_id": f"q{at}", "text": f"question {at}"}) for at in (1, 2, 3)]
    Path("queries.jsonl").write_text("\n".join(rows) + "\n")
    return tmp_path


def collect(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        run(["collect", "--queries", "queries.jsonl", "-k", "3", *arguments])
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


BUILT = ("--target", "usearch", "--vectors", "docs.npy", "--query-vectors", "asked.npy")


def test_a_real_index_is_asked_by_vectors(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = collect(capsys, *BUILT, "--max-errors", "0.5", "--write", "rows.jsonl")
    assert code == 0
    assert "2 answered, 0 answered with nothing, 1 failed" in out
    rows = {row["query_id"]: row for row in map(json.loads, Path("rows.jsonl").read_text().splitlines())}
    # Nearest by cosine, computed here: with 40 rows HNSW looks at all of them.
    documents = np.load("docs.npy").astype(float)
    unit = documents / np.linalg.norm(documents, axis=1, keepdims=True)
    for query, row in (("q1", 7), ("q2", 9)):
        nearest = np.argsort(-(unit @ unit[row]))[:3]
        assert rows[query]["retrieved_ids"] == [f"d{one}" for one in nearest]
        assert rows[query]["retrieved_ids"][0] == f"d{row}"
    assert "asked.npy has no vector of it" in rows["q3"]["error"]


def test_what_other_vectors_answered_is_not_gone_on_with(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = Path("queries.jsonl").read_text().splitlines()
    Path("queries.jsonl").write_text(f"{first}\n{third}\n{second}\n")
    # The query without a vector comes second and ends it: the last is not asked.
    assert collect(capsys, *BUILT, "--stop-after", "1", "--write", "rows.jsonl")[0] == 5
    assert not Path("rows.jsonl").exists()
    np.save("asked.npy", np.ones((2, 8), np.float32))
    code, _, err = collect(capsys, *BUILT, "--write", "rows.jsonl")
    assert code == 2 and "rows.jsonl.part" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--target", "usearch", "--vectors", "docs.npy"), "--query-vectors FILE"),
        ((*BUILT, "--map", "ids=x"), "an index takes"),
        (("--target", "m:f", "--query-vectors", "asked.npy"), "go with an index"),
        ((*BUILT, "--metric", "manhattan"), "unknown metric"),
        ((*BUILT, "--set", "speed=3"), "speed"),
    ],
)
def test_wrong_use_is_one_error(
    arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = collect(capsys, *arguments, "--write", "rows.jsonl")
    assert code == 2 and told in err and "Traceback" not in err


def test_vectors_that_do_not_fit_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from leadline.ann.target import open_target
    from leadline.ann.vectors import read_vectors

    built = open_target("usearch", {}, read_vectors("docs.npy"), 8, "cosine")
    built.index.save("docs.usearch")  # type: ignore[attr-defined]
    np.save("asked.npy", np.ones((2, 5), np.float32))
    named = ("--target", "usearch:docs.usearch", "--vectors", "docs.npy", "--query-vectors", "asked.npy")
    code, _, err = collect(capsys, *named, "--write", "rows.jsonl")
    assert code == 2 and "5 dimensions; the index has 8" in err


def test_a_database_is_an_index_and_a_function_is_none() -> None:
    assert names_an_index("postgresql://me@localhost/docs")
    assert not names_an_index("http://localhost/search")

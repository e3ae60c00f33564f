"""Real files of OpenSearch's workbench: what is read is what a plain reading of the JSON finds, and goes back the same."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from leadline.formats.keys import with_ids
from leadline.formats.read import read_qrels, read_queries
from leadline.formats.source import Source
from leadline.formats.tools import read_tool, write_tool
from shared.folder import DATA, everything_required

FILES = DATA / "ubi_chorus"
if not FILES.exists() and not everything_required():
    pytest.skip(f"{FILES} is absent", allow_module_level=True)


def plainly(path: Path) -> Any:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


@pytest.mark.parametrize(
    ("name", "queries", "pairs"), [("art_judgments.json", 27, 1080), ("esci_us_judgments.json.gz", 150, 6678)]
)
def test_judgment_lists(tmp_path: Path, name: str, queries: int, pairs: int) -> None:
    rows = [
        (row["query"], one["docId"], float(one["rating"]))
        for row in plainly(FILES / name)["judgmentRatings"]
        for one in row["ratings"]
    ]
    qrels = read_qrels(FILES / name)
    assert qrels.frame.select("query_id", "doc_id", "grade").rows() == rows
    assert (qrels.frame["query_id"].n_unique(), qrels.frame.height) == (queries, pairs)
    write_tool("opensearch", read_tool("opensearch", Source.open(FILES / name)), tmp_path / "back.json")
    assert read_qrels(tmp_path / "back.json").frame.select("query_id", "doc_id", "grade").rows() == rows


@pytest.mark.parametrize(("name", "count"), [("art_queryset.json", 11), ("esci_us_queryset.json", 150)])
def test_query_sets(name: str, count: int) -> None:
    found = read_queries(FILES / name)
    assert found.frame["text"].to_list() == [
        row["queryText"] for row in plainly(FILES / name)["querySetQueries"]
    ]
    assert found.frame.height == count


def test_every_query_of_the_list_is_in_its_set() -> None:
    held = read_tool("opensearch", Source.open(FILES / "esci_us_judgments.json.gz"))
    assert with_ids(held, read_queries(FILES / "esci_us_queryset.json")).notes == ()

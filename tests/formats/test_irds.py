"""Collections by their name in ir_datasets: a small one of our own, registered through its API; no network."""

import builtins
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from leadline.errors import InputError, MissingExtraError, UsageError
from leadline.evaluation import evaluate
from leadline.formats.irds import irds_frame
from leadline.formats.read import read_qrels, read_queries, read_run


@pytest.fixture
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """`irds:NAME` of a collection with two queries, three judgments and a run."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    ir_datasets = pytest.importorskip(
        "ir_datasets", reason="ir_datasets is not installed: pip install 'leadline[irds]'"
    )
    from ir_datasets.formats import TrecQrels, TrecScoredDocs, TsvQueries
    from ir_datasets.util import LocalDownload

    (tmp_path / "queries.tsv").write_text("1\tstar trek\n007\talien\n")
    (tmp_path / "qrels.txt").write_text("1 0 d1 2\n1 0 d2 0\n007 0 d1 1\n")
    (tmp_path / "run.txt").write_text("1 Q0 d1 1 2.5 x\n1 Q0 d2 2 1.5 x\n007 Q0 d9 1 1 x\n")
    parts = [
        TsvQueries(LocalDownload(tmp_path / "queries.tsv"), lang="en"),
        TrecQrels(LocalDownload(tmp_path / "qrels.txt"), {2: "high", 1: "some", 0: "none"}),
        TrecScoredDocs(LocalDownload(tmp_path / "run.txt")),
    ]
    name = f"leadline-{uuid.uuid4().hex}"
    ir_datasets.registry.register(name, ir_datasets.Dataset(*parts))
    return f"irds:{name}"


@pytest.mark.filterwarnings("ignore")
def test_as_the_library_reads_it(collection: str) -> None:
    import ir_datasets

    dataset = ir_datasets.load(collection.removeprefix("irds:"))
    assert read_qrels(collection).frame.select("query_id", "doc_id", "grade").rows() == [
        (row.query_id, row.doc_id, float(row.relevance)) for row in dataset.qrels_iter()
    ]
    assert list(read_queries(collection).column("text").items()) == [
        (row.query_id, row.text) for row in dataset.queries_iter()
    ]
    (block,) = read_run(collection).blocks()
    assert block.load().select("query_id", "doc_id", "score").rows() == [
        (row.query_id, row.doc_id, row.score) for row in dataset.scoreddocs_iter()
    ]


@pytest.mark.filterwarnings("ignore")
def test_a_command_takes_the_name(
    collection: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from leadline.cli.main import app

    # 1: d1 first, and relevant; 007: nothing judged is found. (1 + 0)/2.
    assert evaluate(f"own={collection}", collection, "P@1", queries=collection).mean("P@1") == 0.5
    (tmp_path / "my.run").write_text("1 Q0 d1 1 2 x\n007 Q0 d1 1 2 x\n")
    app(
        ["evaluate", str(tmp_path / "my.run"), "--qrels", collection, "-m", "P@1", "--format", "json"],
        standalone_mode=False,
    )
    out = json.loads(capsys.readouterr().out)
    assert out["results"][0]["mean"] == 1.0
    assert {row["path"]: row["sha256"] for row in out["inputs"]}[collection] is None


@pytest.mark.filterwarnings("ignore")
def test_convert_takes_the_name(collection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from leadline.formats.carrying import carried_out
    from leadline.formats.conversion import Request, planned

    monkeypatch.chdir(tmp_path)
    for target, kind, text in (
        ("a.qrels", "judgments", "1 0 d1 2\n1 0 d2 0\n007 0 d1 1\n"),
        ("a.tsv", "queries", "query_id\ttext\n1\tstar trek\n007\talien\n"),
        ("a.csv", "run", "query_id,doc_id,score\n1,d1,2.5\n1,d2,1.5\n007,d9,1.0\n"),
    ):
        plan = planned(Request(collection, target, kind=kind))  # type: ignore[arg-type]
        assert not plan.lost
        carried_out(plan)
        assert Path(target).read_text() == text
    # Its queries have the texts of formats that name queries by them, and stand in a BEIR folder.
    asked = read_queries(collection)
    carried_out(planned(Request(collection, "q.csv", "quepid", kind="judgments", queries=asked)))
    assert Path("q.csv").read_text() == "query,docid,rating\nstar trek,d1,2\nstar trek,d2,0\nalien,d1,1\n"
    carried_out(planned(Request(collection, "set", "beir", kind="judgments", queries=asked)))
    assert read_queries("set").column("text") == {"1": "star trek", "007": "alien"}
    with pytest.raises(UsageError, match="say which with --as"):
        planned(Request(collection, "b.csv"))


@pytest.mark.filterwarnings("ignore")
def test_convert_keeps_the_subtopics_of_a_collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ir_datasets = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")
    from ir_datasets.formats import TrecQrels
    from ir_datasets.util import LocalDownload

    from leadline.formats.carrying import carried_out
    from leadline.formats.conversion import Request, planned

    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    text = "1 a d1 2\n1 b d1 0\n"
    (tmp_path / "qrels.txt").write_text(text)
    name = f"leadline-{uuid.uuid4().hex}"
    part = TrecQrels(LocalDownload(tmp_path / "qrels.txt"), {2: "high", 0: "none"})
    ir_datasets.registry.register(name, ir_datasets.Dataset(part))
    carried_out(planned(Request(f"irds:{name}", str(tmp_path / "b.qrels"), kind="judgments")))
    assert (tmp_path / "b.qrels").read_text() == text


@pytest.mark.filterwarnings("ignore")
@pytest.mark.filterwarnings("ignore")
def test_what_is_no_plain_value_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    ir_datasets = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")
    from ir_datasets.formats import TrecPrel

    class Several(NamedTuple):
        query_id: str
        text: str
        titles: tuple[str, ...]

        def default_text(self) -> str:
            return self.text

    class Collection:
        def queries_iter(self) -> Iterator[Several]:
            yield Several("1", "who?", ("a", "b"))

        def qrels_iter(self) -> Iterator[TrecPrel]:
            yield TrecPrel("1", "d1", 2, 1, 0.25)

        def has_queries(self) -> bool:
            return True

        has_qrels = has_queries

    monkeypatch.setattr(ir_datasets, "load", lambda name: Collection())
    assert read_queries("irds:x").column("titles") == {"1": '["a", "b"]'}
    assert read_qrels("irds:x").frame["probability"].to_list() == [0.25]


def test_no_such_collection(collection: str) -> None:
    with pytest.raises(InputError, match="knows no collection of this name"):
        read_qrels("irds:no-such-collection-at-all")
    import ir_datasets

    name = f"leadline-{uuid.uuid4().hex}"
    ir_datasets.registry.register(name, ir_datasets.Dataset())
    with pytest.raises(UsageError, match="no qrels in this collection; it has documents only"):
        irds_frame(f"irds:{name}", "judgments")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "ir_datasets":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r'pip install "leadline\[irds\]"'):
        read_qrels("irds:vaswani")

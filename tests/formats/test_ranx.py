"""ranx's files: read as it reads them, and written so that it reads them."""

import json
from pathlib import Path

import pytest

from leadline.errors import InputError
from leadline.formats.heldtables import held_of
from leadline.formats.lists import Graded, Held, Hit
from leadline.formats.objects import qrels_of, run_of
from leadline.formats.read import read_qrels, read_run
from leadline.formats.source import Source
from leadline.formats.tools import read_tool, write_tool
from leadline.tables import Run

RUN = {"q 1": {"d1": 0.5, "ü": 0.25}, "q2": {"d": -1e-9}}
QRELS = {"q 1": {"d1": 1, "ü": 3}, "q2": {"d": 0}}


def as_run(path: Path, form: str | None = None) -> dict[str, dict[str, float]]:
    run = read_run(path, input_format=form)
    assert isinstance(run, Run)
    return nested(run.frame.select("query_id", "doc_id", "score").rows())


def as_qrels(path: Path, form: str | None = None) -> dict[str, dict[str, float]]:
    return nested(read_qrels(path, input_format=form).frame.select("query_id", "doc_id", "grade").rows())


def nested(rows: list[tuple[str, str, float]]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for query, doc, value in rows:
        found.setdefault(query, {})[doc] = value
    return found


@pytest.mark.parametrize("ending", [".json", ".parquet"])
@pytest.mark.filterwarnings("ignore")
def test_files_of_ranx_are_read_and_ours_by_ranx(tmp_path: Path, ending: str) -> None:
    ranx = pytest.importorskip("ranx", reason="ranx is not installed: pip install 'leadline[test]'")
    ranx.Run(RUN).save(str(tmp_path / f"r{ending}"))
    ranx.Qrels(QRELS).save(str(tmp_path / f"q{ending}"))
    for form in (None, "ranx"):
        assert as_run(tmp_path / f"r{ending}", form) == RUN
        assert as_qrels(tmp_path / f"q{ending}", form) == QRELS
    write_tool("ranx", held_of(run=run_of(RUN)), tmp_path / f"ours{ending}")
    write_tool("ranx", held_of(qrels=qrels_of(QRELS)), tmp_path / f"ours-qrels{ending}")
    if ending == ".json":
        assert json.loads((tmp_path / "ours.json").read_text()) == RUN
        run = ranx.Run.from_file(str(tmp_path / "ours.json"))
        qrels = ranx.Qrels.from_file(str(tmp_path / "ours-qrels.json"))
    else:
        import pandas

        # ranx asks of pandas that text is of the kind `object`, which newer versions of pandas no longer give.
        own, ours = (pandas.read_parquet(tmp_path / f"{name}.parquet") for name in ("r", "ours"))
        assert dict(own.dtypes) == dict(ours.dtypes)
        run = ranx.Run.from_df(ours.astype({"q_id": object, "doc_id": object}))
        marks = pandas.read_parquet(tmp_path / "ours-qrels.parquet")
        assert dict(pandas.read_parquet(tmp_path / "q.parquet").dtypes) == dict(marks.dtypes)
        qrels = ranx.Qrels.from_df(marks.astype({"q_id": object, "doc_id": object}))
    assert run.to_dict() == RUN
    assert qrels.to_dict() == QRELS


def test_the_shape_between_holds_both(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(QRELS))
    held = read_tool("ranx", Source.open(tmp_path / "x.json"))
    assert [(one.query, one.doc_id, one.score) for one in held.hits] == [
        (one.query, one.doc_id, one.grade) for one in held.graded
    ]


def test_what_ranx_would_cut_off_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"grade 1\.5 has a fraction, and ranx takes whole numbers"):
        write_tool("ranx", Held("id", (Graded("q", "d", 1.5),)), tmp_path / "x.json")
    with pytest.raises(InputError, match="an infinite number"):
        write_tool("ranx", Held("id", hits=(Hit("q", "d", float("inf")),)), tmp_path / "x.json")
    with pytest.raises(InputError, match="stands twice for query 'q'"):
        write_tool("ranx", Held("id", hits=(Hit("q", "d", 1.0), Hit("q", "d", 1.0))), tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize(
    "text", ['{"q": {"d": "1"}}', '{"q": {"d": true}}', '{"q": {"d": NaN}}', '{"q": 3}', "[1]"]
)
def test_wrong_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError):
        read_tool("ranx", Source.open(tmp_path / "x.json"))


@pytest.mark.filterwarnings("ignore")
def test_files_that_ranx_packs_with_lz4_are_refused_with_the_way_out(tmp_path: Path) -> None:
    from leadline.errors import UsageError
    from leadline.formats.aim import aimed

    ranx = pytest.importorskip("ranx", reason="ranx is not installed: pip install 'leadline[test]'")
    # Within is CBOR, not JSON.
    ranx.Run(RUN).save(str(tmp_path / "r.lz4"))
    with pytest.raises(InputError, match=r'packed with LZ4.*Run\.from_file\("x\.lz4"\)\.save\("x\.json"\)'):
        read_run(tmp_path / "r.lz4")
    ranx.Run.from_file(str(tmp_path / "r.lz4")).save(str(tmp_path / "r.json"))
    assert as_run(tmp_path / "r.json") == RUN
    with pytest.raises(UsageError, match=r"name it \.json, --to ranx"):
        aimed("b.lz4", "ranx")

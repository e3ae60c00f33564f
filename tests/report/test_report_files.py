"""Reports as files: the kind by the ending, complete or not at all."""

import json
import stat
from pathlib import Path

import polars as pl
import pytest

from leadline.errors import UsageError
from leadline.report import files
from leadline.report.csv_text import csv_text
from leadline.report.files import write_report
from leadline.report.html_page import html_page
from leadline.report.json_text import json_text
from leadline.report.latex_text import latex_text
from leadline.report.markdown_text import markdown_text
from leadline.report.table_text import table_text


def test_each_ending_writes_its_kind(tmp_path, one):
    expected = {
        "json": json_text(one, "evaluate", per_query=True),
        "csv": csv_text(one, per_query=True),
        "md": markdown_text(one),
        "tex": latex_text(one),
        "html": html_page(one, "evaluate"),
        "txt": table_text(one, color=False),
    }
    for ending, text in expected.items():
        write_report(one, tmp_path / f"out.{ending}", "evaluate")
        assert (tmp_path / f"out.{ending}").read_bytes().decode() == text
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"out.{ending}" for ending in expected)


def test_tables_hold_the_values_with_their_states(tmp_path, one):
    write_report(one, tmp_path / "out.parquet")
    write_report(one, str(tmp_path / "OUT.JSONL"))
    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert frame.equals(one.to_polars())
    rows = [json.loads(line) for line in (tmp_path / "OUT.JSONL").read_text("utf-8").splitlines()]
    assert rows == frame.to_dicts()
    assert rows[1] == {
        "system": "bm25",
        "measure": "nDCG@10",
        "query_id": "q2",
        "value": None,
        "state": "undefined",
    }


@pytest.mark.parametrize("name", ["out.xlsx", "out", "out.run", ".json", "json"])
def test_an_unknown_ending_is_refused_with_those_known(tmp_path, one, name):
    with pytest.raises(UsageError, match=r"known: \.csv \.html \.json \.jsonl \.md \.parquet \.tex \.txt"):
        write_report(one, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_stood_there_is_replaced_and_keeps_to_the_umask(tmp_path, one):
    target = tmp_path / "out.txt"
    target.write_text("old")
    write_report(one, target)
    assert target.read_text("utf-8") == table_text(one, color=False)
    fresh = tmp_path / "fresh.txt"
    fresh.touch()
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(fresh.stat().st_mode)


def test_a_link_is_followed(tmp_path, one):
    real = tmp_path / "real.txt"
    real.write_text("old")
    (tmp_path / "link.txt").symlink_to(real)
    write_report(one, tmp_path / "link.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert real.read_text("utf-8") == table_text(one, color=False)


def test_a_missing_directory_and_a_directory_in_the_way_are_named(tmp_path, one):
    (tmp_path / "file").touch()
    (tmp_path / "dir.txt").mkdir()
    for path in (tmp_path / "none" / "out.txt", tmp_path / "file" / "out.txt", tmp_path / "dir.txt"):
        with pytest.raises(UsageError, match="cannot write to"):
            write_report(one, path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dir.txt", "file"]


@pytest.mark.parametrize("step", ["replace", "open"])
def test_no_permission_is_an_input_error_and_leaves_no_trace(tmp_path, one, monkeypatch, step):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    target = tmp_path / "out.txt"
    target.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(Path, step, refuse)
        with pytest.raises(UsageError, match=r"cannot write to .*out\.txt: Permission denied"):
            write_report(one, target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_an_interruption_leaves_what_stood_there(tmp_path, one, monkeypatch):
    def interrupt(number):
        raise KeyboardInterrupt

    target = tmp_path / "out.txt"
    target.write_text("old")
    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_report(one, target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]

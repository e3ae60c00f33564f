"""Pipes, as the shell's `<(zcat a.run.gz)` gives them, are read whole and once, or refused; never in part."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from leadline.errors import InputError, UsageError
from leadline.formats.read import read_qrels, read_run
from leadline.formats.source import Source, is_stream
from leadline.tables import Qrels, RunSource

QUERIES, DEPTH = 40, 300


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, step in (("a", 1), ("b", 7)):
        # Longer than what a pipe and a buffer hold: what is read of it and thrown away is missed.
        rows = [
            f"q{q} Q0 d{d * step % DEPTH} {d + 1} {DEPTH - d} {name}"
            for q in range(QUERIES)
            for d in range(DEPTH)
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(rows) + "\n")
    (tmp_path / "q.qrels").write_text(
        "".join(f"q{q} 0 d{d} {d % 2}\n" for q in range(QUERIES) for d in range(20))
    )
    (tmp_path / "queries.jsonl").write_text(
        "".join(f'{{"query_id":"q{q}","text":"text {q}","type":"{q % 2}"}}\n' for q in range(QUERIES))
    )
    (tmp_path / "documents.jsonl").write_text(
        "".join(f'{{"doc_id":"d{d}","text":"document {d}"}}\n' for d in range(DEPTH))
    )
    (tmp_path / "map.csv").write_text(
        "chunk_id,document_id\n" + "".join(f"d{d},d{d // 3}\n" for d in range(DEPTH))
    )
    return tmp_path


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command.replace("leadline ", f"{sys.executable} -m leadline ")],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("evaluate a={} --qrels {}", ("a.run", "q.qrels")),
        ("evaluate a={} --qrels {} --queries {} --by type", ("a.run", "q.qrels", "queries.jsonl")),
        (
            "evaluate a={} --qrels {} -m R@5 --collapse max --collapse-mapping {}",
            ("a.run", "q.qrels", "map.csv"),
        ),
        ("compare a={} b={} --qrels {} --format json", ("a.run", "b.run", "q.qrels")),
        ("convert {} - --to jsonl", ("a.run",)),
        ("convert {} - --to jsonl", ("q.qrels",)),
        ("pool a={} b={} --qrels {} --format json", ("a.run", "b.run", "q.qrels")),
    ],
)
def test_the_same_as_of_files(folder: Path, command: str, files: tuple[str, ...]) -> None:
    plain = shell(folder, "leadline " + command.format(*files))
    piped = shell(folder, "leadline " + command.format(*(f"<(cat {file})" for file in files)))
    packed = shell(folder, "leadline " + command.format(*(f"<(gzip -c {file})" for file in files)))
    assert plain.returncode == piped.returncode == packed.returncode == 0, piped.stderr
    for other in (piped, packed):
        assert known(other.stdout) == known(plain.stdout)


def rows_of(table: RunSource | Qrels) -> pl.DataFrame:
    return table.frame if isinstance(table, Qrels) else pl.concat([block.load() for block in table.blocks()])


def known(text: str) -> list[str]:
    """The lines but for those that name files and their hashes: a pipe has no name and can be read only once."""
    return [line for line in text.splitlines() if not any(w in line for w in ("sha256", "path", "next"))]


def test_a_pipe_is_read_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spools = folder / "spools"
    spools.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spools))
    assert not is_stream(folder / "a.run")
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    assert is_stream(pipe)
    for read, name in ((read_run, "a.run"), (read_qrels, "q.qrels")):
        with subprocess.Popen(["sh", "-c", f"cat {name} > pipe"], cwd=folder):
            one = read(str(pipe))
        whole = read(str(folder / name))
        assert rows_of(one).equals(rows_of(whole))
    del one
    gc.collect()
    assert not list(spools.iterdir())


@pytest.mark.parametrize(
    "command",
    [
        "check <(cat a.run)",
        "check a.run --qrels <(cat q.qrels)",
        "evidence from-book <(cat q.qrels) --whole --documents documents.jsonl --write e.jsonl",
    ],
)
def test_what_is_read_more_than_once_is_no_pipe(folder: Path, command: str) -> None:
    done = shell(folder, "leadline " + command)
    assert (done.returncode, done.stdout) == (2, "")
    assert "read more than once: give a file, not /dev/fd/" in done.stderr and ", a pipe" in done.stderr


def test_vectors_are_no_pipe(folder: Path) -> None:
    from leadline.ann.vectors import read_vectors

    os.mkfifo(folder / "v.npy")
    with pytest.raises(
        UsageError, match=r"vectors are read more than once: give a file, not .*v\.npy, a pipe"
    ):
        read_vectors(str(folder / "v.npy"))


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_devices(device: str) -> None:
    with pytest.raises(InputError, match="is a device, not a file"):
        Source.open(device)

"""Measures real indexes over the demonstration's vectors, for the tutorial on index fidelity.

`python docs/index_fidelity.py` takes about a minute. It writes the vectors of the demonstration's collection and of its
60 judged questions into an empty folder, builds an HNSW index with few edges, runs the commands that the page shows, and
writes what they print into docs/tutorial/index-fidelity.md, between `<!-- measured: NAME -->` and `<!-- end -->`; the plot
goes to docs/images/. The extras `demo`, `hnswlib`, `usearch` and `faiss` are needed.
"""

import contextlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

import numpy as np
from measured import placed

from leadline.cli.main import run
from leadline.demo.collection import build_documents
from leadline.demo.files import questions, write_collection
from leadline.demo.retrievers import dense_vectors

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "tutorial" / "index-fidelity.md"
PICTURE = DOCS / "images" / "index-fidelity.svg"

FILES = "--vectors docs.npy --queries queries.npy"
COMMANDS = {
    "first": f"leadline ann {FILES} --target hnswlib:docs.bin --worst 5",
    "sweep": f"leadline ann {FILES} --target hnswlib:docs.bin --sweep ef=20,40,80,160,320 --reach 0.95 "
    "--qrels qrels.txt -m nDCG@10 --worst 0 --write sweep.svg",
    "against": "leadline ann --queries queries.npy --target hnswlib:docs.bin --set ef=10 --against ef=160 --worst 3",
    "stale": "leadline ann --vectors docs.npy --queries new.npy --target hnswlib:docs.bin",
}


def prepare(folder: Path) -> None:
    """The files that the page's commands read."""
    import hnswlib

    write_collection(folder)
    documents, asked = build_documents(), questions()
    matrix, vectors = dense_vectors(documents, [one.text for one in asked])
    for name, data, ids in (
        ("docs", matrix, [one.id for one in documents]),
        ("queries", vectors, [one.query_id for one in asked]),
        ("new", vectors, [one.query_id for one in asked]),
    ):
        np.save(folder / f"{name}.npy", data.astype(np.float32))
        (folder / f"{name}.txt").write_text("".join(f"{one}\n" for one in ids), encoding="utf-8")
        stamp = {
            "model": "wordllama l2_supercat_256",
            "version": "2" if name == "new" else "1",
            "normalised": True,
        }
        (folder / f"{name}.stamp.json").write_text(json.dumps(stamp), encoding="utf-8")
    index = hnswlib.Index("cosine", matrix.shape[1])
    index.init_index(len(matrix), M=5, ef_construction=30, random_seed=1)
    index.add_items(matrix, np.arange(len(matrix)), num_threads=1)
    index.save_index(str(folder / "docs.bin"))


def printed(line: str) -> str:
    """What a command prints on both streams."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), contextlib.suppress(SystemExit):
        run(shlex.split(line)[1:])
    return out.getvalue()


def shown(line: str) -> str:
    """A command and what it prints, as a block of the page; long commands are broken for the eye."""
    broken = re.sub(r" (--(?:sweep|reach|qrels|against|write))", r" \\\n    \1", line, count=1)
    return f"```text\n$ {broken}\n{printed(line)}```\n"


def main() -> None:
    """Run every command and write the page and the plot."""
    page = PAGE.read_text(encoding="utf-8")
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        os.chdir(folder)
        try:
            for name, line in COMMANDS.items():
                print(name, file=sys.stderr)
                page = placed(page, name, shown(line).removesuffix("\n"), PAGE)
            PICTURE.write_text(Path("sweep.svg").read_text(encoding="utf-8"), encoding="utf-8")
        finally:
            os.chdir(before)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

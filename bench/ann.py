"""`python -m bench.ann`: exact search beside faiss's flat index in one process, and what it takes at a million rows."""

import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "ann.md"
ROWS, DIMENSIONS, QUERIES, K, ROUNDS = 100_000, 384, 1000, 10, 7
MILLION = 1_000_000
KINDS = ("random directions", "in 200 groups")


HEAD = """# Exact search beside faiss

`python -m bench.ann` writes this page. The exact neighbours that `leadline ann` compares an index with, beside the flat
index of faiss: {rows:,} × {dimensions}, {queries:,} queries, k = {k}, float32, both in one process, in turn, {rounds} rounds
after one untimed. Medians, with the fastest and slowest; the ratio is faiss's time ÷ Leadline's of each round: 1 is as fast,
larger is faster. Leadline's time holds the lengths of the vectors, the candidates in 32-bit and their second ranking in
64-bit; faiss's none of its building. Both find the same neighbours.

| data | metric | faiss | Leadline | ratio |
|---|---|---|---|---|
"""
NOT_SET = """`OPENBLAS_CORETYPE`, which holds the matrix products
of both to an older processor where it is set, was not set.
"""


def vectors(kind: str, rows: int, queries: int) -> tuple[Any, Any]:
    """Vectors of length 1: without any structure, or in groups as embeddings are."""
    import numpy as np

    rng = np.random.default_rng(1)
    centres = rng.standard_normal((200, DIMENSIONS)).astype(np.float32)

    def drawn(n: int) -> Any:
        found = rng.standard_normal((n, DIMENSIONS), np.float32)
        if kind == KINDS[1]:
            found = centres[rng.integers(200, size=n)] + np.float32(0.7) * found
        return found / np.linalg.norm(found, axis=1)[:, None]

    return drawn(rows), drawn(queries)


def rounds(programs: dict[str, Callable[[], Any]]) -> dict[str, list[float]]:
    """Every program in turn, so that what else the machine does meets all alike; the first round is not timed."""
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for turn in range(ROUNDS + 1):
        for name, program in programs.items():
            start = time.perf_counter()
            program()
            if turn:
                taken[name].append(time.perf_counter() - start)
    return taken


def beside_faiss(kind: str) -> list[str]:
    """The table's rows for one kind of data."""
    import faiss
    import numpy as np

    from leadline.ann.distance import Space
    from leadline.ann.exact import nearest
    from leadline.ann.vectors import checked_vectors

    data, queries = vectors(kind, ROWS, QUERIES)
    documents = checked_vectors("documents", data)
    lines = []
    for metric, made in (("ip", faiss.IndexFlatIP), ("cosine", faiss.IndexFlatIP), ("l2", faiss.IndexFlatL2)):
        index = made(DIMENSIONS)
        index.add(data)
        _, rows = index.search(queries, K)
        same = (nearest(Space.of(documents, metric), queries, K).rows == rows).mean()
        assert same > 0.999, f"faiss finds others: {same:.2%} the same"
        taken = rounds(
            {
                "faiss": lambda index=index: index.search(queries, K),
                "leadline": lambda metric=metric: nearest(Space.of(documents, metric), queries, K),
            }
        )
        ratios = np.array(taken["faiss"]) / np.array(taken["leadline"])
        told = [
            f"{statistics.median(taken[name]):.2f} s ({min(taken[name]):.2f}–{max(taken[name]):.2f})"
            for name in taken
        ]
        lines.append(
            f"| {kind} | {metric} | {told[0]} | {told[1]} | {np.median(ratios):.2f} ({ratios.min():.2f}–{ratios.max():.2f}) |"
        )
        print(lines[-1], file=sys.stderr)
    return lines


def big(folder: str) -> None:
    """In a process of its own: exact search over a million rows, from a file; prints seconds and the memory it took."""
    import numpy as np

    from leadline.ann.distance import Space
    from leadline.ann.exact import nearest
    from leadline.ann.sanity import examine
    from leadline.ann.vectors import read_vectors

    documents, queries = read_vectors(f"{folder}/docs.npy"), read_vectors(f"{folder}/queries.npy")
    start = time.perf_counter()
    health = examine(documents, queries, "cosine")
    looked = time.perf_counter() - start
    found = nearest(Space.of(documents, "cosine", health.lengths), np.asarray(queries.data), 100)
    searched = time.perf_counter() - start - looked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    status = Path("/proc/self/status").read_text()
    own = next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("RssAnon"))
    print(f"{looked:.1f} {searched:.1f} {peak:.0f} {own:.0f} {found.rows.shape}")


def million() -> str:
    """The sentence on a million rows."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        out = np.lib.format.open_memmap(f"{folder}/docs.npy", "w+", np.float32, (MILLION, DIMENSIONS))
        rng = np.random.default_rng(1)
        for start in range(0, MILLION, 50_000):
            out[start : start + 50_000] = rng.standard_normal((50_000, DIMENSIONS), np.float32)
        out.flush()
        del out
        np.save(f"{folder}/queries.npy", rng.standard_normal((QUERIES, DIMENSIONS), np.float32))
        done = subprocess.run(
            [sys.executable, "-m", "bench.ann", "--big", folder], capture_output=True, text=True, check=True
        )
    looked, searched, peak, own = map(float, done.stdout.split()[:4])
    data = MILLION * DIMENSIONS * 4 / 2**20
    return (
        f"A million rows of {DIMENSIONS} dimensions ({data:.0f} MB, a memory map), {QUERIES:,} queries, k = 100, cosine: "
        f"{searched:.1f} s of search after {looked:.1f} s of looking at the vectors. "
        f"The process had at most {peak:.0f} MB in memory, "
        f"the pages of the file among them: {peak - data:.0f} MB above the data; {own:.0f} MB were its own at the end."
    )


def main() -> None:
    """Run everything and write the page."""
    lines = [line for kind in KINDS for line in beside_faiss(kind)]
    sentence = million()
    print(sentence, file=sys.stderr)
    named = {name: version(name) for name in ("numpy", "faiss-cpu")}
    text = HEAD.format(rows=ROWS, dimensions=DIMENSIONS, queries=QUERIES, k=K, rounds=ROUNDS)
    machine = (
        f"Python {platform.python_version()}, NumPy {named['numpy']}, faiss-cpu {named['faiss-cpu']}, "
        f"{os.cpu_count()} cores; other work ran on the machine, hence the wide ranges. "
    )
    PAGE.write_text(f"{text}" + "\n".join(lines) + f"\n\n{sentence}\n\n{machine}{NOT_SET}", encoding="utf-8")


if __name__ == "__main__":
    if "--big" in sys.argv:
        big(sys.argv[-1])
    elif os.environ.pop("OPENBLAS_CORETYPE", None) is not None:
        # Both libraries read it when they are loaded: begin again without it.
        os.execv(sys.executable, [sys.executable, "-m", "bench.ann", *sys.argv[1:]])
    else:
        main()

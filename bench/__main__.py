"""`make bench`: run everything, check that all agree, write docs/benchmarks/."""

import json
import os
import platform
import sys
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from bench.data import collection
from bench.pages import plot, write_page
from bench.processes import Row, side_by_side

ROOT = Path(__file__).parent.parent
DATA = ROOT / ".bench"
PROGRAMS = ROOT / "bench" / "programs"
PYTHON = sys.executable
MEASURES = "nDCG(gain=linear)@10,R@5,R@10,P@5,RR,AP"
GROWTH = (250, 500, 1000, 2000, 5000, 10_000, 20_000)


def made(queries: int, shuffled: bool) -> tuple[Path, Path]:
    """The files of one input, made in a process of its own.

    A child's peak memory, as the system counts it, begins at what its parent holds: this process stays small.
    """
    process = get_context("spawn").Process(target=collection, args=(DATA, queries, shuffled))
    process.start()
    process.join()
    return collection(DATA, queries, shuffled)


def program(name: str, run: Path, qrels: Path) -> list[str]:
    """The command of one peer."""
    return [PYTHON, str(PROGRAMS / f"with_{name}.py"), str(run), str(qrels)]


def command(run: Path, qrels: Path) -> list[str]:
    """Leadline's command, with the same measures and conventions."""
    given = [str(run), "--qrels", str(qrels), "-m", MEASURES, "--undefined", "zero"]
    return [str(Path(PYTHON).with_name("leadline")), "evaluate", *given]


def compared(
    title: str, queries: int, shuffled: bool, peers: list[str], rounds: int = 5
) -> tuple[str, list[Row]]:
    """All programs on one input; their means must agree to 1e-9."""
    print(title, file=sys.stderr)
    run, qrels = made(queries, shuffled)
    programs = {
        "leadline, library": program("leadline", run, qrels),
        "leadline, command": command(run, qrels),
    }
    programs |= {peer: program(peer, run, qrels) for peer in peers}
    rows = side_by_side(programs, rounds)
    wanted = rows[0].means
    for row in rows[2:]:
        assert np.allclose(row.means, wanted, rtol=0, atol=1e-9), (
            f"{row.name} disagrees: {row.means} {wanted}"
        )
    return title, rows


def main() -> None:
    """Run everything and write the page, the figures and the plot."""
    quick = "--quick" in sys.argv
    peers = ["pytrec_eval", "ir_measures"]
    sections = [
        compared("6,980 queries × 1,000 documents, rows in order", 698 if quick else 6980, False, peers),
        compared(
            "6,980 queries × 1,000 documents, rows in any order", 698 if quick else 6980, True, peers[:1]
        ),
        compared("225 queries × 1,000 documents", 225, False, peers),
    ]
    start = {
        "leadline --help": [str(Path(PYTHON).with_name("leadline")), "--help"],
        "import polars, scipy.stats": [PYTHON, "-c", "import polars, scipy.stats"],
    }
    sections.append(("Start", side_by_side(start)))
    growth = []
    for queries in GROWTH[: 3 if quick else len(GROWTH)]:
        run, qrels = made(queries, False)
        row = side_by_side({"leadline, library": program("leadline", run, qrels)}, 3)[0]
        growth.append((queries * 1000, row))
    facts = {
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "versions": {
            name: version(name) for name in ("polars", "numpy", "pytrec-eval-terrier", "ir-measures")
        },
    }
    target = ROOT / "docs" / "benchmarks"
    target.mkdir(parents=True, exist_ok=True)
    write_page(target / "README.md", sections, growth, facts)
    plot(target / "benchmark.svg", sections, growth)
    figures = {
        title: [{"program": row.name, "wall": row.wall, "cpu": row.cpu, "peak_mb": row.peak} for row in rows]
        for title, rows in sections
    }
    figures["growth"] = [
        {"rows": size, "wall": row.wall, "cpu": row.cpu, "peak_mb": row.peak} for size, row in growth
    ]
    (target / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()

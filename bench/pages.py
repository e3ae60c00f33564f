"""The page and the picture of a benchmark."""

from pathlib import Path
from typing import Any

import numpy as np

from bench.processes import Row

LIMITS = {
    "6,980 queries × 1,000 documents, rows in order": "asked: wall ≤ 0.20 of pytrec_eval's and ≤ 0.08 of ir_measures', "
    "peak memory ≤ 0.30 of pytrec_eval's",
    "6,980 queries × 1,000 documents, rows in any order": "asked: wall ≤ 0.40 and peak memory ≤ 0.50 of pytrec_eval's",
    "225 queries × 1,000 documents": "asked: the library ≤ 1.1, the command ≤ 1.6 of pytrec_eval's wall time",
    "Start": "asked: ≤ 0.25",
}


def slope(growth: list[tuple[int, Row]]) -> float:
    """The exponent of wall time over rows, by least squares on logarithms, from a million rows on."""
    large = [(size, row.wall) for size, row in growth if size >= 1_000_000] or [
        (size, row.wall) for size, row in growth
    ]
    sizes, walls = np.log([size for size, _ in large]), np.log([wall for _, wall in large])
    return float(np.polyfit(sizes, walls, 1)[0])


def table(rows: list[Row], base: str) -> list[str]:
    """A Markdown table of one section, with each figure over the base program's."""
    reference = next(row for row in rows if row.name == base)
    lines = [f"| program | wall s | of {base} | CPU s | peak MB | of {base} |", "|---|--:|--:|--:|--:|--:|"]
    for row in rows:
        cells = [row.name, f"{row.wall:.2f}", f"{row.wall / reference.wall:.2f}", f"{row.cpu:.2f}"]
        cells += [f"{row.peak:.0f}", f"{row.peak / reference.peak:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def write_page(
    path: Path, sections: list[tuple[str, list[Row]]], growth: list[tuple[int, Row]], facts: dict[str, Any]
) -> None:
    """The page: how it was measured, a table for each input, the growth with its slope."""
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    lines = [
        "# Benchmark",
        "",
        "Whole processes from files to printed means (six measures: nDCG@10 with linear gain, R@5, R@10, P@5, RR, AP), "
        "one process at a time, one round to warm up, then all programs in turn; medians of five rounds. The means of all "
        "programs agree to 1e-9, or the benchmark fails. `make bench` makes the data and writes this page.",
        "",
        f"{facts['processors']} processors, Python {facts['python']}, {versions}.",
        "",
        "![The figures as bars and the growth as a line](benchmark.svg)",
        "",
    ]
    for title, rows in sections:
        base = "import polars, scipy.stats" if title == "Start" else "pytrec_eval"
        lines += [f"## {title}", "", *table(rows, base), "", LIMITS.get(title, ""), ""]
        peer = next((row for row in rows if row.name == "ir_measures"), None)
        if peer is not None:
            lines += [f"The library's wall time is {rows[0].wall / peer.wall:.3f} of ir_measures'.", ""]
    lines += ["## Growth", "", "| rows | wall s | CPU s | peak MB |", "|--:|--:|--:|--:|"]
    lines += [f"| {size:,} | {row.wall:.2f} | {row.cpu:.2f} | {row.peak:.0f} |" for size, row in growth]
    lines += [
        "",
        f"From a million rows on, wall time grows with the power {slope(growth):.2f} of the rows (three rounds each).",
        "",
    ]
    path.write_text("\n".join(lines))


def plot(path: Path, sections: list[tuple[str, list[Row]]], growth: list[tuple[int, Row]]) -> None:
    """Bars of wall time for each input, and the growth over rows."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "leadline"
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(sections) + 1, figsize=(4 * (len(sections) + 1), 3.2))
    for axis, (title, rows) in zip(axes, sections, strict=False):
        names = [row.name for row in rows]
        axis.barh(
            names,
            [row.wall for row in rows],
            color=["#1f5f8b" if "leadline" in name else "#9aa5b1" for name in names],
        )
        for place, row in enumerate(rows):
            axis.text(row.wall, place, f" {row.wall:.2f} s", va="center", fontsize=8)
        axis.invert_yaxis()
        axis.set_xlim(0, max(row.wall for row in rows) * 1.25)
        axis.set_title(title.replace(", ", ",\n"), fontsize=9)
        axis.set_xlabel("wall seconds", fontsize=8)
        axis.tick_params(labelsize=8)
    axes[-1].loglog([size for size, _ in growth], [row.wall for _, row in growth], "o-", color="#1f5f8b")
    axes[-1].set_title(f"growth, slope {slope(growth):.2f}", fontsize=9)
    axes[-1].set_xlabel("rows", fontsize=8)
    axes[-1].set_ylabel("wall seconds", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})

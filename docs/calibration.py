"""Measures how far the statistics hold what they claim, and writes the tables and the picture of their page.

`python docs/calibration.py` takes some five minutes on two cores; names after it, as `gates`, measure those parts
alone. A measured part stands in docs/explanation/statistics.md between `<!-- measured: NAME -->` and
`<!-- end -->`; what is around it is written by hand. The collection DL21 is needed (LEADLINE_SHARED, see tests/shared/folder.py).
"""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from measured import placed, table

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "explanation" / "statistics.md"
PICTURE = DOCS / "images" / "coverage.svg"
sys.path.insert(0, str(DOCS.parent / "tests"))

from shared import calibration as world  # noqa: E402
from shared.folder import DATA  # noqa: E402

REAL = "DL21 pairs"
METHODS = tuple(world.METHODS)
Rows = list[tuple[str, ...]]
Curves = dict[str, dict[str, list[float]]]


def share(value: float) -> str:
    """A share as the tables print it: `.948`."""
    return f"{value:.3f}".removeprefix("0")


def one_coverage(name: str, method: str, n: int) -> float:
    """One cell of the table of coverage."""
    if name == REAL:
        return world.real_coverage(DATA / "trec_dl_human_llm" / "dl21", n, method)
    return world.coverage(next(p for p in world.POPULATIONS if p.name == name), n, method)


def curves(pool: ProcessPoolExecutor) -> Curves:
    """Coverage by population, method and size."""
    names = [*(p.name for p in world.POPULATIONS), REAL]
    cells = [(name, method, n) for name in names for method in METHODS for n in world.SIZES]
    # The dearest first, so that no process is left alone with them.
    cells.sort(key=lambda cell: -cell[2])
    found = dict(zip(cells, pool.map(one_coverage, *zip(*cells, strict=True)), strict=True))
    return {name: {m: [found[name, m, n] for n in world.SIZES] for m in METHODS} for name in names}


def coverage_table(found: Curves) -> str:
    """Coverage of the intervals of graded differences."""
    words = {p.name: p.words for p in world.POPULATIONS} | {REAL: "nDCG@10, 53 queries, all pairs of 63 runs"}
    rows = [
        (f"**{name}**: {words[name]}" if method == "t" else "", method, *map(share, values))
        for name, methods in found.items()
        for method, values in methods.items()
    ]
    return table(("differences", "interval", *(f"n = {n}" for n in world.SIZES)), rows)


def yes_no_table() -> str:
    """Exact coverage for yes/no measures."""
    rows = [
        (
            f"{wins:.2f} / {losses:.2f}" if m == "t" else "",
            m,
            *(share(world.yes_no_coverage(m, n, wins, losses)) for n in world.SIZES),
        )
        for wins, losses in ((world.WINS, world.LOSSES), (0.10, 0.0), (0.15, 0.15))
        for m in ("t", "Tango", "Bonett–Price")
    ]
    return table(("share of wins / losses", "interval", *(f"n = {n}" for n in world.SIZES)), rows)


def one_error(test: str, null: str, n: int) -> float:
    """One cell of the table of tests."""
    return world.test_error(test, null, n)


def error_table(pool: ProcessPoolExecutor) -> str:
    """Type-I errors of the tests of a mean difference."""
    sizes = (20, 50, 100)
    # "rare losses" is "rare wins" with the sign changed, which no two-sided test sees.
    nulls = [null for null in world.NULLS if null != "rare losses"]
    cells = [(t, null, n) for null in nulls for t in world.TESTS for n in sizes]
    found = dict(zip(cells, pool.map(one_error, *zip(*cells, strict=True)), strict=True))
    rows = [
        (f"**{null}**" if t == "t" else "", t, *(share(found[t, null, n]) for n in sizes))
        for null in nulls
        for t in world.TESTS
    ]
    return table(("differences, mean 0", "test", *(f"n = {n}" for n in sizes)), rows)


def family_table() -> str:
    """Errors over a family of comparisons, and of yes/no tests."""
    flips = world.flip_of_counts
    rows: Rows = [
        ("six measures, independent", "Holm", share(world.holm_error())),
        ("six measures, correlated .5", "Holm", share(world.holm_error(shared=0.5))),
        ("six measures, independent", "none", share(world.holm_error(world.uncorrected))),
        ("all pairs of four systems", "randomised Tukey HSD", share(world.tukey_error())),
        ("all pairs of eight systems", "randomised Tukey HSD", share(world.tukey_error(systems=8))),
        ("all pairs of four systems", "none", share(world.tukey_error("none"))),
        ("yes/no, 8 % change, n = 100 (exact)", "McNemar mid-p", share(world.mcnemar_error(100, 0.08))),
        ("yes/no, 30 % change, n = 100 (exact)", "McNemar mid-p", share(world.mcnemar_error(100, 0.3))),
        ("yes/no, 8 % change, n = 100 (exact)", "sign-flip", share(world.mcnemar_error(100, 0.08, flips))),
    ]
    return table(("what is true everywhere: no difference", "correction or test", "any found"), rows)


def gate_table() -> str:
    """How often a gate passes what is worse by exactly its margin."""
    cells = [(null, n) for null in ("normal", "graded", "rare wins", "rare losses") for n in (20, 100)]
    gates = ("non-inferiority", "equivalence", "not significant", "mean above the margin")
    rows = [
        (f"**{null}**, n = {n}", *(share(world.gate_error(gate, null, n)) for gate in gates))
        for null, n in cells
    ]
    return table(("differences, mean −margin", *gates), rows)


def cluster_table() -> str:
    """Coverage on clustered queries."""
    kinds = ("naive", "CR1", "CR2")
    rows = [
        (shape, *(share(world.cluster_coverage(kind, shape)) for kind in kinds)) for shape in world.SHAPES
    ]
    return table(
        ("clusters of queries", "t, clusters ignored", "CR1, G − 1 degrees", "CR2, Satterthwaite"), rows
    )


def rate_table() -> str:
    """Exact coverage of the two intervals of one rate."""
    import numpy as np
    from scipy import stats

    from leadline.stats.intervals import wilson_interval
    from leadline.stats.rates import clopper_pearson

    rates = np.arange(1, 1000) / 1000
    rows: Rows = []
    for name, make in (("Wilson", wilson_interval), ("Clopper–Pearson", clopper_pearson)):
        cells = []
        for n in world.SIZES:
            ends = [make(k, n) for k in range(n + 1)]
            low, high = (np.array([[getattr(end, side)] for end in ends]) for side in ("low", "high"))
            inside = (low <= rates) & (rates <= high)
            found = (stats.binom.pmf(np.arange(n + 1)[:, None], n, rates) * inside).sum(axis=0)
            cells.append(f"{share(found.mean())} ({share(found.min())})")
        rows.append((name, *cells))
    return table(("interval", *(f"n = {n}" for n in world.SIZES)), rows)


LEFT, WIDE, HIGH, TOP = 44, 200, 120, 40
LOWEST, HIGHEST = 0.80, 1.0
STYLE = """text { font: 13px system-ui, sans-serif; fill: #1c2430 } .head { font-weight: 600 }
.tick { fill: #5b6675; font-size: 12px }
.grid { stroke: #d8dde4 } .claim { stroke: #5b6675; stroke-dasharray: 4 3 } polyline { fill: none; stroke-width: 2 }
.m0 { stroke: #0b63a5 } .m1 { stroke: #c2570c; stroke-dasharray: 7 3 }
.m2 { stroke: #6d4fb3; stroke-dasharray: 2 3 } .m3 { stroke: #2b7a3d; stroke-dasharray: 7 3 2 3 }
@media (prefers-color-scheme: dark) { text { fill: #e6eaf0 } .tick { fill: #a0abba } .grid { stroke: #343d49 }
.claim { stroke: #a0abba } .m0 { stroke: #6cb4f0 } .m1 { stroke: #f0a25f }
.m2 { stroke: #b49cf0 } .m3 { stroke: #7fca90 } }"""


def picture(found: Curves) -> str:
    """The curves as small multiples: coverage against the number of queries."""
    columns = 3
    rows = -(-len(found) // columns)
    width, height = columns * (LEFT + WIDE + 16), rows * (HIGH + 64) + TOP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        "<title>How often nominal 95 % intervals hold the true mean difference, by population and n</title>",
        f"<style>\n{STYLE}\n</style>",
    ]
    for index, method in enumerate(METHODS):
        x = LEFT + index * 150
        lines.append(
            f'<polyline class="m{index}" points="{x},16 {x + 30},16"/><text x="{x + 38}" y="20">{method}</text>'
        )
    for place, (name, methods) in enumerate(found.items()):
        x = LEFT + (place % columns) * (LEFT + WIDE + 16)
        y = TOP + (place // columns) * (HIGH + 64) + 20
        lines += _panel(x, y, name, methods)
    return "\n".join([*lines, "</svg>", ""])


def _panel(x: int, y: int, name: str, methods: dict[str, list[float]]) -> list[str]:
    def down(value: float) -> float:
        return round(y + HIGH * (HIGHEST - max(value, LOWEST)) / (HIGHEST - LOWEST), 1)

    across = [round(x + 14 + i * (WIDE - 28) / (len(world.SIZES) - 1), 1) for i in range(len(world.SIZES))]
    lines = [f'<text class="head" x="{x}" y="{y - 8}">{name}</text>']
    for value in (0.8, 0.85, 0.9, 0.95, 1.0):
        kind = "claim" if value == 0.95 else "grid"
        lines.append(f'<line class="{kind}" x1="{x}" x2="{x + WIDE}" y1="{down(value)}" y2="{down(value)}"/>')
        lines.append(
            f'<text class="tick" x="{x - 6}" y="{down(value) + 4}" text-anchor="end">{value:.2f}</text>'
        )
    for n, at in zip(world.SIZES, across, strict=True):
        lines.append(f'<text class="tick" x="{at}" y="{y + HIGH + 16}" text-anchor="middle">{n}</text>')
    for index, values in enumerate(methods.values()):
        points = " ".join(f"{at},{down(value)}" for at, value in zip(across, values, strict=True))
        lines.append(f'<polyline class="m{index}" points="{points}"/>')
        # What lies below the panel is written at its foot.
        for value, at in zip(values, across, strict=True):
            if value < LOWEST:
                lines.append(f'<text class="tick" x="{at + 9}" y="{y + HIGH - 3}">{share(value)}</text>')
    return lines


def main(chosen: Sequence[str]) -> None:
    """Measure the parts named, or everything, and write them."""
    makers: dict[str, Callable[[], str]] = {
        "yes-no": yes_no_table,
        "families": family_table,
        "gates": gate_table,
        "clusters": cluster_table,
        "rates": rate_table,
    }
    wanted = chosen or ["coverage", "errors", *makers]
    parts: dict[str, str] = {}
    with ProcessPoolExecutor(2) as pool:
        if "coverage" in wanted:
            found = curves(pool)
            parts["coverage"] = coverage_table(found)
            PICTURE.write_text(picture(found), encoding="utf-8")
        if "errors" in wanted:
            parts["errors"] = error_table(pool)
        rest = {name: pool.submit(make) for name, make in makers.items() if name in wanted}
        parts |= {name: future.result() for name, future in rest.items()}
    text = PAGE.read_text(encoding="utf-8")
    for name, part in parts.items():
        text = placed(text, name, part, PAGE)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

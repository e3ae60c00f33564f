"""Measures how far the statistics of model judges hold what they claim, and writes the tables of their page.

`python docs/judge_calibration.py` takes some three minutes on two cores; names after it, as `drift`, measure those parts
alone. A measured part stands in docs/explanation/model-judges-statistics.md between `<!-- measured: NAME -->` and
`<!-- end -->`; what is around it is written by hand. The collections DL19 to DL21 are needed (LEADLINE_SHARED, see
tests/shared/folder.py).
"""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from measured import put, table

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "explanation" / "model-judges-statistics.md"
sys.path.insert(0, str(DOCS.parent / "tests"))

from shared import judge_calibration as world  # noqa: E402
from shared.folder import DATA  # noqa: E402

REAL = DATA / "trec_dl_human_llm"
UNLABELLED = (200, 1000)


def share(value: float) -> str:
    """A share as the tables print it: `.948`."""
    return f"{value:.3f}".removeprefix("0")


def kappa_table() -> str:
    """Coverage of the intervals of kappa, invented and real."""
    rows = [
        (
            f"**{words}**" if method == "by query" else "",
            method,
            *(share(world.kappa_coverage(method, weights, n)) for n in world.SIZES),
        )
        for weights, words in (("quadratic", "quadratic weights"), ("none", "no weights"))
        for method in world.KAPPA_INTERVALS
    ]
    rows.append(
        ("**share of equal grades**", "by query", *(share(world.agreement_coverage(n)) for n in world.SIZES))
    )
    rows += [
        (
            "**GPT-4o on DL19–21**, quadratic" if method == "by query" else "",
            method,
            *(share(world.real_kappa_coverage(REAL, method, n)) for n in world.SIZES),
        )
        for method in world.KAPPA_INTERVALS
    ]
    return table(("95 % interval of kappa", "", *(f"{n} queries" for n in world.SIZES)), rows)


def _means(
    words: str, cells: Sequence[tuple[int, int, dict[str, tuple[float, float]]]]
) -> list[tuple[str, ...]]:
    return [
        (
            f"**{words}**" if place == 0 else "",
            f"{n} / {unlabelled}",
            *(f"{share(found[name][0])} ({share(found[name][1])})" for name in world.MEANS),
        )
        for place, (n, unlabelled, found) in enumerate(cells)
    ]


def mean_table() -> str:
    """Coverage and width of means by few human labels and many of a judge."""
    rows: list[tuple[str, ...]] = []
    for judge in world.JUDGES:
        rows += _means(
            judge,
            [(n, more, world.mean_coverage(judge, n, more)) for n in world.SIZES for more in UNLABELLED],
        )
    for what in ("mean", "difference"):
        words = f"DL21, GPT-4o: {what} of nDCG@10"
        rows += _means(words, [(n, 200, world.real_mean_coverage(REAL, what, n, 200)) for n in (20, 30, 50)])
    heads = ("PPI++", "PPI (λ = 1)", "people's labels alone", "judge's labels alone")
    return table(("judge", "labelled / other queries", *heads), rows)


def drift_table() -> str:
    """Type-I errors and power of the tests of marginal homogeneity."""
    rows = [
        (
            f"**{words}**" if test == "Stuart–Maxwell" else "",
            test,
            *(share(world.drift_rate(test, null, n, shift)) for n in world.SIZES),
        )
        for words, null, shift in (
            ("no drift, items independent", "independent", 0.0),
            ("no drift, items of a query move together", "clustered", 0.0),
            ("no drift, few queries move far", "rare and far", 0.0),
            ("drift, items independent", "independent", world.SHIFT),
            ("drift, items of a query move together", "clustered", world.SHIFT),
        )
        for test in world.DRIFT_TESTS
    ]
    return table(("found at .05", "test", *(f"{n} queries" for n in world.SIZES)), rows)


def change_table() -> str:
    """Type-I errors and power of the change of kappa."""
    rows = [
        (
            f"**{words}**" if method == "by query" else "",
            method,
            *(share(world.change_rate(method, n, better)) for n in world.SIZES),
        )
        for words, better in (("equally good", 0.0), ("new one surer by .10", 0.1))
        for method in ("by query", "normal test, items as independent")
    ]
    return table(("change found at .05", "method", *(f"{n} queries" for n in world.SIZES)), rows)


def rank_table() -> str:
    """Coverage of the intervals of tau and tau_AP."""
    rows = []
    for systems in (5, 20, 63):
        cells = {n: world.real_rank_coverage(REAL, systems, n) for n in world.SIZES}
        for name in ("tau", "tau_AP"):
            shown = [
                f"{share(found[name]['as many'])} / {share(found[name]['endless'])} ({share(found[name]['lower'])})"
                for found in cells.values()
            ]
            rows.append((f"{systems} systems" if name == "tau" else "", name, *shown))
    return table(("", "", *(f"{n} queries" for n in world.SIZES)), rows)


MAKERS: dict[str, Callable[[], str]] = {
    "kappa": kappa_table,
    "means": mean_table,
    "drift": drift_table,
    "change": change_table,
    "ranks": rank_table,
}


def main(chosen: Sequence[str]) -> None:
    """Measure the parts named, or everything, and write them."""
    with ProcessPoolExecutor(2) as pool:
        parts = {name: pool.submit(MAKERS[name]) for name in chosen or MAKERS}
        for name, part in parts.items():
            put(PAGE, name, part.result())


if __name__ == "__main__":
    main(sys.argv[1:])

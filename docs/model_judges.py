"""Certifies real model judges: agreement with people, the order of runs, the bias of measures, a change of version.

`python docs/model_judges.py` takes half a minute on one core; `agreement`, `many`, `orders`, `gating`, `differences`,
`versions` or `sizes` after it measures that part alone. A measured part stands in docs/explanation/model-judges.md between
`<!-- measured: NAME -->` and `<!-- end -->`; what is around it is written by hand. The judgments of TREC's Deep Learning
tracks and of LLMJudge are needed (LEADLINE_SHARED, see tests/shared/folder.py).
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from measured import put, table

from leadline.certificate import Certificate, Judge, MeasureCheck
from leadline.conventions import conventions
from leadline.errors import RowsError
from leadline.formats.read import read_run
from leadline.judging.certify import Rules, make_certificate
from leadline.judging.drift import drift_report
from leadline.judging.measured_twice import MeasuredTwice, measure_twice
from leadline.judging.two_judges import Side, TwoJudges, put_together, read_model, read_people
from leadline.spelling import parse_all

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "explanation" / "model-judges.md"
sys.path.insert(0, str(DOCS.parent / "tests"))

from shared.folder import DATA  # noqa: E402

TRACKS = ("dl19", "dl20", "dl21")
JUDGES = {
    "GPT-4o": "qrels.umbrela-gpt4o.txt.gz",
    "GPT-4": "qrels.umbrela-gpt4.txt.gz",
    "Llama 3.2": "qrels.umbrela-llama3.2.json.gz",
}
RULES = conventions("trec_eval-9")
"""That of the track's own scores: linear gain, scores as 32-bit floats."""
MEASURE = "nDCG(gain=linear)@10"
MARGINS = (0.02, 0.05)
POOL = Rules(sample="pool")
SIZES = (200, 400, 1000, 3000)
SAMPLES = 100


def people_of(track: str) -> Side:
    """The track's own judgments."""
    return read_people(str(DATA / "trec_dl_human_llm" / track / "qrels.human.txt.gz"))


def model_of(track: str, judge: str) -> Side:
    """A model's labels; of a pair that Llama labelled several times the last one counts."""
    path = DATA / "trec_dl_human_llm" / track / JUDGES[judge]
    return read_model(str(path), Judge(judge), "last" if judge == "Llama 3.2" else "error")


@cache
def both(track: str, judge: str) -> TwoJudges:
    """People and a model on the pairs of a track."""
    return put_together(people_of(track), model_of(track, judge))


@cache
def measured_on(judge: str) -> MeasuredTwice:
    """The 63 runs of DL21 by people's labels and by a model's."""
    folder = DATA / "trec_dl_human_llm" / "dl21" / "runs"
    runs = [read_run(path, conventions=RULES) for path in sorted(folder.glob("*.run.gz"))]
    return measure_twice(both("dl21", judge), runs, parse_all(MEASURE, RULES), RULES, MARGINS[0])


def label_sets() -> Iterator[tuple[str, TwoJudges | RowsError]]:
    """Each of LLMJudge's label sets with people's, or the error that refuses it."""
    folder = DATA / "llmjudge"
    people = read_people(str(folder / "llmjudge_test_qrel_idx.txt"))
    for path in sorted((folder / "scores").glob("*.txt.gz"), key=lambda one: one.name.lower()):
        try:
            yield path.name.removesuffix(".txt.gz"), put_together(people, read_model(str(path)), range(4))
        except RowsError as error:
            yield path.name.removesuffix(".txt.gz"), error


def interval(row: Mapping[str, Any], signs: bool = False) -> str:
    """An estimate with its ends."""
    form = "+.3f" if signs else ".3f"
    return f"{row['value']:{form}} [{row['low']:{form}}, {row['high']:{form}}]"


def said(made: Certificate) -> str:
    """Whether it is valid, and in short why not."""
    if made.valid:
        return "yes"
    short = {"majority class": "does not beat the majority class", "lower bound": "kappa may be 0"}
    return "no: " + ", ".join(
        next(words for key, words in short.items() if key in one) for one in made.reasons
    )


def agreement() -> str:
    """The three judges on the three tracks."""
    head = ["track", "judge", "pairs", "exact agreement", "majority class", "kappa, quadratic", "unweighted", "AC2",
            "model − human grade", "valid for reporting"]  # fmt: skip
    rows = []
    for track in TRACKS:
        for judge in JUDGES:
            made = make_certificate(both(track, judge), POOL)
            body = made.body
            rows.append([track.upper(), judge, body["n"], f"{body['exact_agreement']:.3f}",
                         f"{body['majority_baseline']:.3f}", interval(body["kappa"]),
                         f"{body['kappa_unweighted']['value']:.3f}", f"{body['ac2']:.3f}",
                         interval(body["bias"], True), said(made)])  # fmt: skip
    return table(head, rows)


def many() -> str:
    """LLMJudge's label sets, by kappa."""
    head = ["label set", "exact agreement", "kappa, quadratic", "unweighted", "AC2", "valid for reporting"]
    rows, refused, bodies = [], [], []
    for name, found in label_sets():
        if isinstance(found, RowsError):
            count = f"{found.total} label{'s' if found.total > 1 else ''}"
            refused.append(
                f"`{name}` is refused: {count} off the scale, the first on line {found.faults[0].line}"
            )
            continue
        made = make_certificate(found, POOL)
        bodies.append(made.body)
        kappa = made.body["kappa"]
        rows.append((kappa["value"], [name, f"{made.body['exact_agreement']:.3f}", interval(kappa),
                     f"{made.body['kappa_unweighted']['value']:.3f}", f"{made.body['ac2']:.3f}", said(made)]))  # fmt: skip
    ordered = [row for _, row in sorted(rows, key=lambda pair: -pair[0])]
    valid = sum(body["valid"] for body in bodies)
    first = bodies[0]
    opening = (
        f"{first['n']} pairs of {first['queries']} queries; one grade for every pair would reach "
        f"{first['majority_baseline']:.3f}. {valid} of {len(bodies)} label sets that could be certified are valid. "
        f"{'; '.join(refused)}."
    )
    return f"{opening}\n\n{table(head, ordered)}"


def orders() -> str:
    """How alike the order of the runs is."""
    head = ["judge", "Kendall's tau", "95 % interval", "tau_AP", "95 % interval"]
    rows = []
    for judge in JUDGES:
        made = measured_on(judge).systems
        assert made is not None and made["systems"] == 63
        rows.append([judge, f"{made['tau']:.3f}", f"[{made['tau_low']:.3f}, {made['tau_high']:.3f}]",
                     f"{made['tau_ap']:.3f}", f"[{made['tau_ap_low']:.3f}, {made['tau_ap_high']:.3f}]"])  # fmt: skip
    return table(head, rows)


def gating() -> str:
    """The bias of nDCG@10 over the runs, and at which margins each judge could gate."""
    head = ["judge", "least", "median", "greatest", *(f"runs within ±{m / 2:g} (margin {m:g})" for m in MARGINS),
            "margin that every run would need"]  # fmt: skip
    rows = []
    for judge in JUDGES:
        checks = measured_on(judge).checks
        differences = [check.difference or 0.0 for check in checks]
        inside = [f"{sum(_within(check, margin) for check in checks)} of {len(checks)}" for margin in MARGINS]
        needed = max(2 * max(abs(check.low or 0), abs(check.high or 0)) for check in checks)
        spread = (
            f"{value:+.3f}" for value in (min(differences), float(np.median(differences)), max(differences))
        )
        rows.append([judge, *spread, *inside, f"{needed:.2f}"])
    return table(head, rows)


def differences() -> str:
    """The bias of the difference of two runs, over every two of the 63."""
    head = ["judge", "pairs of runs", "bias of the difference, median", "of 95 %, at most", "greatest",
            "pairs that change places"]  # fmt: skip
    rows = []
    for judge in JUDGES:
        made = measured_on(judge).systems
        assert made is not None
        means = made["means"]
        gaps, swapped = [], 0
        for one, other in combinations(means, 2):
            by_people, by_model = one["human"] - other["human"], one["model"] - other["model"]
            gaps.append(abs(by_model - by_people))
            swapped += by_people * by_model < 0
        rows.append([judge, len(gaps), f"{np.median(gaps):.3f}", f"{np.quantile(gaps, 0.95):.3f}", f"{max(gaps):.3f}",
                     f"{swapped / len(gaps):.1%}"])  # fmt: skip
    return table(head, rows)


def _within(check: MeasureCheck, margin: float) -> bool:
    return replace(check, margin=margin).within


def versions() -> str:
    """GPT-4 to GPT-4o, as if it were a new version of one judge."""
    head = [
        "track",
        "grades that changed",
        "new − old grade",
        "p, shares by query",
        "kappa before",
        "now",
        "change",
    ]
    rows = []
    for track in TRACKS:
        report = drift_report(model_of(track, "GPT-4"), model_of(track, "GPT-4o"), people_of(track))
        change = report["kappa_change"]
        p = report["by_query"]["p"]
        rows.append([track.upper(), f"{report['changed']['value']:.1%}", interval(report["mean_change"], True),
                     "< 0.001" if p < 0.001 else f"{p:.3f}", f"{change['old']:.3f}", f"{change['new']:.3f}",
                     interval(change, True)])  # fmt: skip
    return table(head, rows)


def sizes() -> str:
    """What random samples of so many pairs of DL21 would have said."""
    head = ["judge", "pairs", "queries", "width of kappa's interval, median", "valid"]
    rows = []
    for judge in ("GPT-4o", "Llama 3.2"):
        whole = both("dl21", judge)
        for size in SIZES:
            widths, queries, valid = [], [], 0
            for seed in range(SAMPLES):
                kept = whole.first.frame.sample(size, seed=seed)
                found = put_together(replace(whole.first, frame=kept), whole.second, whole.grades)
                made = make_certificate(found, Rules("random", resamples=1000, seed=seed))
                kappa = made.body["kappa"]
                widths.append(kappa["high"] - kappa["low"])
                queries.append(made.body["queries"])
                valid += made.valid
            rows.append(
                [
                    judge,
                    size,
                    f"{np.median(queries):.0f}",
                    f"{np.median(widths):.3f}",
                    f"{valid} of {SAMPLES}",
                ]
            )
    return table(head, rows)


def main(chosen: Sequence[str]) -> None:
    """Measure the parts named, or all, and write them."""
    parts = {
        "agreement": agreement,
        "many": many,
        "orders": orders,
        "gating": gating,
        "differences": differences,
        "versions": versions,
        "sizes": sizes,
    }
    for name, measure in parts.items():
        if not chosen or name in chosen:
            put(PAGE, name, measure())


if __name__ == "__main__":
    main(sys.argv[1:])

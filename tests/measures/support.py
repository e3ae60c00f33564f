"""Makers of small runs and judgments, shared by the tests of the measures."""

import math
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl
from hypothesis import strategies as st

import leadline
from leadline.catalogue import TABLE
from leadline.formats.objects import qrels_of
from leadline.measure import Definition, Measure, Parameter
from leadline.tables import Qrels

DOCUMENTS = [f"d{letter}" for letter in "abcdefghijkl"]
SCORES = [-3.0, -0.5, 0.0, 0.25, 1.0, 2.0]
"""Few scores, all exact in 32 bits, so that ties are common and the width of a float decides nothing."""

Rankings = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]


def laid_out(ranked: str, missed: str = "") -> tuple[dict[str, list[str]], Grades]:
    """A run and judgments of one query from grades by rank; `.` is not judged, `missed` was not returned.

    >>> laid_out("2 .", "1")
    ({'q': ['r1', 'r2']}, {'q': {'r1': 2, 'm1': 1}})
    """
    grades = {f"r{i}": int(g) for i, g in enumerate(ranked.split(), 1) if g != "."}
    grades |= {f"m{i}": int(g) for i, g in enumerate(missed.split(), 1)}
    return {"q": [f"r{i}" for i in range(1, len(ranked.split()) + 1)]}, {"q": grades}


def value(measure: Any, run: Any, qrels: Any, query: str = "q", **options: Any) -> float | None:
    """The value of one measure for one query."""
    if leadline.parse(measure).definition.sampled:
        qrels = stratified(qrels)
    return leadline.evaluate(run, qrels, [measure], **options).per_query(str(measure))[query]


def table(run: Any, qrels: Any, measures: Iterable[Any], **options: Any) -> dict[str, dict[str, float]]:
    """Query → measure as asked → value; NaN where there is none."""
    asked = list(measures)
    if any(leadline.parse(measure).definition.sampled for measure in asked):
        qrels = stratified(qrels)
    scores = leadline.evaluate(run, qrels, asked, **options)
    out: dict[str, dict[str, float]] = {}
    for measure in asked:
        for query, number in scores.per_query(str(measure)).items():
            out.setdefault(query, {})[str(measure)] = math.nan if number is None else number
    return out


def stratified(qrels: Any) -> Qrels:
    """The judgments as those of a sampled pool: each query's documents, by id, are dealt into two strata."""
    table = qrels_of(qrels)
    place = pl.col("doc_id").rank("dense").over("query_id")
    return replace(table, table=table.frame.with_columns(stratum=(place % 2).cast(pl.String)))


def same(first: float, second: float, within: float = 1e-9) -> bool:
    """True for equal numbers, and for two that are both undefined."""
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return abs(first - second) <= within


def differences(
    first: Mapping[str, Mapping[str, float]], second: Mapping[str, Mapping[str, float]], within: float = 1e-9
) -> list[tuple[str, str, float, float]]:
    """Where two tables of values (query → measure → value) are not the same."""
    assert first.keys() == second.keys()
    return [
        (query, measure, number, second[query][measure])
        for query, row in first.items()
        for measure, number in row.items()
        if not same(number, second[query][measure], within)
    ]


@st.composite
def collections(
    draw: st.DrawFn,
    grades: tuple[int, ...] = (-1, 0, 0, 1, 1, 2, 3),
    queries: int = 4,
    documents: int = 9,
    ties: bool = True,
    unanswered: bool = True,
    only_negative: bool = True,
) -> tuple[Rankings, Grades]:
    """Runs with ties and short lists, judgments with negative grades, with only zeros, of other documents.

    Every query is judged and at least one is answered. Queries with nothing but negative grades are left out
    for other programs: trec_eval stops at one, and pytrec_eval reads memory that is not its own.
    """
    # Drawn evenly from a seed: the examples that Hypothesis grows by itself have too few ties at the places
    # that matter.
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    names = [f"q{i}" for i in range(rng.randint(1, queries))]
    pool = DOCUMENTS[:documents]
    run: Rankings = {}
    qrels: Grades = {}
    for at, name in enumerate(names):
        judged = rng.sample(pool, rng.randint(1, documents))
        qrels[name] = {doc: rng.choice(grades) for doc in judged}
        if not only_negative and max(qrels[name].values()) < 0:
            qrels[name][judged[0]] = 0
        if at and unanswered and rng.random() < 0.2:
            continue
        returned = rng.sample(pool, rng.randint(1, documents))
        levels = rng.sample(SCORES, rng.randint(1, len(SCORES)))
        run[name] = {doc: rng.choice(levels) if ties else float(-rank) for rank, doc in enumerate(returned)}
    return run, qrels


def ordered(scores: Mapping[str, float]) -> list[str]:
    """Documents by score descending, equal scores by id descending (ids of the tests are plain ASCII)."""
    return [doc for _, doc in sorted(((score, doc) for doc, score in scores.items()), reverse=True)]


def texts_of(definition: Definition) -> list[str]:
    """Texts of one measure: plain, and with each of its parameters set to something else."""
    cuts = {
        "no": [""], "optional": ["", "@1", "@3", "@50"], "required": ["@1", "@3", "@50"],
        "level": ["@0", "@0.3", "@1"],
    }[definition.cutoff]  # fmt: skip
    texts = [definition.name + cut for cut in cuts]
    for parameter in definition.parameters:
        for setting in settings_of(parameter):
            texts += [f"{definition.name}({parameter.name}={setting}){cut}" for cut in cuts]
    return texts


def settings_of(parameter: Parameter) -> list[str]:
    """Some settings of a parameter besides its default."""
    if parameter.name in ("denominator", "levels", "variant", "over"):
        return [word for word in parameter.accepts if word != parameter.default]
    return {
        "judged_only": ["true"], "gain": ["linear", "{1:3,2:9,3:27}"], "rel": ["2"], "p": ["0.5"],
        "max_grade": ["4"], "beta": ["0.5", "2"], "alpha": ["0", "0.75"], "depth": ["2", "30"],
        "normalize": ["false"],
    }[parameter.name]  # fmt: skip


def every_text() -> Iterator[str]:
    """Texts of every measure in the catalogue."""
    for definition in (one for one in TABLE if one.needs != "evidence"):
        yield from texts_of(definition)


def is_condensed(measure: Measure) -> bool:
    """True for the condensed form of a measure."""
    return bool(measure.has("judged_only") and measure.value("judged_only"))

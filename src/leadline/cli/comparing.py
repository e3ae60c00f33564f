"""The work behind `compare` and `power`: scores, comparisons, verdict, what moved, and the files written."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from leadline.account import certified
from leadline.cli.chosen import evidence_words, powered_by
from leadline.comparison import Design, Pairs, all_pairs, compare, pair_intervals
from leadline.conventions import Conventions
from leadline.errors import InputError, UsageError, amount, printable
from leadline.evaluation import score
from leadline.formats.write import atomic_write
from leadline.gating.completions import TwoRankings, not_weighed
from leadline.gating.judge_first import doubt
from leadline.gating.policy import Rule
from leadline.gating.rules import decide_one, effect_of
from leadline.hits import Judged
from leadline.inputs import Inputs
from leadline.measure import Measure
from leadline.movement import heads_of, moved_most
from leadline.report.comparing import ComparisonReport
from leadline.report.comparison_json import comparison_json, comparison_markdown
from leadline.report.comparison_text import comparison_text
from leadline.scores import Comparison, Scores
from leadline.spelling import parse_all

DEPTHS = (1, 3, 5, 10, 20, 50, 100)
"""The depths at which a page shows Judged@k and recall@k."""
SHOWN_DEPTH = 20
"""How deep the rankings are that a page shows side by side."""
BY_PEOPLE = "the verdict goes by people's labels alone, not by the interval by people and model"
PLAIN, CONDENSED = "plain", "condensed"


def built(
    given: Inputs,
    asked: Mapping[str, Measure],
    rules: Conventions,
    chosen: Mapping[str, Any],
    *,
    hashed: bool,
    line: str,
) -> ComparisonReport:
    """The whole comparison of the runs given, the first being the baseline."""
    names = [run.name for run in given.runs]
    scores = score(given, asked, rules, seed=chosen["seed"] or 0, hash_inputs=hashed)
    design = _design(given, chosen)
    rows = compare(scores, names[0], names[1:], design)
    scores = _with_effects(powered_by(scores, given, asked, rules, chosen, names[0]), rows, chosen["margin"])
    slices = _slices(given, chosen["by"])
    rows += _by_slice(scores, names, design, slices)
    first = next(iter(asked.values()))
    depth = int(first.cutoff) if isinstance(first.cutoff, int) and first.cutoff >= 1 else 10
    judgments = given.judged()
    judged = judgments[names[0]]
    heads = heads_of(given.runs[:2], judgments, rules, max(depth, SHOWN_DEPTH))
    at_depth = {name: frame.filter(frame["rank"] <= depth) for name, frame in heads.items()}
    found, doubts, remarks = _verdict(given, judged, rules, rows[0], first, chosen)
    pairs = all_pairs(scores, str(first), design) if len(names) > 2 else None
    shares = score(
        given, parse_all([f"Judged@{k}" for k in DEPTHS] + [f"R@{k}" for k in DEPTHS], rules), rules
    )
    return ComparisonReport(
        replace(scores, seed=design.seed),
        rows,
        found,
        chosen["margin"],
        moved=moved_most(
            scores,
            str(first),
            names[0],
            names[1],
            at_depth,
            judged,
            same_ids=given.same_chunks(names[0], names[1]),
        ),
        pairs=pairs,
        pair_intervals=pair_intervals(scores, str(first), *pairs, design) if pairs else (),
        judged=_shares(shares, "Judged", depth),
        depth=depth,
        rankings=heads,
        query_ids=judged.query_ids,
        texts=_texts(given),
        command=line,
        doubt=doubts,
        remarks=(*remarks, *_disagreement(rows), *_against_nulls(given, first, rules, design, chosen)),
    )


def _with_effects(scores: Scores, rows: Sequence[Comparison], margin: float) -> Scores:
    """The scores with what each prediction-powered difference says, by the rules of every verdict's effect."""
    if scores.powered is None:
        return scores
    by_people = {(row.measure, row.candidate): row for row in rows}
    told = []
    for one in scores.powered.rows:
        row = by_people[one.measure, one.system]
        own = replace(
            row, n=one.both.n, low=one.both.low, high=one.both.high, one_sided_low=one.one_sided_low
        )
        told.append(replace(one, effect=effect_of(own, margin)))
    return replace(scores, powered=replace(scores.powered, rows=tuple(told)))


def _design(given: Inputs, chosen: Mapping[str, Any]) -> Design:
    """How the comparison is made, from the options."""
    column = _column(given, chosen["cluster"], "--cluster")
    clusters = None if column is None else {q: value for q, value in column.items() if value is not None}
    strata = weights = None
    if chosen["weight"] is not None:
        by, of = _column(given, chosen["by"], "--by"), _column(given, chosen["weight"], "--weight")
        if by is None or of is None:
            raise UsageError("--weight COLUMN goes with --by COLUMN, whose slices it weighs")
        strata = {q: value or "(none)" for q, value in by.items()}
        weights = _weights(strata, of)
    return Design(
        alpha=chosen["alpha"],
        interval=chosen["interval_of"],
        correction=chosen["correction"],
        seed=chosen["seed"] or 0,
        clusters=clusters,
        strata=strata,
        weights=weights,
    )


def _column(given: Inputs, name: str | None, option: str) -> dict[str, str | None] | None:
    if name is None:
        return None
    if given.queries is None:
        raise UsageError(f"{option} {name} needs the table with that column: --queries FILE")
    return given.queries.column(name)


def _weights(strata: Mapping[str, str], of: Mapping[str, str | None]) -> dict[str, float]:
    """The weight of each stratum, which all of its queries must agree on."""
    weights: dict[str, float] = {}
    for query_id, stratum in strata.items():
        try:
            weight = float(of.get(query_id) or "")
        except ValueError:
            raise InputError(
                f"query {printable(query_id)}: its weight {of.get(query_id)!r} is not a number"
            ) from None
        if weights.setdefault(stratum, weight) != weight:
            raise InputError(
                f"slice {printable(stratum)}: its queries name two weights, {weights[stratum]:g} and {weight:g}"
            )
    return weights


def _slices(given: Inputs, by: str | None) -> dict[str, set[str]]:
    slices: dict[str, set[str]] = {}
    for query_id, label in (_column(given, by, "--by") or {}).items():
        slices.setdefault(label or "(none)", set()).add(query_id)
    return dict(sorted(slices.items()))


def _by_slice(
    scores: Scores, names: Sequence[str], design: Design, slices: Mapping[str, set[str]]
) -> list[Comparison]:
    """Every slice's comparisons; p corrected over the slices of a measure (Benjamini–Hochberg), as in exploration."""
    from leadline.stats.multiple import benjamini_hochberg

    plain = replace(design, correction="none", strata=None, weights=None)
    rows = [
        row
        for label, ids in slices.items()
        for row in compare(scores, names[0], names[1:], plain, queries=ids, group=label)
    ]
    keys = dict.fromkeys((row.measure, row.candidate) for row in rows)
    for key in keys:
        places = [i for i, row in enumerate(rows) if (row.measure, row.candidate) == key]
        p = benjamini_hochberg(np.array([np.nan if rows[i].p is None else rows[i].p for i in places], float))
        for i, corrected in zip(places, p.tolist(), strict=True):
            value = None if corrected != corrected else corrected
            rows[i] = replace(rows[i], p_corrected=value, correction="bh over slices")
    return rows


def _verdict(
    given: Inputs,
    judged: Judged,
    rules: Conventions,
    row: Comparison,
    measure: Measure,
    chosen: Mapping[str, Any],
) -> tuple[Any, dict[str, Any] | None, tuple[str, ...]]:
    """The verdict on the first measure of the first candidate, what judge-first found, and remarks."""
    files = {"baseline": _path(given, 0), "candidate": _path(given, 1), "qrels": str(chosen["qrels"])}
    files["options"] = shlex.join(chosen.get("options", ()))
    if chosen.get("evidence"):
        files["evidence"] = shlex.join(evidence_words(chosen))
    assert measure.definition is not None
    if (
        measure.definition.better != "higher"
        or measure.definition.aggregate != "mean"
        or not chosen["margin"]
    ):
        return (
            None,
            None,
            (f"no verdict on {measure}: it is no measure of which more is better, or the margin is 0",),
        )
    found = None
    if not rules.complete and measure.can_be_completed:
        two = TwoRankings.of(given.runs[0], given.runs[1], judged, measure, rules)
        rule = Rule(str(measure), chosen["margin"], alpha=chosen["alpha"])
        found = doubt(two, rule, comparison=row, seed=chosen["seed"] or 0)
    whose = certified(given.qrels)
    notes = [BY_PEOPLE] if chosen.get("ppi") else [] if whose is None else [whose["sentence"]]
    verdict = decide_one(
        row, chosen["margin"], doubt=found, complete=rules.complete, files=files, notes=notes
    )
    said = (not_weighed(measure),) if measure.of_subtopics and not rules.complete else ()
    return verdict, None if found is None else asdict(found), said


def _path(given: Inputs, place: int) -> str:
    return given.paths[place][1] if place < len(given.paths) else given.runs[place].name


def _shares(shares: Scores, name: str, depth: int) -> dict[str, dict[str, float]]:
    """The mean of a measure at each depth, by system."""
    table: dict[str, dict[str, float]] = {}
    for row in shares.summaries:
        if row.measure.startswith(f"{name}@") and row.mean is not None:
            table.setdefault(row.system, {})[row.measure.partition("@")[2]] = row.mean
    return table


def _texts(given: Inputs) -> dict[str, str | None]:
    if given.queries is None or "text" not in given.queries.frame.columns:
        return {}
    return given.queries.column("text")


def _disagreement(rows: Sequence[Comparison]) -> tuple[str, ...]:
    """Measures whose intervals point different ways."""
    said = []
    for candidate in dict.fromkeys(row.candidate for row in rows):
        own = [
            row for row in rows if row.candidate == candidate and row.group is None and row.low is not None
        ]
        up = [row.measure for row in own if row.low is not None and row.low > 0]
        down = [row.measure for row in own if row.high is not None and row.high < 0]
        if up and down:
            said.append(
                f"measures disagree on {printable(candidate)}: better by {', '.join(up)}; worse by {', '.join(down)}"
            )
    return tuple(said)


def _against_nulls(
    given: Inputs, measure: Measure, rules: Conventions, design: Design, chosen: Mapping[str, Any]
) -> tuple[str, ...]:
    """What the null systems score, and which systems do not beat them; nothing unless they were asked for."""
    if not chosen.get("nulls"):
        return ()
    from leadline.nulls import null_runs

    made = null_runs(given.runs[0], rules, seed=design.seed)
    with_nulls = given.with_more(made)
    scores = score(with_nulls, {str(measure): measure}, rules)
    names = [run.name for run in given.runs]
    said = []
    for null in made:
        said.append(f"{null.name}: {measure} {scores.mean(str(measure), null.name):.4f}")
        rows = compare(scores, null.name, names, replace(design, correction="none"))
        short = [row.candidate for row in rows if row.low is None or row.low <= 0]
        said += [f"{printable(name)} is not shown to beat {null.name}" for name in short]
    return tuple(said)


def write_comparison(report: ComparisonReport, path: str) -> None:
    """Write the comparison to a file; the ending says the kind: .json .md .html .txt, or .jsonl for what to judge.

    Raises
    ------
    UsageError: another ending, or the file cannot be written.
    """
    text = WRITERS[comparison_kind(path)](report)
    with atomic_write(Path(path)) as place:
        place.write_text(text, encoding="utf-8")


def comparison_kind(path: str) -> str:
    """The kind of file that an ending names.

    Raises
    ------
    UsageError: it names none.
    """
    kind = Path(path).suffix.lower()
    if kind not in WRITERS:
        known = " ".join(sorted(WRITERS))
        raise UsageError(f"{printable(path)}: the ending names no kind of report; known: {known}")
    return kind


def _page(report: ComparisonReport) -> str:
    from leadline.report.comparison_page import comparison_page

    return comparison_page(report)


def _to_judge(report: ComparisonReport) -> str:
    """The pairs to judge, a JSON object a line, most decisive first."""
    pairs = [] if report.doubt is None else report.doubt.get("pairs", [])
    return "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs)


WRITERS: dict[str, Callable[[ComparisonReport], str]] = {
    ".json": comparison_json,
    ".md": comparison_markdown,
    ".txt": comparison_text,
    ".html": _page,
    ".jsonl": _to_judge,
}


def powers(
    given: Inputs,
    asked: Mapping[str, Measure],
    rules: Conventions,
    difference: float,
    alpha: float,
    seed: int,
) -> list[dict[str, Any]]:
    """What these queries can tell, for each measure: power, the smallest detectable difference, queries needed."""
    from leadline.stats.intervals import deviation
    from leadline.stats.power import (
        detectable_difference,
        power_paired,
        queries_for_margin,
        queries_needed,
        queries_until_excluded,
        smallest_margin,
    )

    if not difference > 0:
        raise UsageError(f"--difference {difference:g} is not above 0: name the difference worth having")
    scores = score(given, asked, rules)
    names = scores.systems
    rows = []
    for measure in scores.measures:
        d = Pairs.of(scores.cell(measure, names[0]), scores.cell(measure, names[1])).differences
        n, sd = len(d), deviation(d)
        if not sd:
            rows.append({"measure": measure, "n": n, "sd": sd, "reason": "no spread to plan from"})
            continue
        until = queries_until_excluded(d, difference, np.random.default_rng(seed), level=1 - alpha)
        rows.append(
            {
                "measure": measure,
                "n": n,
                "sd": sd,
                "power": power_paired(n, sd, difference, alpha),
                "detectable": detectable_difference(n, sd, alpha=alpha),
                "queries_needed": queries_needed(sd, difference, alpha=alpha),
                "queries_until_excluded": until.n,
                "low": until.low,
                "high": until.high,
                "smallest_margin": smallest_margin(n, sd, alpha=alpha),
                "queries_for_margin": queries_for_margin(sd, difference, alpha=alpha),
            }
        )
    return rows


def powers_text(rows: Sequence[Mapping[str, Any]], difference: float) -> str:
    """The same in words, a paragraph a measure."""
    lines = []
    for row in rows:
        lines.append(f"{row['measure']}: {amount(row['n'], 'query', 'queries')}")
        if "power" not in row:
            lines += [f"  {row['reason']}", ""]
            continue
        span = f" ({row['low']} to {row['high']})" if row["low"] is not None else ""
        lines += [
            f"  spread of the differences: sd {row['sd']:.4f}",
            f"  a true difference of {difference:g} would be found with power {row['power']:.2f}",
            f"  found with power .80: a difference of {row['detectable']:.4f}",
            f"  queries until the interval excludes zero at {difference:g}: {row['queries_until_excluded']}{span}",
            f"  smallest margin these queries decide with power .80: {row['smallest_margin']:.4f}; "
            f"for a margin of {difference:g}: {row['queries_for_margin']} queries",
            "",
        ]
    return "\n".join(lines)

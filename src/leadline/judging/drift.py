"""What changed between two versions of a model judge: its grades on the same pairs, and its agreement with people."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leadline.account import tool_version
from leadline.certificate import Certificate, Judge
from leadline.errors import NotComparableError, printable
from leadline.judging.certify import WEIGHTS, Rules, interval_row
from leadline.judging.two_judges import Side, TwoJudges, put_together, tables_of, whole_scale
from leadline.stats.by_query import kappa_change, shares_by_query
from leadline.stats.homogeneity import Homogeneity, homogeneity_by_query, stuart_maxwell
from leadline.stats.intervals import Interval

VOID = (
    "a new model, prompt, parser or parameter is another judge: the certificate of the old one is void for it"
)
MEANING = "a row is a grade of the old labels, a column a grade of the new ones; both in the order of grades"
COMPARED = (
    "exact_agreement",
    "majority_baseline",
    "ac2",
    "n",
    "queries",
    "grades",
    "valid",
    "valid_for_gating",
    "date",
)
"""What of two certificates is set side by side, beside kappa, bias and the judge."""


def drift_report(
    old: Side,
    new: Side,
    people: Side | None = None,
    grades: Sequence[float] | None = None,
    rules: Rules | None = None,
) -> dict[str, Any]:
    """The drift of a judge, as `leadline drift --format json` prints it.

    Whether the grades' shares changed is tested by Stuart–Maxwell, which takes pairs as independent, and by a sign-flip
    test over queries, which does not: the second decides where they differ. With people's labels the change of kappa comes
    with its interval, both versions against the same people on the same pairs.

    Parameters
    ----------
    grades: the whole scale; None: to people's greatest grade, without people to the greatest of both versions.

    Raises
    ------
    NotComparableError: no pair in common. RowsError, InputError: a label off the scale.
    """
    rules = rules or Rules()
    if grades is None:
        grades = whole_scale(people) if people is not None else whole_scale(old, new)
    found = put_together(old, new, grades)
    rng = np.random.default_rng(rules.seed)
    table = found.table
    n = int(table.sum())
    shares = shares_by_query(found.tables, rng, found.grades, rules.level, rules.resamples)
    return {
        "leadline": tool_version(),
        "command": "drift",
        "seed": rules.seed,
        "judges": {"old": _judge(old.judge), "new": _judge(new.judge)},
        "differs": judge_differences(old.judge, new.judge),
        "void": None if old.judge is None or new.judge is None else old.judge != new.judge,
        "n": n,
        "queries": len(found.queries),
        "grades": list(found.grades),
        "inputs": [side.to_dict(role) for side, role in _sides(old, new, people)],
        "only_old": found.only_first,
        "only_new": found.only_second,
        "changed": {**interval_row(_changed(shares.agreement)), "pairs": int(n - np.trace(table))},
        "mean_change": interval_row(shares.step),
        "moves": _moves(found),
        "shares": [
            {"grade": grade, "old": float(table[i].sum() / n), "new": float(table[:, i].sum() / n)}
            for i, grade in enumerate(found.grades)
        ],
        "confusion": table.tolist(),
        "confusion_meaning": MEANING,
        "stuart_maxwell": _test(stuart_maxwell(table)),
        "by_query": _test(homogeneity_by_query(found.tables, rng)),
        "kappa_change": None if people is None else _kappa_change(found, people, rules, rng),
    }


def certificates_differ(old: Certificate, new: Certificate) -> dict[str, Any]:
    """What differs between two certificates, as `leadline drift` prints it of two .json files.

    Their samples may differ, so nothing is tested: for that the labels themselves are needed.
    """
    pair = (old.body, new.body)
    rows = [
        {"what": name, "old": old.body[name], "new": new.body[name], "same": old.body[name] == new.body[name]}
        for name in COMPARED
    ]
    for name in ("kappa", "bias"):
        first, second = ({key: body[name].get(key) for key in ("value", "low", "high")} for body in pair)
        rows.append({"what": name, "old": first, "new": second, "same": first == second})
    known = [one.judge if one.judge.model else None for one in (old, new)]
    return {
        "leadline": tool_version(),
        "command": "drift",
        "certificates": rows,
        "judges": {"old": _judge(known[0]), "new": _judge(known[1])},
        "differs": judge_differences(*known),
        "void": None if None in known else old.judge != new.judge,
    }


def judge_differences(old: Judge | None, new: Judge | None) -> list[dict[str, Any]]:
    """The parts in which two judges differ; none where one is not known.

    >>> judge_differences(Judge("m", prompt_hash="a"), Judge("m", prompt_hash="b"))
    [{'part': 'prompt_hash', 'old': 'a', 'new': 'b'}]
    """
    if old is None or new is None:
        return []
    first, second = old.to_dict(), new.to_dict()
    return [
        {"part": name, "old": value, "new": second[name]}
        for name, value in first.items()
        if value != second[name]
    ]


def _sides(old: Side, new: Side, people: Side | None) -> list[tuple[Side, str]]:
    return [(old, "old"), (new, "new"), *([(people, "human")] if people is not None else [])]


def _judge(judge: Judge | None) -> Mapping[str, Any] | None:
    return None if judge is None else judge.to_dict()


def _changed(agreement: Interval) -> Interval:
    """The share of pairs whose grade changed: what is not equal."""
    value, low, high = (
        None if end is None else 1 - end for end in (agreement.estimate, agreement.low, agreement.high)
    )
    return replace(agreement, estimate=value, low=high, high=low)


def _moves(found: TwoJudges) -> list[dict[str, Any]]:
    """Every move from one grade to another, the most frequent first."""
    moved = [
        {"old": found.grades[i], "new": found.grades[j], "pairs": int(count)}
        for i, row in enumerate(found.table)
        for j, count in enumerate(row)
        if i != j and count
    ]
    return sorted(moved, key=lambda row: (-row["pairs"], row["old"], row["new"]))


def _test(found: Homogeneity) -> dict[str, Any]:
    return {
        "statistic": found.statistic,
        "df": found.df,
        "p": found.p,
        "method": found.method,
        "n": found.n,
        "reason": found.reason,
    }


def _kappa_change(found: TwoJudges, people: Side, rules: Rules, rng: np.random.Generator) -> dict[str, Any]:
    """Kappa with people of both versions, on the pairs that all three labelled."""
    human = people.frame.select("query_id", "doc_id", human="grade")
    pairs = found.pairs.join(human, on=["query_id", "doc_id"], how="inner").sort("query_id", "doc_id")
    if not pairs.height:
        raise NotComparableError(
            f"{printable(people.source)} has no pair in common with both versions of the judge"
        )
    # Refused here, where file and line are known.
    put_together(people, found.first, found.grades)
    old, new = (tables_of(pairs, "human", side, found.grades) for side in ("first", "second"))
    made = kappa_change(old, new, rng, WEIGHTS, found.grades, rules.level, rules.resamples)
    return {
        "old": made.old,
        "new": made.new,
        **interval_row(made.interval),
        "weights": made.weights,
        "n": pairs.height,
        "queries": len(old),
    }

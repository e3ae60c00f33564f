"""From judgments to labels: one grade a pair, by a named rule; nothing derived is stored."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from leadline.certificate import Judge, distinct, sentence
from leadline.errors import InputError, UnknownNameError, UsageError, amount, printable
from leadline.judging.judgment import KINDS, Judgment, by_time, standing
from leadline.tables import DESIGN, Qrels

Pair = tuple[str, str]
"""A query id and a document id."""
SCHEMA: dict[str, Any] = {
    "query_id": pl.String, "doc_id": pl.String, "grade": pl.Float64, "stratum": pl.String, "probability": pl.Float64
}  # fmt: skip


@dataclass(frozen=True)
class Label:
    """The grade of one pair, with what it stands on.

    Attributes
    ----------
    grade: by the rule. kind: `person`; where no person graded the pair `unstated`, else `model`.
    votes: how many were counted; spread: their greatest minus their least.
    who: whose votes they are, in the order of their times. tied: the rule had to choose between equals.
    probability, stratum: of the sampled pool that the pair came from, as its judgments say. A grade does not take those of a
    row that says "in the pool, not judged": the pair may not have been drawn.
    judges: the models whose votes they are, of a model's label.
    """

    query_id: str
    doc_id: str
    grade: float
    kind: str
    votes: int
    spread: float
    who: tuple[str, ...] = ()
    tied: bool = False
    probability: float | None = None
    stratum: str | None = None
    judges: tuple[Judge, ...] = ()


@dataclass(frozen=True)
class Labels:
    """The labels of a book by one rule, sorted by query and document, and their account.

    Attributes
    ----------
    pairs: pairs with a standing judgment. without: those that have no label, by why: `marked` (unsure, skip or
    broken in place of every grade) or `open` (the judges differ, and nobody has decided: rule `adjudicated` only).
    """

    rule: str
    labels: tuple[Label, ...]
    pairs: int
    without: Mapping[str, int]

    def qrels(
        self,
        source: str = "book",
        *,
        grade_map: Mapping[float, float] | None = None,
        max_grade: float | None = None,
    ) -> Qrels:
        """The labels as judgments to score with; with `stratum` and `probability` where some of them came from a sampled pool.

        Raises
        ------
        InputError: there is none.
        """
        if not self.labels:
            raise InputError(f"{printable(source)}: no label by the rule {self.rule}")
        columns = {name: [getattr(label, name) for label in self.labels] for name in SCHEMA}
        columns = {name: values for name, values in columns.items() if name not in DESIGN or any(values)}
        frame = pl.DataFrame(columns, schema={name: SCHEMA[name] for name in columns})
        made = Qrels.checked(frame, source=source, max_grade=max_grade, grade_map=grade_map)
        return replace(made, rule=self.rule, models=self.of_kind("model"), judges=self.judges)

    @property
    def judges(self) -> tuple[Judge, ...]:
        """The model judges whose votes are in the labels; several are a mixture that no certificate covers."""
        return distinct(judge for label in self.labels for judge in label.judges)

    def account(self) -> dict[str, Any]:
        """What the labels stand on, in numbers."""
        several = [label for label in self.labels if label.votes > 1]
        return {
            "rule": self.rule,
            "pairs": self.pairs,
            "labels": len(self.labels),
            "by_kind": {kind: self.of_kind(kind) for kind in KINDS},
            "several_votes": len(several),
            "differing": sum(label.spread > 0 for label in several),
            "tied": sum(label.tied for label in self.labels),
            "without": dict(self.without),
        }

    def of_kind(self, kind: str) -> int:
        """How many labels are a person's, or a model's."""
        return sum(label.kind == kind for label in self.labels)

    def sentence(self) -> str:
        """The account in one line.

        >>> make_labels([Judgment("q", "d", 2, who="ana")]).sentence()
        '1 label by the rule latest'
        """
        account = self.account()
        parts = [f"{amount(len(self.labels), 'label')} by the rule {self.rule}"]
        several = len(self.judges)
        mixed = f"of {several} model judges mixed (--judge names one)" if several > 1 else "of a model"
        for count, words in (
            (self.of_kind("model"), mixed),
            (account["tied"], f"settled by {TIES.get(self.rule)}"),
            (self.without.get("marked", 0), "without a label: unsure, skip or broken"),
            (self.without.get("open", 0), "without a label: the judges differ and nobody decided"),
        ):
            if count:
                parts.append(f"{count} {words}")
        return ", ".join(parts)


TIES = {
    "latest": "their ids, as their times are equal or not known",
    "majority": "the smaller of the grades given most often",
    "median": "the smaller of the two middle grades",
}
"""How a rule chooses between equals. The smaller grade, where there is one, so that a tie never flatters a system."""


def votes_of(rows: Iterable[Judgment]) -> dict[Pair, list[Judgment]]:
    """The vote of each judge on each pair: their latest row that stands; neither a repeated showing nor a decision votes.

    A judge is a name and a kind, and of a model also endpoint, parameters, prompt and parser: another prompt is another judge,
    and takes the place of no label. A mark (unsure, skip, broken) replaces that judge's earlier grade. The votes of a
    pair are in the order of their times, which is the same in every book that holds the same rows. A pair that has only
    rows without a vote is there with an empty list.

    >>> rows = [Judgment("q", "d", 1, who="ana", when="2026-01-01T00:00:00Z"), Judgment("q", "d", 2, who="ana")]
    >>> [vote.grade for vote in votes_of(rows)["q", "d"]]
    [2]
    """
    latest: dict[Pair, dict[tuple[str, str, str], Judgment]] = {}
    for row in by_time(standing(list(rows))):
        votes = latest.setdefault((row.query_id, row.doc_id), {})
        judge = (row.kind, row.who, _judge_id(row))
        if not row.repeat and not row.adjudicates and not (row.pooled and judge in votes):
            votes[judge] = row
    return {pair: by_time(votes.values()) for pair, votes in latest.items()}


def _judge_id(row: Judgment) -> str:
    """Which judge of a name: empty for people."""
    return Judge.of_row(row.model, row.who).id if row.kind == "model" else ""


def of_kinds(rows: Iterable[Judgment], kinds: Sequence[str]) -> list[Judgment]:
    """The rows of some kinds of judge, with what takes one of them back, whoever did it.

    >>> rows = [Judgment("q", "d", 1, who="m", kind="model", id="a"), Judgment("q", "d", who="ana", undoes="a")]
    >>> len(of_kinds(rows, ("model",))), len(of_kinds(rows, ("person",)))
    (2, 0)
    """
    every = list(rows)
    kept = {row.id for row in every if row.undoes is None and row.kind in kinds}
    return [row for row in every if row.id in kept or row.undoes in kept]


def of_judge(rows: Iterable[Judgment], judge: str) -> list[Judgment]:
    """The rows without those of other models than the named one; people's rows stay.

    Parameters
    ----------
    judge: the id of a judge, its beginning, or the name of its model.

    Raises
    ------
    UsageError: no such judge, or several.

    >>> rows = [Judgment("q", "d", 1, who="m", kind="model"), Judgment("q", "d", 2, who="n", kind="model")]
    >>> [row.grade for row in of_judge(rows, "n")]
    [2]
    """
    every = list(rows)
    graded = [row for row in every if row.kind == "model" and row.undoes is None]
    known = {_judge_id(row): Judge.of_row(row.model, row.who) for row in graded}
    meant = [name for name, one in known.items() if judge and (name.startswith(judge) or one.model == judge)]
    if len(meant) != 1:
        listed = ", ".join(f"{name} ({sentence([one])})" for name, one in sorted(known.items())) or "none"
        said = "no such model judge" if not meant else f"{len(meant)} model judges"
        raise UsageError(f"{said}: {printable(judge)}; there are: {printable(listed)}")
    # A row that takes back names no judge, and must stay with what it takes back.
    return [row for row in every if row.kind != "model" or row.undoes or _judge_id(row) == meant[0]]


def unordered(rows: Iterable[Judgment]) -> int:
    """How many votes are one of several standing grades of one judge and one time that differ: which is meant is not known.

    Lists without times, imported on two laptops and merged, can bring that about. The one whose id comes last is taken.

    >>> rows = [Judgment("q", "d", grade, who="ana", when="") for grade in (1, 2)]
    >>> unordered(rows), unordered(rows[:1])
    (1, 0)
    """
    grades: dict[tuple[str, ...], set[float | None]] = {}
    every = list(rows)
    for row in standing(every):
        if not row.repeat and not row.adjudicates and not row.pooled:
            grades.setdefault(_vote(row), set()).add(row.grade)
    votes = (vote for cast in votes_of(every).values() for vote in cast)
    return sum(len(grades.get(_vote(vote), ())) > 1 for vote in votes)


def _vote(row: Judgment) -> tuple[str, ...]:
    """What two rows share that are one judge's of one pair and one time."""
    return row.query_id, row.doc_id, row.kind, row.who, _judge_id(row), row.when


def decisions_of(rows: Iterable[Judgment]) -> dict[Pair, Judgment]:
    """The decision of a lead that stands on each pair that has one: the latest row that adjudicates.

    >>> decisions_of([Judgment("q", "d", 1, adjudicates=True), Judgment("q", "e", 1)])["q", "d"].grade
    1
    """
    return {(row.query_id, row.doc_id): row for row in by_time(standing(list(rows))) if row.adjudicates}


def make_labels(rows: Iterable[Judgment], rule: str = "latest") -> Labels:
    """One grade a pair from the judgments of a book, by one of `RULES`.

    Votes are each judge's latest standing grade (`votes_of`). A model's votes count only where no person graded the
    pair, however late; of several model judges all votes count, and `Labels.judges` names them all: `of_judge` chooses one.
    A negative grade ("in the pool, not judged") counts only where there is no other. A lead's decision (a row with
    `adjudicates`) is no vote.

    - `latest`: the grade given last, whoever gave it, a lead's decision among them; of grades of one time, or of none,
      the one whose id comes last.
    - `majority`: the grade given most often; of several such the smallest.
    - `median`: the middle vote; of an even number the smaller of the two in the middle.
    - `adjudicated`: a lead's decision, the latest of several; where there is none, the grade that all votes share;
      where they differ, no label.
    - `quepid`: the consensus of Quepid, rounded half away from zero, see `quepid_consensus`.

    Raises
    ------
    UnknownNameError: no such rule.

    >>> rows = [Judgment("q", "d", 3, who="ana"), Judgment("q", "d", 0, who="bob"), Judgment("q", "d", 3, who="eve")]
    >>> [(one.grade, one.votes, one.spread) for one in make_labels(rows, "majority").labels]
    [(3.0, 3, 3.0)]
    """
    if rule not in RULES:
        raise UnknownNameError("rule", rule, RULES)
    every = list(rows)
    found, decisions = votes_of(every), decisions_of(every)
    labels, without = [], {"marked": 0, "open": 0}
    for pair in sorted(found):
        votes = _counted(found[pair])
        decision = decisions.get(pair)
        if decision is not None and rule == "latest":
            votes = _counted(by_time([*found[pair], decision]))
        elif decision is not None and rule == "adjudicated":
            # A mark is a decision too: the pair then has no label.
            votes = [decision] if decision.grade is not None else []
        grades = [row.grade for row in votes if row.grade is not None]
        if not grades:
            without["marked"] += 1
            continue
        grade, tied = RULES[rule](grades)
        if rule == "latest":
            tied = any(row.when == votes[-1].when and row.grade != grade for row in votes)
        if grade is None:
            without["open"] += 1
            continue
        cast = [*found[pair], *([] if decision is None else [decision])]
        labels.append(_label(pair, float(grade), tied, votes, by_time(cast)))
    return Labels(rule, tuple(labels), len(found), without)


def _counted(votes: Sequence[Judgment]) -> list[Judgment]:
    """The votes that decide: those of persons, else of judges unstated, else of models; judged before "not judged"."""
    graded = [row for row in votes if row.grade is not None]
    judged = [row for row in graded if row.grade is not None and row.grade >= 0] or graded
    by_kind = {kind: [row for row in judged if row.kind == kind] for kind in ("person", "unstated", "model")}
    return next((rows for rows in by_kind.values() if rows), [])


def _label(
    pair: Pair, grade: float, tied: bool, votes: Sequence[Judgment], every: Sequence[Judgment]
) -> Label:
    grades = [row.grade for row in votes if row.grade is not None]
    said = [row for row in every if grade < 0 or row.grade is None or row.grade >= 0]
    design = [row for row in said if row.probability is not None or row.stratum is not None]
    return Label(
        *pair,
        grade=grade,
        kind=votes[0].kind,
        votes=len(votes),
        spread=float(max(grades) - min(grades)),
        who=tuple(row.who for row in votes),
        tied=tied,
        probability=design[-1].probability if design else None,
        stratum=design[-1].stratum if design else None,
        judges=distinct(Judge.of_row(row.model, row.who) for row in votes if row.kind == "model"),
    )


def quepid_consensus(grades: Sequence[float]) -> float:
    """Quepid's consensus of ratings: the mean of one or two; of more, the three highest: their value, else their least.

    Not monotone: a further 3 turns 3 and 0 (mean 1.5) into 0. As Quepid's ratings manager computes it, before rounding.

    >>> [quepid_consensus(votes) for votes in ([3, 1], [2, 1], [3, 3, 0], [3, 3, 3, 0], [0, 1, 3, 3])]
    [2.0, 1.5, 0, 3, 1]
    """
    if len(grades) < 3:
        return sum(grades) / len(grades)
    return min(sorted(grades, reverse=True)[:3])


def rounded(value: float) -> float:
    """The whole number nearest to a value, halves away from zero.

    >>> rounded(0.5), rounded(2.5), rounded(-1.5)
    (1.0, 3.0, -2.0)
    """
    return math.copysign(math.floor(abs(value) + 0.5), value)


def _latest(grades: Sequence[float]) -> tuple[float | None, bool]:
    return grades[-1], False


def _majority(grades: Sequence[float]) -> tuple[float | None, bool]:
    most = max(map(grades.count, grades))
    winners = {grade for grade in grades if grades.count(grade) == most}
    return min(winners), len(winners) > 1


def _median(grades: Sequence[float]) -> tuple[float | None, bool]:
    ordered = sorted(grades)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return low, low != high


def _agreed(grades: Sequence[float]) -> tuple[float | None, bool]:
    return (grades[0] if len(set(grades)) == 1 else None), False


def _quepid(grades: Sequence[float]) -> tuple[float | None, bool]:
    return rounded(quepid_consensus(grades)), False


RULES: dict[str, Callable[[Sequence[float]], tuple[float | None, bool]]] = {
    "latest": _latest,
    "majority": _majority,
    "median": _median,
    "adjudicated": _agreed,
    "quepid": _quepid,
}
"""The rules by name; each from the votes in the order of their times to a grade (None: no label) and whether it was tied."""

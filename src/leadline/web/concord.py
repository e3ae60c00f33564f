"""How far people agree, as the page shows it: from the report that `leadline agreement` prints."""

from collections.abc import Iterable, Sequence
from typing import Any

from leadline.judging.agreement import Rules, agreement_report, scale_of
from leadline.judging.judgment import Judgment
from leadline.judging.labels import votes_of
from leadline.stats.agreement import grade_counts
from leadline.stats.krippendorff import krippendorff_alpha
from leadline.web.setup import Setup
from leadline.web.shapes_lead import AgreementOut, OnePersonOut, OneQueryOut, TwoPeopleOut

RESAMPLES = 1
"""The page shows no intervals; the command does."""


def agreement(setup: Setup, rows: list[Judgment]) -> AgreementOut:
    """The agreement of all people of the book: over all, by person, by two people, by query.

    Alpha is ordinal, kappa has quadratic weights; the kappa of all is the mean over pairs of people, each weighted by
    the pairs that both judged. What cannot be computed is None.
    """
    graded = [row.grade for row in rows if row.kind == "person" and row.grade is not None and row.grade >= 0]
    own = setup.rules.grades
    # A book may hold grades of an earlier scale.
    scale = own if set(graded) <= set(own) else scale_of(graded)
    report = agreement_report(rows, Rules(scale=tuple(map(float, scale)), resamples=RESAMPLES))
    units = _units(rows)
    several = {pair: cast for pair, cast in units.items() if len(cast) > 1}
    people = [row for row in report["by_person"] if row["judgments"]]
    return AgreementOut(
        people=len(people),
        pairs=report["overall"]["pairs"],
        alpha=report["alpha"]["ordinal"],
        kappa=_mean_kappa(report["pairs_of_persons"]),
        grades=report["scale"],
        confusion=report["confusion"],
        by_person=[
            OnePersonOut(
                who=row["who"],
                judgments=row["judgments"],
                hours=row["hours"],
                per_hour=row["pairs_an_hour"],
                repeats=row["repeats"],
                self_agreement=row["self_agreement"],
                agreement=row["agreement"],
                kappa=row["kappa"],
                alpha=_alpha([cast for cast in several.values() if row["who"] in cast], scale),
            )
            for row in people
        ],
        by_pair_of_people=[
            TwoPeopleOut(
                a=row["a"],
                b=row["b"],
                pairs=row["n"],
                agreed=round(row["agreement"] * row["n"]),
                kappa=row["kappa"],
            )
            for row in report["pairs_of_persons"]
        ],
        by_query=[
            OneQueryOut(
                query_id=row["query_id"],
                query=setup.query(row["query_id"]).text,
                pairs=row["pairs"],
                agreement=row["agreement"],
                alpha=_alpha([cast for pair, cast in several.items() if pair[0] == row["query_id"]], scale),
            )
            for row in report["by_query"]
        ],
    )


def _units(rows: Iterable[Judgment]) -> dict[tuple[str, str], dict[str, float]]:
    """Each person's grade of each pair, as the report counts them."""
    return {
        pair: {
            row.who: row.grade
            for row in votes
            if row.kind == "person" and row.grade is not None and row.grade >= 0
        }
        for pair, votes in votes_of(row for row in rows if not row.adjudicates).items()
    }


def _alpha(units: Sequence[dict[str, float]], scale: Sequence[float]) -> float | None:
    if not units:
        return None
    counts = grade_counts([list(cast.values()) for cast in units], scale)
    return krippendorff_alpha(counts, scale, "ordinal")


def _mean_kappa(two: Sequence[dict[str, Any]]) -> float | None:
    known = [(row["kappa"], row["n"]) for row in two if row["kappa"] is not None]
    total = sum(n for _, n in known)
    return sum(kappa * n for kappa, n in known) / total if total else None

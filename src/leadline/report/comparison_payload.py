"""What a comparison's page carries for its script: differences, values and rankings, within a bound of size.

Few queries are carried whole. Of many, those that moved most are carried one by one, and all of them as blocks
of neighbours and as a distribution, so that the page of 50,000 queries is as light as that of 2,000.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leadline.comparison import Pairs
from leadline.errors import printable
from leadline.report import wording
from leadline.report.comparing import ComparisonReport
from leadline.report.comparison_parts import shortened
from leadline.report.comparison_plots import reach
from leadline.scores import ERROR, UNANSWERED, UNDEFINED, Comparison, Floats

DEPTH = 20
"""How deep rankings are carried."""
LISTED, LEAST_LISTED, VALUES = 2_000, 300, 60_000
"""Queries carried one by one: at most, at least, and how many values (systems × measures × queries) they may have."""
RANKING_BYTES = 1_400_000
"""How much room the rankings may take."""
TEXT, TEXT_BYTES = 240, 300_000
"""Characters of a query's text that are carried, and of all texts together."""
BLOCKS, SIDE = 400, 20
"""Blocks of neighbouring differences, and columns of the distribution on each side of 0."""

PLACES = 7
"""Decimals carried: enough that what the script prints to four decimals is what the tables print."""

CODES = {UNANSWERED: "u", UNDEFINED: "n", ERROR: "e"}
"""How a value that has another state than scored is carried."""


@dataclass(frozen=True)
class Spread:
    """The differences of one measure of one candidate, least first.

    `values` and `who` (positions of the queries among those listed) are one by one where all queries are listed;
    else `values` are means of blocks of neighbours, and `low`, `high` and `count` say what each block holds.
    `columns` counts the differences from −most to +most, exact ties alone in the middle one.
    """

    values: list[float]
    who: list[int] | None
    low: list[float] | None
    high: list[float] | None
    count: list[int] | None
    columns: list[int]
    most: float
    n: int

    def to_dict(self) -> dict[str, Any]:
        """The spread as the script reads it."""
        row: dict[str, Any] = {
            "v": self.values,
            "w": self.who,
            "lo": self.low,
            "hi": self.high,
            "c": self.count,
        }
        row |= {"h": self.columns, "m": self.most, "n": self.n}
        return {key: value for key, value in row.items() if value is not None}


@dataclass(frozen=True)
class Payload:
    """What the page's script is given, made from a report."""

    report: ComparisonReport

    @cached_property
    def rows(self) -> list[Comparison]:
        """The comparisons over all queries."""
        return [row for row in self.report.comparisons if row.group is None]

    @cached_property
    def systems(self) -> list[str]:
        """The baselines and candidates compared, in the order of the comparisons."""
        return list(dict.fromkeys(name for row in self.rows for name in (row.baseline, row.candidate)))

    @cached_property
    def measures(self) -> list[str]:
        """The measures compared."""
        return list(dict.fromkeys(row.measure for row in self.rows))

    @cached_property
    def differences(self) -> dict[tuple[str, str], Pairs]:
        """The paired values of each (candidate, measure)."""
        scores = self.report.scores
        return {
            (row.candidate, row.measure): Pairs.of(
                scores.cell(row.measure, row.baseline), scores.cell(row.measure, row.candidate)
            )
            for row in self.rows
        }

    @cached_property
    def all_queries(self) -> list[str]:
        """The queries of all cells, in their order."""
        return list(dict.fromkeys(query for cell in self.report.scores.cells for query in cell.query_ids))

    @cached_property
    def listed(self) -> list[str]:
        """The queries carried one by one: all, or those that moved most on the first measure."""
        room = VALUES // max(1, len(self.systems) * len(self.measures))
        most = min(LISTED, max(LEAST_LISTED, room))
        if len(self.all_queries) <= most:
            return self.all_queries
        moved = dict.fromkeys(self.all_queries, 0.0)
        for (_, measure), found in self.differences.items():
            if measure == self.measures[0]:
                sizes = np.abs(found.differences).tolist()
                for query, size in zip(found.query_ids, sizes, strict=True):
                    moved[query] = max(moved[query], size)
        return sorted(moved, key=lambda query: -moved[query])[:most]

    @property
    def whole(self) -> bool:
        """True where every query is listed."""
        return len(self.listed) == len(self.all_queries)

    def spread(self, candidate: str, measure: str) -> Spread:
        """The differences of one measure of one candidate; empty where no query has both values."""
        found = self.differences[candidate, measure]
        d = found.differences
        # Which query stands where among equal differences is of no meaning; a stable order repeats itself.
        order = sorted(range(len(d)), key=d.tolist().__getitem__)
        ordered = d[order]
        most = reach(ordered.tolist())
        counts = _columns(d, most)
        if self.whole:
            place = {query: index for index, query in enumerate(self.listed)}
            who = [place[found.query_ids[index]] for index in order]
            return Spread(_short(ordered), who, None, None, None, counts, most, len(d))
        blocks = np.array_split(ordered, min(BLOCKS, max(1, len(d))))
        blocks = [block for block in blocks if len(block)]
        return Spread(
            _short(np.array([block.mean() for block in blocks])),
            None,
            _short(np.array([block[0] for block in blocks])),
            _short(np.array([block[-1] for block in blocks])),
            [len(block) for block in blocks],
            counts,
            most,
            len(d),
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything the script reads; ids with their control characters made visible."""
        report = self.report
        documents, ranks, grades = self._rankings()
        baseline_of = {row.candidate: row.baseline for row in self.rows}
        return {
            "k": report.depth,
            "total": len(self.all_queries),
            "systems": [shortened(name) for name in self.systems],
            "measures": [wording.heading(report.scores, name) for name in self.measures],
            "whole_numbers": [wording.base_name(name) in wording.COUNTS for name in self.measures],
            "pairs": [[self.systems.index(c), self.systems.index(b)] for c, b in baseline_of.items()],
            "queries": [shortened(query) for query in self.listed],
            "texts": self._texts(),
            "values": [[self._values(name, measure) for measure in self.measures] for name in self.systems],
            "spreads": [
                [self._spread_or_none(candidate, measure) for measure in self.measures]
                for candidate in baseline_of
            ],
            "docs": documents,
            "ranks": ranks,
            "grades": grades,
        }

    def _spread_or_none(self, candidate: str, measure: str) -> dict[str, Any] | None:
        known = (candidate, measure) in self.differences
        return self.spread(candidate, measure).to_dict() if known else None

    def _texts(self) -> list[str]:
        texts, room = [], TEXT_BYTES
        for query in self.listed:
            text = printable(self.report.texts.get(query) or "")
            text = text if len(text) <= TEXT else f"{text[: TEXT - 1]}…"
            room -= len(text)
            texts.append(text if room >= 0 else "")
        return texts if any(texts) else []

    def _values(self, system: str, measure: str) -> list[Any]:
        cell = self.report.scores.cell(measure, system)
        place = {query: index for index, query in enumerate(cell.query_ids)}
        out: list[Any] = []
        for query in self.listed:
            index = place.get(query)
            code = None if index is None else CODES.get(int(cell.states[index]))
            out.append(None if index is None else code or round(float(cell.values[index]), PLACES))
        return out

    def _rankings(self) -> tuple[list[str], list[list[Any]], list[list[Any]]]:
        """Document names, and by system and listed query the documents (positions in the names) and grades."""
        place_of = {query: index for index, query in enumerate(self.report.query_ids)}
        heads = [_lists(self.report.rankings.get(name)) for name in self.systems]
        names: dict[str, int] = {}
        ranks: list[list[Any]] = [[None] * len(self.listed) for _ in heads]
        grades: list[list[Any]] = [[None] * len(self.listed) for _ in heads]
        room = RANKING_BYTES
        for row, query in enumerate(self.listed):
            lists = [head.get(place_of.get(query, -1)) for head in heads]
            for system, found in enumerate(lists):
                if found is None or room < 0:
                    continue
                codes = []
                for document in found[0]:
                    if document not in names:
                        names[document] = len(names)
                        room -= len(shortened(document).encode("utf-8", "replace")) + 3
                    codes.append(names[document])
                room -= sum(len(str(code)) + 1 for code in codes) + 2 * len(codes) + 6
                ranks[system][row], grades[system][row] = codes, found[1]
        return [shortened(name) for name in names], ranks, grades


def _columns(d: Floats, most: float) -> list[int]:
    """How many differences fall between −most and +most: a column for exact ties amid `SIDE` on each side."""
    counts = [0] * (2 * SIDE + 1)
    counts[SIDE] = int((d == 0).sum())
    for sign in (-1, 1):
        size = np.abs(d[d * sign > 0]) / most * SIDE
        steps = np.clip(np.ceil(size - 1e-9), 1, SIDE).astype(np.int64)
        for step, count in zip(*np.unique(steps, return_counts=True), strict=True):
            counts[SIDE + sign * int(step)] = int(count)
    return counts


def _short(values: Floats) -> list[float]:
    return [round(value, PLACES) for value in values.tolist()]


def _lists(frame: Any) -> Mapping[int, tuple[Sequence[str], Sequence[Any]]]:
    """A frame of first documents as query → (documents, grades), to `DEPTH`; unjudged is None."""
    if frame is None or not frame.height:
        return {}
    import polars as pl

    kept = frame.filter(pl.col("rank") <= DEPTH).sort("query", "rank")
    kept = kept.with_columns(grade=pl.when(pl.col("grade") >= 0).then("grade"))
    grouped = kept.group_by("query", maintain_order=True).agg("doc_id", "grade")
    return {
        query: (documents, [None if g is None else int(g) if float(g).is_integer() else g for g in grades])
        for query, documents, grades in grouped.iter_rows()
    }

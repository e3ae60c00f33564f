"""Scores: one value for each system, measure and query, with its state, the summaries and the account."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leadline.errors import MissingExtraError, UnknownNameError, UsageError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

SCORED, UNANSWERED, UNDEFINED, ERROR = 0, 1, 2, 3
STATES = ("scored", "unanswered", "undefined", "error")
"""The states of a value, in the order of their codes."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Summary:
    """One measure of one system over its queries: the mean, how sure it is, and what it stands on.

    `low` and `high` are the ends of the 95 % interval named by `interval`; `sd` is the spread over queries;
    `ceiling` the largest mean the cutoff allows (for recall); `error_low`/`error_high` the mean if all errors
    were worst or best; `bound_low`/`bound_high` the mean if unjudged documents were worst or best.
    None is "could not be computed". `group` is the slice, or None for all queries.
    """

    system: str
    measure: str
    mean: float | None
    low: float | None
    high: float | None
    interval: str | None
    sd: float | None
    ceiling: float | None
    n_queries: int
    n_scored: int
    n_unanswered: int
    n_undefined: int
    n_error: int
    error_low: float | None = None
    error_high: float | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    bound_kind: str | None = None
    group: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The summary as it stands in the JSON output; optional parts only where they were asked for."""
        row = asdict(self)
        optional = ("error_low", "error_high", "bound_low", "bound_high", "bound_kind", "group")
        return {key: value for key, value in row.items() if key not in optional or value is not None}


@dataclass(frozen=True)
class Cell:
    """The values of one system and one measure, one a query; NaN where the state says there is none."""

    system: str
    measure: str
    query_ids: Sequence[str]
    values: Floats
    states: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Ends:
    """An estimate with the ends of its interval, from n queries; None is "could not be computed"."""

    estimate: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def width(self) -> float | None:
        """How wide the interval is."""
        return None if self.low is None or self.high is None else self.high - self.low

    def to_dict(self) -> dict[str, Any]:
        """The interval as it stands in the JSON output."""
        return {**asdict(self), "width": self.width}


@dataclass(frozen=True)
class Powered:
    """A mean (`baseline` None) or a mean difference, system − baseline, from few labels of people and many of a model.

    Attributes
    ----------
    both: by prediction-powered inference, n the queries that people judged. human: those queries by people's labels alone.
    judge: all queries by the model's labels alone, biased as the model is. level: of the three intervals.
    one_sided_low: the lower end at level 1 − 2·alpha. lam: how much the model's labels count, 0 to 1. n_unlabelled: queries
    that the model alone judged. rectifier: mean of human − model. correlation: of the two, query by query.
    gain: variance by people alone ÷ that of `both`. left_out: queries without a value by one of the two, of those that
    people judged; left_out_unlabelled: of the others. reason: why there is no interval, or why the model's labels do
    not count. remarks: what a reader should know. effect: of a difference, what the interval says at a margin.
    """

    measure: str
    system: str
    baseline: str | None
    both: Ends
    human: Ends
    judge: Ends
    level: float
    one_sided_low: float | None
    lam: float
    n_unlabelled: int
    rectifier: float | None
    correlation: float | None
    gain: float | None
    left_out: int = 0
    left_out_unlabelled: int = 0
    reason: str | None = None
    remarks: tuple[str, ...] = ()
    effect: str | None = None

    @property
    def ratio(self) -> float | None:
        """The width of the interval by people and model ÷ that by people alone."""
        wide, alone = self.both.width, self.human.width
        return None if wide is None or not alone else wide / alone

    def to_dict(self) -> dict[str, Any]:
        """The row as it stands in the JSON output."""
        row = asdict(self)
        ends = {name: getattr(self, name).to_dict() for name in ("both", "human", "judge")}
        return {**row, **ends, "ratio": self.ratio, "remarks": list(self.remarks)}


@dataclass(frozen=True)
class PoweredScores:
    """What few labels of people and many of a model say together.

    Attributes
    ----------
    rows: one for each measure and system, or difference. labelled: queries with labels of both; without_model: queries
    that people judged and the model did not, left out; unlabelled: queries that the model alone judged.
    labels_a_query: how many labels the model gave a query, on the labelled ones and on the others.
    labels: whose the model's labels are, and whether they are certified, in a sentence. judges: the same as JSON has it.
    left_out: measures that are no mean.
    """

    rows: tuple[Powered, ...]
    labelled: int
    without_model: int
    unlabelled: int
    labels_a_query: tuple[float, float]
    labels: str
    judges: tuple[Mapping[str, Any], ...] = ()
    left_out: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The whole as it stands in the JSON output."""
        return {**asdict(self), "rows": [row.to_dict() for row in self.rows]}


@dataclass(frozen=True)
class Scores:
    """What an evaluation gives: always this shape, whatever was asked.

    Attributes
    ----------
    cells: the values, one cell for each system and measure. summaries: one for each system, measure and slice.
    account: what went in and what became of it. conventions: the switches used. inputs: path, sha256, rows.
    warnings: plain sentences. headings: what a table prints over each measure (its name, with the gain where
    it matters). names: the canonical name of each measure text as it was asked. powered: where a model's labels were
    given too, what both say together.

    >>> import leadline
    >>> scores = leadline.evaluate({"q": {"d": 1.0}}, {"q": {"d": 1}}, ["RR"])
    >>> scores.mean("RR"), scores.per_query("RR")
    (1.0, {'q': 1.0})
    """

    cells: tuple[Cell, ...]
    summaries: tuple[Summary, ...]
    account: Mapping[str, Any]
    conventions: Mapping[str, Any]
    inputs: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    seed: int | None = None
    headings: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    powered: PoweredScores | None = None

    @property
    def systems(self) -> list[str]:
        """The systems' names, in the order given."""
        return list(dict.fromkeys(cell.system for cell in self.cells))

    @property
    def measures(self) -> list[str]:
        """The measures' canonical names, in the order asked."""
        return list(dict.fromkeys(cell.measure for cell in self.cells))

    @cached_property
    def _by_key(self) -> dict[tuple[str, str], Cell]:
        return {(cell.system, cell.measure): cell for cell in self.cells}

    def cell(self, measure: str, system: str | None = None) -> Cell:
        """The values of one measure of one system (which may be left out where there is one).

        Raises
        ------
        UnknownNameError: no such measure or system. UsageError: several systems and none named.
        """
        if system is None:
            if len(self.systems) > 1:
                raise UsageError(f"several systems: name one of {', '.join(self.systems)}")
            system = self.systems[0]
        name = self.names.get(measure, measure)
        if (system, name) in self._by_key:
            return self._by_key[system, name]
        if system not in self.systems:
            raise UnknownNameError("system", system, self.systems)
        raise UnknownNameError("measure among those computed", measure, self.measures)

    def summary(self, measure: str, system: str | None = None, group: str | None = None) -> Summary:
        """The summary of one measure of one system, over all queries or one slice."""
        cell = self.cell(measure, system)
        for row in self.summaries:
            if (row.system, row.measure, row.group) == (cell.system, cell.measure, group):
                return row
        raise UnknownNameError("group", str(group), {str(row.group) for row in self.summaries})

    def mean(self, measure: str, system: str | None = None) -> float:
        """The mean of one measure; NaN where no query could be scored."""
        mean = self.summary(measure, system).mean
        return float("nan") if mean is None else mean

    def per_query(self, measure: str, system: str | None = None) -> dict[str, float | None]:
        """The value of each query; None where it is undefined or an error."""
        cell = self.cell(measure, system)
        values = [None if value != value else value for value in cell.values.tolist()]
        return dict(zip(cell.query_ids, values, strict=True))

    @cached_property
    def _frame(self) -> "pl.DataFrame":
        import polars as pl

        schema = {"system": pl.String, "measure": pl.String, "query_id": pl.String}
        frames = [
            pl.DataFrame(
                {
                    "system": [cell.system] * len(cell.query_ids),
                    "measure": [cell.measure] * len(cell.query_ids),
                    "query_id": list(cell.query_ids),
                    "value": pl.Series(cell.values, dtype=pl.Float64).fill_nan(None),
                    "state": [STATES[code] for code in cell.states.tolist()],
                },
                schema_overrides=schema,
            )
            for cell in self.cells
        ]
        return pl.concat(frames)

    def to_polars(self) -> "pl.DataFrame":
        """The table system, measure, query_id, value (null where there is none), state."""
        return self._frame

    def to_pandas(self) -> "pd.DataFrame":
        """The same table for pandas, through Arrow.

        Raises
        ------
        MissingExtraError: pandas or pyarrow is not installed.
        """
        try:
            return self._frame.to_pandas()
        except ModuleNotFoundError:
            raise MissingExtraError("Scores.to_pandas", "pandas") from None

    def to_dict(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """The values as system → measure → query id → value."""
        out: dict[str, dict[str, dict[str, float | None]]] = {}
        for cell in self.cells:
            out.setdefault(cell.system, {})[cell.measure] = self.per_query(cell.measure, cell.system)
        return out


@dataclass(frozen=True)
class Comparison:
    """One measure of a candidate against a baseline, over the queries that both have a value for.

    `difference` is the mean of candidate − baseline; `low` and `high` the ends of its interval at level 1 − alpha by the
    method named in `interval`, which decides; `bootstrap_low` and `bootstrap_high` the percentile bootstrap's, shown
    beside it; `one_sided_low` and `one_sided_high` the ends of the two-sided interval at level 1 − 2·alpha, which a
    gate reads. `p` is of the test named in `test`, `p_corrected` after `correction`. `wins`, `ties` and `losses` are the
    candidate's. `n` counts the pairs, `n_nonzero` those that differ, `n_left_out` the queries without a value in one
    of the two, `n_error` those of them that failed; `clusters` and `n_effective` stand where clusters were given.
    `group` is the slice, or None. None is "could not be computed".
    """

    measure: str
    baseline: str
    candidate: str
    mean_baseline: float | None
    mean_candidate: float | None
    difference: float | None
    low: float | None
    high: float | None
    interval: str | None
    level: float
    one_sided_low: float | None
    one_sided_high: float | None
    bootstrap_low: float | None
    bootstrap_high: float | None
    p: float | None
    test: str | None
    n: int
    n_nonzero: int
    n_left_out: int
    n_error: int
    wins: int
    ties: int
    losses: int
    sd: float | None
    effect_size: float | None
    p_corrected: float | None = None
    correction: str | None = None
    clusters: int | None = None
    n_effective: float | None = None
    remarks: tuple[str, ...] = ()
    group: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The comparison as it stands in the JSON output."""
        row = asdict(self)
        optional = ("p_corrected", "correction", "clusters", "n_effective", "group")
        return {key: value for key, value in row.items() if key not in optional or value is not None}


@dataclass(frozen=True)
class Verdict:
    """What a comparison comes to.

    `outcome` is one of pass, fail, judge-first, too-few-queries, not-comparable, too-many-errors; `effect` one of
    better, worse, no-worse, unclear. `sentence` says it plainly, `reasons` why, `next` the commands to run next.
    """

    outcome: str
    effect: str
    sentence: str
    reasons: tuple[str, ...] = ()
    next: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The verdict as it stands in the JSON output."""
        return asdict(self)

"""One index measured against exact search: every setting of a sweep, its recall and its latency."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leadline.ann.exact import Neighbours
from leadline.ann.recall import Answers, Overlap, Recall
from leadline.ann.sanity import Health
from leadline.ann.target import Facts, Setting, setting_value
from leadline.ann.vectors import Vectors
from leadline.errors import InputError, UsageError, amount, printable

NOISE = 1e-12


@dataclass(frozen=True)
class Point:
    """What was measured under one setting.

    Attributes
    ----------
    settings: what was changed for it; empty for the index as it is. latency: milliseconds and queries a second, or
    None where nothing was timed. answers: what came back.
    """

    settings: Mapping[str, Setting]
    recall: Recall
    latency: Mapping[str, float | None] | None
    answers: Answers

    @property
    def name(self) -> str:
        """The settings in words."""
        return ", ".join(f"{name}={value}" for name, value in self.settings.items())

    @property
    def mean(self) -> float | None:
        """The recall that a setting is chosen by: tie-aware where the true distances are known, else by id."""
        values = self.recall.values
        return float(values.mean()) if len(values) else None


@dataclass(frozen=True)
class Fidelity:
    """All that was measured of one index, and what it stands on.

    Attributes
    ----------
    truth: `vectors` (exact search over the vectors) or `target` (the index's own exact search).
    exact_ids: the true neighbours of each query. tied: queries with ties across the k-th place, or None.
    reach, cheapest: the recall asked for, and the fastest setting that reaches it. given: what was set from the start.
    """

    target: str
    metric: str
    k: int
    queries: Vectors
    truth: str
    exact_ids: Sequence[Sequence[str]]
    points: Sequence[Point]
    health: Health | None = None
    documents: Vectors | None = None
    tied: int | None = None
    filtered: int = 0
    reach: float | None = None
    warnings: Sequence[str] = field(default_factory=tuple)
    given: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def cheapest(self) -> Point | None:
        """The fastest setting that reaches the recall asked for; None where none does, or none was asked."""
        return None if self.reach is None else cheapest(self.points, self.reach)


@dataclass(frozen=True)
class Agreement:
    """How far two indexes, or two settings of one, agree, without any truth."""

    first: str
    second: str
    k: int
    queries: Vectors
    found: Overlap
    latency: tuple[Mapping[str, float | None] | None, Mapping[str, float | None] | None]
    errors: tuple[int, int]


def cheapest(points: Sequence[Point], reach: float) -> Point | None:
    """The setting with the least median latency among those whose mean recall is at least `reach`."""
    good = [
        one
        for one in points
        if one.mean is not None
        and one.mean >= reach - NOISE
        and one.latency
        and one.latency["p50"] is not None
    ]
    return min(good, key=lambda one: _median(one), default=None)


def _median(point: Point) -> float:
    value = (point.latency or {}).get("p50")
    return float("inf") if value is None else value


def read_settings(texts: Sequence[str]) -> dict[str, Setting]:
    """The settings of `name=value` texts, several to a text with commas.

    >>> read_settings(["table=items,ef=64"])
    {'table': 'items', 'ef': 64}
    """
    found: dict[str, Setting] = {}
    for text in texts:
        # A recipe such as IVF64,Flat holds a comma: what has no = goes on with the value before it.
        parts: list[str] = []
        for piece in text.split(","):
            if "=" in piece or not parts:
                parts.append(piece)
            else:
                parts[-1] += "," + piece
        for part in parts:
            name, equal, value = part.partition("=")
            if not equal or not name.strip() or not value.strip():
                raise UsageError(f"--set {printable(text)!r} has not the form name=value")
            found[name.strip()] = setting_value(value.strip())
    return found


def read_sweeps(texts: Sequence[str]) -> list[dict[str, Setting]]:
    """Every setting of the sweeps, in order; several sweeps are crossed.

    >>> read_sweeps(["ef=16,32"])
    [{'ef': 16}, {'ef': 32}]
    """
    axes: list[list[tuple[str, Setting]]] = []
    for text in texts:
        name, equal, values = text.partition("=")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not equal or not name.strip() or not listed:
            raise UsageError(f"--sweep {printable(text)!r} has not the form name=16,32,64")
        if name.strip() in [axis[0][0] for axis in axes]:
            raise UsageError(
                f"--sweep names {printable(name.strip())} twice; give its values in one, with commas"
            )
        axes.append([(name.strip(), setting_value(value)) for value in dict.fromkeys(listed)])
    return [dict(pairs) for pairs in itertools.product(*axes)]


def check_facts(
    facts: Facts, documents: Vectors | None, queries: Vectors, metric: str, target: str, unit: bool = False
) -> list[str]:
    """What the index says of itself against the vectors: warnings.

    `unit` says that every document has length 1: all three metrics then order alike.

    Raises
    ------
    InputError: the index has other dimensions.
    """
    name, remarks = printable(target), []
    if facts.dimensions is not None and facts.dimensions != queries.dimensions:
        raise InputError(f"{name}: has {facts.dimensions} dimensions, the queries {queries.dimensions}")
    if facts.rows is not None and documents is not None and facts.rows != documents.rows:
        remarks.append(
            f"the index holds {amount(facts.rows, 'vector')}, {printable(documents.name)} {documents.rows}: "
            "one of them is older"
        )
    if facts.metric is not None and facts.metric != metric and not unit:
        remarks.append(
            f"the index compares by {facts.metric}, the truth by {metric}: they order alike only on vectors of length 1"
        )
    return remarks


def ids_of(truth: Neighbours, documents: Vectors) -> list[list[str]]:
    """The true neighbours as ids."""
    return [[documents.id_of(row) for row in rows if row >= 0] for rows in truth.rows.tolist()]

"""The stages of a retrieval pipeline from left to right, as values: what was measured in each, and what each loses."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field

from leadline.report import wording
from leadline.report.plain_table import table_lines

WIDTH = 100
HEAD = ("stage", "measured", "mean", "95 % interval", "n")


@dataclass(frozen=True)
class Measured:
    """One number of a stage: the mean over `n` questions with its 95 % interval; None where it could not be computed.

    `share`: it lies between 0 and 1 and is drawn as a bar; else it is a difference and has a sign.
    """

    name: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    share: bool = True

    @property
    def cells(self) -> list[str]:
        """The mean, its interval and its count, as a table shows them.

        >>> Measured("cost", -0.01, None, None, 60, share=False).cells
        ['-0.0100', '–', '60']
        """
        sign, ends = "" if self.share else "+", wording.ABSENT
        if self.low is not None and self.high is not None:
            ends = f"[{self.low:{sign}.4f}, {self.high:{sign}.4f}]"
        return [wording.ABSENT if self.mean is None else f"{self.mean:{sign}.4f}", ends, str(self.n)]


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes
    ----------
    name: one word. question: what is asked of it. measured: its numbers; none where it could not be measured.
    told: sentences on what they stand on. links: texts and files of the folder that show more.
    command: what measures it again, or None.
    """

    name: str
    question: str
    measured: Sequence[Measured]
    told: Sequence[str] = ()
    links: Sequence[tuple[str, str]] = ()
    command: str | None = None


@dataclass(frozen=True)
class Loss:
    """A step at which something is lost: the mean share of what answers the questions that ends there."""

    step: str
    share: float


@dataclass(frozen=True)
class Stages:
    """All stages, and the way of the evidence: what is lost at each step, and what arrives; together they are 1.

    `notes` says what all numbers stand on, the most important first; `beside` what else is lost, in another unit.
    """

    title: str
    stages: Sequence[Stage]
    losses: Sequence[Loss]
    arrives: float
    notes: Sequence[str] = ()
    beside: Sequence[str] = field(default_factory=tuple)

    @property
    def worst(self) -> Loss | None:
        """The step at which most is lost; None where nothing is."""
        found = max(self.losses, key=lambda one: one.share, default=None)
        return found if found is not None and found.share > 0 else None

    @property
    def sentence(self) -> str:
        """Where most is lost, in a sentence.

        >>> Stages("t", (), [Loss("not found", 0.5), Loss("no room", 0.25)], 0.25).sentence
        'Most is lost at one step: not found, 0.50 of the evidence; 0.25 arrives.'
        """
        worst = self.worst
        if worst is None:
            return f"Nothing is lost: {self.arrives:.2f} of the evidence arrives."
        return (
            f"Most is lost at one step: {worst.step}, {worst.share:.2f} of the evidence; "
            f"{self.arrives:.2f} arrives."
        )


def stage_lines(found: Stages) -> list[str]:
    """The stages as lines for a terminal: a table, the way of the evidence, and where most of it is lost."""
    rows = []
    for stage in found.stages:
        for place, one in enumerate(stage.measured):
            rows.append(["" if place else stage.name, one.name, *one.cells])
    lines = [f"{found.title}:", *(f"  {line}" for line in table_lines(HEAD, rows, texts=2, width=WIDTH - 2))]
    way = ", ".join(f"{one.step} {one.share:.2f}" for one in found.losses)
    told = [f"  {line}" for line in (*found.notes[:1], f"Of the evidence: {way}; sent {found.arrives:.2f}.")]
    told += [f"  {line}" for line in (found.sentence, *found.beside)]
    told += [f"! {one.name}: {line}" for one in found.stages if not one.measured for line in one.told]
    for line in told:
        lines += textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    return lines

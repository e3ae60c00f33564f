"""Who made labels that a model made, and the certificate that says how far such a judge agrees with people."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from leadline.errors import InputError, amount

VERSION = 1
"""Of the shape of a certificate; a reader takes no other."""
SAMPLES = ("random", "stratified", "pool")
"""How the pairs that people judged too were drawn: at random; at random within strata; or all pairs of a pool."""
LEAST_QUERIES, LEAST_PAIRS = 20, 200
NO_JUDGE = (
    "the judge is not known: it stands neither in a card beside the labels, nor in the book, nor in --model"
)


@dataclass(frozen=True)
class Judge:
    """A model judge: whatever of this changes is another judge, and voids the certificate.

    Attributes
    ----------
    model: its name. endpoint: without keys. parameters: temperature and the like. prompt: name and version of the prompt.
    prompt_hash: 16 hex digits of its text. parser: the version of what reads the replies.
    """

    model: str
    endpoint: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    prompt: str = ""
    prompt_hash: str = ""
    parser: str = ""

    @property
    def id(self) -> str:
        """12 hex digits that name this judge.

        >>> Judge("m").id == Judge("m", parameters={}).id, Judge("m").id == Judge("m", prompt_hash="x").id
        (True, False)
        """
        text = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def to_dict(self) -> dict[str, Any]:
        """The judge as JSON has it: all six fields."""
        return asdict(self) | {"parameters": dict(self.parameters)}

    @classmethod
    def of_row(cls, row: Mapping[str, Any] | None, who: str) -> "Judge":
        """The judge of a judgment in a book, whose description may lack parts; `who` where it does not name the model.

        >>> Judge.of_row({"name": "m", "prompt_hash": "a"}, "m-1").prompt_hash, Judge.of_row(None, "m-1").model
        ('a', 'm-1')
        """
        row = row or {}
        texts = {part.name: row[part.name] for part in fields(cls) if isinstance(row.get(part.name), str)}
        named = [name for name in (texts.pop("model", ""), row.get("name")) if isinstance(name, str) and name]
        parameters = row.get("parameters")
        return cls(
            named[0] if named else who,
            parameters=parameters if isinstance(parameters, Mapping) else {},
            **{name: text for name, text in texts.items() if name != "parameters"},
        )

    @classmethod
    def from_dict(cls, row: Mapping[str, Any], where: str = "judge") -> "Judge":
        """The judge of a card, a certificate or a row of the book.

        Raises
        ------
        InputError: no model's name, an unknown field, or a value of the wrong kind.

        >>> Judge.from_dict({"model": "m", "parameters": {"temperature": 0}}).parameters
        {'temperature': 0}
        """
        known = {part.name for part in fields(cls)}
        unknown = sorted(set(row) - known)
        if unknown:
            raise InputError(f"{where}: unknown field {unknown[0]!r}; a judge has {', '.join(sorted(known))}")
        for name in known:
            wanted: type = dict if name == "parameters" else str
            if name in row and not isinstance(row[name], wanted):
                raise InputError(
                    f"{where}: {name}: found {json.dumps(row[name])[:80]}, expected {wanted.__name__}"
                )
        if not row.get("model"):
            raise InputError(f"{where}: the model's name is missing")
        return cls(**row)


@dataclass(frozen=True)
class MeasureCheck:
    """The measure of one run by the model's labels against the same by people's, query by query.

    Attributes
    ----------
    difference: mean of model − human over `n` queries; low, high: its interval; None could not be computed.
    margin: M; the judge may gate this measure where the interval lies within ±M/2. reason: why there is no interval.
    """

    measure: str
    system: str
    margin: float
    difference: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None = None

    @property
    def within(self) -> bool:
        """Whether the interval lies within ±margin/2."""
        half = self.margin / 2
        return self.low is not None and self.high is not None and -half <= self.low and self.high <= half


@dataclass(frozen=True)
class Certificate:
    """What was found of a judge. `body` is the whole document as `leadline certify --format json` writes it.

    Attributes
    ----------
    judge: who it is about; without a model's name where that is not known. valid: for reporting. reasons: why not, empty
    where valid. checks: for gating.
    """

    judge: Judge
    valid: bool
    reasons: tuple[str, ...] = ()
    checks: tuple[MeasureCheck, ...] = ()
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """12 hex digits that name this certificate: of its whole document.

        >>> len(Certificate(Judge("m"), True).id)
        12
        """
        text = json.dumps([self.judge.to_dict(), self.valid, dict(self.body)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def refusal(self, judge: Judge, measures: Mapping[str, float]) -> list[str]:
        """Why labels of `judge` may not gate `measures` (canonical name → margin) by this certificate; empty where they may.

        >>> Certificate(Judge("m"), True).refusal(Judge("n"), {})
        ['the certificate is of another judge: m, not n']
        """
        if not self.judge.model:
            return ["the certificate does not say which judge it is about"]
        if judge.id != self.judge.id:
            other = "" if judge.model != self.judge.model else " with another prompt, parser or parameters"
            return [f"the certificate is of another judge: {self.judge.model}, not {judge.model}{other}"]
        if not self.valid:
            return [f"the certificate is not valid: {reason}" for reason in self.reasons] or [
                "the certificate is not valid"
            ]
        return [text for name, margin in measures.items() for text in self._uncovered(name, margin)]

    def _uncovered(self, measure: str, margin: float) -> list[str]:
        """Why one measure may not be gated."""
        of_it = [check for check in self.checks if check.measure == measure]
        if not of_it:
            return [f"the certificate says nothing of {measure}: certify with runs and -m {measure}"]
        wide = [check for check in of_it if not MeasureCheck(**(vars(check) | {"margin": margin})).within]
        return [
            f"{measure} of {check.system} by the model's labels differs from that by people's by {_range(check)}, "
            f"not within ±{margin / 2:g}"
            for check in wide
        ]


def _range(check: MeasureCheck) -> str:
    if check.low is None or check.high is None:
        return "an amount that is not known"
    return f"{check.low:.3f} to {check.high:.3f}"


def reasons_against(
    *,
    design: str | None,
    queries: int,
    pairs: int,
    kappa_low: float | None,
    agreement: float | None,
    majority: float | None,
) -> list[str]:
    """Why a certificate of these numbers is not valid, in plain words; empty where it is.

    The one place of the rule: `certify` makes certificates by it, and a file that says otherwise is refused by it.
    "Beats the majority class" compares the two shares in the sample. The majority grade is chosen after people's answers are
    known, so the baseline is the best that any constant judge could have reached on this very sample; and a judge that
    knows nothing is kept out by kappa's lower bound, which is about more than this sample.

    Parameters
    ----------
    design: one of `SAMPLES`, or None: not stated. agreement, majority: shares of the pairs. None could not be computed.

    >>> reasons_against(design="random", queries=25, pairs=300, kappa_low=0.2, agreement=0.6, majority=0.4)
    []
    >>> reasons_against(design=None, queries=9, pairs=300, kappa_low=0.2, agreement=0.6, majority=0.4)[1]
    '9 queries, 20 are needed'
    """
    found = []
    if design is None:
        found.append("how the sample was drawn is not stated: --sample random, stratified or pool")
    elif design not in SAMPLES:
        found.append(f"the sample's design {design!r} is not one of {', '.join(SAMPLES)}")
    if queries < LEAST_QUERIES:
        found.append(f"{amount(queries, 'query', 'queries')}, {LEAST_QUERIES} are needed")
    if pairs < LEAST_PAIRS:
        found.append(f"{amount(pairs, 'pair')}, {LEAST_PAIRS} are needed")
    if kappa_low is None:
        found.append(
            "kappa has no interval, and without its lower bound nothing shows that the judge does better than chance"
        )
    elif kappa_low <= 0:
        found.append(
            f"kappa's lower bound, {kappa_low:.3f}, is not above 0: the judge may do no better than chance"
        )
    if agreement is None or majority is None:
        found.append("there is no share of equal grades")
    elif agreement <= majority:
        found.append(
            f"it does not beat the majority class: {agreement:.3f} of its grades are people's, and one grade given to "
            f"every pair would reach {majority:.3f}"
        )
    return found


def refusals(
    judges: Sequence[Judge], certificate: Certificate | None, measures: Mapping[str, float] | None = None
) -> list[str]:
    """Why labels of these judges are uncertified or, with `measures` (name → margin), may not gate; empty where all is well.

    >>> refusals([Judge("m")], None), refusals([Judge("m")], Certificate(Judge("m"), True))
    (['no certificate is named'], [])
    """
    if certificate is None:
        return ["no certificate is named"]
    if not judges:
        return [NO_JUDGE]
    found = [said for judge in judges for said in certificate.refusal(judge, measures or {})]
    return list(dict.fromkeys(found))


def told(judges: Sequence[Judge], certificate: Certificate | None, models: int, labels: int) -> str:
    """What the labels of a model are worth, in one sentence; `models` of all `labels` are a model's.

    >>> told([Judge("m", prompt="p 1")], Certificate(Judge("m", prompt="p 1"), True), 9, 9)
    'labels of m (p 1), certified: valid for reporting'
    >>> told([Judge("m")], None, 1, 3)
    'uncertified: 1 of 3 labels of m: no certificate is named'
    """
    who = sentence(judges) or "a model that is not named"
    count = "labels" if models == labels else f"{models} of {labels} labels"
    against = refusals(judges, certificate)
    if against:
        return f"uncertified: {count} of {who}: {'; '.join(against)}"
    return f"{count} of {who}, certified: valid for reporting"


def distinct(judges: Iterable[Judge]) -> tuple[Judge, ...]:
    """The judges, each once, in their order.

    >>> len(distinct([Judge("m"), Judge("n"), Judge("m")]))
    2
    """
    return tuple({judge.id: judge for judge in judges}.values())


def sentence(judges: Sequence[Judge]) -> str:
    """Who made the labels, in a few words.

    >>> sentence([Judge("m", prompt="relevance 1")])
    'm (relevance 1)'
    """
    return ", ".join(judge.model + (f" ({judge.prompt})" if judge.prompt else "") for judge in judges)

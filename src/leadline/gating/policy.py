"""The policy of a gate: which rules a candidate must keep, read from the `[gate]` table of `leadline.toml`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from leadline.config import Settings
from leadline.conventions import PROFILES, Conventions, conventions
from leadline.errors import InputError, UnknownNameError, UsageError, printable
from leadline.measure import Measure
from leadline.spelling import parse, parse_all

DEFAULT_MARGIN = 0.02
"""The margin of a rule that names none, for measures in [0, 1]."""

Must = Literal["no-worse", "improve"]
Undecided = Literal["warn", "fail"]
Judgments = Literal["partial", "complete"]
Labels = Literal["person", "model"]


@dataclass(frozen=True)
class Rule:
    """One demand on one measure: the candidate is not worse by the margin, or it improves.

    Attributes
    ----------
    measure: canonical text. margin: in the measure's own units, above 0 for `no-worse`, 0 for `improve`.
    must: `no-worse` or `improve`. slice: the value of the slicing column it looks at; None is all queries.
    alpha: one-sided, in (0, .5). gain: what `improve` must exceed, at least 0.

    Raises
    ------
    UsageError: a value outside its range.

    >>> Rule("nDCG@10").name
    'nDCG@10'
    """

    measure: str
    margin: float = DEFAULT_MARGIN
    must: Must = "no-worse"
    slice: str | None = None
    alpha: float = 0.05
    gain: float = 0.0

    def __post_init__(self) -> None:
        where = f"rule on {printable(self.measure)}"
        if self.must not in get_args(Must):
            raise UsageError(f"{where}: must = {self.must!r} is not one of {', '.join(get_args(Must))}")
        if not 0 < self.alpha < 0.5:
            raise UsageError(f"{where}: alpha = {self.alpha:g} is not between 0 and .5")
        if self.must == "improve" and self.margin != 0:
            raise UsageError(f'{where}: must = "improve" takes no margin; say gain = {self.margin:g}')
        if self.must == "no-worse" and self.gain != 0:
            raise UsageError(f'{where}: gain = {self.gain:g} goes with must = "improve"')
        if not (math.isfinite(self.gain) and self.gain >= 0):
            raise UsageError(f"{where}: gain = {self.gain:g} is not a number of at least 0")
        if self.must == "no-worse" and not (math.isfinite(self.margin) and self.margin > 0):
            raise UsageError(
                f'{where}: margin = {self.margin:g} is not above 0; to ask for more, must = "improve"'
            )

    @property
    def name(self) -> str:
        """The measure, and the slice where there is one."""
        return self.measure if self.slice is None else f"{self.measure} [{printable(self.slice)}]"

    @property
    def bar(self) -> float:
        """What the difference must stay above: −margin, or the gain."""
        return -self.margin if self.must == "no-worse" else self.gain


@dataclass(frozen=True)
class Policy:
    """What a candidate must do to pass.

    Attributes
    ----------
    rules: all of them must pass. judgments: `complete` declares that what is unlisted is not relevant.
    on_undecided: `warn` (exit 0) or `fail` (exit 3). error_share: the largest share of failed rows, in [0, 1].
    must_pass: queries on which no rule's measure may fall. profile: how bare measures are read and scored.
    by: the column of the queries that slices name. baseline: the pinned file. seed: of the draws.
    corpus: the file of the documents; a change since the baseline is reported.
    labels: whose the judgments are, `person` or `model`, where no card beside them says it; None: people's.
    certificate: the file with the certificate of a model's labels, in place of one that their card names.

    >>> Policy((Rule("nDCG@10"), Rule("R@100", margin=0.01))).measures
    ['nDCG@10', 'R@100']
    """

    rules: tuple[Rule, ...]
    judgments: Judgments = "partial"
    on_undecided: Undecided = "warn"
    error_share: float = 0.0
    must_pass: tuple[str, ...] = ()
    profile: str = "leadline-1"
    by: str | None = None
    baseline: str | None = None
    corpus: str | None = None
    seed: int = 0
    labels: Labels | None = None
    certificate: str | None = None

    def __post_init__(self) -> None:
        if not self.rules:
            raise UsageError('the gate has no rule: add [[gate.rule]] with measure = "nDCG@10"')
        if self.judgments not in get_args(Judgments):
            raise UsageError(f"judgments = {self.judgments!r} is not one of {', '.join(get_args(Judgments))}")
        if self.on_undecided not in get_args(Undecided):
            raise UsageError(f"on_undecided = {self.on_undecided!r} is not one of warn, fail")
        if self.labels not in (None, *get_args(Labels)):
            raise UsageError(f"labels = {self.labels!r} is not one of {', '.join(get_args(Labels))}")
        if not 0 <= self.error_share <= 1:
            raise UsageError(f"error_share = {self.error_share:g} is not a share in [0, 1]")
        if self.profile not in PROFILES:
            raise UnknownNameError("profile", self.profile, PROFILES)
        keys = [(rule.measure, rule.slice, rule.must) for rule in self.rules]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise UsageError(f"two rules say {twice[2]!r} of {printable(twice[0])}; keep one")
        if self.by is None and any(rule.slice is not None for rule in self.rules):
            raise UsageError("a rule names a slice: say by = the column of the queries that it is a value of")

    @property
    def measures(self) -> list[str]:
        """The measures of the rules, each once, in their order."""
        return list(dict.fromkeys(rule.measure for rule in self.rules))

    @property
    def parsed(self) -> dict[str, Measure]:
        """The measures by their text, which is canonical: a profile does not read it otherwise."""
        return parse_all(self.measures)

    def conventions(self, **switches: Any) -> Conventions:
        """The switches under which both sides are scored."""
        return conventions(self.profile, **{"complete": self.judgments == "complete" or None, **switches})


GATE_KEYS: dict[str, tuple[type, ...]] = {
    "rule": (list,),
    "baseline": (str,),
    "corpus": (str,),
    "labels": (str,),
    "certificate": (str,),
    "on_undecided": (str,),
    "error_share": (int, float),
    "must_pass": (list,),
    "judgments": (str,),
    "profile": (str,),
    "by": (str,),
    "alpha": (int, float),
    "seed": (int,),
}
"""What `[gate]` may say and the kind of each value."""

RULE_KEYS: dict[str, tuple[type, ...]] = {
    "measure": (str,),
    "margin": (int, float),
    "must": (str,),
    "slice": (str,),
    "alpha": (int, float),
    "gain": (int, float),
}
"""What a `[[gate.rule]]` may say and the kind of each value."""

WORDS = {str: "text", int: "a whole number", float: "a number", list: "a list"}


def policy_of(settings: Settings) -> Policy:
    """The policy in the `[gate]` table of the settings' file; the flat keys profile, judgments, by and seed hold too.

    Raises
    ------
    UsageError: no `[gate]` table, or a value outside its range. UnknownNameError: an unknown key or measure.
    InputError: a value of the wrong kind.
    """
    where = str(settings.path) if settings.path is not None else "leadline.toml"
    table = settings.file.get("gate")
    if table is None:
        raise UsageError(f"{printable(where)}: no [gate] table; `leadline init` writes one")
    flat = {key: settings.value(key) for key in ("profile", "judgments", "by", "seed")}
    return read_policy({**{key: value for key, value in flat.items() if value is not None}, **table}, where)


def read_policy(table: Mapping[str, Any], where: str = "leadline.toml") -> Policy:
    """The policy that a `[gate]` table says.

    Raises
    ------
    UnknownNameError: an unknown key or measure, with the near miss. InputError: a value of the wrong kind.
    UsageError: a value outside its range, no rule, or a measure outside [0, 1] without a margin.

    >>> read_policy({"rule": [{"measure": "ndcg@10"}], "alpha": 0.1}).rules
    (Rule(measure='nDCG@10', margin=0.02, must='no-worse', slice=None, alpha=0.1, gain=0.0),)
    """
    _check(table, GATE_KEYS, f"{where}: [gate]")
    own = {key: value for key, value in table.items() if key not in ("rule", "alpha", "must_pass")}
    try:
        profile = own.get("profile", "leadline-1")
        switches = conventions(profile)
        rules = tuple(_rule(row, switches, table.get("alpha", 0.05), where) for row in table.get("rule", []))
        must_pass = _texts(table.get("must_pass", []))
        return Policy(rules, must_pass=must_pass, **own)
    except UnknownNameError:
        raise
    except UsageError as error:
        raise UsageError(f"{printable(where)}: {error}") from None


def rule_on(
    measure: Any, switches: Conventions | None = None, *, margin: float | None = None, **more: Any
) -> Rule:
    """The rule on a measure by its text; margin .02 where none is given and the measure lies in [0, 1].

    Raises
    ------
    UnknownNameError: no such measure. UsageError: a measure that has no default margin, or where less is
        better.

    >>> rule_on("recall@5", must="improve").margin
    0.0
    """
    found = parse(measure, switches)
    assert found.definition is not None
    if found.definition.better != "higher":
        raise UsageError(f"{found}: a gate asks for more of a measure, and more of this is not better")
    if margin is None:
        if more.get("must") == "improve":
            margin = 0.0
        elif found.definition.high == 1.0:
            margin = DEFAULT_MARGIN
        else:
            raise UsageError(f"{found} is not within [0, 1], so it has no default margin: say margin = …")
    return Rule(str(found), float(margin), **more)


def _rule(row: Any, switches: Conventions, alpha: float, where: str) -> Rule:
    if not isinstance(row, Mapping):
        raise InputError(f"{printable(where)}: a rule is a table: write [[gate.rule]] above its settings")
    _check(row, RULE_KEYS, f"{where}: [[gate.rule]]")
    if "measure" not in row:
        raise UsageError('a [[gate.rule]] names no measure: measure = "nDCG@10"')
    numbers = {key: float(row[key]) for key in ("gain",) if key in row}
    words = {key: row[key] for key in ("must", "slice") if key in row}
    own_alpha = float(row.get("alpha", alpha))
    return rule_on(row["measure"], switches, margin=row.get("margin"), alpha=own_alpha, **numbers, **words)


def _check(table: Mapping[str, Any], keys: Mapping[str, tuple[type, ...]], where: str) -> None:
    for key, value in table.items():
        if key not in keys:
            raise UnknownNameError("setting", key, keys, where=where)
        if not isinstance(value, keys[key]) or isinstance(value, bool):
            kinds = " or ".join(WORDS[kind] for kind in keys[key])
            raise InputError(f"{printable(where)}: {key} = {value!r} is not {kinds}")


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    """Query ids; whole numbers become text, as everywhere at the door."""
    wrong = next((one for one in values if not isinstance(one, (str, int)) or isinstance(one, bool)), None)
    if wrong is not None:
        raise InputError(f"must_pass: {wrong!r} is not a query id (text)")
    return tuple(dict.fromkeys(str(one) for one in values))

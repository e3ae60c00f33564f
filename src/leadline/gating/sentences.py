"""The plain sentences of a verdict: its headline, and why."""

from collections.abc import Sequence

from leadline.errors import amount
from leadline.gating.finding import (
    FAIL,
    JUDGE_FIRST,
    LEAST_DIFFERING,
    LEAST_QUERIES,
    PASS,
    Finding,
)

LONGEST = 120
"""How many characters of a reason a headline holds."""


def points(value: float, sign: bool = False) -> str:
    """A number as a sentence says it: up to three decimals, without the zero before the point.

    >>> points(0.02), points(-0.0124, sign=True), points(0.047, sign=True), points(12.0), points(0.0)
    ('.02', '−.012', '+.047', '12', '0')
    """
    size = f"{abs(value):.3f}".rstrip("0").rstrip(".")
    size = size[1:] if size.startswith("0.") else size
    if size == "0" and value:
        size = f"{abs(value):.1g}"
    minus = "−" if value < 0 and size != "0" else ""
    return minus + size if minus or not sign or size == "0" else "+" + size


def thousandths(value: float) -> str:
    """A difference to three decimals, signed, without the zero before the point.

    >>> thousandths(-0.1), thousandths(0.0474), thousandths(-0.0001), thousandths(1.5)
    ('−.100', '+.047', '.000', '+1.500')
    """
    size = f"{abs(value):.3f}"
    sign = "" if float(size) == 0 else "−" if value < 0 else "+"
    return sign + size.removeprefix("0")


def headline(outcome: str, rests_on: Finding, found: Sequence[Finding], must_pass: Sequence[str]) -> str:
    """The verdict in one sentence, which names the rule where there are several."""
    if must_pass:
        more = f" (and {len(must_pass) - 1} more)" if len(must_pass) > 1 else ""
        return f"{'fail' if outcome == FAIL else 'undecided'}: {must_pass[0]}{more}"
    several = len(found) > 1
    about = f" ({rests_on.rule.name})" if several else ""
    if outcome == PASS:
        lead = f"all {len(found)} rules hold; " if several else ""
        return f"pass: {lead}{_passed(rests_on)}{about}"
    if outcome == FAIL:
        return f"fail: {_failed(rests_on)}{about}"
    if outcome == JUDGE_FIRST:
        return f"undecided: {_to_judge(rests_on)}{about}"
    return f"undecided: {_too_few(rests_on)}{about}"


def rule_line(finding: Finding) -> str:
    """One rule in a line: its measure, the difference with its interval, what it asks, and what it comes to."""
    c, rule = finding.comparison, finding.rule
    if rule.must == "no-worse":
        asked = f"must not be worse by {points(rule.margin)}"
    else:
        asked = "must improve" + (f" by more than {points(rule.gain)}" if rule.gain else "")
    if c.difference is None:
        numbers = "no difference could be computed"
    elif c.low is None or c.high is None:
        numbers = f"{thousandths(c.difference)}, without an interval"
    else:
        ends = f"[{thousandths(c.low)}, {thousandths(c.high)}]"
        numbers = f"{thousandths(c.difference)} {ends} over {amount(c.n, 'query', 'queries')}"
    return f"{rule.name}: {numbers}; {asked}: {finding.outcome}"


def said_of_needed(finding: Finding) -> list[str]:
    """What is missing where the rule is undecided: queries, or Holm's correction in the way."""
    c, rule = finding.comparison, finding.rule
    said = []
    if finding.held_back:
        said.append(f"{rule.name}: it fails by itself, but not after Holm's correction over the rules")
    if finding.needed is not None and finding.needed > c.n:
        apart = rule.margin if rule.must == "no-worse" else rule.gain
        word = "margin" if rule.must == "no-worse" else "gain"
        needed = f"about {finding.needed} queries decide a {word} of {points(apart)} with power .8"
        said.append(f"{rule.name}: {needed}; these are {c.n}")
    return said


def said_of_counts(finding: Finding) -> list[str]:
    """What few queries or few differing ones mean, and which were left out or failed."""
    c, name = finding.comparison, finding.rule.name
    said = []
    if c.n < LEAST_QUERIES:
        said.append(
            f"{name}: {amount(c.n, 'query', 'queries')}: estimates, and no verdict below {LEAST_QUERIES}"
        )
    if c.n_nonzero < LEAST_DIFFERING and c.n:
        verb = "differs" if c.n_nonzero == 1 else "differ"
        said.append(
            f"{name}: {amount(c.n_nonzero, 'query', 'queries')} {verb}; below {LEAST_DIFFERING} the two-sided "
            "sign-flip test cannot reach .05"
        )
    if c.n_left_out:
        failed = f", {c.n_error} of them failed" if c.n_error else ""
        said.append(f"{name}: {amount(c.n_left_out, 'query', 'queries')} without a value in both{failed}")
    return said


def said_of_smallest_margin(finding: Finding) -> list[str]:
    """The smallest margin that these queries decide with power .8, at the spread seen."""
    c = finding.comparison
    if not c.sd or c.n < LEAST_QUERIES:
        return []
    from leadline.stats.power import smallest_margin

    # Queries of one cluster tell less than as many of their own.
    n = c.n if c.n_effective is None else max(2, int(c.n_effective))
    margin = smallest_margin(n, c.sd, alpha=finding.rule.alpha)
    return [
        f"{finding.rule.name}: the smallest margin these queries decide with power .8 is {points(margin)}"
    ]


def said_of_remarks(finding: Finding) -> list[str]:
    """The comparison's own remarks, but those on few queries, which `said_of_counts` makes."""
    few = ("an estimate, no verdict", "sign-flip test can reach")
    remarks = [one for one in finding.comparison.remarks if not any(part in one for part in few)]
    return [f"{finding.rule.name}: {one}" for one in remarks]


def shorter(reason: str) -> str:
    """A reason that fits a headline; where it is cut, all of it stands among the reasons.

    >>> shorter("judgments removed: " + "q1 d1 0, " * 20)[-8:]
    'q1 d1 0…'
    """
    return reason if len(reason) <= LONGEST else reason[: LONGEST - 1].rpartition(" ")[0].rstrip(",") + "…"


def _passed(finding: Finding) -> str:
    rule, c = finding.rule, finding.comparison
    if rule.must == "improve":
        return f"better by more than {points(rule.gain)}" if rule.gain else "better"
    if c.n_nonzero == 0:
        return "the same on every query"
    words = {
        "better": "better",
        "worse": f"worse, but within {points(rule.margin)}",
    }
    return words.get(finding.effect, f"not worse by {points(rule.margin)}")


def _failed(finding: Finding) -> str:
    rule = finding.rule
    if rule.must == "no-worse":
        return f"worse by more than {points(rule.margin)}"
    if finding.effect == "worse":
        return "worse, where an improvement was asked for"
    return f"no improvement of {points(rule.gain)}" if rule.gain else "no improvement"


def _to_judge(finding: Finding) -> str:
    doubt = finding.doubt
    assert doubt is not None
    count = doubt.unjudged if doubt.to_settle is None else doubt.to_settle
    return f"judge {amount(count, 'pair')} first"


def _too_few(finding: Finding) -> str:
    c = finding.comparison
    if c.n < LEAST_QUERIES:
        return f"{amount(c.n, 'query', 'queries')} are too few for a verdict; {LEAST_QUERIES} are the least"
    if finding.needed is not None and finding.needed > c.n:
        return f"too few queries; about {finding.needed} decide it, these are {c.n}"
    return f"too few queries; {c.n} do not decide it"

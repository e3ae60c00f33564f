"""Whether a model's labels may gate: only with a valid certificate of their judge that covers every rule."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from leadline.account import certified
from leadline.certificate import Judge, refusals, sentence
from leadline.conventions import Conventions
from leadline.errors import UsageError, amount, printable
from leadline.formats.card import with_certificate
from leadline.formats.certificate import read_certificate
from leadline.gating.policy import DEFAULT_MARGIN, Policy
from leadline.tables import Qrels

SWITCHES = (
    "order",
    "score_width",
    "duplicates",
    "ignore_self",
    "depth",
    "queries",
    "collapse",
    "ties",
    "undefined",
)
"""What a measure's value depends on, beside its name."""


def as_the_policy_says(qrels: Qrels, policy: Policy, certificate: str | Path | None = None) -> Qrels:
    """The judgments with what the policy says of them: whose they are, where no card does, and what certifies the judge.

    Parameters
    ----------
    certificate: where the policy's certificate stands, found from here.

    Raises
    ------
    UsageError: the policy says `labels = "person"` of labels that are a model's. InputError: the certificate cannot be read.
    """
    if policy.labels == "person" and qrels.models:
        raise UsageError(
            f'labels = "person" in the policy, and {amount(qrels.models, "label")} of a model '
            f"in {printable(qrels.source)}"
        )
    if not qrels.models and certificate is not None and policy.labels != "person" and qrels.rule is None:
        # Who names a certificate says that the labels are a model's: a card may have been left behind by a copy.
        return with_certificate(qrels, certificate)
    if policy.labels == "model" and not qrels.models:
        qrels = replace(qrels, models=len(qrels.rows.number))
    if certificate is None or not qrels.models:
        return qrels
    return replace(qrels, certificate=read_certificate(certificate))


def margins(policy: Policy) -> dict[str, float | None]:
    """How closely a judge must agree with people on each measure, which is within half of it, either way.

    It is the margin of the rules on it, the smallest of several. `improve` has none: there it is the default margin,
    or for a measure outside [0, 1] the gain; None where that is 0.

    >>> from leadline.gating.policy import Rule
    >>> margins(Policy((Rule("nDCG@10", 0.05), Rule("R@5", 0.0, "improve"))))
    {'nDCG@10': 0.05, 'R@5': 0.02}
    """
    found: dict[str, float | None] = {}
    for rule in policy.rules:
        own: float | None = rule.margin
        if rule.must == "improve":
            definition = policy.parsed[rule.measure].definition
            within = definition is not None and definition.high == 1.0
            own = DEFAULT_MARGIN if within else rule.gain or None
        before = found.get(rule.measure, own)
        found[rule.measure] = own if before is None or own is None else min(before, own)
    return found


def refused(qrels: Qrels, policy: Policy, rules: Conventions | None = None) -> tuple[str, ...]:
    """Why the judgments may not gate; empty where they may, as people's always may. `rules`: what the gate scores by."""
    if not qrels.models:
        return ()
    asked = margins(policy)
    against = _other_switches(qrels, rules or policy.conventions()) + _other_grades(qrels, policy)
    against += refusals(
        qrels.judges,
        qrels.certificate,
        {name: margin for name, margin in asked.items() if margin is not None},
    )
    against += [
        f"{name} has no margin that a judge could be held to: say gain = …"
        for name, margin in asked.items()
        if margin is None
    ]
    if not against:
        return ()
    return (f"{_whose(qrels)} may not gate: {against[0]}", *against[1:])


def _other_switches(qrels: Qrels, rules: Conventions) -> list[str]:
    """The switches under which the certificate's measures are not those that the gate takes: one name, two measures."""
    then = {} if qrels.certificate is None else qrels.certificate.body.get("conventions") or {}
    now = rules.to_dict()
    return [
        f"the certificate was made with {name.replace('_', ' ')} {then[name]}, and the gate has {now[name]}: certify again"
        for name in SWITCHES
        if name in then and then[name] != now[name]
    ]


def _other_grades(qrels: Qrels, policy: Policy) -> list[str]:
    """What the certificate made of the labels' grades and the gate does not: the same labels, read as others."""
    body = {} if qrels.certificate is None else qrels.certificate.body
    read: Mapping[str, Any] = next((one for one in body.get("inputs", ()) if one.get("role") == "model"), {})
    said = []
    if read and read.get("grade_map") != qrels.grade_map:
        then, now = (
            f"rewritten by {one}" if one else "as they are"
            for one in (read.get("grade_map"), qrels.grade_map)
        )
        said.append(f"the certificate is of grades {then}, and the gate has them {now}: certify again")
    if qrels.resolved and read.get("settled") and read.get("conflicts") != qrels.conflicts:
        said.append(
            f"the certificate settled repeated labels by {read.get('conflicts')}, and the gate settles them by "
            f"{qrels.conflicts}: certify again"
        )
    top = body.get("conventions", {}).get("max_grade")
    for name, one in policy.parsed.items():
        if top is not None and one.reads_top and top != qrels.top_grade():
            said.append(
                f"the certificate has {top:g} as the top of the scale, which {name} reads, and the gate has "
                f"{qrels.top_grade():g}: certify again"
            )
    return said


def said_of_labels(qrels: Qrels, policy: Policy, rules: Conventions | None = None) -> tuple[str, ...]:
    """What a reader of the verdict should know of a model's labels that may gate; nothing of others."""
    if not qrels.models or refused(qrels, policy, rules):
        return ()
    covered = ", ".join(f"{name} within ±{(margin or 0) / 2:g}" for name, margin in margins(policy).items())
    lines = [f"{_whose(qrels)}, certified for gating: {covered}"]
    if any(rule.slice is not None for rule in policy.rules):
        lines.append("the certificate is about all queries together, and says nothing of single slices")
    return tuple(lines)


def labels_account(qrels: Qrels) -> dict[str, Any]:
    """Whose the judgments are, for the JSON output."""
    return {
        "judgments": len(qrels.rows.number),
        "models": qrels.models,
        "judges": [judge.to_dict() for judge in qrels.judges],
        "certified": certified(qrels),
    }


def pinned_labels(qrels: Qrels) -> dict[str, Any]:
    """Whose the judgments are, as a baseline keeps it."""
    return {
        "models": qrels.models,
        "judges": [judge.to_dict() for judge in qrels.judges],
        "certificate": None if qrels.certificate is None else qrels.certificate.id,
    }


def other_labels(then: Mapping[str, Any] | None, qrels: Qrels) -> tuple[str | None, str | None]:
    """What changed of whose the judgments are: (their judges, which makes other judgments; their certificate, which is a note).

    Nothing is known of a baseline of an earlier version (None).
    """
    if then is None:
        return None, None
    now = pinned_labels(qrels)
    if bool(then["models"]) != bool(now["models"]) or _ids(then) != _ids(now):
        return f"judgments by others since the baseline: {_names(then)} then, {_names(now)} now", None
    if then["certificate"] != now["certificate"]:
        return None, (
            f"another certificate since the baseline: {then['certificate'] or 'none'} then, "
            f"{now['certificate'] or 'none'} now"
        )
    return None, None


def _whose(qrels: Qrels) -> str:
    """Who made a model's labels, and of how many."""
    total = len(qrels.rows.number)
    count = "labels" if qrels.models == total else f"{qrels.models} of {amount(total, 'label')}"
    return f"{count} of {sentence(qrels.judges) or 'a model that is not named'}"


def _ids(labels: Mapping[str, Any]) -> set[str]:
    return {Judge.from_dict(one).id for one in labels["judges"]}


def _names(labels: Mapping[str, Any]) -> str:
    """Who judged, in a few words; the parts that a name does not say are told by the judge's id."""
    judges = [Judge.from_dict(one) for one in labels["judges"]]
    named = ", ".join(f"{sentence([judge])} [{judge.id}]" for judge in judges)
    return (named or "a model that is not named") if labels["models"] else "people"

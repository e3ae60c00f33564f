"""The exact next command after a verdict."""

import shlex
from collections.abc import Mapping

from leadline.config import FILE
from leadline.gating.finding import FAIL, JUDGE_FIRST, NOT_COMPARABLE, PASS, TOO_FEW
from leadline.gating.policy import Policy, Rule


def next_commands(outcome: str, policy: Policy, rule: Rule, files: Mapping[str, str]) -> tuple[str, ...]:
    """The commands to run next, ready to paste, for the rule that the verdict rests on.

    `files` has the paths baseline, candidate, qrels and config where they are known, the run that was pinned
    (baseline_run), and further options as typed: of the command (options), to pin again (pin_options), and those of
    evidence where it stands in place of judgments (evidence). With a
    config the verdict came from `gate`, else from `compare`.

    >>> policy = Policy((Rule("nDCG@10"),))
    >>> files = {"candidate": "b.run", "config": "leadline.toml"}
    >>> next_commands("judge-first", policy, policy.rules[0], files)
    ('leadline gate b.run --config leadline.toml --write to-judge.jsonl',)
    """
    gated = "config" in files
    candidate = files.get("candidate", "CANDIDATE")
    runs = [files.get("baseline", "BASELINE"), candidate]
    qrels = ["--qrels", files.get("qrels", "QRELS")]
    # Evidence is among the options as typed, which `_again` adds.
    against = shlex.split(files["evidence"]) if "evidence" in files else qrels
    both = [*runs, *against]
    compare = ["leadline", "compare", *runs, *([] if "evidence" in files else qrels), "-m", rule.measure]
    if outcome == JUDGE_FIRST:
        return _again(files, compare, "--write", "to-judge.jsonl")
    if outcome == TOO_FEW:
        apart = rule.margin if rule.must == "no-worse" else rule.gain
        worth = f"{apart:g}" if apart else "DIFFERENCE"
        return _lines(["leadline", "power", *both, "-m", rule.measure, "--difference", worth])
    if outcome == PASS and gated:
        return pin_again({**files, "baseline_run": candidate})
    if outcome in (PASS, FAIL):
        return _again(files, compare, "--write", "report.html")
    if outcome == NOT_COMPARABLE:
        return pin_again(files) if gated else _lines(["leadline", "evaluate", *both])
    # Too many errors: what failed, and how much it could matter.
    return _lines(["leadline", "evaluate", candidate, *against, "-m", rule.measure])


def pin_again(files: Mapping[str, str]) -> tuple[str, ...]:
    """The command that pins the baseline, from its run where that is known.

    >>> pin_again({})
    ('leadline baseline RUN',)
    """
    config = files.get("config", FILE)
    named = [] if config == FILE else ["--config", config]
    typed = shlex.split(files.get("pin_options", ""))
    return _lines(["leadline", "baseline", files.get("baseline_run", "RUN"), *named, *typed])


def certify_first(files: Mapping[str, str], margins: Mapping[str, float | None]) -> tuple[str, ...]:
    """The command that certifies the judge, for the measures and the smallest margin of the rules; and the gate again.

    >>> certify_first({"qrels": "m.qrels", "candidate": "b.run", "baseline_run": "a.run"}, {"RR": 0.05})[0][:60]
    'leadline certify a.run b.run --human HUMAN --model-labels m.'
    """
    runs = [files.get("baseline_run", "BASELINE.run"), files.get("candidate", "CANDIDATE")]
    labels = ["--human", "HUMAN", "--model-labels", files.get("qrels", "LABELS")]
    least = min((margin for margin in margins.values() if margin is not None), default=None)
    within = [] if least is None else ["--margin", f"{least:g}"]
    sample = ["--sample", "random", "--write", "certificate.json"]
    certify = _lines(["leadline", "certify", *runs, *labels, "-m", ",".join(margins), *within, *sample])
    return (*certify, *gate_again(files))


def gate_again(files: Mapping[str, str], *options: str) -> tuple[str, ...]:
    """The same gate again, for what is to be put right in its inputs or accepted.

    >>> gate_again({"candidate": "b.run", "config": "leadline.toml"}, "--accept-changed-judgments")
    ('leadline gate b.run --config leadline.toml --accept-changed-judgments',)
    """
    return _again({"config": FILE, **files}, [], *options)


def _again(files: Mapping[str, str], compare: list[str], *more: str) -> tuple[str, ...]:
    """The command that came to the verdict, with more options: a gate with a config, else the comparison."""
    options = shlex.split(files.get("options", ""))
    if "config" not in files:
        return _lines([*compare, *options, *more])
    gate = ["leadline", "gate", files.get("candidate", "CANDIDATE"), "--config", files["config"]]
    return _lines([*gate, *options, *more])


def _lines(*commands: list[str]) -> tuple[str, ...]:
    return tuple(shlex.join(command) for command in commands)

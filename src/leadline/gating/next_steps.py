"""The exact next command after a verdict."""

import shlex
from collections.abc import Mapping

from leadline.gating.finding import FAIL, JUDGE_FIRST, NOT_COMPARABLE, PASS, TOO_FEW
from leadline.gating.policy import Policy, Rule


def next_commands(outcome: str, policy: Policy, rule: Rule, files: Mapping[str, str]) -> tuple[str, ...]:
    """The commands to run next, ready to paste, for the rule that the verdict rests on.

    `files` has the paths baseline, candidate, qrels and config where they are known. With a config the verdict
    came from `gate`, else from `compare`.

    >>> policy = Policy((Rule("nDCG@10"),))
    >>> files = {"candidate": "b.run", "config": "leadline.toml"}
    >>> next_commands("judge-first", policy, policy.rules[0], files)
    ('leadline gate b.run --config leadline.toml --write to-judge.jsonl',)
    """
    gated = "config" in files
    candidate = files.get("candidate", "CANDIDATE")
    both = [files.get("baseline", "BASELINE"), candidate, "--qrels", files.get("qrels", "QRELS")]
    again = ["leadline", "gate", candidate, "--config", files.get("config", "leadline.toml")]
    compare = ["leadline", "compare", *both, "-m", rule.measure]
    line = again if gated else compare
    if outcome == JUDGE_FIRST:
        return _lines([*line, "--write", "to-judge.jsonl"])
    if outcome == TOO_FEW:
        apart = rule.margin if rule.must == "no-worse" else rule.gain
        worth = f"{apart:g}" if apart else "DIFFERENCE"
        return _lines(["leadline", "power", *both, "-m", rule.measure, "--difference", worth])
    if outcome == FAIL:
        return _lines([*line, "--write", "report.html"])
    if outcome == PASS:
        return (
            _lines(["leadline", "baseline", candidate])
            if gated
            else _lines([*line, "--write", "report.html"])
        )
    if outcome == NOT_COMPARABLE:
        return _lines(
            ["leadline", "baseline", files.get("baseline_run", "RUN")]
            if gated
            else ["leadline", "check", *both]
        )
    return _lines(["leadline", "check", candidate])


def _lines(*commands: list[str]) -> tuple[str, ...]:
    return tuple(shlex.join(command) for command in commands)

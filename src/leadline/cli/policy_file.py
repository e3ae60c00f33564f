"""The leadline.toml that `leadline init` writes, and what its queries can decide."""

import json
from pathlib import Path

from leadline.cli.chosen import labels_of_book
from leadline.errors import amount, printable

BASELINE = "baseline.json"
ASSUMED_SPREAD = 0.2
"""The spread of differences that is assumed where no two runs show it."""


def what_can_be_decided(
    runs: list[str], qrels: str, asked: list[str], profile: str | None, margin: float
) -> list[str]:
    """The smallest margin that the judged queries decide with power .8: at the spread of two runs, or an assumed one."""
    from leadline.comparison import compare
    from leadline.evaluation import evaluate
    from leadline.formats.read import read_qrels
    from leadline.stats.power import smallest_margin

    book = labels_of_book(qrels)
    if not runs:
        if book is None and not Path(qrels).exists():
            return [
                f"{printable(qrels)} is not there yet: what can be decided depends on how many queries it has"
            ]
        n = (book or read_qrels(qrels)).frame["query_id"].n_unique()
        least = smallest_margin(n, ASSUMED_SPREAD)
        return [
            f"{amount(n, 'query', 'queries')} decide a margin of {least:.3f} with power .8, if differences "
            f"spread by {ASSUMED_SPREAD:g}; two runs show how they do: leadline init OLD.run NEW.run --force"
        ]
    scores = evaluate(runs, book or qrels, asked, profile=profile or "leadline-1")
    said = []
    for row in compare(scores, scores.systems[0]):
        if not row.sd:
            said.append(f"{row.measure}: the two runs do not differ; nothing to plan from")
            continue
        least = smallest_margin(row.n, row.sd)
        enough = "" if least <= margin else f": more than the rule's {margin:g}, so expect undecided"
        said.append(f"{row.measure}: {row.n} queries decide a margin of {least:.3f} with power .8{enough}")
    return said


def policy_text(qrels: str, queries: str | None, asked: list[str], margin: float, profile: str | None) -> str:
    """The file, each setting with what it means."""
    text = json.dumps
    rules = "\n".join(
        f"[[gate.rule]]\nmeasure = {text(one)}\nmargin = {margin:g}\n"
        '# must = "improve"          # instead of a margin: it has to get better, by more than gain = 0\n'
        '# slice = "long"            # only the queries with this value of the column `by`\n'
        "# alpha = 0.05              # one-sided\n"
        for one in asked
    )
    questions = f"queries = {text(queries)}" if queries else '# queries = "queries.jsonl"  # with their texts'
    return (
        "# What a candidate must do before it may ship. `leadline gate CANDIDATE.run` reads this file.\n\n"
        f"qrels = {text(qrels)}\n{questions}\n"
        f"profile = {text(profile or 'leadline-1')}\n\n"
        f"[gate]\nbaseline = {text(BASELINE)}   # written by `leadline baseline RUN`; commit it\n"
        '# corpus = "corpus.jsonl"    # the documents: a change since the baseline is reported\n'
        'on_undecided = "warn"        # or "fail": exit 3 where the numbers do not decide\n'
        "error_share = 0.0            # the share of failed rows that is allowed\n"
        "must_pass = []               # query ids that may not get worse\n"
        '# judgments = "complete"     # everything unlisted is not relevant; switches judge-first off\n'
        '# labels = "model"           # the judgments are a model\'s, and no card beside them says so\n'
        '# certificate = "certificate.json"   # of that model; without a valid one its labels cannot gate\n'
        '# by = "type"                # the column of the queries that slices name\n'
        "alpha = 0.05\nseed = 0\n\n" + rules
    )

"""The design of a sampled pool in files of labels: which format keeps stratum and probability, and what is said where not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from leadline.errors import InputError, amount, printable
from leadline.formats.losses import WORDS, lost
from leadline.tables import DESIGN, Qrels

SAMPLED = "trec-sampled"
"""TREC with a fifth column, the stratum; trec_eval does not read it, so it is only written where it is named."""


def design_lost(items: Sequence[Any], form: str) -> list[str]:
    """What a file in the format `form` would not keep of the design that judgments or labels have, a sentence each.

    >>> from leadline.judging.judgment import Judgment
    >>> design_lost([Judgment("q", "d", 1, stratum="1-10", probability=1.0)], "trec-sampled")
    ['trec-sampled loses 1 probability of a sampled pool: left out']
    """
    found = {name: len({getattr(one, name) for one in items} - {None}) for name in DESIGN}
    told = lost("judgments", found, form)
    if form == "trec" and found["stratum"]:
        strata = amount(found["stratum"], *WORDS["stratum"][:2])
        told = {"stratum": f"trec loses {strata}: left out (--format {SAMPLED} keeps them)", **told}
    return list(told.values())


def with_columns_of(qrels: Qrels, form: str, path: str) -> Qrels:
    """The judgments with the columns that a format of the house has: five in `trec-sampled`, four in `trec`.

    Raises
    ------
    InputError: `trec-sampled` is asked for, and some label has no stratum.
    """
    if form == "trec":
        return replace(qrels, table=qrels.frame.drop(DESIGN, strict=False))
    if form == SAMPLED:
        every = qrels.frame.height
        without = qrels.frame["stratum"].null_count() if qrels.sampled else every
        if without:
            raise InputError(
                f"{printable(path)}: {without} of {every} labels {'has' if without == 1 else 'have'} no stratum, and "
                f"{SAMPLED} needs one in every line; write .jsonl or .csv"
            )
    return qrels

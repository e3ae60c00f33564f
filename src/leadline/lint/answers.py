"""Files of labelled answers in a check: how much they hold, and what lacks in them."""

from leadline.formats.labelled import LabelledAnswers
from leadline.formats.labelledfiles import READERS
from leadline.formats.source import Source
from leadline.lint.finding import EXAMPLES, Findings
from leadline.lint.reading import Read
from leadline.lint.retrying import read_on

FORMATS = tuple(READERS)


def read_answers_file(path: str, form: str, found: Findings) -> Read | None:
    """The file, counted; warns of answers without text, of answers that stand twice, and of claims without a label."""
    held = read_on(path, form, lambda where: READERS[form](Source.open(where)), found)
    if held is None:
        return None
    _check(held, path, found)
    return Read(path, form, answers=held.counts(), notes=())


def _check(held: LabelledAnswers, path: str, found: Findings) -> None:
    bare = [one for one in held.answers if not one.text.strip()]
    if bare:
        found.warn(
            "empty-answer",
            path,
            f"{len(bare)} of {len(held.answers)} answers have no text",
            len(bare),
            examples=[one.answer_id for one in bare[:EXAMPLES]],
        )
    open_claims = held.unlabelled()
    if open_claims:
        found.warn(
            "no-label",
            path,
            f"{len(open_claims)} of {len(held.claims)} claims have no label: nobody said whether they hold",
            len(open_claims),
            examples=[f"{one.answer_id}, claim {one.claim}" for one in open_claims[:EXAMPLES]],
        )

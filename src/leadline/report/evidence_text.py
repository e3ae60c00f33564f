"""What `leadline evidence` prints: what a check found, and what became of evidence that was carried over."""

from typing import Any

from leadline.errors import amount, printable
from leadline.passages.carry import Carrying
from leadline.passages.check import Checked, faults_as_rows

MEANING = {
    "same": "the quote stands at the same place",
    "moved": "the quote stands elsewhere, once",
    "review": "something like it, or several places: a person decides",
    "lost": "not found",
}


def checked_text(found: Checked) -> str:
    """A check without faults, in words."""
    lines = [
        f"{printable(found.source)}: {amount(found.rows, 'row')}, {amount(found.queries, 'query', 'queries')}, "
        f"{amount(found.documents, 'document')}, {amount(found.characters, 'character')} of evidence; "
        "every row stands where it says"
    ]
    if found.without_quote:
        lines.append(
            f"without a quote, so that only the range was checked: {amount(found.without_quote, 'row')}"
        )
    if found.overlapping:
        lines.append(
            f"rows that share text with another of their query, which counts once: {found.overlapping}"
        )
    if found.repeated:
        lines.append(f"quotes that stand elsewhere in their document too, held by position: {found.repeated}")
    return "\n".join(lines) + "\n"


def checked_facts(found: Checked) -> dict[str, Any]:
    """A check as JSON has it."""
    return {
        "command": "evidence check",
        "source": found.source,
        "ok": not found.faults,
        "rows": found.rows,
        "queries": found.queries,
        "documents": found.documents,
        "characters": found.characters,
        "without_quote": found.without_quote,
        "overlapping": found.overlapping,
        "repeated": found.repeated,
        "n_faults": len(found.faults),
        "kinds": dict(found.kinds),
        "faults": list(faults_as_rows(found)),
        "advice": found.advice(),
    }


def carried_text(found: Carrying, written: str, review: str | None, documents: str) -> str:
    """What became of the evidence, in words; nothing is left unsaid."""
    counts, total = found.counts, len(found.rows)
    lines = [f"{printable(found.source)}: {amount(total, 'row')} of evidence"]
    for state, count in counts.items():
        more = (
            f" ({found.other_document} in another document)"
            if state == "moved" and found.other_document
            else ""
        )
        lines.append(f"  {state:<7}{count:>7}  {MEANING[state]}{more}")
    kept = counts["same"] + counts["moved"]
    lines.append(f"wrote {printable(written)}: {kept} of {total} rows, the same and the moved")
    waiting = counts["review"] + counts["lost"]
    if waiting and review is None:
        lines.append(
            f"! {amount(waiting, 'row')} not carried: --review FILE lists what a person is to look at"
        )
    elif review is not None:
        lines.append(f"wrote {printable(review)}: what a person is to look at")
        lines.append(
            f"next: leadline judge {printable(review)} --documents {printable(documents)}, and mark the evidence"
        )
    return "\n".join(lines) + "\n"


def carried_facts(found: Carrying) -> dict[str, Any]:
    """What became of the evidence, as JSON has it: the counts, and every row that is not the same."""
    return {
        "command": "evidence carry",
        "source": found.source,
        "rows": len(found.rows),
        **{str(state): count for state, count in found.counts.items()},
        "other_document": found.other_document,
        "changes": [row.to_dict() for row in found.rows if row.state != "same"],
    }

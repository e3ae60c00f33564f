"""Lines for learning to rank as Quepid writes them: `3 qid:1 # 1370 star trek`."""

import re
from pathlib import Path

from leadline.errors import InputError, printable
from leadline.formats.faults import Faults
from leadline.formats.heldtables import shown, single
from leadline.formats.jsontext import decode
from leadline.formats.lists import Asked, Graded, Held
from leadline.formats.losses import SPACE
from leadline.formats.msmarco import no_white_space
from leadline.formats.quepid import grade_of
from leadline.formats.source import Source
from leadline.formats.write import atomic_write

_WORD = r"[^ \t\r\x0b\x0c]+"
LINE = re.compile(
    rf"(?P<grade>{_WORD}) qid:(?P<qid>{_WORD})(?: (?P<features>[^#]*)|[ \t]*)#[ \t]*(?P<doc>{_WORD})(?: (?P<query>[^\n]*))?"
)


def read_ltr(source: Source) -> Held:
    """Grades by `qid` and the comment: its first word is the document's id, the rest the query's text. Features are not read.

    Raises
    ------
    InputError, RowsError: not UTF-8, a line of another form, or a `qid` of two texts.
    """
    faults = Faults(source.name)
    graded: list[Graded] = []
    text_of: dict[str, tuple[str, int]] = {}
    features = 0
    for line, raw in enumerate(decode(source.read_all(), source.name).split("\n"), start=1):
        text = raw.removesuffix("\r")
        if not text.strip():
            continue
        match = LINE.fullmatch(text)
        grade = grade_of(match["grade"]) if match else None
        if match is None:
            faults.add(line, None, text, "expected: grade qid:NUMBER # document-id query's text")
        elif grade is None:
            faults.add(line, 1, match["grade"], "a grade is a finite number")
        else:
            # Without a text the number is all that is known of the query.
            query = match["query"] or match["qid"]
            first, at = text_of.setdefault(match["qid"], (query, line))
            features += bool(match["features"])
            if first != query:
                faults.add(
                    line,
                    None,
                    text,
                    f"but line {at} has the text {printable(first)!r} for qid:{match['qid']}",
                )
            graded.append(Graded(query, match["doc"], grade, line=line))
    faults.check()
    if not graded:
        raise InputError(f"{printable(source.name)}: no rows in it")
    own = {text: qid for qid, (text, _) in text_of.items()}
    if len(own) < len(text_of):
        twice = next(text for qid, (text, _) in text_of.items() if own[text] != qid)
        raise InputError(f"{printable(source.name)}: two numbers (qid) for the query {printable(twice)!r}")
    asked = tuple(Asked(text, text) for text in own)
    left = {"features": features} if features else {}
    notes = (f"the features of {features} lines are not read",) if features else ()
    return Held("text", tuple(graded), asked=asked, own=own, notes=notes, source=source.name, left=left)


def write_ltr(held: Held, path: str | Path) -> None:
    """Grades as lines; queries keep their ids where all have one without white space, else they are numbered from 1.

    Raises
    ------
    InputError: a document id with white space, a text with a line end, or a pair with two grades. UsageError: no grade.
    """
    found = single(held, path)
    no_white_space([doc for grades in found.values() for doc in grades], path, "lines for learning to rank")
    torn = [query for query in found if re.search(r"[\r\n]", query)]
    if torn:
        raise InputError(
            f"{printable(str(path))}: the query {printable(torn[0])!r} has a line end, and a line holds one grade"
        )
    own = {query: held.own.get(query, "") for query in found}
    kept = all(own.values()) and not any(SPACE.search(one) for one in own.values())
    if not kept or len(set(own.values())) < len(own):
        own = {query: str(number) for number, query in enumerate(found, start=1)}
    with atomic_write(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as handle:
        for query, grades in found.items():
            handle.writelines(
                f"{shown(grade)} qid:{own[query]} # {doc} {query}\n" for doc, grade in grades.items()
            )

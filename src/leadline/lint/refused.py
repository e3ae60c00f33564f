"""Rows that can be read and that measuring refuses until a rule is named: documents twice, pairs with two grades, needs."""

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from leadline.errors import ROW, InputError, RowFault, RowsError, amount
from leadline.lint.finding import EXAMPLES, KEPT, Findings
from leadline.lint.reading import Read
from leadline.lint.retrying import unreadable
from leadline.tables import NEED, Conflicts, Qrels

SUBTOPICS = {"subtopic": "subtopic", "iteration": "column 2"}
"""The columns that tell several judgments of one pair apart, and what they are called."""


def check_settled(read: Read, conflicts: Conflicts, found: Findings) -> None:
    """Every fault of judgments that `Qrels.checked` finds with this rule, as `evaluate` does.

    Where a subtopic tells the judgments of a pair apart, measures of subtopics take them: then it is a warning.
    """
    qrels = read.qrels
    if qrels is None or not qrels.height or read.rag:
        return
    if NEED in qrels.columns and "subtopic" in qrels.columns:
        text = "alternatives (column need) and subtopics do not go together"
        found.fault(read.file, RowFault(0, None, "", text), "needs")
        return
    plain = _refusal(read, qrels.drop("subtopic", strict=False), conflicts)
    if plain is None:
        if conflicts != "error":
            _settled(read, qrels, conflicts, found)
        return
    apart = next((name for name in SUBTOPICS if name in qrels.columns and NEED not in qrels.columns), None)
    refusal = plain
    if apart is not None:
        named = qrels.rename({apart: "subtopic"}) if apart != "subtopic" else qrels
        within = _refusal(read, named, conflicts)
        if within is None:
            _by_subtopic(read, plain, SUBTOPICS[apart], found)
            return
        refusal = within if apart == "subtopic" else plain
    _note(read, refusal, found)


def _refusal(read: Read, qrels: pl.DataFrame, conflicts: Conflicts) -> InputError | None:
    """The error that these judgments make, if any."""
    try:
        Qrels.checked(qrels, source=read.file, conflicts=conflicts)
    except InputError as error:
        return error
    return None


def _note(read: Read, error: InputError, found: Findings) -> None:
    if not isinstance(error, RowsError):
        unreadable(error, read.file, found)
        return
    add(found, read, (_placed(read, "qrels", fault) for fault in error.faults), "", error.total)


def add(found: Findings, read: Read, faults: Iterable[RowFault], code: str, total: int) -> None:
    """Add faults of rows, of which at most `KEPT` of a file are kept and the others counted."""
    kept = 0
    for fault in faults:
        found.fault(read.file, fault, code)
        kept += 1
    if total > kept:
        found.uncounted(read.file, total - kept)


def _placed(read: Read, part: str, fault: RowFault) -> RowFault:
    """The fault with the place in a JSON text in place of its line, where there is one."""
    path = read.path(part, fault.line)
    if not path:
        return fault
    first = fault.expected.removeprefix("but line ").split(" ", 1)
    other = read.path(part, int(first[0])) if first[0].isdigit() else ""
    return replace(fault, path=path, expected=f"but {other} {first[1]}" if other else fault.expected)


def _by_subtopic(read: Read, error: InputError, named: str, found: Findings) -> None:
    rows = error.faults if isinstance(error, RowsError) else []
    total = error.total if isinstance(error, RowsError) else 1
    found.warn(
        "pair-subtopics",
        read.file,
        f"{amount(total, 'pair has', 'pairs have')} different grades under different subtopics ({named}): measures of subtopics "
        "take them, others need a rule",
        total,
        line=rows[0].line if rows else None,
        found=rows[0].found if rows else "",
        examples=[read.line("qrels", one.line) for one in rows[:EXAMPLES]],
    )


def _settled(read: Read, qrels: pl.DataFrame, conflicts: Conflicts, found: Findings) -> None:
    """Warn of the pairs that the rule settles."""
    pair = ["query_id", "doc_id"]
    grades = qrels.group_by(pair, maintain_order=True).agg(
        pl.col("grade").n_unique().alias("grades"), pl.col(ROW).get(1, null_on_oob=True)
    )
    some = grades.filter(pl.col("grades") > 1)
    if some.height:
        found.warn(
            "pair-settled",
            read.file,
            f"{amount(some.height, 'pair is', 'pairs are')} judged more than once with different grades; {conflicts} decides",
            some.height,
            line=some[ROW][0],
            found=f"{some['query_id'][0]} {some['doc_id'][0]}",
            examples=[read.line("qrels", row) for row in some[ROW].head(EXAMPLES).to_list()],
        )


def check_once(
    read: Read, duplicates: str, again: pl.DataFrame, count: int, queries: int, found: Findings
) -> None:
    """Documents that stand twice for a query: faults, or with `first` a warning.

    Parameters
    ----------
    again: query_id, doc_id, row, first: the further rows of pairs, at most `KEPT`, with the row of the first of each.
    count: how many there are in all. queries: in how many.
    """
    if duplicates == "first":
        found.warn(
            "document-dropped",
            read.file,
            f"{amount(count, 'row repeats', 'rows repeat')} a document of the same query "
            f"({amount(queries, 'query', 'queries')}); the better-ranked one counts",
            count,
            line=again[ROW][0],
            found=f"{again['query_id'][0]} {again['doc_id'][0]}",
            examples=[read.line("run", row) for row in again[ROW].head(EXAMPLES).to_list()],
        )
        return
    room = max(0, KEPT - found.faults_of(read.file))
    faults = (
        RowFault(
            row,
            None,
            f"{query} {doc}",
            f"but {read.path('run', first) or f'line {first}'} has the same document for this query",
            read.path("run", row),
        )
        for query, doc, row, first in again.head(room).select("query_id", "doc_id", ROW, "first").iter_rows()
    )
    add(found, read, faults, "document-twice", count)

"""Scores as CSV: one row a summary, or one row a value."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import fields

from leadline.report.json_text import value_rows
from leadline.scores import Scores, Summary

VALUE_COLUMNS = ("system", "measure", "query_id", "value", "state")


def csv_text(scores: Scores, per_query: bool = False) -> str:
    r"""The summaries, or with `per_query` the values, in full precision; an empty field is "no value".

    The columns are always the same: those of `Summary`, or system, measure, query_id, value, state.

    >>> from leadline.scores import Scores
    >>> csv_text(Scores((), (), {}, {}), per_query=True)
    'system,measure,query_id,value,state\n'
    """
    if per_query:
        return _table(VALUE_COLUMNS, (tuple(row.values()) for row in value_rows(scores)))
    names = [field.name for field in fields(Summary)]
    return _table(names, (tuple(getattr(row, name) for name in names) for row in scores.summaries))


def _table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(map(_fields, rows))
    return out.getvalue()


def _fields(row: Sequence[object]) -> list[object]:
    return ["" if isinstance(value, float) and not math.isfinite(value) else value for value in row]

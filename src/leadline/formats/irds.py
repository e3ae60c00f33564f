"""Collections by their name in `ir_datasets`, read through that library: queries, judgments, and the runs it holds."""

import json
from collections.abc import Iterator
from typing import Any

import polars as pl

from leadline.errors import ROW, InputError, MissingExtraError, UsageError, printable
from leadline.formats.tools import IRDS


def irds_frame(path: str, kind: str) -> pl.DataFrame:
    """The rows of one kind (`run`, `judgments`, `queries`) of a collection.

    What the library has not yet on this machine it downloads, as it always does.

    Raises
    ------
    MissingExtraError: the library is not installed. InputError: no such collection, or it cannot be read.
    UsageError: it has nothing of that kind.
    """
    try:
        import ir_datasets
    except ImportError:
        raise MissingExtraError(f"{printable(path)}: reading collections by name", "irds") from None
    name = path.removeprefix(IRDS)
    try:
        dataset: Any = ir_datasets.load(name)
    except KeyError:
        raise InputError(f"{printable(path)}: ir_datasets knows no collection of this name") from None
    has = {"run": "scoreddocs", "judgments": "qrels", "queries": "queries"}[kind]
    if not getattr(dataset, f"has_{has}")():
        parts = [part for part in ("queries", "qrels", "scoreddocs") if getattr(dataset, f"has_{part}")()]
        raise UsageError(
            f"{printable(path)}: no {has} in this collection; it has {', '.join(parts) or 'documents only'}"
        )
    try:
        rows = list({"run": _run, "judgments": _judgments, "queries": _queries}[kind](dataset))
    # The library raises what its parsers and downloads raise.
    except Exception as error:
        raise InputError(
            f"{printable(path)}: ir_datasets cannot read it ({printable(str(error))[:300]})"
        ) from None
    if not rows:
        raise InputError(f"{printable(path)}: no {has} in it")
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_row_index(ROW, offset=1)


def _run(dataset: Any) -> Iterator[dict[str, Any]]:
    for row in dataset.scoreddocs_iter():
        yield {"query_id": row.query_id, "doc_id": row.doc_id, "score": float(row.score)}


def _judgments(dataset: Any) -> Iterator[dict[str, Any]]:
    for row in dataset.qrels_iter():
        if not hasattr(row, "relevance"):
            raise ValueError(f"judgments without a grade: {type(row).__name__}")
        subtopic = getattr(row, "subtopic_id", None) or getattr(row, "iteration", None)
        extra: dict[str, Any] = {} if subtopic is None else {"subtopic": str(subtopic)}
        if getattr(row, "iprob", None) is not None:
            # Of a sampled pool: with which probability the pair came to be judged.
            extra["probability"] = float(row.iprob)
        yield {"query_id": row.query_id, "doc_id": row.doc_id, "grade": float(row.relevance), **extra}


def _queries(dataset: Any) -> Iterator[dict[str, Any]]:
    for row in dataset.queries_iter():
        fields = {
            name: value if isinstance(value, (str, int, float, bool)) else json.dumps(value, default=str)
            for name, value in row._asdict().items()
            # What is no plain value, such as several titles, is kept as JSON.
            if name not in ("query_id", "text") and value is not None
        }
        yield {"query_id": row.query_id, "text": row.default_text(), **fields}

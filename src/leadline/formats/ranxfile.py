"""ranx's files: runs and judgments as JSON (query to document to number) or Parquet (`q_id`, `doc_id`, `score`)."""

from pathlib import Path

import polars as pl

from leadline.errors import InputError, UsageError, printable
from leadline.formats.faults import Faults
from leadline.formats.heldtables import single
from leadline.formats.jsonwalk import Node, counted, tree
from leadline.formats.lists import Graded, Held, Hit
from leadline.formats.source import Source
from leadline.formats.write import atomic_write, write_json

COLUMNS = ("q_id", "doc_id", "score")
PARQUET = (".parquet", ".parq")


def read_ranx(source: Source) -> Held:
    """Every number as a score and as a grade: the file does not say which it is.

    Raises
    ------
    InputError, RowsError: other columns, or a value that is no number.
    """
    if source.head(4) == b"PAR1":
        return _of_parquet(source)
    faults = Faults(source.name)
    hits: list[Hit] = []
    with counted(faults):
        for key, documents in tree(source).fields():
            with counted(faults):
                query = Node(key, documents.path).id("query id")
                for name, value in documents.fields():
                    with counted(faults, f"query {printable(query)!r}"):
                        doc = Node(name, value.path).id("document id")
                        hits.append(Hit(query, doc, _number(value), len(hits) + 1, value.path))
    faults.check()
    return _held(hits, source.name)


def _number(value: Node) -> float:
    # ranx writes numbers as numbers.
    if isinstance(value.value, str):
        raise value.wrong("a number")
    return value.number("score or grade")


def _of_parquet(source: Source) -> Held:
    from leadline.formats.rows import read_parquet

    frame = read_parquet(source)
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise InputError(
            f"{printable(source.name)}: no column {missing[0]}; ranx writes {', '.join(COLUMNS)}"
        )
    from leadline.checks import with_ids, with_numbers

    named = frame.select(pl.col("q_id").alias("query_id"), "doc_id", "score")
    named = with_numbers(with_ids(named, ("query_id", "doc_id"), source.name), "score", source.name)
    return _held(
        [Hit(query, doc, score, n) for n, (query, doc, score) in enumerate(named.iter_rows(), 1)], source.name
    )


def _held(hits: list[Hit], source: str) -> Held:
    if not hits:
        raise InputError(f"{printable(source)}: no rows in it")
    graded = tuple(Graded(one.query, one.doc_id, one.score, line=one.line, path=one.path) for one in hits)
    return Held("id", graded, tuple(hits), source=source)


def write_ranx(held: Held, path: str | Path) -> None:
    """Judgments where there are some, else a run; Parquet where the name ends in `.parquet`, else JSON.

    Raises
    ------
    InputError: grades with a fraction, which ranx cuts off, a pair twice, or infinite scores in JSON. UsageError: nothing
    to write.
    """
    found: dict[str, dict[str, float]] = {}
    if held.graded:
        told = single(held, path, "ranx").items()
        found = {query: grades for query, grades in told if grades}
        whole = {query: {doc: int(grade) for doc, grade in grades.items()} for query, grades in found.items()}
        _write(whole, path)
        return
    for hit in held.hits:
        mine = found.setdefault(hit.query, {})
        if hit.doc_id in mine:
            raise InputError(
                f"{printable(str(path))}: document {printable(hit.doc_id)!r} stands twice for query "
                f"{printable(hit.query)!r}, and once in a map"
            )
        mine[hit.doc_id] = hit.score
    if not found:
        raise UsageError(f"{printable(str(path))}: nothing to write")
    _write(found, path)


def _write(found: "dict[str, dict[str, int]] | dict[str, dict[str, float]]", path: str | Path) -> None:
    if Path(path).suffix not in PARQUET:
        write_json(found, path)
        return
    rows = [(query, doc, value) for query, documents in found.items() for doc, value in documents.items()]
    whole = all(isinstance(value, int) for _, _, value in rows)
    schema = {"q_id": pl.String, "doc_id": pl.String, "score": pl.Int64 if whole else pl.Float64}
    with atomic_write(path) as temporary:
        pl.DataFrame(rows, schema=schema, orient="row").write_parquet(temporary)

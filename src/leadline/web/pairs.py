"""The pairs that are to be judged, from a to-judge file: query, document, and where the systems ranked it."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from leadline.errors import InputError, UsageError, printable
from leadline.formats.faults import Faults, WrongValue, found_text, id_text
from leadline.formats.jsontext import decode, lines_of, objects
from leadline.formats.source import Source

NEEDS = ("need", "information_need", "narrative", "description")
"""The columns of a queries file that say what the person wants, the first that is there."""


@dataclass(frozen=True)
class Query:
    """A query as people see it: its text, what the person wants by it, and its other fields."""

    query_id: str
    text: str
    need: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Pair:
    """One query and one document to judge.

    Attributes
    ----------
    name: the opaque name that pages know it by. place: its place in the file, from 0.
    ranks: of each system that returned it, the rank; hidden until the pair is judged.
    probability, stratum: of a sampled pool; they go into the judgment.
    """

    query_id: str
    doc_id: str
    name: str
    place: int
    ranks: Mapping[str, int]
    probability: float | None = None
    stratum: str | None = None


def pair_name(query_id: str, doc_id: str) -> str:
    """The opaque name of a pair; the same in every run of the server, so that a page survives a restart.

    >>> pair_name("q1", "d1") == pair_name("q1", "d1") != pair_name("q1d", "1")
    True
    """
    return hashlib.sha256(f"{len(query_id)}\n{query_id}\n{doc_id}".encode()).hexdigest()[:20]


def read_pairs(path: str | Path) -> tuple[list[Pair], dict[str, Query]]:
    """The pairs of a to-judge file, in its order, and the texts of queries as far as its rows carry them.

    A pair that stands twice is taken once, with the ranks of both rows.

    Raises
    ------
    InputError: no such file, no rows, or rows without query_id and doc_id.
    """
    source = Source.open(path)
    faults = Faults(source.name, "a to-judge file is JSONL with query_id, doc_id and ranks")
    found: dict[str, Pair] = {}
    queries: dict[str, Query] = {}
    for line, row in objects(lines_of(decode(source.read_all(), source.name)), faults):
        try:
            pair = _pair(row, len(found))
        except WrongValue as error:
            faults.add(line, None, error.found, error.expected)
            continue
        before = found.get(pair.name)
        if before is not None:
            ranks = dict(before.ranks) | dict(pair.ranks)
            pair = Pair(
                pair.query_id, pair.doc_id, pair.name, before.place, ranks, before.probability, before.stratum
            )
        found[pair.name] = pair
        query = row.get("query")
        if isinstance(query, str) and query and pair.query_id not in queries:
            queries[pair.query_id] = Query(pair.query_id, query, _need(row))
    faults.check()
    if not found:
        raise InputError(f"{printable(source.name)}: no pairs to judge in it")
    return list(found.values()), queries


def _pair(row: Mapping[str, Any], place: int) -> Pair:
    ids = [id_text(row.get(name), name) for name in ("query_id", "doc_id")]
    ranks = row.get("ranks") or {}
    if not isinstance(ranks, dict) or not all(
        isinstance(rank, int) and not isinstance(rank, bool) and rank > 0 for rank in ranks.values()
    ):
        raise WrongValue(found_text(ranks), "ranks maps each system to a rank from 1")
    probability, stratum = row.get("probability"), row.get("stratum")
    if probability is not None and (
        isinstance(probability, bool)
        or not isinstance(probability, (int, float))
        or not math.isfinite(probability)
        or not 0 < probability <= 1
    ):
        raise WrongValue(found_text(probability), "probability is above 0 and at most 1")
    return Pair(
        ids[0],
        ids[1],
        pair_name(ids[0], ids[1]),
        place,
        ranks,
        None if probability is None else float(probability),
        None if stratum is None else str(stratum),
    )


def _need(row: Mapping[str, Any]) -> str | None:
    return next((str(row[name]) for name in NEEDS if row.get(name)), None)


def read_query_texts(path: str | Path) -> dict[str, Query]:
    """Every query of a file of queries, in any of the formats; its need is the first of `NEEDS` that it has.

    Raises
    ------
    InputError: no such file, or wrong rows.
    """
    from leadline.formats.read import read_queries

    frame = read_queries(path).frame
    found = {}
    for row in frame.iter_rows(named=True):
        rest = {
            name: str(value)
            for name, value in row.items()
            if name not in ("query_id", "text", "row", *NEEDS) and value is not None
        }
        text = row.get("text") or row["query_id"]
        found[row["query_id"]] = Query(row["query_id"], str(text), _need(row), rest)
    return found


def ranks_of_runs(
    runs: Sequence[str], queries: Iterable[str], depth: int = 100, questions: str | Path | None = None
) -> dict[str, dict[str, dict[str, int]]]:
    """Of each system, of each of the queries, the first `depth` documents with their ranks.

    `questions` is the file of queries, by whose texts runs are met that name their queries by text.

    Raises
    ------
    InputError: a run that cannot be read or is wrong. UsageError: two systems of one name.

    Returns
    -------
    {system: {query_id: {doc_id: rank}}}
    """
    from leadline.conventions import Conventions
    from leadline.door import name_and_path
    from leadline.formats.read import read_queries, read_run
    from leadline.hits import Judged
    from leadline.ranking import head
    from leadline.tables import Qrels

    ids = sorted(set(queries))
    frame = pl.DataFrame({"query_id": ids, "doc_id": ["-"] * len(ids), "grade": [0.0] * len(ids)})
    # The ranking is asked of the judged queries; here every query counts, and no grade is read.
    judged = Judged.of(Qrels.checked(frame))
    found: dict[str, dict[str, dict[str, int]]] = {}
    asked = None if questions is None or not runs else read_queries(questions)
    for given in runs:
        name, path = name_and_path(None, given)
        run = read_run(path, name=name, queries=asked)
        if run.name in found:
            raise UsageError(f"two runs are named {printable(run.name)}; name them NAME=PATH")
        ranks: dict[str, dict[str, int]] = {}
        for query, doc_id, rank in (
            head(run, judged, Conventions(), depth).select("query", "doc_id", "rank").iter_rows()
        ):
            ranks.setdefault(judged.query_ids[query], {})[doc_id] = rank
        found[run.name] = ranks
    return found

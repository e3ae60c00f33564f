"""Made runs and judgments of any size, the same at every call."""

from pathlib import Path

import numpy as np
import polars as pl

DOCUMENTS = 1000
JUDGED_RETURNED, JUDGED_OTHERS = 8, 4
"""Judged documents a query: some that the run returned, some that it did not."""


def collection(folder: Path, queries: int, shuffled: bool = False) -> tuple[Path, Path]:
    """A TREC run of `queries` × 1,000 documents with its judgments, made once; (run, qrels).

    In order means trec_eval's order: score descending, equal scores by document id descending. Scores have six
    decimals, document ids seven digits, as in MS MARCO.
    """
    folder.mkdir(parents=True, exist_ok=True)
    run, qrels = folder / f"{queries}.run", folder / f"{queries}.qrels"
    if not run.exists():
        _write(run, qrels, queries)
    if not shuffled:
        return run, qrels
    mixed = folder / f"{queries}-shuffled.run"
    if not mixed.exists():
        lines = run.read_bytes().splitlines(keepends=True)
        order = np.random.default_rng(7).permutation(len(lines))
        mixed.write_bytes(b"".join(lines[i] for i in order.tolist()))
    return mixed, qrels


def _write(run: Path, qrels: Path, queries: int) -> None:
    rng = np.random.default_rng(1)
    ids = rng.choice(9_000_000, queries, replace=False) + 1_000_000
    with run.open("wb") as rows, qrels.open("wb") as judged:
        for start in range(0, queries, 500):
            part = ids[start : start + 500]
            # A random start and an odd step give each query a thousand different documents.
            docs = (
                rng.integers(0, 8_000_000, (len(part), 1)) + np.arange(DOCUMENTS) * 7919
            ) % 8_000_000 + 1_000_000
            frame = pl.DataFrame(
                {
                    "query": np.repeat(part, DOCUMENTS).astype(str),
                    "q0": "Q0",
                    "doc": docs.ravel().astype(str),
                    "rank": np.tile(np.arange(1, DOCUMENTS + 1), len(part)),
                    "score": np.round(
                        -np.sort(-rng.normal(20, 5, (len(part), DOCUMENTS)), axis=1).ravel(), 6
                    ),
                    "tag": "made",
                }
            )
            order = pl.DataFrame({"part": np.repeat(np.arange(len(part)), DOCUMENTS)}).hstack(frame)
            frame = order.sort(["part", "score", "doc"], descending=[False, True, True]).drop("part")
            frame = frame.with_columns(pl.Series("rank", np.tile(np.arange(1, DOCUMENTS + 1), len(part))))
            frame.write_csv(rows, include_header=False, separator=" ", float_precision=6)
            at = np.argsort(rng.random((len(part), DOCUMENTS)), axis=1)[:, :JUDGED_RETURNED]
            found = np.take_along_axis(frame["doc"].to_numpy().reshape(len(part), DOCUMENTS), at, axis=1)
            others = rng.integers(20_000_000, 30_000_000, (len(part), JUDGED_OTHERS)).astype(str)
            both = np.concatenate([found.astype(str), others], axis=1)
            table = pl.DataFrame(
                {
                    "query": np.repeat(part, both.shape[1]).astype(str),
                    "iteration": "0",
                    "doc": both.ravel(),
                    "grade": rng.integers(0, 4, both.size),
                }
            ).unique(["query", "doc"], maintain_order=True)
            table.write_csv(judged, include_header=False, separator=" ")

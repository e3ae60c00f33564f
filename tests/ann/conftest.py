"""Small collections of vectors, as files and in memory."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from leadline.ann.vectors import Vectors, checked_vectors

with suppress(ImportError):
    # Before usearch, as in leadline.ann.libraries: after it, faiss ends the process.
    import faiss  # noqa: F401


def clusters(rows: int, dimensions: int, seed: int) -> np.ndarray:
    """Vectors in loose groups, as embeddings are."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((20, dimensions))
    made = centres[rng.integers(20, size=rows)] + 0.5 * rng.standard_normal((rows, dimensions))
    return made.astype(np.float32)


@pytest.fixture(scope="session")
def documents() -> Vectors:
    data = clusters(1500, 16, 1)
    return checked_vectors("docs", data, [f"d{row}" for row in range(len(data))])


@pytest.fixture(scope="session")
def queries() -> Vectors:
    data = clusters(60, 16, 2)
    return checked_vectors("queries", data, [f"q{row}" for row in range(len(data))])


@pytest.fixture(scope="session")
def files(documents: Vectors, queries: Vectors, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with docs.npy, docs.txt, queries.npy and queries.txt."""
    folder = tmp_path_factory.mktemp("vectors")
    for name, vectors in (("docs", documents), ("queries", queries)):
        np.save(folder / f"{name}.npy", vectors.data)
        (folder / f"{name}.txt").write_text("\n".join(vectors.ids or []) + "\n")
    return folder


def brute_distances(queries: np.ndarray, documents: np.ndarray, metric: str) -> np.ndarray:
    """All distances in 64-bit, the plain way."""
    q, x = queries.astype(np.float64), documents.astype(np.float64)
    if metric == "l2":
        return ((q[:, None] - x[None]) ** 2).sum(axis=2)
    if metric == "ip":
        return -(q @ x.T)
    with np.errstate(all="ignore"):
        return 1 - (q @ x.T) / (np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(x, axis=1))

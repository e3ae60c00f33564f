"""From evidence to judged chunks: the grade of each chunk, by how much of the evidence it covers."""

import numpy as np

from leadline.errors import UsageError
from leadline.ids import of_texts
from leadline.passages.spans import overlapping
from leadline.passages.tables import Chunks, Evidence, Line
from leadline.tables import Qrels, Rows

SHARE = 0.5
"""How much of a piece of evidence a chunk must cover to have its grade."""


def chunk_grades(chunks: Chunks, evidence: Evidence, share: float = SHARE) -> Qrels:
    """Judgments of chunks: each takes the highest grade of the evidence of which it covers at least `share`.

    A chunk that holds less of some evidence is judged 0. A query whose evidence no chunk touches (its document was not
    chunked) stands there with one chunk judged 0, so that it is not lost: it has no relevant chunk.

    Raises
    ------
    UsageError: a share outside (0, 1].

    >>> from leadline.passages.spans import as_spans
    >>> from leadline.passages.tables import EvidenceRow
    >>> chunks = Chunks.of(["a", "b"], ["d", "d"], as_spans([(0, 100), (100, 200)]))
    >>> chunk_grades(chunks, Evidence.of([EvidenceRow("q", "d", 90, 104, grade=2)])).frame.rows()
    [('q', 'a', 2.0), ('q', 'b', 0.0)]
    """
    if not 0 < share <= 1:
        raise UsageError(f"share {share:g} is not above 0 and at most 1")
    names = [row.document_id for row in evidence.rows]
    line = Line.of((names, evidence.spans), (chunks.document_ids, chunks.spans))
    pieces = line.laid(names, evidence.spans)
    places = line.laid(chunks.document_ids, chunks.spans)
    row, chunk = overlapping(pieces, places)
    held = np.minimum(pieces[row, 1], places[chunk, 1]) - np.maximum(pieces[row, 0], places[chunk, 0])
    enough = held >= share * (pieces[row, 1] - pieces[row, 0]) - 1e-9
    grade = np.where(enough, np.maximum(evidence.grade[row], 0.0), 0.0)
    query = evidence.query[row]
    silent = np.setdiff1d(np.arange(len(evidence.query_ids)), query)
    query = np.concatenate((query, silent))
    chunk = np.concatenate((chunk, np.zeros(len(silent), np.int64)))
    grade = np.concatenate((grade, np.zeros(len(silent))))
    # The best grade of a pair comes first, and the others of that pair are dropped.
    order = np.lexsort((-grade, chunk, query))
    query, chunk, grade = query[order], chunk[order], grade[order]
    first = np.ones(len(query), bool)
    first[1:] = (query[1:] != query[:-1]) | (chunk[1:] != chunk[:-1])
    query, chunk, grade = query[first], chunk[first], grade[first]
    query_ids = of_texts(evidence.query_ids)[query]
    chunk_ids = of_texts([chunks.chunk_ids[at] for at in chunk.tolist()])
    source = f"{evidence.source} on {chunks.source}"
    return Qrels.checked(Rows(query_ids, chunk_ids, grade), source=source)


def covered_shares(chunks: Chunks, evidence: Evidence) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Of each piece of evidence, the largest share that one chunk holds, shape (rows,): what a chunking cuts apart.

    >>> from leadline.passages.spans import as_spans
    >>> from leadline.passages.tables import EvidenceRow
    >>> chunks = Chunks.of(["a", "b"], ["d", "d"], as_spans([(0, 100), (100, 200)]))
    >>> covered_shares(chunks, Evidence.of([EvidenceRow("q", "d", 90, 110)])).tolist()
    [0.5]
    """
    names = [row.document_id for row in evidence.rows]
    line = Line.of((names, evidence.spans), (chunks.document_ids, chunks.spans))
    pieces, places = line.laid(names, evidence.spans), line.laid(chunks.document_ids, chunks.spans)
    row, chunk = overlapping(pieces, places)
    held = np.minimum(pieces[row, 1], places[chunk, 1]) - np.maximum(pieces[row, 0], places[chunk, 0])
    best = np.zeros(len(pieces))
    np.maximum.at(best, row, held / (pieces[row, 1] - pieces[row, 0]))
    return best

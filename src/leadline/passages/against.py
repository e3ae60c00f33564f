"""What was retrieved, as ranges of text against the ranges of evidence: what the evidence measures read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leadline.errors import InputError, UsageError, amount, printable
from leadline.passages.grades import SHARE, chunk_grades, covered_shares
from leadline.passages.spans import Ints, Spans, intersection, length, union
from leadline.passages.tables import Chunks, Documents, Evidence, Line
from leadline.tables import Qrels

if TYPE_CHECKING:
    import polars as pl

    from leadline.hits import Judged

Floats = npt.NDArray[np.float64]

WITHOUT_SPACES = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
TOKEN = re.compile(rf"[{WITHOUT_SPACES}]|(?:(?![{WITHOUT_SPACES}])\w)+|[^\w\s]")
"""A token: a run of letters and digits, one sign, or one character of a script that puts no spaces between words."""


def token_starts(text: str) -> list[int]:
    """Where each token of a text begins.

    >>> token_starts("It isn't 4.5")
    [0, 3, 6, 7, 9, 10, 11]
    """
    return [match.start() for match in TOKEN.finditer(text)]


@dataclass(frozen=True)
class Retrieved:
    """The ranges that one run returned and the ranges of evidence, of all queries, on one line.

    Each query has a stretch of the line of its own, `stride` long, on which all documents lie one after another: so a
    union of ranges is taken of all queries at once.

    Attributes
    ----------
    queries: how many there are. stride: length of each query's stretch.
    rank, spans: of each returned chunk. grade, pieces: of each piece of evidence.
    tokens: where the tokens of all documents begin on the line, sorted; None where the documents are not at hand.
    """

    queries: int
    stride: int
    rank: Ints
    spans: Spans
    grade: Floats
    pieces: Spans
    tokens: Ints | None = field(default=None, repr=False)

    def amounts(self, cutoff: int, rel: float, weight: str) -> tuple[Floats, Floats, Floats]:
        """Of each query, how much evidence there is, how much text was returned, and how much of it is evidence.

        Returns
        -------
        (evidence, returned, both), each of shape (queries,), in characters or in tokens.
        """
        evidence = union(self.pieces[self.grade >= rel])
        returned = union(self.spans[self.rank <= cutoff])
        return (
            self._measured(evidence, weight),
            self._measured(returned, weight),
            self._measured(intersection(evidence, returned), weight),
        )

    def _measured(self, spans: Spans, weight: str) -> Floats:
        """How much of each query's stretch a union holds; a token counts where its first character stands."""
        query = spans[:, 0] // self.stride
        if weight == "characters":
            size = spans[:, 1] - spans[:, 0]
        elif self.tokens is None:
            raise UsageError("weight=tokens counts the tokens of the documents: give --documents D")
        else:
            low = spans[:, 0] - query * self.stride
            size = np.searchsorted(self.tokens, low + spans[:, 1] - spans[:, 0]) - np.searchsorted(
                self.tokens, low
            )
        return np.bincount(query, size, minlength=self.queries).astype(np.float64)


@dataclass(frozen=True)
class Passages:
    """Evidence, and the chunks of each system: what turns runs of chunks into something that can be measured.

    Attributes
    ----------
    evidence: of all queries. chunks: of each system, by its name; systems may share them or have their own.
    documents: the texts, where they are given. share: see `chunk_grades`.
    """

    evidence: Evidence
    chunks: Mapping[str, Chunks]
    documents: Documents | None = field(default=None, repr=False)
    share: float = SHARE

    @cached_property
    def _qrels(self) -> dict[int, Qrels]:
        tables = {id(one): one for one in self.chunks.values()}
        return {key: chunk_grades(one, self.evidence, self.share) for key, one in tables.items()}

    def qrels(self, system: str) -> Qrels:
        """The judgments of a system's chunks, made from the evidence."""
        return self._qrels[id(self.chunks[system])]

    def account(self) -> dict[str, Any]:
        """The evidence in numbers, and of each system how many chunks it has and how much evidence they hold whole.

        `enough` counts the pieces of which some chunk holds the share that gives it their grade.
        """
        chunks = {}
        for system, table in self.chunks.items():
            held = covered_shares(table, self.evidence)
            enough = int((held >= self.share - 1e-9).sum())
            chunks[system] = {"chunks": len(table), "whole": int((held == 1).sum()), "enough": enough}
        names = [row.document_id for row in self.evidence.rows]
        return {
            "queries": len(self.evidence.query_ids),
            "pieces": len(self.evidence.rows),
            "characters": length(union(self.line.laid(names, self.evidence.spans))),
            "share": self.share,
            "chunks": chunks,
        }

    def remarks(self, account: Mapping[str, Any]) -> list[str]:
        """What to know of the chunks before believing the numbers, in plain words."""
        said = []
        for system, row in account["chunks"].items():
            cut = account["pieces"] - row["enough"]
            said += [f"{printable(system)}: {note}" for note in self.chunks[system].notes]
            if cut:
                much = f"no chunk holds {self.share:.0%} of {amount(cut, 'piece')} of evidence"
                said.append(
                    f"{printable(system)}: {much} ({account['pieces']} in all), which gives no chunk a grade"
                )
        return said

    @cached_property
    def line(self) -> Line:
        """All documents that evidence or chunks name, on one line."""
        names = [row.document_id for row in self.evidence.rows]
        tables: list[tuple[Sequence[str], Spans]] = [(names, self.evidence.spans)]
        tables += [(one.document_ids, one.spans) for one in {id(c): c for c in self.chunks.values()}.values()]
        return Line.of(*tables)

    @cached_property
    def tokens(self) -> Ints | None:
        """Where the tokens of all documents begin on the line; None without documents."""
        if self.documents is None:
            return None
        missing = [name for name in self.line.base if name not in self.documents]
        if missing:
            what = amount(len(missing), "document")
            raise InputError(f"{what} of evidence or chunks not among the documents: {printable(missing[0])}")
        parts = [
            np.array(token_starts(self.documents[name]), np.int64) + base
            for name, base in self.line.base.items()
        ]
        return np.concatenate(parts)

    def retrieved(
        self, system: str, head: "pl.DataFrame", judged: "Judged", *, with_tokens: bool = False
    ) -> Retrieved:
        """What a system returned, from the Head of its run.

        Raises
        ------
        InputError: the run names chunks that its chunks file does not have.
        """
        chunks, evidence = self.chunks[system], self.evidence
        rows = chunks.rows_of(head["doc_id"].to_list(), system)
        stride = self.line.end + 1
        places = self.line.laid([chunks.document_ids[row] for row in rows.tolist()], chunks.spans[rows])
        lane = head["query"].to_numpy().astype(np.int64) * stride
        names = [row.document_id for row in evidence.rows]
        code = {query_id: index for index, query_id in enumerate(judged.query_ids)}
        own = np.array([code[row.query_id] for row in evidence.rows], np.int64) * stride
        return Retrieved(
            judged.queries,
            stride,
            head["rank"].to_numpy().astype(np.int64),
            places + lane[:, None],
            evidence.grade,
            self.line.laid(names, evidence.spans) + own[:, None],
            self.tokens if with_tokens else None,
        )

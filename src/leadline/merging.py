"""Several ids that count as one: a run's chunks collapsed into their documents, alternatives into the need they meet.

`Merged` is a run like any other, so that everything that reads runs sees documents and needs; a run that nothing is
merged in is not wrapped, and loses no time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Literal, Protocol

import numpy as np

from leadline.around import Around
from leadline.blocks import buckets, in_parallel
from leadline.conventions import Conventions
from leadline.errors import SHOWN_ROWS, InputError, RowFault, RowsError, UsageError, printable
from leadline.hits import Flags, Floats, Ints, Pairs, pair_keys
from leadline.ids import Ids, distinct, heads, of_texts, texts
from leadline.ranking import Places, duplicates_error, file_or_name, repeated
from leadline.tables import Block, Conflicts, Qrels, Rows, RunSource

How = Literal["first", "max", "sum"]
"""What a document's place follows from: the place of its best chunk, the largest score, or the sum of scores."""


class Step(Protocol):
    """One way of giving ids another name."""

    @property
    def how(self) -> How:
        """Which place the rows that get one id have together."""
        ...

    @property
    def counted(self) -> str:
        """Under which name the rows that went are counted."""
        ...

    def renamed(self, names: Sequence[str], group: Ints, documents: Ids) -> tuple[Ids, Flags]:
        """The new id of each row, and whether it has none and stays as it is; `names[group]` are the queries."""
        ...


@dataclass(frozen=True)
class Collapse:
    """From chunks to documents: by a mapping of ids, or by what stands before the last separator.

    Attributes
    ----------
    how: first, max or sum. separator: such as `#`; None where there is a mapping. mapping: chunk id → document id.
    counted: the name the rows that went are counted under.

    >>> step = Collapse("max", separator="#")
    >>> ids, alone = step.renamed(["q"], np.zeros(2, np.int64), of_texts(["a#b#7", "whole"]))
    >>> texts(ids), alone.tolist()
    (['a#b', 'whole'], [False, True])
    """

    how: How
    separator: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    counted: str = "collapsed"

    def renamed(self, names: Sequence[str], group: Ints, documents: Ids) -> tuple[Ids, Flags]:
        """The document of each chunk; see `Step`."""
        chunks, place = distinct(documents)
        found = [self._document(chunk) for chunk in chunks]
        alone = np.array([one is None for one in found], bool)
        whole = [chunk if one is None else one for chunk, one in zip(chunks, found, strict=True)]
        return of_texts(whole)[place], alone[place]

    def _document(self, chunk: str) -> str | None:
        """The document of a chunk; None where its id does not say. An empty id is none."""
        if self.separator is None:
            return self.mapping.get(chunk)
        return chunk.rpartition(self.separator)[0] or None

    def what_lacks(self) -> str:
        """What an id that has no document lacks, for messages."""
        if self.separator is None:
            return "no document in the mapping"
        return f"no document before a separator {printable(self.separator)!r}"


@dataclass(frozen=True)
class Alternatives:
    """From any of the documents that meet one need to the first of them, by query.

    >>> step = Alternatives({"q": {"b": "a"}})
    >>> texts(step.renamed(["q", "r"], np.array([0, 1]), of_texts(["b", "b"]))[0])
    ['a', 'b']
    """

    first_of: Mapping[str, Mapping[str, str]]
    how: How = "max"
    counted: str = "alternatives"

    @cached_property
    def _pairs(self) -> tuple[dict[str, int], Pairs, list[str]]:
        """The queries by number, the pairs to be renamed, and the new id of each."""
        rows = [
            (index, own, first)
            for index, known in enumerate(self.first_of.values())
            for own, first in known.items()
        ]
        query = np.array([row[0] for row in rows], np.int64)
        pairs = Pairs.of(query, of_texts([row[1] for row in rows]), np.zeros(len(rows)))
        return {name: index for index, name in enumerate(self.first_of)}, pairs, [row[2] for row in rows]

    def renamed(self, names: Sequence[str], group: Ints, documents: Ids) -> tuple[Ids, Flags]:
        """The first document of each row's need; see `Step`."""
        number, pairs, first = self._pairs
        beyond = len(number) + np.arange(len(names))
        query = np.array([number.get(name, beyond[at]) for at, name in enumerate(names)], np.int64)
        rows, _, pair = pairs.find(pair_keys(query, group, documents, pairs.seed), query, group, documents)
        none = np.zeros(len(group), bool)
        if not len(rows):
            return documents, none
        new = documents.astype(object)
        new[rows] = np.array([one.encode() for one in first], object)[pair]
        return of_texts([one.decode() for one in new.tolist()]), none


@dataclass(frozen=True)
class Merged(Around):
    """A run in which several ids count as one, by one step after another.

    Each query's rows are put in order, repeated documents refused (or dropped and counted, with
    `duplicates="first"`), renamed, and of the rows of one new id the best-ranked kept. By `first` documents stand in
    the order of their best chunks, and their scores are minus their places; by `max` and `sum` they are ranked anew.
    `keep` leaves ids that have no document as they are, and counts them; else they are an error.
    """

    run: RunSource
    steps: tuple[Step, ...]
    rules: Conventions
    keep: bool = False
    _seen: dict[int, dict[str, int]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, run: RunSource, steps: Sequence[Step], rules: Conventions) -> RunSource:
        """The run with some steps taken; the run itself where there are none.

        Raises
        ------
        UsageError: scores are to be summed, and the run has places only.

        >>> import polars as pl
        >>> from leadline.tables import Run
        >>> rows = {"query_id": ["q"] * 3, "doc_id": ["a#1", "b#1", "a#2"], "score": [3.0, 2.0, 1.0]}
        >>> run = Merged.of(Run.checked(pl.DataFrame(rows)), [Collapse("sum", "#")], Conventions())
        >>> next(run.blocks()).load().rows(), run.told["collapsed"]
        ([('q', 'a', 4.0), ('q', 'b', 2.0)], 1)
        """
        if not steps:
            return run
        scoreless = rules.order != "score" or getattr(run, "scoreless", False)
        if scoreless and any(step.how == "sum" for step in steps):
            raise UsageError(
                f"{printable(run.name)}: --collapse sum adds up scores, and here there are places only; "
                "first or max takes the best chunk's"
            )
        return cls(run, tuple(steps), rules, rules.collapse_unmatched == "keep")

    @property
    def told(self) -> dict[str, int]:
        """What was merged so far, after what reading told; the rows before anything was merged are `rows`."""
        total = dict(super().told)
        for seen in self._seen.values():
            for key, count in seen.items():
                total[key] = total.get(key, 0) + count
        return total

    def blocks(self) -> Iterator[Block]:
        """The merged rows, each block of whole queries.

        Raises
        ------
        RowsError: wrong rows, or ids without a document (all counted); on load, repeated documents, or scores whose
            sum is no number.
        """
        if self._whole:
            for at, block in enumerate(self.run.blocks()):
                yield Block(partial(self._of_block, at, block), list, block.size)
            return
        for at, (group, score, documents, names) in enumerate(buckets(self.run)):
            yield Block(
                partial(self._merged, at, names, group.astype(np.int64), score, documents, None), list
            )

    @cached_property
    def _whole(self) -> bool:
        """Whether no block splits a query. The run is read for that once, and ids without a document are found."""
        seen: set[str] = set()
        whole = True
        for names in in_parallel(self.run.blocks(), self._looked_at):
            whole = whole and len(set(names)) == len(names) and seen.isdisjoint(names)
            seen.update(names)
        return whole

    def _looked_at(self, block: Block) -> list[str]:
        """The queries of a block where each begins.

        Raises
        ------
        RowsError: ids without a document, unless they are kept.
        """
        rows = block.rows()
        first = heads(rows.query_id)
        step = self.steps[0]
        if isinstance(step, Collapse) and step.counted == "collapsed" and not self.keep:
            alone = step.renamed([], np.zeros(0, np.int64), rows.doc_id)[1]
            if alone.any():
                at = np.flatnonzero(alone)
                lines, ids = block.lines(), texts(rows.doc_id[at[:SHOWN_ROWS]])
                path = dict(enumerate(self.paths, start=1))
                shown = [
                    RowFault(lines[i], None, own, step.what_lacks(), path.get(lines[i], ""))
                    for i, own in zip(at.tolist(), ids, strict=False)
                ]
                advice = "--collapse-unmatched keep counts them, as documents of their own"
                raise RowsError(file_or_name(self.run), shown, len(at), advice)
        return texts(rows.query_id[first])

    def _of_block(self, at: int, block: Block) -> Rows:
        rows = block.rows()
        first = heads(rows.query_id)
        group = np.repeat(np.arange(len(first), dtype=np.int64), np.diff(first, append=len(rows.query_id)))
        return self._merged(at, texts(rows.query_id[first]), group, rows.number, rows.doc_id, block)

    def _merged(
        self, at: int, names: list[str], group: Ints, score: Floats, documents: Ids, block: Block | None
    ) -> Rows:
        """The merged rows of some whole queries; `names[group]` are the queries."""
        if self.rules.score_width == 32:
            score = score.astype(np.float32).astype(np.float64)
        seen = {"rows": len(group), "duplicates_dropped": 0, "uncollapsed": 0}
        group, score, documents = _ordered(group, score, documents, len(names))
        keys = pair_keys(np.arange(len(names)), group, documents, 0)
        again = repeated(keys, group, documents, Places.of(group, score, documents, len(names)))
        if len(again):
            pairs = [(names[group[i]], documents[i].decode()) for i in again]
            if self.rules.duplicates == "error":
                raise duplicates_error(self.run if block is None else _Only(self.run, block), pairs)
            kept = np.ones(len(group), bool)
            kept[again] = False
            group, score, documents = group[kept], score[kept], documents[kept]
            seen["duplicates_dropped"] = len(again)
        for step in self.steps:
            documents, alone = step.renamed(names, group, documents)
            if step.counted == "collapsed":
                seen["uncollapsed"] += int(alone.sum())
            before = len(group)
            group, score, documents = self._taken(step.how, names, group, score, documents)
            seen[step.counted] = before - len(group)
        self._seen[at] = seen
        return Rows(of_texts(names)[group], documents, score)

    def _taken(
        self, how: How, names: list[str], group: Ints, score: Floats, documents: Ids
    ) -> tuple[Ints, Floats, Ids]:
        """One row of each query and id, from rows in order: in order again."""
        ids, code = distinct(documents)
        _, first, place = np.unique(group * len(ids) + code, return_index=True, return_inverse=True)
        # A row's turn among those kept: the order of the best rows.
        kept = np.sort(first)
        total = score[kept]
        if how == "sum":
            # Added from the best chunk on, so that the order of the file cannot change a sum.
            turn: Ints = np.searchsorted(kept, first)  # type: ignore[assignment]
            total = np.bincount(turn[place], score)
            wrong = np.flatnonzero(np.isnan(total))
            if len(wrong):
                row = kept[wrong[0]]
                pair = f"query {printable(names[group[row]])}, document {printable(documents[row].decode())}"
                raise InputError(f"{printable(file_or_name(self.run))}: {pair}: inf and -inf have no sum")
        group, documents = group[kept], documents[kept]
        if how == "first":
            start = np.searchsorted(group, group)
            total = -(np.arange(len(group)) - start + 1.0)
        elif how == "sum":
            group, total, documents = _ordered(group, total, documents, len(names))
        return group, total, documents


def steps_of(
    rules: Conventions,
    mapping: Mapping[str, str] | None,
    qrels: Qrels | None,
    copies: Mapping[str, str] | None = None,
) -> list[Step]:
    """What is merged in every run: chunks into documents, copies of a text, and the alternatives of the judgments.

    Raises
    ------
    UsageError: nothing says which document a chunk is of, or two things do.
    """
    steps: list[Step] = []
    if rules.collapse is not None:
        if (rules.collapse_separator is None) == (mapping is None):
            raise UsageError(
                "--collapse: which document is a chunk of? One of --collapse-separator '#' (what stands before the "
                "last one of these in its id) and --collapse-mapping FILE (rows with chunk_id and document_id)"
            )
        steps.append(Collapse(rules.collapse, rules.collapse_separator, mapping or {}))
    if copies:
        steps.append(Collapse("max", mapping=copies, counted="copies"))
    return [*steps, Alternatives(qrels.alternatives)] if qrels is not None and qrels.alternatives else steps


def with_alternatives(run: RunSource, qrels: Qrels, rules: Conventions) -> RunSource:
    """A run whose ids are documents already, with the alternatives of the judgments as one."""
    return Merged.of(run, [Alternatives(qrels.alternatives)] if qrels.alternatives else [], rules)


def copies_as_one(qrels: Qrels, copies: Mapping[str, str], conflicts: Conflicts = "error") -> Qrels:
    """The judgments with every copy of a text under the id of the first.

    Raises
    ------
    RowsError: copies with different grades, unless `conflicts` names a rule.
    """
    import polars as pl

    frame = qrels.frame.with_columns(pl.col("doc_id").replace(dict(copies)))
    again = Qrels.checked(frame, source=qrels.source, conflicts=conflicts)
    renamed = {
        query: {copies.get(own, own): copies.get(of, of) for own, of in known.items()}
        for query, known in qrels.alternatives.items()
    }
    alternatives = {query: {a: b for a, b in known.items() if a != b} for query, known in renamed.items()}
    return replace(
        qrels,
        table=again.table,
        models=min(qrels.models, len(again.rows.number)),
        merged=qrels.merged + again.merged,
        resolved=qrels.resolved + again.resolved,
        alternatives={query: known for query, known in alternatives.items() if known},
    )


@dataclass(frozen=True)
class _Only(Around):
    """One block of a run, to look for lines in."""

    run: RunSource
    block: Block

    def blocks(self) -> Iterator[Block]:
        """The block."""
        yield self.block


def _ordered(group: Ints, score: Floats, documents: Ids, groups: int) -> tuple[Ints, Floats, Ids]:
    """Rows in the one order, query after query."""
    order = Places.of(group, score, documents, groups).order
    return (group, score, documents) if order is None else (group[order], score[order], documents[order])

"""What the caller gave, as tables: paths, Python objects and frames, one or several systems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leadline.conventions import Conventions
from leadline.door import Door
from leadline.errors import UsageError, printable
from leadline.formats.card import with_certificate
from leadline.formats.source import Source, is_stream
from leadline.formats.tools import IRDS
from leadline.hits import Judged
from leadline.merging import Merged, copies_as_one, steps_of
from leadline.passages.against import Passages
from leadline.passages.check import check_places
from leadline.tables import Qrels, Queries, Run, RunSource

OF_TEXT = ("chunks", "documents", "share")
"""What goes with evidence."""


@dataclass(frozen=True)
class Inputs:
    """The tables of one evaluation. `paths` are the files that were read: the system's name (or `qrels`,
    `queries`, `evidence`, `chunks`, `documents`) and the path as given. `passages` holds evidence and chunks where those
    take the place of judgments; `qrels` are then those of the first system's chunks. `notes` are sentences about how the
    files were read, such as what had to be left out.
    """

    runs: tuple[RunSource, ...]
    qrels: Qrels
    queries: Queries | None = None
    paths: tuple[tuple[str, str], ...] = ()
    passages: Passages | None = None
    notes: tuple[str, ...] = ()

    def judged(self) -> dict[str, Judged]:
        """The judgments that each system is measured by, ready to be met; with evidence each has its chunks'."""
        if self.passages is None:
            every = Judged.of(self.qrels)
            return {run.name: every for run in self.runs}
        tables = {run.name: self.passages.qrels(run.name) for run in self.runs}
        made = {id(table): Judged.of(table) for table in tables.values()}
        return {name: made[id(table)] for name, table in tables.items()}

    def same_chunks(self, one: str, other: str) -> bool:
        """Whether an id means the same text for two systems: always, unless each has chunks of its own."""
        return self.passages is None or self.passages.chunks[one] is self.passages.chunks[other]

    def with_more(self, runs: Sequence[RunSource]) -> "Inputs":
        """The same with further runs, which return what the first one returns."""
        passages = self.passages
        if passages is not None:
            of_first = passages.chunks[self.runs[0].name]
            chunks = {**passages.chunks, **{run.name: of_first for run in runs}}
            passages = replace(passages, chunks=chunks)
        return replace(self, runs=(*self.runs, *runs), passages=passages)

    def described(self, hashed: bool, rows: Mapping[str, int]) -> tuple[dict[str, Any], ...]:
        """Each file with its rows, and its SHA-256 where asked (standard input has none)."""
        counts = {**rows, "qrels": len(self.qrels.rows.number)}
        if self.passages is not None:
            counts["evidence"] = len(self.passages.evidence.rows)
        if self.queries is not None:
            counts["queries"] = self.queries.frame.height
        return tuple(
            {"path": path, "sha256": _sha256(path) if hashed else None, "rows": counts.get(kind)}
            for kind, path in self.paths
        )


def gather(
    run: Any,
    qrels: Any,
    queries: Any,
    rules: Conventions,
    *,
    grading: Mapping[str, Any] | None = None,
    input_format: str | None = None,
    qrels_format: str | None = None,
    evidence: Any = None,
    of_text: Mapping[str, Any] | None = None,
    certificate: Any = None,
    subtopics: bool = False,
    mapping: Any = None,
) -> Inputs:
    """The tables behind what was given; see `leadline.evaluation.evaluate` for the kinds.

    Chunks are collapsed into documents as `rules` say, with the `mapping` (a path or a dict) where there is one, and
    alternatives in the judgments count as one. Without evidence, `of_text` may hold the `documents` that the texts
    of RAG rows are matched to.

    `grading` holds what `Qrels.checked` takes: conflicts, grade_map, max_grade. `evidence` may stand in place of qrels,
    with the rest of `gather_passages`' parameters in `of_text`. `certificate` is named for labels of a model (a path, or a
    `Certificate`), in place of one that their card names. `subtopics` keeps those that the judgments name.

    Raises
    ------
    UsageError: two systems of one name, or no judgments. InputError: a file or object is wrong.
    """
    if evidence is not None:
        if certificate is not None:
            raise UsageError("a certificate is of labels of a model; with evidence there are none")
        if qrels is not None:
            raise UsageError(
                "give judgments or evidence, not both: from evidence the judgments of chunks are made"
            )
        if rules.collapse is not None or mapping is not None:
            raise UsageError("--collapse makes documents of chunks, and --evidence measures chunks: not both")
        return gather_passages(run, queries, rules, evidence, **(of_text or {}), input_format=input_format)
    alone = [name for name in of_text or {} if name != "documents"]
    if alone:
        raise UsageError(f"{alone[0]} goes with evidence")
    door = Door(rules, input_format, qrels_format, dict(grading or {}), subtopics)
    # Files that name their queries by text get the ids from the queries, so these are read first.
    door.asked = door.questions(queries)
    door.match_to((of_text or {}).get("documents"))
    runs = [door.run(name, thing, qrels is None) for name, thing in _systems(run)]
    names = [one.name for one in runs]
    _no_name_twice(names)
    table = door.references(names) if qrels is None else door.judgments(qrels)
    if certificate is not None:
        table = with_certificate(table, certificate)
    copies = door.copies([*runs, table])
    if copies:
        table = copies_as_one(table, copies, door.grading.get("conflicts", "error"))
    steps = steps_of(rules, door.mapping(mapping), table, copies)
    asked = door.asked if queries is not None else door.questions(None)
    merged = tuple(Merged.of(one, steps, rules) for one in runs)
    return Inputs(merged, table, asked, door.in_order(), notes=tuple(door.notes))


def gather_runs(
    run: Any,
    rules: Conventions,
    *,
    input_format: str | None = None,
    queries: Any = None,
    mapping: Any = None,
    documents: Any = None,
) -> list[RunSource]:
    """The runs alone, where nothing is judged; the parameters are those of `gather`.

    Raises
    ------
    As `gather`.
    """
    door = Door(rules, input_format, None, {})
    door.asked = door.questions(queries)
    door.match_to(documents)
    runs = [door.run(name, thing, False) for name, thing in _systems(run)]
    _no_name_twice([one.name for one in runs])
    steps = steps_of(rules, door.mapping(mapping), None, door.copies(runs))
    return [Merged.of(one, steps, rules) for one in runs]


def gather_passages(
    run: Any,
    queries: Any,
    rules: Conventions,
    evidence: Any,
    chunks: Any = None,
    documents: Any = None,
    share: float = 0.5,
    *,
    input_format: str | None = None,
) -> Inputs:
    """The tables behind runs of chunks and evidence, which takes the place of judgments.

    Parameters
    ----------
    evidence: a path, or a table `Evidence`. chunks: a path or `Chunks` for all systems, or a list or dict of them with
        the system's name (`NAME=PATH`) for each; None: the runs return whole documents.
    documents: a path, or a dict of texts by id. share: of a piece of evidence, how much a chunk must cover.

    Raises
    ------
    UsageError: a system without chunks, or chunks for no system. InputError: a file is wrong.
    """
    door = Door(rules, input_format, None, {})
    door.asked = door.questions(queries)
    runs = [door.run(name, thing, False) for name, thing in _systems(run)]
    _no_name_twice([one.name for one in runs])
    texts = door.texts(documents)
    pieces = door.evidence(evidence)
    tables = door.chunks(chunks, [one.name for one in runs], texts)
    if texts is not None:
        check_places(pieces, texts)
    passages = Passages(pieces, tables, texts, share)
    first = passages.qrels(runs[0].name)
    return Inputs(tuple(runs), first, door.asked, door.in_order(), passages, tuple(door.notes))


def _no_name_twice(names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"two systems are named {printable(twice[0])!r}; name them apart: NAME=PATH")


def _systems(run: Any) -> list[tuple[str | None, Any]]:
    """The systems in what was given as `run`, each with the name given to it."""
    if isinstance(run, (list, tuple)) and run and all(isinstance(one, (str, Path, Run)) for one in run):
        return [(None, one) for one in run]
    if isinstance(run, Mapping) and run and all(_is_run(value) for value in run.values()):
        return [(str(name), value) for name, value in run.items()]
    return [(None, run)]


def _is_run(value: Any) -> bool:
    """True for the value of a dict of systems, False for the value of a dict of queries."""
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(inner, (Mapping, list)) for inner in value.values())
    return isinstance(value, (str, Path, Run)) or hasattr(value, "__arrow_c_stream__")


def _sha256(path: str) -> str | None:
    if is_stream(path) or "://" in path or path.startswith(IRDS) or Path(path).is_dir():
        return None
    return Source.open(path).sha256()

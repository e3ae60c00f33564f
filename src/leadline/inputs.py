"""What the caller gave, as tables: paths, Python objects and frames, one or several systems."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.conventions import Conventions
from leadline.errors import InputError, UnknownNameError, UsageError, printable
from leadline.formats.card import with_certificate
from leadline.formats.read import read_qrels, read_queries, read_rag_rows, read_run
from leadline.formats.source import Source
from leadline.formats.tools import IRDS
from leadline.formats.trec import name_of
from leadline.hits import Judged
from leadline.passages.against import Passages
from leadline.passages.check import check_places
from leadline.passages.tables import Chunks, Documents, Evidence
from leadline.tables import Qrels, Queries, Run, RunSource

if TYPE_CHECKING:
    from leadline.formats.rag import RagRows

NAMED = re.compile(r"(?P<name>[A-Za-z0-9._-]+)=(?P<path>.+)")
"""`NAME=PATH`, which names a system."""


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
) -> Inputs:
    """The tables behind what was given; see `leadline.evaluation.evaluate` for the kinds.

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
        return gather_passages(run, queries, rules, evidence, **(of_text or {}), input_format=input_format)
    if of_text:
        raise UsageError(f"{next(iter(of_text))} goes with evidence")
    door = _Door(rules, input_format, qrels_format, dict(grading or {}), subtopics)
    # Files that name their queries by text get the ids from the queries, so these are read first.
    door.asked = door.questions(queries)
    runs = [door.run(name, thing, qrels is None) for name, thing in _systems(run)]
    names = [one.name for one in runs]
    _no_name_twice(names)
    table = door.references(names) if qrels is None else door.judgments(qrels)
    if certificate is not None:
        table = with_certificate(table, certificate)
    asked = door.asked if queries is not None else door.questions(None)
    return Inputs(tuple(runs), table, asked, door.in_order(), notes=tuple(door.notes))


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
    door = _Door(rules, input_format, None, {})
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


@dataclass
class _Door:
    """Reads one thing after another and remembers which files they were."""

    rules: Conventions
    input_format: str | None
    qrels_format: str | None
    grading: dict[str, Any]
    subtopics: bool = False
    paths: list[tuple[str, str]] = field(default_factory=list)
    rows: "list[RagRows]" = field(default_factory=list)
    asked: Queries | None = None
    notes: list[str] = field(default_factory=list)

    def in_order(self) -> tuple[tuple[str, str], ...]:
        """The files that were read, the queries after runs and judgments."""
        return tuple(sorted(self.paths, key=lambda one: one[0] == "queries"))

    def run(self, name: str | None, thing: Any, with_references: bool) -> RunSource:
        """One system's run; where its references are wanted too, its rows must carry them."""
        if not isinstance(thing, (str, Path)):
            from leadline.formats.objects import run_of

            return (
                thing if isinstance(thing, Run) else run_of(thing, name=name or "run", order=self.rules.order)
            )
        name, path = name_and_path(name, str(thing))
        called = name or ("run" if path == "-" else name_of(path))
        self.paths.append((called, path))
        if not with_references:
            run = read_run(
                path, name=called, input_format=self.input_format, conventions=self.rules, queries=self.asked
            )
            self.notes += run.notes if isinstance(run, Run) else ()
            return run
        rows = self._rows(path, called)
        self.rows.append(rows)
        assert rows.run is not None
        return rows.run

    def _rows(self, path: str, name: str) -> "RagRows":
        """RAG rows with retrieved and reference ids; anything else needs --qrels, and the error says so."""
        advice = (
            f"{printable(path)}: where are the judgments? Give them with --qrels FILE "
            "(only rows that carry reference ids can do without)"
        )
        try:
            rows = read_rag_rows(path, name=name, input_format=self.input_format, conventions=self.rules)
        except (InputError, UsageError) as error:
            if Path(path).is_file() and "no RAG rows" in str(error):
                raise UsageError(advice) from None
            raise
        if rows.run is None or rows.qrels is None:
            raise UsageError(advice)
        return rows

    def references(self, names: list[str]) -> Qrels:
        """The references that the rows carried; all files must agree."""
        if not self.rows:
            raise UsageError("no judgments: give qrels")
        tables = [rows.qrels for rows in self.rows if rows.qrels is not None]
        first = tables[0].frame.select("query_id", "doc_id", "grade").sort("query_id", "doc_id")
        for name, other in zip(names[1:], tables[1:], strict=True):
            if not other.frame.select("query_id", "doc_id", "grade").sort("query_id", "doc_id").equals(first):
                raise UsageError(
                    f"the references in {printable(name)} differ from those in {printable(names[0])}; give --qrels FILE"
                )
        return tables[0]

    def judgments(self, thing: Any) -> Qrels:
        """The judgments."""
        how = {**self.grading, "keep_subtopic": self.subtopics}
        if isinstance(thing, (str, Path)):
            self.paths.append(("qrels", str(thing)))
            comments = self.rules.comments
            qrels = read_qrels(
                thing, input_format=self.qrels_format, comments=comments, queries=self.asked, **how
            )
            self.notes += qrels.notes
            return qrels
        from leadline.formats.objects import qrels_of

        return qrels_of(thing, **how)

    def questions(self, thing: Any) -> Queries | None:
        """The queries, if given or carried by the rows."""
        if thing is None:
            return self.rows[0].queries if self.rows else None
        if isinstance(thing, (str, Path)):
            self.paths.append(("queries", str(thing)))
            return read_queries(thing)
        from leadline.formats.objects import queries_of

        return queries_of(thing)

    def texts(self, thing: Any) -> Documents | None:
        """The documents, if given."""
        if not isinstance(thing, (str, Path)):
            return thing  # type: ignore[no-any-return]
        from leadline.formats.documents import read_texts

        self.paths.append(("documents", str(thing)))
        return read_texts(thing)

    def evidence(self, thing: Any) -> Evidence:
        """The evidence."""
        if not isinstance(thing, (str, Path)):
            return thing  # type: ignore[no-any-return]
        from leadline.passages.read import read_evidence

        self.paths.append(("evidence", str(thing)))
        return read_evidence(thing)

    def chunks(self, thing: Any, systems: list[str], texts: Documents | None) -> dict[str, Chunks]:
        """The chunks of each system."""
        if thing is None:
            if texts is None:
                raise UsageError(
                    "which text do the ids of the run name? --chunks C, or --documents D for whole documents"
                )
            return dict.fromkeys(systems, Chunks.whole(texts))
        named = {name: self._chunk_table(one, texts) for name, one in chunk_files(thing).items()}
        wrong = [name for name in named if name is not None and name not in systems]
        if wrong:
            raise UnknownNameError("system", str(wrong[0]), systems, where="--chunks")
        without = [name for name in systems if name not in named and None not in named]
        if without:
            raise UsageError(f"no chunks for {printable(without[0])}: --chunks {without[0]}=FILE")
        return {name: named[name if name in named else None] for name in systems}

    def _chunk_table(self, thing: Any, texts: Documents | None) -> Chunks:
        if not isinstance(thing, (str, Path)):
            return thing  # type: ignore[no-any-return]
        from leadline.passages.read import read_chunks

        self.paths.append(("chunks", str(thing)))
        return read_chunks(thing, texts)


def chunk_files(thing: Any) -> dict[str | None, Any]:
    """The chunks by the system they are of; None for those of every other system.

    Raises
    ------
    UsageError: one system twice.

    >>> chunk_files(["all.jsonl", "small=small.jsonl"])
    {None: 'all.jsonl', 'small': 'small.jsonl'}
    """
    if isinstance(thing, Mapping):
        return dict(thing)
    found: dict[str | None, Any] = {}
    for one in thing if isinstance(thing, (list, tuple)) else [thing]:
        name, table = name_and_path(None, str(one)) if isinstance(one, (str, Path)) else (None, one)
        if name in found:
            of = "all systems" if name is None else printable(name)
            raise UsageError(f"--chunks says twice which are the chunks of {of}; NAME=FILE names a system")
        found[name] = table
    return found


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


def name_and_path(name: str | None, given: str) -> tuple[str | None, str]:
    """A system's name and path from `NAME=PATH`; the whole is a path where a file of that name exists."""
    match = NAMED.fullmatch(given)
    if name is None and match and not Path(given).exists():
        return match["name"], match["path"]
    return name, given


def _sha256(path: str) -> str | None:
    if path == "-" or "://" in path or path.startswith(IRDS) or Path(path).is_dir():
        return None
    return Source.open(path).sha256()

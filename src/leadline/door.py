"""The door that one thing after another comes in by: a file or an object as a run, judgments, queries, texts or chunks."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.conventions import Conventions
from leadline.errors import InputError, UnknownNameError, UsageError, printable
from leadline.formats.read import read_qrels, read_queries, read_rag_rows, read_run
from leadline.formats.trec import name_of
from leadline.passages.tables import Chunks, Documents, Evidence
from leadline.tables import Qrels, Queries, Run, RunSource

if TYPE_CHECKING:
    from leadline.formats.rag import RagRows
    from leadline.formats.texts import Texts

NAMED = re.compile(r"(?P<name>[A-Za-z0-9._-]+)=(?P<path>.+)")
"""`NAME=PATH`, which names a system."""


@dataclass
class Door:
    """Reads one thing after another and remembers which files they were, and what is to be said of them.

    Attributes
    ----------
    rules, input_format, qrels_format: as for `leadline.evaluate`. grading: how grades are settled, as
        `Qrels.checked` takes it. subtopics: keep those that the judgments name.
    paths: of each file what it is and the path as given. rows: RAG rows, which carry references and queries.
    asked: the queries, whose ids files get that name them by text. matched: the documents that texts are matched to.
    notes: sentences about how the files were read.
    """

    rules: Conventions
    input_format: str | None
    qrels_format: str | None
    grading: dict[str, Any]
    subtopics: bool = False
    paths: list[tuple[str, str]] = field(default_factory=list)
    rows: "list[RagRows]" = field(default_factory=list)
    asked: Queries | None = None
    matched: "Texts | None" = None
    notes: list[str] = field(default_factory=list)

    def in_order(self) -> tuple[tuple[str, str], ...]:
        """The files that were read, the queries after runs and judgments."""
        return tuple(sorted(self.paths, key=lambda one: one[0] == "queries"))

    def match_to(self, documents: Any) -> None:
        """Match texts to these documents from now on: a path, or a dict of texts by id."""
        texts = self.texts(documents)
        if texts is not None:
            from leadline.formats.texts import Texts

            self.matched = Texts(texts)

    def copies(self, tables: Sequence[Any]) -> dict[str, str]:
        """From each document whose text another has too to the first that has it, where texts were matched.

        Raises
        ------
        UsageError: documents were given, and no table holds texts.
        """
        if self.matched is None:
            return {}
        if not any(sum(getattr(one, "told", {}).values()) for one in tables):
            raise UsageError("--documents: no row holds texts without ids, so there is nothing to match")
        return self.matched.anew().copies

    def mapping(self, thing: Any) -> dict[str, str] | None:
        """The document of each chunk, if given."""
        if thing is None:
            return None
        if self.rules.collapse is None:
            raise UsageError("--collapse-mapping goes with --collapse first, max or sum")
        from leadline.formats.mapping import read_mapping

        if isinstance(thing, (str, Path)):
            self.paths.append(("mapping", str(thing)))
        return read_mapping(thing)

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
                path,
                name=called,
                input_format=self.input_format,
                conventions=self.rules,
                queries=self.asked,
                texts=self.matched,
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
            rows = read_rag_rows(
                path, name=name, input_format=self.input_format, conventions=self.rules, texts=self.matched
            )
        except (InputError, UsageError) as error:
            if Path(path).is_file() and "no RAG rows" in str(error):
                raise UsageError(advice) from None
            raise
        if rows.qrels is None and rows.reference_texts:
            raise UsageError(f"{advice}; which documents its reference texts are, --documents FILE says")
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
            qrels = read_qrels(
                thing,
                input_format=self.qrels_format,
                comments=self.rules.comments,
                queries=self.asked,
                texts=self.matched,
                **how,
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


def name_and_path(name: str | None, given: str) -> tuple[str | None, str]:
    """A system's name and path from `NAME=PATH`; the whole is a path where a file of that name exists."""
    match = NAMED.fullmatch(given)
    if name is None and match and not Path(given).exists():
        return match["name"], match["path"]
    return name, given

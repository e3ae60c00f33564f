"""What a server of judging pages is started with: the files read, the rules, the plan, the book's place."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from leadline.errors import InputError, amount, printable
from leadline.web.documents import Documents, read_documents
from leadline.web.pairs import Pair, Query, ranks_of_runs, read_pairs, read_query_texts
from leadline.web.queue import Plan
from leadline.web.settings import Rules, read_rules

Ranks = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Of each system, of each query, the ranks of documents."""


@dataclass(frozen=True)
class Setup:
    """All that `create_app` needs.

    Attributes
    ----------
    book: a file or a `postgresql://` URL. name: of the one assessor where there is no `auth`.
    ranks: of the runs that were given besides the pairs. judged: grades from elsewhere, by pair.
    hosts: that the server answers to (the `Host` header); empty: any. image_hosts: from which images may be shown.
    """

    pairs: Sequence[Pair]
    documents: Documents
    queries: Mapping[str, Query] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules.of)
    plan: Plan = field(default_factory=Plan)
    book: str = "judgments.db"
    name: str = "anonymous"
    auth: bool = False
    ranks: Ranks = field(default_factory=dict)
    judged: Mapping[tuple[str, str], float] = field(default_factory=dict)
    hosts: Collection[str] = ()
    image_hosts: Collection[str] = ()
    root_path: str = ""

    def query(self, query_id: str) -> Query:
        """The query of that id; where no text was given, the id stands for it."""
        return self.queries.get(query_id) or Query(query_id, query_id)


@dataclass(frozen=True)
class Files:
    """The files of a judging session, as they were named on the command line."""

    pairs: str
    documents: str
    queries: str | None = None
    guideline: str | None = None
    scale: str | None = None
    runs: Sequence[str] = ()
    qrels: str | None = None
    image_hosts: Sequence[str] = ()


@dataclass(frozen=True)
class Read:
    """What the files hold, and what the person should know before they begin."""

    pairs: list[Pair]
    documents: Documents
    queries: dict[str, Query]
    rules: Rules
    ranks: Ranks
    judged: dict[tuple[str, str], float]
    remarks: list[str]


def read_files(files: Files) -> Read:
    """Read all files. Pairs whose document is not there are left out and counted in the remarks.

    Raises
    ------
    InputError, UsageError: a file that cannot be read or is wrong.
    """
    pairs, queries = read_pairs(files.pairs)
    rules = read_rules(files.scale, files.guideline)
    if files.queries is not None:
        queries = queries | read_query_texts(files.queries)
    ranks = ranks_of_runs(files.runs, {pair.query_id for pair in pairs}, questions=files.queries)
    shown = {doc for of_query in ranks.values() for docs in of_query.values() for doc in list(docs)[:10]}
    wanted = {pair.doc_id for pair in pairs}
    documents, hosts = read_documents(files.documents, wanted | shown, files.image_hosts)
    kept = [pair for pair in pairs if pair.doc_id in documents]
    remarks = []
    if len(kept) < len(pairs):
        remarks.append(
            f"{amount(len(pairs) - len(kept), 'pair')} of {len(pairs)} left out: "
            f"the document is not in {printable(files.documents)}"
        )
    if not kept:
        raise InputError(
            f"{printable(files.documents)}: none of the {len(wanted)} documents to judge is in it"
        )
    without = {pair.query_id for pair in kept} - set(queries)
    if without:
        remarks.append(
            f"{amount(len(without), 'query', 'queries')} without a text, shown by id: "
            "--queries names a file of their texts"
        )
    if hosts:
        remarks.append(
            f"images are not shown; to show them: {' '.join(f'--image-host {printable(h)}' for h in sorted(hosts)[:3])}"
        )
    judged = _grades(files.qrels, files.queries) if files.qrels else {}
    return Read(kept, documents, queries, rules, ranks, judged, remarks)


def _grades(path: str | Path, queries: str | Path | None) -> dict[tuple[str, str], float]:
    from leadline.formats.read import read_qrels, read_queries

    frame = read_qrels(path, queries=None if queries is None else read_queries(queries)).frame
    rows = frame.select("query_id", "doc_id", "grade").iter_rows()
    return {(query, doc): grade for query, doc, grade in rows if grade >= 0}

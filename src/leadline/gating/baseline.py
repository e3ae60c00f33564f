"""The baseline: what a release returned and on which judgments, pinned into one small file to be committed."""

import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from leadline.certificate import Judge
from leadline.conventions import Conventions, conventions
from leadline.errors import InputError, NotComparableError, UsageError, printable
from leadline.formats.jsontext import decode, whole
from leadline.formats.read import read_run
from leadline.formats.source import Source
from leadline.formats.write import atomic_write
from leadline.gating.certified import other_labels, pinned_labels
from leadline.hits import Judged
from leadline.measure import Measure
from leadline.ranking import head
from leadline.spelling import parse
from leadline.tables import Qrels, Run, RunSource

KIND, FORM = "leadline-baseline", 1
LEAST_DEPTH = 100
"""Rankings are pinned at least this deep; rules that look deeper pin the run's path and hash instead."""
Grades = Mapping[str, Mapping[str, float]]
"""Query id → document id → grade."""


@dataclass(frozen=True)
class Baseline:
    """A pinned release.

    Attributes
    ----------
    system: its name. measures: canonical texts of the rules. switches: the conventions it was pinned under.
    rankings: query id → (document ids, scores), best first; None where `run_path` and `run_sha256` stand instead.
    depth: how deep the rankings go. empty, failed: as in `leadline.tables.Run`.
    judgments: the grades used. max_grade: the top of the scale then.
    query_hashes: the first 16 hexadecimal digits of the SHA-256 of each query's text, where texts were given.
    date: ISO. commit: of the repository. version: of this package. gated: how often it was gated against.
    corpus_sha256: of the file of documents, where the policy names one.
    labels: whose the judgments were: `models`, how many labels; `judges`; `certificate`, its id. None in baselines of
        earlier versions. path: the file it was read from.
    """

    system: str
    measures: tuple[str, ...]
    switches: Mapping[str, Any]
    rankings: Mapping[str, tuple[Sequence[str], Sequence[float]]] | None
    depth: int | None
    run_path: str | None
    run_sha256: str | None
    empty: tuple[str, ...]
    failed: Mapping[str, str]
    judgments: Grades
    max_grade: float
    query_hashes: Mapping[str, str]
    date: str
    commit: str | None
    version: str
    gated: int = 0
    corpus_sha256: str | None = None
    labels: Mapping[str, Any] | None = None
    path: str | None = field(default=None, compare=False)

    def run(self) -> RunSource:
        """The release's run, as pinned: from the rankings in the file, or from the run it names.

        Raises
        ------
        NotComparableError: the run it names is absent or has changed. RowsError: it cannot be read.
        """
        if self.rankings is None:
            return self._named_run()
        rows = {"query_id": [], "doc_id": [], "score": []}  # type: dict[str, list[Any]]
        for query_id, (documents, scores) in self.rankings.items():
            rows["query_id"] += [query_id] * len(documents)
            rows["doc_id"] += documents
            rows["score"] += scores
        schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
        frame = pl.DataFrame(rows, schema=schema)
        return Run.checked(frame, self.system, empty=self.empty, failed=self.failed)

    def _named_run(self) -> RunSource:
        given = Path(str(self.run_path))
        place = given if given.is_absolute() or self.path is None else Path(self.path).parent / given
        if not place.is_file():
            raise NotComparableError(f"the baseline's run {printable(str(place))} is not there; pin it again")
        if Source.open(str(place)).sha256() != self.run_sha256:
            raise NotComparableError(f"the baseline's run {printable(str(place))} has changed; pin it again")
        return read_run(str(place), name=self.system, conventions=Conventions(**self.switches))


@dataclass(frozen=True)
class JudgmentChange:
    """What became of the judgments since the baseline was pinned.

    `added` counts new pairs; `removed` and `changed` list (query id, document id, old grade[, new grade]). `others` says
    that others judged them, `certificate` that their judge has another certificate; None where that is not so.
    """

    added: int
    removed: tuple[tuple[str, str, float], ...]
    changed: tuple[tuple[str, str, float, float], ...]
    others: str | None = None
    certificate: str | None = None

    def reasons(self, shown: int = 10) -> tuple[str, ...]:
        """Why the judgments make the two not comparable; empty where there were only additions."""
        said = [] if self.others is None else [self.others]
        for word, rows in (("removed", self.removed), ("changed", self.changed)):
            if rows:
                listed = [_pair(row) for row in rows[:shown]]
                more = f", and {len(rows) - shown} more" if len(rows) > shown else ""
                said.append(f"judgments {word} since the baseline: {len(rows)} ({', '.join(listed)}{more})")
        return tuple(said)

    def notes(self) -> list[str]:
        """`+n` for the judgments that were added, or that there are none; and what is new of their certificate."""
        first = f"judgments since the baseline: +{self.added}" if self.added else "judgments unchanged"
        return [first] if self.certificate is None else [first, self.certificate]


def pin(
    run: RunSource,
    qrels: Qrels,
    measures: Sequence[Any],
    rules: Conventions | None = None,
    *,
    query_texts: Mapping[str, str] | None = None,
    run_path: str | None = None,
    date: str | None = None,
    commit: str | None = None,
    version: str = "",
    depth: int = LEAST_DEPTH,
) -> Baseline:
    """Pin a run for gating by some measures.

    Each query's ranked ids and scores are kept to `depth` (at least 100). Where a measure looks deeper than 100
    (a larger cutoff, none, a condensed list) and the run is, its path and hash are kept (of chunks whole rankings).

    Raises
    ------
    UsageError: the run must be named by its path and was not given by one. RowsError: a wrong run.

    >>> qrels = Qrels.checked(pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "grade": [1]}))
    >>> run = Run.checked(pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["b", "a"], "score": [2.0, 1.0]}))
    >>> pin(run, qrels, ["RR"], date="2026-01-31").rankings
    {'q': (['b', 'a'], [2.0, 1.0])}
    """
    rules = rules or Conventions()
    parsed = [parse(one, rules) for one in measures]
    frame = pl.concat(
        [block.load().select("query_id", "doc_id", "score") for block in run.blocks()]
        or [pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64})]
    )
    longest = int(frame.group_by("query_id").len()["len"].max() or 0) if frame.height else 0  # type: ignore[arg-type]
    deepest = max((looks_to(one) for one in parsed), default=0.0)
    depth = max(depth, longest) if rules.collapse is not None and deepest > LEAST_DEPTH else depth
    by_path = deepest > LEAST_DEPTH and longest > max(LEAST_DEPTH, depth)
    if by_path and run_path is None:
        raise UsageError(f"rules that look below rank {LEAST_DEPTH} need the run as a file, to pin its path")
    sha256 = None if run_path is None else Source.open(run_path).sha256()
    kept = max(LEAST_DEPTH, depth)
    return Baseline(
        run.name,
        tuple(str(one) for one in parsed),
        rules.to_dict(),
        None if by_path else _rankings(run, frame, rules, kept),
        None if by_path else kept,
        run_path,
        sha256,
        tuple(run.empty),
        dict(run.failed),
        grades_of(qrels),
        qrels.top_grade(),
        {query: text_hash(text) for query, text in (query_texts or {}).items()},
        date or datetime.now(UTC).date().isoformat(),
        commit,
        version,
        labels=pinned_labels(qrels),
    )


def write_baseline(baseline: Baseline, path: str | Path) -> None:
    """The baseline as JSON, packed where the name ends in `.gz`; whole or not at all, the same bytes each time.

    Raises
    ------
    UsageError: the name ends otherwise than .json or .json.gz, or the place cannot be written to.
    """
    name = str(path).lower()
    if not name.endswith((".json", ".json.gz")):
        raise UsageError(f"{printable(str(path))}: a baseline is written as .json or .json.gz")
    row = {"kind": KIND, "form": FORM, **{key: getattr(baseline, key) for key in (*_FIELDS, "labels")}}
    row["judgments"] = _packed(baseline.judgments)
    content = (json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n").encode()
    if name.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    with atomic_write(path) as temporary:
        temporary.write_bytes(content)


def read_baseline(path: str | Path) -> Baseline:
    """The baseline in a file.

    Raises
    ------
    NotComparableError: there is no such file: nothing to compare with. InputError: it is no baseline, or one of
        a newer form.
    """
    where = printable(str(path))
    if not Path(path).exists():
        raise NotComparableError(f"no baseline: {where} is not there; `leadline baseline RUN` pins one")
    try:
        source = Source.open(path)
        row = whole(decode(source.read_all(), source.name), source.name)
    except InputError as error:
        raise InputError(f"{where}: is no baseline ({str(error).removeprefix(f'{where}: ')})") from None
    if not isinstance(row, dict) or row.get("kind") != KIND:
        raise InputError(f"{where}: is no baseline; `leadline baseline RUN` writes one")
    if row.get("form") != FORM:
        raise InputError(f"{where}: a baseline of form {row.get('form')!r}; this version reads {FORM}")
    missing = [key for key in _FIELDS if key not in row]
    if missing:
        raise InputError(f"{where}: the baseline lacks {', '.join(missing)}; pin it again")
    try:
        return _from_row(row, str(path))
    except (InputError, TypeError, ValueError, AttributeError, KeyError) as error:
        raise InputError(f"{where}: the baseline is damaged ({error}); pin it again") from None


def count_gate(path: str | Path) -> int:
    """Count one more gating against the baseline in its file; returns how many there were, this one included.

    Raises
    ------
    As `read_baseline` and `write_baseline`.
    """
    baseline = read_baseline(path)
    counted = replace(baseline, gated=baseline.gated + 1)
    write_baseline(counted, path)
    return counted.gated


def compare_judgments(old: Grades, new: Grades) -> JudgmentChange:
    """What was added, removed and changed between two sets of grades.

    >>> found = compare_judgments({"q": {"a": 1.0, "b": 0.0}}, {"q": {"a": 2.0, "c": 1.0}})
    >>> found.added, found.removed, found.changed
    (1, (('q', 'b', 0.0),), (('q', 'a', 1.0, 2.0),))
    """
    removed, changed, kept = [], [], 0
    for query, grades in old.items():
        now = new.get(query, {})
        for document, grade in grades.items():
            if document not in now:
                removed.append((query, document, grade))
            else:
                kept += 1
                if now[document] != grade:
                    changed.append((query, document, grade, now[document]))
    added = sum(len(grades) for grades in new.values()) - kept
    return JudgmentChange(added, tuple(removed), tuple(changed))


def judgments_since(baseline: Baseline, qrels: Qrels) -> JudgmentChange:
    """What became of the judgments since a baseline was pinned: their grades, whose they are, and their certificate."""
    others, certificate = other_labels(baseline.labels, qrels)
    change = compare_judgments(baseline.judgments, grades_of(qrels))
    return replace(change, others=others, certificate=certificate)


def looks_to(measure: Measure) -> float:
    """How deep a measure looks; without end where it has no cutoff, or removes unjudged documents first."""
    condensed = measure.has("judged_only") and measure.value("judged_only")
    assert measure.definition is not None
    is_rank = measure.cutoff is not None and measure.definition.cutoff != "level"
    return float(measure.cutoff or 0) if is_rank and not condensed else float("inf")


def grades_of(qrels: Qrels) -> dict[str, dict[str, float]]:
    """The grades by query and document; a pair of several subtopics has its largest."""
    out: dict[str, dict[str, float]] = {}
    for query, document, grade in qrels.frame.select("query_id", "doc_id", "grade").iter_rows():
        own = out.setdefault(query, {})
        own[document] = max(grade, own.get(document, grade))
    return out


def text_hash(text: str) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


_FIELDS = (
    "version",
    "date",
    "commit",
    "gated",
    "system",
    "measures",
    "switches",
    "max_grade",
    "depth",
    "run_path",
    "run_sha256",
    "corpus_sha256",
    "empty",
    "failed",
    "query_hashes",
    "rankings",
    "judgments",
)


def _rankings(
    run: RunSource, frame: pl.DataFrame, rules: Conventions, depth: int
) -> dict[str, tuple[list[str], list[float]]]:
    """The first documents of every query, judged or not, in the one order."""
    if not frame.height:
        return {}
    ids = frame["query_id"].unique(maintain_order=True)
    # Nothing is judged here: the order alone is asked for, of all queries.
    none = pl.DataFrame({"query_id": ids, "doc_id": "", "grade": -1.0})
    shown = head(run, Judged.of(Qrels(none)), rules, min(depth, rules.depth or depth))
    names = pl.DataFrame({"query": range(len(ids)), "query_id": ids}, schema_overrides={"query": pl.Int64})
    best = frame.group_by("query_id", "doc_id").agg(pl.col("score").max())
    rows = shown.join(names, on="query").join(best, on=["query_id", "doc_id"]).sort("query", "rank")
    grouped = rows.group_by("query_id", maintain_order=True).agg("doc_id", "score")
    return {query: (documents, scores) for query, documents, scores in grouped.iter_rows()}


def _pair(row: tuple[Any, ...]) -> str:
    query, document, *grades = row
    return f"{printable(query)} {printable(document)} {' → '.join(f'{grade:g}' for grade in grades)}"


def _packed(judgments: Grades) -> dict[str, dict[str, list[str]]]:
    """Query → grade → documents: each grade is written once a query."""
    out: dict[str, dict[str, list[str]]] = {}
    for query, grades in judgments.items():
        own = out.setdefault(query, {})
        for document, grade in grades.items():
            own.setdefault(repr(float(grade)), []).append(document)
    return out


def _checked_labels(labels: Any) -> None:
    """Raise ValueError where it is not what `certified.pinned_labels` gives."""
    if labels is None:
        return
    if not isinstance(labels, dict) or set(labels) != {"models", "judges", "certificate"}:
        raise ValueError("labels is not an object with models, judges and certificate")
    for judge in labels["judges"] if isinstance(labels["judges"], list) else [None]:
        if not isinstance(judge, dict):
            raise ValueError("labels.judges is no list of judges")
        Judge.from_dict(judge)


def _from_row(row: dict[str, Any], path: str) -> Baseline:
    values = {key: row[key] for key in _FIELDS}
    conventions(values["switches"]["profile"])
    Conventions(**values["switches"])
    if values["rankings"] is not None:
        values["rankings"] = {
            query: ([str(one) for one in ids], [float(one) for one in scores])
            for query, (ids, scores) in values["rankings"].items()
        }
    values["judgments"] = {
        query: {document: float(grade) for grade, documents in grades.items() for document in documents}
        for query, grades in values["judgments"].items()
    }
    values |= {key: tuple(values[key]) for key in ("measures", "empty")}
    # Earlier versions did not say whose the judgments were.
    _checked_labels(row.get("labels"))
    return Baseline(**values, labels=row.get("labels"), path=path)

"""The readers that are fuzzed, in one table: how each is called, and the endings its files may have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from leadline.formats.tools import TABLE, read_tool, write_tool

Reader = Callable[[Path, int], object]
"""Reads one file; the number, 0 to 255, chooses among the reader's options."""

ROWS = (".jsonl", ".json", ".csv", ".tsv", ".parquet", "")
TREC = ("", ".txt", *ROWS[:-1])


@dataclass(frozen=True)
class Target:
    """One reader, or a few that share a file.

    Attributes
    ----------
    name: of the target and of its folder in the corpus. what: it reads. read: calls the reader.
    endings: that a file may have. packs: False where the reader knows no packed files.
    """

    name: str
    what: str
    read: Reader
    endings: tuple[str, ...]
    packs: bool = True


def _run(path: Path, switches: int) -> None:
    from leadline.conventions import Conventions
    from leadline.formats.read import read_run

    rules = Conventions(order=("score", "rank", "file")[switches % 3], comments=bool(switches & 64))
    for block in read_run(path, conventions=rules).blocks():
        block.rows()
        block.lines()


def _qrels(path: Path, switches: int) -> None:
    from leadline.formats.read import read_qrels
    from leadline.tables import Conflicts

    conflicts = get_args(Conflicts)
    read_qrels(
        path,
        conflicts=conflicts[switches % len(conflicts)],
        comments=bool(switches & 16),
        keep_subtopic=bool(switches & 32),
        input_format="trec-sampled" if switches & 192 == 192 else None,
        max_grade=3.0 if switches & 192 == 128 else None,
    )


def _queries(path: Path, switches: int) -> None:
    from leadline.formats.read import read_queries

    read_queries(path)


def _rag(path: Path, switches: int) -> None:
    from leadline.conventions import Conventions
    from leadline.formats.read import read_rag_rows

    read_rag_rows(path, conventions=Conventions(order=("score", "rank", "file")[switches % 3]))


def _documents(path: Path, switches: int) -> None:
    from leadline.formats.documents import read_texts
    from leadline.web.documents import read_documents

    if switches % 2:
        read_documents(path, ["d1", "d2"], ["images.example.org"])
    else:
        read_texts(path, None if switches & 2 else ["d1"])


def _evidence(path: Path, switches: int) -> None:
    from leadline.passages.read import read_evidence

    found = read_evidence(path)
    found.spans, found.grade, found.document_ids  # noqa: B018 - they are made when they are asked for


def _chunks(path: Path, switches: int) -> None:
    from leadline.passages.read import read_chunks

    read_chunks(path, {"d1": "one two three two one", "d2": "größer 😀 two"} if switches % 2 else None)


def _contexts(path: Path, switches: int) -> None:
    from leadline.passages.contexts import read_contexts

    read_contexts(path)


def _vectors(path: Path, switches: int) -> None:
    from leadline.ann.vectors import read_ids, read_vectors

    if path.suffix == ".txt":
        read_ids(path, 2)
    else:
        float(read_vectors(path).data[0, 0])


def _neighbours(path: Path, switches: int) -> None:
    from leadline.ann.remote import read_returned
    from leadline.ann.vectors import checked_vectors

    read_returned(path, checked_vectors("queries", [[1.0, 0.0], [0.0, 1.0]], ["q1", "q2"]))


def _book(path: Path, switches: int) -> None:
    from leadline.judging.exchange import read_judgments, rows_of
    from leadline.judging.labels import votes_of

    if switches % 2:
        votes_of(rows_of(path))
    else:
        read_judgments(path, who="ana" if switches & 2 else None, model="m" if switches & 4 else None)


def _to_judge(path: Path, switches: int) -> None:
    from leadline.web.pairs import read_pairs, read_query_texts

    (read_query_texts if switches % 2 else read_pairs)(path)


def _collected(path: Path, switches: int) -> None:
    from leadline.collecting.asking import Query
    from leadline.collecting.outputs import read_collected, run_of_rows

    run_of_rows([Query("q1", "one"), Query("q2", "two")], read_collected(path), "live")


def _journal(path: Path, switches: int) -> None:
    from leadline.collecting.journal import Journal
    from leadline.collecting.target import simple_target

    with Journal(path, simple_target("http://localhost/?q={query}", {}, {}), 10):
        pass


def _systems(path: Path, switches: int) -> None:
    from leadline.collecting.engines import Wish, configured_target, read_configuration
    from leadline.collecting.target import file_target

    if switches % 2:
        value = read_configuration(str(path))
        configured_target("http://localhost:9200", value, Wish(("title",)), str(path))
    else:
        file_target(str(path), {}, {}).request("a query", 10, "q1")


def _index(path: Path, switches: int) -> None:
    from leadline.ann.target import open_target

    open_target(f"http:{path}", {}, None, 2, "cosine").facts()


def _settings(path: Path, switches: int) -> None:
    from leadline.config import KINDS, Settings
    from leadline.gating.policy import policy_of

    settings = Settings.of(path)
    for name in KINDS:
        settings.value(name)
    _ = policy_of(settings).parsed


def _baseline(path: Path, switches: int) -> None:
    from leadline.gating.baseline import read_baseline

    read_baseline(path)


def _card(path: Path, switches: int) -> None:
    from leadline.formats.card import card_path, read_card

    read_card(path.replace(card_path(path.with_name("labels"))).with_name("labels"))


def _certificate(path: Path, switches: int) -> None:
    from leadline.formats.certificate import read_certificate

    read_certificate(path)


def _prompt(path: Path, switches: int) -> None:
    from leadline.judging.prompt import read_prompt

    read_prompt(path)


def _mapping(path: Path, switches: int) -> None:
    from leadline.formats.mapping import read_mapping

    read_mapping(path)


def _replay(path: Path, switches: int) -> None:
    from leadline.models.replay import Replay

    Replay.open(path)


def _rules(path: Path, switches: int) -> None:
    from leadline.web.settings import read_rules

    read_rules(("0-3", "binary", None)[switches % 3], path)


def _raw(path: Path, switches: int) -> None:
    from leadline.formats.source import Source

    source = Source.open(path)
    source.head()
    source.read_all()


def _of_tool(module: str) -> Target:
    """The target of every format whose reader stands in one module."""
    tools = [tool for tool in TABLE if tool.module == module]

    def read(path: Path, switches: int) -> None:
        from leadline.formats.heldtables import qrels_of_held, queries_of_held, run_of_held
        from leadline.formats.losses import losses
        from leadline.formats.source import Source

        tool = tools[switches % len(tools)]
        kind = tool.holds[(switches >> 3) % len(tool.holds)]
        held = read_tool(tool.name, Source.open(path), kind)
        if kind == "run":
            run_of_held(held, "run")
        elif kind == "judgments":
            qrels_of_held(held)
        else:
            queries_of_held(held)
        if switches & 128:
            able = [other for other in TABLE if kind in other.writes]
            other = able[(switches >> 4) % len(able)]
            losses(kind, held, other.name)
            write_tool(other.name, held, path.with_name("written"))

    what = ", ".join(f"{tool.name} ({tool.of})" for tool in tools)
    return Target(module, what, read, tuple(dict.fromkeys(tool.ending for tool in tools)))


TARGETS: tuple[Target, ...] = (
    Target("run", "runs in every format of the house", _run, TREC),
    Target("qrels", "judgments in every format of the house", _qrels, TREC),
    Target("queries", "queries", _queries, TREC),
    Target("rag", "RAG rows", _rag, ROWS),
    Target("documents", "documents, for measuring and for the judging pages", _documents, ROWS),
    Target("evidence", "evidence", _evidence, ROWS),
    Target("chunks", "chunks", _chunks, ROWS),
    Target("contexts", "contexts that were sent", _contexts, ROWS),
    Target("vectors", "vectors, and their ids", _vectors, (".npy", ".parquet", ".txt"), packs=False),
    Target("neighbours", "returned neighbours", _neighbours, ROWS),
    Target("book", "rows of a book of judgments, and judgments for it", _book, ROWS),
    Target("to-judge", "pairs to judge, and the texts of queries", _to_judge, ROWS),
    Target("collected", "what was collected from a system", _collected, ROWS),
    Target("journal", "what an unfinished collection left", _journal, (".part",), packs=False),
    Target("systems", "a system's template, a search configuration", _systems, (".toml", ".json"), packs=False),
    Target("index", "a template of an index behind HTTP", _index, (".json",), packs=False),
    Target("settings", "leadline.toml, with its gate", _settings, (".toml",), packs=False),
    Target("baseline", "a pinned baseline", _baseline, (".json", ".json.gz")),
    Target("card", "the card beside a file of labels", _card, (".json",), packs=False),
    Target("certificate", "the certificate of a model judge", _certificate, (".json",), packs=False),
    Target("prompt", "the prompt file of a model judge", _prompt, (".md",), packs=False),
    Target("mapping", "which document a chunk is of", _mapping, ROWS),
    Target("replay", "recorded replies of a model", _replay, (".jsonl",), packs=False),
    Target("rules", "a guideline for assessors", _rules, (".md",), packs=False),
    Target("raw", "the door itself: whatever is packed", _raw, ("", ".gz", ".zst")),
    *(_of_tool(module) for module in dict.fromkeys(tool.module for tool in TABLE)),
)  # fmt: skip
"""Every reader; a new format of another tool is here by itself."""

BY_NAME: Mapping[str, Target] = {target.name: target for target in TARGETS}


def known(name: str) -> Any:
    """The target of a name; exits with the known names where there is none."""
    if name not in BY_NAME:
        raise SystemExit(f"no target {name!r}; known: {', '.join(BY_NAME)}")
    return BY_NAME[name]

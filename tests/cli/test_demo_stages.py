"""The demonstration's stages: what they write adds up, can be measured again, and stands without the index's library."""

import importlib.util
import json
import os
import re
import shlex
import sys
from html import unescape
from pathlib import Path

import pytest

from leadline.cli.demo_stages import stages
from leadline.cli.main import run
from leadline.report.stages import Stages, stage_lines

MISSING = [name for name in ("wordllama", "usearch") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(
    bool(MISSING) and os.environ.get("LEADLINE_REQUIRE_ALL") != "1",
    reason=f"not installed: {', '.join(MISSING)} (extra 'demo')",
)
FRUIT = (
    "apple",
    "pear",
    "plum",
    "cherry",
    "grape",
    "melon",
    "fig",
    "lemon",
    "olive",
    "peach",
    "mango",
    "lime",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as `write_collection` leaves it: twelve docstrings, of which each question is answered by one."""
    place = tmp_path_factory.mktemp("stages")
    long = "It goes on. " * 50
    documents = [{"id": f"m.{name}", "text": f"m.{name}(x)\n\nPick the {name}.\n\n{long}"} for name in FRUIT]
    queries = [{"query_id": f"q{i}", "text": f"pick {name}"} for i, name in enumerate(FRUIT)]
    for name, rows in (("documents.jsonl", documents), ("queries.jsonl", queries)):
        (place / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    # Grade 1 is no evidence; the grade 2 of the question's own document is.
    judged = [f"q{i} 0 m.{name} 2\nq{i} 0 m.{FRUIT[i - 1]} 1\n" for i, name in enumerate(FRUIT)]
    (place / "qrels.txt").write_text("".join(judged))
    for name in ("bm25", "dense", "fusion"):
        # Of its own document and eleven others, a question's own stands at rank 1, and at rank 11 for fusion.
        lines = []
        for i, own in enumerate(FRUIT):
            others = [one for one in FRUIT if one != own]
            order = [*others[:10], own, *others[10:]] if name == "fusion" else [own, *others]
            lines += [f"q{i} Q0 m.{one} {at} {99 - at} {name}" for at, one in enumerate(order, start=1)]
        (place / f"{name}.run").write_text("\n".join(lines) + "\n")
    return place


@pytest.fixture(scope="module")
def found(folder: Path) -> Stages:
    return stages(folder)


def value(found: Stages, stage: str, name: str) -> float | None:
    return {(s.name, m.name): m.mean for s in found.stages for m in s.measured}[stage, name]


def test_each_stage_measures_what_it_says(found: Stages) -> None:
    assert [one.name for one in found.stages] == ["index", "retrieval", "chunks", "context"]
    # Twelve vectors: HNSW visits them all.
    assert value(found, "index", "ANN recall@10") == 1.0
    assert value(found, "index", "nDCG@10, index − exact") == 0.0
    assert value(found, "retrieval", "recall@10, dense") == 1.0
    assert value(found, "retrieval", "recall@10, fusion") == 0.0
    assert {one.n for stage in found.stages for one in stage.measured} == {12}


def test_evidence_is_the_whole_text_of_documents_judged_two_or_three(found: Stages, folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "stages" / "evidence.jsonl").read_text().splitlines()]
    texts = {
        one["id"]: one["text"]
        for one in map(json.loads, (folder / "documents.jsonl").read_text().splitlines())
    }
    assert [(row["query_id"], row["document_id"]) for row in rows] == sorted(
        (f"q{i}", f"m.{name}") for i, name in enumerate(FRUIT)
    )
    assert all(row["quote"] == texts[row["document_id"]] and row["start"] == 0 for row in rows)
    assert "whole text of those judged 2 or 3" in " ".join(stage_lines(found)).replace("     ", " ")


def test_the_way_of_the_evidence_adds_up(found: Stages) -> None:
    assert sum(one.share for one in found.losses) + found.arrives == pytest.approx(1)
    sent = value(found, "context", "evidence sent, 300 words")
    assert sent == found.arrives
    retrieved = value(found, "context", "evidence in the first 100 chunks")
    assert found.losses[0].share == pytest.approx(1 - retrieved)
    # Recall by the measure, and by the account of the context, of the same chunks against the same evidence.
    measured = value(found, "chunks", "EvidenceRecall@10, paragraphs")
    assert measured == pytest.approx(value(found, "context", "evidence in the first 10"))


def test_every_command_of_the_page_runs_and_finds_the_same(
    found: Stages, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    page = (folder / "stages.html").read_text()
    commands = [unescape(one) for one in re.findall(r"<code>(.*?)</code>", page)]
    assert len(commands) == 4
    for stage, command in zip(found.stages, commands, strict=True):
        with pytest.raises(SystemExit) as ended:
            run(shlex.split(command)[1:])
        printed = capsys.readouterr().out
        assert ended.value.code in (0, None), command
        for one in stage.measured:
            if one.share:
                assert one.cells[0] in printed, (command, one.name)


def test_the_page_shows_every_stage_and_number_and_stands_alone(found: Stages, folder: Path) -> None:
    page = (folder / "stages.html").read_text()
    assert not re.search(r"<script|(?:src|href)=\"(?:https?:)?//", page)
    places = [
        page.index(f'<span class="at">{at}</span>{s.name}') for at, s in enumerate(found.stages, start=1)
    ]
    assert places == sorted(places)
    for one in (one for stage in found.stages for one in stage.measured):
        assert f"<strong>{one.cells[0]}</strong>" in page
    assert found.sentence in page
    # What is lost and what arrives fill the bar.
    bar = re.search(r'<div class="way".*?</div>', page)[0]
    assert sum(map(float, re.findall(r"width: ([\d.]+)%", bar))) == pytest.approx(100, abs=0.1)


def test_without_the_library_the_stage_says_so_and_the_others_are_measured(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "index-fidelity.html").unlink(missing_ok=True)
    monkeypatch.setitem(sys.modules, "usearch", None)
    left = stages(folder)
    index, *others = left.stages
    assert not index.measured and not index.links and left.beside == ()
    assert all(one.measured for one in others)
    said = [line for line in stage_lines(left) if line.startswith("! index: not measured: ")]
    assert len(said) == 1 and "leadline[usearch]" in said[0]
    assert not (folder / "index-fidelity.html").exists()

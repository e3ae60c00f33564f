"""The committed corpus of the fuzzer goes through every reader: each input gives a result or one clear error."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from fuzz.campaign import CORPUS
from fuzz.case import GZIP, PLAIN, ZSTD, Case, attempt
from fuzz.readers import BY_NAME, TARGETS, Target
from fuzz.seeds import seeds

from leadline.errors import InputError, LeadlineError
from leadline.formats.tools import TABLE

ENDLESS = float("inf")
"""Nothing is timed here: on a busy machine it would say nothing."""


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_the_corpus_and_the_seeds_give_a_result_or_one_clear_error(target: Target, tmp_path: Path) -> None:
    files = sorted((CORPUS / target.name).iterdir())
    assert files, f"no corpus: python -m fuzz {target.name}"
    inputs = [file.read_bytes() for file in files]
    for data in (*inputs, *seeds(target)):
        finding = attempt(target, data, tmp_path, ENDLESS)
        assert finding is None, f"{data!r}\n{finding.key}\n{finding.story}"


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_some_seed_of_every_reader_is_right(target: Target, tmp_path: Path) -> None:
    """Else the fuzzer would begin with nothing but errors."""

    def read(data: bytes) -> bool:
        case = Case.of(data)
        try:
            target.read(case.write(target, tmp_path), case.switches)
        except LeadlineError:
            return False
        return True

    assert any(read(data) for data in seeds(target))


def test_the_corpus_is_small_and_has_a_folder_for_each_target() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} == set(BY_NAME)
    assert sum(file.stat().st_size for file in CORPUS.rglob("*") if file.is_file()) <= 1_500_000


def test_every_format_of_another_tool_is_a_target() -> None:
    assert {tool.module for tool in TABLE} <= set(BY_NAME)


@pytest.mark.parametrize("packing", [PLAIN, GZIP, ZSTD])
def test_a_case_is_the_file_it_stands_for(tmp_path: Path, packing: int) -> None:
    got: list[object] = []

    def read(path: Path, switches: int) -> None:
        from leadline.formats.source import Source

        got.append((path.name, Source.open(path).read_all(), switches))

    target = Target("x", "anything", read, (".a", ".b"))
    case = Case(b"one\ntwo\n", 1, packing, 9)
    assert Case.of(case.to_bytes()) == case
    assert attempt(target, case.to_bytes(), tmp_path) is None
    assert got == [("a.b", b"one\ntwo\n", 9)]


def test_what_no_reader_may_do_is_a_finding(tmp_path: Path) -> None:
    def wrong(path: Path, switches: int) -> None:
        if switches == 0:
            raise RecursionError("deep")
        if switches == 1:
            raise InputError("clear")

    target = Target("x", "anything", wrong, ("",))
    found = attempt(target, b"\0\0", tmp_path)
    assert found is not None and found.key.startswith("RecursionError in test_fuzz_corpus.py")
    assert attempt(target, b"\0\1", tmp_path) is None


@pytest.mark.parametrize(("again", "slow"), [(1.0, False), (5.0, True)])
def test_slow_is_what_is_slow_twice(
    again: float, slow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first reading in a process loads modules too."""
    clock = iter([0.0, 5.0, 0.0, again])
    monkeypatch.setattr("fuzz.case.time", SimpleNamespace(process_time=lambda: next(clock)))
    target = Target("x", "anything", lambda path, switches: None, ("",))
    found = attempt(target, b"\0\0", tmp_path)
    assert (found is not None and found.key == "x: slow") == slow

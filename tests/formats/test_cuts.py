"""How a run's file is cut into blocks of whole queries, and how its lines are numbered."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leadline.errors import RowsError
from leadline.formats import cuts as module
from leadline.formats.cuts import LineNumbers, count_lines, cuts, whole_queries
from leadline.formats.read import read_run
from leadline.formats.source import BOM, Source


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 64 bytes, whose last 16 are looked at first."""
    monkeypatch.setattr(Source, "block", property(lambda self: 64))
    monkeypatch.setattr(module, "WINDOW", 16)
    monkeypatch.setattr(module, "STEP", 7)


def opened(folder: Path, text: bytes) -> Source:
    path = folder / "a.run"
    path.write_bytes(text)
    return Source.open(path)


LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=30)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(lengths=LENGTHS, mark=st.booleans(), ended=st.booleans())
def test_blocks_hold_whole_queries_and_the_whole_file(
    lengths: list[int], mark: bool, ended: bool, tmp_path: Path, small: None
) -> None:
    lines = [f"q{i} Q0 d{j} 1 {9 - j} x\n" for i, length in enumerate(lengths) for j in range(length)]
    text = "".join(lines).encode() if ended else "".join(lines).encode()[:-1]
    source = opened(tmp_path, (BOM if mark else b"") + text)
    places = list(cuts(source))
    blocks = [source.part(start, stop) for start, stop in places]
    assert b"".join(blocks) == text == b"".join(whole_queries(source.chunks(64)))
    assert [start for start, _ in places[1:]] == [stop for _, stop in places[:-1]]
    queries = [{line.split()[0] for line in block.splitlines()} for block in blocks]
    assert sum(map(len, queries)) == len(lengths), "a query stands in two blocks"
    if len(text) > 1000:
        assert len(blocks) > 3
    # Line numbers, asked for in any order.
    numbers = LineNumbers(source)
    before = [sum(map(count_lines, blocks[:i])) + 1 for i in range(len(blocks))]
    for i in [*range(len(blocks) - 1, -1, -2), *range(len(blocks))]:
        assert numbers.at(places[i][0]) == before[i]


def test_a_query_longer_than_its_block_is_not_cut(tmp_path: Path, small: None) -> None:
    # 60 lines of some 14 bytes are 13 blocks of 64.
    text = b"".join(f"q Q0 d{j} 1 1 x\n".encode() for j in range(60)) + b"r Q0 d 1 1 x\n"
    source = opened(tmp_path, text)
    assert [source.part(*place).count(b"\n") for place in cuts(source)] in ([60, 1], [61])


@pytest.mark.parametrize("at", [0, 7, 31, 59])
def test_a_fault_in_any_block_is_told_by_its_line(at: int, tmp_path: Path, small: None) -> None:
    lines = [f"q{j} Q0 d 1 1 x" for j in range(60)]
    lines[at] = f"q{at} Q0 d 1 one x"
    path = tmp_path / "a.run"
    path.write_text("\n".join(lines) + "\n")
    faults = []
    for block in read_run(path).blocks():
        try:
            block.rows()
        except RowsError as error:
            faults += error.faults
    assert [(fault.line, fault.found) for fault in faults] == [(at + 1, "one")]


def test_a_file_without_line_ends_is_one_block(tmp_path: Path, small: None) -> None:
    source = opened(tmp_path, b"x" * 1000)
    assert list(cuts(source)) == [(0, 1000)]

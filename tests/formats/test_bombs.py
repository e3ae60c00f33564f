"""Small files that would fill the memory, and texts at the edge of what a text can be: one clear error, or a reading."""

import gzip
import io
import json
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import zstandard

from leadline.errors import InputError, LeadlineError, UsageError
from leadline.formats import unpacking
from leadline.formats.documents import read_texts
from leadline.formats.jsontext import DEEP, WrongJson, parse
from leadline.formats.read import read_qrels, read_queries, read_rag_rows, read_run
from leadline.formats.source import Source
from leadline.formats.tools import NAMES, read_tool
from leadline.formats.unpacking import BLOCK, FREE, most_unpacked, zstd_at_most

HEAD = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
"""Of a gzip file: no name, no time, RFC 1952."""
READ = """
import json, sys
from pathlib import Path
from leadline.errors import LeadlineError
from leadline.formats.documents import read_texts
from leadline.formats.read import read_qrels, read_run
def run(path):
    for block in read_run(path).blocks():
        block.rows()
for path in map(Path, sys.argv[1:]):
    for reader in (run, read_qrels, read_texts):
        try:
            reader(path)
            said = "read"
        except LeadlineError as error:
            said = str(error)
        peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
        print(json.dumps([path.name, reader.__name__, said, int(peak.split()[1]) >> 10]))
"""


def all_of_run(path: Path) -> None:
    """A run with every block read: a TREC file is read no earlier."""
    for block in read_run(path).blocks():
        block.rows()


def gzip_bomb(byte: bytes, size: int) -> bytes:
    """One gzip member that gives about so many bytes; its check at the end is left out, as nobody comes that far."""
    piece = 16 << 20
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(byte * piece) + packer.flush(zlib.Z_FULL_FLUSH)
    return HEAD + first * (size // piece)


def zstd_bomb(byte: bytes, size: int) -> bytes:
    """One zstd frame of blocks that repeat one byte (RFC 8878, 3.1.1): four bytes for each 128 KB."""
    # No size in the head, a window of 8 MB: exponent 13 (2^(10 + 13)), mantissa 0.
    count = size // BLOCK
    blocks = [
        (BLOCK << 3 | 1 << 1 | (number == count - 1)).to_bytes(3, "little") + byte for number in range(count)
    ]
    return (0xFD2FB528).to_bytes(4, "little") + bytes([0, 13 << 3]) + b"".join(blocks)


def parquet_bomb(rows: int) -> bytes:
    """A column of one number, so often that it takes far less room on disk than in memory."""
    out = io.BytesIO()
    one = pl.repeat(0, rows, dtype=pl.Int8, eager=True)
    pl.DataFrame({"query_id": one, "doc_id": one, "score": one}).write_parquet(out, compression="zstd")
    return out.getvalue()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[str], int]]:
    """By bomb what three readers said of it, and the peak of memory in MB up to then, in a process of its own."""
    if not Path("/proc/self/status").exists():
        pytest.skip("the system does not tell the peak of a process's memory")
    folder = tmp_path_factory.mktemp("bombs")
    bombs = {
        "zeros.gz": gzip_bomb(b"\0", 10 << 30),
        "letters.gz": gzip_bomb(b"a", 1 << 30),
        "lines.gz": gzip_bomb(b"\n", 1 << 30),
        "zeros.zst": zstd_bomb(b"\0", 10 << 30),
        "letters.zst": zstd_bomb(b"a", 10 << 30),
        "lines.zst": zstd_bomb(b"\n", 10 << 30),
        "nested.gz": gzip.compress(gzip.compress(gzip_bomb(b"\0", 1 << 30))),
        "numbers.parquet": parquet_bomb(20_000_000),
    }
    for name, content in bombs.items():
        (folder / name).write_bytes(content)
    assert 9e6 < len(bombs["zeros.gz"]) < 11e6
    paths = [str(folder / name) for name in bombs]
    done = subprocess.run([sys.executable, "-c", READ, *paths], capture_output=True, text=True, check=True)
    found: dict[str, tuple[list[str], int]] = {}
    for name, _, said, peak in map(json.loads, done.stdout.splitlines()):
        before = found.get(name, ([], 0))
        found[name] = ([*before[0], said], peak)
    return found


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("zeros.gz", "line 1: found a NUL byte; this is a binary file"),
        ("letters.gz", "unpack to more than 268,435,456 (100 times its size, or 256 MB"),
        ("lines.gz", "unpack to more than 268,435,456"),
        ("zeros.zst", "unpack to more than 268,435,456"),
        ("letters.zst", "LEADLINE_MAX_UNPACKED=20G, or unpack the file first"),
        ("lines.zst", "unpack to more than 268,435,456"),
        ("nested.gz", "is packed twice; unpack it once"),
        ("numbers.parquet", "unpack to more than 268,435,456"),
    ],
)
def test_a_bomb_is_refused_before_it_fills_the_memory(
    told: dict[str, tuple[list[str], int]], name: str, said: str
) -> None:
    messages, peak = told[name]
    assert len(messages) == 3
    *others, documents = messages
    for message in others:
        assert said in message
    # The beginning of some tells already that they are no documents.
    assert said in documents or "documents come as rows with an id and a text" in documents
    # 256 MB that may be unpacked, twice while they are put together, and the libraries.
    assert peak < 900


def test_the_limit_can_be_raised_and_lowered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "qrels.gz"
    packed.write_bytes(gzip.compress(b"q1 0 d1 1\n" * 300_000))
    # 3 MB from 9 kB: 300 times its size, and below what any file may have.
    assert 3_000_000 / packed.stat().st_size > unpacking.RATIO
    assert len(Source.open(packed).read_all()) == 3_000_000
    monkeypatch.setenv(unpacking.SETTING, "2M")
    with pytest.raises(InputError, match="unpack to more than 2,097,152; if that is right"):
        Source.open(packed).read_all()
    monkeypatch.setenv(unpacking.SETTING, "3m")
    assert len(Source.open(packed).read_all()) == 3_000_000
    monkeypatch.setenv(unpacking.SETTING, "much")
    with pytest.raises(UsageError, match="LEADLINE_MAX_UNPACKED='much' is no number of bytes"):
        Source.open(packed).read_all()


def test_honest_large_files_are_far_from_the_limit() -> None:
    # A run of 7 million rows: 200 MB packed, 1 GB unpacked.
    assert most_unpacked(200 << 20) > 19 * (1 << 30)
    assert most_unpacked(1) == FREE


@pytest.mark.parametrize("size", [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK + 17])
def test_what_a_zstd_file_gives_at_most_is_close(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.zst"
    text = b"".join(b"%d some text\n" % number for number in range(size // 10 + 1))[:size]
    skipped = (0x184D2A53).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"12345"
    for given in ({}, {"write_checksum": True}, {"write_content_size": False}):
        frame = zstandard.ZstdCompressor(level=3, **given).compress(text)
        path.write_bytes(skipped + frame + frame)
        assert 2 * size <= zstd_at_most(path) < 2 * (size + BLOCK)
    # Bytes that repeat and bytes that do not pack stand in blocks of other kinds.
    path.write_bytes(zstandard.ZstdCompressor().compress(b"a" * size))
    assert size <= zstd_at_most(path) < size + BLOCK
    path.write_bytes(zstd_bomb(b"a", 5 * BLOCK)[:-1])
    assert zstd_at_most(path) == 5 * BLOCK


def deep(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + closing * levels


@pytest.mark.parametrize("text", [deep(100_000), deep(100_000, '{"a":', "}"), deep(DEEP + 1), "[" * 100_000])
def test_deep_json_is_refused_by_every_reader(tmp_path: Path, text: str) -> None:
    with pytest.raises(WrongJson):
        parse(text)
    for ending in (".jsonl", ".json", ".toml"):
        path = tmp_path / f"a{ending}"
        path.write_text(text if ending != ".toml" else f"k = {text}")
        for reader in (all_of_run, read_qrels, read_queries, read_rag_rows, read_texts):
            with pytest.raises(LeadlineError):
                reader(path)
        for name in NAMES:
            # A set of queries may be plain lines, whatever stands in them.
            if name != "opensearch-queries" or ending != ".toml":
                with pytest.raises(LeadlineError):
                    read_tool(name, Source.open(path))


def test_deep_json_in_files_of_our_own(tmp_path: Path) -> None:
    from leadline.collecting.journal import Journal
    from leadline.collecting.target import simple_target
    from leadline.gating.baseline import read_baseline

    path = tmp_path / "a.json"
    path.write_text(deep(100_000) + "\n")
    with pytest.raises(InputError, match="is no baseline"):
        read_baseline(path)
    with pytest.raises(InputError, match="line 1 is damaged"):
        Journal(path, simple_target("http://localhost/?q={query}", {}, {}), 10)


def test_json_as_deep_as_may_be_is_read() -> None:
    assert parse(deep(DEEP)) == parse(deep(DEEP))
    assert len(parse("[" + ",".join(["[]"] * 1000) + "]")) == 1000
    with pytest.raises(WrongJson, match="nested too deeply"):
        parse("[" + ",".join(["[]"] * 1000) + "," + deep(DEEP) + "]")


def test_deep_toml_and_long_numbers_in_it(tmp_path: Path) -> None:
    from leadline.collecting.target import file_target
    from leadline.config import Settings

    path = tmp_path / "leadline.toml"
    for text, said in ((f"k = {deep(100_000)}", "nested too deeply"), ("k = " + "1" * 5000, "is no TOML")):
        path.write_text(text)
        with pytest.raises(InputError, match=said):
            Settings.of(path)
        with pytest.raises(InputError, match=said):
            file_target(str(path), {}, {})


def test_a_line_of_50_mb(tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl"
    path.write_text(json.dumps({"id": "d1", "text": "x" * (50 << 20)}) + '\n{"id": "d2", "text": "y"}\n')
    assert {name: len(text) for name, text in read_texts(path).items()} == {"d1": 50 << 20, "d2": 1}
    path.write_text('{"id": "d1", "text": "' + "\t" * (50 << 20) + "\n")
    with pytest.raises(InputError, match="line 1") as caught:
        read_texts(path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_million_columns(tmp_path: Path, ending: str) -> None:
    path, separator = tmp_path / f"a{ending}", "," if ending == ".csv" else "\t"
    names = separator.join(["query_id", "doc_id", "grade", *(f"c{number}" for number in range(1_000_000))])
    values = separator.join(["q1", "d1", "1", *("0" for _ in range(1_000_000))])
    for quoted in ("", '"'):
        path.write_text(names.replace("query_id", f"{quoted}query_id{quoted}", 1) + f"\n{values}\n")
        for reader in (read_qrels, read_run, read_queries):
            with pytest.raises(InputError, match="1,000,003 columns; at most 10,000 are read"):
                reader(path)


def parquets() -> Iterator[tuple[str, bytes]]:
    """A sound Parquet file, cut short in many places, and with every byte changed."""
    out = io.BytesIO()
    frame = pl.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "grade": [2, 0]})
    frame.write_parquet(out, compression="uncompressed")
    sound = out.getvalue()
    footer = int.from_bytes(sound[-8:-4], "little")
    for stop in range(4, len(sound), 37):
        yield f"cut at {stop}", sound[:stop]
    for length in (0, 1, footer - 1, footer + 1, len(sound), 1 << 31, (1 << 32) - 1):
        yield f"a footer of {length}", sound[:-8] + length.to_bytes(4, "little") + b"PAR1"
    for place in range(len(sound) - 8):
        for other in (0x00, 0x7F, 0xFF):
            yield f"{other} at {place}", sound[:place] + bytes([other]) + sound[place + 1 :]


def test_a_parquet_file_that_lies_about_itself(tmp_path: Path) -> None:
    from leadline.ann.vectors import read_vectors

    path = tmp_path / "a.parquet"
    refused = 0
    for what, content in parquets():
        path.unlink(missing_ok=True)
        path.write_bytes(content)
        for reader in (read_qrels, read_vectors):
            try:
                reader(path)
            except LeadlineError:
                refused += 1
            except BaseException as error:
                raise AssertionError(what) from error
    assert refused > 100


@pytest.mark.parametrize(
    "number", ["1" * 1_000_000, "0." + "1" * 1_000_000, "1e" + "9" * 1_000_000, "-" * 1_000_000]
)
def test_a_number_of_a_million_digits(tmp_path: Path, number: str) -> None:
    texts = {
        ".txt": f"q1 0 d1 {number}\n",
        ".jsonl": f'{{"query_id": "q1", "doc_id": "d1", "grade": {number}}}\n',
        ".json": f'{{"q1": {{"d1": {number}}}}}',
        ".csv": f"query_id,doc_id,grade\nq1,d1,{number}\n",
    }
    for ending, text in texts.items():
        path = tmp_path / f"a{ending}"
        path.write_text(text)
        if number.startswith("0."):
            # 0.111… is a ninth.
            assert read_qrels(path).frame["grade"].to_list() == [pytest.approx(1 / 9)]
            continue
        with pytest.raises(InputError) as caught:
            read_qrels(path)
        assert len(str(caught.value)) < 1000


def test_every_escape_and_every_character(tmp_path: Path) -> None:
    escapes = r"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\u2028\u0001"
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"query_id": "{escapes}", "doc_id": "d1", "grade": 1}}\n')
    assert read_qrels(path).frame["query_id"].to_list() == ['"\\/\b\f\n\r\té😀\u2028\x01']
    for half in (r"\ud800", r"\udc00", r"a\udfff", r"\udc00\ud800", r"\u0000"):
        path.write_text(f'{{"query_id": "q1", "doc_id": "{half}", "grade": 1}}\n')
        with pytest.raises(InputError, match="line 1"):
            read_qrels(path)
        path.write_text(f'{{"q1": {{"{half}": 1}}}}')
        with pytest.raises(InputError):
            read_qrels(path, input_format="json")


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("packed", [False, True])
def test_other_codings(tmp_path: Path, coding: str, packed: bool) -> None:
    texts = (
        "q1 0 d1 1\n",
        '{"query_id": "q1", "doc_id": "d1", "grade": 1}\n',
        "query_id,doc_id,grade\nq1,d1,1\n",
    )
    for marked in (False, True):
        for text in texts:
            path = tmp_path / "a.txt"
            data = (
                ("\ufeff" if marked and coding[-3:-1] != "f-" and coding.count("-") == 2 else "") + text
            ).encode(coding)
            path.write_bytes(gzip.compress(data) if packed else data)
            wanted = "is UTF-16 text" if "16" in coding else "is UTF-32 text"
            has_mark = marked or coding.count("-") == 1
            # Without a mark UTF-16 is known by every second byte; UTF-32 is only seen to be no text.
            with pytest.raises(InputError, match=wanted if has_mark or "16" in coding else "NUL byte"):
                read_qrels(path)


def test_a_mark_in_the_middle_is_a_character(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfq1 0 d1 1\n\xef\xbb\xbfq1 0 d2 1\n")
    assert read_qrels(path).frame["query_id"].to_list() == ["q1", "\ufeffq1"]


@pytest.mark.parametrize("reader", [all_of_run, read_qrels, read_queries, read_texts])
def test_nul_in_every_place(tmp_path: Path, reader: object) -> None:
    path = tmp_path / "a.jsonl"
    text = b'{"query_id": "q1", "doc_id": "d1", "id": "d", "score": 1, "text": "t"}\n' * 2
    for place in range(0, len(text), 5):
        path.write_bytes(text[:place] + b"\0" + text[place:])
        # At the beginning a file of documents is not recognised as one.
        with pytest.raises(InputError, match=r"NUL byte|documents come as rows"):
            reader(path)  # type: ignore[operator]

"""Documents as lines of an id, a tab and a text, without a header."""

from pathlib import Path

import pytest

from leadline.errors import RowsError
from leadline.formats.documents import read_texts


def test_lines(tmp_path: Path) -> None:
    path = tmp_path / "collection.tsv"
    path.write_bytes(b'd1\tit "was\r\n\r\n007\the\tand she\n')
    assert read_texts(path) == {"d1": 'it "was', "007": "he\tand she"}


def test_a_header_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "collection.tsv"
    path.write_text("docno\ttext\nd1\tit was\n")
    assert read_texts(path) == {"d1": "it was"}


def test_a_line_without_a_tab(tmp_path: Path) -> None:
    path = tmp_path / "collection.tsv"
    path.write_text("d1\tit was\nd2 he\n")
    with pytest.raises(RowsError, match="line 2: found 'd2 he', expected a document id, a tab"):
        read_texts(path)

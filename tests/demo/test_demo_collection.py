"""The collection that is read from the interpreter's own library."""

import os
import subprocess
import sys

import pytest

from leadline.demo.collection import build_documents
from leadline.demo.document import Document, make_document
from leadline.demo.sources import source_documents

KNOWN_ID_TEXT = """
    asyncio.gather asyncio.timeout collections.abc.Mapping collections.deque.appendleft
    concurrent.futures.ThreadPoolExecutor copy.deepcopy csv.reader datetime.datetime.strptime
    datetime.timedelta decimal.Decimal.quantize dict.get functools.lru_cache heapq.nlargest
    io.StringIO itertools.chain json.JSONDecoder json.dumps math.isclose open os.listdir os.path
    os.path.expanduser os.path.join os.walk pathlib.Path.exists pathlib.Path.glob re.Pattern.sub
    re.sub sorted sqlite3.Connection.execute str.split struct.pack subprocess.run
    threading.Thread.join tomllib.loads unittest.TestCase.assertRaises zlib.crc32
    zoneinfo.available_timezones
"""
KNOWN_IDS = KNOWN_ID_TEXT.split()


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return build_documents()


def test_thousands_of_documents_with_unique_sorted_ids(documents: list[Document]) -> None:
    ids = [document.id for document in documents]
    assert 5000 < len(ids) < 9000
    assert ids == sorted(set(ids))


@pytest.mark.parametrize("known", KNOWN_IDS)
def test_known_names_are_there(documents: list[Document], known: str) -> None:
    assert known in {document.id for document in documents}


def test_what_has_no_docstring_or_no_place_is_absent(documents: list[Document]) -> None:
    ids = {document.id for document in documents}
    assert "csv.DictWriter.writerow" not in ids  # has no docstring
    # defined elsewhere, left out, private, an alias, a copy for own use
    for absent in ("asyncio.tasks.gather", "antigravity", "this", "IOError", "array.ArrayType", "os.Mapping"):
        assert absent not in ids
    assert not [name for name in ids if any(part.startswith("_") for part in name.split("."))]


def test_every_document_has_all_its_parts(documents: list[Document]) -> None:
    for document in documents:
        assert document.id and not any(character.isspace() for character in document.id)
        assert document.text.startswith(document.id)
        first_line, _, docstring = document.text.partition("\n\n")
        assert first_line and docstring.strip(), document.id
        assert document.kind in {"module", "class", "function", "method", "property"}
    modules = {document.id: document.module for document in documents}
    assert modules["str.split"] == "builtins"
    assert modules["pathlib.Path.glob"] == "pathlib"


def test_text_is_signature_and_docstring(documents: list[Document]) -> None:
    texts = {document.id: document.text for document in documents}
    assert texts["dict.get"].startswith("dict.get(self, key, default=None)\n\nReturn the value for key")
    assert texts["heapq.nlargest"].startswith("heapq.nlargest(n, iterable, key=None)\n\nFind the n largest")
    # a class shows how it is called, and what its __init__ says
    assert texts["threading.Thread"].startswith("threading.Thread(group=None, target=None")
    assert "*target* is the callable object" in texts["threading.Thread"]
    # a static method written in C tells of itself, not of static methods
    assert "Return a translation table usable for str.translate()." in texts["str.maketrans"]
    assert [name for name, text in texts.items() if "staticmethod(function) -> method" in text] == [
        "staticmethod"
    ]


def test_building_twice_gives_the_same(documents: list[Document]) -> None:
    assert build_documents() == documents


def test_nothing_acts_on_import() -> None:
    program = (
        "import sys\n"
        "from leadline.demo.collection import build_documents\n"
        "build_documents()\n"
        "watched = ['antigravity', 'this', 'turtle', 'tkinter', 'idlelib', 'readline',  'test']\n"
        "print([name for name in watched if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def test_another_hash_seed_gives_the_same_bytes(documents: list[Document]) -> None:
    program = (
        "import hashlib\n"
        "from leadline.demo.collection import build_documents\n"
        "print(hashlib.sha256(repr(build_documents()).encode()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_replaced_hooks_do_not_matter(documents: list[Document], monkeypatch) -> None:
    for hook in ("displayhook", "excepthook", "unraisablehook", "breakpointhook"):
        monkeypatch.setattr(sys, hook, lambda *arguments: None)
    assert build_documents() == documents


def test_make_document_cleans_and_refuses() -> None:
    document = make_document("m.f", "(x)", "First.\n\n        Indented.\n    ", "function", "m")
    assert document == Document("m.f", "m.f(x)\n\nFirst.\n\nIndented.", "function", "m")
    assert make_document("m.f", "(x)", "   ", "function", "m") is None
    assert make_document("m.f", "(x)", None, "function", "m") is None
    half = make_document("m.f", "", "an example: \ud800", "function", "m")
    assert half is not None and half.text.endswith("an example: ?")


def test_sources_of_a_made_up_library(tmp_path) -> None:
    # `queue` and `json` are names of public modules; what they hold here is made up for the test.
    (tmp_path / "queue.py").write_text(
        "'''Module text.'''\n"
        "import sys\n"
        "if sys.platform == 'nowhere':\n"
        "    def there(a, *, b=1):\n        '''In a branch.'''\n"
        "class C(Base):\n"
        "    '''Class text.'''\n"
        "    def __init__(self, x, y=2):\n        '''How to make one.'''\n"
        "    @property\n    def size(self):\n        '''Size.'''\n"
        "    def _hidden(self):\n        '''Hidden.'''\n"
        "def silent():\n    pass\n"
        "if __name__ == '__main__':\n    def main():\n        '''Script.'''\n",
        encoding="utf-8",
    )
    package = tmp_path / "json"
    (package / "test").mkdir(parents=True)
    (package / "__init__.py").write_text("from ._inner import load\nfrom .part import *\n", encoding="utf-8")
    (package / "_inner.py").write_text(
        "def load(f):\n    '''Load it.'''\ndef other():\n    '''Not offered.'''\n", encoding="utf-8"
    )
    (package / "part.py").write_text(
        "from ._inner import Base\n__all__ = ['dump']\n"
        "def dump(x):\n    '''Dump it.'''\ndef more():\n    '''More.'''\n",
        encoding="utf-8",
    )
    (package / "test" / "check.py").write_text("'''A test.'''\n", encoding="utf-8")
    found = {document.id: (document.text, document.kind) for document in source_documents(tmp_path)}
    assert found == {
        "json.dump": ("json.dump(x)\n\nDump it.", "function"),
        "json.load": ("json.load(f)\n\nLoad it.", "function"),
        "json.part.more": ("json.part.more()\n\nMore.", "function"),
        "queue": ("queue\n\nModule text.", "module"),
        "queue.C": ("queue.C(x, y=2)\n\nClass text.\n\nHow to make one.", "class"),
        "queue.C.size": ("queue.C.size\n\nSize.", "property"),
        "queue.there": ("queue.there(a, *, b=1)\n\nIn a branch.", "function"),
    }

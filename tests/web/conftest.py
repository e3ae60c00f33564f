"""Books of both kinds for the tests of the server, as the tests of the book have them."""

import importlib.util
import sys
from pathlib import Path

_PLACE = Path(__file__).parent.parent / "judging" / "conftest.py"
_SPEC = importlib.util.spec_from_file_location("judging_books", _PLACE)
assert _SPEC is not None and _SPEC.loader is not None
_BOOKS = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = _BOOKS
_SPEC.loader.exec_module(_BOOKS)

server, target = _BOOKS.server, _BOOKS.target

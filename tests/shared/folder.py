"""Where the real collections stand: `LEADLINE_SHARED`, else `../shared/data` beside the project."""

import os
from pathlib import Path

DATA = Path(os.environ.get("LEADLINE_SHARED") or Path(__file__).parents[3] / "shared" / "data")
CASES = DATA.parent / "cases"


def everything_required() -> bool:
    """True where a missing part is a failure, not a reason to skip."""
    return os.environ.get("LEADLINE_REQUIRE_ALL") == "1"

"""The pages' templates and what they are filled with."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.web.settings import Grade

if TYPE_CHECKING:
    from jinja2 import Template

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"
"""Style and scripts; served as they are, or written into a kit."""
STEPS = 4
"""Colours of grades run from `g0` (lowest) to this one (highest)."""


@cache
def template(name: str) -> "Template":
    """The template of that name; everything put into it is escaped.

    >>> template("brand.html").render(root='"><b>').count("<b>")
    0
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # The style and the scripts of a kit stand in it as they are; autoescape is for everything else.
    loader = FileSystemLoader(FOLDER / "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined).get_template(name)


def levels(scale: Sequence[Grade]) -> list[dict[str, Any]]:
    """The grades as templates and scripts show them: `shown` is the number in digits, `step` its colour.

    >>> [(level["shown"], level["step"]) for level in levels([Grade(0, "no"), Grade(0.5, "half"), Grade(1, "yes")])]
    [('0', 0), ('0.5', 2), ('1', 4)]
    """
    last = max(1, len(scale) - 1)
    return [
        {
            "grade": one.grade,
            "name": one.name,
            "meaning": one.meaning,
            "example": one.example,
            "key": one.key,
            "shown": f"{one.grade:g}",
            "step": int(place / last * STEPS + 0.5),
        }
        for place, one in enumerate(scale)
    ]

"""Settings: an option, then `LEADLINE_*`, then the nearest `leadline.toml`, then the default."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.errors import InputError, UnknownNameError, UsageError, printable

FILE = "leadline.toml"

KINDS: dict[str, type | tuple[type, ...]] = {
    "qrels": str,
    "queries": (str, list),
    "measures": (str, list),
    "k": int,
    "by": str,
    "profile": str,
    "format": str,
    "order": str,
    "ties": str,
    "undefined": str,
    "duplicates": str,
    "conflicts": str,
    "grade_map": str,
    "max_grade": (int, float),
    "depth": int,
    "collapse": str,
    "collapse_separator": str,
    "collapse_mapping": str,
    "collapse_unmatched": str,
    "judgments": str,
    "ignore_self": bool,
    "comments": bool,
    "bounds": bool,
    "interval": str,
    "seed": int,
    "plugin": (str, list),
    "input_format": str,
    "qrels_format": str,
}
"""What `leadline.toml` may say and the kind of each value; the environment has the same names in capitals."""


TABLES = ("gate",)
"""The tables that may stand in the file beside these; the room that owns one checks what is in it."""

PATHS = ("qrels", "queries", "collapse_mapping")
WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list"}


@dataclass(frozen=True)
class Settings:
    """What the environment and `leadline.toml` say, where no option does."""

    file: Mapping[str, Any]
    path: Path | None = None

    @classmethod
    def nearest(cls, start: Path | None = None) -> "Settings":
        """The settings of the nearest `leadline.toml` from the folder `start` upward; empty where there is none.

        Raises
        ------
        InputError: the file is no TOML, or a value is of the wrong kind. UnknownNameError: an unknown key.
        """
        folder = (start or Path.cwd()).resolve()
        for place in (folder, *folder.parents):
            path = place / FILE
            if path.is_file():
                return cls(_checked(path), path)
        return cls({})

    @classmethod
    def of(cls, path: Path) -> "Settings":
        """The settings of one file, whatever its name.

        Raises
        ------
        InputError, UnknownNameError: as `nearest`.
        """
        return cls(_checked(path), path)

    def value(self, name: str, given: Any = None, default: Any = None) -> Any:
        """The value of one setting: as given, else from the environment, the file, or the default.

        Raises
        ------
        UsageError: the environment's value is not of the setting's kind.
        """
        if given not in (None, [], ()):
            return given
        names = [name, "measure"] if name == "measures" else [name]
        for text in (os.environ.get(f"LEADLINE_{one.upper()}") for one in names):
            if text:
                return _from_text(name, text)
        value = self.file.get(name, default)
        if name in PATHS and self.path is not None and name in self.file:
            return _beside(self.path, value)
        return value


def toml_table(text: str, name: str) -> dict[str, Any]:
    """The table that a TOML text is; `name` is the file's, for messages.

    Raises
    ------
    InputError: no TOML, a number of thousands of digits, or nested too deeply.

    >>> toml_table("k = 5", "leadline.toml")
    {'k': 5}
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{printable(name)}: is TOML that is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{printable(name)}: is no TOML: {printable(str(error))}") from None


def _beside(path: Path, value: Any) -> Any:
    """A file named in `leadline.toml`, relative to the folder of that file; words such as `judged` stay."""
    if isinstance(value, list):
        return [_beside(path, one) for one in value]
    place = path.parent / value
    return str(place) if not Path(value).is_absolute() and place.exists() else value


def _checked(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{printable(str(path))}: cannot be read ({error})") from None
    table = toml_table(text, str(path))
    for key, value in table.items():
        if key in TABLES:
            if not isinstance(value, dict):
                raise InputError(
                    f"{printable(str(path))}: {key} is a table: write [{key}] above its settings"
                )
            continue
        if key not in KINDS:
            raise UnknownNameError("setting", key, [*KINDS, *TABLES], where=str(path))
        if not isinstance(value, KINDS[key]) or (isinstance(value, bool) and KINDS[key] is not bool):
            wanted = KINDS[key]
            kinds = " or ".join(WORDS[kind] for kind in (wanted if isinstance(wanted, tuple) else (wanted,)))
            raise InputError(f"{printable(str(path))}: {key} = {value!r} is not {kinds}")
    return table


def _from_text(name: str, text: str) -> Any:
    kind = KINDS.get(name, str)
    wanted = kind if isinstance(kind, tuple) else (kind,)
    if bool in wanted:
        if text.lower() in ("1", "true", "yes"):
            return True
        if text.lower() in ("0", "false", "no"):
            return False
        raise UsageError(f"LEADLINE_{name.upper()}={text!r} is neither true nor false")
    if int in wanted or float in wanted:
        try:
            return float(text) if float in wanted else int(text)
        except ValueError:
            raise UsageError(f"LEADLINE_{name.upper()}={text!r} is not a number") from None
    return text

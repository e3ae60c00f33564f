"""Recorded replies in a JSONL file, played in the place of the model that gave them. (Signature; the body follows.)"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leadline.models.cache import Cache
from leadline.models.call import Call, Model, Reply


class Replay:
    """Answers with recorded replies. `name`, `endpoint` and `parameters` are those of the model that gave them, so that
    keys, and who the judge is, are the same."""

    name: str
    endpoint: str
    parameters: Mapping[str, Any]

    @classmethod
    def open(cls, path: str | Path) -> "Replay":
        """The replies of a file that `record` wrote.

        Raises
        ------
        InputError: the file cannot be read. RowsError: wrong lines.
        """
        raise NotImplementedError

    async def ask(self, call: Call) -> Reply:
        """The recorded reply.

        Raises
        ------
        ModelError: there is none for this call.
        """
        raise NotImplementedError


def record(cache: Cache, path: str | Path, model: Model | None = None) -> int:
    """Write the replies of a cache as a file for `Replay.open`; how many. `model` chooses where the cache holds several models'.

    Raises
    ------
    UsageError: several models and none chosen, or the file cannot be written.
    """
    raise NotImplementedError

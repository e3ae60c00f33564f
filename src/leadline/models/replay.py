"""Recorded replies in a JSONL file, played in the place of the model that gave them: for tests, and for those without a key."""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from leadline.errors import SHOWN_ROWS, InputError, RowFault, RowsError, UsageError, printable
from leadline.models.cache import Cache
from leadline.models.call import Call, Model, ModelError, Reply, key_of

VERSION = 1


class Replay:
    """Answers with recorded replies.

    Attributes
    ----------
    name, endpoint, parameters: of the model that gave the replies, so that their keys, and who the judge is, are the same.
    """

    def __init__(
        self,
        name: str,
        endpoint: str,
        parameters: Mapping[str, Any],
        replies: Mapping[str, Reply],
        source: str = "replay",
    ) -> None:
        self.name, self.endpoint, self.parameters, self.replies, self.source = (
            name,
            endpoint,
            parameters,
            replies,
            source,
        )

    @classmethod
    def open(cls, path: str | Path) -> "Replay":
        """The replies of a file that `record` wrote: a line about the model, then a line for each reply.

        Raises
        ------
        InputError: the file cannot be read, or is no such file. RowsError: wrong lines, with their numbers.
        """
        source = str(path)
        try:
            lines = Path(path).read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{printable(source)}: cannot be read ({error})") from None
        head = _object(lines[0])
        wanted = {"replies": int, "model": str, "endpoint": str, "parameters": dict}
        if head is None or not all(isinstance(head.get(name), kind) for name, kind in wanted.items()):
            raise InputError(
                f"{printable(source)}: no file of recorded replies: its first line names no model"
            )
        if head["replies"] != VERSION:
            raise InputError(
                f"{printable(source)}: recorded replies of version {head['replies']}; {VERSION} is read"
            )
        found, faults = {}, []
        for number, line in enumerate(lines[1:], start=2):
            if line.strip():
                row = _object(line) or {}
                reply = _reply(row.get("reply"))
                if isinstance(row.get("key"), str) and reply is not None:
                    found[row["key"]] = reply
                else:
                    faults.append(RowFault(number, None, line, "a key and a reply were expected"))
        if faults:
            raise RowsError(source, faults[:SHOWN_ROWS], len(faults))
        return cls(head["model"], head["endpoint"], head["parameters"], found, source)

    async def ask(self, call: Call) -> Reply:
        """The recorded reply.

        Raises
        ------
        ModelError: there is none for this call.
        """
        reply = self.replies.get(key_of(self, call))
        if reply is None:
            raise ModelError(
                f"{printable(self.source)}: no recorded reply for {printable(call.name)!r}: prompt, schema or parser differ from "
                "what was asked when it was recorded; ask the endpoint, and record again"
            )
        return reply


def record(cache: Cache, path: str | Path, model: Model | None = None) -> int:
    """Write the replies of a cache as a file for `Replay.open`, whole or not at all; how many.

    Parameters
    ----------
    model: whose replies, where the cache holds those of several.

    Raises
    ------
    UsageError: several models and none chosen, no reply at all, or the file cannot be written.
    """
    known = cache.models()
    if model is not None:
        own = (model.endpoint, model.name, json.dumps(dict(model.parameters), sort_keys=True))
        known = [one for one in known if one == own]
    if not known:
        raise UsageError(
            f"{printable(cache.name)}: there is no reply to record" + (" of this model" if model else "")
        )
    if len(known) > 1:
        names = "; ".join(printable(f"{name} at {endpoint} {said}") for endpoint, name, said in known)
        raise UsageError(f"{printable(cache.name)}: replies of several models, choose one: {names}")
    endpoint, name, parameters = known[0]
    head = {"replies": VERSION, "model": name, "endpoint": endpoint, "parameters": json.loads(parameters)}
    lines = [json.dumps({"key": key, "reply": asdict(reply)}) for key, reply in cache.replies(*known[0])]
    _write(Path(path), "\n".join([json.dumps(head), *lines]) + "\n")
    return len(lines)


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name[:200]}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write to {printable(str(path))}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _reply(value: Any) -> Reply | None:
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return None
    words: dict[str, Any] = {name: value.get(name, "") for name in ("model", "finish")}
    counts: dict[str, Any] = {name: value.get(name) for name in ("prompt_tokens", "completion_tokens")}
    good = all(isinstance(word, str) for word in words.values()) and all(
        count is None or (isinstance(count, int) and not isinstance(count, bool) and count >= 0)
        for count in counts.values()
    )
    return Reply(value["text"], **words, **counts) if good else None

"""The options of commands that ask a model: which model where, with what parameters, and what may be spent."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.errors import UsageError, printable

if TYPE_CHECKING:
    from leadline.models.cache import Cache
    from leadline.models.call import Limits, Model

CACHE = "autojudge-cache.db"
"""The file of replies where no other is named, beside the book or the file that is written."""

ModelName = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="The model, as its endpoint knows it.")
]
EndpointUrl = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        metavar="URL",
        help="The base URL of an OpenAI-compatible server; its key is in LEADLINE_API_KEY or OPENAI_API_KEY.",
    ),
]
Temperature = Annotated[float | None, typer.Option(min=0, help="Sent with every call (default: 0).")]
MaxTokens = Annotated[
    int | None,
    typer.Option(min=1, help="The longest reply in tokens (default: 200 and 60 for each passage)."),
]
ModelSeed = Annotated[int | None, typer.Option(help="Sent with every call, for servers that take one.")]
Parameter = Annotated[
    list[str] | None,
    typer.Option(
        "--param", metavar="NAME=JSON", help="Another parameter sent with every call; null leaves one out."
    ),
]
NoSchema = Annotated[
    bool, typer.Option("--no-schema", help="Send no JSON schema, for servers that take no response_format.")
]
Concurrency = Annotated[int, typer.Option(min=1, help="Calls on their way at most.")]
Timeout = Annotated[float | None, typer.Option(min=0.001, help="Seconds for one request (default: 60).")]
MaxCalls = Annotated[int | None, typer.Option(min=0, help="Budget: requests, tries included.")]
MaxTokensTotal = Annotated[int | None, typer.Option(min=0, help="Budget: tokens of prompts and replies.")]
MaxMoney = Annotated[
    float | None, typer.Option(min=0, help="Budget in the unit of the prices, which it needs.")
]
PromptPrice = Annotated[
    float | None, typer.Option(metavar="PRICE", min=0, help="Price of a million tokens of prompts.")
]
CompletionPrice = Annotated[
    float | None, typer.Option(metavar="PRICE", min=0, help="Price of a million tokens of replies.")
]
CacheFile = Annotated[
    str | None,
    typer.Option(
        "--cache",
        metavar="FILE",
        help="Where replies are kept (default: autojudge-cache.db beside the book or the file written).",
    ),
]
ReplayFile = Annotated[
    str | None,
    typer.Option(
        "--replay", metavar="FILE", help="Recorded replies in the place of a model: nothing is sent."
    ),
]

SENT = ("temperature", "max_tokens", "seed", "param", "no_schema", "timeout")
"""Options of what is sent, and how: they say nothing where replies are played again, whose recording has its parameters."""
TIMEOUT = 60.0


def model_of(chosen: Mapping[str, Any], batch: int) -> "Model":
    """The model of the options: recorded replies, or an endpoint.

    Raises
    ------
    UsageError: neither, both, parameters that are none, or parameters of a recording. InputError: it cannot be read.
    """
    from leadline.models.endpoint import Endpoint
    from leadline.models.replay import Replay

    name, url = chosen["model"], chosen["endpoint"]
    if chosen["replay"] is not None:
        if url is not None:
            raise UsageError("--replay plays recorded replies, --endpoint asks a server: name one of them")
        idle = next((one for one in SENT if chosen[one] not in (None, []) and chosen[one] is not False), None)
        if idle is not None:
            option = f"--{idle.replace('_', '-')}"
            raise UsageError(
                f"{option} would be sent to a server, and --replay sends nothing: the recording has its parameters"
            )
        replay = Replay.open(chosen["replay"])
        if name not in (None, replay.name):
            raise UsageError(
                f"{printable(chosen['replay'])}: replies of {printable(replay.name)}, not {printable(name)}"
            )
        return replay
    if name is None or url is None:
        raise UsageError(
            "name the judge: --model NAME --endpoint URL, such as --endpoint http://localhost:8000/v1 (there is no default)"
        )
    timeout = TIMEOUT if chosen["timeout"] is None else chosen["timeout"]
    return Endpoint(name, url, parameters_of(chosen, batch), timeout=timeout, schema=not chosen["no_schema"])


def parameters_of(chosen: Mapping[str, Any], batch: int = 1) -> dict[str, Any]:
    """What is sent with every call; a parameter of null is left out.

    Raises
    ------
    UsageError: not of the form NAME=JSON, or a name twice.

    >>> chosen = {"temperature": None, "max_tokens": None, "seed": None, "param": ["top_p=0.5", "temperature=null"]}
    >>> parameters_of(chosen)
    {'max_tokens': 260, 'top_p': 0.5}
    """
    given: dict[str, Any] = {}
    for text in chosen["param"] or []:
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or name.strip() in given:
            raise UsageError(f"--param {printable(text)!r}: expected NAME=JSON, each name once")
        given[name.strip()] = _value(value)
    most = chosen["max_tokens"]
    if most is None and "max_completion_tokens" not in given:
        most = 200 + 60 * batch
    usual = {"temperature": _short(chosen["temperature"] or 0), "max_tokens": most, "seed": chosen["seed"]}
    return {name: value for name, value in (usual | given).items() if value is not None}


def _value(text: str) -> Any:
    """JSON; what is none is taken as text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _short(number: float) -> float:
    """0 and 0.0 are one temperature, and must be one judge."""
    return int(number) if float(number).is_integer() else number


def limits_of(chosen: Mapping[str, Any]) -> "Limits":
    """What may be spent by the options.

    Raises
    ------
    UsageError: a limit in money without both prices.
    """
    from leadline.models.budget import checked_limits
    from leadline.models.call import Limits

    limits = Limits(
        chosen["max_calls"],
        chosen["max_tokens_total"],
        chosen["max_money"],
        chosen["prompt_price"],
        chosen["completion_price"],
    )
    checked_limits(limits)
    return limits


def cache_of(
    chosen: Mapping[str, Any], beside: Sequence[str | None], dry: bool
) -> "AbstractContextManager[Cache | None]":
    """The cache of replies; none where replies are replayed, and in a dry run none that is not there yet.

    Parameters
    ----------
    beside: places of what is written; the first path among them names the folder.
    """
    from leadline.formats.bookfile import is_server
    from leadline.models.cache import Cache

    place = chosen["cache"]
    if place is None and chosen["replay"] is not None:
        return nullcontext()
    if place is None:
        folder = next((Path(path).parent for path in beside if path and not is_server(path)), Path())
        place = str(folder / CACHE)
    if dry and not Path(place).exists():
        return nullcontext()
    return Cache.open(place)

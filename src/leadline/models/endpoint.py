"""A model behind an OpenAI-compatible address (vLLM, Ollama, llama.cpp, a cloud), asked through the `openai` client."""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leadline.errors import MissingExtraError, UsageError, printable
from leadline.models.address import checked_address
from leadline.models.call import Call, ModelError, Reply, key_of
from leadline.models.faults import excerpt, refused
from leadline.models.keys import api_key, hide_query, without_keys

if TYPE_CHECKING:
    from openai import AsyncOpenAI

LARGEST = 8 << 20
"""The largest answer that is read, in bytes."""
OWN = ("model", "messages", "stream", "n", "response_format")
"""What a parameter cannot set, since the call says it, or since more than one answer would come back."""
UNTOLD = (
    "Lang",
    "Package-Version",
    "OS",
    "Arch",
    "Runtime",
    "Runtime-Version",
    "Async",
    "Retry-Count",
    "Read-Timeout",
)
"""What the client would tell every server about this machine in headers `X-Stainless-…`; it is not sent."""


class Endpoint:
    """A model at a base URL. Its key is in the environment: `LEADLINE_API_KEY`, else `OPENAI_API_KEY`, else none is sent.

    Parameters
    ----------
    name: the model, as the server knows it. base_url: http(s), without credentials; a query string is sent, never shown.
    parameters: sent with every call: temperature, max_tokens, seed, … timeout: seconds for the whole of one request.
    schema: False sends no `response_format`; it then stands in `parameters` as None, since that is another judge.

    Raises
    ------
    UsageError: no usable address, or parameters that cannot be sent.

    >>> Endpoint("small", "http://localhost:8000/v1/", {"temperature": 0})
    Endpoint('small', 'http://localhost:8000/v1', {'temperature': 0})
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout: float = 60.0,
        schema: bool = True,
    ) -> None:
        self.name, self.schema, self.timeout = name, schema, timeout
        self.endpoint, self._query = checked_address(base_url)
        self.parameters = _checked(parameters or {}) | ({} if schema else {"response_format": None})
        if not name or not name.isprintable():
            raise UsageError("a model has a name, as its endpoint knows it")
        if not timeout > 0:
            raise UsageError(f"a time-out is above 0 seconds, not {timeout}")
        if self._query:
            hide_query(self.endpoint)
        self._open: tuple[asyncio.AbstractEventLoop, str, AsyncOpenAI] | None = None

    def __repr__(self) -> str:
        """Model, address and parameters: nothing that is secret."""
        return f"Endpoint({self.name!r}, {self.endpoint!r}, {self.parameters!r})"

    async def ask(self, call: Call) -> Reply:
        """Ask once.

        Raises
        ------
        ModelError: no answer. MissingExtraError: `openai` is not installed. UsageError: a key that cannot be sent.
        """
        client = self._client()
        from openai import APIConnectionError, APIStatusError, OpenAIError

        where = self.endpoint
        try:
            async with asyncio.timeout(self.timeout):
                status, data = await self._exchange(client, call)
        except APIStatusError as error:
            heads = {name.lower(): value for name, value in error.response.headers.items()}
            raise refused(error.status_code, heads, error.body, where, api_key()[1], time.time()) from None
        except (TimeoutError, APIConnectionError) as error:
            raise self._unheard(error) from None
        except UnicodeEncodeError:
            raise ModelError(
                f"the prompt of {printable(call.name)!r} holds half a character (a surrogate)"
            ) from None
        except OpenAIError as error:
            raise ModelError(f"{where}: {excerpt(str(error))}") from None
        return _reply(data, where, status)

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        if self._open is not None:
            loop, _, client = self._open
            self._open = None
            if loop is asyncio.get_running_loop():
                await client.close()

    async def _exchange(self, client: "AsyncOpenAI", call: Call) -> tuple[int, bytes]:
        sent = {name: value for name, value in self.parameters.items() if name not in OWN}
        if self.schema and call.schema is not None:
            inner = {"name": "answer", "strict": True, "schema": dict(call.schema)}
            sent["response_format"] = {"type": "json_schema", "json_schema": inner}
        messages: Any = [{"role": message.role, "content": message.text} for message in call.messages]
        async with client.chat.completions.with_streaming_response.create(
            model=self.name,
            messages=messages,
            extra_body=sent,
            extra_headers={"Idempotency-Key": key_of(self, call)},
        ) as response:
            data = bytearray()
            try:
                async for piece in response.iter_bytes():
                    data += piece
                    if len(data) > LARGEST:
                        raise ModelError(f"{self.endpoint}: an answer of over {LARGEST >> 20} MB")
            except (ModelError, TimeoutError):
                raise
            except Exception as error:
                # The client hands on what its HTTP library raises, and that has changed its name between versions.
                raise self._unheard(error) from None
            return response.status_code, bytes(data)

    def _unheard(self, error: Exception) -> ModelError:
        if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
            text = f"{self.endpoint}: no answer within {self.timeout:g} s"
            return ModelError(text, again=True, unsure=True)
        cause = error.__cause__ or error
        said = excerpt(str(cause)) or type(cause).__name__
        if "certificate" in said.lower():
            return ModelError(f"{self.endpoint}: the certificate is refused: {said}", every=True)
        never = type(cause).__name__ in ("ConnectError", "UnsupportedProtocol", "LocalProtocolError")
        return ModelError(f"{self.endpoint}: the connection broke: {said}", again=True, unsure=not never)

    def _client(self) -> "AsyncOpenAI":
        """The client of this event loop and key: connections belong to the loop that opened them."""
        try:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient
            from openai import Omit as Nothing
        except ImportError:
            raise MissingExtraError("asking a model", "judge") from None
        key, variable = api_key()
        loop = asyncio.get_running_loop()
        if self._open is not None and self._open[0] is loop and self._open[1] == variable:
            return self._open[2]
        heads: dict[str, Any] = {f"X-Stainless-{name}": Nothing() for name in UNTOLD}
        if variable != "OPENAI_API_KEY":
            # These two go with that key, and come from the environment as well.
            heads |= {"OpenAI-Organization": Nothing(), "OpenAI-Project": Nothing()}
        client = AsyncOpenAI(
            api_key=key,
            base_url=self.endpoint,
            max_retries=0,
            timeout=self.timeout,
            default_headers=heads,
            default_query=dict(self._query),
            http_client=DefaultAsyncHttpxClient(follow_redirects=False),
        )
        self._open = (loop, variable, client)
        return client


def _checked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    for name in parameters:
        if name in OWN:
            raise UsageError(f"the parameter {name} is set by the call itself")
    try:
        made = json.loads(json.dumps(dict(parameters), allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise UsageError(
            "parameters are plain JSON: text, numbers, true, false, null, lists, objects"
        ) from None
    assert isinstance(made, dict)
    return made


def _reply(data: bytes, where: str, status: int) -> Reply:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        shown = excerpt(data[:2000].decode("utf-8", "replace")) or "nothing"
        text = f"{where}: HTTP {status} with something that is no JSON: {shown}"
        raise ModelError(text, status=status, every=True, unsure=True) from None
    if isinstance(body, dict) and not body.get("choices") and body.get("error"):
        # Some gateways hand on the error of the server behind them under the status 200.
        inner = body["error"].get("code") if isinstance(body["error"], dict) else None
        known = isinstance(inner, int) and not isinstance(inner, bool) and 400 <= inner < 600
        raise refused(inner if known and inner is not None else 502, {}, body, where, "", time.time())
    choices = body.get("choices") if isinstance(body, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if (
        not isinstance(first, dict)
        or not isinstance(message, dict)
        or not isinstance(content, (str, type(None)))
    ):
        wrong = "no choices" if choices == [] else "an answer in another shape than chat completions have"
        text = f"{where}: {wrong}: {excerpt(data[:2000].decode('utf-8', 'replace'))}"
        raise ModelError(text, status=status, every=choices != [], unsure=True)
    said, finish = content or "", first.get("finish_reason")
    if content is None and isinstance(message.get("refusal"), str):
        said, finish = message["refusal"], "refusal"
    usage = body.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    model = body.get("model")
    return Reply(
        without_keys(said),
        without_keys(model) if isinstance(model, str) else "",
        without_keys(finish) if isinstance(finish, str) else "",
        _count(counts.get("prompt_tokens")),
        _count(counts.get("completion_tokens")),
    )


def _count(value: Any) -> int | None:
    """A number of tokens that can be one; None for what cannot."""
    good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40
    return int(value) if good else None

"""A model behind an OpenAI-compatible address, asked through the `openai` client. (Signature; the body follows.)"""

from collections.abc import Mapping
from typing import Any

from leadline.models.call import Call, Reply


class Endpoint:
    """A model at a base URL (vLLM, Ollama, llama.cpp, a cloud).

    Parameters
    ----------
    name: the model, as the server knows it. base_url: http(s), without credentials; a query string is sent, never shown.
    parameters: sent with every call: temperature, max_tokens, seed, … timeout: seconds for the whole of one request.
    schema: False sends no `response_format`; it then stands in `parameters` as None, since that is another judge.

    Raises
    ------
    UsageError: no usable address, or parameters that cannot be sent.
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
        self.name, self.endpoint, self.parameters = name, base_url, dict(parameters or {})

    async def ask(self, call: Call) -> Reply:
        """Ask once.

        Raises
        ------
        ModelError: no answer. MissingExtraError: `openai` is not installed.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Close the connections."""

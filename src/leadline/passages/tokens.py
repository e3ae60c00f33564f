"""How long a text is, in characters, words or a model's tokens; and its longest beginning within a budget."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from leadline.errors import InputError, MissingExtraError, UsageError, printable

WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Tokenizer:
    """A way to count. `cut(text, n)` is the longest beginning of the text with at most n of its units."""

    name: str
    count: Callable[[str], int]
    cut: Callable[[str, int], str]

    @property
    def unit(self) -> str:
        """What is counted, in the plural."""
        return {"chars": "characters", "words": "words"}.get(self.name, "tokens")


def tokenizer(name: str) -> Tokenizer:
    """The tokenizer `chars`, `words` (runs without white space) or `tiktoken:NAME` (an encoding, or a model).

    tiktoken fetches an encoding's table once, unless TIKTOKEN_CACHE_DIR has it: the only network this asks for.

    Raises
    ------
    UsageError: no such tokenizer. MissingExtraError: tiktoken is not installed. InputError: its table is not to be had.

    >>> words = tokenizer("words")
    >>> words.count("one  two three"), words.cut("one  two three", 2)
    (3, 'one  two')
    """
    if name == "chars":
        return Tokenizer(name, len, lambda text, n: text[:n])
    if name == "words":
        return Tokenizer(name, lambda text: sum(1 for _ in WORD.finditer(text)), _cut_words)
    kind, _, own = name.partition(":")
    if kind != "tiktoken" or not own:
        raise UsageError(
            f"--tokenizer {printable(name)!r} is not one of chars, words, tiktoken:NAME (such as o200k_base)"
        )
    encoding = _encoding(own)

    def encode(text: str) -> list[int]:
        # A text that spells a special token is text here, as it is when it is sent.
        return list(encoding.encode(text, disallowed_special=()))

    def cut(text: str, n: int) -> str:
        tokens = encode(text)
        if len(tokens) <= n:
            return text
        # A token may end within a character: what is left of it is not a beginning of the text.
        return bytes(encoding.decode_bytes(tokens[:n])).decode("utf-8", "ignore")

    return Tokenizer(name, lambda text: len(encode(text)), cut)


def _encoding(name: str) -> Any:
    try:
        import tiktoken
    except ImportError:
        raise MissingExtraError(f"--tokenizer tiktoken:{name}", "tokens") from None
    try:
        if name in tiktoken.list_encoding_names():
            return tiktoken.get_encoding(name)
        return tiktoken.encoding_for_model(name)
    except KeyError:
        known = ", ".join(tiktoken.list_encoding_names())
        raise UsageError(
            f"tiktoken knows no encoding or model {printable(name)!r}; encodings: {known}"
        ) from None
    except Exception as error:
        raise InputError(
            f"tiktoken:{printable(name)}: its table cannot be had ({type(error).__name__}); tiktoken fetches it once, "
            "or finds it in TIKTOKEN_CACHE_DIR"
        ) from None


def _cut_words(text: str, n: int) -> str:
    if n <= 0:
        return ""
    for place, word in enumerate(WORD.finditer(text), start=1):
        if place == n:
            # What is left is white space: the text is whole.
            return text if WORD.search(text, word.end()) is None else text[: word.end()]
    return text

"""A model that needs no server: it answers by a function or from a list, for tests and for trying things out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from leadline.models.call import Call, ModelError, Reply

Said = str | Reply | ModelError


@dataclass
class Stub:
    """Answers with what it is given, and keeps what it was asked.

    Attributes
    ----------
    answer: the text of every answer; a function of the call; or a list that is used up call by call. A `ModelError` is raised.
    asked: the calls so far.

    >>> from leadline.models.waiting import result_of
    >>> result_of(lambda: Stub("yes").ask(Call("a", ()))).text
    'yes'
    """

    answer: Said | Callable[[Call], Said] | Sequence[Said] = ""
    name: str = "stub"
    endpoint: str = "stub"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    asked: list[Call] = field(default_factory=list)

    async def ask(self, call: Call) -> Reply:
        """Answer as told.

        Raises
        ------
        ModelError: as told, or there is nothing left to answer with.
        """
        self.asked.append(call)
        said = self._said(call)
        if isinstance(said, ModelError):
            raise said
        return said if isinstance(said, Reply) else Reply(said, self.name, "stop")

    def _said(self, call: Call) -> Said:
        if isinstance(self.answer, (str, Reply, ModelError)):
            return self.answer
        if callable(self.answer):
            return self.answer(call)
        place = len(self.asked) - 1
        return self.answer[place] if place < len(self.answer) else ModelError("the stub has no answer left")

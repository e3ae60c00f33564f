"""What the server refuses: a status, a word that programs read, and a sentence for people."""

from leadline.errors import LeadlineError


class Refusal(LeadlineError):
    """A request that is refused; nothing of it was stored.

    >>> Refusal(409, "full", "two people have graded it").code
    'full'
    """

    def __init__(self, status: int, code: str, message: str, wait: int | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.wait = status, code, wait


def unknown(what: str) -> Refusal:
    """The refusal of something that is not there."""
    return Refusal(404, "unknown", f"there is no such {what}")

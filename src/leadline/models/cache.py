"""Every paid reply in one SQLite file. (Signature; the body follows.)"""

from pathlib import Path


class Cache:
    """Replies by key; a context manager.

    >>> # with Cache.open("replies.db") as cache: answers_of(model, calls, cache=cache)
    """

    @classmethod
    def open(cls, path: str | Path) -> "Cache":
        """The cache at a path, made where there is none.

        Raises
        ------
        InputError: not a cache, damaged, a later version's, or not to be opened.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> "Cache":
        """The cache, closed at the end of the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        self.close()

"""Books of both kinds for the tests of the server, as the tests of the book have them."""

from shared.books import server, target

__all__ = ["server", "target"]

"""Tests against real collections and collected cases, which stand outside the project."""

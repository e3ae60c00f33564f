"""Fuzzing of every reader, guided by coverage: bytes in, a result or one clear error out."""

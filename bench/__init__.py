"""Leadline and its peers side by side: whole processes, from files to printed means."""

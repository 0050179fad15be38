"""One line out of many."""

from __future__ import annotations

HEADLINE = 300


def headline(text: str) -> str:
    """The line of a traceback that names the error: the last one that is not indented; empty for an empty text."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    named = [line for line in lines if not line[0].isspace()] or lines
    return named[-1].strip()[:HEADLINE] if named else ""

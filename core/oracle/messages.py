"""One line out of many."""

from __future__ import annotations

HEADLINE = 300


def headline(text: str) -> str:
    """The line of a traceback that names the error, in Python's style or pytest's; empty for an empty text."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    marked = [line[1:].strip() for line in lines if line.startswith("E  ")]
    if marked:
        return marked[0][:HEADLINE]
    named = [line for line in lines if not line[0].isspace()] or lines
    return named[-1].strip()[:HEADLINE] if named else ""

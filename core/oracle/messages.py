"""One line out of many."""

from __future__ import annotations

HEADLINE = 300


def headline(text: str) -> str:
    """The line that names the error: marked by pytest, else first where frames follow it, else last. May be empty."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    marked = [line[1:].strip() for line in lines if line.startswith("E  ")]
    if marked:
        # Of a syntax error the place comes first, then the code.
        first = f"{marked[-1]} ({marked[0]})" if marked[0].startswith('File "') else marked[0]
        return first[:HEADLINE]
    named = [line for line in lines if not line[0].isspace()] or lines
    turned = lines[:1] == named[:1] and not text.startswith("Traceback") and _has_frames(lines)
    return named[0 if turned else -1].strip()[:HEADLINE] if named else ""


def _has_frames(lines: list[str]) -> bool:
    return any(line.startswith('  File "') for line in lines)

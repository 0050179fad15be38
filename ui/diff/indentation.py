"""The indentation that a region's first line lost: its span starts at the first statement."""

from __future__ import annotations

import ast
import textwrap
import warnings

from ui.diff.lines import split


def lost_indentation(text: str) -> str:
    """What the first line lacks, where that is certain: without it the text does not parse, with it it does."""
    lines = split(text).texts
    if len(lines) < 2 or lines[0][:1].isspace() or _parses(text):
        return ""
    found = {line[: len(line) - len(line.lstrip())] for line in lines[1:] if line.strip()}
    fitting = (each for each in sorted(found, key=len) if _parses(textwrap.dedent(each + text)))
    return next(fitting, "")


def restored(text: str, indent: str) -> str:
    """The text with its first line indented, unless it is already."""
    return text if not text or text[:1].isspace() else indent + text


def _parses(text: str) -> bool:
    """Whether Python reads it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True

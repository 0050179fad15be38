"""The indentation that a region's first line lost: its span starts at the first statement."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Sequence

from ui.diff.lines import split


def lost_indentation(text: str) -> str:
    """What the first line lacks: certain for several statements, judged by the first line's end for a single one."""
    lines = split(text).texts
    if len(lines) < 2 or lines[0][:1].isspace():
        return ""
    found = {line[: len(line) - len(line.lstrip())] for line in lines[1:] if line.strip()}
    # A single statement reads as Python with any indentation of its later lines.
    if _parses(text):
        return _of_one_statement(lines, min(found, key=len, default=""))
    fitting = (each for each in sorted(found, key=len) if _parses(textwrap.dedent(each + text)))
    return next(fitting, "")


def _of_one_statement(lines: Sequence[str], least: str) -> str:
    """Lines that close it stand below its first one; without such a line the others stand one step further in."""
    if any(line.startswith(least) and _CLOSING.match(line[len(least) :]) for line in lines[1:]):
        return least
    step = "\t" if least.endswith("\t") else STEP
    return least.removesuffix(step) if least.endswith(step) and lines[0].rstrip().endswith(_OPEN) else ""


STEP = "    "
_OPEN = (":", "(", "[", "{")
_CLOSING = re.compile(r"[)\]}]|(else|elif|except|finally)\b")
"""How a line of the same statement begins that stands as far left as its first line."""


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

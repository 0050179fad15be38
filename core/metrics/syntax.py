"""Whether two pieces of Python are the same to the parser."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator

_INDENT = re.compile(r"(?:\r\n|\r|\n)([ \t]*)(?=[^ \t\r\n#])")
_LONGEST = 100_000
"""Characters; the parser could run out of stack on longer, deeply nested code."""


def same_syntax_tree(candidate: str, reference: str) -> bool:
    """Equal trees, with positions, comments and layout aside; False when either does not parse. Never raises."""
    tree = syntax_tree(candidate)
    return tree is not None and tree == syntax_tree(reference)


def syntax_tree(text: str) -> str | None:
    """A canonical text of the tree of some statements, None when they do not parse. Never raises.

    The statements may be indented, and the first line may lack the indentation of the others, as in a region's text.
    """
    if len(text) > _LONGEST:
        return None
    for source in _readings(text):
        tree = _parsed(source)
        if tree is not None:
            return tree
    return None


def _readings(text: str) -> Iterator[str]:
    """The text as a file of its own, then inside a block at each indentation that its lines suggest."""
    yield text
    yield f"if 1:\n{text}"
    for indent in sorted(set(_INDENT.findall(text)) - {""}, key=len):
        yield f"if 1:\n{indent}{text}"


def _parsed(source: str) -> str | None:
    """The canonical tree, without the block that `_readings` may have put around it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a candidate's bad escapes are not our warnings
            body = ast.parse(source).body
            if source.startswith("if 1:\n") and len(body) == 1 and isinstance(body[0], ast.If):
                body = body[0].body
            return "\n".join(ast.dump(statement) for statement in body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None

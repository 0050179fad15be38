"""Whether two pieces of Python are the same to the parser."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rtc_inspector.core.syntax import AnyFunction, first_line_of, parsed

_INDENT = re.compile(r"(?:\r\n|\r|\n)([ \t]*)(?=[^ \t\r\n#])")
_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"\"\"\"|\'\'\'|:\s+[rR]?[\"\']")
"""Where there is nothing like it, there is no docstring, and nothing need be parsed."""
_GONE = b"\0"
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
    for head in heads(text):
        tree = parsed(head + text)
        if tree is None:
            continue
        body = tree.body
        if head and len(body) == 1 and isinstance(body[0], ast.If):
            body = body[0].body
        try:
            return "\n".join(ast.dump(statement) for statement in body)
        except RecursionError:
            return None
    return None


def plain_code(text: str) -> str:
    """The code that two sides are compared by: fences around it and docstrings in it are gone, comments stay.

    Code that does not parse keeps everything but its fences. Never raises.
    """
    fenced = _FENCED.search(text)
    text = fenced.group(1) if fenced else text
    if len(text) > _LONGEST or not _QUOTED.search(text):
        return text
    for head in heads(text):
        tree = parsed(head + text)
        if tree is not None:
            return _without_docstrings(head + text, tree)[len(head) :]
    return text


def function_of(program: str, name: str) -> str | None:
    """The source of the last function of that name at the top of a program, decorators included; None without one."""
    tree = parsed(program) if len(program) <= _LONGEST else None
    found = [node for node in tree.body if isinstance(node, AnyFunction) and node.name == name] if tree else []
    if not found:
        return None
    return "\n".join(program.split("\n")[first_line_of(found[-1]) - 1 : found[-1].end_lineno])


def _without_docstrings(source: str, tree: ast.Module) -> str:
    lines = source.encode().split(b"\n")  # the tree counts bytes
    for node in ast.walk(tree):
        if not isinstance(node, AnyFunction | ast.ClassDef) or ast.get_docstring(node, clean=False) is None:
            continue
        text = node.body[0]
        first, last = text.lineno - 1, (text.end_lineno or text.lineno) - 1
        before, after = lines[first][: text.col_offset], lines[last][text.end_col_offset :]
        after = after.lstrip(b" \t;")
        # Marked, not removed: the numbers of the lines after it still hold.
        lines[first : last + 1] = [before + after if before.strip() or after.strip() else _GONE] + [_GONE] * (
            last - first
        )
    return b"\n".join(line for line in lines if line != _GONE).decode()


def heads(text: str) -> Iterator[str]:
    """Yield what to put before a text to parse it: nothing, then a block at each indentation that its lines suggest."""
    yield ""
    yield "if 1:\n"
    for indent in sorted(set(_INDENT.findall(text)) - {""}, key=len):
        yield f"if 1:\n{indent}"

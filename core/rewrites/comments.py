"""Take out of a program what is said in it to people: comments and docstrings."""

from __future__ import annotations

import ast
import io
import re
import tokenize

from rtc_inspector.core.syntax import parsed

_BARE_TEXT = re.compile(r'^[ \t]*[rbuRBU]{0,2}("""|\'\'\')(?:.|\n)*?(?:\1|\Z)[ \t]*$', re.MULTILINE)
_COMMENT_LINE = re.compile(r"^[ \t]*#.*\n?", re.MULTILINE)


def without_comments(source: str) -> str:
    """The program without comments and without texts that stand alone as statements, docstrings among them.

    What is left stands as it did. A block that held nothing else gets a `pass`. Source that does not parse is treated
    by its lines: what begins as a comment goes, and so do texts in triple quotes that begin a line.
    """
    tree = parsed(source)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (SyntaxError, tokenize.TokenError):
        tree = None
    if tree is None:
        return _COMMENT_LINE.sub("", _BARE_TEXT.sub("", source))
    lines: list[str | None] = [*source.split("\n")]
    for token in tokens:
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = (lines[row - 1] or "")[:column].rstrip() or None
    for node in ast.walk(tree):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(block, list):
                _drop_texts(lines, block, needed=not isinstance(node, ast.Module))
    return "\n".join(line for line in lines if line is not None).strip("\n")


def _drop_texts(lines: list[str | None], block: list[ast.stmt], *, needed: bool) -> None:
    """Drop the statements of a block that are texts and nothing else; `needed`: the block must hold a statement."""
    texts = [
        node
        for node in block
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    for node in texts:
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before = (lines[first] or "").encode()[: node.col_offset].decode()
        after = (lines[last] or "").encode()[node.end_col_offset or 0 :].decode()
        if before.strip() or after.strip():
            continue  # it shares its line with code, as in `def f(): "text"`
        alone = needed and node is texts[-1] and len(texts) == len(block)
        lines[first] = f"{before}pass" if alone else None
        for row in range(first + 1, last + 1):
            lines[row] = None

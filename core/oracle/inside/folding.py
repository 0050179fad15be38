"""The text that an expression of constants comes to, however it is put together."""

from __future__ import annotations

import ast
import re

_METHODS = """
join format replace lower upper swapcase capitalize title strip lstrip rstrip decode encode
"""
METHODS = frozenset(_METHODS.split())
"""Of strings and bytes; none that makes a long text of a short one."""
FUNCTIONS = {"chr": chr, "str": str, "bytes": bytes, "reversed": reversed}
PARTS = (
    *(ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.List, ast.Dict, ast.Subscript, ast.Slice),
    *(ast.BinOp, ast.Add, ast.Mod, ast.UnaryOp, ast.USub, ast.Call, ast.keyword, ast.expr_context),
)
MOST_NODES = 80
LARGEST = 0x10FFFF
WIDTH = re.compile(r"\d{4}|\*")
"""Of a field to fill; such a text could be made as long as memory."""


def folded(node: ast.AST) -> str | None:
    """The text, where only constants and harmless operations are part of it; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if not isinstance(node, (ast.BinOp, ast.JoinedStr, ast.Call, ast.Subscript)) or not _is_constant(node):
        return None
    try:
        code = compile(ast.Expression(node), "<constant>", "eval", dont_inherit=True)
        value = eval(code, {"__builtins__": FUNCTIONS})  # nothing but what `_is_constant` knows
    except Exception:
        return None
    return value if isinstance(value, str) else None


def _is_constant(node: ast.expr) -> bool:
    methods = {id(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    for number, part in enumerate(ast.walk(node)):
        if number > MOST_NODES or not _is_known(part, id(part) in methods):
            return False
    return True


def _is_known(part: ast.AST, called: bool) -> bool:
    if isinstance(part, ast.Attribute):
        return called and part.attr in METHODS
    if isinstance(part, ast.Name):
        return called and part.id in FUNCTIONS
    if isinstance(part, ast.Constant):
        return _is_small(part.value)
    return isinstance(part, PARTS) or type(part).__name__ == "Index"  # around subscripts before Python 3.9


def _is_small(value: object) -> bool:
    if isinstance(value, int):
        return abs(value) <= LARGEST
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    return value is None or (isinstance(text, str) and not WIDTH.search(text))

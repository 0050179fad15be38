"""The text that an expression of constants comes to, however it is put together."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator

_METHODS = """
join format replace lower upper swapcase capitalize title strip lstrip rstrip decode encode
"""
METHODS = frozenset(_METHODS.split())
"""Of strings and bytes."""
FUNCTIONS = {"chr": chr, "str": str, "bytes": bytes, "reversed": reversed}
PARTS = (
    *(ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.List, ast.Dict, ast.Subscript, ast.Slice),
    *(ast.BinOp, ast.Add, ast.Mod, ast.UnaryOp, ast.USub, ast.Call, ast.keyword, ast.expr_context),
)
MOST_NODES = 80
LARGEST = 0x10FFFF
LONGEST = 10_000
"""Characters of any text on the way: texts that replace and join one another could else fill the memory."""
WIDTH = re.compile(r"\d{4}|\*")
"""Of a field to fill; such a text could be made as long as memory."""


def folded(node: ast.AST) -> str | None:
    """The text, where only constants and harmless operations are part of it; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if not isinstance(node, (ast.BinOp, ast.JoinedStr, ast.Call, ast.Subscript)) or not _is_constant(node):
        return None
    try:
        value = _value(_Folding().visit(copy.deepcopy(node)))
    except Exception:
        return None
    return value if isinstance(value, str) else None


class _Folding(ast.NodeTransformer):
    """Puts values in the place of the parts, the innermost first, so that none grows beyond its bound."""

    def _fold(self, node: ast.expr) -> ast.expr:
        self.generic_visit(node)
        value = _value(node)
        if not _is_small(value):
            raise ValueError("too long")
        return ast.copy_location(ast.Constant(value), node)  # type: ignore[arg-type]  # a tuple is one too

    visit_Call = visit_BinOp = _fold  # noqa: N815


def _value(node: ast.expr) -> object:
    """What a known expression comes to."""
    code = compile(ast.Expression(node), "<constant>", "eval", dont_inherit=True)
    value = eval(code, {"__builtins__": FUNCTIONS})  # nothing but what `_is_constant` knows
    return tuple(value) if isinstance(value, Iterator) else value


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
    if isinstance(value, tuple):
        return all(_is_small(part) for part in value)
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    return value is None or (isinstance(text, str) and len(text) <= LONGEST and not WIDTH.search(text))

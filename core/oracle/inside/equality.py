"""Methods that compare what their object holds with what the other one holds, and so cannot say what they like.

The object's own side never sees the other one, and whatever both sides come to is compared by its own class: at the
bottom by a class that compares honestly. Conditions may only decline.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

_CONVERSIONS = """
int float complex str bytes repr tuple list dict set frozenset sorted
"""
CONVERSIONS = frozenset(_CONVERSIONS.split())
"""Of which the outcome still tells one value from another."""
ASKING = frozenset(["isinstance", "issubclass", "hasattr", "type", "callable", "len"])
COMMON = frozenset(name for kind in (int, float, complex, str, bytes, list, tuple, dict, set) for name in dir(kind))
"""Methods that plain values have too, of which some give the same for many: `isalpha` of texts."""
PARTS = frozenset(["real", "imag", "numerator", "denominator"])
"""Attributes that plain values have too: `imag` of all whole numbers is alike."""
KINDS = {"__eq__": (ast.Eq, ast.Is), "__ne__": (ast.NotEq, ast.IsNot)}


class Equality:
    """Recognises such a method."""

    def __init__(self, method: ast.FunctionDef, rebound: Iterable[str]) -> None:
        """`method`: of two arguments. `rebound`: names that the file binds anew."""
        self._own, self._other = (argument.arg for argument in method.args.args)
        self._pairs = ((self._own, self._other), (self._other, self._own))
        self._kinds = KINDS[method.name]
        self._clear = not {"NotImplemented", "super"}.intersection(rebound)
        self._conversions = CONVERSIONS.difference(rebound)
        self._asking = ASKING.difference(rebound)
        self._name = method.name

    def rules(self, body: list[ast.stmt]) -> bool:
        """Whether each statement only compares both sides, or declines."""
        return self._clear and bool(body) and all(map(self._statement, body))

    def _statement(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.If):
            if self._name == "__eq__" and self._identical(node):
                return not node.orelse or all(map(self._statement, node.orelse))
            return self._condition(node.test) and self.rules(node.body) and all(map(self._statement, node.orelse))
        return isinstance(node, ast.Return) and node.value is not None and self._value(node.value)

    def _identical(self, node: ast.If) -> bool:
        """`if self is other: return True`."""
        known = {ast.dump(_expression("%s is %s" % pair)) for pair in self._pairs}
        first: Any = node.body[0]
        returned = isinstance(first, ast.Return) and getattr(first.value, "value", None) is True
        return ast.dump(node.test) in known and len(node.body) == 1 and returned

    def _value(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return node.value is False
        if isinstance(node, ast.Name):
            return node.id == "NotImplemented"
        if isinstance(node, ast.BoolOp):
            compared = [self._value(part) and not isinstance(part, ast.Constant) for part in node.values]
            asked = [self._condition(part) for part in node.values]
            if isinstance(node.op, ast.And) and self._name == "__eq__":
                return any(compared) and all(either or other for either, other in zip(compared, asked))
            return all(compared)
        if isinstance(node, ast.Call):
            return self._inherited(node)
        return self._comparison(node)

    def _comparison(self, node: ast.expr) -> bool:
        if not isinstance(node, ast.Compare) or len(node.ops) > 1 or not isinstance(node.ops[0], self._kinds):
            return False
        left, right = node.left, node.comparators[0]
        return any(self._side(a, self._own) and self._side(b, self._other) for a, b in ((left, right), (right, left)))

    def _inherited(self, node: ast.Call) -> bool:
        """`super().__eq__(other)`."""
        return ast.dump(node) == ast.dump(_expression("super().%s(%s)" % (self._name, self._other)))

    def _side(self, node: ast.expr, name: str) -> bool:
        """Whether an expression is made of one object alone, and of what tells it from others."""
        if isinstance(node, ast.Name):
            return node.id == name
        if isinstance(node, (ast.Tuple, ast.List)):
            return bool(node.elts) and all(self._side(part, name) for part in node.elts)
        if isinstance(node, ast.Attribute):
            special = node.attr.startswith("__") and node.attr != "__dict__"
            return self._side(node.value, name) and not special and node.attr not in PARTS
        if not isinstance(node, ast.Call) or node.keywords:
            return False
        if isinstance(node.func, ast.Name):
            known = node.func.id in self._conversions and len(node.args) == 1
            return known and self._side(node.args[0], name)
        method = isinstance(node.func, ast.Attribute) and node.func.attr not in COMMON
        return not node.args and method and self._side(node.func, name)

    def _condition(self, node: ast.expr) -> bool:
        """Whether it asks for classes and attributes, and hands the other object to nobody."""
        if isinstance(node, ast.BoolOp):
            return all(map(self._condition, node.values))
        if isinstance(node, ast.UnaryOp):
            return isinstance(node.op, ast.Not) and self._condition(node.operand)
        if isinstance(node, ast.Compare):
            kinds = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, *_within(node))
            plain = all(isinstance(operator, kinds) for operator in node.ops)
            return plain and all(map(self._asked, [node.left, *node.comparators]))
        return isinstance(node, ast.Call) and self._asked(node)

    def _asked(self, node: Any) -> bool:
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name) or not node.args:
                return False
            known = node.func.id in self._asking
            fixed = node.func.id != "hasattr" or isinstance(node.args[-1], ast.Constant)
            return known and fixed and not node.keywords and all(map(self._asked, node.args))
        if isinstance(node, ast.Attribute):
            return self._asked(node.value)
        if isinstance(node, (ast.Tuple, ast.List)):
            return all(map(self._asked, node.elts))
        return isinstance(node, (ast.Name, ast.Constant))


def _within(node: ast.Compare) -> tuple[type, ...]:
    """`type(other) in (A, B)` compares classes alone."""
    of_class = getattr(getattr(node.left, "func", None), "id", "") == "type"
    return (ast.In, ast.NotIn) if of_class and isinstance(node.comparators[0], ast.Tuple) else ()


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body

"""Comparisons that tests make are tried with other values as well: a value that equals those too proves nothing."""

from __future__ import annotations

import ast
import functools
import operator
import os
import sys
import unittest
import warnings
from time import perf_counter
from typing import Any, Callable

from .altered import ATOMS, CONTAINERS, Pair, odd_pairs, others
from .channel import Send

EVENT = "equals other values too"
MOST_PAIRS = 16
PATIENCE = 0.005
"""Seconds for the further comparisons of one; the last is made in any case."""
NAME = "_rtc_inspector_compare"
MODULE = "@pytest_ar"
"""As which pytest's rewritten tests know the module that rewrote them."""
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "In": lambda left, right: left in right,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
CONTRARY = {"Lt": operator.gt, "LtE": operator.gt, "Gt": operator.lt, "GtE": operator.lt}
METHODS = {
    "Eq": "Equal ListEqual TupleEqual SetEqual DictEqual SequenceEqual CountEqual MultiLineEqual AlmostEqual",
    "In": "In",
    "Lt": "Less",
    "LtE": "LessEqual",
    "Gt": "Greater",
    "GtE": "GreaterEqual",
}


class Comparisons:
    """Makes a comparison, and others before and after it, so that not even a value that counts them can tell which."""

    def __init__(self) -> None:
        """Nobody hears of it yet. What is used is taken here, before any candidate runs."""
        self._send: Send | None = None
        self._seen: set[str] = set()
        self._unlike = others()
        self._urandom = os.urandom
        self._frame = sys._getframe

    def listen(self, send: Send) -> None:
        """In a child: report by `send`, as an audit event each."""
        self._send = send

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """What the operator called `name` comes to."""
        function = OPERATORS[name]
        if type(left) in ATOMS and type(right) in ATOMS:
            return function(left, right)
        return self.around(name, left, right, functools.partial(function, left, right))

    def around(self, name: str, left: Any, right: Any, decide: Callable[[], Any]) -> Any:
        """What `decide` gives, which compares the two."""
        pairs = self._pairs(name, left, right) if self._send is not None else []
        if not pairs:
            return decide()
        lied = self._lies(name, pairs, self._urandom(1)[0] % 8)
        result = decide()
        if (lied or self._lies(name, pairs, 2)) and _claims(name, result):
            self._note()
        return result

    def _pairs(self, name: str, left: Any, right: Any) -> list[Pair]:
        if name not in ("Eq", "NotEq"):
            return [(left, right)]
        try:
            return [pair for pair, _ in zip(odd_pairs(left, right), range(MOST_PAIRS))]
        except Exception:
            return []

    def _lies(self, name: str, pairs: list[Pair], times: int) -> bool:
        """Whether one of the pairs compares alike with other values in the place of one side."""
        start, lied = perf_counter(), False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(times):
                lied = any(_is_lie(name, *pair, self._unlike) for pair in pairs) or lied
                if perf_counter() - start > PATIENCE:
                    break
        return lied

    def _note(self) -> None:
        frame: Any = self._frame(2)
        while frame is not None and ("unittest" in frame.f_code.co_filename or frame.f_code.co_filename == __file__):
            frame = frame.f_back
        site = "%s:%d" % (os.path.basename(frame.f_code.co_filename), frame.f_lineno) if frame is not None else ""
        if self._send is not None and site not in self._seen:
            self._seen.add(site)
            self._send("audit", EVENT, site)


def _claims(name: str, result: Any) -> bool:
    """Whether the outcome says that both are alike (in order, contained); a method that returned says so."""
    try:
        return bool(result) is (name != "NotEq")
    except Exception:
        return False


def _is_lie(name: str, left: Any, right: Any, unlike: Callable[[Any], list[Any]]) -> bool:
    try:
        if name in CONTRARY:
            return bool(CONTRARY[name](left, right))
        return _claims_all(name, left, right, unlike)
    except Exception:
        return False


def _claims_all(name: str, left: Any, right: Any, unlike: Callable[[Any], list[Any]]) -> bool:
    """Each side that can say what it likes, with values in the place of the other."""
    function = OPERATORS[name]
    if name == "In":
        return _holds_others(left, right, unlike)
    tried = [function(value, right) for value in unlike(left)] if type(right) not in ATOMS else []
    tried += [function(left, value) for value in unlike(right)] if type(left) not in ATOMS else []
    return any(_claims(name, result) for result in tried)


def _holds_others(left: Any, right: Any, unlike: Callable[[Any], list[Any]]) -> bool:
    """Whether `right` contains whatever it is asked for, or `left` is in whatever holds something."""
    if not hasattr(type(right), "__contains__"):  # asking would use it up
        return False
    if any(value in right for value in (object(), *unlike(left)[:1])):
        return True
    return type(left) not in ATOMS and type(right) in CONTAINERS and left in [object(), *unlike(left)]


def install() -> Comparisons:
    """Have tests compare by way of us: in assertions that pytest rewrites, and in unittest's methods."""
    from _pytest.assertion import rewrite

    module: Any = rewrite
    comparisons = Comparisons()
    setattr(module, NAME, comparisons.compare)
    usual: Any = module.rewrite_asserts

    def rewrite_asserts(tree: ast.Module, *values: Any, **named: Any) -> None:
        usual(tree, *values, **named)
        if any(isinstance(node, ast.alias) and node.asname == MODULE for node in ast.walk(tree)):
            _Redirect().visit(tree)

    module.rewrite_asserts = rewrite_asserts
    for name, methods in METHODS.items():
        for method in methods.split():
            _wrap("assert" + method, name, comparisons)
    return comparisons


def _wrap(method: str, name: str, comparisons: Comparisons) -> None:
    usual: Any = getattr(unittest.TestCase, method)

    @functools.wraps(usual)
    def wrapped(self: Any, first: Any, second: Any, *values: Any, **named: Any) -> None:
        __tracebackhide__ = True

        def decide() -> bool:
            usual(self, first, second, *values, **named)
            return True

        comparisons.around(name, first, second, decide)

    setattr(unittest.TestCase, method, wrapped)


class _Redirect(ast.NodeTransformer):
    """Replaces the comparisons of assertions by calls."""

    def __init__(self) -> None:
        """Outside of any assertion."""
        self._asserting = 0

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """pytest keeps the parts of an assertion under names of its own."""
        return self._inside(node, getattr(node.targets[0], "id", "").startswith("@py_assert"))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`assertTrue(a == b)` and the like."""
        return self._inside(node, getattr(node.func, "attr", "").startswith("assert"))

    def _inside(self, node: ast.AST, asserting: bool) -> ast.AST:
        self._asserting += asserting
        self.generic_visit(node)
        self._asserting -= asserting
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """One operator: what is chained stays as it is."""
        self.generic_visit(node)
        name = type(node.ops[0]).__name__
        if not self._asserting or len(node.ops) > 1 or name not in OPERATORS:
            return node
        place: dict[str, Any] = {
            "lineno": node.lineno,
            "col_offset": node.col_offset,
            "end_lineno": None,
            "end_col_offset": None,
        }
        compare = ast.Attribute(ast.Name(MODULE, ast.Load(), **place), NAME, ast.Load(), **place)
        values = [ast.Constant(name, None, **place), node.left, node.comparators[0]]
        return ast.Call(compare, values, [], **place)

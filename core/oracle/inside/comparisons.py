"""Comparisons that tests make are tried with other values as well: a value that equals those too proves nothing.

The real comparison is asked for among those with the others, in any order, each by the same call with values made the
same way. So a value that lies must guess which is which; what it says in the end must be what it said there.
"""

from __future__ import annotations

import ast
import functools
import operator
import os
import sys
import unittest
import warnings
from time import perf_counter
from typing import Any, Callable, Iterator, Tuple

from .altered import ATOMS, CONTAINERS, NOBODY, PLAIN, Pair, odd_pairs
from .channel import Send
from .lineup import LineUp

EVENT = "equals other values too"
MOST_PAIRS = 16
PATIENCE = 0.005
"""Seconds for the further comparisons of one; those of one pair are made in any case."""
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
ROUGH = frozenset(["assertCountEqual", "assertSetEqual", "assertAlmostEqual"])
"""Which compare otherwise than element by element."""
Question = Tuple[Callable[[Any, Any], Any], Any, Any, bool]
"""What is called with two values, and whether it is to say that they are alike (in order, contained)."""


class Comparisons:
    """Makes a comparison when it has asked about others too."""

    def __init__(self) -> None:
        """Nobody hears of it yet. What is used is taken here, before any candidate runs."""
        self._send: Send | None = None
        self._seen: set[str] = set()
        self._lineup = LineUp(os.urandom)
        self._frame = sys._getframe
        self._left: int | None = None
        self._met = False

    def contradict(self, after: int) -> None:
        """Give the contrary of one comparison, behind `after` others that are told as they are."""
        self._left, self._met = after, False

    def relent(self) -> bool:
        """No more; whether there were comparisons and each was told as it is."""
        spared, self._left = self._left is not None and self._met, None
        return spared

    def _told(self, result: Any) -> Any:
        if self._left is None or type(result) is not bool:
            return result
        self._met, self._left = True, self._left - 1
        if self._left >= 0:
            return result
        self._left = None
        return not result

    def listen(self, send: Send) -> None:
        """In a child: report by `send`, as an audit event each."""
        self._send = send

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """What the operator called `name` comes to."""
        function = OPERATORS[name]
        if type(left) in ATOMS and type(right) in ATOMS:
            return self._told(function(left, right))
        return self.around(name, left, right, functools.partial(function, left, right))

    def around(self, name: str, left: Any, right: Any, decide: Callable[[], Any], *, rough: bool = False) -> Any:
        """What `decide` gives, which compares the two. `rough`: it may do so by other means than their operators."""
        pairs = self._pairs(name, left, right) if self._send is not None else []
        if not pairs:
            return self._told(decide())
        taken, denied = self._ask(name, pairs)
        result = decide()
        if (taken or (denied and not rough)) and _claims(name, result):
            self._note()
        return self._told(result)

    def _pairs(self, name: str, left: Any, right: Any) -> list[Pair]:
        if name not in ("Eq", "NotEq"):
            return [(left, right)]
        try:
            return self._lineup.shuffled(pair for pair, _ in zip(odd_pairs(left, right), range(MOST_PAIRS)))
        except Exception:
            return []

    def _ask(self, name: str, pairs: list[Pair]) -> tuple[bool, bool]:
        """Whether another value was taken for the real one, and whether the real one was denied."""
        start, taken, denied = perf_counter(), False, False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for left, right in pairs:
                for function, one, other, alike in self._questions(name, left, right):
                    try:
                        said = bool(function(one, other)) is not (name == "NotEq")
                    except Exception:
                        said = False
                    taken, denied = taken or (said and not alike), denied or (alike and not said)
                if perf_counter() - start > PATIENCE:
                    break
        return taken, denied

    def _questions(self, name: str, left: Any, right: Any) -> list[Question]:
        """In an order that nobody knows; none where the values forbid it."""
        try:
            return self._lineup.shuffled(self._about(name, left, right))
        except Exception:
            return []

    def _about(self, name: str, left: Any, right: Any) -> Iterator[Question]:
        if name in CONTRARY:
            yield OPERATORS[name], left, right, True
            yield CONTRARY[name], left, right, False
        elif name == "In":
            yield from self._of_contents(left, right)
        else:
            function = OPERATORS[name]
            if type(left) not in PLAIN:
                yield from ((function, left, other, same) for other, same in self._row(right, type(left)))
            if type(right) not in PLAIN and right is not NOBODY:
                yield from ((function, other, right, same) for other, same in self._row(left, type(right)))

    def _row(self, value: Any, beside: type) -> list[tuple[Any, bool]]:
        if value is NOBODY:
            return [(stranger, False) for stranger in self._lineup.strangers()]
        return self._lineup.of(value, beside)

    def _of_contents(self, left: Any, right: Any) -> Iterator[Question]:
        """Whether `right` contains whatever it is asked for, or `left` is in whatever holds something."""
        if not hasattr(type(right), "__contains__"):  # asking would use it up
            return
        contains = operator.contains
        yield contains, right, left, True
        if type(right) not in PLAIN:
            yield from ((contains, right, stranger, False) for stranger in self._lineup.strangers())
        if type(left) not in PLAIN and type(right) in CONTAINERS:
            strangers = self._lineup.strangers()
            known = [element for element in right if type(element) in ATOMS]
            if known:
                row = self._lineup.of(known[self._lineup.below(len(known))])
                strangers += [other for other, same in row if not same and other not in known]
            yield from ((contains, [stranger], left, False) for stranger in strangers)

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


def install() -> Comparisons:
    """Have tests compare by way of us: in assertions that pytest rewrites, and in unittest's methods."""
    from _pytest.assertion import rewrite

    module: Any = rewrite
    comparisons = Comparisons()

    def compare(name: str, left: Any, right: Any) -> Any:
        return comparisons.compare(name, left, right)

    setattr(module, NAME, compare)
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

        if not comparisons.around(name, first, second, decide, rough=method in ROUGH):
            raise self.failureException("made to fail")

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

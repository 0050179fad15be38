"""What can be read off a candidate's text: comparisons that it must not bring along, and what is odd about it.

Both are counted against the original: what was there already is never held against a candidate, so that the original
text itself always passes.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Tuple

_COMPARISONS = """
__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __contains__ __instancecheck__ __subclasscheck__
"""
COMPARISONS = frozenset(_COMPARISONS.split())
"""Methods that tests ask about a value. Whoever writes one can have any test pass, but for those that compare a value's
own parts, as a dataclass does."""
KNOWN_PARTS = frozenset().union(*map(dir, (0, 0.0, 0j, "", b"", [], (), {}, set(), range(0), slice(0))))
"""Parts that values of the language have: a comparison of those could hold of what the tests expect."""
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""As Python counts lines; `str.splitlines` splits at more characters."""
WORDS = re.compile(r"\b(?:%s|ANY|compare)\b|test" % "|".join(COMPARISONS))
MOCKS = frozenset(["mock", "unittest"])
TEST_MODULE = re.compile(r"conftest|test_\w*|\w+_tests?")

Function = Tuple[ast.arguments, Any]
"""Arguments of a function and its body: statements, or the one expression of a lambda."""


def screen(original: str, candidate: str) -> list[str]:
    """Return why a pass of the candidate would prove nothing; empty for most."""
    # Most candidates have none of the words, or as many as the original: then nothing needs to be parsed.
    words = WORDS.findall(candidate)
    plain = candidate.isascii() and COMPARISONS.isdisjoint(words)  # Python reads many letters as the same name
    if plain and (not words or not Counter(words) - Counter(WORDS.findall(original))):
        return []
    before_parts, after_parts = _parts(original), _Parts(candidate)
    gone, come = before_parts.without(after_parts), after_parts.without(before_parts)
    mocked = before_parts.mocked or _mocks(come)
    if mocked is not before_parts.mocked:  # then what stands in both texts may mean something else
        gone, come = before_parts.statements, after_parts.statements
    before, after = _Found(gone, before_parts.mocked), _Found(come, mocked, own_parts=True)
    return sorted(after.held - before.held)


def prepare(original: str) -> None:
    """Make once what candidates in this file will need, for all processes that are forked from here."""
    if not original.isascii() or not COMPARISONS.isdisjoint(WORDS.findall(original)):
        with suppress(*_UNREADABLE):
            _ = _parts(original).mocked


_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class _Parts:
    """A text's outermost statements, each with its lines: what stands in both texts says nothing about either."""

    def __init__(self, text: str) -> None:
        lines = LINE.findall(text)
        self.statements: list[ast.stmt] = ast.parse(text).body
        self._texts = ["".join(lines[_first(node) - 1 : node.end_lineno]) for node in self.statements]

    @functools.cached_property
    def mocked(self) -> bool:
        return _mocks(self.statements)

    def without(self, other: _Parts) -> list[ast.stmt]:
        left, found = Counter(other._texts), []
        for statement, text in zip(self.statements, self._texts):
            if left[text] > 0:
                left[text] -= 1
            else:
                found.append(statement)
        return found


_parts = functools.lru_cache(maxsize=32)(_Parts)


def _first(node: Any) -> int:
    first: int = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return first


def _mocks(statements: list[ast.stmt]) -> bool:
    nodes = (node for statement in statements for node in ast.walk(statement))
    return any(MOCKS.intersection(path.split(".")) for node in nodes for path in _imported(node))


class _Found:
    """What stands in some statements; `held`: reasons not to believe a pass, each as often as it is met."""

    def __init__(self, statements: list[ast.stmt], mocked: bool, own_parts: bool = False) -> None:
        """`mocked`: whether a module of mocks is imported in the file; `own_parts`: comparisons of a value's own parts
        are not counted. In the original they are: whoever writes one anew brings none along."""
        self._own_parts = own_parts
        nodes = [node for statement in statements for node in ast.walk(statement)]
        self._called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        self.held: Counter[str] = Counter()
        for node in nodes:
            self.held.update(self._comparing(node))
            self.held.update("a test module is imported" for path in _imported(node) if _is_of_tests(path))
            self.held.update("mock.ANY equals everything" for name in _names(node) if mocked and name == "ANY")

    def _comparing(self, node: ast.AST) -> Iterator[str]:
        """Yield each comparison that is defined here, in whatever way, or has nothing to do with what is compared."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in COMPARISONS:
            if self._own_parts and isinstance(node, ast.FunctionDef) and _is_of_own_parts(node):
                return
            yield "it defines " + node.name
            if _is_fixed((node.args, node.body)):
                yield "%s says the same of everything" % node.name
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            function = node.value.args, node.value.body
            names = {name for target in node.targets for name in _names(target)} & COMPARISONS
            yield from ("%s says the same of everything" % name for name in sorted(names) if _is_fixed(function))
        elif isinstance(node, ast.ClassDef) and _compares_nothing(node):
            yield "no field of %s is compared" % node.name
        elif isinstance(node, ast.Attribute) and node.attr in COMPARISONS and id(node) not in self._called:
            yield "it defines " + node.attr  # set from outside, or of a mock; `super().__eq__(other)` is called
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in COMPARISONS:
            yield "it defines " + node.id
        elif isinstance(node, ast.keyword) and node.arg in COMPARISONS:
            yield "it defines " + node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in COMPARISONS:
            yield "it defines " + node.value  # by setattr, or in the members of a class that `type` makes


def _is_fixed(function: Function) -> bool:
    """Return whether a comparison gives one constant, or never looks at what it is to compare.

    `def __eq__(self, other): return True` does; one that returns False for other classes and else True does not.
    """
    arguments, body = function
    given = [*getattr(arguments, "posonlyargs", ()), *arguments.args]
    subject = given[-1] if given else arguments.vararg
    nodes = [node for part in (body if isinstance(body, list) else [body]) for node in ast.walk(part)]
    returned = [node.value for node in nodes if isinstance(node, ast.Return)] if isinstance(body, list) else [body]
    values = {repr(node.value) if isinstance(node, ast.Constant) else "" for node in returned}
    if len(values) == 1 and values != {""}:
        return True
    read = {node.id for node in nodes if isinstance(node, ast.Name)}
    return bool(returned) and "NotImplemented" not in read and (subject is None or subject.arg not in read)


def _is_of_own_parts(node: ast.FunctionDef) -> bool:
    """Return whether a comparison asks its own object only, or the same parts of both: it has no power over tests then.

    Such are `__bool__` that looks at the object, `__contains__` that hands the question on to one of its parts, and
    `__eq__` or `__lt__` of which both sides are the same expression, once of `self` and once of `other`.
    """
    names = [argument.arg for argument in node.args.args]
    body = [part for part in node.body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]
    last = body[-1] if body else None
    others = (node.args.kwonlyargs, getattr(node.args, "posonlyargs", ()), node.args.vararg, node.args.kwarg)
    plain = not any(others) and not node.decorator_list
    if not plain or not isinstance(last, ast.Return) or last.value is None:
        return False
    if node.name == "__bool__":
        return len(names) == 1 and not _is_fixed((node.args, node.body))
    if len(names) != 2 or not all(_is_guard(part, names[1]) for part in body[:-1]):
        return False
    if node.name == "__contains__":
        return len(body) == 1 and _hands_on(last.value, *names)
    asked = _ASKED.get(node.name)
    return asked is not None and _mirrors(last.value, names[0], names[1], asked, node.name == "__eq__")


def _is_guard(node: ast.stmt, other: str) -> bool:
    """Return whether it is `if not isinstance(other, X): return NotImplemented`, or `return False`."""
    if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1 or not isinstance(node.body[0], ast.Return):
        return False
    given = node.body[0].value
    refused = getattr(given, "id", "") == "NotImplemented" or getattr(given, "value", None) is False
    return refused and isinstance(node.test, ast.UnaryOp) and _is_check(node.test.operand, other)


def _is_check(node: ast.expr, other: str) -> bool:
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "isinstance" or not node.args:
        return False
    return getattr(node.args[0], "id", "") == other


_ASKED = {
    "__eq__": (ast.Eq, ast.Is),
    "__ne__": (ast.NotEq, ast.IsNot),
    "__lt__": (ast.Lt, ast.Eq),
    "__le__": (ast.Lt, ast.LtE, ast.Eq),
    "__gt__": (ast.Gt, ast.Eq),
    "__ge__": (ast.Gt, ast.GtE, ast.Eq),
}
"""What each comparison may ask of the parts: with others beside it one could be true of everything."""


def _mirrors(node: ast.expr, own: str, other: str, asked: tuple[Any, ...], strict: bool) -> bool:
    """Return whether it compares parts of both objects, the same of each, and nothing else.

    `asked`: the comparisons that it may make; `strict`: all parts must hold, not one of them.
    """
    if isinstance(node, ast.BoolOp):
        every = isinstance(node.op, ast.And)
        parts = [part for part in node.values if not (every and _is_check(part, other))]
        mirrored = bool(parts) and all(_mirrors(each, own, other, asked, strict) for each in parts)
        return mirrored and (every or not strict)
    if not isinstance(node, ast.Compare) or len(node.ops) != 1 or not isinstance(node.ops[0], asked):
        return False
    left, right = node.left, node.comparators[0]
    names = [{each.id for each in ast.walk(side) if isinstance(each, ast.Name)} for side in (left, right)]
    if any({own, other} <= each for each in names) or not {own, other} <= names[0] | names[1]:
        return False
    read = [each for each in ast.walk(left) if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)]
    # Called through its parts, `other` could be asked to agree; `self.real == other.real` holds of equal numbers only
    # by the looks of it: `imag` is 0 of all of them.
    called = any(isinstance(each, ast.Call) for each in ast.walk(node))
    if called or not read or any(each.attr.startswith("__") or each.attr in KNOWN_PARTS for each in read):
        return False
    return _dump(left, {own: "1", other: "2"}) == _dump(right, {own: "2", other: "1"})


def _dump(node: ast.expr, names: dict[str, str]) -> str:
    text = ast.dump(node)
    for name, instead in names.items():
        text = text.replace("Name(id=%r," % name, "Name(id=%s," % instead)
    return text


def _hands_on(node: ast.expr, own: str, key: str) -> bool:
    """Return whether it is `key in self.part`, or `super().__contains__(key)`.

    A method of the key may be asked before: `key.lower() in self.part`.
    """
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In):
        where = node.comparators[0]
        return _reads(node.left, key) and isinstance(where, ast.Attribute) and getattr(where.value, "id", "") == own
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "__contains__":
        return False
    above = getattr(getattr(node.func.value, "func", None), "id", "")
    return above == "super" and len(node.args) == 1 and not node.keywords and _reads(node.args[0], key)


def _reads(node: ast.expr, key: str) -> bool:
    """Return whether it is the key, or what one of its methods gives without arguments."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        node = node.func.value
    return isinstance(node, ast.Name) and node.id == key


def _compares_nothing(node: ast.ClassDef) -> bool:
    """Return whether it is a dataclass of which `compare=False` stands at every field: all its objects are equal."""
    decorators = [getattr(decorator, "func", decorator) for decorator in node.decorator_list]
    fields = [part.value for part in node.body if isinstance(part, ast.AnnAssign)]
    keywords = [key for value in fields for key in getattr(value, "keywords", ()) if key.arg == "compare"]
    left_out = [key for key in keywords if getattr(key.value, "value", None) is False]
    return bool(fields) and len(left_out) == len(fields) and any("dataclass" in _names(d) for d in decorators)


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.name for alias in node.names)


def _imported(node: ast.AST) -> Iterator[str]:
    """Yield modules that are imported by statement or by a call with their name, or looked up in `sys.modules`."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from ((node.module or "") + "." + alias.name for alias in node.names)
    elif isinstance(node, ast.Call):
        function = [*_names(node.func), *_names(getattr(node.func, "value", node))]
        if function[:1] in (["import_module"], ["__import__"]) or function == ["get", "modules"]:
            yield from _texts(node.args)
    elif isinstance(node, ast.Subscript) and "modules" in _names(node.value):
        yield from _texts([getattr(node.slice, "value", None), node.slice])  # the former before Python 3.9


def _texts(nodes: list[Any]) -> Iterator[str]:
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_of_tests(path: str) -> bool:
    """Return whether a module is one of tests by its name; `django.test` and `numpy.testing` are not."""
    parts = [part for part in path.split(".") if part]
    return parts[:1] in (["test"], ["tests"]) or any(map(TEST_MODULE.fullmatch, parts))

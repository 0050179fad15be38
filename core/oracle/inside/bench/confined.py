"""Whether a program can only compute: then it needs no process of its own, and many are judged in one.

Each part of its syntax tree must be on a list. No list names anything that reaches beyond the program's own objects:
no class, no module but those of MODULES, no attribute that begins with an underscore or is not one of a plain value's,
none that is set. What is left can run too long, take too much memory or recurse too deeply, which is seen from outside.
What is not on a list is no crime: such a program has a process of its own.
"""

from __future__ import annotations

import ast
import builtins
import collections
import importlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

_NODES = """
Module FunctionDef arguments arg Return Delete Assign AugAssign AnnAssign For While If Raise Try ExceptHandler
Assert Import ImportFrom alias Global Nonlocal Expr Pass Break Continue
BoolOp NamedExpr BinOp UnaryOp Lambda IfExp Dict Set ListComp SetComp DictComp GeneratorExp comprehension
Yield YieldFrom Compare Call keyword FormattedValue JoinedStr Constant Attribute Subscript Starred Name List Tuple
Slice Index ExtSlice And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd
FloorDiv Invert Not UAdd USub Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn
"""
NODES = frozenset(_NODES.split())
"""Kinds of nodes that a tree may hold."""

_BUILTINS = """
abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format frozenset
hash hex int isinstance issubclass iter len list map max min next oct ord pow print range repr reversed round set
slice sorted str sum tuple zip NotImplemented Ellipsis
Exception ArithmeticError AssertionError AttributeError IndexError KeyError LookupError NameError
NotImplementedError OverflowError RecursionError RuntimeError StopIteration TypeError UnicodeError ValueError
ZeroDivisionError
"""
BUILTINS = frozenset(_BUILTINS.split())

MODULES = {
    "math": "",
    "cmath": "",
    "itertools": "",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "collections": "Counter OrderedDict defaultdict deque",
    # No `wraps` and no `total_ordering`: they set attributes of what they are given.
    "functools": "cache cmp_to_key lru_cache partial reduce",
    # No `attrgetter` and no `methodcaller`: they reach attributes by a text.
    "operator": "add and_ eq floordiv ge gt itemgetter le lt mod mul ne neg not_ or_ pow sub truediv xor",
    "string": "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits printable punctuation "
    "whitespace",
    "re": "A ASCII I IGNORECASE M MULTILINE S DOTALL X VERBOSE compile escape findall finditer fullmatch match search "
    "split sub subn",
    "random": "choice choices randint random randrange sample seed shuffle uniform",
    "statistics": "fmean mean median median_high median_low mode pstdev pvariance stdev variance",
    "fractions": "Fraction",
    "decimal": "Decimal",
    "hashlib": "md5 sha1 sha256 sha512",
    "copy": "copy deepcopy",
    "sys": "maxsize",
    "typing": "Any Callable Deque DefaultDict Dict FrozenSet Generator Iterable Iterator List Mapping NoReturn "
    "Optional Sequence Set Text Tuple Union",
    "__future__": "annotations",
}
"""Modules that a program may import, and which of their names it may use; of those with an empty text, all."""

_KINDS: tuple[type, ...] = (str, bytes, bytearray, int, float, complex, list, tuple, dict, set, frozenset, range, slice)
_KINDS += (collections.Counter, collections.OrderedDict, collections.defaultdict, collections.deque)
_KINDS += (re.Pattern, type(re.match("", "")))
# Not `format`: "{0.f_back}".format(...) reaches attributes by a text. It is allowed on a literal that does not.
ATTRIBUTES = frozenset(name for kind in _KINDS for name in dir(kind) if name[0] != "_") - {"format", "format_map"}
ATTRIBUTES |= {"__name__", "args", "cache_clear", "cache_info", "close", "digest", "hexdigest", "send", "value"}
REACHING = re.compile(r"\{[^{}:!]*[.\[]")
"""A field of a format that looks into its value."""
OTHERS = frozenset(dir(builtins)) - BUILTINS
LONGEST = 50_000
"""Characters of a program."""
SUSPECT = re.compile(
    r"(?m)^\s*(?:class|async|with)\b.*:|\b(?:open|exec|eval|getattr|setattr|globals)\(|\bimport os\b|\.__(?!name__)"
)
"""What nearly always stands for something that is on no list; looked for before anything is parsed."""


def perhaps(text: str) -> bool:
    """Return whether a program is worth a closer look."""
    return len(text) <= LONGEST and SUSPECT.search(text) is None


def confined(tree: ast.Module) -> bool:
    """Return whether each part of the program is on a list."""
    kinds: dict[str, list[Any]] = {}
    for node in _walk(tree):
        kinds.setdefault(type(node).__name__, []).append(node)
    if not NODES.issuperset(kinds):
        return False

    def of(kind: str) -> list[Any]:
        return kinds.get(kind, [])

    imported = {(each.asname or each.name, each.name) for node in of("Import") for each in node.names}
    modules = dict(imported)
    if len(modules) < len(imported) or not MODULES.keys() >= {*modules.values()}:
        return False
    bound = {node.id for node in of("Name") if type(node.ctx) is not ast.Load}
    bound.update(node.arg for node in of("arg"))
    bound.update(node.name for kind in ("FunctionDef", "ExceptHandler") for node in of(kind) if node.name)
    for node in of("ImportFrom"):
        if node.level or not all(_offers(str(node.module), each.name) for each in node.names):
            return False
        bound.update(each.asname or each.name for each in node.names)
    # A name that is bound in one scope means the built-in one in another, and a module's could be anything's.
    if (
        not bound.isdisjoint(OTHERS)
        or not bound.isdisjoint(modules)
        or any(name[:2] == "__" for name in bound.union(modules))
    ):
        return False
    known = bound | BUILTINS | {"__name__"}
    asked = {id(name) for name in _types_asked(of("Compare"), of("Attribute"))}
    asked.update(id(node.value) for node in of("Attribute") if getattr(node.value, "id", None) in modules)
    named = all(node.id in known or id(node) in asked for node in of("Name"))
    return named and all(_plain(node, modules) for node in of("Attribute"))


def _walk(tree: ast.AST) -> list[ast.AST]:
    """Return all nodes, without those that say how a name is used.

    It is faster than `ast.walk`: every candidate waits for it.
    """
    nodes = [tree]
    for node in nodes:
        for value in vars(node).values():
            if type(value) is list:
                nodes += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                nodes.append(value)
    return nodes


def _types_asked(compared: Sequence[Any], attributes: Sequence[Any]) -> Iterator[ast.expr]:
    """Yield each `type` that is named in `type(x) == y` or `type(x).__name__`.

    It is refused elsewhere: with it in hand, a program could make classes.
    """
    looked = [side for node in compared for side in (node.left, *node.comparators)]
    looked += [node.value for node in attributes if node.attr == "__name__"]
    for call in looked:
        if type(call) is not ast.Call or len(call.args) != 1 or call.keywords:
            continue
        if type(call.func) is ast.Name and call.func.id == "type" and type(call.args[0]) is not ast.Starred:
            yield call.func


@lru_cache(maxsize=None)
def _offers(module: str, name: str) -> bool:
    names = MODULES.get(module)
    if names is None:
        return False
    return name in names.split() or (not names and name[0] != "_" and name in dir(importlib.import_module(module)))


def _plain(node: ast.Attribute, modules: dict[str, str]) -> bool:
    """Return whether an attribute is read, and one of a plain value or of a module's names."""
    base = node.value
    if not isinstance(node.ctx, ast.Load):
        return False
    if isinstance(base, ast.Name) and base.id in modules:
        return _offers(modules[base.id], node.attr)
    if node.attr == "format":
        text = getattr(base, "value", None)
        return isinstance(base, ast.Constant) and isinstance(text, str) and REACHING.search(text) is None
    return node.attr in ATTRIBUTES

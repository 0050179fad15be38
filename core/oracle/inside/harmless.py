"""What the screen lets through although its names are suspicious: uses that honest code has, and that open no door."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .equality import KINDS, Equality

_INSPECT = """
signature Signature Parameter BoundArguments getfullargspec FullArgSpec getdoc cleandoc getmro unwrap isabstract
isasyncgen isasyncgenfunction isawaitable isbuiltin isclass iscoroutine iscoroutinefunction isdatadescriptor isfunction
isgenerator isgeneratorfunction ismethod ismethoddescriptor ismodule isroutine markcoroutinefunction
"""
_METADATA = """
version metadata requires packages_distributions PackageNotFoundError
"""
_RESOURCES = """
files as_file open_text open_binary read_text read_binary path contents is_resource
"""
_GC = """
collect enable disable isenabled get_count get_stats get_threshold set_threshold
"""
USES = {
    ("gc",): frozenset(_GC.split()),
    ("inspect",): frozenset(_INSPECT.split()),
    ("importlib", "metadata"): frozenset(_METADATA.split()),
    ("importlib", "resources"): frozenset(_RESOURCES.split()),
}
"""Module -> what may be taken from it."""
_LOOSENING = """
globals vars locals setattr exec eval __setattr__ __dict__ __getattribute__ __subclasshook__ register ABC ABCMeta
Protocol runtime_checkable
"""
LOOSENING = frozenset(_LOOSENING.split())
"""Where one of these is used, a comparison of classes may not mean what it says."""
LONGEST = 32
REBOUND = frozenset(["isinstance", "type", "__class__", "NotImplemented"])
"""The same where one of these is bound anew."""


def harmless(tree: ast.AST) -> set[int]:
    """Ids of the nodes that need no screening."""
    return {id(node) for node in (*_imports(tree), *_comparisons(tree))}


def _imports(tree: ast.AST) -> Iterator[ast.AST]:
    """Imports of which only harmless parts are used anywhere in the file."""
    chains = list(_chains(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            taken = USES.get(tuple((node.module or "").split(".")), frozenset())
            if all(alias.name in taken for alias in node.names):
                yield node
        elif isinstance(node, ast.Import) and all(_is_plain(alias, chains) for alias in node.names):
            yield node


def _is_plain(alias: ast.alias, chains: list[tuple[str, ...]]) -> bool:
    module = tuple(alias.name.split("."))
    if module not in USES:
        return False
    used = (chain for chain in chains if chain[0] == (alias.asname or module[0]))
    whole = (module + chain[1:] if alias.asname else chain for chain in used)
    return all(chain[known:] and chain[known] in USES[chain[:known]] for chain in whole for known in [_known(chain)])


def _known(chain: tuple[str, ...]) -> int:
    """How many names of a chain are a module of `USES`; all of them when none is."""
    return next((count for count in (1, 2) if chain[:count] in USES), len(chain))


def _chains(tree: ast.AST) -> Iterator[tuple[str, ...]]:
    """Every name with the attributes taken from it, as `a.b.c`."""
    seen: set[int] = set()
    for node in ast.walk(tree):
        attributes, base = [], node
        while isinstance(base, ast.Attribute) and id(base) not in seen:
            seen.add(id(base))
            attributes.append(base.attr)
            base = base.value
        if isinstance(base, ast.Name) and id(base) not in seen:
            seen.add(id(base))
            yield (base.id, *reversed(attributes))


def _comparisons(tree: ast.AST) -> Iterator[ast.AST]:
    """Methods `__eq__` that compare both sides or are false for every object of another class; `__ne__` likewise."""
    bound = [name for node in ast.walk(tree) for name in _bound(node)]
    loose = bool(REBOUND.intersection(bound)) or any(LOOSENING.intersection(_words(node)) for node in ast.walk(tree))
    for kind in ast.walk(tree):
        if isinstance(kind, ast.ClassDef):
            guarded = not loose and _is_plain_class(kind, bound)
            for node in kind.body:
                if isinstance(node, ast.FunctionDef) and _is_honest(node, kind.name if guarded else "", bound):
                    yield node


def _is_plain_class(kind: ast.ClassDef, bound: list[str]) -> bool:
    """Whether its name means this class throughout, and so do those of its bases."""
    bases = [node.id for node in kind.bases if isinstance(node, ast.Name)]
    known = all(base == "object" or bound.count(base) == 1 for base in bases)
    return (
        not kind.keywords
        and not kind.decorator_list
        and bound.count(kind.name) == 1
        and (known and len(bases) == len(kind.bases))
    )


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that a node binds."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield node.asname or node.name
    elif isinstance(node, (ast.Name, ast.Attribute)):
        if not isinstance(node.ctx, ast.Load):
            yield getattr(node, "id", getattr(node, "attr", ""))
    else:  # `except ... as`, and the patterns of `match`
        yield from (value for name in ("name", "rest") if isinstance(value := getattr(node, name, None), str))


def _words(node: ast.AST) -> Iterator[str]:
    """Names that a node uses, in whatever place."""
    yield from (value for name in ("id", "attr", "name") if isinstance(value := getattr(node, name, None), str))
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < LONGEST:
        yield node.value


def _is_honest(method: ast.FunctionDef, kind: str, bound: list[str]) -> bool:
    """`kind`: name of the class, where it means that class throughout; else empty."""
    names = [argument.arg for argument in method.args.args]
    if len(names) != 2 or method.decorator_list or method.name not in KINDS:
        return False
    body = method.body[1:] if ast.get_docstring(method) is not None and len(method.body) > 1 else method.body
    if Equality(method, bound).rules(body):
        return True
    if method.name == "__eq__":
        return bool(kind) and _Guard(names[0], names[1], kind).rules(body)
    return _dump(body) in (
        _dump(ast.parse(f"return not {names[0]} == {names[1]}" if not call else f"return not {call}").body)
        for call in ("", f"{names[0]}.__eq__({names[1]})")
    )


def _dump(body: list[ast.stmt]) -> str:
    return "".join(map(ast.dump, body))


class _Guard:
    """Recognises the question whether both operands are of one class."""

    def __init__(self, own: str, other: str, kind: str) -> None:
        self._own, self._other = own, other
        tests = [f"isinstance({other}, {name})" for name in (kind, f"{own}.__class__", f"type({own})")]
        pairs = [(f"type({own})", f"type({other})"), (f"{own}.__class__", f"{other}.__class__")]
        same = [(a, b) for pair in pairs for a, b in (pair, pair[::-1])]
        self._same = {_expression(text) for text in tests + [f"{a} {is_} {b}" for a, b in same for is_ in ("is", "==")]}
        self._differ = {_expression(f"not {text}") for text in tests}
        self._differ |= {_expression(f"{a} {is_} {b}") for a, b in same for is_ in ("is not", "!=")}

    def rules(self, body: list[ast.stmt]) -> bool:
        """Whether nothing but False and NotImplemented is returned unless the classes are the same."""
        first: Any = body[0]
        if isinstance(first, ast.Return):
            value = first.value
            return isinstance(value, ast.BoolOp) and isinstance(value.op, ast.And) and self._is_same(value.values[0])
        if not isinstance(first, ast.If):
            return False
        if ast.dump(first.test) in self._differ:
            return len(first.body) == 1 and _declines(first.body[0]) and not first.orelse
        return self._is_same(first.test) and all(map(_declines, [*first.orelse, *body[1:]]))

    def _is_same(self, test: ast.expr) -> bool:
        return ast.dump(test) in self._same


def _expression(text: str) -> str:
    return ast.dump(ast.parse(text, mode="eval").body)


def _declines(statement: ast.stmt) -> bool:
    value = getattr(statement, "value", None)
    refused = getattr(value, "value", None) is False or getattr(value, "id", "") == "NotImplemented"
    return isinstance(statement, ast.Return) and refused

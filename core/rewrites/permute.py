"""Give a function's positional parameters another order, at its definition and wherever it is called."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise

import libcst as cst

from rtc_inspector.core.rewrites.program import Edit, Parsed, Program, Refused, Rewritten
from rtc_inspector.core.types import Span

_BOUND = frozenset({"staticmethod", "classmethod"})
"""Decorators that leave the parameters as they are."""
_ACTS = cst.Call | cst.Await | cst.Yield | cst.NamedExpr | cst.GeneratorExp
_COMMON = frozenset(
    name for kind in (object, str, bytes, list, dict, set, tuple, int, float, complex) for name in dir(kind)
) | {"close", "read", "write", "open", "run", "start", "put", "send", "call", "search", "group", "submit"}
"""Attributes that objects of the standard library have: `x.read(a, b)` need not be a call of the project's `read`."""


def permute(program: Program, path: str, start: int, seed: int) -> Rewritten | Refused:
    """Draw an order of the parameters by the seed; every call in every file follows.

    Only where somebody calls it by name, and every mention of that name is surely this function, called with all its
    arguments by position.
    """
    parsed = program.parsed(path)
    function = parsed.function(start) if parsed else None
    if parsed is None or function is None:
        return Refused("its file cannot be parsed exactly")
    method = isinstance(
        next((n for n in parsed.around(function) if not isinstance(n, cst.IndentedBlock)), None), cst.ClassDef
    )
    moving = _parameters(function, method)
    if isinstance(moving, Refused):
        return moving
    places = [_mentions(program, each, function, method) for each in program.mentioning(function.name.value)]
    calls: list[tuple[str, Parsed, cst.Call]] = []
    for found in places:
        if isinstance(found, Refused):
            return found
        calls += found
    if not any(where != path or function not in parsed.around(call) for where, _, call in calls):
        # As `getattr(self, "visit_" + kind)(node, value)` finds it: those calls would keep the old order.
        return Refused("nobody calls it by name")
    order = _order(len(moving), random.Random(f"{seed} {path} {start}"))
    spans = [parsed.span(parameter) for parameter in moving]
    edits = {path: list(_moved(parsed, spans, order))}
    for where, text, call in calls:
        values = _arguments(text, call, len(moving))
        if isinstance(values, Refused):
            return values
        edits.setdefault(where, []).extend(_moved(text, [text.span(value) for value in values], order))
    for each in edits.values():
        each.sort(key=lambda edit: edit.span.start)
        if any(one.span.overlaps(other.span) for one, other in pairwise(each)):
            return Refused("one of its calls is an argument of another")
    return Rewritten({where: tuple(each) for where, each in edits.items()})


def _parameters(function: cst.FunctionDef, method: bool) -> list[cst.Param] | Refused:
    name, has = function.name.value, function.params
    if name.startswith("__") and name.endswith("__"):
        return Refused("Python itself calls it")
    decorators = {each.decorator.value if isinstance(each.decorator, cst.Name) else "?" for each in function.decorators}
    if decorators - _BOUND:
        return Refused("a decorator may know its parameters")
    if isinstance(has.star_arg, cst.Param) or has.star_kwarg is not None or has.kwonly_params:
        return Refused("it takes more than positional parameters")
    every_one = [*has.posonly_params, *has.params]
    moving = every_one[1:] if method and "staticmethod" not in decorators else every_one
    if len(moving) < 2:
        return Refused("it has fewer than two parameters to exchange")
    if any(parameter.default is not None for parameter in moving):
        return Refused("its parameters have defaults")
    if has.posonly_params and has.params:
        return Refused("some of its parameters are positional only")
    return moving


def _mentions(
    program: Program, path: str, function: cst.FunctionDef, method: bool
) -> list[tuple[str, Parsed, cst.Call]] | Refused:
    """Return the calls of the function in one file; refused where its name stands neither in one nor an import."""
    name = function.name.value
    if _named_in_a_text(program, name):
        return Refused("a text names it, so that somebody may look it up")
    if method and name in _COMMON:
        return Refused("a method of that name may be anybody's")
    parsed = program.parsed(path)
    if parsed is None:
        return Refused(f"{path} mentions it and cannot be parsed")
    calls = []
    for node in parsed.names.get(name, ()):
        if node is function.name:
            continue
        parent, above, *_ = parsed.around(node)
        # An import alone is no use of it; under another name (`as`) its calls could not be found by name.
        if isinstance(parent, cst.ImportAlias) and parent.asname is None and not method:
            continue
        if isinstance(parent, cst.Attribute) and parent.attr is node:
            if not method and not _of_a_module(parsed, parent):
                return Refused("a method or attribute has the same name")
            called: cst.CSTNode = parent
        elif not method and _is_global(parsed, node):
            called, above = node, parent
        else:
            return Refused("its name also means something else")
        if not (isinstance(above, cst.Call) and above.func is called):
            return Refused("it is used without being called")
        if method and _of_a_module(parsed, called):
            return Refused("a method is called as a function")
        calls.append((path, parsed, above))
    return calls


def _named_in_a_text(program: Program, name: str) -> bool:
    """Return whether a string could be used to look the function up; `__all__` only lists it, which does no harm."""
    for path in program.mentioning(name):
        parsed = program.parsed(path)
        if parsed is None:
            return True
        for text in parsed.every(parsed.module, cst.SimpleString):
            value = text.evaluated_value
            if isinstance(value, str) and value.replace(":", ".").split(".")[-1] == name and not _in_all(parsed, text):
                return True
    return False


def _in_all(parsed: Parsed, node: cst.CSTNode) -> bool:
    lines = [each for each in parsed.around(node) if isinstance(each, cst.SimpleStatementLine)]
    return any(name.value == "__all__" for line in lines for name in parsed.every(line, cst.Name))


def _of_a_module(parsed: Parsed, attribute: cst.CSTNode) -> bool:
    """Return whether an attribute is taken from something that is imported, e.g. `shop.total`."""
    return any(meaning.source.name == "IMPORT" for meaning in parsed.meanings(attribute))


def _is_global(parsed: Parsed, node: cst.Name) -> bool:
    """Return whether a name means a function of its module, or something imported, and nothing else."""
    scope = parsed.scope(node)
    if scope is None:
        return False
    found = scope[node.value]
    return bool(found) and all(assignment.scope is scope.globals for assignment in found)


def _arguments(parsed: Parsed, call: cst.Call, number: int) -> Sequence[cst.Arg] | Refused:
    if any(argument.star or argument.keyword is not None for argument in call.args) or len(call.args) != number:
        return Refused("a call does not give all its arguments by position")
    # Arguments are worked out from left to right: of two that act, the one that was first would come second.
    if sum(any(isinstance(node, _ACTS) for node in parsed.inside(each)) for each in call.args) > 1:
        return Refused("a call works out more than one argument by calling something")
    return call.args  # with the parentheses around a value, which its expression alone leaves out


def _order(number: int, draw: random.Random) -> Sequence[int]:
    order = list(range(number))
    while order == sorted(order):
        draw.shuffle(order)
    return order


def _moved(parsed: Parsed, spans: Sequence[Span], order: Sequence[int]) -> Iterator[Edit]:
    """Replace each place by what stands at another one; the commas between them stay."""
    for place, source in zip(spans, (spans[index] for index in order), strict=True):
        if place != source:
            yield Edit(place, parsed.text[source.start : source.end], source)

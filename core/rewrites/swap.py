"""Swap two neighbouring statements that have nothing to do with one another."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import libcst as cst

from rtc_inspector.core.rewrites.program import Edit, Parsed, Program, Refused, Rewritten, blocks, is_text
from rtc_inspector.core.types import Span

Pair = tuple[cst.SimpleStatementLine, cst.SimpleStatementLine]
_KINDS = cst.Assign | cst.AnnAssign | cst.AugAssign | cst.Expr
"""The only statements that are moved: others leave the block, bind modules or talk about names."""
_WAITS = cst.Await | cst.Yield | cst.NamedExpr
_LOOPS = cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp
_STATE = cst.Attribute | cst.Subscript | _LOOPS
"""Expressions that may read an object which the other statement changes."""
_CONSTANTS = frozenset({"True", "False", "None"})
_PURE = frozenset(
    {"abs", "all", "any", "bool", "bytes", "chr", "dict", "divmod", "float", "frozenset", "int", "isinstance", "len"}
    | {"list", "max", "min", "ord", "range", "repr", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip"}
)
"""Builtins that change nothing, as far as the objects given to them behave."""


def swap(program: Program, path: str, start: int, seed: int) -> Rewritten | Refused:
    """Exchange a pair of neighbours; the same seed on the result changes them back.

    That holds since neighbours are paired from the first or from the second statement of each block on: a swap inside a
    pair leaves every other pair of the same pairing as it was.
    """
    parsed = program.parsed(path)
    function = parsed.function(start) if parsed else None
    if parsed is None or function is None:
        return Refused("its file cannot be parsed exactly")
    first = _pairs(parsed, function, seed % 2)
    if first:
        return _swapped(path, parsed, first, seed)
    # Only now the other pairing, and only if the seed's own is still empty afterwards: else the same seed would take a
    # pair of that one the next time, instead of swapping this one back.
    second = _pairs(parsed, function, 1 - seed % 2)
    if not second:
        return Refused("no two neighbouring statements are surely independent")
    changed = _swapped(path, parsed, second, seed)
    after = Program({path: changed.text(path, parsed.text)}).parsed(path)
    again = after.function(start) if after else None
    if after is None or again is None or _pairs(after, again, seed % 2):
        return Refused("swapping the only independent statements makes others so, and could not be undone")
    return changed


def _swapped(path: str, parsed: Parsed, pairs: Sequence[Pair], seed: int) -> Rewritten:
    one, other = (_line(parsed, line) for line in random.Random(seed).choice(pairs))
    first, second = parsed.text[one.start : one.end], parsed.text[other.start : other.end]
    return Rewritten({path: (Edit(one, second, other), Edit(other, first, one))})


def _line(parsed: Parsed, statement: cst.SimpleStatementLine) -> Span:
    at = parsed.span(statement)
    comment = statement.trailing_whitespace.comment
    return at if comment is None else Span(at.start, parsed.span(comment).end)


def _pairs(parsed: Parsed, function: cst.FunctionDef, first: int) -> list[Pair]:
    """Return independent neighbours, each statement in at most one pair, from statement `first` of each block."""
    names = _Names(parsed, function)
    found = []
    for block in blocks(parsed, function):
        for one, other in zip(block[first::2], block[first + 1 :: 2], strict=False):
            if not (isinstance(one, cst.SimpleStatementLine) and isinstance(other, cst.SimpleStatementLine)):
                continue
            movable = _movable(parsed, one) and _movable(parsed, other) and not _guarded(parsed, one)
            apart = not any(line.comment for line in other.leading_lines)
            if movable and apart and _independent(parsed, one, other, names) and _differ(parsed, one, other):
                found.append((one, other))
    return found


class _Names:
    """What the names of a function mean.

    Attributes:
        own: variables that nothing but this function can change: functions inside it do not use them.
        pure: builtins that change nothing, and that the file has not bound to something else.
    """

    def __init__(self, parsed: Parsed, function: cst.FunctionDef) -> None:
        scope = parsed.scope(function.body)
        bound = {each.name for each in scope.assignments} if scope else set()
        shared = {item.name.value for item in parsed.every(function, cst.NameItem)}
        for inner in parsed.inside(function.body):
            if isinstance(inner, cst.FunctionDef | cst.Lambda):
                shared |= {name.value for name in parsed.every(inner, cst.Name)}
        self.own = bound - shared
        self.pure = _PURE - bound - ({each.name for each in scope.globals.assignments} if scope else set())


def _movable(parsed: Parsed, line: cst.SimpleStatementLine) -> bool:
    if len(line.body) != 1 or not isinstance(line.body[0], _KINDS) or is_text(line):
        return False
    return not any(isinstance(node, _WAITS) for node in parsed.inside(line))


def _guarded(parsed: Parsed, node: cst.CSTNode) -> bool:
    """Return whether it stands in a `try`: which of the two ran before an error can be seen there."""
    for around in parsed.around(node):
        if isinstance(around, cst.FunctionDef):
            return False
        if isinstance(around, cst.Try | cst.TryStar):
            return True
    return False


def _independent(parsed: Parsed, one: cst.SimpleStatementLine, other: cst.SimpleStatementLine, names: _Names) -> bool:
    """Return whether they share no name and call no two things; where one may change an object, the other sees none."""
    if (_words(parsed, one) & _words(parsed, other)) - names.pure:
        return False
    if len([*parsed.every(one, cst.Call), *parsed.every(other, cst.Call)]) > 1:
        return False
    # Two that may change objects could change the same one. Beside one that may, the other must read nothing but
    # variables of this function: any attribute, item or global could be what the first one changes.
    acting = [line for line in (one, other) if _acts(parsed, line, names)]
    if len(acting) != 1:
        return not acting
    quiet = other if acting[0] is one else one
    if any(isinstance(node, _STATE | cst.Call) for node in parsed.inside(quiet)):
        return False
    return _words(parsed, quiet) <= names.own | names.pure


def _words(parsed: Parsed, line: cst.SimpleStatementLine) -> set[str]:
    return {name.value for name in parsed.every(line, cst.Name)} - _CONSTANTS


def _acts(parsed: Parsed, line: cst.SimpleStatementLine, names: _Names) -> bool:
    """Return whether a statement may change an object, rather than bind a variable."""
    for call in parsed.every(line, cst.Call):
        if not (isinstance(call.func, cst.Name) and call.func.value in names.pure):
            return True
    bound = [name for target in _targets(line) for name in parsed.inside(target)]
    in_place = isinstance(line.body[0], cst.AugAssign)  # `a += b` may change a list that another name means too
    return in_place or any(isinstance(node, cst.Attribute | cst.Subscript) for node in bound)


def _targets(line: cst.SimpleStatementLine) -> Iterator[cst.CSTNode]:
    small = line.body[0]
    if isinstance(small, cst.Assign):
        yield from (target.target for target in small.targets)
    elif isinstance(small, cst.AnnAssign | cst.AugAssign):
        yield small.target


def _differ(parsed: Parsed, one: cst.SimpleStatementLine, other: cst.SimpleStatementLine) -> bool:
    texts = [parsed.text[span.start : span.end] for span in (_line(parsed, one), _line(parsed, other))]
    return texts[0] != texts[1]

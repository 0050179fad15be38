"""Rename a variable or parameter to a synonym, in every place where it is that variable and nowhere else."""

from __future__ import annotations

import builtins
import keyword
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import Assignment, Scope

from rtc_inspector.core.rewrites.program import Edit, Parsed, Program, Refused, Rewritten
from rtc_inspector.core.types import Span
from rtc_inspector.resources.synonyms import synonyms

SHORTEST = 5
"""Letters of a name that is worth renaming: shorter ones say little (the paper's code draws the line here too)."""
LOOKS_AT_NAMES = frozenset({"locals", "vars", "eval", "exec", "dir", "globals", "_getframe", "currentframe"})
"""Whatever calls these may see the names of variables."""
KEEPS_PARAMETERS = frozenset(
    {"staticmethod", "classmethod", "property", "setter", "abstractmethod", "cached_property", "contextmanager"}
    | {"lru_cache", "cache", "wraps", "override", "final", "total_ordering"}
)
"""Decorators that pass arguments on as they come; others may ask for the names of parameters."""
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Variable:
    """A parameter or a variable of one function.

    Attributes:
        places: where it stands, in order, closures included.
        parameter: callers may know it by its name.
    """

    name: str
    places: tuple[Span, ...]
    parameter: bool


def rename(program: Program, path: str, start: int, seed: int) -> Rewritten | Refused:
    """Call the most frequent variable that has synonyms by one of them, which the seed draws."""
    parsed = program.parsed(path)
    function = parsed.function(start) if parsed else None
    if parsed is None or function is None:
        return Refused("its file cannot be parsed exactly")
    found = variables(parsed, function)
    if isinstance(found, Refused):
        return found
    frequent = [each for each in found if len(each.places) > 1 and sum(map(str.isalpha, each.name)) >= SHORTEST]
    frequent = [each for each in frequent if not each.parameter or _only_positional(program, function, each.name)]
    if not frequent:
        return Refused(f"no variable of at least {SHORTEST} letters is used twice and surely known by nobody else")
    for variable in sorted(frequent, key=lambda each: (-len(each.places), each.places[0].start)):
        if new := _another_name(variable.name, parsed.words, random.Random(f"{seed} {variable.name}")):
            edits = tuple(Edit(place, new, place) for place in variable.places)
            return Rewritten({path: edits}, {variable.name: new})
    return Refused("no word of its variables has a synonym that is free in the file")


def variables(parsed: Parsed, function: cst.FunctionDef) -> list[Variable] | Refused:
    """Return what may be renamed without changing what the function does, by first appearance; or why nothing may.

    A name is left out when it means more than one thing inside the function, or may be seen from outside.
    """
    if used := {name.value for name in parsed.every(function, cst.Name)} & LOOKS_AT_NAMES:
        return Refused(f"it calls {min(used)}, which may see the names of variables")
    scope = parsed.scope(function.body)
    if scope is None:
        return Refused("its scope is not known")
    inside: dict[str, set[int]] = {}
    for node in _names(parsed, function):
        inside.setdefault(node.value, set()).add(id(node))
    shown = {name.value for each in _shown_by_name(parsed, function) for name in parsed.every(each, cst.Name)}
    found = []
    for name in {assignment.name for assignment in scope.assignments}:
        nodes = _occurrences(scope, name)
        # Every place where the name stands in the function must be this variable: a comprehension, a nested function
        # or a class inside may bind the same name to something of its own, which would be renamed in part.
        if nodes is None or name in shown or {id(node) for node in nodes} != inside[name]:
            continue
        places = sorted((parsed.span(node) for node in nodes), key=lambda span: span.start)
        found.append(Variable(name, tuple(places), _is_parameter(parsed, function, name)))
    return sorted(found, key=lambda variable: variable.places[0].start)


def _occurrences(scope: Scope, name: str) -> list[cst.Name] | None:
    """Return every node that is this variable; None where something other than a variable is bound to the name."""
    found: dict[int, cst.Name] = {}
    for assignment in scope[name]:
        if not isinstance(assignment, Assignment) or assignment.scope is not scope:
            return None
        node = assignment.node.name if isinstance(assignment.node, cst.Param) else assignment.node
        if not isinstance(node, cst.Name):
            return None  # a function, a class, an import
        found[id(node)] = node
        for access in assignment.references:
            used: cst.CSTNode = access.node
            while isinstance(used, cst.Attribute):  # libcst gives `total.x.y` whole as one access of `total`
                used = used.value
            if not isinstance(used, cst.Name):
                return None  # an annotation that is a string
            found[id(used)] = used
    return list(found.values())


def _names(parsed: Parsed, function: cst.FunctionDef) -> Iterator[cst.Name]:
    """Yield every name of a function but attributes and keywords of calls, which belong to others."""
    for name in parsed.every(function, cst.Name):
        around = next(parsed.around(name))
        of_others = (isinstance(around, cst.Attribute) and name is around.attr) or (
            isinstance(around, cst.Arg) and name is around.keyword
        )
        if not of_others:
            yield name


def _shown_by_name(parsed: Parsed, function: cst.FunctionDef) -> Iterator[cst.FormattedStringExpression]:
    """`f"{total=}"` prints the name itself."""
    for shown in parsed.every(function, cst.FormattedStringExpression):
        if shown.equal is not None:
            yield shown


def _is_parameter(parsed: Parsed, function: cst.FunctionDef, name: str) -> bool:
    return any(parameter.name.value == name for parameter in parsed.every(function.params, cst.Param))


def _only_positional(program: Program, function: cst.FunctionDef, name: str) -> bool:
    """Return whether nobody gives the parameter by its name, as far as the project shows."""
    # By name anywhere in the project counts, whichever function is called there: which one it is cannot be known.
    by_keyword = any(parameter.name.value == name for parameter in function.params.kwonly_params)
    if by_keyword or name in program.passed_by_keyword:
        return False
    return all(_last_name(decorator.decorator) in KEEPS_PARAMETERS for decorator in function.decorators)


def _last_name(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Call):
        return _last_name(node.func)
    return node.attr.value if isinstance(node, cst.Attribute) else node.value if isinstance(node, cst.Name) else ""


def _another_name(name: str, taken: frozenset[str], draw: random.Random) -> str | None:
    """Replace each word of the name that has synonyms by one of them; None where none gives a free name."""
    parts = _PART.findall(name)
    choices = [sorted(synonyms(part.lower()) - {part.lower()}) for part in parts]
    if not any(choices):
        return None
    for _ in range(20):
        new = "".join(
            _cased(draw.choice(words), part) if words else part for part, words in zip(parts, choices, strict=True)
        )
        if (
            new != name
            and new.isidentifier()
            and not (new in taken or keyword.iskeyword(new) or hasattr(builtins, new))
        ):
            return new
    return None


def _cased(word: str, like: str) -> str:
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word.capitalize() if like[0].isupper() else word

"""Every transformation that needs no model, by name: pure functions of a function of a project and a seed."""

import builtins
import keyword
import random
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import libcst as cst
from libcst.metadata import Assignment, Scope

from rtc_inspector.core.rewrites.program import Edit, Parsed, Program, Refused, Rewritten, blocks, docstring, is_text
from rtc_inspector.core.types import Span
from rtc_inspector.resources.synonyms import synonyms

# --------------------------------------------------------------------------- rename a variable to a synonym

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
    """A parameter or a variable of one function, and where it stands, in order, closures included."""

    name: str
    places: tuple[Span, ...]
    parameter: bool


def rename(program: Program, path: str, start: int, seed: int) -> Rewritten:
    """Call the most frequent variable that has synonyms by one of them, which the seed draws."""
    parsed, function = program.function(path, start)
    found = variables(parsed, function)
    frequent = [each for each in found if len(each.places) > 1 and sum(map(str.isalpha, each.name)) >= SHORTEST]
    frequent = [each for each in frequent if not each.parameter or _only_positional(program, function, each.name)]
    if not frequent:
        raise Refused(f"no variable of at least {SHORTEST} letters is used twice and surely known by nobody else")
    for variable in sorted(frequent, key=lambda each: (-len(each.places), each.places[0].start)):
        if new := _another_name(variable.name, parsed.words, random.Random(f"{seed} {variable.name}")):
            edits = tuple(Edit(place, new, place) for place in variable.places)
            return Rewritten({path: edits}, {variable.name: new})
    raise Refused("no word of its variables has a synonym that is free in the file")


def variables(parsed: Parsed, function: cst.FunctionDef) -> list[Variable]:
    """Return what may be renamed without changing what the function does, by first appearance; or why nothing may.

    A name is left out when it means more than one thing inside the function, or may be seen from outside.
    """
    if used := {name.value for name in parsed.every(function, cst.Name)} & LOOKS_AT_NAMES:
        raise Refused(f"it calls {min(used)}, which may see the names of variables")
    scope = parsed.scope(function.body)
    if scope is None:
        raise Refused("its scope is not known")
    inside: dict[str, set[int]] = {}
    for node in _names(parsed, function):
        inside.setdefault(node.value, set()).add(id(node))
    printed = (each for each in parsed.every(function, cst.FormattedStringExpression) if each.equal)  # f"{total=}"
    shown = {name.value for each in printed for name in parsed.every(each, cst.Name)}
    parameters = {parameter.name.value for parameter in parsed.every(function.params, cst.Param)}
    found = []
    for name in {assignment.name for assignment in scope.assignments}:
        nodes = _occurrences(scope, name)
        # Every place where the name stands in the function must be this variable: a comprehension, a nested function
        # or a class inside may bind the same name to something of its own, which would be renamed in part.
        if nodes is None or name in shown or {id(node) for node in nodes} != inside[name]:
            continue
        places = sorted((parsed.span(node) for node in nodes), key=lambda span: span.start)
        found.append(Variable(name, tuple(places), name in parameters))
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
        if name is not getattr(around, "attr", None) and name is not getattr(around, "keyword", None):
            yield name


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
        if new.isidentifier() and not (new in {name, *taken} or keyword.iskeyword(new) or hasattr(builtins, new)):
            return new
    return None


def _cased(word: str, like: str) -> str:
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word.capitalize() if like[0].isupper() else word


# --------------------------------------------------------------------------- swap two independent neighbours

Pair = tuple[cst.SimpleStatementLine, cst.SimpleStatementLine]
_KINDS = cst.Assign | cst.AnnAssign | cst.AugAssign | cst.Expr
"""The only statements that are moved: others leave the block, bind modules or talk about names."""
_WAITS = cst.Await | cst.Yield | cst.NamedExpr
_LOOPS = cst.ListComp | cst.SetComp | cst.DictComp | cst.GeneratorExp
_STATE = cst.Attribute | cst.Subscript | _LOOPS  # expressions that may read an object which the other statement changes
_CONSTANTS = frozenset({"True", "False", "None"})
_PURE = frozenset(
    {"abs", "all", "any", "bool", "bytes", "chr", "dict", "divmod", "float", "frozenset", "int", "isinstance", "len"}
    | {"list", "max", "min", "ord", "range", "repr", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip"}
)
"""Builtins that change nothing, as far as the objects given to them behave."""


def swap(program: Program, path: str, start: int, seed: int) -> Rewritten:
    """Exchange a pair of neighbours; the same seed on the result changes them back.

    That holds since neighbours are paired from the first or from the second statement of each block on: a swap inside a
    pair leaves every other pair of the same pairing as it was.
    """
    parsed, function = program.function(path, start)
    first = _pairs(parsed, function, seed % 2)
    if first:
        return _swapped(path, parsed, first, seed)
    # Only now the other pairing, and only if the seed's own is still empty afterwards: else the same seed would take a
    # pair of that one the next time, instead of swapping this one back.
    second = _pairs(parsed, function, 1 - seed % 2)
    if not second:
        raise Refused("no two neighbouring statements are surely independent")
    changed = _swapped(path, parsed, second, seed)
    after = Program({path: changed.text(path, parsed.text)}).parsed(path)
    again = after.functions.get(start) if after else None
    if after is None or again is None or _pairs(after, again, seed % 2):
        raise Refused("swapping the only independent statements makes others so, and could not be undone")
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
            texts = {parsed.text[span.start : span.end] for span in (_line(parsed, one), _line(parsed, other))}
            if movable and apart and len(texts) == 2 and _independent(parsed, one, other, names):
                found.append((one, other))
    return found


class _Names:
    """The names of a function: its `own` variables that nothing else can change, and `pure` builtins, as they were."""

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
    small = line.body[0]
    if isinstance(small, cst.AugAssign):  # `a += b` may change a list that another name means too
        return True
    targets = [each.target for each in small.targets] if isinstance(small, cst.Assign) else []
    targets += [small.target] if isinstance(small, cst.AnnAssign) else []
    return any(isinstance(node, cst.Attribute | cst.Subscript) for each in targets for node in parsed.inside(each))


# --------------------------------------------------------------------------- permute positional parameters

_BOUND = frozenset({"staticmethod", "classmethod"})  # decorators that leave the parameters as they are
_ACTS = cst.Call | cst.Await | cst.Yield | cst.NamedExpr | cst.GeneratorExp
_COMMON = frozenset(
    name for kind in (object, str, bytes, list, dict, set, tuple, int, float, complex) for name in dir(kind)
) | {"close", "read", "write", "open", "run", "start", "put", "send", "call", "search", "group", "submit"}
"""Attributes that objects of the standard library have: `x.read(a, b)` need not be a call of the project's `read`."""


def permute(program: Program, path: str, start: int, seed: int) -> Rewritten:
    """Draw an order of the parameters by the seed; every call in every file follows.

    Only where somebody calls it by name, and every mention of that name is surely this function, called with all its
    arguments by position.
    """
    parsed, function = program.function(path, start)
    method = isinstance(
        next((n for n in parsed.around(function) if not isinstance(n, cst.IndentedBlock)), None), cst.ClassDef
    )
    moving = _parameters(function, method)
    mentioning = program.mentioning(function.name.value)
    calls = [call for each in mentioning for call in _mentions(program, each, function, method)]
    if not any(where != path or function not in parsed.around(call) for where, _, call in calls):
        # As `getattr(self, "visit_" + kind)(node, value)` finds it: those calls would keep the old order.
        raise Refused("nobody calls it by name")
    draw, order = random.Random(f"{seed} {path} {start}"), list(range(len(moving)))
    while order == sorted(order):
        draw.shuffle(order)
    spans = [parsed.span(parameter) for parameter in moving]
    edits = {path: list(_moved(parsed, spans, order))}
    for where, text, call in calls:
        values = _arguments(text, call, len(moving))
        edits.setdefault(where, []).extend(_moved(text, [text.span(value) for value in values], order))
    for each in edits.values():
        each.sort(key=lambda edit: edit.span.start)
        if any(one.span.overlaps(other.span) for one, other in pairwise(each)):
            raise Refused("one of its calls is an argument of another")
    return Rewritten({where: tuple(each) for where, each in edits.items()})


def _parameters(function: cst.FunctionDef, method: bool) -> list[cst.Param]:
    name, has = function.name.value, function.params
    if name.startswith("__") and name.endswith("__"):
        raise Refused("Python itself calls it")
    decorators = {each.decorator.value if isinstance(each.decorator, cst.Name) else "?" for each in function.decorators}
    if decorators - _BOUND:
        raise Refused("a decorator may know its parameters")
    if isinstance(has.star_arg, cst.Param) or has.star_kwarg is not None or has.kwonly_params:
        raise Refused("it takes more than positional parameters")
    every_one = [*has.posonly_params, *has.params]
    moving = every_one[1:] if method and "staticmethod" not in decorators else every_one
    if len(moving) < 2:
        raise Refused("it has fewer than two parameters to exchange")
    if any(parameter.default is not None for parameter in moving):
        raise Refused("its parameters have defaults")
    if has.posonly_params and has.params:
        raise Refused("some of its parameters are positional only")
    return moving


def _mentions(
    program: Program, path: str, function: cst.FunctionDef, method: bool
) -> Iterator[tuple[str, Parsed, cst.Call]]:
    """Yield the calls of the function in one file; refused where its name stands neither in one nor an import."""
    name = function.name.value
    if _named_in_a_text(program, name):
        raise Refused("a text names it, so that somebody may look it up")
    if method and name in _COMMON:
        raise Refused("a method of that name may be anybody's")
    parsed = program.parsed(path)
    if parsed is None:
        raise Refused(f"{path} mentions it and cannot be parsed")
    for node in parsed.names.get(name, ()):
        if node is function.name:
            continue
        parent, above, *_ = parsed.around(node)
        # An import alone is no use of it; under another name (`as`) its calls could not be found by name.
        if isinstance(parent, cst.ImportAlias) and parent.asname is None and not method:
            continue
        if isinstance(parent, cst.Attribute) and parent.attr is node:
            if not method and not _of_a_module(parsed, parent):
                raise Refused("a method or attribute has the same name")
            called: cst.CSTNode = parent
        elif not method and _is_global(parsed, node):
            called, above = node, parent
        else:
            raise Refused("its name also means something else")
        if not (isinstance(above, cst.Call) and above.func is called):
            raise Refused("it is used without being called")
        if method and _of_a_module(parsed, called):
            raise Refused("a method is called as a function")
        yield path, parsed, above


def _named_in_a_text(program: Program, name: str) -> bool:
    """Return whether a string could be used to look the function up; `__all__` only lists it, which does no harm."""
    for path in program.mentioning(name):
        parsed = program.parsed(path)
        if parsed is None:
            return True
        for text in parsed.every(parsed.module, cst.SimpleString):
            value = text.evaluated_value
            if isinstance(value, str) and value.replace(":", ".").split(".")[-1] == name:
                lines = (each for each in parsed.around(text) if isinstance(each, cst.SimpleStatementLine))
                if not any(each.value == "__all__" for line in lines for each in parsed.every(line, cst.Name)):
                    return True
    return False


def _of_a_module(parsed: Parsed, attribute: cst.CSTNode) -> bool:
    """Return whether an attribute is taken from something that is imported, e.g. `shop.total`."""
    return any(meaning.source.name == "IMPORT" for meaning in parsed.meanings(attribute))


def _is_global(parsed: Parsed, node: cst.Name) -> bool:
    """Return whether a name means a function of its module, or something imported, and nothing else."""
    scope = parsed.scope(node)
    found = scope[node.value] if scope is not None else ()
    return bool(found) and all(scope and assignment.scope is scope.globals for assignment in found)


def _arguments(parsed: Parsed, call: cst.Call, number: int) -> Sequence[cst.Arg]:
    if any(argument.star or argument.keyword is not None for argument in call.args) or len(call.args) != number:
        raise Refused("a call does not give all its arguments by position")
    # Arguments are worked out from left to right: of two that act, the one that was first would come second.
    if sum(any(isinstance(node, _ACTS) for node in parsed.inside(each)) for each in call.args) > 1:
        raise Refused("a call works out more than one argument by calling something")
    return call.args  # with the parentheses around a value, which its expression alone leaves out


def _moved(parsed: Parsed, spans: Sequence[Span], order: Sequence[int]) -> Iterator[Edit]:
    """Replace each place by what stands at another one; the commas between them stay."""
    for place, source in zip(spans, (spans[index] for index in order), strict=True):
        if place != source:
            yield Edit(place, parsed.text[source.start : source.end], source)


# --------------------------------------------------------------------------- words as a docstring, and prints

WIDTH = 88


def document(program: Program, path: str, start: int, words: str) -> Rewritten:
    """Make the words the docstring of a function that has none."""
    at, indentation, newline = docstring_place(program, path, start)
    # A backslash or three quotes would end the text or mean something in it, and a doctest in it would be run.
    lines = [line.strip() for line in words.replace("\\", "/").replace('"""', "'''").splitlines()]
    plain = " ".join(line for line in lines if line and not line.startswith((">>>", "...")))
    if not plain:
        raise Refused("there are no words")
    if plain.endswith('"'):
        plain += " "  # else four quotes end the text
    wrapped = textwrap.wrap(plain, max(20, WIDTH - len(indentation))) or [plain]
    text = f'"""{wrapped[0]}'
    if len(wrapped) > 1:
        text += "".join(f"{newline}{indentation}{line}" for line in wrapped[1:]) + f"{newline}{indentation}"
    return Rewritten({path: (Edit(Span(at, at), f'{text}"""{newline}{indentation}'),)})


def docstring_place(program: Program, path: str, start: int) -> tuple[int, str, str]:
    """Return where a docstring goes, its indentation and how the file ends its lines. Raises Refused."""
    parsed, function = program.function(path, start)
    if not isinstance(function.body, cst.IndentedBlock):
        raise Refused("it stands on one line")
    if docstring(function) is not None:
        raise Refused("it has a docstring")
    first = function.body.body[0]
    at = parsed.span(first).start
    if isinstance(first, cst.FunctionDef | cst.ClassDef) and first.decorators:
        at = parsed.span(first.decorators[0]).start
    return at, parsed.indentation(at), parsed.newline


def identity(program: Program, path: str, start: int, seed: int) -> Rewritten:
    """Change nothing; models are asked again, with other seeds and other hidden names."""
    return Rewritten({})


CHANCE = 0.3  # that a line is added between two statements
WORDS = ("debug", "here", "checkpoint", "reached", "trace", "step")
_LEAVES = cst.Return | cst.Raise | cst.Break | cst.Continue
_SHOWS_ITSELF = frozenset({"__str__", "__repr__", "__format__"})
"""Methods in which no value is printed: printing `self`, or what holds it, would call them again without end."""


def logging(program: Program, path: str, start: int, seed: int) -> Rewritten:
    """Print a word or what was just assigned between simple statements of a block, at least once."""
    parsed, function = program.function(path, start)
    scope = parsed.scope(function.body)
    if scope is None or any(each.name == "print" for each in (*scope.assignments, *scope.globals.assignments)):
        raise Refused("`print` is something else in its file")
    draw = random.Random(f"{seed} {path} {start}")
    gaps = [gap for block in blocks(parsed, function) for gap in _gaps(parsed, block)]
    if not gaps:
        raise Refused("no two simple statements follow one another")
    chosen = [gap for gap in gaps if draw.random() < CHANCE] or [draw.choice(gaps)]
    names = function.name.value not in _SHOWS_ITSELF
    edits = []
    for before, after in chosen:
        at = parsed.span(after).start
        indentation = parsed.indentation(at)
        name = _assigned(before) if names and draw.random() < 0.5 else None
        line = f"print({name})" if name else f'print("{draw.choice(WORDS)}")'
        edits.append(Edit(Span(at, at), f"{line}{parsed.newline}{indentation}"))
    return Rewritten({path: tuple(sorted(edits, key=lambda edit: edit.span.start))})


def _gaps(
    parsed: Parsed, block: Sequence[cst.BaseStatement]
) -> list[tuple[cst.SimpleStatementLine, cst.SimpleStatementLine]]:
    """Return neighbouring statements between which a line is reached, and would not stand beside another print."""
    found = []
    for before, after in pairwise(block):
        if not (isinstance(before, cst.SimpleStatementLine) and isinstance(after, cst.SimpleStatementLine)):
            continue
        if isinstance(before.body[-1], _LEAVES) or _prints(parsed, before) or _prints(parsed, after):
            continue
        found.append((before, after))
    return found


def _prints(parsed: Parsed, line: cst.SimpleStatementLine) -> bool:
    return any(name.value == "print" for name in parsed.every(line, cst.Name))


def _assigned(line: cst.SimpleStatementLine) -> str | None:
    """Return the name that a statement has just bound, so that it can be printed."""
    last = line.body[-1]
    target: cst.CSTNode | None = None
    if isinstance(last, cst.Assign):
        target = last.targets[0].target
    elif isinstance(last, cst.AugAssign) or (isinstance(last, cst.AnnAssign) and last.value is not None):
        target = last.target
    return target.value if isinstance(target, cst.Name) else None


Transformation = Callable[[Program, str, int, int], Rewritten]
"""`(program, path, offset of the function's def, seed)`; raises Refused."""

TRANSFORMATIONS: Mapping[str, Transformation] = {
    "identity": identity,
    "rename": rename,
    "logging": logging,
    "swap": swap,
    "permute": permute,
}

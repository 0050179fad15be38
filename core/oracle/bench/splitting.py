"""The tests of a benchmark problem, split so that each check is a test function of its own.

For example, of

    def check(candidate):
        limit = 3
        assert candidate(1) == limit, "bad"
        for n in range(9):
            assert candidate(n) < 10

come

    def test_000(candidate):
        limit = 3
        assert (candidate(1) == limit), candidate.said()

    def test_001(candidate):
        limit = 3
        for n in range(9):
            assert candidate(n) < 10
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rtc_inspector.core.types import Problem

MOST_TESTS = 100
"""Of one problem whose tests are inputs only: more inputs share tests."""
CANDIDATE = "candidate"


@dataclass(frozen=True, slots=True)
class Split:
    """The tests of one problem, as source.

    Attributes:
        shared: module level statements that stand before all tests.
        bodies: one test function's body each, indented; it calls the program by the name `candidate`.
    """

    shared: str
    bodies: tuple[str, ...]


def split(problem: Problem) -> Split:
    """The problem's tests. No bodies: no test calls the program."""
    if problem.test:
        return _split_check(problem)
    if problem.inputs:
        return Split(_REFERENCE.format(source=problem.program, entry=problem.entry), tuple(_input_bodies(problem)))
    names = {CANDIDATE, *problem.names}
    bodies = (_snippet_body(source, names) for source in problem.asserts)
    return Split(problem.setup, tuple(_renamed(problem) + body for body in bodies if body))


def _renamed(problem: Problem, indent: str = "    ") -> str:
    """The function's own names stand for the recording one too: HumanEval/33 and all of MBPP call it by its name."""
    names = [name for name in problem.names if name != CANDIDATE]
    return "".join(f"{indent}{name} = {CANDIDATE}\n" for name in names)


def _split_check(problem: Problem) -> Split:
    """Split a source with a function `check(candidate)`; what stands around the function is shared."""
    source, lines = problem.test, problem.test.split("\n")
    tree = _parsed(source)
    check = next(n for n in reversed(tree.body) if isinstance(n, ast.FunctionDef) and n.name == "check")
    around = [_lines(lines, node, "") for node in tree.body if node is not check and not _calls_check(node)]
    parameter = check.args.args[0].arg if check.args.args else CANDIDATE
    indent = _indent(lines, check.body[0])
    head = _renamed(problem, indent) + (f"{indent}{parameter} = {CANDIDATE}\n" if parameter != CANDIDATE else "")
    bodies = _bodies(source, check.body, {CANDIDATE, parameter, *problem.names})
    return Split("\n".join([problem.setup, *around]).strip("\n"), tuple(head + body for body in bodies))


def _bodies(source: str, statements: Sequence[ast.stmt], names: set[str]) -> Iterator[str]:
    """One a check, with the statements above it that are no check.

    `names` are those of the program; a name that is assigned from what it gave counts as one too.
    """
    lines = source.split("\n")
    above: list[str] = []
    known = set(names)
    for node in statements:
        text = _lines(lines, node, _indent(lines, node))
        meant = _mentions(node, known)
        if isinstance(node, ast.Assert):
            if meant:
                yield "\n".join([*above, _with_message(source, lines, node)])
        elif not meant:
            above.append(text)
        elif (made := _assigned(node)) is not None:
            known |= made
            above.append(text)
        elif any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
            yield "\n".join([*above, text])


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id in names for inner in ast.walk(node))


def _assigned(node: ast.stmt) -> set[str] | None:
    """The names that a statement binds, where it is there for that; else None."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets: Sequence[ast.expr]
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    else:
        return None
    return {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}


def _with_message(source: str, lines: Sequence[str], node: ast.Assert) -> str:
    """The assert with its condition as it stands; its message says what the program gave."""
    condition = ast.get_source_segment(source, node.test) or ast.unparse(node.test)
    return f"{_indent(lines, node)}assert ({condition}), {CANDIDATE}.said()"


def _lines(lines: Sequence[str], node: ast.stmt, indent: str) -> str:
    """The statement as it stands, where it has that indentation and its lines to itself; else written anew."""
    first = node.lineno - 1
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list:
        first = node.decorator_list[0].lineno - 1
    line = lines[first]
    if line[: len(line) - len(line.lstrip())] != indent or _shares(lines, node):
        return "\n".join(indent + line for line in ast.unparse(node).split("\n"))
    return "\n".join(lines[first : node.end_lineno])


def _shares(lines: Sequence[str], node: ast.stmt) -> bool:
    """Return whether another statement stands on one of its lines."""
    last = lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset or 0 :].decode().strip()
    before = lines[node.lineno - 1].encode()[: node.col_offset].decode().strip()
    return bool(before) or bool(last and not last.startswith("#"))


def _indent(lines: Sequence[str], node: ast.stmt) -> str:
    """The white space before a statement; of one that stands behind others on its line, that of the line."""
    line = lines[node.lineno - 1]
    space = line[: len(line) - len(line.lstrip())]
    return space or "    "


def _calls_check(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and _mentions(node, {"check"})


def _snippet_body(source: str, names: set[str]) -> str:
    """One test's own statements; empty where none of them calls the program."""
    lines = source.split("\n")
    statements = _parsed(source).body
    if not any(_mentions(node, names) for node in statements):
        return ""
    texts = []
    for node in statements:
        text = _with_message(source, lines, node) if isinstance(node, ast.Assert) else _lines(lines, node, "    ")
        texts.append(text)
    return "\n".join(texts)


# --------------------------------------------------------------------------- inputs without outputs (HumanEval+)

_REFERENCE = """\
_expected = _rtc_reference({source!r}, {entry!r})"""
POLYNOMIAL = "find_zero"
"""HumanEval/32 has many right answers: the polynomial at the answer must be zero, as EvalPlus has it."""
POLYNOMIAL_TOLERANCE = 1e-4


def _input_bodies(problem: Problem) -> Iterator[str]:
    size = -(-len(problem.inputs) // MOST_TESTS)
    for first in range(0, len(problem.inputs), size):
        yield "\n".join(_input_assert(problem, given) for given in problem.inputs[first : first + size])


def _input_assert(problem: Problem, given: str) -> str:
    call = f"{CANDIDATE}({given})"
    if problem.entry == POLYNOMIAL and "def poly(" in problem.program:
        condition = f"abs(poly({given}, {call})) <= {max(problem.tolerance, POLYNOMIAL_TOLERANCE)!r}"
    else:
        condition = f"_rtc_near({call}, _expected({given}), {problem.tolerance!r}) == _expected({given})"
    return f"    assert ({condition}), {CANDIDATE}.said()"


def _parsed(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)

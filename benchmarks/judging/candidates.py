"""Candidates of known kinds: deletions, small mutations, equal rewrites and original texts."""

from __future__ import annotations

import ast
import random
import re
import textwrap
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from rtc_inspector.core.regions.admission import deletion
from rtc_inspector.core.regions.candidates import draw, find_regions
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.types import Candidate, Codebase, Region, SourceFile, Suite

KINDS = ("deletion", "mutation", "equal", "mutation", "deletion", "equal", "mutation", "original")
_SWAPS = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "in": "not in", "not in": "in", "is": "is not",
    "is not": "is", "+": "-", "-": "+", "*": "/", "/": "*", "//": "/", "%": "*", "and": "or", "or": "and",
}  # fmt: skip
_OPERATORS = re.compile("|".join(sorted((rf"(?<!\w){re.escape(word)}(?!\w)" for word in _SWAPS), key=len)[::-1]))


@dataclass(frozen=True)
class Trial:
    """A candidate with the tests that cover it. `swappable`: its code may be swapped in a running process."""

    kind: str
    candidate: Candidate
    tests: tuple[str, ...]
    swappable: bool


def make_trials(codebase: Codebase, suite: Suite, wanted: int, seed: int) -> list[Trial]:
    """Up to `wanted` trials, each another text, over regions drawn as a run draws them; overlap is allowed."""
    chance = random.Random(seed)
    found = find_regions(codebase.files, suite.coverage, RegionSettings(allow_overlap=True), _silent)
    trials: dict[tuple[str, str], Trial] = {}
    for region in draw(found.regions, seed, allow_overlap=True):
        if len(trials) >= wanted:
            break
        kind, file = KINDS[len(trials) % len(KINDS)], codebase.file(region.path)
        text = replacement(kind, file, region, chance)
        if text is not None and _compiles(Candidate(file, region.span, text)):
            swappable = _swappable(file, region, suite.coverage.import_lines.get(region.path, frozenset()))
            trial = Trial(kind, Candidate(file, region.span, text), region.tests, swappable)
            trials.setdefault((region.path, trial.candidate.new_text + str(region.tests)), trial)
    return list(trials.values())


def replacement(kind: str, file: SourceFile, region: Region, chance: random.Random) -> str | None:
    """The region in another form; None when it has none of that kind."""
    match kind:
        case "deletion":
            return deletion(file, region)
        case "equal":
            return _rewritten(file, region)
        case "mutation":
            mutants = list(_mutants(file, region))
            return chance.choice(mutants) if mutants else None
    return region.text


def _swappable(file: SourceFile, region: Region, import_lines: Set[int]) -> bool:
    """Whether it stands in a function no line of which runs while modules are imported."""
    for node in ast.walk(ast.parse(file.text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first, last = node.body[0].lineno, node.end_lineno or 0
            if first <= region.start_line and region.end_line <= last:
                return import_lines.isdisjoint(range(first, last + 1))
    return False


def mutants(file: SourceFile, regions: Sequence[Region]) -> Iterator[tuple[Region, str]]:
    """Every small change of every region."""
    return ((region, text) for region in regions for text in _mutants(file, region))


def _parsed(file: SourceFile, region: Region) -> tuple[str, str]:
    """The region without its indentation, and the indentation."""
    line_start = max(file.text.rfind(end, 0, region.span.start) for end in "\r\n") + 1
    indent = re.match(r"[ \t]*", file.text[line_start:])
    lead = indent.group() if indent and line_start + len(indent.group()) == region.span.start else ""
    return textwrap.dedent(lead + region.text), lead


def _rewritten(file: SourceFile, region: Region) -> str | None:
    """The same statements as Python prints their syntax tree; literal text over several lines is left alone."""
    source, lead = _parsed(file, region)
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    if any(isinstance(node, ast.Constant) and "\n" in str(node.value) for node in ast.walk(tree)):
        return None
    text = textwrap.indent(ast.unparse(tree), lead).removeprefix(lead)
    return text if text != region.text else f"pass\n{lead}{text}"


def _mutants(file: SourceFile, region: Region) -> Iterator[str]:
    """One operator, constant or returned value changed."""
    source, lead = _parsed(file, region)
    if textwrap.indent(source, lead) != lead + region.text:
        return  # a string over several lines, or mixed indentation
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    lines = source.splitlines(keepends=True)
    for first, last, text in _edits(tree, source, lines):
        yield textwrap.indent(source[:first] + text + source[last:], lead).removeprefix(lead)


def _edits(tree: ast.Module, source: str, lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """(start, end, new text) of each change, in characters of `source`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (bool, int):
            changed = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
            yield (*_place(node, lines), changed)
        elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
            yield (*_place(node.value, lines), "None")
        elif isinstance(node, (ast.BinOp, ast.Compare, ast.BoolOp)):
            for left, right in _operands(node):
                start, end = _place(left, lines)[1], _place(right, lines)[0]
                if operator := _OPERATORS.search(source, start, end):
                    yield operator.start(), operator.end(), _SWAPS[operator.group()]


def _operands(node: ast.BinOp | ast.Compare | ast.BoolOp) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.BinOp(left=left, right=right):
            yield left, right
        case ast.Compare(left=left, comparators=comparators):
            yield left, comparators[0]
        case ast.BoolOp(values=values):
            yield values[0], values[1]


def _place(node: ast.expr, lines: Sequence[str]) -> tuple[int, int]:
    """Start and end in characters; the syntax tree counts bytes within a line."""

    def offset(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())

    return offset(node.lineno, node.col_offset), offset(node.end_lineno or 0, node.end_col_offset or 0)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _compiles(candidate: Candidate) -> bool:
    """Texts that are not Python say nothing about how tests are run."""
    try:
        compile(candidate.new_text, "<candidate>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _silent(stage: str, done: int, total: int) -> None:
    """Nobody listens."""

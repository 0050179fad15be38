"""Which candidates the tests cover, and by which tests: traced by us in Python, reported by the tests elsewhere."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import CodeType

from rtc_inspector.core.json_cache import JsonCache
from rtc_inspector.core.languages import PYTHON, Language, language_for
from rtc_inspector.core.languages.trees import statements
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.settings.setting import read_back
from rtc_inspector.core.syntax import AnyFunction, compiled, first_line_of, is_bare_text, parse
from rtc_inspector.core.types import CoverageMap, Region, SourceFile


def cover(
    regions: Sequence[Region],
    coverage: CoverageMap,
    settings: RegionSettings,
    file: SourceFile,
    statement_map: StatementMap | None = None,
) -> list[Region]:
    """Return the regions of `file` that tests cover, with their tests in suite order and whether they run at import.

    Covered are those whose statements all ran (`all`), or some (`any`), under a test or at import; statements the
    compiler makes no code for, or a report has nothing about, do not count. A region that runs at import has the whole
    suite for its tests; so has every region where nobody traced the tests. `statement_map`: of the file, where it is
    Python and that is known already.
    """
    if not coverage.tests or not regions:
        return []
    if not coverage.traced:
        return [replace(region, tests=coverage.tests) for region in regions]
    language = language_for(file.path)
    trace = _Trace(file, coverage, statement_map) if language is PYTHON else _Reported(file, coverage, language)
    judged = (trace.judge(region, every=settings.coverage != "any") for region in regions)
    return [region for region in judged if region is not None]


class _Reported:
    """What a report says of one file, by the lines on which its statements begin."""

    def __init__(self, file: SourceFile, coverage: CoverageMap, language: Language) -> None:
        root = statements(file.text, language)
        found = [each for block in root.every() for each in block.statements] if root is not None else []
        self._places = sorted((each.span.start, each.line, each.span.end) for each in found)
        self._suite, self._ran = coverage.tests, coverage.lines.get(file.path, {})

    def judge(self, region: Region, *, every: bool) -> Region | None:
        first, last = (bisect_left(self._places, (place,)) for place in (region.span.start, region.span.end))
        around = [place for place in self._places[:first] if place[2] >= region.span.end][-1:]
        coverers = [self._ran[line] for _, line, _ in self._places[first:last] or around if line in self._ran]
        tests = sorted(frozenset[int]().union(*coverers))
        if not tests or (every and not all(coverers)):
            return None
        return replace(region, tests=tuple(self._suite[index] for index in tests))


class _Trace:
    """The lines of one file that ran, by first lines of statements; tests are bits of an integer."""

    def __init__(self, file: SourceFile, coverage: CoverageMap, known: StatementMap | None) -> None:
        self._suite = coverage.tests
        self._map = known or map_statements(file.text)
        self._at_import = {self._map.first_line.get(line, line) for line in coverage.import_lines.get(file.path, ())}
        self._under_tests: dict[int, int] = {}
        for line, tests in coverage.lines.get(file.path, {}).items():
            first = self._map.first_line.get(line, line)
            for index in tests:
                self._under_tests[first] = self._under_tests.get(first, 0) | 1 << index
        self._known: dict[int, tuple[str, ...]] = {}

    def judge(self, region: Region, *, every: bool) -> Region | None:
        lines = range(region.start_line, region.end_line + 1)
        executable = [line for line in lines if line in self._map.executable]
        if not executable:  # a person marked a part of one statement, a line of a dictionary, say
            first = self._map.first_line.get(region.start_line, region.start_line)
            executable = [first] if first in self._map.executable else []
        ran = [line for line in executable if line in self._at_import or self._under_tests.get(line)]
        if not ran or (every and len(ran) < len(executable)):
            return None
        inside = any(first <= region.start_line <= last for first, last in self._map.function_bodies)
        if not inside or not self._at_import.isdisjoint(ran):
            return replace(region, tests=self._suite, runs_at_import=True)
        mask = 0
        for line in ran:
            mask |= self._under_tests[line]
        return replace(region, tests=self._tests(mask), runs_at_import=False)

    def _tests(self, mask: int) -> tuple[str, ...]:
        """Return the same tuple for the same bits, as thousands of regions share them."""
        if mask not in self._known:
            self._known[mask] = tuple(name for i, name in enumerate(self._suite) if mask >> i & 1)
        return self._known[mask]


@dataclass(frozen=True, slots=True)
class StatementMap:
    """Lines (1-based) seen as statements."""

    # line -> first line of the innermost statement, or clause with a header of its own, around it
    first_line: dict[int, int]
    # first lines of those that the compiler made code for (none for `global` or dead code), save those that are only a
    # string, as some versions of Python run such a line and others do not
    executable: frozenset[int]
    function_bodies: tuple[tuple[int, int], ...]


def map_statements(text: str) -> StatementMap:
    """Locate the statements of a file that compiles. Raises SyntaxError."""
    code, nodes = compiled(text), list(ast.walk(parse(text)))
    # Outer statements first, so that the inner ones write over them.
    extents = sorted(_extents(nodes), key=lambda extent: (extent[0], -extent[1]))
    first_line: dict[int, int] = {}
    for first, last in extents:
        first_line.update(dict.fromkeys(range(first, last + 1), first))
    firsts = Counter(first for first, _ in extents)
    # A string that shares its line with another statement says nothing about whether that one runs.
    silent = {node.lineno for node in nodes if is_bare_text(node) and firsts[node.lineno] == 1}
    executable = {first_line[line] for line in _code_lines(code) if line in first_line} - silent
    functions = [node for node in nodes if isinstance(node, AnyFunction)]
    bodies = ((node.lineno + 1, node.end_lineno or node.lineno) for node in functions)
    return StatementMap(first_line, frozenset(executable), tuple(bodies))


def _extents(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, int]]:
    for node in nodes:
        if isinstance(node, ast.match_case):
            yield node.pattern.lineno, node.body[-1].end_lineno or node.pattern.lineno
        elif isinstance(node, ast.stmt | ast.excepthandler):
            first = first_line_of(node)
            yield first, node.end_lineno or first


def _code_lines(code: CodeType) -> Iterator[int]:
    for _, _, line in code.co_lines():
        if line:
            yield line
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_lines(constant)


# --------------------------------------------------------------------------- kept for later
# So that one can see later what a project that was sampled had to draw from.

_COVERAGE = JsonCache("coverage", 50)  # maps; the oldest go first


def keep_coverage(fingerprint: str, coverage: CoverageMap) -> None:
    """Keep the map of a project whose files have this fingerprint. Trouble with it is passed over: it is a cache."""
    _COVERAGE.save(fingerprint, coverage)


def kept_coverage(fingerprint: str) -> CoverageMap | None:
    """Return the map kept for these files; None where there is none, or it cannot be read."""
    try:
        return read_back(CoverageMap, _COVERAGE.load(fingerprint))
    except (ValueError, TypeError, AttributeError):
        return None

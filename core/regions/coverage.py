"""Which candidates the tests cover, and by which tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.regions.statements import StatementMap, map_statements
from core.settings import RegionSettings
from core.types import CoverageMap, Region, SourceFile


def cover(regions: Sequence[Region], coverage: CoverageMap, settings: RegionSettings, file: SourceFile) -> list[Region]:
    """The regions of `file` that the tests cover, with their tests in suite order and whether they run at import.

    Covered are those whose statements all ran (`all`), or some (`any`), under a test or at import; statements the
    compiler makes no code for do not count. A region that runs at import has the whole suite for its tests.
    """
    if not coverage.tests or not regions:
        return []
    trace = _Trace(file, coverage)
    judged = (trace.judge(region, every=settings.coverage != "any") for region in regions)
    return [region for region in judged if region is not None]


class _Trace:
    """What ran of one file, by first lines of statements; tests are bits of an integer."""

    def __init__(self, file: SourceFile, coverage: CoverageMap) -> None:
        self._suite = coverage.tests
        self._map = map_statements(file.text)
        self._at_import = {self._map.first_line.get(line, line) for line in coverage.import_lines.get(file.path, ())}
        self._under_tests = _masks(coverage.lines.get(file.path, {}), self._map)
        self._known: dict[int, tuple[str, ...]] = {}

    def judge(self, region: Region, *, every: bool) -> Region | None:
        """The region with its tests, or None when it is not covered."""
        lines = range(region.start_line, region.end_line + 1)
        executable = [line for line in lines if line in self._map.executable]
        if not executable:  # a person marked a part of one statement, a line of a dictionary, say
            first = self._map.first_line.get(region.start_line, region.start_line)
            executable = [first] if first in self._map.executable else []
        ran = [line for line in executable if line in self._at_import or self._under_tests.get(line)]
        if not ran or (every and len(ran) < len(executable)):
            return None
        if not self._map.in_function(region.start_line) or not self._at_import.isdisjoint(ran):
            return replace(region, tests=self._suite, runs_at_import=True)
        mask = 0
        for line in ran:
            mask |= self._under_tests[line]
        return replace(region, tests=self._tests(mask), runs_at_import=False)

    def _tests(self, mask: int) -> tuple[str, ...]:
        """Node ids of the bits set; the same tuple for the same bits, as thousands of regions share them."""
        if mask not in self._known:
            self._known[mask] = tuple(name for i, name in enumerate(self._suite) if mask >> i & 1)
        return self._known[mask]


def _masks(lines: Mapping[int, frozenset[int]], statements: StatementMap) -> dict[int, int]:
    """First line of a statement -> bits of the tests that ran any line of it."""
    masks: dict[int, int] = {}
    for line, tests in lines.items():
        first = statements.first_line.get(line, line)
        for index in tests:
            masks[first] = masks.get(first, 0) | 1 << index
    return masks

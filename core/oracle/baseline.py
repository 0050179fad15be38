"""What was learned from the unmodified project."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rtc_inspector.core.oracle.verdicts import Allowances
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.types import Suite


def file_of(node_id: str) -> str:
    """Return the file a test is collected from."""
    return node_id.split("::", 1)[0]


@dataclass(frozen=True, slots=True)
class Chain:
    """Tests that pass when they are run in this order, in a fresh process; some of them in no other."""

    tests: tuple[str, ...]
    whole: bool  # whether all test files are collected, and not those of these tests alone


@dataclass(frozen=True)
class Baseline:
    """A suite, and what judging needs beside it."""

    suite: Suite
    overhead: float  # seconds of a run that belong to no test: start, imports, collection
    once: float = 0.0  # seconds paid once a process, by whichever test comes first: fixtures of the session, caches
    ignored: tuple[str, ...] = ()  # test files that cannot be collected, relative to the root
    preload: tuple[str, ...] = ()  # foreign modules worth importing before the first fork
    # files of the project that pytest imports before it collects: conftests and what they import
    early: frozenset[str] = frozenset()
    writable: tuple[str, ...] = ()  # folders of the project in which its tests make files, below the root
    allowed: Allowances = field(default_factory=Allowances)  # what the project does to the framework by itself
    code_swap: bool = False  # whether the collected suite, forked, gives the same results as a fresh one
    fresh_only: frozenset[str] = frozenset()  # tests that pass in a fresh process but not in the collected one
    chains: tuple[Chain, ...] = ()  # in which the tests that need the project's own order are asked
    unproven: frozenset[str] = frozenset()  # trusted tests that nobody has seen pass without the others of their file

    @cached_property
    def seconds(self) -> dict[str, float]:
        return {test.node_id: test.seconds for test in (*self.suite.tests, *self.suite.own_order)}

    def seconds_of(self, tests: Iterable[str]) -> float:
        known = self.seconds
        return sum(known.get(test, 0.0) for test in tests)

    def learned(self, settings: OracleSettings) -> dict[str, Any]:
        """Return what a zygote is told once: limits of time and output, and which lines run at import."""
        factor, floor = settings.test_timeout_factor, settings.test_timeout_floor
        limits = {node_id: max(floor, factor * seconds) for node_id, seconds in self.seconds.items()}
        return {
            "test_seconds": limits,
            "default_test_seconds": max(floor, settings.suite_timeout),
            "output_bytes": settings.output_kib << 10,
            "import_lines": {path: sorted(lines) for path, lines in self.suite.coverage.import_lines.items()},
        }

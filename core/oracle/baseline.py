"""What was learned from the unmodified project, and its JSON form for the cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rtc_inspector.core.oracle.verdicts import Allowances
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.types import CoverageMap, Suite, TestCase


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

    def to_json(self) -> dict[str, Any]:
        suite, coverage = self.suite, self.suite.coverage
        return {
            "tests": [[test.node_id, test.seconds] for test in suite.tests],
            "excluded": dict(suite.excluded),
            "own_order": [[test.node_id, test.seconds] for test in suite.own_order],
            "not_asked": list(suite.not_asked),
            "chains": [[list(chain.tests), chain.whole] for chain in self.chains],
            "covering": list(coverage.tests),  # those that are set aside too: lines count them as well
            "lines": {
                path: [[line, sorted(tests)] for line, tests in by_line.items()]
                for path, by_line in coverage.lines.items()
            },
            "import_lines": {path: sorted(lines) for path, lines in coverage.import_lines.items()},
            "seconds": suite.seconds,
            "python": suite.python,
            "overhead": self.overhead,
            "once": self.once,
            "ignored": list(self.ignored),
            "preload": list(self.preload),
            "early": sorted(self.early),
            "writable": list(self.writable),
            "changes": sorted(self.allowed.changes),
            "events": sorted(map(list, self.allowed.events)),
            "code_swap": self.code_swap,
            "fresh_only": sorted(self.fresh_only),
            "unproven": sorted(self.unproven),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Baseline:
        """Raises KeyError, TypeError or ValueError for anything else than `to_json` gave."""
        tests = tuple(TestCase(str(node_id), float(seconds)) for node_id, seconds in data["tests"])
        lines = {
            path: {int(line): frozenset(map(int, tests)) for line, tests in by_line}
            for path, by_line in data["lines"].items()
        }
        imports = {path: frozenset(map(int, lines)) for path, lines in data["import_lines"].items()}
        coverage = CoverageMap(tuple(map(str, data["covering"])), lines, imports)
        excluded, seconds, python = dict(data["excluded"]), float(data["seconds"]), str(data["python"])
        own_order = tuple(TestCase(str(node_id), float(seconds)) for node_id, seconds in data["own_order"])
        not_asked = tuple(map(str, data["not_asked"]))
        events = frozenset((str(event), str(file)) for event, file in data["events"])
        return cls(
            Suite(tests, excluded, coverage, seconds, python, own_order=own_order, not_asked=not_asked),
            overhead=float(data["overhead"]),
            once=float(data["once"]),
            ignored=tuple(data["ignored"]),
            preload=tuple(data["preload"]),
            early=frozenset(data["early"]),
            writable=tuple(map(str, data["writable"])),
            allowed=Allowances(frozenset(data["changes"]), events),
            code_swap=bool(data["code_swap"]),
            fresh_only=frozenset(data["fresh_only"]),
            unproven=frozenset(map(str, data["unproven"])),
            chains=tuple(Chain(tuple(map(str, tests)), bool(whole)) for tests, whole in data["chains"]),
        )

"""Runs of the unmodified suite: which tests can be trusted, what they cover, how long they take."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import InspectorError, ProjectError, TargetError
from rtc_inspector.core.oracle.interpreter import Interpreter
from rtc_inspector.core.oracle.messages import headline
from rtc_inspector.core.types import CoverageMap

MISSING_MODULE = re.compile(r"No module named '?([\w.]+)'?")
_WORDS = {
    "failed": "fails",
    "error": "ends in an error",
    "skipped": "is skipped",
    "xfailed": "is expected to fail",
    "xpassed": "passes although it is expected to fail",
}


@dataclass(slots=True)
class IdentityRun:
    """What one run of the unmodified suite showed.

    Attributes:
        collected: node ids in the order they ran.
        outcomes: node id -> (outcome, seconds, message).
        errors: (file, text) of what could not be collected.
        aborted: the error that ended the run itself, if one did.
        asked: the tests it was to run; None means all.
    """

    asked: frozenset[str] | None = None
    collected: list[str] = field(default_factory=list)
    outcomes: dict[str, tuple[str, float, str]] = field(default_factory=dict)
    errors: list[tuple[str, str]] = field(default_factory=list)
    lines: dict[str, list[tuple[str, list[int]]]] = field(default_factory=dict)
    import_lines: dict[str, frozenset[int]] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    events: set[tuple[str, str]] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    status: int | None = None
    aborted: str = ""
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return plain values of a traced run."""
        names = ("collected", "outcomes", "errors", "lines", "modules", "early", "status", "seconds")
        imports = {path: sorted(lines) for path, lines in self.import_lines.items()}
        return {**{name: getattr(self, name) for name in names}, "import_lines": imports}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> IdentityRun:
        """Raise KeyError, TypeError or ValueError for anything else than `to_json` gave."""
        return cls(
            collected=list(map(str, data["collected"])),
            outcomes={str(test): (str(o), float(s), str(m)) for test, (o, s, m) in data["outcomes"].items()},
            errors=[(str(where), str(text)) for where, text in data["errors"]],
            lines={path: [(test, list(map(int, n))) for test, n in found] for path, found in data["lines"].items()},
            import_lines={path: frozenset(map(int, lines)) for path, lines in data["import_lines"].items()},
            modules=list(map(str, data["modules"])),
            early=list(map(str, data["early"])),
            status=data["status"],
            seconds=float(data["seconds"]),
        )

    def take(self, kind: str, values: list[Any]) -> None:
        """Sort in one frame."""
        match kind:
            case "collected":
                self.collected = list(values[0])
            case "test":
                self._test(*values[:4])
            case "collect-error":
                self.errors.append((values[0], values[1]))
            case "lines":
                self.lines[values[0]] = [(test, lines) for test, lines in values[1]]
            case "import-lines":
                self.import_lines[values[0]] = frozenset(values[1])
            case "modules":
                self.modules = list(values[0])
            case "early":
                self.early = list(values[0])
            case "audit":
                self.events.add((values[0], values[1]))
            case "evidence":
                self.changes.update(values[1])
            case "aborted":
                self.aborted = str(values[0])
            case "exit":
                self.status = int(values[0])

    def _test(self, node_id: str, outcome: str, seconds: float, message: str) -> None:
        """A node id met twice keeps its worse outcome."""
        known = self.outcomes.get(node_id)
        if known is None or known[0] == "passed":
            self.outcomes[node_id] = (outcome, max(seconds, known[1] if known else 0.0), message)

    @property
    def passed(self) -> list[str]:
        """Node ids of those that passed, in the order they were collected."""
        outcomes = self.outcomes
        return [test for test in dict.fromkeys(self.collected) if test in outcomes and outcomes[test][0] == "passed"]

    @property
    def passed_seconds(self) -> dict[str, float]:
        """Seconds of each test that passed."""
        return {test: self.outcomes[test][1] for test in self.passed}

    @property
    def overhead(self) -> float:
        """Seconds that belong to no test."""
        return max(0.0, self.seconds - sum(seconds for _, seconds, _ in self.outcomes.values()))


def untrusted(runs: Sequence[IdentityRun]) -> dict[str, str]:
    """Node id -> why a test is set aside, over all runs."""
    found: dict[str, str] = {}
    for node_id in dict.fromkeys(test for run in runs for test in run.collected):
        reason = _reason([run.outcomes.get(node_id) for run in runs if run.asked is None or node_id in run.asked])
        if reason:
            found[node_id] = reason
    return found


def _reason(outcomes: Sequence[tuple[str, float, str] | None]) -> str:
    kinds = [outcome[0] if outcome is not None else "missing" for outcome in outcomes]
    if set(kinds) == {"passed"}:
        return ""
    if "missing" in kinds:
        return "has another name, or is missing, in another run"
    first = next(outcome for outcome in outcomes if outcome is not None and outcome[0] != "passed")
    said = headline(first[2])
    because = f": {said}" if said else ""
    if "passed" in kinds:
        passed = kinds.count("passed")
        return f"passes in {passed} of {len(kinds)} runs in different orders{because}"
    return _WORDS.get(first[0], first[0]) + because


ONCE = 0.5
"""Seconds by which a test must be slower in one run than in another to have paid for others."""


def paid_once(runs: Sequence[IdentityRun]) -> float:
    """Seconds that some tests took longer in one run than in another, in the run where they are most.

    In each order other tests come first, and pay for what is made once.
    """
    least = {
        test: min(run.outcomes[test][1] for run in runs if test in run.outcomes)
        for run in runs
        for test in run.outcomes
    }
    each = ([seconds - least[test] for test, (_, seconds, _) in run.outcomes.items()] for run in runs)
    return max((sum(more for more in beyond if more > ONCE) for beyond in each), default=0.0)


def coverage_map(run: IdentityRun, tests: Sequence[str]) -> CoverageMap:
    """Return lines by test, over these tests only."""
    index = {node_id: number for number, node_id in enumerate(tests)}
    lines: dict[str, dict[int, frozenset[int]]] = {}
    for path, by_test in run.lines.items():
        found: dict[int, set[int]] = {}
        for test, numbers in by_test:
            if test in index:
                for line in numbers:
                    found.setdefault(line, set()).add(index[test])
        lines[path] = {line: frozenset(found[line]) for line in sorted(found)}
    return CoverageMap(tuple(tests), lines, run.import_lines)


def check_collected(run: IdentityRun, printed: str, interpreter: Interpreter, root: Path) -> None:
    """Refuse a run that is no ground to stand on. Raises TargetError, ProjectError."""
    files = {node_id.split("::", 1)[0] for node_id in run.collected}
    if len(run.errors) > len(files) or (run.errors and not run.collected):
        raise _cannot_collect(run.errors, interpreter, root)
    if run.collected:
        return
    if run.status in (0, 5):
        raise ProjectError(
            "pytest found no tests in this project.",
            "Choose a project with tests that pytest collects, or tell pytest in the project's configuration where "
            "they are (testpaths, python_files).",
        )
    raise _cannot_start(printed, interpreter, root)


def _cannot_collect(errors: Sequence[tuple[str, str]], interpreter: Interpreter, root: Path) -> InspectorError:
    missing = missing_modules("\n".join(text for _, text in errors))
    if missing:
        return needs(missing, interpreter, root)
    where, text = errors[0][0] or "conftest.py", errors[0][1]
    several = f"{len(errors)} test files cannot be imported; the first is {where}"
    return ProjectError(
        f"{several if len(errors) > 1 else f'{where} cannot be imported'}: {headline(text)}",
        f"Make `{interpreter.executable} -m pytest` work in the project's folder, then open it again.",
    )


def _cannot_start(printed: str, interpreter: Interpreter, root: Path) -> InspectorError:
    missing = missing_modules(printed)
    if missing:
        return needs(missing, interpreter, root)
    lines = [line for line in printed.splitlines() if line.strip()]
    if not lines:
        return TargetError(
            "pytest ended before it said anything: a conftest.py ended it, or memory is too small (--memory).",
            f"Make `{interpreter.executable} -m pytest` work in the project's folder, or give it more memory.",
        )
    said = [line for line in lines if "error" in line.lower()][-1:] or lines[-1:]
    return TargetError(
        f"pytest cannot start in this project: {said[0].strip()[:300]}",
        f"Install the plugin that its configuration needs, or make `{interpreter.executable} -m pytest` work there.",
    )


def missing_modules(text: str) -> list[str]:
    """Top-level names of the modules that could not be found, in order."""
    return list(dict.fromkeys(name.split(".", 1)[0] for name in MISSING_MODULE.findall(text)))


def needs(names: Sequence[str], interpreter: Interpreter, root: Path) -> TargetError:
    """The interpreter lacks modules: the project itself, or what it depends on."""
    own = [name for name in names if any((root / top / name).is_dir() for top in ("", "src"))]
    if own:
        return TargetError(
            f"The tests import {own[0]} as it is once installed, and {interpreter.executable} does not have it.",
            f"Run `{interpreter.executable} -m pip install -e {root}`, or choose another interpreter.",
        )
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return TargetError(
        f"The tests need {listed}, which {interpreter.executable} does not have.",
        f"Run `{interpreter.executable} -m pip install {' '.join(names[:6])}`, or choose another interpreter.",
    )


def affordable(run: IdentityRun, seconds: float) -> list[str]:
    """The tests that passed and are run again: the fastest that take `seconds` together, at least one; in order."""
    left, chosen = seconds, set[str]()
    for test in sorted(run.passed, key=lambda test: run.outcomes[test][1]):
        left -= run.outcomes[test][1]
        if left < 0 and chosen:
            break
        chosen.add(test)
    return [test for test in run.passed if test in chosen]


REVERSED = -1


def orders(runs: int) -> list[int]:
    """The order of each identity run after the first: reversed (it breaks every need for one earlier test), shuffled.

    One fewer than asked for: forks of the collected suite run all tests once more.
    """
    return [REVERSED, *range(1, max(1, runs - 2))]

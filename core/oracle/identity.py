"""Runs of the unmodified suite in a sandbox: what they show, and what is wrong where it cannot be judged by."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import InspectorError, ProjectError, TargetError
from rtc_inspector.core.oracle.baseline import file_of
from rtc_inspector.core.oracle.interpreter import Interpreter
from rtc_inspector.core.oracle.sandbox.protocol import Sandbox
from rtc_inspector.core.oracle.sessionplan import SessionPlan
from rtc_inspector.core.oracle.verdicts import OUTLIVES, Observation, headline
from rtc_inspector.core.oracle.zygote import START_PATIENCE, Listener, Reply, Zygote, ZygoteDied
from rtc_inspector.core.types import CoverageMap, Report
from rtc_inspector.core.waiting import Poll

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
    """The findings of one run of the unmodified suite."""

    asked: frozenset[str] | None = None  # the tests it was to run; None means all
    collected: list[str] = field(default_factory=list)  # node ids in the order they ran
    outcomes: dict[str, tuple[str, float, str]] = field(default_factory=dict)  # node id -> (outcome, seconds, message)
    errors: list[tuple[str, str]] = field(default_factory=list)  # (file, text) of what could not be collected
    lines: dict[str, list[tuple[str, list[int]]]] = field(default_factory=dict)
    import_lines: dict[str, frozenset[int]] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    events: set[tuple[str, str]] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    status: int | None = None
    aborted: str = ""  # the error that ended the run itself, if one did
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
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
        match kind:
            case "collected" | "modules" | "early":
                setattr(self, kind, list(values[0]))
            case "test":
                self._test(*values[:4])
            case "collect-error":
                self.errors.append((values[0], values[1]))
            case "lines":
                self.lines[values[0]] = [(test, lines) for test, lines in values[1]]
            case "import-lines":
                self.import_lines[values[0]] = frozenset(values[1])
            case "audit":
                self.events.add((values[0], values[1]))
            case "evidence":
                self.changes.update(values[1])
            case "aborted":
                self.aborted = str(values[0])
            case "exit":
                self.status = int(values[0])

    def add(self, later: IdentityRun) -> None:
        """Take over what a later run of some of the tests came to."""
        self.outcomes |= later.outcomes
        self.seconds += later.seconds
        for path, by_test in later.lines.items():
            self.lines[path] = [*self.lines.get(path, ()), *by_test]
        for path, lines in later.import_lines.items():
            self.import_lines[path] = self.import_lines.get(path, frozenset()) | lines

    def _test(self, node_id: str, outcome: str, seconds: float, message: str) -> None:
        """Keep a result; a node id met twice keeps its worse outcome."""
        known = self.outcomes.get(node_id)
        if known is None or known[0] == "passed":
            self.outcomes[node_id] = (outcome, max(seconds, known[1] if known else 0.0), message)

    @property
    def passed(self) -> list[str]:
        outcomes = self.outcomes
        return [test for test in dict.fromkeys(self.collected) if test in outcomes and outcomes[test][0] == "passed"]

    @property
    def passed_seconds(self) -> dict[str, float]:
        return {test: self.outcomes[test][1] for test in self.passed}

    @property
    def overhead(self) -> float:
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
    """Return the interpreter lacks modules: the project itself, or what it depends on."""
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
    """Return the tests that passed and are run again: the fastest that take `seconds` in all, at least one."""
    left, chosen = seconds, set[str]()
    for test in sorted(run.passed, key=lambda test: run.outcomes[test][1]):
        left -= run.outcomes[test][1]
        if left < 0 and chosen:
            break
        chosen.add(test)
    return [test for test in run.passed if test in chosen]


REVERSED = -1


def orders(runs: int) -> list[int]:
    """Return the order of each identity run after the first: reversed, shuffled.

    One fewer than asked for: forks of the collected suite run all tests once more.
    """
    return [REVERSED, *range(1, max(1, runs - 2))]


SLOW_TRACE = 4.0
"""How many times longer a traced run may take."""
COLLECTING = 2 * START_PATIENCE
"""Seconds that a process may take to collect the suite; what takes longer is run by fresh imports."""
LEAST_APART, MOST_APART = 2.0, 20.0
"""Seconds of running tests apart; between them, as long as a plain run takes."""
LEAST_PATIENCE = 30.0
"""Seconds that one fork may take at least."""
PYTEST_EXIT = re.compile(r"_pytest\.outcomes\.Exit: (.*?)\.? *!*$", re.MULTILINE)
"""What pytest prints where a test or a hook ended the session by `pytest.exit`, with the reason."""


@dataclass(slots=True)
class Apart:
    """The findings of running tests apart."""

    # node id -> message, of tests that pass together but not by themselves
    failing: dict[str, str] = field(default_factory=dict)
    unreached: list[str] = field(default_factory=list)  # tests that were not tried when time was up; they are believed


class EndlessTest(ProjectError):
    """The project's own tests did not end in time. `test`: the one that went over its own limit, if one did."""

    def __init__(self, problem: str, remedy: str, test: str | None) -> None:
        super().__init__(problem, remedy)
        self.test = test


class SandboxEnded(TargetError):
    """The process that ran the project's own tests was killed, or its sandbox or engine ended."""


class IdentityRunner:
    """Starts processes and runs suites in them."""

    def __init__(
        self, new_sandbox: Callable[[], Sandbox], interpreter: Interpreter, root: Path, suite_timeout: float
    ) -> None:
        """`suite_timeout`: seconds a plain run may take."""
        self._new_sandbox = new_sandbox
        self._interpreter = interpreter
        self._root = root
        self._timeout = suite_timeout

    def start(self, plan: SessionPlan, progress: Report) -> Zygote:
        """Return a process for the plan; close it. Raises TargetError, SandboxError, and what `progress` raises."""
        try:
            zygote = Zygote(self._new_sandbox(), plan, partial(progress, "starting a sandbox", 0, 1), COLLECTING)
        except ZygoteDied as error:
            raise TargetError(
                f"{self._interpreter.executable} cannot be started in the sandbox: {error}.",
                "Run `rtc-inspector doctor`, or choose another interpreter or sandbox.",
            ) from error
        if not zygote.ready:
            missing = missing_modules(str(zygote.greeting.get("missing", ""))) or ["pytest"]
            zygote.close()
            python, needed = self._interpreter.executable, "" if missing[0] == "pytest" else ", which pytest needs"
            remedy = f"Run `{python} -m pip install {missing[0]}`, or choose another interpreter."
            raise TargetError(f"{python} has no {missing[0]}{needed}.", remedy)
        return zygote

    def run(self, zygote: Zygote, stage: str, progress: Report, **request: Any) -> IdentityRun:
        """Make one identity run; `progress` hears of each test. Raises ProjectError, TargetError."""
        tests = request.get("tests")
        run, started = IdentityRun(None if tests is None else frozenset(tests)), time.monotonic()

        def poll() -> None:
            progress(stage, len(run.outcomes), max(1, len(run.collected)))

        def listen(kind: str, values: list[Any]) -> None:
            run.take(kind, values)
            if kind in ("collected", "test"):
                poll()

        limit = self._timeout * (SLOW_TRACE if request.get("trace") else 1.0)
        asked = {"tests": None, "identity": True, "total": limit, "default_test_seconds": limit, **request}
        reply = _run(zygote, asked, poll, listen)
        run.seconds = time.monotonic() - started
        run.changes.update({OUTLIVES} if reply["outlived"] else ())
        self._check_ending(run, reply, limit)
        return run

    def apart(self, zygote: Zygote, seconds: Mapping[str, float], plain: float, progress: Report) -> Apart:
        """Run the tests, each without any other of its file; those that fail so are run alone. Raises TargetError.

        `seconds`: what each test takes; the fast ones come first. `plain`: what a plain run takes, and this about too.
        """
        apart, done = Apart(), 0
        end = time.monotonic() + min(MOST_APART, max(LEAST_APART, plain))
        for batch in batches(seconds):
            if time.monotonic() > end:
                apart.unreached += batch
                continue
            poll = partial(progress, "learning the tests: without each other", done, len(seconds))
            poll()
            done += len(batch)
            patience = LEAST_PATIENCE + 3 * sum(seconds[test] for test in batch)
            for test in _failures(zygote, batch, patience, poll) if len(batch) > 1 else batch:
                if time.monotonic() > end:
                    apart.unreached.append(test)
                else:
                    apart.failing |= _failures(zygote, [test], patience, poll)
        return apart

    def _check_ending(self, run: IdentityRun, reply: Reply, limit: float) -> None:
        if reply["killed"]:
            where = f" in {reply['test']}" if reply["test"] else ""
            what = "report more than is read" if reply["killed"] == "flood" else f"did not end within {limit:.0f} s"
            raise EndlessTest(
                f"The project's own tests {what}{where}.",
                "Deselect the slow tests in the project's pytest configuration, or raise --suite-seconds.",
                reply["test"] if reply["killed"] == "test-timeout" else None,
            )
        if left := PYTEST_EXIT.search(reply["printed"]):
            where = reply["test"] or "A conftest.py or a plugin"
            raise ProjectError(
                f"{where} ends the whole run of the tests by pytest.exit: {left[1]}.",
                "Mend what it asks for, or deselect it in the project's pytest configuration, then open it again.",
            )
        if run.aborted.startswith("SystemExit") and not run.collected:
            raise ProjectError(
                f"A conftest.py or a plugin ends the interpreter before pytest has found a test ({run.aborted}).",
                f"Make `{self._interpreter.executable} -m pytest` work in the project's folder, then open it again.",
            )
        check_collected(run, reply["printed"], self._interpreter, self._root)
        if run.status is None:
            where = f" in {reply['test']}" if reply["test"] else ""
            why = run.aborted or f"status {reply['exit']}, signal {reply['signal']}"
            raise ProjectError(
                f"The project's own tests end the interpreter{where}: {why}.",
                "Make the whole suite run to its end with pytest, then open the project again.",
            )


def _failures(zygote: Zygote, tests: Sequence[str], total: float, poll: Poll) -> dict[str, str]:
    """Node id -> the line that names the error, of those that do not pass in one fork within `total` seconds."""
    request = {"tests": list(tests), "fail_fast": False, "unproven": True, "total": total}
    observed = Observation.of(_run(zygote, request, poll))
    said = {test: (outcome, message) for test, outcome, _, message, *_ in observed.all("test")}
    results = {test: said.get(test, ("missing", "")) for test in tests}
    return {test: headline(message) for test, (outcome, message) in results.items() if outcome != "passed"}


def _run(zygote: Zygote, request: dict[str, Any], poll: Poll, listen: Listener | None = None) -> Reply:
    try:
        return zygote.run(request, listen, poll)
    except ZygoteDied as error:
        raise SandboxEnded(
            f"The sandbox ended while the project's own tests ran: {error}.",
            "Try again; if it happens again, give the sandbox more memory or run `rtc-inspector doctor`.",
        ) from error


def batches(seconds: Mapping[str, float]) -> list[list[str]]:
    """Return at most one test of each file in a batch; fast tests first."""
    by_file: dict[str, list[str]] = {}
    for test in sorted(seconds, key=lambda test: (seconds[test], test)):
        by_file.setdefault(file_of(test), []).append(test)
    return [[test for test in batch if test is not None] for batch in zip_longest(*by_file.values())]

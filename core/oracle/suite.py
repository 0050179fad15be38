"""Learn the unmodified project: what can be trusted, what it covers, how it may be judged."""

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import ProjectError, TargetError
from rtc_inspector.core.oracle.baseline import Baseline, Chain, file_of
from rtc_inspector.core.oracle.identity import (
    Apart,
    EndlessTest,
    IdentityRun,
    IdentityRunner,
    affordable,
    coverage_map,
    missing_modules,
    orders,
    paid_once,
    untrusted,
)
from rtc_inspector.core.oracle.sandbox.host_system import can_be_opened, is_data
from rtc_inspector.core.oracle.sessionplan import SessionPlan
from rtc_inspector.core.oracle.verdicts import Allowances
from rtc_inspector.core.oracle.zygote import Zygote
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.types import CoverageMap, Report, Suite, TestCase

EACH_SECONDS, MOST_ENDLESS = 30.0, 20
"""What one test of a benchmark may take while its reference is tried, and how many may take longer."""
IMPORT_SECONDS = 60.0  # what importing one test file may take, with all that it imports
TRACING = "learning the tests: which lines they run"
MOST_FOLDERS = 8
REFUSED = re.compile(r"(?:Read-only file system|Permission denied|Operation not permitted): '([^'\n]+)'")
DATABASE = re.compile(r"unable to open database file|attempt to write a readonly database")
"""As SQLite says it, without the name."""


def folders_written(run: IdentityRun, root: Path) -> tuple[Path, ...]:
    """Folders where failing tests were refused to make a file or change data, as far as they can be opened for that.

    A test that changes code which is there stays refused.
    """
    found = dict.fromkeys(folder for node_id, text in _said(run) for folder in _folders(node_id, text, root))
    return tuple(sorted(folder for folder in found if can_be_opened(folder))[:MOST_FOLDERS])


def _said(run: IdentityRun) -> Iterator[tuple[str, str]]:
    for node_id, (outcome, _, message) in run.outcomes.items():
        if outcome in ("failed", "error"):
            yield node_id, message
    yield from run.errors


def _folders(node_id: str, text: str, root: Path) -> Iterator[Path]:
    for name in REFUSED.findall(text):
        path = Path(os.path.normpath(Path(root, name)))
        folder = next(parent for parent in path.parents if parent.is_dir())
        may_be = not path.exists() or is_data(path)
        if may_be and folder.is_relative_to(root) and not folder.is_symlink():
            yield folder
    if DATABASE.search(text):
        yield from dict.fromkeys((root, Path(root, file_of(node_id)).parent))


STEADY, STEADY_TRIES = 2, 3
"""How often tests must pass in the project's own order after the first time; and tries, each without what failed."""
FORECAST_AFTER = 5.0  # seconds of a traced run after which it is said how long it will take, where that much is left
UNKNOWN_SECONDS = 1.0  # what a test is taken to need of which nothing is known, so that its limit is a multiple of that
MISSING = ("missing", 0.0, "")
MOST_FRESH_ONLY = 0.2  # share of tests that may need fresh imports before the collected suite is given up


@dataclass(frozen=True, slots=True)
class Traced:
    """The first run, in the project's own order: which lines each test runs."""

    run: IdentityRun
    opened: tuple[Path, ...] = ()  # folders opened for its tests
    forked: bool = False  # whether it was made in a fork of the collected suite, and fresh imports come to the same
    # tests that do not end, and are left out with their files; with the reason
    endless: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _InOrder:
    """The findings of runs in the project's own order, about tests that fail in others."""

    kept: frozenset[str] = frozenset()  # those that passed in each of them
    chains: tuple[Chain, ...] = ()
    runs: tuple[IdentityRun, ...] = ()


@dataclass(frozen=True, slots=True)
class _CodeSwap:
    """Whether candidates may be judged in forks. `run` is None when not."""

    run: IdentityRun | None
    fresh_only: frozenset[str]
    order_dependent: Mapping[str, str]
    unreached: Sequence[str]


class SuiteRun:
    """One learning of one project; starts processes, ends them all."""

    def __init__(
        self,
        runner: IdentityRunner,
        plan: SessionPlan,
        settings: OracleSettings,
        notice: Callable[[str], None],
        python: str,
        root: Path | None,
    ) -> None:
        """`python`: the version to record. `root`: of a project that cannot be written to."""
        self._runner = runner
        self._plan = plan
        self._settings = settings
        self._notice = notice
        self._python = python
        self._root = root
        self._told = self._foretold = False
        self._collected: Zygote | None = None

    def collect(self, progress: Report) -> Zygote | None:
        """Return a process that has collected the suite, which `trace` goes on with; None where there can be none."""
        with suppress(TargetError):
            self._collected = self._runner.start(self._plan.with_config(collect=True, trace=True), progress)
            if not self._collected.greeting["trouble"]:
                return self._collected
        return None

    def trace(self, progress: Report) -> Traced:
        """Run the suite once, traced. Raises as `learn`."""
        progress("check", 0, 1)
        plan, opened, endless = self._plan, tuple[Path, ...](), dict[str, str]()
        progress = self._forecasting(progress)
        while True:
            try:
                run, forked = self._traced(plan, progress, afresh=bool(endless))
            except EndlessTest as found:
                if found.test is None or len(endless) == MOST_ENDLESS:
                    raise
                kind = "does not end" if "::" in found.test else "cannot be imported"
                seconds = EACH_SECONDS if not self._plan.config["pytest_needed"] else IMPORT_SECONDS
                endless[found.test] = f"{kind} within {seconds:.0f} s"
                self._notice(f"{found.test} {endless[found.test]}: left out with all that its file tests.")
                plan = ready_plan(plan, [file_of(found.test)])
                continue
            if not opened and self._root is not None and (opened := folders_written(run, self._root)):
                names = ", ".join(self._below(opened))
                self._notice(f"Tests make files in {names}: they are kept in memory and thrown away after each run.")
                plan = plan.with_writable(opened)
                if not (forked and self._trace_refused(plan, run, progress)):
                    continue
            else:
                self._consider(run)
            return Traced(run, opened, forked, endless)

    def _trace_refused(self, plan: SessionPlan, run: IdentityRun, progress: Report) -> bool:
        """Add to a traced run what tests that failed in it do where they may write; False where that cannot be told."""
        with suppress(TargetError, ProjectError):
            if (more := self._run_collected(plan, progress, tests=_failing(run))) is not None:
                run.add(more)
                return True
        return False

    def _forecasting(self, progress: Report) -> Report:
        """Return what says, some seconds into a long traced run, how long all of it will take."""
        ends: dict[int, float] = {}  # when so many tests had ended

        def heard(stage: str, done: int, total: int) -> None:
            progress(stage, done, total)
            if stage != TRACING or not done or self._foretold:
                return
            now = time.monotonic()
            ends.setdefault(done, now)
            passed = now - min(ends.values())
            if passed > FORECAST_AFTER:
                # One test may take longer than all others: the longest is counted once, and not for those to come.
                longest = max(after - before for before, after in pairwise([*ends.values(), now]))
                whole = longest + (passed - longest) / done * total
                if whole - passed > FORECAST_AFTER:
                    self._foretold = True
                    self._notice(
                        f"The tests take about {whole:.0f} s: the first description is asked for in about "
                        f"{whole - passed:.0f} s, and the first verdict comes about {2 * whole / 60:.1f} min later."
                    )

        return heard

    def take_collected(self) -> Zygote | None:
        """Return the process that ran the suite for `trace` or `learn`, which can judge on; close it."""
        collected, self._collected = self._collected, None
        return collected

    def _keep(self, collected: Zygote | None) -> None:
        if self._collected is not None:
            self._collected.close()
        self._collected = collected

    def early(self, traced: Traced) -> Baseline:
        """Return what one run tells, by which can be judged where the untouched project is asked too."""
        run = traced.run
        tests = tuple(TestCase(node, seconds) for node, seconds in run.passed_seconds.items())
        coverage = coverage_map(run, run.passed)
        return Baseline(
            Suite(tests, untrusted([run]), coverage, run.seconds, self._python),
            run.overhead,
            ignored=(*broken_files(run), *map(file_of, traced.endless)),
            preload=tuple(run.modules),
            early=frozenset(run.early),
            writable=tuple(self._below(traced.opened)),
            code_swap=traced.forked,
        )

    def learn(self, progress: Report, traced: Traced | None = None) -> Baseline:
        """Run the suite as often as it takes: traced, if it was not, and untraced in other orders and apart.

        Where candidates may be judged in forks, `take_collected` has a process for it afterwards. Raises ProjectError,
        TargetError, SandboxError, and what `progress` raises.
        """
        traced = traced if traced is not None else self.trace(progress)
        plan, swaps = self._plan_for(traced), False
        try:
            plain, again = self._untraced(plan, progress)
            if traced.forked and any(set(_failing(traced.run)).intersection(run.passed) for run in plain):
                # Forks of the suite cannot tell which lines these run.
                traced = replace(traced, run=self._traced_afresh(plan, progress))
            files = rewritten_files(plain[0].early, plain[0].collected)
            plan = ready_plan(plan, broken_files(plain[0]), plain[0].modules, plan.config["sources"], files)
            baseline = self._combine(traced, plain, again, plan, progress)
            swaps = baseline.code_swap
            return baseline
        finally:
            if not swaps:
                self._keep(None)

    def _combine(
        self, first: Traced, plain: Sequence[IdentityRun], again: Sequence[str], plan: SessionPlan, progress: Report
    ) -> Baseline:
        """Return what the runs show, after those that depend on them; `plain`, `again`: see `_untraced`."""
        traced = first.run
        slow = self._too_slow(plain[0], again)
        excluded = untrusted([traced, *plain]) | slow | dict(first.endless)
        trusted = [node for node in dict.fromkeys(traced.collected) if node not in excluded]
        if not trusted:
            raise _none_pass(excluded)
        swap = self._weigh(plan, again, plain[0].seconds, trusted, progress)
        excluded |= swap.order_dependent
        trusted = [node for node in trusted if node not in excluded]
        passing = [node for node in traced.passed if node not in slow]
        in_order = self._in_own_order(plan, passing, excluded, progress)
        excluded = {node: reason for node, reason in excluded.items() if node not in in_order.kept}
        tests = tuple(TestCase(node, max(run.outcomes[node][1] for run in plain)) for node in trusted)
        seconds, overhead = min(run.seconds for run in plain), max(run.overhead for run in plain)
        suite = Suite(
            tests,
            excluded,
            coverage_map(traced, traced.passed),
            seconds,
            self._python,
            own_order=tuple(TestCase(node, traced.outcomes[node][1]) for node in passing if node in in_order.kept),
            not_asked=tuple(node for node in traced.passed if node in excluded),
        )
        repeated = [*plain, *([swap.run] if swap.run is not None else [])]
        return Baseline(
            suite,
            overhead,
            once=paid_once(repeated),
            ignored=(*broken_files(plain[0]), *map(file_of, first.endless)),
            preload=tuple(plain[0].modules),
            early=frozenset(plain[0].early),
            writable=tuple(self._below(first.opened)),
            allowed=_allowances([*repeated, *in_order.runs]),
            code_swap=swap.run is not None,
            fresh_only=swap.fresh_only,
            chains=in_order.chains,
            unproven=frozenset(swap.unreached).intersection(trusted),
        )

    def _below(self, folders: Iterable[Path]) -> list[str]:
        return [str(folder.relative_to(self._root)) for folder in folders if self._root is not None]

    def _traced(self, plan: SessionPlan, progress: Report, afresh: bool) -> tuple[IdentityRun, bool]:
        """Run all tests under the tracer, in a fork of the collected suite, or by fresh imports where some need those.

        The second says which; the collected suite is kept to judge on. What fails in it is asked afresh later.
        """
        if not afresh:
            started = time.monotonic()
            try:
                run = self._run_collected(plan, progress)
            except EndlessTest:
                raise
            except (TargetError, ProjectError):  # a fresh run shows why
                run = None
            if run is not None and run.passed and len(_failing(run)) <= MOST_FRESH_ONLY * len(run.collected):
                run.seconds = time.monotonic() - started
                return run, True
            self._keep(None)
        return self._traced_afresh(plan, progress), False

    def _traced_afresh(self, plan: SessionPlan, progress: Report) -> IdentityRun:
        with closing(self._runner.start(plan, progress)) as zygote:
            return self._runner.run(zygote, TRACING, progress, trace=True, **self._bounds())

    def _run_collected(self, plan: SessionPlan, progress: Report, **asked: Any) -> IdentityRun | None:
        """Run what is asked under the tracer in a fork of the collected suite, which is kept; None where there is none.

        Raises as `IdentityRunner` does; then nothing is kept.
        """
        former = self.take_collected()
        if former is not None and plan is not self._plan:
            former.close()
            former = None
        with ExitStack() as unless_kept:
            zygote = former or self._runner.start(plan.with_config(collect=True, trace=True), progress)
            unless_kept.callback(zygote.close)
            if zygote.greeting["trouble"]:
                return None
            run = self._runner.run(zygote, TRACING, progress, trace=True, **asked, **self._bounds())
            unless_kept.pop_all()
        self._collected = zygote
        return run

    def fail_afresh(self, traced: Traced, progress: Report) -> bool:
        """Return whether the tests that failed in a fork of the collected suite fail in a fresh process as well."""
        bad = _failing(traced.run) if traced.forked else []
        if not bad:
            return True
        with closing(self._runner.start(self._plan_for(traced), progress)) as fresh, suppress(ProjectError):
            return not self._runner.run(fresh, "learning the tests: those that fail", progress, tests=bad).passed
        return False

    def _plan_for(self, traced: Traced) -> SessionPlan:
        ignored, run = [file_of(test) for test in traced.endless], traced.run
        opened = self._plan.with_writable(traced.opened)
        return ready_plan(opened, ignored, (), run.import_lines, rewritten_files(run.early, run.collected))

    def _bounds(self) -> dict[str, float]:
        """Return what bounds each file's import, and each test of problems and cells: they are small."""
        if self._plan.config["pytest_needed"]:
            return {"collect_seconds": IMPORT_SECONDS}
        return {"default_test_seconds": EACH_SECONDS, "collect_seconds": EACH_SECONDS}

    def _untraced(self, plan: SessionPlan, progress: Report) -> tuple[list[IdentityRun], list[str]]:
        """Run all tests in a fresh process, then again those that are fast enough; return the runs, and those tests."""
        plain, again = list[IdentityRun](), list[str]()
        with closing(self._runner.start(plan, progress)) as fresh:
            for order in orders(self._settings.identity_runs):
                asked = {"tests": again, "whole": True} if plain else {}
                stage = "learning the tests: in another order" if plain else "learning the tests: last to first"
                plain.append(self._runner.run(fresh, stage, progress, shuffle=order, **asked))
                if len(plain) == 1:
                    self._consider(plain[0])
                    again = affordable(plain[0], self._settings.repeat_seconds)
        return plain, again

    def _consider(self, run: IdentityRun) -> None:
        """Say which test files a run could not import. Raises ProjectError where no test passed."""
        if run.errors and not self._told:
            self._told = True
            self._notice(_left_out(run.errors))
        if not run.passed:
            raise _none_pass(untrusted([run]))

    def _weigh(
        self, plan: SessionPlan, again: Sequence[str], limit: float, tests: Sequence[str], progress: Report
    ) -> _CodeSwap:
        """Decide whether forks of the collected suite can be relied on; `tests` that fail in them run by fresh imports.

        `again`: what runs in forks, together and then each without others of its file. `limit`: seconds that the latter
        may take.
        """
        zygote = self._collected
        if zygote is None or not _serves(zygote, self._plan, plan):
            self._keep(zygote := self._runner.start(plan.with_config(collect=True), progress))
        if zygote.greeting["trouble"]:
            return self._without_code_swap(plan, str(zygote.greeting["trouble"]), tests, progress)
        run = self._runner.run(zygote, "learning the tests: collected once", progress, tests=list(again), shuffle=0)
        apart = self._runner.apart(zygote, run.passed_seconds, limit, progress)
        passed = frozenset(run.passed)
        suspects = [node for node in tests if node in apart.failing or node not in passed]
        if len(suspects) > len(tests) * MOST_FRESH_ONLY:
            return self._without_code_swap(plan, f"{len(suspects)} tests need them", tests, progress)
        self._name_unreached(apart, len(tests))
        really: Mapping[str, str] = {}
        if suspects:
            with closing(self._runner.start(plan, progress)) as fresh:
                really = self._runner.apart(fresh, dict.fromkeys(suspects, 0.0), run.seconds, progress).failing
        fresh_only = frozenset(suspects) - frozenset(really)
        return _CodeSwap(run, fresh_only, _order_dependent(really), apart.unreached)

    def _without_code_swap(self, plan: SessionPlan, why: str, tests: Sequence[str], progress: Report) -> _CodeSwap:
        self._notice(f"Candidates are judged by fresh imports only: {why}.")
        with closing(self._runner.start(plan, progress)) as fresh:
            run = self._runner.run(fresh, "learning the tests: shuffled", progress, tests=list(tests), shuffle=0)
            flaky = untrusted([run])
            apart = self._runner.apart(fresh, run.passed_seconds, run.seconds, progress)
        self._name_unreached(apart, len(tests))
        return _CodeSwap(None, frozenset(), {**flaky, **_order_dependent(apart.failing)}, apart.unreached)

    def _in_own_order(
        self, plan: SessionPlan, passing: Sequence[str], excluded: Mapping[str, str], progress: Report
    ) -> _InOrder:
        """Find which of the tests set aside pass again and again in the project's own order, and in what company.

        That of their file, else of all before them. `passing`: in that order, as far as the first run showed. Where no
        suite confirms a pass they stay set aside.
        """
        suspects = [node for node in passing if node in excluded]
        if not suspects or not self._settings.confirm_whole_suite:
            return _InOrder()
        kept, chains, runs = set[str](), list[Chain](), list[IdentityRun]()
        with closing(self._runner.start(plan, progress)) as fresh:

            def steady(tests: Sequence[str], *, whole: bool) -> None:
                """Keep as a chain what passes each time, up to the last test that needs it."""
                left = list(tests)
                for _ in range(STEADY_TRIES):
                    needing = set(suspects) - kept
                    while left and left[-1] not in needing:
                        left.pop()
                    if not left:
                        return
                    stage = "learning the tests: in their own order"
                    try:
                        made = [
                            self._runner.run(fresh, stage, progress, tests=left, whole=whole) for _ in range(STEADY)
                        ]
                    except ProjectError:  # it hangs, or ends the interpreter, in this company: they stay set aside
                        return
                    runs.extend(made)
                    bad = [node for node in left if any(run.outcomes.get(node, MISSING)[0] != "passed" for run in made)]
                    if not bad:
                        chains.append(Chain(tuple(left), whole))
                        kept.update(set(left).intersection(suspects))
                        return
                    left = [node for node in left if node not in bad]

            for file in dict.fromkeys(map(file_of, suspects)):
                steady([node for node in passing if file_of(node) == file], whole=False)
            steady(passing, whole=True)
        return _InOrder(frozenset(kept), tuple(chains), tuple(runs))

    def _too_slow(self, first: IdentityRun, again: Sequence[str]) -> dict[str, str]:
        kept = frozenset(again)
        slow = [node for node in first.passed if node not in kept]
        if slow:
            self._notice(
                f"{len(slow)} slow tests are left out: running the others again and again takes all of "
                f"{self._settings.repeat_seconds:.0f} s."
            )
        return {node: f"takes {first.outcomes[node][1]:.1f} s: too slow to be run again and again" for node in slow}

    def _name_unreached(self, apart: Apart, total: int) -> None:
        if apart.unreached:
            self._notice(
                f"There was no time to try {len(apart.unreached)} of {total} tests without the others of their file: "
                "that is tried where they judge."
            )


def unlearned(greeting: Mapping[str, Any]) -> Baseline:
    """Return what the process that collected a suite says: its tests, of which nobody knows whether they pass."""
    imports = {path: frozenset(lines) for path, lines in greeting["import_lines"].items()}
    tests = tuple(TestCase(str(node), UNKNOWN_SECONDS) for node in dict.fromkeys(greeting["tests"]))
    suite = Suite(tests, {}, CoverageMap((), {}, imports), 0.0, str(greeting["python"]))
    return Baseline(suite, overhead=0.0, early=frozenset(imports), code_swap=True)


def _serves(collected: Zygote, plan: SessionPlan, other: SessionPlan) -> bool:
    """Return whether a process that collected by a plan has done what it would do by another."""
    same = plan.config["pytest_args"] == other.config["pytest_args"]
    return same and frozenset(collected.greeting["modules"]).issuperset(other.config["preload"])


def _failing(run: IdentityRun) -> list[str]:
    return [node for node, (outcome, *_) in run.outcomes.items() if outcome in ("failed", "error")]


def ready_plan(
    plan: SessionPlan,
    ignored: Sequence[str],
    preload: Sequence[str] = (),
    sources: Iterable[str] = (),
    rewritten: Iterable[str] = (),
) -> SessionPlan:
    """Return the plan for judging.

    Broken test files left out, foreign modules imported and own files compiled beforehand; `rewritten`: files in which
    pytest rewrites assertions, done once.
    """
    arguments = [*plan.config["pytest_args"], *(f"--ignore={plan.config['root']}/{path}" for path in ignored)]
    own = {"sources": sorted(sources), "rewritten": sorted(set(rewritten))}
    return plan.with_config(pytest_args=arguments, preload=list(preload), **own)


def rewritten_files(early: Iterable[str], tests: Iterable[str]) -> set[str]:
    """Return the files in which pytest rewrites assertions: conftests and those of tests."""
    return {*map(file_of, tests), *(path for path in early if Path(path).name == "conftest.py")}


def broken_files(run: IdentityRun) -> tuple[str, ...]:
    """Test files that cannot be collected."""
    return tuple(dict.fromkeys(where for where, _ in run.errors if where))


def _left_out(errors: Sequence[tuple[str, str]]) -> str:
    """Return a sentence on test files that cannot be imported: which, and what modules they lack."""
    names = ", ".join(where for where, _ in errors[:3])
    missing = missing_modules("\n".join(text for _, text in errors))
    why = f"; {', '.join(missing[:6])} {'is' if len(missing) == 1 else 'are'} not installed" if missing else ""
    files = "1 test file" if len(errors) == 1 else f"{len(errors)} test files"
    return f"{files} cannot be imported, and left out: {names}{why}."


def _order_dependent(alone: Mapping[str, str]) -> dict[str, str]:
    return {node: f"fails when it runs alone: {message}" for node, message in alone.items()}


def _allowances(runs: Sequence[IdentityRun]) -> Allowances:
    changes = frozenset[str]().union(*(run.changes for run in runs))
    return Allowances(changes, frozenset[tuple[str, str]]().union(*(run.events for run in runs)))


def _none_pass(excluded: dict[str, str]) -> ProjectError:
    first = "; ".join(f"{node} {reason}" for node, reason in list(excluded.items())[:3])
    return ProjectError(
        f"None of the project's {len(excluded)} tests passes in every run: {first}",
        "Make the tests pass with pytest and without network or write access to the project, then open it again.",
    )

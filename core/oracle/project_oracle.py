"""The oracle of a project: its own tests, run in a sandbox."""

from __future__ import annotations

import hashlib
import queue
import threading
import time
from collections.abc import Callable, Sequence, Set
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

from rtc_inspector.core import __version__
from rtc_inspector.core.errors import InspectorError, ProjectError, SandboxError, TargetError
from rtc_inspector.core.oracle.baseline import Baseline, Chain, file_of
from rtc_inspector.core.oracle.cache import BaselineCache, VerdictCache
from rtc_inspector.core.oracle.identity import IdentityRunner, SandboxEnded
from rtc_inspector.core.oracle.interpreter import Interpreter
from rtc_inspector.core.oracle.sandbox.protocol import Claim, Sandbox
from rtc_inspector.core.oracle.sessionplan import SessionPlan
from rtc_inspector.core.oracle.suite import SuiteRun, Traced, ready_plan, rewritten_files, unlearned
from rtc_inspector.core.oracle.trial import (
    Trial,
    first_stage,
    likely_tests,
    nearest_files_first,
    promising_first,
    shares,
)
from rtc_inspector.core.oracle.verdicts import merged, with_missing
from rtc_inspector.core.oracle.worker import Worker, to_first_failure
from rtc_inspector.core.oracle.zygote import EngineWait, Zygote, ZygoteDied
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.types import (
    Candidate,
    Change,
    Outcome,
    Report,
    SourceFile,
    Span,
    Suite,
    Verdict,
    counted_tests,
    tests_not_asked,
)
from rtc_inspector.core.waiting import in_thread

ONLY_WHOLE = "The covering tests passed, the whole suite did not: "
ONLY_IN_ORDER = "The tests passed, but not those that need the project's own order: "


COLD_TRIES = 3
"""How often tests are asked before anything is learned, each time without one that fails anyway."""
CLOSING = 10.0
"""Seconds that a learning in the background gets to end."""
WORTH_SHARING = 1.0
"""Seconds of tests from which they are shared out to idle judges."""
WORTH_SAYING = 10.0
"""Seconds of a suite from which it is said that verdicts wait for more runs of it."""
UNSURE = (Outcome.TAMPERED, Outcome.INFRASTRUCTURE)
"""What one run of the suite does not decide: what is usual for the project is not known, or all is by now."""
PASSING = (Outcome.PASS, Outcome.TAMPERED)
"""What the unmodified project passes with: it cannot tamper with anything, whatever it is seen to do."""
LIMITS = ("test_timeout_floor", "test_timeout_factor", "total_timeout_floor", "total_timeout_factor")
CERTAIN = (Outcome.FAIL, Outcome.SYNTAX_ERROR, Outcome.IMPORT_ERROR)
"""What is believed of a candidate where the untouched project passes the same tests, though nothing was learned."""
STEADY = (Outcome.PASS, Outcome.FAIL, Outcome.SYNTAX_ERROR, Outcome.IMPORT_ERROR, Outcome.NOT_EXECUTED)
"""What a busy machine cannot have decided."""
T = TypeVar("T")


class _Closed(Exception):
    """The oracle is being shut down."""


class ProjectOracle:
    """Implements `core.types.Oracle`. Thread-safe."""

    def __init__(
        self,
        sandbox: Sandbox,
        new_sandbox: Callable[[], Sandbox],
        interpreter: Interpreter,
        plan: SessionPlan,
        settings: OracleSettings,
        notice: Callable[[str], None],
        cache: tuple[BaselineCache, Callable[[], str]] | None,
    ) -> None:
        """`cache`: where baselines are kept, and what gives the key of this one."""
        self.name = f"tests/{sandbox.name}"
        self.image_digest = sandbox.image_digest
        self._protected = Claim.WRITABLE_FOLDERS in sandbox.claims
        self._sandbox = sandbox
        self._new_sandbox = new_sandbox
        self._interpreter = interpreter
        self._plan = plan
        self._settings = settings
        self._notice = notice
        self._cache = cache
        self._learning = threading.Lock()
        self._baseline: Baseline | None = None
        self._workers: list[Worker] = []
        self._free: queue.Queue[Worker] = queue.Queue()
        self._forking: queue.Queue[Worker] = queue.Queue()
        self._closed = threading.Event()
        self._verdicts = VerdictCache()
        self._elsewhere: set[str] = set()
        self._unsteady: set[Chain] = set()
        self._late: dict[str, Chain | None] = {}
        self._proven: set[str] = set()
        self._passing: set[frozenset[str]] = set()
        self._leans: dict[tuple[object, ...], tuple[Verdict, bool, bool]] = {}
        self._imported: set[str] = set()
        self._key = ""
        self._traced: Traced | None = None
        self._early: ProjectOracle | None = None
        self._run_begun: SuiteRun | None = None
        self._preparing = False
        self._by_one_run = False
        self._all_told: Callable[[], bool] = lambda: True
        self._admissions: dict[str, Verdict] = {}
        self._keeping = threading.Lock()
        self._running: dict[tuple[object, ...], Future[Verdict]] = {}
        self._broken: ProjectError | TargetError | None = None

    def suite(self, progress: Report) -> Suite:
        return self.learn(progress).suite

    def adopt(self, baseline: Baseline) -> None:
        """Judge by what another oracle of the same project learned; the suite is not run here."""
        with self._learning:
            self._take(baseline)

    def begin(self, progress: Report) -> Suite:
        if not self._settings.confirm_whole_suite:
            return self.suite(progress)
        with self._learning:
            if self._baseline is None and self._early is None:
                self._begin(progress)
            known = self._baseline or (self._early._baseline if self._early is not None else None)
        return known.suite if known is not None else self.suite(progress)

    def _begin(self, progress: Report) -> None:
        kept = self._kept()
        if kept is not None:
            self._take(kept)
            return
        if self._cache is not None:
            self._traced = self._cache[0].traced(self._key)
        run = self._run_begun or self._suite_run()
        if self._traced is None:
            self._say_forecast()
            self._traced = self._patiently(run.trace, progress)
            if self._cache is not None:
                self._cache[0].keep_forecast(self._plan.config["root"], first=self._traced.run.seconds)
                if self._cache[1]() == self._key:
                    self._cache[0].keep_traced(self._key, self._traced)
        self._early = self._lean_oracle()
        self._early._all_told = partial(run.fail_afresh, self._traced, self._heed)
        self._early._take(run.early(self._traced), run.take_collected())

    def _lean_oracle(self) -> ProjectOracle:
        """Return an oracle of the same project that judges by what is known after one run at most."""
        settings, notice = self._settings, self._notice
        oracle = ProjectOracle(self._sandbox, self._new_sandbox, self._interpreter, self._plan, settings, notice, None)
        oracle._by_one_run = True
        return oracle

    def _say_forecast(self) -> None:
        """Say how long opening will take, where the folder was opened before and it is worth saying."""
        took = self._cache[0].forecast(self._plan.config["root"]) if self._cache is not None else {}
        if took.get("first", 0.0) > WORTH_SAYING:
            plain = f"The tests took {took['plain']:.0f} s last time; " if "plain" in took else ""
            rest = f", all that verdicts need after {took['learned'] / 60:.1f} min" if "learned" in took else ""
            self._notice(f"{plain}the first description is asked for after about {took['first']:.0f} s{rest}.")

    def prepare(self) -> None:
        """See `core.types.LearnsLater`. Trouble is told by the verdicts that wait."""

        def quietly() -> None:
            with suppress(InspectorError, _Closed):
                self.learn(self._heed)

        if self._baseline is None and not self._preparing:
            self._preparing = True
            if self._traced is not None and self._traced.run.seconds > WORTH_SAYING:
                self._notice(
                    f"The tests took {self._traced.run.seconds:.0f} s, traced. Other orders of them are learned while "
                    "the model writes, which takes two to three times that; verdicts wait for it."
                )
            in_thread(quietly)

    def known(self) -> Suite | None:
        return self._baseline.suite if self._baseline is not None else None

    def _heed(self, stage: str, done: int, total: int) -> None:
        if self._closed.is_set():
            raise _Closed

    def learn(self, progress: Report) -> Baseline:
        """Run the suite, or take what is kept of it, once. Raises as `suite`."""
        with self._learning:
            if self._baseline is not None:
                return self._baseline
            if self._broken is not None:
                raise self._broken
            try:
                baseline, collected = self._cached_or_run(progress)
            except (ProjectError, TargetError) as error:
                self._broken = error
                raise
            self._take(baseline, collected)
            return baseline

    def _take(self, baseline: Baseline, collected: Zygote | None = None) -> None:
        self._hire(baseline, collected)
        self._baseline = baseline
        early, self._early = self._early, None
        if early is not None:  # who waits for it there asks here again
            early.close()
        if self._closed.is_set():  # meanwhile, and not waited for
            self._stop()

    def _kept(self) -> Baseline | None:
        if self._cache is None:
            return None
        cache, current_key = self._cache
        self._key = current_key()
        self._imported = cache.imported(self._key)
        self._admissions = cache.admissions(self._key)
        return cache.load(self._key)

    def _cached_or_run(self, progress: Report) -> tuple[Baseline, Zygote | None]:
        """Return what is known of the suite, and where it had to be run, a process that has collected it."""
        kept = self._kept() if self._traced is None else None
        if kept is not None:
            return kept, None
        traced, started = self._traced, time.monotonic()
        run = self._suite_run()
        baseline = self._patiently(lambda heard: run.learn(heard, traced), progress)
        if traced is not None:
            self._say_more(traced, baseline)
        if self._cache is not None:
            learned = time.monotonic() - started + (traced.run.seconds if traced is not None else 0.0)
            self._cache[0].keep_forecast(self._plan.config["root"], plain=baseline.suite.seconds, learned=learned)
            if self._cache[1]() == self._key:
                self._cache[0].save(self._key, baseline)
            else:  # files changed while their tests ran
                self._key = ""
        return baseline, run.take_collected()

    def _say_more(self, traced: Traced, baseline: Baseline) -> None:
        passed = frozenset(traced.run.passed)
        more = [(test, reason) for test, reason in baseline.suite.excluded.items() if test in passed]
        if more:
            count, (test, reason) = counted_tests(len(more)), more[0]
            self._notice(f"Set aside after more runs of the tests: {count}, first {test}: {reason}.")

    def _suite_run(self) -> SuiteRun:
        root, version = Path(self._plan.config["root"]), self._interpreter.version_text
        runner = IdentityRunner(self._new_sandbox, self._interpreter, root, self._settings.suite_timeout)
        protected = root if self._protected else None
        return SuiteRun(runner, self._plan, self._settings, self._notice, version, protected)

    def _patiently(self, step: Callable[[Report], T], progress: Report) -> T:
        """Do it, again where the sandbox ended or its engine is away for a while."""
        try:
            return step(progress)
        except SandboxEnded as error:
            self._notice(f"{error.problem} It is tried once more.")
        engine = EngineWait()
        while True:
            try:
                return step(progress)
            except SandboxError:
                progress("starting a sandbox", 0, 1)
                if not engine.worth_another():
                    raise

    def _hire(self, baseline: Baseline, collected: Zygote | None) -> None:
        opened = self._plan.with_writable(Path(self._plan.config["root"], name) for name in baseline.writable)
        files = rewritten_files(baseline.early, [test.node_id for test in baseline.suite.tests])
        plan = ready_plan(opened, baseline.ignored, baseline.preload, baseline.suite.coverage.import_lines, files)
        make = partial(Worker, self._new_sandbox, plan, baseline, self._settings, self.name, self._closed.is_set)
        forks = self._by_one_run and baseline.code_swap
        if forks:
            self._forking.put(make(forks_alone=True, collected=collected))
        # In forks of the suite that is collected already, one judges as fast as another would begin.
        for number in range(1 if forks else max(1, self._settings.workers or 1)):
            self._free.put(make(collected=None if forks or number else collected))
        self._workers += [*self._forking.queue, *self._free.queue]

    def judge(
        self,
        candidate: Candidate,
        tests: Sequence[str],
        *,
        every_test: bool = False,
        again: bool = False,
        confirm: bool = True,
    ) -> Verdict:
        """See `core.types.Oracle`. The project's suite is learned first if it was not."""
        trial = Trial(candidate, tuple(tests), every_test, again=again)
        if not (confirm or every_test or again) and self._cache is not None:
            return self._admission(trial)
        return self._judged(trial, confirm and self._settings.confirm_whole_suite)

    def judge_cold(self, candidate: Candidate, progress: Report) -> Verdict | None:
        """See `core.types.LearnsLater`. The tests of files that name what is changed are asked, in forks."""
        with self._learning:
            kept = self._kept() if self._baseline is None and self._early is None else self._baseline
            traced = self._cache[0].traced(self._key) if self._cache is not None else self._traced
            if kept is not None or traced is not None or not self._settings.confirm_whole_suite:
                return None
            self._run_begun = run = self._suite_run()
            zygote = self._patiently(run.collect, progress)
            if zygote is None:
                return None
            baseline = unlearned(zygote.greeting)
            near = likely_tests(
                Path(self._plan.config["root"]), candidate, [each.node_id for each in baseline.suite.tests]
            )
            asking = self._lean_oracle()
            asking._take(baseline, zygote)
            try:
                verdict, sure = None, False
                for _ in range(COLD_TRIES):
                    if near and not sure:
                        verdict, sure = asking._seen_twice(Trial(candidate, near, lean=True))
                        bad = to_first_failure(verdict)[-1:] if verdict.outcome is Outcome.FAIL else near
                        near = tuple(test for test in near if test not in bad)  # it fails on the untouched project
            finally:
                for worker in asking._workers:
                    worker.leave(zygote)
                asking.close()
            with suppress(ZygoteDied):
                zygote.learn({})
            return verdict if verdict is not None and sure and verdict.outcome in CERTAIN else None

    def _seen_twice(self, trial: Trial) -> tuple[Verdict, bool]:
        """Return the verdict of a trial that knows one run at most, and whether the untouched project passes it."""
        verdict, sure, _ = self._lean(trial)
        if verdict.outcome is Outcome.FAIL and sure:
            second, sure, _ = self._lean(replace(trial, again=True))
            return (verdict if second.outcome is Outcome.FAIL else second), sure
        return verdict, sure

    def judge_now(self, candidate: Candidate, tests: Sequence[str], *, every_test: bool = False) -> Verdict:
        early = self._early
        if self._baseline is None and early is not None:
            verdict = early.judge_alone(Trial(candidate, tuple(tests), every_test))
            if verdict is not None and verdict.outcome not in UNSURE:
                return with_missing(verdict, tests) if every_test and verdict.outcome.judged else verdict
        return self.judge(candidate, tests, every_test=every_test)

    def judge_alone(self, trial: Trial) -> Verdict | None:
        """Judge as plain pytest does, by what one run of the suite showed.

        A failure of the covering tests is seen twice, and not on the untouched project; a pass is confirmed by all
        tests in their own order, in which each has passed. None where the untouched project fails the same tests.
        """
        baseline = self.learn(self._heed)
        if not trial.tests:
            return self._judge(trial, baseline, confirm=True)
        verdict, sure = self.judge_by_one_run(trial)
        if verdict.outcome is Outcome.FAIL and sure:
            second, sure = self.judge_by_one_run(replace(trial, every_test=False, again=True))
            verdict = verdict if second.outcome is Outcome.FAIL else second
        if not sure or verdict.outcome is not Outcome.PASS:
            return verdict if sure else None
        whole = tuple(test.node_id for test in baseline.suite.tests)
        confirmed, sure, _ = self._lean(Trial(trial.candidate, whole, lean=True, whole=True, in_order=True))
        if not sure:
            return None
        if confirmed.outcome is not Outcome.PASS:
            return _worse(verdict, confirmed, ONLY_WHOLE)
        if not self._all_told():  # there are tests that pass in a fresh process only
            return None
        if len(trial.tests) == len(whole):
            return verdict
        return replace(verdict, detail=_all_passed(len(verdict.tests), len(whole)))

    def judge_by_one_run(self, trial: Trial) -> tuple[Verdict, bool]:
        """Judge where no more is known than what one run of the suite showed; see `Worker`.

        The second says whether the untouched project passes what this does not.
        """
        baseline, tests = self.learn(self._heed), trial.tests
        if _untouched(trial):
            if frozenset(tests) in self._passing:
                return _passed(len(tests), self.name), True
            verdict = self._once(Trial(None, tests, whole=True))
            passes = verdict.outcome in PASSING
            return (_passed(len(tests), self.name) if passes else verdict), passes
        covering = promising_first(trial.changes, tests, baseline)
        verdict, sure, swapped = self._lean(replace(trial, tests=covering, lean=True))
        if verdict.outcome is Outcome.PASS:
            if not (swapped or self._judges(trial, baseline)):
                why = _elsewhere(trial.changes[0].file.path)
                verdict = replace(verdict, outcome=Outcome.NOT_EXECUTED, tests=(), detail=why)
        elif sure:
            self._passing.add(frozenset(to_first_failure(verdict) or tests))
        return verdict, sure

    def _lean(self, trial: Trial) -> tuple[Verdict, bool, bool]:
        """Return a verdict, whether the untouched project passes what this does not, and whether code was swapped."""
        key = _key(trial)
        if key not in self._leans:
            # Forks answer at once: what needs fresh imports must not keep them waiting.
            queues = [self._forking, self._free] if self._workers[0].forks_alone else [self._free]
            for workers in queues:
                worker = workers.get()
                try:
                    found = worker.judge(trial), worker.untouched_passes, worker.swapped
                finally:
                    workers.put(worker)
                if worker.swapped:
                    break
            if found[0].outcome is Outcome.INFRASTRUCTURE:
                return found
            self._leans[key] = found
        return self._leans[key]

    def _admission(self, trial: Trial) -> Verdict:
        """Return what is kept of a deletion or of a region's own text, or judge it and keep that."""
        texts = [(change.file.path, change.new_text) for change in trial.changes]
        limits = [getattr(self._settings, name) for name in LIMITS]
        facts = __version__, limits, texts, sorted(trial.tests)
        digest = hashlib.sha256(repr(facts).encode("utf-8", "surrogatepass")).hexdigest()
        known = self._admissions.get(digest)
        if known is not None:
            return replace(known, oracle=self.name)
        verdict = self._judged(trial, confirm=False)
        # What else there is may be otherwise at the next opening.
        if verdict.outcome in STEADY and self._cache is not None and self._key:
            with self._keeping:
                self._admissions[digest] = verdict
                self._cache[0].keep_admissions(self._key, self._admissions)
        return verdict

    def _judged(self, trial: Trial, confirm: bool) -> Verdict:
        early = self._early
        if not confirm and self._baseline is None and early is not None and not trial.every_test:
            verdict, _ = early.judge_by_one_run(trial)
            if verdict.outcome not in UNSURE:
                return verdict
        try:
            baseline = self.learn(self._heed)
        except (InspectorError, _Closed) as error:
            detail = error.problem if isinstance(error, InspectorError) else "The oracle was closed."
            return Verdict(Outcome.INFRASTRUCTURE, 0.0, (), detail, "", self.name)
        aside = {*baseline.suite.excluded, *(test.node_id for test in baseline.suite.own_order)}
        asked = tuple(test for test in trial.tests if test not in aside)
        if trial.tests and not asked:
            if not confirm:
                return self._not_executed("None of the tests that cover this can be relied on.")
            # The whole suite judges, and then what is asked in the project's own order.
            asked = tuple(test.node_id for test in baseline.suite.tests)
        verdict = self._judge(replace(trial, tests=asked), baseline, confirm)
        return with_missing(verdict, asked) if trial.every_test and verdict.outcome.judged else verdict

    def _judge(self, trial: Trial, baseline: Baseline, confirm: bool) -> Verdict:
        if not trial.tests:
            return self._not_executed("No test covers this.")
        if not confirm and _untouched(trial) and len(frozenset(trial.tests)) == len(baseline.suite.tests):
            return _passed(len(trial.tests), self.name)  # as they did in several orders when the suite was learned
        verdict = self._run_both(trial, baseline, confirm)
        while self._was_mistaken(verdict, baseline):
            verdict = self._run_both(trial, baseline, confirm)
        if verdict.outcome is Outcome.PASS and confirm:
            verdict = self._run_chains(trial, verdict, baseline)
        # What does not pass has had an effect.
        if verdict.outcome is Outcome.PASS and not self._judges(trial, baseline):
            return self._not_executed(_elsewhere(trial.changes[0].file.path))
        return verdict

    def _not_executed(self, why: str) -> Verdict:
        return Verdict(Outcome.NOT_EXECUTED, 0.0, (), why, "", self.name)

    def _run_both(self, trial: Trial, baseline: Baseline, confirm: bool) -> Verdict:
        """Run the covering tests, then the rest of the suite where that is to confirm a pass."""
        changes = trial.changes
        covering = promising_first(changes, [test for test in trial.tests if test not in self._late], baseline)
        whole = tuple(test.node_id for test in baseline.suite.tests if test.node_id not in self._late)
        covering = covering or promising_first(changes, whole, baseline)
        trial = replace(trial, tests=covering)
        if not confirm:
            return self._once(trial)
        known = frozenset(covering)
        others = nearest_files_first(changes, [test for test in whole if test not in known], baseline)
        rest = self._sampled(others, baseline)
        if not rest:
            return self._once(trial)
        both = whole if len(rest) == len(others) else covering + rest
        confirming = replace(trial, tests=both, every_test=False, whole=True)
        known_whole = self._verdicts.get(_key(confirming)) is not None
        verdict = self._once(trial if known_whole else replace(trial, rest=rest))
        if not {result.node_id for result in verdict.tests}.isdisjoint(rest):
            self._verdicts.keep(_key(confirming), verdict)
            verdict = _split(verdict, known)
        elif verdict.outcome is Outcome.PASS:
            verdict = _joined(verdict, self._once(confirming))
        if verdict.outcome is Outcome.PASS and len(rest) < len(others):
            detail = f"All {len(covering)} covering tests passed, and of {len(others)} others the {len(rest)} nearest."
            return replace(verdict, detail=detail)
        return verdict

    def _sampled(self, tests: Sequence[str], baseline: Baseline) -> tuple[str, ...]:
        """Return as many of ordered tests as the user gives a confirmation time for, at least one."""
        most = self._settings.confirm_seconds
        spent = accumulate((baseline.seconds.get(test, 0.0) for test in tests), initial=0.0)
        return tuple(test for test, before in zip(tests, spent, strict=False) if before <= most or not most)

    def _run_chains(self, trial: Trial, passed: Verdict, baseline: Baseline) -> Verdict:
        """Ask what needs the project's own order of a candidate that passes otherwise."""
        asked, own_order = 0, {test.node_id for test in baseline.suite.own_order}
        late = [chain for chain in dict.fromkeys(list(self._late.values())) if chain is not None]
        for chain in (*baseline.chains, *late):
            if chain in self._unsteady:
                continue
            needing = [test for test in chain.tests if test in own_order or self._late.get(test) == chain]
            verdict = self._in_order(
                Trial(trial.candidate, chain.tests, whole=chain.whole, in_order=True, again=trial.again)
            )
            if verdict is None:
                self._unsteady.add(chain)
                self._notice(
                    f"{counted_tests(len(needing))} passed in the project's own order, and now not any more: not asked "
                    f"from here on, first {needing[0]}."
                )
            elif verdict.outcome is not Outcome.PASS:
                return _worse(passed, verdict, ONLY_IN_ORDER)
            else:
                asked += len(needing)
        unasked = len(baseline.suite.not_asked) + len(own_order) + len(self._late) - asked
        return replace(passed, detail=_told(passed.detail, asked, unasked))

    def _was_mistaken(self, verdict: Verdict, baseline: Baseline) -> bool:
        """Return whether a test failed for want of the tests around it, as the untouched project shows.

        Asked of tests that nobody has seen pass without them. Such a test is asked in the project's own order from
        then on.
        """
        if not verdict.outcome.judged or verdict.outcome is Outcome.PASS:
            return False
        bad = [test.node_id for test in verdict.tests if test.outcome in ("failed", "error")]
        doubtful = [test for test in bad if test in baseline.unproven and test not in self._proven]
        if not doubtful:
            return False
        ran = tuple(test.node_id for test in verdict.tests)
        untouched = self._once(Trial(None, ran, every_test=True))
        if not untouched.outcome.judged:
            return False
        plain = {test.node_id: test.outcome for test in untouched.tests}
        needing = [test for test in doubtful if plain.get(test, "passed") != "passed"]
        self._proven.update(set(doubtful).difference(needing))
        for test in needing:
            self._late[test] = self._company(test, baseline)
        return bool(needing)

    def _company(self, test: str, baseline: Baseline) -> Chain | None:
        """Return the tests up to one, of its file or of the suite, with which the untouched project passes it."""
        before = [
            case.node_id for case in baseline.suite.tests if case.node_id not in self._late or case.node_id == test
        ]
        before = before[: before.index(test) + 1]
        for chain in (
            Chain(tuple(each for each in before if file_of(each) == file_of(test)), whole=False),
            Chain(tuple(before), whole=True),
        ):
            verdict = self._once(Trial(None, chain.tests, whole=chain.whole, in_order=True))
            if verdict.outcome in PASSING:
                return chain
        return None

    def _in_order(self, trial: Trial) -> Verdict | None:
        """Return the verdict of a chain, or None where the unmodified project does not pass it either.

        Such tests lean on others, so what fails once is asked once more, and counts as the second time shows.
        """
        verdict = self._once(trial)
        if verdict.outcome is Outcome.PASS or not verdict.outcome.judged:
            return verdict
        untouched = self._once(replace(trial, candidate=None))
        if not untouched.outcome.judged:
            return untouched
        if untouched.outcome not in PASSING:
            return None
        return verdict if trial.again else self._once(replace(trial, again=True))

    def _judges(self, trial: Trial, baseline: Baseline) -> bool:
        return any(self._is_imported(change, trial.tests, baseline) for change in trial.changes)

    def _is_imported(self, change: Change, tests: Sequence[str], baseline: Baseline) -> bool:
        """Return whether an error planted in the file is noticed.

        Asked once a file; yes is kept with what was learned.
        """
        file = change.file
        if file.path in self._imported:
            return True
        ordered, broken = promising_first([change], tests, baseline), _broken(file)
        # What is imported while files are collected, by any of them, one test shows in the company of all files.
        for trial in (Trial(broken, ordered[:1]), Trial(broken, ordered[:1], whole=True), Trial(broken, ordered)):
            outcome = self._once(trial).outcome
            if outcome is not Outcome.PASS:
                if outcome.judged and outcome is not Outcome.TIMEOUT:
                    self._imported.add(file.path)
                    if self._cache is not None and self._key:
                        self._cache[0].keep_imported(self._key, self._imported)
                return True
        if file.path not in self._elsewhere:
            self._elsewhere.add(file.path)
            self._notice(_elsewhere(file.path))
        return False

    def _once(self, trial: Trial) -> Verdict:
        """Run a trial, or give the verdict of an identical one; trouble of ours is not remembered."""
        key = _key(trial)
        with self._keeping:
            known, running = self._verdicts.get(key), self._running.get(key)
            if known is None and running is None:
                mine = self._running[key] = Future[Verdict]()
        if known is not None:
            return replace(known, seconds=0.0, reused=True)
        if running is not None:
            return replace(running.result(), seconds=0.0, reused=True)
        try:
            verdict = self._run(trial)
            if verdict.outcome is not Outcome.INFRASTRUCTURE:
                self._verdicts.keep(key, verdict)
            mine.set_result(verdict)
            return verdict
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._keeping:
                del self._running[key]

    def _run(self, trial: Trial) -> Verdict:
        baseline, alone = self._baseline, trial.candidate is None or trial.in_order or trial.whole
        if alone or baseline is None or (trial.every_test and not trial.rest) or self._free.qsize() < 2:
            return self._run_alone(trial)
        if baseline.seconds_of(trial.tests + trial.rest) < WORTH_SHARING:
            return self._run_alone(trial)
        return self._share_out(trial, baseline)

    def _run_alone(self, trial: Trial) -> Verdict:
        worker = self._free.get()
        try:
            return worker.judge(trial)
        finally:
            self._free.put(worker)

    def _share_out(self, trial: Trial, baseline: Baseline) -> Verdict:
        """Run the likeliest tests, then all others in the judges that are idle, nearest first."""
        lead = trial.tests if trial.every_test else first_stage(trial.tests)
        first = self._run_alone(replace(trial, tests=lead, rest=()))
        asked = frozenset(trial.tests + trial.rest).difference(lead)
        if first.outcome is not Outcome.PASS or not asked:
            return first
        left = [test.node_id for test in baseline.suite.tests if test.node_id in asked]
        ordered = nearest_files_first(trial.changes, left, baseline)
        parts = shares(ordered, self._free.qsize() or 1, baseline)
        verdicts = [first]
        for made in [in_thread(partial(self._run_part, trial, part)) for part in parts]:
            verdicts.append(made.result())
            if verdicts[-1].outcome is not Outcome.PASS:
                break
        found = merged(verdicts)
        seconds = first.seconds + max(verdict.seconds for verdict in verdicts[1:])
        if found.outcome is Outcome.PASS or not trial.rest:
            return replace(found, seconds=seconds)
        covering = self._run_alone(replace(trial, rest=()))  # of which some may not have run
        bad = tuple(test for test in found.tests if test.outcome != "passed" and test.node_id in trial.rest)
        return replace(found, tests=covering.tests + bad) if covering.outcome is Outcome.PASS else covering

    def _run_part(self, trial: Trial, part: Sequence[str]) -> Verdict:
        """Run some of a trial's tests and then of its rest, whose output does not count."""
        covering = frozenset(trial.tests)
        tests, rest = (tuple(test for test in part if (test in covering) is wanted) for wanted in (True, False))
        verdict = self._run_alone(replace(trial, tests=tests or rest, rest=rest if tests else (), every_test=False))
        return verdict if tests else replace(verdict, output="")

    def close(self) -> None:
        if self._closed.is_set():
            return
        self._closed.set()
        if self._early is not None:
            self._early.close()
        if self._learning.acquire(timeout=CLOSING):  # what is learned in the background ends at its next poll
            self._learning.release()
        if self._run_begun is not None and (left := self._run_begun.take_collected()) is not None:
            left.close()
        self._stop()

    def _stop(self) -> None:
        for worker in self._workers:
            worker.stop()


def _key(trial: Trial) -> tuple[object, ...]:
    if trial.candidate is None:
        return (None, trial.tests, trial.every_test, trial.whole, trial.in_order, trial.lean)
    texts = [(change.file.path, change.new_text.encode("utf-8", "surrogatepass")) for change in trial.changes]
    digests = frozenset((path, hashlib.sha256(text).digest()) for path, text in texts)
    tests = trial.tests if trial.in_order else frozenset(trial.tests)
    return (digests, tests, trial.every_test, trial.whole, trial.in_order, trial.lean, trial.again)


def _passed(count: int, oracle: str) -> Verdict:
    return Verdict(Outcome.PASS, 0.0, (), f"All {count} tests passed.", "", oracle)


def _untouched(trial: Trial) -> bool:
    return all(change.new_text == change.file.text for change in trial.changes)


def _broken(file: SourceFile) -> Candidate:
    """Return a candidate that no test which imports the file can pass."""
    return Candidate(file, Span(0, len(file.text)), 'raise ImportError("planted to see whether this file is used")\n')


def _split(verdict: Verdict, covering: Set[str]) -> Verdict:
    """Return one run of both, told as two would be: the covering tests, then what went wrong in the others."""
    first = tuple(test for test in verdict.tests if test.node_id in covering)
    others = tuple(test for test in verdict.tests if test.node_id not in covering)
    if verdict.outcome is Outcome.PASS:
        return replace(verdict, tests=first, detail=_all_passed(len(first), len(verdict.tests)))
    bad = tuple(test for test in others if test.outcome != "passed")
    return replace(verdict, tests=first + bad, detail=_because(ONLY_WHOLE, verdict))


def _because(why: str, verdict: Verdict) -> str:
    # What was tampered with came to light there; those tests passed as well.
    return verdict.detail if verdict.outcome is Outcome.TAMPERED else f"{why}{verdict.detail}"


def _all_passed(covering: int, whole: int) -> str:
    return f"All {covering} covering tests passed, and the whole suite of {whole}."


def _joined(covering: Verdict, whole: Verdict) -> Verdict:
    """Return the verdict on a candidate that its covering tests passed, after the whole suite has run."""
    flags, seconds = tuple(sorted({*covering.flags, *whole.flags})), covering.seconds + whole.seconds
    covering = replace(covering, reused=covering.reused and whole.reused)
    if whole.outcome is Outcome.PASS:
        detail = _all_passed(len(covering.tests), len(whole.tests))
        return replace(covering, seconds=seconds, detail=detail, flags=flags)
    return _worse(covering, whole, ONLY_WHOLE)


def _worse(first: Verdict, second: Verdict, why: str) -> Verdict:
    """Take back a pass for what a second verdict, on other tests or in another order, shows."""
    flags, seconds = tuple(sorted({*first.flags, *second.flags})), first.seconds + second.seconds
    bad = tuple(test for test in second.tests if test.outcome != "passed")
    again = {test.node_id for test in bad}
    tests = tuple(test for test in first.tests if test.node_id not in again) + bad
    reused = first.reused and second.reused
    return replace(second, seconds=seconds, tests=tests, detail=_because(why, second), flags=flags, reused=reused)


def _told(detail: str, in_order: int, unasked: int) -> str:
    """Say of a pass what was asked beside the suite, and what of plain pytest was not asked at all."""
    said = detail.removesuffix(".")
    if in_order:
        said += f", and {counted_tests(in_order)} in the project's own order"
    if unasked:
        said = f"{said.removeprefix('All ')}; {tests_not_asked(unasked)}"
    return f"{said}."


def _elsewhere(path: str) -> str:
    return (
        f"No test imports {path} from where it stands, so changes to it have no effect. Where tests, or plugins of "
        "pytest, take an installed copy of it, install the project in development mode (pip install -e .) in "
        "the interpreter that runs its tests."
    )

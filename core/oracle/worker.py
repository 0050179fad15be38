"""One judge: its zygotes, the retry after trouble of ours, and the probe after trouble of the candidate's."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import Enum

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.baseline import Baseline, file_of
from rtc_inspector.core.oracle.sandbox.protocol import Sandbox
from rtc_inspector.core.oracle.sessionplan import SessionPlan
from rtc_inspector.core.oracle.trial import Trial, fastest_first, first_stage
from rtc_inspector.core.oracle.verdicts import ENDINGS, Observation, conclude, merged
from rtc_inspector.core.oracle.zygote import EngineWait, Zygote, ZygoteDied
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.types import NEAR_LIMIT, Outcome, Verdict

ATTEMPTS = 2
ABNORMAL = frozenset({Outcome.CRASH, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY, Outcome.TAMPERED})
MOST_ENDINGS = 4  # tests that may each end the process of one candidate; what is left then counts as missing
PROBE_TESTS = 3
PATIENCE = 60.0
"""Seconds that the unmodified project may take beyond its limits: it is slower where the machine is busy."""
RETRIES = 3  # how often a candidate may be judged again because the unmodified project needs longer too
NOTABLE = 1.0  # seconds more that are worth another run
LONGEST_DOUBLE = 20.0  # seconds up to which twice a limit is waited for, to see whether a time-out was a near thing
STAGED_SECONDS = 2.0  # what trying out stages may take of tests


class Session(Enum):
    """How far a process has gone on the unmodified project before it forks."""

    PLAIN = "plain"
    COLLECTED = "collect"
    CONFIGURED = "configure"
    BARE = ""


class Worker:
    """Judges one trial at a time; owned by one thread at a time."""

    def __init__(
        self,
        new_sandbox: Callable[[], Sandbox],
        plan: SessionPlan,
        baseline: Baseline,
        settings: OracleSettings,
        oracle: str,
        closed: Callable[[], bool],
        *,
        forks_alone: bool = False,
        collected: Zygote | None = None,
    ) -> None:
        """Processes are started when first needed. `closed`: whether the oracle is being shut down.

        `forks_alone`: whether it leaves what needs fresh imports to another. `collected`: has collected the suite.
        """
        self._new_sandbox = new_sandbox
        self._plan = plan
        self._baseline = baseline
        self._allowed = baseline.allowed
        self._limits: Mapping[str, float] = baseline.learned(settings)["test_seconds"]
        self._settings = settings
        self._oracle = oracle
        self._closed = closed
        self._zygotes: dict[Session, Zygote] = {}
        self.forks_alone = forks_alone
        if collected is not None:
            with suppress(ZygoteDied):  # then the first trial finds it dead, and starts another
                collected.learn(baseline.learned(settings))
            self._zygotes[Session.COLLECTED] = collected
        self.swapped = self.untouched_passes = False  # see `_judge_lean`
        self._alone: dict[str, bool] = {}
        self._noticed: dict[str, list[str]] = {}
        self._collected: set[tuple[Session, bool, frozenset[str]]] = set()  # by the untouched project, see `_compared`
        self._in_stages: bool | None = None
        self._plain = not plan.config["pytest_needed"]
        self._engine = EngineWait()
        self._spare = settings.total_timeout_factor * baseline.once

    def judge(self, trial: Trial) -> Verdict:
        """Return a verdict; INFRASTRUCTURE when our own processes failed twice."""
        started, attempts = time.monotonic(), 0
        trouble = "the oracle was closed"
        while attempts < ATTEMPTS and not self._closed():
            try:
                verdict = self._attempt(trial, started)
            except (ZygoteDied, SandboxError) as error:
                trouble = str(error).splitlines()[0].rstrip(".")
                self.stop()
                attempts += not (isinstance(error, SandboxError) and self._engine.worth_another())
                continue
            self._engine.answered()
            if verdict.outcome not in ABNORMAL or self._sound():
                near = verdict.outcome is Outcome.TIMEOUT and self._ends_below_twice(trial, verdict)
                return replace(verdict, flags=(*verdict.flags, NEAR_LIMIT)) if near else verdict
            trouble = "the test process no longer judges the unmodified project right"
            self.stop()
            attempts += 1
        detail = f"The sandbox could not judge this: {trouble}."
        return Verdict(Outcome.INFRASTRUCTURE, time.monotonic() - started, (), detail, "", self._oracle)

    def _attempt(self, trial: Trial, started: float) -> Verdict:
        """Return the verdict.

        Where every test's outcome is wanted, those behind one that ended the process are run too.
        """
        if trial.lean:
            return self._judge_lean(trial, started)
        verdict = self._judge_once(trial, started)
        latest, endings = verdict, 1
        while trial.every_test and latest.outcome in ENDINGS and latest.tests and endings < MOST_ENDINGS:
            known = {result.node_id for result in verdict.tests}
            left = tuple(test for test in trial.tests if test not in known)
            if not left:
                break
            latest, endings = self._judge_once(replace(trial, tests=left, rest=()), started), endings + 1
            flags = tuple(sorted({*verdict.flags, *latest.flags}))
            verdict = replace(verdict, seconds=latest.seconds, tests=verdict.tests + latest.tests, flags=flags)
        return verdict

    def _ends_below_twice(self, trial: Trial, verdict: Verdict) -> bool:
        """Return whether what ran out of time ends with twice as much: the first such test, or all where none began."""
        slow = tuple(test.node_id for test in verdict.tests if test.outcome == "timeout")[:1]
        tests = slow or trial.tests
        if 2 * max(self._limits.get(test, self._settings.test_timeout_floor) for test in tests) > LONGEST_DOUBLE:
            return False
        again = replace(trial, tests=tests, rest=(), slack=2.0)
        try:
            return not any(observed.out_of_time for observed, _ in self._observed(again))
        except (ZygoteDied, SandboxError):
            self.stop()
            return False

    def _judge_lean(self, trial: Trial, started: float) -> Verdict:
        """Judge where one run of the suite is all that is known: what does not pass is asked of the untouched project.

        In the same place and order. By fresh imports the likeliest tests go first, by themselves; then all in the
        project's own order. Leaves in `untouched_passes` whether the untouched project passes, and in `swapped` whether
        the candidate was judged in the collected suite.
        """
        if self.forks_alone:
            observed = self._run(Session.COLLECTED, trial, [trial.tests])
            self.swapped = "fallback" not in observed
            if self.swapped:
                return self._compared(Session.COLLECTED, observed, trial, started)
            return Verdict(Outcome.NOT_EXECUTED, 0.0, (), "", "", self._oracle)  # another worker takes it
        self.swapped = False
        session, places = self._session_for(trial), {test: place for place, test in enumerate(self._baseline.seconds)}
        in_order = tuple(sorted(trial.tests, key=lambda test: places.get(test, 0)))
        noticed = self._noticed.setdefault(trial.candidate.file.path if trial.candidate is not None else "", [])
        known = [test for test in noticed if test in places]
        first = () if trial.every_test or trial.in_order else first_stage((*known, *trial.tests))
        if len(in_order) > len(first) > 0:
            part = replace(trial, tests=tuple(test for test in in_order if test in first))
            verdict = self._compared(session, self._run(session, part, [part.tests]), part, started)
            if verdict.outcome is not Outcome.PASS and self.untouched_passes:
                return verdict
        whole = replace(trial, tests=in_order, whole=len(in_order) == len(places), in_order=True)
        observed = self._run(session, whole, [in_order])
        verdict = self._concluded(observed, whole, started)
        if verdict.outcome is Outcome.FAIL and (failed := to_first_failure(verdict)):
            # Cheaper than all before it on the untouched project.
            part = replace(trial, tests=failed[-1:], rest=())
            alone = self._compared(session, self._run(session, part, [part.tests]), part, started)
            if alone.outcome is Outcome.FAIL and self.untouched_passes:
                noticed[:0] = failed[-1:]
                return verdict
        return self._compared(session, observed, whole, started)

    def _compared(self, session: Session, observed: Observation, trial: Trial, started: float) -> Verdict:
        """Return the verdict, after the untouched project was asked for what does not pass."""
        verdict = self._concluded(observed, trial, started)
        self.untouched_passes = True
        if trial.candidate is None or verdict.outcome in (Outcome.PASS, Outcome.SYNTAX_ERROR):
            return verdict
        ran, before = to_first_failure(verdict), None
        if not ran:  # it ended before any test: the untouched project collects these files or not, whatever is changed
            stage = first_stage(trial.tests)
            before = session, trial.whole, frozenset(map(file_of, stage))
            if before in self._collected:
                return verdict
            ran = fastest_first(stage, self._baseline)[:PROBE_TESTS]
        plain = self._ask(self._zygote(session), Trial(None, ran, whole=trial.whole, in_order=trial.in_order), [ran])
        self._allow(plain)
        self.untouched_passes = plain.green and plain.passed(ran)
        if before is not None and self.untouched_passes:
            self._collected.add(before)
        return self._concluded(observed, trial, started)  # with what is usual for the project known

    def _concluded(self, observed: Observation, trial: Trial, started: float, ran: tuple[str, ...] = ()) -> Verdict:
        """Return the verdict on what ran, the trial's own tests where that is not said."""
        limit, seconds = self._settings.output_kib << 10, time.monotonic() - started
        shown = frozenset(trial.tests)
        return conclude(observed, ran or trial.tests, self._allowed, seconds, self._oracle, limit, shown)

    def _judge_once(self, trial: Trial, started: float) -> Verdict:
        verdicts: list[Verdict] = []
        for observed, ran in self._observed(trial):
            verdicts.append(self._concluded(observed, trial, started, ran))
            if verdicts[-1].outcome is not Outcome.PASS:
                break
        verdict = merged(verdicts)
        if verdict.outcome is Outcome.TAMPERED and self._learn_more(trial):
            return self._judge_once(trial, started)
        return verdict

    def _learn_more(self, trial: Trial) -> bool:
        """Return whether the unmodified project, in this order of tests, does more than was known of it.

        Which test first makes it read a source file, say, depends on the order.
        """
        if trial.candidate is None:
            return False
        known, unmodified = self._allowed, replace(trial, candidate=None)
        if self._without_pytest():
            self._allow(self._run(Session.PLAIN, unmodified, [trial.tests, trial.rest]))
            return self._allowed != known
        if self._baseline.code_swap and not trial.in_order:
            self._allow(self._run(Session.COLLECTED, unmodified, [trial.tests, trial.rest]))
        self._allow(self._observe_fresh(unmodified)[0])
        return self._allowed != known

    def _allow(self, observed: Observation) -> None:
        """Allow candidates what this run of the unmodified project did: it proves nothing against them."""
        events = frozenset((str(event), str(file)) for event, file in observed.all("audit"))
        known = self._allowed
        self._allowed = replace(known, events=known.events | events, changes=known.changes | observed.changes())

    def _observed(self, trial: Trial) -> Iterator[tuple[Observation, tuple[str, ...]]]:
        """Yield what is observed, with what ran: by code swap where that is as good as a fresh import, else by that."""
        if self._without_pytest():
            yield self._run(Session.PLAIN, trial, [trial.tests, trial.rest]), trial.tests + trial.rest
            return
        if trial.in_order:
            yield self._observe_fresh(trial)
            return
        fresh_only = self._baseline.fresh_only
        tests, fresh = _parted(trial.tests, fresh_only)
        if self._baseline.code_swap and trial.candidate is not None and tests and not (fresh and trial.every_test):
            rest, fresh_rest = _parted(trial.rest, fresh_only)
            observed = self._run(Session.COLLECTED, trial, [tests, rest])
            if "fallback" not in observed:
                yield observed, tests + rest
                if fresh or fresh_rest:
                    yield self._observe_fresh(replace(trial, tests=fresh + fresh_rest, rest=()))
                return
        yield self._observe_fresh(trial)

    def _without_pytest(self) -> bool:
        """Return whether tests are called by a process without pytest; where that cannot be started, never again."""
        if self._plain and self._zygote(Session.PLAIN).greeting["trouble"]:
            self._plain = False
            self._zygotes.pop(Session.PLAIN).close()
        return self._plain

    def _run(self, session: Session, trial: Trial, stages: Sequence[tuple[str, ...]]) -> Observation:
        """Run once; once more where time was up and the unmodified project needs longer just now, too."""
        observed = self._ask(self._zygote(session), trial, stages)
        for _ in range(RETRIES):
            if trial.candidate is None or trial.slack > 1 or not observed.out_of_time:
                break
            if not self._slow(session, trial, stages, observed):
                break
            observed = self._ask(self._zygote(session), trial, stages)
        return observed

    def _ask(self, zygote: Zygote, trial: Trial, stages: Sequence[tuple[str, ...]]) -> Observation:
        tests = [test for stage in stages for test in stage]
        spare = self._spare + (PATIENCE if trial.candidate is None else 0.0)
        usual = self._baseline.overhead + self._baseline.seconds_of(tests)
        limit = self._settings.total_timeout_floor + self._settings.total_timeout_factor * usual
        total = trial.slack * (spare + limit)
        request = {**trial.request(stages, total), "spare": spare}
        if trial.slack > 1:
            request["test_seconds"] = {test: trial.slack * self._limits[test] for test in tests if test in self._limits}
        began = time.monotonic()
        observed = Observation.of(zygote.run(request))
        took = [(time.monotonic() - began, total)]
        took += [(each[2], self._limits[each[0]] + spare) for each in observed.all("test") if each[0] in self._limits]
        observed.near_limit = not observed.out_of_time and any(seconds > limit / 2 for seconds, limit in took)
        return observed

    def _slow(self, session: Session, trial: Trial, stages: Sequence[tuple[str, ...]], observed: Observation) -> bool:
        """Return whether the tests that were begun take longer than allowed on the unmodified project as well.

        On a busy machine they do, and where something is made on first use that other tests paid for when the suite
        was learned. Then more time is given from now on.
        """
        begun = {result.node_id for result in observed.tests()} | {str(observed.reply["test"])}
        again = [tuple(test for test in stage if test in begun) for stage in stages]
        started = time.monotonic()
        plain = self._ask(self._zygote(session), replace(trial, candidate=None), again if any(again) else stages)
        if not plain.green:
            return False
        known, ran, before = self._baseline.seconds, plain.tests(), self._spare
        usual = self._baseline.overhead + sum(known.get(result.node_id, 0.0) for result in ran)
        beyond = sum(max(0.0, result.seconds - known.get(result.node_id, 0.0)) for result in ran)
        beyond = max(beyond, time.monotonic() - started - usual)
        # Half of what it was: a machine that was busy once is not busy for ever.
        self._spare = max(self._settings.total_timeout_factor * beyond, before / 2)
        return self._spare > before + NOTABLE

    def _observe_fresh(self, trial: Trial) -> tuple[Observation, tuple[str, ...]]:
        """Collect only the files of the tests, unless one of them needs the company of others; with what ran."""
        session = self._session_for(trial)
        if trial.in_order:
            return self._run(session, trial, [trial.tests]), trial.tests
        files = {file_of(test) for test in trial.tests}
        if not trial.whole and not any(self._alone.get(file) is False for file in files):
            stages = self._stages(trial)
            observed, ran = self._run(session, trial, stages), tuple(test for stage in stages for test in stage)
            if "syntax" in observed or observed.green:
                return observed, ran
            if len(ran) > len(trial.tests) and observed.passed(trial.tests):
                return self._observe_fresh(replace(trial, rest=()))  # files of the rest may need more company
            if len(stages) > 1 and observed.passed(stages[0]) and not self._serves_in_stages(session):
                return self._observe_fresh(trial)
            if all(self._passes_alone(file, session) for file in files):
                return observed, trial.tests
        return self._run(session, replace(trial, whole=True), [trial.tests]), trial.tests

    def _session_for(self, trial: Trial) -> Session:
        """Return where a fresh import begins: behind the conftests, if the candidate is not among what they import.

        Where forks do not serve its tests or that session cannot be reached, it begins bare.
        """
        baseline = self._baseline
        forks_well = baseline.code_swap and baseline.fresh_only.isdisjoint(trial.tests + trial.rest)
        if not forks_well or not baseline.early.isdisjoint(change.file.path for change in trial.changes):
            return Session.BARE
        return Session.CONFIGURED if not self._zygote(Session.CONFIGURED).greeting["trouble"] else Session.BARE

    def _stages(self, trial: Trial) -> list[tuple[str, ...]]:
        """Return the likeliest to fail first, as every file costs its collection.

        One stage where several do not serve.
        """
        if self._in_stages is False:
            return [trial.tests]
        first = () if trial.every_test else first_stage(trial.tests)
        others = frozenset(first)
        stages = [first, tuple(test for test in trial.tests if test not in others), trial.rest]
        return [stage for stage in stages if stage]

    def _serves_in_stages(self, session: Session) -> bool:
        """Return whether fast tests of the unmodified project pass when they are run in stages; asked once."""
        if self._in_stages is None:
            left, some = STAGED_SECONDS, list[str]()
            for test in sorted(self._baseline.suite.tests, key=lambda test: test.seconds):
                left -= test.seconds
                if left > 0 and self._alone.get(file_of(test.node_id)) is not False:
                    some.append(test.node_id)
            trial = Trial(None, tuple(some))
            self._in_stages = self._run(session, trial, self._stages(trial)).passed(some)
        return self._in_stages

    def _passes_alone(self, file: str, session: Session) -> bool:
        """Return whether a file's tests pass on the unmodified project when only that file is collected; asked once."""
        known = self._alone.get(file)
        if known is None:
            tests = tuple(test.node_id for test in self._baseline.suite.tests if file_of(test.node_id) == file)
            known = not tests or self._passes(self._zygote(session), tests)
            self._alone[file] = known
        return known

    def _sound(self) -> bool:
        """Return whether the unmodified project still passes in every process that runs."""
        tests = [test for test in self._baseline.suite.tests if test.node_id not in self._baseline.fresh_only]
        fastest = tuple(test.node_id for test in sorted(tests, key=lambda test: test.seconds)[:PROBE_TESTS])
        return all(self._passes(zygote, fastest) for zygote in self._zygotes.values())

    def _passes(self, zygote: Zygote, tests: tuple[str, ...]) -> bool:
        try:
            observed = self._ask(zygote, Trial(None, tests), [tests])
        except ZygoteDied:
            return False
        self._allow(observed)
        return conclude(observed, tests, self._allowed, 0.0, "", 0).outcome is Outcome.PASS

    def _zygote(self, session: Session) -> Zygote:
        """Return the process that forks from there; started when it is first needed."""
        zygote = self._zygotes.get(session)
        if zygote is None:
            plan = self._plan.with_config(**{session.value: True}) if session.value else self._plan
            zygote = self._zygotes[session] = Zygote(self._new_sandbox(), plan, self._check_open)
            zygote.learn(self._baseline.learned(self._settings))
            if self._closed():
                self.stop()
                self._check_open()
        return zygote

    def _check_open(self) -> None:
        """Raises ZygoteDied once the oracle is being shut down."""
        if self._closed():
            raise ZygoteDied("the oracle was closed")

    def leave(self, zygote: Zygote) -> None:
        """Let go of a process that somebody else goes on with."""
        self._zygotes = {session: each for session, each in self._zygotes.items() if each is not zygote}

    def stop(self) -> None:
        zygotes, self._zygotes = self._zygotes, {}
        for zygote in zygotes.values():
            zygote.close()


def to_first_failure(verdict: Verdict) -> tuple[str, ...]:
    """Return the tests that passed up to the first that failed, and that; where none failed, the first skipped one."""
    for bad in (("failed", "error", "timeout"), ("skipped", "missing")):
        ran = list[str]()
        for test in verdict.tests:
            if test.outcome == "passed" or test.outcome in bad:
                ran.append(test.node_id)
            if test.outcome in bad:
                return tuple(ran)
    return tuple(ran)


def _parted(tests: tuple[str, ...], fresh_only: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tests that may run in the collected suite, and those that may not."""
    swapped = tuple(test for test in tests if test not in fresh_only)
    return swapped, tuple(test for test in tests if test in fresh_only)

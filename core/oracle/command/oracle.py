"""The oracle of a project in any language: its own test command, run in a sandbox."""

import base64
import hashlib
import queue
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from rtc_inspector.core import platform
from rtc_inspector.core.errors import ProjectError, SandboxError, TargetError
from rtc_inspector.core.json_cache import JsonCache
from rtc_inspector.core.languages import language_of
from rtc_inspector.core.languages.reports import coverage_of, read_report
from rtc_inspector.core.languages.trees import first_error
from rtc_inspector.core.oracle.cache import VerdictCache
from rtc_inspector.core.oracle.command.commands import CHECKER, Command, Tools, find_tools, told
from rtc_inspector.core.oracle.command.results import NAMED, passed_count, read_results
from rtc_inspector.core.oracle.command.verdict import (
    Expected,
    Ran,
    first_complaint,
    last_line,
    name_of,
    outcome_of,
    told_by,
)
from rtc_inspector.core.oracle.interpreter import Interpreter, describe, interpreter_of_image
from rtc_inspector.core.oracle.sandbox.choose import choose_sandbox
from rtc_inspector.core.oracle.sandbox.guarded import Guarded
from rtc_inspector.core.oracle.sandbox.host_system import closed_to_tests
from rtc_inspector.core.oracle.sandbox.protocol import Launch, Limits, Sandbox
from rtc_inspector.core.oracle.sessionplan import INSIDE, SessionPlan
from rtc_inspector.core.oracle.zygote import EngineWait, Zygote, ZygoteDied
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.settings.setting import read_back
from rtc_inspector.core.types import (
    NEAR_LIMIT,
    Candidate,
    Codebase,
    CoverageMap,
    Outcome,
    Report,
    Suite,
    TestCase,
    TestResult,
    Verdict,
    counted_tests,
)

KEPT = 50
ROOM_MIB = 1024  # beside `--scratch`: for the copy of the tree and what builds keep
THREADS = 4  # times `OracleSettings.processes`: the runtimes of these languages start a dozen threads each, which count
MOST_UNITS = 400  # test files or packages that are learned one by one; beyond it every candidate runs the whole command
CHEAP = 0.2  # share of the whole command below which covering tests are asked before it
Counts = Mapping[str, Mapping[int, int]]


@dataclass(frozen=True, slots=True)
class Learned:
    """Facts about the untouched project; kept between openings."""

    whole: Expected
    units: Mapping[str, Expected]  # by test file or package; empty where none can be chosen
    excluded: Mapping[str, str]
    lines: Mapping[str, Counts]
    extra: float  # seconds of a first build, beyond what the tests take


@dataclass
class _Slot:
    """One sandbox with its copy of the tree, used by one thread at a time."""

    process: Zygote | None = None
    warm: bool = False
    doubtful: bool = False


class CommandOracle:
    """Implements `core.types.Oracle`. Thread-safe."""

    def __init__(
        self,
        codebase: Codebase,
        command: Command,
        tools: Tools,
        interpreter: Interpreter,
        new_sandbox: Callable[[], Sandbox],
        settings: OracleSettings,
        notice: Callable[[str], None],
    ) -> None:
        """`interpreter` runs our own part inside."""
        first = new_sandbox()
        self.name = f"command/{first.name}"
        self.image_digest = first.image_digest
        self._codebase, self._root = codebase, codebase.root.resolve()
        self._command, self._tools, self._settings, self._notice = command, tools, settings, notice
        self._new_sandbox = new_sandbox
        self._plan = _plan(self._root, tools, interpreter, settings)
        self._learned: Learned | None = None
        self._learning, self._hurried = threading.Lock(), False
        self._slots = [_Slot() for _ in range(max(1, settings.workers or 1))]
        self._free: queue.Queue[_Slot] = queue.Queue()
        for slot in self._slots:
            self._free.put(slot)
        self._closed = threading.Event()
        self._memo = VerdictCache()
        self._confirmed: set[tuple[str, int, int]] = set()
        self._cache = JsonCache("commands", KEPT) if settings.cache else None
        go_mod = self._root / "go.mod"
        about = go_mod.read_text(encoding="utf-8", errors="replace") if go_mod.is_file() else ""
        module = re.search(r"^module\s+\"?([^\s\"]+)", about, re.MULTILINE)
        self._module = module[1] if module else ""  # what Go calls the project
        self._test_files = {file.path for file in codebase.files if file.is_test}

    # ---- learning

    def suite(self, progress: Report) -> Suite:
        with self._learning:
            learned = self._learned or self._kept()
            cached = learned is not None
            if learned is None:
                learned = self._learn(progress)
                if self._cache is not None and not self._hurried:
                    self._cache.save(self._key(), learned)
            self._learned = learned
        units = learned.units or {self._command.name: learned.whole}
        tests = tuple(TestCase(unit, expected.seconds) for unit, expected in units.items())
        ids = tuple(units)
        known = {unit: learned.lines.get(unit, {}) for unit in ids}
        coverage = coverage_of(known) if any(learned.lines.values()) else CoverageMap(ids, {}, {}, traced=False)
        versions = ", ".join(f"{name} {version}" for name, version in self._tools.versions.items() if version)
        return Suite(tests, dict(learned.excluded), coverage, learned.whole.seconds, versions, cached=cached)

    @property
    def trusted(self) -> int:
        return self._learned.whole.count if self._learned is not None else 0

    def _key(self) -> str:
        digest = hashlib.sha256()
        for path in sorted(self._root.rglob("*")):
            inside = path.relative_to(self._root)
            if _SKIPPED.isdisjoint(inside.parts) and path.is_file():
                digest.update(f"{inside}\0{path.stat().st_size}\0".encode("utf-8", "surrogateescape"))
                if path.stat().st_size < 1 << 20:
                    digest.update(path.read_bytes())
        installed = self._root / "node_modules" / ".package-lock.json"
        settings = (self._settings.memory_mib, self._settings.processes, self._settings.scratch_mib)
        known = (
            asdict(replace(self._command, languages=())),
            self._tools.versions,
            self.name,
            self.image_digest,
            settings,
        )
        digest.update(repr(known).encode() + (installed.read_bytes() if installed.is_file() else b""))
        return digest.hexdigest()

    def _kept(self) -> Learned | None:
        value = self._cache.load(self._key()) if self._cache is not None else None
        try:
            return read_back(Learned, value) if value else None
        except (TypeError, ValueError, AttributeError):
            return None

    def _learn(self, progress: Report) -> Learned:
        """Run the untouched project twice, then each of its test files or packages by itself, traced."""
        command = self._command
        progress(f"learning the tests: {command.name}", 0, 1)
        with self._slot() as slot:
            cold = self._untouched(slot, None, progress)
            self._require(cold)
            warm = self._untouched(slot, None, progress, trace=True, again=True)
            if not cold.results and cold.last["exit"] != warm.last["exit"] and not warm.last["killed"]:
                raise ProjectError(
                    f"`{command.name}` passes and fails by turns on the untouched project.",
                    "Mend the test that does, or have the command tell each test by its name (--test-results).",
                )
            self._require(warm)
        excluded = _unsteady(cold.results, warm.results)
        whole = self._expected(warm, excluded)
        if not whole.count and command.form in NAMED:
            raise self._failed(warm, "passes no test")
        if warm.last["exit"] and warm.results and not any(r.outcome in ("failed", "error") for r in warm.results):
            self._notice(
                f"`{command.name}` ends with status {warm.last['exit']} though no test fails, as it may with read-only "
                f"packages: {last_line(warm.last)}. So may candidates that pass."
            )
        if command.form not in NAMED:
            self._notice(
                f"`{command.name}` tells no test by its name"
                + ("; they are counted by what it prints" if whole.printed else ": only its exit status counts")
                + ". --test-results names a report in JUnit's XML."
            )
        lines = {command.name: found} if (found := self._lines(warm)) else {}
        units, by_unit = self._learn_units(warm, whole, excluded, progress)
        extra = max(0.0, cold.seconds - warm.seconds)
        return Learned(whole, units, excluded, by_unit if units else lines, extra)

    def _learn_units(
        self, traced: Ran, whole: Expected, excluded: dict[str, str], progress: Report
    ) -> tuple[dict[str, Expected], dict[str, Counts]]:
        """Run each test file or package by itself; nothing where together they are not the whole."""
        found = self._units(traced)
        if len(found) < 2 or not self._command.traces:
            return {}, {}
        if len(found) > MOST_UNITS:
            self._notice(
                f"{len(found)} test files are too many to be learned one by one: candidates run the whole command."
            )
            return {}, {}
        units, lines = dict[str, Expected](), dict[str, Counts]()
        began, most = time.monotonic(), self._settings.suite_timeout
        with ThreadPoolExecutor(len(self._slots)) as pool:

            def learn(unit: str) -> tuple[str, Ran]:
                with self._slot() as slot:
                    return unit, self._untouched(slot, [unit], lambda *_: None, trace=True)

            for done, (unit, ran) in enumerate(pool.map(learn, found)):
                progress("learning which lines each test file runs", done, len(found))
                spent = time.monotonic() - began
                if spent > most / 20 and spent * len(found) > most * (done + 1):
                    pool.shutdown(wait=False, cancel_futures=True)
                    self._hurried = True
                    self._notice(
                        f"{len(found)} test files would take over {most:.0f} s one by one (--suite-seconds): until the "
                        "project is opened again, each candidate runs the whole command."
                    )
                    return {}, {}
                expected = self._expected(ran, excluded)
                if expected.count and set(expected.passed) != {unit} and not ran.last["killed"]:
                    units[unit], lines[unit] = expected, self._lines(ran)
        alone = Counter[str]()
        for expected in units.values():
            alone.update(expected.passed)
        missing = Counter(whole.passed) - alone
        count = sum(expected.count for expected in units.values())
        if missing or count < whole.count:
            what = next(iter(missing), "")
            self._notice(
                "Test files by themselves do not give what they give together"
                + (f" ({what} is missing)" if what else "")
                + ": each candidate runs the whole command."
            )
            return {}, {}
        return units, lines

    def _units(self, traced: Ran) -> list[str]:
        tests = [file.path for file in self._codebase.files if file.is_test]
        if self._command.unit == "package":
            folders = {PurePosixPath(path).parent.as_posix() for path in tests}
            return sorted("." if folder == "." else f"./{folder}" for folder in folders)
        if self._command.unit != "file":
            return []
        # Files that only a compiler reads, as those that test types, are loaded by no process.
        loaded = {path for process in traced.reply.get("traced", ()) for path, _ in process}
        loaded |= {each.node_id.partition("::")[0] for each in traced.results} if loaded else set(tests)
        known = [path for path in tests if path in loaded]
        named = [path for path in known if re.search(r"[._-](test|spec)s?(-d)?\.\w+$|(^|/)tests?[._-]", path)]
        # Where most are named so, the others are what these share; else all are, and what holds none drops out.
        return sorted(named if 2 * len(named) >= len(known) else known)

    def _lines(self, ran: Ran) -> Counts:
        """Return which lines ran, by file. Raises ProjectError where a report that was promised is not there."""
        files = [file.path for file in self._codebase.files]
        found: dict[str, Counter[int]] = {}
        if self._command.traces == "v8":
            for path, lines in (each for process in ran.reply.get("traced", ()) for each in process):
                if path in files:
                    found.setdefault(path, Counter()).update({int(line): ran for line, ran in lines.items()})
            return {path: dict(counts) for path, counts in found.items() if path not in self._test_files}
        texts = ran.reply["reports"][-1] if self._command.traces else []
        if not texts and self._command.traces == "report":
            raise ProjectError(
                f"`{self._command.name}` wrote no coverage report to {self._command.coverage}.",
                "Have it write lcov there (c8 --reporter=lcovonly), or give another --coverage-report.",
            )
        roots = [str(self._root), *([self._module] if self._module else [])]
        for text in texts:
            for path, counts in read_report(text, files, roots).items():
                found.setdefault(path, Counter()).update(counts)
        return {path: dict(counts) for path, counts in found.items() if path not in self._test_files}

    def _expected(self, ran: Ran, excluded: Mapping[str, str]) -> Expected:
        passed = Counter(
            name_of(each) for each in ran.results if each.outcome == "passed" and name_of(each) not in excluded
        )
        last = ran.last
        return Expected(dict(passed), passed_count(last["out"], last["err"]), last["exit"], ran.seconds)

    def _require(self, ran: Ran) -> None:
        last, name = ran.last, self._named(ran)
        if last["killed"]:
            raise self._failed(ran, f"took longer than {self._settings.suite_timeout:.0f} s")
        if ran.problem:
            raise ProjectError(
                f"The report of `{name}` {ran.problem}.", "Give the path of its JUnit XML with --test-results."
            )
        said = f"{last['out']}\n{last['err']}"
        if last["exit"] == 127:
            raise TargetError(
                f"`{name}` cannot be run: {last_line(last)}.", "Install what it calls, or give another --test-command."
            )
        if self._command.results and not ran.reply["reports"][0] and last["exit"] == 0:
            raise ProjectError(
                f"`{name}` wrote no report to {self._command.results}.",
                "Give the path where it writes JUnit XML, relative to the project, with --test-results.",
            )
        if last["exit"] != 0 and not any(each.outcome == "passed" for each in ran.results):
            if _NETWORK.search(said):
                raise ProjectError(
                    f"`{name}` asks the network, which nothing has in the sandbox: {first_complaint(last)}.",
                    "Install what it fetches beforehand (npm ci, go mod download, cargo fetch).",
                )
            raise self._failed(ran, "passes no test" if ran.results else "fails before any change")

    def _named(self, ran: Ran) -> str:
        return self._command.build if self._command.build and len(ran.reply["steps"]) == 1 else self._command.name

    def _failed(self, ran: Ran, what: str) -> ProjectError:
        bad = next((each for each in ran.results if each.outcome in ("failed", "error")), None)
        why = f"{bad.node_id} fails, {told_by(bad)}" if bad is not None else first_complaint(ran.last)
        return ProjectError(
            f"`{self._named(ran)}` {what}: {why}.",
            "Make it pass in the project's folder without network, or give another --test-command.",
        )

    # ---- running

    @contextmanager
    def _slot(self) -> Iterator[_Slot]:
        slot = self._free.get()
        try:
            yield slot
        finally:
            self._free.put(slot)

    def _untouched(
        self, slot: _Slot, units: Sequence[str] | None, progress: Report, trace: bool = False, again: bool = False
    ) -> Ran:
        def poll() -> None:
            self._check_open()
            progress(f"learning the tests: {self._command.name}", 0, 1)

        engine = EngineWait()
        while True:
            try:
                return self._run(slot, [], units, self._settings.suite_timeout, poll, trace, settle=True, again=again)
            except ZygoteDied as error:
                raise SandboxError(
                    f"The sandbox ended while the tests were learned: {error}.",
                    "Give the tests more memory (--memory), or try another sandbox.",
                ) from error
            except SandboxError:
                if not engine.worth_another():
                    raise

    def _run(
        self,
        slot: _Slot,
        changes: Sequence[tuple[str, str, str]],
        units: Sequence[str] | None,
        total: float,
        poll: Callable[[], None],
        trace: bool = False,
        settle: bool = False,
        again: bool = False,
    ) -> Ran:
        """Run the command once. Raises ZygoteDied, SandboxError."""
        command = self._command
        if slot.process is None:
            slot.process, slot.warm = Zygote(self._new_sandbox(), self._plan, self._check_open), False
            if not slot.process.ready:
                trouble = slot.process.greeting["trouble"]
                self._drop(slot)
                raise SandboxError(f"The project cannot be copied: {trouble}.", "Give it more room with --scratch.")
        coverage = "{run}/cover.out" if command.traces == "go" else command.coverage
        request = {
            "changes": changes,
            # go would tell again what it told before
            "environment": {"GOFLAGS": "-count=1"} if again else {},
            "commands": [each for each in (command.build, command.line(units, trace)) if each],
            "reports": [path for path in (command.results, coverage if trace else "") if path],
            "total": total,
            "trace": trace and command.traces == "v8",
            "settle": settle,
            "output_bytes": max(self._settings.output_kib << 10, 16 << 20),
        }
        reply = slot.process.run(request, poll=poll)
        slot.warm = slot.warm or settle
        if "differs" in reply:
            raise ProjectError(
                f"{reply['differs']} has changed since the project was opened.", "Open the project again."
            )
        text = _readable(reply, slot.process.greeting["tree"])
        last, reports = text["steps"][-1], text["reports"][0] if command.results else ()
        try:
            results = read_results(command.form, last["out"], last["err"], reports)
        except ValueError as error:
            return Ran(text, (), str(error))
        return Ran(text, tuple(replace(each, node_id=self._node_id(each.node_id, units)) for each in results))

    def _node_id(self, told: str, units: Sequence[str] | None) -> str:
        """Name a test by its file or package, as far as that is known."""
        where, _, name = told.partition("::")
        if self._module and where.startswith(self._module):
            where = "." + where.removeprefix(self._module)
        head, _, rest = name.partition(" > ")
        if not where and rest and head in self._test_files:  # as tap tells them
            where, name = head, rest
        if not where and units is not None and len(units) == 1:
            where = units[0]
        return f"{where}::{name}" if where else name

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise ZygoteDied("the oracle was closed")

    def _drop(self, slot: _Slot) -> None:
        if slot.process is not None:
            slot.process.close()
        slot.process, slot.warm, slot.doubtful = None, False, False

    # ---- judging

    def judge(
        self,
        candidate: Candidate,
        tests: Sequence[str],
        *,
        every_test: bool = False,
        again: bool = False,
        confirm: bool = True,
    ) -> Verdict:
        """See `core.types.Oracle`. Commands run all tests they are given: `every_test` says nothing more."""
        if not tests:
            return self._verdict(Outcome.NOT_EXECUTED, "No test covers this.")
        try:
            self.suite(lambda *_: self._check_open())
        except (ProjectError, TargetError, SandboxError) as error:
            return self._verdict(Outcome.INFRASTRUCTURE, error.problem)
        except ZygoteDied:
            return self._verdict(Outcome.INFRASTRUCTURE, "The oracle was closed.")
        assert self._learned is not None
        if error_at := _first_error(candidate):
            return self._verdict(Outcome.SYNTAX_ERROR, error_at)
        asked = {test.partition("::")[0] for test in tests} & set(self._learned.units)
        # The files or packages to run; None for the whole command.
        units = tuple(sorted(asked)) if asked and len(asked) < len(self._learned.units) else None
        if all(change.new_text == change.file.text for change in candidate.changes) and not (confirm or again):
            count = _together(self._learned, units).count
            passed = f"All {counted_tests(count)} passed." if count else f"`{self._command.name}` ended well."
            return self._verdict(Outcome.PASS, passed)
        place = (candidate.file.path, candidate.span.start, candidate.span.end)
        confirm = confirm and self._settings.confirm_whole_suite and place not in self._confirmed
        if confirm and units is not None:
            # What takes nearly as long as all tests is not asked first: a pass would cost both.
            whole_seconds = self._learned.whole.seconds
            units = units if _together(self._learned, units).seconds < CHEAP * whole_seconds else None
        verdict = self._once(candidate, units, again)
        if verdict.outcome is Outcome.PASS and confirm:
            if units is not None:
                whole = self._once(candidate, None, again)
                verdict = _joined(verdict, whole)
            if verdict.outcome is Outcome.PASS:
                self._confirmed.add(place)
        return verdict

    def _once(self, candidate: Candidate, units: tuple[str, ...] | None, again: bool) -> Verdict:
        texts = frozenset(
            (change.file.path, hashlib.sha256(change.new_text.encode("utf-8", "surrogatepass")).digest())
            for change in candidate.changes
        )
        key = (texts, units, again)
        known = self._memo.get(key)
        if known is None:
            known = self._judged(candidate, units)
            if known.outcome.judged:
                self._memo.keep(key, known)
        return known

    def _judged(self, candidate: Candidate, units: tuple[str, ...] | None) -> Verdict:
        """Run the candidate; once more in a new sandbox where that ended, or where the machine was too slow."""
        assert self._learned is not None
        expected = _together(self._learned, units)
        limit = self._settings.total_timeout_floor + self._learned.extra
        limit += self._settings.total_timeout_factor * expected.seconds
        changes = [_changed(change) for change in candidate.changes]
        died = ""
        with self._slot() as slot:
            for attempt in range(2):
                try:
                    if slot.doubtful and not self._sound(slot, units, limit):
                        self._drop(slot)
                    if slot.process is None or not slot.warm:
                        limit_now = limit + self._settings.total_timeout_factor * (
                            expected.seconds + self._learned.extra
                        )
                        self._run(slot, [], units, limit_now, self._check_open, settle=True)
                        slot.warm = True
                    ran = self._run(slot, changes, units, limit, self._check_open)
                    if ran.last["killed"] and attempt == 0 and (slower := self._slower(slot, units, limit, expected)):
                        limit *= slower
                        continue
                    return self._concluded(slot, ran, expected, limit)
                except ZygoteDied as error:
                    died = str(error)
                    self._drop(slot)
                except (SandboxError, ProjectError) as error:
                    return self._verdict(Outcome.INFRASTRUCTURE, error.problem)
        if "memory is too small" in died and not self._closed.is_set():
            return self._verdict(Outcome.OUT_OF_MEMORY, f"It used more than {self._settings.memory_mib} MiB.")
        return self._verdict(Outcome.INFRASTRUCTURE, f"The sandbox ended twice: {died}.")

    def _slower(self, slot: _Slot, units: Sequence[str] | None, limit: float, expected: Expected) -> float:
        """Return by how much longer than it did the untouched project takes now; 0 where it does not."""
        plain = self._run(slot, [], units, 2 * limit, self._check_open)
        factor = plain.seconds / max(expected.seconds, 0.1)
        return factor if factor > self._settings.total_timeout_factor / 2 else 0.0

    def _sound(self, slot: _Slot, units: Sequence[str] | None, limit: float) -> bool:
        """Return whether the untouched project still passes in this slot."""
        slot.doubtful = False
        assert self._learned is not None
        ran = self._run(slot, [], units, 2 * limit, self._check_open)
        expected = _together(self._learned, units)
        return outcome_of(ran, expected, self._command, self._learned.excluded)[0] is Outcome.PASS

    def _concluded(self, slot: _Slot, ran: Ran, expected: Expected, limit: float) -> Verdict:
        assert self._learned is not None
        outcome, detail = outcome_of(ran, expected, self._command, self._learned.excluded)
        slot.doubtful = outcome in (Outcome.TIMEOUT, Outcome.CRASH, Outcome.OUT_OF_MEMORY, Outcome.TAMPERED)
        results = ran.results
        if outcome is not Outcome.PASS:
            results += tuple(
                TestResult(name, "missing")
                for name in (Counter(expected.passed) - Counter(name_of(each) for each in results))
            )
        last = ran.last
        output = "\n".join(filter(None, (last["out"].strip(), last["err"].strip())))
        most = self._settings.output_kib << 10
        if len(output) > most:
            output = output[:most] + f"\n[{len(output) - most} characters cut]\n"
        flags = (NEAR_LIMIT,) if outcome is not Outcome.TIMEOUT and ran.seconds > limit / 2 else ()
        return Verdict(outcome, ran.seconds, results, detail, output, self.name, flags)

    def _verdict(self, outcome: Outcome, detail: str) -> Verdict:
        return Verdict(outcome, 0.0, (), detail, "", self.name)

    def close(self) -> None:
        self._closed.set()
        for slot in self._slots:
            self._drop(slot)


def open_command_oracle(
    codebase: Codebase, command: Command, settings: OracleSettings, notice: Callable[[str], None]
) -> CommandOracle:
    """Return an oracle for the codebase; nothing of the project runs yet. Close it when done.

    Raises TargetError (a tool is missing), ProjectError (packages were never installed), SandboxError.
    """
    root = codebase.root.resolve()
    settings = replace(settings, image=settings.image or platform.image_to_show())
    tools = find_tools(root, command) if settings.image is None else Tools((), ())
    sandbox = choose_sandbox(settings.sandbox, settings.image, notice)
    interpreter = describe(Path(sys.executable)) if settings.image is None else interpreter_of_image(sandbox, None)
    if not isinstance(sandbox, Guarded) and (closed := closed_to_tests(root)):
        notice(closed)
    notice(told(command, tools))
    # Under a guardian, each process has a scratch folder of its own.
    another = sandbox.another if isinstance(sandbox, Guarded) else lambda: sandbox
    return CommandOracle(codebase, command, tools, interpreter, another, settings, notice)


def _readable(reply: dict[str, Any], tree: str) -> dict[str, Any]:
    """Take the places of the sandbox out of what was printed and written."""
    taken = (f"file://{tree}/", f"{tree}/", f"{reply['folder']}/")

    def cleaned(text: str) -> str:
        for place in taken:
            text = text.replace(place, "")
        return text

    for step in reply["steps"]:
        step["out"], step["err"] = cleaned(step["out"]), cleaned(step["err"])
    reply["reports"] = [[cleaned(text) for text in texts] for texts in reply["reports"]]
    return reply


_SKIPPED = frozenset([".git", "node_modules", "target", "__pycache__", ".venv"])
_NETWORK = re.compile(
    r"ENOTFOUND|ENOTCACHED|EAI_AGAIN|ENETUNREACH|getaddrinfo|[Cc]ould not resolve|dial tcp|failed to download"
    r"|module lookup disabled|attempting to make an HTTP request|network (?:is )?unreachable"
    r"|cannot find module providing|using offline mode|missing go\.sum entry|no required module provides"
)


def _plan(root: Path, tools: Tools, interpreter: Interpreter, settings: OracleSettings) -> SessionPlan:
    limits = Limits(settings.memory_mib, THREADS * settings.processes, settings.scratch_mib + ROOM_MIB)
    argv = (str(interpreter.executable), "-I", "-S", "-B", "-u", str(INSIDE / "main.py"), "commands")
    readonly = (root, INSIDE, *interpreter.readonly, *tools.readonly)
    base = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    path = ":".join(("{tree}/node_modules/.bin", *tools.path, base["PATH"]))
    environment = {
        **base,
        "PATH": path,
        "HOME": "{scratch}/home",
        "CI": "1",
        "NO_COLOR": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "OPENSSL_CONF": "/dev/null",  # Node gives up on one that is there and cannot be read, as under Landlock
        "GOCACHE": "{build}/go",
        "GOPATH": "{build}/gopath",
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GODEBUG": "asyncpreemptoff=1",  # each preemption is a signal, which Landlock's guardian is asked about
        "CARGO_HOME": "{build}/cargo",
        "CARGO_TARGET_DIR": "{build}/target",
        "CARGO_NET_OFFLINE": "true",
        "npm_config_offline": "true",
        "npm_config_cache": "{build}/npm",
        "npm_config_update_notifier": "false",
        **tools.environment,
    }
    config = {
        "root": str(root),
        "environment": environment,
        "links": [list(link) for link in tools.links],
        "scripts": {CHECKER: '#!/bin/sh\nexec tsc "$@" --tsBuildInfoFile {build}/types\n'},
        "most_bytes": (settings.scratch_mib + ROOM_MIB // 2) << 20,
    }
    return SessionPlan(Launch(argv, str(root), readonly, base, limits), config)


def _unsteady(first: Iterable[TestResult], second: Iterable[TestResult]) -> dict[str, str]:
    """Return why tests are not trusted, by name: of those that share one, the one that fails has the word."""
    runs = [dict(sorted(((name_of(each), each.outcome) for each in run), reverse=True)) for run in (first, second)]
    excluded = {}
    for name in dict.fromkeys([*runs[0], *runs[1]]):
        outcomes = {run.get(name, "missing") for run in runs}
        if len(outcomes) > 1:
            excluded[name] = "passes and fails by turns" if "missing" not in outcomes else "is not always run"
        elif outcomes & {"failed", "error"}:
            excluded[name] = "fails on the untouched project"
        elif outcomes == {"skipped"}:
            excluded[name] = "is skipped"
    return excluded


def _together(learned: Learned, units: Sequence[str] | None) -> Expected:
    """Return what the untouched project gives for some files or packages."""
    if units is None:
        return learned.whole
    parts = [learned.units[unit] for unit in units]
    passed = Counter[str]()
    for part in parts:
        passed.update(part.passed)
    printed = [part.printed for part in parts]
    return Expected(
        dict(passed),
        sum(each or 0 for each in printed) if None not in printed else None,
        max(part.status for part in parts),
        min(sum(part.seconds for part in parts), max(learned.whole.seconds, *(part.seconds for part in parts))),
    )


def _changed(change: Any) -> tuple[str, str, str]:
    """Path, what the file must hold before (a digest), and what it shall hold."""
    before = change.file.text.encode(change.file.encoding)
    after = change.new_text.encode(change.file.encoding, "replace")
    return change.file.path, hashlib.sha256(before).hexdigest(), base64.b64encode(after).decode()


def _first_error(candidate: Candidate) -> str:
    """Say where a candidate does not parse, and its file did; empty where it does."""
    for change in candidate.changes:
        language = language_of(change.file.path)
        if language is None or language.grammar is None:
            continue
        line = first_error(change.new_text, language)
        if line is not None and first_error(change.file.text, language) is None:
            return f"{change.file.path} does not parse: line {line}."
    return ""


def _joined(chosen: Verdict, whole: Verdict) -> Verdict:
    """Return the verdict on a candidate that its covering tests passed, after the whole command has run."""
    seconds = chosen.seconds + whole.seconds
    if whole.outcome is Outcome.PASS:
        return replace(chosen, seconds=seconds, detail=chosen.detail.removesuffix(".") + ", and the whole command.")
    return replace(
        whole, seconds=seconds, detail=f"The covering tests passed, the whole command did not: {whole.detail}"
    )

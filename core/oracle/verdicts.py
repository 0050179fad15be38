"""From what a zygote saw to a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rtc_inspector.core.types import NEAR_LIMIT, Outcome, TestResult, Verdict

MEMORY_ERRORS = ("MemoryError", "numpy.core._exceptions._ArrayMemoryError", "numpy._core._exceptions._ArrayMemoryError")

READS = "reads "
"""How events begin that are held against a candidate."""
TEST_DATA = READS + "data of tests"
OUTLIVES = "a process that goes on"
_PUBLIC = {"xfailed": "skipped", "xpassed": "failed"}  # outcomes that only pytest tells apart


@dataclass(frozen=True, slots=True)
class Allowances:
    """Acts of the unmodified project, which so prove nothing against a candidate."""

    changes: frozenset[str] = frozenset()  # parts of the framework that differ after an ordinary run
    # what the project's code was heard to do, and the file that did it
    events: frozenset[tuple[str, str]] = frozenset()

    def covers(self, event: str, file: str) -> bool:
        """Return whether the project is known to do this.

        A file is known for its own events, and any file for reading data of tests where some file does.
        """
        return (event, file) in self.events or (event == TEST_DATA and any(known == event for known, _ in self.events))


@dataclass(slots=True)
class Observation:
    """One child's frames, sorted by kind. `near_limit`: it ended in time, and took more than half of it."""

    reply: Mapping[str, Any]
    frames: dict[str, list[list[Any]]] = field(default_factory=dict)
    near_limit: bool = False

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Observation:
        found = cls(reply)
        for kind, *values in reply["frames"]:
            found.frames.setdefault(kind, []).append(values)
        return found

    def __contains__(self, kind: str) -> bool:
        return kind in self.frames

    @property
    def out_of_time(self) -> bool:
        return str(self.reply.get("killed", "")).endswith("timeout")

    @property
    def green(self) -> bool:
        """Return whether every test that was collected ran and passed, as far as the reports go."""
        tests = self.all("test")
        return "end" in self and bool(tests) and all(values[1] == "passed" for values in tests)

    def passed(self, tests: Collection[str]) -> bool:
        """Return whether each of `tests` is reported as passed and none as anything else."""
        outcomes = [(values[0], values[1]) for values in self.all("test")]
        failed = {test for test, outcome in outcomes if outcome != "passed"}
        return failed.isdisjoint(tests) and {test for test, _ in outcomes}.issuperset(tests)

    def changes(self) -> set[str]:
        """Return what is otherwise than before in the framework, or goes on behind the tests."""
        found = {str(name) for values in self.all("evidence") for name in values[1]}
        return found | ({OUTLIVES} if self.reply.get("outlived") else set())

    def all(self, kind: str) -> list[list[Any]]:
        return self.frames.get(kind, [])

    def tests(self) -> tuple[TestResult, ...]:
        return tuple(
            TestResult(test, _PUBLIC.get(outcome, outcome), message, seconds, _signature(outcome, message, recorded))
            for test, outcome, seconds, message, _, _, recorded in self.all("test")
        )

    def output(self, limit: int, shown: Collection[str] | None, *, broken_off: bool) -> str:
        """Return at most `limit` characters of what the tests printed, and say how many were cut.

        `shown`: the tests that count, None for all. Of a run broken off, what escaped pytest's capture is there, too.
        """
        parts = [
            printed + (f"\n[{cut} characters cut]\n" if cut else "")
            for test, _, _, _, printed, cut, _ in self.all("test")
            if shown is None or test in shown
        ]
        whole = "".join(parts) + (str(self.reply["printed"]) if broken_off else "")
        return whole if len(whole) <= limit else whole[:limit] + f"\n[{len(whole) - limit} characters cut]"


def _signature(outcome: str, message: str, recorded: str) -> str:
    """Return what the tested code gave, as the test recorded it.

    Where the test accepts it, that is all that counts, and it is `pass`: two ways to pass are alike.
    """
    if recorded and outcome == "passed":
        return "pass"
    return "memory" if recorded and headline(message).startswith(MEMORY_ERRORS) else recorded


ENDINGS = {Outcome.TIMEOUT: "timeout", Outcome.OUT_OF_MEMORY: "memory", Outcome.CRASH: "crash"}
"""Signatures of a test in which the process ended."""
NEVER_RAN = (Outcome.SYNTAX_ERROR, Outcome.IMPORT_ERROR)
"""Then every test gives the same: the error that the code is loaded with."""


def with_missing(verdict: Verdict, tests: Sequence[str]) -> Verdict:
    """Add a result for each of `tests`, those included that did not run, as `missing`."""
    known = {result.node_id for result in verdict.tests}
    signature = "error " + verdict.detail if verdict.outcome in NEVER_RAN else "missing"
    missing = tuple(TestResult(test, "missing", signature=signature) for test in tests if test not in known)
    return replace(verdict, tests=verdict.tests + missing)


def conclude(
    observed: Observation,
    expected: Sequence[str],
    allowed: Allowances,
    seconds: float,
    oracle: str,
    output_limit: int,
    shown: Collection[str] | None = None,
) -> Verdict:
    """Return the verdict over `expected` tests; PASS only with every piece of evidence.

    `shown`: those whose output counts.
    """
    results = observed.tests()
    outcome, detail = _outcome(observed, results, expected, allowed)
    results += _unfinished(observed, results, expected, outcome)
    output = observed.output(output_limit, shown, broken_off=outcome is Outcome.CRASH)
    return Verdict(outcome, seconds, results, detail, output, oracle, (NEAR_LIMIT,) if observed.near_limit else ())


def merged(verdicts: Sequence[Verdict]) -> Verdict:
    """Return one verdict for runs that each went over other tests; all but the last passed."""
    last = verdicts[-1]
    if len(verdicts) == 1:
        return last
    tests = tuple(test for verdict in verdicts for test in verdict.tests)
    detail = f"All {len(tests)} tests passed." if last.outcome is Outcome.PASS else last.detail
    output = "".join(verdict.output for verdict in verdicts)
    flags = tuple(sorted({flag for verdict in verdicts for flag in verdict.flags}))
    return replace(last, tests=tests, detail=detail, output=output, flags=flags)


def _outcome(
    observed: Observation, results: Sequence[TestResult], expected: Sequence[str], allowed: Allowances
) -> tuple[Outcome, str]:
    if "syntax" in observed:
        return Outcome.SYNTAX_ERROR, str(observed.all("syntax")[0][0])
    failed = [result for result in results if result.outcome in ("failed", "error")]
    if failed:
        return _failure(failed, len(results))
    if observed.reply["killed"]:
        return _killed(observed)
    if "collect-error" in observed:
        return _collection(observed)
    if "end" not in observed or observed.reply["exit"] != 0:
        return _abnormal(observed)
    return _proven(observed, results, expected, allowed)


def _failure(failed: Sequence[TestResult], ran: int) -> tuple[Outcome, str]:
    first = failed[0]
    said = headline(first.message)
    detail = f"{len(failed)} of {ran} tests failed; first {first.node_id}: {said}"
    if said.startswith(MEMORY_ERRORS):
        return Outcome.OUT_OF_MEMORY, detail
    return Outcome.FAIL, detail


def _killed(observed: Observation) -> tuple[Outcome, str]:
    test = observed.reply["test"]
    match observed.reply["killed"]:
        case "flood":
            return Outcome.TAMPERED, "It flooded the channel that results are reported on."
        case "test-timeout":
            return Outcome.TIMEOUT, f"{test} went over its time limit."
        case _:
            where = f" in {test}" if test else ""
            return Outcome.TIMEOUT, f"The tests went over their time limit together{where}."


def _collection(observed: Observation) -> tuple[Outcome, str]:
    where, text = observed.all("collect-error")[0][:2]
    said = headline(str(text)).removeprefix("E").strip()
    kind = Outcome.OUT_OF_MEMORY if said.startswith(MEMORY_ERRORS) else Outcome.IMPORT_ERROR
    return kind, f"{where or 'The tests'} cannot be imported: {said}"


def _abnormal(observed: Observation) -> tuple[Outcome, str]:
    reply, test = observed.reply, observed.reply["test"]
    where = f" in {test}" if test else ""
    if reply["signal"] == 9 and not any(event == "signals" for event, _ in observed.all("audit")):
        return Outcome.OUT_OF_MEMORY, f"The process was killed{where}: it used too much memory."
    if reply["signal"]:
        return Outcome.CRASH, f"The process died of signal {reply['signal']}{where}."
    if "aborted" in observed:
        text = str(observed.all("aborted")[0][0])
        if text.startswith(MEMORY_ERRORS):
            return Outcome.OUT_OF_MEMORY, text
        early = "collected" not in observed
        return (Outcome.IMPORT_ERROR if early else Outcome.CRASH), f"The test run was broken off{where} by {text}."
    if "exit" in observed and "collected" not in observed:  # pytest itself gave up, over a conftest
        return Outcome.IMPORT_ERROR, f"The tests could not be collected{_because(observed)}."
    return Outcome.CRASH, f"The process ended by itself with status {reply['exit']}{where}."


def _proven(
    observed: Observation, results: Sequence[TestResult], expected: Sequence[str], allowed: Allowances
) -> tuple[Outcome, str]:
    """Judge one by one what must hold for a pass; return PASS or the outcome of the first that fails, and why."""
    other = [result for result in results if result.outcome != "passed"]
    if other:
        return Outcome.FAIL, f"{other[0].node_id} ended as {other[0].outcome}, not as passed."
    ran = Counter(result.node_id for result in results)
    missing = [node_id for node_id in expected if node_id not in ran]
    if missing:
        return _cut_short(observed, missing)
    suspicion = _suspicion(observed, allowed)
    if suspicion:
        return Outcome.TAMPERED, suspicion
    return Outcome.PASS, f"All {len(results)} tests passed."


def _cut_short(observed: Observation, missing: Sequence[str]) -> tuple[Outcome, str]:
    if "collected" not in observed:
        return Outcome.IMPORT_ERROR, f"The tests could not be collected{_because(observed)}."
    found = {node_id for values in observed.all("collected") for node_id in values[0]}
    if not found & set(missing) and len(observed.all("test")) == len(found):
        return Outcome.FAIL, f"{len(missing)} tests are no longer there; the first is {missing[0]}."
    return Outcome.CRASH, f"The test run was broken off before {missing[0]}{_because(observed)}."


def _because(observed: Observation) -> str:
    """Return in brackets what pytest printed at the end.

    It is the error, if there is one, else the line before the summary; empty where nothing was printed.
    """
    said = [line for line in str(observed.reply["printed"]).splitlines() if line.strip()]
    errors = [line.removeprefix("E ") for line in said if line.startswith("E ")]
    last = errors[-1:] or said[-2:-1] or said
    return f" ({last[-1].strip()[:200]})" if last else ""


def _suspicion(observed: Observation, allowed: Allowances) -> str:
    """Return why an all-green run is not believed; empty when it is."""
    if observed.reply["broken"]:
        return "Reports came out of order."
    evidence = observed.all("evidence")
    if len(evidence) != 1 or observed.all("end") != [[True]]:
        return "The proof that the test framework still works is missing."
    if evidence[0][0] != ["failed" if bit else "passed" for bit in observed.reply["bits"]]:
        return "A test that must fail did not fail."
    new = sorted(observed.changes() - allowed.changes)
    if new:
        return f"Something that the tests rely on was changed, or goes on behind them: {', '.join(new[:3])}."
    held = [str(reason) for values in observed.all("screen") for reason in values[0]]
    if held:
        return f"Its tests pass, but {', '.join(held[:3])}, unlike the original text: such code can pass any test."
    for event, file in observed.all("audit"):
        if event.startswith(READS) and not allowed.covers(event, file):
            return f"It {event}: {file} is behind that."
    return ""


def _unfinished(
    observed: Observation, results: Sequence[TestResult], expected: Collection[str], outcome: Outcome
) -> tuple[TestResult, ...]:
    """Return the test that was running when time was up, or the process ended."""
    test = observed.reply["test"]
    if not test or test not in expected or any(result.node_id == test for result in results):
        return ()
    name = "timeout" if outcome is Outcome.TIMEOUT else "error"
    return (TestResult(test, name, "The process was stopped here.", signature=ENDINGS.get(outcome, "")),)


HEADLINE = 300


def headline(text: str) -> str:
    """Return the line that names the error: marked by pytest, else first where frames follow it, else last.

    May be empty.
    """
    lines = [line for line in text.strip().splitlines() if line.strip()]
    marked = [line[1:].strip() for line in lines if line.startswith("E  ")]
    if marked:
        # Of a syntax error the place comes first, then the code.
        first = f"{marked[-1]} ({marked[0]})" if marked[0].startswith('File "') else marked[0]
        return first[:HEADLINE]
    named = [line for line in lines if not line[0].isspace()] or lines
    frames = any(line.startswith('  File "') for line in lines)
    turned = frames and lines[:1] == named[:1] and not text.startswith("Traceback")
    return named[0 if turned else -1].strip()[:HEADLINE] if named else ""

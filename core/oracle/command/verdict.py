"""From what a command printed, reported and left to an outcome."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rtc_inspector.core.oracle.command.commands import Command
from rtc_inspector.core.oracle.command.results import passed_count
from rtc_inspector.core.oracle.verdicts import headline
from rtc_inspector.core.types import Outcome, TestResult, counted_tests

_NO_BUILD = re.compile(r"\[(?:build|setup) failed\]|error: could not compile|error TS\d+:")
COMPILED = ("go-json", "cargo")  # forms of tools that build before any test runs
_MEMORY = re.compile(
    r"heap out of memory|fatal error: (?:runtime: )?out of memory|memory allocation of \d+ bytes failed"
    r"|signal: '?(?:SIGKILL|killed)"
)
_SIGNAL = re.compile(r"signal: '?(SIG(?:SEGV|ABRT|BUS|ILL|FPE|TRAP))|signal: (\d+), SIG\w+|\(signal: (\d+)")
_DIED = re.compile(r"(?:Uncaught )?\w*Error\b.*?: ")
_NPM = re.compile(r"^npm (?:ERR!|error) (?!code |errno |syscall |path )(.+)$", re.MULTILINE)
_COMPLAINT = re.compile(r"^.*(?:error(?:\[\w+\])?:|error TS\d+|^\S+\.\w+:\d+:\d+:).*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Expected:
    """The results of the untouched project in some tests."""

    passed: Mapping[str, int]  # how often each name passed; empty where no names are told
    printed: int | None  # how many passed by what the runner printed; None where it prints no number
    status: int
    seconds: float

    @property
    def count(self) -> int:
        return sum(self.passed.values()) or self.printed or 0


@dataclass(frozen=True, slots=True)
class Ran:
    """One run as it came back."""

    reply: Mapping[str, Any]
    results: tuple[TestResult, ...] = ()
    problem: str = ""  # why results could not be read

    @property
    def last(self) -> Mapping[str, Any]:
        step: Mapping[str, Any] = self.reply["steps"][-1]
        return step

    @property
    def seconds(self) -> float:
        return float(sum(step["seconds"] for step in self.reply["steps"]))


def outcome_of(ran: Ran, expected: Expected, command: Command, excluded: Collection[str]) -> tuple[Outcome, str]:
    """Decide by what is proven, the worst first."""
    last, said = ran.last, f"{ran.last['out']}\n{ran.last['err']}"
    if last["killed"]:
        return Outcome.TIMEOUT, f"`{command.name}` went over its time limit."
    if command.build and len(ran.reply["steps"]) == 1 and last["exit"]:
        return Outcome.SYNTAX_ERROR, f"It does not build: {first_complaint(last)}"
    bad = [each for each in ran.results if each.outcome in ("failed", "error") and name_of(each) not in excluded]
    if last["exit"] and (how := _ended_by(last["exit"], "\n".join(each.message for each in bad), said)):
        return how
    unbuilt = _NO_BUILD.search(said) or (not ran.results and command.form in COMPILED)
    if last["exit"] and unbuilt and not any(each.outcome == "failed" for each in bad):
        return Outcome.SYNTAX_ERROR, f"It does not build: {first_complaint(last)}"
    if bad:
        detail = f"{len(bad)} of {len(ran.results)} tests failed; first {bad[0].node_id}"
        return Outcome.FAIL, f"{detail}: {said_of}" if (said_of := told_by(bad[0])) else f"{detail}."
    if last["exit"] not in (0, expected.status):
        return Outcome.FAIL, f"`{command.name}` ended with status {last['exit']}: {last_line(last)}"
    if ran.problem:
        return Outcome.NOT_EXECUTED, f"Its report {ran.problem}."
    missing = Counter(expected.passed) - Counter(name_of(each) for each in ran.results if each.outcome == "passed")
    if missing:
        count = sum(missing.values())
        return (
            Outcome.NOT_EXECUTED,
            f"{counted_tests(count)} that passed did not run or were skipped, first {next(iter(missing))}.",
        )
    printed = passed_count(last["out"], last["err"])
    if expected.printed and (printed or 0) < expected.printed:
        return (
            Outcome.NOT_EXECUTED,
            f"{printed or 0} tests passed by what was printed, where {expected.printed} do.",
        )
    if ran.reply["altered"]:
        return (
            Outcome.TAMPERED,
            f"Its tests passed, but it changed {ran.reply['altered'][0]}, a file of the project.",
        )
    return (
        Outcome.PASS,
        f"All {counted_tests(expected.count)} passed." if expected.count else "The command ended well.",
    )


def name_of(result: TestResult) -> str:
    """Return the test's own name: where it stands is not always told."""
    return result.node_id.rpartition("::")[2]


def _ended_by(status: int, messages: str, said: str) -> tuple[Outcome, str] | None:
    """Return how the command, or a test's process, was ended from outside; None where it was not."""
    if status in (-9, 137) or _MEMORY.search(said):
        return Outcome.OUT_OF_MEMORY, "A process was killed, or gave up: it used too much memory."
    number = -status if status < 0 else status - 128
    if number in (4, 5, 6, 7, 8, 11, 31):
        return Outcome.CRASH, f"The command died of signal {number}."
    found = _SIGNAL.search(messages) or _SIGNAL.search(said)
    if found:
        return Outcome.CRASH, f"A process died of signal {next(filter(None, found.groups()))}."
    return None


_SAID = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(panic: .+)$",
        r"^\s*(\w+_test\.go:\d+: .+)$",
        r"^thread .+ panicked at .+?:\n(.+)$",
    )
)


def told_by(result: TestResult) -> str:
    """Return the line of a message that says most."""
    found = next(filter(None, (pattern.search(result.message) for pattern in _SAID)), None)
    return (found[1] if found else headline(result.message)).strip()[:300]


def last_line(step: Mapping[str, Any]) -> str:
    """Return the last thing that a command said."""
    for text in (str(step["err"]), str(step["out"])):
        lines = [line.strip() for line in text.splitlines()]
        told = [line for line in lines if line and not line.startswith(("#", "npm "))]
        if told:  # of what a program died stands above its stack
            return next(filter(_DIED.match, reversed(told)), told[-1]).rstrip(".")[:300]
    npm = _NPM.search(f"{step['err']}\n{step['out']}")
    return npm[1].rstrip(".")[:300] if npm else f"it ended with status {step['exit']} and said nothing"


def first_complaint(step: Mapping[str, Any]) -> str:
    """Return the first line that names an error, else the last line."""
    found = _COMPLAINT.search(f"{step['err']}\n{step['out']}")
    return found[0].partition("; to add")[0].strip()[:300] if found else last_line(step)

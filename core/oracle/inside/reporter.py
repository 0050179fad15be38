"""The pytest plugins that select and report tests, and prove in the end that pytest still tells right from wrong."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from .candidate import files_of
from .child import STOPPED, Send
from .messages import MESSAGE_LIMIT, arranged, relative, shorten, signature_in
from .tampering import Watch

SHRINKING = 2  # seconds for which hypothesis looks for a smaller example of a failure that it has found


class Witness:
    """Sees for itself whether a test raised: a report can be talked into saying otherwise. And what is uncollected."""

    def __init__(self) -> None:
        self.raised = False
        self.uncollected: list[str] = []

    def pytest_collectreport(self, report: Any) -> None:
        self.uncollected += [str(report.nodeid)] if report.failed else []

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        """Look around everything else; unittest keeps its exceptions on the item."""
        self.raised = False
        outcome: Any = yield
        self.raised = outcome.excinfo is not None or bool(getattr(item, "_excinfo", None))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        """Write no dot for a test that passed: pytest writes each by itself, which costs as much as a fast test."""
        passed = report.passed and report.when == "call" and not hasattr(report, "wasxfail")
        return ("passed", "", "") if passed else None


class Reporter:
    """Reports each test over the child's private channel; `items`: what runs, in its order, as far as it is known."""

    def __init__(self, witness: Witness, root: str) -> None:
        """`root`: of the project. Nothing is reported before `begin`."""
        self._witness = witness
        self._root = root
        self._exit = os._exit
        self._parts: list[tuple[str, str]] = []
        self._seconds = 0.0
        self._printed = ""
        self._signature = ""
        self.watch = Watch(root)
        self.failed = False
        self.items: list[Any] = []
        relative("", root)  # its pattern is compiled once, and forks have it

    def begin(self, send: Send, request: dict[str, Any]) -> None:
        """`request`: fail_fast, output_bytes, and what is asked of `close`: bits, identity, unproven."""
        self._send = send
        self._request = request
        self._fail_fast = bool(request.get("fail_fast"))
        self._left = int(request.get("output_bytes", 1 << 18))

    def expect(self, items: list[Any]) -> None:
        hypothesis = sys.modules.get("hypothesis.internal.conjecture.engine")
        if hypothesis is not None:  # which goes on for five minutes, though the verdict is certain
            hypothesis.MAX_SHRINKING_SECONDS = SHRINKING  # type: ignore[attr-defined]
        self.items += items
        self.watch.add(items)
        self._send("collected", [item.nodeid for item in items])

    def pytest_collectstart(self, collector: Any) -> None:
        if isinstance(collector, pytest.File) and "collect_seconds" in self._request:
            self._send("collect", collector.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed = True
            message = shorten(relative(str(report.longrepr), self._root), MESSAGE_LIMIT)
            self._send("collect-error", report.nodeid, message)
            if self._fail_fast:
                self._exit(STOPPED)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._parts, self._seconds, self._printed, self._signature = [], 0.0, "", ""
        self._send("start", nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Collect what the phases (and subtests) of the running test came to."""
        if type(report).__name__.lower() == "subtestreport":
            if report.failed:
                self._parts.append(("failed", report.longreprtext))
            return
        self._seconds += report.duration
        self._parts.append((outcome_of(report), _reason(report)))
        self._signature = signature_in(getattr(report, "user_properties", ())) or self._signature
        if report.when == "teardown" or not report.passed:
            printed = "".join(text for name, text in report.sections if name.startswith("Captured std"))
            if len(printed) > len(self._printed):
                self._printed = printed

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Send the test's result; stop the process at the first failure when only a verdict is wanted."""
        outcome, message = worst(self._parts)
        if outcome == "passed" and self._witness.raised:
            outcome, message = "failed", "The test raised an error, yet its report says that it passed."
        output = self._printed[: self._left]
        cut = len(self._printed) - len(output)
        self._left -= len(output)
        message = arranged(message, self._root, MESSAGE_LIMIT)
        soon = outcome == "passed" and bool(self.items) and nodeid != self.items[-1].nodeid
        self._send("test", nodeid, outcome, self._seconds, message, output, cut, self._signature, wait=soon)
        if outcome in ("failed", "error"):
            self.failed = True
            if self._fail_fast:
                self._exit(STOPPED)

    def close(self, session: Any, changes: Callable[[], list[str]]) -> None:
        """Send the canaries' outcomes and what changed in the framework, where that is asked for; then the last frame.

        A failed session proves itself. The unmodified project (`identity`) shows what is usual for it, whatever its
        tests come to, or is not asked for proof.
        """
        asked = not self._request.get("unproven") and (not self.failed or bool(self._request.get("identity")))
        proven = bool(self.items) and asked
        if proven:
            outcomes = run_canaries(session, self._request["bits"])
            self._send("evidence", outcomes, changes() + self.watch.changes(), wait=True)
        self._send("end", proven)


def _reason(report: Any) -> str:
    if report.passed:
        return ""
    skipped = report.longrepr[2] if isinstance(report.longrepr, tuple) and len(report.longrepr) == 3 else None
    return str(skipped).replace("Skipped: ", "", 1) if skipped is not None else str(report.longreprtext)


def outcome_of(report: Any) -> str:
    """Return passed, failed, error, skipped, xfailed or xpassed; an empty text for a phase that says nothing."""
    if hasattr(report, "wasxfail"):
        return "xpassed" if report.passed else "xfailed"
    if report.failed:
        return "failed" if report.when == "call" else "error"
    if report.skipped:
        return "skipped"
    return "passed" if report.when == "call" else ""


ORDER = ("error", "failed", "skipped", "xfailed", "xpassed", "passed")


def worst(parts: list[tuple[str, str]]) -> tuple[str, str]:
    """Return the worst of a test's phases with its message; a test without any call is an error."""
    for outcome in ORDER:  # without any built-in function, which a candidate could replace
        for kind, message in parts:
            if kind == outcome:
                return outcome, message
    return "error", "The test reported nothing."


class Canary(pytest.Item):
    """A test whose result is known beforehand."""

    wrong = False

    def runtest(self) -> None:
        if self.wrong:
            raise AssertionError("canary")

    def repr_failure(self, excinfo: Any, style: Any = None) -> str:
        """Make no traceback, which would cost more than all the rest."""
        return "canary"

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return "canary", None, "canary"


def run_canaries(session: Any, bits: list[int]) -> list[str]:
    """Run a canary for each bit (1: must fail); return the outcomes, for the parent to compare."""
    session._setupstate.teardown_exact(None)
    outcomes = []
    for bit in bits:
        canary = Canary.from_parent(session, name="canary")
        canary.wrong = bool(bit)
        reports = runtestprotocol(canary, log=False, nextitem=None)
        outcomes.append("".join(report.outcome for report in reports if report.when == "call"))
    return outcomes


class Stages:
    """A plugin that keeps the tests asked for, in the order asked for, and runs those of one stage after another.

    Files are imported for a stage only when those before it have passed. pytest finds the files of all stages at once,
    conftests included, for folders found twice would not share fixtures; but the nodes of files that are not needed
    yet are held back.
    """

    def __init__(self, reporter: Reporter, request: dict[str, Any], found: dict[str, list[Any]] | None = None) -> None:
        """`request`: stages (lists of tests), or tests (None: all); shuffle (a seed, negative: reversed, or None).

        `found`: all items by their names, where the session has collected them before.
        """
        self._reporter = reporter
        stages: list[Any] = request.get("stages") or [request.get("tests")]
        self._tests, self._later = stages[0], stages[1:]
        self._in_stages = bool(self._later)
        self._wanted = frozenset(files_of(self._tests)) if self._in_stages else frozenset()
        self._shuffle = request.get("shuffle")
        self._held: dict[str, list[Any]] = {}
        self._others = found or {}
        self._collected = found is not None
        self._begun = False

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> Iterator[None]:
        yield
        self._select(items)

    def start(self, session: Any) -> None:
        if self._tests is not None:
            session.items = []  # those asked for are taken from what was found
        self._select(session.items)
        session.testscollected = len(session.items)

    def _select(self, items: list[Any]) -> None:
        """Reduce `items` in place to those of this stage; those left out may be selected later."""
        if self._tests is not None:
            for item in items:
                self._others.setdefault(item.nodeid, []).append(item)
            items[:] = [item for node_id in self._tests for item in self._others.pop(node_id, ())]
        if self._shuffle is not None and self._shuffle < 0:
            items.reverse()
        elif self._shuffle is not None:
            random.Random(self._shuffle).shuffle(items)
        self._reporter.expect(items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: Any) -> bool | None:
        """Import in place of pytest's own collection, which goes on the first time and not again."""
        if not self._in_stages:
            return None
        if self._begun:
            self._import(session)
            return True
        self._begun = True
        usual = session.genitems

        def genitems(node: Any) -> Iterator[Any]:
            file = node.nodeid.split("::", 1)[0]
            if isinstance(node, pytest.File) and file not in self._wanted:
                self._held.setdefault(file, []).append(node)
                return
            yield from usual(node)

        session.genitems = genitems
        return None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool | None:
        """Run in place of pytest's own loop, where there are several stages."""
        if not self._in_stages:
            return None
        # Stands for the tests to come, so that what was set up for the whole session outlives a stage.
        between = Canary.from_parent(session, name="between")
        _run(session, between if self._later else None)
        while self._later and not self._reporter.failed:
            self._tests = self._later.pop(0)
            self._wanted |= frozenset(files_of(self._tests))
            if self._collected:
                session.items = []
                self._select(session.items)
            else:
                session.config.hook.pytest_collection(session=session)
            _run(session, between if self._later else None)
        return True

    def _import(self, session: Any) -> None:
        """Select the tests of this stage, from files that are imported now and from those before."""
        nodes = [node for file in [*self._held] if file in self._wanted for node in self._held.pop(file)]
        session.items = [item for node in nodes for item in session.genitems(node)]
        hook = session.config.hook
        hook.pytest_collection_modifyitems(session=session, config=session.config, items=session.items)
        hook.pytest_collection_finish(session=session)


def _run(session: Any, then: Any) -> None:
    """Run the items of the session as pytest does; `then` follows the last item."""
    items = [*session.items]
    for item, following in zip(items, [*items[1:], then]):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)

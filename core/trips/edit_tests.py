"""The stronger oracle of an edit: the project's own tests as they were at the edit's commit, on an export of it."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from rtc_inspector.core.errors import Cancelled, InspectorError
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.settings import OracleSettings, RegionSettings
from rtc_inspector.core.trips.judged import Judged, open_judged
from rtc_inspector.core.types import Candidate, Item, Notify, Outcome, Region, Report, SourceFile, Verdict

Export = Callable[[str, Path], Path]
"""Writes a commit's files under a folder; gives the project's own folder in it."""

_ANY = RegionSettings(coverage="any")


@dataclass(frozen=True)
class _Opened:
    """The commit whose tests are ready to run."""

    commit: str
    judged: Judged
    stack: ExitStack


class CommitTests:
    """Admits and judges edits by tests. One commit is open at a time; calls from several threads take turns.

    Close it when done.
    """

    def __init__(self, export: Export, settings: OracleSettings, notify: Notify, report: Report) -> None:
        self._export = export
        self._settings = settings
        self._notify = notify
        self._report = report
        self._folder = tempfile.TemporaryDirectory(prefix="rtc-commits-")
        self._current: _Opened | None = None
        self._turn = threading.Lock()
        self._closed = threading.Event()

    def admit(self, item: Item) -> Item:
        """Return the item with the tests that cover its new code, or dropped with the reason.

        Admitted is an edit that tests tell from its absence: with the new code they pass, with the old they do not.
        Raises Cancelled.
        """
        with self._turn:
            try:
                file, tests, judged = self._covered(item, self._notify, self._report)
            except Cancelled:
                raise
            except InspectorError as error:
                return _dropped(item, f"the tests of its commit cannot be used: {error.problem}")
            if file is None:
                return _dropped(item, "its file is no Python code that tests judge")
            if not tests:
                return _dropped(item, "no test of its commit covers it")
            item = replace(item, tests=tuple(tests))
            new = judged.oracle.judge(Candidate(file, item.span, item.text), tests)
            old = judged.oracle.judge(Candidate(file, item.span, item.old_text or ""), tests)
        if new.outcome is not Outcome.PASS:
            return _dropped(item, f"its own tests do not pass with it ({new.outcome}): {new.detail}")
        if old.outcome in (Outcome.PASS, Outcome.NOT_EXECUTED, Outcome.INFRASTRUCTURE):
            return _dropped(item, f"its tests do not notice when it is undone ({old.outcome})")
        return item

    def judge(self, item: Item, text: str) -> Verdict:
        with self._turn:
            try:
                self._heed_close()
                file, _, judged = self._covered(item, _unheard, self._heed_close)
            except InspectorError as error:
                return Verdict(Outcome.INFRASTRUCTURE, 0.0, detail=error.problem, oracle="tests")
            if file is None:
                return Verdict(Outcome.INFRASTRUCTURE, 0.0, detail="The edit's file is gone.", oracle="tests")
            return judged.oracle.judge(Candidate(file, item.span, text), item.tests)

    def close(self) -> None:
        """Stop what runs, at once, and remove what was written; whoever waits for a turn gets none."""
        self._closed.set()
        # Without waiting for the turn: whoever has it may be in the middle of a long verdict, which this ends.
        if (current := self._current) is not None:
            current.judged.oracle.close()
        with self._turn:
            self._leave()
            self._folder.cleanup()

    def _heed_close(self, *_: object) -> None:
        if self._closed.is_set():
            raise Cancelled

    def _covered(self, item: Item, notify: Notify, report: Report) -> tuple[SourceFile | None, Sequence[str], Judged]:
        """Return the file with the edit in it, the tests that cover it, and the commit's project. Raises UserError."""
        judged = self._open(item.origin["commit"], notify, report)
        file = next((file for file in judged.codebase.files if file.path == item.path and not file.is_test), None)
        if file is None or file.text[item.span.start : item.span.end] != item.text:
            return None, (), judged
        region = Region(item.path, item.span, item.start_line, item.end_line, item.text)
        covered = cover([region], judged.suite.coverage, _ANY, file)
        return file, covered[0].tests if covered else (), judged

    def _open(self, commit: str, notify: Notify, report: Report) -> Judged:
        """Open the commit's project and tests; what was learned is cached, so that coming back to it is quick."""
        if self._current is None or self._current.commit != commit:
            self._leave()
            folder = Path(self._folder.name) / commit
            with ExitStack() as stack:
                stack.callback(shutil.rmtree, folder, ignore_errors=True)
                project = self._export(commit, folder)
                judged = open_judged(stack, project, self._settings, notify, report, python_only=False)
                self._current = _Opened(commit, judged, stack.pop_all())
        assert self._current is not None
        return self._current.judged

    def _leave(self) -> None:
        if self._current is not None:
            self._current.stack.close()
            self._current = None


def _unheard(*_: object) -> None:
    """Drop what is reported: judges work beside the run's own thread, which alone may tell of what goes on."""


def _dropped(item: Item, reason: str) -> Item:
    return replace(item, admitted=False, reason=reason)

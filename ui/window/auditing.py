"""The metric audit in the window: reads its figures, and has samples scored in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from rtc_inspector.core.errors import UserError
from rtc_inspector.ui.background.gateway import Errand, Gateway
from rtc_inspector.ui.reading.inspection import COMPARISON, Inspection, LookedAt, Overview
from rtc_inspector.ui.shell.notices import say_in_place
from rtc_inspector.ui.window.browsing import Browsing
from rtc_inspector.ui.window.reporting import NO_RUN, Reporting
from rtc_inspector.ui.window.window_parts import WindowParts

if TYPE_CHECKING:
    from rtc_inspector.core.figures import Figure, Link
    from rtc_inspector.core.store.reader import Reader
    from rtc_inspector.core.types import Report
    from rtc_inspector.ui.compare.audit import AuditPage

TICK = 200
"""Milliseconds between two looks at the progress."""
LOOKS = 10
"""Ticks between two readings of the figures while samples are being scored."""


def scoring(database: Path, run_ids: Sequence[int]) -> Errand:
    """Score the samples of runs; this is a writer of its own, like a run."""

    def score(report: Report) -> None:
        from rtc_inspector.core.run.results import open_store
        from rtc_inspector.core.run.scoring import score_runs

        with open_store(database) as store:
            score_runs(store, run_ids, report)

    return Errand("scoring", score)


class Auditing(QObject):
    """`choose_asked`: the user wants to pick runs."""

    choose_asked = Signal()

    def __init__(
        self, parts: WindowParts, inspection: Inspection, browsing: Browsing, gateway: Gateway, reporting: Reporting
    ) -> None:
        super().__init__(parts)
        self._parts, self._inspection, self._browsing = parts, inspection, browsing
        self._gateway, self._reporting = gateway, reporting
        self.runs: tuple[int, ...] = ()
        self._chosen: dict[str, str] = {}
        self._page: AuditPage | None = None
        self._scoring: Errand | None = None
        self._ticks = 0
        self._tick = QTimer(self, interval=TICK)
        self._tick.timeout.connect(self._look)
        inspection.moved.connect(self._move)
        inspection.overview_changed.connect(self._follow)

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {"audit": self.audit_shown}

    @property
    def page(self) -> AuditPage:
        """Return the page, made when it is first needed: its charts take a moment to load."""
        if self._page is None:
            from rtc_inspector.ui.compare.audit import AuditPage

            page = self._page = AuditPage()
            page.setParent(self._parts)
            page.hide()
            page.closed.connect(self.close)
            page.choose_asked.connect(self.choose_asked)
            page.score_asked.connect(self.score)
            page.stop_asked.connect(self.stop)
            page.left_for.connect(self._leave)
            page.chosen.connect(self._choose)
            page.report_asked.connect(lambda: self._reporting.ask_audit(self.runs, self._chosen))
            page.export_failed.connect(self._parts.notices.warn)
        return self._page

    def audit_shown(self) -> None:
        """Audit the run on show by itself; other runs are chosen on the page."""
        run = self._inspection.run
        if run is None:
            self._parts.notices.report(UserError(*NO_RUN))
        else:
            self.audit([run.id])

    def audit(self, run_ids: Sequence[int]) -> None:
        if tuple(run_ids) != self.runs:
            self.page.say("Auditing", "The runs are being read.")
        self.runs = tuple(run_ids)
        self._parts.show_page(self.page)
        self._ask()

    def close(self) -> None:
        """Go back to what was there before; scoring goes on."""
        if self._parts.shows(self._page):
            self._parts.leave_page()

    def score(self) -> None:
        database = self._inspection.database
        if database is None or self._scoring is not None:
            return
        self._scoring = scoring(database, self.runs)
        self._gateway.own(self._scoring)
        self._scoring.start()
        self._ticks = 0
        self.page.show_progress((0, 0))
        self._tick.start()

    def stop(self) -> None:
        if self._scoring is not None:
            self._scoring.stop()

    def _look(self) -> None:
        errand = self._scoring
        if errand is None:
            return
        self._ticks += 1
        if errand.is_alive():
            self.page.show_progress(errand.step[1:])
            if self._parts.shows(self._page) and self._ticks % LOOKS == 0:
                self._ask()
            return
        self._tick.stop()
        self._scoring = None
        self.page.show_progress(None)
        if errand.error is not None:
            self._parts.notices.report(errand.error)
        if self._parts.shows(self._page):
            self._ask()

    def _ask(self) -> None:
        question = partial(_audited, self.runs, dict(self._chosen))
        self._inspection.ask("audit", question, self._show, self._fail, lane=COMPARISON, of_run=False)

    def _show(self, made: tuple[list[Figure], int]) -> None:
        self.page.show_figures(*made)

    def _fail(self, error: Exception) -> None:
        if self._parts.shows(self._page):
            say_in_place(error, self.page.say, "These runs were not audited", self._parts.notices.report)

    def _choose(self, name: str, value: str) -> None:
        self._chosen[name] = value
        self._ask()

    def _move(self, before: LookedAt, now: LookedAt) -> None:
        """Leave with the database: a run of that number in another one is audited anew."""
        if before.database != now.database:
            self.close()
            self.runs = ()

    def _follow(self, overview: Overview) -> None:
        if not {run.id for run in overview.runs}.issuperset(self.runs):
            if self._parts.shows(self._page):
                self.close()
            self.runs = ()

    def _leave(self, link: Link) -> None:
        self.close()
        if link.run is None or link.item is None:
            return
        self._browsing.go_to(link.run, link.item, link.sample)


def _audited(run_ids: Sequence[int], chosen: dict[str, str], reader: Reader) -> tuple[list[Figure], int]:
    """Return the figures, and how many samples have no scores yet."""
    from rtc_inspector.core.analyses.analyse import analyse
    from rtc_inspector.core.analyses.audit import unscored  # in the background: the window opens sooner

    return analyse(reader, run_ids, "audit", chosen), unscored(reader, run_ids)

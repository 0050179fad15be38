"""Comparing runs: makes the page when it is first asked for, reads what it shows, keeps it up to date."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from rtc_inspector.core.store.rows import RunRow
from rtc_inspector.ui.background.turns import Work
from rtc_inspector.ui.figures.feed import FigureFeed
from rtc_inspector.ui.reading.inspection import COMPARISON, Inspection, LookedAt, Overview, Rereading, Trace, read_trace
from rtc_inspector.ui.shell.notices import say_in_place
from rtc_inspector.ui.window.browsing import Browsing
from rtc_inspector.ui.window.reporting import Reporting
from rtc_inspector.ui.window.window_parts import WindowParts

if TYPE_CHECKING:
    from rtc_inspector.core.comparison.comparison import Comparison, Pair
    from rtc_inspector.core.figures import Link
    from rtc_inspector.core.store.reader import Reader
    from rtc_inspector.ui.compare.page import ComparePage
    from rtc_inspector.ui.compare.summary import Summary
    from rtc_inspector.ui.figures.view import FigureView

Known = dict[int, tuple[int, str, str]]
"""What tells by a run's id whether it must be read again: its count of changes, status and name."""


class Comparing(QObject):
    """`choose_asked`: the user wants to pick runs."""

    choose_asked = Signal()

    def __init__(self, parts: WindowParts, inspection: Inspection, browsing: Browsing, reporting: Reporting) -> None:
        super().__init__(parts)
        self._parts, self._inspection, self._browsing, self._reporting = parts, inspection, browsing, reporting
        self.runs: tuple[int, ...] = ()  # the reference first
        self._read: Known = {}
        self._reading = Rereading(inspection, self, "comparison", COMPARISON, times=3)
        self._reading.rested.connect(self._look_again)
        self._feed = FigureFeed(inspection, self, "compared figures")
        self._page: ComparePage | None = None
        self._scatter: FigureView | None = None
        self._summary: Summary | None = None
        inspection.moved.connect(self._move)
        inspection.overview_changed.connect(self._follow)

    @property
    def page(self) -> ComparePage:
        """Return the page, made when it is first needed: its charts take a moment to load."""
        if self._page is None:
            self._page = self._make_page()
        return self._page

    def _make_page(self) -> ComparePage:
        from rtc_inspector.ui.compare.page import ComparePage

        page = ComparePage(self._summary)
        page.setParent(self._parts)
        page.hide()
        page.closed.connect(self.close)
        page.choose_asked.connect(self.choose_asked)
        page.reference_asked.connect(self._set_reference)
        page.pair_wanted.connect(self._read_traces)
        page.left_for.connect(self._leave)
        page.figures_asked.connect(lambda: self._feed.note(*self.runs))
        page.figure_chosen.connect(self._feed.choose)
        page.link_opened.connect(self._follow_link)
        self._feed.read.connect(lambda figures: page.figures.set_figures(figures))
        self._feed.failed.connect(self._parts.notices.report)
        page.report_asked.connect(lambda: self._reporting.ask_comparison(self.runs))
        page.export_failed.connect(self._parts.notices.warn)
        return page

    def pieces(self) -> tuple[Work, ...]:
        """Return the page in small steps, to be made while nobody waits for it."""

        def make_side() -> None:
            self.page.make_side()

        return (
            self._make_scatter, self._make_summary, lambda: self.page, make_side, make_side, lambda: self.page.traces
        )  # fmt: skip

    def _make_scatter(self) -> None:
        """Make the scatter of the page's summary before either of these is made."""
        from rtc_inspector.ui.figures.view import FigureView

        # Who asked for a comparison was faster.
        if self._page is None:
            self._scatter = FigureView()

    def _make_summary(self) -> None:
        """Make the greater part of the page, ahead of it."""
        from rtc_inspector.ui.compare.summary import Summary

        if self._page is None:
            self._summary = Summary(self._scatter)

    def compare(self, run_ids: Sequence[int]) -> None:
        self.runs = tuple(run_ids)
        self.page.begin()
        self._parts.show_page(self.page)
        self._ask()

    def close(self) -> None:
        if self._parts.shows(self._page):
            self._parts.leave_page()

    def _ask(self) -> None:
        # Noted before the reading: what is stored during it makes another one necessary.
        self._read = self._known(self._inspection.overview)
        self._reading.ask(partial(_compared, self.runs), self.page.show_comparisons, self._fail)
        if self.page.in_figures:
            self._feed.note(*self.runs)

    def _fail(self, error: Exception) -> None:
        say_in_place(error, self.page.say, "These runs were not compared", self._parts.notices.report)

    def _look_again(self) -> None:
        overview = self._inspection.overview
        if overview is not None:
            self._follow(overview)

    def _move(self, before: LookedAt, now: LookedAt) -> None:
        """Leave with the database: ids of runs mean others in another file."""
        if before.database != now.database:
            self.runs = ()
            self.close()

    def _follow(self, overview: Overview) -> None:
        """Read again when something was stored for a compared run that is on show.

        One reading at a time: while a run goes on, a large comparison would never come to its end otherwise.
        """
        if self._parts.shows(self._page) and not self._reading.busy and self._known(overview) != self._read:
            self._ask()

    def _known(self, overview: Overview | None) -> Known:
        runs = overview.runs if overview else ()
        return {run.id: (run.changes, run.status, run.name) for run in runs if run.id in self.runs}

    def _set_reference(self, run_id: int) -> None:
        self.runs = (run_id, *(each for each in self.runs if each != run_id))
        self._ask()

    def _read_traces(self, pair: Pair) -> None:
        for place, item in enumerate((pair.first, pair.second)):
            show = partial(self._show_trace, place)
            self._inspection.ask(
                f"compared trace {place}", partial(read_trace, item.id), show, lane=COMPARISON, of_run=False
            )

    def _show_trace(self, place: int, trace: Trace) -> None:
        self.page.traces.sides[place].show_samples(trace.item, trace.samples)

    def _leave(self, run_id: int, item_id: int) -> None:
        self.close()
        self._browsing.go_to(run_id, item_id)

    def _follow_link(self, link: Link) -> None:
        self.close()
        self._browsing.follow_link(link)


def proposed(runs: Sequence[RunRow], current: RunRow | None, compared: Sequence[int]) -> tuple[int, ...]:
    """Return the runs to offer: those compared just now, else the one on show and the newest that can stand beside it.

    Where none can, the newest two that can stand beside each other.
    """
    if len(compared) > 1 and {run.id for run in runs}.issuperset(compared):
        return tuple(compared)
    for run in [current, *reversed(runs)]:
        if run is not None:
            alike = [each.id for each in runs if (each.task, each.project_root) == (run.task, run.project_root)]
            others = [run_id for run_id in alike if run_id != run.id]
            if others:
                return run.id, max(others)
    return ()


def _compared(run_ids: Sequence[int], reader: Reader) -> list[Comparison]:
    from rtc_inspector.core.comparison.compare import compare_runs  # in the background: the window opens sooner

    return compare_runs(reader, run_ids)

"""Pages in place of the views: runs compared, metrics audited, large figures; and the reports written from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import noun, task
from rtc_inspector.core.store.rows import NOTHING, RunRow
from rtc_inspector.core.types import Estimate
from rtc_inspector.ui.background.gateway import Errand, Gateway, Work
from rtc_inspector.ui.figures.feed import FigureFeed
from rtc_inspector.ui.reading.inspection import COMPARISON, Inspection, LookedAt, Overview, Rereading, Trace, read_trace
from rtc_inspector.ui.shell.bars import NoticeBar, Offer, OfferBar, say_in_place
from rtc_inspector.ui.shell.fields import ask_where
from rtc_inspector.ui.style.controls import bind, column, label, on_ground, row
from rtc_inspector.ui.style.region_state import number
from rtc_inspector.ui.style.theme import SPACE
from rtc_inspector.ui.window.browsing import Browsing
from rtc_inspector.ui.window.window_parts import WindowParts

if TYPE_CHECKING:
    from rtc_inspector.core.comparison.comparison import Comparison, Pair
    from rtc_inspector.core.figures import Figure, Link
    from rtc_inspector.core.store.reader import Reader
    from rtc_inspector.core.types import Report
    from rtc_inspector.ui.compare.audit import AuditPage
    from rtc_inspector.ui.compare.page import ComparePage
    from rtc_inspector.ui.compare.summary import Summary
    from rtc_inspector.ui.figures.view import FigureView

    Write = Callable[[Reader], Path]

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
        def make_side() -> None:
            self.page.make_side()

        return (
            self._make_scatter, self._make_summary, lambda: self.page, make_side, make_side, lambda: self.page.traces
        )  # fmt: skip

    def _make_scatter(self) -> None:
        from rtc_inspector.ui.figures.view import FigureView

        # Who asked for a comparison was faster.
        if self._page is None:
            self._scatter = FigureView()

    def _make_summary(self) -> None:
        from rtc_inspector.ui.compare.summary import Summary

        if self._page is None:
            self._summary = Summary(self._scatter)

    def compare(self, run_ids: Sequence[int]) -> None:
        self.runs = tuple(run_ids)
        self.page.begin()
        self._parts.show_page(self.page)
        self._ask()

    def close(self) -> None:
        if self._page is not None:
            self._parts.leave_page(self._page)

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


TICK = 200  # milliseconds between two looks at the progress
LOOKS = 10  # ticks between two readings of the figures while samples are being scored


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
        if self._page is not None:
            self._parts.leave_page(self._page)

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
        self._inspection.ask(
            "audit", question, lambda made: self.page.show_figures(*made), self._fail, lane=COMPARISON, of_run=False
        )

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
            self.close()
            self.runs = ()

    def _leave(self, link: Link) -> None:
        self.close()
        if link.run is None or link.item is None:
            return
        self._browsing.go_to(link.run, link.item, link.sample)


def _audited(run_ids: Sequence[int], chosen: dict[str, str], reader: Reader) -> tuple[list[Figure], int]:
    from rtc_inspector.core.analyses.analyse import analyse
    from rtc_inspector.core.analyses.audit import unscored  # in the background: the window opens sooner

    return analyse(reader, run_ids, "audit", chosen), unscored(reader, run_ids)


LARGE, SMALL = 0.2, 0.034  # height of a figure and of the words below it, as shares of the page's height


def _interval(value: Estimate, sign: bool) -> str:
    if value.low is None or value.high is None:
        return ""
    return f"{number(value.low, sign)} to {number(value.high, sign)}, n {value.n}"


class BigFigures(QWidget):
    """A page of at most two figures, the headline and its difference, over one inspection."""

    def __init__(self, parts: WindowParts, inspection: Inspection) -> None:
        super().__init__()
        self._parts, self._inspection = parts, inspection
        on_ground(self, "surface")
        self.setAccessibleName("Big figures")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.about = label(wrap=True)
        self.figures = [(label(), label(), label(role="muted")) for _ in range(2)]
        places = [column(None, *cells, None, spacing=SPACE) for cells in self.figures]
        for each in self._labels():
            each.setAlignment(Qt.AlignmentFlag.AlignCenter)
            each.setMinimumWidth(1)
        column(self.about, row(*places), margins=(SPACE * 4,) * 4, owner=self).setStretch(1, 1)
        bind(self, "Escape", self.turn, "Leave the big figures")
        inspection.overview_changed.connect(lambda overview: self.show_run(overview.run))
        inspection.moved.connect(lambda before, now: self.show_run(inspection.run))
        self.show_run(inspection.run)

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {"big-figures": self.turn}

    def turn(self) -> None:
        if self.isVisible():
            self._parts.leave_page(self)
        else:
            self._parts.show_page(self)

    def show_run(self, run: RunRow | None) -> None:
        for cells in self.figures:
            for cell in cells:
                cell.hide()
        if run is None:
            self.about.setText("No run yet: its figures stand here as they come.")
            return
        kind = task(run.task)
        done = f"{run.items_complete} of {run.items_expected} {noun(run.task)}s"
        self.about.setText(f"{run.project_name} · {run.models} · {done}")
        shown = [each for each in (kind.measure(kind.headline), kind.difference) if each is not None]
        for (title, value, interval), each in zip(self.figures, shown, strict=False):
            score, sign = run.scores.get(each.name, NOTHING), each.lowest < 0
            title.setText(each.title)
            value.setText("–" if score.value is None else number(score.value, sign))
            interval.setText(_interval(score, sign))
            for cell in (title, value, interval):
                cell.show()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        for each in self._labels():
            large = any(each is value for _, value, _ in self.figures)
            room = min(self.height(), self.width() * 0.6)
            each.setStyleSheet(f"font-size: {max(int(room * (LARGE if large else SMALL)), 12)}px;")

    def _labels(self) -> list[QLabel]:
        return [self.about, *(cell for cells in self.figures for cell in cells)]


WRITTEN = "report"
NO_RUN = ("No run is shown.", "Open one from the list of runs, then try again.")


class Reporting(QObject):
    """Asks for a file name, writes there, and says so."""

    def __init__(self, window: QWidget, inspection: Inspection, notices: NoticeBar, offers: OfferBar) -> None:
        super().__init__(window)
        self._window, self._inspection, self._notices, self._offers = window, inspection, notices, offers

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {"report": self.ask_report}

    def ask_report(self) -> None:
        run = self._inspection.run
        if run is None:
            self._notices.report(UserError(*NO_RUN))
        else:
            self._ask("Write a report", f"run-{run.id}.html", partial(_report, run.id))

    def ask_comparison(self, run_ids: Sequence[int]) -> None:
        name = f"runs-{'-'.join(map(str, run_ids))}.html"
        self._ask("Write a page on the comparison", name, partial(_comparison, tuple(run_ids)))

    def ask_audit(self, run_ids: Sequence[int], chosen: Mapping[str, str]) -> None:
        name = f"audit-{'-'.join(map(str, run_ids))}.html"
        self._ask("Write a page on the audit", name, partial(_audit, tuple(run_ids), dict(chosen)))

    def _ask(self, title: str, name: str, write: Callable[[Path, Reader], Path]) -> None:
        path = ask_where(self._window, title, name, "Web pages (*.html)", "html")
        # Read and drawn in the background: a page of 40 regions takes seconds.
        if path is not None:
            self.write(partial(write, path))

    def write(self, write: Write) -> None:
        """Write it off the main thread; then it is offered to be opened, or a notice says why it was not written."""
        self._inspection.ask("report", write, self._say, lane=COMPARISON, of_run=False)

    def _say(self, path: Path) -> None:
        text = f"The report is written: {path}. Any browser opens it; it needs no network."
        choices = (("Open", partial(_open, path)), ("Show folder", partial(_open, path.parent)), ("Close", None))
        self._offers.offer(Offer(WRITTEN, text, choices))


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.absolute())))


def _report(run_id: int, path: Path, reader: Reader) -> Path:
    # It brings a template engine along, which no window needs to open.
    from rtc_inspector.ui.report.page import write_report

    write_report(reader, run_id, path)
    return path


def _audit(run_ids: Sequence[int], chosen: Mapping[str, str], path: Path, reader: Reader) -> Path:
    from rtc_inspector.core.analyses.analyse import analyse  # as above
    from rtc_inspector.ui.report.page import write_figures

    write_figures(reader, run_ids, analyse(reader, run_ids, "audit", chosen), path)
    return path


def _comparison(run_ids: Sequence[int], path: Path, reader: Reader) -> Path:
    from rtc_inspector.core.comparison.compare import compare_runs  # as above
    from rtc_inspector.ui.report.page import write_comparison

    write_comparison(reader, compare_runs(reader, run_ids), path)
    return path

"""Pages in place of the views: runs compared, metrics audited, large figures; and the reports written from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import noun, task
from rtc_inspector.core.store.rows import NOTHING, RunRow
from rtc_inspector.ui.background.gateway import Errand, Gateway, Work
from rtc_inspector.ui.figures.feed import FigureFeed
from rtc_inspector.ui.reading.inspection import COMPARISON, Inspection, LookedAt, Overview, Rereading, read_trace
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

Known = dict[int, tuple[int, str, str]]
"""What tells by a run's id whether it must be read again: its count of changes, status and name."""


class RunsPage(QObject):
    """A page over some runs, made when it is first needed: its charts take a moment to load."""

    choose_asked = Signal()  # the user wants to pick runs

    def __init__(self, parts: WindowParts, inspection: Inspection, browsing: Browsing, reporting: Reporting) -> None:
        super().__init__(parts)
        self._parts, self._inspection, self._browsing, self._reporting = parts, inspection, browsing, reporting
        self.runs: tuple[int, ...] = ()  # of a comparison the reference first
        inspection.moved.connect(self._move)
        inspection.run_chosen.connect(lambda _: self.close())

    def _connect(self, page: ComparePage | AuditPage) -> None:
        page.setParent(self._parts)
        page.hide()
        page.closed.connect(self.close)
        page.choose_button.clicked.connect(lambda: self.choose_asked.emit())

    @property
    def on_show(self) -> bool:
        # A cached property stands in __dict__ once it was made; to ask for it would make it.
        return self._parts.shows(self.__dict__.get("page"))

    def close(self) -> None:
        page = self.__dict__.get("page")
        if page is not None:
            self._parts.leave_page(page)

    def _move(self, before: LookedAt, now: LookedAt) -> None:
        """Leave with the database: ids of runs mean others in another file."""
        if before.database != now.database:
            self.runs = ()
            self.close()


class Comparing(RunsPage):
    """Compares runs on a page."""

    def __init__(self, parts: WindowParts, inspection: Inspection, browsing: Browsing, reporting: Reporting) -> None:
        super().__init__(parts, inspection, browsing, reporting)
        self._read: Known = {}
        self._reading = Rereading(inspection, self, "comparison", COMPARISON, times=3)
        self._reading.rested.connect(self._follow)
        self._feed = FigureFeed(
            inspection, self, lambda figures: self.page.figures.set_figures(figures), "compared figures"
        )
        inspection.overview_changed.connect(lambda _: self._follow())

    @cached_property
    def _summary(self) -> Summary:
        from rtc_inspector.ui.compare.summary import Summary

        return Summary()

    @cached_property
    def page(self) -> ComparePage:
        from rtc_inspector.ui.compare.page import ComparePage

        page = ComparePage(self._summary, self._parts.notices.warn)
        self._connect(page)
        page.runs.reference_asked.connect(self._set_reference)
        page.pair_wanted.connect(self._read_traces)
        page.left_for.connect(self._leave)
        page.figures_asked.connect(lambda: self._feed.note(*self.runs))
        page.figure_chosen.connect(self._feed.choose)
        page.link_opened.connect(self._follow_link)
        page.export_button.offer("Page with traces (HTML)…", lambda: self._reporting.ask_comparison(self.runs))
        return page

    def pieces(self) -> tuple[Work, ...]:
        """Return what makes the page and its parts, a piece at a time."""
        whole: tuple[Work, ...] = (lambda: self._summary, lambda: self._summary.scatter.plot, lambda: self.page)
        sides: list[Work] = [lambda: self.page.make_side()] * 2
        return *whole, *sides, lambda: self.page.traces

    def compare(self, run_ids: Sequence[int]) -> None:
        self.runs = tuple(run_ids)
        self.page.begin()
        self._parts.show_page(self.page)
        self._ask()

    def _ask(self) -> None:
        # Noted before the reading: what is stored during it makes another one necessary.
        self._read = self._known()
        self._reading.ask(partial(_compared, self.runs), self.page.show_comparisons, self._fail)
        if self.page.in_figures:
            self._feed.note(*self.runs)

    def _fail(self, error: Exception) -> None:
        say_in_place(error, self.page.say, "These runs were not compared", self._parts.notices.report)

    def _follow(self) -> None:
        """Read again when something was stored for a compared run that is on show.

        One reading at a time: while a run goes on, a large comparison would never come to its end otherwise.
        """
        if self.on_show and not self._reading.busy and self._known() != self._read:
            self._ask()

    def _known(self) -> Known:
        runs = self._inspection.overview.runs if self._inspection.overview else ()
        return {run.id: (run.changes, run.status, run.name) for run in runs if run.id in self.runs}

    def _set_reference(self, run_id: int) -> None:
        self.runs = (run_id, *(each for each in self.runs if each != run_id))
        self._ask()

    def _read_traces(self, pair: Pair) -> None:
        for side, item in zip(self.page.traces.sides, (pair.first, pair.second), strict=True):
            key, read = f"compared trace {side.accessibleName()}", partial(read_trace, item.id)
            self._inspection.ask(key, read, side.show_samples, lane=COMPARISON, of_run=False)

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


class Auditing(RunsPage):
    """Audits the metrics of runs on a page."""

    def __init__(
        self, parts: WindowParts, inspection: Inspection, browsing: Browsing, gateway: Gateway, reporting: Reporting
    ) -> None:
        super().__init__(parts, inspection, browsing, reporting)
        self._gateway = gateway
        self._chosen: dict[str, str] = {}
        self._scoring: Errand | None = None
        self._ticks = 0
        self._tick = QTimer(self, interval=TICK)
        self._tick.timeout.connect(self._look)
        inspection.overview_changed.connect(self._follow)

    @cached_property
    def page(self) -> AuditPage:
        from rtc_inspector.ui.compare.audit import AuditPage

        page = AuditPage(self._parts.notices.warn)
        self._connect(page)
        page.score_button.clicked.connect(self.score)
        page.stop_button.clicked.connect(self.stop)
        page.report_button.clicked.connect(lambda: self._reporting.ask_audit(self.runs, dict(self._chosen)))
        for view in (page.drawings, page.tables):
            view.opened.connect(self._leave)
            view.chosen.connect(self._choose)
        return page

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
            if self.on_show and self._ticks % LOOKS == 0:
                self._ask()
            return
        self._tick.stop()
        self._scoring = None
        self.page.show_progress(None)
        if errand.error is not None:
            self._parts.notices.report(errand.error)
        if self.on_show:
            self._ask()

    def _ask(self) -> None:
        question = partial(_audited, self.runs, dict(self._chosen))
        self._inspection.ask(
            "audit", question, lambda made: self.page.show_figures(*made), self._fail, lane=COMPARISON, of_run=False
        )

    def _fail(self, error: Exception) -> None:
        if self.on_show:
            say_in_place(error, self.page.say, "These runs were not audited", self._parts.notices.report)

    def _choose(self, name: str, value: str) -> None:
        self._chosen[name] = value
        self._ask()

    def _follow(self, overview: Overview) -> None:
        if not {run.id for run in overview.runs}.issuperset(self.runs):
            self.close()
            self.runs = ()

    def _leave(self, link: Link) -> None:
        self.close()
        if link.run is not None and link.item is not None:
            self._browsing.go_to(link.run, link.item, link.sample)


def _audited(run_ids: Sequence[int], chosen: Mapping[str, str], reader: Reader) -> tuple[list[Figure], int]:
    from rtc_inspector.core.analyses.analyse import analyse
    from rtc_inspector.core.analyses.audit import unscored  # in the background: the window opens sooner

    return analyse(reader, run_ids, "audit", chosen), unscored(reader, run_ids)


LARGE, SMALL = 0.2, 0.034  # height of a figure and of the words below it, as shares of the page's height


class BigFigures(QWidget):
    """A page of at most two figures, the headline and its difference, over one inspection."""

    def __init__(self, parts: WindowParts, inspection: Inspection) -> None:
        super().__init__(accessibleName="Big figures", focusPolicy=Qt.FocusPolicy.StrongFocus)
        self._parts = parts
        on_ground(self, "surface")
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
            known = score.low is not None and score.high is not None
            interval.setText(f"{number(score.low, sign)} to {number(score.high, sign)}, n {score.n}" if known else "")
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

    def ask_report(self) -> None:
        run = self._inspection.run
        if run is None:
            self._notices.report(UserError(*NO_RUN))
            return

        def write(path: Path, reader: Reader) -> None:
            # It brings a template engine along, which no window needs to open.
            from rtc_inspector.ui.report.page import write_report

            write_report(reader, run.id, path)

        self._ask("Write a report", f"run-{run.id}.html", write)

    def ask_comparison(self, run_ids: Sequence[int]) -> None:
        def write(path: Path, reader: Reader) -> None:
            from rtc_inspector.ui.report.page import write_comparison  # as above

            write_comparison(reader, _compared(run_ids, reader), path)

        self._ask("Write a page on the comparison", f"runs-{'-'.join(map(str, run_ids))}.html", write)

    def ask_audit(self, run_ids: Sequence[int], chosen: Mapping[str, str]) -> None:
        def write(path: Path, reader: Reader) -> None:
            from rtc_inspector.ui.report.page import write_figures  # as above

            write_figures(reader, run_ids, _audited(run_ids, chosen, reader)[0], path)

        self._ask("Write a page on the audit", f"audit-{'-'.join(map(str, run_ids))}.html", write)

    def _ask(self, title: str, name: str, write: Callable[[Path, Reader], None]) -> None:
        path = ask_where(self._window, title, name, "Web pages (*.html)", "html")
        if path is not None:
            self.write(partial(write, path), path)

    def write(self, write: Callable[[Reader], None], path: Path) -> None:
        """Write it off the main thread; then it is offered to be opened, or a notice says why it was not written."""
        # Read and drawn in the background: a page of 40 regions takes seconds.
        self._inspection.ask("report", write, lambda _: self._say(path), lane=COMPARISON, of_run=False)

    def _say(self, path: Path) -> None:
        text = f"The report is written: {path}. Any browser opens it; it needs no network."
        choices = (("Open", partial(_open, path)), ("Show folder", partial(_open, path.parent)), ("Close", None))
        self._offers.offer(Offer(WRITTEN, text, choices))


def _open(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.absolute())))

"""Pages about runs, written in the background: which file, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.errors import UserError
from rtc_inspector.ui.reading.inspection import COMPARISON, Inspection
from rtc_inspector.ui.shell.fields import ask_where
from rtc_inspector.ui.shell.notices import NoticeBar, Offer, OfferBar

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader

    Write = Callable[[Reader], Path]


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

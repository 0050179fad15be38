"""The page of the metric audit: its head with the scoring's progress, drawings, and beside them tables and findings."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QProgressBar, QWidget

from rtc_inspector.core.figures import Figure, Sentence, Table
from rtc_inspector.ui.figures.view import FiguresView
from rtc_inspector.ui.panels.pieces import EmptyState
from rtc_inspector.ui.style.controls import BAR, bind, button, called, column, label, row, split, stacked

SUMMARY = "summary"  # the figure that stands above the others, in words


class AuditPage(QWidget):
    """Shows the audit of some runs."""

    closed = Signal()

    def __init__(self, warn: Callable[[str], object]) -> None:
        """`warn` is told why a file was not written."""
        super().__init__(accessibleName="Metric audit")
        self.finding = called(label(wrap=True, selectable=True), "Finding")
        self.drawings, self.tables = FiguresView(warn), FiguresView(warn)
        self._empty = EmptyState("Auditing", "The runs are being read.")
        self._body = split(Qt.Orientation.Horizontal, self.drawings, self.tables)
        self._stack = stacked(self._empty, self._body)
        self.progress = called(QProgressBar(), "Scoring")
        self.progress.setMaximumWidth(220)
        tip = "Compute the metrics of samples that have none yet; they are kept"
        self.score_button = button("Score", tip, flat=False)
        self.stop_button = button("Stop", "Keep what is scored, and go on later", flat=False)
        self.report_button = button("Write page…", "All figures as one HTML file", flat=False)
        self.choose_button = button("Choose runs…", "Audit other runs", flat=False)
        self.close_button = button("Close", "Back to the code (Escape)", self.closed.emit, flat=False)
        buttons = (self.score_button, self.stop_button, self.report_button, self.choose_button, self.close_button)
        head = row(label("Metric audit", "title"), None, self.progress, *buttons, margins=BAR)
        column(head, row(self.finding, margins=BAR), self._stack, owner=self)
        bind(self, "Escape", self.closed.emit, "Back to the code")
        self.show_progress(None)
        self.score_button.hide()

    def say(self, title: str, text: str) -> None:
        self._empty.say(title, text)
        self.finding.clear()
        self.score_button.hide()
        self._stack.setCurrentWidget(self._empty)

    def show_progress(self, progress: tuple[int, int] | None) -> None:
        self.progress.setVisible(progress is not None)
        self.stop_button.setVisible(progress is not None)
        self.score_button.setEnabled(progress is None)
        if progress is not None:
            done, total = progress
            self.progress.setRange(0, total)
            self.progress.setValue(done)

    def show_figures(self, figures: Sequence[Figure], unscored: int) -> None:
        self.score_button.setVisible(unscored > 0)
        self.score_button.setText(f"Score {unscored:,} samples" if unscored != 1 else "Score 1 sample")
        first = next((figure for figure in figures if figure.name == SUMMARY), None)
        self.finding.setText(first.text if isinstance(first, Sentence) else "")
        rest = [figure for figure in figures if figure.name != SUMMARY]
        if not rest:
            self._empty.say("Nothing to show yet", "Score the samples: that takes some milliseconds for each.")
            self._stack.setCurrentWidget(self._empty)
            return
        for view, in_words in ((self.drawings, False), (self.tables, True)):
            view.set_figures([each for each in rest if isinstance(each, Table | Sentence) == in_words])
        self._stack.setCurrentWidget(self._body)

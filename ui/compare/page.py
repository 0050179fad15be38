"""The page that compares runs: its head, the standings, and below them the summary or two traces."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from rtc_inspector.core.comparison.export import write_pairs_csv
from rtc_inspector.core.comparison.values import Comparison, Pair
from rtc_inspector.ui.compare.standings import Standings
from rtc_inspector.ui.compare.summary import Summary
from rtc_inspector.ui.compare.traces import Traces, TraceSide
from rtc_inspector.ui.figures.exporting import ExportButton
from rtc_inspector.ui.panels.pieces import EmptyState
from rtc_inspector.ui.style.controls import BAR, bind, button, column, label, row

if TYPE_CHECKING:
    from rtc_inspector.ui.figures.view import FiguresView

SIDES = "Trace in the reference", "Trace in the other run"


class ComparePage(QWidget):
    """Shows comparisons with one reference.

    `closed`; `choose_asked`: other runs; `reference_asked(run_id)`; `pair_wanted(pair)`: read its samples;
    `left_for(run_id, item_id)`: show that item in the main view; `export_failed(problem)`; `report_asked`: a page
    to pass on. `figures_asked`: figures of all the runs,
    `figure_chosen(name, value)` with another choice, `link_opened(link)`: what is behind one of their marks.
    """

    closed = Signal()
    choose_asked = Signal()
    reference_asked = Signal(int)
    pair_wanted = Signal(object)
    left_for = Signal(int, int)
    export_failed = Signal(str)
    report_asked = Signal()
    figures_asked = Signal()
    figure_chosen = Signal(str, str)
    link_opened = Signal(object)

    def __init__(self, summary: Summary | None = None) -> None:
        """Empty until `show_comparisons`; the summary may have been made before."""
        super().__init__()
        self.setAccessibleName("Comparison of runs")
        self.comparisons: Sequence[Comparison] = ()
        self._place = 0
        self._traces: Traces | None = None
        self._figures: FiguresView | None = None
        self._sides: list[TraceSide] = []
        self.standings, self.summary = Standings(), summary or Summary()
        self._empty = EmptyState("Comparing", "The runs are being read.")
        self._stack = QStackedWidget()
        for part in (self._empty, self.summary):
            self._stack.addWidget(part)
        self._lay_out()
        self.standings.chosen.connect(self._choose)
        self.standings.reference_asked.connect(self.reference_asked)
        self.summary.opened.connect(self.open_pairs)

    def _lay_out(self) -> None:
        self.close_button = button("Close", "Back to the code (Escape)", self.closed.emit, flat=False)
        self.choose_button = button("Choose runs…", "Compare other runs", self.choose_asked.emit, flat=False)
        tip = "Hold all runs against the chosen one (R)"
        self.reference_button = button("Make reference", tip, self.standings.ask_reference, flat=False)
        self.export_button = ExportButton("comparison", lambda: self.summary.scatter, self.csv)
        self.export_button.failed.connect(self.export_failed)
        self.export_button.offer("Page with traces (HTML)…", self.report_asked.emit)
        tip = "What the analyses make of all these runs together"
        self.figures_button = button("Figures", tip, self.show_figures, flat=False)
        buttons = self.figures_button, self.export_button, self.reference_button
        head = row(label("Comparison", "title"), None, *buttons, self.choose_button, self.close_button, margins=BAR)
        column(head, self.standings, self._stack, owner=self)
        bind(self, "Escape", self.go_back, "Back to the summary, or to the code")

    @property
    def traces(self) -> Traces:
        """Return the traces, made when they are first looked at, so that the page is there sooner."""
        if self._traces is None:
            # They may have been made ahead, while nobody waited.
            while len(self._sides) < len(SIDES):
                self.make_side()
            self._traces = Traces(self._sides)
            self._stack.addWidget(self._traces)
            self._traces.back_asked.connect(self.show_summary)
            self._traces.wanted.connect(self.pair_wanted)
            self._traces.left_for.connect(self.left_for)
        return self._traces

    @property
    def figures(self) -> FiguresView:
        """Return the figures of all the runs together; they are made when they are first looked at."""
        if self._figures is None:
            from rtc_inspector.ui.figures.view import FiguresView

            self._figures = FiguresView()
            self._stack.addWidget(self._figures)
            self._figures.opened.connect(self.link_opened)
            self._figures.chosen.connect(self.figure_chosen)
            self._figures.export_failed.connect(self.export_failed)
        return self._figures

    def show_figures(self) -> None:
        """Show the figures of all the runs, and ask for them."""
        self.standings.hide()
        self._stack.setCurrentWidget(self.figures)
        self.figures_asked.emit()

    @property
    def in_figures(self) -> bool:
        """Return whether they are on show."""
        return self._figures is not None and self._stack.currentWidget() is self._figures

    def make_side(self) -> None:
        """Make one of the two sides of the traces, unless they are made."""
        if len(self._sides) < len(SIDES):
            self._sides.append(TraceSide(SIDES[len(self._sides)]))

    @property
    def comparison(self) -> Comparison | None:
        """Return the pair of runs that is looked at."""
        return self.comparisons[self._place] if self._place < len(self.comparisons) else None

    def begin(self) -> None:
        """Clear the page for other runs: whatever was on show was of those before."""
        self._stack.setCurrentWidget(self._empty)
        self.say("Comparing", "The runs are being read.")

    def say(self, heading: str, advice: str) -> None:
        """Say that there is no comparison, and why; figures stay: their runs need not have anything in common."""
        self.comparisons = ()
        self.summary.list.forget()
        self._empty.say(heading, advice)
        self.standings.hide()
        self._enable(False)
        if not self.in_figures:
            self._stack.setCurrentWidget(self._empty)

    def show_comparisons(self, comparisons: Sequence[Comparison]) -> None:
        """Show these; the run that was looked at stays so if it is among them."""
        looked_at = self.comparison.second.id if self.comparison else None
        self.comparisons = comparisons
        places = (place for place, each in enumerate(comparisons) if each.second.id == looked_at)
        self._place = next(places, 0)
        self.standings.setVisible(not self.in_figures)
        self._enable(True)
        self.standings.show_comparisons(comparisons, self._place)
        self.summary.show_comparison(comparisons[self._place])
        if self._stack.currentWidget() is self._empty:
            self.show_summary()

    def open_pairs(self, pairs: Sequence[Pair], at: int) -> None:
        """Show both traces of one of these items."""
        if self.comparison is not None:
            self._stack.setCurrentWidget(self.traces)
            self.standings.hide()
            self.traces.show_pairs(self.comparison, pairs, at)
            self.traces.take_focus()

    def show_summary(self) -> None:
        """Leave the traces; the item that was shown is the chosen one."""
        self.standings.show()
        pair = self._traces.pair if self._traces is not None and self._in_traces else None
        self._stack.setCurrentWidget(self.summary)
        self.summary.list.choose(pair)
        self.summary.list.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def go_back(self) -> None:
        """Go back from traces or figures to the summary, from there to the code."""
        if self._in_traces or (self.in_figures and self.comparisons):
            self.show_summary()
        else:
            self.closed.emit()

    def csv(self) -> str:
        """Return every common item of all comparisons as a table."""
        # csv writes its own line ends; the default would turn them into others.
        stream = io.StringIO(newline="")
        write_pairs_csv(self.comparisons, stream)
        return stream.getvalue()

    @property
    def _in_traces(self) -> bool:
        return self._traces is not None and self._stack.currentWidget() is self._traces

    def _enable(self, shown: bool) -> None:
        """Enable the buttons that need a comparison, or disable them."""
        for each in (self.reference_button, self.export_button):
            each.setEnabled(shown)

    def _choose(self, place: int) -> None:
        # Rows become current by themselves when the standings are filled.
        if place != self._place and place < len(self.comparisons):
            self._place = place
            self.summary.show_comparison(self.comparisons[place])

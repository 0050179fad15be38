"""The page that compares runs: its head, the runs in a table, and below them the summary or two traces."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.comparison.comparison import (
    Comparison,
    Difference,
    Pair,
    bounded,
    capital,
    further,
    p_words,
    run_words,
    write_pairs_csv,
)
from rtc_inspector.core.kinds import noun
from rtc_inspector.core.store.rows import ItemRow, RunRow, SampleRow
from rtc_inspector.ui.compare import REFERENCE, STEPS
from rtc_inspector.ui.compare.summary import Summary
from rtc_inspector.ui.figures.feed import ExportButton
from rtc_inspector.ui.panels.pieces import EmptyState
from rtc_inspector.ui.panels.roundtrip import RoundTripPanel
from rtc_inspector.ui.panels.sample_tabs import DiffPanel
from rtc_inspector.ui.presenters import describes, rebuilt
from rtc_inspector.ui.reading.inspection import Trace
from rtc_inspector.ui.style.controls import BAR, ElidedLabel, bind, button, column, label, row, split, stacked
from rtc_inspector.ui.style.tables import Cell, CellModel, Head, table, widths
from rtc_inspector.ui.style.theme import SPACE

if TYPE_CHECKING:
    from rtc_inspector.ui.figures.view import FiguresView


class TraceSide(QWidget):
    """One item's trace in one run; `leave(run_id, item_id)` shows it in the main view."""

    def __init__(self, name: str, leave: Callable[[int, int], None]) -> None:
        super().__init__(accessibleName=name)
        self.setProperty("role", "surface")
        self._item: ItemRow | None = None
        self._samples: dict[int, SampleRow] = {}
        self._passing: bool | None = None
        self._leave_for = leave
        self._below = QTimer(self, singleShot=True, interval=0)
        self.title = ElidedLabel("title")
        tip = "Leave the comparison and show this in the main view"
        self.show_there = button("Show in the code", tip, self._leave)
        self.roundtrip, self.diff = RoundTripPanel(), DiffPanel(unified=True)
        self.roundtrip.describe.hide()
        # Once the cards are drawn: cards and code of both sides at once would hold the window up.
        self._below.timeout.connect(lambda: self._show_code(self.roundtrip.selected))
        self.diff.view.title.hide()  # no room, and the heading below says it too
        self.roundtrip.sample_selected.connect(self._show_code)
        body = split(Qt.Orientation.Vertical, self.roundtrip, self.diff, sizes=(450, 300))
        head = row(self.title, self.show_there, margins=(SPACE + 4, SPACE // 2, SPACE, SPACE // 2), grows=self.title)
        column(head, body, owner=self)

    def show_item(self, run: RunRow, item: ItemRow, passing: bool | None = None) -> None:
        """Show an item's head at once; `show_samples` follows when they are read.

        `passing`: whether to choose a reconstruction that passes, or one that does not; None leaves it open.
        """
        self._passing = passing
        self.title.setText(f"R{run_words(run)[1:]}")
        if self._item is None or item.id != self._item.id:
            self._below.stop()
            self._item, self._samples = item, {}
            self.roundtrip.set_trace(item, [])
            self.diff.clear()

    def show_samples(self, read: Trace) -> None:
        item, samples = read.item, read.samples
        if self._item is None or item.id != self._item.id:
            return
        fresh, self._item = not self._samples, item
        self._samples = {sample.id: sample for sample in samples}
        self._below.start()
        self.roundtrip.set_trace(item, samples)
        if fresh and self._passing is not None:
            # The first reconstruction that tells why the runs disagree.
            judged = ((each.id, each.verdict) for each in samples if rebuilt(each))
            fitting = (at for at, verdict in judged if verdict and (verdict.outcome == "pass") == self._passing)
            first = next(fitting, None)
            if first is not None:
                self.roundtrip.select(first)

    def _show_code(self, sample_id: int | None) -> None:
        # `show_samples` will show the code in the next turn of the loop anyhow.
        if self._below.isActive():
            return
        item, sample = self._item, self._samples.get(sample_id) if sample_id is not None else None
        if sample is not None and describes(sample):
            sample = next((each for each in self._samples.values() if each.parent_id == sample_id), None)
        self.diff.show_code(item, sample, self._samples, described=False)

    def _leave(self) -> None:
        if self._item is not None:
            self._leave_for(self._item.run_id, self._item.id)


class Traces(QWidget):
    """Both traces of one item after the other; `want(pair)` has its samples read."""

    def __init__(self, sides: Sequence[TraceSide], want: Callable[[Pair], None]) -> None:
        super().__init__()
        self._want = want
        self._comparison: Comparison | None = None
        self._pairs: Sequence[Pair] = ()
        self._at = 0
        self.sides = sides
        self.title, self.count = ElidedLabel("title", Qt.TextElideMode.ElideLeft), label(role="muted")
        self.back = button("Summary", "Back to the summary (Escape)", flat=False)
        self.previous = button("", "Previous item (Alt+Left)", lambda: self.step(-1), icon="previous")
        self.next = button("", "Next item (Alt+Right)", lambda: self.step(1), icon="next")
        for (words, keys), direction in zip(STEPS, (1, -1), strict=True):
            bind(self, keys, partial(self.step, direction), words)
        head = row(self.back, self.title, self.count, None, self.previous, self.next, margins=BAR, grows=self.title)
        column(head, split(Qt.Orientation.Horizontal, *sides, stretch=(1, 1)), owner=self)

    @property
    def pair(self) -> Pair | None:
        return self._pairs[self._at] if self._at < len(self._pairs) else None

    def show_pairs(self, comparison: Comparison, pairs: Sequence[Pair], at: int) -> None:
        self._comparison, self._pairs, self._at = comparison, pairs, at
        self._show()

    def step(self, direction: int) -> None:
        if 0 <= self._at + direction < len(self._pairs):
            self._at += direction
            self._show()

    def _show(self) -> None:
        pair, comparison = self.pair, self._comparison
        if pair is None or comparison is None:
            return
        scores = f"{pair.first.headline:.2f} against {pair.second.headline:.2f}"
        self.title.setText(f"{pair.first.place}: {comparison.title} {scores}")
        self.count.setText(f"{self._at + 1:,} of {len(self._pairs):,}")
        self.previous.setEnabled(self._at > 0)
        self.next.setEnabled(self._at + 1 < len(self._pairs))
        gain = pair.difference * comparison.better
        better = None if not gain else gain > 0
        self.sides[0].show_item(comparison.first, pair.first, None if better is None else not better)
        self.sides[1].show_item(comparison.second, pair.second, better)
        self._want(pair)


MOST_ROWS = 5
_JOINT = "The intervals of all pairs of these runs hold together in 95 of 100 cases"

SECONDARY = (3, 5)  # columns of the measure that stands beside the headline


class RunTable(QWidget):
    """`chosen(place)` when another run is picked to be held against the reference; `reference_asked(run_id)`."""

    chosen = Signal(int)
    reference_asked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._shown: Sequence[Comparison] = ()
        self.model = CellModel(_heads("", ""))
        self.table = table("Compared runs")
        self.table.setModel(self.model)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        widths(self.table, 150, 0, 150, 160, 165, 165, 110, 165)
        self.table.selectionModel().currentRowChanged.connect(self._choose)
        words, keys = REFERENCE
        bind(self.table, f"Return {keys}", self.ask_reference, words)
        self.table.doubleClicked.connect(lambda _: self.ask_reference())
        self.table.text_size.changed.connect(self._fit)
        column(self.table, owner=self)

    def show_comparisons(self, comparisons: Sequence[Comparison], place: int) -> None:
        self._shown = comparisons
        if comparisons:
            first, shown = comparisons[0].first, comparisons[0]
            self.model.name_columns(_heads(shown.title, shown.secondary_title))
            for at in SECONDARY:
                self.table.setColumnHidden(at, not shown.secondary_title)
            rows = [([*_run_cells(first, "reference"), *[Cell("")] * 4], first.id)]
            self.model.fill(rows + [(self._cells(each), each.second.id) for each in comparisons])
        self._fit()
        # The reference stands in the first row.
        if self.table.currentIndex().row() != place + 1:
            self.table.setCurrentIndex(self.model.index(place + 1, 0))

    def _fit(self) -> None:
        rows = min(len(self._shown) + 1, MOST_ROWS) * self.table.verticalHeader().defaultSectionSize()
        self.table.setFixedHeight(self.table.horizontalHeader().sizeHint().height() + rows + 4)

    @property
    def run_id(self) -> int | None:
        at = self.table.currentIndex().row()
        return self.model.key(at) if 0 <= at < self.model.rowCount() else None

    def _cells(self, comparison: Comparison) -> list[Cell]:
        test = comparison.mcnemar
        tip = f"{p_words(test.mcnemar_p)} by itself; both solved {test.both}, neither {test.neither}, "
        tip += f"the reference alone {test.only_first}, this run alone {test.only_second}"
        return [
            *_run_cells(comparison.second, ""),
            self._difference(comparison.headline, comparison.decided, comparison.better),
            self._difference(comparison.secondary, comparison.secondary_decided, 1),
            Cell(p_words(comparison.p_adjusted), tip=tip),
            Cell("decided" if comparison.decided else further(comparison.headline, comparison.left) or "–"),
        ]

    def _difference(self, difference: Difference, decided: bool, better: int) -> Cell:
        value = (difference.score.value or 0.0) * better
        colour = "muted" if not decided or not value else "good" if value > 0 else "bad"
        return Cell(bounded(difference.score), colour=colour, tip="decided" if decided else "undecided")

    def _choose(self, current: QModelIndex, before: QModelIndex) -> None:
        if current.row() > 0:
            self.chosen.emit(current.row() - 1)

    def ask_reference(self) -> None:
        if self.table.currentIndex().row() > 0 and self.run_id is not None:
            self.reference_asked.emit(self.run_id)


def _heads(title: str, other: str) -> list[Head]:
    both = (capital(title), capital(other))
    return [
        Head("Run"),
        Head("Model"),
        *(Head(each, "Over the whole run") for each in both),
        *(Head(f"{each} difference", f"Over what is in both runs. {_JOINT}") for each in both),
        Head("McNemar", "Exact test of what one run alone solved; several runs adjusted by Holm"),
        Head("More needed", "How many more in both runs could decide an open difference"),
    ]


def _run_cells(run: RunRow, note: str) -> list[Cell]:
    name = f"{run.id} “{run.name}”" if run.name else f"{run.id}"
    done = f"{run.items_complete} {noun(run.task)}s"
    tip = f"{run.project_root}\nseed {run.seed} · {run.status} · {done}\n{run.notes}".strip()
    return [
        Cell(f"{name} {note}".strip(), tip=tip),
        Cell(run.models, tip=run.models),
        Cell(bounded(run.headline, "")),
        Cell(bounded(run.secondary)),
    ]


SIDES = "Trace in the reference", "Trace in the other run"


class ComparePage(QWidget):
    """Shows comparisons with one reference."""

    closed = Signal()
    pair_wanted = Signal(object)  # a Pair whose samples are to be read
    left_for = Signal(int, int)  # run and item to show in the main view
    figures_asked = Signal()  # of all the runs
    figure_chosen = Signal(str, str)  # name and value of another choice
    link_opened = Signal(object)  # what is behind a mark of a figure

    def __init__(self, summary: Summary, warn: Callable[[str], object]) -> None:
        """`warn` is told why a file was not written."""
        super().__init__(accessibleName="Comparison of runs")
        self.comparisons: Sequence[Comparison] = ()
        self._place = 0
        self._sides: list[TraceSide] = []
        self.runs, self.summary, self._warn = RunTable(), summary, warn
        self._empty = EmptyState("Comparing", "The runs are being read.")
        self._stack = stacked(self._empty, self.summary)
        self.runs.chosen.connect(self._choose)
        self.summary.opened.connect(self.open_pairs)
        self.close_button = button("Close", "Back to the code (Escape)", self.closed.emit, flat=False)
        self.choose_button = button("Choose runs…", "Compare other runs", flat=False)
        tip = "Hold all runs against the chosen one (R)"
        self.reference_button = button("Make reference", tip, self.runs.ask_reference, flat=False)
        self.export_button = ExportButton("comparison", lambda: self.summary.scatter, self.csv, warn)
        tip = "What the analyses make of all these runs together"
        self.figures_button = button("Figures", tip, self._turn_figures, flat=False)
        self.figures_button.setCheckable(True)
        self._stack.currentChanged.connect(lambda _: self.figures_button.setChecked(self.in_figures))
        buttons = self.figures_button, self.export_button, self.reference_button
        head = row(label("Comparison", "title"), None, *buttons, self.choose_button, self.close_button, margins=BAR)
        column(head, self.runs, self._stack, owner=self)
        bind(self, "Escape", self.go_back, "Back to the summary, or to the code")

    @cached_property
    def traces(self) -> Traces:
        # Its sides may have been made ahead, while nobody waited.
        while len(self._sides) < len(SIDES):
            self.make_side()
        traces = Traces(self._sides, self.pair_wanted.emit)
        self._stack.addWidget(traces)
        traces.back.clicked.connect(self.show_summary)
        return traces

    @cached_property
    def figures(self) -> FiguresView:
        from rtc_inspector.ui.figures.view import FiguresView

        figures = FiguresView(self._warn)
        self._stack.addWidget(figures)
        figures.opened.connect(self.link_opened)
        figures.chosen.connect(self.figure_chosen)
        return figures

    def show_figures(self) -> None:
        self.runs.hide()
        self._stack.setCurrentWidget(self.figures)
        self.figures_asked.emit()

    def _turn_figures(self) -> None:
        (self.show_summary if self.in_figures and self.comparisons else self.show_figures)()
        self.figures_button.setChecked(self.in_figures)  # by the click it is up where there is no summary to show

    @property
    def in_figures(self) -> bool:
        # A cached property stands in __dict__ once it was made; to ask for it would make it.
        return self._stack.currentWidget() is self.__dict__.get("figures")

    def make_side(self) -> None:
        if len(self._sides) < len(SIDES):
            self._sides.append(TraceSide(SIDES[len(self._sides)], self.left_for.emit))

    @property
    def comparison(self) -> Comparison | None:
        return self.comparisons[self._place] if self._place < len(self.comparisons) else None

    def begin(self) -> None:
        self._stack.setCurrentWidget(self._empty)
        self.say("Comparing", "The runs are being read.")

    def say(self, heading: str, advice: str) -> None:
        """Say that there is no comparison, and why; figures stay: their runs need not have anything in common."""
        self.comparisons = ()
        self.summary.list.table.setCurrentIndex(QModelIndex())
        self._empty.say(heading, advice)
        self.runs.hide()
        self._enable(False)
        if not self.in_figures:
            self._stack.setCurrentWidget(self._empty)

    def show_comparisons(self, comparisons: Sequence[Comparison]) -> None:
        """Show these; the run that was looked at stays so if it is among them."""
        looked_at = self.comparison.second.id if self.comparison else None
        self.comparisons = comparisons
        places = (place for place, each in enumerate(comparisons) if each.second.id == looked_at)
        self._place = next(places, 0)
        self.runs.setVisible(not self.in_figures)
        self._enable(True)
        self.runs.show_comparisons(comparisons, self._place)
        self.summary.show_comparison(comparisons[self._place])
        if self._stack.currentWidget() is self._empty:
            self.show_summary()

    def open_pairs(self, pairs: Sequence[Pair], at: int) -> None:
        if self.comparison is not None:
            self._stack.setCurrentWidget(self.traces)
            self.runs.hide()
            self.traces.show_pairs(self.comparison, pairs, at)
            self.traces.sides[0].roundtrip.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_summary(self) -> None:
        self.runs.show()
        pair = self.traces.pair if self._in_traces else None
        self._stack.setCurrentWidget(self.summary)
        self.summary.list.choose(pair)
        self.summary.list.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def go_back(self) -> None:
        if self._in_traces or (self.in_figures and self.comparisons):
            self.show_summary()
        else:
            self.closed.emit()

    def csv(self) -> str:
        # csv writes its own line ends; the default would turn them into others.
        stream = io.StringIO(newline="")
        write_pairs_csv(self.comparisons, stream)
        return stream.getvalue()

    @property
    def _in_traces(self) -> bool:
        return self._stack.currentWidget() is self.__dict__.get("traces")

    def _enable(self, shown: bool) -> None:
        for each in (self.reference_button, self.export_button):
            each.setEnabled(shown)

    def _choose(self, place: int) -> None:
        # Rows become current by themselves when the table is filled.
        if place != self._place and place < len(self.comparisons):
            self._place = place
            self.summary.show_comparison(self.comparisons[place])

"""One run: what it does before its model writes, the figures of its analyses, and how it was made."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QGridLayout, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from rtc_inspector.core.figures import Figure, Sentence, Table
from rtc_inspector.core.kinds import Kind, task
from rtc_inspector.core.run.events import Progress
from rtc_inspector.core.store.rows import RunRow
from rtc_inspector.ui.panels.pieces import EmptyState
from rtc_inspector.ui.presenters import Groups, as_text, provenance
from rtc_inspector.ui.style.controls import (
    BAR,
    ElidedLabel,
    bind,
    button,
    called,
    column,
    give_role,
    label,
    on_ground,
    push,
    row,
    split,
    switch,
    to_clipboard,
)
from rtc_inspector.ui.style.fonts import TextSize, bold, grown
from rtc_inspector.ui.style.theme import SPACE

if TYPE_CHECKING:
    from rtc_inspector.ui.figures.view import FiguresView

NAMES = 132  # pixels that the names of what a run was made with take at first; the rest is the values'
SHARES = 4, 3, 3  # of the width: drawings, tables, and how the run was made, which is folded away at first
BESIDE = 1300  # pixels from which on tables stand beside the drawings; in fewer all figures share one place


class ProvenanceView(QWidget):
    """What a run was made with, with keys to copy it; groups can be folded, and stay so while values change."""

    def __init__(self) -> None:
        super().__init__()
        self._groups: Groups = ()
        self.tree = called(QTreeWidget(columnCount=2), "How this run was made")
        self.tree.setHeaderHidden(True)
        self.tree.setIndentation(10)
        self.tree.setUniformRowHeights(True)
        self.tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.tree.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.tree.header().resizeSection(0, grown(self.tree, NAMES))
        TextSize(self.tree)
        self.copy = button("Copy", "Copy how this run was made", self.copy_all)
        self.tree.header().setStretchLastSection(True)
        self.tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        head = row(label("How it was made", "heading"), None, self.copy, margins=(SPACE, 2, SPACE // 2, 2))
        bind(self, QKeySequence(QKeySequence.StandardKey.Copy).toString(), self.copy_current, "Copy value")
        column(head, self.tree, owner=self)

    def show_groups(self, groups: Groups) -> None:
        if groups == self._groups:
            return
        old, self._groups = self._groups, groups
        # The count of samples grows while one reads: groups that were folded must stay so.
        before, now = ([(title, [name for name, _ in pairs]) for title, pairs in each] for each in (old, groups))
        if before != now:
            self._build(groups)
            return
        for place, (_, pairs) in enumerate(groups):
            top = self.tree.topLevelItem(place)
            for at, (_, value) in enumerate(pairs):
                item = top.child(at) if top else None
                if item is not None and item.text(1) != value:
                    item.setText(1, value)
                    item.setToolTip(1, value)

    def copy_all(self) -> None:
        to_clipboard(as_text(self._groups))

    def copy_current(self) -> None:
        item = self.tree.currentItem()
        if item is None:
            self.copy_all()
        elif item.parent() is None:
            to_clipboard(as_text((self._groups[self.tree.indexOfTopLevelItem(item)],)))
        else:
            to_clipboard(item.text(1))

    def _build(self, groups: Groups) -> None:
        self.tree.clear()
        for title, pairs in groups:
            top = QTreeWidgetItem(self.tree, [title])
            top.setFont(0, bold(top.font(0)))
            top.setFirstColumnSpanned(True)
            for name, value in pairs:
                QTreeWidgetItem(top, [name, value]).setToolTip(1, value)
        self.tree.expandAll()


class RunPanel(QWidget):
    """The figures of a run - drawings, and beside them tables where there is room - and how it was made."""

    opened = Signal(object)  # a Link behind a mark that was clicked
    chosen = Signal(str, str)  # name and value of another choice for the figures

    def __init__(self, warn: Callable[[str], object]) -> None:
        """`warn` is told why a file was not written."""
        super().__init__(accessibleName="Run")
        self._empty = EmptyState("No run yet", "Choose a model and start a run: its scores appear here as it goes.")
        self._figures: Sequence[Figure] = ()
        self._warn = warn
        self.provenance = ProvenanceView()
        self.provenance.hide()
        self._body = split(Qt.Orientation.Horizontal, self.provenance)
        self.title, self.made = ElidedLabel("heading"), switch("How it was made", "Show what this run was made with")
        self.made.toggled.connect(self.provenance.setVisible)
        self._head = QWidget()
        row(self.title, self.made, margins=BAR, owner=self._head, grows=self.title)
        column(self._head, self._empty, self._body, owner=self)
        self.set_run(None)

    @cached_property
    def drawings(self) -> FiguresView:
        """Return the view of charts and heat maps, one at a time; made when it is first asked for."""
        return self._insert_view(0)

    @cached_property
    def tables(self) -> FiguresView:
        """Return the view of tables and findings in words, one at a time; made when it is first asked for."""
        return self._insert_view(self._body.count() - 1)

    def _insert_view(self, place: int) -> FiguresView:
        from rtc_inspector.ui.figures.view import FiguresView  # its library takes a moment to load

        view = FiguresView(self._warn)
        view.opened.connect(self.opened)
        view.chosen.connect(self.chosen)
        self._body.insertWidget(place, view)
        if self._body.count() == len(SHARES):
            self._body.setSizes([share * 100 for share in SHARES])
            for at, share in enumerate(SHARES):
                self._body.setStretchFactor(at, share)
        return view

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.set_figures(self._figures)

    def set_run(self, run: RunRow | None) -> None:
        self._empty.stand_in(self._head, self._body, empty=run is None)
        if run is not None:
            name = run.name and f" “{run.name}”"
            self.title.setText(f"Run {run.id}{name} · {task(run.task).title} · {run.project_name} · {run.models}")
            self.provenance.show_groups(provenance(run))

    def set_figures(self, figures: Sequence[Figure]) -> None:
        """Show other figures, or the same ones with other values; what is looked at stays."""
        self._figures = figures
        # Drawn when somebody looks: figures come twice a second while a run goes on.
        if self.isVisible():
            ordered = sorted(figures, key=lambda figure: isinstance(figure, (Table, Sentence)))
            drawn = sum(not isinstance(figure, (Table, Sentence)) for figure in figures)
            ends = drawn if self.width() >= grown(self, BESIDE) else len(figures)
            for view, shown in ((self.drawings, ordered[:ends]), (self.tables, ordered[ends:])):
                view.set_figures(shown)
                view.setVisible(bool(shown))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        wide = grown(self, BESIDE)
        if (event.oldSize().width() >= wide) != (self.width() >= wide):
            self.set_figures(self._figures)


LOAD, LEARN, DRAW, ASK = range(4)
DONE, NOW, LATER = "✓", "▸", "·"
TICK = 500  # milliseconds between two looks at the clock
WIDEST = 560  # pixels for text of the usual size
FORECAST_AFTER = 5.0  # seconds of a stage from which it is said how long the rest takes


class Preparing(QWidget):
    """Steps with marks and times. `left` when the user wants to see the code instead."""

    left = Signal()

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(accessibleName="Getting the run ready")
        on_ground(self, "surface")
        self._clock = clock
        self._seconds = [0.0] * 4
        self._at: int | None = None
        self._since = 0.0
        self._stage = self._named = ""
        self._named_since = 0.0
        self.title, self.advice = label("Getting the run ready", "title", wrap=True), label(role="muted", wrap=True)
        self.rows = [(label(), label(), label(role="muted"), label()) for _ in range(4)]
        self.leave = push("Show the code meanwhile", "Show the code while the run gets ready", self.left.emit)
        self._timer = QTimer(self, interval=TICK)
        self._timer.timeout.connect(self._tell)
        steps = QGridLayout()
        steps.setHorizontalSpacing(SPACE * 2)
        steps.setVerticalSpacing(SPACE)
        steps.setColumnStretch(2, 1)
        for line, cells in enumerate(self.rows):
            for place, cell in enumerate(cells):
                steps.addWidget(cell, line, place)
            cells[2].setMinimumWidth(1)  # whatever a stage says, the page stays as wide as it is
            cells[3].setAlignment(Qt.AlignmentFlag.AlignRight)
        self._page = QWidget()
        parts = (None, self.title, self.advice, steps, row(self.leave, None), None, None)
        column(*parts, spacing=SPACE * 2, owner=self._page)
        margins = SPACE * 4, SPACE * 2, SPACE * 4, SPACE * 2
        row(None, self._page, None, margins=margins, owner=self).setStretch(1, 100)

    @property
    def begun(self) -> bool:
        return self._at is not None

    @property
    def words(self) -> str:
        if self._at is None:
            return ""
        mark_name = self.rows[self._at][1].text()
        return f"{mark_name} · {_clock_words(sum(self._seconds) + self._clock() - self._since)}"

    def begin(self, kind: Kind) -> None:
        self._seconds, self._at, self._stage, self._named = [0.0] * 4, LOAD, "", ""
        self._since = self._clock()
        names = ("Load the model", "Learn the tests", f"Find {kind.nouns}", "Read the first prompt")
        for (_, name, _, _), words in zip(self.rows, names, strict=True):
            name.setText(words)
        self._page.setMaximumWidth(grown(self, WIDEST))
        self._timer.start()
        self._tell()

    def note(self, progress: Progress) -> None:
        if self._at is None:
            return
        now, stage = self._clock(), progress.stage
        step = ASK if stage == "samples" else DRAW
        if stage.startswith(("loading", "starting a sandbox", "learning", "check")):
            step = LOAD if stage.startswith("loading") else LEARN
        self._seconds[self._at] += now - self._since
        self._since, self._at = now, step
        if progress.stage != self._named:
            self._named, self._named_since = progress.stage, now
        passed = now - self._named_since
        left = passed / progress.done * (progress.total - progress.done) if progress.done else 0.0
        count = f" {progress.done:,} of {progress.total:,}" if progress.total > 1 else ""
        count += f", {_clock_words(left)} left" if passed > FORECAST_AFTER and left > 1 else ""
        stage = "" if step == ASK else stage.partition(": ")[2] or stage
        self._stage = progress.detail or (f"{stage}{count}" if stage else "")
        self._tell()

    def end(self) -> None:
        self._at = None
        self._timer.stop()

    def _tell(self) -> None:
        if self._at is None:
            return
        here = self._seconds[self._at] + self._clock() - self._since
        for step, (mark, name, detail, took) in enumerate(self.rows):
            now = step == self._at
            seconds = here if now else self._seconds[step]
            # A step may come back, e.g. where a second sandbox is started; one that never came is not shown as done.
            done = not now and seconds > 0
            skipped = not now and not done and step < self._at
            for cell in (mark, name, detail, took):
                cell.setVisible(not skipped)
            mark.setText(NOW if now else DONE if done else LATER)
            for cell, role in ((mark, "good" if done else ""), (name, "" if now or done else "muted")):
                if cell.property("role") != role:
                    give_role(cell, role)
            detail.setText(self._stage if now else "")
            took.setText(_clock_words(seconds) if now or done else "")
        total = sum(self._seconds) + self._clock() - self._since
        learns = self._at == LEARN or self._seconds[LEARN] > 0
        kept = " What is learned of the tests is kept: the next run on this project begins sooner." if learns else ""
        self.advice.setText(f"{_clock_words(total)} so far.{kept}")


def _clock_words(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60}:{whole % 60:02d} min"

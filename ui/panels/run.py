"""One run: the figures of its analyses, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from rtc_inspector.core.figures import Figure, Sentence, Table
from rtc_inspector.core.kinds import task
from rtc_inspector.core.store.rows import RunRow
from rtc_inspector.ui.panels.pieces import EmptyState
from rtc_inspector.ui.provenance import Groups, as_text, provenance
from rtc_inspector.ui.style.controls import (
    BAR,
    ElidedLabel,
    bind,
    button,
    column,
    label,
    row,
    split,
    switch,
    to_clipboard,
)
from rtc_inspector.ui.style.fonts import TextSize, bold, grown
from rtc_inspector.ui.style.theme import SPACE

if TYPE_CHECKING:
    from rtc_inspector.ui.figures.view import FiguresView


NAMES = 132
"""Pixels that the names of what a run was made with take at first; the rest is the values'."""
SHARES = 4, 3, 3
"""Of the width: drawings, tables, and how the run was made, which is folded away at first."""
BESIDE = 1300
"""Pixels from which on tables stand beside the drawings; in fewer all figures share one place."""


class ProvenanceView(QWidget):
    """What a run was made with, with keys to copy it; groups can be folded, and stay so while values change."""

    def __init__(self) -> None:
        super().__init__()
        self._groups: Groups = ()
        self.tree = QTreeWidget()
        self.tree.setAccessibleName("How this run was made")
        self.tree.setColumnCount(2)
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
        """Show values; only what has changed is touched when the names are the same."""
        if groups == self._groups:
            return
        old, self._groups = self._groups, groups
        # The count of samples grows while one reads: groups that were folded must stay so.
        if [(title, [name for name, _ in pairs]) for title, pairs in old] == [
            (title, [name for name, _ in pairs]) for title, pairs in groups
        ]:
            self._update(groups)
        else:
            self._build(groups)

    def copy_all(self) -> None:
        to_clipboard(as_text(self._groups))

    def copy_current(self) -> None:
        """Copy the current value to the clipboard; a whole group where its heading is current."""
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

    def _update(self, groups: Groups) -> None:
        for place, (_, pairs) in enumerate(groups):
            top = self.tree.topLevelItem(place)
            for at, (_, value) in enumerate(pairs):
                item = top.child(at) if top else None
                if item is not None and item.text(1) != value:
                    item.setText(1, value)
                    item.setToolTip(1, value)


class RunPanel(QWidget):
    """The figures of a run - drawings, and beside them tables where there is room - and how it was made.

    `opened(link)`: what is behind a mark that was clicked; `chosen(name, value)`: figures are to be made with another
    choice; `export_failed(problem)` says why a file was not written.
    """

    opened = Signal(object)
    chosen = Signal(str, str)
    export_failed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Run")
        self._empty = EmptyState("No run yet", "Choose a model and start a run: its scores appear here as it goes.")
        self._figures: Sequence[Figure] = ()
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

        made = FiguresView()
        made.opened.connect(self.opened)
        made.chosen.connect(self.chosen)
        made.export_failed.connect(self.export_failed)
        self._body.insertWidget(place, made)
        if self._body.count() == len(SHARES):
            self._body.setSizes([share * 100 for share in SHARES])
            for at, share in enumerate(SHARES):
                self._body.setStretchFactor(at, share)
        return made

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self.set_figures(self._figures)

    def set_run(self, run: RunRow | None) -> None:
        """Show a run as it stands; its figures come when they are made."""
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

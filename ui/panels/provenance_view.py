"""Names and values of a run, grouped, with keys to copy them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from ui.panels.provenance import Groups, as_text
from ui.style.controls import bind, button, column, label, row, to_clipboard
from ui.style.fonts import bold
from ui.style.text_size import TextSize, grown
from ui.style.theme import SPACE

NAMES = 132
"""Pixels the names take at first; the rest is the values'."""


class ProvenanceView(QWidget):
    """A tree of two columns; groups can be folded, and stay so while values change."""

    def __init__(self) -> None:
        """Empty until `show_groups`."""
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
        """Everything to the clipboard."""
        to_clipboard(as_text(self._groups))

    def copy_current(self) -> None:
        """The current value to the clipboard; a whole group where its heading is current."""
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

"""Two panes that scroll as one, in both directions."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QScrollBar

from ui.diff.pane import Pane


class LinkedScrolling(QObject):
    """Keeps scroll positions and the current row of two panes equal."""

    def __init__(self, left: Pane, right: Pane) -> None:
        """Link them for as long as they live; the left one shows no vertical bar of its own."""
        super().__init__(left)
        self._panes = left, right
        left.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for one, other in ((left, right), (right, left)):
            self._link(one.verticalScrollBar(), other.verticalScrollBar())
            self._link(one.horizontalScrollBar(), other.horizontalScrollBar())
            one.cursorPositionChanged.connect(lambda a=one, b=other: self._follow_row(a, b))
            one.horizontalScrollBar().rangeChanged.connect(self._agree_on_bars)
        self._busy = False

    def _link(self, source: QScrollBar, target: QScrollBar) -> None:
        """What one does, the other does; a shorter range stops at its end without pulling the other back."""

        def follow(value: int) -> None:
            if self._busy:
                return
            self._busy = True
            target.setValue(value)
            self._busy = False

        source.valueChanged.connect(follow)

    def _follow_row(self, source: Pane, target: Pane) -> None:
        """Put the other pane's cursor on the same row."""
        if source.hasFocus() and source.row() != target.row():
            target.go_to(source.row())

    def _agree_on_bars(self) -> None:
        """Both show a horizontal bar or neither does: else their heights would differ."""
        policy = Qt.ScrollBarPolicy
        needed = any(pane.horizontalScrollBar().maximum() > 0 for pane in self._panes)
        for pane in self._panes:
            pane.setHorizontalScrollBarPolicy(policy.ScrollBarAlwaysOn if needed else policy.ScrollBarAlwaysOff)

"""Panes that scroll as one, in both directions."""

from __future__ import annotations

from itertools import permutations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QScrollBar

from ui.diff.pane import Pane


class LinkedScrolling(QObject):
    """Keeps scroll positions and the current row of panes equal."""

    def __init__(self, *panes: Pane) -> None:
        """Link them for as long as they live; only the last one shows a vertical bar of its own."""
        super().__init__(panes[0])
        self._panes = panes
        for pane in panes[:-1]:
            pane.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for one in panes:
            one.horizontalScrollBar().rangeChanged.connect(self._agree_on_bars)
        self._busy = False
        for one, other in permutations(panes, 2):
            self._link(one.verticalScrollBar(), other.verticalScrollBar())
            self._link(one.horizontalScrollBar(), other.horizontalScrollBar())
            one.cursorPositionChanged.connect(lambda a=one, b=other: self._follow_row(a, b))

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
        """Put another pane's cursor on the same row."""
        if source.hasFocus() and source.row() != target.row():
            target.go_to(source.row())

    def _agree_on_bars(self) -> None:
        """All show a horizontal bar or none does: else their heights would differ."""
        policy = Qt.ScrollBarPolicy
        needed = any(pane.horizontalScrollBar().maximum() > 0 for pane in self._panes)
        for pane in self._panes:
            pane.setHorizontalScrollBarPolicy(policy.ScrollBarAlwaysOn if needed else policy.ScrollBarAlwaysOff)

"""A card that says what became of the region under the mouse."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from rtc_inspector.core.kinds import CONDITIONS, counted, task
from rtc_inspector.ui.code.blocks import Block
from rtc_inspector.ui.style.controls import column
from rtc_inspector.ui.style.fonts import interface_font
from rtc_inspector.ui.style.region_state import number, state_words
from rtc_inspector.ui.style.theme import SPACE

MOST_FIGURES = 4
"""Further ones have no room on the card."""


class HoverCard(QFrame):
    """Lies over the editor near the region, never over its first line."""

    def __init__(self, parent: QWidget) -> None:
        """Start hidden."""
        super().__init__(parent)
        self._room = parent
        self.setProperty("role", "popup")
        self.title, self.scores, self.more = QLabel(), QLabel(), QLabel()
        self.setFont(interface_font())
        self.more.setProperty("role", "muted")
        margins = SPACE + 4, SPACE, SPACE + 4, SPACE
        self._column = column(self.title, self.scores, self.more, margins=margins, spacing=SPACE // 2, owner=self)
        self.hide()

    def open_words(self, title: str, words: str, place: QRect) -> None:
        """Show a title and lines of text near a rectangle of the parent."""
        self.title.setText(title)
        self.scores.hide()
        self.more.setText(words)
        self._open_near(place)

    def open(self, block: Block, region: QRect, candidates: str = "") -> None:
        """Show the card for `block`, whose rectangle in the parent is `region`; `candidates`: what else was there."""
        item = block.item
        self.title.setText(f"<b>Lines {block.first + 1}–{block.last + 1}</b> · {state_words(item)}")
        shown = [measure for measure in task(item.task).averaged if measure.name not in CONDITIONS]
        figures = [
            f"{measure.title} <b>{number(item.measures[measure.name], sign=measure.lowest < 0)}</b>"
            for measure in shown
            if measure.name in item.measures
        ]
        self.scores.setText(" &nbsp; ".join(figures[:MOST_FIGURES]))
        self.scores.setVisible(bool(figures))
        recites = "" if item.recitation is None else f" · a description recites {item.recitation:.0%}"
        copied = "\nthe same lines stand once more in the file" if item.copied else ""
        moved = "\nmoved: the file changed since the run" if block.moved else ""
        others = f"\nCandidates that were not drawn:\n{candidates}" if candidates else ""
        self.more.setText(f"{counted(len(item.tests), 'covering test')}{recites}{copied}{moved}{others}")
        self._open_near(region)

    def _open_near(self, place: QRect) -> None:
        layout, room = self._column, self._room.width() - 2 * SPACE
        self.more.setWordWrap(False)
        layout.activate()
        wide = layout.sizeHint()
        # Wrapped only where it must be: Qt gives wrapped text a shape of its own, near to a square.
        self.more.setWordWrap(wide.width() > room)
        high = layout.totalHeightForWidth(room) if self.more.wordWrap() else wide.height()
        self.setFixedSize(min(wide.width(), room), high)
        self._stand_near(place)
        self.show()
        self.raise_()

    def _stand_near(self, region: QRect) -> None:
        room = self._room.rect().adjusted(SPACE, SPACE, -SPACE, -SPACE)
        top = region.bottom() + SPACE // 2
        if top + self.height() > room.bottom():
            top = region.top() - self.height() - SPACE // 2
        left = min(region.left() + SPACE * 3, room.right() - self.width())
        self.move(max(left, room.left()), max(top, room.top()))

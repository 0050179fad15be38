"""A card that says what became of the region under the mouse."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from ui.code.blocks import Block
from ui.region_state import number, state_words
from ui.theme import SPACE, Theme


class HoverCard(QFrame):
    """Lies over the editor near the region, never over its first line."""

    def __init__(self, parent: QWidget) -> None:
        """Start hidden."""
        super().__init__(parent)
        self._room = parent
        self.setProperty("role", "popup")
        self.title, self.scores, self.more = QLabel(), QLabel(), QLabel()
        self.more.setProperty("role", "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE + 4, SPACE, SPACE + 4, SPACE)
        column.setSpacing(SPACE // 2)
        for label in (self.title, self.scores, self.more):
            column.addWidget(label)
        self.hide()

    def open(self, block: Block, theme: Theme, region: QRect) -> None:
        """Show the card for `block`, whose rectangle in the parent is `region`."""
        item = block.item
        self.title.setText(f"<b>Lines {block.first + 1}–{block.last + 1}</b> · {state_words(item)}")
        self.scores.setText(
            f"RTC <b>{number(item.rtc)}</b> &nbsp; baseline <b>{number(item.baseline)}</b> &nbsp; "
            f"lift <b>{number(item.lift, sign=True)}</b>"
        )
        self.scores.setVisible(item.judged > 0)
        recites = "" if item.recitation is None else f" · a description recites {item.recitation:.0%}"
        moved = "\nmoved: the file changed since the run" if block.moved else ""
        self.more.setText(f"{len(item.tests)} covering tests{recites}{moved}")
        self.adjustSize()
        self._stand_near(region)
        self.show()
        self.raise_()

    def _stand_near(self, region: QRect) -> None:
        room = self._room.rect().adjusted(SPACE, SPACE, -SPACE, -SPACE)
        top = region.bottom() + SPACE // 2
        if top + self.height() > room.bottom():
            top = region.top() - self.height() - SPACE // 2
        left = min(region.left() + SPACE * 3, room.right() - self.width())
        self.move(max(left, room.left()), max(top, room.top()))

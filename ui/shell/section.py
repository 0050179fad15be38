"""A titled part of the window: a small heading over its content."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from ui.style.controls import column, row
from ui.style.theme import SPACE


class Section(QWidget):
    """Heading at the left, a label or control at the right, content below."""

    def __init__(self, title: str, content: QWidget, right: QWidget | None = None) -> None:
        """Put `content` under `title`."""
        super().__init__()
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.heading = heading = QLabel(title)
        heading.setProperty("role", "heading")
        heading.setBuddy(content)
        head = row(
            heading, None, *([right] if right is not None else []), margins=(SPACE + 4, SPACE, SPACE + 4, SPACE // 2)
        )
        column(head, content, owner=self)

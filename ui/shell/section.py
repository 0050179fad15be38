"""A titled part of the window: a small heading over its content."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

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
        row = QHBoxLayout()
        row.setContentsMargins(SPACE + 4, SPACE, SPACE + 4, SPACE // 2)
        row.addWidget(heading)
        row.addStretch(1)
        if right is not None:
            row.addWidget(right)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(content, 1)

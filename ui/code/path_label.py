"""The path of the open file, its name in bold; what does not fit is left out at the front."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy


class PathLabel(QLabel):
    """Takes the room that its neighbours leave."""

    def __init__(self) -> None:
        """Empty until `show_path`."""
        super().__init__()
        self._path = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def show_path(self, path: str) -> None:
        """Show another path."""
        self._path = path
        self.setToolTip(path)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Another room (called by Qt)."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        bold = QFont(self.font())
        bold.setBold(True)
        shown = QFontMetrics(bold).elidedText(self._path, Qt.TextElideMode.ElideLeft, max(self.width() - 4, 1))
        head, slash, name = shown.rpartition("/")
        self.setText(f"{escape(head)}{slash}<b>{escape(name)}</b>" if self._path else "")

"""A titled, read-only piece of exact text with a button that copies it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from rtc_inspector.ui.style.controls import (
    FOCUS_RING,
    SELECTABLE,
    ElidedLabel,
    button,
    column,
    label,
    row,
    to_clipboard,
)
from rtc_inspector.ui.style.fonts import write_fixed
from rtc_inspector.ui.style.theme import SPACE


class TextBox(QWidget):
    """Monospace by default; the text is selectable by keyboard."""

    def __init__(self, title: str, *, fixed: bool = True, wrap: bool = True) -> None:
        """Empty until `show_text`."""
        super().__init__()
        self.setProperty("role", "surface")
        self._title, self.detail = label(title, "heading"), ElidedLabel("caption", Qt.TextElideMode.ElideLeft)
        self.edit = QPlainTextEdit(readOnly=True, tabChangesFocus=True, textInteractionFlags=SELECTABLE)
        self.edit.setFrameShape(QFrame.Shape.NoFrame)
        self.edit.setAccessibleName(title)
        self.edit.setStyleSheet(FOCUS_RING)
        mode = QPlainTextEdit.LineWrapMode
        self.edit.setLineWrapMode(mode.WidgetWidth if wrap else mode.NoWrap)
        if fixed:
            write_fixed(self.edit, 9)
        self._copy = button("Copy", f"Copy: {title.lower()}", lambda: to_clipboard(self.edit.toPlainText()))
        head = row(self._title, self.detail, None, self._copy, margins=(SPACE, 2, SPACE // 2, 2))
        self.edit.document().setDocumentMargin(SPACE)
        column(head, self.edit, owner=self)

    def show_text(self, text: str, detail: str = "", absent: str = "") -> None:
        """Show a text; `detail` stands beside the title, `absent` in the place of an empty text."""
        # Setting the same text again would lose scroll position and selection.
        if text != self.edit.toPlainText():
            self.edit.setPlainText(text)
        self.edit.setPlaceholderText(absent)
        self.detail.setText(detail)
        self._copy.setEnabled(bool(text))

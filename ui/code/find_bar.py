"""Finds words in the open file."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from rtc_inspector.ui.style.controls import BAR, button, field, label, on_ground, row
from rtc_inspector.ui.style.theme import SPACE


class FindBar(QWidget):
    """A row under the editor: Enter goes on, Shift-Enter back, Escape closes."""

    closed = Signal()

    def __init__(self, editor: QPlainTextEdit, parent: QWidget | None = None) -> None:
        """Search in `editor`; starts hidden."""
        super().__init__(parent)
        self._editor = editor
        on_ground(self, "status")
        self.words = field("Find in file", "Find in file")
        self.found = label(role="caption")
        previous = button("", "Previous match (Shift-Enter)", lambda: self.seek(back=True), icon="previous")
        onward = button("", "Next match (Enter)", self.seek, icon="next")
        close = button("", "Close (Escape)", self.close_bar, icon="close")
        parts = (self.words, self.found, previous, onward, close)
        row(*parts, margins=BAR, spacing=SPACE // 2, owner=self, grows=self.words)
        self.words.textEdited.connect(lambda: self.seek(from_here=True))
        self.hide()

    def open_bar(self) -> None:
        """Show the bar with what is selected in the editor."""
        selected = self._editor.textCursor().selectedText()
        if selected and "\u2029" not in selected:
            self.words.setText(selected)
        self.show()
        self.words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.words.selectAll()

    def close_bar(self) -> None:
        """Hide the bar."""
        self.hide()
        self.closed.emit()

    def seek(self, back: bool = False, from_here: bool = False) -> bool:
        """Go to the next (previous) match, round the end of the file; whether there is one."""
        words, editor = self.words.text(), self._editor
        if not words:
            self.found.clear()
            return False
        if from_here:
            cursor = editor.textCursor()
            cursor.setPosition(cursor.selectionStart())
            editor.setTextCursor(cursor)
        flags = QTextDocument.FindFlag.FindBackward if back else QTextDocument.FindFlag(0)
        if editor.find(words, flags) or self._find_round(words, flags, back):
            self.found.clear()
            return True
        self.found.setText("Not in this file")
        return False

    def _find_round(self, words: str, flags: QTextDocument.FindFlag, back: bool) -> bool:
        """Search once more from the other end; the cursor stays where nothing is found."""
        editor, before = self._editor, self._editor.textCursor()
        end = QTextCursor.MoveOperation.End if back else QTextCursor.MoveOperation.Start
        editor.moveCursor(end)
        if editor.find(words, flags):
            return True
        editor.setTextCursor(before)
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.seek(back=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            super().keyPressEvent(event)

"""A person's own description of a region, to be written again by the model."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton

from ui.style.controls import bind, column, label, row
from ui.style.theme import SPACE

LINES = 5
"""Height of the text."""


class DescribeCard(QFrame):
    """Hidden until `start`. `written(text)` asks for the backward pass; `left` when it was put away."""

    written = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        """Nothing written yet."""
        super().__init__()
        self.setProperty("role", "card")
        self.text = QPlainTextEdit()
        self.text.setPlaceholderText(
            "Say what the code does: it is written again from your words and the code around it."
        )
        self.text.setAccessibleName("Your description")
        self.text.setTabChangesFocus(True)
        self.text.setProperty("role", "field")
        self.text.setFixedHeight(self.text.fontMetrics().lineSpacing() * LINES + 2 * SPACE)
        self.text.textChanged.connect(self._offer)
        self.go, self.cancel = QPushButton("Write the code from it"), QPushButton("Cancel")
        self.go.setProperty("role", "primary")
        self.go.setToolTip("Run the backward pass on these words and test what comes of it (Ctrl+Return)")
        self.cancel.setToolTip("Put this away (Escape)")
        self.go.clicked.connect(self._ask)
        self.cancel.clicked.connect(self.leave)
        for key in ("Ctrl+Return", "Ctrl+Enter"):
            bind(self, key, self._ask, "Write the code from it")
        bind(self, "Escape", self.leave, "Cancel")
        self._lay_out()
        self.hide()

    def _lay_out(self) -> None:
        foot = row(None, self.cancel, self.go, spacing=SPACE)
        head = row(label("In your words", "heading"), None, label("Not counted in the scores", "caption"))
        made = column(head, self.text, margins=(0, 0, 0, SPACE), spacing=SPACE // 2 + 2, owner=self)
        made.addLayout(foot)

    def start(self, text: str) -> None:
        """Show it with a text to begin from, selected whole; words that were not sent yet stay."""
        # The key was pressed again: what is being written stays.
        if self.isHidden() or not self.text.toPlainText().strip():
            self.text.setPlainText(text)
            self.text.selectAll()
        self._offer()
        self.show()
        self.text.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        """Put it away, words and all."""
        self.hide()
        self.text.clear()
        self.left.emit()

    def _offer(self) -> None:
        self.go.setEnabled(bool(self.text.toPlainText().strip()))

    def _ask(self) -> None:
        words = self.text.toPlainText().strip()
        if words:
            self.written.emit(words)

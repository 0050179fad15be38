"""What a panel shows when it has nothing to show: what to do."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from rtc_inspector.ui.style.controls import breakable, column, label, push, row
from rtc_inspector.ui.style.theme import SPACE


class EmptyState(QWidget):
    """A heading and a sentence, in the middle."""

    def __init__(self, heading: str, advice: str) -> None:
        """Both can be changed with `say`."""
        super().__init__()
        self._heading, self._advice = label(role="title", wrap=True), label(role="muted", wrap=True)
        for each in (self._heading, self._advice):
            each.setAlignment(Qt.AlignmentFlag.AlignCenter)
            each.setMinimumWidth(1)  # whatever it says, the window stays as wide as it is
        self._act: Callable[[], object] = lambda: None
        self.go_on = push("", "Go on", lambda: self._act())
        self.go_on.setProperty("role", "primary")
        self.go_on.hide()
        around = row(None, self.go_on, None)
        layout = column(None, self._heading, self._advice, around, None, margins=(24, 24, 24, 24), owner=self)
        layout.setSpacing(SPACE)
        self.say(heading, advice)

    def stand_in(self, *parts: QWidget, empty: bool) -> None:
        """Stand instead of `parts` while there is nothing to show in them."""
        self.setVisible(empty)
        for part in parts:
            part.setVisible(not empty)

    def offer(self, words: str, act: Callable[[], object]) -> None:
        """Have a button that goes on; none where it has no words."""
        self._act = act
        self.go_on.setText(words)
        self.go_on.setAccessibleName(words or "Go on")
        self.go_on.setVisible(bool(words))

    def say(self, heading: str, advice: str) -> None:
        """Show other words."""
        self._heading.setText(breakable(heading))
        self._advice.setText(breakable(advice))
        self.setAccessibleName(f"{heading}. {advice}")

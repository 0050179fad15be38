"""The keys of labelling, as a table that can be shown and hidden."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from ui.diff.controls import label
from ui.labels.label_actions import LabelActions, keys_of
from ui.style.theme import SPACE


class KeysHelp(QWidget):
    """Hidden until it is asked for."""

    def __init__(self, actions: LabelActions) -> None:
        """Two columns: key and what it does."""
        super().__init__()
        self._actions, self.all_keys = actions, ""
        self._lines = [(label(), label(role="muted", wrap=True)) for _ in range(3 + len(actions.steps))]
        grid = QGridLayout(self)
        grid.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        grid.setHorizontalSpacing(SPACE * 2)
        grid.setVerticalSpacing(2)
        for place, (key, what) in enumerate(self._lines):
            _embolden(key)
            grid.addWidget(key, place, 0)
            grid.addWidget(what, place, 1)
        grid.setColumnStretch(1, 1)
        self.refresh()
        self.hide()

    def refresh(self) -> None:
        """Show the keys as they are now."""
        accepts = " ".join(keys_of(action) for action in self._actions.accepts)
        told = [
            (_span(self._actions), "Label with the error mode on that button, and go on"),
            (accepts, "Decide as the first, second, … annotator says"),
            *((keys_of(action), action.text()) for action in self._actions.steps.values()),
            ("?", f"Show or hide these keys; {self.all_keys or 'the menu'} shows all, and lets you choose others"),
        ]
        for (key, what), (keys, words) in zip(self._lines, told, strict=True):
            key.setText(keys or "–")
            what.setText(words)
        self.setAccessibleName("Keys: " + "; ".join(f"{key} {what}" for key, what in told))

    def toggle(self) -> None:
        """Show it, or hide it."""
        self.setVisible(self.isHidden())


def _span(actions: LabelActions) -> str:
    """`1 – 9`, or the keys one by one where they are no digits in a row."""
    keys = [keys_of(action) for action in actions.modes if action.isVisible() and action.shortcuts()]
    in_a_row = keys == [str(digit) for digit in range(1, len(keys) + 1)]
    return f"1 – {len(keys)}" if in_a_row and len(keys) > 1 else " ".join(keys)


def _embolden(text: QLabel) -> None:
    font = text.font()
    font.setBold(True)
    text.setFont(font)

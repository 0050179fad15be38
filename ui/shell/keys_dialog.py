"""Shows every key, read from the actions themselves."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from ui.fonts import fixed_font
from ui.theme import SPACE

IN_VIEWS = (
    ("Next, previous region or edit (in the code)", "N, P"),
    ("Next, previous failure (in the code)", "F, Shift+F"),
    ("Next, previous change (in the diff)", "Alt+Down, Alt+Up"),
    ("Choose (in lists)", "Arrows"),
    ("Open and close folders", "Left, Right"),
)
"""Keys that belong to one view and have no action of the window."""


def key_lines(actions: Sequence[QAction]) -> list[tuple[str, str]]:
    """What each action does, and its keys; actions without a key are left out."""
    native = QKeySequence.SequenceFormat.NativeText
    lines = []
    for action in actions:
        keys = ", ".join(key.toString(native) for key in action.shortcuts())
        if keys:
            lines.append((action.text().replace("&", "").rstrip("…"), keys))
    return lines


class KeysDialog(QDialog):
    """All keys on one page."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """List the keys of `actions`, then those of the views."""
        super().__init__(parent)
        self.setWindowTitle("Keys")
        lines = [*key_lines(actions), *IN_VIEWS]
        half = (len(lines) + 1) // 2
        columns = QHBoxLayout()
        columns.setSpacing(SPACE * 4)
        for part in (lines[:half], lines[half:]):
            columns.addLayout(_grid(part))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE * 3, SPACE * 3, SPACE * 3, SPACE * 2)
        column.setSpacing(SPACE * 2)
        column.addLayout(columns)
        column.addWidget(buttons)


def _grid(lines: Sequence[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(SPACE * 3)
    grid.setVerticalSpacing(SPACE - 2)
    for row, (words, keys) in enumerate(lines):
        key = QLabel(keys)
        key.setFont(fixed_font(9))
        key.setProperty("role", "muted")
        grid.addWidget(QLabel(words), row, 0)
        grid.addWidget(key, row, 1, Qt.AlignmentFlag.AlignRight)
    grid.setRowStretch(len(lines), 1)
    return grid

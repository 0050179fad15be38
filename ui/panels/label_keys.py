"""The keys of labelling, as a table that can be shown and hidden."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QWidget

from ui.diff.controls import label
from ui.theme import SPACE

KEYS = (
    ("1 – 9", "label with this error mode, and go on"),
    ("0", "take the label back"),
    ("N", "write a note: Enter keeps it, Esc leaves it"),
    ("S or →", "skip: go on without a label"),
    ("←", "go back to the sample before"),
    ("U", "undo the last label, wherever it was"),
    ("B", "blind: hide verdict and the others' labels"),
    ("?", "show or hide these keys"),
)


class KeysHelp(QWidget):
    """Hidden until it is asked for."""

    def __init__(self) -> None:
        """Two columns: key and what it does."""
        super().__init__()
        self.setAccessibleName("Keys: " + "; ".join(f"{key} {what}" for key, what in KEYS))
        grid = QGridLayout(self)
        grid.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        grid.setHorizontalSpacing(SPACE * 2)
        grid.setVerticalSpacing(2)
        for place, (key, what) in enumerate(KEYS):
            name = label(key)
            font = name.font()
            font.setBold(True)
            name.setFont(font)
            grid.addWidget(name, place, 0)
            grid.addWidget(label(what, "muted"), place, 1)
        grid.setColumnStretch(1, 1)
        self.hide()

    def toggle(self) -> None:
        """Show it, or hide it."""
        self.setVisible(self.isHidden())

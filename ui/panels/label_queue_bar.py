"""The line above the labels: which samples are in turn, by what seed, and the way out to files."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QMenu, QSpinBox, QToolButton, QWidget

from ui.diff.controls import BAR, button, label, row
from ui.diff.elided import ElidedLabel

FORMATS = (("JSON lines…", "jsonl"), ("Table (CSV)…", "csv"), ("Label Studio (JSON)…", "json"))
"""Words and file endings."""


class LabelQueueBar(QWidget):
    """`changed` when another queue is wanted; `export_asked(ending)` and `import_asked` for files."""

    changed = Signal()
    export_asked = Signal(str)
    import_asked = Signal()

    def __init__(self, kinds: list[str]) -> None:
        """Offer these kinds of queue."""
        super().__init__()
        self.kind, self.seed, self.said = QComboBox(), QSpinBox(), ElidedLabel("muted")
        self.kind.addItems(kinds)
        self.kind.setAccessibleName("Which samples to label")
        self.seed.setRange(0, 2**31 - 1)
        self.seed.setAccessibleName("Seed of the random order")
        self.seed.lineEdit().setAccessibleName("Seed of the random order")
        self.seed.setFixedWidth(100)
        self.seed.setToolTip("The same seed gives the same order")
        self.kind.currentIndexChanged.connect(self.changed)
        self.seed.valueChanged.connect(self.changed)
        parts = (label("Queue", "muted"), self.kind, label("Seed", "muted"), self.seed, self.said, self._files())
        row(*parts, margins=BAR, owner=self).setStretch(4, 1)

    def _files(self) -> QToolButton:
        made = button("Files", "Export labels, or import them from Label Studio", lambda: None)
        made.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(made)
        for words, ending in FORMATS:
            menu.addAction(f"Export {words}").triggered.connect(lambda _=False, ending=ending: self._ask(ending))
        menu.addSeparator()
        menu.addAction("Import from Label Studio…").triggered.connect(lambda: self.import_asked.emit())
        made.setMenu(menu)
        return made

    def _ask(self, ending: str) -> None:
        self.export_asked.emit(ending)

"""What stands in the middle before a project is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from rtc_inspector.ui.style.controls import column, label, on_ground, push, row
from rtc_inspector.ui.style.text_size import grown
from rtc_inspector.ui.style.theme import SPACE

TITLE = "How well does a local model understand your code?"
TEXT = (
    "Open a Python project that has tests. RTC Inspector takes regions that the tests can judge, has a model on this "
    "machine describe each one and write it again from that and the code around it, and runs the tests on the result."
)
RECENT = 5
LONGEST = 60
"""Characters of a recent project's folder."""
DROP = 72
WIDEST = 620
"""Pixels for text of the usual size; longer lines read badly."""


class Welcome(QWidget):
    """`folder_asked`, `database_asked`, `demo_asked`, and `project_chosen` for a recent one."""

    folder_asked = Signal()
    database_asked = Signal()
    demo_asked = Signal()
    project_chosen = Signal(object)

    def __init__(self, recent: Sequence[Path]) -> None:
        """Offer these recent projects."""
        super().__init__()
        on_ground(self, "surface")
        self.recent = column(spacing=SPACE // 2)
        for root in recent[:RECENT]:
            self.recent.addWidget(self._link(root))
        self._lay_out()

    def _lay_out(self) -> None:
        hint = label("…or drop a project folder, a GGUF file or a database of runs here", "drop")
        hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        hint.setMinimumHeight(DROP)
        folder = push("Open folder…", "", self.folder_asked.emit)
        folder.setProperty("role", "primary")
        self.setFocusProxy(folder)
        demo = push("Try the demo", "", self.demo_asked.emit)
        database = push("Open database…", "", self.database_asked.emit)
        title, text = label(TITLE, "title", wrap=True), label(TEXT, "muted", wrap=True)
        self._page = QWidget()
        inner = QVBoxLayout(self._page)
        inner.setSpacing(SPACE * 2)
        inner.addStretch(2)
        inner.addLayout(column(title, text, row(folder, demo, database, None), hint, self.recent, spacing=SPACE * 2))
        inner.addStretch(3)
        margins = SPACE * 4, SPACE * 2, SPACE * 4, SPACE * 2
        around = row(None, self._page, None, margins=margins, owner=self)
        around.setStretch(1, 100)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Keep lines as long as is easily read, whatever the size of the text."""
        super().resizeEvent(event)
        self._page.setMaximumWidth(grown(self, WIDEST))

    def _link(self, root: Path) -> QPushButton:
        """Return a button for a recent project."""
        link = QPushButton(f"{root.name}   {_end_of(root.parent)}")
        link.setToolTip(str(root))
        link.setProperty("role", "flat")
        link.setStyleSheet("text-align: left;")
        link.setAccessibleName(f"Open project {root}")
        link.clicked.connect(lambda: self.project_chosen.emit(root))
        return link


def _end_of(folder: Path) -> str:
    """Return the folder, shortened at its beginning: its end says which one it is."""
    path = str(folder)
    return path if len(path) <= LONGEST else f"…{path[-LONGEST:]}"

"""What stands in the middle before a project is open."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ui.style.text_size import grown
from ui.style.theme import SPACE

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

    def __init__(self, recent: Sequence[Path], parent: QWidget | None = None) -> None:
        """Offer these recent projects."""
        super().__init__(parent)
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.recent = QVBoxLayout()
        self.recent.setSpacing(SPACE // 2)
        self._lay_out()
        self.show_recent(recent)

    def _lay_out(self) -> None:
        title, text = QLabel(TITLE), QLabel(TEXT)
        title.setProperty("role", "title")
        text.setProperty("role", "muted")
        for label in (title, text):
            label.setWordWrap(True)
        hint = QLabel("…or drop a project folder, a GGUF file or a database of runs here")
        hint.setProperty("role", "drop")
        hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        hint.setMinimumHeight(DROP)
        inner = QVBoxLayout()
        inner.setSpacing(SPACE * 2)
        inner.addStretch(2)
        for part in (title, text):
            inner.addWidget(part)
        inner.addLayout(self._buttons())
        inner.addWidget(hint)
        inner.addLayout(self.recent)
        inner.addStretch(3)
        self._page = page = QWidget()
        page.setLayout(inner)
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE * 4, SPACE * 2, SPACE * 4, SPACE * 2)
        row.addStretch(1)
        row.addWidget(page, 100)
        row.addStretch(1)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Qt: lines as long as is easily read, whatever the size of the text."""
        super().resizeEvent(event)
        self._page.setMaximumWidth(grown(self, WIDEST))

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(SPACE)
        wanted = (
            ("Open folder…", self.folder_asked, "primary"),
            ("Try the demo", self.demo_asked, ""),
            ("Open database…", self.database_asked, ""),
        )
        for text, signal, role in wanted:
            button = QPushButton(text)
            button.setProperty("role", role)
            button.clicked.connect(signal)
            row.addWidget(button)
            if role:
                self.setFocusProxy(button)
        row.addStretch(1)
        return row

    def show_recent(self, projects: Sequence[Path]) -> None:
        """Offer these projects."""
        while self.recent.count():
            old = self.recent.takeAt(0)
            widget = old.widget() if old else None
            if widget is not None:
                widget.deleteLater()
        for root in projects[:RECENT]:
            button = QPushButton(f"{root.name}   {_end_of(root.parent)}")
            button.setToolTip(str(root))
            button.setProperty("role", "flat")
            button.setStyleSheet("text-align: left;")
            button.setAccessibleName(f"Open project {root}")
            button.clicked.connect(partial(self._choose, root))
            self.recent.addWidget(button)

    def _choose(self, root: Path, checked: bool = False) -> None:
        self.project_chosen.emit(root)


def _end_of(folder: Path) -> str:
    """The folder, shortened at its beginning: its end says which one it is."""
    path = str(folder)
    return path if len(path) <= LONGEST else f"…{path[-LONGEST:]}"

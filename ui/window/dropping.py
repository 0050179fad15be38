"""What may be dropped on the window: a project, a model file, a database; and what it says while that is over it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLabel, QWidget

from ui.style.theme import SPACE

DATABASE_ENDINGS = frozenset({".sqlite", ".sqlite3", ".db"})
PROJECT_ENDINGS = frozenset({".jsonl", ".json", ".gz", ".ipynb"})
"""Of files of problems or cells, which stand for a project."""


class Dropping(QObject):
    """`project_dropped`, `model_dropped` and `database_dropped` carry a path each."""

    project_dropped = Signal(object)
    model_dropped = Signal(object)
    database_dropped = Signal(object)

    def __init__(self, window: QWidget) -> None:
        """Accept drops from now on."""
        super().__init__(window)
        self._window = window
        self.hint = QLabel(window)
        self.hint.setProperty("role", "dropping")
        self.hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.hint.setWordWrap(True)
        self.hint.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Qt: follow what is dragged over the window; anything else is refused, and its pointer says so."""
        kind = event.type()
        if kind == QEvent.Type.DragLeave:
            self.hint.hide()
        elif kind in (QEvent.Type.DragEnter, QEvent.Type.Drop) and isinstance(event, QDropEvent):
            paths = _paths(event.mimeData())
            # Refused, the pointer says so before anything is dropped.
            event.setAccepted(bool(paths))
            if kind == QEvent.Type.DragEnter:
                self._show_hint(paths)
            else:
                self.hint.hide()
                self._open(paths)
            return True
        return False

    def _show_hint(self, paths: Sequence[Path]) -> None:
        if paths:
            self.hint.setText("\n".join(_promise(path) for path in paths))
            self.hint.setGeometry(self._window.rect().adjusted(SPACE, SPACE, -SPACE, -SPACE))
            self.hint.show()
            self.hint.raise_()

    def _open(self, paths: Sequence[Path]) -> None:
        for path in paths:
            if _is_project(path):
                self.project_dropped.emit(path)
            elif path.suffix == ".gguf":
                self.model_dropped.emit(path)
            else:
                self.database_dropped.emit(path)


def _paths(data: QMimeData) -> list[Path]:
    """What of it the window can open."""
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return [path for path in paths if _is_project(path) or path.suffix in {".gguf", *DATABASE_ENDINGS}]


def _is_project(path: Path) -> bool:
    return path.is_dir() or path.suffix in PROJECT_ENDINGS


def _promise(path: Path) -> str:
    if _is_project(path):
        return f"Drop to open {path.name}"
    if path.suffix == ".gguf":
        return f"Drop to use {path.name} as the forward model"
    return f"Drop to show the runs in {path.name}"

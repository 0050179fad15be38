"""What can be opened: recent projects and databases as menus, others by a dialog or by dropping them on the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QMenu, QWidget

from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.style.theme import SPACE

Open = Callable[[Path], object]


class OpenMenus:
    """The two menus of what was opened last, and the dialogs that ask for something else."""

    def __init__(self, window: QWidget, remembered: Remembered, open_project: Open, open_database: Open) -> None:
        """Dialogs stand over `window`."""
        self._window, self._remembered = window, remembered
        self._open_project, self._open_database = open_project, open_database
        self.projects, self.databases = QMenu("Recent projects", window), QMenu("Recent databases", window)

    def commands(self) -> Mapping[str, Callable[[], object]]:
        """Return the handlers of the actions that open something, by the actions' names."""
        return {"open-project": self.ask_project, "open-file": self.ask_file, "open-database": self.ask_database}

    def ask_project(self) -> None:
        """Let the user name a project folder."""
        folder = QFileDialog.getExistingDirectory(self._window, "Open the folder of a Python project")
        if folder:
            self._open_project(Path(folder))

    def ask_file(self) -> None:
        """Let the user name a file of problems, directives or cells."""
        kinds = "Benchmarks, directives, notebooks (*.jsonl *.json *.gz *.ipynb);;All files (*)"
        path, _ = QFileDialog.getOpenFileName(self._window, "Open a benchmark or notebook", "", kinds)
        if path:
            self._open_project(Path(path))

    def ask_database(self) -> None:
        """Let the user name a database."""
        kinds = "Databases (*.sqlite *.sqlite3 *.db);;All files (*)"
        path, _ = QFileDialog.getOpenFileName(self._window, "Open a database of runs", "", kinds)
        if path:
            self._open_database(Path(path))

    def fill(self) -> None:
        """List what was opened last."""
        _list_paths(self.projects, self._remembered.projects(), self._open_project)
        _list_paths(self.databases, self._remembered.databases(), self._open_database)


def _list_paths(menu: QMenu, paths: Sequence[Path], open_path: Open) -> None:
    """List one entry a path."""
    menu.clear()
    menu.setEnabled(bool(paths))
    for path in paths:
        menu.addAction(str(path)).triggered.connect(lambda _=False, path=path: open_path(path))


DATABASE_ENDINGS = frozenset({".sqlite", ".sqlite3", ".db"})
PROJECT_ENDINGS = frozenset({".jsonl", ".json", ".gz", ".ipynb"})
"""Of files of problems or cells, which stand for a project."""


class Dropping(QObject):
    """Opens what is dropped on the window, and shows a hint while it is dragged over it."""

    def __init__(self, window: QWidget, open_project: Open, open_database: Open, use_model: Open) -> None:
        """Accept drops from now on."""
        super().__init__(window)
        self._window = window
        self._open_project, self._open_database, self._use_model = open_project, open_database, use_model
        self.hint = QLabel(window, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.hint.setProperty("role", "dropping")
        self.hint.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Follow what is dragged over the window; anything else is refused, and its pointer says so."""
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
                self._open_project(path)
            elif path.suffix == ".gguf":
                self._use_model(path)
            else:
                self._open_database(path)


def _paths(data: QMimeData) -> list[Path]:
    """Return the paths of what is dragged that the window can open."""
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

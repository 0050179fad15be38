"""Projects and databases to open: the recent ones as menus, others by a dialog."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from ui.shell.remembered import Remembered


class OpenMenus(QObject):
    """`project_chosen` and `database_chosen` carry a path."""

    project_chosen = Signal(object)
    database_chosen = Signal(object)

    def __init__(self, window: QWidget, remembered: Remembered) -> None:
        """Dialogs stand over `window`."""
        super().__init__(window)
        self._window, self._remembered = window, remembered
        self.projects, self.databases = QMenu("Recent projects", window), QMenu("Recent databases", window)

    def commands(self) -> Mapping[str, Callable[[], object]]:
        """What can be done here, by the name of its action."""
        return {"open-project": self.ask_project, "open-file": self.ask_file, "open-database": self.ask_database}

    def ask_project(self) -> None:
        """Let the user name a project folder."""
        folder = QFileDialog.getExistingDirectory(self._window, "Open the folder of a Python project")
        if folder:
            self.project_chosen.emit(Path(folder))

    def ask_file(self) -> None:
        """Let the user name a file of problems, directives or cells."""
        kinds = "Benchmarks, directives, notebooks (*.jsonl *.json *.gz *.ipynb);;All files (*)"
        path, _ = QFileDialog.getOpenFileName(self._window, "Open a benchmark or notebook", "", kinds)
        if path:
            self.project_chosen.emit(Path(path))

    def ask_database(self) -> None:
        """Let the user name a database."""
        kinds = "Databases (*.sqlite *.sqlite3 *.db);;All files (*)"
        path, _ = QFileDialog.getOpenFileName(self._window, "Open a database of runs", "", kinds)
        if path:
            self.database_chosen.emit(Path(path))

    def fill(self) -> None:
        """List what was opened last."""
        _list_paths(self.projects, self._remembered.projects(), self.project_chosen)
        _list_paths(self.databases, self._remembered.databases(), self.database_chosen)


def _list_paths(menu: QMenu, paths: Sequence[Path], chosen: SignalInstance) -> None:
    """One entry a path."""
    menu.clear()
    menu.setEnabled(bool(paths))
    for path in paths:
        menu.addAction(str(path)).triggered.connect(partial(_choose, chosen, path))


def _choose(chosen: SignalInstance, path: Path, checked: bool = False) -> None:
    chosen.emit(path)

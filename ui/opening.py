"""What waits for what while a window opens: a run is shown first, then its project is read, then models are found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from ui.ahead import Ahead
from ui.inspection import Wanted
from ui.preloading import preload, preload_rest

if TYPE_CHECKING:
    from ui.main_window import MainWindow

LONGEST_WAIT = 3000
"""Milliseconds that reading files waits for the run that is to be shown."""


class Opening(QObject):
    """Of one window, from its first project on."""

    def __init__(self, window: MainWindow) -> None:
        """Load in the background what the first region needs; look for models even if nothing is opened."""
        super().__init__(window)
        self._window = window
        self._postponed: Path | None = None
        self._searched = False
        self.ahead = Ahead(window)
        window.browsing.settled.connect(self._go_on)
        window.project.absent.connect(self._look_for_models)
        preload(window.gateway)
        QTimer.singleShot(LONGEST_WAIT, self._look_for_models)

    def open_project(self, root: Path) -> None:
        """Open a project folder, with its newest run if the database has one."""
        window, root = self._window, root.expanduser().absolute()
        if window.inspection.database is None or not root.is_dir():
            window.project.open(root)
            return
        self._postponed = root
        QTimer.singleShot(LONGEST_WAIT, self.open_postponed)
        window.inspection.choose_run(Wanted(root=str(root)))

    def open_postponed(self) -> None:
        """Read the project's files once its run is shown, so that the two do not slow each other down."""
        root, self._postponed = self._postponed, None
        if root is not None and self._window.project.root != root:
            self._window.project.open(root)

    def _go_on(self) -> None:
        """The views stand: files may be read, the project's first."""
        project = self._window.project
        self.open_postponed()
        if project.root is None or project.codebase is not None:
            self._look_for_models()

    def _look_for_models(self) -> None:
        """Once, when run and project are shown or none came: reading other files must not hold them up."""
        if not self._searched:
            self._searched = True
            self._window.models.search()
            preload_rest(self._window.gateway, self.ahead.begin)

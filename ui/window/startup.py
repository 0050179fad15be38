"""What waits for what while a window opens: a run is shown first, then its project is read, then models are found."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.oracle.bench.project import origin_of
from rtc_inspector.core.source.notebook import has_notebooks
from rtc_inspector.ui.background.turns import IdleWork
from rtc_inspector.ui.diff.colouring import lexer_for
from rtc_inspector.ui.diff.rows import compare
from rtc_inspector.ui.reading.inspection import Inspection, Wanted
from rtc_inspector.ui.reading.open_project import OpenProject


def _load_for_a_region() -> None:
    """Load, while the store is read, the tables of Python's lexer and what lines are paired with."""
    # Called, not only imported: the lexer works its tables out when it is first made.
    lexer_for("")
    compare("a", "b")


def _load_rest() -> None:
    """Load, once everything is on show, what labels and figures are made with."""
    for name in (
        "rtc_inspector.core.store.writer",
        "rtc_inspector.ui.figures.view",
        "rtc_inspector.ui.compare.page",
        "rtc_inspector.core.analyses.registry",
        "scipy.special",
    ):
        import_module(name)


LONGEST_WAIT = 3000
"""Milliseconds that reading files waits for the run that is to be shown."""


class Opening(QObject):
    """Of one window, from its first project on. `begun` when a project is about to be shown."""

    begun = Signal()

    def __init__(
        self, inspection: Inspection, project: OpenProject, search_models: Callable[[], object], idle: IdleWork
    ) -> None:
        """Load in the background what the first region needs; look for models even if nothing is opened."""
        super().__init__(project)
        self._gateway, self._inspection, self._project = project.gateway, inspection, project
        self._search_models, self.idle = search_models, idle
        self._postponed: Path | None = None
        self._searched = False
        project.absent.connect(self._look_for_models)
        self._gateway.submit("preload", _load_for_a_region)
        QTimer.singleShot(LONGEST_WAIT, self._look_for_models)

    def open_project(self, root: Path) -> None:
        """Open a project folder, with its newest run if the database has one.

        A file of problems or cells stands for the folder that is generated from it, and so may a folder of notebooks.
        """
        root = root.expanduser().absolute()
        if root.is_file() or has_notebooks(root):
            self._gateway.submit("generated", partial(_generated, root), self._open_folder)
        else:
            self._open_folder(root)

    def _open_folder(self, root: Path) -> None:
        root = root.resolve()  # as runs name their projects
        self.begun.emit()
        self._postponed = None
        self._inspection.choose_run(Wanted(root=str(root), file=origin_of(root).file))
        if self._inspection.database is None or not root.is_dir():
            self._project.open(root)
            return
        self._postponed = root
        # A database that cannot be read must not keep the project from being opened.
        QTimer.singleShot(LONGEST_WAIT, self.open_postponed)

    def open_postponed(self) -> None:
        """Read the project's files once its run is shown, so that the two do not slow each other down."""
        root, self._postponed = self._postponed, None
        # Something else may be looked at by now, and a benchmark's run may be of a folder that is like this one.
        if root is not None and self._inspection.looked_at.project == root != self._project.root:
            self._project.open(root)

    def go_on(self) -> None:
        """Go on to read files, the project's first, now that the views stand."""
        project = self._project
        self.open_postponed()
        if project.root is None or project.codebase is not None:
            self._look_for_models()

    def _look_for_models(self) -> None:
        """Look for models once, when run and project are shown or none came: that must not hold them up."""
        if not self._searched:
            self._searched = True
            self._search_models()
            # What cannot be loaded says so when it is asked for.
            self._gateway.submit("preload rest", _load_rest, lambda _: self.idle.begin(), lambda _: self.idle.begin())


def _generated(file: Path) -> Path:
    """Return the folder of the project that a file stands for. Raises ProjectError.

    Loaded when it is first asked: it reads and writes whole benchmarks.
    """
    from rtc_inspector.core.trips.files import project_for

    root = project_for(file)
    if root is None and file.is_dir():
        return file
    if root is None:
        remedy = "Open a folder, a benchmark (.jsonl, .json, .gz) or a notebook (.ipynb)."
        raise ProjectError(f"{file.name} is no file that stands for a project.", remedy)
    return root

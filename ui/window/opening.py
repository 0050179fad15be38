"""What can be opened, and what waits for what while it is: the run first, then its project, then models."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QMenu, QWidget

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.oracle.bench.project import origin_of
from rtc_inspector.core.source.notebook import has_notebooks
from rtc_inspector.ui.background.gateway import IdleWork
from rtc_inspector.ui.diff.colouring import lexer_for
from rtc_inspector.ui.diff.rows import compare
from rtc_inspector.ui.reading.inspection import Inspection, Wanted
from rtc_inspector.ui.reading.open_project import OpenProject
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.style.controls import called
from rtc_inspector.ui.style.theme import SPACE

Open = Callable[[Path], object]

DATABASE_ENDINGS = frozenset({".sqlite", ".sqlite3", ".db"})
PROJECT_ENDINGS = frozenset({".jsonl", ".json", ".gz", ".ipynb"})
"""Of files of problems or cells, which stand for a project."""


class WaysToOpen(QObject):
    """The two menus of what was opened last, the dialogs that ask for something else, and dropping on the window."""

    def __init__(
        self, window: QWidget, remembered: Remembered, open_project: Open, open_database: Open, use_model: Open
    ) -> None:
        super().__init__(window)
        self._window, self._remembered = window, remembered
        self._open_project, self._open_database, self._use_model = open_project, open_database, use_model
        self.projects, self.databases = QMenu("Recent projects", window), QMenu("Recent databases", window)
        self.hint = called(QLabel(window, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True), role="dropping")
        self.hint.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {"open-project": self.ask_project, "open-file": self.ask_file, "open-database": self.ask_database}

    def ask_project(self) -> None:
        folder = QFileDialog.getExistingDirectory(self._window, "Open the folder of a Python project")
        if folder:
            self._open_project(Path(folder))

    def ask_file(self) -> None:
        kinds = "Benchmarks, directives, notebooks (*.jsonl *.json *.gz *.ipynb)"
        self._ask_file("Open a benchmark or notebook", kinds, self._open_project)

    def ask_database(self) -> None:
        self._ask_file("Open a database of runs", "Databases (*.sqlite *.sqlite3 *.db)", self._open_database)

    def _ask_file(self, title: str, kinds: str, act: Open) -> None:
        path, _ = QFileDialog.getOpenFileName(self._window, title, "", f"{kinds};;All files (*)")
        if path:
            act(Path(path))

    def fill(self) -> None:
        _list_paths(self.projects, self._remembered.projects(), self._open_project)
        _list_paths(self.databases, self._remembered.databases(), self._open_database)

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
                if paths:
                    self.hint.setText("\n".join(f"Drop to {_kind(path)[1].format(path.name)}" for path in paths))
                    self.hint.setGeometry(self._window.rect().adjusted(SPACE, SPACE, -SPACE, -SPACE))
                    self.hint.show()
                    self.hint.raise_()
            else:
                self.hint.hide()
                self._open(paths)
            return True
        return False

    def _open(self, paths: Sequence[Path]) -> None:
        acts = {"project": self._open_project, "model": self._use_model, "database": self._open_database}
        for path in paths:
            acts[_kind(path)[0]](path)


def _list_paths(menu: QMenu, paths: Sequence[Path], open_path: Open) -> None:
    menu.clear()
    menu.setEnabled(bool(paths))
    for path in paths:
        menu.addAction(str(path)).triggered.connect(lambda _=False, path=path: open_path(path))


def _paths(data: QMimeData) -> list[Path]:
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return [path for path in paths if _kind(path)[0]]


def _kind(path: Path) -> tuple[str, str]:
    """Return what a path is, and what becomes of it where it is dropped; empty for anything else."""
    if path.is_dir() or path.suffix in PROJECT_ENDINGS:
        return "project", "open {}"
    if path.suffix == ".gguf":
        return "model", "use {} as the forward model"
    return ("database", "show the runs in {}") if path.suffix in DATABASE_ENDINGS else ("", "")


def _load_for_a_region() -> None:
    """Load, while the store is read, the tables of Python's lexer and what lines are paired with."""
    # Called, not only imported: the lexer works its tables out when it is first made.
    lexer_for("")
    compare("a", "b")


def _load_rest() -> None:
    """Load, once everything is on show, what labels and figures are made with."""
    ours = "core.store.writer", "ui.figures.view", "ui.compare.page", "core.analyses.analyse"
    for name in (*(f"rtc_inspector.{each}" for each in ours), "scipy.special"):
        import_module(name)


LONGEST_WAIT = 3000  # milliseconds that reading files waits for the run that is to be shown


class Opening(QObject):
    """The opening of projects in one window, from the first on. `begun` when a project is about to be shown."""

    begun = Signal()

    def __init__(
        self, inspection: Inspection, project: OpenProject, search_models: Callable[[], object], idle: IdleWork
    ) -> None:
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

"""Opens the window: application, theme, settings, and what happens to errors nobody caught."""

import os
import signal
import sys
import threading
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QSettings, QTimer
from PySide6.QtWidgets import QApplication

from rtc_inspector import resources
from rtc_inspector.app.options import bundles_folder, taxonomy_folder
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.files import hold_open
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.style.appearance import Appearance
from rtc_inspector.ui.window.collector import Collector

NAME = "rtc-inspector"
FIRST_LOOK = 800  # milliseconds after the first run is shown until the tour begins, if it was never seen
SIGNAL_CHECK = 200  # milliseconds between two chances for Python to see Ctrl-C in the terminal


def open_window(project: Path | None, database: Path, start: RunSettings | None) -> int:
    """Show the window and stay until it is closed; with `start`, begin that run at once.

    Without a project the last one is opened.
    """
    hold_open()
    remembered = Remembered(QSettings(NAME, NAME), taxonomy_folder(), bundles_folder())
    if remembered.scale != 100:
        os.environ.setdefault("QT_SCALE_FACTOR", str(remembered.scale / 100))  # before Qt starts
    app = QApplication.instance() or QApplication([NAME])
    assert isinstance(app, QApplication)
    app.setApplicationName(NAME)
    app.setApplicationDisplayName("RTC Inspector")
    app.setDesktopFileName(NAME)
    collector = Collector(app)
    window = MainWindow(Appearance(app, remembered.theme), remembered)
    _show_uncaught(window)
    signal.signal(signal.SIGINT, lambda number, frame: window.end())  # Ctrl-C in the terminal
    pulse = QTimer(window)
    pulse.timeout.connect(lambda: None)
    pulse.start(SIGNAL_CHECK)
    window.show()
    collector.settle()
    window.inspection.overview_changed.connect(collector.note_rows)
    window.inspection.run_chosen.connect(lambda _: QTimer.singleShot(FIRST_LOOK, window.greet))
    _begin(window, project or next(iter(remembered.projects()), None), database, start)
    status = app.exec()
    pulse.stop()
    return status


def _begin(window: MainWindow, project: Path | None, database: Path, start: RunSettings | None) -> None:
    window.open_database(database, project.expanduser().resolve() if project else None)
    if project is not None:
        window.open_project(project)
    if start is not None and project == resources.path("demo"):
        window.start_demo(start)
    elif start is not None:
        window.start_run(start)
        window.guide.await_end()


def _show_uncaught(window: MainWindow) -> None:
    """Turn an error that nobody caught into a notice with details to copy, and a trace in the terminal."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, KeyboardInterrupt):
            window.end()
            return
        sys.__excepthook__(kind, error, trace)
        window.uncaught.emit(error)

    sys.excepthook = hook
    threading.excepthook = lambda args: hook(args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback)

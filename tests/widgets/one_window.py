"""One window for the tests of a file, which takes longer to make than most of them; each finds it as if just opened."""

from __future__ import annotations

import gc
import threading
from pathlib import Path

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtWidgets import QApplication
from store_cases import Filled
from themes import light
from waiting import wait_until

from rtc_inspector.core.settings import RunSettings
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.shell.remembered import Remembered


class OneWindow:
    """Holds at most one window: beside another one, whatever is made or shown is styled with that one anew."""

    def __init__(self, app: QApplication, folder: Path) -> None:
        self._app, self._folder = app, folder
        self._made = 0
        self._window: MainWindow | None = None

    def fresh(self, remembered: Remembered | None = None) -> MainWindow:
        """Return an empty window that nobody has used."""
        self.close()
        self._made += 1
        settings = QSettings(str(self._folder / f"{self._made}.ini"), QSettings.Format.IniFormat)
        self._window = made = MainWindow(light(self._app), remembered or Remembered(settings))
        made.resize(1280, 800)
        made.show()
        made.activateWindow()
        return made

    def over(self, case: Filled) -> MainWindow:
        """Return the window with this run on show; the one there is, if it still stands."""
        if self._window is None or not shiboken6.isValid(self._window) or not self._window.isVisible():
            return opened(self.fresh(), case)
        as_new(self._window)
        return self._window if self._window.inspection.database == case.database else opened(self._window, case)

    def close(self) -> None:
        """Close the window there is, which must leave no thread behind."""
        if self._window is None:
            return
        if shiboken6.isValid(self._window):
            self._window.close()
            wait_until(lambda: self._window is None or not self._window.isVisible())
            self._window.deleteLater()
            self._window = None
            gc.collect(1)
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            QApplication.processEvents()
        self._window = None
        assert not [each.name for each in threading.enumerate() if each.name.startswith(("gateway", "coordinator"))]


def opened(window: MainWindow, case: Filled) -> MainWindow:
    """Show the run of a case and its project."""
    window.open_database(case.database, case.root)
    window.open_project(case.root)
    wait_until(
        lambda: (
            window.inspection.database == case.database
            and window.inspection.run is not None
            and window.project.codebase is not None
            and window.project.root == case.root
        )
    )
    wait_until(lambda: window.parts.code.path)
    return window


def as_new(window: MainWindow) -> None:
    """Take back what a test may have done: sizes, folds, tabs, notices, settings, and what is looked at."""
    while (popup := QApplication.activePopupWidget()) is not None:
        popup.close()
    parts = window.parts
    parts.leave_page()
    window.resize(1280, 800)
    window.reset_layout()
    parts.tabs.setCurrentIndex(0)
    while parts.notices.notices:
        parts.notices._dismiss()
    for offer in list(parts.offers.offers):
        parts.offers.withdraw(offer.key)
    parts.bar.search.clear()
    window.control.adopt(RunSettings())
    shown = parts.regions.regions.shown
    if shown:
        parts.regions.table.setCurrentIndex(parts.regions.regions.index(0, 1))
        window.inspection.choose_item(shown[0].id)
    window.browsing.follow = True
    window.activateWindow()
    parts.regions.table.setFocus()
    wait_until(lambda: not window.gateway._waiting)

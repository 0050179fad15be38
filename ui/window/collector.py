"""Keeps Python's own housekeeping out of background threads, and from holding the window up.

A search for reference cycles may destroy what it finds, and runs in whichever thread asks for memory. What Qt shows
must not be destroyed outside of the window's thread: the process could crash. So Python no longer searches by itself.
"""

import gc
import sys
import time

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

from rtc_inspector.ui.reading.inspection import Overview

PAUSE = 1000  # milliseconds between two looks whether there is something to search
YOUNG, MIDDLE, OLD = 5_000, 10, 10
"""New objects that are worth a search, and how many searches pass until older objects are searched too."""
READ = 25_000  # so many objects are rows that were read: searching them would take long, and find nothing
THOROUGH = 600.0  # seconds between two searches of everything, which need a moment when the user looks elsewhere
ROWS = 2_000  # rows of a run from which on they are laid aside each time they are read
TURN = 0.0001
"""Seconds a background thread computes before the window's thread may; many calls of Qt hand their turn over."""


class Collector(QObject):
    """Searches for reference cycles in the thread it is made in, a little at a time."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        sys.setswitchinterval(TURN)
        self._laid_aside, self._thorough = False, time.monotonic()
        self._timer = QTimer(self, interval=PAUSE)
        self._timer.timeout.connect(self.search)
        self._timer.start()

    def settle(self) -> None:
        """Exempt from searches what is loaded by now. Call once, when the window stands."""
        gc.collect()
        gc.freeze()

    def search(self) -> None:
        """Search new objects, now and then older ones too; lay aside what is too much to search."""
        # Counts go on while the search is off; only nobody acts on them.
        young, middle, old = gc.get_count()
        if young >= READ:
            self.lay_aside()
        elif young >= YOUNG:
            gc.collect(2 if old >= OLD else 1 if middle >= MIDDLE else 0)
        if (
            self._laid_aside
            and time.monotonic() - self._thorough > THOROUGH
            and QGuiApplication.applicationState() != Qt.ApplicationState.ApplicationActive
        ):
            gc.unfreeze()
            self.settle()
            self._laid_aside, self._thorough = False, time.monotonic()

    def lay_aside(self) -> None:
        """Do not search what is there now; what nobody holds any more ends all the same.

        Python counts what came less what went, so it does not notice rows that take the place of others. To look at
        the objects themselves (`gc.get_objects`) would spoil tuples that other threads are just making.
        """
        gc.freeze()
        self._laid_aside = True

    def note_rows(self, overview: Overview) -> None:
        """Lay rows aside when many were read, perhaps in place of others."""
        if len(overview.items) >= ROWS:
            self.lay_aside()

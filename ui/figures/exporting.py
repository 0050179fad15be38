"""Writing what is on show to files: as a picture or as a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QWidget

from rtc_inspector.ui.shell.fields import ask_where
from rtc_inspector.ui.style.controls import MenuButton, to_clipboard

SCALE = 2
"""Pixels of a picture for each on screen."""
SMALLEST = QSize(760, 440)
"""Of what is drawn, before it is scaled, unless its own size is fixed."""


def write_picture(shown: QWidget, path: Path) -> None:
    """Write the widget as it looks, in room enough for its words, at twice its size. Raises OSError."""
    # Drawn larger than it may stand in a narrow window, where half of the names would be cut off.
    before, size = shown.geometry(), shown.size().expandedTo(SMALLEST).boundedTo(shown.maximumSize())
    picture = QPixmap(size * SCALE)
    picture.setDevicePixelRatio(SCALE)
    shown.resize(size)
    layout = shown.layout()
    if layout is not None:
        # Qt would lay it out in the next turn of the loop: after the picture.
        layout.activate()
    shown.render(picture)
    shown.setGeometry(before)
    if not picture.save(str(path)):
        raise OSError(f"{path} could not be written")


class ExportButton(MenuButton):
    """A menu: picture, table, copy the table. `failed(problem)` when a file cannot be written."""

    failed = Signal(str)

    def __init__(self, name: str, shown: Callable[[], QWidget], csv: Callable[[], str]) -> None:
        """`name`: what is exported, also the file's name; `shown` and `csv` are asked when they are needed."""
        super().__init__("Export", f"Export this {name} as a picture or a table")
        self._name, self._shown, self._csv = name, shown, csv
        self.offer("Picture (PNG)…", lambda: self._ask("PNG", "png"))
        self.offer("Table (CSV)…", lambda: self._ask("CSV", "csv"))
        self.offer("Copy table", lambda: to_clipboard(self._csv()))

    def export(self, path: Path) -> None:
        """Write a table for `.csv`, else a picture. Raises OSError."""
        if path.suffix.lower() == ".csv":
            path.write_text(self._csv(), "utf-8", newline="")
        else:
            write_picture(self._shown(), path)

    def _ask(self, kind: str, ending: str) -> None:
        """Ask for a file name and write there."""
        path = ask_where(self, f"Export {self._name}", f"{self._name}.{ending}", f"{kind} (*.{ending})", ending)
        if path is None:
            return
        try:
            self.export(path)
        except OSError as error:
            self.failed.emit(f"The {self._name} could not be written: {error}. Choose another folder.")

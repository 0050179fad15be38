"""What reads the figures of runs while these go on, and the menu that exports one; loads no library that draws."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QWidget

from rtc_inspector.ui.reading.inspection import FIGURES, Inspection, Rereading
from rtc_inspector.ui.shell.fields import ask_where
from rtc_inspector.ui.style.controls import MenuButton, to_clipboard

if TYPE_CHECKING:
    from rtc_inspector.core.figures import Figure
    from rtc_inspector.core.store.reader import Reader


class FigureFeed(QObject):
    """Has shown what the analyses of the runs' kinds made of them, as they stand now."""

    def __init__(
        self, inspection: Inspection, parent: QObject, show: Callable[[list[Figure]], None], key: str = "figures"
    ) -> None:
        """`key`: feeds with other keys do not disturb each other."""
        super().__init__(parent)
        self._show = show
        self._runs: tuple[int, ...] = ()
        self._chosen: dict[str, str] = {}
        self._stale = False
        self._reading = Rereading(inspection, self, key, FIGURES, times=2)
        self._reading.rested.connect(self._ask)

    def note(self, *runs: int) -> None:
        """Read the runs on show, now or after a rest: something was stored for them, or they are others."""
        if runs != self._runs:
            self._runs = runs
            # Figures of the runs before must not come up under the names of these.
            self._reading.forget()
        self._stale = True
        self._ask()

    def choose(self, name: str, value: str) -> None:
        self._chosen[name] = value
        self._reading.forget()
        self.note(*self._runs)

    def _ask(self) -> None:
        if self._stale and self._runs and not self._reading.busy:
            self._stale = False
            runs, chosen = self._runs, dict(self._chosen)

            def question(reader: Reader) -> list[Figure]:
                from rtc_inspector.core.analyses.analyse import analyse  # in the background: the window opens sooner

                return analyse(reader, runs, chosen=chosen)

            self._reading.ask(question, self._show)


SCALE = 2  # pixels of a picture for each on screen
SMALLEST = QSize(760, 440)  # of what is drawn, before it is scaled, unless its own size is fixed


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
    """A menu: picture, table, copy the table. `warn` is told why a file could not be written."""

    def __init__(
        self, name: str, shown: Callable[[], QWidget], csv: Callable[[], str], warn: Callable[[str], object]
    ) -> None:
        super().__init__("Export", f"Export this {name} as a picture or a table")
        self._name, self._shown, self._csv, self._warn = name, shown, csv, warn
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
        path = ask_where(self, f"Export {self._name}", f"{self._name}.{ending}", f"{kind} (*.{ending})", ending)
        if path is None:
            return
        try:
            self.export(path)
        except OSError as error:
            self._warn(f"The {self._name} could not be written: {error}. Choose another folder.")

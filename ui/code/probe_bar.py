"""The line that says what a selection in the code comes to, and offers to try it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from core.types import Item, Region
from ui.style.controls import BAR, button, label
from ui.style.region_state import tests_said
from ui.style.theme import SPACE

CHECK_TIP = "See whether tests cover these statements and whether deleting them is noticed"
PROBE_TIP = "Run the whole round trip on these statements now, beside the run's own regions"


class ProbeBar(QWidget):
    """Hidden while nothing is selected. `check_asked` and `probe_asked` are about the region on show."""

    check_asked = Signal()
    probe_asked = Signal()

    def __init__(self) -> None:
        """Start hidden."""
        super().__init__()
        self.setProperty("role", "status")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Selected code")
        self.place, self.said = label(role="heading"), label(role="muted", wrap=True, selectable=True)
        self.said.setMinimumWidth(1)  # whatever it says, the window stays as wide as it is
        self.said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.check = button("Check tests  –", CHECK_TIP, self.check_asked.emit, flat=False)
        self.probe = button("Round trip  –", PROBE_TIP, self.probe_asked.emit, flat=False)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(*BAR)
        self._grid.setSpacing(SPACE)
        self._grid.setColumnStretch(1, 1)
        for column, part in enumerate((self.place, self.said, self.check, self.probe)):
            self._grid.addWidget(part, 0, column)
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """What is said may need a line of its own (called by Qt)."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Beside the place where there is room for the whole sentence, else below it."""
        shown = [part for part in (self.place, self.check, self.probe) if not part.isHidden()]
        room = self.width() - sum(part.sizeHint().width() + SPACE for part in shown) - 2 * SPACE
        below = self.said.fontMetrics().horizontalAdvance(self.said.text()) > room
        # Moved only where that changes anything: each move lays the bar out, which resizes it, which asks again.
        if below != (self._grid.getItemPosition(self._grid.indexOf(self.said))[0] == 1):  # type: ignore[index]
            self._grid.addWidget(self.said, *((1, 0, 1, 4) if below else (0, 1, 1, 1)))

    def show_region(self, region: Region | None, said: str) -> None:
        """Show whole statements, and what is known of them; None: what keeps the selection from being tried."""
        self.place.setText(_place(region) if region else "Nothing to try")
        self.say(said)
        self.check.setVisible(region is not None)
        self.probe.setVisible(region is not None)
        self._fit()
        self.show()

    def show_answer(self, item: Item) -> None:
        """Say what the tests say."""
        self.say(
            item.reason.capitalize() + "." if item.reason else f"{tests_said(item.tests)}; deleting it is noticed."
        )

    def say(self, text: str) -> None:
        """Say something about the selection."""
        self.said.setText(text)
        self._fit()


def _place(region: Region) -> str:
    if region.start_line == region.end_line:
        return f"Line {region.start_line}"
    return f"Lines {region.start_line}–{region.end_line}"

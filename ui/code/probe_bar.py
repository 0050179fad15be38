"""The line that says what a selection in the code comes to, and offers to try it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from core.types import Item, Region
from ui.diff.controls import BAR, button, label, row
from ui.diff.elided import ElidedLabel
from ui.region_state import tests_said

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
        self.place, self.said = label(role="heading"), ElidedLabel("muted")
        self.check = button("Check tests  –", CHECK_TIP, self.check_asked.emit, flat=False)
        self.probe = button("Round trip  –", PROBE_TIP, self.probe_asked.emit, flat=False)
        bar = row(self.place, self.said, self.check, self.probe, margins=BAR, owner=self)
        bar.setStretch(1, 1)
        self.hide()

    def show_region(self, region: Region | None, said: str) -> None:
        """Show whole statements, and what is known of them; None: what keeps the selection from being tried."""
        self.place.setText(_place(region) if region else "Nothing to try")
        self.say(said)
        self.check.setVisible(region is not None)
        self.probe.setVisible(region is not None)
        self.show()

    def show_answer(self, item: Item) -> None:
        """Say what the tests say."""
        self.say(
            item.reason.capitalize() + "." if item.reason else f"{tests_said(item.tests)}; deleting it is noticed."
        )

    def say(self, text: str) -> None:
        """Say something about the selection."""
        self.said.setText(text)


def _place(region: Region) -> str:
    if region.start_line == region.end_line:
        return f"Line {region.start_line}"
    return f"Lines {region.start_line}–{region.end_line}"

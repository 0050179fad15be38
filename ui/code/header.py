"""The line above the code: which file, how many regions, whether it changed, and where to go next."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from rtc_inspector.core.kinds import counted
from rtc_inspector.ui.code.blocks import Placed
from rtc_inspector.ui.style.controls import button, label, on_ground, row, switch
from rtc_inspector.ui.style.fonts import bold
from rtc_inspector.ui.style.theme import SPACE


class PathLabel(QLabel):
    """Takes the room that its neighbours leave."""

    def __init__(self) -> None:
        """Empty until `show_path`."""
        super().__init__()
        self._path = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def show_path(self, path: str) -> None:
        """Show another path."""
        self._path = path
        self.setToolTip(path)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        # Measured in bold throughout: only the name is, so it may be a little shorter, never too long.
        shown = QFontMetrics(bold(self.font())).elidedText(
            self._path, Qt.TextElideMode.ElideLeft, max(self.width() - 4, 1)
        )
        head, slash, name = shown.rpartition("/")
        self.setText(f"{escape(head)}{slash}<b>{escape(name)}</b>" if self._path else "")


CANDIDATES = "Candidates"
ROOMY, NARROW = 600, 480
"""Pixels from which there is room for more than the name and the buttons, and for buttons that the menu has too."""


class CodeHeader(QWidget):
    """`go_asked` carries step and whether only failures count."""

    go_asked = Signal(int, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without a file."""
        super().__init__(parent)
        on_ground(self, "header")
        self.title, self.about = PathLabel(), label(role="caption")
        self.candidates = switch(CANDIDATES, "Show what the run could have drawn, and why it did not")
        self.dropped = switch("Dropped", "Show what was dropped, e.g. regions whose deletion no test noticed")
        self.failure = button("Next failure", "Next failure", lambda: self.go_asked.emit(1, True))
        self.previous = button("", "Previous region or edit", lambda: self.go_asked.emit(-1, False), icon="previous")
        self.next = button("", "Next region or edit", lambda: self.go_asked.emit(1, False), icon="next")
        self._offers_candidates, self._has_failure = True, False
        buttons = (self.candidates, self.dropped, self.failure, self.previous, self.next)
        margins = SPACE + 4, SPACE // 2, SPACE // 2, SPACE // 2
        row(self.title, self.about, *buttons, margins=margins, spacing=SPACE // 2, owner=self, grows=self.title)

    def offer_candidates(self, offered: bool) -> None:
        """Return whether the run that is shown has any."""
        self._offers_candidates = offered
        self._make_room()

    def say_candidates(self, words: str) -> None:
        """Show how many candidates there are in the file, or why none are shown."""
        self.candidates.setText(words or CANDIDATES)
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        """Hide, where it is narrow, the count of regions first, then the buttons that the menu has as well."""
        self.about.setVisible(self.width() >= ROOMY and self.candidates.text() == CANDIDATES)
        roomy = self.width() >= NARROW
        self.candidates.setVisible(self._offers_candidates and (roomy or self.candidates.isChecked()))
        self.failure.setVisible(self._has_failure and roomy)

    def show_file(self, path: str, placed: Placed, dropped: int, missing: bool) -> None:
        """Say which file is open and what is to know about it."""
        self.title.show_path(path)
        self.about.setText(_about(path, placed, missing))
        self.dropped.setText(f"{dropped} dropped")
        self.dropped.setVisible(dropped > 0)
        self._has_failure = any(block.state.failing for block in placed.blocks)
        self._make_room()


def _about(path: str, placed: Placed, missing: bool) -> str:
    if not path:
        return ""
    noun = placed.noun
    if placed.past:
        return "the stored old code" if missing else "before the edit"
    if missing:
        return f"not on this machine; the stored {noun} is shown"
    count = sum(block.item.admitted for block in placed.blocks)
    parts = [counted(count, noun)] if count else []
    if placed.gone:
        parts.append(f"changed since the run, {len(placed.gone)} not found")
    elif placed.moved:
        parts.append("changed since the run")
    return " · ".join(parts)

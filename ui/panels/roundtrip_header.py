"""The head of the round-trip panel: which region, its scores, its first lines."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.ui.panels.badge import Badge
from rtc_inspector.ui.panels.code_peek import CodePeek
from rtc_inspector.ui.presenters import presenter
from rtc_inspector.ui.style.controls import ElidedLabel, column, on_ground, row
from rtc_inspector.ui.style.flow import Flow
from rtc_inspector.ui.style.region_state import UNFINISHED, goodness
from rtc_inspector.ui.style.theme import SPACE

_STATES = {"waiting": "… waiting", "running": "▸ running", UNFINISHED: "◌ unfinished", "dropped": "○ dropped"}


class RoundTripHeader(QWidget):
    """`file:lines`, the headline, what stands beside it, and tests of one item."""

    def __init__(self, action: QWidget) -> None:
        """`action` stands at the right of the name."""
        super().__init__()
        on_ground(self, "header")
        self._place = ElidedLabel("title", Qt.TextElideMode.ElideLeft)
        self._headline, self._difference, self._tests, self._state, self._copy, self._extra = self._badges = tuple(
            Badge() for _ in range(6)
        )
        self._peek = CodePeek(4)
        top = row(self._place, action, grows=self._place)
        scores = row()
        scores.addLayout(Flow(self._badges, 6), 1)
        column(top, scores, self._peek, margins=(SPACE + 4, SPACE, SPACE + 4, SPACE), spacing=6, owner=self)

    def show_item(self, item: ItemRow) -> None:
        """Show one item as it stands."""
        shown = presenter(item)
        self._place.setText(shown.heading(item))
        self._peek.show_code(item.text, item.path)
        text, tip = shown.headline(item)
        role = {None: "neutral", 0.0: "bad", 1.0: "good"}.get(goodness(item), "warn")
        self._headline.show_text(text, role, tip)
        text, tip = shown.difference(item)
        self._difference.show_text(text, "neutral", tip)
        judged, by = shown.judged(item)
        self._tests.show_text(judged, "neutral", by)
        self._copy.show_text("⚠ also elsewhere in the file" if item.copied else "", "warn", _COPIED)
        self._extra.show_text("✎ by hand, not counted" if item.extra else "", "accent", _EXTRA)
        self._state.show_text(_STATES.get(item.state, ""), "accent" if item.state == "running" else "neutral")


_COPIED = "The same lines stand once more in this file: a pass may be a copy of those, whatever the description says"
_EXTRA = "You selected this code; it stands beside the run's sampled regions and is left out of its scores"

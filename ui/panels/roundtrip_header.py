"""The head of the round-trip panel: which region, its scores, its first lines."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from core.store.rows import ItemRow
from ui.diff.controls import column, label, row
from ui.panels.badge import Badge
from ui.panels.code_peek import CodePeek
from ui.theme import SPACE, Theme

_STATES = {"waiting": "… waiting", "running": "▸ running", "dropped": "○ dropped"}


class RoundTripHeader(QWidget):
    """`file:lines`, RTC, lift and tests of one item."""

    def __init__(self, theme: Theme, action: QWidget) -> None:
        """`action` stands at the right of the name."""
        super().__init__()
        self.setProperty("role", "header")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._theme = theme
        self._item: ItemRow | None = None
        self._place = label(role="title", selectable=True)
        self._place.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._rtc, self._lift, self._tests, self._state = (Badge(theme) for _ in range(4))
        self._badges = (self._rtc, self._lift, self._tests, self._state)
        self._peek = CodePeek(theme, 4)
        top = row(self._place, action)
        top.setStretch(0, 1)
        scores = row(*self._badges, None, spacing=6)
        column(top, scores, self._peek, margins=(SPACE + 4, SPACE, SPACE + 4, SPACE), spacing=6, owner=self)

    def show_item(self, item: ItemRow) -> None:
        """Show one item as it stands."""
        self._item = item
        self._elide()
        self._place.setToolTip(item.path)
        self._peek.show_code(item.text, item.path)
        self._show_scores(item)

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self._theme = theme
        self._peek.set_theme(theme)
        for badge in self._badges:
            badge.set_theme(theme)
        if self._item:
            self._show_scores(self._item)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Fit the path anew (called by Qt)."""
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        """The end of a path tells more than its beginning."""
        if self._item is None:
            return
        lines = f"{self._item.start_line}"
        if self._item.end_line != self._item.start_line:
            lines += f"–{self._item.end_line}"
        full, width = f"{self._item.path}:{lines}", max(120, self._place.width())
        self._place.setText(self._place.fontMetrics().elidedText(full, Qt.TextElideMode.ElideLeft, width))
        self._place.setAccessibleName(full)

    def _show_scores(self, item: ItemRow) -> None:
        theme = self._theme
        rtc = "RTC –" if item.rtc is None else f"RTC {item.rtc:.2f}"
        colour = {None: theme.neutral, 0.0: theme.bad, 1.0: theme.good}.get(item.rtc, theme.warn)
        tip = f"{item.passes} of {item.judged} judged reconstructions pass the tests"
        self._rtc.show_text(rtc, colour, tip)
        self._lift.show_text("" if item.lift is None else f"lift {item.lift:+.2f}", self._lift_colour(item), _LIFT)
        count = len(item.tests)
        tests = f"{count} test{'' if count == 1 else 's'}" if count else "whole suite"
        self._tests.show_text(tests, theme.neutral, _tests_tip(item))
        self._state.show_text(_STATES.get(item.state, ""), theme.accent if item.state == "running" else theme.neutral)

    def _lift_colour(self, item: ItemRow) -> str:
        lift = item.lift or 0.0
        return self._theme.good if lift > 0 else self._theme.bad if lift < 0 else self._theme.neutral


_LIFT = "How much better the model writes the code with its description than without (eps)"


def _tests_tip(item: ItemRow) -> str:
    """The covering tests by name, a dozen at most."""
    names = list(item.tests[:12])
    if len(item.tests) > 12:
        names.append(f"and {len(item.tests) - 12} more")
    return "\n".join(["Covered by:", *names]) if names else "These lines run at import: the whole suite judges them."

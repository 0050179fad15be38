"""What all plots have in common."""

from __future__ import annotations

from collections.abc import Callable

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent

from ui.theme import Theme


def make_plot(bottom: str, left: str) -> pg.PlotWidget:
    """An empty plot with both axes named, that takes the focus and follows the pointer; no panning, no menu."""
    plot = pg.PlotWidget(enableMenu=False)  # making the menu takes half of the time
    plot.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    plot.setMouseEnabled(False, False)
    plot.hideButtons()
    plot.setMinimumSize(200, 100)
    plot.viewport().setMouseTracking(True)
    plot.setLabel("bottom", bottom)
    plot.setLabel("left", left)
    plot.showGrid(x=False, y=True, alpha=0.12)
    for side in ("left", "bottom"):
        plot.getAxis(side).enableAutoSIPrefix(False)
    return plot


def paint_plot(plot: pg.PlotWidget, theme: Theme) -> None:
    """Ground, axes and the ring that shows the focus."""
    plot.setBackground(QColor(theme.surface))
    plot.setStyleSheet(
        f"PlotWidget {{ border: 1px solid transparent; }} PlotWidget:focus {{ border: 1px solid {theme.focus}; }}"
    )
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(QColor(theme.border))
        axis.setTextPen(QColor(theme.muted))


def follow_plot(
    plot: pg.PlotWidget,
    watched: object,
    event: QEvent,
    under: Callable[[QPointF], int | None],
    read: Callable[[int | None], None],
    activate: Callable[[], None],
    key: Callable[[Qt.Key], bool],
) -> bool:
    """Pointer and keys over a plot, for its event filter: read the mark that is `under`, activate it by a click."""
    if isinstance(event, QMouseEvent) and watched is plot.viewport():
        if event.type() == QEvent.Type.MouseMove:
            read(under(event.position()))
        elif event.type() == QEvent.Type.MouseButtonRelease:
            read(under(event.position()))
            activate()
    elif event.type() == QEvent.Type.Leave:
        read(None)
    elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and watched is plot:
        return key(Qt.Key(event.key()))
    return False

"""Icons in the colours of the current theme: SVG files of one grey, and whatever else draws itself."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from rtc_inspector.ui.style.theme import current_theme

DRAWN_IN = "#808080"
Draw = Callable[[QPainter, QRect, bool], None]
"""Draws into a square; the last argument says whether what carries the icon is enabled."""


class DrawnIcon(QIconEngine):
    """Draws an icon when Qt asks for it, so that it follows the theme; kept pixmaps would have to be made anew.

    Selected rows get the same colours as others: Qt's own engine would tint the icon with the selection's colour.
    """

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        self._draw = draw

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        self._draw(painter, rect, mode is not QIcon.Mode.Disabled)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        picture = QPixmap(size)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        self.paint(painter, QRect(QPoint(), size), mode, state)
        painter.end()
        return picture

    def clone(self) -> QIconEngine:
        return DrawnIcon(self._draw)


def icon(name: str, role: str = "text") -> QIcon:
    """Return the icon of a file in the theme's colour of this role, faded where its button is disabled."""

    def draw(painter: QPainter, rect: QRect, enabled: bool) -> None:
        theme = current_theme()
        colour = theme.role(role) if enabled else theme.tint(theme.muted, 0.5)
        _renderer(name, colour).render(painter, QRectF(rect))

    return QIcon(DrawnIcon(draw))


def icon_path(name: str) -> str:
    """Return the file of an icon, with forward slashes as style sheets want them."""
    return str(files("rtc_inspector.resources").joinpath("icons", f"{name}.svg")).replace("\\", "/")


@cache
def _renderer(name: str, colour: str) -> QSvgRenderer:
    source = files("rtc_inspector.resources").joinpath("icons", f"{name}.svg").read_text("utf-8")
    return QSvgRenderer(QByteArray(source.replace(DRAWN_IN, colour).encode()))

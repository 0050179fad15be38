"""Icons: SVG files of one grey, drawn in any colour."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

DRAWN_IN = "#808080"
SCALE = 3
"""Device pixels drawn a logical one, so that dense screens stay sharp."""


def icon_path(name: str) -> str:
    """The file of an icon, with forward slashes as style sheets want them."""
    return str(files("resources").joinpath("icons", f"{name}.svg")).replace("\\", "/")


@cache
def _pixmap(name: str, colour: str, size: int) -> QPixmap:
    source = files("resources").joinpath("icons", f"{name}.svg").read_text("utf-8")
    renderer = QSvgRenderer(QByteArray(source.replace(DRAWN_IN, colour).encode()))
    pixmap = QPixmap(size * SCALE, size * SCALE)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, size * SCALE, size * SCALE))
    painter.end()
    pixmap.setDevicePixelRatio(SCALE)
    return pixmap


def icon(name: str, colour: str, disabled: str | None = None, size: int = 16) -> QIcon:
    """The icon in `colour`, and in `disabled` where the control is off. Raises FileNotFoundError."""
    drawn = QIcon(_pixmap(name, colour, size))
    drawn.addPixmap(_pixmap(name, colour, size), QIcon.Mode.Selected)
    if disabled is not None:
        drawn.addPixmap(_pixmap(name, disabled, size), QIcon.Mode.Disabled)
    return drawn

"""Which fonts the window uses: the best installed one of a short list."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication, QWidget

INTERFACE = (
    "Inter",
    "SF Pro Text",
    "Segoe UI Variable",
    "Segoe UI",
    "Ubuntu",
    "Cantarell",
    "Noto Sans",
    "DejaVu Sans",
)
FIXED = (
    "JetBrains Mono",
    "Cascadia Code",
    "SF Mono",
    "Menlo",
    "Consolas",
    "Ubuntu Mono",
    "Noto Sans Mono",
    "DejaVu Sans Mono",
)
INTERFACE_POINTS, CODE_POINTS = 9.0, 9.5
GROWTH, FIXED_POINTS = "growth", "fixed points"
"""Properties: of the application, how many times as large text is now; of a widget, its points before that."""


def _first(wanted: Sequence[str], fallback: QFontDatabase.SystemFont) -> QFont:
    """Return the first installed family of `wanted`, else the platform's."""
    installed = set(QFontDatabase.families())
    family = next((name for name in wanted if name in installed), None)
    return QFont(family) if family else QFontDatabase.systemFont(fallback)


def interface_font(points: float = INTERFACE_POINTS) -> QFont:
    """Return the font for labels, lists and buttons."""
    font = _first(INTERFACE, QFontDatabase.SystemFont.GeneralFont)
    font.setPointSizeF(points)
    return font


def fixed_font(points: float = CODE_POINTS) -> QFont:
    """Return the font for code, prompts and answers, so many times larger as all text is now."""
    font = _first(FIXED, QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(points * _growth())
    font.setFixedPitch(True)
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


def bold(font: QFont) -> QFont:
    """Return the same font in bold."""
    made = QFont(font)
    made.setBold(True)
    return made


def write_fixed(widget: QWidget, points: float = CODE_POINTS) -> None:
    """Let a widget write in the fixed font, and follow the size of all text."""
    widget.setProperty(FIXED_POINTS, points)
    widget.setFont(fixed_font(points))


def grow_fixed(growth: float) -> None:
    """Write everything so many times as large as at the start: what was written in the fixed font, and what will be."""
    app = QCoreApplication.instance()
    if app is not None:
        app.setProperty(GROWTH, growth)
    # A font that a widget was given does not follow the application's.
    for widget in QApplication.allWidgets():
        points = widget.property(FIXED_POINTS)
        if points is not None:
            widget.setFont(fixed_font(points))


def _growth() -> float:
    app = QCoreApplication.instance()
    return float(app.property(GROWTH) or 1.0) if app is not None else 1.0

"""Which fonts the window uses: the best installed one of a short list."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QFont, QFontDatabase

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


INTERFACE_POINTS = 9.0


def _first(wanted: Sequence[str], fallback: QFontDatabase.SystemFont) -> QFont:
    """The first installed family of `wanted`, else the platform's."""
    installed = set(QFontDatabase.families())
    family = next((name for name in wanted if name in installed), None)
    return QFont(family) if family else QFontDatabase.systemFont(fallback)


def interface_font(points: float = INTERFACE_POINTS) -> QFont:
    """For labels, lists and buttons."""
    font = _first(INTERFACE, QFontDatabase.SystemFont.GeneralFont)
    font.setPointSizeF(points)
    return font


def fixed_font(points: float = 9.5) -> QFont:
    """For code, prompts and answers."""
    font = _first(FIXED, QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(points)
    font.setFixedPitch(True)
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font

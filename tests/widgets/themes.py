"""Putting the application into a theme, and how well colours stand out from each other."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication

from rtc_inspector.ui.style.appearance import Appearance
from rtc_inspector.ui.style.theme import Theme


def light(app: QApplication) -> Appearance:
    """Return the application's only appearance, light and of the common size."""
    only = app.findChild(Appearance) or Appearance(app, "light")
    only.choose("light")
    only.grow(1.0)
    return only


def wear(theme: Theme) -> None:
    """Put the whole application into a theme; after each test it is light again."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    light(app).choose(theme.name)


def contrast(first: str, second: str) -> float:
    """Contrast ratio as WCAG 2 defines it, 1..21."""
    bright, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in bytes.fromhex(colour[1:]))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

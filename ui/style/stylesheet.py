"""A theme as Qt wants it: a palette, and one style sheet for the whole application.

Views mark what they are with the dynamic property `role` instead of carrying colours of their own; the
roles stand at the end of resources/themes/window.qss.
"""

from __future__ import annotations

from dataclasses import fields
from importlib.resources import files
from string import Template

from PySide6.QtGui import QColor, QPalette

from ui.style.icons import icon_path
from ui.style.theme import Theme, mix

SMALL, LARGE = 8, 11
"""Points of captions and of titles."""


def stylesheet(theme: Theme, growth: float = 1.0) -> str:
    """The application's style sheet in this theme. `growth` of texts that have a size of their own."""
    template = files("resources").joinpath("themes", "window.qss").read_text("utf-8")
    roles = [each.name for each in fields(theme) if each.name not in {"name", "tokens"}]
    return Template(template).substitute(
        {role: getattr(theme, role) for role in roles},
        thumb=mix(theme.muted, theme.surface, 0.45),
        disabled=mix(theme.muted, theme.surface, 0.6),
        accent_hover=mix(theme.text, theme.accent, 0.12),
        notice=theme.changed,
        small=f"{SMALL * growth:.1f}",
        large=f"{LARGE * growth:.1f}",
        chevron=icon_path(f"chevron-{theme.name}"),
        tick=icon_path(f"tick-{theme.name}"),
        chevron_up=icon_path(f"chevron-up-{theme.name}"),
    )


def palette(theme: Theme) -> QPalette:
    """What the style draws by itself (check boxes, text cursors, links) in this theme."""
    made = QPalette()
    role = QPalette.ColorRole
    for which, colour in {
        role.Window: theme.background,
        role.WindowText: theme.text,
        role.Base: theme.surface,
        role.AlternateBase: theme.gutter,
        role.Text: theme.text,
        role.Button: theme.raised,
        role.ButtonText: theme.text,
        role.BrightText: theme.bad,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.PlaceholderText: theme.muted,
        role.Highlight: theme.selection,
        role.HighlightedText: theme.text,
        role.Accent: theme.accent,
        role.Link: theme.accent,
        role.LinkVisited: theme.accent,
        role.Light: theme.raised,
        role.Midlight: theme.raised,
        role.Mid: theme.border,
        role.Dark: theme.border,
        role.Shadow: theme.background,
    }.items():
        made.setColor(which, QColor(colour))
    # The style draws disabled text itself, out of this group of the palette.
    faded = QColor(mix(theme.muted, theme.surface, 0.6))
    for which in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, which, faded)
    return made

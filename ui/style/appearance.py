"""Which theme is on: light, dark, or what the system says; as Qt wants it, a palette and one style sheet for all.

Views mark what they are with the dynamic property `role` instead of carrying colours of their own; the roles
stand at the end of resources/themes/window.qss.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from string import Template

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from rtc_inspector.ui.style.fonts import INTERFACE_POINTS, grow_fixed, interface_font
from rtc_inspector.ui.style.icons import icon_path
from rtc_inspector.ui.style.theme import DARK, LIGHT, PROPERTY, Role, Theme, mix

CHOICES = ("system", "light", "dark")
SMALL, JUDGED, LARGE = 8, 10.5, 11  # points of captions and of titles


class Appearance(QObject):
    """Applies the theme of the user's `choice`, one of CHOICES, to the application.

    Whatever paints asks `current_theme`. What keeps something made from a theme, e.g. formats of text, hears of another
    one by Qt's own events: a new palette and style sheet send each widget a PaletteChange and a StyleChange.
    """

    def __init__(self, app: QApplication, choice: str = "system") -> None:
        super().__init__(app)
        self._app = app
        self.choice = choice
        # Our style sheet builds on a style: native ones differ by platform, this one is the same everywhere.
        if app.style().objectName() != "fusion":
            app.setStyle("Fusion")
        app.setFont(interface_font())
        self._growth = 1.0
        grow_fixed(1.0)
        self.theme = self._wanted()
        self._apply()
        app.styleHints().colorSchemeChanged.connect(self._follow)

    def choose(self, choice: str) -> None:
        if choice not in CHOICES:
            raise ValueError(choice)
        self.choice = choice
        self._follow()

    def grow(self, growth: float) -> None:
        """Write everything so many times as large as when the window was opened; what surrounds it stays."""
        if growth != self._growth:
            self._growth = growth
            self._app.setFont(interface_font(INTERFACE_POINTS * growth))
            self._apply()
            grow_fixed(growth)

    @contextmanager
    def laid_aside(self) -> Iterator[None]:
        """Build many widgets without the style sheet, which is worked out anew for each that finds its place."""
        # Once no style sheet is left, Qt forgets widgets that were never polished, and reads them after they are gone.
        for widget in self._app.allWidgets():
            widget.ensurePolished()
        self._app.setStyleSheet("")
        try:
            yield
        finally:
            self._apply()

    def _wanted(self) -> Theme:
        if self.choice == "system":
            return DARK if self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark else LIGHT
        return DARK if self.choice == "dark" else LIGHT

    def _follow(self) -> None:
        wanted = self._wanted()
        if wanted is not self.theme:
            self.theme = wanted
            self._apply()

    def _apply(self) -> None:
        """Style the application; one that looks so already is left alone, since restyling visits every widget."""
        self._app.setProperty(PROPERTY, self.theme)  # before the events that tell widgets to look
        style = stylesheet(self.theme, self._growth)
        if self._app.styleSheet() != style:
            self._app.setPalette(palette(self.theme))
            self._app.setStyleSheet(style)


def stylesheet(theme: Theme, growth: float = 1.0) -> str:
    """Return the application's style sheet in this theme. `growth` of texts that have a size of their own."""
    template = files("rtc_inspector.resources").joinpath("themes", "window.qss").read_text("utf-8")
    return Template(template).substitute(
        {name: theme.role(name) for name, each in vars(Theme).items() if isinstance(each, Role)},
        thumb=mix(theme.muted, theme.surface, 0.45),
        disabled=mix(theme.muted, theme.surface, 0.6),
        accent_hover=mix(theme.text, theme.accent, 0.12),
        notice=theme.changed,
        small=f"{SMALL * growth:.1f}",
        large=f"{LARGE * growth:.1f}",
        judged=f"{JUDGED * growth:.1f}",
        chevron=icon_path(f"chevron-{theme.name}"),
        tick=icon_path(f"tick-{theme.name}"),
        chevron_up=icon_path(f"chevron-up-{theme.name}"),
    )


def palette(theme: Theme) -> QPalette:
    """Return the colours of what the style draws by itself (check boxes, text cursors, links) in this theme."""
    colours = QPalette()
    role = QPalette.ColorRole
    for colour, *used in (
        (theme.background, role.Window, role.Shadow),
        (theme.surface, role.Base),
        (theme.gutter, role.AlternateBase),
        (theme.raised, role.Button, role.ToolTipBase, role.Light, role.Midlight),
        (theme.border, role.Mid, role.Dark),
        (theme.text, role.WindowText, role.Text, role.ButtonText, role.ToolTipText, role.HighlightedText),
        (theme.bad, role.BrightText),
        (theme.muted, role.PlaceholderText),
        (theme.selection, role.Highlight),
        (theme.accent, role.Accent, role.Link, role.LinkVisited),
    ):
        for which in used:
            colours.setColor(which, QColor(colour))
    # The style draws disabled text itself, out of this group of the palette.
    faded = QColor(mix(theme.muted, theme.surface, 0.6))
    for which in (role.WindowText, role.Text, role.ButtonText):
        colours.setColor(QPalette.ColorGroup.Disabled, which, faded)
    return colours

"""The two themes as named colour roles; every colour in the window comes from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pygments.token import (
    Comment,
    Error,
    Keyword,
    Literal,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Token,
    _TokenType,
)
from PySide6.QtCore import QCoreApplication

SPACE = 8  # pixels between things; half of it inside them
PROPERTY = "theme"  # of the application: the Theme it is in


def mix(over: str, under: str, share: float) -> str:
    """`over` laid on `under` with opacity `share` (0..1); colours as `#rrggbb`."""
    pairs = zip(bytes.fromhex(over[1:]), bytes.fromhex(under[1:]), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


class Role:
    """A colour of the light theme and one of the dark, each `#rrggbb`."""

    def __init__(self, light: str, dark: str) -> None:
        self._light, self._dark = light, dark

    def __get__(self, theme: Theme, kind: type[Theme]) -> str:
        return self._dark if theme.name == "dark" else self._light


class Theme:
    """Colours by role, of the `light` or the `dark` theme."""

    # of the window; `surface` (editors, lists) lies on it, `raised` (headers, chips) on that
    background = Role("#f3f4f7", "#14161b")
    surface = Role("#ffffff", "#1a1d24")
    raised = Role("#eaecf1", "#252933")
    # of what is only set apart; `edge` of fields to type in, 3 : 1 on what they lie on
    border = Role("#d3d7df", "#353b48")
    edge = Role("#848b98", "#6b7382")
    text = Role("#1d2129", "#e3e6ec")
    muted = Role("#59616e", "#9fa8b7")  # secondary text, line numbers included; still readable (4.5 : 1)
    accent = Role("#3556c8", "#86a5ff")  # the one accent; `accent_text` is written on it
    accent_text = Role("#ffffff", "#10131b")
    # background of selected rows, which keep their colour; a line in `accent` marks them, since the background alone
    # stands out too little (3 : 1). Selected text is `accent_text` on `accent`.
    selection = Role("#d8e1fb", "#2d3a61")
    focus = Role("#3556c8", "#86a5ff")
    good = Role("#15703a", "#63cf8b")  # good, bad, warn, neutral: text and marks of outcomes
    bad = Role("#b3261e", "#ff8a84")
    warn = Role("#855300", "#e8b659")
    neutral = Role("#59616e", "#9fa8b7")
    # inserted, deleted, changed: backgrounds of diff rows; the strong ones mark what changed inside
    inserted = Role("#e4f5e8", "#1a2f24")
    inserted_strong = Role("#c3e9cc", "#1e4330")
    deleted = Role("#fdebea", "#371f23")
    deleted_strong = Role("#fad2cf", "#582529")
    changed = Role("#fff4d6", "#332b19")
    gutter = Role("#f8f9fb", "#171a20")  # background of line numbers
    current_line = Role("#f2f5fc", "#20242e")
    # region_waiting .. region_dropped: outlines and marks of regions, 3 : 1 on every ground; `tint` fills them
    region_waiting = Role("#6f7888", "#86909f")
    region_running = Role("#3556c8", "#86a5ff")
    region_pass = Role("#1f8a48", "#4fb877")
    region_partial = Role("#a66e00", "#d9a441")
    region_fail = Role("#d0443c", "#ea6a64")
    region_dropped = Role("#747d8d", "#7d8797")

    def __init__(self, name: str) -> None:
        place = int(name == "dark")
        self.name = name
        # By token type of pygments; a missing type takes its nearest ancestor's.
        self.tokens = {kind: colours[place] for colours, kinds in _TOKENS.items() for kind in kinds}
        self.palette = _PALETTES[place]  # of lines and bars that only have to be told apart, one after the other

    def tint(self, colour: str, share: float = 0.12) -> str:
        """`colour` laid thinly on the surface: a filling that text stays readable on."""
        return mix(colour, self.surface, share)

    def heat(self, value: float) -> str:
        if value <= 0.5:
            return mix(self.region_partial, self.region_fail, max(value, 0.0) * 2)
        return mix(self.region_pass, self.region_partial, min(value, 1.0) * 2 - 1)

    def role(self, name: str) -> str:
        found: str = getattr(self, name or "text")
        return found

    def token(self, kind: _TokenType) -> str:
        # `Name.Function.Magic` has no colour of its own: then that of `Name.Function`, and so on up to `Token`.
        return next(self.tokens[each] for each in reversed(kind.split()) if each in self.tokens)


_TOKENS: Mapping[tuple[str, str], Sequence[_TokenType]] = {
    # light, dark
    ("#1d2129", "#e3e6ec"): (Token, Name.Namespace),
    ("#505a66", "#a6afbd"): (Comment,),
    ("#7a2f9e", "#cfa0ee"): (Keyword, Name.Builtin.Pseudo, Operator.Word),
    ("#0b5f9e", "#7fc4f2"): (Keyword.Constant, Name.Builtin, Literal, Number),
    ("#1a4fb4", "#93b4ff"): (Name.Function, Name.Class),
    ("#7a5200", "#e3c07a"): (Name.Decorator, String.Escape, String.Interpol),
    ("#a3342c", "#ff9d96"): (Name.Exception,),
    ("#3f4754", "#c2c9d4"): (Operator, Punctuation),
    ("#1b6b38", "#93d3a2"): (String,),
    ("#43604c", "#a3bfa9"): (String.Doc,),
    ("#b3261e", "#ff8a84"): (Error,),
}
_PALETTES = (
    ("#3556c8", "#b35900", "#0f7a8a", "#8a3fa8", "#a32a5c", "#59616e"),
    ("#86a5ff", "#f0a35e", "#5fc9d8", "#d09cf0", "#ff8fb8", "#9fa8b7"),
)


LIGHT, DARK = Theme("light"), Theme("dark")


def current_theme() -> Theme:
    """Return the application's theme, as `QApplication.palette()` is its palette; light before one was chosen.

    Painters ask for it when they paint. Then nobody hands a theme from widget to widget, and what is made or hidden
    while the theme changes cannot miss it: a new style sheet makes Qt paint everything again.
    """
    app = QCoreApplication.instance()
    found = app.property(PROPERTY) if app is not None else None
    return found if isinstance(found, Theme) else LIGHT

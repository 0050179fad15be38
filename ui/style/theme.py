"""The two themes as named colour roles; every colour in the window comes from here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours by role, each `#rrggbb`.

    Attributes:
        name: `light` or `dark`.
        background: of the window; `surface` (editors, lists) lies on it, `raised` (headers, chips) on that.
        border: of what is only set apart; `edge` of fields to type in, 3 : 1 on what they lie on.
        muted: secondary text, line numbers included; still readable (4.5 : 1).
        accent: the one accent; `accent_text` is written on it.
        selection: background of selected rows, which keep their colour; a line in `accent` marks them, since the
            background alone stands out too little (3 : 1). Selected text is `accent_text` on `accent`.
        good, bad, warn, neutral: text and marks of outcomes.
        inserted, deleted, changed: backgrounds of diff rows; the strong ones mark what changed inside.
        gutter: background of line numbers.
        region_waiting .. region_dropped: outlines and marks of regions, 3 : 1 on every ground; `tint` fills them.
        tokens: pygments token type -> colour; a missing type takes its nearest ancestor's.
        palette: of lines and bars that only have to be told apart, one after the other.
    """

    name: str
    background: str
    surface: str
    raised: str
    border: str
    edge: str
    text: str
    muted: str
    accent: str
    accent_text: str
    selection: str
    focus: str
    good: str
    bad: str
    warn: str
    neutral: str
    inserted: str
    inserted_strong: str
    deleted: str
    deleted_strong: str
    changed: str
    gutter: str
    current_line: str
    region_waiting: str
    region_running: str
    region_pass: str
    region_partial: str
    region_fail: str
    region_dropped: str
    tokens: Mapping[_TokenType, str] = field(default_factory=dict)
    palette: tuple[str, ...] = ()

    @property
    def dark(self) -> bool:
        return self.name == "dark"

    def tint(self, colour: str, share: float = 0.12) -> str:
        """`colour` laid thinly on the surface: a filling that text stays readable on."""
        return mix(colour, self.surface, share)

    def heat(self, value: float | None) -> str:
        if value is None:
            return self.neutral
        if value <= 0.5:
            return mix(self.region_partial, self.region_fail, max(value, 0.0) * 2)
        return mix(self.region_pass, self.region_partial, min(value, 1.0) * 2 - 1)

    def role(self, name: str) -> str:
        found: str = getattr(self, name or "text")
        return found

    def series(self, tone: str, place: int) -> str:
        return self.role(tone) if tone else self.palette[place % len(self.palette)]

    def token(self, kind: _TokenType) -> str:
        # `Name.Function.Magic` has no colour of its own: then that of `Name.Function`, and so on up to `Token`.
        probe: _TokenType | None = kind
        while probe is not None:
            if probe in self.tokens:
                return self.tokens[probe]
            probe = probe.parent
        return self.text


_ROLES = {
    # role: light, dark
    "background": ("#f3f4f7", "#14161b"),
    "surface": ("#ffffff", "#1a1d24"),
    "raised": ("#eaecf1", "#252933"),
    "border": ("#d3d7df", "#353b48"),
    "edge": ("#848b98", "#6b7382"),
    "text": ("#1d2129", "#e3e6ec"),
    "muted": ("#59616e", "#9fa8b7"),
    "accent": ("#3556c8", "#86a5ff"),
    "accent_text": ("#ffffff", "#10131b"),
    "selection": ("#d8e1fb", "#2d3a61"),
    "focus": ("#3556c8", "#86a5ff"),
    "good": ("#15703a", "#63cf8b"),
    "bad": ("#b3261e", "#ff8a84"),
    "warn": ("#855300", "#e8b659"),
    "neutral": ("#59616e", "#9fa8b7"),
    "inserted": ("#e4f5e8", "#1a2f24"),
    "inserted_strong": ("#c3e9cc", "#1e4330"),
    "deleted": ("#fdebea", "#371f23"),
    "deleted_strong": ("#fad2cf", "#582529"),
    "changed": ("#fff4d6", "#332b19"),
    "gutter": ("#f8f9fb", "#171a20"),
    "current_line": ("#f2f5fc", "#20242e"),
    "region_waiting": ("#6f7888", "#86909f"),
    "region_running": ("#3556c8", "#86a5ff"),
    "region_pass": ("#1f8a48", "#4fb877"),
    "region_partial": ("#a66e00", "#d9a441"),
    "region_fail": ("#d0443c", "#ea6a64"),
    "region_dropped": ("#747d8d", "#7d8797"),
}
_TOKENS: Mapping[_TokenType, tuple[str, str]] = {
    # token: light, dark
    Token: ("#1d2129", "#e3e6ec"),
    Comment: ("#505a66", "#a6afbd"),
    Keyword: ("#7a2f9e", "#cfa0ee"),
    Keyword.Constant: ("#0b5f9e", "#7fc4f2"),
    Name.Builtin: ("#0b5f9e", "#7fc4f2"),
    Name.Builtin.Pseudo: ("#7a2f9e", "#cfa0ee"),
    Name.Function: ("#1a4fb4", "#93b4ff"),
    Name.Class: ("#1a4fb4", "#93b4ff"),
    Name.Decorator: ("#7a5200", "#e3c07a"),
    Name.Exception: ("#a3342c", "#ff9d96"),
    Name.Namespace: ("#1d2129", "#e3e6ec"),
    Operator: ("#3f4754", "#c2c9d4"),
    Operator.Word: ("#7a2f9e", "#cfa0ee"),
    Punctuation: ("#3f4754", "#c2c9d4"),
    Literal: ("#0b5f9e", "#7fc4f2"),
    Number: ("#0b5f9e", "#7fc4f2"),
    String: ("#1b6b38", "#93d3a2"),
    String.Doc: ("#43604c", "#a3bfa9"),
    String.Escape: ("#7a5200", "#e3c07a"),
    String.Interpol: ("#7a5200", "#e3c07a"),
    Error: ("#b3261e", "#ff8a84"),
}
_PALETTES = (
    ("#3556c8", "#b35900", "#0f7a8a", "#8a3fa8", "#a32a5c", "#59616e"),
    ("#86a5ff", "#f0a35e", "#5fc9d8", "#d09cf0", "#ff8fb8", "#9fa8b7"),
)


def _theme(name: str, column: int) -> Theme:
    tokens = {kind: colours[column] for kind, colours in _TOKENS.items()}
    roles = {role: colours[column] for role, colours in _ROLES.items()}
    return Theme(name=name, tokens=tokens, palette=_PALETTES[column], **roles)


LIGHT, DARK = _theme("light", 0), _theme("dark", 1)


def current_theme() -> Theme:
    """Return the application's theme, as `QApplication.palette()` is its palette; light before one was chosen.

    Painters ask for it when they paint. Then nobody hands a theme from widget to widget, and what is made or hidden
    while the theme changes cannot miss it: a new style sheet makes Qt paint everything again.
    """
    app = QCoreApplication.instance()
    found = app.property(PROPERTY) if app is not None else None
    return found if isinstance(found, Theme) else LIGHT

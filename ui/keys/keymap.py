"""Which keys do what: defaults, the user's own choices, and that no key is asked to do two things at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from rtc_inspector.core.errors import UserError
from rtc_inspector.ui.shell.remembered import Remembered

WINDOW = "window"
"""Reach of a key that works wherever the focus is."""

RESERVED = {
    "Tab": "Tab moves the focus",
    "Backtab": "Shift+Tab moves the focus",
    "Esc": "Escape closes and leaves",
    "Return": "Enter presses what has the focus",
    "Enter": "Enter presses what has the focus",
    "Space": "the space bar presses what has the focus",
}
"""Keys that no action may have, with or without Shift."""

Entry = tuple[str, str, str]
"""Name, words, keys (several separated by a space)."""
_PORTABLE, _NATIVE = QKeySequence.SequenceFormat.PortableText, QKeySequence.SequenceFormat.NativeText


@dataclass(slots=True)
class Binding:
    """One thing that can be done by key.

    Attributes:
        name: what the user's choice is stored under, and the object name of its actions.
        group: heading in the list of keys.
        reach: WINDOW, or the views in which the key works.
        defaults: keys it has unless the user chose others.
        keys: those that hold, as they are stored.
        action: whose text tells what it does; None where views are made when needed, then `told` does.
    """

    name: str
    group: str
    reach: frozenset[str]
    defaults: tuple[str, ...]
    keys: tuple[str, ...]
    action: QAction | None = None
    told: str = ""

    @property
    def words(self) -> str:
        """Return in words what it does."""
        return plain(self.action.text()) if self.action else self.told

    @property
    def usable(self) -> bool:
        """Return whether there is something to do: a place for a mode may be empty."""
        return self.action is None or self.action.isVisible()

    @property
    def shown(self) -> str:
        """Return the keys as this platform writes them."""
        return ", ".join(key.toString(_NATIVE) for key in self.sequences)

    @property
    def first(self) -> str:
        """Return the key to name in a sentence; empty where there is none."""
        return self.shown.partition(", ")[0]

    @property
    def sequences(self) -> list[QKeySequence]:
        """Return the keys as Qt takes them."""
        return [QKeySequence(key, _PORTABLE) for key in self.keys]


class KeyMap(QObject):
    """All bindings of a window; `changed` when one has other keys.

    Views may be made at any time: when the focus comes into one, its named actions get their keys.
    """

    changed = Signal()

    def __init__(self, remembered: Remembered, parent: QObject | None = None) -> None:
        """The user's choices are kept in `remembered`."""
        super().__init__(parent)
        self._remembered = remembered
        self._bindings: dict[str, Binding] = {}
        self._own = {name: tuple(keys) for name, keys in remembered.keys().items()}
        app = QApplication.instance()
        if isinstance(app, QApplication):
            # Views that are made later have their actions with default keys: they get the chosen ones with the focus.
            app.focusChanged.connect(self._join)

    def add(self, group: str, actions: Iterable[QAction], *reach: str) -> None:
        """Take over actions that have an object name; the keys they have now are their defaults."""
        for action in actions:
            keys = tuple(key.toString(_PORTABLE) for key in action.shortcuts())
            name = action.objectName()
            self._bindings[name] = Binding(name, group, frozenset(reach or {WINDOW}), keys, keys, action)
        self._apply()

    def declare(self, group: str, entries: Iterable[Entry], *reach: str) -> None:
        """Know of keys in views that are made when they are needed."""
        for name, words, keys in entries:
            defaults = tuple(keys.split())
            self._bindings[name] = Binding(name, group, frozenset(reach or {WINDOW}), defaults, defaults, told=words)
        self._apply()

    def bindings(self) -> list[Binding]:
        """Return what can be done just now, in the order it was added."""
        return [each for each in self._bindings.values() if each.usable]

    def binding(self, name: str) -> Binding:
        """Return the one of a name. Raises KeyError."""
        return self._bindings[name]

    def is_own(self, name: str) -> bool:
        """Return whether the user chose its keys."""
        return name in self._own

    def rebind(self, name: str, keys: Sequence[str]) -> None:
        """Give it these keys, or none. Raises UserError when one is reserved, or does something else already."""
        chosen = tuple(dict.fromkeys(keys))
        for key in chosen:
            self._check(self._bindings[name], key)
        # Back at the default: then another version may change it.
        if chosen == self._bindings[name].defaults:
            self._own.pop(name, None)
        else:
            self._own[name] = chosen
        self._keep()

    def reset(self, name: str) -> None:
        """Give it its default keys. Raises UserError when something else has one of them by now."""
        self.rebind(name, self._bindings[name].defaults)

    def reset_all(self) -> None:
        """Give everything its default keys."""
        self._own.clear()
        self._keep()

    def name_on(self, button: QAbstractButton, *names: str) -> None:
        """Keep the keys of these bindings in a button's tip, and the first in its text where it names one."""
        text, named, _ = button.text().partition("  ")

        def tell() -> None:
            tip = button.toolTip().partition(" (")[0]
            keys = [self._bindings[name].shown for name in names if self._bindings[name].keys]
            button.setToolTip(f"{tip} ({', '.join(keys)})" if keys else tip)
            if named:
                button.setText(f"{text}  {keys[0]}" if keys else text)

        self.changed.connect(tell)
        tell()

    def _keep(self) -> None:
        self._remembered.keep_keys(self._own)
        self._apply()
        self.changed.emit()

    def _apply(self) -> None:
        """Apply the user's choices; a default that one of them has taken (in another version, say) gives way."""
        taken = {key: each for each in self._bindings.values() for key in self._own.get(each.name, ())}
        for each in self._bindings.values():
            own = self._own.get(each.name)
            free = tuple(key for key in each.defaults if key not in taken or not _meet(each, taken[key]))
            each.keys = free if own is None else own
            if each.action is not None:
                _give(each.action, each)
        self._join(None, QApplication.focusWidget())

    def _join(self, before: QWidget | None, focused: QWidget | None) -> None:
        """Give the actions around what has the focus their keys."""
        while focused is not None:
            for action in focused.actions():
                binding = self._bindings.get(action.objectName())
                if binding is not None:
                    _give(action, binding)
            focused = focused.parentWidget()

    def _check(self, binding: Binding, key: str) -> None:
        """Raise UserError unless the key can be given to the binding."""
        sequence = QKeySequence(key, _PORTABLE)
        if not sequence.toString():
            raise UserError(f"{key!r} is no key.", "Press another one.")
        # Keys without which a window cannot be used by key at all.
        use = RESERVED.get(sequence.toString(_PORTABLE).removeprefix("Shift+"))
        if use is not None:
            raise UserError(f"This key cannot be given away: {use}.", "Press another one.")
        for other in self._users(sequence):
            if other.name != binding.name and _meet(binding, other):
                where = "" if WINDOW in other.reach else f" in {other.group}"
                raise UserError(
                    f"{sequence.toString(_NATIVE)} means “{other.words}”{where} already.",
                    "Press another key, or give that one up first.",
                )

    def _users(self, sequence: QKeySequence) -> Iterator[Binding]:
        """Return the usable bindings that have this key now."""
        return (each for each in self.bindings() if sequence in each.sequences)


def plain(words: str) -> str:
    """Return an action's text without the marks that a menu needs."""
    return words.replace("&", "").rstrip("…")


def _meet(one: Binding, other: Binding) -> bool:
    """Return whether there is a focus for which both would answer."""
    return WINDOW in one.reach | other.reach or bool(one.reach & other.reach)


def _give(action: QAction, binding: Binding) -> None:
    # Setting the same ones again would make Qt build its table of shortcuts anew, at each change of focus.
    if action.shortcuts() != binding.sequences:
        action.setShortcuts(binding.sequences)

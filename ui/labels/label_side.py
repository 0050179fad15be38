"""Beside the sample: the modes to choose from, the note, who labels, and what was said before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCompleter, QGridLayout, QLineEdit, QWidget

from core.taxonomy import ErrorMode
from ui.labels.label_actions import LabelActions, keys_of
from ui.labels.mode_button import ModeButton
from ui.style.controls import column, embolden, label, row, switch
from ui.style.theme import SPACE


class KeysHelp(QWidget):
    """Hidden until it is asked for."""

    def __init__(self, actions: LabelActions) -> None:
        """Two columns: key and what it does."""
        super().__init__()
        self._actions, self.all_keys = actions, ""
        self._lines = [(label(), label(role="muted", wrap=True)) for _ in range(3 + len(actions.steps))]
        grid = QGridLayout(self)
        grid.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        grid.setHorizontalSpacing(SPACE * 2)
        grid.setVerticalSpacing(2)
        for place, (key, what) in enumerate(self._lines):
            embolden(key)
            grid.addWidget(key, place, 0)
            grid.addWidget(what, place, 1)
        grid.setColumnStretch(1, 1)
        self.refresh()
        self.hide()

    def refresh(self) -> None:
        """Show the keys as they are now."""
        accepts = " ".join(keys_of(action) for action in self._actions.accepts)
        told = [
            (_span(self._actions), "Label with the error mode on that button, and go on"),
            (accepts, "Decide as the first, second, … annotator says"),
            *((keys_of(action), action.text()) for action in self._actions.steps.values()),
            ("?", f"Show or hide these keys; {self.all_keys or 'the menu'} shows all, and lets you choose others"),
        ]
        for (key, what), (keys, words) in zip(self._lines, told, strict=True):
            key.setText(keys or "–")
            what.setText(words)
        self.setAccessibleName("Keys: " + "; ".join(f"{key} {what}" for key, what in told))

    def toggle(self) -> None:
        """Show it, or hide it."""
        self.setVisible(self.isHidden())


def _span(actions: LabelActions) -> str:
    """`1 – 9`, or the keys one by one where they are no digits in a row."""
    keys = [keys_of(action) for action in actions.modes if action.isVisible() and action.shortcuts()]
    in_a_row = keys == [str(digit) for digit in range(1, len(keys) + 1)]
    return f"1 – {len(keys)}" if in_a_row and len(keys) > 1 else " ".join(keys)


class LabelSide(QWidget):
    """Shows and asks; what a button means is up to the panel."""

    def __init__(self, actions: LabelActions, choose: Callable[[int], None]) -> None:
        """`choose(slot)` when a mode's button is clicked."""
        super().__init__()
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._actions, self._choose = actions, choose
        self.buttons: list[ModeButton] = []
        self.annotator, self.note = QLineEdit(), QLineEdit()
        self.annotator.setPlaceholderText("Annotator")
        self.annotator.setAccessibleName("Annotator's name, stored with each label")
        self.note.setAccessibleName("Note, stored with the label")
        self.advance = switch("Go on", "Show the next sample after each label", True)
        self.blind = switch("Blind", "Hide verdict, run, author and the others' labels")
        self.large = switch("Large", "Give the labels the whole window")
        self.others = switch("Others", "Show what others said before you have labelled a sample")
        self.unconfirmed = label(role="muted", wrap=True)
        self.unconfirmed.hide()
        self.history = label(role="muted", wrap=True, selectable=True)
        self.history.setAccessibleName("Labels of this sample")
        self.keys = KeysHelp(actions)
        self._modes = column(spacing=3)
        self._lay_out()

    def _lay_out(self) -> None:
        switches = row(self.advance, self.others, self.large, self.blind, None)
        fields = (self.note, self.annotator, self.unconfirmed)
        margins = SPACE, SPACE // 2, SPACE, SPACE
        column(self._modes, *fields, switches, self.history, self.keys, None, margins=margins, spacing=3, owner=self)

    def offer(self, slots: Mapping[int, ErrorMode]) -> None:
        """Offer these modes, by slot."""
        for old in self.buttons:
            self._modes.removeWidget(old)
            # At once, for deletion waits for the loop and the old buttons would stand there a moment longer.
            old.hide()
            old.deleteLater()
        self.buttons = [ModeButton(mode) for mode in slots.values()]
        self._slots = list(slots)
        for slot, button in zip(slots, self.buttons, strict=True):
            button.clicked.connect(lambda _=False, slot=slot: self._choose(slot))
            self._modes.addWidget(button)
        self.refresh_keys()

    def ask_to_confirm(self, typed: str, kept: str) -> None:
        """Say that a name was typed that does not count yet; nothing where it is the one that holds."""
        stay = f"Esc: stay {kept}" if kept else "Esc: leave it"
        self.unconfirmed.setText(f"Enter: label as {typed or 'nobody'} · {stay}")
        self.unconfirmed.setVisible(typed != kept)

    def suggest(self, annotators: Sequence[str]) -> None:
        """Complete names that have labelled before, so that nobody becomes two people by a slip of the hand."""
        completer = QCompleter(list(annotators), self.annotator)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.annotator.setCompleter(completer)

    def refresh_keys(self) -> None:
        """Show the keys as they are now."""
        for slot, button in zip(self._slots, self.buttons, strict=True):
            button.set_key(keys_of(self._actions.modes[slot - 1]) if slot <= len(self._actions.modes) else "")
        key = keys_of(self._actions.steps["note"])
        self.note.setPlaceholderText(f"Note ({key})" if key else "Note")
        self.keys.refresh()

    def choose(self, mode: str) -> None:
        """Put the button of this mode down, the others up."""
        for each in self.buttons:
            each.setChecked(bool(mode) and each.mode.id == mode)

    def tell(self, lines: Sequence[str]) -> None:
        """Show what was said of this sample, newest first."""
        self.history.setText("\n".join(lines))
        self.history.setVisible(bool(lines))

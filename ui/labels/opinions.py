"""The labels of one sample: whose holds, what was decided, and annotators' labels side by side to decide between."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from rtc_inspector.core.store.rows import LabelRow
from rtc_inspector.core.types import LabelKind
from rtc_inspector.ui.style.controls import button, column, embolden, label, row
from rtc_inspector.ui.style.theme import SPACE

ACROSS = 4
"""Cards beside each other before the next row begins."""


NameOf = Callable[[str], str]
"""The names of a label's error modes, by its ids."""


def is_decision(label: LabelRow) -> bool:
    """Return whether it decides between annotators, and is not one's own label."""
    return label.kind == LabelKind.ADJUDICATION


def own_label(labels: Sequence[LabelRow], annotator: str) -> LabelRow | None:
    """Return the label that an annotator gave last, or None; a decision is none."""
    return next((each for each in reversed(labels) if each.annotator == annotator and not is_decision(each)), None)


def decision(labels: Sequence[LabelRow]) -> LabelRow | None:
    """Return the decision made last, or None."""
    return next((each for each in reversed(labels) if is_decision(each)), None)


def held_labels(labels: Sequence[LabelRow], shuffle: int | None = None) -> list[LabelRow]:
    """Return the label of each annotator that holds; `shuffle` seeds an order that tells nothing of who is who."""
    last = {each.annotator: each for each in labels if not is_decision(each)}
    held = [each for each in last.values() if each.mode]
    if shuffle is not None:
        random.Random(shuffle).shuffle(held)
    return held


def history_line(entry: LabelRow, name_of: NameOf) -> str:
    """Return one entry of the history in words."""
    said = name_of(entry.mode) if entry.mode else "note" if entry.note else "label taken back"
    who = f"{entry.annotator or 'unnamed'}{' decided' if is_decision(entry) else ''}"
    note = f": {entry.note}" if entry.note else ""
    return f"{who} · {said}{note} · {minute(entry.made_at)}"


def minute(time: str) -> str:
    """Return a stored time, to the minute."""
    return time[:16].replace("T", " ")


class Opinions(QWidget):
    """Cards side by side, one key or click to decide for one of them: `accepted(place)`."""

    accepted = Signal(int)

    def __init__(self) -> None:
        """Hidden while there is nothing to decide."""
        super().__init__()
        self.setAccessibleName("What the annotators said")
        self.cards: list[OpinionCard] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        self._grid.setSpacing(SPACE)
        self.hide()

    def show_labels(
        self, held: Sequence[LabelRow], decided: LabelRow | None, keys: Sequence[str], name_of: NameOf, *, blind: bool
    ) -> None:
        """Show these; an empty list hides the cards. `blind` leaves out who gave them, and when.

        Cards are used again, so that a step to the next sample is quick.
        """
        for place in range(len(self.cards), len(held)):
            self.cards.append(OpinionCard(partial(self.accepted.emit, place)))
            self._grid.addWidget(self.cards[place], place // ACROSS, place % ACROSS)
        for place, card in enumerate(self.cards):
            card.setVisible(place < len(held))
        for place, (each, card) in enumerate(zip(held, self.cards, strict=False)):
            who = f"Annotator {place + 1}" if blind else each.annotator or "unnamed"
            accepted = decided is not None and set(decided.modes) == set(each.modes)
            card.show_label(who, "" if blind else minute(each.made_at), name_of(each.mode), each.note)
            card.show_key(keys[place] if place < len(keys) else "", accepted)
        self.setVisible(bool(held))


class OpinionCard(QFrame):
    """Name, mode, note and the button that accepts them."""

    def __init__(self, accept: Callable[[], None]) -> None:
        """Empty yet."""
        super().__init__()
        self.setProperty("role", "card")
        self.annotator, self.made_at = label(role="muted"), label(role="caption")
        self.mode, self.note = label(wrap=True, selectable=True), label(role="muted", wrap=True, selectable=True)
        embolden(self.mode)
        self.accept = button("", "Decide as this annotator says", accept, flat=False)
        head = row(self.annotator, self.made_at, None, self.accept)
        column(head, self.mode, self.note, margins=(SPACE, SPACE // 2, SPACE // 2, SPACE), spacing=2, owner=self)

    def show_label(self, annotator: str, made_at: str, mode: str, note: str) -> None:
        """Show what somebody said."""
        self.annotator.setText(annotator)
        self.made_at.setText(made_at)
        self.mode.setText(mode)
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def show_key(self, key: str, accepted: bool) -> None:
        """Name the key that accepts it. `accepted`: it is what was decided."""
        words = "Accepted" if accepted else "Accept"
        self.accept.setText(f"{words}  {key}" if key else words)
        self.accept.setCheckable(True)
        # A click turned it; only what is stored may.
        self.accept.setChecked(accepted)
        tip = f"Decide as {self.annotator.text()} says: {self.mode.text()}"
        self.accept.setToolTip(f"{tip} ({key})" if key else tip)
        self.accept.setAccessibleName(tip)

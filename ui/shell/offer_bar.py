"""Something left over that the user may take up again: a line with buttons, never in the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPushButton

from rtc_inspector.ui.style.controls import breakable, label, row
from rtc_inspector.ui.style.theme import SPACE

Choice = tuple[str, Callable[[], object] | None]
"""Words on a button, and what it does besides ending the offer."""


@dataclass(frozen=True, slots=True)
class Offer:
    """`key` names it; the first of `choices` is the one that most will want."""

    key: str
    text: str
    choices: Sequence[Choice]


class OfferBar(QFrame):
    """Shows one offer at a time; any choice ends it."""

    def __init__(self) -> None:
        """Start hidden."""
        super().__init__()
        self.offers: list[Offer] = []
        self._held = False
        self.setProperty("role", "offer")
        self.setAccessibleName("Offer")
        self.text = label(wrap=True)
        self.text.setMinimumWidth(1)  # whatever it says, the window stays as wide as it is
        self.buttons: list[QPushButton] = []
        self._row = row(self.text, margins=(SPACE * 2, SPACE, SPACE, SPACE), owner=self, grows=self.text)
        self.hide()

    def offer(self, offer: Offer) -> None:
        """Make an offer, in place of an earlier one of the same key."""
        self.offers = [each for each in self.offers if each.key != offer.key] + [offer]
        self._show()

    def withdraw(self, key: str) -> None:
        """Make it no longer."""
        self.offers = [each for each in self.offers if each.key != key]
        self._show()

    def hold(self, held: bool) -> None:
        """Keep offers for later, or show them again."""
        self._held = held
        self._show()

    def _show(self) -> None:
        for button in self.buttons:
            self._row.removeWidget(button)
            # Out of sight at once; deleted by the loop, for one of them is just being clicked.
            button.hide()
            button.deleteLater()
        self.buttons = []
        self.setVisible(bool(self.offers) and not self._held)
        if self.offers:
            self.text.setText(breakable(self.offers[0].text))
            self._fill(self.offers[0])

    def _fill(self, offer: Offer) -> None:
        for place, (words, act) in enumerate(offer.choices):
            button = QPushButton(words)
            button.setAccessibleName(f"{words}: {offer.text}")
            button.setProperty("role", "" if place else "primary")
            button.clicked.connect(partial(self._choose, offer.key, act))
            self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
            self.buttons.append(button)

    def _choose(self, key: str, act: Callable[[], object] | None, checked: bool = False) -> None:
        self.withdraw(key)
        if act is not None:
            act()

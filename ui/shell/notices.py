"""Problems, remedies and offers, shown above the views; never a dialog in the way."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton

from rtc_inspector.core.errors import InspectorError, StoreError
from rtc_inspector.ui.shell.fields import window_words
from rtc_inspector.ui.style.controls import PushButton, breakable, button, column, give_role, label, row, to_clipboard
from rtc_inspector.ui.style.fonts import write_fixed
from rtc_inspector.ui.style.theme import SPACE

KEPT = 50
"""Notices kept; the oldest go first."""
VEIL = "Something needs your attention; it may tell what is hidden."
STORE_VEIL = "Something could not be stored, perhaps your last label."
LIFT = "Leave blind mode to read it."


@dataclass(frozen=True, slots=True)
class NoticeText:
    """One notice. `details` is for a report of a bug; empty otherwise. `veil` stands for it while blind.

    `topic` names what it is about, so that it can be withdrawn when that holds no longer. `everywhere`: not about the
    project that is open, so that it is shown over others as well.
    """

    problem: str
    remedy: str = ""
    details: str = ""
    bad: bool = False
    veil: str = VEIL
    topic: str = ""
    everywhere: bool = False

    def as_text(self) -> str:
        return "\n".join(part for part in (self.problem, self.remedy, self.details) if part)


def from_error(error: BaseException) -> NoticeText:
    """Return what to say about an exception: its own sentences, or that it is ours to mend."""
    if isinstance(error, StoreError):
        return NoticeText(error.problem, error.remedy, bad=True, veil=STORE_VEIL, everywhere=True)
    if isinstance(error, InspectorError):
        return NoticeText(error.problem, error.remedy, bad=True)
    details = "".join(traceback.format_exception(error))
    problem = f"Something went wrong that should not have: {type(error).__name__}: {error}"
    return NoticeText(problem, "Nothing stored is lost. Copy the details into a report.", details, bad=True)


def say_in_place(
    error: Exception, say: Callable[[str, str], object], heading: str, report: Callable[[Exception], object]
) -> None:
    """Have the part that asked `say` what the user can mend; of a bug it says that much, and a notice tells more."""
    if isinstance(error, InspectorError):
        say(window_words(error.problem), window_words(error.remedy))
    else:
        report(error)
        say(heading, "Something unexpected happened: see the notice above.")


class NoticeBar(QFrame):
    """Shows the newest notice of the project that is looked at; older ones are a click away.

    Notices of another project are kept until that one is looked at again.
    """

    def __init__(self) -> None:
        super().__init__()
        self._all: list[tuple[NoticeText, Path | None]] = []
        self._project: Path | None = None
        self._at = 0
        self._held = False
        self.problem, self.remedy, self.place = label(wrap=True), label(wrap=True), label(role="caption")
        self.details = QPlainTextEdit(readOnly=True)
        self._buttons = {
            "previous": button("", "Newer notice", lambda: self._turn(-1), icon="previous"),
            "next": button("", "Older notice", lambda: self._turn(1), icon="next"),
            "details": button("Details", "Show details", self._show_details),
            "copy": button("", "Copy notice", lambda: to_clipboard(self.notices[self._at].as_text()), icon="copy"),
            "close": button("", "Dismiss notice", self._dismiss, icon="close"),
        }
        self._build()
        self.hide()

    def _build(self) -> None:
        self.setAccessibleName("Notice")
        for said in (self.problem, self.remedy):
            said.setMinimumWidth(1)  # whatever it says, the window stays as wide as it is
            said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.details.setAccessibleName("Details of the problem")
        write_fixed(self.details, 8.5)
        self.details.setMaximumHeight(110)
        self.details.hide()
        words = column(self.problem, self.remedy, spacing=2)
        head = row(words, self.place, spacing=SPACE // 2, grows=words)
        for each in self._buttons.values():
            head.addWidget(each, 0, Qt.AlignmentFlag.AlignTop)
        self._buttons["details"].setCheckable(True)
        column(head, self.details, margins=(SPACE * 2, SPACE, SPACE, SPACE), spacing=SPACE, owner=self)

    @property
    def notices(self) -> list[NoticeText]:
        """Return the notices of the project that is looked at, and those of none, newest first."""
        return [notice for notice, place in self._all if place in (None, self._project)]

    def look_at(self, project: Path | None) -> None:
        """Show the notices of another project instead."""
        if project != self._project:
            self._project, self._at = project, 0
            self._refresh()

    def say(self, notice: NoticeText, project: Path | None = None) -> None:
        """Show a notice about `project`, else about the one that is looked at; the same one is not doubled."""
        said = notice, None if notice.everywhere else project or self._project
        # Comes to the front: a problem that happens again is news.
        self._all = [said, *(each for each in self._all if each != said)][:KEPT]
        self._at = 0
        if said[1] not in (None, self._project):
            return
        # While an annotator is blind only problems show, and of these no word that could tell the run.
        if notice.bad or not self._held:
            self._show()

    def hold(self, held: bool) -> None:
        """Keep everything for later, what is shown too, or show it again; of a problem it is said that there is one."""
        self._held = held
        self._refresh()

    def _refresh(self) -> None:
        self._show()
        self.setVisible(bool(self.notices) and not self._held)

    def report(self, error: BaseException, topic: str = "", project: Path | None = None) -> None:
        self.say(replace(from_error(error), topic=topic), project)

    def warn(self, problem: str) -> None:
        self.say(NoticeText(problem, bad=True))

    def withdraw(self, topic: str) -> None:
        """Take back what holds no longer."""
        left = [each for each in self._all if each[0].topic != topic]
        if len(left) < len(self._all):
            self._all, self._at = left, 0
            if not self._held:
                self._show()

    def _turn(self, step: int) -> None:
        self._at = (self._at + step) % len(self.notices)
        self._show()

    def _dismiss(self) -> None:
        if self._held:
            self.hide()
            return
        gone = self.notices[self._at]
        self._all = [each for each in self._all if each[0] is not gone]
        self._at = 0
        self._show()

    def _show(self) -> None:
        notices = self.notices
        self.setVisible(bool(notices))
        if not notices:
            return
        notice, several = notices[self._at], len(notices) > 1 and not self._held
        if self._held:
            notice = NoticeText(notice.veil, LIFT, bad=True)
        give_role(self, "notice-bad" if notice.bad else "notice")
        self.problem.setText(breakable(window_words(notice.problem)))
        self.remedy.setText(breakable(window_words(notice.remedy)))
        self.remedy.setVisible(bool(notice.remedy))
        self.place.setText(f"{self._at + 1} of {len(notices)}")
        self.details.setPlainText(notice.details)
        for widget in (self.place, self._buttons["previous"], self._buttons["next"]):
            widget.setVisible(several)
        self._buttons["copy"].setVisible(not self._held)
        self._buttons["details"].setVisible(bool(notice.details))
        self._buttons["details"].setChecked(False)
        self._show_details()

    def _show_details(self) -> None:
        self.details.setVisible(self._buttons["details"].isChecked())


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
        for each in self.buttons:
            self._row.removeWidget(each)
            # Out of sight at once; deleted by the loop, for one of them is just being clicked.
            each.hide()
            each.deleteLater()
        self.buttons = []
        self.setVisible(bool(self.offers) and not self._held)
        if self.offers:
            self.text.setText(breakable(self.offers[0].text))
            self._fill(self.offers[0])

    def _fill(self, offer: Offer) -> None:
        for place, (words, act) in enumerate(offer.choices):
            button = PushButton(words)
            button.setAccessibleName(f"{words}: {offer.text}")
            button.setProperty("role", "" if place else "primary")
            button.clicked.connect(partial(self._choose, offer.key, act))
            self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
            self.buttons.append(button)

    def _choose(self, key: str, act: Callable[[], object] | None, checked: bool = False) -> None:
        self.withdraw(key)
        if act is not None:
            act()

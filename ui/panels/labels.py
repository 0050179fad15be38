"""Labelling the error modes of samples, without the mouse."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QSplitter, QWidget

from core.store.rows import ItemRow, LabelRow, SampleRow
from core.taxonomy import Taxonomy, read_taxonomy
from ui.diff.controls import BAR, bind, button, column, label, row, switch
from ui.diff.elided import ElidedLabel
from ui.panels.badge import Badge
from ui.panels.card import CardScroll
from ui.panels.empty import EmptyState
from ui.panels.label_keys import KeysHelp
from ui.panels.label_subject import LabelSubject
from ui.panels.mode_button import ModeButton
from ui.panels.outcomes import sample_name, verdict_colour, verdict_text
from ui.panels.pace import Pace
from ui.theme import SPACE, Theme


class LabelsPanel(QWidget):
    """One sample and the modes to choose from. It writes nothing: it asks.

    `label_requested(sample_id, mode, note)`: store a label of `annotator`; an empty mode takes the label back.
    `next_requested`, `previous_requested`: show another sample of the queue.
    `sample_requested(sample_id)`: show that sample (after an undo). `blind_changed(on)`: hide the run elsewhere too.
    """

    label_requested = Signal(int, str, str)
    next_requested = Signal()
    previous_requested = Signal()
    sample_requested = Signal(int)
    blind_changed = Signal(bool)

    def __init__(self, theme: Theme, taxonomy: Taxonomy | None = None) -> None:
        """Empty until `set_sample`. `taxonomy` None reads the bundled one."""
        super().__init__()
        self.setAccessibleName("Labels")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme = theme
        self.taxonomy = taxonomy or read_taxonomy()
        self._sample: SampleRow | None = None
        self._labels: Sequence[LabelRow] = ()
        self._given: list[tuple[int, str, str]] = []
        self._pace = Pace()
        self._standing = ""
        self.held = False
        self._empty = EmptyState("Nothing to label", "Pick a description or a reconstruction in the round-trip panel.")
        self._make_controls()
        self._lay_out()
        self._bind_keys()
        self.set_sample(None, [])

    def _make_controls(self) -> None:
        self.name, self.badge = label(), Badge(self._theme)
        font = self.name.font()
        font.setBold(True)
        self.name.setFont(font)
        self.about, self.progress = ElidedLabel("muted"), label(role="muted")
        self.annotator = QLineEdit()
        self.annotator.setPlaceholderText("Annotator")
        self.annotator.setAccessibleName("Annotator's name, stored with each label")
        self.annotator.textChanged.connect(lambda: self._show_labels())
        self.note = QLineEdit()
        self.note.setPlaceholderText("Note (N)")
        self.note.setAccessibleName("Note, stored with the label")
        self.note.returnPressed.connect(self._keep_note)
        self.advance = switch("Go on", "Show the next sample after each label", True)
        self.blind = switch("Blind", "Hide verdict, author and the others' labels (B)")
        self.blind.toggled.connect(self._set_blind)
        self.skip = button("Skip  S", "Go on without a label (S)", self.next_requested.emit)
        self.back = button("Back  ←", "Go to the sample before (←)", self.previous_requested.emit)
        self.undo = button("Undo  U", "Undo the last label (U)", self._undo)
        self.help = button("Keys  ?", "Show or hide all keys (?)", lambda: self.keys.toggle())
        self.buttons = [ModeButton(self._theme, mode) for mode in self.taxonomy.offered]
        for each in self.buttons:
            each.clicked.connect(partial(self._clicked, each.mode.id))
        self.history = label(role="muted", wrap=True, selectable=True)
        self.history.setAccessibleName("Labels of this sample")
        self.keys = KeysHelp()
        self.subject = LabelSubject(self._theme)

    def _lay_out(self) -> None:
        steps = (self.back, self.skip, self.undo, self.help)
        bar = row(self.name, self.badge, self.about, self.progress, *steps, margins=BAR, spacing=SPACE // 2 + 2)
        bar.setStretch(2, 1)
        who = row(self.annotator, self.advance, self.blind, margins=(0, SPACE // 2, 0, 0))
        who.setStretch(0, 1)
        side = QWidget()
        side.setProperty("role", "surface")
        modes = column(*self.buttons, margins=(SPACE, 0, SPACE, SPACE), spacing=3, owner=side)
        modes.addWidget(self.note)
        modes.addLayout(who)
        for part in (self.history, self.keys):
            modes.addWidget(part)
        modes.addStretch(1)
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self.subject)
        self._split.addWidget(CardScroll(side))
        self._split.setSizes([560, 390])
        self._split.setStretchFactor(0, 1)
        self._body = QWidget()
        column(bar, self._split, owner=self._body)
        column(self._empty, self._body, owner=self)

    def _bind_keys(self) -> None:
        for mode in self.taxonomy.offered:
            bind(self, str(mode.key), partial(self._choose, mode.id), mode.name)
        bind(self, "0", lambda: self._choose(""), "Take the label back")
        bind(self, "N", self._write_note, "Note")
        for key in ("S", "Right"):
            bind(self, key, self.next_requested.emit, "Skip")
        bind(self, "Left", self.previous_requested.emit, "Back")
        bind(self, "U", self._undo, "Undo")
        bind(self, "B", self.blind.toggle, "Blind")
        bind(self.note, "Escape", self._leave_note, "Leave the note")

    def event(self, event: QEvent) -> bool:
        """Take `?` before the window does, for these keys (called by Qt)."""
        asked = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Question
        if asked and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if asked and event.type() == QEvent.Type.KeyPress:
            self.keys.toggle()
            return True
        return super().event(event)

    def hold(self, held: bool) -> None:
        """Take no label while the next sample is on its way: it would go to the wrong one."""
        self.held = held

    def set_sample(
        self,
        sample: SampleRow | None,
        labels: Sequence[LabelRow],
        *,
        item: ItemRow | None = None,
        description: str = "",
    ) -> None:
        """Show a sample with the history of its labels, oldest first.

        `item` brings the original beside it, `description` the text a reconstruction was made from.
        """
        fresh = sample is None or self._sample is None or sample.id != self._sample.id
        self._sample, self._labels = sample, labels
        self._empty.setVisible(sample is None)
        self._body.setVisible(sample is not None)
        if sample is None:
            return
        own = self._own()
        if fresh:
            self.note.setText(own.note if own else "")
        self.subject.setVisible(item is not None)
        if item is not None and fresh:
            self.subject.show_subject(item, sample, description)
        self._show_sample(sample)
        self._show_labels()

    def set_progress(self, done: int, total: int) -> None:
        """Say how far the queue is done."""
        self._standing = f"{done:,} of {total:,} · "
        self._show_progress()

    def _show_progress(self) -> None:
        self.progress.setText(self._standing + self._pace.text())

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self._theme = theme
        self.badge.set_theme(theme)
        self.subject.set_theme(theme)
        for each in self.buttons:
            each.set_theme(theme)
        if self._sample is not None:
            self._show_sample(self._sample)

    # ---- what is asked for

    def _clicked(self, mode: str, checked: bool = False) -> None:
        self._choose(mode)

    def _choose(self, mode: str) -> None:
        """Ask for a label (or to take it back), then go on."""
        if self._sample is None or self.held:
            return
        own = self._own()
        self._given.append((self._sample.id, own.mode if own else "", own.note if own else ""))
        self.label_requested.emit(self._sample.id, mode, self.note.text().strip() if mode else "")
        if mode:
            self._pace.add()
        self._show_progress()
        if self.advance.isChecked() and mode:
            self.next_requested.emit()

    def _undo(self) -> None:
        """Ask for what the last labelled sample had before, and show that sample."""
        if not self._given:
            return
        sample_id, mode, note = self._given.pop()
        self._pace.take_back()
        self._show_progress()
        self.label_requested.emit(sample_id, mode, note)
        self.sample_requested.emit(sample_id)
        self.undo.setEnabled(bool(self._given))

    def _keep_note(self) -> None:
        """Enter in the note: store it with the label there is; without one it waits for the label."""
        own = self._own()
        if self._sample is not None and own is not None and own.mode and own.note != self.note.text().strip():
            self.label_requested.emit(self._sample.id, own.mode, self.note.text().strip())
        self._leave_note()

    # ---- what is shown

    def _own(self) -> LabelRow | None:
        """The annotator's label that holds."""
        name = self.annotator.text().strip()
        return next((each for each in reversed(self._labels) if each.annotator == name), None)

    def _show_sample(self, sample: SampleRow) -> None:
        self.name.setText(sample_name(sample))
        self.about.setText("" if self.subject.isVisibleTo(self._body) else " ".join(sample.text.split()))
        shown = sample.role != "forward" and not self.blind.isChecked()
        text = verdict_text(sample.verdict) if shown else ""
        self.badge.show_text(text, verdict_colour(self._theme, sample.verdict))
        self.undo.setEnabled(bool(self._given))

    def _show_labels(self) -> None:
        own, name = self._own(), self.annotator.text().strip()
        for each in self.buttons:
            each.setChecked(own is not None and own.mode == each.mode.id)
        shown = [each for each in self._labels if each.annotator == name or not self.blind.isChecked()]
        self.history.setText("\n".join(self._told(each) for each in reversed(shown[-6:])))
        self.history.setVisible(bool(shown))

    def _told(self, entry: LabelRow) -> str:
        """One entry of the history in words."""
        said = self.taxonomy.name(entry.mode) if entry.mode else "label taken back"
        note = f": {entry.note}" if entry.note else ""
        return f"{entry.annotator or 'unnamed'} · {said}{note} · {entry.made_at}"

    def _set_blind(self, on: bool) -> None:
        if self._sample is not None:
            self._show_sample(self._sample)
        self._show_labels()
        self.blind_changed.emit(on)

    def _write_note(self) -> None:
        self.note.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.note.selectAll()

    def _leave_note(self) -> None:
        if self.buttons:
            self.buttons[0].setFocus(Qt.FocusReason.ShortcutFocusReason)

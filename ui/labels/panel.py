"""Labelling the error modes of samples, without the mouse: the sample, its modes, and who differs."""

import random
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from rtc_inspector.core.store.labels import named
from rtc_inspector.core.store.rows import ItemRow, LabelRow, SampleRow
from rtc_inspector.core.taxonomy import ErrorMode, Taxonomy, read_taxonomy
from rtc_inspector.core.types import Form, LabelKind, TestResult
from rtc_inspector.ui.diff.lines import lost_indentation, restored, side_by_side
from rtc_inspector.ui.diff.rows import EditLines, PairLines, compare, shown_edit
from rtc_inspector.ui.diff.view import EDIT_TITLES, Columns
from rtc_inspector.ui.labels.controls import LabelActions, LabelBar, LabelSide, keys_of, name_keys
from rtc_inspector.ui.labels.queue import LabelRequest, LabelSession
from rtc_inspector.ui.panels.pieces import CardScroll, EmptyState, TextBox
from rtc_inspector.ui.presenters import as_known, describes, presenter
from rtc_inspector.ui.style.controls import bind, breakable, button, called, column, embolden, label, row, split
from rtc_inspector.ui.style.fonts import grown
from rtc_inspector.ui.style.theme import SPACE

ACROSS = 4  # cards beside each other before the next row begins


NameOf = Callable[[str], str]  # the names of a label's error modes, by its ids


def is_decision(label: LabelRow) -> bool:
    """Return whether it decides between annotators, and is not one's own label."""
    return label.kind == LabelKind.ADJUDICATION


def history_line(entry: LabelRow, name_of: NameOf) -> str:
    """Return one entry of the history in words."""
    words = name_of(entry.mode) if entry.mode else "note" if entry.note else "label taken back"
    who = f"{entry.annotator or 'unnamed'}{' decided' if is_decision(entry) else ''}"
    note = f": {entry.note}" if entry.note else ""
    return f"{who} · {words}{note} · {minute(entry.made_at)}"


def minute(time: str) -> str:
    """Return a stored time, to the minute."""
    return time[:16].replace("T", " ")


class Opinions(QWidget):
    """Cards side by side, one key or click to decide for one of them: `accept(place)`."""

    def __init__(self, accept: Callable[[int], None]) -> None:
        super().__init__(accessibleName="What the annotators said")
        self._accept, self.cards = accept, list[OpinionCard]()
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
            self.cards.append(OpinionCard(partial(self._accept, place)))
            self._grid.addWidget(self.cards[place], place // ACROSS, place % ACROSS)
        for place, card in enumerate(self.cards):
            card.setVisible(place < len(held))
        for place, (each, card) in enumerate(zip(held, self.cards, strict=False)):
            who = f"Annotator {place + 1}" if blind else each.annotator or "unnamed"
            accepted = decided is not None and set(decided.modes) == set(each.modes)
            card.annotator.setText(who)
            card.made_at.setText("" if blind else minute(each.made_at))
            card.mode.setText(name_of(each.mode))
            card.note.setText(each.note)
            card.note.setVisible(bool(each.note))
            card.show_key(keys[place] if place < len(keys) else "", accepted)
        self.setVisible(bool(held))


class OpinionCard(QFrame):
    """Name, mode, note and the button that accepts them."""

    def __init__(self, accept: Callable[[], None]) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.annotator, self.made_at = label(role="muted"), label(role="caption")
        self.mode, self.note = label(wrap=True, selectable=True), label(role="muted", wrap=True, selectable=True)
        embolden(self.mode)
        self.accept = button("", "Decide as this annotator says", accept, flat=False)
        head = row(self.annotator, self.made_at, None, self.accept)
        column(head, self.mode, self.note, margins=(SPACE, SPACE // 2, SPACE // 2, SPACE), spacing=2, owner=self)

    def show_key(self, key: str, accepted: bool) -> None:
        words = "Accepted" if accepted else "Accept"
        self.accept.setText(f"{words}  {key}" if key else words)
        self.accept.setCheckable(True)
        # A click turned it; only what is stored may.
        self.accept.setChecked(accepted)
        tip = f"Decide as {self.annotator.text()} says: {self.mode.text()}"
        self.accept.setToolTip(f"{tip} ({key})" if key else tip)
        self.accept.setAccessibleName(tip)


WIDEST_SIDE = 430  # pixels that modes and note take at most
HISTORY_LINES = 6  # entries of the history that are shown


class LabelsPanel(QWidget):
    """One sample and the modes to choose from; empty until `set_sample`. It writes nothing: it asks."""

    label_requested = Signal(object)  # a LabelRequest: an empty mode takes a label back
    next_requested = Signal()  # of the queue
    previous_requested = Signal()
    sample_requested = Signal(int)  # the sample to show after an undo
    blind_changed = Signal(bool)  # whether to hide the run elsewhere too
    named = Signal(str)  # who labels from now on

    def __init__(self) -> None:
        super().__init__(accessibleName="Labels", focusPolicy=Qt.FocusPolicy.StrongFocus)
        self._sample: SampleRow | None = None
        self._run_id = 0
        self._labels: Sequence[LabelRow] = ()
        self._task = ""
        self._session = LabelSession()
        self._context: Callable[..., None] | None = None
        self.names: Mapping[str, str] = {}  # of error modes that were ever used, by id
        self._slots: dict[int, ErrorMode] = {}
        self.held = False  # no label is taken while the next sample is on its way: it would go to the wrong one
        self.adjudicating = False
        self._adding = self._clean = False
        self.name = ""
        self._empty = EmptyState("Nothing to label", "Open a run first.")
        self.key_actions = LabelActions(
            self,
            self._choose_slot,
            self._add_slot,
            self._accept,
            clear=lambda: self._choose(""),
            note=self._write_note,
            skip=self.next_requested.emit,
            back=self.previous_requested.emit,
            undo=self._undo,
            others=lambda: self.others.toggle(),
            large=lambda: self.large.toggle(),
            blind=lambda: self.blind.toggle(),
        )
        self.side = LabelSide(self.key_actions, self._choose_slot, self._add_slot)
        self.annotator, self.note, self.advance = self.side.annotator, self.side.note, self.side.advance
        self.blind, self.history, self.keys = self.side.blind, self.side.history, self.side.keys
        self.large, self.others = self.side.large, self.side.others
        self.others.toggled.connect(lambda _: self._show_labels())
        self.annotator.textChanged.connect(lambda typed: self.side.ask_to_confirm(typed.strip(), self.name))
        self.annotator.returnPressed.connect(self._confirm_name)
        bind(self.annotator, "Escape", self._leave_name, "Keep the name that was there")
        self.note.returnPressed.connect(self._keep_note)
        bind(self.note, "Escape", self._leave_field, "Leave the note")
        self.blind.toggled.connect(self._set_blind)
        for name, part in (("blind", self.blind), ("large", self.large), ("others", self.others)):
            name_keys(part, self.key_actions.steps[name])
        self.bar = LabelBar(self.key_actions, self._toggle_keys, self.large, self.blind, self.annotator)
        self.badge, self.progress, self.undo = self.bar.badge, self.bar.progress, self.bar.undo
        self.opinions = Opinions(self._accept)
        self.subject = LabelSubject()
        self.large.toggled.connect(self.subject.show_context)
        self._scroll = CardScroll(self.side)
        side = QWidget()
        column(self._scroll, self.side.noting, owner=side, grows=self._scroll)
        side.setMaximumWidth(grown(self, WIDEST_SIDE))  # what is left over is the code's
        self._split = split(Qt.Orientation.Horizontal, self.subject, side, sizes=(540, 410), stretch=(3, 1))
        self._body = QWidget()
        column(self.bar, self.side.unconfirmed, self.opinions, self._split, owner=self._body)
        column(self._empty, self._body, owner=self)
        self.set_taxonomy(read_taxonomy())
        self.set_sample(None, [])

    def event(self, event: QEvent) -> bool:
        """Take `?` before the window does, for these keys."""
        asked = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Question
        # Qt asks whoever has the focus before it takes a key for a shortcut; who accepts gets the key itself.
        if asked and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if asked and event.type() == QEvent.Type.KeyPress:
            self._toggle_keys()
            return True
        return super().event(event)

    def show_modes(self) -> None:
        """Bring the modes into view, whatever was looked at below them; a list of keys that was asked for stays."""
        if not self.keys.isVisible():
            self._scroll.verticalScrollBar().setValue(0)

    def _toggle_keys(self) -> None:
        self.keys.setVisible(self.keys.isHidden())
        # In the next turn of the loop: what was shown just now has no height yet.
        QTimer.singleShot(0, self, lambda: self._scroll.ensureWidgetVisible(self.keys, 0, 0))

    # ---- what there is to choose from

    def set_taxonomy(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        self._slots = self.key_actions.name_modes(taxonomy, clean=self._clean)
        self.side.offer(self._slots)
        self._show_labels()

    def offer_clean(self, clean: bool) -> None:
        if clean != self._clean:
            self._clean = clean
            self.set_taxonomy(self.taxonomy)

    # ---- what is on show

    def set_adjudicating(self, on: bool) -> None:
        if on != self.adjudicating:
            self._session.forget()
        self.adjudicating = on

    def set_sample(
        self,
        sample: SampleRow | None,
        labels: Sequence[LabelRow],
        *,
        item: ItemRow | None = None,
        description: str = "",
        around: str = "",
        failing: Sequence[TestResult] = (),
    ) -> None:
        """Show a sample with the history of its labels, oldest first.

        `item` brings the original beside it, `description` the text a reconstruction was made from. `around`: the head
        of the function it stands in; `failing`: tests that failed.
        """
        fresh = sample is None or self._sample is None or sample.id != self._sample.id
        self._sample, self._labels = sample, labels
        if item is not None:
            self._task, self._run_id = item.task, item.run_id
        self._empty.stand_in(self._body, empty=sample is None)
        if sample is None:
            self.note.clear()
            return
        own = self._own()
        if fresh:
            self.note.setText(own.note if own else "")
            self._adding = False
        self.subject.setVisible(item is not None)
        if fresh:
            self.show_modes()
        if item is not None and fresh:
            self.subject.show_subject(item, sample, description)
            self._context = partial(self.subject.context.show_context, item, around, failing)
            self._context(blind=self.blind.isChecked())
        self._show_sample(sample)
        self._show_labels()

    def forget(self) -> None:
        self._session.forget()
        self.undo.setEnabled(False)
        self.held = False
        self.progress.clear()
        self.set_advice("")
        self.set_sample(None, [])

    def set_advice(self, advice: str) -> None:
        self._empty.say("Nothing to label", advice or "Open a run first.")

    def set_progress(self, done: int, total: int) -> None:
        self._session.set_progress(done, total)
        self.progress.setText(self._session.text)

    # ---- what is asked for

    def set_name(self, name: str) -> None:
        """Label under this name. Somebody else undoes nothing of what was said before."""
        if name != self.name:
            self.name = name
            self._session.forget()
            self.undo.setEnabled(False)
        self.annotator.setText(name)
        self.side.ask_to_confirm(name, name)
        self.progress.setText(self._session.text)
        self._show_labels()

    def _confirm_name(self) -> None:
        before = self.name
        self.set_name(self.annotator.text().strip())
        self._leave_field()
        if self.name != before:
            self.named.emit(self.name)

    def _leave_name(self) -> None:
        self.set_name(self.name)
        self._leave_field()

    def _is_named(self) -> bool:
        """Return whether the name in the field is confirmed; where it is not, go there: whose label would it be?"""
        if self.annotator.text().strip() == self.name:
            return True
        self.annotator.setFocus(Qt.FocusReason.OtherFocusReason)
        return False

    def _choose_slot(self, slot: int) -> None:
        if slot in self._slots:
            self._choose(self._with(self._slots[slot]) if self._adding else self._slots[slot].id)

    def _add_slot(self, slot: int) -> None:
        """Add a mode to those there are, or take it away, and stay: the next digit is the last one."""
        own = self._own()
        if slot not in self._slots:
            return
        mode = self._slots[slot].id
        left = " ".join(each for each in own.modes if each != mode) if own is not None else ""
        there = own is not None and mode in own.modes
        self._adding = True
        self._choose(left if there else self._with(self._slots[slot]), stay=True)

    def _with(self, mode: ErrorMode) -> str:
        """Return the modes there are and this one; that nothing is wrong stands alone."""
        own = self._own()
        clean = {each.id for each in self.taxonomy.modes if each.clean}
        others = [each for each in own.modes if each not in clean] if own is not None and not mode.clean else []
        return " ".join(dict.fromkeys([*others, mode.id]))

    def _choose(self, mode: str, note: str | None = None, *, stay: bool = False) -> None:
        """Ask for a label (or to take it back), then go on unless it is to `stay`. `note` None takes the field's."""
        if self._sample is None or self.held or not self._is_named():
            return
        written = self.note.text().strip() if note is None else note
        given = LabelRequest(self._run_id, self._sample.id, mode, written if mode or stay else "")
        # Before it is asked for: afterwards the sample's own label is the new one already.
        own = self._own()
        again = self._adding and own is not None and bool(own.mode)  # one more mode of a sample that was counted
        self._session.add(given, own, counts=bool(mode) and not again)
        self.label_requested.emit(given)
        self.progress.setText(self._session.text)
        if self.advance.isChecked() and mode and not stay:
            self.next_requested.emit()

    def _accept(self, place: int) -> None:
        """Decide as the annotator at this place says; their note goes along unless another was written."""
        held = self._held()
        if self.adjudicating and place < len(held):
            own, written = self._own(), self.note.text().strip()
            kept = own.note if own else ""
            self._choose(held[place].mode, held[place].note if written == kept else written)

    def _undo(self) -> None:
        before = self._session.take_back() if self._is_named() else None
        if before is None:
            return
        self.progress.setText(self._session.text)
        if self._sample is not None and before.sample_id == self._sample.id:
            self.note.setText(before.note)
        self.label_requested.emit(before)
        self.sample_requested.emit(before.sample_id)
        self.undo.setEnabled(bool(self._session))

    def _keep_note(self) -> None:
        own, note = self._own(), self.note.text().strip()
        if not self._is_named():
            return
        if self._sample is not None and not self.held and note != (own.note if own is not None else ""):
            given = LabelRequest(self._run_id, self._sample.id, own.mode if own is not None else "", note)
            self._session.add(given, own, counts=False)
            self.label_requested.emit(given)
            self.undo.setEnabled(True)
        self._leave_field()

    # ---- what is shown

    def _own(self) -> LabelRow | None:
        """Return the label that this annotator gave last, or, while adjudicating, the decision made last."""
        alike = (each for each in reversed(self._labels) if is_decision(each) == self.adjudicating)
        return next((each for each in alike if self.adjudicating or each.annotator == self.name), None)

    def _held(self) -> list[LabelRow]:
        last = {each.annotator: each for each in self._labels if not is_decision(each)}
        held = [each for each in last.values() if each.mode]
        if self.blind.isChecked() and self._sample is not None:
            # Seeded by the sample: the order is the same each time one comes back, and tells nothing of who is who.
            random.Random(self._sample.id).shuffle(held)
        return held

    def _show_sample(self, sample: SampleRow) -> None:
        about = "" if self.subject.isVisibleTo(self._body) else " ".join(sample.text.split())
        self.bar.show_sample(sample, self._task, about, blind=self.blind.isChecked())
        self.undo.setEnabled(bool(self._session))

    def _show_labels(self) -> None:
        own = self._own()
        self.side.choose(own.modes if own else ())
        blind = self.blind.isChecked()
        own_only = [] if self.adjudicating else [each for each in self._labels if each.annotator == self.name]
        free = self.adjudicating or self.others.isChecked() or bool(own and own.mode)
        shown = self._labels if free and not blind else own_only
        lines = [history_line(each, self._mode_name) for each in reversed(shown[-HISTORY_LINES:])]
        others = {each.annotator for each in self._held()} - {self.name}
        if others and not free and not blind:
            keys = keys_of(self.key_actions.steps["others"])
            lines.append(f"Labelled by others, too: shown once you have ({keys} shows it now)")
        self.side.tell(lines)
        held = self._held() if self.adjudicating and self._sample is not None else []
        accepts = [keys_of(action) for action in self.key_actions.accepts]
        self.opinions.show_labels(held, own, accepts, self._mode_name, blind=blind)

    def _mode_name(self, mode: str) -> str:
        own = {each.id: each.name for each in self.taxonomy.modes}
        return named(mode, {**self.names, **own})

    def _set_blind(self, on: bool) -> None:
        if self._sample is not None:
            self._show_sample(self._sample)
        if self._context is not None:
            self._context(blind=on)
        self._show_labels()
        self.blind_changed.emit(on)

    def _write_note(self) -> None:
        self.note.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.note.selectAll()

    def _leave_field(self) -> None:
        # Digits are text in a field, and labels outside of one. A button would be pressed by the Enter that came here.
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)


MOST_WORDS, LEAST_WORDS = 0.5, 40
"""Share of the height that a description may take, and pixels that it may take in any case."""


class LabelContext(QWidget):
    """Beside a large diff: where the code stands, the function around it, and the test that failed."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "surface")
        self.place = called(label(role="heading", wrap=True, selectable=True), "Where the code stands")
        self.place.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        self.around, self.failed = TextBox("Function around it"), TextBox("Failing test")
        self._column = column(self.place, self.around, self.failed, owner=self)
        for part, share in ((self.around, 2), (self.failed, 3)):
            self._column.setStretchFactor(part, share)

    def show_context(self, item: ItemRow, around: str, failing: Sequence[TestResult], *, blind: bool) -> None:
        lines = f"{item.start_line}–{item.end_line}" if item.end_line > item.start_line else f"{item.start_line}"
        self.place.setText(breakable(f"{item.path}  lines {lines}" if item.has_file else item.key))
        self.around.show_text(textwrap.dedent(around))
        self.around.setVisible(bool(around))
        messages = "\n\n".join(as_known(item, f"{test.node_id}\n{test.message.strip()}") for test in failing)
        self.failed.show_text(messages, f"{len(failing)} failed" if len(failing) > 1 else "")
        self.failed.setVisible(bool(failing) and not blind)


class LabelSubject(QWidget):
    """No switches and no verdict: only the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "surface")
        self.description = called(label(role="judged", wrap=True, selectable=True), "Description")
        self.description.setContentsMargins(SPACE, SPACE // 2, SPACE, SPACE // 2)
        self.columns = Columns(self)
        self.columns.set_wrap(True)
        self.original = TextBox("Original", wrap=False)
        self._words = CardScroll(self.description)
        self.context = LabelContext()
        codes = QWidget()
        self._column = column(self.original, self.columns, owner=codes)
        beside = split(Qt.Orientation.Horizontal, codes, self.context, sizes=(700, 300), stretch=(5, 2))
        column(self._words, beside, owner=self, grows=beside)
        self.context.hide()

    def show_context(self, shown: bool) -> None:
        self.context.setVisible(shown)
        self._make_room()

    def show_subject(self, item: ItemRow, sample: SampleRow, description: str) -> None:
        words = describes(sample)
        asked = item.form == Form.TEXT and not words  # it is no original of a program, but what that was asked for
        self.description.setText(breakable(item.text if asked else sample.text if words else description))
        self._words.setVisible(bool(self.description.text()))
        self._make_room()
        self.original.setVisible(words or asked)
        self.original.title.setText("Program" if asked else "Original")
        self.columns.setVisible(not (words or asked))
        if presenter(item).past:
            self._show_edit(item, None if words else sample.text)
            return
        # It stands there once it was made; to ask for it would make it.
        if "edit" in self.__dict__:
            self.edit.hide()
        if words or asked:
            self.original.show_text(sample.text if asked else restored(item.text, lost_indentation(item.text)))
            return
        python = item.path.endswith((".py", ".pyi"))
        diff = compare(*side_by_side(item.text, sample.text), python=python)
        self.columns.show_lines(PairLines(diff, (item.start_line, item.start_line)), item.path)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        most = max(int(self.height() * MOST_WORDS), LEAST_WORDS)
        self._words.setFixedHeight(min(max(self.description.heightForWidth(self.width()), 0), most))

    @cached_property
    def edit(self) -> Columns:
        """Return the view of old, new and predicted code, made with the first edit: most runs have none."""
        view = Columns(self, EDIT_TITLES)
        view.set_wrap(True)
        self._column.addWidget(view, 1)
        return view

    def _show_edit(self, item: ItemRow, predicted: str | None) -> None:
        self.original.hide()
        self.columns.hide()
        self.edit.show()
        self.edit.show_last(predicted is not None)
        self.edit.show_lines(EditLines(shown_edit(item, predicted)), item.path)

"""One region's round trip: descriptions, the code made from each, and what the tests say."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from rtc_inspector.core.kinds import FIRST_KIND, Kind, article, kind_of
from rtc_inspector.core.store.rows import ItemRow, SampleRow
from rtc_inspector.core.types import Form
from rtc_inspector.ui import presenters
from rtc_inspector.ui.panels.pieces import Badge, Card, CardScroll, CodePeek, EmptyState, first_difference
from rtc_inspector.ui.style.controls import (
    ElidedLabel,
    Flow,
    Margins,
    bind,
    breakable,
    button,
    called,
    column,
    discard,
    label,
    on_ground,
    push,
    row,
)
from rtc_inspector.ui.style.fonts import grown, write_fixed
from rtc_inspector.ui.style.region_state import UNFINISHED, goodness
from rtc_inspector.ui.style.theme import SPACE

MOST = 256  # unfinished texts kept at a time; the oldest go first


@dataclass(frozen=True, slots=True)
class Stream:
    """The place of a text. `parent`: id of the stored sample it is made from, if it was told."""

    item_id: int
    role: str
    index: int
    parent: int | None = None


class Streams:
    """Texts that the model has written so far, by place."""

    def __init__(self) -> None:
        self._texts: OrderedDict[Stream, str] = OrderedDict()
        self._stored: dict[Stream, int] = {}

    def append(self, place: Stream, text: str) -> str:
        self._texts[place] = self._texts.get(place, "") + text
        self._texts.move_to_end(place)
        # Texts of items that nobody looks at are never settled: their samples are not read.
        while len(self._texts) > MOST:
            self._texts.popitem(last=False)
        return self._texts[place]

    def settle(self, item_id: int, samples: Sequence[SampleRow]) -> None:
        """Forget what has become a stored sample of the item.

        Where a stream did not name its parent, it ends as soon as one more sample of its role and index is stored.
        """
        counts: dict[Stream, int] = {}
        for sample in samples:
            loose = Stream(item_id, sample.role, sample.index)
            counts[loose] = counts.get(loose, 0) + 1
            if sample.parent_id is not None:
                self._texts.pop(replace(loose, parent=sample.parent_id), None)
        for loose, count in counts.items():
            if count > self._stored.get(loose, 0):
                self._texts.pop(loose, None)
        # A stream without a parent ends when one more sample is there than before.
        self._stored |= counts

    def end(self) -> None:
        self._texts.clear()

    def of(self, item_id: int) -> dict[Stream, str]:
        return {place: text for place, text in self._texts.items() if place.item_id == item_id}


_STATES = {"waiting": "… waiting", "running": "▸ running", UNFINISHED: "◌ unfinished", "dropped": "○ dropped"}


class RoundTripHeader(QWidget):
    """`file:lines`, the headline, what stands beside it, and tests of one item."""

    def __init__(self, action: QWidget) -> None:
        super().__init__()
        on_ground(self, "header")
        self._place = ElidedLabel("title", Qt.TextElideMode.ElideLeft)
        self._headline, self._difference, self._tests, self._state, self._copy, self._extra = self._badges = tuple(
            Badge() for _ in range(6)
        )
        self.peek = CodePeek(4)
        top = row(self._place, action, grows=self._place)
        scores, margins = Flow(self._badges, 6), (SPACE + 4, SPACE, SPACE + 4, SPACE)
        column(top, row(scores, grows=scores), self.peek, margins=margins, spacing=6, owner=self)

    def show_item(self, item: ItemRow) -> None:
        shown = presenters.presenter(item)
        self._place.setText(shown.heading(item))
        self.peek.show_code(item.text, item.path)
        text, tip = shown.headline(item)
        role = {None: "neutral", 0.0: "bad", 1.0: "good"}.get(goodness(item), "warn")
        self._headline.show_text(text, role, tip)
        text, tip = shown.difference(item)
        self._difference.show_text(text, "neutral", tip)
        judged, by = shown.judged(item)
        self._tests.show_text(judged, "neutral", by)
        self._copy.show_text("⚠ also elsewhere in the file" if item.copied else "", "warn", _COPIED)
        self._extra.show_text("✎ by hand, not counted" if item.extra else "", "accent", _EXTRA)
        self._state.show_text(_STATES.get(item.state, ""), "accent" if item.state == "running" else "neutral")


_COPIED = "The same lines stand once more in this file: a pass may be a copy of those, whatever the description says"
_EXTRA = "You selected this code; it stands beside the run's sampled regions and is left out of its scores"


DESCRIBE = "Write a description by hand and run the backward pass on it"
BLINK = 530  # milliseconds
LOW = 200  # pixels of the panel
AT_ONCE = 4
"""Cards that are made or changed in one turn of the event loop. A function asked for its names six times over has 80
samples, and cards for all of them at once kept the window from answering for half a second; a dozen a turn still for
0.15 s while another thread computed."""


class RoundTripPanel(QWidget):
    """The trace of one item as cards. Up, Down, Home and End move between them.

    When `set_trace` shows an item whose samples do not hold the current one, the first reconstruction is chosen, else
    the first description.
    """

    sample_selected = Signal(int)  # id of the sample that became current, by the user or as above
    describing = Signal()  # a person is about to write a description
    description_written = Signal(int, str)  # item, and a person's words to make the backward pass on

    def __init__(self) -> None:
        super().__init__(accessibleName="Samples of the item")
        self._item: ItemRow | None = None
        self.selected: int | None = None
        self._wanted: int | None = None
        self._streams = Streams()
        self._cards: dict[int, SampleCard] = {}
        self._spare: list[SampleCard] = []
        self._left: deque[tuple[int, presenters.Node]] = deque()
        self._filling = QTimer(self, singleShot=True, interval=0)
        self._filling.timeout.connect(self._fill)
        self._writing: dict[Stream, WritingCard] = {}
        self._lit, self._any, self._stage, self._first_run = True, False, "", ""
        self.describe = button("✎ Describe", DESCRIBE, self.write_description, flat=False)
        self.own = DescribeCard()
        self.own.setContentsMargins(SPACE + 4, SPACE, SPACE + 4, 0)
        self.own.written.connect(self._ask_backward)
        self.own.left.connect(self._fit)
        self.own.left.connect(lambda: (self.chosen or self.describe).setFocus(Qt.FocusReason.OtherFocusReason))
        self._header = RoundTripHeader(self.describe)
        self._empty = EmptyState("", "")
        self.set_kind(FIRST_KIND)
        self._state = label(role="muted", wrap=True)
        self._list = called(QWidget(), role="surface")
        margins = SPACE + 4, SPACE, SPACE + 4, SPACE
        self._layout = column(self._state, None, margins=margins, spacing=SPACE, owner=self._list)
        self._scroll = CardScroll(self._list)
        column(self._empty, self._header, self.own, self._scroll, owner=self)
        self._blinking = QTimer(self, interval=BLINK)
        self._blinking.timeout.connect(self._blink)
        self.set_trace(None, [])

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().minimumSizeHint().width(), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Leave the original out where it would take others' room: the code beside it shows it."""
        writing = 0 if self.own.isHidden() else self.own.sizeHint().height()
        self._header.peek.setVisible(self.height() > grown(self, LOW) + writing)

    @property
    def chosen(self) -> SampleCard | None:
        return None if self.selected is None else self._cards.get(self.selected)

    @property
    def filling(self) -> bool:
        """Whether some of the item's cards are still to be made, in the next turns of the event loop."""
        return bool(self._left)

    @property
    def cards(self) -> tuple[SampleCard, ...]:
        return tuple(self._cards.values())

    def set_trace(self, item: ItemRow | None, samples: Sequence[SampleRow]) -> None:
        """Show an item with its samples; cards that stay are kept, with scroll position and focus.

        The first `AT_ONCE` cards are there at once, more of them in the next turns of the event loop.
        """
        # While a run goes on the same item comes again and again: its cards keep their place and the focus.
        fresh = item is None or self._item is None or item.id != self._item.id
        self._item = item
        self._empty.stand_in(self._header, self._scroll, empty=item is None)
        self.describe.setEnabled(item is not None and _describable(item))
        self.describe.setVisible(self._kind.describable)
        if fresh:
            for card in self._cards.values():
                self._put_away(card)
            for writing in self._writing.values():
                discard(writing)
            self._left.clear()
            self._cards, self._writing, self.selected, self._wanted = {}, {}, None, None
            self.own.hide()
            self.own.text.clear()
            self._fit()
            self._scroll.verticalScrollBar().setValue(0)
        if item is None:
            return
        self._header.show_item(item)
        # First, or a sample would stand there twice: stored, and still being written.
        self._streams.settle(item.id, samples)
        gone = set(self._cards) - {sample.id for sample in samples}
        for number in gone:
            self._put_away(self._cards.pop(number))
        self._left = deque(enumerate(presenters.trace(item, samples), 1))
        self._fill()
        self._show_writing()
        self._show_state(item, samples)
        if self.selected not in self._cards and not self._is_left(self._wanted):
            for sample in ([each for each in samples if presenters.rebuilt(each)] or list(samples))[:1]:
                self.select(sample.id)

    def append_text(self, item_id: int, role: str, index: int, text: str, parent: int | None = None) -> None:
        place = Stream(item_id, role, index, parent)
        so_far = self._streams.append(place, text)
        if self._item is None or item_id != self._item.id:
            return
        if place not in self._writing:
            self._show_writing()
            self._show_state(self._item, [card.sample for card in self._cards.values()])
        self._writing[place].show_text(so_far)

    def end_writing(self) -> None:
        """End the writing, as the run has ended: what it had not finished is not being written any more."""
        self._streams.end()
        self._show_writing()

    def select(self, sample_id: int) -> None:
        if sample_id not in self._cards:
            self._wanted = sample_id if self._is_left(sample_id) else self._wanted
            return
        self._wanted = None
        for number, card in self._cards.items():
            card.mark(number == sample_id)
        changed, self.selected = sample_id != self.selected, sample_id
        self._reveal()
        if changed:
            QTimer.singleShot(0, self, self._reveal)  # again: a card made just now has not found its place yet
            self.sample_selected.emit(sample_id)

    def reveal_writing(self) -> None:
        if self._writing:
            self._scroll.ensureWidgetVisible(list(self._writing.values())[-1], 0, SPACE)

    def _reveal(self) -> None:
        if self.chosen is not None:
            self._scroll.ensureWidgetVisible(self.chosen, 0, SPACE)

    def write_description(self) -> None:
        card = self.chosen
        if card is not None and not card.describes and card.sample.parent_id is not None:
            # Code is chosen: who describes it anew begins from the words it was made from.
            card = self._cards.get(card.sample.parent_id)
        if self._item is not None and _describable(self._item):
            self.describing.emit()
            self.own.start(card.sample.text if card is not None and card.describes else "")
            self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        order = list(self._cards)
        here = order.index(self.selected) if self.selected in order else 0
        key, last = Qt.Key, len(order) - 1
        targets = {key.Key_Down: min(here + 1, last), key.Key_Up: max(here - 1, 0), key.Key_Home: 0, key.Key_End: last}
        target = targets.get(Qt.Key(event.key()))
        if target is None or not order:
            super().keyPressEvent(event)
            return
        self.select(order[target])
        self._cards[order[target]].setFocus(Qt.FocusReason.TabFocusReason)

    def _ask_backward(self, text: str) -> None:
        if self._item is not None:
            self.description_written.emit(self._item.id, text)

    # ---- cards

    def _fill(self) -> None:
        """Make or change some of the cards that are left, and the others in turn."""
        item, changed = self._item, 0
        while item is not None and self._left and changed < AT_ONCE:
            place, node = self._left.popleft()
            card = self._cards.pop(node.sample.id, None)  # taken out and put in again: the last one now
            changed += card is None or not card.shows(node, item)
            if card is None:
                card = self._new_card(node, item, place)
            else:
                card.show_node(node, item)
            self._cards[node.sample.id] = card
        if self._left:
            self._filling.start()
        if self._wanted in self._cards:
            self.select(self._wanted)

    def _is_left(self, sample_id: int | None) -> bool:
        return any(node.sample.id == sample_id for _, node in self._left)

    def _new_card(self, node: presenters.Node, item: ItemRow, place: int) -> SampleCard:
        """Return a card put away before, else a new one: making one takes ten times as long."""
        card = next((each for each in self._spare if each.inset == inset_of(node.inset)), None)
        if card is None:
            card = SampleCard(node, item)
            card.chosen.connect(lambda: self.select(card.sample.id))
        else:
            self._spare.remove(card)
            card.show_node(node, item)
        self._layout.insertWidget(place, card)
        card.show()  # at once, so that it can take the focus
        return card

    def _put_away(self, card: SampleCard) -> None:
        self._layout.removeWidget(card)
        card.hide()
        card.mark(False)
        self._spare.append(card)

    def _show_writing(self) -> None:
        texts = self._streams.of(self._item.id) if self._item is not None else {}
        for place in [place for place in self._writing if place not in texts]:
            discard(self._writing.pop(place))
        for place, text in texts.items():
            if place not in self._writing:
                above = self._cards.get(place.parent) if place.parent is not None else None
                task = self._item.task if self._item is not None else ""
                named = self._kind.roles[place.role]
                code = named.form is not Form.TEXT
                number = place.index if not named.by_round or above is None else above.sample.step + (not code)
                name = presenters.role_name(task, place.role, number)
                inset = 0 if above is None else above.node.inset + (not named.by_round)
                self._writing[place] = WritingCard(name, presenters.sign_words(task, place.role), inset, code=code)
                self._layout.insertWidget(self._layout.count() - 1, self._writing[place])
                self._writing[place].show()
            self._writing[place].show_text(text)
        # A timer that blinks nothing would wake the processor twice a second for good.
        if bool(self._writing) != self._blinking.isActive():
            self._blinking.start() if self._writing else self._blinking.stop()

    def _blink(self) -> None:
        self._lit = not self._lit
        for card in self._writing.values():
            card.blink(self._lit)

    def set_kind(self, kind: Kind) -> None:
        self._kind = kind
        self.expect(self._any)

    def expect(self, any_items: bool) -> None:
        self._any, noun = any_items, self._kind.noun
        if any_items:
            self._empty.say(f"No {noun} selected", f"Pick {article(noun)} in the code or in the list of {noun}s.")
        elif self._stage:
            self._empty.say(self._stage, f"What the run makes of each {noun} appears here.")
        elif self._first_run:
            self._empty.say("Ready to run", f"What the model makes of each {noun} appears here.")
        else:
            self._empty.say(f"No {noun}s yet", "What a run makes of each appears here.")

    def offer_run(self, words: str, act: Callable[[], object]) -> None:
        if words != self._first_run:
            self._first_run = words
            self._empty.offer(words, act)
            self.expect(self._any)

    def say_stage(self, words: str) -> None:
        if words != self._stage:
            self._stage = words
            self.expect(self._any)

    def _show_state(self, item: ItemRow, samples: Sequence[SampleRow]) -> None:
        words = f"This {item.kind} waits for its turn while its run is at work."
        if samples or self._writing:
            words = ""
        elif item.state == "dropped":
            words = f"This {item.kind} was not sampled: {item.reason or 'it was dropped.'}"
        elif item.state == "running":
            words = "The model is reading…"
        self._state.setText(words)
        self._state.setVisible(bool(words))


def _describable(item: ItemRow) -> bool:
    kind = kind_of(item.task)
    return item.admitted and kind is not None and kind.describable


CARET = "▍"
WORDS = 5  # lines that the field of a person's description is high
INDENT = 20  # pixels by which a sample stands right of the one it was made from
FIGURES = "How alike it is to the original (sim: edit similarity, 1 is the same), tokens written, seconds it took"
DEEPEST = 4  # levels up to which cards are indented; in a longer chain the names say the round

_FLAGGED = "Odd, but no proof of anything: it changes neither the verdict nor a score."
_SHORTENED = "The file did not fit the context window: whole statements of it were left out of the prompt."
_ENDS = {
    "length": "cut at length limit",
    "loop": "went round in a loop",
    "context": "context full",
    "failed": "engine failed",
}


class SampleCard(Card):
    """One stored sample. Words show their text, code its verdict and first lines; both their scores against others."""

    def __init__(self, node: presenters.Node, item: ItemRow) -> None:
        super().__init__(inset_of(node.inset))
        self.node, self._item = node, item
        self._name = label(role="heading")
        self._main, self._author, self._end, self._short = (Badge() for _ in range(4))
        self._cost = ElidedLabel("caption")
        self._cost.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._text = label(wrap=True)
        self._against = label(role="caption", wrap=True)
        self._code = CodePeek(3)
        self._flags = Badge()
        self._badges = (self._main, self._flags, self._author, self._end, self._short)
        titles, spacing = Flow((self._name, *self._badges), SPACE // 2 + 2), SPACE // 2 + 2
        head = row(titles, self._cost, spacing=spacing, grows=titles)
        head.setAlignment(self._cost, Qt.AlignmentFlag.AlignTop)
        parts = head, self._text, self._against, self._code
        column(*parts, margins=inside(self.inset), spacing=spacing, owner=self)
        self.show_node(node, item)

    @property
    def sample(self) -> SampleRow:
        return self.node.sample

    @property
    def describes(self) -> bool:
        return presenters.describes(self.sample)

    def shows(self, node: presenters.Node, item: ItemRow) -> bool:
        same = (node, item.id, item.state) == (self.node, self._item.id, self._item.state)
        return same and bool(self._name.text())

    def show_node(self, node: presenters.Node, item: ItemRow) -> None:
        """Show a sample as it stands now; what is shown of it already is left alone."""
        if self.shows(node, item):
            return
        self.node, self._item, sample = node, item, node.sample
        self._name.setText(node.name)
        self._name.setToolTip(presenters.sign_words(item.task, sample.role))
        self._against.setText("\n".join(part for part in (" · ".join(node.against), node.remark) if part))
        self._against.setToolTip(presenters.compared_words(sample))
        self._against.setVisible(bool(node.against or node.remark))
        self._cost.setText(_figures(sample))
        self._cost.setToolTip(FIGURES)
        self._text.setVisible(self.describes or bool(sample.error))
        self._text.setText(breakable(sample.error or sample.text or "(empty)"))
        # Code that came back as it was needs no lines; the card says so in words.
        exact = sample.text.rstrip() == item.text.rstrip()
        self._code.setVisible(not (self.describes or exact) and bool(sample.text))
        if self._code.isVisibleTo(self):
            start = first_difference(item.text, sample.text)
            self._code.show_code(sample.text, item.path, max(0, start) if start > 1 else 0)
        self._show_badges()
        self.setAccessibleName(self.spoken())

    def spoken(self) -> str:
        spoken = self.node.name.rpartition(" (")[0] or self.node.name  # without the paper's sign
        parts = [spoken, *(badge.text for badge in self._badges if badge.text), *self.node.against]
        parts += [self.node.remark] if self.node.remark else []
        return f"{', '.join(parts)}: {self.sample.text}" if self.describes else ", ".join(parts)

    def _show_badges(self) -> None:
        sample = self.sample
        human = sample.author if sample.author != "model" else ""
        self._author.show_text(f"✎ by {human}" if human else "", "accent", "Written by a person")
        end, told = _ENDS.get(sample.finish_reason, ""), "The model did not end its answer by itself."
        self._end.show_text(f"⚠ {end}" if end else "", "warn", told)
        if sample.error:
            self._end.show_text("⚙ no sample", "warn", sample.error)
        self._short.show_text("⚠ file shortened" if sample.truncated else "", "warn", _SHORTENED)
        flags = sample.verdict.flags if sample.verdict else ()
        self._flags.show_text(f"⚑ {', '.join(flags)}" if flags else "", "muted", _FLAGGED)
        if self.describes:
            tip = "This share of the code stands verbatim in the description: a pass may be mere copying."
            self._main.show_text(
                f"⚠ recites {sample.recitation:.2f}" if presenters.recites(sample) else "", "warn", tip
            )
        elif sample.error or not presenters.judged_by_tests(self._item.task, sample):
            self._main.show_text("")
        else:
            going = self._item.state == "running"
            text, role, tip = presenters.verdict_badge(sample.verdict, len(self._item.tests), going=going)
            self._main.show_text(text, role, presenters.as_known(self._item, tip))


class WritingCard(Card):
    """A text still being written, with a caret. `text`: the label that shows both."""

    def __init__(self, name: str, tip: str, depth: int, *, code: bool) -> None:
        super().__init__(inset_of(depth))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        state = Badge()
        state.show_text("… writing", "accent")
        self.text = label(wrap=True)
        self._so_far = ""
        if code:
            write_fixed(self.text, 8.5)
        title = called(label(name, "heading"), tip=tip)
        head = row(title, state, None, spacing=SPACE // 2 + 2)
        column(head, self.text, margins=inside(self.inset), spacing=SPACE // 2 + 2, owner=self)
        self.setAccessibleName(f"{name} is being written")

    def show_text(self, text: str) -> None:
        self._so_far = breakable(text)
        self.text.setText(self._so_far + CARET)

    def blink(self, lit: bool) -> None:
        """Show the caret or not; the space it takes stays."""
        self.text.setText(self._so_far + (CARET if lit else " "))


class DescribeCard(QFrame):
    """A person's own description of a region, to be written again by the model; hidden until `start`.

    `written(text)` asks for the backward pass; `left` when it was put away."""

    written = Signal(str)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        hint = "Say what the code does: it is written again from your words and the code around it."
        self.text = called(QPlainTextEdit(placeholderText=hint, tabChangesFocus=True), "Your description", role="field")
        self.text.setFixedHeight(self.text.fontMetrics().lineSpacing() * WORDS + 2 * SPACE)
        self.text.textChanged.connect(self._offer)
        tip = "Run the backward pass on these words and test what comes of it (Ctrl+Return)"
        self.go = called(push("Write the code from it", tip, self._ask), role="primary")
        self.cancel = push("Cancel", "Put this away (Escape)", self.leave)
        bind(self, "Ctrl+Return Ctrl+Enter", self._ask, "Write the code from it")
        bind(self, "Escape", self.leave, "Cancel")
        head = row(label("In your words", "heading"), None, label("Not counted in the scores", "caption"))
        parts = head, self.text, row(None, self.cancel, self.go)
        column(*parts, margins=(0, 0, 0, SPACE), spacing=SPACE // 2 + 2, owner=self, grows=self.text)
        self.hide()

    def start(self, text: str) -> None:
        """Show it with a text to begin from, selected whole; words that were not sent yet stay."""
        # The key was pressed again: what is being written stays.
        if self.isHidden() or not self.text.toPlainText().strip():
            self.text.setPlainText(text)
            self.text.selectAll()
        self._offer()
        self.show()
        self.text.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def leave(self) -> None:
        self.hide()
        self.text.clear()
        self.left.emit()

    def _offer(self) -> None:
        self.go.setEnabled(bool(self.text.toPlainText().strip()))

    def _ask(self) -> None:
        words = self.text.toPlainText().strip()
        if words:
            self.written.emit(words)


def inset_of(depth: int) -> int:
    """Return the inset in pixels of a sample with so many above it."""
    return INDENT * min(depth, DEEPEST)


def inside(inset: int) -> Margins:
    """Return the room around a card's contents."""
    return inset + SPACE + 4, SPACE, SPACE + 4, SPACE


def _figures(sample: SampleRow) -> str:
    if sample.finish_reason == "written":
        return ""
    likeness = sample.scores.get("edit_sim")
    exact = sample.scores.get("exact_match") == 1.0
    parts = ["as the original"] if exact else [] if likeness is None else [f"sim {likeness:.2f}"]
    return " · ".join([*parts, f"{sample.completion_tokens} tok", f"{sample.seconds:.1f} s"])

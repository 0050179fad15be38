"""One region's round trip: descriptions, the code made from each, and what the tests say."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.kinds import FIRST_KIND, Kind, article, kind_of
from rtc_inspector.core.store.rows import ItemRow, SampleRow
from rtc_inspector.core.types import Form
from rtc_inspector.ui.panels.pieces import Badge, CardScroll, CodePeek, EmptyState
from rtc_inspector.ui.panels.sample_cards import DescribeCard, SampleCard, WritingCard
from rtc_inspector.ui.presenters import Node, presenter, rebuilt, role_name, sign_words, trace
from rtc_inspector.ui.style.controls import ElidedLabel, Flow, button, column, discard, label, on_ground, row
from rtc_inspector.ui.style.region_state import UNFINISHED, goodness
from rtc_inspector.ui.style.theme import SPACE

MOST = 256
"""Unfinished texts kept at a time; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Where a text belongs. `parent`: id of the stored sample it is made from, if it was told."""

    item_id: int
    role: str
    index: int
    parent: int | None = None


class Streams:
    """What the model has written so far, by place."""

    def __init__(self) -> None:
        self._texts: OrderedDict[Stream, str] = OrderedDict()
        self._stored: dict[Stream, int] = {}

    def append(self, place: Stream, text: str) -> str:
        """Add new text; the whole text so far comes back."""
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

    def of(self, item_id: int) -> list[tuple[Stream, str]]:
        """Return everything being written for an item, in the order it was begun."""
        return [(place, text) for place, text in self._texts.items() if place.item_id == item_id]


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
        self._peek = CodePeek(4)
        top = row(self._place, action, grows=self._place)
        scores = row()
        scores.addLayout(Flow(self._badges, 6), 1)
        column(top, scores, self._peek, margins=(SPACE + 4, SPACE, SPACE + 4, SPACE), spacing=6, owner=self)

    def show_item(self, item: ItemRow) -> None:
        shown = presenter(item)
        self._place.setText(shown.heading(item))
        self._peek.show_code(item.text, item.path)
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
BLINK = 530
"""Milliseconds."""
AT_ONCE = 4
"""Cards that are made or changed in one turn of the event loop. A function asked for its names six times over has 80
samples, and cards for all of them at once kept the window from answering for half a second; a dozen a turn still for
0.15 s while another thread computed."""


class RoundTripPanel(QWidget):
    """The trace of one item as cards.

    `sample_selected(id)` is emitted when another sample becomes current: by the user, or because `set_trace` showed
    an item whose samples do not hold the current one (then the first reconstruction is chosen, else the first
    description). Up, Down, Home and End move between cards. `description_written(item_id, text)` asks for the
    backward pass on a person's words. `selected`: id of the current sample.
    """

    sample_selected = Signal(int)
    description_written = Signal(int, str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Samples of the item")
        self._item: ItemRow | None = None
        self.selected: int | None = None
        self._wanted: int | None = None
        self._streams = Streams()
        self._cards: dict[int, SampleCard] = {}
        self._spare: list[SampleCard] = []
        self._left: deque[tuple[int, Node]] = deque()
        self._filling = QTimer(self, singleShot=True, interval=0)
        self._filling.timeout.connect(self._fill)
        self._writing: dict[Stream, WritingCard] = {}
        self._lit, self._any, self._stage, self._first_run = True, False, "", ""
        self.describe = button("✎ Describe", DESCRIBE, self.write_description, flat=False)
        self.own = DescribeCard()
        self.own.setContentsMargins(SPACE + 4, SPACE, SPACE + 4, 0)
        self.own.written.connect(self._ask_backward)
        self.own.left.connect(self._back_to_cards)
        self._header = RoundTripHeader(self.describe)
        self._empty = EmptyState("", "")
        self.set_kind(FIRST_KIND)
        self._state = label(role="muted", wrap=True)
        self._lay_out()
        self._blinking = QTimer(self, interval=BLINK)
        self._blinking.timeout.connect(self._blink)
        self.set_trace(None, [])

    def _lay_out(self) -> None:
        self._list = QWidget()
        self._list.setProperty("role", "surface")
        self._layout = column(margins=(SPACE + 4, SPACE, SPACE + 4, SPACE), spacing=SPACE, owner=self._list)
        self._layout.addWidget(self._state)
        self._layout.addStretch(1)
        self._scroll = CardScroll(self._list)
        column(self._empty, self._header, self.own, self._scroll, owner=self)

    @property
    def _chosen(self) -> SampleCard | None:
        return None if self.selected is None else self._cards.get(self.selected)

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
            self._clear()
        if item is None:
            return
        self._header.show_item(item)
        # First, or a sample would stand there twice: stored, and still being written.
        self._streams.settle(item.id, samples)
        self._show_samples(samples, item)
        self._show_writing()
        self._show_state(item, samples)
        if self.selected not in self._cards and not self._is_left(self._wanted):
            self._choose_first(samples)

    def append_text(self, item_id: int, role: str, index: int, text: str, parent: int | None = None) -> None:
        """Take new text of a sample being written. `parent`: id of the sample it is made from."""
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
        """Make a sample current, as soon as it has its card; nothing happens for one that is not shown."""
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
        if self._chosen is not None:
            self._scroll.ensureWidgetVisible(self._chosen, 0, SPACE)

    def write_description(self) -> None:
        """Let the user write a description, beginning from the one that is chosen."""
        if self._item is not None and _describable(self._item):
            self.own.start(self._chosen_words())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        order = list(self._cards)
        if not order:
            super().keyPressEvent(event)
            return
        here = order.index(self.selected) if self.selected in order else 0
        key, last = Qt.Key, len(order) - 1
        targets = {key.Key_Down: min(here + 1, last), key.Key_Up: max(here - 1, 0), key.Key_Home: 0, key.Key_End: last}
        target = targets.get(Qt.Key(event.key()))
        if target is None:
            super().keyPressEvent(event)
            return
        self.select(order[target])
        self._cards[order[target]].setFocus(Qt.FocusReason.TabFocusReason)

    def _chosen_words(self) -> str:
        """Return the chosen description, or the one the chosen reconstruction was made from."""
        card = self._chosen
        if card is not None and not card.describes and card.sample.parent_id is not None:
            # Code is chosen: who describes it anew begins from the words it was made from.
            card = self._cards.get(card.sample.parent_id)
        return card.sample.text if card is not None and card.describes else ""

    def _ask_backward(self, text: str) -> None:
        if self._item is not None:
            self.description_written.emit(self._item.id, text)

    def _back_to_cards(self) -> None:
        """Focus goes where it came from."""
        (self._chosen or self.describe).setFocus(Qt.FocusReason.OtherFocusReason)

    # ---- cards

    def _clear(self) -> None:
        for card in self._cards.values():
            self._put_away(card)
        for writing in self._writing.values():
            discard(writing)
        self._left.clear()
        self._cards, self._writing, self.selected, self._wanted = {}, {}, None, None
        self.own.hide()
        self.own.text.clear()
        self._scroll.verticalScrollBar().setValue(0)

    def _show_samples(self, samples: Sequence[SampleRow], item: ItemRow) -> None:
        """Reuse cards by sample id; put all in the order of the samples."""
        gone = set(self._cards) - {sample.id for sample in samples}
        for number in gone:
            self._put_away(self._cards.pop(number))
        self._left = deque(enumerate(trace(item, samples), 1))
        self._fill()

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
        """Return whether a sample gets its card in a later turn."""
        return any(node.sample.id == sample_id for _, node in self._left)

    def _new_card(self, node: Node, item: ItemRow, place: int) -> SampleCard:
        """Return a card put away before, else a new one: making one takes ten times as long."""
        card = next((each for each in self._spare if each.fits(node)), None)
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
        """Show one card for each text being written, after the stored ones."""
        item_id = self._item.id if self._item else -1
        texts = dict(self._streams.of(item_id))
        for place in [place for place in self._writing if place not in texts]:
            discard(self._writing.pop(place))
        for place, text in texts.items():
            if place not in self._writing:
                self._writing[place] = self._new_writing(place)
                self._layout.insertWidget(self._layout.count() - 1, self._writing[place])
                self._writing[place].show()
            self._writing[place].show_text(text)
        # A timer that blinks nothing would wake the processor twice a second for good.
        if bool(self._writing) != self._blinking.isActive():
            self._blinking.start() if self._writing else self._blinking.stop()

    def _new_writing(self, place: Stream) -> WritingCard:
        """Return a new card, put below the sample it is made from, if that was told."""
        above = self._cards.get(place.parent) if place.parent is not None else None
        task = self._item.task if self._item is not None else ""
        named = self._kind.roles[place.role]
        code = named.form is not Form.TEXT
        number = place.index if not named.by_round or above is None else above.sample.step + (not code)
        name = role_name(task, place.role, number)
        inset = 0 if above is None else above.node.inset + (not named.by_round)
        return WritingCard(name, sign_words(task, place.role), inset, code=code)

    def _blink(self) -> None:
        self._lit = not self._lit
        for card in self._writing.values():
            card.blink(self._lit)

    def set_kind(self, kind: Kind) -> None:
        """Call what is picked by its name."""
        self._kind = kind
        self.expect(self._any)

    def expect(self, any_items: bool) -> None:
        """Return whether there is anything to pick."""
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
        """Have a button that begins a first run; empty words where there is one already."""
        if words != self._first_run:
            self._first_run = words
            self._empty.offer(words, act)
            self.expect(self._any)

    def say_stage(self, words: str) -> None:
        """Say what a run does that has nothing to show yet; empty where there is none."""
        if words != self._stage:
            self._stage = words
            self.expect(self._any)

    def _show_state(self, item: ItemRow, samples: Sequence[SampleRow]) -> None:
        said = "" if samples or self._writing else _waiting_text(item)
        self._state.setText(said)
        self._state.setVisible(bool(said))

    def _choose_first(self, samples: Sequence[SampleRow]) -> None:
        made = [sample for sample in samples if rebuilt(sample)]
        for sample in (made or list(samples))[:1]:
            self.select(sample.id)


def _describable(item: ItemRow) -> bool:
    kind = kind_of(item.task)
    return item.admitted and kind is not None and kind.describable


def _waiting_text(item: ItemRow) -> str:
    if item.state == "dropped":
        return f"This {item.kind} was not sampled: {item.reason or 'it was dropped.'}"
    if item.state == "running":
        return "The model is reading…"
    return f"This {item.kind} waits for its turn while its run is at work."

"""What is selected in the code: snapped to whole statements, in the background, and offered to be tried."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.types import Item, Region, SourceFile, Span
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.code.blocks import OpenFile, SourceText
from rtc_inspector.ui.code.editor import CodeEditor
from rtc_inspector.ui.style.controls import BAR, button, label, on_ground
from rtc_inspector.ui.style.region_state import state_words
from rtc_inspector.ui.style.theme import SPACE

REST = 150  # milliseconds a selection stays as it is before it is looked at
KEY = "selection"
CHECK_TIP = "See whether tests cover these statements and whether deleting them is noticed (F6)"
PROBE_TIP = "Run the whole round trip on these statements now, beside the run's own regions (F7)"


class ProbeBar(QWidget):
    """Says what a selection comes to, and offers to try the region on show; hidden while nothing is selected."""

    def __init__(self) -> None:
        super().__init__(accessibleName="Selected code")
        on_ground(self, "status")
        self.place, self.said = label(role="heading"), label(role="muted", wrap=True, selectable=True)
        self.said.setMinimumWidth(1)  # whatever it says, the window stays as wide as it is
        self.said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.check = button("Check tests  F6", CHECK_TIP, flat=False)
        self.probe = button("Round trip  F7", PROBE_TIP, flat=False)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(*BAR)
        self._grid.setSpacing(SPACE)
        self._grid.setColumnStretch(1, 1)
        for column, part in enumerate((self.place, self.said, self.check, self.probe)):
            self._grid.addWidget(part, 0, column)
        self.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        shown = [part for part in (self.place, self.check, self.probe) if not part.isHidden()]
        room = self.width() - sum(part.sizeHint().width() + SPACE for part in shown) - 2 * SPACE
        below = self.said.fontMetrics().horizontalAdvance(self.said.text()) > room
        # Moved only where that changes anything: each move lays the bar out, which resizes it, which asks again.
        if below != (self._grid.getItemPosition(self._grid.indexOf(self.said))[0] == 1):  # type: ignore[index]
            self._grid.addWidget(self.said, *((1, 0, 1, 4) if below else (0, 1, 1, 1)))

    def show_region(self, region: Region | None, said: str) -> None:
        place = "Nothing to try"
        if region is not None:
            several = region.end_line > region.start_line
            place = f"Lines {region.start_line}–{region.end_line}" if several else f"Line {region.start_line}"
        self.place.setText(place)
        self.say(said)
        self.check.setVisible(region is not None)
        self.probe.setVisible(region is not None)
        self._fit()
        self.show()

    def say(self, text: str) -> None:
        self.said.setText(text)
        self._fit()


class Selecting(QObject):
    """`check_asked` and `probe_asked` carry the path and the character offsets of whole statements."""

    check_asked = Signal(str, int, int)
    probe_asked = Signal(str, int, int)

    def __init__(self, editor: CodeEditor, bar: ProbeBar, gateway: Gateway, shown: Callable[[], OpenFile]) -> None:
        super().__init__(editor)
        self._editor, self._bar, self._gateway, self._shown = editor, bar, gateway, shown
        self.region: Region | None = None
        self._waiting = self._looking = False
        self._next: Callable[[Region], None] | None = None
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self._look)
        editor.selectionChanged.connect(self._begin_rest)
        editor.cursorPositionChanged.connect(self._leave_line)
        bar.check.clicked.connect(self.check)
        bar.probe.clicked.connect(self.probe)

    def check(self) -> None:
        self._act(partial(self._ask, "Asking the tests…", self.check_asked))

    def probe(self) -> None:
        self._act(partial(self._ask, "The round trip is on its way…", self.probe_asked))

    def _ask(self, said: str, asked: SignalInstance, region: Region) -> None:
        self._waiting = True
        self._bar.say(said)
        asked.emit(region.path, region.span.start, region.span.end)

    def _act(self, act: Callable[[Region], None]) -> None:
        settled = not (self._rest.isActive() or self._looking)
        if self.region is not None and settled:
            act(self.region)
        else:
            # The parser is at work on another selection: act on what comes, not on what was selected a moment ago.
            self._next = act
            self._rest.stop()
            self._look()

    def _begin_rest(self) -> None:
        # A key that was pressed for the selection before is void.
        self._next = None
        self._rest.start()

    def _leave_line(self) -> None:
        """Wait anew once the cursor has left a line: the bar speaks of a line only while the cursor is there."""
        if not self._editor.textCursor().hasSelection() and self._bar.isVisible():
            self._begin_rest()

    def show_answer(self, item: Item) -> None:
        region = self.region
        if region is not None and (region.path, region.span) == (item.path, item.span):
            self._waiting = False
            cover = "test covers" if len(item.tests) == 1 else "tests cover"
            noticed = f"{len(item.tests)} {cover} it; deleting it is noticed."
            self._bar.say(f"{item.reason.capitalize()}." if item.reason else noticed)

    def settle(self) -> None:
        """Stop waiting, and say what is known; where no answer came, a notice said why, or the user stopped it."""
        if self._waiting and self.region is not None:
            self._bar.say(self._known(self.region))
        self._waiting = False

    def leave(self) -> None:
        self._rest.stop()
        self._gateway.cancel(KEY)
        self._looking = self._waiting = False
        self._next = None
        self._drop()

    def _look(self) -> None:
        cursor = self._editor.textCursor()
        file, text, _ = self._shown()
        if file is None or (self._next is None and not cursor.hasSelection()):
            self._gateway.cancel(KEY)
            self._looking = False
            self._drop()
            if self._next is not None:
                self._bar.show_region(None, NO_FILE)
            return
        span = Span(self._offset(cursor.selectionStart(), text), self._offset(cursor.selectionEnd(), text))
        self._looking = True
        self._gateway.submit(KEY, partial(_snapped, file, span), self._take)

    def _offset(self, position: int, text: SourceText) -> int:
        block = self._editor.document().findBlock(position)
        return text.offset(block.blockNumber(), position - block.position())

    def _take(self, answer: Region | str) -> None:
        self._looking = False
        act, self._next = self._next, None
        if isinstance(answer, str):
            self._drop()
            self._bar.show_region(None, answer)
            return
        # The same statements again: what the tests said of them stays readable.
        same = self.region == answer and self._bar.isVisible()
        self.region = answer
        self._editor.outline(range(answer.start_line - 1, answer.end_line))
        if not same:
            self._bar.show_region(answer, self._known(answer))
        if act is not None:
            act(answer)

    def _known(self, region: Region) -> str:
        _, _, items = self._shown()
        own = next((each for each in items if (each.start, each.end) == (region.span.start, region.span.end)), None)
        return f"A region of this run: {state_words(own)}." if own else UNTRIED

    def _drop(self) -> None:
        self.region = None
        self._editor.outline(range(0))
        self._bar.hide()


NO_FILE = "No file of the project is open here: open one, and select a statement."
QUEUED = "The round trip begins as soon as the tests have answered."
UNTRIED = "Whole statements: ask the tests about them, or run the round trip."


def _snapped(file: SourceFile, span: Span) -> Region | str:
    from rtc_inspector.core.regions.candidates import snap

    if file.is_test:
        return "This file belongs to the tests, which are never sampled."
    try:
        return snap(file, span) or "No statement is selected."
    except ProjectError as error:
        return error.problem

"""Comparisons with what surrounds their panes: of original and reconstruction, of an edit and its prediction."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import groupby, permutations

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QScrollBar, QWidget

from rtc_inspector.ui.diff.colouring import MOST_COLOURED, tokenise
from rtc_inspector.ui.diff.lines import PAIR
from rtc_inspector.ui.diff.pane import Pane
from rtc_inspector.ui.diff.rows import (
    EditDiff,
    EditLines,
    Kind,
    Lines,
    PairLines,
    PaneLine,
    Prediction,
    ShownEdit,
    TextDiff,
    compare,
    patch,
)
from rtc_inspector.ui.style.controls import (
    BAR,
    FOCUS_RING,
    ElidedLabel,
    bind,
    button,
    called,
    column,
    copy_menu,
    embolden,
    label,
    row,
    split,
    stacked,
    switch,
)
from rtc_inspector.ui.style.fonts import grown
from rtc_inspector.ui.style.theme import SPACE, current_theme

STEPS = (("Next change", "Alt+Down"), ("Previous change", "Alt+Up"))  # words and key of each step from change to change

EDIT_TITLES = ("Old", "New", "Predicted")


class DiffView(QWidget):
    """Two texts, or an edit and its prediction, beside one another; switches keep their state from one to the next."""

    def __init__(self, titles: Sequence[str] = PAIR) -> None:
        super().__init__()
        edits = len(titles) > len(PAIR)
        self._texts: Sequence[str] = [""] * len(titles)
        self._shown: object = None
        self._description = ""
        self._first_line = 1
        self.columns = Columns(self, titles)
        self.title, self.summary = ElidedLabel(), ElidedLabel("muted")
        embolden(self.title)
        self.title.setContentsMargins(0, 0, SPACE, 0)
        self.note = label(role="warn", wrap=True)
        self.previous = button("", "Previous change (Alt+Up)", lambda: self.step(-1), icon="previous")
        self.next = button("", "Next change (Alt+Down)", lambda: self.step(1), icon="next")
        for (words, keys), direction in zip(STEPS, (1, -1), strict=True):
            bind(self, keys, partial(self.step, direction), words)
        self.unified = switch("Unified", "All texts in one column")
        self.unified.toggled.connect(self._set_unified)
        self.wrap = switch("Wrap", "Wrap long lines, rows kept aligned")
        self.wrap.toggled.connect(self.columns.set_wrap)
        self.between = switch("Description", "Show the description beside the texts", edits)
        self.between.toggled.connect(self._show_description)
        self.form = switch("Dim form", "Grey changes that leave the syntax tree as it was", True)
        self.form.toggled.connect(self.columns.set_dim)
        self.form.toggled.connect(self._follow)
        texts = [(title, lambda at=at: self._texts[at]) for at, title in enumerate(titles)]
        difference = "The edit" if edits else "Difference"
        self.copy = copy_menu(
            "Copy a text", [*texts, (difference, lambda: patch(compare(*self._texts[:2], python=False)))]
        )
        controls = (self.form, self.unified, self.wrap, self.between, self.copy, self.previous, self.next)
        bar = row(self.title, self.summary, None, *controls, margins=BAR, spacing=SPACE // 2)
        note = row(self.note, margins=(SPACE, 0, SPACE, 0))
        column(bar, note, self.columns, owner=self)
        self.columns.moved.connect(self._follow)
        self.name_sides(titles)
        self.wrap.setChecked(edits)
        if edits:
            self.form.hide()

    def name_sides(self, titles: Sequence[str]) -> None:
        self.columns.name_sides(titles)
        for action, title in zip(self.copy.menu().actions(), titles, strict=False):
            action.setText(title[:1].upper() + title[1:])

    def show_pair(
        self, original: str, candidate: str, title: str, path: str, first_line: int = 1, description: str = ""
    ) -> None:
        """Compare two texts; the same ones again stay as they are, with their scroll position.

        `first_line`: the file's line at which the original starts.
        """
        shown = original, candidate, title, path, first_line, description
        # A run that goes on shows the same pair a few times a second: the place that somebody reads must stay.
        if shown != self._shown:
            self._shown, self._texts, self._first_line = shown, (original, candidate), first_line
            diff = compare(original, candidate, python=not path or path.endswith((".py", ".pyi")))
            summary = _summary(diff) if original or candidate else ""
            self._present(PairLines(diff, (first_line, first_line)), path, title, summary, diff.notes, description)

    def show_edit(self, edit: ShownEdit) -> None:
        if edit != self._shown:
            there = edit.predicted is not None
            self._shown, self._first_line = edit, edit.first_line
            self._texts = edit.old, edit.new, edit.predicted or ""
            lines = EditLines(edit)
            summary = _edit_summary(lines.diff, edit) if there else "not predicted yet"
            self.columns.show_last(there)
            self._present(lines, edit.path, edit.title, summary, lines.diff.notes, edit.description)

    def _present(
        self, lines: Lines, path: str, title: str, summary: str, notes: Sequence[str], description: str
    ) -> None:
        self._description = description
        self.title.setText(title)
        self.summary.setText(summary)
        self.note.setText(" ".join(notes))
        self.note.setVisible(bool(notes))
        self.columns.show_lines(lines, path)
        self._show_description()
        # The first change is rarely on the first screen of a long text.
        self.columns.go_to(next(iter(self._starts()), 0))
        self._follow()

    def step(self, direction: int) -> None:
        before, after = self._around()
        if direction > 0 and after:
            self.columns.go_to(after[0])
        elif direction < 0 and before:
            self.columns.go_to(before[-1])

    def go_to_line(self, line: int) -> None:
        place = self.columns.row_of(len(self.columns.sides) - 1, line - self._first_line)
        if place is not None:
            self.columns.go_to(place)
            self.columns.active.setFocus()

    def _starts(self) -> list[int]:
        """Return where all changes start, or those of substance while form is dimmed (if there are any)."""
        of_substance = self.columns.starts(skip_form=True) if self.form.isChecked() else []
        return of_substance or self.columns.starts(skip_form=False)

    def _set_unified(self, on: bool) -> None:
        self.columns.set_unified(on)
        self.columns.go_to(next(iter(self._starts()), 0))
        self._follow()

    def _show_description(self) -> None:
        self.between.setEnabled(bool(self._description))
        self.columns.show_description(self._description, self.between.isChecked())

    def _around(self) -> tuple[list[int], list[int]]:
        here, starts = self.columns.active.row(), self._starts()
        return [start for start in starts if start < here], [start for start in starts if start > here]

    def _follow(self) -> None:
        before, after = self._around()
        self.previous.setEnabled(bool(before))
        self.next.setEnabled(bool(after))


def _summary(diff: TextDiff) -> str:
    if not diff.hunks:
        return "Identical"
    found = Counter(row.kind for row in diff.rows)
    counts = [(found[kind], kind.value) for kind in (Kind.CHANGED, Kind.DELETED, Kind.INSERTED)]
    parts = [f"{count:,} {word}" for count, word in counts if count]
    lines = ", ".join(parts).replace(" ", " line " if parts[:1] and parts[0].startswith("1 ") else " lines ", 1)
    return f"Same syntax tree: {lines}" if diff.same_tree else lines


def _edit_summary(diff: EditDiff, edit: ShownEdit) -> str:
    if edit.predicted == edit.new:
        return "As the new code"
    if edit.predicted == edit.old:
        return "The old code, unchanged"
    words = {
        Prediction.DONE: "as in the new code",
        Prediction.KEPT: "as in the old",
        Prediction.OTHER: "as in neither",
        Prediction.MISSING: "missing",
    }
    found = Counter(row.prediction for row in diff.rows)
    if found[Prediction.DONE] + found[Prediction.SAME] == len(diff.rows):
        return "As the new code but for white space at line ends"
    counts = [f"{found[made]:,} {said}" for made, said in words.items() if found[made]]
    return f"Lines: {', '.join(counts)}"


LEAST = 3.0  # pixels that a mark in the map of changes is high at least


class ChangeMap(QWidget):
    """A strip that shows where in the whole text the changes are; `row_chosen` tells which row a click meant."""

    row_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = 1
        self._marks: list[tuple[int, int, PaneLine]] = []
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        called(self, "Map of changes", tip="Where the changes are: click to go there")

    def set_lines(self, lines: Sequence[PaneLine]) -> None:
        self._rows, self._marks, start = max(1, len(lines)), [], 0
        for _, alike in groupby(lines, lambda line: (line.kind, line.form)):
            first, *others = alike
            stop = start + 1 + len(others)
            if first.kind is not Kind.EQUAL:
                self._marks.append((start, stop, first))
            start = stop
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(10, 0)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.fillRect(event.rect(), QColor(current_theme().gutter))
        scale = self.height() / self._rows
        for start, stop, line in self._marks:
            height = max(LEAST, (stop - start) * scale)
            painter.fillRect(QRectF(2, start * scale, self.width() - 4, height), QColor(self._colour(line)))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.row_chosen.emit(int(event.position().y() / max(1, self.height()) * self._rows))

    def _colour(self, line: PaneLine) -> str:
        if line.form:
            return current_theme().border
        return current_theme().role({Kind.INSERTED: "good", Kind.DELETED: "bad"}.get(line.kind, "warn"))


STRIP = 68  # pixels of height that a description above the panes has at most
REWRAP_AFTER = 40  # milliseconds of quiet before rows are aligned anew while a pane is resized


class Columns(QWidget):
    """Texts as linked panes, or all of them in one column; the description between two, above three."""

    moved = Signal()  # the current row, and with it the next and previous change, is another

    def __init__(self, parent: QWidget | None = None, titles: Sequence[str] = PAIR) -> None:
        super().__init__(parent)
        self._lines: Lines = PairLines(TextDiff((), (), False), (1, 1))
        self._changes: list[PaneLine] = []
        self._wrap = False
        self.sides = tuple(Pane(title, self) for title in titles)
        self.left, self.right = self.sides[0], self.sides[-1]
        self.single = Pane("", self)
        self.panes = *self.sides, self.single
        self.description = called(QPlainTextEdit(self, readOnly=True, tabChangesFocus=True), "Description")
        self.description.setFrameShape(QFrame.Shape.NoFrame)
        self.description.setStyleSheet(FOCUS_RING)
        self.description.document().setDocumentMargin(SPACE)
        self.map = ChangeMap(self)
        self._link_panes()
        self._timer = QTimer(self, singleShot=True, interval=REWRAP_AFTER)
        self._timer.timeout.connect(self._align)
        self._middle = _titled("Description", self.description)
        self._middle.hide()
        self._titled = [_titled(pane.accessibleName(), pane) for pane in self.sides]
        self._whole = _titled("", self.single)
        self._sides = split(Qt.Orientation.Horizontal, *self._titled)
        self._stack = stacked(self._sides, self._whole)
        texts = row(self._stack, self.map, spacing=0, grows=self._stack)
        if len(self.sides) == len(PAIR):
            self._sides.insertWidget(1, self._middle)
            self._sides.setSizes([400, 200, 400])
            self.setLayout(texts)
        else:
            self.description.document().documentLayout().documentSizeChanged.connect(self._fit_strip)
            column(self._middle, texts, owner=self, grows=texts)
        for pane in self.sides:
            pane.resized.connect(self._rewrap)
        self.map.row_chosen.connect(self.go_to)
        for pane in self.panes:
            pane.cursorPositionChanged.connect(self.moved)
        self.name_sides(titles)

    def _link_panes(self) -> None:
        for pane in self.sides[:-1]:
            pane.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for pane in self.sides:
            pane.horizontalScrollBar().rangeChanged.connect(self._agree_on_bars)
        busy = [False]

        def follow(target: QScrollBar, value: int) -> None:
            if not busy[0]:
                busy[0] = True
                # The target signals in turn. Answering that, a pane that is at its end would hold the other one there.
                target.setValue(value)
                busy[0] = False

        def follow_row(source: Pane, target: Pane) -> None:
            # Only the pane that somebody moves in leads: the others' cursors move because of it.
            if source.hasFocus() and source.row() != target.row():
                target.go_to(source.row())

        for one, other in permutations(self.sides, 2):
            one.verticalScrollBar().valueChanged.connect(partial(follow, other.verticalScrollBar()))
            one.horizontalScrollBar().valueChanged.connect(partial(follow, other.horizontalScrollBar()))
            one.cursorPositionChanged.connect(partial(follow_row, one, other))

    def _agree_on_bars(self) -> None:
        """Show a horizontal bar in all panes or in none: else their heights would differ."""
        policy = Qt.ScrollBarPolicy
        needed = any(pane.horizontalScrollBar().maximum() > 0 for pane in self.sides)
        for pane in self.sides:
            pane.setHorizontalScrollBarPolicy(policy.ScrollBarAlwaysOn if needed else policy.ScrollBarAlwaysOff)

    def name_sides(self, titles: Sequence[str]) -> None:
        whole = " and ".join([", ".join(titles[:-1]), titles[-1]])
        names = *(title[:1].upper() + title[1:] for title in titles), whole.capitalize()
        for pane, holder, name in zip(self.panes, (*self._titled, self._whole), names, strict=True):
            pane.setAccessibleName(name)
            holder.findChildren(QLabel)[0].setText(name)
        self.single.setAccessibleName(f"{names[-1]} in one column")

    def _fit_strip(self) -> None:
        lines = int(self.description.document().size().height())  # a plain document counts lines
        heading = self._middle.sizeHint().height() - self.description.sizeHint().height()
        high = heading + lines * self.description.fontMetrics().lineSpacing() + 2 * SPACE + SPACE // 2
        self._middle.setFixedHeight(min(high, grown(self, STRIP)))

    @property
    def unified(self) -> bool:
        return self._stack.currentIndex() == 1

    @property
    def active(self) -> Pane:
        if self.unified:
            return self.single
        return next((pane for pane in self.sides if pane.hasFocus()), self.right)

    def show_lines(self, lines: Lines, path: str) -> None:
        self._lines = lines
        texts = ("\n".join(line.text for line in side if line.side is not None) for side in lines.columns())
        tokens = [tokenise(text, path) if 0 < len(text) <= MOST_COLOURED else [] for text in texts]
        for pane in self.panes:
            pane.tokens = tokens
        self._fill()

    def show_last(self, shown: bool) -> None:
        self._titled[-1].setVisible(shown)
        self._rewrap()

    def show_description(self, text: str, shown: bool) -> None:
        if text != self.description.toPlainText():
            self.description.setPlainText(text)
        self._middle.setVisible(shown and bool(text))

    def set_unified(self, on: bool) -> None:
        self._stack.setCurrentIndex(int(on))
        self._fill()

    def set_wrap(self, on: bool) -> None:
        self._wrap = on
        for pane in self.panes:
            pane.set_wrap(on)
        self._align()

    def set_dim(self, on: bool) -> None:
        for pane in self.panes:
            pane.set_dim(on)

    def starts(self, skip_form: bool) -> list[int]:
        """Return where runs of changed lines start; `skip_form` passes over changes of mere form."""
        lines = self.single.lines if self.unified else self._changes
        changed = [line.kind is not Kind.EQUAL and not (skip_form and line.form) for line in lines]
        return [at for at, now in enumerate(changed) if now and not (at and changed[at - 1])]

    def go_to(self, number: int) -> None:
        for pane in (self.single,) if self.unified else self.sides:
            pane.go_to(number, centre=True)

    def row_of(self, side: int, number: int) -> int | None:
        lines = self.single.lines if self.unified else self.sides[side].lines
        places = (place for place, line in enumerate(lines) if (line.side, line.number) == (side, number))
        return next(places, None)

    def _fill(self) -> None:
        if self.unified:
            lines = self._lines.single()
            self.single.set_lines(lines)
            self.map.set_lines(lines)
            return
        for pane, side in zip(self.sides, self._lines.columns(), strict=True):
            pane.set_lines(side)
        self._changes = self._lines.changes()
        self.map.set_lines(self._changes)
        self._align()

    def _rewrap(self) -> None:
        if self._wrap:
            self._timer.start()

    def _align(self) -> None:
        if self.unified or not self.left.lines:
            return
        if not self._wrap:
            for pane in self.sides:
                _pad(pane, [0] * len(pane.lines))
            return
        # A pane out of sight has no width, in which every line would wrap many times.
        there = [pane for pane, holder in zip(self.sides, self._titled, strict=True) if not holder.isHidden()]
        heights = [pane.heights() for pane in there]
        highest = [max(row) for row in zip(*heights, strict=True)]
        # At once: Qt takes a row out of sight for one line high, and all below it would jump when it is scrolled to.
        tall = [place for place, height in enumerate(highest) if height > 1]
        for pane, own in zip(there, heights, strict=True):
            _pad(pane, [most - height for most, height in zip(highest, own, strict=True)])
            pane.lay_out(tall)


def _pad(pane: Pane, padding: Sequence[int]) -> None:
    if pane.padding != padding:
        pane.set_lines(pane.lines, padding)


def _titled(title: str, pane: QWidget) -> QWidget:
    holder = called(QWidget(), role="surface")
    heading = row(label(title, "heading"), margins=(SPACE, SPACE // 2, SPACE, SPACE // 2))
    column(heading, pane, owner=holder)
    return holder

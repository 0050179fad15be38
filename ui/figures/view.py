"""Figures in the window: one, and several with switches between."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QButtonGroup, QComboBox, QDialog, QLabel, QStackedWidget, QWidget

from rtc_inspector.core.figures import (
    Bars,
    Choice,
    Figure,
    Grid,
    Histogram,
    Lines,
    Link,
    Sentence,
    Series,
    Table,
)
from rtc_inspector.core.figures.layout import Curve, laid_out
from rtc_inspector.core.figures.reading import Mark, csv, explained, in_words, marks, number
from rtc_inspector.core.types import Estimate
from rtc_inspector.ui.figures.cells import Cells, colour_of
from rtc_inspector.ui.figures.feed import ExportButton
from rtc_inspector.ui.figures.plot import Plot
from rtc_inspector.ui.style.controls import (
    ElidedLabel,
    Flow,
    bind,
    button,
    column,
    discard,
    label,
    on_ground,
    row,
    switch,
)
from rtc_inspector.ui.style.theme import SPACE

if TYPE_CHECKING:
    from rtc_inspector.core.figures import Figure


MOST_NAMED, MOST_VALUED = 8, 3
"""Lines or groups that are named above a drawing; lines up to which each one's value stands there too."""
NARROWEST_LIST = 120
"""Pixels of the list of figures where there is no room for their whole titles."""
MOST_SWITCHES = 4
"""Figures up to which each has a switch; more are chosen from a list."""


class FigureView(QWidget):
    """Draws a figure, whatever its kind, and says what is pointed at.

    `opened(links, turn)`: what is behind a mark that was clicked or entered; `turn` counts how often in a row, so
    that a mark with several things behind it opens one after the other. `chosen(name, value)`: another choice.
    `enlarged`: a double click beside the marks.
    """

    opened = Signal(object, int)
    chosen = Signal(str, str)
    enlarged = Signal()

    def __init__(self) -> None:
        """Empty until `show_figure`."""
        super().__init__()
        self.setProperty("role", "surface")
        self.figure: Figure | None = None
        self._turn: tuple[tuple[Link, ...], int] = (), 0
        self._names: list[QLabel] = []
        self._legend = QWidget()
        self._flow = Flow((), 16)
        self._legend.setLayout(self._flow)
        self._said = ElidedLabel("muted")
        self._choices = QWidget()
        self._choices_row = Flow((), SPACE // 2)
        self._choices_row.setContentsMargins(SPACE + 4, 0, SPACE, SPACE // 2)
        self._choices.setLayout(self._choices_row)
        self._text = label(wrap=True, selectable=True)
        self._text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._text.setMargin(SPACE + 4)
        self._wait = label("Scores appear with the first that is complete.", "muted", wrap=True)
        self._wait.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        for part in (self._wait, self._text):
            self._stack.addWidget(part)
        head = row(margins=(SPACE + 4, SPACE // 2, SPACE, 0))
        head.addWidget(self._legend, 2)
        head.addWidget(self._said, 3)
        column(head, self._choices, self._stack, owner=self)

    @cached_property
    def plot(self) -> Plot:
        """Return the widget that draws, made when it is first needed."""
        made = Plot()
        made.pointed.connect(self._say)
        made.opened.connect(lambda mark: self._open(mark.links))
        made.enlarged.connect(self.enlarged)
        self._stack.addWidget(made)
        return made

    @cached_property
    def cells(self) -> Cells:
        """Return the widget of tables and heat maps, made when it is first needed."""
        made = Cells()
        made.opened.connect(self._open)
        made.pointed.connect(self._say)
        self._stack.addWidget(made)
        return made

    @property
    def said(self) -> str:
        """Return the mark that is read off, else the note, after the names of lines with their values."""
        return " · ".join([*(name.text() for name in self._names), self._said.text()])

    def show_figure(self, figure: Figure) -> None:
        """Show another figure, or the same one with other values."""
        if figure == self.figure:
            return
        self.figure = figure
        self.setAccessibleName(figure.title)
        self._offer(figure.choices)
        if isinstance(figure, Sentence):
            self._text.setText(figure.text)
            self._text.setToolTip(explained(figure.text))
            self._stack.setCurrentWidget(self._text)
        elif isinstance(figure, (Table, Grid)):
            self.cells.show_figure(figure)
            self._stack.setCurrentWidget(self.cells)
        elif not marks(figure):
            self._stack.setCurrentWidget(self._wait)
            self._wait.setText(figure.note or "Nothing to show yet.")
        else:
            self.plot.show_figure(figure)
            self._stack.setCurrentWidget(self.plot)
        self._name()
        self._say(self._pointed)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """Name lines in the colours of another theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._name()
            self._say(self._pointed)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.enlarged.emit()

    @property
    def _pointed(self) -> Mark | None:
        shown = self._stack.currentWidget()
        return shown.mark if isinstance(shown, Plot) else None

    def csv(self) -> str:
        """Return the figure as a table."""
        return csv(self.figure) if self.figure is not None else ""

    def picture(self) -> QWidget:
        """Return the widget for a picture of the figure: a table with all its rows, else the view as it is."""
        return self.cells.whole() if isinstance(self.figure, (Table, Grid)) else self

    def _offer(self, choices: Sequence[Choice]) -> None:
        """Offer one box a choice; boxes that offer the same as before stay, with the focus they may have."""
        boxes = self._choices.findChildren(QComboBox)
        if [box.property("choice") for box in boxes] != [each.name for each in choices]:
            for box in boxes:
                discard(box)
            boxes = [self._box(each) for each in choices]
        for box, each in zip(boxes, choices, strict=True):
            # While a run goes on figures come twice a second: a list that somebody has open must not close.
            if [box.itemData(at) for at in range(box.count())] != list(each.options):
                box.clear()
                for value, words in each.options.items():
                    box.addItem(words, value)
            box.setCurrentIndex(box.findData(each.chosen))
        self._choices.setVisible(bool(choices))

    def _box(self, choice: Choice) -> QComboBox:
        box = QComboBox()
        box.setProperty("choice", choice.name)
        box.setAccessibleName(choice.label)
        box.setToolTip(choice.label)
        box.activated.connect(lambda _: self.chosen.emit(choice.name, box.currentData()))
        self._choices_row.addWidget(box)
        return box

    def _name(self) -> None:
        """Show the names of lines and groups in their colours."""
        figure, named = self.figure, list[tuple[str, str]]()
        if isinstance(figure, Lines):
            named = [(colour_of(each.ink), _stroke(each)) for each in laid_out(figure).curves]
        elif isinstance(figure, (Bars, Histogram)):
            named = [(colour_of(ink), f"■ {name}") for name, ink in laid_out(figure).names]
        named = named[:MOST_NAMED]
        while len(self._names) < len(named):
            self._names.append(label())
            self._flow.addWidget(self._names[-1])
        while len(self._names) > len(named):
            discard(self._names.pop())
        for made, (shade, words) in zip(self._names, named, strict=True):
            made.setText(words)
            made.setStyleSheet(f"color: {shade}; font-weight: 600;")
            made.setToolTip(explained(words))
            made.show()
        self._legend.setVisible(bool(named))

    def _say(self, mark: Mark | None) -> None:
        """Say what is pointed at; of lines say each one's value there, or its last one."""
        figure = self.figure
        if figure is None:
            return
        if not isinstance(figure, Lines) or len(figure.series) > MOST_VALUED:
            self._show_words(figure, mark.text if mark is not None else figure.note)
            return
        last = mark.x if mark is not None else None
        for made, series in zip(self._names, figure.series, strict=False):
            points = [p for p in series.points if p.x.value is not None and (last is None or p.x.value == last)]
            value = points[-1].y if points else Estimate()
            made.setText(f"{_stroke(series)} {in_words(value, series.form or figure.y.form)}")
        ends = [p.x.value for series in figure.series for p in series.points if p.x.value is not None]
        at = last if last is not None else max(ends, default=None)
        self._show_words(figure, f"{figure.x.label} {number(at, figure.x.form)}")

    def _show_words(self, figure: Figure, words: str) -> None:
        """Show words beside the figure; their tip explains the symbols there, in the title and on the axes."""
        self._said.setText(words)
        axes = (getattr(figure, name).label for name in ("x", "y", "scale") if hasattr(figure, name))
        self._said.setToolTip("\n".join(filter(None, (words, explained(" ".join((figure.title, words, *axes)))))))

    def _open(self, links: tuple[Link, ...]) -> None:
        before, turn = self._turn
        # Another click on the same mark: the next of the things behind it.
        self._turn = links, turn + 1 if links == before else 0
        if links:
            self.opened.emit(links, self._turn[1])


def _stroke(series: Series | Curve) -> str:
    """Return the name of a line after how it is drawn."""
    return f"{'╍╍' if series.dashed else '━━'} {series.name}"


class FiguresView(QWidget):
    """Several figures, one on show, with switches between them and an export.

    `opened(link)`: one thing behind a mark; `chosen(name, value)`: a figure is to be made with another choice;
    `export_failed(problem)`: a file could not be written.
    """

    opened = Signal(object)
    chosen = Signal(str, str)
    export_failed = Signal(str)

    def __init__(self) -> None:
        """Empty until `set_figures`."""
        super().__init__()
        on_ground(self, "surface")
        self.figures: Sequence[Figure] = ()
        self._place = 0
        self._page: QDialog | None = None
        self.view = FigureView()
        self.view.chosen.connect(self.chosen)
        self.view.opened.connect(self._leave_for)
        self._switches = QButtonGroup(self)
        self._switches.idToggled.connect(lambda place, on: self.choose(place) if on else None)
        self._list = QComboBox()
        self._list.setAccessibleName("Figure")
        self._list.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)  # it is filled after it was shown
        self._list.setMinimumWidth(NARROWEST_LIST)
        self._list.activated.connect(self.choose)
        self._export = ExportButton("figure", self.view.picture, self.view.csv)
        self._export.failed.connect(self.export_failed)
        tip = "Show the figure over the whole window (Z, or a double click)"
        self.whole_page = button("Whole page", tip, self.enlarge)
        ends = (SPACE // 2, 2, SPACE // 2, 0)
        self._head = row(self._list, None, self.whole_page, self._export, margins=ends, spacing=2)
        self._column = column(self._head, self.view, owner=self)
        bind(self, "Z", self.enlarge, "Show the figure over the whole window, and back")
        self.view.enlarged.connect(self.enlarge)

    def set_figures(self, figures: Sequence[Figure]) -> None:
        """Show these; the one that was looked at stays, by its name."""
        looked_at = self.figures[self._place].name if self._place < len(self.figures) else ""
        names = [figure.name for figure in figures]
        if [(each.name, each.short) for each in figures] != [(each.name, each.short) for each in self.figures]:
            self._make_switches(figures)
        self.figures = figures
        if figures:
            # By name: a run that goes on may get more figures before it.
            self.choose(names.index(looked_at) if looked_at in names else 0)
        self._export.setEnabled(bool(figures))

    def choose(self, place: int) -> None:
        """Show the figure at a place."""
        if place < len(self.figures):
            self._place = place
            self._list.setCurrentIndex(place)
            if self._switches.buttons():
                self._switches.button(place).setChecked(True)
            self.view.show_figure(self.figures[place])

    def enlarge(self) -> None:
        """Show the figure over the whole window, or in its place again."""
        if self._page is not None:
            self._page.reject()
        elif self.figures:
            self._page = page = QDialog(self.window())
            page.setWindowTitle(self.figures[self._place].title)
            page.setGeometry(self.window().geometry())
            column(self.view, owner=page)
            bind(page, "Z", page.reject, "Show the figure in its place again")
            page.finished.connect(self._reduce)
            page.open()
            self.view.setFocus()

    def _reduce(self) -> None:
        page, self._page = self._page, None
        self._column.addWidget(self.view)
        self.view.show()
        self.view.setFocus()
        if page is not None:
            page.deleteLater()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.enlarge()

    def show_named(self, name: str) -> None:
        """Show the figure of that name."""
        self.choose([figure.name for figure in self.figures].index(name))

    def export(self, path: Path) -> None:
        """Write the figure on show: a table for `.csv`, else a picture. Raises OSError."""
        self._export.export(path)

    def _leave_for(self, links: tuple[Link, ...], turn: int) -> None:
        if self._page is not None:
            self._page.reject()  # what is opened lies below
        self.opened.emit(links[turn % len(links)])

    def _make_switches(self, figures: Sequence[Figure]) -> None:
        for old in self._switches.buttons():
            self._switches.removeButton(old)
            discard(old)
        self._list.clear()
        self._list.addItems([figure.title for figure in figures])
        self._list.setVisible(len(figures) > MOST_SWITCHES)
        for place, figure in enumerate(figures if len(figures) <= MOST_SWITCHES else ()):
            made = switch(figure.short or figure.title, figure.title)
            self._switches.addButton(made, place)
            self._head.insertWidget(place, made)

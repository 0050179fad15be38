"""Figures in the window: one, and several with switches between."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import zip_longest

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QButtonGroup, QComboBox, QDialog, QLabel, QTableView, QWidget

from rtc_inspector.core.figures import Bars, Choice, Figure, Grid, Histogram, Lines, Link, Sentence, Table
from rtc_inspector.core.figures.layout import STROKES, Shown, cells_of, laid_out
from rtc_inspector.core.figures.reading import Mark, csv, explained, in_words, marks, number, row_words
from rtc_inspector.core.types import Estimate
from rtc_inspector.ui.figures.feed import ExportButton
from rtc_inspector.ui.figures.plot import Plot, colour_of
from rtc_inspector.ui.style.controls import (
    ElidedLabel,
    Flow,
    bind,
    button,
    called,
    column,
    discard,
    label,
    on_ground,
    row,
    stacked,
    switch,
)
from rtc_inspector.ui.style.tables import BarDelegate, Cell, CellModel, Head, sorted_table, table
from rtc_inspector.ui.style.theme import SPACE, current_theme, mix

HIGHEST = 8_000  # pixels of the picture of a long table; what does not fit is said in it
WIDEST, NARROWEST = 360, 110
"""Pixels of a column at most before the user draws it wider, and of words at least where there is little room."""


class Cells(QWidget):
    """A table or a heat map as a table view: keys, sorting and screen readers work as in every table."""

    opened = Signal(object)
    pointed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._figure: Table | Grid | None = None
        self.model = CellModel([])
        self.table, self._sorted = sorted_table("", self.model)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.clicked.connect(self._activate)
        self.table.selectionModel().currentChanged.connect(self._point)
        for key in ("Return", "Enter"):
            bind(self.table, key, lambda: self._activate(self.table.currentIndex()), "Open what is behind the row")
        column(self.table, owner=self)
        self.setFocusProxy(self.table)

    def show_figure(self, figure: Table | Grid) -> None:
        """Show a figure; rows that stay keep their place, their order and the selection."""
        fresh = self._figure is None or self._figure.name != figure.name
        self._figure = figure
        heads = _heads(figure)
        if [head.text for head in heads] != self.model.heads:
            self.model.change_columns(heads)
            fresh = True
        self.model.fill([(cells, place) for place, cells in enumerate(_rows(figure))])
        if not fresh:
            return
        grid, behavior, view = isinstance(figure, Grid), QAbstractItemView.SelectionBehavior, self.table
        view.setAccessibleName(f"{figure.title}; Enter opens what is behind a {'cell' if grid else 'row'}")
        view.setSelectionBehavior(behavior.SelectItems if grid else behavior.SelectRows)
        view.setSortingEnabled(not grid)
        self._sorted.sort(-1)
        view.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self._fit(view)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if self._figure is not None:
            self._fit(self.table)

    def _fit(self, view: QTableView) -> None:
        """Make columns as wide as their words; in less room shorten first words, then headings: their tips have them.

        The last column of a table takes what room is left over.
        """
        header, figure = view.horizontalHeader(), self._figure
        cells = [view.sizeHintForColumn(at) + SPACE for at in range(header.count())]
        wide = [min(WIDEST, max(cell, header.sectionSizeHint(at) + SPACE)) for at, cell in enumerate(cells)]
        # A picture has room for all.
        room = self.width() - view.verticalScrollBar().sizeHint().width() - 2 if view is self.table else math.inf
        words = [each.form == "text" for each in figure.columns] if isinstance(figure, Table) else [True]
        shortened = [min(width, NARROWEST) if word else width for width, word in zip_longest(wide, words)]
        for least in (shortened, cells):
            spare = [max(width - needs, 0) for width, needs in zip(wide, least, strict=True)]
            share = min(1.0, max(sum(wide) - room, 0) / max(sum(spare), 1))
            wide = [width - math.ceil(part * share) for width, part in zip(wide, spare, strict=True)]
        header.setStretchLastSection(False)
        for at, width in enumerate(wide):
            header.resizeSection(at, width)
        header.setStretchLastSection(isinstance(figure, Table))

    def whole(self) -> QWidget:
        """Return a copy of the table for a picture: all rows in the order on show, as high as they need."""
        # Another view of the same rows: the one on show would jump to the picture's size and back.
        copied = table(self.table.accessibleName())
        copied.setModel(self._sorted)
        copied.setItemDelegate(BarDelegate(copied))
        copied.setFont(self.table.font())
        copied.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fit(copied)
        whole = called(QWidget(), role="surface")
        rows = self.model.rowCount() * copied.verticalHeader().defaultSectionSize()
        wanted = copied.horizontalHeader().sizeHint().height() + rows + SPACE
        cut = label("More rows than a picture holds: the table (CSV) has all." if wanted > HIGHEST else "", "muted")
        cut.setVisible(wanted > HIGHEST)
        column(copied, owner=whole).addWidget(cut)
        width = copied.horizontalHeader().length() + SPACE
        whole.setFixedSize(max(460, self.width(), width), min(wanted, HIGHEST))
        return whole

    def _mark(self, index: QModelIndex) -> Mark | None:
        source = self._sorted.mapToSource(index)
        if not source.isValid() or self._figure is None:
            return None
        if isinstance(self._figure, Table):
            return marks(self._figure)[source.row()]
        # Marks of a grid count their rows upwards, as axes do.
        place = source.column() - 1, -source.row()
        return next((mark for mark in marks(self._figure) if (mark.x, mark.y) == place), None)

    def _point(self, index: QModelIndex) -> None:
        self.pointed.emit(self._mark(index) if isinstance(self._figure, Grid) else None)

    def _activate(self, index: QModelIndex) -> None:
        mark = self._mark(index)
        if mark is not None:
            self.opened.emit(mark.links)


def _heads(figure: Table | Grid) -> list[Head]:
    if isinstance(figure, Grid):
        return [Head(f"{figure.rows.label} \\ {figure.columns.label}"), *(Head(name) for name in figure.columns.names)]
    better = {"up": "more is better", "down": "less is better", "": ""}
    tips = ((c.label, c.tip or explained(c.label), better[c.better]) for c in figure.columns)
    return [Head(c.label, " · ".join(filter(None, tip))) for c, tip in zip(figure.columns, tips, strict=True)]


def _rows(figure: Table | Grid) -> list[list[Cell]]:
    if isinstance(figure, Grid):
        return [
            [
                Cell(name, tip=explained(name) or name),
                *(Cell(c.words, tip=c.tip, ground=partial(_ground, c), end=True) for c in cells),
            ]
            for name, cells in cells_of(figure)
        ]
    rows = []
    for line in figure.rows:
        cells = []
        for spec, cell, words in zip(figure.columns, line.cells, row_words(figure, line), strict=True):
            value = cell.value if isinstance(cell, Estimate) else cell
            if isinstance(value, str):
                cells.append(Cell(words, colour=line.tone, tip="\n".join(filter(None, (words, explained(words))))))
                continue
            colour: str = line.tone
            if spec.form == "signed" and spec.better == "up":
                # Good or bad where that is decided: not while the interval holds 0.
                ends = (cell.low, cell.high) if isinstance(cell, Estimate) else (value, value)
                low, high = (value if bound is None else bound for bound in ends)
                colour = "good" if (low or 0) > 0 else "bad" if (high or 0) < 0 else "muted"
            order, fraction = float("-inf") if value is None else value, value if spec.bar else None
            cells.append(Cell(words, order=order, colour=colour, fraction=fraction, end=True))
        rows.append(cells)
    return rows


def _ground(cell: Shown) -> str:
    """Return a pale colour, on which the value stays readable; grey where none is defined."""
    theme = current_theme()
    return theme.raised if cell.ink is None else mix(colour_of(cell.ink), theme.surface, 0.14 if cell.faded else 0.42)


MOST_NAMED, MOST_VALUED = 8, 3
"""Lines or groups that are named above a drawing; lines up to which each one's value stands there too."""
NARROWEST_LIST = 120  # pixels of the list of figures where there is no room for their whole titles
MOST_SWITCHES = 4  # figures up to which each has a switch; more are chosen from a list


class FigureView(QWidget):
    """Draws a figure, whatever its kind, and says what is pointed at."""

    opened = Signal(object, int)  # links behind a mark, and how often in a row it was clicked: they open in turn
    chosen = Signal(str, str)  # name and value of another choice
    enlarged = Signal()  # by a double click beside the marks

    def __init__(self) -> None:
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
        self._stack = stacked(self._wait, self._text)
        head = row(margins=(SPACE + 4, SPACE // 2, SPACE, 0))
        head.addWidget(self._legend, 3)
        head.addWidget(self._said, 2)
        column(head, self._choices, self._stack, owner=self)

    @cached_property
    def plot(self) -> Plot:
        plot = Plot()
        plot.pointed.connect(self._say)
        plot.opened.connect(lambda mark: self._open(mark.links))
        plot.enlarged.connect(self.enlarged)
        self._stack.addWidget(plot)
        return plot

    @cached_property
    def cells(self) -> Cells:
        cells = Cells()
        cells.opened.connect(self._open)
        cells.pointed.connect(self._say)
        self._stack.addWidget(cells)
        return cells

    def show_figure(self, figure: Figure) -> None:
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
        box = called(QComboBox(), choice.label, tip=choice.label)
        box.setProperty("choice", choice.name)
        box.activated.connect(lambda _: self.chosen.emit(choice.name, box.currentData()))
        self._choices_row.addWidget(box)
        return box

    def _name(self) -> None:
        figure, named = self.figure, list[tuple[str, str]]()
        if isinstance(figure, Lines):
            named = [(colour_of(each.ink), f"{STROKES[each.stroke]} {each.name}") for each in laid_out(figure).curves]
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
        for name, series, stroke in zip(self._names, figure.series, STROKES, strict=False):
            points = [p for p in series.points if p.x.value is not None and (last is None or p.x.value == last)]
            value = points[-1].y if points else Estimate()
            name.setText(f"{stroke} {series.name} {in_words(value, series.form or figure.y.form)}")
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


class FiguresView(QWidget):
    """Several figures, one on show, with switches between them and an export, whose failures `warn` is told."""

    opened = Signal(object)  # one Link behind a mark
    chosen = Signal(str, str)  # name and value of another choice

    def __init__(self, warn: Callable[[str], object]) -> None:
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
        self._list = called(QComboBox(), "Figure")
        self._list.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)  # it is filled after it was shown
        self._list.setMinimumWidth(NARROWEST_LIST)
        self._list.activated.connect(self.choose)
        self.export_button = ExportButton("figure", self.view.picture, self.view.csv, warn)
        tip = "Show the figure over the whole window (Z, or a double click)"
        self.whole_page = button("Whole page", tip, self.enlarge)
        ends = (SPACE // 2, 2, SPACE // 2, 0)
        self._head = row(self._list, None, self.whole_page, self.export_button, margins=ends, spacing=2)
        self._column = column(self._head, self.view, owner=self)
        bind(self, "Z", self.enlarge, "Show the figure over the whole window, and back")
        self.view.enlarged.connect(self.enlarge)

    def set_figures(self, figures: Sequence[Figure]) -> None:
        """Show these; the one that was looked at stays, by its name."""
        looked_at = self.figures[self._place].name if self._place < len(self.figures) else ""
        names = [figure.name for figure in figures]
        switches, shown = ([(each.name, each.head.short) for each in some] for some in (figures, self.figures))
        if switches != shown:
            self._make_switches(figures)
        self.figures = figures
        if figures:
            # By name: a run that goes on may get more figures before it.
            self.choose(names.index(looked_at) if looked_at in names else 0)
        self.export_button.setEnabled(bool(figures))

    def choose(self, place: int) -> None:
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
            # Else its own frame would push it over the screen's edge.
            page.setWindowState(self.window().windowState())
            column(self.view, owner=page)
            bind(page, "Z", page.reject, "Show the figure in its place again")

            def reduce() -> None:
                self._page = None
                self._column.addWidget(self.view)
                self.view.show()
                self.view.setFocus()
                page.deleteLater()

            page.finished.connect(reduce)
            page.open()
            self.view.setFocus()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        self.enlarge()

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
            one = switch(figure.head.short or figure.title, figure.title)
            self._switches.addButton(one, place)
            self._head.insertWidget(place, one)

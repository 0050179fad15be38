"""What a comparison comes to: its verdict in words, the scatter, the items that differ, the files, the settings."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHeaderView, QTabWidget, QWidget

from rtc_inspector.core.comparison import comparison as words
from rtc_inspector.core.comparison.comparison import Comparison, Pair, capital, run_words, scatter
from rtc_inspector.core.figures import Link, Scatter
from rtc_inspector.core.kinds import noun
from rtc_inspector.ui.background.gateway import Turns
from rtc_inspector.ui.figures.view import FigureView
from rtc_inspector.ui.presenters import presenter
from rtc_inspector.ui.shell.fields import window_words
from rtc_inspector.ui.style.controls import (
    FilterField,
    Section,
    bind,
    called,
    column,
    has_words,
    label,
    row,
    split,
    switch,
)
from rtc_inspector.ui.style.fonts import grown
from rtc_inspector.ui.style.region_state import goodness, number
from rtc_inspector.ui.style.tables import (
    FRACTION,
    RIGHT,
    WORDS,
    Cell,
    CellModel,
    Head,
    HeatDelegate,
    Index,
    ListedRows,
    NameShown,
    sorted_table,
    table,
    widths,
)
from rtc_inspector.ui.style.theme import SPACE, current_theme

PLACE, FIRST, SECOND, DIFFERENCE, SECONDARY = range(5)
_COLUMNS: tuple[tuple[str, Callable[[Pair], Any]], ...] = (
    ("File and first line", lambda pair: ()),
    ("Its score in the reference", lambda pair: pair.first.headline),
    ("Its score in the other run", lambda pair: pair.second.headline),
    ("Score in the other run minus that in the reference", lambda pair: pair.difference),
    ("The same of the figure beside the score", lambda pair: -9.0 if pair.secondary is None else pair.secondary),
)  # what each says, and what it sorts by; where that is the same, the place decides


class PairModel(ListedRows):
    """The pairs that pass the filter; the largest difference first until a heading is clicked."""

    tips, figures = [tip for tip, _ in _COLUMNS], FIRST

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.heads = ["Region", "", "", "Difference", ""]
        self._pairs: Sequence[Pair] = ()
        self._better = 1
        self._words, self._alike = "", False
        self._order: tuple[int, bool] | None = None
        self.shown: list[Pair] = []

    def show_comparison(self, comparison: Comparison) -> None:
        other = f"{capital(comparison.secondary_title)} diff." if comparison.secondary_title else ""
        runs = f"Run {comparison.first.id}", f"Run {comparison.second.id}"
        self.heads = (noun(comparison.first.task).capitalize(), *runs, "Difference", other)
        self._pairs, self._better = comparison.pairs, comparison.better
        self._arrange()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, SECONDARY)

    def filter(self, words: str, alike: bool) -> None:
        """List only what has all the words in path or code, and only what differs unless `alike`."""
        self._words, self._alike = words, alike
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order by a column; by -1, order by the size of the difference."""
        self._order = None if column < 0 else (column, order is Qt.SortOrder.DescendingOrder)
        self._arrange()

    def _arrange(self) -> None:
        self.beginResetModel()
        differing = (pair for pair in self._pairs if self._alike or pair.difference)
        self.shown = [each for each in differing if has_words(f"{each.first.place}\n{each.first.text}", self._words)]
        if self._order is not None:
            key = _COLUMNS[self._order[0]][1]
            self.shown.sort(key=lambda pair: (key(pair), pair.first.path, pair.first.start), reverse=self._order[1])
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        pair, column = self.shown[index.row()], index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return _text(pair, column)
        if role == WORDS and column == PLACE:
            return presenter(pair.first).listed(pair.first) != pair.first.file
        if role == FRACTION and column in (FIRST, SECOND):
            return goodness(pair.first if column == FIRST else pair.second)
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{pair.first.place}\n{pair.first.text}"
        if role == Qt.ItemDataRole.TextAlignmentRole and column > PLACE:
            return RIGHT
        if role == Qt.ItemDataRole.ForegroundRole and column == DIFFERENCE:  # lift of one item proves nothing
            gain = pair.difference * self._better
            return QColor(current_theme().role("muted" if not gain else "good" if gain > 0 else "bad"))
        return None


def _text(pair: Pair, column: int) -> str:
    if column == PLACE:
        name = presenter(pair.first).listed(pair.first)
        return name if name != pair.first.file else pair.first.place
    if column == SECONDARY and pair.secondary is None:
        return ""
    values = (None, pair.first.headline, pair.second.headline, pair.difference, pair.secondary)
    return number(values[column], sign=column in (DIFFERENCE, SECONDARY))


class PairList(QWidget):
    """Filter row over the table. `opened(pairs, place)` when a row is double-clicked or Enter pressed on it."""

    opened = Signal(object, int)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "surface")
        self.pairs = PairModel(self)
        self.words = FilterField("Filter by file or code")
        self.alike = switch("All", "Also what both runs do equally well")
        self.count, self.none = label(role="caption"), label(role="muted", wrap=True)
        self.table = table("Where the runs disagree")
        self._heat, self._names = HeatDelegate(self), NameShown(self)
        head = row(self.words, self.alike, margins=(SPACE, SPACE // 2, SPACE, SPACE // 2), spacing=SPACE // 2)
        column(head, row(self.none, margins=(SPACE, 0, SPACE, 0)), self.table, owner=self)
        self.words.settled.connect(self._apply)
        self.alike.toggled.connect(self._apply)
        view, header = self.table, self.table.horizontalHeader()
        view.setModel(self.pairs)
        view.setItemDelegateForColumn(PLACE, self._names)
        view.setSortingEnabled(True)
        view.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        header.setSectionResizeMode(PLACE, QHeaderView.ResizeMode.Stretch)
        for section, width in {FIRST: 66, SECOND: 66, DIFFERENCE: 84, SECONDARY: 74}.items():
            header.resizeSection(section, grown(view, width))
        for section in (FIRST, SECOND):
            view.setItemDelegateForColumn(section, self._heat)
        view.doubleClicked.connect(self._open)
        bind(view, "Return Enter", self._open, "Show both traces")
        self.pairs.modelReset.connect(self._count)

    def show_comparison(self, comparison: Comparison) -> None:
        chosen = self.chosen
        self.pairs.show_comparison(comparison)
        # So that Enter opens something at once.
        self.choose(chosen or next(iter(self.pairs.shown), None))

    @property
    def chosen(self) -> Pair | None:
        at = self.table.currentIndex().row()
        return self.pairs.shown[at] if 0 <= at < len(self.pairs.shown) else None

    def choose(self, pair: Pair | None) -> None:
        keys = (each.first.key for each in self.pairs.shown)
        at = next((at for at, key in enumerate(keys) if pair is not None and key == pair.first.key), None)
        if at is not None:
            self.table.setCurrentIndex(self.pairs.index(at, PLACE))

    def _apply(self) -> None:
        chosen = self.chosen
        self.pairs.filter(self.words.text(), self.alike.isChecked())
        self.choose(chosen)

    def _count(self) -> None:
        number = len(self.pairs.shown)
        differ = "differs" if number == 1 else "differ"
        self.count.setText(f"{number:,} {'in both' if self.alike.isChecked() else differ}")
        filtered = bool(self.words.text().strip())
        self.none.setText("Nothing matches these words." if filtered else "Both runs do equally well everywhere.")
        self.none.setVisible(not number)

    def _open(self, index: QModelIndex | None = None) -> None:
        at = self.table.currentIndex().row()
        if 0 <= at < len(self.pairs.shown):
            self.opened.emit(tuple(self.pairs.shown), at)


class Details(QTabWidget):
    """`opened(pairs, place)` when a file is double-clicked or Enter pressed on it."""

    opened = Signal(object, int)

    def __init__(self) -> None:
        super().__init__(documentMode=True)
        self.setAccessibleName("Files and settings of the compared runs")
        self._comparison: Comparison | None = None
        self.files = CellModel([Head("File"), Head("Regions"), Head("Reference"), Head("Run"), Head("Difference")])
        self.settings = CellModel([Head("Setting"), Head("Reference"), Head("Run")])
        self.file_table, _ = sorted_table("Score by file in both runs", self.files)
        self.setting_table = table("Settings that differ")
        view = self.file_table
        view.setTextElideMode(Qt.TextElideMode.ElideLeft)
        view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        view.doubleClicked.connect(self._open)
        bind(view, "Return Enter", self._open, "Show the traces of the file's regions")
        widths(view, 0, 70, 82, 66, 84)
        self.setting_table.setModel(self.settings)
        self.setting_table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        widths(self.setting_table, 170, 190, 0)
        self.addTab(view, "Files")
        self.addTab(self.setting_table, "What differs")

    def show_comparison(self, comparison: Comparison) -> None:
        self._comparison = comparison
        runs = [Head(f"Run {run.id}", run_words(run)) for run in (comparison.first, comparison.second)]
        place, items = comparison.place.capitalize(), f"{noun(comparison.first.task)}s".capitalize()
        self.files.name_columns([Head(place), Head(items), *runs, Head("Difference")])
        self.setTabText(0, f"{place}s")
        self.settings.name_columns([Head("Setting"), *runs])
        rows = []
        for at, file in enumerate(comparison.files):
            scores = [Cell(f"{each:.2f}", order=each, fraction=each) for each in (file.first, file.second)]
            count, difference = Cell(str(file.items), order=float(file.items)), file.difference
            last = Cell(number(difference, sign=True), order=difference)
            rows.append(([Cell(file.path, tip=file.path), count, *scores, last], at))
        self.files.fill(rows)
        differing = comparison.settings or (("nothing", "the same settings", "the same settings"),)
        self.settings.fill([([Cell(text, tip=text) for text in row], at) for at, row in enumerate(differing)])

    def _open(self, index: QModelIndex | None = None) -> None:
        current = self.file_table.currentIndex()
        if self._comparison is None or not current.isValid():
            return
        # By its text, for the rows on show may be sorted in any order.
        path = str(current.siblingAtColumn(0).data())
        pairs = tuple(pair for pair in self._comparison.pairs if pair.first.file == path)
        self.opened.emit(pairs, 0)


HEIGHTS, WIDTHS = (600, 400), (480, 520)
"""Shares of the disagreements and of the files below them; of the drawing, and of these lists beside it."""


class Summary(QWidget):
    """`opened(pairs, place)`: show the traces of these items, beginning with one."""

    opened = Signal(object, int)

    def __init__(self) -> None:
        super().__init__()
        self._turns = Turns(self)
        self.verdict = label(role="title", wrap=True, selectable=True)
        self.rest = label(role="muted", wrap=True, selectable=True)
        self.caveats = label(role="warn", wrap=True, selectable=True)
        self.scatter, self.list, self.details = FigureView(), PairList(), Details()
        self._comparison: Comparison | None = None
        self.scatter.opened.connect(self._open_spot)
        for part in (self.list, self.details):
            part.opened.connect(self.opened)
        texts_box = called(QWidget(), role="surface")
        texts = (self.verdict, self.rest, self.caveats)
        column(*texts, margins=(SPACE + 4, SPACE, SPACE + 4, SPACE), spacing=2, owner=texts_box)
        disagreements = Section("DISAGREEMENTS", self.list, self.list.count)
        lists = split(Qt.Orientation.Vertical, disagreements, self.details, sizes=HEIGHTS, stretch=HEIGHTS)
        both = Section("BOTH RUNS", self.scatter)
        body = split(Qt.Orientation.Horizontal, both, lists, sizes=WIDTHS, stretch=WIDTHS)
        column(texts_box, body, owner=self)

    def show_comparison(self, comparison: Comparison) -> None:
        self.verdict.setText(window_words(words.verdict(comparison)))
        self.rest.setText(f"{words.secondary_verdict(comparison)} {words.mcnemar_words(comparison)}")
        caveats = " ".join(words.caveats(comparison))
        self.caveats.setText(caveats)
        self.caveats.setVisible(bool(caveats))
        self.rest.setToolTip(words.NOTES)
        self._comparison = comparison
        spots: list[Scatter] = []
        # List, drawing and files in turns of the loop: together they would hold the window up.
        self._turns.begin(
            lambda: self.list.show_comparison(comparison),
            lambda: spots.append(scatter(comparison)),
            lambda: self.scatter.show_figure(spots[0]),
            lambda: self.details.show_comparison(comparison),
        )

    def _open_spot(self, links: Sequence[Link], turn: int) -> None:
        items = {link.item for link in links}
        if self._comparison is not None:
            self.opened.emit(tuple(pair for pair in self._comparison.pairs if pair.first.id in items), 0)

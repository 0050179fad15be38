"""The list of regions: sortable, filterable by words and state, as long as it likes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QComboBox, QHeaderView, QLabel, QWidget

from rtc_inspector.core.kinds import FIRST_KIND, Kind, counted, task
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.ui.presenters import presenter
from rtc_inspector.ui.style.controls import FilterField, called, column, row
from rtc_inspector.ui.style.fonts import fit_columns, grown
from rtc_inspector.ui.style.region_state import (
    ORDER,
    RegionState,
    goodness,
    mark_icon,
    number,
    region_state,
    state_words,
)
from rtc_inspector.ui.style.tables import FRACTION, RIGHT, WORDS, HeatDelegate, Index, ListedRows, NameShown, RowTable
from rtc_inspector.ui.style.theme import SPACE, current_theme

STATE, FILE, LINE, SCORE, DIFFERENCE, PASSES, RECITATION, TESTS = range(8)
_LOW = float("-inf")

_PLACE = attrgetter("path", "start")
_RANK = {state: rank for rank, state in enumerate(ORDER)}


def _known(value: float | None) -> float:
    """Return a value to sort by: what is not defined sorts below all values."""
    return _LOW if value is None else value


def _said(value: float | None, *, sign: bool = False) -> str:
    return "" if value is None else number(value, sign)


@dataclass(frozen=True, slots=True)
class Column:
    """One column."""

    head: str  # head, tip: heading and what it means; empty where the method has its own name for it
    tip: str
    width: int  # pixels for text of the usual size; 0 takes what room is left
    key: Callable[[ItemRow], Any]  # what it sorts by; where that is the same, the place decides
    text: Callable[[ItemRow], str]  # what its cells show


COLUMNS = (
    Column("", "State", 28, lambda item: _RANK[region_state(item)], lambda item: ""),
    Column("File", "File", 0, _PLACE, lambda item: presenter(item).listed(item)),
    Column(
        "Line", "First line", 50,
        attrgetter("start_line"), lambda item: str(item.start_line) if item.has_file else "",
    ),
    Column("", "", 62, lambda item: _known(item.headline), lambda item: _said(item.headline)),
    Column("", "", 56, lambda item: _known(item.secondary), lambda item: _said(item.secondary, sign=True)),
    Column(
        "", "How many of its judged samples did well", 64,
        lambda item: [item.measures.get(name, 0.0) for name in task(item.task).tally or ()], lambda item: item.tally,
    ),
    Column(
        "Recites", "Largest share of the code that a description repeats verbatim", 68,
        lambda item: _known(item.recitation),
        lambda item: "" if item.recitation is None else f"{item.recitation:.2f}",
    ),
    Column("Tests", "Covering tests", 54, lambda item: len(item.tests), lambda item: str(len(item.tests))),
)  # fmt: skip
"""By the numbers above; the method names the headline and the difference."""


class RegionModel(ListedRows):
    """The regions that pass the filter, in the chosen order; `all_items` has every one as the store gave them."""

    heads: Sequence[str] = [column.head for column in COLUMNS]
    tips: Sequence[str] = [column.tip for column in COLUMNS]
    figures = LINE

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.all_items: list[ItemRow] = []
        self._by_place: list[ItemRow] = []
        self._sorted: list[ItemRow] = []
        self.shown: Sequence[ItemRow] = []
        self._place: dict[int, int] | None = None
        self._texts: dict[int, str] = {}
        self._words: list[str] = []
        self._states = frozenset[RegionState]()
        self._extra = self._flagged = False
        self._flags: Mapping[int, Sequence[str]] = {}
        self._column, self._descending = FILE, False
        self._kind = FIRST_KIND
        self._icons = {state: mark_icon(state) for state in RegionState}

    def set_kind(self, kind: Kind) -> None:
        self._kind = kind
        self._name_columns()

    def _name_columns(self) -> None:
        kind, names = self._kind, [(each.head, each.tip) for each in COLUMNS]
        for place, measure in ((SCORE, kind.measure(kind.headline)), (DIFFERENCE, kind.difference)):
            if measure is not None:
                names[place] = measure.title[:1].upper() + measure.title[1:], measure.tip
        if kind.tally:
            names[PASSES] = kind.measure(kind.tally[0]).title.capitalize(), COLUMNS[PASSES].tip
        if self.all_items and presenter(self.all_items[0]).past:
            names[FILE] = "Edit", "First line of its commit's message, or its file"
        if self.all_items and not any(item.has_file for item in self.all_items):
            names[FILE], names[LINE] = (kind.noun.capitalize(), kind.noun.capitalize()), ("", "")
        self.heads, self.tips = zip(*names, strict=True)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.heads) - 1)

    def set_items(self, items: Sequence[ItemRow]) -> None:
        # Lower-case texts of 100,000 regions are kept as long as the regions are the same.
        if [item.id for item in items] != [item.id for item in self.all_items]:
            self._texts = {}
        self.all_items = list(items)
        self._by_place = sorted(items, key=_PLACE)
        self._name_columns()
        self._sort()

    def set_flags(self, flags: Mapping[int, Sequence[str]]) -> None:
        self._flags = flags
        self._arrange()

    def filter(
        self, words: str, states: frozenset[RegionState] = frozenset(), *, extra: bool = False, flagged: bool = False
    ) -> None:
        """List only what has all the words in path or code and is in one of the states; none means any but dropped.

        `extra`: only what a person tried. `flagged`: only what has code about which something was odd.
        """
        self._words, self._states, self._extra, self._flagged = words.lower().split(), states, extra, flagged
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._descending = max(column, 0), order is Qt.SortOrder.DescendingOrder
        self._sort()

    def row_of(self, item_id: int) -> int | None:
        if self._place is None:
            self._place = {item.id: row for row, item in enumerate(self.shown)}
        return self._place.get(item_id)

    def _sort(self) -> None:
        # By place it is sorted already; another order keeps this one where its own values are equal.
        self._sorted = self._by_place[::-1] if self._descending else self._by_place
        if self._column != FILE:
            self._sorted = sorted(self._sorted, key=COLUMNS[self._column].key, reverse=self._descending)
        self._arrange()

    def _arrange(self) -> None:
        shown = self._selected()
        # The same rows in the same order: painted anew, while selection and scroll position stay.
        if [item.id for item in shown] == [item.id for item in self.shown]:
            self.shown = shown
            self.say_changed()
            return
        self.beginResetModel()
        self.shown, self._place = shown, None
        self.endResetModel()

    def _selected(self) -> list[ItemRow]:
        items, flags = self._sorted, self._flags
        if self._extra:
            items = [item for item in items if item.extra]
        if self._flagged:
            items = [item for item in items if item.id in flags]
        if self._states:
            found = [item for item in items if region_state(item) in self._states]
        else:
            dropped = RegionState.DROPPED.value
            found = [item for item in items if item.state != dropped]
        for word in self._words:
            found = [i for i in found if word in self._text(i) or (self._flagged and word in " ".join(flags[i.id]))]
        return found

    def _text(self, item: ItemRow) -> str:
        """Return path, line and code of a region in small letters, made when they are first looked at."""
        if item.id not in self._texts:
            text = f"{item.file}:{item.start_line}\n{presenter(item).listed(item)}\n{item.text}"
            self._texts[item.id] = text.lower()
        return self._texts[item.id]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        item, column = self.shown[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[column].text(item)
        if role == FRACTION and column == SCORE:
            return goodness(item)
        if role == WORDS and column == FILE:
            return presenter(item).listed(item) != item.file
        if role == Qt.ItemDataRole.DecorationRole and column == STATE:
            return self._icons[region_state(item)]
        if role == Qt.ItemDataRole.ToolTipRole:
            tried = "\ntried by hand, not counted" if item.extra else ""
            recites = "" if item.recitation is None else f", a description recites {item.recitation:.2f} of it"
            tests = f"\n{counted(len(item.tests), 'covering test')}{recites}"
            odd = f"\nodd, but no proof of anything: {', '.join(flags)}" if (flags := self._flags.get(item.id)) else ""
            return f"{presenter(item).heading(item)}\n{state_words(item)}{tests}{tried}{odd}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return state_words(item) if column == STATE else COLUMNS[column].text(item)
        if role == Qt.ItemDataRole.TextAlignmentRole and column > FILE:
            return RIGHT
        if role == Qt.ItemDataRole.ForegroundRole and (column in (LINE, TESTS) or not item.admitted):
            return QColor(current_theme().muted)
        return None


S = RegionState
STATES: tuple[tuple[str, frozenset[RegionState]], ...] = (
    ("All", frozenset()),
    ("Failures", frozenset({S.FAIL, S.PARTIAL})),
    ("Passes", frozenset({S.PASS})),
    ("In work", frozenset({S.RUNNING, S.WAITING})),
    ("Unjudged", frozenset({S.UNJUDGED})),
    ("Dropped", frozenset({S.DROPPED})),
    ("By hand", frozenset(S)),
    ("Flagged", frozenset(S)),
)
NARROWEST_FILE = 116  # pixels that a file's name has at least


class RegionTable(QWidget):
    """Filter row over the table."""

    item_chosen = Signal(int)  # id of a region the user picked
    flags_wanted = Signal()  # give `set_flags` what was odd about the regions' code

    def __init__(self) -> None:
        super().__init__()
        self.regions = RegionModel(self)
        self.words = FilterField("Filter by file or code")
        self.states = QComboBox()
        self.table = RowTable()
        self.count = called(QLabel(), role="caption")
        self._hint = called(QLabel(self.table, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True), role="muted")
        self._current: int | None = None
        self._quiet = False
        self.words.settled.connect(lambda _: self._apply_filter())
        self.states.addItems([name for name, _ in STATES])
        self.states.currentIndexChanged.connect(self._apply_filter)
        self._hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        table = self.table
        table.setModel(self.regions)
        self._heat, self._names = HeatDelegate(self), NameShown(self)  # kept, as in the project's tree
        table.setItemDelegateForColumn(SCORE, self._heat)
        table.setItemDelegateForColumn(FILE, self._names)
        table.setSortingEnabled(True)
        table.sortByColumn(FILE, Qt.SortOrder.AscendingOrder)
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.text_size.changed.connect(self._fit)
        header = self.table.horizontalHeader()
        header.setMinimumSectionSize(28)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setStretchLastSection(False)
        table.selectionModel().currentRowChanged.connect(self._choose)
        self.regions.headerDataChanged.connect(self._fit)
        self.regions.modelReset.connect(self._restore)
        self.regions.modelReset.connect(self._count)
        self.set_kind(FIRST_KIND)
        head = row(
            self.words, self.states, margins=(SPACE, SPACE // 2, SPACE, SPACE), spacing=SPACE // 2, grows=self.words
        )
        column(head, self.table, owner=self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()
        self._hint.setGeometry(self.table.geometry().translated(-self.table.pos()))

    def _fit(self) -> None:
        mark = grown(self.table, COLUMNS[STATE].width)
        room = self.width() - self.table.verticalScrollBar().sizeHint().width() - 2 - mark
        self.table.horizontalHeader().resizeSection(STATE, mark)
        named = [at for at in range(LINE, len(COLUMNS)) if self.regions.heads[at]]
        for at in range(LINE, len(COLUMNS)):
            self.table.setColumnHidden(at, at not in named)
        metrics = self.table.fontMetrics()  # a method's own names may be longer than others'
        others = {
            at: max(grown(self.table, COLUMNS[at].width), metrics.horizontalAdvance(self.regions.heads[at]) + 2 * SPACE)
            for at in named
        }
        fit_columns(self.table.horizontalHeader(), room, FILE, others, grown(self.table, NARROWEST_FILE))

    def set_kind(self, kind: Kind) -> None:
        self._noun = noun = kind.noun
        self.regions.set_kind(kind)
        self.table.setAccessibleName(f"{noun}s".capitalize())
        self._count()
        self.words.setAccessibleName(f"Filter {noun}s by file or code")
        self.states.setAccessibleName(f"Filter {noun}s by state")

    def set_items(self, items: Sequence[ItemRow]) -> None:
        bar = self.table.verticalScrollBar()
        place = bar.value()
        self.regions.set_items(items)
        # A reset of the model scrolls to the top.
        bar.setValue(place)
        if STATES[self.states.currentIndex()][0] == "Flagged":
            self.flags_wanted.emit()  # verdicts may have come

    def select(self, item_id: int | None) -> None:
        if item_id != self._current:
            self._current = item_id
            self._restore()
            row = None if item_id is None else self.regions.row_of(item_id)
            if row is not None:
                self.table.scrollTo(self.regions.index(row, FILE))

    def _apply_filter(self) -> None:
        name, states = STATES[self.states.currentIndex()]
        if name == "Flagged":
            self.flags_wanted.emit()
        self.regions.filter(self.words.text(), states, extra=name == "By hand", flagged=name == "Flagged")

    def _count(self) -> None:
        shown, known = len(self.regions.shown), len(self.regions.all_items)
        self.count.setText("" if not known else f"{shown:,}" if shown == known else f"{shown:,} of {known:,}")
        self._hint.setText(f"No {self._noun} fits the filter." if known else f"A run lists its {self._noun}s here.")
        self._hint.setVisible(not shown)

    def _restore(self) -> None:
        row = None if self._current is None else self.regions.row_of(self._current)
        self._quiet = True
        if row is None:
            self.table.clearSelection()
        else:
            self.table.setCurrentIndex(self.regions.index(row, FILE))
        self._quiet = False

    def _choose(self, current: QModelIndex, before: QModelIndex) -> None:
        # Rows become current by themselves, too, when others are filtered out.
        if current.isValid() and not self._quiet:
            self._current = self.regions.shown[current.row()].id
            # With the focus the first row becomes current, but Qt does not select it.
            select = QItemSelectionModel.SelectionFlag
            self.table.selectionModel().select(current, select.ClearAndSelect | select.Rows)
            self.item_chosen.emit(self._current)

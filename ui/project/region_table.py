"""The list of regions: sortable, filterable by words and state, as long as it likes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QHeaderView, QLabel, QWidget

from rtc_inspector.core.kinds import FIRST_KIND, Kind
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.ui.project.region_model import COLUMNS, FILE, SCORE, RegionFilter, RegionModel
from rtc_inspector.ui.style.controls import FilterField, column, row
from rtc_inspector.ui.style.region_state import RegionState
from rtc_inspector.ui.style.tables import HeatDelegate, RowTable
from rtc_inspector.ui.style.text_size import grown, room_beside
from rtc_inspector.ui.style.theme import SPACE

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
NARROWEST_FILE = 124
"""Pixels that a file's name has at least."""
BAR, NO_BAR = Qt.ScrollBarPolicy.ScrollBarAsNeeded, Qt.ScrollBarPolicy.ScrollBarAlwaysOff


class RegionTable(QWidget):
    """Filter row over the table. `item_chosen` carries the id of a region the user picked.

    `flags_wanted`: give `set_flags` what was odd about the regions' code.
    """

    item_chosen = Signal(int)
    flags_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.regions = RegionModel(self)
        self.words = FilterField("Filter by file or code")
        self.states = QComboBox()
        self.table = RowTable()
        self.count = QLabel()
        self._hint = QLabel(self.table, alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self._current: int | None = None
        self._quiet = False
        self._build_filter()
        self._build_table()
        self.set_kind(FIRST_KIND)
        head = row(
            self.words, self.states, margins=(SPACE, SPACE // 2, SPACE, SPACE), spacing=SPACE // 2, grows=self.words
        )
        column(head, self.table, owner=self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Give the file's name the room that the figures leave."""
        super().resizeEvent(event)
        self._fit()
        self._hint.setGeometry(self.table.geometry().translated(-self.table.pos()))

    def _take_size(self) -> None:
        self._fit()
        self.table.horizontalScrollBar().setValue(0)

    def _fit(self) -> None:
        state, *others = (grown(self.table, each.width) for each in COLUMNS if each.width)
        room = self.width() - self.table.verticalScrollBar().sizeHint().width() - state
        least = grown(self.table, NARROWEST_FILE)
        self.table.horizontalHeader().resizeSection(FILE, room_beside(room, others, least))

    def set_kind(self, kind: Kind) -> None:
        """Call what is listed, and its measures, by their names."""
        noun = kind.noun
        self.regions.set_kind(kind)
        self.table.setAccessibleName(f"{noun}s".capitalize())
        self._noun = noun
        self._count()
        self.words.setAccessibleName(f"Filter {noun}s by file or code")
        self.states.setAccessibleName(f"Filter {noun}s by state")

    def set_items(self, items: Sequence[ItemRow]) -> None:
        """Show these regions; selection and scroll position stay."""
        bar = self.table.verticalScrollBar()
        place = bar.value()
        self.regions.set_items(items)
        # A reset of the model scrolls to the top.
        bar.setValue(place)
        if STATES[self.states.currentIndex()][0] == "Flagged":
            self.flags_wanted.emit()  # verdicts may have come

    def select(self, item_id: int | None) -> None:
        """Select a region without saying that the user chose it."""
        if item_id != self._current:
            self._current = item_id
            # To bring a row into sight Qt would scroll sideways as well, and hide the states.
            side = self.table.horizontalScrollBar()
            place = side.value()
            self._restore()
            row = None if item_id is None else self.regions.row_of(item_id)
            if row is not None:
                self.table.scrollTo(self.regions.index(row, FILE))
            side.setValue(place)

    def _build_filter(self) -> None:
        self.words.settled.connect(lambda _: self._apply_filter())
        self.states.addItems([name for name, _ in STATES])
        self.states.currentIndexChanged.connect(self._apply_filter)
        self.count.setProperty("role", "caption")
        self._hint.setProperty("role", "muted")
        self._hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def _build_table(self) -> None:
        table = self.table
        table.setModel(self.regions)
        self._heat = HeatDelegate(self)  # kept, as in the project's tree
        table.setItemDelegateForColumn(SCORE, self._heat)
        table.setTextElideMode(Qt.TextElideMode.ElideLeft)
        table.setSortingEnabled(True)
        table.sortByColumn(FILE, Qt.SortOrder.AscendingOrder)
        self._shape_columns()
        table.selectionModel().currentRowChanged.connect(self._choose)
        self.regions.modelReset.connect(self._restore)
        self.regions.modelReset.connect(self._count)

    def _shape_columns(self) -> None:
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.text_size.changed.connect(self._take_size)
        header = self.table.horizontalHeader()
        header.setMinimumSectionSize(28)
        for section, each in enumerate(COLUMNS):
            header.resizeSection(section, grown(self.table, each.width))
        header.setSectionResizeMode(FILE, QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(False)

    def _apply_filter(self) -> None:
        name, states = STATES[self.states.currentIndex()]
        if name == "Flagged":
            self.flags_wanted.emit()
        self.regions.set_filter(RegionFilter(self.words.text(), states, name == "By hand", name == "Flagged"))

    def _count(self) -> None:
        shown, known = len(self.regions.shown), len(self.regions.all_items)
        self.count.setText("" if not known else f"{shown:,}" if shown == known else f"{shown:,} of {known:,}")
        self._hint.setText(f"No {self._noun} fits the filter." if known else f"A run lists its {self._noun}s here.")
        self._hint.setVisible(not shown)
        self.table.setHorizontalScrollBarPolicy(BAR if shown else NO_BAR)

    def _restore(self) -> None:
        """Select the current region again where it is listed now, quietly."""
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

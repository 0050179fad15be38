"""The regions of a run as a Qt table: sorted and filtered here, since a proxy is too slow for 100,000 rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor

from rtc_inspector.core.kinds import FIRST_KIND, Kind, task
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.ui.presenters import presenter
from rtc_inspector.ui.style.marks import mark_icon
from rtc_inspector.ui.style.region_state import ORDER, RegionState, goodness, number, region_state, state_words
from rtc_inspector.ui.style.tables import FRACTION, RIGHT, Index, ListedRows
from rtc_inspector.ui.style.theme import current_theme

STATE, FILE, LINE, SCORE, DIFFERENCE, PASSES, RECITATION, TESTS = range(8)
_LOW = float("-inf")

_PLACE = attrgetter("path", "start")
_RANK = {state: rank for rank, state in enumerate(ORDER)}


def _known(value: float | None) -> float:
    """Return a value to sort by: what is not defined sorts below all values."""
    return _LOW if value is None else value


def _said(value: float | None, *, sign: bool = False) -> str:
    """Return a measure in words, nothing where it is not defined."""
    return "" if value is None else number(value, sign)


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        head, tip: heading and what it means; empty where the method has its own name for it.
        width: pixels for text of the usual size; 0 takes what room is left.
        key: what it sorts by; where that is the same, the place decides.
        text: what its cells show.
    """

    head: str
    tip: str
    width: int
    key: Callable[[ItemRow], Any]
    text: Callable[[ItemRow], str]


COLUMNS = (
    Column("", "State", 28, lambda item: _RANK[region_state(item)], lambda item: ""),
    Column("File", "File", 0, _PLACE, lambda item: item.file),
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
        lambda item: "" if item.recitation is None else f"{item.recitation:.0%}",
    ),
    Column("Tests", "Covering tests", 54, lambda item: len(item.tests), lambda item: str(len(item.tests))),
)  # fmt: skip
"""By the numbers above; the method names the headline and the difference."""


@dataclass(frozen=True, slots=True)
class RegionFilter:
    """Which regions are listed.

    Attributes:
        words: in path or code, all of them.
        states: empty means any but dropped.
        extra: only those that a person tried.
        flagged: only those with code about which something was odd.
    """

    words: str = ""
    states: frozenset[RegionState] = frozenset()
    extra: bool = False
    flagged: bool = False

    def select(
        self,
        items: Sequence[ItemRow],
        texts: Mapping[int, str],
        flags: Mapping[int, Sequence[str]],
    ) -> list[ItemRow]:
        """Return the regions that are listed, in the order given.

        `texts` has what words are looked for in, by id; `flags` what was odd about a region's code, looked for as well.
        """
        if self.extra:
            items = [item for item in items if item.extra]
        if self.flagged:
            items = [item for item in items if item.id in flags]
        if self.states:
            found = [item for item in items if region_state(item) in self.states]
        else:
            dropped = RegionState.DROPPED.value
            found = [item for item in items if item.state != dropped]
        for word in self.words.lower().split():
            found = [i for i in found if word in texts[i.id] or (self.flagged and word in " ".join(flags[i.id]))]
        return found


class _Texts(dict[int, str]):
    """Path, line and code of regions in small letters, each made when it is first looked at."""

    def __init__(self, items: Sequence[ItemRow]) -> None:
        super().__init__()
        self._items = {item.id: item for item in items}

    def __missing__(self, item_id: int) -> str:
        item = self._items[item_id]
        self[item_id] = f"{item.file}:{item.start_line}\n{item.text}".lower()
        return self[item_id]


class RegionModel(ListedRows):
    """The regions that pass the filter, in the chosen order; `all_items` has every one as the store gave them."""

    heads: Sequence[str] = [column.head for column in COLUMNS]
    tips: Sequence[str] = [column.tip for column in COLUMNS]
    figures = LINE

    def __init__(self, parent: QObject | None = None) -> None:
        """Start empty, in source order."""
        super().__init__(parent)
        self.all_items: list[ItemRow] = []
        self._by_place: list[ItemRow] = []
        self._sorted: list[ItemRow] = []
        self.shown: Sequence[ItemRow] = []
        self._place: dict[int, int] | None = None
        self._texts: _Texts = _Texts(())
        self._filter = RegionFilter()
        self._flags: Mapping[int, Sequence[str]] = {}
        self._column, self._descending = FILE, False
        self._kind = FIRST_KIND
        self._icons = {state: mark_icon(state) for state in RegionState}

    def set_kind(self, kind: Kind) -> None:
        """Call the measures as the method calls them."""
        self._kind = kind
        self._name_columns()

    def _name_columns(self) -> None:
        """Name columns by the method's measures; items stand in files and lines, or are known by themselves."""
        kind, names = self._kind, [(column.head, column.tip) for column in COLUMNS]
        for column, measure in ((SCORE, kind.measure(kind.headline)), (DIFFERENCE, kind.difference)):
            if measure is not None:
                names[column] = measure.title[:1].upper() + measure.title[1:], measure.tip
        if kind.tally:
            names[PASSES] = kind.measure(kind.tally[0]).title.capitalize(), COLUMNS[PASSES].tip
        if self.all_items and not any(item.has_file for item in self.all_items):
            names[FILE], names[LINE] = (kind.noun.capitalize(), kind.noun.capitalize()), ("", "")
        self.heads, self.tips = zip(*names, strict=True)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self.heads) - 1)

    def set_items(self, items: Sequence[ItemRow]) -> None:
        """Show these regions; rows that stay in place are only repainted."""
        # Lower-case texts of 100,000 regions are kept as long as the regions are the same.
        if [item.id for item in items] != [item.id for item in self.all_items]:
            self._texts = _Texts(items)
        self.all_items = list(items)
        self._by_place = sorted(items, key=_PLACE)
        self._name_columns()
        self._sort()

    def set_flags(self, flags: Mapping[int, Sequence[str]]) -> None:
        """Set what was odd about regions' code, by their ids."""
        self._flags = flags
        self._arrange()

    def set_filter(self, wanted: RegionFilter) -> None:
        """List only what passes."""
        self._filter = wanted
        self._arrange()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._descending = max(column, 0), order is Qt.SortOrder.DescendingOrder
        self._sort()

    def row_of(self, item_id: int) -> int | None:
        """Return the row in which a region is listed, or None when it is not."""
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
        shown = self._filter.select(self._sorted, self._texts, self._flags)
        # The same rows in the same order: painted anew, while selection and scroll position stay.
        if [item.id for item in shown] == [item.id for item in self.shown]:
            self.shown = shown
            self.say_changed()
            return
        self.beginResetModel()
        self.shown, self._place = shown, None
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        item, column = self.shown[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[column].text(item)
        if role == FRACTION and column == SCORE:
            return goodness(item)
        if role == Qt.ItemDataRole.DecorationRole and column == STATE:
            return self._icons[region_state(item)]
        if role == Qt.ItemDataRole.ToolTipRole:
            tried = "\ntried by hand, not counted" if item.extra else ""
            odd = f"\nodd, but no proof of anything: {', '.join(flags)}" if (flags := self._flags.get(item.id)) else ""
            return f"{presenter(item).heading(item)}\n{state_words(item)}{tried}{odd}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return state_words(item) if column == STATE else COLUMNS[column].text(item)
        if role == Qt.ItemDataRole.TextAlignmentRole and column > FILE:
            return RIGHT
        if role == Qt.ItemDataRole.ForegroundRole and (column in (LINE, TESTS) or not item.admitted):
            return QColor(current_theme().muted)
        return None

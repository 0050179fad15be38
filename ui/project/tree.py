"""Files and folders of a project as a tree, with their score as colour and number, and the count of their regions."""

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QItemSelection, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QColor, QResizeEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeView

from rtc_inspector.core.kinds import FIRST_KIND, Kind
from rtc_inspector.core.oracle.bench.project import origin_of
from rtc_inspector.core.store.rows import FileRow
from rtc_inspector.core.types import Codebase
from rtc_inspector.ui.style.fonts import TextSize, fit_columns, grown
from rtc_inspector.ui.style.icons import icon
from rtc_inspector.ui.style.region_state import number
from rtc_inspector.ui.style.tables import FRACTION, RIGHT, HeatDelegate, Index, NameShown
from rtc_inspector.ui.style.theme import current_theme

MOST_ADDED = 50  # files that are put one by one into a tree on show; of more the whole tree is built sooner
LARGEST = 20  # files that are looked into for where to begin: of a whole project it would take too long


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One line of the tree. `note` says why it is never sampled; empty for code.

    `name`: of a file that was written for a run, which stands in no folder that anybody knows.
    """

    path: str
    note: str = ""
    name: str = ""


def first_code(codebase: Codebase) -> str:
    """Return the file to begin with where nothing is chosen, the one with most to draw from; empty where there is none.

    Lines inside functions and classes stand for candidates, which take seconds to enumerate: a script of settings has
    few of them. Of a generated project it is the first problem.
    """
    keys = origin_of(codebase.root).keys
    if keys:
        return next((each.path for each in codebase.files if each.path in keys), "")
    code = [each for each in codebase.files if not each.is_test]
    largest = sorted(code, key=lambda each: -len(each.text))[:LARGEST]
    return max(largest, key=lambda each: each.text.count("\n    ")).path if largest else ""


def listed_files(codebase: Codebase) -> list[ListedFile]:
    """Return what the tree lists: code, tests and what was left out; of a generated codebase its problems alone."""
    keys = origin_of(codebase.root).keys
    if keys:
        return [ListedFile(path, name=key) for path, key in keys.items()]
    files = [ListedFile(each.path, "test file" if each.is_test else "") for each in codebase.files]
    return files + [ListedFile(each.path, f"left out: {each.reason}") for each in codebase.skipped]


NAME, SCORE, REGIONS = range(3)
COLUMNS = 3


class Node(QStandardItem):
    """A file or a folder."""

    def __init__(self, path: str, name: str, note: str = "", folder: bool = False) -> None:
        """`name`: the last part of the path, or what a run calls a file that was written for it."""
        super().__init__()
        self.path, self.name, self.note, self.folder = path, name, note, folder
        self.children: list[Node] = []
        self.items = self.done = 0  # regions of a run in it, and how many are complete
        self.measures: Mapping[str, float] = {}  # their means over its complete regions, as far as they are defined

    def place(self, parent: QStandardItem) -> None:
        """Put what is in it under `parent`: folders first, then by name."""
        self.children.sort(key=_order)
        for child in self.children:
            child.place(child)
        parent.appendRows(self.children)
        parent.setColumnCount(COLUMNS)

    def fill(self, rows: Mapping[str, FileRow]) -> None:
        """Take a run's figures; a folder has the mean over the regions below it."""
        if not self.folder:
            row = rows.get(self.path)
            self.items, self.done, self.measures = (row.items, row.done, row.measures) if row else (0, 0, {})
            return
        for child in self.children:
            child.fill(rows)
        self.items = sum(child.items for child in self.children)
        self.done = sum(child.done for child in self.children)
        names = {name for child in self.children for name in child.measures}
        self.measures = {name: mean for name in names if (mean := _mean(name, self.children)) is not None}


def _order(node: Node) -> tuple[bool, str]:
    return not node.folder, node.path.lower()


def _mean(name: str, nodes: Sequence[Node]) -> float | None:
    """Return the mean of a measure by the number of complete regions, those without it left out."""
    weighted = [(node.measures[name], node.done) for node in nodes if name in node.measures]
    total = sum(weight for _, weight in weighted)
    return sum(value * weight for value, weight in weighted) / total if total else None


class ProjectModel(QStandardItemModel):
    """Name, score, regions."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(0, COLUMNS, parent)
        self._root = Node("", "", folder=True)
        self._nodes: dict[str, Node] = {}
        self._rows: dict[str, FileRow] = {}
        self._listed: dict[str, ListedFile] = {}
        self._kind = FIRST_KIND
        self._icons = {True: icon("folder", "muted"), False: icon("file", "muted")}

    def set_files(self, files: Sequence[ListedFile]) -> None:
        self._listed = {each.path: each for each in files}
        self._rebuild()

    def set_rows(self, rows: Sequence[FileRow]) -> None:
        before, self._rows = self._rows, {row.path: row for row in rows}
        new = [row for row in rows if row.path not in self._nodes]
        # A run may know files that the folder has no more. Those of another run leave; else the tree stays as it is.
        if len(new) > MOST_ADDED or any(path not in self._listed and path not in self._rows for path in before):
            self._rebuild()
            return
        for row in new:
            self._add(ListedFile(row.path, name=row.name), self._insert)
        self._root.fill(self._rows)
        self._say_changed()

    def node(self, index: Index) -> Node:
        found = self.itemFromIndex(index.sibling(index.row(), NAME))
        return found if isinstance(found, Node) else self._root

    def index_of(self, path: str) -> QModelIndex:
        return self._nodes[path].index() if path in self._nodes else QModelIndex()

    def folders_with_regions(self) -> list[str]:
        return sorted((path for path, node in self._nodes.items() if node.folder and node.items), key=str.lower)

    def _rebuild(self) -> None:
        missing = [ListedFile(row.path, name=row.name) for row in self._rows.values() if row.path not in self._listed]
        self._root, self._nodes = Node("", "", folder=True), {}
        for listed in (*self._listed.values(), *missing):
            self._add(listed, lambda parent, node: parent.children.append(node))
        self._root.fill(self._rows)
        self.removeRows(0, self.rowCount())
        self._root.place(self.invisibleRootItem())

    def _add(self, listed: ListedFile, put: Callable[[Node, Node], None]) -> None:
        """Make a file's node and those of its folders; `put` puts each into the folder it is in."""
        head, _, name = listed.path.rpartition("/")
        self._nodes[listed.path] = node = Node(listed.path, listed.name or name, listed.note)
        put(self._root if listed.name else self._folder(head, put), node)

    def _folder(self, path: str, put: Callable[[Node, Node], None]) -> Node:
        if path and path not in self._nodes:
            head, _, name = path.rpartition("/")
            self._nodes[path] = Node(path, name, folder=True)
            put(self._folder(head, put), self._nodes[path])
        return self._nodes[path] if path else self._root

    def _insert(self, parent: Node, node: Node) -> None:
        """Put a node where it belongs in a tree that is on show."""
        bisect.insort(parent.children, node, key=_order)
        item = self.invisibleRootItem() if parent is self._root else parent
        item.insertRows(parent.children.index(node), [node])
        node.setColumnCount(COLUMNS)

    def _say_changed(self) -> None:
        for parent in (QModelIndex(), *(node.index() for node in self._nodes.values() if node.folder)):
            if count := self.rowCount(parent):
                self.dataChanged.emit(self.index(0, 0, parent), self.index(count - 1, REGIONS, parent))

    def set_kind(self, kind: Kind) -> None:
        if kind is not self._kind:
            self._kind = kind
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, SCORE, REGIONS)
            self._say_changed()

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            kind = self._kind
            place = kind.noun.capitalize() if any(each.name for each in self._listed.values()) else "File"
            title = kind.measure(kind.headline).title
            return (place, title[:1].upper() + title[1:], kind.nouns.capitalize())[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section != NAME:
            return RIGHT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        node, column = self.node(index), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(node, column, self._kind)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(node, self._kind)
        if role == FRACTION and column == SCORE:
            value, kind = node.measures.get(self._kind.headline), self._kind
            return None if value is None else kind.measure(kind.headline).correctness(value)
        if role == Qt.ItemDataRole.DecorationRole and column == NAME:
            return self._icons[node.folder]
        if role == Qt.ItemDataRole.ForegroundRole and (node.note or column == REGIONS):
            return QColor(current_theme().muted)
        if role == Qt.ItemDataRole.TextAlignmentRole and column != NAME:
            return RIGHT
        return None


def _text(node: Node, column: int, kind: Kind) -> str:
    if column == NAME:
        return node.name
    if not node.items:
        return ""
    if column == SCORE:
        return number(node.measures.get(kind.headline)) if node.done else ""
    return str(node.items) if node.done == node.items else f"{node.done}/{node.items}"


def _tip(node: Node, kind: Kind) -> str:
    place = node.path if node.path.endswith(node.name) else node.name
    if node.note:
        return f"{place}\n{node.note}"
    if not node.items:
        return place
    figures = [f"{kind.measure(kind.headline).title} {number(node.measures.get(kind.headline))}"]
    if kind.difference:
        figures.append(f"{kind.difference.title} {number(node.measures.get(kind.secondary), sign=True)}")
    return f"{place}\n{', '.join(figures)}, {node.done} of {node.items} {kind.nouns} complete"


WIDTHS = {SCORE: 62, REGIONS: 72}
NARROWEST_NAME = 110  # pixels of a name beside its icon


class ProjectTree(QTreeView):
    """Files and folders. `file_chosen` carries the path of a file the user picked."""

    file_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__(uniformRowHeights=True, indentation=14)
        self.setAccessibleName("Project files")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.files = ProjectModel(self)
        self.setModel(self.files)
        # Kept: where only Qt knew the delegate, the collector of cycles crashed on the tree.
        self._heat, self._names = HeatDelegate(self), NameShown(self)
        self.setItemDelegateForColumn(SCORE, self._heat)
        self.setItemDelegateForColumn(NAME, self._names)
        self._unfold = True
        self._quiet = False
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._widths = dict(WIDTHS)
        TextSize(self).changed.connect(self._widen)
        self._widen()
        self.files.headerDataChanged.connect(self._widen)
        self.selectionModel().currentChanged.connect(self._choose)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _widen(self) -> None:
        header = self.header()
        # A method's own names for its figures may be longer than others'.
        self._widths = {each: max(grown(self, width), header.sectionSizeHint(each)) for each, width in WIDTHS.items()}
        self._fit()

    def _fit(self) -> None:
        """Keep names readable where they stand furthest in; figures without room beside them are in the tooltip."""
        depth = max((path.count("/") + 2 for path in self.files.folders_with_regions()), default=1)
        least = grown(self, NARROWEST_NAME) + depth * self.indentation()
        fit_columns(self.header(), self.viewport().width(), NAME, self._widths, least)

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:  # noqa: N802
        super().selectionChanged(selected, deselected)
        self.viewport().update()

    def set_files(self, files: Sequence[ListedFile]) -> None:
        self.files.set_files(files)
        self._unfold = True
        self._unfold_regions()

    def set_rows(self, rows: Sequence[FileRow]) -> None:
        # A tree that is built anew forgets what was unfolded.
        folders = self.files.folders_with_regions()
        before = [path for path in folders if self.isExpanded(self.files.index_of(path))]
        self.files.set_rows(rows)
        for path in before:
            self.expand(self.files.index_of(path))
        self._unfold_regions()
        self._fit()

    def show_file(self, path: str) -> None:
        index = self.files.index_of(path)
        here = self.currentIndex()
        if index.isValid() and (self.files.node(here).path != path or not self.selectionModel().isSelected(here)):
            # The selection tells of itself whoever changes it.
            self._quiet = True
            self.setCurrentIndex(index)
            self._quiet = False
            self.scrollTo(index)

    def _unfold_regions(self) -> None:
        folders = self.files.folders_with_regions()
        if self._unfold and folders:
            self._unfold = False
            # Each takes a moment, and nobody reads the fifty-first.
            for path in folders[:50]:
                self.expand(self.files.index_of(path))

    def _choose(self, current: QModelIndex, before: QModelIndex) -> None:
        node = self.files.node(current)
        if node.path and not node.folder and not self._quiet:
            self.file_chosen.emit(node.path)

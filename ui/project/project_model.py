"""The project tree as a Qt model: name, score, regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt
from PySide6.QtGui import QColor

from core.kinds import FIRST_KIND, Kind
from core.store.rows import FileRow
from ui.project.project_nodes import ListedFile, Node, build, fill
from ui.style.icons import icon
from ui.style.region_state import number
from ui.style.tables import FRACTION, NONE, RIGHT, Index
from ui.style.theme import current_theme

NAME, SCORE, REGIONS = range(3)
COLUMNS = 3


class ProjectModel(QAbstractItemModel):
    """Serves any number of files: the view asks only for what it shows."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Start without files."""
        super().__init__(parent)
        self._root = build(())
        self._numbered = [self._root]
        self._nodes: dict[str, Node] = {}
        self._rows: dict[str, FileRow] = {}
        self._listed: dict[str, ListedFile] = {}
        self._kind = FIRST_KIND
        self._icons = {True: icon("folder", "muted"), False: icon("file", "muted")}

    def set_files(self, files: Sequence[ListedFile]) -> None:
        """Show another project's files."""
        self._listed = {each.path: each for each in files}
        self._rebuild()

    def set_rows(self, rows: Sequence[FileRow]) -> None:
        """Show a run's figures; files that only the run knows are added."""
        self._rows = {row.path: row for row in rows}
        # A run may know files that the folder has no more. Else the tree stays, with what is unfolded in it.
        if any(path not in self._nodes for path in self._rows):
            self._rebuild()
            return
        fill(self._root, self._rows)
        self._changed()

    def node(self, index: Index) -> Node:
        """The node of an index; the root for an invalid one."""
        if not index.isValid() or index.internalId() >= len(self._numbered):
            return self._root
        return self._numbered[index.internalId()]

    def index_of(self, path: str) -> QModelIndex:
        """Where a file or folder stands; invalid when it is unknown."""
        node = self._nodes.get(path)
        # A number, not the node itself: Qt keeps what it is given as an address, and Python may free the node.
        return self.createIndex(node.row, NAME, node.ident) if node else QModelIndex()

    def folders_with_regions(self) -> list[str]:
        """Paths of the folders that a run sampled from."""
        return [node.path for node in self._root.walk() if node.folder and node.items and node.path]

    def _rebuild(self) -> None:
        self.beginResetModel()
        missing = [ListedFile(row.path, name=row.name) for row in self._rows.values() if row.path not in self._listed]
        self._root = build([*self._listed.values(), *missing])
        self._numbered = list(self._root.walk())
        self._nodes = {node.path: node for node in self._numbered if node.path}
        fill(self._root, self._rows)
        self.endResetModel()

    def _changed(self, parent: QModelIndex = NONE) -> None:
        """Say that the cells of every level may differ."""
        count = self.rowCount(parent)
        if not count:
            return
        self.dataChanged.emit(self.index(0, 0, parent), self.index(count - 1, REGIONS, parent))
        for child in self.node(parent).children:
            if child.folder:
                self._changed(self.createIndex(child.row, 0, child.ident))

    def set_kind(self, kind: Kind) -> None:
        """Call what a run samples and measures by its name."""
        if kind is not self._kind:
            self._kind = kind
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, SCORE, REGIONS)
            self._changed()

    def index(self, row: int, column: int, parent: Index = NONE) -> QModelIndex:
        """Qt: the index of a child."""
        children = self.node(parent).children
        if not (0 <= row < len(children) and 0 <= column < COLUMNS):
            return QModelIndex()
        return self.createIndex(row, column, children[row].ident)

    def parent(self, child: Index = NONE) -> QModelIndex:  # type: ignore[override]
        """Qt: the index of the folder a node lies in."""
        above = self.node(child).parent
        if above is None or above.parent is None:
            return QModelIndex()
        return self.createIndex(above.row, 0, above.ident)

    def rowCount(self, parent: Index = NONE) -> int:  # noqa: N802
        """Qt: children of a folder."""
        # Only the first column has children: so Qt's own test of models asks it.
        return len(self.node(parent).children) if parent.column() <= 0 else 0

    def columnCount(self, parent: Index = NONE) -> int:  # noqa: N802
        """Qt: name, score, regions."""
        return COLUMNS

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Qt: the headings."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            kind = self._kind
            place = kind.noun.capitalize() if any(each.name for each in self._listed.values()) else "File"
            return (place, kind.measure(kind.headline).title, kind.nouns.capitalize())[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and section != NAME:
            return RIGHT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Qt: one cell."""
        node, column = self.node(index), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(node, column, self._kind)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(node, self._kind)
        if role == FRACTION and column == SCORE:
            value, kind = node.measures.get(self._kind.headline), self._kind
            return None if value is None else kind.measure(kind.headline).goodness(value)
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

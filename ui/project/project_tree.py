"""The project's files with heat (the score as colour and number) and the count of their regions."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTreeView, QWidget

from core.store.rows import FileRow
from ui.project.project_model import NAME, REGIONS, SCORE, ProjectModel
from ui.project.project_nodes import ListedFile
from ui.style.tables import HeatDelegate
from ui.style.text_size import TextSize, grown, room_beside

WIDTHS = {SCORE: 62, REGIONS: 72}
NARROWEST_NAME = 96


class ProjectTree(QTreeView):
    """Files and folders. `file_chosen` carries the path of a file the user picked."""

    file_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start empty."""
        super().__init__(parent, uniformRowHeights=True, indentation=14, expandsOnDoubleClick=True)
        self.setAccessibleName("Project files")
        self.files = ProjectModel(self)
        self.setModel(self.files)
        self.setItemDelegateForColumn(SCORE, HeatDelegate(self))
        self._unfold = True
        self._quiet = False
        self._shape()
        self.files.headerDataChanged.connect(self._widen)
        self.selectionModel().currentChanged.connect(self._choose)

    def _shape(self) -> None:
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for column, width in WIDTHS.items():
            header.resizeSection(column, grown(self, width))
        TextSize(self).changed.connect(self._fit)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Qt: the file's name takes the room that the figures leave."""
        super().resizeEvent(event)
        self._fit()

    def _widen(self) -> None:
        """A method's own names for its figures may be longer than others'."""
        header = self.header()
        for column, width in WIDTHS.items():
            header.resizeSection(column, max(grown(self, width), header.sectionSizeHint(column)))
        self._fit()

    def _fit(self) -> None:
        """A name stays readable; figures that do not fit beside it are scrolled to."""
        header, widths = self.header(), map(self.header().sectionSize, WIDTHS)
        header.resizeSection(NAME, room_beside(self.viewport().width(), widths, grown(self, NARROWEST_NAME)))

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:  # noqa: N802
        """Qt: draw everything anew, as `RowTable` does, and for the same reason."""
        super().selectionChanged(selected, deselected)
        self.viewport().update()

    def set_files(self, files: Sequence[ListedFile]) -> None:
        """Show another project."""
        self.files.set_files(files)
        self._unfold = True
        self._unfold_regions()

    def set_rows(self, rows: Sequence[FileRow]) -> None:
        """Show a run's figures; folders with regions open the first time."""
        # A tree that is built anew forgets what was unfolded.
        before = self._open_folders()
        self.files.set_rows(rows)
        for path in before:
            self.expand(self.files.index_of(path))
        self._unfold_regions()

    def show_file(self, path: str) -> None:
        """Select `path` without saying that the user chose it."""
        index = self.files.index_of(path)
        if index.isValid() and self.files.node(self.currentIndex()).path != path:
            # The selection tells of itself whoever changes it.
            self._quiet = True
            self.setCurrentIndex(index)
            self._quiet = False
            self.scrollTo(index)

    def _open_folders(self) -> list[str]:
        folders = self.files.folders_with_regions()
        return [path for path in folders if self.isExpanded(self.files.index_of(path))]

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

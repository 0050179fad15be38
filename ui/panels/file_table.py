"""The files of a run with bars: each leads to its regions; exported as a picture or a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtWidgets import QWidget

from core.store.rows import FileRow, ItemRow
from ui.diff.controls import bind, column, label, row
from ui.panels.bars import BarDelegate
from ui.panels.exporting import ExportButton
from ui.panels.tables import Cell, CellModel, Head, table, widths
from ui.theme import SPACE, Theme

WIDTHS = 0, 66, 58, 58
HIGHEST = 8_000
"""Pixels of the picture of a long table; what does not fit is said in it."""


class FileTable(QWidget):
    """A click on a file, or Enter, opens its regions one after the other (`region_activated`), the worst first."""

    region_activated = Signal(int)
    export_failed = Signal(str)

    def __init__(self, theme: Theme) -> None:
        """Empty until `set_files`."""
        super().__init__()
        self.setProperty("role", "surface")
        self._theme = theme
        self._files: Sequence[FileRow] = ()
        self._items: Sequence[ItemRow] = ()
        self._turn = ("", 0)
        self.model = CellModel(_heads("region"))
        self.table = table("")
        self.set_noun("region")
        self._bars = BarDelegate(theme, self.table)
        self.export = ExportButton("files", self.picture, self.csv)
        self.export.failed.connect(self.export_failed)
        self._build()
        head = row(label("Files", "heading"), None, self.export, margins=(SPACE, 2, SPACE // 2, 0))
        column(head, self.table, owner=self)

    def set_noun(self, noun: str) -> None:
        """Call what the run samples by its name."""
        self._noun = noun
        self.model.name_columns(_heads(noun))
        self.table.setAccessibleName(f"Scores by file; Enter opens the {noun}s of a file")

    def _build(self) -> None:
        ordered = QSortFilterProxyModel(self)
        ordered.setSourceModel(self.model)
        ordered.setSortRole(Qt.ItemDataRole.UserRole)
        view = self.table
        view.setModel(ordered)
        view.setItemDelegate(self._bars)
        view.setSortingEnabled(True)
        view.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        view.setTextElideMode(Qt.TextElideMode.ElideLeft)
        widths(view, *WIDTHS)
        view.clicked.connect(self._activate)
        for key in ("Return", "Enter"):
            bind(view, key, lambda: self._activate(view.currentIndex()), "Open the next region of the file")

    def set_files(self, files: Sequence[FileRow], items: Sequence[ItemRow]) -> None:
        """Show other files; rows that stay keep their place."""
        self._items = items
        if files != self._files:
            self._files = files
            self._fill()

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self._theme = self._bars.theme = theme
        self._fill()

    def csv(self) -> str:
        """The files as a table, in the order of their names."""
        stream = io.StringIO(newline="")
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("path", f"{self._noun}s", "completed", "rtc", "lift"))
        writer.writerows((file.path, file.items, file.done, file.rtc, file.lift) for file in self._files)
        return stream.getvalue()

    def picture(self) -> QWidget:
        """All rows in the order on show, as high as they need."""
        copied = table("Scores by file")
        copied.setModel(self.table.model())
        copied.setItemDelegate(BarDelegate(self._theme, copied))
        copied.setFont(self.table.font())
        copied.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        widths(copied, *WIDTHS)
        whole = QWidget()
        whole.setProperty("role", "surface")
        rows = self.model.rowCount() * copied.verticalHeader().defaultSectionSize()
        wanted = copied.horizontalHeader().sizeHint().height() + rows + SPACE
        cut = label("More files than a picture holds: the table (CSV) has all." if wanted > HIGHEST else "", "muted")
        cut.setVisible(wanted > HIGHEST)
        column(copied, owner=whole).addWidget(cut)
        whole.setFixedSize(max(460, self.width()), min(wanted, HIGHEST))
        return whole

    def _fill(self) -> None:
        self.model.fill([(self._cells(file), place) for place, file in enumerate(self._files)])

    def _cells(self, file: FileRow) -> list[Cell]:
        theme, lift = self._theme, file.lift
        colour = theme.muted if not lift else theme.good if lift > 0 else theme.bad
        return [
            Cell(file.path, tip=file.path),
            Cell(f"{file.done}/{file.items}", order=float(file.done)),
            Cell("–", order=-2.0) if file.rtc is None else Cell(f"{file.rtc:.2f}", file.rtc, fraction=file.rtc),
            Cell("–", order=-2.0) if lift is None else Cell(f"{lift:+.2f}", order=lift, colour=colour),
        ]

    def _activate(self, index: QModelIndex) -> None:
        """Open the next region of the file."""
        if not index.isValid():
            return
        path = str(index.siblingAtColumn(0).data())
        judged = [item for item in self._items if item.path == path and item.rtc is not None]
        if judged:
            judged.sort(key=lambda item: (item.rtc, item.start))
            turn = self._turn[1] + 1 if self._turn[0] == path else 0
            self._turn = path, turn
            self.region_activated.emit(judged[turn % len(judged)].id)


def _heads(noun: str) -> list[Head]:
    return [
        Head("File", f"A click opens the {noun}s of a file one after the other"),
        Head(f"{noun}s".capitalize(), "Completed of admitted"),
        Head("RTC", f"Mean over its {noun}s"),
        Head("Lift", "Against the baseline without a description"),
    ]

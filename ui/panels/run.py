"""One run: its running scores, its files, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QSplitter, QWidget

from core.store.rows import FileRow, ItemRow, RunningPoint, RunRow
from ui.diff.controls import column, label, row
from ui.panels.bars import BarDelegate
from ui.panels.empty import EmptyState
from ui.panels.provenance import provenance
from ui.panels.provenance_view import ProvenanceView
from ui.panels.tables import Cell, CellModel, Head, table, widths
from ui.theme import SPACE, Theme

if TYPE_CHECKING:
    from ui.panels.charts import Charts


class RunPanel(QWidget):
    """Charts, files and provenance.

    `region_activated(item_id)` when a mark of a chart is clicked; `export_failed(problem)` says why a file was not
    written.
    """

    region_activated = Signal(int)
    export_failed = Signal(str)

    def __init__(self, theme: Theme) -> None:
        """Empty until `set_run`."""
        super().__init__()
        self.setAccessibleName("Run")
        self._theme = theme
        self._files: Sequence[FileRow] = ()
        self._empty = EmptyState("No run yet", "Choose a model and start a run: its scores appear here as it goes.")
        self._charts: Charts | None = None
        self._points: Sequence[RunningPoint] = ()
        self._items: Sequence[ItemRow] = ()
        self.provenance = ProvenanceView()
        self.model = CellModel(
            [
                Head("File"),
                Head("Regions", "Completed of admitted"),
                Head("RTC", "Mean over its regions"),
                Head("Lift", "Against the baseline without a description"),
            ]
        )
        self.table = table("Scores by file")
        self._bars = BarDelegate(theme, self.table)
        self._lay_out()
        self.set_run(None, [], [])

    def _lay_out(self) -> None:
        ordered = QSortFilterProxyModel(self)
        ordered.setSourceModel(self.model)
        ordered.setSortRole(Qt.ItemDataRole.UserRole)
        self.table.setModel(ordered)
        self.table.setItemDelegate(self._bars)
        self.table.setSortingEnabled(True)
        self.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.table.setTextElideMode(Qt.TextElideMode.ElideLeft)
        widths(self.table, 0, 62, 58, 58)
        files = QWidget()
        files.setProperty("role", "surface")
        column(row(label("Files", "heading"), None, margins=(SPACE, 6, SPACE, 6)), self.table, owner=files)
        self._body = QSplitter(Qt.Orientation.Horizontal)
        self._body.setChildrenCollapsible(False)
        for part in (files, self.provenance):
            self._body.addWidget(part)
        column(self._empty, self._body, owner=self)

    @property
    def charts(self) -> Charts:
        """The charts, made when they are first needed: their library takes a quarter of a second to load."""
        if self._charts is None:
            from ui.panels.charts import Charts

            self._charts = Charts(self._theme)
            self._charts.region_activated.connect(self.region_activated)
            self._charts.export_failed.connect(self.export_failed)
            self._body.insertWidget(0, self._charts)
            self._body.setSizes([380, 310, 310])
            for place, share in enumerate((4, 3, 3)):
                self._body.setStretchFactor(place, share)
            self._draw()
        return self._charts

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Qt: charts are drawn from now on."""
        super().showEvent(event)
        self.charts.show()

    def set_run(
        self,
        run: RunRow | None,
        points: Sequence[RunningPoint],
        files: Sequence[FileRow],
        items: Sequence[ItemRow] = (),
    ) -> None:
        """Show a run as it stands; everything is updated in place. `items` are the run's regions."""
        self._empty.setVisible(run is None)
        self._body.setVisible(run is not None)
        if run is None:
            return
        self._points, self._items = points, items
        self._draw()
        self.provenance.show_groups(provenance(run))
        if files != self._files:
            self._files = files
            self._fill()

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self._theme = self._bars.theme = theme
        if self._charts is not None:
            self._charts.set_theme(theme)
        self._fill()

    def _draw(self) -> None:
        if self._charts is not None:
            self._charts.set_points(self._points)
            self._charts.set_items(self._items)

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

"""One run: its running scores, its files, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QSplitter, QWidget

from core.store.rows import FileRow, ItemRow, RunningPoint, RunRow
from ui.diff.controls import column
from ui.panels.empty import EmptyState
from ui.panels.file_table import FileTable
from ui.panels.provenance import provenance
from ui.panels.provenance_view import ProvenanceView
from ui.theme import Theme

if TYPE_CHECKING:
    from ui.panels.charts import Charts, Parts


class RunPanel(QWidget):
    """Charts, files and provenance.

    `region_activated(item_id)` and `sample_activated(item_id, sample_id)` when a mark of a chart is clicked;
    `metric_asked(metric)`: its values are wanted; `export_failed(problem)` says why a file was not written.
    """

    region_activated = Signal(int)
    sample_activated = Signal(int, int)
    metric_asked = Signal(str)
    export_failed = Signal(str)

    def __init__(self, theme: Theme) -> None:
        """Empty until `set_run`."""
        super().__init__()
        self.setAccessibleName("Run")
        self._theme = theme
        self._empty = EmptyState("No run yet", "Choose a model and start a run: its scores appear here as it goes.")
        self._charts: Charts | None = None
        self._parts: Parts | None = None
        self._points: Sequence[RunningPoint] = ()
        self._items: Sequence[ItemRow] = ()
        self._noun = "region"
        self.provenance = ProvenanceView()
        self.files = FileTable(theme)
        self.table = self.files.table
        self.files.region_activated.connect(self.region_activated)
        self.files.export_failed.connect(self.export_failed)
        self._lay_out()
        self.set_run(None, [], [])

    def _lay_out(self) -> None:
        self._body = QSplitter(Qt.Orientation.Horizontal)
        self._body.setChildrenCollapsible(False)
        for part in (self.files, self.provenance):
            self._body.addWidget(part)
        column(self._empty, self._body, owner=self)

    def make_chart(self) -> None:
        """Make one of the charts ahead of their first show."""
        from ui.panels.charts import Parts

        self._parts = self._parts or Parts(self._theme)
        self._parts.step()

    @property
    def charts(self) -> Charts:
        """The charts, made when they are first needed: their library takes a quarter of a second to load."""
        if self._charts is None:
            from ui.panels.charts import Charts

            self._charts = Charts(self._theme, self._parts)
            self._charts.set_theme(self._theme)  # parts may have been made in another
            self._charts.region_activated.connect(self.region_activated)
            self._charts.sample_activated.connect(self.sample_activated)
            self._charts.metric_asked.connect(self.metric_asked)
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
        self.files.set_files(files, items)

    def set_noun(self, noun: str) -> None:
        """Call what the run samples by its name."""
        if noun != self._noun:
            self._noun = noun
            self.files.set_noun(noun)
            self._draw()

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self._theme = theme
        self.files.set_theme(theme)
        if self._charts is not None:
            self._charts.set_theme(theme)

    def _draw(self) -> None:
        if self._charts is not None:
            self._charts.set_noun(self._noun)
            self._charts.set_points(self._points)
            self._charts.set_items(self._items)

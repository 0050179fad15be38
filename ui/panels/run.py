"""One run: the figures of its analyses, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QSplitter, QWidget

from core.figures import Figure, Sentence, Table
from core.store.rows import RunRow
from ui.panels.empty import EmptyState
from ui.panels.provenance import provenance
from ui.panels.provenance_view import ProvenanceView
from ui.style.controls import column

if TYPE_CHECKING:
    from ui.figures.view import FiguresView


SHARES = 4, 3, 3
"""Of the width: drawings, tables, and how the run was made."""


class RunPanel(QWidget):
    """The figures of a run - drawings, and beside them tables - and how it was made.

    `opened(link)`: what is behind a mark that was clicked; `chosen(name, value)`: figures are to be made with another
    choice; `export_failed(problem)` says why a file was not written.
    """

    opened = Signal(object)
    chosen = Signal(str, str)
    export_failed = Signal(str)

    def __init__(self) -> None:
        """Empty until `set_run`."""
        super().__init__()
        self.setAccessibleName("Run")
        self._empty = EmptyState("No run yet", "Choose a model and start a run: its scores appear here as it goes.")
        self._figures: Sequence[Figure] = ()
        self._views: list[FiguresView] = []
        self.provenance = ProvenanceView()
        self._lay_out()
        self.set_run(None)

    def _lay_out(self) -> None:
        self._body = QSplitter(Qt.Orientation.Horizontal)
        self._body.setChildrenCollapsible(False)
        self._body.addWidget(self.provenance)
        column(self._empty, self._body, owner=self)

    def make_view(self) -> None:
        """Make one of the two views of figures ahead of their first show: their library takes a moment to load."""
        from ui.figures.view import FiguresView

        if len(self._views) < len(SHARES) - 1:
            made = FiguresView()
            made.opened.connect(self.opened)
            made.chosen.connect(self.chosen)
            made.export_failed.connect(self.export_failed)
            self._body.insertWidget(len(self._views), made)
            self._views.append(made)
        if len(self._views) == len(SHARES) - 1:
            self._body.setSizes([share * 100 for share in SHARES])
            for place, share in enumerate(SHARES):
                self._body.setStretchFactor(place, share)

    @property
    def drawings(self) -> FiguresView:
        """Charts and heat maps, one at a time."""
        return self._view(0)

    @property
    def tables(self) -> FiguresView:
        """Tables and findings in words, one at a time."""
        return self._view(1)

    def _view(self, place: int) -> FiguresView:
        while len(self._views) < len(SHARES) - 1:
            self.make_view()
        return self._views[place]

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        """Qt: figures are drawn from now on."""
        super().showEvent(event)
        self.set_figures(self._figures)

    def set_run(self, run: RunRow | None) -> None:
        """Show a run as it stands; its figures come when they are made."""
        self._empty.setVisible(run is None)
        self._body.setVisible(run is not None)
        if run is not None:
            self.provenance.show_groups(provenance(run))

    def set_figures(self, figures: Sequence[Figure]) -> None:
        """Show other figures, or the same ones with other values; what is looked at stays."""
        self._figures = figures
        # Drawn when somebody looks: figures come twice a second while a run goes on.
        if self.isVisible():
            said = [isinstance(figure, (Table, Sentence)) for figure in figures]
            for view, kind in ((self.drawings, False), (self.tables, True)):
                view.set_figures([figure for figure, each in zip(figures, said, strict=True) if each == kind])
                view.setVisible(kind in said)

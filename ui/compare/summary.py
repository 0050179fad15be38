"""What a comparison comes to: its verdict in words, the scatter, the disagreements, the files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from core.analyses.compared import scatter
from core.comparison import words
from core.comparison.values import Comparison
from core.figures import Link
from ui.background.turns import Turns
from ui.compare.details import Details
from ui.compare.pair_list import PairList
from ui.figures.view import FigureView
from ui.style.controls import Section, column, label, split
from ui.style.theme import SPACE

HEIGHTS, WIDTHS = (600, 400), (480, 520)
"""Shares of the disagreements and of the files below them; of the drawing, and of these lists beside it."""


class Summary(QWidget):
    """`opened(pairs, place)`: show the traces of these items, beginning with one."""

    opened = Signal(object, int)

    def __init__(self, drawn: FigureView | None = None) -> None:
        """Empty until `show_comparison`; what draws its scatter may have been made before."""
        super().__init__()
        self._turns = Turns(self)
        self.verdict = label(role="title", wrap=True, selectable=True)
        self.rest = label(role="muted", wrap=True, selectable=True)
        self.caveats = label(role="warn", wrap=True, selectable=True)
        self.scatter, self.list, self.details = drawn or FigureView(), PairList(), Details()
        self._comparison: Comparison | None = None
        self.scatter.opened.connect(self._open_spot)
        for part in (self.list, self.details):
            part.opened.connect(self.opened)
        said = QWidget()
        said.setProperty("role", "surface")
        texts = (self.verdict, self.rest, self.caveats)
        column(*texts, margins=(SPACE + 4, SPACE, SPACE + 4, SPACE), spacing=2, owner=said)
        disagreements = Section("DISAGREEMENTS", self.list, self.list.count)
        lists = split(Qt.Orientation.Vertical, disagreements, self.details, sizes=HEIGHTS, stretch=HEIGHTS)
        both = Section("BOTH RUNS", self.scatter)
        body = split(Qt.Orientation.Horizontal, both, lists, sizes=WIDTHS, stretch=WIDTHS)
        column(said, body, owner=self)

    def show_comparison(self, comparison: Comparison) -> None:
        """Show another comparison."""
        self.verdict.setText(words.verdict(comparison))
        self.rest.setText(f"{words.secondary_verdict(comparison)} {words.mcnemar_words(comparison)}")
        caveats = " ".join(words.caveats(comparison))
        self.caveats.setText(caveats)
        self.caveats.setVisible(bool(caveats))
        self.rest.setToolTip(words.NOTES)
        self._comparison = comparison
        show = partial(self.list.show_comparison, comparison)
        draw = partial(self.scatter.show_figure, scatter(comparison))
        # List, drawing and files in three turns of the loop: together they would hold the window up.
        self._turns.begin(show, draw, partial(self.details.show_comparison, comparison))

    def _open_spot(self, links: Sequence[Link], turn: int) -> None:
        """Show the traces of all items of a spot."""
        items = {link.item for link in links}
        if self._comparison is not None:
            self.opened.emit(tuple(pair for pair in self._comparison.pairs if pair.first.id in items), 0)

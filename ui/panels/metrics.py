"""How alike each reconstruction and the original are, by every metric stored."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtWidgets import QWidget

from core.store.rows import ItemRow, SampleRow
from ui.diff.controls import BAR, column, copy_menu, label, row
from ui.figures.tables import BarDelegate, Cell, CellModel, Head, table, widths
from ui.outcomes import sample_name, verdict_colour, verdict_text
from ui.panels.empty import EmptyState
from ui.theme import Theme


@dataclass(frozen=True, slots=True)
class Metric:
    """One column: the name in the store, the heading, and what it means."""

    name: str
    heading: str
    meaning: str
    yes_or_no: bool = False


METRICS = (
    Metric("exact_match", "Exact", "the same text, white space at line ends aside", True),
    Metric("same_ast", "Same tree", "the same syntax tree: layout and comments aside", True),
    Metric("edit_sim", "EDIT-SIM", "1 − edit distance ÷ length of the longer text, by character"),
    Metric("bleu", "BLEU", "shared runs of up to four tokens, short answers penalised"),
    Metric("chrf", "chrF", "shared runs of up to six characters, precision and recall"),
    Metric("unchanged", "Old code", "the old code came back unchanged", True),
)
USUAL = frozenset({"exact_match", "same_ast", "edit_sim", "bleu", "chrf"})
"""Shown while nothing is scored yet; then those that are stored."""
FIRST = 2
"""Columns before the metrics."""


class MetricsPanel(QWidget):
    """One row a reconstruction. `sample_selected(id)` when the user picks a row."""

    sample_selected = Signal(int)

    def __init__(self, theme: Theme) -> None:
        """Empty until `set_samples`."""
        super().__init__()
        self.setAccessibleName("Metrics")
        self._theme = theme
        self._shown: tuple[ItemRow | None, Sequence[SampleRow]] = None, ()
        self._empty = EmptyState("", "")
        self._metrics: list[Metric] = []
        self.set_noun("region")
        heads = [Head(metric.heading, metric.meaning.capitalize() + ".") for metric in METRICS]
        self.model = CellModel([Head("Reconstruction"), Head("Verdict"), *heads])
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSourceModel(self.model)
        self._sorted.setSortRole(Qt.ItemDataRole.UserRole)
        self.table = table("Scores of each reconstruction", row=30)
        self._bars = BarDelegate(theme, self.table)
        self._lay_out()
        self.set_samples(None, [])

    def _lay_out(self) -> None:
        self.table.setModel(self._sorted)
        self.table.setSortingEnabled(True)
        self.table.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        self.table.setItemDelegate(self._bars)
        widths(self.table, 300, 150, 100, 100, 120, 120, 120)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.selectionModel().currentRowChanged.connect(self._picked)
        self._legend = label(role="caption", wrap=True)
        copy = copy_menu("Copy the scores", [("As a table", self.as_text)])
        self._head = QWidget()
        self._head.setLayout(row(self._legend, copy, margins=BAR))
        self._head.layout().setStretch(0, 1)  # type: ignore[union-attr]
        column(self._head, self._empty, self.table, owner=self)

    def set_samples(self, item: ItemRow | None, samples: Sequence[SampleRow]) -> None:
        """Show the scores of an item's code samples; the current row stays."""
        self._shown = item, samples
        codes = [sample for sample in samples if sample.role != "forward"]
        self._choose_columns({name for sample in codes for name in sample.scores} or USUAL)
        names = _names(samples)
        self.model.fill([(self._cells(sample, names[sample.id]), sample.id) for sample in codes])
        for part in (self.table, self._head):
            part.setVisible(bool(codes))
        self._empty.setVisible(not codes)

    def _choose_columns(self, stored: AbstractSet[str]) -> None:
        """Show the metrics that are stored, and explain them."""
        self._metrics = [metric for metric in METRICS if metric.name in stored]
        self._legend.setText("   ".join(f"{metric.heading}: {metric.meaning}." for metric in self._metrics))
        for place, metric in enumerate(METRICS, start=FIRST):
            self.table.setColumnHidden(place, metric not in self._metrics)

    def set_noun(self, noun: str) -> None:
        """Call what is picked by its name."""
        self._empty.say("No scores yet", f"Pick one of the {noun}s whose reconstructions have been written.")

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self._theme = self._bars.theme = theme
        self.set_samples(*self._shown)

    def as_text(self) -> str:
        """The table with tabs between cells."""
        heads = ["Reconstruction", "Verdict", *(metric.heading for metric in self._metrics)]
        rows = range(self.model.rowCount())
        cells = [[self.model.index(at, place).data() for place in range(len(heads))] for at in rows]
        return "\n".join("\t".join(line) for line in [heads, *cells])

    def _cells(self, sample: SampleRow, name: str) -> list[Cell]:
        item = self._shown[0]
        going = item is None or item.state == "running"
        said = verdict_text(sample.verdict, len(item.tests) if item else 0, going=going)
        verdict = Cell(said, colour=verdict_colour(self._theme, sample.verdict))
        return [Cell(name), verdict, *(self._score(metric, sample.scores.get(metric.name)) for metric in METRICS)]

    def _score(self, metric: Metric, value: float | None) -> Cell:
        if value is None:
            return Cell("–", order=-1.0, tip="not scored yet")
        if metric.yes_or_no:
            theme, said = self._theme, "✓ yes" if value >= 1 else "✗ no"
            return Cell(said, order=value, colour=theme.good if value >= 1 else theme.muted)
        return Cell(f"{value:.3f}", order=value, fraction=value)

    def _picked(self, current: QModelIndex, previous: QModelIndex) -> None:
        source = self._sorted.mapToSource(current)
        if source.isValid() and self.table.hasFocus():
            self.sample_selected.emit(self.model.key(source.row()))


def _names(samples: Sequence[SampleRow]) -> dict[int, str]:
    """`Description 2 (y2) → Reconstruction (x^)` for each code sample."""
    by_id = {sample.id: sample for sample in samples}
    names = {}
    for sample in samples:
        parent = by_id.get(sample.parent_id) if sample.parent_id is not None else None
        before = f"{sample_name(parent)} → " if parent else ""
        author = f" (by {parent.author})" if parent and parent.author != "model" else ""
        names[sample.id] = f"{before}{sample_name(sample)}{author}"
    return names

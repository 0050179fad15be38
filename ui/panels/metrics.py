"""How alike each reconstruction and the original are, by every metric stored."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtWidgets import QWidget

from core.store.rows import FacetRow, ItemRow, SampleRow, SupervisedRow
from ui.diff.controls import BAR, column, copy_menu, label, row, switch
from ui.outcomes import sample_name, verdict_colour, verdict_text
from ui.panels.bars import BarDelegate
from ui.panels.empty import EmptyState
from ui.panels.facets import FacetTable
from ui.panels.tables import Cell, CellModel, Head, table, widths
from ui.region_state import number
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


def metric_heading(name: str) -> str:
    """What a metric of the store is called where people read it."""
    return next((metric.heading for metric in METRICS if metric.name == name), name.replace("_", " "))


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
        self.facets, self._has_facets, self._about = FacetTable(theme), False, ""
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
        self._legends = ""
        self._legend = label(role="caption", wrap=True)
        copy = copy_menu("Copy the scores", [("As a table", self.as_text)])
        self.by_kind = switch("By kind", "The run's scores by language, kind of change and size")
        self.by_kind.toggled.connect(self._turn)
        self._head = QWidget()
        self._head.setLayout(row(self._legend, self.by_kind, copy, margins=BAR))
        self._head.layout().setStretch(0, 1)  # type: ignore[union-attr]
        column(self._head, self._empty, self.facets.view, self.table, owner=self)

    def set_samples(self, item: ItemRow | None, samples: Sequence[SampleRow]) -> None:
        """Show the scores of an item's code samples; the current row stays."""
        self._shown = item, samples
        codes = [sample for sample in samples if sample.role != "forward"]
        self._choose_columns({name for sample in codes for name in sample.scores} or USUAL)
        names = _names(samples)
        self.model.fill([(self._cells(sample, names[sample.id]), sample.id) for sample in codes])

    def _choose_columns(self, stored: AbstractSet[str]) -> None:
        """Show the metrics that are stored, and explain them."""
        self._metrics = [metric for metric in METRICS if metric.name in stored]
        self._legends = "   ".join(f"{metric.heading}: {metric.meaning}." for metric in self._metrics)
        for place, metric in enumerate(METRICS, start=FIRST):
            self.table.setColumnHidden(place, metric not in self._metrics)
        self._turn()

    def set_facets(self, facets: Sequence[FacetRow], supervised: SupervisedRow | None = None) -> None:
        """Show the run's scores by kind, where it has kinds, and what people's words make possible."""
        self._has_facets = bool(facets)
        self._about = "Scores of the run by what its items are." + (_supervised(supervised) if supervised else "")
        self.facets.set_facets(facets)
        self._turn()

    def _turn(self) -> None:
        """Show the scores of the item, or those by kind: when asked, or when no item has any."""
        codes = any(sample.role != "forward" for sample in self._shown[1])
        by_kind = self._has_facets and (self.by_kind.isChecked() or not codes)
        shown = (
            (self._empty, not codes and not by_kind),
            (self.table, codes and not by_kind),
            (self.facets.view, by_kind),
            (self._head, codes or by_kind),
            (self.by_kind, self._has_facets and codes),
        )
        for part, there in shown:
            part.setVisible(there)
        self._legend.setText(self._about if by_kind else self._legends)

    def set_noun(self, noun: str) -> None:
        """Call what is picked by its name."""
        self.facets.set_noun(noun)
        self._empty.say("No scores yet", f"Pick one of the {noun}s whose reconstructions have been written.")

    def set_theme(self, theme: Theme) -> None:
        """Draw in other colours."""
        self._theme = self._bars.theme = self.facets.bars.theme = theme
        self.set_samples(*self._shown)

    def as_text(self) -> str:
        """The table with tabs between cells."""
        if self.facets.view.isVisibleTo(self):
            return self.facets.as_text()
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


def _supervised(row: SupervisedRow) -> str:
    """The supervised figures (RTC paper, Table 3) in two sentences; neither counts for RTC."""
    bleu = f" BLEU of the descriptions against people's own words: {number(row.description_bleu.value)}."
    told = f" From those words {number(row.from_reference.value)} of {row.items:,} come back." if row.items else ""
    return bleu + told

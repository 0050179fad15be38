"""How alike each reconstruction and the original are, by every metric stored."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.kinds import FIRST_KIND, Kind
from rtc_inspector.core.metrics.registry import METRICS, Metric, metric
from rtc_inspector.core.store.rows import ItemRow, SampleRow
from rtc_inspector.core.types import Form
from rtc_inspector.ui.panels.empty import EmptyState
from rtc_inspector.ui.presenters import judged_by_tests, sample_name
from rtc_inspector.ui.style.controls import BAR, column, copy_menu, label, row
from rtc_inspector.ui.style.outcomes import verdict_role, verdict_text
from rtc_inspector.ui.style.tables import BarDelegate, Cell, CellModel, Head, sorted_table, widths

FIRST = 2
"""Columns before the metrics."""


class MetricsPanel(QWidget):
    """One row a reconstruction. `sample_selected(id)` when the user picks a row."""

    sample_selected = Signal(int)

    def __init__(self) -> None:
        """Empty until `set_samples`."""
        super().__init__()
        self.setAccessibleName("Metrics")
        self._item: ItemRow | None = None
        self._empty = EmptyState("", "")
        self._columns: list[Metric] = list(METRICS.values())
        self._metrics: list[Metric] = []
        self.set_kind(FIRST_KIND)
        self.model = CellModel([Head("Sample"), Head("Verdict"), *map(_head, self._columns)])
        self.table, self._sorted = sorted_table("Scores of each reconstruction", self.model, row=30)
        self._lay_out()
        self.set_samples(None, [])

    def _lay_out(self) -> None:
        self._bars = BarDelegate(self.table)  # kept, as in the project's tree
        self.table.setItemDelegate(self._bars)
        widths(self.table, 300, 150, 100, 100, 120, 120, 120)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.selectionModel().currentRowChanged.connect(self._picked)
        self._legend = label(role="caption", wrap=True)
        copy = copy_menu("Copy the scores", [("As a table", self.as_text)])
        self._head = QWidget()
        row(self._legend, copy, margins=BAR, owner=self._head, grows=self._legend)
        column(self._head, self._empty, self.table, owner=self)

    def set_samples(self, item: ItemRow | None, samples: Sequence[SampleRow]) -> None:
        """Show the scores of an item's code samples; the current row stays."""
        self._item = item
        codes = [sample for sample in samples if _compared(sample)]
        usual = {each.name for each in self._columns if each.usual}
        self._choose_columns({name for sample in codes for name in _scores(sample)} or usual)
        names = _names(item.task if item else "", samples)
        self.model.fill([(self._cells(sample, names[sample.id]), sample.id) for sample in codes])
        self._empty.stand_in(self.table, self._head, empty=not codes)

    def _choose_columns(self, stored: AbstractSet[str]) -> None:
        """Show the metrics that are stored, and explain them."""
        for name in sorted(stored - {each.name for each in self._columns}):
            self._columns.append(metric(name))
            self.model.add_column(_head(self._columns[-1]))
        self._metrics = [each for each in self._columns if each.name in stored]
        self._legend.setText("   ".join(f"{each.short}: {each.meaning}." for each in self._metrics))
        for place, each in enumerate(self._columns, start=FIRST):
            self.table.setColumnHidden(place, each not in self._metrics)

    def set_kind(self, kind: Kind) -> None:
        """Call what is picked by its name."""
        self._empty.say("No scores yet", f"Pick one of the {kind.nouns} whose reconstructions have been written.")

    def as_text(self) -> str:
        """Return the table with tabs between cells."""
        shown = [0, 1, *(place for place, each in enumerate(self._columns, start=FIRST) if each in self._metrics)]
        heads = [self.model.headerData(place, Qt.Orientation.Horizontal) for place in shown]
        rows = range(self.model.rowCount())
        cells = [[self.model.index(at, place).data() for place in shown] for at in rows]
        return "\n".join("\t".join(line) for line in [heads, *cells])

    def _cells(self, sample: SampleRow, name: str) -> list[Cell]:
        item = self._item
        going = item is None or item.state == "running"
        judged = item is None or judged_by_tests(item.task, sample)
        said = verdict_text(sample.verdict, len(item.tests) if item else 0, going=going) if judged else "–"
        verdict = Cell(said, colour=verdict_role(sample.verdict))
        scores = _scores(sample)
        return [Cell(name), verdict, *(self._score(each, scores.get(each.name)) for each in self._columns)]

    def _score(self, metric: Metric, value: float | None) -> Cell:
        if value is None:
            return Cell("–", order=-1.0, tip="not scored yet")
        if metric.yes_or_no:
            said, colour = ("✓ yes", "good") if value >= 1 else ("✗ no", "muted")
            return Cell(said, order=value, colour=colour)
        return Cell(f"{value:.3f}", order=value, fraction=value)

    def _picked(self, current: QModelIndex, previous: QModelIndex) -> None:
        source = self._sorted.mapToSource(current)
        # Rows also become current when the table is filled; only somebody who is in it means the sample.
        if source.isValid() and self.table.hasFocus():
            self.sample_selected.emit(self.model.key(source.row()))


def _head(metric: Metric) -> Head:
    return Head(metric.short, metric.meaning.capitalize() + ".")


def _compared(sample: SampleRow) -> bool:
    """Return whether a sample has a row: code, and words that were held against something else than a person's."""
    return sample.form == Form.CODE or bool(sample.pairs)


def _scores(sample: SampleRow) -> dict[str, float]:
    """Return a sample's scores against the original and, under their own names, against other samples."""
    return {**sample.scores, **{name: value for name, _, value in sample.pairs}}


def _names(task: str, samples: Sequence[SampleRow]) -> dict[int, str]:
    """`Description 2 (y2) → Reconstruction (x̂)` for each code sample."""
    by_id = {sample.id: sample for sample in samples}
    names = {}
    for sample in samples:
        parent = by_id.get(sample.parent_id) if sample.parent_id is not None else None
        before = f"{sample_name(task, parent)} → " if parent else ""
        author = f" (by {parent.author})" if parent and parent.author != "model" else ""
        names[sample.id] = f"{before}{sample_name(task, sample)}{author}"
    return names

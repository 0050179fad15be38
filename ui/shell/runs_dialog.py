"""Every run of the database: filter, open, resume."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from core.store.rows import RunRow
from ui.region_state import number
from ui.shell.status_line import score
from ui.theme import SPACE

Index = QModelIndex | QPersistentModelIndex
NONE = QModelIndex()
HEADINGS = ("Run", "Name", "Project", "Model", "Status", "Regions", "RTC", "Lift", "Started")
RESUMABLE = frozenset({"interrupted", "incomplete", "failed"})


def run_title(run: RunRow) -> str:
    """A run in a menu entry."""
    name = f" “{run.name}”" if run.name else ""
    return f"Run {run.id}{name} · {run.project_name} · {run.model_name} · {run.status} · RTC {number(run.rtc.value)}"


def _cells(run: RunRow) -> tuple[str, ...]:
    models = run.model_name
    if run.backward_model_name and run.backward_model_name != models:
        models = f"{models} → {run.backward_model_name}"
    regions = f"{run.items_complete}/{run.items_admitted or run.regions_wanted}"
    started = run.started_at[:16].replace("T", " ")
    scores = (score(run.rtc), number(run.lift.value, sign=True))
    return (str(run.id), run.name, run.project_name, models, run.status, regions, *scores, started)


class RunModel(QAbstractTableModel):
    """The newest run first."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Start empty."""
        super().__init__(parent)
        self._runs: list[RunRow] = []
        self._words: list[str] = []
        self.shown: list[RunRow] = []

    def set_runs(self, runs: Sequence[RunRow]) -> None:
        """List these runs."""
        self._runs = sorted(runs, key=lambda run: -run.id)
        self._arrange()

    def set_words(self, words: str) -> None:
        """List only runs that have all the words somewhere."""
        self._words = words.lower().split()
        self._arrange()

    def _arrange(self) -> None:
        self.beginResetModel()
        texts = ((run, " ".join(_cells(run)).lower()) for run in self._runs)
        self.shown = [run for run, text in texts if all(word in text for word in self._words)]
        self.endResetModel()

    def rowCount(self, parent: Index = NONE) -> int:  # noqa: N802
        """Qt: listed runs."""
        return 0 if parent.isValid() else len(self.shown)

    def columnCount(self, parent: Index = NONE) -> int:  # noqa: N802
        """Qt: the nine columns."""
        return 0 if parent.isValid() else len(HEADINGS)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Qt: the headings."""
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return HEADINGS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Qt: one cell."""
        run = self.shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _cells(run)[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return (
                f"{run.project_root}\nseed {run.seed} · {run.sandbox} · version {run.app_version}\n{run.notes}".strip()
            )
        return None


class RunsDialog(QDialog):
    """`opened` and `resumed` carry a run's id."""

    opened = Signal(int)
    resumed = Signal(int)

    def __init__(self, runs: Sequence[RunRow], current: int | None, may_resume: bool, parent: QWidget) -> None:
        """List `runs` with `current` selected; `may_resume` is False while a run is at work."""
        super().__init__(parent)
        self.setWindowTitle("Runs")
        self._may_resume = may_resume
        self.words = QLineEdit(placeholderText="Filter by project, model or status")
        self.table, self.runs = QTableView(), RunModel(self)
        self.open_button, self.resume_button = QPushButton("Open"), QPushButton("Resume")
        self.runs.set_runs(runs)
        self._build()
        self._lay_out()
        self._select(current)

    def _build(self) -> None:
        self.words.setAccessibleName("Filter runs")
        self.words.setClearButtonEnabled(True)
        self.words.textChanged.connect(self._filter)
        table = self.table
        table.setAccessibleName("Runs")
        table.setModel(self.runs)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(28)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(HEADINGS.index("Model"), QHeaderView.ResizeMode.Stretch)
        table.selectionModel().currentRowChanged.connect(self._offer)
        table.doubleClicked.connect(self._open)
        self.open_button.clicked.connect(self._open)
        self.open_button.setDefault(True)
        self.open_button.setProperty("role", "primary")
        self.resume_button.clicked.connect(self._resume)

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        close = QPushButton("Close")
        close.clicked.connect(self.reject)
        for button in (self.resume_button, close, self.open_button):
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE * 2, SPACE * 2, SPACE * 2, SPACE * 2)
        column.setSpacing(SPACE)
        column.addWidget(self.words)
        column.addWidget(self.table, 1)
        column.addLayout(buttons)
        self.resize(980, 460)

    def _filter(self, words: str) -> None:
        self.runs.set_words(words)
        self._select(None)

    def _select(self, run_id: int | None) -> None:
        row = next((row for row, run in enumerate(self.runs.shown) if run.id == run_id), 0)
        self.table.setCurrentIndex(self.runs.index(row, 0))
        self._offer()

    def _chosen(self) -> RunRow | None:
        row = self.table.currentIndex().row()
        return self.runs.shown[row] if 0 <= row < len(self.runs.shown) else None

    def _offer(self) -> None:
        run = self._chosen()
        self.open_button.setEnabled(run is not None)
        self.resume_button.setEnabled(run is not None and self._may_resume and run.status in RESUMABLE)

    def _open(self) -> None:
        run = self._chosen()
        if run is not None:
            self.accept()
            self.opened.emit(run.id)

    def _resume(self) -> None:
        run = self._chosen()
        if run is not None:
            self.accept()
            self.resumed.emit(run.id)

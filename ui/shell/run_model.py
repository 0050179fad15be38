"""Runs as the rows of a list, and one run in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt

from core.comparison.words import bounded
from core.kinds import CONDITIONS, task
from core.store.rows import NOTHING, RunRow
from ui.style.region_state import number
from ui.style.tables import Index, ListedRows

HEADINGS = ("Run", "Name", "Project", "Model", "Status", "Done", "Score", "Beside it", "Started")
RESUMABLE = frozenset({"interrupted", "incomplete", "failed"})


def run_title(run: RunRow) -> str:
    """A run in a menu entry."""
    name = f" “{run.name}”" if run.name else ""
    kind = task(run.task)
    figure = f"{kind.measure(kind.headline).title} {number(run.headline.value)}"
    return f"Run {run.id}{name} · {run.project_name} · {run.model_name} · {run.status} · {figure}"


def _cells(run: RunRow) -> tuple[str, ...]:
    models = run.model_name
    if run.backward_model_name and run.backward_model_name != models:
        models = f"{models} → {run.backward_model_name}"
    regions = f"{run.items_complete}/{run.items_expected}"
    started = run.started_at[:16].replace("T", " ")
    few = " few" if run.headline.few else ""
    kind = task(run.task)
    seen = f", n {run.headline.n}" if run.headline.n else ""
    scores = (f"{kind.measure(kind.headline).title} {bounded(run.headline, sign='')}{seen}{few}", _beside(run))
    return (str(run.id), run.name, run.project_name, models, run.status, regions, *scores, started)


def _beside(run: RunRow) -> str:
    """The figure beside the headline, over what it is the difference to, and what was cut, if any."""
    kind, told = task(run.task), []
    if kind.difference is not None:
        less = kind.difference.less
        base = run.scores.get(less[1], NOTHING).value if less is not None else None
        over = f" over {kind.measure(less[1]).title} {base:.2f}" if less is not None and base is not None else ""
        told.append(f"{kind.difference.title} {bounded(run.secondary)}{over}")
    cut = ((kind.measure(name).title, run.scores[name].value) for name in ("cut", "limited") if name in run.scores)
    return " · ".join([*told, *(f"{title} {share:.0%}" for title, share in cut if share)])


class RunModel(ListedRows):
    """The newest run first."""

    heads = HEADINGS

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
        # What is searched is what is read in the row, e.g. `finished qwen`.
        texts = ((run, " ".join(_cells(run)).lower()) for run in self._runs)
        self.shown = [run for run, text in texts if all(word in text for word in self._words)]
        self.endResetModel()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Qt: one cell."""
        run = self.shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _cells(run)[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            made = " · ".join(
                f"{measure.title} {run.scores[measure.name].value or 0.0:.0%}"
                for measure in task(run.task).averaged
                if measure.name in CONDITIONS and run.scores.get(measure.name, NOTHING).n
            )
            made += f"\nseed {run.seed} · {run.sandbox} · version {run.app_version}"
            return "\n".join((_cells(run)[index.column()], run.project_root, made, run.notes)).strip()
        return None

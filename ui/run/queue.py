"""Runs that wait for their turn, kept where the window keeps its settings so that closing it loses none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from PySide6.QtCore import QObject, Signal

from core.settings import RunSettings
from ui.shell.chosen_models import backward_value, forward_value
from ui.shell.remembered import Remembered


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run to come: a new one with its settings, or a stored one (`run_id`) that is to be gone on with."""

    number: int
    project: Path
    database: Path
    settings: RunSettings
    run_id: int | None = None

    @property
    def title(self) -> str:
        """What it is, in a line."""
        settings = self.settings
        if self.run_id is not None:
            return f"Resume run {self.run_id} · {self.project.name}"
        model = _name(forward_value(settings)) or "bundled model"
        other = _name(backward_value(settings))
        backward = f" → {other}" if other else ""
        count = f"{settings.regions:,} × {settings.forward_samples} × {settings.backward_samples}"
        others = f" and {settings.series.runs - 1} more" if settings.series is not None else ""
        return f"{self.project.name} · {settings.task} · {model}{backward}{others} · {count} · seed {settings.seed}"

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "project": str(self.project),
            "database": str(self.database),
            "settings": self.settings.to_json(),
            "run": self.run_id,
        }

    @classmethod
    def from_json(cls, number: int, data: Mapping[str, Any]) -> Self:
        """Read back what `to_json` gave. Raises ValueError, TypeError, KeyError, AttributeError for anything else."""
        settings = RunSettings.from_json(data["settings"])
        return cls(number, Path(data["project"]), Path(data["database"]), settings, data["run"])


class RunQueue(QObject):
    """In the order they will begin. `changed` says that it is another list now."""

    changed = Signal()

    def __init__(self, remembered: Remembered, parent: QObject | None = None) -> None:
        """Take up what was left when the window was closed."""
        super().__init__(parent)
        self._remembered = remembered
        self._last = 0
        self._begun: QueuedRun | None = None
        self.runs: list[QueuedRun] = []
        for data in remembered.queue():
            self._restore(data)

    def _restore(self, data: object) -> None:
        """An entry that cannot be read any more counts as absent."""
        try:
            self.runs.append(QueuedRun.from_json(self._number(), data))  # type: ignore[arg-type]
        # Written by another version, or by hand.
        except (ValueError, TypeError, KeyError, AttributeError):
            return

    def add(self, project: Path, database: Path, settings: RunSettings, run_id: int | None = None) -> QueuedRun:
        """Put a run at the end."""
        run = QueuedRun(self._number(), project, database, settings, run_id)
        self.runs.append(run)
        self._keep()
        return run

    def remove(self, number: int) -> None:
        """Take a run out."""
        self.runs = [run for run in self.runs if run.number != number]
        self._keep()

    def move(self, number: int, step: int) -> None:
        """Put a run earlier (-1) or later (1)."""
        at = next((at for at, run in enumerate(self.runs) if run.number == number), None)
        if at is not None and 0 <= at + step < len(self.runs):
            self.runs[at], self.runs[at + step] = self.runs[at + step], self.runs[at]
            self._keep()

    def take(self) -> QueuedRun:
        """The first one, to begin now; it stays remembered until `forget_begun`. Raises IndexError when empty."""
        # Kept in the settings until it is in the database: a window killed in between would lose it.
        self._begun = self.runs.pop(0)
        self._keep()
        return self._begun

    def forget_begun(self) -> None:
        """The one taken last is in the database, or came to nothing and said why."""
        if self._begun is not None:
            self._begun = None
            self._keep()

    def clear(self) -> None:
        """Take all out."""
        self.runs = []
        self._keep()

    def _number(self) -> int:
        self._last += 1
        return self._last

    def _keep(self) -> None:
        begun = [self._begun] if self._begun else []
        self._remembered.keep_queue([run.to_json() for run in [*begun, *self.runs]])
        self.changed.emit()


def _name(value: str) -> str:
    """A model file without its folder and ending, a server as it is."""
    return Path(value).stem if value.endswith(".gguf") else value

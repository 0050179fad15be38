"""The line at the foot: which run, how far, what it says so far, how fast and how long still."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QProgressBar, QSizePolicy, QToolButton, QWidget

from rtc_inspector.core.kinds import Measure, counted, noun, task
from rtc_inspector.core.run.events import Progress
from rtc_inspector.core.store.rows import GROWING, NOTHING, RunRow
from rtc_inspector.core.types import Estimate
from rtc_inspector.ui.background.coordinator import RunState
from rtc_inspector.ui.style.controls import give_role, label, on_ground, row
from rtc_inspector.ui.style.region_state import number
from rtc_inspector.ui.style.theme import SPACE

WAITING = {RunState.PAUSED: "paused", RunState.STOPPING: "stopping"}
"""What is said of a run that is at work no more, or not now."""
LONGEST_NAME = 40
"""Characters of a run's name; the tip has the whole."""


def run_summary(run: RunRow | None) -> str:
    """Return the run in one line."""
    if run is None:
        return "No run yet"
    parts = [
        f"run {run.id}",
        f"{run.items_complete}/{run.items_expected} {noun(run.task)}s" if run.regions_wanted else "tried by hand",
    ]
    parts += [_score(run, each) for each in _shown(run)]
    parts += run.remarks
    if run.headline.few:
        parts.append(f"few {noun(run.task)}s")
    if run.status in GROWING and run.headline.value is not None:
        parts.append("provisional")
    if run.items_dropped:
        parts.append(f"{run.items_dropped} dropped")
    return " · ".join([*parts, *([f"“{_short(run.name)}”"] if run.name else []), run.models])


def run_details(run: RunRow) -> str:
    """Return what the line has no room for: on how many items each figure rests, and what it says."""
    kind = task(run.task)
    lines = [f"Run {run.id}{run.name and f' “{run.name}”'}: {kind.title}, {run.models}"]
    for each in _shown(run):
        n = run.scores.get(each.name, NOTHING).n
        lines.append(f"{_score(run, each)}, over {counted(n, kind.noun)}: {each.tip}.")
    return "\n".join([*lines, "In brackets: the bounds of 95 of 100 other draws from the same source."])


def _shown(run: RunRow) -> list[Measure]:
    """Return the headline, what stands beside it, and the baseline that the difference is from."""
    kind = task(run.task)
    found = [each for each in (kind.measure(kind.headline), kind.difference) if each is not None]
    if kind.difference is not None and kind.difference.less is not None:
        found.append(kind.measure(kind.difference.less[1]))
    return [*found, *(kind.measure(name) for name in kind.beside)]


def _score(run: RunRow, measure: Measure) -> str:
    return f"{measure.title} {score(run.scores.get(measure.name, NOTHING), sign=measure.lowest < 0)}"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1].rstrip()}…"


def score(value: Estimate, sign: bool = False) -> str:
    """Return a score with its interval."""
    if value.value is None:
        return "–"
    low, high, to = number(value.low, sign), number(value.high, sign), " to " if sign else "–"
    bounds = "" if value.low is None or value.high is None else f" ({low}{to}{high})"
    return f"{number(value.value, sign)}{bounds}"


def duration(seconds: float) -> str:
    """Return a time in words that a person can read."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


class StatusLine(QWidget):
    """Left the run that is shown; right this window's own run, and how many wait (`queue_asked` when clicked)."""

    queue_asked = Signal()

    def __init__(self) -> None:
        super().__init__()
        on_ground(self, "status")
        self.summary, self.state, self.pace = label(run_summary(None)), label(), label(role="muted")
        self.bar, self.queue = QProgressBar(textVisible=False), QToolButton()
        self._state = RunState.IDLE
        self._progress: Progress | None = None
        self._run: RunRow | None = None
        self._own: int | None = None
        self._elsewhere = ""
        self._build()

    def _build(self) -> None:
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.summary.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.summary.setAccessibleDescription("Run that is shown")
        self.pace.setAccessibleDescription("Progress of the run in this window")
        self.bar.setAccessibleName("Progress")
        self.bar.setFixedSize(120, 4)
        self.bar.hide()
        self.state.hide()
        self.queue.setProperty("role", "in-line")
        self.queue.setToolTip("Look at the queue of runs")
        self.queue.clicked.connect(self.queue_asked)
        parts = (self.state, self.summary, self.pace, self.bar, self.queue)
        margins = SPACE + 4, SPACE // 2, SPACE + 4, SPACE // 2
        row(*parts, margins=margins, spacing=SPACE + 4, owner=self, grows=self.summary)

    def show_run(self, run: RunRow | None) -> None:
        self._run = run
        self.pace.setText(self._words())
        self.summary.setText(run_summary(run))
        self.summary.setToolTip(run_details(run) if run else "")
        self._show_status()

    def show_state(self, state: RunState, own: int | None = None, elsewhere: str = "") -> None:
        """Show whether this window's run goes, waits or ends.

        `own` is its id, once it has one; `elsewhere` names its database where that is not the one on show.
        """
        self._state, self._own, self._elsewhere = state, own, elsewhere
        if state is RunState.IDLE:
            self._progress = None
        self._refresh()
        self._show_status()

    def _show_status(self) -> None:
        """Show what the store says of the run; of one that this window holds or ends, show what is happening."""
        run = self._run
        status = run.status if run else ""
        # What is tried by hand in a run that has ended is at work all the same.
        if run is not None and self._is_own(run) and self._state is not RunState.IDLE:
            status = WAITING.get(self._state, "running")
        self.state.setText(status)
        self.state.setVisible(run is not None)
        good = {"finished": "good", "running": "muted"}
        give_role(self.state, good.get(status, "warn") if run else "muted")

    def _is_own(self, run: RunRow) -> bool:
        return run.id == self._own and not self._elsewhere

    def show_queue(self, waiting: int, held: bool) -> None:
        self.queue.setVisible(waiting > 0)
        self.queue.setText(f"{waiting} queued" + (", held" if held else ""))
        self.queue.setAccessibleName(f"Queue of runs: {self.queue.text()}")

    def show_progress(self, progress: Progress) -> None:
        self._progress = progress
        self._refresh()

    def _refresh(self) -> None:
        progress = self._progress
        self.bar.setVisible(self._state is not RunState.IDLE)
        if progress is None or progress.total <= 0:
            self.bar.setRange(0, 0)
        else:
            self.bar.setRange(0, progress.total)
            self.bar.setValue(progress.done)
        self.pace.setText(self._words())

    def _words(self) -> str:
        parts = [WAITING[self._state]] if self._state in WAITING else []
        # The line begins with the run on show: what is said of another one names it.
        if self._own is not None and self._state is not RunState.IDLE and not (self._run and self._is_own(self._run)):
            parts.insert(0, f"run {self._own}{self._elsewhere and f' in {self._elsewhere}'} at work")
        progress = self._progress
        if progress is None:
            return " · ".join([*parts, "starting"]) if self._state is RunState.RUNNING else " · ".join(parts)
        count = f" {progress.done}/{progress.total}" if progress.total > 1 else ""
        parts.append(f"{progress.stage}{count}")
        if progress.detail:
            parts.append(progress.detail)
        if progress.tokens_per_second is not None:
            parts.append(f"{progress.tokens_per_second:.0f} tok/s")
        if progress.eta is not None and self._state is RunState.RUNNING:
            parts.append(f"ETA {duration(progress.eta)}")
        return " · ".join(parts)

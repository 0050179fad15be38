"""The page that stands in the middle until a run's model begins to write: its steps, and how long each has taken."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from rtc_inspector.core.kinds import FIRST_KIND, Kind
from rtc_inspector.core.run.events import Progress
from rtc_inspector.ui.style.controls import column, give_role, label, on_ground, push, row
from rtc_inspector.ui.style.fonts import grown
from rtc_inspector.ui.style.theme import SPACE

LOAD, LEARN, DRAW, ASK = range(4)
DONE, NOW, LATER = "✓", "▸", "·"
TICK = 500
"""Milliseconds between two looks at the clock."""
WIDEST = 560
"""Pixels for text of the usual size."""


def step_of(stage: str) -> int:
    """Return which of the four steps a stage of a run belongs to."""
    if stage.startswith("loading"):
        return LOAD
    if stage.startswith(("starting a sandbox", "learning", "check")):
        return LEARN
    return ASK if stage == "samples" else DRAW


class Preparing(QWidget):
    """Steps with marks and times. `left` when the user wants to see the code instead."""

    left = Signal()

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        on_ground(self, "surface")
        self.setAccessibleName("Getting the run ready")
        self._clock, self._kind = clock, FIRST_KIND
        self._seconds = [0.0] * 4
        self._at: int | None = None
        self._since = 0.0
        self._stage = ""
        self.title, self.advice = label("Getting the run ready", "title", wrap=True), label(role="muted", wrap=True)
        self.rows = [(label(), label(), label(role="muted"), label()) for _ in range(4)]
        self.leave = push("Show the code meanwhile", "Show the code while the run gets ready", self.left.emit)
        self._timer = QTimer(self, interval=TICK)
        self._timer.timeout.connect(self._tell)
        self._lay_out()

    def _lay_out(self) -> None:
        steps = QGridLayout()
        steps.setHorizontalSpacing(SPACE * 2)
        steps.setVerticalSpacing(SPACE)
        steps.setColumnStretch(2, 1)
        for line, cells in enumerate(self.rows):
            for place, cell in enumerate(cells):
                steps.addWidget(cell, line, place)
            cells[2].setMinimumWidth(1)  # whatever a stage says, the page stays as wide as it is
            cells[3].setAlignment(Qt.AlignmentFlag.AlignRight)
        self._page = QWidget()
        parts = (None, self.title, self.advice, steps, row(self.leave, None), None, None)
        column(*parts, spacing=SPACE * 2, owner=self._page)
        margins = SPACE * 4, SPACE * 2, SPACE * 4, SPACE * 2
        row(None, self._page, None, margins=margins, owner=self).setStretch(1, 100)

    @property
    def begun(self) -> bool:
        return self._at is not None

    @property
    def words(self) -> str:
        """Return the step at work and the time so far, in a line; empty where nothing is prepared."""
        if self._at is None:
            return ""
        mark_name = self.rows[self._at][1].text()
        return f"{mark_name} · {_clock_words(sum(self._seconds) + self._clock() - self._since)}"

    def begin(self, kind: Kind) -> None:
        self._kind, self._seconds, self._at, self._stage = kind, [0.0] * 4, LOAD, ""
        self._since = self._clock()
        names = ("Load the model", "Learn the tests", f"Find {kind.nouns}", "Read the first prompt")
        for (_, name, _, _), words in zip(self.rows, names, strict=True):
            name.setText(words)
        self._page.setMaximumWidth(grown(self, WIDEST))
        self._timer.start()
        self._tell()

    def note(self, progress: Progress) -> None:
        if self._at is None:
            return
        now, step = self._clock(), step_of(progress.stage)
        self._seconds[self._at] += now - self._since
        self._since, self._at = now, step
        count = f" {progress.done:,} of {progress.total:,}" if progress.total > 1 else ""
        stage = "" if step == ASK else progress.stage.partition(": ")[2] or progress.stage
        self._stage = progress.detail or (f"{stage}{count}" if stage else "")
        self._tell()

    def end(self) -> None:
        self._at = None
        self._timer.stop()

    def _tell(self) -> None:
        """Mark each step as done, at work or to come, with its time."""
        if self._at is None:
            return
        here = self._seconds[self._at] + self._clock() - self._since
        for step, (mark, name, detail, took) in enumerate(self.rows):
            now = step == self._at
            seconds = here if now else self._seconds[step]
            # A step may come back, e.g. where a second sandbox is started; one that never came is not shown as done.
            done = not now and seconds > 0
            skipped = not now and not done and step < self._at
            for cell in (mark, name, detail, took):
                cell.setVisible(not skipped)
            mark.setText(NOW if now else DONE if done else LATER)
            for cell, role in ((mark, "good" if done else ""), (name, "" if now or done else "muted")):
                if cell.property("role") != role:
                    give_role(cell, role)
            detail.setText(self._stage if now else "")
            took.setText(_clock_words(seconds) if now or done else "")
        total = sum(self._seconds) + self._clock() - self._since
        learns = self._at == LEARN or self._seconds[LEARN] > 0
        kept = " What is learned of the tests is kept: the next run on this project begins sooner." if learns else ""
        self.advice.setText(f"{_clock_words(total)} so far.{kept}")


def _clock_words(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60}:{whole % 60:02d} min"

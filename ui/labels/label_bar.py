"""The line over a sample that is labelled: which it is, how far the queue is, and the steps as buttons."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from core.store.rows import SampleRow
from ui.labels.label_actions import LabelActions, keys_of, name_keys
from ui.panels.badge import Badge
from ui.presenters import describes
from ui.style.controls import BAR, ElidedLabel, button, embolden, row
from ui.style.outcomes import verdict_role, verdict_text
from ui.style.theme import SPACE

Act = Callable[[], object]


class LabelBar(QWidget):
    """Buttons name their keys; the badge shows the verdict unless it is to be hidden."""

    def __init__(self, *, skip: Act, back: Act, undo: Act, keys: Act) -> None:
        """Empty until `show_sample`."""
        super().__init__()
        self.name, self.badge = ElidedLabel(), Badge()
        embolden(self.name)
        self.about, self.progress = ElidedLabel("muted"), ElidedLabel("muted")
        self.skip = button("Skip", "Go on without a label", skip)
        self.back = button("Back", "Go to the sample before", back)
        self.undo = button("Undo", "Undo the last label", undo)
        self.help = button("Keys  ?", "Show or hide all keys (?)", keys)
        steps = (self.back, self.skip, self.undo, self.help)
        parts = (self.name, self.badge, self.about, self.progress)
        row(*parts, *steps, margins=BAR, spacing=SPACE // 2 + 2, owner=self, grows=self.about)

    def show_sample(self, sample: SampleRow, name: str, about: str, *, blind: bool) -> None:
        """Name a sample and its verdict; `blind` leaves the verdict out."""
        self.name.setText(name)
        self.about.setText(about)
        text = verdict_text(sample.verdict) if not describes(sample) and not blind else ""
        self.badge.show_text(text, verdict_role(sample.verdict))

    def refresh_keys(self, actions: LabelActions) -> None:
        """Name the keys as they are now."""
        for part, step in ((self.back, "back"), (self.skip, "skip"), (self.undo, "undo")):
            name_keys(part, actions.steps[step])
            first = keys_of(actions.steps[step]).partition(" or ")[0]
            part.setText(f"{step.capitalize()}  {first}" if first else step.capitalize())

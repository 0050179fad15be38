"""One sample, exactly: what was asked, what came back with its thoughts, what was taken from it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.ui.panels.badge import Badge
from rtc_inspector.ui.panels.empty import EmptyState
from rtc_inspector.ui.panels.text_box import TextBox
from rtc_inspector.ui.style.controls import BAR, ElidedLabel, column, copy_menu, embolden, label, row, split


class PromptPanel(QWidget):
    """Prompt, raw answer and extracted text beside each other."""

    def __init__(self) -> None:
        """Empty until `set_sample`."""
        super().__init__()
        self.setAccessibleName("Prompt and answer")
        self._sample: SampleRow | None = None
        self._prompt = ""
        self._empty = EmptyState("No sample selected", "Pick a description or a reconstruction to see its prompt.")
        self.prompt, self.raw = TextBox("Exact prompt"), TextBox("Raw answer")
        self.thoughts, self.extracted = TextBox("Thoughts, sent apart"), TextBox("Extracted text")
        self.name, self.figures = label(), ElidedLabel("muted")
        self.human, self.short = Badge(), Badge()
        self.copy = copy_menu("Copy this sample", [("All of it", self.everything), ("Prompt hash", self._hash)])
        parts = self.prompt, self.thoughts, self.raw, self.extracted
        self._body = split(Qt.Orientation.Horizontal, *parts, sizes=(460, 300, 300, 300))
        embolden(self.name)
        self._head = QWidget()
        row(self.name, self.figures, self.human, self.short, None, self.copy, margins=BAR, owner=self._head)
        column(self._head, self._empty, self._body, owner=self)
        self.set_sample(None, "", "")

    def set_sample(self, sample: SampleRow | None, prompt: str, name: str = "") -> None:
        """Show a sample with its exact prompt; `name` is what its method calls it."""
        self._sample, self._prompt = sample, prompt
        self._empty.stand_in(self._head, self._body, empty=sample is None)
        if sample is None:
            return
        self.name.setText(name)
        self.figures.setText(_figures(sample))
        self._show_badges(sample)
        self.prompt.show_text(prompt, f"{sample.prompt_tokens:,} tokens", "Written by a person: no prompt.")
        self.raw.show_text(sample.raw_text, f"{sample.completion_tokens:,} tokens", "The answer was empty.")
        self.thoughts.setVisible(bool(sample.thoughts))
        self.thoughts.show_text(sample.thoughts, f"{len(sample.thoughts):,} characters", "")
        steps = " → ".join(sample.extraction_steps) or "as it is"
        self.extracted.show_text(sample.text, steps, "Nothing could be taken from the answer.")

    def everything(self) -> str:
        """Return the figures, prompt, answer and extracted text, for the clipboard."""
        sample = self._sample
        if sample is None:
            return ""
        parts = [("prompt", self._prompt), ("raw answer", sample.raw_text), ("extracted text", sample.text)]
        if sample.thoughts:
            parts.insert(1, ("thoughts", sample.thoughts))
        return "\n\n".join([_figures(sample), *(f"--- {name}\n{text}" for name, text in parts)])

    def _show_badges(self, sample: SampleRow) -> None:
        person = sample.author != "model"
        self.human.show_text(f"✎ by {sample.author}" if person else "", "accent", "Written by a person")
        tip = "The file did not fit the context window: whole statements of it were left out."
        self.short.show_text("⚠ file shortened" if sample.truncated else "", "warn", tip)

    def _hash(self) -> str:
        return self._sample.prompt_hash if self._sample else ""


def _figures(sample: SampleRow) -> str:
    """Return everything that says how the sample was drawn."""
    parts = [
        f"seed {sample.seed}",
        f"temperature {sample.temperature:g}",
        f"{sample.seconds:.2f} s",
        f"ended by {sample.finish_reason}",
        f"prompt {sample.prompt_hash[:12]}",
    ]
    return " · ".join(parts + ([f"error: {sample.error}"] if sample.error else []))

"""Joins the panels of one region: which sample is chosen at the right decides what the tabs below show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from rtc_inspector.core.run.events import Event, SampleReady, TextStreamed
from rtc_inspector.core.store.rows import ItemRow, SampleRow, TestRow
from rtc_inspector.core.types import Form
from rtc_inspector.ui.presenters import describes, diff_title, rebuilt, sample_name, scored_against
from rtc_inspector.ui.reading.inspection import Inspection, Trace
from rtc_inspector.ui.window.window_parts import WindowParts

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader


class TraceView(QObject):
    """Feeds round trip, diff, tests, prompt and metrics from the inspection."""

    def __init__(self, inspection: Inspection, parts: WindowParts) -> None:
        """Connect panels that the window has laid out."""
        super().__init__(parts.roundtrip)
        self._inspection = inspection
        self._roundtrip, self._wide, self._diff, self._tests = parts.roundtrip, parts.wide, parts.diff, parts.tests
        self._prompt, self._metrics = parts.prompt, parts.metrics
        self._item: ItemRow | None = None
        self._samples: dict[int, SampleRow] = {}
        self._awaited: int | None = None
        self._answer_of: int | None = None
        self._failure, self._author = False, ""
        self._shown: tuple[SampleRow | None, SampleRow | None] = (None, None)
        self._below = QTimer(self, singleShot=True, interval=0)
        self._below.timeout.connect(self._show_below)
        inspection.item_chosen.connect(self._item_chosen)
        inspection.trace_changed.connect(self._trace_changed)
        self._roundtrip.sample_selected.connect(self._sample_selected)
        self._roundtrip.sample_selected.connect(self._wide.select)
        for panel in (self._metrics, self._wide):
            panel.sample_selected.connect(self._roundtrip.select)
        self._tests.line_requested.connect(self._diff.go_to_line)

    def stream(self, events: Sequence[Event]) -> None:
        """Show text that a run of this window is writing."""
        for event in events:
            if isinstance(event, SampleReady) and event.item_id == self._answer_of and event.parent_id is not None:
                self._answer_of, self._awaited = None, event.sample_id
            if isinstance(event, TextStreamed):
                self._roundtrip.append_text(event.item_id, event.role, event.index, event.text, event.parent)
                if event.item_id == self._answer_of:
                    self._roundtrip.reveal_writing()

    def await_nothing(self) -> None:
        """Look for no sample of the region before any more."""
        self._awaited, self._failure, self._author = None, False, ""

    def forget(self) -> None:
        """Keep nothing that is named by an id: another database is looked at."""
        self.await_nothing()
        self._answer_of = None
        self._roundtrip.end_writing()

    def await_author(self, author: str) -> None:
        """Have the first sample of that author selected in the region chosen next; empty for none in particular."""
        self._author = author

    def await_answer(self, item_id: int | None) -> None:
        """Select what is made next of an item: the answer to a person's own words; None when nothing is to come."""
        self._answer_of = item_id

    def await_failure(self) -> None:
        """Have the first sample that did not pass selected in the region chosen next."""
        self._failure = True

    def _item_chosen(self, item: ItemRow | None) -> None:
        """Show another region: its head at once, its samples when they are read."""
        self._awaited = self._inspection.looked_at.sample
        if item is None or self._item is None or item.id != self._item.id:
            self._below.stop()
            self._item, self._samples, self._shown = item, {}, (None, None)
            self._roundtrip.set_trace(item, [])
            self._show(None)

    def _trace_changed(self, trace: Trace | None) -> None:
        if trace is None:
            return
        # Read for a region that was left meanwhile.
        if self._item is not None and trace.item.id != self._item.id:
            return
        self._item = trace.item
        self._samples = {sample.id: sample for sample in trace.samples}
        self._below.start()
        self._roundtrip.set_trace(trace.item, list(trace.samples))
        if self._failure and self._samples:
            self._failure = False
            self._awaited = next((each.id for each in trace.samples if _failed(each)), None)
        if self._author and self._samples:
            author, self._author = self._author, ""
            self._awaited = next((each.id for each in trace.samples if each.author == author), self._awaited)
        if self._awaited in self._samples:
            self._roundtrip.select(self._awaited)
            self._awaited = None

    def _show_below(self) -> None:
        """Fill the tabs once the cards are drawn: all at once would hold the window up."""
        self._metrics.set_samples(self._item, list(self._samples.values()))
        self._wide.set_trace(self._item, list(self._samples.values()))
        self._sample_selected(self._roundtrip.selected)

    def _sample_selected(self, sample_id: int | None) -> None:
        self._inspection.note_sample(sample_id)
        # Else `_show_below` is about to do it.
        if not self._below.isActive():
            self._show(self._samples.get(sample_id) if sample_id is not None else None)

    def _show(self, sample: SampleRow | None) -> None:
        """Show a sample below, unless that is what is shown already."""
        code = self._code_of(sample)
        # A run that goes on sends the same trace every moment: what is scrolled to in the tabs stays.
        if (sample, code) == self._shown and sample is not None:
            return
        self._shown = (sample, code)
        self._show_diff(code)
        self._show_tests(code)
        self._show_prompt(sample)
        if sample is None:
            self._metrics.set_samples(self._item, [])
            self._wide.set_trace(self._item, [])

    def _code_of(self, sample: SampleRow | None) -> SampleRow | None:
        """Return the code a sample stands for: itself, or the first reconstruction from a description.

        Of an item in words it may be words too, which are held against the item's.
        """
        if sample is None or not describes(sample):
            return sample
        children = (each for each in self._samples.values() if each.parent_id == sample.id)
        return next(children, sample if self._item is not None and self._item.form == Form.TEXT else None)

    def _show_diff(self, code: SampleRow | None) -> None:
        parent = self._samples.get(code.parent_id) if code and code.parent_id is not None else None
        before = scored_against(code, self._samples) if code is not None else None
        title = diff_title(self._item.task, code, before) if self._item is not None and code is not None else ""
        words = parent.text if parent is not None and describes(parent) else ""
        self._diff.show_code(self._item, code, title, words, before)

    def _show_tests(self, code: SampleRow | None) -> None:
        item, verdict = self._item, code.verdict if code else None
        if item is None or code is None or verdict is None:
            # The answer about the sample before may be on its way.
            self._inspection.forget("tests")
            self._tests.set_verdict(None, [])
            return
        span = range(item.start_line, item.start_line + code.text.count("\n") + 1)
        other = scored_against(code, self._samples)
        before = other.verdict.id if other is not None and other.verdict is not None else None

        def read(reader: Reader) -> tuple[list[TestRow], list[TestRow] | None]:
            return reader.tests(verdict.id), None if before is None else reader.tests(before)

        def show(found: tuple[list[TestRow], list[TestRow] | None]) -> None:
            tests, others = found
            self._tests.set_verdict(verdict, tests, path=item.path, span=span, covering=len(item.tests), before=others)

        self._inspection.ask("tests", read, show)

    def _show_prompt(self, sample: SampleRow | None) -> None:
        if sample is None:
            self._inspection.forget("prompt")
            self._prompt.set_sample(None, "", "")
            return

        task = self._item.task if self._item is not None else ""

        def show(prompt: str) -> None:
            self._prompt.set_sample(sample, prompt, sample_name(task, sample))

        self._inspection.ask("prompt", lambda reader: reader.prompt(sample.prompt_hash), show)


def _failed(sample: SampleRow) -> bool:
    """Return whether a reconstruction was judged and did not pass; what could not be judged is no failure."""
    outcome = sample.verdict.outcome if sample.verdict is not None else "pass"
    return rebuilt(sample) and outcome not in ("pass", "infrastructure")

"""Labelling runs: a queue of reconstructions, the next one ready before it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from rtc_inspector.core.errors import Bug
from rtc_inspector.core.store.labels import mode_names
from rtc_inspector.core.store.rows import ItemRow, LabelRow, SampleRow
from rtc_inspector.core.syntax import around
from rtc_inspector.core.types import LabelKind, SourceFile, TestResult
from rtc_inspector.ui.background.gateway import Scribe
from rtc_inspector.ui.labels.controls import SCOPES, LabelQueueBar
from rtc_inspector.ui.labels.panel import LabelsPanel
from rtc_inspector.ui.labels.queue import Asked, LabelQueue, LabelRequest, QueueKind, Stock, make_queue
from rtc_inspector.ui.reading.inspection import TRACE, Inspection, LookedAt, Rereading
from rtc_inspector.ui.reading.open_project import OpenProject
from rtc_inspector.ui.shell.remembered import Remembered

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader

KEPT = 200  # samples kept ready to be shown again


@dataclass(frozen=True)
class Subject:
    """One sample with all that is shown of it."""

    item: ItemRow
    sample: SampleRow
    description: str
    labels: tuple[LabelRow, ...]
    around: str = ""
    failing: tuple[TestResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Desk:
    """The runs whose samples are labelled in turn, all in one database."""

    database: Path
    runs: tuple[int, ...]


class Labelling(QObject):
    """Joins the labels panel, the database and the writer. Idle until the panel is first shown."""

    shown = Signal(int, int)  # item and sample whose turn it is

    def __init__(
        self,
        panel: LabelsPanel,
        bar: LabelQueueBar,
        inspection: Inspection,
        scribe: Scribe,
        remembered: Remembered,
        project: OpenProject,
    ) -> None:
        super().__init__(panel)
        self._panel, self._bar = panel, bar
        self._inspection, self._scribe, self._remembered = inspection, scribe, remembered
        self._project = project
        self._queue = LabelQueue()
        self._ready: dict[int, Subject] = {}
        self._desk: Desk | None = None
        self._read: int | None = None
        self._reading = Rereading(inspection, self, "label queue", TRACE, times=4)
        self._reading.rested.connect(self._follow)
        panel.set_name(remembered.annotator)
        panel.label_requested.connect(self._store)
        panel.next_requested.connect(partial(self._step, 1))
        panel.previous_requested.connect(partial(self._step, -1))
        panel.sample_requested.connect(self.show_sample)
        panel.named.connect(self.rename)
        panel.blind_changed.connect(self._set_blind)
        bar.changed.connect(self.rebuild)
        inspection.moved.connect(self._move)
        inspection.overview_changed.connect(lambda _: self._follow())

    def begin(self) -> None:
        """Make the queue, once the panel is in view, if there is none for this run, or if the run went on."""
        run, database = self._inspection.run, self._inspection.database
        # Coming back to the tab keeps the queue, and the place in it.
        if run is None or database is None:
            return
        if self._desk is None:
            self._scribe.prepare(database)
            self.rebuild()
        elif self._read != run.changes:
            self._ask()

    @property
    def blind(self) -> bool:
        return self._panel.blind.isChecked()

    def runs(self) -> list[int]:
        run, overview = self._inspection.run, self._inspection.overview
        if run is None or overview is None:
            return []
        same = [each.id for each in overview.runs if each.project_root == run.project_root]
        return same if self._bar.scope.currentText() == SCOPES[1] else [run.id]

    def rebuild(self) -> None:
        run, database = self._inspection.run, self._inspection.database
        if run is not None and database is not None:
            desk = Desk(database, tuple(self.runs()))
            if self._desk is not None and desk.runs != self._desk.runs:
                self._panel.forget()  # what is on show, and what could be undone, may be of a run that is left out now
            self._desk = desk
            self._ask(anew=True)

    def _ask(self, anew: bool = False) -> None:
        """Read the samples there are by now; the one on show stays while it is among them, unless asked `anew`."""
        run, desk = self._inspection.run, self._desk
        if run is not None and desk is not None:
            self._read = run.changes
            take = partial(self._take_queue, desk, anew)
            self._reading.ask(partial(_read_stock, desk.runs), take)

    def rename(self, name: str) -> None:
        self._panel.set_name(name)
        if name != self._remembered.annotator:
            self._remembered.annotator = name
            self.rebuild()

    def show_sample(self, sample_id: int) -> None:
        self._queue.go_to(sample_id)
        self._show()

    # ---- the queue

    def _move(self, before: LookedAt, now: LookedAt) -> None:
        if before.same_run(now):
            return
        self._desk, self._queue, self._ready = None, LabelQueue(), {}
        self._reading.forget()
        self._inspection.forget("label subjects")
        self._panel.forget()
        self._say()

    def _follow(self) -> None:
        """Keep the queue, while somebody looks, to what the run has by now: who waits for a failure must see it."""
        if self._panel.isVisible() and not self._reading.busy:
            self.begin()

    def _take_queue(self, desk: Desk, anew: bool, stock: Stock) -> None:
        if desk != self._desk:
            return
        panel, bar, shown = self._panel, self._bar, self._queue.current
        asked = Asked(self._kind(), bar.seed.value(), bar.most.value(), panel.name, panel.blind.isChecked())
        before, self._queue = self._queue.samples, make_queue(stock, asked)
        if not anew and shown is not None:
            # Of more samples others would be drawn: what was in turn stays so, and what came since stands behind it.
            earlier = set(before)
            more = [each for each in self._queue.samples if each not in earlier]
            room = max(asked.size - len(before), 0) if asked.size else len(more)
            self._queue.samples = [*before, *more[:room]]
            self._queue.go_to(shown)
        else:
            self._ready = {}
        panel.names = stock.names
        given = (*stock.labels, *stock.decisions)
        panel.side.suggest(sorted({label.annotator for label in given if label.annotator}))
        panel.offer_clean(asked.kind is not QueueKind.FAILURES)
        panel.set_adjudicating(asked.kind is QueueKind.ADJUDICATION)
        self._show()

    def _kind(self) -> QueueKind:
        return QueueKind(self._bar.kind.currentText())

    def _step(self, by: int) -> None:
        if self._queue.step(by):
            self._show()
        elif by > 0 and self._queue.samples:
            self._bar.said.setText("That was the last one of this queue.")

    # ---- one sample

    def _show(self) -> None:
        wanted = self._queue.current
        self._say()
        if wanted is None:
            self._panel.set_advice(f"{_NOTHING[self._kind()]} Other queues can be chosen above.")
            self._panel.set_sample(None, [])
            return
        subject = self._ready.get(wanted)
        self._panel.held = subject is None
        if subject is not None:
            self._present(subject)
        missing = [sample for sample in self._queue.around() if sample not in self._ready]
        if missing:
            files = self._project.codebase.files if self._project.codebase is not None else ()
            self._inspection.ask("label subjects", partial(_read_subjects, missing, files), self._take_subjects)

    def _take_subjects(self, subjects: Sequence[Subject]) -> None:
        if len(self._ready) > KEPT:
            self._ready = {}
        self._ready |= {subject.sample.id: subject for subject in subjects}
        current = self._queue.current
        # The answer may be about samples that were left meanwhile.
        if self._panel.held and current in self._ready:
            self._panel.held = False
            self._present(self._ready[current])

    def _present(self, subject: Subject) -> None:
        self._panel.set_sample(
            subject.sample, subject.labels, item=subject.item, description=subject.description,
            around=subject.around, failing=subject.failing,
        )  # fmt: skip
        if self._panel.isVisible():
            self.shown.emit(subject.item.id, subject.sample.id)

    def _say(self) -> None:
        queue = self._queue
        self._panel.set_progress(queue.done, len(queue.samples))
        place = f"Sample {queue.at + 1:,} of {len(queue.samples):,}" if queue.samples else ""
        self._bar.said.setText(place)

    # ---- what the annotator says

    def _store(self, given: LabelRequest) -> None:
        desk, panel, sample_id, mode, note = self._desk, self._panel, given.sample_id, given.mode, given.note
        if desk is None or given.run_id not in desk.runs:
            raise Bug(f"a label for run {given.run_id} at a desk of {desk}")
        name, taxonomy = panel.name, panel.taxonomy
        kind = LabelKind.ADJUDICATION if panel.adjudicating else LabelKind.LABEL
        # Shown before it is stored: the next key must not wait for the disk.
        self._note(sample_id, LabelRow(0, sample_id, name, mode, note, "now", kind, taxonomy.version))
        self._scribe.write(
            desk.database,
            lambda store: store.add_label(
                sample_id, mode, name, note, kind=kind, taxonomy=taxonomy, run_id=given.run_id
            ),
        )

    def _note(self, sample_id: int, label: LabelRow) -> None:
        self._queue.mark(sample_id, bool(label.mode))
        subject = self._ready.get(sample_id)
        if subject is not None:
            subject = self._ready[sample_id] = replace(subject, labels=(*subject.labels, label))
            if sample_id == self._queue.current:
                self._present(subject)
        self._say()

    def _set_blind(self, blind: bool) -> None:
        self._bar.set_blind(blind)
        self.rebuild()


_NOTHING = {
    QueueKind.FAILURES: "No reconstruction here failed.",
    QueueKind.DISAGREEMENTS: "No two annotators disagree on a sample.",
    QueueKind.ADJUDICATION: "No two annotators disagree on a sample: there is nothing to decide.",
    QueueKind.RANDOM: "There is no reconstruction yet.",
    QueueKind.ALL: "There is no reconstruction yet.",
}


def _read_stock(runs: Sequence[int], reader: Reader) -> Stock:
    rows = [row for run_id in runs for row in reader.reconstructions(run_id)]
    labels = [label for run_id in runs for label in reader.current_labels(run_id)]
    decisions = [label for run_id in runs for label in reader.adjudications(run_id)]
    return Stock(rows, labels, decisions, mode_names(reader))


def _read_subjects(wanted: Sequence[int], files: Sequence[SourceFile], reader: Reader) -> list[Subject]:
    subjects = []
    for sample_id in wanted:
        item_id = reader.item_of(sample_id)
        samples = {sample.id: sample for sample in reader.samples(item_id)}
        sample = samples[sample_id]
        parent = samples.get(sample.parent_id) if sample.parent_id is not None else None
        labels = tuple(reader.labels(sample_id))
        tests = reader.tests(sample.verdict.id) if sample.verdict is not None else ()
        failing = tuple(test for test in tests if test.outcome not in ("passed", "skipped"))
        item, words = reader.item(item_id), parent.text if parent else ""
        subjects.append(Subject(item, sample, words, labels, _around(item, files), failing))
    return subjects


def _around(item: ItemRow, files: Sequence[SourceFile]) -> str:
    """Return the head of the function around an item of Python, where the project's file is as it was."""
    text = next((file.text for file in files if file.path == item.path), "")
    there = item.path.endswith(".py") and text[item.start : item.end] == item.text
    return around(text, item.start_line) if there else ""

"""Joins the views of a run: whatever is chosen in one of them is shown in all."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from rtc_inspector.core.figures import Link
from rtc_inspector.core.kinds import kind_of, task
from rtc_inspector.core.run.events import Event, ItemReady, SampleReady, TextStreamed
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.rows import ItemRow, RunRow, SampleRow
from rtc_inspector.core.types import Codebase, Form, TestResult
from rtc_inspector.ui.background.gateway import Turns, Work
from rtc_inspector.ui.code.view import Sampling, present_path
from rtc_inspector.ui.figures.feed import FigureFeed
from rtc_inspector.ui.presenters import as_known, describes, rebuilt, scored_against
from rtc_inspector.ui.project.tree import first_code, listed_files
from rtc_inspector.ui.reading.inspection import Inspection, LookedAt, Overview, Trace, Wanted
from rtc_inspector.ui.reading.open_project import OpenProject
from rtc_inspector.ui.window.window_parts import WindowParts

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader


class TraceView(QObject):
    """Feeds round trip, diff, tests, prompt and metrics from the inspection."""

    def __init__(self, inspection: Inspection, parts: WindowParts, turns: Turns) -> None:
        super().__init__(parts.roundtrip)
        self._inspection, self._turns = inspection, turns
        self._roundtrip, self._wide, self._diff, self._tests = parts.roundtrip, parts.wide, parts.diff, parts.tests
        self._prompt, self._metrics = parts.prompt, parts.metrics
        self._item: ItemRow | None = None
        self._samples: dict[int, SampleRow] = {}
        self._awaited: int | None = None
        self.answer_of: int | None = None  # an item of which is selected what is made next, the answer to own words
        self.wants: Callable[[SampleRow], bool] | None = None  # which sample is selected of the region chosen next
        self._shown: tuple[SampleRow | None, SampleRow | None] = (None, None)
        self._below = QTimer(self, singleShot=True, interval=0)
        self._below.timeout.connect(self._show_below)
        inspection.item_chosen.connect(self._item_chosen)
        inspection.trace_changed.connect(self._take_trace)
        self._roundtrip.sample_selected.connect(self._sample_selected)
        self._roundtrip.sample_selected.connect(self._wide.select)
        for panel in (self._metrics, self._wide):
            panel.sample_selected.connect(self._roundtrip.select)
        self._tests.line_requested.connect(self._diff.go_to_line)

    def stream(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, SampleReady) and event.item_id == self.answer_of and event.parent_id is not None:
                self.answer_of, self._awaited = None, event.sample_id
            if isinstance(event, TextStreamed):
                self._roundtrip.append_text(event.item_id, event.role, event.index, event.text, event.parent)
                if event.item_id == self.answer_of:
                    self._roundtrip.reveal_writing()

    def await_nothing(self) -> None:
        self._awaited, self.wants = None, None

    def forget(self) -> None:
        """Keep nothing that is named by an id: another database is looked at."""
        self.await_nothing()
        self.answer_of = None
        self._roundtrip.end_writing()

    def _item_chosen(self, item: ItemRow | None) -> None:
        self._awaited = self._inspection.looked_at.sample
        if item is None or self._item is None or item.id != self._item.id:
            self._below.stop()
            self._item, self._samples, self._shown = item, {}, (None, None)
            self._roundtrip.set_trace(item, [])
            self._show(None)

    def _take_trace(self, trace: Trace | None) -> None:
        """Show a trace in its turn: with views that are being filled it would hold the window up."""
        at = self._inspection.looked_at

        def show() -> None:
            now = self._inspection.looked_at
            if trace is not None and now.same_run(at) and trace.item.id == now.item:  # not left meanwhile
                self._show_trace(trace)

        self._turns.add(show, wait=True)

    def _show_trace(self, trace: Trace) -> None:
        self._item = trace.item
        self._samples = {sample.id: sample for sample in trace.samples}
        self._below.start()
        self._roundtrip.set_trace(trace.item, list(trace.samples))
        if self.wants is not None and self._samples:
            self._awaited = next((each.id for each in trace.samples if self.wants(each)), self._awaited)
            self.wants = None
        if self._awaited in self._samples:
            self._roundtrip.select(self._awaited)
            self._awaited = None

    def _show_below(self) -> None:
        """Fill the tabs once the cards are drawn: all at once would hold the window up."""
        if self._roundtrip.filling:
            self._below.start()
            return
        self._metrics.set_samples(self._item, list(self._samples.values()))
        self._wide.set_trace(self._item, list(self._samples.values()))
        self._sample_selected(self._roundtrip.selected)

    def _sample_selected(self, sample_id: int | None) -> None:
        self._inspection.note_sample(sample_id)
        # Else `_show_below` is about to do it.
        if not self._below.isActive():
            self._show(self._samples.get(sample_id) if sample_id is not None else None)

    def _show(self, sample: SampleRow | None) -> None:
        code = self._code_of(sample)
        # A run that goes on sends the same trace every moment: what is scrolled to in the tabs stays.
        if (sample, code) == self._shown and sample is not None:
            return
        self._shown = (sample, code)
        self._diff.show_code(self._item, code, self._samples, described=True)
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

        def read(reader: Reader) -> tuple[list[TestResult], list[TestResult] | None]:
            return reader.tests(verdict.id), None if before is None else reader.tests(before)

        def known(test: TestResult) -> TestResult:
            return replace(test, node_id=as_known(item, test.node_id), message=as_known(item, test.message))

        def show(found: tuple[list[TestResult], list[TestResult] | None]) -> None:
            tests = [known(test) for test in found[0]]
            others = [known(test) for test in found[1]] if found[1] is not None else None
            judged = replace(verdict, detail=as_known(item, verdict.detail))
            path = item.path if item.has_file else item.key
            self._tests.set_verdict(judged, tests, path=path, span=span, covering=len(item.tests), before=others)

        self._inspection.ask("tests", read, show)

    def _show_prompt(self, sample: SampleRow | None) -> None:
        if sample is None:
            self._inspection.forget("prompt")
            self._prompt.set_sample(None, "", "")
            return

        task = self._item.task if self._item is not None else ""

        def show(prompt: str) -> None:
            self._prompt.set_sample(sample, prompt, task)

        self._inspection.ask("prompt", lambda reader: reader.prompt(sample.prompt_hash), show)


def _failed(sample: SampleRow) -> bool:
    """Return whether a reconstruction was judged and did not pass; what could not be judged is no failure."""
    outcome = sample.verdict.outcome if sample.verdict is not None else "pass"
    return rebuilt(sample) and outcome not in ("pass", "infrastructure")


REST = 200  # milliseconds after the views show a run until its project is read: the first region is shown in between


class Browsing(QObject):
    """Tree, table, code, round trip and run panel over one inspection and one project."""

    settled = Signal()  # they show what was read last

    def __init__(self, parts: WindowParts, inspection: Inspection, project: OpenProject) -> None:
        super().__init__(parts)
        self._parts, self._inspection, self._project = parts, inspection, project
        self.follow = False
        self._awaits = False
        self._shown: Overview | None = None
        self._turns = Turns(self)
        self._unread: RunRow | None = None
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self.settle)
        self._behind = False
        parts.tabs.currentChanged.connect(self._show_tab)
        self.trace = TraceView(inspection, parts, self._turns)
        inspection.moved.connect(self._move)
        inspection.overview_changed.connect(self._show_overview)
        inspection.run_chosen.connect(self._show_project_of)
        inspection.item_chosen.connect(self._show_item)
        project.opened.connect(self._show_project)
        project.lent.connect(parts.code.lend_text)
        project.absent.connect(lambda _: self._show_project(None))
        parts.tree.file_chosen.connect(parts.code.choose_file)
        parts.code.file_opened.connect(lambda name: parts.tree.show_file(present_path(name)))
        parts.code.file_opened.connect(inspection.note_file)
        parts.regions.item_chosen.connect(self.choose)
        parts.regions.flags_wanted.connect(self._read_flags)
        parts.code.item_chosen.connect(self.choose)
        parts.code.failure_chosen.connect(self.choose_failure)
        parts.history.item_chosen.connect(self.choose)
        self._figures = FigureFeed(inspection, self, parts.run.set_figures)
        parts.run.opened.connect(self.follow_link)
        parts.run.chosen.connect(self._figures.choose)

    def follow_link(self, link: Link) -> None:
        run = link.run if link.run is not None else self._inspection.looked_at.run
        if link.item is not None and run is not None:
            self.go_to(run, link.item, link.sample)
            if link.author:
                self.trace.wants = lambda sample: sample.author == link.author
        elif link.run is not None:
            self._inspection.choose_run(Wanted(link.run))

    def choose(self, item_id: int, sample_id: int | None = None) -> None:
        self.follow = False
        self.trace.await_nothing()
        self._inspection.choose_item(item_id, sample_id)
        self._parts.leave_page()

    def choose_failure(self, item_id: int) -> None:
        """Show the failed sample of a region, not one that passes: the user looks for what failed."""
        self.choose(item_id)
        self.trace.wants = _failed

    def go_to(self, run_id: int, item_id: int, sample_id: int | None = None) -> None:
        if self._inspection.knows(item_id):
            self.choose(item_id, sample_id)
        else:
            self.follow = False
            self.trace.await_nothing()
            self._inspection.choose_run(Wanted(run_id), item_id, sample_id)

    def await_item(self, awaited: bool) -> None:
        """Return whether the next item that a job of this window stores is to be shown as soon as it can be."""
        self._awaits = awaited
        if not awaited:
            self._inspection.work_on(None)

    def take(self, events: Sequence[Event]) -> None:
        for event in events:
            if self._awaits and isinstance(event, ItemReady):
                self._awaits = False
                run = self._inspection.run
                if run is None or run.id != event.run_id:
                    self._inspection.choose_run(Wanted(event.run_id), event.item_id)
                else:
                    self._inspection.choose_item(event.item_id)  # shown once its row is read
                    self._inspection.refresh()
                self._inspection.work_on(event.item_id)
        written = [event for event in events if isinstance(event, TextStreamed)]
        if self.follow and written:
            item, going = self._inspection.item, written[-1].item_id
            if (item is None or item.id != going) and self._inspection.knows(going):
                self._inspection.choose_item(going)
        self.trace.stream(events)

    def _read_flags(self) -> None:
        run = self._inspection.run
        if run is not None:
            self._inspection.ask("flags", lambda reader: reader.flags(run.id), self._parts.regions.regions.set_flags)

    def _move(self, before: LookedAt, now: LookedAt) -> None:
        """Clear what is not of what is looked at now; what is of it comes when it is read."""
        if before.database != now.database:
            self.trace.forget()
        if not before.same_run(now):
            parts = self._parts
            self._turns.finish()
            self._shown, self._behind = None, False
            parts.regions.set_items(())
            parts.regions.regions.set_flags({})
            parts.tree.set_rows(())
            parts.code.leave_run()
            parts.code.set_sampling(None)
            parts.history.set_items((), None)
            parts.status.show_run(None)
            parts.roundtrip.expect(False)
            self._figures.note()
            parts.run.set_run(None)
        if before.project != now.project:
            self._rest.stop()
            self._unread = None
            if self._project.root != now.project:
                self._project.close()
            self._parts.code.leave_project()
            self._parts.tree.set_files(())
            self._parts.history.set_project(None)

    def _show_overview(self, overview: Overview) -> None:
        """Show what was read, view by view: all at once would hold the window up."""
        parts, before = self._parts, self._shown
        self._shown = overview
        # The very same tuple where the run did not change: then most views have nothing to do.
        fresh = before is None or overview.items is not before.items
        works: list[Work] = [partial(self._show_regions, overview, fresh)]
        if fresh:
            works += [
                partial(self._show_code, overview),
                partial(parts.tree.set_rows, overview.files),
                partial(parts.history.set_items, overview.items, overview.run),
            ]
        if before is None or overview.run != before.run:
            works.append(self._show_run)
        self._turns.begin(*works, self._rest.start)

    def _show_regions(self, overview: Overview, fresh: bool) -> None:
        parts = self._parts
        if fresh:
            parts.regions.set_items(overview.items)
        parts.status.show_run(overview.run)
        parts.roundtrip.expect(bool(overview.items))
        if overview.run is not None:
            parts.set_kind(task(overview.run.task))
            listed = parts.regions.regions.shown
            if listed and self._inspection.looked_at.item is None:
                # Before the list can get the focus, with which Qt would choose its first row as if a person had.
                parts.regions.select(listed[0].id)
                self._inspection.choose_item(listed[0].id)
            parts.show_views(True)

    def _show_code(self, overview: Overview) -> None:
        root = Path(overview.run.project_root) if overview.run else Path()
        self._parts.code.set_items(overview.items, root)
        self._parts.code.set_sampling(_sampling(overview.run))
        self._parts.code.show_some()

    def _show_run(self) -> None:
        """Show the run when somebody looks: what a tab tells of the whole run takes long to read."""
        self._behind = self._inspection.run is not None
        if not self._behind:
            self._parts.run.set_run(None)
        self._show_tab()

    def _show_tab(self) -> None:
        run = self._inspection.run
        if self._behind and run is not None and self._parts.tabs.currentWidget() is self._parts.run:
            self._behind = False
            self._parts.run.set_run(run)
            self._figures.note(run.id)

    def _show_item(self, item: ItemRow | None) -> None:
        def show() -> None:
            self._parts.regions.select(item.id if item else None)
            self._parts.code.show_item(item)
            self._parts.history.select(item)

        # With the views of a run that is being taken up it is a piece in its turn.
        self._turns.add(show, wait=self._inspection.taking)

    def _show_project_of(self, run: RunRow) -> None:
        """Open the project a run belongs to; where it is not on this machine only the stored regions are shown."""
        root, self._unread = self._inspection.looked_at.project, None
        if root is None or self._project.root == root:
            return
        if root.is_dir():
            items = self._inspection.overview.items if self._inspection.overview else ()
            if items:
                self._project.lend(root, items[0].path)
            self._unread = run
        else:
            self._project.close()
            self._show_project(None)

    def settle(self) -> None:
        self._rest.stop()
        run, self._unread = self._unread, None
        if run is not None:
            kind = kind_of(run.task)
            root = self._inspection.looked_at.project or Path(run.project_root)
            self._project.open(root, kind is None or kind.source.python)
        self.settled.emit()

    def _show_project(self, codebase: Codebase | None) -> None:
        files = listed_files(codebase) if codebase else ()
        show_texts = partial(self._show_texts, codebase)
        self._turns.begin(partial(self._parts.tree.set_files, files), show_texts, self._rest.start)

    def _show_texts(self, codebase: Codebase | None) -> None:
        parts, overview = self._parts, self._inspection.overview
        parts.code.set_codebase(codebase)
        parts.history.set_project(self._project.root)
        parts.show_views(codebase is not None or bool(overview and overview.run))
        item = self._inspection.item
        if item is not None:
            parts.code.show_item(item)
        else:
            parts.code.show_some(first_code(codebase) if codebase else "")


def _sampling(run: RunRow | None) -> Sampling | None:
    if run is None or not task(run.task).source.selected:
        return None
    return RunSettings.from_json(json.loads(run.config_json)).region, run.fingerprint

"""What a person tries beside the runs of this window: a description in their own words, and code that they selected."""

from __future__ import annotations

from PySide6.QtCore import QObject

from core.kinds import task
from core.types import Item, Span
from ui.reading.inspection import Inspection
from ui.reading.open_project import OpenProject
from ui.run.control import RunControl
from ui.window.browsing import Browsing
from ui.window.window_parts import WindowParts


class ByHand(QObject):
    """Has it carried out, and shows what comes of it where it was asked for."""

    def __init__(
        self, parts: WindowParts, control: RunControl, inspection: Inspection, project: OpenProject, browsing: Browsing
    ) -> None:
        """Nothing is tried yet."""
        super().__init__(control)
        self._control, self._inspection, self._project, self._browsing = control, inspection, project, browsing
        self._own, self._selecting = parts.roundtrip.own, parts.code.selecting
        parts.roundtrip.description_written.connect(self.describe)
        self._selecting.check_asked.connect(self.check)
        self._selecting.probe_asked.connect(self.probe)
        control.coordinator.answered.connect(self._take_answer)
        control.ended.connect(self._end)

    def describe(self, item_id: int, text: str) -> None:
        """Run the backward pass on the user's own description of a region of the run that is shown."""
        run, database = self._inspection.run, self._inspection.database
        if run is not None and database is not None and self._control.describe(run.id, item_id, text, database):
            self._own.leave()
            self._browsing.trace.await_answer(item_id)

    def check(self, path: str, start: int, end: int) -> None:
        """Ask whether tests cover selected code and notice its deletion."""
        codebase = self._project.codebase
        if codebase is None or not self._control.check(codebase.root, path, Span(start, end)):
            self._selecting.settle()

    def probe(self, path: str, start: int, end: int) -> None:
        """Run the round trip on selected code, beside the regions of the run that is shown."""
        run, codebase, database = self._inspection.run, self._project.codebase, self._inspection.database
        if codebase is None or database is None:
            return
        # A run on another project, or one whose task draws no code, has no place for it: it gets a run of its own.
        fits = run is not None and run.project_root == str(codebase.root) and task(run.task).selects_code
        run_id = run.id if run is not None and fits else None
        begun = self._control.probe(run_id, codebase.root, path, Span(start, end), database)
        self._browsing.await_item(begun)
        if not begun:
            self._selecting.settle()

    def _take_answer(self, answer: object) -> None:
        if isinstance(answer, Item):
            self._selecting.show_answer(answer)

    def _end(self) -> None:
        self._browsing.await_item(False)
        self._browsing.trace.await_answer(None)
        self._selecting.settle()

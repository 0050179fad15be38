"""What is asked before a run: its settings, how fast it would go, what the tests lack, or an item in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from rtc_inspector.core.errors import Cancelled, InspectorError
from rtc_inspector.core.kinds import TASKS, article, for_words, project_of
from rtc_inspector.core.oracle.bench.project import origin_of
from rtc_inspector.core.run.events import Progress
from rtc_inspector.core.settings import OracleSettings, RunSettings
from rtc_inspector.core.store.rows import PaceRow
from rtc_inspector.ui.reading.inspection import Inspection
from rtc_inspector.ui.reading.open_project import OpenProject
from rtc_inspector.ui.run.control import RunControl
from rtc_inspector.ui.run.models import ModelList
from rtc_inspector.ui.shell.fields import error_words, form, show_modal
from rtc_inspector.ui.shell.run_dialog import RunDialog
from rtc_inspector.ui.style.controls import DIALOG, called, column, field, label
from rtc_inspector.ui.style.fonts import write_fixed
from rtc_inspector.ui.style.theme import SPACE

if TYPE_CHECKING:
    from rtc_inspector.core.oracle.environment import Standing

T = TypeVar("T")
LINES = 4  # height of what is written, and of the tests
WIDE = 620


Written = tuple[str, str, str]  # words, the head of the function and tests; the last two may be empty


class WordsDialog(QDialog):
    """Takes one item in words; what cannot be used is said before a run begins."""

    def __init__(self, known: Written, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        kind = next(kind for kind in TASKS.values() if kind.source.words)
        self._taker = kind.source.words
        self.setWindowTitle(f"Write {article(kind.noun)}")
        words, header, tests = known
        hint = "What the function is to do, e.g. Return the second largest of the numbers."
        self.words = QPlainTextEdit(words, placeholderText=hint, tabChangesFocus=True)
        hint = "assert second_largest([3, 1, 2]) == 2   (without tests only words are compared)"
        self.tests = QPlainTextEdit(tests, placeholderText=hint, tabChangesFocus=True)
        hint = "def second_largest(numbers):   (without one the model chooses)"
        self.header = field("Head of the function", hint, header)
        self.problem = label(role="bad", wrap=True)
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Ok | standard.Cancel)
        self.run = self.buttons.button(standard.Ok)
        for box, name in ((self.words, kind.noun.capitalize()), (self.tests, "Tests")):
            called(box, name, role="field").setFixedHeight(box.fontMetrics().lineSpacing() * LINES + 2 * SPACE)
        write_fixed(self.header, 9)
        write_fixed(self.tests, 9)
        self.problem.hide()
        called(self.run, tip="Write programs from it, as a run of its own (Ctrl+Return)", role="primary").setText("Run")
        self.run.setShortcut("Ctrl+Return")
        self.words.textChanged.connect(self._offer)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        self._offer()
        rows = form()
        rows.addRow(kind.noun.capitalize(), self.words)
        rows.addRow("Function", self.header)
        rows.addRow("Tests", self.tests)
        about = label(f"{kind.tip}.", "muted", wrap=True)
        column(about, rows, self.problem, self.buttons, margins=DIALOG, spacing=SPACE * 2, owner=self)
        self.resize(WIDE, self.sizeHint().height())

    @property
    def written(self) -> Written:
        return self.words.toPlainText().strip(), self.header.text().strip(), self.tests.toPlainText().strip()

    def _offer(self) -> None:
        self.run.setEnabled(bool(self.words.toPlainText().strip()))

    def _accept(self) -> None:
        try:
            # Tried at once: what no run could use is said while the words still stand there.
            resolve_name(self._taker)(*self.written)
        except InspectorError as error:
            self.problem.setText(error_words(error))
            self.problem.show()
            return
        self.accept()


CHECK = "environment"
TOO_SLOW = "Not one sample came within a minute: a run of this size takes very long with these models."


class Starting(QObject):
    """Opens the dialogs over one window."""

    start_asked = Signal()  # with what was settled there
    words_written = Signal(object)  # settings of a run on an item that the user wrote in words

    def __init__(
        self, window: QWidget, control: RunControl, inspection: Inspection, project: OpenProject, models: ModelList
    ) -> None:
        super().__init__(window)
        self._window, self._gateway, self._control = window, project.gateway, control
        self._inspection, self._project, self._models = inspection, project, models
        self._dialog: RunDialog | None = None
        self._paces: Sequence[PaceRow] = ()
        self._trials: list[PaceRow] = []
        self._measuring = False
        self._written: Written = ("", "", "")
        control.progressed.connect(self._tell_progress)
        control.coordinator.answered.connect(self._take_pace)
        control.coordinator.failed.connect(self._fail)
        control.ended.connect(self._end)

    def ask(self) -> None:
        models, control, inspection = self._models, self._control, self._inspection
        dialog = RunDialog(
            control.settings, self._window, models.headers, models.ask_endpoint, models.endpoints(), control.file,
            len(origin_of(self._project.root).keys) if self._project.root is not None else 0,
        )  # fmt: skip
        self._dialog = dialog
        if inspection.stored:
            inspection.ask("paces", lambda reader: reader.paces(), self._set_paces, of_run=False)
        else:
            self._set_paces(())
        dialog.measure_asked.connect(partial(self._measure, dialog))
        dialog.stop_asked.connect(control.coordinator.stop)
        models.serve(dialog)
        dialog.check_asked.connect(partial(self._check, dialog))
        dialog.try_asked.connect(partial(self._try, dialog))
        dialog.check()
        accepted = show_modal(dialog)
        self._dialog = None
        if self._measuring:
            # Nobody waits for the trial any more.
            control.coordinator.stop()
        if accepted:
            control.adopt(dialog.settings())
            if dialog.starts:
                self.start_asked.emit()
        inspection.forget("paces")
        self._gateway.cancel(CHECK)

    def ask_in_words(self) -> None:
        """Let the user write an item in words; what was written last stands there again."""
        dialog = WordsDialog(self._written, self._window)
        if show_modal(dialog):
            self._written = dialog.written
            self.words_written.emit(for_words(self._control.settings, *dialog.written))

    # ---- how fast it would go

    def _set_paces(self, paces: Sequence[PaceRow]) -> None:
        self._paces = paces
        self._show_paces()

    def _show_paces(self) -> None:
        if self._dialog is not None:
            self._dialog.set_paces([*self._paces, *self._trials])

    def _measure(self, dialog: RunDialog, settings: RunSettings) -> None:
        project = project_of(settings, self._project.root)
        if project is None:
            dialog.end_measuring("No project is open: open its folder, then measure.")
        elif self._control.measure(project, settings):
            self._measuring = True
            dialog.show_measuring("Measuring…")
        else:
            dialog.end_measuring(f"{self._control.what_is_at_work}: stop it, or wait for its end, then measure.")

    def _tell_progress(self, progress: Progress) -> None:
        if self._measuring and self._dialog is not None:
            place = f", {progress.done} of {progress.total}" if progress.total > 1 else ""
            self._dialog.show_measuring(f"Measuring: {progress.stage}{place}.")

    def _take_pace(self, answer: object) -> None:
        if not self._measuring:
            return
        if isinstance(answer, PaceRow):
            self._trials.insert(0, answer)
        elif self._dialog is not None:
            self._dialog.end_measuring(TOO_SLOW)

    def _fail(self, error: Exception) -> None:
        if self._measuring and self._dialog is not None and isinstance(error, InspectorError):
            self._measuring = False
            self._dialog.end_measuring(error_words(error))

    def _end(self) -> None:
        if self._measuring:
            self._measuring = False
            if self._dialog is not None:
                self._dialog.end_measuring(self._dialog.problem.text())
            self._show_paces()

    # ---- what the tests' environment lacks

    def _check(self, dialog: RunDialog, settings: OracleSettings) -> None:
        def show(standing: Standing) -> None:
            dialog.say_environment(standing.said, bool(standing.missing), standing.by_command)

        if self._project.root is not None:
            self._ask(dialog, partial(_standing, self._project.root, settings), show, can_be_tried=False)

    def _try(self, dialog: RunDialog, settings: OracleSettings) -> None:
        if self._project.root is not None:
            work = partial(_tried, self._project.root, settings, lambda: self._dialog is not dialog)
            self._ask(dialog, work, partial(dialog.say_environment, can_be_tried=True), can_be_tried=True)

    def _ask(self, dialog: RunDialog, work: Callable[[], T], show: Callable[[T], None], can_be_tried: bool) -> None:
        def fail(error: Exception) -> None:
            if isinstance(error, InspectorError):
                dialog.say_environment(error_words(error), bad=True, can_be_tried=can_be_tried)
            else:
                self._gateway.failed.emit(error)

        self._gateway.submit(CHECK, work, show, fail)


def _standing(root: Path, settings: OracleSettings) -> Standing:
    """Check the environment; loaded when first asked: few look at the dialog before the window is open."""
    from rtc_inspector.core.oracle.environment import check_environment

    return check_environment(root, settings)


def _tried(root: Path, settings: OracleSettings, unwanted: Callable[[], bool]) -> str:
    from rtc_inspector.core.run.unstored import try_tests

    def report(stage: str, done: int, total: int) -> None:
        if unwanted():
            raise Cancelled

    return try_tests(root, settings, report)

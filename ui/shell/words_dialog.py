"""Words that a person writes down as an item of a run: what is asked for, how its function begins, and its tests."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pkgutil import resolve_name

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from rtc_inspector.core.errors import InspectorError
from rtc_inspector.core.kinds import TASKS, Kind, article
from rtc_inspector.ui.shell.fields import error_words, form
from rtc_inspector.ui.style.controls import DIALOG, column, field, label
from rtc_inspector.ui.style.fonts import write_fixed
from rtc_inspector.ui.style.theme import SPACE

LINES = 4
"""Height of what is written, and of the tests."""
WIDE = 620


@dataclass(frozen=True, slots=True)
class Written:
    """What was written down; `header` and `tests` may be empty."""

    words: str = ""
    header: str = ""
    tests: str = ""


class WordsDialog(QDialog):
    """Takes one item in words; what cannot be used is said before a run begins."""

    def __init__(self, known: Written, parent: QWidget | None = None) -> None:
        """Begin from what was written before."""
        super().__init__(parent)
        kind = next(kind for kind in TASKS.values() if kind.takes_words)
        self._taker = kind.takes_words
        self.setWindowTitle(f"Write {article(kind.noun)}")
        hint = "What the function is to do, e.g. Return the second largest of the numbers."
        self.words = QPlainTextEdit(known.words, placeholderText=hint, tabChangesFocus=True)
        hint = "assert second_largest([3, 1, 2]) == 2   (without tests only words are compared)"
        self.tests = QPlainTextEdit(known.tests, placeholderText=hint, tabChangesFocus=True)
        hint = "def second_largest(numbers):   (without one the model chooses)"
        self.header = field("Head of the function", hint, known.header)
        self.problem = label(role="bad", wrap=True)
        standard = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(standard.Ok | standard.Cancel)
        self.run = self.buttons.button(standard.Ok)
        self._prepare(kind)
        self._lay_out(kind)
        self.resize(WIDE, self.sizeHint().height())

    @property
    def written(self) -> Written:
        """Return what stands there now."""
        return Written(self.words.toPlainText().strip(), self.header.text().strip(), self.tests.toPlainText().strip())

    def _prepare(self, kind: Kind) -> None:
        self.words.setAccessibleName(kind.noun.capitalize())
        self.tests.setAccessibleName("Tests")
        for box in (self.words, self.tests):
            box.setProperty("role", "field")
            box.setFixedHeight(box.fontMetrics().lineSpacing() * LINES + 2 * SPACE)
        write_fixed(self.header, 9)
        write_fixed(self.tests, 9)
        self.problem.hide()
        self.run.setText("Run")
        self.run.setProperty("role", "primary")
        self.run.setShortcut("Ctrl+Return")
        self.run.setToolTip("Write programs from it, as a run of its own (Ctrl+Return)")
        self.words.textChanged.connect(self._offer)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        self._offer()

    def _lay_out(self, kind: Kind) -> None:
        rows = form()
        rows.addRow(kind.noun.capitalize(), self.words)
        rows.addRow("Function", self.header)
        rows.addRow("Tests", self.tests)
        said = label(f"{kind.tip}.", "muted", wrap=True)
        column(said, rows, self.problem, self.buttons, margins=DIALOG, spacing=SPACE * 2, owner=self)

    def _offer(self) -> None:
        self.run.setEnabled(bool(self.words.toPlainText().strip()))

    def _accept(self) -> None:
        try:
            # Tried at once: what no run could use is said while the words still stand there.
            resolve_name(self._taker)(*astuple(self.written))
        except InspectorError as error:
            self.problem.setText(error_words(error))
            self.problem.show()
            return
        self.accept()

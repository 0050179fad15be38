"""The lines above the labels: which samples are in turn, and the one on show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy, QSpinBox, QWidget

from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.ui.labels.label_actions import LabelActions, keys_of, name_keys
from rtc_inspector.ui.panels.pieces import Badge
from rtc_inspector.ui.presenters import describes
from rtc_inspector.ui.shell.fields import indent
from rtc_inspector.ui.style.controls import BAR, ElidedLabel, MenuButton, button, embolden, label, row
from rtc_inspector.ui.style.flow import Flow
from rtc_inspector.ui.style.outcomes import verdict_role, verdict_text
from rtc_inspector.ui.style.theme import SPACE

FORMATS = (
    ("JSON lines…", "jsonl"),
    ("Table (CSV)…", "csv"),
    ("Label Studio (JSON)…", "json"),
    ("Label Studio, unlabelled samples too…", "tasks.json"),
    ("Label Studio's labelling interface…", "xml"),
)
"""Words and file endings."""
Act = Callable[[], object]
SCOPES = ("this run", "all runs")
MOST = 2**31 - 1


class LabelBar(QWidget):
    """Which sample it is, how far the queue is, and the steps as buttons that name their keys."""

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


class LabelQueueBar(QWidget):
    """Which samples are in turn, by what seed, how well annotators agree, and files.

    `changed` when another queue is wanted; `export_asked(ending)` and `import_asked` for files.

    `agreement_asked`: show how well annotators agree; `modes_asked`: change the error modes.
    """

    changed = Signal()
    agreement_asked = Signal()
    modes_asked = Signal()
    export_asked = Signal(str)
    import_asked = Signal()

    def __init__(self, kinds: Sequence[str]) -> None:
        """Offer these kinds of queue."""
        super().__init__()
        self._kinds, self._before = list(kinds), ""
        self.kind, self.scope = _choice(kinds, "Which samples to label"), _choice(SCOPES, "Of which runs")
        self.seed = _number("Seed of the random order", "The same seed gives the same order", 84)
        self.most = _number("How many samples", "With the same seed and size every annotator gets the same ones", 72)
        self.most.setSpecialValueText("all")
        self.said = ElidedLabel("muted")
        for box in (self.kind, self.scope):
            box.currentIndexChanged.connect(self.changed)
        for number in (self.seed, self.most):
            number.valueChanged.connect(self.changed)
        self.agreement = button("Agreement", "How well annotators agree", self.agreement_asked.emit)
        self.modes = button("Modes", "Add, rename, describe, reorder or retire error modes", self.modes_asked.emit)
        self.files = self._files()
        self.scope.setToolTip("All runs of the project: with Blind, nobody can tell which model wrote what")
        asked = _together(self.kind, label("of", "muted"), self.scope)
        numbers = _together(label("Seed", "muted"), self.seed, label("Size", "muted"), self.most)
        others = _together(self.agreement, self.modes, self.files)
        bar = Flow((asked, numbers, others, self.said), SPACE)  # in a narrow window it goes on in the next line
        bar.setContentsMargins(*BAR)
        self.setLayout(bar)

    @property
    def whole_project(self) -> bool:
        """Return whether samples of every run of the project are wanted."""
        return self.scope.currentIndex() == 1

    def set_blind(self, blind: bool, telling: Collection[str], instead: str) -> None:
        """Put out of sight while blind what names runs and annotators, and the kinds of queue in `telling`.

        Where one of those is chosen, `instead` is meanwhile. It is up to the caller to make another queue.
        """
        for part in (self.agreement, self.files):
            part.setVisible(not blind)
        chosen = self.kind.currentText()
        if blind:
            self._before, chosen = (chosen, instead) if chosen in telling else ("", chosen)
        elif self._before and chosen == instead:
            chosen = self._before
        # The caller makes the next queue: a signal here would make another one first.
        with QSignalBlocker(self.kind):
            self.kind.clear()
            self.kind.addItems([kind for kind in self._kinds if not (blind and kind in telling)])
            self.kind.setCurrentText(chosen)

    def _files(self) -> MenuButton:
        made = MenuButton("Files", "Export labels, or import them")
        for words, ending in FORMATS:
            made.offer(f"Export {words}", partial(self.export_asked.emit, ending))
        made.menu().addSeparator()
        made.offer("Import…", self.import_asked.emit)
        return made


def _together(*parts: QWidget) -> QWidget:
    """Return a widget whose parts stay in one line."""
    made = QWidget()
    row(*parts, owner=made)
    return made


def _choice(entries: Sequence[str], name: str) -> QComboBox:
    made = QComboBox()
    made.addItems(list(entries))
    made.setMinimumWidth(0)
    made.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    made.setAccessibleName(name)
    return made


def _number(name: str, tip: str, width: int) -> QSpinBox:
    made = QSpinBox()
    made.setRange(0, MOST)
    # A seed of five digits would make five queues while it is typed.
    made.setKeyboardTracking(False)
    made.setAccessibleName(name)
    # The field inside has the focus, and screen readers name that.
    made.lineEdit().setAccessibleName(name)
    indent(made)
    made.setToolTip(tip)
    made.setFixedWidth(width)
    return made

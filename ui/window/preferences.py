"""Settings, tour and help of one window: what the settings dialog changes takes hold here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHeaderView,
    QLabel,
    QListWidget,
    QSizePolicy,
    QSpinBox,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.settings.setting import described
from rtc_inspector.ui.compare import REFERENCE
from rtc_inspector.ui.compare import STEPS as ITEMS
from rtc_inspector.ui.diff.view import STEPS as CHANGES
from rtc_inspector.ui.labels.controls import keys_of
from rtc_inspector.ui.shell.fields import choice_box, form, heading, indent, level_labels, show_modal
from rtc_inspector.ui.shell.remembered import SCALES, Remembered
from rtc_inspector.ui.shell.welcome import Step, Tour
from rtc_inspector.ui.style.appearance import CHOICES, Appearance
from rtc_inspector.ui.style.controls import (
    DIALOG,
    PAGE,
    FilterField,
    called,
    column,
    field,
    has_words,
    label,
    on_ground,
    push,
    row,
    scrolled,
    split,
)
from rtc_inspector.ui.style.fonts import CODE_POINTS, bold, fixed_font, grown, open_at
from rtc_inspector.ui.style.theme import SPACE, current_theme
from rtc_inspector.ui.window.window_actions import KeyGroup, WindowActions
from rtc_inspector.ui.window.window_parts import WindowParts

_SANDBOX = described(RunSettings)["oracle.sandbox"].about
SCALED = "Text follows at once, all else from the next start on."
SMALLEST, LARGEST = 6, 28  # points of the code font


class SettingsDialog(QDialog):
    """Has what is changed take hold at once."""

    def __init__(self, preferences: Preferences, remembered: Remembered, sandbox: str, code_points: int) -> None:
        super().__init__(preferences.parts.window())
        self.setWindowTitle("Settings")
        self._preferences, self._remembered = preferences, remembered
        looks = {each: {"system": "As the system has it"}.get(each, each.capitalize()) for each in CHOICES}
        self.theme = choice_box("Theme", looks, remembered.theme)
        self.scale = choice_box("Size of everything", {each: f"{each} %" for each in SCALES}, remembered.scale)
        self.points = called(QSpinBox(), "Points of the code font")
        self.sandbox = choice_box("Sandbox of new runs", _SANDBOX.choices, sandbox)
        self.danger, self.scaled = label(_SANDBOX.cautions["none"], "bad", wrap=True), label(SCALED, "muted")
        self.annotator = field("Name that labels are stored under", text=remembered.annotator)
        self.models = called(QListWidget(), "Model files and folders to look through")
        self.danger.setVisible(sandbox == "none")
        self.points.setRange(SMALLEST, LARGEST)
        self.points.setValue(code_points)
        indent(self.points)
        self.models.setMaximumHeight(96)
        self.models.addItems([str(path) for path in self._remembered.models()])
        # `activated` tells of the user alone, not of how the box is filled.
        self.theme.activated.connect(lambda _: preferences.choose_theme(self.theme.currentData()))
        self.scale.activated.connect(lambda _: preferences.choose_scale(self.scale.currentData()))
        self.points.valueChanged.connect(preferences.size_code)
        self.sandbox.activated.connect(self._take_sandbox)
        self.annotator.editingFinished.connect(self._take_annotator)
        rows = form("LOOK")
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        rows.addRow("&Theme", self.theme)
        rows.addRow("&Size of everything", self.scale)
        rows.addRow("", self.scaled)
        rows.addRow("&Code font, points", self.points)
        rows.addRow(heading("MODELS"))
        rows.addRow("Files and folders", self.models)
        rows.addRow("", self._model_buttons())
        rows.addRow(heading("RUNS AND LABELS"))
        rows.addRow("Sand&box", self.sandbox)
        rows.addRow("", self.danger)
        rows.addRow("&Your name on labels", self.annotator)
        level_labels(rows)
        where = label(f"Kept in {remembered.place}", "caption", wrap=True)
        where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        column(rows, where, self._buttons(), margins=DIALOG, spacing=SPACE * 2, owner=self)
        self.setMinimumWidth(560)

    def _model_buttons(self) -> QWidget:
        holder = QWidget()
        kinds, ask = "GGUF models (*.gguf);;All files (*)", QFileDialog
        one, several = "Add a model file", "Add a folder to look through for models"
        file, folder, remove = (
            push("Add file…", one, lambda: self._add_model(ask.getOpenFileName(self, one, "", kinds)[0])),
            push("Add folder…", several, lambda: self._add_model(ask.getExistingDirectory(self, several))),
            push("Remove", "Look there no more", self._remove_model),
        )
        row(file, folder, remove, None, owner=holder)
        return holder

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for text, tip, asked in (
            ("Help…", "Show how it works, and every key", self._preferences.show_help),
            ("Tour", "Show the tour of the window again", self._show_tour),
        ):
            buttons.addButton(push(text, tip, asked), QDialogButtonBox.ButtonRole.HelpRole)
        buttons.rejected.connect(self.reject)
        return buttons

    def _show_tour(self) -> None:
        self.accept()
        self._preferences.show_tour()

    def _take_sandbox(self) -> None:
        self.danger.setVisible(self.sandbox.currentData() == "none")
        self._preferences.sandbox_chosen.emit(self.sandbox.currentData())

    def _take_annotator(self) -> None:
        if self.annotator.text().strip():
            self._preferences.annotator_named.emit(self.annotator.text().strip())

    def _add_model(self, path: str) -> None:
        if path and not self.models.findItems(path, Qt.MatchFlag.MatchExactly):
            self._remembered.add_model(Path(path))
            self.models.insertItem(0, path)
            self._preferences.models_changed.emit()

    def _remove_model(self) -> None:
        item = self.models.takeItem(self.models.currentRow())
        if item is not None:
            self._remembered.remove_model(Path(item.text()))
            self._preferences.models_changed.emit()


class Preferences(QObject):
    """Opens the dialog and the tour; keeps the size of the code."""

    sandbox_chosen = Signal(str)  # its name
    annotator_named = Signal(str)  # their name
    models_changed = Signal()
    tour_ended = Signal()

    def __init__(
        self,
        appearance: Appearance,
        remembered: Remembered,
        actions: WindowActions,
        parts: WindowParts,
        sandbox: Callable[[], str],
    ) -> None:
        super().__init__(parts)
        self._appearance, self._remembered = appearance, remembered
        self._actions, self.parts, self._sandbox = actions, parts, sandbox
        self.tour: Tour | None = None
        # Qt scales all of a window that opens; text alone grows beyond that until the next start.
        self._scale = remembered.scale
        self._points = remembered.code_points or CODE_POINTS

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {
            "larger": lambda: self.size_code(self._points + 1),
            "smaller": lambda: self.size_code(self._points - 1),
            "preferences": self.ask,
            "help": self.show_help,
            "tour": self.show_tour,
        }

    def ask(self) -> None:
        show_modal(SettingsDialog(self, self._remembered, self._sandbox(), round(self._points)))

    def choose_theme(self, choice: str) -> None:
        self._remembered.theme = choice
        self._appearance.choose(choice)

    def choose_scale(self, scale: int) -> None:
        """Show text in that size from now on; what surrounds it, and a window that opens, takes it up by itself."""
        self._remembered.scale = scale
        self._appearance.grow(scale / self._scale)
        self.parts.code.editor.use_font(fixed_font(self._points))

    def restore(self) -> None:
        if self._remembered.code_points:
            self.size_code(self._points)

    def size_code(self, points: float) -> None:
        self._points = min(max(points, float(SMALLEST)), float(LARGEST))
        self._remembered.code_points = self._points
        self.parts.code.editor.use_font(fixed_font(self._points))

    def show_help(self) -> None:
        show_modal(HelpDialog([*self._actions.key_groups(), *keys_of_views(self.parts)], self.parts.window()))

    def show_tour(self) -> None:
        self._remembered.toured = True
        self.show_steps(tour_steps(self.parts))

    def show_steps(self, steps: Sequence[Step]) -> None:
        # It covers the window: a second one would lie over the first.
        if self.tour is None:
            self.tour = Tour(steps, self.parts.window())
            self.tour.ended.connect(self._end_tour)
            self.tour.begin()

    def _end_tour(self) -> None:
        if self.tour is not None:
            self.tour.deleteLater()
            self.tour = None
        self.tour_ended.emit()


def keys_of_views(parts: WindowParts) -> list[KeyGroup]:
    """Return the keys that act in one view alone, some of which are made when they are first needed."""
    labels = [(action.text(), keys_of(action, ", ")) for action in parts.labels.key_actions.all()]
    return [
        ("Code", [(action.text(), keys_of(action, ", ")) for action in parts.code.keys]),
        ("Diff", CHANGES),
        ("Compare", (*ITEMS, REFERENCE)),
        ("Labels desk", [(words, keys) for words, keys in labels if words]),
    ]


def tour_steps(parts: WindowParts) -> list[Step]:
    """Return the steps of the tour for a new user."""
    return [
        Step(
            parts.bar,
            "Choose and run",
            "A project, a task and a model on this machine; then Run. The button beside it says what a run will cost.",
        ),
        Step(
            parts.regions,
            "Regions",
            "Pieces of code that the project's tests can judge. Red ones the model could not write again from its own "
            "description. F9 goes to the next failure.",
        ),
        Step(
            parts.code,
            "Your code",
            "Every region in its place. Select any lines and press F7: the round trip runs on them.",
        ),
        Step(
            parts.roundtrip,
            "Round trip",
            "What the model said of the region, what it wrote from that and the code around it, and what the tests "
            "said. Ctrl+K goes anywhere. F1 says how it works and shows every key.",
        ),
    ]


FIXED: KeyGroup = (
    "Everywhere",
    (
        ("Choose in lists and among samples", "Arrows"),
        ("Open and close folders", "Left, Right"),
        ("Next control, the one before", "Tab, Shift+Tab"),
        ("Press what has the focus", "Enter, Space"),
        ("Leave a field or a dialog", "Esc"),
        ("The keys of labelling, while labelling", "?"),
    ),
)

METHOD = (
    (
        "What is asked",
        "A model reads a piece of your code and describes it in words. The same model or another one gets your code "
        "without that piece, and those words, and writes it again. Your own tests judge the result. A model that has "
        "understood the code says what it takes to write it again.",
    ),
    (
        "Where it comes from",
        "A candidate is any statements in a row that your tests run. A region is a candidate that a run has drawn and "
        "whose deletion a test notices. What a run draws is an item: a region, or in other tasks an edit out of the "
        "history, a problem, a cell, a function.",
    ),
    (
        "What is made of it",
        "A sample is one answer of a model. Descriptions (y1, y2 …) are made of the item; a reconstruction (x̂) is code "
        "made from one of them. Of an edit that is a prediction, of a problem a program. Each is judged in a sandbox; "
        "your files are never changed.",
    ),
    (
        "What comes of it",
        "RTC is the share of reconstructions that pass, over all items. The baseline (ε) is written without any "
        "description, from the code around alone. Lift is RTC less the baseline: what the description was worth. The "
        "bounds beside a figure say what other draws from the same project could have given, in 95 of 100 cases; where "
        "those of the lift hold 0, it is not shown that descriptions help.",
    ),
    (
        "What to beware of",
        "A description that recites the code proves nothing, nor does a pass where the same lines stand once more in "
        "the file: both are marked. What the tests do not ask, no pass can tell.",
    ),
)
PICTURE = 640, 190  # pixels of the picture for text of the usual size


class MethodPicture(QWidget):
    """The way of a region: described, written again, judged; and below it the way without a description."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Code becomes a description, the description code again, and the tests judge that code.")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(grown(self, PICTURE[0]), grown(self, PICTURE[1]))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(1, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        theme, painter = current_theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        wide, high = self.width() / 4, self.height() / 2
        boxes = (
            (0, 0, "Region x", "code that\nyour tests judge", theme.accent),
            (1, 0, "Description y", "in words, by the\nforward model", theme.warn),
            (2, 0, "Reconstruction x̂", "code, by the\nbackward model", theme.accent),
            (3, 0, "Tests", "passed: RTC", theme.good),
            (1, 1, "No description ε", "the code around\nis all there is", theme.neutral),
            (2, 1, "Baseline", "code, by the\nbackward model", theme.accent),
            (3, 1, "Tests", "passed: baseline\nRTC less it: lift", theme.good),
        )
        for at, line, title, text, colour in boxes:
            room = QRectF(at * wide + 1, line * high + 1, wide - SPACE * 3, high - SPACE * 2)
            painter.setPen(QPen(QColor(colour), 1.5))
            painter.setBrush(QColor(theme.tint(colour)))
            painter.drawRoundedRect(room, 7, 7)
            painter.setPen(QColor(theme.text))
            painter.setFont(bold(self.font()))
            inside, centre = room.adjusted(2, SPACE, -2, -SPACE), Qt.AlignmentFlag.AlignHCenter
            painter.drawText(inside, centre | Qt.AlignmentFlag.AlignTop, title)
            painter.setFont(self.font())
            painter.setPen(QColor(theme.muted))
            painter.drawText(inside, centre | Qt.AlignmentFlag.AlignBottom, text)
        painter.setPen(QPen(QColor(theme.muted), 1.5))
        painter.setBrush(QColor(theme.muted))
        for at, line in ((0, 0), (1, 0), (2, 0), (1, 1), (2, 1)):
            end = QPointF((at + 1) * wide - 2, line * high + (high - SPACE * 2) / 2)
            painter.drawLine(end - QPointF(SPACE * 3 - 4, 0), end)
            painter.drawPolygon(QPolygonF([end, end - QPointF(6, 4), end - QPointF(6, -4)]))
        painter.end()


class HelpDialog(QDialog):
    """The method at the left, all keys at the right."""

    def __init__(self, groups: Sequence[KeyGroup], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help")
        self.words, self.keys = FilterField("Filter by what a key does, or by the key", "Filter keys"), QTreeWidget()
        self.keys.setAccessibleName("Keys")
        self.keys.setHeaderLabels(["What it does", "Keys"])
        self.keys.setRootIsDecorated(False)
        self.keys.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.keys.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.keys.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.keys.header().setStretchLastSection(False)
        self.groups: list[tuple[QTreeWidgetItem, list[QTreeWidgetItem]]] = []
        for title, lines in (*groups, FIXED):
            head = QTreeWidgetItem(self.keys, [title])
            head.setFont(0, bold(self.keys.font()))
            head.setFlags(Qt.ItemFlag.ItemIsEnabled)  # arrow keys pass over a heading
            head.setFirstColumnSpanned(True)
            self.groups.append((head, [QTreeWidgetItem(head, [words, keys]) for words, keys in lines if keys]))
        self.keys.expandAll()
        self.words.textChanged.connect(self._filter)
        right = QWidget()
        close = row(None, push("Close", "", self.reject))
        parts = (label("Keys", "title"), self.words, self.keys, close)
        column(*parts, margins=(SPACE * 2, 0, 0, 0), spacing=SPACE, owner=right, grows=self.keys)
        both = split(Qt.Orientation.Horizontal, self._method(), right, sizes=(660, 420))
        column(both, margins=PAGE, owner=self)
        open_at(self, 1120, 680)
        self.keys.setFocus()

    def _method(self) -> QWidget:
        page = QWidget()
        on_ground(page, "surface")
        texts: list[QLabel] = []
        for title, text in METHOD:
            texts += [label(title, "heading"), label(text, wrap=True, selectable=True)]
        parts = (label("How it works", "title"), MethodPicture(), *texts)
        column(*parts, margins=PAGE, spacing=SPACE, owner=page).addStretch(1)
        scroll = called(scrolled(page), "How it works")
        scroll.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # what has no room is read with the arrow keys
        return scroll

    def _filter(self, words: str) -> None:
        for head, lines in self.groups:
            for line in lines:
                line.setHidden(not has_words(f"{line.text(0)} {line.text(1)}", words))
            head.setHidden(all(line.isHidden() for line in lines))

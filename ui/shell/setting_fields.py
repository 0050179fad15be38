"""Fields and rows of a dialog, made from what is said of each setting; and the page for the words of prompts."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import FIRST_KIND, TASKS
from rtc_inspector.core.settings.setting import Described
from rtc_inspector.core.settings.words import changed, instructions, words_of
from rtc_inspector.ui.shell.fields import FIELD, ElidedBox, indent, pair, show_modal, window_words
from rtc_inspector.ui.style.controls import DIALOG, PushButton, called, column, label, push, row
from rtc_inspector.ui.style.fonts import keep_on_screen, open_at, write_fixed
from rtc_inspector.ui.style.theme import SPACE

LARGEST = 2**31 - 1  # a number field holds no more
NARROWEST = 72  # pixels: a field would be as wide as its largest number or its longest entry, which few ever have


class SettingField(QObject):
    """One setting as a field: `box` is the control itself, `holder` that with what stands beside it."""

    changed = Signal()

    def __init__(self, each: Described, box: QWidget, holder: QWidget | None = None) -> None:
        super().__init__()
        self.each, self.box, self.holder = each, box, holder or box
        box.setAccessibleName(each.about.label)
        box.setMinimumSize(NARROWEST, FIELD)
        box.setToolTip(window_words(each.about.help[0].upper() + each.about.help[1:]))
        self._start: tuple[Any, Any] = (None, None)

    def show(self, value: Any) -> None:
        self._put(value)
        self._start = (value, self._read())

    def value(self) -> Any:
        """Return its value: to the last digit what was shown, unless somebody changed it. Raises ValueError."""
        # A field of two decimals shows 0.125 as 0.13: unless somebody changes it, it stays 0.125.
        shown, read = self._start
        now = self._read()
        return shown if now == read else now

    def problem(self) -> str:
        try:
            value = self.value()
        except ValueError as error:
            return f"{self.each.about.label}: {error}."
        about = self.each.about
        if about.form == "file" and value and value not in about.names and not Path(value).exists():
            return f"There is no file {value}."
        problem = self.each.problem(value)
        return f"{problem}." if problem else ""

    def _put(self, value: Any) -> None:
        raise NotImplementedError

    def _read(self) -> Any:
        raise NotImplementedError


class NumberField(SettingField):
    """A number within its bounds; below the least is None, where that is a value."""

    def __init__(self, each: Described) -> None:
        about = each.about
        self._whole = each.kind is int
        self._box = QSpinBox() if self._whole else QDoubleSpinBox()
        if isinstance(self._box, QDoubleSpinBox):
            fine = 3 if 0 < about.least < 0.01 else 2 if about.most <= 10 else 1
            self._box.setDecimals(4 if about.sign == "MONEY" else fine)
            self._box.setSingleStep(0.1 if about.most <= 10 else 1)
        step = 1 if self._whole else 0.1
        # A number field has no empty state: a step below the least value stands for it, and shows words.
        self._none = about.least - step if each.optional else None
        least = about.least if self._none is None else self._none
        self._box.setRange(self._typed(least), self._typed(about.most))
        if each.optional:
            self._box.setSpecialValueText(about.unset)
        indent(self._box)
        super().__init__(each, self._box)
        self._box.valueChanged.connect(self.changed)

    def _typed(self, value: float) -> Any:
        return int(value) if self._whole else float(value)

    def _put(self, value: Any) -> None:
        self._box.setValue(self._typed(self._none if value is None and self._none is not None else value))
        for line in self._box.findChildren(QLineEdit):
            line.home(False)  # long words begin where they can be read

    def _read(self) -> Any:
        value = self._typed(round(self._box.value(), 3))
        return None if self._none is not None and value < self.each.about.least else value


class SwitchField(SettingField):
    """On or off; its label stands beside it."""

    def __init__(self, each: Described) -> None:
        self._box = QCheckBox(each.about.label)
        super().__init__(each, self._box)
        self._box.toggled.connect(self.changed)

    def _put(self, value: Any) -> None:
        self._box.setChecked(bool(value))

    def _read(self) -> bool:
        return self._box.isChecked()


class ChoiceField(SettingField):
    """One of several values."""

    def __init__(self, each: Described) -> None:
        self._box = ElidedBox(sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        for value, words in each.about.choices.items():
            self._box.addItem(words, value)
        super().__init__(each, self._box)
        self._box.currentIndexChanged.connect(self.changed)

    def _put(self, value: Any) -> None:
        self._box.setCurrentIndex(max(self._box.findData(value), 0))

    def _read(self) -> Any:
        return self._box.currentData()


class TextField(SettingField):
    """A text, a file, a list with commas, or a number that no number field holds."""

    def __init__(self, each: Described) -> None:
        self._box = QLineEdit(placeholderText=each.about.unset)
        holder = None
        if each.about.form in ("file", "folder", "program"):
            choose = called(push("Choose…", "", self._choose), f"Choose: {each.about.label}")
            holder = pair(self._box, choose)
        super().__init__(each, self._box, holder)
        self._box.textChanged.connect(self.changed)

    def _choose(self) -> None:
        folder = self.each.about.form == "folder"
        ask = QFileDialog.getExistingDirectory if folder else QFileDialog.getOpenFileName
        chosen = ask(self._box.window(), self.each.about.label)
        path = chosen if isinstance(chosen, str) else chosen[0]
        if path:
            self._box.setText(path)

    def _put(self, value: Any) -> None:
        many = self.each.many
        self._box.setText(", ".join(map(str, value)) if many else "" if value is None else str(value))

    def _read(self) -> Any:
        text = self._box.text().strip()
        if self.each.many:
            apart = r"[\s,;]+" if self.each.about.form == "ending" else r"\s*,\s*"
            return tuple(self.each.read(word) for word in re.split(apart, text) if word) or self.each.default
        if not text:
            return None if self.each.optional else self.each.default
        return self.each.read(text)


def field_of(each: Described, value: Any) -> SettingField:
    """Return the field for a setting, at a value."""
    field: SettingField
    if each.kind is bool:
        field = SwitchField(each)
    elif each.about.choices:
        field = ChoiceField(each)
    elif each.kind in (int, float) and not each.many and each.about.most <= LARGEST:
        field = NumberField(each)
    else:
        field = TextField(each)
    field.show(value)
    return field


class SettingRow(QWidget):
    """Fields side by side, with the words between them; and the danger of the value that stands there."""

    def __init__(self, fields: Sequence[SettingField]) -> None:
        """Name the row after its first field, as long as that field is shown."""
        super().__init__()
        self.fields, self.label, self.caution = fields, label(), label(role="bad", wrap=True)
        self.label.setMinimumHeight(FIELD)
        line = row(owner=self)
        self._words: list[QLabel] = []
        for field in fields:
            words = label(field.each.about.same_row, "muted")
            self._words.append(words)
            line.addWidget(words)
            line.addWidget(field.holder, 1)

    def add_to(self, form: QFormLayout, spans: bool = False) -> None:
        """Add the row to a form; `spans`: a switch, which has no label beside it, takes the whole width."""
        self._form = form
        if spans and isinstance(self.fields[0].box, QCheckBox):
            form.addRow(self)
        else:
            form.addRow(self.label, self)
        form.addRow("", self.caution)

    def follow(self, shows: Callable[[SettingField], bool]) -> bool:
        """Show the fields that are of use; whether there is any."""
        shown = [field for field in self.fields if shows(field)]
        for field, words in zip(self.fields, self._words, strict=True):
            field.holder.setVisible(field in shown)
            words.setVisible(field in shown[1:])
        if shown:
            self.label.setText("" if isinstance(shown[0].box, QCheckBox) else shown[0].each.about.label)
        self._form.setRowVisible(self, bool(shown))
        cautious = (field for field in shown if field.each.about.cautions)
        caution = "".join(field.each.about.cautions.get(str(field.value()), "") for field in cautious)
        self.caution.setText(caution)
        self._form.setRowVisible(self.caution, bool(caution))
        return bool(shown)


def rows_of(fields: Mapping[str, SettingField], paths: Sequence[str]) -> list[SettingRow]:
    """Return the rows for these settings; one that stands beside another shares its row."""
    together: list[list[SettingField]] = []
    for path in paths:
        field = fields[path]
        if field.each.about.same_row and together:
            together[-1].append(field)
        else:
            together.append([field])
    return [SettingRow(each) for each in together]


class WordsField(SettingField):
    """Whose words models are asked in; a click opens the page. `task`: the method whose words they are."""

    def __init__(self, each: Described) -> None:
        self._button, self._text, self.task = PushButton(), "", FIRST_KIND.name
        super().__init__(each, self._button)
        self._button.clicked.connect(self._open)

    def _open(self) -> None:
        page = PromptWords(self.task, self._text, self._button.window())
        if show_modal(page):
            self._put(page.words)
            self.changed.emit()

    def _put(self, value: Any) -> None:
        self._text = str(value or "")
        self._button.setText("Your own words…" if self._text else "The program's own…")

    def _read(self) -> str:
        return self._text


class PromptWords(QDialog):
    """Shows what models are asked, and takes other words. `words`: what was changed, as TOML."""

    def __init__(self, task: str, own: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Words of the prompts")
        self._task, self.words = task, own
        self.problem = label(role="bad", wrap=True)
        self.problem.hide()
        self.boxes: dict[str, QPlainTextEdit] = {}
        fixed = ", ".join(kind.title for kind in TASKS.values() if not kind.has("prompts"))
        about = (
            "Models that talk are asked so, after three worked examples; those that go on writing code, or fill a gap, "
            "are asked without words. A run keeps its words, and a comparison names those that differ. "
            f"The prompts of the other tasks have fixed words: {fixed}."
        )
        parts: list[QWidget] = [label(about, "muted", wrap=True)]
        for each in self._instructions():
            box = called(QPlainTextEdit(each.text.strip("\n"), tabChangesFocus=True), each.title, role="field")
            self.boxes[each.key] = box
            write_fixed(box, 9)
            box.setMinimumHeight(box.fontMetrics().lineSpacing() * (3 if not each.needs else 6))
            needs = " and ".join(f"{{{name}}}" for name in each.needs)
            parts += [label(f"{each.title}{f': needs {needs}' if needs else ''}", "heading"), box]
        body = column(*parts, spacing=SPACE)
        for at, part in enumerate(parts):
            body.setStretch(at, 2 * isinstance(part, QPlainTextEdit) - (at == 2))
        column(body, self.problem, self._buttons(), margins=DIALOG, spacing=SPACE * 2, owner=self)
        open_at(self, 760, 680)
        keep_on_screen(self)

    def _instructions(self) -> list[Any]:
        try:
            return list(instructions(self._task, self.words))
        except UserError as error:  # words of another method, or of a file that was wrong
            self._say(error.problem)
            self.words = ""
            return list(instructions(self._task))

    def _buttons(self) -> QDialogButtonBox:
        standard = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(standard.Ok | standard.Cancel | standard.RestoreDefaults)
        buttons.button(standard.RestoreDefaults).setText("The program's own")
        buttons.button(standard.RestoreDefaults).clicked.connect(self._restore)
        buttons.accepted.connect(self._accept)
        buttons.rejected.connect(self.reject)
        return buttons

    def _restore(self) -> None:
        self.words = ""
        for each in instructions(self._task):
            self.boxes[each.key].setPlainText(each.text.strip("\n"))

    def _accept(self) -> None:
        texts = {key: box.toPlainText() for key, box in self.boxes.items()}
        words = changed(self._task, texts, self.words)
        try:
            words_of(self._task, words)
        except UserError as error:
            self._say(error.problem)
            return
        self.words = words
        self.accept()

    def _say(self, problem: str) -> None:
        self.problem.setText(problem)
        self.problem.show()

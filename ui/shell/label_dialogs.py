"""Dialogs of the labels desk: how well annotators agree, and the error modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFileDialog,
    QFormLayout,
    QHeaderView,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QTableView,
    QWidget,
)

from rtc_inspector.core.analyses.agreement import confusion_table
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.store.labels import named
from rtc_inspector.core.taxonomy import KEYS, NO_KEY, ErrorMode, Taxonomy, fresh_id, read_taxonomy, revised
from rtc_inspector.ui.shell.fields import error_words, say
from rtc_inspector.ui.style.controls import PAGE, bind, called, column, field, label, push, row, to_clipboard
from rtc_inspector.ui.style.fonts import open_at
from rtc_inspector.ui.style.tables import Cell, CellModel, Head, table
from rtc_inspector.ui.style.theme import SPACE

if TYPE_CHECKING:
    from rtc_inspector.core.analyses.agreement import Agreement, PairAgreement
    from rtc_inspector.core.types import Estimate

SCALE = (
    "Labels of several modes are the same when all of them are; the table of modes asks of each mode by itself whether "
    "it was given. 1 is perfect, 0 is what chance gives. Krippendorff asks for 0.80, and for 0.667 where tentative "
    "conclusions do. Intervals: 95 %, bootstrap over samples. Decisions of an adjudicator are left out."
)


class AgreementDialog(QDialog):
    """Shows that it is being worked out, then what came of it."""

    def __init__(self, scope: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Agreement")
        self._scope = scope
        self.head = label("Reading the labels…", "title", wrap=True, selectable=True)
        self.counts = label(role="muted", wrap=True, selectable=True)
        scale = label(SCALE, "muted", wrap=True, selectable=True)
        self.modes = _sheet("Agreement on each mode", ("Mode, given or not", "Labels", "Agreement", "95 %"))
        self.met = label(role="muted", wrap=True)
        self.confusion = _sheet("Which mode one annotator gave where the other gave which", ("",))
        self._pairs: Sequence[PairAgreement] = ()
        self._names: Mapping[str, str] = {}
        self.pairs = _sheet("Agreement of each pair", ("Pair", "Both labelled", "Same modes", "Cohen's kappa", "95 %"))
        self.copy = push("Copy", "", lambda: to_clipboard(self.as_text()))
        self.copy.setEnabled(False)
        close = push("Close", "", self.reject)
        parts = (self.head, self.counts, self.modes, self.pairs, self.met, self.confusion, scale)
        whole = column(*parts, row(None, self.copy, close), margins=PAGE, spacing=SPACE, owner=self)
        for sheet in (self.modes, self.pairs, self.confusion):
            whole.setStretchFactor(sheet, 1)
        whole.insertStretch(len(parts), 0)  # takes the room of tables that are hidden, and none beside them
        self.pairs.selectionModel().currentRowChanged.connect(lambda now, before: self._show_confusion(now.row()))
        open_at(self, 860, 720)

    def show_agreement(self, found: Agreement, names: Mapping[str, str]) -> None:
        self.head.setText(_headline(found))
        self.counts.setText(_counted(found, self._scope))
        modes = [(names.get(each.mode, each.mode), str(each.times), *_figures(each.estimate)) for each in found.modes]
        _fill(self.modes, modes)
        _fill(self.pairs, [_pair(each) for each in found.pairs])
        self.modes.setVisible(bool(found.coefficient))
        self.pairs.setVisible(len(found.pairs) > 1)
        self._pairs, self._names = found.pairs, names
        self._show_confusion(0)
        self.copy.setEnabled(True)

    def _show_confusion(self, place: int) -> None:
        pair = self._pairs[place] if 0 <= place < len(self._pairs) else None
        modes, counts = confusion_table(pair) if pair else ((), ())
        for part in (self.met, self.confusion):
            part.setVisible(bool(modes))
        if pair is None:
            return
        first, second = _name(pair.first), _name(pair.second)
        more = " Choose another pair above." if len(self._pairs) > 1 else ""
        self.met.setText(f"Confusion table: rows are what {first} gave, columns what {second} gave.{more}")
        names = [named(mode, self._names) for mode in modes]
        _cells(self.confusion).change_columns([Head(f"{first} \\ {second}"), *map(Head, names)])
        self.confusion.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        rows = [(name, *(str(n or "·") for n in row)) for name, row in zip(names, counts, strict=True)]
        _fill(self.confusion, rows, diagonal=True)

    def as_text(self) -> str:
        lines = [self.head.text(), self.counts.text()]
        for sheet in (self.modes, self.pairs, self.confusion):
            if sheet.isVisibleTo(self):
                lines += ["", _cells(sheet).as_text()]
        return "\n".join(lines)


def _headline(found: Agreement) -> str:
    if not found.coefficient:
        return "Agreement needs two annotators."
    value, bounds = _figures(found.overall)
    same = "" if found.same is None else f" · the same modes in {found.same:.2f}"
    return f"{found.coefficient}: {value}" + (f" ({bounds})" if found.overall.low is not None else "") + same


def _name(annotator: str) -> str:
    return annotator or "unnamed"


def _pair(pair: PairAgreement) -> tuple[str, ...]:
    same = "–" if pair.same is None else f"{pair.same:.2f}"
    return f"{_name(pair.first)} and {_name(pair.second)}", str(pair.estimate.n), same, *_figures(pair.estimate)


def _counted(found: Agreement, scope: str) -> str:
    people = ", ".join(f"{_name(name)} ({count:,})" for name, count in found.annotators) or "nobody"
    return (
        f"In {scope}, labelled by {people}. {found.samples:,} samples by two or more, {found.disputed:,} of them with "
        "different modes."
    )


def _figures(estimate: Estimate) -> tuple[str, str]:
    if estimate.value is None:
        return "undefined", "–"
    bounds = "–" if estimate.low is None else f"{estimate.low:.2f} to {estimate.high:.2f}"
    return f"{estimate.value:.2f}", bounds


def _sheet(name: str, heads: Sequence[str]) -> QTableView:
    sheet, model = table(name), CellModel([Head(each) for each in heads])
    model.figures = 1
    sheet.setModel(model)
    sheet.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    sheet.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
    return sheet


def _cells(sheet: QTableView) -> CellModel:
    model = sheet.model()
    assert isinstance(model, CellModel)
    return model


def _fill(sheet: QTableView, rows: Sequence[Sequence[str]], diagonal: bool = False) -> None:
    """`diagonal`: of a table in which rows and columns are the same modes, where both gave the same stands in bold."""
    _cells(sheet).fill(
        [
            ([Cell(text, end=at > 0, bold=diagonal and at == place + 1) for at, text in enumerate(texts)], place)
            for place, texts in enumerate(rows)
        ]
    )


FILES = "Error modes (*.toml);;All files (*)"
ABOUT = (
    "A mode keeps its id whatever it is called, and so do its labels. When the meaning changes, retire it and add one. "
    "The guide line is your team's own: it stands with the meaning on the desk, and tells when to choose it on your "
    "code."
)


class TaxonomyDialog(QDialog):
    """`saved(taxonomy)`: the next version, as edited. Nothing is written by the dialog itself but exports."""

    saved = Signal(object)

    def __init__(self, taxonomy: Taxonomy, place: Path, parent: QWidget | None = None) -> None:
        """Begin with `taxonomy`; `place` is where the user's own is kept, told to the user."""
        super().__init__(parent)
        self.setWindowTitle("Error modes")
        self._before = taxonomy
        self.modes: list[ErrorMode] = list(taxonomy.modes)
        self.list = called(QListWidget(), "Error modes, in the order they are offered")
        self.name = field("Name of the error mode")
        self.about = called(QPlainTextEdit(tabChangesFocus=True), "What the error mode means", role="field")
        self.guide = field("Guide line: when to choose it on your code", "When to choose it on your code")
        self.id, self.version, self.said = label(role="muted"), label(role="muted"), label(ABOUT, wrap=True)
        self._place = place
        self.list.currentRowChanged.connect(self._show)
        self.name.textEdited.connect(lambda name: self._put(name=name))
        self.about.textChanged.connect(lambda: self._put(about=self.about.toPlainText()))
        self.guide.textEdited.connect(lambda guide: self._put(guide=guide))
        self.id.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for key, run, words in (
            ("Insert", self._add, "Add a mode"),
            ("Delete", self._retire, "Retire the mode, or bring it back"),
            ("Alt+Up", lambda: self._move(-1), "Move the mode up"),
            ("Alt+Down", lambda: self._move(1), "Move the mode down"),
            ("F2", lambda: self.name.setFocus(Qt.FocusReason.ShortcutFocusReason), "Rename the mode"),
        ):
            bind(self.list, key, run, words)
        self.add = push("Add", "Add a mode (Insert)", self._add)
        self.retire = push("Retire", "Offer it no longer; its labels keep it (Delete)", self._retire)
        self.up = push("Up", "Earlier, with the digit before (Alt+Up)", lambda: self._move(-1))
        self.down = push("Down", "Later, with the digit after (Alt+Down)", lambda: self._move(1))
        self.bundled = push(
            "Bundled ones",
            "The modes that came with RTC Inspector; others are retired",
            lambda: self._replace(read_taxonomy()),
        )
        self.take = push("Import…", "Take the modes of a file; those it has not are retired", self._ask_import)
        self.give = push("Export…", "Write the modes to a file", self._ask_export)
        self.leave = push("Cancel", "Keep the modes as they were (Esc)", self.reject)
        self.save = called(push("Save", "Use these modes from now on (Ctrl+Return)", self._save), role="primary")
        bind(self, "Ctrl+Return Ctrl+Enter", self._save, "Save")
        form = QFormLayout()
        form.setVerticalSpacing(SPACE)
        form.addRow("Name", self.name)
        form.addRow("Meaning", self.about)
        form.addRow("Guide line", self.guide)
        form.addRow("Id", self.id)
        right = column(form, self.said, spacing=SPACE * 2, grows=form)
        left = column(self.list, row(self.add, self.retire, self.up, self.down), spacing=SPACE * 2, grows=self.list)
        both = row(left, right, spacing=SPACE * 2)
        both.setStretch(0, 2)
        both.setStretch(1, 3)
        foot = row(self.take, self.give, self.bundled, None, self.leave, self.save)
        column(both, self.version, foot, margins=PAGE, spacing=SPACE * 2, owner=self, grows=both)
        open_at(self, 860, 520)
        self._fill(0)
        self.list.setFocus()

    # ---- what is shown

    def _fill(self, at: int) -> None:
        offered = sorted((mode for mode in self.modes if not mode.retired), key=lambda mode: mode.clean)
        self.modes = offered + [mode for mode in self.modes if mode.retired]
        # Filling the list makes its first row current, and would show that one.
        with QSignalBlocker(self.list):
            self.list.clear()
            for place, mode in enumerate(self.modes, start=1):
                digit = str(place) if place in KEYS and not mode.retired and not mode.clean else "–"
                line = QListWidgetItem(f"{digit}   {mode.name or 'unnamed'}{' (retired)' if mode.retired else ''}")
                line.setForeground(QApplication.palette().placeholderText() if mode.retired else self.palette().text())
                self.list.addItem(line)
        self.list.setCurrentRow(min(max(at, 0), len(self.modes) - 1))
        self._show(self.list.currentRow())

    def _show(self, at: int) -> None:
        mode = self.modes[at]
        # What is shown was not typed. Setting the same text would put the cursor at its end while somebody types in it.
        if self.guide.text() != mode.guide:
            self.guide.setText(mode.guide)
        with QSignalBlocker(self.name), QSignalBlocker(self.about):
            if self.name.text() != mode.name:
                self.name.setText(mode.name)
            if self.about.toPlainText() != mode.about:
                self.about.setPlainText(mode.about)
        # A saved id is in labels; a new mode may still change its name, of which the id is made.
        kept = mode.id in {each.id for each in self._before.modes}
        self.id.setText(mode.id if kept else "made of the name, once saved")
        self.retire.setText("Bring back" if mode.retired else "Retire")
        offered = sum(not each.retired for each in self.modes)
        self.retire.setEnabled(mode.retired or offered > 1)
        numbered = sum(not each.retired and not each.clean for each in self.modes)
        self.up.setEnabled(0 < at < numbered)
        self.down.setEnabled(at < numbered - 1)
        changed = revised(self._before, self.modes) is not self._before
        version = f"Version {self._before.version}" + (f", saved as {self._before.version + 1}" if changed else "")
        self.version.setText(f"{version} · kept in {self._place}")
        self.say("")

    def say(self, problem: str) -> None:
        say(self.said, problem or ABOUT, bad=bool(problem))

    # ---- what is changed

    def _put(self, **changes: str) -> None:
        at = self.list.currentRow()
        self.modes[at] = replace(self.modes[at], **changes)  # type: ignore[arg-type]
        self._fill(at)

    def _add(self) -> None:
        taken = {mode.id for mode in (*self._before.modes, *self.modes)}
        offered = sum(not mode.retired and not mode.clean for mode in self.modes)
        self.modes.insert(offered, ErrorMode(fresh_id("new-mode", taken), NO_KEY, "New mode", ""))
        self._fill(offered)
        self.name.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.name.selectAll()

    def _retire(self) -> None:
        """Drop a mode that was never saved, for it has no labels; retire another one, or bring it back."""
        at = self.list.currentRow()
        mode = self.modes[at]
        if not self.retire.isEnabled():
            return
        if mode.id not in {each.id for each in self._before.modes}:
            del self.modes[at]
        else:
            self.modes[at] = replace(mode, retired=not mode.retired)
        self._fill(at)

    def _move(self, by: int) -> None:
        at = self.list.currentRow()
        if (self.up if by < 0 else self.down).isEnabled():
            self.modes[at], self.modes[at + by] = self.modes[at + by], self.modes[at]
            self._fill(at + by)

    def _replace(self, taken: Taxonomy) -> None:
        self.modes = list(revised(Taxonomy(0, tuple(self.modes)), taken.modes).modes)
        self._fill(0)

    def _save(self) -> None:
        nameless = next((at for at, mode in enumerate(self.modes) if not mode.name.strip()), None)
        if nameless is not None:
            self._fill(nameless)
            self.say("A mode needs a name. Type one, or take the mode away with Delete.")
            self.name.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self.saved.emit(revised(self._before, _named(self.modes, self._before)))

    # ---- files

    def _ask_import(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Import error modes", "", FILES)
        if name:
            self.import_from(Path(name))

    def import_from(self, path: Path) -> None:
        try:
            self._replace(read_taxonomy(path))
        except UserError as error:
            self.say(error_words(error))

    def _ask_export(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Export error modes", "error_modes.toml", FILES)
        if name:
            self.export_to(Path(name))

    def export_to(self, path: Path) -> None:
        try:
            path.write_text(revised(self._before, _named(self.modes, self._before)).to_toml(), "utf-8")
        except OSError as error:
            self.say(f"{path} cannot be written: {error.strerror or error}. Choose another folder.")


def _named(modes: Sequence[ErrorMode], before: Taxonomy) -> list[ErrorMode]:
    """Return the modes; those that are new get an id after their name."""
    saved = {mode.id for mode in before.modes}
    taken, named_modes = saved | {mode.id for mode in modes}, []
    for mode in modes:
        if mode.id.startswith("new-mode") and mode.id not in saved:
            mode = replace(mode, id=fresh_id(mode.name, taken))
            taken.add(mode.id)
        named_modes.append(replace(mode, name=mode.name.strip(), about=mode.about.strip(), guide=mode.guide.strip()))
    return named_modes

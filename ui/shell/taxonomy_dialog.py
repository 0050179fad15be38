"""The error modes of labelling: add, rename, describe, reorder, retire; from files and to files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFileDialog,
    QFormLayout,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QWidget,
)

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.taxonomy import KEYS, NO_KEY, ErrorMode, Taxonomy, fresh_id, read_taxonomy, revised
from rtc_inspector.ui.shell.fields import error_words, say
from rtc_inspector.ui.style.controls import PAGE, bind, column, field, label, push, row
from rtc_inspector.ui.style.text_size import open_at
from rtc_inspector.ui.style.theme import SPACE

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
        self.list, self.name = QListWidget(), field("Name of the error mode")
        self.about = QPlainTextEdit(tabChangesFocus=True)
        self.guide = field("Guide line: when to choose it on your code", "When to choose it on your code")
        self.id, self.version, self.said = label(role="muted"), label(role="muted"), label(ABOUT, wrap=True)
        self._place = place
        self._make_fields()
        self._make_buttons()
        self._lay_out()
        self._fill(0)
        self.list.setFocus()

    def _make_fields(self) -> None:
        self.list.setAccessibleName("Error modes, in the order they are offered")
        self.list.currentRowChanged.connect(self._show)
        self.name.textEdited.connect(self._rename)
        self.about.setAccessibleName("What the error mode means")
        self.about.setProperty("role", "field")
        self.about.textChanged.connect(self._describe)
        self.guide.textEdited.connect(self._guide)
        self.id.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for key, run, words in (
            ("Insert", self._add, "Add a mode"),
            ("Delete", self._retire, "Retire the mode, or bring it back"),
            ("Alt+Up", lambda: self._move(-1), "Move the mode up"),
            ("Alt+Down", lambda: self._move(1), "Move the mode down"),
            ("F2", lambda: self.name.setFocus(Qt.FocusReason.ShortcutFocusReason), "Rename the mode"),
        ):
            bind(self.list, key, run, words)

    def _make_buttons(self) -> None:
        self.add = push("Add", "Add a mode (Insert)", self._add)
        self.retire = push("Retire", "Offer it no longer; its labels keep it (Delete)", self._retire)
        self.up = push("Up", "Earlier, with the digit before (Alt+Up)", lambda: self._move(-1))
        self.down = push("Down", "Later, with the digit after (Alt+Down)", lambda: self._move(1))
        self.bundled = push("Bundled ones", "The modes that came with RTC Inspector; others are retired", self._reset)
        self.take = push("Import…", "Take the modes of a file; those it has not are retired", self._ask_import)
        self.give = push("Export…", "Write the modes to a file", self._ask_export)
        self.leave = push("Cancel", "Keep the modes as they were (Esc)", self.reject)
        self.save = push("Save", "Use these modes from now on (Ctrl+Return)", self._save)
        self.save.setProperty("role", "primary")
        bind(self, "Ctrl+Return Ctrl+Enter", self._save, "Save")

    def _lay_out(self) -> None:
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

    # ---- what is shown

    def _fill(self, at: int) -> None:
        """List the modes anew, numbered by place."""
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
        """Tell why something could not be done; empty: what to know about modes."""
        say(self.said, problem or ABOUT, bad=bool(problem))

    # ---- what is changed

    def _rename(self, name: str) -> None:
        self._put(replace(self.modes[self.list.currentRow()], name=name))

    def _describe(self) -> None:
        self._put(replace(self.modes[self.list.currentRow()], about=self.about.toPlainText()))

    def _guide(self, guide: str) -> None:
        self._put(replace(self.modes[self.list.currentRow()], guide=guide))

    def _put(self, mode: ErrorMode) -> None:
        at = self.list.currentRow()
        self.modes[at] = mode
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

    def _reset(self) -> None:
        self._replace(read_taxonomy())

    def _replace(self, taken: Taxonomy) -> None:
        """Take the modes of `taken`, then what there was besides, retired."""
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
        """Take the modes of a file; why it cannot be read is said in the dialog."""
        try:
            self._replace(read_taxonomy(path))
        except UserError as error:
            self.say(error_words(error))

    def _ask_export(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Export error modes", "error_modes.toml", FILES)
        if name:
            self.export_to(Path(name))

    def export_to(self, path: Path) -> None:
        """Write the modes as they are edited."""
        try:
            path.write_text(revised(self._before, _named(self.modes, self._before)).to_toml(), "utf-8")
        except OSError as error:
            self.say(f"{path} cannot be written: {error.strerror or error}. Choose another folder.")


def _named(modes: Sequence[ErrorMode], before: Taxonomy) -> list[ErrorMode]:
    """Return the modes; those that are new get an id after their name."""
    known = {mode.id for mode in before.modes}
    taken, made = known | {mode.id for mode in modes}, []
    for mode in modes:
        if mode.id.startswith("new-mode") and mode.id not in known:
            mode = replace(mode, id=fresh_id(mode.name, taken))
            taken.add(mode.id)
        made.append(replace(mode, name=mode.name.strip(), about=mode.about.strip(), guide=mode.guide.strip()))
    return made

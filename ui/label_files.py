"""Labels out to files and back, asked for by name, read and written in the background."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from core.errors import UserError
from core.store.label_import import import_labels
from core.store.label_studio import write_label_studio
from core.store.labels import write_labels_csv, write_labels_jsonl
from core.store.reader import Reader
from core.store.writer import Store
from ui.inspection import Inspection
from ui.scribe import Scribe
from ui.shell.notices import NoticeBar, NoticeText

WRITERS = {"jsonl": write_labels_jsonl, "csv": write_labels_csv, "json": write_label_studio}
"""By what a file's name ends in."""


class LabelFiles(QObject):
    """`imported` when labels came in."""

    imported = Signal()

    def __init__(self, window: QWidget, inspection: Inspection, scribe: Scribe, notices: NoticeBar) -> None:
        """Files are asked for over `window`."""
        super().__init__(window)
        self._window, self._inspection, self._scribe, self._notices = window, inspection, scribe, notices

    def ask_export(self, ending: str) -> None:
        """Let the user name a file and write the labels of the run there."""
        run = self._inspection.run
        if run is None:
            return
        name, _ = QFileDialog.getSaveFileName(
            self._window, "Export labels", f"labels-run-{run.id}.{ending}", f"Labels (*.{ending})"
        )
        if name:
            self.export(run.id, Path(name) if Path(name).suffix else Path(f"{name}.{ending}"), ending)

    def export(self, run_id: int, path: Path, ending: str) -> None:
        """Write the labels of a run; a notice says how many there were."""
        self._inspection.ask("export labels", partial(_write, run_id, path, ending), self._notices.say)

    def ask_import(self) -> None:
        """Let the user name a file that Label Studio exported."""
        run = self._inspection.run
        if run is None:
            return
        name, _ = QFileDialog.getOpenFileName(self._window, "Import labels", "", "Label Studio (*.json);;All files (*)")
        if name:
            self.take_in(run.id, Path(name))

    def take_in(self, run_id: int, path: Path) -> None:
        """Add the labels of a file that the run does not have yet."""
        database = self._inspection.database
        if database is not None:
            self._scribe.write(database, partial(_read, run_id, path), self._say_imported, wait=False)

    def _say_imported(self, new: int) -> None:
        self._notices.say(NoticeText(f"{new} new label{'' if new == 1 else 's'} came in."))
        self.imported.emit()


def _write(run_id: int, path: Path, ending: str, reader: Reader) -> NoticeText:
    try:
        with path.open("w", encoding="utf-8", newline="") as stream:
            count = WRITERS[ending](reader, [run_id], stream)
    except OSError as error:
        raise UserError(f"The labels could not be written: {error}.", "Choose another folder.") from error
    return NoticeText(f"{count} labelled sample{'' if count == 1 else 's'} written to {path}.")


def _read(run_id: int, path: Path, store: Store) -> int:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}.", "Choose another file.") from error
    return import_labels(store, [run_id], text)

"""Labels out to files and back, asked for by name, read and written in the background."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.store.label_import import import_labels
from rtc_inspector.core.store.label_studio import labelling_interface, write_label_studio
from rtc_inspector.core.store.labels import write_labels_csv, write_labels_jsonl
from rtc_inspector.core.taxonomy import Taxonomy
from rtc_inspector.ui.background.scribe import Scribe
from rtc_inspector.ui.labels.labelling import Labelling
from rtc_inspector.ui.reading.inspection import Inspection
from rtc_inspector.ui.shell.fields import ask_where
from rtc_inspector.ui.shell.notices import NoticeBar, NoticeText

if TYPE_CHECKING:
    from rtc_inspector.core.store.reader import Reader
    from rtc_inspector.core.store.writer import Store

    Write = Callable[[Reader, Sequence[int], TextIO], int]

WRITERS: dict[str, tuple[Write, str]] = {
    "jsonl": (write_labels_jsonl, "label"),
    "csv": (write_labels_csv, "label"),
    "json": (write_label_studio, "labelled sample"),
    "tasks.json": (partial(write_label_studio, unlabelled=True), "sample"),
}
"""By what a file's name ends in: the writer, and what it counts."""
INTERFACE = "xml"
READ = "Labels (*.json *.jsonl *.csv);;All files (*)"


class LabelFiles(QObject):
    """`imported` when labels came in."""

    imported = Signal()

    def __init__(
        self, window: QWidget, labelling: Labelling, inspection: Inspection, scribe: Scribe, notices: NoticeBar
    ) -> None:
        """Files are asked for over `window`; they are about the runs that are labelled."""
        super().__init__(window)
        self._window, self._labelling = window, labelling
        self._inspection, self._scribe, self._notices = inspection, scribe, notices

    def ask_export(self, ending: str) -> None:
        """Let the user name a file and write the labels of the queue's runs there."""
        runs = self._labelling.runs()
        if not runs:
            return
        proposed = "labelling-interface.xml" if ending == INTERFACE else f"labels-{_runs_named(runs)}.{ending}"
        kinds = f"Labels (*.{ending.rpartition('.')[2]})"
        path = ask_where(self._window, "Export labels", proposed, kinds, ending)
        if path is not None:
            self.export(runs, path, ending)

    def export(self, runs: Sequence[int], path: Path, ending: str) -> None:
        """Write the labels of these runs; a notice says how many there were."""
        work = partial(_write, runs, path, ending, self._labelling.taxonomy)
        self._inspection.ask("export labels", work, self._notices.say, of_run=False)

    def ask_import(self) -> None:
        """Let the user name a file that was exported here or by Label Studio."""
        runs = self._labelling.runs()
        if not runs:
            return
        name, _ = QFileDialog.getOpenFileName(self._window, "Import labels", "", READ)
        if name:
            self.take_in(runs, Path(name))

    def take_in(self, runs: Sequence[int], path: Path) -> None:
        """Add the labels of a file that these runs do not have yet."""
        database = self._inspection.database
        if database is not None:
            self._scribe.write(database, partial(_read, runs, path), self._say_imported, wait=False)

    def _say_imported(self, new: int) -> None:
        self._notices.say(NoticeText(f"{counted(new, 'new label')} came in."))
        self.imported.emit()


def _runs_named(runs: Sequence[int]) -> str:
    return f"run-{runs[0]}" if len(runs) == 1 else f"runs-{runs[0]}-to-{runs[-1]}"


def _write(runs: Sequence[int], path: Path, ending: str, taxonomy: Taxonomy, reader: Reader) -> NoticeText:
    try:
        # Line ends are the writer's: CSV ends its lines in a way of its own.
        with path.open("w", encoding="utf-8", newline="") as stream:
            if ending == INTERFACE:
                stream.write(labelling_interface(taxonomy))
                return NoticeText(f"Written to {path}: paste it into the labelling setup of a Label Studio project.")
            writer, noun = WRITERS[ending]
            count = writer(reader, runs, stream)
    except OSError as error:
        what = "interface" if ending == INTERFACE else "labels"
        raise UserError(f"The {what} could not be written: {error}.", "Choose another folder.") from error
    return NoticeText(f"{counted(count, noun)} written to {path}.")


def _read(runs: Sequence[int], path: Path, store: Store) -> int:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}.", "Choose another file.") from error
    return import_labels(store, runs, text)

"""What the labels desk can do besides labelling: its error modes, agreement, files, and that nothing tells the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QFileDialog

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.store.labels import (
    import_labels,
    labelling_interface,
    mode_names,
    write_label_studio,
    write_labels_csv,
    write_labels_jsonl,
)
from rtc_inspector.core.taxonomy import Taxonomy, TaxonomyFile
from rtc_inspector.ui.background.gateway import Scribe
from rtc_inspector.ui.labels.labelling import Labelling
from rtc_inspector.ui.labels.queue import QueueKind
from rtc_inspector.ui.reading.inspection import COMPARISON, Inspection
from rtc_inspector.ui.shell.bars import NoticeText
from rtc_inspector.ui.shell.fields import ask_where, error_words, show_modal
from rtc_inspector.ui.window.window_parts import WindowParts

if TYPE_CHECKING:
    from rtc_inspector.core.analyses.agreement import Agreement
    from rtc_inspector.core.store.reader import Reader
    from rtc_inspector.core.store.writer import Store
    from rtc_inspector.ui.shell.label_dialogs import TaxonomyDialog

Write = Callable[["Reader", Sequence[int], TextIO], int]
WRITERS: dict[str, tuple[Write, str]] = {
    "jsonl": (write_labels_jsonl, "label"),
    "csv": (write_labels_csv, "label"),
    "json": (write_label_studio, "labelled sample"),
    "tasks.json": (partial(write_label_studio, unlabelled=True), "sample"),
}
"""By what a file's name ends in: the writer, and what it counts."""
INTERFACE = "xml"
READ = "Labels (*.json *.jsonl *.csv);;All files (*)"
REST = 150  # milliseconds without a further sample after which code and round trip follow


class LabelDesk(QObject):
    """Joins the desk of one window; writes labels to files, and takes in what others wrote."""

    sample_shown = Signal(int, int)  # item and sample that are labelled, to be shown in their place

    def __init__(
        self, parts: WindowParts, labelling: Labelling, inspection: Inspection, scribe: Scribe, folder: Path
    ) -> None:
        """Read the error modes in `folder`; of a file that cannot be read there is a notice, and the bundled ones."""
        super().__init__(parts)
        self._parts, self._labelling, self._inspection, self._scribe = parts, labelling, inspection, scribe
        self._file = TaxonomyFile(folder)
        self._wanted: tuple[int, int] | None = None
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self._show_with_it)
        parts.labels.blind_changed.connect(self._set_blind)
        labelling.shown.connect(self._follow)
        parts.tabs.currentChanged.connect(self._begin)
        parts.tabs.tabBarClicked.connect(self._take_keys)
        parts.labels.large.toggled.connect(self._set_large)
        parts.queue.export_asked.connect(self.ask_export)
        parts.queue.import_asked.connect(self.ask_import)
        parts.queue.agreement.clicked.connect(self.show_agreement)
        parts.queue.modes.clicked.connect(self.ask_modes)
        try:
            kept = self._file.read()
            if kept != parts.labels.taxonomy:  # laid out already, as the one that there is at first
                parts.labels.set_taxonomy(kept)
        except UserError as error:
            parts.notices.report(error)

    def commands(self) -> Mapping[str, Callable[[], object]]:
        return {
            "labels": self.label_samples,
            "adjudicate": self.adjudicate,
            "agreement": self.show_agreement,
            "error-modes": self.ask_modes,
        }

    def label_samples(self) -> None:
        parts = self._parts
        parts.leave_page()
        parts.unfold_around(parts.tabs)
        parts.tabs.setCurrentWidget(parts.desk)
        parts.make_room_for_labels()
        parts.labels.setFocus(Qt.FocusReason.ShortcutFocusReason)
        parts.labels.show_modes()

    def _begin(self) -> None:
        if self._parts.tabs.currentWidget() is self._parts.desk:
            self._labelling.begin()

    def _take_keys(self, clicked: int) -> None:
        """Give the labels room and focus when their tab is clicked: whoever clicks there labels next."""
        if self._parts.tabs.widget(clicked) is self._parts.desk:
            # After the click, by which the tab bar takes the focus.
            QTimer.singleShot(0, self, self.label_samples)

    def ask_modes(self) -> None:
        # When it is asked for: the window opens sooner.
        from rtc_inspector.ui.shell.label_dialogs import TaxonomyDialog

        dialog = TaxonomyDialog(self._parts.labels.taxonomy, self._file.path, self._parts.window())
        dialog.saved.connect(partial(self._adopt, dialog))
        show_modal(dialog)
        self._parts.labels.setFocus(Qt.FocusReason.OtherFocusReason)

    def _adopt(self, dialog: TaxonomyDialog, taxonomy: Taxonomy) -> None:
        if taxonomy != self._parts.labels.taxonomy:
            try:
                self._file.save(taxonomy)
            except UserError as error:
                dialog.say(error_words(error))
                return
            self._parts.labels.set_taxonomy(taxonomy)
            self._parts.notices.say(NoticeText(f"Version {taxonomy.version} of the error modes is in use."))
        dialog.accept()

    def adjudicate(self) -> None:
        self._parts.queue.kind.setCurrentText(QueueKind.ADJUDICATION)
        self.label_samples()

    def show_agreement(self) -> None:
        from rtc_inspector.ui.shell.label_dialogs import AgreementDialog  # as above

        inspection, runs = self._inspection, self._labelling.runs()
        scope = f"run {runs[0]}" if len(runs) == 1 else f"{len(runs) or 'no'} runs"
        dialog = AgreementDialog(scope, self._parts.window())
        own = {mode.id: mode.name for mode in self._parts.labels.taxonomy.modes}

        def show(found: tuple[Agreement, Mapping[str, str]]) -> None:
            dialog.show_agreement(found[0], {**found[1], **own})

        if not runs:
            from rtc_inspector.core.analyses.agreement import measure

            dialog.show_agreement(measure([]), {})
        inspection.ask("agreement", partial(_read_agreement, runs), show, lane=COMPARISON)
        show_modal(dialog)
        # The dialog is gone, and with it whoever the answer was for.
        inspection.forget("agreement")
        self._parts.labels.setFocus(Qt.FocusReason.OtherFocusReason)

    def ask_export(self, ending: str) -> None:
        runs = self._labelling.runs()
        if not runs:
            return
        named = f"run-{runs[0]}" if len(runs) == 1 else f"runs-{runs[0]}-to-{runs[-1]}"
        proposed = "labelling-interface.xml" if ending == INTERFACE else f"labels-{named}.{ending}"
        kinds = f"Labels (*.{ending.rpartition('.')[2]})"
        path = ask_where(self._parts.window(), "Export labels", proposed, kinds, ending)
        if path is not None:
            self.export(runs, path, ending)

    def export(self, runs: Sequence[int], path: Path, ending: str) -> None:
        work = partial(_write, runs, path, ending, self._parts.labels.taxonomy)
        self._inspection.ask("export labels", work, self._parts.notices.say, of_run=False)

    def ask_import(self) -> None:
        runs = self._labelling.runs()
        if not runs:
            return
        name, _ = QFileDialog.getOpenFileName(self._parts.window(), "Import labels", "", READ)
        if name:
            self.take_in(runs, Path(name))

    def take_in(self, runs: Sequence[int], path: Path) -> None:
        database = self._inspection.database
        if database is not None:
            self._scribe.write(database, partial(_read, runs, path), self._say_imported, wait=False)

    def _say_imported(self, new: int) -> None:
        self._parts.notices.say(NoticeText(f"{counted(new, 'new label')} came in."))
        self._labelling.rebuild()

    def _follow(self, item_id: int, sample_id: int) -> None:
        """Show the sample's region, too, once the hand rests: to draw it must not hold up the next key."""
        self._wanted = item_id, sample_id
        self._rest.start()

    def _show_with_it(self) -> None:
        """Show code and round trip beside the sample that is labelled, where it is of the run on show."""
        if self._wanted is None or self._labelling.blind or not self._parts.labels.isVisible():
            return
        if self._inspection.knows(self._wanted[0]):
            self.sample_shown.emit(*self._wanted)

    def _set_large(self, large: bool) -> None:
        self._parts.show_labels_large(large)
        self._parts.labels.setFocus(Qt.FocusReason.OtherFocusReason)

    def _set_blind(self, blind: bool) -> None:
        self._parts.show_labels_alone(blind)
        self._parts.labels.setFocus(Qt.FocusReason.OtherFocusReason)


def _read_agreement(runs: Sequence[int], reader: Reader) -> tuple[Agreement, Mapping[str, str]]:
    from rtc_inspector.core.analyses.agreement import measure  # in the background

    labels = [label for run_id in runs for label in reader.current_labels(run_id)]
    return measure(labels), mode_names(reader)


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

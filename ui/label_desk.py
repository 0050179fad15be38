"""What the labels desk can do besides labelling: its error modes, agreement, files, and that nothing tells the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer

from core.errors import UserError
from core.store.labels import mode_names
from core.taxonomy import Taxonomy
from core.taxonomy_file import TaxonomyFile
from ui.inspection import COMPARISON
from ui.label_queue import QueueKind
from ui.shell.notices import NoticeText

if TYPE_CHECKING:
    from core.agreement import Agreement
    from core.store.reader import Reader
    from ui.main_window import MainWindow
    from ui.shell.taxonomy_dialog import TaxonomyDialog

REST = 150
"""Milliseconds without a further sample after which code and round trip follow."""
WHILE_BLIND = frozenset({"labels", "adjudicate", "error-modes", "keys", "larger", "smaller", "pause", "stop", "quit"})
"""What the window still does while an annotator is blind; all else could show the run, its model or a verdict."""


class LabelDesk(QObject):
    """Joins the desk of one window."""

    def __init__(self, window: MainWindow) -> None:
        """Read the user's error modes; a file that cannot be read is a notice, and the bundled ones are offered."""
        super().__init__(window)
        self._window, self._parts = window, window.parts
        self._file = TaxonomyFile(window.remembered.folder)
        parts = window.parts
        window.labelling.blind_changed.connect(self._set_blind)
        self._wanted: tuple[int, int] | None = None
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self._show_with_it)
        window.labelling.shown.connect(self._follow)
        parts.labels.large.toggled.connect(self._set_large)
        parts.queue.export_asked.connect(window.label_files.ask_export)
        parts.queue.import_asked.connect(window.label_files.ask_import)
        parts.queue.agreement_asked.connect(self.show_agreement)
        parts.queue.modes_asked.connect(self.ask_modes)
        window.label_files.imported.connect(window.labelling.rebuild)
        try:
            parts.labels.set_taxonomy(self._file.read())
        except UserError as error:
            parts.notices.report(error)

    def commands(self) -> Mapping[str, Callable[[], object]]:
        """What can be done here, by the name of its action."""
        return {"adjudicate": self.adjudicate, "agreement": self.show_agreement, "error-modes": self.ask_modes}

    def ask_modes(self) -> None:
        """Let the user change the error modes."""
        from ui.shell.taxonomy_dialog import TaxonomyDialog  # when it is asked for: the window opens sooner

        dialog = TaxonomyDialog(self._parts.labels.taxonomy, self._file.path, self._window)
        dialog.saved.connect(partial(self._adopt, dialog))
        dialog.exec()
        dialog.deleteLater()
        self._parts.labels.setFocus(Qt.FocusReason.OtherFocusReason)

    def _adopt(self, dialog: TaxonomyDialog, taxonomy: Taxonomy) -> None:
        """Keep the modes and offer them; where they cannot be kept the dialog stays, and says why."""
        if taxonomy != self._parts.labels.taxonomy:
            try:
                self._file.save(taxonomy)
            except UserError as error:
                dialog.say(f"{error.problem} {error.remedy}")
                return
            self._parts.labels.set_taxonomy(taxonomy)
            self._parts.notices.say(NoticeText(f"Version {taxonomy.version} of the error modes is in use."))
        dialog.accept()

    def adjudicate(self) -> None:
        """Decide where annotators differ."""
        self._parts.queue.kind.setCurrentText(QueueKind.ADJUDICATION)
        self._window.label_samples()

    def show_agreement(self) -> None:
        """Show how well the annotators of the queue's runs agree."""
        from ui.shell.agreement_dialog import AgreementDialog  # as above

        inspection, runs = self._window.inspection, self._window.labelling.runs()
        scope = f"run {runs[0]}" if len(runs) == 1 else f"{len(runs) or 'no'} runs"
        dialog = AgreementDialog(scope, self._window)
        own = {mode.id: mode.name for mode in self._parts.labels.taxonomy.modes}

        def show(found: tuple[Agreement, Mapping[str, str]]) -> None:
            dialog.show_agreement(found[0], {**found[1], **own})

        if not runs:
            from core.agreement import measure

            dialog.show_agreement(measure([]), {})
        inspection.ask("agreement", partial(_read_agreement, runs), show, lane=COMPARISON)
        dialog.exec()
        inspection.forget("agreement")
        dialog.deleteLater()
        self._parts.labels.setFocus(Qt.FocusReason.OtherFocusReason)

    def _follow(self, item_id: int, sample_id: int) -> None:
        """Show the sample's region, too, once the hand rests: to draw it must not hold up the next key."""
        self._wanted = item_id, sample_id
        self._rest.start()

    def _show_with_it(self) -> None:
        """Code and round trip beside the sample that is labelled, where it is of the run on show."""
        if self._wanted is None or self._window.labelling.blind or not self._parts.labels.isVisible():
            return
        item_id, sample_id = self._wanted
        if self._window.inspection.knows(item_id):
            self._window.browsing.trace.await_sample(sample_id)
            self._window.browsing.choose(item_id)

    def _set_large(self, large: bool) -> None:
        self._parts.show_labels_large(large)
        self._parts.labels.setFocus(Qt.FocusReason.OtherFocusReason)

    def _set_blind(self, blind: bool) -> None:
        for action in self._window.commands.all():
            if action.objectName() not in WHILE_BLIND:
                action.setEnabled(not blind)
        self._window.setAcceptDrops(not blind)
        self._window.searching.close()
        self._parts.show_labels_alone(blind)
        self._parts.labels.setFocus(Qt.FocusReason.OtherFocusReason)


def _read_agreement(runs: Sequence[int], reader: Reader) -> tuple[Agreement, Mapping[str, str]]:
    from core.agreement import measure  # in the background

    labels = [label for run_id in runs for label in reader.current_labels(run_id)]
    return measure(labels), mode_names(reader)

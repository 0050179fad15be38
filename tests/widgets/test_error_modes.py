"""Changing the error modes and looking at agreement, in their dialogs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from stored_run import shown
from themes import light

from rtc_inspector.core.analyses.agreement import measure
from rtc_inspector.core.store.rows import LabelRow
from rtc_inspector.core.taxonomy import Taxonomy, read_taxonomy
from rtc_inspector.ui.labels.panel import LabelsPanel
from rtc_inspector.ui.main_window import MainWindow
from rtc_inspector.ui.shell.label_dialogs import AgreementDialog, TaxonomyDialog
from rtc_inspector.ui.shell.remembered import Remembered


@pytest.fixture
def dialog(qapp: QApplication, tmp_path: Path) -> Iterator[TaxonomyDialog]:
    made = TaxonomyDialog(read_taxonomy(), tmp_path / "error_modes.toml")
    shown(made, 860, 520)
    yield made
    made.reject()
    made.deleteLater()


@pytest.fixture
def saved(dialog: TaxonomyDialog) -> list[Taxonomy]:
    made: list[Taxonomy] = []
    dialog.saved.connect(made.append)
    return made


def press(*keys: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    for key in keys:
        QTest.keyClick(QApplication.focusWidget(), key, modifier)


def test_a_mode_is_added_named_and_described_by_keys(dialog: TaxonomyDialog, saved: list[Taxonomy]) -> None:
    press(Qt.Key.Key_Insert)
    QTest.keyClicks(QApplication.focusWidget(), "Off by one")
    press(Qt.Key.Key_Tab)
    QTest.keyClicks(QApplication.focusWidget(), "A bound is one too far.")
    press(Qt.Key.Key_Return, modifier=Qt.KeyboardModifier.ControlModifier)
    (taxonomy,) = saved
    assert taxonomy.version == 2
    added = taxonomy.offered[-2]  # before the one that says that nothing is wrong
    assert (added.id, added.name, added.about, added.key) == ("off-by-one", "Off by one", "A bound is one too far.", 0)


def test_modes_are_moved_and_retired_and_come_back(dialog: TaxonomyDialog, saved: list[Taxonomy]) -> None:
    press(Qt.Key.Key_Down, modifier=Qt.KeyboardModifier.AltModifier)
    assert dialog.list.currentRow() == 1
    press(Qt.Key.Key_Home, Qt.Key.Key_Delete)
    dialog.save.click()
    taxonomy = saved[0]
    assert [mode.id for mode in taxonomy.offered][:2] == ["misses-logic", "hallucinated"]
    retired = taxonomy.modes[-1]
    assert (retired.id, retired.retired) == ("line-by-line", True)
    press(Qt.Key.Key_End, Qt.Key.Key_Delete)
    dialog.save.click()
    assert not any(mode.retired for mode in saved[1].modes)


def test_a_mode_that_was_never_saved_can_be_taken_away(dialog: TaxonomyDialog, saved: list[Taxonomy]) -> None:
    press(Qt.Key.Key_Insert)
    dialog.list.setFocus()
    press(Qt.Key.Key_Delete)
    dialog.save.click()
    assert saved == [read_taxonomy()]


def test_a_mode_without_a_name_is_not_saved(dialog: TaxonomyDialog, saved: list[Taxonomy]) -> None:
    press(Qt.Key.Key_F2)
    dialog.name.selectAll()
    press(Qt.Key.Key_Delete)
    dialog.save.click()
    assert saved == [] and "needs a name" in dialog.said.text()


def test_modes_go_to_a_file_and_come_from_one(dialog: TaxonomyDialog, saved: list[Taxonomy], tmp_path: Path) -> None:
    dialog.export_to(tmp_path / "mine.toml")
    assert read_taxonomy(tmp_path / "mine.toml") == read_taxonomy()
    (tmp_path / "two.toml").write_text("version = 9\n[[mode]]\nid = 'bad'\nname = 'Bad'\nkey = 4\n", "utf-8")
    dialog.import_from(tmp_path / "two.toml")
    dialog.save.click()
    assert [(mode.id, mode.key) for mode in saved[0].offered] == [("bad", 1)]
    assert {mode.id for mode in saved[0].modes} == {"bad", *(mode.id for mode in read_taxonomy().modes)}
    dialog.import_from(tmp_path / "absent.toml")
    assert "cannot be read" in dialog.said.text()
    dialog.export_to(tmp_path / "no" / "where.toml")
    assert "cannot be written" in dialog.said.text()


def test_labels_of_a_retired_mode_keep_its_name(qapp: QApplication) -> None:
    taxonomy = read_taxonomy()
    panel = LabelsPanel()
    panel.set_taxonomy(taxonomy)
    panel.names = {"older": "From an older version"}
    panel.set_taxonomy(Taxonomy(2, taxonomy.modes[1:]))
    assert [button.accessibleName() for button in panel.side.buttons][:2] == [
        "Line by line, key 2",
        "Plainly wrong, key 3",
    ]
    assert panel._mode_name("older") == "From an older version"
    assert panel._mode_name("no_poll-of") == "no_poll-of"
    panel.deleteLater()


def test_a_users_file_that_cannot_be_read_is_a_notice(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "error_modes.toml").write_text("version = ", "utf-8")
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = MainWindow(light(qapp), Remembered(settings))
    assert "error_modes.toml cannot be read" in window.parts.notices.problem.text()
    assert window.parts.labels.taxonomy == read_taxonomy()
    window.close()
    window.deleteLater()


def test_agreement_shows_modes_and_pairs_and_can_be_copied(qapp: QApplication) -> None:
    said = {"Ann": "aabbca", "Bob": "aababa", "Cyd": "ab.bca"}
    labels = [
        LabelRow(0, sample, name, mode, "", "")
        for name, modes in said.items()
        for sample, mode in enumerate(modes)
        if mode != "."
    ]
    dialog = AgreementDialog("run 1")
    dialog.show_agreement(measure(labels), {"a": "Ambiguous"})
    shown(dialog, 760, 560)
    assert dialog.head.text().startswith("Krippendorff's alpha: 0.")
    assert dialog.modes.model().index(0, 0).data() == "Ambiguous"
    assert dialog.pairs.model().rowCount() == 3 and dialog.pairs.isVisible()
    dialog.copy.click()
    assert "Ann and Bob\t6\t0.67" in QApplication.clipboard().text()
    dialog.show_agreement(measure([]), {})
    assert dialog.head.text() == "Agreement needs two annotators."
    dialog.reject()

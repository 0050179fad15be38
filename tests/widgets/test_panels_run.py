"""The run panel: how a run was made. What it draws is in test_figures_window.py."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from stored_run import StoredRun, shown, stored_run

from rtc_inspector.core.settings import EndpointSettings, NamedModel, RunSettings, SeriesSettings
from rtc_inspector.ui.background.gateway import ignore
from rtc_inspector.ui.panels.run import RunPanel
from rtc_inspector.ui.presenters import provenance


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoredRun]:
    with stored_run(Path(tmp_path_factory.mktemp("run")), items=60) as run:
        yield run


@pytest.fixture
def panel(qapp: QApplication) -> Iterator[RunPanel]:
    made = RunPanel(ignore)
    shown(made, 1200, 320)
    yield made
    made.close()
    made.deleteLater()


def test_without_a_run_it_says_what_to_do(panel: RunPanel) -> None:
    assert panel._empty.isVisible()
    assert not panel.drawings.isVisible()


def test_provenance_names_what_the_run_was_made_with(stored: StoredRun) -> None:
    groups = dict(provenance(replace(stored.run, dirty=True)))
    assert dict(groups["Run"])["seed"] == "5"
    assert dict(groups["Code and tests"])["revision"] == "0123456789abcdef with uncommitted changes"
    assert dict(groups["Forward model"])["sha256"] == "ab" * 32
    assert groups["Backward model"] == (("", "the forward model"),)
    assert dict(groups["Settings"])["forward samples"] == "3"
    assert dict(groups["Oracle settings"])["memory mib"] == "2048"


def test_provenance_names_the_servers_there_were(stored: StoredRun) -> None:
    groups = dict(provenance(stored.run))
    assert "endpoint" not in dict(groups["Settings"]) and "Server of the forward model" not in groups
    server = {"address": "http://127.0.0.1:8080/v1", "model": "coder", "key_variable": "MY_KEY"}
    asked = dict(provenance(replace(stored.run, config_json=json.dumps({"endpoint": server}))))
    assert dict(asked["Server of the forward model"])["key variable"] == "MY_KEY"


def test_provenance_names_the_models_of_a_series_as_the_dialog_does(stored: StoredRun) -> None:
    models = (
        NamedModel(),
        NamedModel("/models/Coder.gguf"),
        NamedModel(endpoint=EndpointSettings("http://h:1/v1", "b")),
    )
    config = RunSettings(series=SeriesSettings(models)).to_json()
    groups = dict(provenance(replace(stored.run, config_json=json.dumps(config))))
    assert dict(groups["Run as well"])["models"] == "the bundled model, Coder.gguf, b @ h:1/v1"


def test_a_damaged_record_of_settings_is_shown_as_far_as_it_goes(stored: StoredRun) -> None:
    groups = dict(provenance(replace(stored.run, config_json="{", model_json="[]")))
    assert groups["Settings"] == ()
    assert dict(groups["Run"])["task"] == "synthesis"


def test_provenance_is_copied_whole_or_by_value(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run)
    assert panel.provenance.isHidden(), "folded away until somebody asks"
    panel.made.click()
    panel.provenance.copy.click()
    assert "  sha256: " + "ab" * 32 in QGuiApplication.clipboard().text()
    tree = panel.provenance.tree
    top = tree.topLevelItem(0)
    assert top is not None
    tree.setCurrentItem(top.child(0))
    tree.setFocus()
    QTest.keyClick(tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == str(stored.run.id)


def test_changed_values_leave_the_tree_as_it_was_folded(panel: RunPanel, stored: StoredRun) -> None:
    panel.set_run(stored.run)
    tree = panel.provenance.tree
    first = tree.topLevelItem(0)
    assert first is not None
    first.setExpanded(False)
    panel.set_run(replace(stored.run, samples=99))
    assert tree.topLevelItem(0) is first and not first.isExpanded()
    values = {child.text(0): child.text(1) for n in range(first.childCount()) if (child := first.child(n))}
    assert values["samples"] == "99"

"""Choosing models in the window: files, folders and servers, and whether they fit."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from chat_server import chat_server, completion
from hub_server import hub_server
from huggingface_hub import constants
from models_gguf_writer import gguf_bytes, write_gguf
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication, QComboBox, QDialog, QMenu, QSpinBox, QWidget
from waiting import wait_until

from rtc_inspector.app.cli import main
from rtc_inspector.core.models import devices
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.gguf import read_header
from rtc_inspector.core.settings import EndpointSettings, ModelSettings, RunSettings
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.run.control import RunControl
from rtc_inspector.ui.run.models import ModelList, find_models
from rtc_inspector.ui.shell.bars import NoticeBar, TopBar
from rtc_inspector.ui.shell.model_dialogs import DownloadDialog, EndpointDialog
from rtc_inspector.ui.shell.model_options import BUNDLED, backward_value, endpoint_value, forward_value, with_models
from rtc_inspector.ui.shell.remembered import Remembered
from rtc_inspector.ui.shell.run_dialog import RunDialog

SERVER = EndpointSettings("http://127.0.0.1:8080/v1", "coder", key_variable="MY_KEY", concurrency=7, attempts=2)
OTHER = EndpointSettings("http://127.0.0.1:9090/v1")


@pytest.fixture
def remembered(tmp_path: Path) -> Remembered:
    return Remembered(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def gateway(qapp: QApplication) -> Iterator[Gateway]:
    gateway = Gateway()
    yield gateway
    assert gateway.close()


@pytest.mark.parametrize(
    "models",
    [
        {},
        {"model": "/a.gguf"},
        {"model": "/a.gguf", "backward_model": "/b.gguf"},
        {"model": "/a.gguf", "backward_model": ""},
        {"endpoint": SERVER},
        {"endpoint": SERVER, "backward_model": ""},
        {"endpoint": SERVER, "backward_endpoint": OTHER},
        {"model": "/a.gguf", "backward_endpoint": OTHER},
    ],
)
def test_models_stand_in_the_boxes_as_they_are_in_the_settings(models: dict[str, object]) -> None:
    settings = RunSettings(**models)  # type: ignore[arg-type]
    shown = forward_value(settings), backward_value(settings)
    assert with_models(RunSettings(model="/x"), *shown, [SERVER, OTHER]) == settings
    assert RunSettings.from_json(settings.to_json()) == settings


def test_servers_are_remembered_without_their_keys(
    remembered: Remembered, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    for endpoint in (SERVER, OTHER, replace(SERVER, concurrency=2)):
        remembered.add_endpoint(endpoint)
    assert remembered.endpoints() == [replace(SERVER, concurrency=2), OTHER]
    remembered._settings.sync()
    assert "secret" not in (tmp_path / "settings.ini").read_text()
    later = json.dumps([{"address": OTHER.address, "of_a_later_version": 1}])
    remembered._settings.setValue("recent/endpoints", later)
    assert remembered.endpoints() == [OTHER]
    remembered._settings.setValue("recent/endpoints", "[1]")
    assert remembered.endpoints() == []


def test_a_server_is_offered_for_both_passes(qapp: QApplication, gateway: Gateway, remembered: Remembered) -> None:
    bar, notices = TopBar(QMenu(), QMenu()), NoticeBar()
    control = RunControl(gateway, remembered, notices)
    models = ModelList(gateway, control, remembered, bar, notices)
    models.search()
    wait_until(lambda: models.headers)
    assert BUNDLED in models.headers
    remembered.add_endpoint(SERVER)
    control.adopt(replace(control.settings, endpoint=OTHER, backward_endpoint=SERVER))
    assert bar.forward.box.currentText() == "the only model @ 127.0.0.1:9090/v1"
    assert bar.backward.box.currentText() == "coder @ 127.0.0.1:8080/v1"
    names = [bar.backward.box.itemText(row) for row in range(bar.backward.box.count())]
    bundled = next(row for row, name in enumerate(names) if "bundled" in name)
    bar.backward.box.activated.emit(bundled)
    assert control.settings.backward_model == "" and control.settings.backward_endpoint is None
    bar.backward.box.activated.emit(0)
    assert control.settings.one_model and control.settings.endpoint == OTHER
    bar.forward.choose("")
    bar.forward.chosen.emit("")
    assert control.settings.endpoint is None and remembered.run_settings() == control.settings


def test_a_chosen_folder_is_looked_through_and_not_forgotten(tmp_path: Path) -> None:
    write_gguf(tmp_path / "stick" / "deep" / "tiny.gguf")
    names = [choice.label for choice in find_models([tmp_path / "stick"])[0]]
    assert "tiny" in names
    (tmp_path / "stick").rename(tmp_path / "away")
    (choice,) = (c for c in find_models([tmp_path / "stick"])[0] if c.value == str(tmp_path / "stick"))
    assert not choice.usable and "cannot be reached" in choice.tip


def test_a_model_s_details_say_how_it_does_when_asked_or_that_nobody_knows(tmp_path: Path) -> None:
    write_gguf(tmp_path / "unknown.gguf")
    tips = {choice.label: choice.tip for choice in find_models([tmp_path])[0]}
    known = next(tip for label, tip in tips.items() if "(bundled)" in label)
    assert "calibrated: code 7/12, chat 1/12" in known.splitlines()
    assert any(line.startswith("not calibrated: asked in the style") for line in tips["unknown"].splitlines())


def test_a_server_is_asked_for_its_models_when_told_to(qapp: QApplication, gateway: Gateway) -> None:
    with chat_server(lambda n, body: (200, completion("x"), {})) as server:
        server.served = [{"id": "one"}, {"id": "two"}]
        dialog = EndpointDialog(None, gateway)
        dialog.address.setText(server.address + "/")
        dialog.list.click()
        wait_until(lambda: dialog.list.isEnabled())
        assert [dialog.model.itemText(row) for row in range(dialog.model.count())] == ["one", "two"]
        dialog.model.setCurrentText("two")
        assert dialog.endpoint() == EndpointSettings(server.address, "two")
    dialog.list.click()
    wait_until(lambda: dialog.list.isEnabled())
    assert "cannot be reached" in dialog.said.text() and dialog.said.property("role") == "bad"
    dialog.address.setText("localhost:8080")
    dialog.buttons.accepted.emit()
    assert "not an address" in dialog.said.text() and dialog.result() != QDialog.DialogCode.Accepted
    assert EndpointDialog(SERVER, gateway).endpoint() == SERVER


def test_a_server_is_tried_when_told_to(qapp: QApplication, gateway: Gateway) -> None:
    with chat_server(lambda n, body: (200, completion("Checks the sides."), {})) as server:
        dialog = EndpointDialog(EndpointSettings(server.address), gateway)
        dialog.trial.click()
        wait_until(lambda: dialog.trial.isEnabled())
    assert dialog.said.text() == "It answered 4 of 4 questions."
    assert "a window of 3,072 tokens" in dialog.report.toPlainText() and not dialog.report.isHidden()


def test_every_model_of_every_known_server_can_be_run_as_well(
    qapp: QApplication, gateway: Gateway, remembered: Remembered
) -> None:
    with chat_server(lambda n, body: (200, completion("x"), {})) as server:
        server.served = [{"id": "small"}, {"id": "large"}]
        remembered.add_endpoint(OTHER)
        remembered.add_endpoint(EndpointSettings(server.address, "small"))
        bar, notices = TopBar(QMenu(), QMenu()), NoticeBar()
        control = RunControl(gateway, remembered, notices)
        models = ModelList(gateway, control, remembered, bar, notices)
        parent = QWidget()
        settings = RunSettings(endpoint=remembered.endpoints()[0])
        dialog = RunDialog(settings, parent, endpoints=models.endpoints())
        models.serve(dialog)
        others = dialog.models.others
        assert [others.item(row).text() for row in range(others.count())] == ["the only model @ 127.0.0.1:9090/v1"]
        dialog.models.served.click()
        wait_until(lambda: others.count() == 2 and "cannot be reached" in dialog.models.served_said.text())
        others.item(1).setCheckState(Qt.CheckState.Checked)
    series = dialog.settings().series
    assert series is not None
    assert [each.endpoint.model for each in series.models if each.endpoint is not None] == ["small", "large"]
    dialog.models._ask_endpoint = lambda known: SERVER
    dialog.models.add_server.click()
    assert dialog.cost.text().startswith("For each of 3 runs:")
    again = dialog.settings().series
    assert again is not None and again.models[-1].endpoint == SERVER
    dialog.reject()
    dialog.deleteLater()


def test_a_silent_server_keeps_no_window_from_closing(qapp: QApplication) -> None:
    gateway = Gateway()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        dialog = EndpointDialog(EndpointSettings(f"http://127.0.0.1:{silent.getsockname()[1]}/v1"), gateway)
        dialog.list.click()
        asked, _ = silent.accept()
        dialog.reject()
        began = time.monotonic()
        assert gateway.close()
        assert time.monotonic() - began < 2.0
        asked.close()


def test_the_run_dialog_and_the_list_of_models_say_how_to_use_a_card_that_lies_idle(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(devices, "found_gpus", lambda: [devices.Gpu("NVIDIA", "NVIDIA H100")])
    monkeypatch.setattr(devices, "build_backends", frozenset)
    parent = QWidget()
    dialog = RunDialog(RunSettings(), parent, {BUNDLED: read_header(bundled_model())}, lambda known: None)
    assert main(["models"]) == 0
    for said in (dialog.models.memory.text(), capsys.readouterr().out):
        assert "The NVIDIA H100 of this machine is not used" in said and "GPU=cuda`" in said


def test_the_run_dialog_names_models_and_servers_and_what_they_need(qapp: QApplication) -> None:
    header = read_header(bundled_model())
    asked: list[EndpointSettings | None] = []

    def ask(known: EndpointSettings | None) -> EndpointSettings:
        asked.append(known)
        return SERVER

    parent = QWidget()
    dialog = RunDialog(RunSettings(), parent, {BUNDLED: header}, ask)
    options = dialog.models
    assert (options.forward.text(), options.backward.text()) == ("the bundled model", "the same")
    style, context = dialog.fields["generation.prompt_style"].box, dialog.fields["generation.context_size"].box
    assert isinstance(style, QComboBox) and isinstance(context, QSpinBox)
    assert style.currentText() == "Automatic: code"
    assert options.memory.text().startswith("SmolLM2-135M-Instruct.Q4_1 needs about 0.4 GiB of memory; ")
    assert options.memory.property("role") == "muted"
    context.setValue(1_048_576)
    assert "needs about 22.8 GiB" in options.memory.text()
    options._choose_server("backward")
    assert options.backward.text() == "coder @ 127.0.0.1:8080/v1" and asked == [None]
    options._choose_server("forward")
    assert options.backward.text() == "the same" and options.memory.text() == ""
    style.setCurrentIndex(style.findData("completion"))
    settings = dialog.settings()
    assert (settings.endpoint, settings.backward_endpoint, settings.one_model) == (SERVER, SERVER, True)
    assert settings.generation == ModelSettings(context_size=1_048_576, prompt_style="completion")


def test_values_of_servers_tell_their_models_apart() -> None:
    assert endpoint_value(SERVER) != endpoint_value(replace(SERVER, model="other"))


def test_a_model_is_downloaded_from_the_window(
    qapp: QApplication, gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    with hub_server() as hub:
        hub.files = {"tiny.gguf": gguf_bytes() + bytes(1 << 20)}
        dialog = DownloadDialog(gateway, endpoint=hub.endpoint)
        dialog.name.setText("tiny.gguf")
        dialog.go.click()
        assert "names no GGUF file" in dialog.said.text() and dialog.said.property("role") == "bad"
        dialog.name.setText("me/tiny:gone.gguf")
        dialog.go.click()
        assert not dialog.go.isEnabled()
        wait_until(lambda: dialog.go.isEnabled())
        assert "no file gone.gguf" in dialog.said.text()
        dialog.name.setText("me/tiny:tiny.gguf")
        dialog.go.click()
        wait_until(lambda: dialog.result() == QDialog.DialogCode.Accepted)
        assert dialog.path is not None and dialog.path.read_bytes() == hub.files["tiny.gguf"]


def test_closing_the_dialog_breaks_a_download_off(
    qapp: QApplication, gateway: Gateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    with hub_server() as hub:
        hub.files = {"tiny.gguf": bytes(64 << 20)}
        dialog = DownloadDialog(gateway, endpoint=hub.endpoint)
        dialog.name.setText("me/tiny:tiny.gguf")
        dialog.go.click()
        thread = dialog._thread
        assert thread is not None
        dialog.reject()
        thread.join(5)
        assert not thread.is_alive() and thread.answer is None and thread.error is None


def test_the_run_dialog_says_what_automatic_comes_to(qapp: QApplication, tmp_path: Path) -> None:
    extra = {f"tokenizer.ggml.{k}_token_id": n for n, k in enumerate(("fim_pre", "fim_suf", "fim_mid"))}
    base = read_header(write_gguf(tmp_path / "base.gguf", extra, drop=["tokenizer.chat_template"]))
    parent = QWidget()
    dialog = RunDialog(RunSettings(model="/base.gguf"), parent, {"/base.gguf": base})
    style = dialog.fields["generation.prompt_style"].box
    assert isinstance(style, QComboBox) and style.currentText() == "Automatic: code, fill-in-the-middle for the code"

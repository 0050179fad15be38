"""A build of llama.cpp that crashes at its first evaluation, as those with AMX do on current server processors."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from crashing import CrashingBuild
from small_model import write_small_model

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import Message, Prompt, Request
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.devices import WITHOUT_EXTRA_BUFFERS
from rtc_inspector.core.run.events import Control, Notice
from rtc_inspector.core.run.opening import Caller, open_models
from rtc_inspector.core.settings import ModelSettings, RunSettings

SETTINGS = ModelSettings(threads=1)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_model(tmp_path_factory.mktemp("small") / "small.gguf")


def test_a_crash_is_paid_once_and_recorded(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = CrashingBuild(monkeypatch, tmp_path, signal.SIGSEGV)
    with closing(LocalModel(path, SETTINGS)) as model:
        assert model.info.build.endswith(f", {WITHOUT_EXTRA_BUFFERS}")
        (sample,) = model.generate([Request("a", Prompt((Message("user", "Say something."),)), 0.8, 1, 4)])
        assert sample.error == "" and sample.completion_tokens > 0
        assert build.evaluations == ["with", "without"]
    events: list[object] = []
    settings = RunSettings(model=str(path), backward_model=str(path), generation=SETTINGS)
    with ExitStack() as stack:
        models = open_models(stack, settings, Caller(events.append, Control()))
        assert all(WITHOUT_EXTRA_BUFFERS in model.info.build for model in models)
    assert set(build.evaluations[1:]) == {"without"}, "another model is loaded as the build is known to work"
    said = [event.text for event in events if isinstance(event, Notice) and "crashed" in event.text]
    assert len(said) == 1 and "pip install" in said[0]


def test_a_crash_either_way_names_build_and_processor(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = CrashingBuild(monkeypatch, tmp_path, signal.SIGILL, helped=False)
    with pytest.raises(ModelError) as caught:
        LocalModel(path, SETTINGS)
    problem, remedy = caught.value.problem, caught.value.remedy
    assert all(words in problem for words in ("SIGILL", "llama-cpp-python 0.", "with and without", "may be fine"))
    assert f"{sys.executable} -m pip install --force-reinstall" in remedy and "smaller" not in problem + remedy
    assert build.evaluations == ["with", "without"]
    with pytest.raises(ModelError):
        LocalModel(path, SETTINGS)
    assert build.evaluations == ["with", "without"] * 2, "what did not help is not remembered"


@pytest.mark.parametrize(("number", "said"), [(signal.SIGKILL, "smaller model"), (signal.SIGTERM, "start again")])
def test_a_worker_that_somebody_ended_is_not_tried_otherwise(
    number: signal.Signals, said: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = CrashingBuild(monkeypatch, tmp_path, number)
    with pytest.raises(ModelError) as caught:
        LocalModel(path, SETTINGS)
    assert said in caught.value.remedy and build.evaluations == ["with"]


@pytest.mark.parametrize("helped", [True, False])
def test_doctor_tries_both_ways(helped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = CrashingBuild(monkeypatch, tmp_path, signal.SIGSEGV, helped)
    command = [sys.executable, "-m", "rtc_inspector", "doctor", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    (found,) = [found for found in map(json.loads, done.stdout.splitlines()) if found["name"] == "llama.cpp"]
    assert found["works"] is helped and "SIGSEGV" in found["detail"] and "pip install" in found["remedy"], found
    assert build.evaluations == ["with", "without"]

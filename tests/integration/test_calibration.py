"""Calibrating a model: a dozen tiny functions, judged in the sandbox."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest
from small_model import write_small_model

from rtc_inspector.core.errors import Cancelled
from rtc_inspector.core.languages import named
from rtc_inspector.core.models.gguf import fingerprint
from rtc_inspector.core.run import calibration
from rtc_inspector.core.run.calibration import _functions as calibration_functions
from rtc_inspector.core.run.calibration import calibrate
from rtc_inspector.core.settings import ModelSettings, OracleSettings
from rtc_inspector.core.trips.judged import open_judged
from rtc_inspector.core.types import Outcome
from rtc_inspector.resources import path as resource


def quiet(stage: str, done: int, total: int) -> None:
    pass


QUICK = OracleSettings(sandbox="bubblewrap", identity_runs=1)


def test_each_style_is_tried_on_every_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for room in ("DESCRIPTION_TOKENS", "CODE_TOKENS"):
        monkeypatch.setattr(calibration, room, 12)  # noise is no better where it is long
    model = write_small_model(tmp_path / "small.gguf")
    said: list[str] = []
    stages: set[str] = set()
    opened: list[object] = []

    def report(stage: str, done: int, total: int) -> None:
        stages.add(stage)

    found = calibrate(model, ModelSettings(threads=1), QUICK, said.append, report, opened.append)
    assert [score.style for score in found.scores] == ["code", "chat"] and len(opened) == 2
    assert all((score.functions, score.passed) == (12, 0) for score in found.scores), "it writes noise"
    assert found.scores[0].tokens < found.scores[1].tokens
    assert found.key.startswith(fingerprint([model])) and {"asking by code", "judging chat"} <= stages


def test_calibrating_can_be_given_up(tmp_path: Path) -> None:
    def report(stage: str, done: int, total: int) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        calibrate(write_small_model(tmp_path / "small.gguf"), ModelSettings(), QUICK, print, report, print)


@pytest.mark.parametrize(("name", "tool"), [("JavaScript", "node"), ("Go", "go"), ("Rust", "cargo")])
def test_the_functions_of_each_language_are_judged_by_their_own_tests(name: str, tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    language = named(name)
    with ExitStack() as stack:
        judged = open_judged(
            stack, resource(language.calibration), OracleSettings(workers=1), print, quiet, python_only=False
        )
        functions = list(calibration_functions(judged))
        assert len(functions) == 12
        last = functions[-1]
        assert last.admitted, last.reason
        assert judged.judge(last, last.text).outcome is Outcome.PASS
        assert judged.judge(last, language.stand_in).outcome is not Outcome.PASS

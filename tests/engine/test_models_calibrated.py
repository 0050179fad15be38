"""Which style a model is asked in, once it was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtc_inspector.core.generation import INFILL
from rtc_inspector.core.models import styles
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.gguf import fingerprint, read_header, remembered_fingerprint
from rtc_inspector.core.models.styles import (
    Calibration,
    StyleScore,
    as_recorded,
    calibration_key,
    choose_style,
    keep_calibration,
    kept_calibration,
)
from rtc_inspector.core.settings import ModelSettings


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def found(key: str, **passes: tuple[int, int]) -> Calibration:
    return Calibration(key, tuple(StyleScore(name, n, 0, 12, tokens) for name, (n, tokens) in passes.items()))


def test_the_best_style_is_the_one_with_most_passes_then_with_fewest_tokens() -> None:
    assert found("k", chat=(1, 10), code=(8, 900)).best.style == "code"
    assert found("k", chat=(8, 1000), code=(8, 900), fim=(8, 950)).best.style == "code"
    assert found("k", chat=(1, 10), code=(8, 900)).words == "code 8/12, chat 1/12"


def test_what_was_found_is_kept_for_the_file_and_the_prompts_it_holds_for(monkeypatch: pytest.MonkeyPatch) -> None:
    sha256 = "5" * 64
    assert kept_calibration(sha256) is None
    keep_calibration(found(calibration_key(sha256), chat=(9, 10), code=(8, 900)))
    known = kept_calibration(sha256)
    assert known is not None and known.best.style == "chat" and known.words == "chat 9/12, code 8/12"
    monkeypatch.setattr(styles, "SET_VERSION", 99)
    assert kept_calibration(sha256) is None


def test_automatic_is_what_was_measured_and_what_is_told_wins() -> None:
    header, sha256 = read_header(bundled_model()), "6" * 64
    assert choose_style(header, "auto", sha256).forward == "chat", "never measured: it has a template"
    keep_calibration(found(calibration_key(sha256), chat=(3, 10), code=(8, 900)))
    asked = choose_style(header, "auto", sha256)
    assert (asked.forward, asked.backward, asked.calibration) == ("code", "code", "code 8/12, chat 3/12")
    assert choose_style(header, "chat", sha256).calibration == ""


def test_the_bundled_model_comes_with_its_calibration() -> None:
    files = read_header(bundled_model()).files
    assert remembered_fingerprint(files) == ""
    known = kept_calibration(fingerprint(files))
    assert known is not None and known.best.style == "code" and known.best.passed >= 7
    assert remembered_fingerprint(files)


def test_a_run_goes_on_in_the_style_it_began_in() -> None:
    auto = ModelSettings()
    code = {"prompt_style": "code", "backward_style": "code"}
    gaps = {"prompt_style": "code", "backward_style": INFILL}
    assert as_recorded(auto, {"forward": code, "backward": code}).prompt_style == "code"
    assert as_recorded(auto, {"forward": gaps, "backward": gaps}).prompt_style == "fim"
    assert as_recorded(auto, {"forward": code, "backward": gaps}) == auto, "two models, asked in two ways"
    chat = ModelSettings(prompt_style="chat")
    assert as_recorded(chat, {"forward": code, "backward": code}) == chat

"""How a model file is asked: in turns, as a file that it writes on, or by filling in the middle; measured or told."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.generation import INFILL
from rtc_inspector.core.json_cache import JsonCache
from rtc_inspector.core.languages import PYTHON, Language
from rtc_inspector.core.models.gguf import GgufHeader, fingerprint, remembered_fingerprint, special_tokens
from rtc_inspector.core.models.process import Wire
from rtc_inspector.core.models.prompts import wording
from rtc_inspector.core.settings import ModelSettings
from rtc_inspector.core.settings.setting import described, read_back
from rtc_inspector.resources import text as resource_text

# --------------------------- what calibrating found


_CALIBRATIONS = JsonCache("calibrations", 500)  # of so many models; those that were not used for longest go first
SET_VERSION = 1  # goes up with every change of the functions in `resources/calibration`


@dataclass(frozen=True, slots=True)
class StyleScore:
    """One style on the calibration set."""

    style: str  # `chat`, `completion`, `code` or `fim`, as a run is told
    passed: int  # functions whose code, written again from the model's own description, passed their tests
    baseline: int  # those that passed when written from the uninformative utterance
    functions: int  # in the set
    tokens: int  # read and written for all of it


@dataclass(frozen=True, slots=True)
class Calibration:
    """Every style that a model can be asked in. `key` tells for which file and which prompts it holds."""

    key: str
    scores: tuple[StyleScore, ...]

    @property
    def best(self) -> StyleScore:
        """Return the style with most passes; of equal ones the one that takes fewest tokens."""
        return max(self.scores, key=lambda score: (score.passed, -score.tokens))

    @property
    def words(self) -> str:
        """E.g. `code 8/12, chat 1/12`: the best first."""
        ranked = sorted(self.scores, key=lambda score: (-score.passed, score.tokens))
        return ", ".join(f"{score.style} {score.passed}/{score.functions}" for score in ranked)


def calibration_key(sha256: str, language: Language = PYTHON) -> str:
    """Return the key of a model file's hash: other prompts or another set of functions make another key."""
    key = f"{sha256}-{wording().version}-{SET_VERSION}"
    return key if language is PYTHON else f"{key}-{language.calibration}"


def kept_calibration(sha256: str, language: Language = PYTHON) -> Calibration | None:
    """Return the calibration of the file of that hash, made on this machine or shipped with the program, or None.

    It is that in the language, else that in Python: a model that knows one style in one knows it in the other, most
    often. The bundled model's comes with the program, so that the demo need not wait for it.
    """
    key = calibration_key(sha256, language)
    try:
        return read_back(Calibration, _CALIBRATIONS.load(key))
    except TypeError:
        if language is not PYTHON:
            return kept_calibration(sha256)
        return next((each for each in _shipped() if each.key == key), None)


def keep_calibration(found: Calibration) -> None:
    """Store a calibration for later runs of the same file."""
    _CALIBRATIONS.save(found.key, found)


@cache
def _shipped() -> Sequence[Calibration]:
    return [read_back(Calibration, each) for each in json.loads(resource_text("calibrations.json"))]


# --------------------------- the style that is taken


STYLES = described(ModelSettings)["prompt_style"].about.choices
SMALL = 256 << 20  # bytes of a file that is hashed in a fraction of a second


@dataclass(frozen=True, slots=True)
class ChosenStyle:
    """The style in which one model is asked."""

    forward: str  # for descriptions: `chat`, `completion` or `code`
    backward: str  # for code: the same, or fill-in-the-middle
    calibration: str = ""  # what the choice rests on; empty where it was told or guessed


def possible_styles(header: GgufHeader) -> tuple[str, ...]:
    """Return the styles in which a model can be asked at all, as a run is told."""
    turns = "chat" if header.chat_template else "completion"
    return ("code", turns, "fim") if header.fills_gaps else ("code", turns)


def choose_style(header: GgufHeader, asked: str, sha256: str, language: Language = PYTHON) -> ChosenStyle:
    """Return the style in which the model in a file of that hash is asked. Raises ModelError where it lacks that style.

    `auto` is the style that did best when the model was calibrated. Where it never was, it is a guess: a chat template
    is there to be used, and a base model goes on writing files, or fills gaps where its vocabulary has the marks.
    """
    if asked == "chat" and not header.chat_template:
        raise ModelError(
            "This model has no chat template, so the chat style cannot be used.",
            "Choose the prompt style `auto`, `code` or `completion`.",
        )
    if asked == "fim" and not header.fills_gaps:
        raise ModelError(
            f"{header.path.name} cannot fill in the middle: its vocabulary has no tokens for it.",
            "Choose the prompt style `auto`, or a code model that has them.",
        )
    calibrated = kept_calibration(sha256, language) if asked == "auto" else None
    style = calibrated.best.style if calibrated is not None else asked
    if style == "auto":
        style = "chat" if header.chat_template else "fim" if header.fills_gaps else "code"
    forward = style if style != "fim" else "chat" if header.chat_template else "code"
    return ChosenStyle(forward, INFILL if style == "fim" else forward, calibrated.words if calibrated else "")


def expected_style(header: GgufHeader) -> ChosenStyle:
    """Return the style of a model where none is chosen, as far as is known without reading a large file whole."""
    small = header.file_bytes < SMALL and not header.is_embedding
    return choose_style(header, "auto", (fingerprint if small else remembered_fingerprint)(header.files))


def wire_style(header: GgufHeader, asked: ChosenStyle) -> Wire:
    """Return what the worker's renderer is told of prompts. Raises ModelError when the vocabulary is damaged."""
    special = special_tokens(header)
    style = asked.forward if asked.forward in ("chat", "completion") else "auto"
    infill = special.infill if asked.backward == INFILL and special.infill else ()
    return {"style": style, "control": special.control, "infill": infill}


def as_recorded(settings: ModelSettings, models: Mapping[str, Mapping[str, Any]]) -> ModelSettings:
    """Return the settings of a run whose models were recorded, with what they left open as it was when it began.

    A model that was calibrated since would be asked in another style, and a server may have another window by now.
    """
    served = all(not model.get("sha256") for model in models.values())
    windows = {model.get("context_size") for model in models.values()}
    if settings.context_size is None and served and len(windows) == 1:
        settings = replace(settings, context_size=windows.pop() or None)
    asked = {
        "fim" if model.get("backward_style") == INFILL else model.get("prompt_style", "") for model in models.values()
    }
    if settings.prompt_style != "auto" or len(asked) != 1 or not asked <= set(STYLES):
        return settings
    return replace(settings, prompt_style=asked.pop())

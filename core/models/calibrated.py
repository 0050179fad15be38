"""What calibrating a model found: how well it does in each style in which it can be asked; kept by the model's hash."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Self

from platformdirs import user_cache_path

from rtc_inspector.core.json_cache import JsonCache
from rtc_inspector.core.models.prompts import wording
from rtc_inspector.resources import text as resource_text

KEPT = 500
"""Models whose calibration stays; those that were not used for longest go first."""
SET_VERSION = 1
"""Goes up with every change of the functions in `resources/calibration`."""


@dataclass(frozen=True, slots=True)
class StyleScore:
    """One style on the calibration set.

    Attributes:
        style: `chat`, `completion`, `code` or `fim`, as a run is told.
        passed: functions whose code, written again from the model's own description, passed their tests.
        baseline: those that passed when written from the uninformative utterance.
        functions: in the set.
        tokens: read and written for all of it.
    """

    style: str
    passed: int
    baseline: int
    functions: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """Every style that a model can be asked in. `key` tells for which file and which prompts it holds."""

    key: str
    scores: tuple[StyleScore, ...]

    @property
    def best(self) -> StyleScore:
        """The style with most passes; of equal ones the one that takes fewest tokens."""
        return max(self.scores, key=lambda score: (score.passed, -score.tokens))

    @property
    def words(self) -> str:
        """E.g. `code 8/12, chat 1/12`: the best first."""
        ranked = sorted(self.scores, key=lambda score: (-score.passed, score.tokens))
        return ", ".join(f"{score.style} {score.passed}/{score.functions}" for score in ranked)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Plain values read back. Raises TypeError, KeyError."""
        return cls(data["key"], tuple(StyleScore(**score) for score in data["scores"]))


def calibration_key(sha256: str) -> str:
    """Return the key of a model file's hash: other prompts or another set of functions make another key."""
    return f"{sha256}-{wording().version}-{SET_VERSION}"


def kept_calibration(sha256: str) -> Calibration | None:
    """Return the calibration of the file of that hash, made on this machine or shipped with the program, or None.

    The bundled model's comes with the program, so that the demo need not wait for it.
    """
    key = calibration_key(sha256)
    try:
        return Calibration.from_json(_files().load(key))
    except (KeyError, TypeError):
        return next((known for known in _shipped() if known.key == key), None)


def keep_calibration(found: Calibration) -> None:
    """Store a calibration for later runs of the same file."""
    _files().save(found.key, found.to_json())


def _files() -> JsonCache:
    return JsonCache(user_cache_path("rtc-inspector") / "calibrations", KEPT)


@cache
def _shipped() -> Sequence[Calibration]:
    return [Calibration.from_json(each) for each in json.loads(resource_text("calibrations.json"))]

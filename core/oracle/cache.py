"""Baselines kept between openings, one compressed file a fingerprint."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from core.oracle.baseline import Baseline

KEPT = 50
"""Baselines that stay; the oldest go first."""


def cache_folder() -> Path:
    """Where the platform keeps caches."""
    return user_cache_path("rtc-inspector") / "suites"


class BaselineCache:
    """A folder of baselines. Trouble with it never stops a run: it is only a cache."""

    def __init__(self, folder: Path) -> None:
        """The folder is made when first needed."""
        self._folder = folder

    def load(self, key: str) -> Baseline | None:
        """The baseline kept under `key`; None when there is none, or it cannot be read."""
        try:
            with gzip.open(self._file(key), "rt", encoding="utf-8") as file:
                baseline = Baseline.from_json(json.load(file))
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError):
            return None
        with suppress(OSError):
            os.utime(self._file(key))
        return baseline.as_cached()

    def save(self, key: str, baseline: Baseline) -> None:
        """Keep it, whole or not at all."""
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, suffix=".part")
            try:
                with os.fdopen(handle, "wb") as raw, gzip.open(raw, "wt", encoding="utf-8", compresslevel=5) as file:
                    json.dump(baseline.to_json(), file)
                Path(name).replace(self._file(key))
            finally:
                Path(name).unlink(missing_ok=True)
            self._trim()

    def _file(self, key: str) -> Path:
        return self._folder / f"{key}.json.gz"

    def _trim(self) -> None:
        kept = sorted(self._folder.glob("*.json.gz"), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in kept[KEPT:]:
            file.unlink(missing_ok=True)

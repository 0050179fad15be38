"""Baselines kept between openings, by fingerprint."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

from platformdirs import user_cache_path

from core.json_cache import JsonCache
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
        self._files = JsonCache(folder, KEPT)
        self._seen = JsonCache(folder / "imported", KEPT)

    def load(self, key: str) -> Baseline | None:
        """The baseline kept under `key`; None when there is none, or it cannot be read."""
        try:
            return Baseline.from_json(self._files.load(key)).as_cached()
        except (ValueError, KeyError, TypeError, AttributeError):
            return None

    def save(self, key: str, baseline: Baseline) -> None:
        """Keep it, whole or not at all."""
        self._files.save(key, baseline.to_json())

    def imported(self, key: str) -> set[str]:
        """Files of the project that the tests are known to import."""
        found = self._seen.load(key)
        return {path for path in found if isinstance(path, str)} if isinstance(found, list) else set()

    def keep_imported(self, key: str, paths: Set[str]) -> None:
        """Keep which files they import."""
        self._seen.save(key, sorted(paths))

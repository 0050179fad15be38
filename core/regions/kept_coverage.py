"""Coverage maps of projects that were sampled, kept so that one can see later what there was to draw from."""

from __future__ import annotations

from typing import Any

from platformdirs import user_cache_path

from rtc_inspector.core.json_cache import JsonCache
from rtc_inspector.core.types import CoverageMap

KEPT = 50
"""Maps that stay; the oldest go first."""


def keep(fingerprint: str, coverage: CoverageMap) -> None:
    """Keep the map of a project whose files have this fingerprint. Trouble with it is passed over: it is a cache."""
    _files().save(fingerprint, _to_json(coverage))


def kept(fingerprint: str) -> CoverageMap | None:
    """The map kept for these files; None where there is none, or it cannot be read."""
    try:
        return _from_json(_files().load(fingerprint))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _files() -> JsonCache:
    return JsonCache(user_cache_path("rtc-inspector") / "coverage", KEPT)


def _to_json(coverage: CoverageMap) -> dict[str, Any]:
    lines = {
        # Lists, since JSON knows no numbers as keys.
        path: [[line, sorted(tests)] for line, tests in by_line.items()]
        for path, by_line in coverage.lines.items()
    }
    imports = {path: sorted(found) for path, found in coverage.import_lines.items()}
    return {"tests": list(coverage.tests), "lines": lines, "import_lines": imports}


def _from_json(data: dict[str, Any]) -> CoverageMap:
    lines = {
        path: {int(line): frozenset(map(int, tests)) for line, tests in by_line}
        for path, by_line in data["lines"].items()
    }
    imports = {path: frozenset(map(int, found)) for path, found in data["import_lines"].items()}
    return CoverageMap(tuple(map(str, data["tests"])), lines, imports)

"""Coverage maps of projects that were sampled, kept so that one can see later what there was to draw from."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from core.types import CoverageMap

KEPT = 50
"""Maps that stay; the oldest go first."""


def keep(fingerprint: str, coverage: CoverageMap) -> None:
    """Keep the map of a project whose files have this fingerprint. Trouble with it is passed over: it is a cache."""
    with suppress(OSError):
        file = _file(fingerprint)
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as raw, gzip.open(raw, "wt", encoding="utf-8", compresslevel=5) as out:
                json.dump(_to_json(coverage), out)
            Path(name).replace(file)
        finally:
            Path(name).unlink(missing_ok=True)
        for old in sorted(file.parent.glob("*.json.gz"), key=lambda each: -each.stat().st_mtime)[KEPT:]:
            old.unlink(missing_ok=True)


def kept(fingerprint: str) -> CoverageMap | None:
    """The map kept for these files; None where there is none, or it cannot be read."""
    try:
        with gzip.open(_file(fingerprint), "rt", encoding="utf-8") as file:
            return _from_json(json.load(file))
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _file(fingerprint: str) -> Path:
    return user_cache_path("rtc-inspector") / "coverage" / f"{fingerprint}.json.gz"


def _to_json(coverage: CoverageMap) -> dict[str, Any]:
    lines = {
        path: [[line, sorted(tests)] for line, tests in by_line.items()] for path, by_line in coverage.lines.items()
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

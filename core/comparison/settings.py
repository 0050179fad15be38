"""What two runs were made with where that differs: the reason to compare them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from core.store.rows import RunRow

_FILE = ("name", "quantization", "sha256", "served", "template_sha256")
_MODEL = (*_FILE, "context_size", "prompt_style", "backward_style", "calibration", "build")
_ELSEWHERE = frozenset({"model", "backward_model", "series", "cluster", "task", "version"})
"""Settings that the model's own record tells better, or that are checked before."""


def differing_settings(first: RunRow, second: RunRow) -> tuple[tuple[str, str, str], ...]:
    """Name, value in the first run, value in the second."""
    told = [dict(_told(run)) for run in (first, second)]
    names = list(dict.fromkeys([*told[0], *told[1]]))
    rows = ((name, told[0].get(name, "-"), told[1].get(name, "-")) for name in names)
    return tuple(row for row in rows if row[1] != row[2])


def _told(run: RunRow) -> Iterator[tuple[str, str]]:
    models = _object(run.model_json)
    for role in ("forward", "backward"):
        model = models.get(role) or {}
        yield from ((f"{role} model {name.replace('_', ' ')}", str(model.get(name) or "-")) for name in _MODEL)
    yield from _flat(_object(run.config_json))
    yield "revision", f"{run.revision or '-'}{' (modified)' if run.dirty else ''}"
    yield "files", run.fingerprint[:12]
    yield "sandbox", run.sandbox
    yield "version", run.app_version


def _flat(values: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Nested settings by their names joined."""
    for name, value in values.items():
        if not before and name in _ELSEWHERE:
            continue
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name} ")
        else:
            yield f"{before}{name}".replace("_", " "), json.dumps(value)


def _object(text: str) -> dict[str, Any]:
    """A damaged record tells nothing."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

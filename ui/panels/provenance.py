"""Everything a run was made with, as groups of names and values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.kinds import IMPORTED, TASKS, Kind, known, noun
from core.store.rows import RunRow

Groups = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""Heading, then pairs of name and value."""

_SERVERS = {"endpoint": "Server of the forward model", "backward_endpoint": "Server of the backward model"}
_TITLES = {
    "region": "Region settings",
    "edit": "Edit settings",
    "oracle": "Oracle settings",
    "generation": "Model settings",
    **_SERVERS,
}


def provenance(run: RunRow) -> Groups:
    """Groups in the order they are read: the run, its models, where it was judged, all settings."""
    models = _json(run.model_json)
    config = _json(run.config_json)
    nested = {name: value for name, value in config.items() if isinstance(value, Mapping)}
    flat = {name: value for name, value in config.items() if name not in nested and not _absent(name, value)}
    forward, backward = _mapping(models.get("forward", models)), _mapping(models.get("backward", {}))
    groups = [("Run", _run(run)), ("Code and tests", _code(run)), ("Forward model", _pairs(forward))]
    groups.append(("Backward model", (("", "the forward model"),) if backward in ({}, forward) else _pairs(backward)))
    groups.append(("Settings", _pairs(_said(flat, run))))
    every = [*TASKS.values(), IMPORTED]
    unused = {kind.draws_from for kind in every} - {kind.draws_from for kind in _kinds(run)}
    used = ((name, value) for name, value in nested.items() if name not in unused)
    groups += [(_TITLES.get(name, _words(name)), _pairs(value)) for name, value in used]
    return tuple(groups)


def as_text(groups: Groups) -> str:
    """The groups for the clipboard."""
    lines = []
    for title, pairs in groups:
        lines += [title, *(f"  {name}: {value}" if name else f"  {value}" for name, value in pairs), ""]
    return "\n".join(lines).rstrip()


def _kinds(run: RunRow) -> list[Kind]:
    """The run's task; one that is not known uses every part of the settings."""
    kind = known(run.task)
    return [kind] if kind else [*TASKS.values(), IMPORTED]


def _said(settings: Mapping[str, Any], run: RunRow) -> dict[str, Any]:
    """What is sampled is called by its name."""
    return {f"{noun(run.task)}s" if name == "regions" else name: value for name, value in settings.items()}


def _absent(name: str, value: Any) -> bool:
    """Whether this is a server that the run had not."""
    return name in _SERVERS and value is None


def _run(run: RunRow) -> tuple[tuple[str, str], ...]:
    counts = f"{run.items_complete} of {run.items_expected}, {run.items_dropped} dropped"
    pairs = [
        ("number", str(run.id)),
        ("name", run.name),
        ("status", run.status),
        ("task", run.task),
        ("seed", str(run.seed)),
        ("started", _second(run.started_at)),
        ("ended", _second(run.ended_at or "–")),
        (f"{noun(run.task)}s", counts),
        ("samples", f"{run.samples:,}"),
        ("RTC Inspector", run.app_version),
        ("notes", run.notes),
    ]
    return tuple((name, value) for name, value in pairs if value)


def _second(time: str) -> str:
    """A stored time (UTC), to the second."""
    return time[:19].replace("T", " ")


def _code(run: RunRow) -> tuple[tuple[str, str], ...]:
    revision = run.revision or "not under version control"
    changed = " with uncommitted changes" if run.dirty else ""
    return (
        ("project", run.project_name),
        ("folder", run.project_root),
        ("revision", f"{revision}{changed}"),
        ("judged by", run.sandbox),
    )


def _pairs(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((_words(name), _value(value)) for name, value in values.items())


def _words(name: str) -> str:
    """A field's name as people write it."""
    return name.replace("_", " ")


def _value(value: Any) -> str:
    """A setting in plain words."""
    if value is None:
        return "automatic"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) >= 100_000:
        return f"{value:,}"
    return str(value) if value != "" else "–"


def _json(text: str) -> dict[str, Any]:
    """A stored JSON object; empty where it is not one."""
    try:
        return _mapping(json.loads(text))
    except ValueError:
        return {}


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}

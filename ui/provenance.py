"""Everything a run was made with, as groups of names and values: for the window and for pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rtc_inspector.core.kinds import kind_of, noun
from rtc_inspector.core.settings.words import flat, words_of
from rtc_inspector.core.store.rows import RunRow

Pairs = tuple[tuple[str, str], ...]
Groups = tuple[tuple[str, Pairs], ...]
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
    """Return the groups in the order they are read: the run, its models, where it was judged, all settings.

    A damaged record of models or settings is shown as far as it goes.
    """
    models, config = _json(run.model_json), _json(run.config_json)
    forward, backward = _mapping(models.get("forward", models)), _mapping(models.get("backward", {}))
    words = changed_words(run.task, str(config.pop("prompts", "")))
    kind = kind_of(run.task)

    def own(values: Mapping[str, Any], part: str = "") -> dict[str, Any]:
        """Return what says something to runs of this method; to one that is not known here, everything."""
        return {name: value for name, value in values.items() if kind is None or kind.has(f"{part}{name}")}

    parts = {name: own(value, f"{name}.") for name, value in config.items() if isinstance(value, Mapping)}
    flat = {
        f"{noun(run.task)}s" if name == "regions" else name: value  # what is sampled is called by its name
        for name, value in own(config).items()
        if name not in parts and not (name in _SERVERS and value is None)
    }
    return (
        ("Run", _run(run)),
        ("Code and tests", _code(run)),
        ("Forward model", _pairs(forward)),
        ("Backward model", (("", "the forward model"),) if backward in ({}, forward) else _pairs(backward)),
        ("Settings", _pairs(flat)),
        *((("Words of the prompts", words),) if words else ()),
        *((_TITLES.get(name, _words(name)), _pairs(part)) for name, part in parts.items() if part),
    )


def changed_words(task: str, own: str) -> Pairs:
    """Return the texts of the prompts in which a person's words stand, by what they are."""
    if not own:
        return ()
    given = dict(flat(words_of(task)))
    return tuple((key.replace(".", " "), text) for key, text in flat(words_of(task, own)) if text != given.get(key))


def as_text(groups: Groups) -> str:
    """Return the groups as text, for the clipboard."""
    lines = []
    for title, pairs in groups:
        lines += [title, *(f"  {name}: {value}" if name else f"  {value}" for name, value in pairs), ""]
    return "\n".join(lines).rstrip()


def _run(run: RunRow) -> Pairs:
    items = f"{noun(run.task)}s"
    pairs = [
        ("number", str(run.id)),
        ("name", run.name),
        ("status", run.status),
        ("task", run.task),
        ("seed", str(run.seed)),
        ("started", _second(run.started_at)),
        ("ended", _second(run.ended_at) if run.ended_at else "–"),
        (items, f"{run.items_complete} of {run.items_expected}, {run.items_dropped} dropped"),
        (f"{items} to draw from", "" if run.available is None else f"{run.available:,}"),
        ("samples", f"{run.samples:,}"),
        ("RTC Inspector", run.app_version),
        ("notes", run.notes),
    ]
    return tuple((name, value) for name, value in pairs if value)


def _second(time: str) -> str:
    return f"{time[:19].replace('T', ' ')} UTC"


def _code(run: RunRow) -> Pairs:
    revision = run.revision or "not under version control"
    pairs = (
        ("project", run.project_name),
        ("folder", run.project_root),
        ("revision", f"{revision}{' with uncommitted changes' if run.dirty else ''}"),
        ("files", run.fingerprint),
        ("judged by", run.sandbox),
        ("image", run.image_digest),
    )
    return tuple((name, value) for name, value in pairs if value)


def _pairs(values: Mapping[str, Any]) -> Pairs:
    return tuple((_words(name), _value(value)) for name, value in values.items())


def _words(name: str) -> str:
    return name.replace("_", " ")


def _value(value: Any) -> str:
    if value is None:
        return "automatic"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) >= 100_000:
        return f"{value:,}"
    return str(value) if value != "" else "–"


def _json(text: str) -> dict[str, Any]:
    """Return a stored JSON object; empty where it is not one."""
    try:
        return _mapping(json.loads(text))
    except ValueError:
        return {}


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}

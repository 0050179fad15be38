"""A run's events as JSON lines: the headless contract that scripts rely on."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from rtc_inspector.core.generation import Sample
from rtc_inspector.core.run.events import (
    Event,
    ItemReady,
    RunFinished,
    RunStarted,
    SampleReady,
    ScoresReady,
    VerdictReady,
)
from rtc_inspector.core.store.rows import Answers
from rtc_inspector.core.types import Estimate, Item, Verdict

_NAMES = {
    RunStarted: "run-started",
    ItemReady: "item",
    SampleReady: "sample",
    VerdictReady: "verdict",
    ScoresReady: "score",
    RunFinished: "run-finished",
}


def as_json(event: Event) -> str | None:
    """Return one line for the events of the contract, None for the others (progress, streamed text, notices)."""
    name = _NAMES.get(type(event))
    if name is None:
        return None
    values = _flat(event)
    return json.dumps({"event": name, **values}, ensure_ascii=False)


def _flat(event: Event) -> dict[str, Any]:
    """Return the event's own fields, with those of the one value it carries beside them."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        if field.name in ("change", "again", "counted"):
            continue
        if isinstance(event, ItemReady) and field.name == "item":
            values |= region_values(event.item)
        elif field.name in ("sample", "verdict"):
            shown = Sample if field.name == "sample" else Verdict
            own = dataclasses.asdict(value)
            values |= {each.name: own[each.name] for each in dataclasses.fields(shown)}
        elif isinstance(event, RunFinished) and field.name == "measures":
            values |= scores_json(event.measures)
        elif isinstance(event, RunFinished) and field.name == "answers":
            values["answers"] = answers_json(event.answers)
        else:
            values[field.name] = list(value) if isinstance(value, tuple) else value
    if isinstance(event, SampleReady):
        extraction = values.pop("extraction")
        values |= {"text": extraction["text"], "extraction_steps": extraction["steps"]}
    return values


def scores_json(scores: Mapping[str, Estimate]) -> dict[str, Any]:
    """Return a run's figures by name; of round trips also by the names they had before there were others."""
    values: dict[str, Any] = {"measures": {name: score_json(score) for name, score in scores.items()}}
    if "rtc" in scores and "lift" in scores:  # a cosmetic run has round trips without a baseline to lift them from
        rtc, lift = scores["rtc"], scores["lift"]
        values |= {"rtc_pass": rtc.value, "lift": lift.value, "ci_low": rtc.low, "ci_high": rtc.high}
    return values


def answers_json(answers: Answers) -> dict[str, Any]:
    """Return how the models' answers could be read: how many, and as shares."""
    return dataclasses.asdict(answers) | {"shares": answers.shares}


def score_json(score: Estimate) -> dict[str, Any]:
    """Return a figure with its interval, the number of items it rests on, and whether those are few."""
    return dataclasses.asdict(score) | {"few": score.few}


def region_values(item: Item) -> dict[str, Any]:
    """Return what `sample --json` prints of a region; offsets count characters."""
    return {
        "key": item.key,
        "kind": item.kind,
        "path": item.path,
        "start": item.span.start,
        "end": item.span.end,
        "start_line": item.start_line,
        "end_line": item.end_line,
        "text": item.text,
        "tests": list(item.tests),
        "admitted": item.admitted,
        "reason": item.reason,
        "old_text": item.old_text,
        "facets": dict(item.facets),
        "origin": dict(item.origin),
    }

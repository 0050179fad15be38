"""From frozen values to table rows: the other way of `decoding`."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import StoreError
from rtc_inspector.core.generation import ModelInfo, Sample
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.taxonomy import Taxonomy
from rtc_inspector.core.types import Item, Suite, Verdict

Row = dict[str, Any]


def now() -> str:
    """Return the time as it is stored: UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def clean(value: Any) -> Any:
    r"""Return text as SQLite can hold it: a lone surrogate is kept readable as `\udc80`."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value


def prompt_hash(text: str) -> str:
    """Return the key of a prompt: sha256 of its exact text."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def taxonomy_row(taxonomy: Taxonomy) -> Row:
    """Return a row of `taxonomies`."""
    text = clean(taxonomy.to_toml())
    return {"hash": prompt_hash(text), "version": taxonomy.version, "text": text, "added_at": now()}


def project_row(root: Path, name: str, revision: str | None, dirty: bool) -> Row:
    """Return a row of `projects`."""
    row = {"root": clean(str(root)), "name": name, "revision": revision, "dirty": int(dirty)}
    return row | {"added_at": now()}


def models_text(model: ModelInfo, backward_model: ModelInfo) -> str:
    """Return what a run records of its models, as JSON."""
    return json.dumps({"forward": dataclasses.asdict(model), "backward": dataclasses.asdict(backward_model)})


def run_row(project_id: int, settings: RunSettings, model: ModelInfo, backward_model: ModelInfo, suite: Suite) -> Row:
    """Return a row of `runs` without its surroundings (sandbox, version, fingerprint)."""
    return {
        "project_id": project_id,
        "task": str(settings.task),
        "status": "running",
        "model_name": model.name,
        "backward_model_name": backward_model.name,
        "models": models_text(model, backward_model),
        "config": json.dumps(settings.to_json()),
        "seed": settings.seed,
        "regions_wanted": settings.regions,
        "forward_samples": settings.forward_samples,
        "backward_samples": settings.backward_samples,
        "suite": suite_text(suite),
        "started_at": now(),
    }


def suite_text(suite: Suite) -> str:
    """Return what a run records of the project's tests: how many are trusted, and which are not and why."""
    known = _plain(suite, "seconds", "python", "cached")
    needing = [test.node_id for test in suite.own_order]
    asked = {"own_order": needing, "not_asked": list(suite.not_asked)}
    return json.dumps({"tests": len(suite.tests), "excluded": dict(suite.excluded), **asked, **known})


def item_row(run_id: int, item: Item) -> Row:
    """Return a row of `items`."""
    return {
        "run_id": run_id,
        **_plain(item, "kind", "path", "start_line", "end_line", "text", "old_text", "reason", "form", "directive"),
        "key": clean(item.key),
        "span_start": item.span.start,
        "span_end": item.span.end,
        "tests": json.dumps(item.tests),
        "admitted": int(item.admitted),
        "facets": json.dumps(dict(item.facets), ensure_ascii=False),
        "origin": json.dumps(dict(item.origin), ensure_ascii=False),
        "extra": int(item.extra),
        "added_at": now(),
    }


def _plain(value: object, *names: str) -> Row:
    """Return attributes that stand in columns of their own names."""
    return {name: getattr(value, name) for name in names}


def sample_row(item_id: int, parent_id: int | None, sample: Sample) -> Row:
    """Return a row of `samples`, `counted` left to the caller."""
    return {
        "item_id": item_id,
        "parent_id": parent_id,
        "role": str(sample.role),
        "sample_index": sample.index,
        **_plain(sample, "author", "finish_reason", "error", "recitation", "shown", "seed", "temperature"),
        **_plain(
            sample, "prompt_tokens", "completion_tokens", "thought_tokens", "seconds", "raw_text", "thoughts", "step"
        ),
        "truncated": int(sample.truncated),
        "prompt_hash": prompt_hash(sample.prompt_text),
        "extraction_steps": json.dumps(sample.extraction.steps),
        "text": sample.extraction.text,
        "form": str(sample.role.form),
        "made_at": now(),
    }


def verdict_row(sample_id: int, verdict: Verdict) -> Row:
    """Return a row of `verdicts`."""
    ran = [test for test in verdict.tests if test.outcome not in ("skipped", "missing")]
    return {
        "sample_id": sample_id,
        "outcome": str(verdict.outcome),
        **_plain(verdict, "seconds", "oracle", "detail", "output"),
        "tests_run": len(ran),
        "tests_failed": sum(test.outcome != "passed" for test in ran),
        "judged_at": now(),
        "flags": json.dumps(verdict.flags),
    }


def test_rows(verdict_id: int, verdict: Verdict) -> Iterator[Row]:
    """Yield rows of `test_results`, in the order the tests ran."""
    for test in verdict.tests:
        yield {
            "verdict_id": verdict_id,
            "node_id": clean(test.node_id),
            "outcome": test.outcome,
            "seconds": test.seconds,
            "message": clean(test.message),
            "signature": clean(test.signature),
        }


def unknown_run(run_id: int, known: Sequence[int], path: Path) -> StoreError:
    """Return the error that there is no such run; it names the latest of those there are."""
    if not known:
        return StoreError(f"There is no run {run_id} in {path}: it holds none.", "Start a run first.")
    ids = ", ".join(map(str, known[-20:]))
    more = "the latest are " if len(known) > 20 else ""
    return StoreError(f"There is no run {run_id} in {path}.", f"Name one that is there: {more}{ids}.")

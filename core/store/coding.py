"""From frozen values to rows of tables, and back."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from rtc_inspector.core.generation import Extraction, ModelInfo, Sample
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.store.rows import CandidateRow, ItemRow, RunRow, SampleRow, VerdictRow
from rtc_inspector.core.store.scores import RunFigures
from rtc_inspector.core.types import Item, Outcome, Span, Suite, TestResult, Verdict

Row = dict[str, Any]
T = TypeVar("T")


def now() -> str:
    """Return the time as it is stored: UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def clean(value: T) -> T:
    r"""Return text as SQLite can hold it: a lone surrogate is kept readable as `\udc80`."""
    found: Any = value.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(value, str) else value
    kept: T = found
    return kept


def prompt_hash(text: str) -> str:
    """Return the key of a prompt: sha256 of its exact text."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


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


_SAMPLE = (
    "author", "model", "finish_reason", "error", "recitation", "shown", "seed", "temperature", "prompt_tokens",
    "completion_tokens", "thought_tokens", "seconds", "raw_text", "thoughts", "step", "text",
)  # fmt: skip
"""Fields of a sample in columns of their own names; so is `text`."""


def sample_row(item_id: int, parent_id: int | None, sample: Sample, form: str, counted: bool) -> Row:
    """Return a row of `samples`."""
    return {
        "item_id": item_id,
        "parent_id": parent_id,
        "role": sample.role,
        "form": form,
        "sample_index": sample.index,
        **_plain(sample, *_SAMPLE),
        "counted": int(counted),
        "truncated": int(sample.truncated),
        "prompt_hash": prompt_hash(sample.prompt_text),
        "extraction_steps": json.dumps(sample.extraction_steps),
        "made_at": now(),
    }


def verdict_row(sample_id: int, verdict: Verdict) -> Row:
    """Return a row of `verdicts`."""
    ran = [test for test in verdict.tests if test.outcome not in ("skipped", "missing")]
    return {
        "sample_id": sample_id,
        "outcome": str(verdict.outcome),
        **_plain(verdict, "oracle", "detail", "output"),
        "seconds": 0.0 if verdict.reused else verdict.seconds,
        "reused": int(verdict.reused),
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


# ---- back


def frozen(kind: type[T], row: Row, **given: Any) -> T:
    """Return a frozen value whose fields are the row's columns of the same names, but for those that are `given`."""
    return kind(**{name: row[name] for name in _fields(kind) if name not in given}, **given)


def _fields(kind: Any) -> Iterable[str]:
    names: Iterable[str] = kind.__dataclass_fields__  # `dataclasses.fields` makes a list anew for each of many rows
    return names


def read_run(row: Row, status: str, figures: RunFigures | RunRow) -> RunRow:
    """Return a run joined with its project, with what was counted and scored."""
    counted = ("items_admitted", "items_dropped", "items_complete", "samples", "scores", "near_limit", "answers")
    return frozen(
        RunRow,
        row,
        status=status,
        dirty=bool(row["dirty"]),
        config_json=row["config"],
        model_json=row["models"],
        problems=tuple(json.loads(row["problems"])),
        suite_json=row["suite"],
        **_plain(figures, *counted),
    )


def read_item(row: Row, measures: Mapping[str, float]) -> ItemRow:
    """Return an item joined with its state."""
    return frozen(
        ItemRow,
        row,
        span=Span(row["span_start"], row["span_end"]),
        tests=_tuple(row["tests"]),
        admitted=bool(row["admitted"]),
        measures=measures,
        facets=_mapping(row["facets"]),
        origin=_mapping(row["origin"]),
        extra=bool(row["extra"]),
    )


def read_candidate(row: Row, scores: Mapping[str, float]) -> CandidateRow:
    """Return a judged sample with the text it stands for."""
    given = {"text": row.get("text", ""), "reference": row.get("reference", "")}
    return frozen(CandidateRow, row, passed=bool(row["passed"]), origin=_mapping(row["origin"]), scores=scores, **given)


@lru_cache(maxsize=4096)
def _tuple(text: str) -> tuple[str, ...]:
    """Return a list that is stored as JSON; many items have the same one, and share it."""
    return tuple(json.loads(text))


@lru_cache(maxsize=4096)
def _mapping(text: str) -> Mapping[str, str]:
    """Return a mapping that is stored as JSON, shared likewise, so read only."""
    return MappingProxyType(json.loads(text))


def read_sample(row: Row, scores: Sequence[tuple[str, int | None, float]] = (), prompt: str = "") -> SampleRow:
    """Return a sample joined with its last verdict (columns `v_...`); `scores`: metric, reference, value."""
    own = {name[2:]: value for name, value in row.items() if name.startswith("v_")}
    return frozen(
        SampleRow,
        row,
        index=row["sample_index"],
        prompt_text=prompt,
        extraction=Extraction(row["text"], _tuple(row["extraction_steps"])),
        truncated=bool(row["truncated"]),
        counted=bool(row["counted"]),
        verdict=read_verdict(own) if own.get("id") is not None else None,
        scores={metric: value for metric, reference, value in scores if reference is None},
        pairs=tuple((metric, reference, value) for metric, reference, value in scores if reference is not None),
    )


def read_verdict(row: Row, tests: tuple[TestResult, ...] = ()) -> VerdictRow:
    """Return a row of `verdicts`."""
    return frozen(
        VerdictRow,
        row,
        outcome=Outcome(row["outcome"]),
        flags=_tuple(row["flags"]),
        reused=bool(row["reused"]),
        tests=tests,
    )
